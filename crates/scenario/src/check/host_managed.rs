//! Host-managed shingled recording: the zones of the drive, and the jobs that write them.
use super::workload::{Job, Served};
use crate::check::given;
use crate::keys::At;
use crate::raw::drive::DriveRaw;
use crate::raw::host_managed::{HostManagedRaw, ZoneMode};
use crate::raw::scenario::TargetRaw;
use crate::raw::switch::Switch;
use crate::raw::workload::JobRaw;
use crate::text::problem::{Log, Place};
use drivelab_core::Attribute;
use drivelab_core::host::zone_writes::ZoneWrites;
use drivelab_core::storage::drive::zones::{ZonesError, ZonesParams};
use drivelab_units::{Bytes, Lba, SECTOR_BYTES, Sectors, Share, counted};

/// What a reader should know of the figures of a host-managed drive.
pub const NOTE: &str = "the drive is host-managed: all of its zones are empty at the start, a reset takes no time, and a read \
     behind a write pointer takes the media's time (docs/how-to/host-managed.md)";

/// The section, where the drive is host-managed.
pub fn section(at: Option<&At<Switch<HostManagedRaw>>>) -> Option<&HostManagedRaw> {
    match &at?.value {
        Switch::Off => None,
        Switch::On(raw) => Some(raw),
    }
}

/// How the drive is cut into zones.
pub fn params(raw: &HostManagedRaw) -> ZonesParams {
    ZonesParams {
        size: given(raw.zone.as_ref()).map_or(Sectors::new(256 << 11), |size| size.0),
        conventional: given(raw.conventional.as_ref()).map_or(0, |count| count.0 as u32),
        open_most: given(raw.open.as_ref()).map_or(128, |count| count.0 as u32),
    }
}

/// Records the sections that contradict it.
pub fn check_beside(drive: &DriveRaw, log: &mut Log) {
    let Some(at) = drive.host_managed.as_ref().filter(|at| section(Some(at)).is_some()) else { return };
    let beside = [
        ("smr", super::smr::section(drive.smr.as_ref()).is_some()),
        ("dual_actuator", super::actuators::addressed(drive).is_some()),
    ];
    for (key, _) in beside.into_iter().filter(|(_, is_there)| *is_there) {
        let message = format!("`host_managed` beside `{key}`: no such drive is known");
        log.contradiction(at.place, message, format!("leave out host_managed, or {key}"));
    }
}

/// Records that an array has such a member.
pub fn refuse_as_member(drive: &DriveRaw, place: Place, log: &mut Log) {
    if section(drive.host_managed.as_ref()).is_some() {
        let message = "a host-managed drive as a member: no array here writes its members zone by zone";
        log.contradiction(
            place,
            message,
            "take a conventional or a drive-managed one (`drivelab catalogue`)",
        );
    }
}

/// Records what stands before such a drive and writes in an order of its own, and that it is served.
pub fn check_before(raw: &TargetRaw, drive: &DriveRaw, place: Place, log: &mut Log) {
    if section(drive.host_managed.as_ref()).is_none() {
        return;
    }
    if log.is_served {
        let message =
            "the drive is host-managed, and a block device over NBD or FUSE cannot tell its client of zones";
        log.contradiction(
            place,
            message,
            "take a conventional or a drive-managed drive (`drivelab catalogue`)",
        );
    }
    let memory = raw.controller_written_out().and_then(|controller| controller.cache.as_ref());
    let memory =
        memory.filter(|at| matches!(at.value, Switch::On(_))).map(|at| ("controller.cache", at.place));
    let cache = raw.host_cache.as_ref().map(|at| ("host_cache", at.place));
    for (key, at) in memory.into_iter().chain(cache) {
        let message =
            format!("`{key}` writes back in an order of its own, and a host-managed drive refuses that");
        let at = if log.is_of_a_named_file(at) { place } else { at };
        log.contradiction(at, message, format!("set target.{key} = false, or leave it out"));
    }
}

