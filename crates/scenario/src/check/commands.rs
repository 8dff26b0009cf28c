//! A list of commands, with which the host is fed.
use crate::check::given;
use crate::check::marking::{MarkingKeys, check_initiators, marking, only_for_drives};
use crate::check::workload::{BS, JOBS_MAX, Job, Listed, Served, size};
use crate::keys::At;
use crate::raw::commands::CommandRaw;
use crate::raw::workload::{Rw, WorkloadRaw};
use crate::text::problem::Log;
use drivelab_core::Access;
use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobParams, SizeShare, SubmitCost};
use drivelab_units::{Lba, Share, Span};

type List = At<Vec<At<CommandRaw>>>;

/// The jobs of a list; `None` if a command is invalid, or nothing is known of the target.
pub fn jobs(
    list: &List,
    workload: &WorkloadRaw,
    served: Option<Served<'_>>,
    log: &mut Log,
) -> Option<Vec<Job>> {
    let problems = log.count();
    let beside = workload
        .set()
        .into_iter()
        .filter(|(key, _)| !["commands", "runtime", "ramp_time", "number_ios", "name"].contains(key));
    for (key, place) in beside {
        let message = format!("`{key}` has no effect beside `commands`");
        log.fault(place, message, "keep one of the two; each command has its own rw, offset and bs");
    }
    let (count, place) = (list.value.len() as u64, list.place);
    if count == 0 {
        log.fault(
            place,
            "no command in the list",
            "write [{ at = \"0ms\", offset = \"1GiB\" }], or leave it out",
        );
    }
    if count > JOBS_MAX {
        log.fault(place, format!("{count} commands; at most {JOBS_MAX} are possible"), "shorten the list");
    }
    let found: Vec<Option<Job>> =
        (1..).zip(&list.value).map(|(number, at)| one(number, at, served, log)).collect();
    if let Some(served) = served {
        let initiator = |at: &At<CommandRaw>| {
            at.value.initiator.as_ref().map_or((0, None), |at| (at.value.0 as u16, Some(at.place)))
        };
        check_initiators(&list.value.iter().map(initiator).collect::<Vec<_>>(), served, log);
    }
    if log.count() > problems { None } else { found.into_iter().collect() }
}

fn one(number: usize, at: &At<CommandRaw>, served: Option<Served<'_>>, log: &mut Log) -> Option<Job> {
    let raw = &at.value;
    let asks = MarkingKeys {
        attribute: raw.attribute.as_ref(),
        priority: raw.priority.as_ref(),
        split: None,
        icc: raw.icc.as_ref(),
        accesses: &[given(raw.rw.as_ref()).unwrap_or(Access::Read)],
        fua: raw.fua.as_ref(),
        sync: None,
        direct: raw.direct.as_ref(),
        clear: raw.readable("priority") && raw.readable("icc"),
    };
    let access = given(raw.rw.as_ref()).unwrap_or(Access::Read);
    let (marking, _) = marking(&asks, served, log);
    if let Some(Served { drive: None, .. }) = served {
        only_for_drives(&raw.set(), log);
    }
    if access == Access::Flush {
        check_flush(raw, log);
    }
    let (bytes, place) = raw.bs.as_ref().map_or((BS, at.place), |bs| (bs.value, bs.place));
    let count = size(bytes, place, "bs", log)?;
    let first = given(raw.offset.as_ref()).map_or(Lba::ZERO, |offset| Lba::new(offset.0.get()));
    let capacity = served?.capacity;
    if first.get() + count.get() > capacity.get() {
        let place = raw.offset.as_ref().map_or(at.place, |offset| offset.place);
        let end = (first + count).get();
        let message = format!("the command ends at sector {end}, behind the target's {}", capacity.get());
        log.contradiction(place, message, "lower offset or bs");
    }
    let (rw, reads) = match access {
        Access::Read => (Rw::Read, Share::ALL),
        Access::Write | Access::Flush => (Rw::Write, Share::NONE),
    };
    let params = JobParams {
        initiator: given(raw.initiator.as_ref()).map_or(0, |initiator| initiator.0 as u16),
        logical_unit: 0,
        process: 0,
        synchronous: true,
        marking,
        priorities: Vec::new(),
        reads,
        flushes: Flushes::Never,
        addressing: Addressing::Sequential,
        popularity: Default::default(),
        sizes: vec![SizeShare { size: count, weight: 1 }],
        first,
        count,
        align: count,
        zones: None,
        command_limit: None,
        arrivals: Arrivals::Closed { outstanding: 1, think: Span::ZERO },
        submit: SubmitCost::NONE,
        ending: Default::default(),
    };
    let listed = Some(Listed { at: given(raw.at.as_ref()).unwrap_or(Span::ZERO), access });
    Some(Job { name: format!("command{number}"), rw, distribution: None, params, copies: 1, listed })
}

/// A FLUSH moves no data.
fn check_flush(raw: &CommandRaw, log: &mut Log) {
    for (key, place) in raw.set() {
        if ["offset", "bs", "priority", "icc", "fua", "direct"].contains(&key) {
            let message = format!("`{key}` has no effect with rw = \"flush\": a flush moves no data");
            log.fault(place, message, "leave it out");
        }
    }
}
