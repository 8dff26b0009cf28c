//! Hosts with their own page caches over the same addresses: one may continue to read old data where another
//! has written, or overwrite with older data from its cache. A real system does the same, so no result could
//! be called wrong.
use drivelab_core::host::feed::FedIo;
use drivelab_core::host::params::JobParams;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::{Access, Command, Setup};
use drivelab_units::Share;
use std::collections::BTreeMap;

/// The relevant properties of a job: whether it writes, and whether it bypasses its host's cache.
type Kind = (bool, bool);

/// Whether a cache may hide one host's writes from the other.
fn meets((writes, is_direct): Kind, (other_writes, other_is_direct): Kind) -> bool {
    (writes || other_writes) && !(is_direct && other_is_direct)
}

/// Two hosts one of which may find data that the other has overwritten, if there are any.
pub fn stale(params: &SystemParams, setup: &Setup) -> Option<(u16, u16)> {
    params.host_cache?;
    let of_job = |job: &JobParams| {
        let kind = (job.reads != Share::ALL, job.marking.direct);
        (job.first.get(), (job.first + job.count).get(), job.initiator, kind)
    };
    let of_io = |io: &FedIo| {
        let Command { access, first, initiator, direct, .. } = io.command;
        (first.get(), io.command.end().get(), initiator, (access == Access::Write, direct))
    };
    let fed = setup.fed.iter().flat_map(|fed| fed.ios.iter().map(of_io));
    let mut ranges: Vec<(u64, u64, u16, Kind)> = setup.jobs.iter().map(of_job).chain(fed).collect();
    ranges.sort_by_key(|&(first, ..)| first);
    // By host and kind, the end of the jobs' ranges so far.
    let mut reached: BTreeMap<(u16, Kind), u64> = BTreeMap::new();
    for (first, end, host, kind) in ranges {
        let met = reached
            .iter()
            .find(|&(&(other, of), &end)| other != host && end > first && meets(kind, of))
            .map(|(&(other, _), _)| other);
        if let Some(other) = met {
            return Some((other.min(host), other.max(host)));
        }
        let known = reached.entry((host, kind)).or_default();
        *known = end.max(*known);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writes_that_caches_hide_from_another_host_count() {
        let kind = |writes, direct| (writes, direct);
        for (one, other, expected) in [
            (kind(true, false), kind(false, false), true),
            (kind(true, true), kind(false, false), true),
            (kind(true, false), kind(false, true), true),
            (kind(true, true), kind(true, true), false),
            (kind(false, false), kind(false, false), false),
        ] {
            assert_eq!((meets(one, other), meets(other, one)), (expected, expected), "{one:?} {other:?}");
        }
    }
}