/// The place of an error, and its remedy.
pub fn problem(
    error: ZonesError,
    at: Option<&At<Switch<HostManagedRaw>>>,
    place: Place,
) -> (Place, &'static str) {
    let place = at.map_or(place, |at| at.place);
    let raw = section(at);
    let key = |key: Option<Place>, remedy| (key.unwrap_or(place), remedy);
    match error {
        ZonesError::Size | ZonesError::TooMany { .. } => key(
            raw.and_then(|raw| raw.zone.as_ref()).map(|at| at.place),
            "correct host_managed.zone, such as \"256MiB\"",
        ),
        ZonesError::Conventional { .. } => key(
            raw.and_then(|raw| raw.conventional.as_ref()).map(|at| at.place),
            "lower host_managed.conventional, or leave out host_managed",
        ),
        ZonesError::Open => {
            key(raw.and_then(|raw| raw.open.as_ref()).map(|at| at.place), "raise host_managed.open")
        }
    }
}

/// The zones that a job writes, and its range: whole zones. `place` is the job's.
pub fn writes(
    raw: &JobRaw,
    served: Served<'_>,
    (range, largest, is_writing): ((Lba, Sectors), Sectors, bool),
    place: Place,
    log: &mut Log,
) -> Option<(Option<ZoneWrites>, (Lba, Sectors))> {
    let mode = raw.zonemode.as_ref();
    let place = mode.map_or(place, |at| at.place);
    let is_zbd = mode.is_some_and(|at| at.value == ZoneMode::Zbd);
    let Some(zones) = served.zones else {
        if is_zbd {
            let message = "`zonemode` has no effect: the target is no host-managed drive";
            log.contradiction(
                place,
                message,
                "leave it out, or take a drive with `host_managed`, such as \"wd-ultrastar-dc-hc650-20tb\"",
            );
        }
        refuse_open(raw, log, "`max_open_zones` has no effect without zonemode = \"zbd\"");
        return Some((None, range));
    };
    if !is_zbd {
        refuse_open(raw, log, "`max_open_zones` has no effect without zonemode = \"zbd\"");
        let (first, count) = range;
        let is_conventional = first.get() + count.get() <= zones.first_sequential().get();
        if is_writing && !is_conventional && raw.readable("zonemode") {
            let message =
                "the drive is host-managed: it refuses a write that is not at the write pointer of its zone";
            log.contradiction(place, message, "set workload.zonemode = \"zbd\"");
            return None;
        }
        return Some((None, range));
    }
    let asked = raw.max_open_zones.as_ref();
    if let Some(at) = asked.filter(|at| at.value.0 > u64::from(zones.open_most)) {
        let message =
            format!("{} at once; the drive keeps {} open", counted(at.value.0, "zone"), zones.open_most);
        log.contradiction(at.place, message, "lower max_open_zones");
    }
    if largest > zones.size {
        let place =
            raw.bs.as_ref().map(|at| at.place).or(raw.bssplit.as_ref().map(|at| at.place)).unwrap_or(place);
        let message =
            format!("an I/O of {} is larger than a zone of {}", largest.bytes(), zones.size.bytes());
        log.contradiction(place, message, "lower the size of the I/O");
        return None;
    }
    if is_writing {
        check_order(raw, log);
    }
    let open_most = asked.map_or(zones.open_most, |at| at.value.0 as u32);
    let range = of_whole_zones(raw, range, zones, served.capacity, log)?;
    Some((is_writing.then_some(ZoneWrites { size: zones.size, open_most }), range))
}

/// Records what would send the writes of a zone in another order than that in which they were drawn.
fn check_order(raw: &JobRaw, log: &mut Log) {
    let simple = |at: &&At<Attribute>| at.value != Attribute::Simple;
    let submit = raw.submit.as_ref().and_then(|at| at.value.rate.as_ref());
    let mixed = [&raw.percentage_random, &raw.percentage_random_writes].map(Option::as_ref);
    let mixed = mixed.into_iter().flatten().find(|at| at.value != Share::ALL && at.value != Share::NONE);
    let found = [
        ("attribute", raw.attribute.as_ref().filter(simple).map(|at| at.place), "leave it out"),
        ("submit.rate", submit.map(|at| at.place), "give submit.fixed alone"),
        ("percentage_random", mixed.map(|at| at.place), "take 0% or 100%"),
    ];
    for (key, place, remedy) in found {
        if let Some(place) = place {
            let message = format!("`{key}` beside zonemode = \"zbd\": the writes of a zone keep their order");
            log.contradiction(place, message, remedy);
        }
    }
}

