//! Jobs from fio's options.
use crate::check::ending::ending;
use crate::check::marking::{
    MarkingKeys, check_initiators, check_sync, check_synchronous, marking, only_for_drives,
};
use crate::check::range::range;
use crate::check::{commands, given, host_managed, pointless};
use crate::keys::numbers::Count;
use crate::keys::quantities::IO_MAX;
use crate::keys::{At, Read};
use crate::raw::distribution::Distribution;
use crate::raw::workload::{JobRaw, RateProcess, Rw, WorkloadRaw};
use crate::text::problem::{Log, Place};
use drivelab_core::host::feed::{FedIo, FeedParams, Pace};
use drivelab_core::host::params::{
    Addressing, Arrivals, Flushes, JobError, JobParams, Marking, SizeShare, SubmitCost, check,
};
use drivelab_core::host::popularity::Popularity;
use drivelab_core::setup::Fed;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::Level;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::drive::protocol::{DurationLimits, Protocol};
use drivelab_core::storage::drive::zones::ZonesParams;
use drivelab_core::storage::elevator::ElevatorOrder;
use drivelab_core::{Access, Command, Section};
use drivelab_units::{Bytes, Lba, SECTOR_BYTES, Sectors, Share, Span};
use std::sync::Arc;

/// A job as it was written, and the number of its copies.
#[derive(Clone, Debug)]
pub struct Job {
    pub name: String,
    pub rw: Rw,
    /// fio's `random_distribution`, where it is not uniform.
    pub distribution: Option<Distribution>,
    pub params: JobParams,
    pub copies: u32,
    /// Only for a listed command, with which the host is fed.
    pub listed: Option<Listed>,
}

/// What a listed command has in addition to a job.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// Time since the start of the run.
    pub at: Span,
    pub access: Access,
}

/// What a workload must know of its target.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    pub capacity: Sectors,
    /// The protocol in force; `None` for a target that is not a drive.
    pub drive: Option<Protocol>,
    /// The duration limits of the drive.
    pub limits: Option<&'a DurationLimits>,
    /// Whether commands go to an array, not to a drive itself.
    pub array: bool,
    /// Whether the I/O scheduler distinguishes synchronous I/Os.
    pub fair: bool,
    /// Whether the host has a cache of its own.
    pub host_cache: bool,
    /// The drives of an array whose members can be addressed one by one, in their order.
    pub members: Option<&'a [Arc<DriveModel>]>,
    /// The zones of a host-managed drive.
    pub zones: Option<ZonesParams>,
}

impl<'a> Served<'a> {
    pub fn by(target: &'a TargetParams) -> Self {
        match target {
            TargetParams::Server(server) => Served {
                capacity: server.capacity,
                drive: None,
                limits: None,
                array: false,
                fair: false,
                host_cache: false,
                members: None,
                zones: None,
            },
            TargetParams::Drive(model) | TargetParams::Wire(model) => Served {
                capacity: model.capacity(),
                drive: Some(model.protocol),
                limits: model.duration_limits.as_deref(),
                array: false,
                fair: false,
                host_cache: false,
                members: None,
                zones: model.medium.zones().copied(),
            },
            TargetParams::System(system) => Served {
                capacity: system.capacity(),
                drive: Some(system.drives[0].protocol),
                limits: system.drives[0].duration_limits.as_deref(),
                array: system.array.is_some(),
                fair: system.elevator.is_some_and(|elevator| elevator.order == ElevatorOrder::Fair),
                host_cache: system.host_cache.is_some(),
                members: system
                    .array
                    .as_ref()
                    .filter(|array| array.level == Level::Linear)
                    .map(|array| &system.drives[..usize::from(array.members)]),
                zones: system.drives[0].medium.zones().filter(|_| system.array.is_none()).copied(),
            },
        }
    }
}

/// Maximum number of jobs of a workload, copies included.
pub const JOBS_MAX: u64 = 1 << 14;
pub const BS: Bytes = Bytes::new(4096);

