//! Faults of drives at instants of the run: from the keys of `target.faults` to the calls to the target.
use super::given;
use crate::keys::At;
use crate::raw::array::DriveNumber;
use crate::raw::drive_faults::{HangRaw, LieRaw, ResetRaw, SlowRaw, SpotRaw};
use crate::raw::scenario::TargetRaw;
use crate::raw::system::FaultsRaw;
use crate::text::problem::{Log, Place};
use drivelab_core::setup::Injection;
use drivelab_core::storage::array::params::Level;
use drivelab_core::storage::drive::params::TIME_MAX;
use drivelab_core::storage::{Cure, Fault, Lasting, Slowness, TargetParams};
use drivelab_units::{Instant, Lba, Sectors, Share, Span};

/// Maximum size of a corruption in an emulated device: 32 MiB of its memory.
const SERVED_MAX: Sectors = Sectors::new(65_536);

/// The drives of the target, and their capacities.
struct Drives {
    capacities: Vec<Sectors>,
    missing: Vec<u16>,
}

impl Drives {
    fn of(params: &TargetParams) -> Self {
        let capacities = match params {
            TargetParams::Server(_) => Vec::new(),
            TargetParams::Drive(model) | TargetParams::Wire(model) => vec![model.capacity()],
            TargetParams::System(system) => system.drives.iter().map(|model| model.capacity()).collect(),
        };
        let array = if let TargetParams::System(system) = params { system.array.as_ref() } else { None };
        let missing = array.filter(|array| !array.rebuilding).map(|array| array.missing.clone());
        Drives { capacities, missing: missing.unwrap_or_default() }
    }

    /// The number of a drive, if it exists.
    fn number(&self, raw: Option<&At<DriveNumber>>, log: &mut Log) -> Option<u16> {
        let Some(at) = raw else { return Some(0) };
        if at.value.0 < self.capacities.len() as u64 {
            let number = at.value.0 as u16;
            if self.missing.contains(&number) {
                let message = format!("drive {number} is missing from the start");
                log.contradiction(at.place, message, "name another");
                return None;
            }
            return Some(number);
        }
        let message = match self.capacities.len() {
            1 => format!("there is no drive {}: the target has one, whose number is 0", at.value.0),
            count => format!("there is no drive {}: the array has 0 to {}", at.value.0, count - 1),
        };
        log.contradiction(at.place, message, "name one that there is");
        None
    }
}

/// All scheduled faults, in order of time.
pub fn injections(target: &TargetRaw, params: &TargetParams, log: &mut Log) -> Vec<Injection> {
    let Some(At { value: faults, .. }) = &target.faults else { return Vec::new() };
    let drives = Drives::of(params);
    let mut found: Vec<Injection> = Vec::new();
    found.extend(all(&faults.slow).filter_map(|at| slow(at, &drives, log)));
    found.extend(all(&faults.hang).filter_map(|at| hang(at, &drives, log)));
    found.extend(all(&faults.reset).filter_map(|at| reset(at, &drives, log)));
    found.extend(all(&faults.lie).filter_map(|at| lie(at, &drives, params, log)));
    found.extend(all(&faults.media).filter_map(|at| {
        let (drive, first, count) = spot(at, &drives, log)?;
        Some(once(at.value.at.as_ref(), Fault::MediaError { drive, first, count, until: Cure::Written }))
    }));
    found.extend(all(&faults.corrupt).filter_map(|at| {
        let (drive, first, count) = spot(at, &drives, log)?;
        Some(once(at.value.at.as_ref(), Fault::Corrupt { drive, first, count }))
    }));
    check_corrupt(faults, params, log);
    check_overlaps(faults, log);
    // A served device stores bytes: nothing in it has to distinguish a loss from a corruption.
    if let (Some(corrupt), Some(_), false) = (&faults.corrupt, &faults.power_cut, log.is_served) {
        let message = "beside a power cut, what it loses could not be told from what was corrupted";
        log.contradiction(corrupt.place, message, "leave one of them out");
    }
    found.sort_by_key(|injection| injection.at);
    found
}

fn all<T>(list: &Option<At<Vec<At<T>>>>) -> impl Iterator<Item = &At<T>> {
    list.iter().flat_map(|list| &list.value)
}

fn once(at: Option<&At<Span>>, fault: Fault) -> Injection {
    Injection { at: Instant::ZERO + given(at).unwrap_or(Span::ZERO), fault, lasting: Lasting::ForGood }
}