/// Without a key, a range begins behind the conventional zones and ends with the last whole zone.
fn of_whole_zones(
    raw: &JobRaw,
    (first, count): (Lba, Sectors),
    zones: ZonesParams,
    capacity: Sectors,
    log: &mut Log,
) -> Option<(Lba, Sectors)> {
    let size = zones.size.get();
    let sequential = zones.first_sequential().get();
    let reaches_end =
        raw.size.as_ref().is_none_or(|at| at.value.0 == crate::raw::amounts::Part::Share(Share::ALL));
    let start = if raw.offset.is_some() { first.get() } else { sequential };
    let end = if reaches_end { capacity.get() / size * size } else { start + count.get() };
    let problem = |at: Option<Place>, what: &str, found: u64, log: &mut Log| {
        let near = Bytes::new((found / size).max(1) * size * SECTOR_BYTES);
        let message = format!("`{what}` is not a whole number of zones of {}", zones.size.bytes());
        log.contradiction(at.unwrap_or_default(), message, format!("write a multiple, such as \"{near}\""));
        None
    };
    let offset = raw.offset.as_ref().map(|at| at.place);
    if !start.is_multiple_of(size) {
        return problem(offset, "offset", start, log);
    }
    if start < sequential {
        let message = format!(
            "the range begins in the conventional zones, which end at sector {sequential}, and zonemode = \"zbd\" \
             writes the others"
        );
        log.contradiction(offset.unwrap_or_default(), message, "raise offset, or leave it out");
        return None;
    }
    let length = raw.size.as_ref().map(|at| at.place);
    if !end.is_multiple_of(size) {
        return problem(length, "size", end - start, log);
    }
    if end > capacity.get() || end <= start {
        let message = "the range does not hold a whole zone";
        log.contradiction(length.or(offset).unwrap_or_default(), message, "lower offset, or leave it out");
        return None;
    }
    Some((Lba::new(start), Sectors::new(end - start)))
}

fn refuse_open(raw: &JobRaw, log: &mut Log, message: &str) {
    if let Some(at) = raw.max_open_zones.as_ref().filter(|_| raw.readable("zonemode")) {
        log.contradiction(at.place, message, "set workload.zonemode = \"zbd\", or leave it out");
    }
}

/// Jobs know the pointers from their own writes: two that write the same zones would be refused.
pub fn check_apart(jobs: &[Job], served: Option<Served<'_>>, place: Place, log: &mut Log) {
    let writing: Vec<&Job> = jobs.iter().filter(|job| job.params.zones.is_some()).collect();
    let open =
        |job: &Job| if job.rw.is_random() { job.params.zones.map_or(0, |zones| zones.open_most) } else { 1 };
    let asked: u64 = writing.iter().map(|job| u64::from(open(job))).sum();
    let most = served.and_then(|served| served.zones).map_or(u64::MAX, |zones| zones.open_most.into());
    if writing.len() > 1 && asked > most {
        let message =
            format!("all jobs together keep {} open; the drive keeps {most}", counted(asked, "zone"));
        log.contradiction(place, message, "set max_open_zones of each job");
    }
    for (number, job) in writing.iter().enumerate() {
        let ends = |job: &Job| (job.params.first, job.params.first + job.params.count);
        let (first, end) = ends(job);
        let meets = |other: &&&Job| ends(other).0 < end && first < ends(other).1;
        let other = writing[..number].iter().find(meets);
        if job.copies > 1 || other.is_some() {
            let message = match other {
                Some(other) => format!("`{}` and `{}` write the same zones", other.name, job.name),
                None => format!(
                    "{} of `{}` write the same zones",
                    counted(u64::from(job.copies), "copy"),
                    job.name
                ),
            };
            log.contradiction(place, message, "give each its own range, or one job a higher iodepth");
            return;
        }
    }
}