/// The jobs; `None` if one is invalid, or nothing is known of the target. `place` is the document's.
pub fn jobs(
    raw: Option<&At<WorkloadRaw>>,
    served: Option<Served<'_>>,
    place: Place,
    log: &mut Log,
) -> Option<Vec<Job>> {
    let empty = WorkloadRaw::default();
    let place = raw.map_or(place, |at| at.place);
    let raw = raw.map_or(&empty, |at| &at.value);
    if let Some(list) = &raw.commands {
        return commands::jobs(list, raw, served, log);
    }
    if !raw.readable("commands") || !raw.readable("trace") {
        return None;
    }
    if raw.trace.is_some() {
        return Some(Vec::new());
    }
    let problems = log.count();
    let (mut found, mut initiators) = (Vec::new(), Vec::new());
    match &raw.job {
        Some(named) if named.value.0.is_empty() => {
            log.fault(
                named.place,
                "no job in the table of jobs",
                "add [workload.job.NAME], or leave `job` out",
            );
        }
        Some(named) => {
            pointless::overridden(&raw.inherited(), &named.value, log);
            for (name, at) in &named.value.0 {
                let job = at.value.clone().over(raw.inherited());
                pointless::beside_rw(&at.value, &[&job], log);
                initiators.push(initiator(&job));
                found.push(one(name, &job, at.place, served, log));
            }
        }
        None => {
            let job = raw.inherited();
            pointless::beside_rw(&job, &[&job], log);
            found.push(one("job", &job, place, served, log));
        }
    }
    if let Some(served) = served {
        check_initiators(&initiators, served, log);
    }
    let copies: u64 = found.iter().flatten().map(|job| u64::from(job.copies)).sum();
    if copies > JOBS_MAX {
        log.fault(place, format!("{copies} jobs at once; at most {JOBS_MAX} are possible"), "lower numjobs");
    }
    if log.count() > problems {
        return None;
    }
    let found: Vec<Job> = found.into_iter().collect::<Option<_>>()?;
    host_managed::check_apart(&found, served, place, log);
    if log.count() > problems {
        return None;
    }
    check_with_core(&found, place, log)?;
    Some(found)
}

/// The jobs of the core: each copy is its own process. Listed commands are not jobs.
pub fn expand(jobs: &[Job]) -> Vec<JobParams> {
    let own = jobs.iter().filter(|job| job.listed.is_none());
    let copies = own.flat_map(|job| (0..job.copies).map(|_| job.params.clone()));
    (0..).zip(copies).map(|(process, params)| JobParams { process, ..params }).collect()
}

/// The names and copies of the jobs that the core is given.
pub fn sections(jobs: &[Job]) -> Arc<[Section]> {
    let own = jobs.iter().filter(|job| job.listed.is_none());
    let priorities = |job: &Job| job.params.all_priorities().collect();
    own.map(|job| Section { name: job.name.clone(), copies: job.copies, priorities: priorities(job) })
        .collect()
}

/// Listed commands, in order of their times, with which the host is fed; together they are one process.
pub fn fed(jobs: &[Job]) -> Option<Fed> {
    let mut ios: Vec<FedIo> = jobs.iter().filter_map(fed_io).collect();
    // Commands of the same instant stay in the order of the list.
    ios.sort_by_key(|io| io.time);
    let params = FeedParams { pace: Pace::ByTime, command_limit: None };
    (!ios.is_empty()).then(|| Fed { params, ios: ios.into(), recording: None })
}

fn fed_io(job: &Job) -> Option<FedIo> {
    let Listed { at, access } = job.listed?;
    let JobParams { initiator, first, count, marking, .. } = job.params;
    let (first, count) = if access == Access::Flush { (Lba::ZERO, Sectors::ZERO) } else { (first, count) };
    let Marking { attribute, priority, force_unit_access, sync: _, direct } = marking;
    let plain = Command::new(0, access, first, count);
    let command = Command { initiator, attribute, priority, force_unit_access, direct, ..plain };
    Some(FedIo { time: at, command })
}

fn check_with_core(jobs: &[Job], place: Place, log: &mut Log) -> Option<()> {
    let Err(error) = check(&expand(jobs)) else { return Some(()) };
    let remedy = match error {
        JobError::TooManyOutstanding { .. } => "lower iodepth or numjobs, or raise max_transfer",
        JobError::TooManyParts { .. } => "raise max_transfer",
        _ => "correct the workload",
    };
    log.fault(place, error.to_string(), remedy);
    None
}