fn slow(at: &At<SlowRaw>, drives: &Drives, log: &mut Log) -> Option<Injection> {
    let raw = &at.value;
    let drive = drives.number(raw.drive.as_ref(), log)?;
    let by = match (&raw.factor, &raw.by) {
        (Some(_), _) => Span::ZERO,
        (None, Some(by)) => {
            if by.value.is_zero() || by.value > TIME_MAX {
                let remedy = format!("write a time above 0s and up to \"{TIME_MAX}\"");
                log.fault(by.place, "a drive cannot be slow by this much", remedy);
            }
            by.value
        }
        (None, None) => {
            if raw.readable("by") && raw.readable("factor") {
                let remedy =
                    "add by how much, by = \"200ms\", or how many times as long it takes, factor = 10";
                log.fault(at.place, "a slow drive that is late by nothing", remedy);
            }
            return None;
        }
    };
    if let Some(lasts) = raw.lasts.as_ref().filter(|lasts| lasts.value.is_zero()) {
        log.fault(lasts.place, NO_TIME, "write how long: lasts = \"5s\", or leave it out");
    }
    if let Some(every) = &raw.every {
        match &raw.lasts {
            None if raw.readable("lasts") => {
                log.fault(every.place, "bursts without a length", "add how long each lasts: lasts = \"1s\"");
            }
            Some(lasts) if lasts.value >= every.value => {
                let message = "each burst is to last until the next begins, or longer";
                log.contradiction(lasts.place, message, "shorten lasts, or raise every");
            }
            _ => {}
        }
    }
    if let Some(over) = raw.over.as_ref().filter(|over| over.value.is_zero()) {
        log.fault(over.place, "it is to become slow in no time", "write a time above 0s, or leave over out");
    }
    if let Some(share) = raw.share.as_ref().filter(|share| share.value == Share::NONE) {
        log.fault(share.place, "no command is to be slow", "write a share above 0%, or leave the entry out");
    }
    let how = match (&raw.factor, &raw.over, &raw.share) {
        (Some(factor), ..) => Slowness::Times(factor.value.0 as u32),
        (None, Some(over), _) => Slowness::Ramp { by, over: over.value },
        (None, None, Some(share)) => Slowness::Some { by, share: share.value },
        (None, None, None) => Slowness::Constant(by),
    };
    let lasting = match (given(raw.lasts.as_ref()), given(raw.every.as_ref())) {
        (Some(lasts), Some(every)) => Lasting::Bursts { lasts, every },
        (lasts, _) => lasts.map_or(Lasting::ForGood, Lasting::For),
    };
    Some(Injection { lasting, ..once(raw.at.as_ref(), Fault::Slow { drive, how: Some(how) }) })
}

const NO_TIME: &str = "it is to last no time";

fn hang(at: &At<HangRaw>, drives: &Drives, log: &mut Log) -> Option<Injection> {
    let raw = &at.value;
    let drive = drives.number(raw.drive.as_ref(), log)?;
    let Some(lasts) = &raw.lasts else {
        if raw.readable("lasts") {
            let remedy = "add how long it says nothing: lasts = \"3s\"";
            log.fault(at.place, "a drive that hangs for no time", remedy);
        }
        return None;
    };
    if lasts.value.is_zero() {
        log.fault(lasts.place, NO_TIME, "write how long it says nothing: lasts = \"3s\"");
    }
    Some(once(raw.at.as_ref(), Fault::Hang { drive, lasts: Some(lasts.value) }))
}

fn reset(at: &At<ResetRaw>, drives: &Drives, log: &mut Log) -> Option<Injection> {
    let drive = drives.number(at.value.drive.as_ref(), log)?;
    Some(once(at.value.at.as_ref(), Fault::LinkReset { drive }))
}

fn lie(at: &At<LieRaw>, drives: &Drives, params: &TargetParams, log: &mut Log) -> Option<Injection> {
    let raw = &at.value;
    let drive = drives.number(raw.drive.as_ref(), log)?;
    if let Some(lasts) = raw.lasts.as_ref().filter(|lasts| lasts.value.is_zero()) {
        log.fault(lasts.place, NO_TIME, "write how long it lies: lasts = \"5s\", or leave it out");
    }
    let model = match params {
        TargetParams::Server(_) => return None,
        TargetParams::Drive(model) | TargetParams::Wire(model) => model,
        TargetParams::System(system) => &system.drives[usize::from(drive)],
    };
    if model.cache.is_none_or(|cache| cache.write_back.is_none()) {
        let message = format!("drive {drive} keeps no writes in its cache, and has nothing to lie about");
        log.no_effect(at.place, message, "set target.write_cache = true, or leave it out".to_owned());
    } else {
        log.has_effect(at.place);
    }
    Some(Injection {
        lasting: given(raw.lasts.as_ref()).map_or(Lasting::ForGood, Lasting::For),
        ..once(raw.at.as_ref(), Fault::LyingFlush { drive, lies: true })
    })
}