/// The host on which a job runs, and where that was given.
fn initiator(raw: &JobRaw) -> (u16, Option<Place>) {
    raw.initiator.as_ref().map_or((0, None), |at| (at.value.0 as u16, Some(at.place)))
}

fn one(name: &str, raw: &JobRaw, place: Place, served: Option<Served<'_>>, log: &mut Log) -> Option<Job> {
    let rw = given(raw.rw.as_ref()).unwrap_or(Rw::RandRead);
    let sizes = sizes(raw, log);
    let command_limit = raw.max_transfer.as_ref().and_then(|at| sectors(at, "max_transfer", log));
    let align = raw.blockalign.as_ref().and_then(|at| sectors(at, "blockalign", log));
    let addressing = addressing(raw, rw);
    let arrivals = arrivals(raw, log);
    let is_closed = matches!(arrivals, Arrivals::Closed { .. } | Arrivals::Bursts { .. });
    let largest = sizes.iter().flatten().map(|share| share.size).max();
    let asks = MarkingKeys {
        attribute: raw.attribute.as_ref(),
        priority: raw.priority.as_ref(),
        split: raw.prioritysplit.as_ref(),
        accesses: accesses(rw),
        icc: raw.icc.as_ref(),
        fua: raw.fua.as_ref(),
        sync: raw.sync.as_ref(),
        direct: raw.direct.as_ref(),
        clear: ["priority", "prioritysplit", "icc"].iter().all(|key| raw.readable(key)),
    };
    let (marking, priorities) = marking(&asks, served, log);
    check_sync(raw, rw, log);
    match served {
        Some(Served { drive: None, .. }) => only_for_drives(&raw.set(), log),
        Some(served) => check_synchronous(raw, served, log),
        None => {}
    }
    let range = served.and_then(|served| range(raw, served, largest.unwrap_or_default(), place, log));
    let (sizes, range) = (sizes?, range?);
    let reach = (range, largest.unwrap_or_default(), rw.writes());
    let (zones, (first, count)) = host_managed::writes(raw, served?, reach, place, log)?;
    let smallest = sizes.iter().map(|share| share.size).min()?;
    let mut params = JobParams {
        initiator: initiator(raw).0,
        logical_unit: 0,
        process: 0,
        synchronous: given(raw.synchronous.as_ref()).unwrap_or(is_closed),
        marking,
        priorities,
        reads: reads(raw, rw),
        flushes: match given(raw.fsync.as_ref()) {
            Some(Count(writes @ 1..)) if is_closed => Flushes::After(writes as u32),
            _ => Flushes::Never,
        },
        addressing,
        popularity: Popularity::Uniform,
        sizes,
        first,
        count,
        align: align.unwrap_or(smallest),
        zones,
        command_limit,
        arrivals,
        submit: submit(raw),
        ending: ending(raw, log),
    };
    let copies = given(raw.numjobs.as_ref()).map_or(1, |count| count.0 as u32);
    let distribution = raw.random_distribution.as_ref().filter(|_| rw.is_random());
    if let Some(at) = distribution {
        match at.value.laid_over(params.places(smallest), params.align.bytes()) {
            Ok(popularity) => params.popularity = popularity,
            Err((message, remedy)) => log.contradiction(at.place, message, remedy),
        }
    }
    let distribution = distribution.map(|at| at.value.clone()).filter(|found| *found != Distribution::Random);
    Some(Job { name: name.to_owned(), rw, distribution, params, copies, listed: None })
}

fn accesses(rw: Rw) -> &'static [Access] {
    match rw {
        Rw::Read | Rw::RandRead => &[Access::Read],
        Rw::Write | Rw::RandWrite => &[Access::Write],
        Rw::Mixed | Rw::RandMixed => &[Access::Read, Access::Write],
    }
}

fn submit(raw: &JobRaw) -> SubmitCost {
    raw.submit.as_ref().map_or(SubmitCost::NONE, |at| SubmitCost {
        fixed: given(at.value.fixed.as_ref()).unwrap_or(Span::ZERO),
        rate: given(at.value.rate.as_ref()),
        spread: given(at.value.spread.as_ref()).unwrap_or(Share::NONE),
    })
}

fn reads(raw: &JobRaw, rw: Rw) -> Share {
    match rw {
        Rw::Read | Rw::RandRead => Share::ALL,
        Rw::Write | Rw::RandWrite => Share::NONE,
        Rw::Mixed | Rw::RandMixed => match given(raw.rwmixread.as_ref()) {
            Some(share) => share,
            None => Share::from_ratio(1, 2).unwrap_or(Share::NONE),
        },
    }
}

fn addressing(raw: &JobRaw, rw: Rw) -> Addressing {
    if !rw.is_random() {
        return Addressing::Sequential;
    }
    let random = given(raw.percentage_random.as_ref()).unwrap_or(Share::ALL);
    let random_writes = given(raw.percentage_random_writes.as_ref()).unwrap_or(random);
    match random {
        Share::ALL if random_writes == random => Addressing::Random,
        Share::NONE if random_writes == random => Addressing::Sequential,
        random => Addressing::Mixed { random, random_writes },
    }
}

fn arrivals(raw: &JobRaw, log: &mut Log) -> Arrivals {
    let Some(rate) = &raw.rate_iops else {
        if let Some(process) = raw.rate_process.as_ref().filter(|_| raw.readable("rate_iops")) {
            log.fault(
                process.place,
                "`rate_process` has no effect without `rate_iops`",
                "add rate_iops, or leave it out",
            );
        }
        let outstanding = given(raw.iodepth.as_ref()).map_or(1, |depth| depth.0 as u32);
        let think = given(raw.thinktime.as_ref()).map_or(Span::ZERO, |think| think.0);
        let Some(burst) = &raw.thinktime_blocks else { return Arrivals::Closed { outstanding, think } };
        if think.is_zero() && raw.readable("thinktime") {
            let message = "`thinktime_blocks` has no effect without `thinktime`";
            log.fault(burst.place, message, "add thinktime = \"10ms\", or leave it out");
        }
        return Arrivals::Bursts { outstanding, burst: burst.value.0 as u32, think };
    };
    let rate = rate.value.0;
    match given(raw.rate_process.as_ref()).unwrap_or(RateProcess::Linear) {
        RateProcess::Linear => Arrivals::Fixed { rate },
        RateProcess::Poisson => Arrivals::Poisson { rate },
    }
}

fn sizes(raw: &JobRaw, log: &mut Log) -> Option<Vec<SizeShare>> {
    let Some(split) = &raw.bssplit else {
        if !raw.readable("bs") || !raw.readable("bssplit") {
            return None;
        }
        let bs = match &raw.bs {
            Some(at) => size(at.value, at.place, "bs", log)?,
            None => size(BS, Place::default(), "bs", log)?,
        };
        return Some(vec![SizeShare { size: bs, weight: 1 }]);
    };
    let mut sizes = Vec::new();
    for (bytes, weight) in &split.value.0 {
        sizes.push(size(*bytes, split.place, "bssplit", log).map(|size| SizeShare { size, weight: *weight }));
    }
    sizes.into_iter().collect()
}

fn sectors(at: &At<Bytes>, key: &str, log: &mut Log) -> Option<Sectors> {
    size(at.value, at.place, key, log)
}

/// An amount in whole sectors, above zero and not absurdly large.
pub fn size(bytes: Bytes, place: Place, key: &str, log: &mut Log) -> Option<Sectors> {
    let count = bytes.get();
    if count == 0 {
        log.fault(place, format!("`{key}` must be more than zero"), "write a size such as \"4KiB\"");
        return None;
    }
    if count > IO_MAX {
        log.fault(place, format!("`{key}` is too large"), "write 1GiB or less");
        return None;
    }
    let Some(sectors) = bytes.sectors() else {
        let near = Bytes::new(count.next_multiple_of(SECTOR_BYTES));
        let message = format!("`{key}` of {count} bytes is no whole number of sectors");
        log.fault(place, message, format!("write a multiple of 512 bytes, such as \"{near}\""));
        return None;
    };
    Some(sectors)
}