fn spot(at: &At<SpotRaw>, drives: &Drives, log: &mut Log) -> Option<(u16, Lba, Sectors)> {
    let raw = &at.value;
    let drive = drives.number(raw.drive.as_ref(), log)?;
    let first = raw.offset.as_ref().map_or(Sectors::ZERO, |offset| offset.value.0);
    let count = raw.size.as_ref().map_or(Sectors::new(1), |size| size.value.0);
    if count == Sectors::ZERO {
        let place = raw.size.as_ref().map_or(at.place, |size| size.place);
        log.fault(place, "no sectors", "write how much it is: size = \"4KiB\"");
        return None;
    }
    // A target without drives is reported as a problem of its own.
    let capacity = *drives.capacities.get(usize::from(drive))?;
    let end = first.get().saturating_add(count.get());
    if end > capacity.get() {
        let message = format!("up to sector {end}, behind the drive's {}", capacity.get());
        log.contradiction(at.place, message, "give sectors of the drive");
        return None;
    }
    Some((drive, Lba::new(first.get()), count))
}

/// Checks what may be corrupted, and how much of it.
fn check_corrupt(faults: &FaultsRaw, params: &TargetParams, log: &mut Log) {
    let Some(corrupt) = &faults.corrupt else { return };
    let array = if let TargetParams::System(system) = params { system.array.as_ref() } else { None };
    if array.is_some_and(|array| matches!(array.level, Level::RaidZ { .. })) {
        let message = "the checksums with which a pool notices corrupted sectors are not modelled";
        log.contradiction(corrupt.place, message, "take another level, or leave it out");
    }
    let sizes = corrupt.value.iter().filter_map(|at| at.value.size.as_ref());
    for size in sizes.filter(|size| log.is_served && size.value.0 > SERVED_MAX).collect::<Vec<_>>() {
        let message =
            format!("a device that is served draws the bytes anew of at most {} sectors", SERVED_MAX.get());
        log.contradiction(size.place, message, "shorten it, or write several");
    }
}

/// A drive has at most one slow fault and one lie at a time: otherwise the end of one fault would end the
/// other.
fn check_overlaps(faults: &FaultsRaw, log: &mut Log) {
    let held = |drive: &Option<At<DriveNumber>>, at: &Option<At<Span>>, lasts: Option<Span>| {
        let begins = given(at.as_ref()).unwrap_or(Span::ZERO);
        let ends = lasts.map(|lasts| begins.as_ns().saturating_add(lasts.as_ns()));
        (given(drive.as_ref()).map_or(0, |number| number.0), begins.as_ns(), ends.unwrap_or(u64::MAX))
    };
    let slow = all(&faults.slow).map(|At { value: raw, place, .. }| {
        let lasts = given(raw.lasts.as_ref()).filter(|_| raw.every.is_none());
        ("slow", *place, held(&raw.drive, &raw.at, lasts))
    });
    let lie = all(&faults.lie).map(|At { value: raw, place, .. }| {
        ("lie", *place, held(&raw.drive, &raw.at, given(raw.lasts.as_ref())))
    });
    let entries: Vec<_> = slow.chain(lie).collect();
    let overlaps = |(what, _, (drive, begins, ends)): &(&str, Place, (u64, u64, u64)),
                    (other, _, (its, from, to)): &(&str, Place, (u64, u64, u64))| {
        what == other && drive == its && begins < to && from < ends
    };
    let found = entries
        .iter()
        .enumerate()
        .filter(|(number, entry)| entries[..*number].iter().any(|before| overlaps(before, entry)));
    for (_, (what, place, (drive, ..))) in found {
        let message = format!("another entry of `{what}` holds for drive {drive} at that time");
        log.contradiction(*place, message, "let the other end before with lasts, or leave one of them out");
    }
}

/// The instants of all faults.
pub fn instants(faults: &FaultsRaw) -> impl Iterator<Item = &Option<At<Span>>> {
    all(&faults.slow)
        .map(|at| &at.value.at)
        .chain(all(&faults.hang).map(|at| &at.value.at))
        .chain(all(&faults.reset).map(|at| &at.value.at))
        .chain(all(&faults.lie).map(|at| &at.value.at))
        .chain(all(&faults.media).chain(all(&faults.corrupt)).map(|at| &at.value.at))
}
