//! Drives with two actuators: one actuator as a drive of its own, the two as one drive, and which members of an array
//! are on the same drive.
use super::array::ArrayContext;
use super::array_faults::Bears;
use super::system::array_system;
use super::target::{Shared, drive_spelling};
use crate::check::given;
use crate::keys::At;
use crate::keys::numbers::Count;
use crate::keys::quantities::{Extent, Offset};
use crate::raw::actuators::DualActuator;
use crate::raw::cache::CacheRaw;
use crate::raw::drive::{DriveRaw, GeometryRaw};
use crate::raw::scenario::TargetRaw;
use crate::raw::switch::Switch;
use crate::raw::system::{FaultsRaw, Stretch};
use crate::text::problem::{Log, Place};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{ArrayParams, Level, ManagedBy};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::system::SystemParams;
use drivelab_units::{SECTOR_BYTES, Sectors, counted};
use std::sync::Arc;

/// What a reader should know of the figures of one logical unit.
const ONE_UNIT: &str = "the drive has two actuators, each a logical unit of its own: these are the figures of one unit \
     while the other is idle; an array of 2 members has both (docs/how-to/dual-actuator.md)";

/// How the two actuators of a drive are addressed; `None` where one moves all heads.
pub fn addressed(drive: &DriveRaw) -> Option<DualActuator> {
    given(drive.dual_actuator.as_ref()).filter(|how| *how != DualActuator::No)
}

/// One actuator of a drive, as a drive: half of the heads, of the capacity and of the cache. A drive with one actuator
/// stays as it is.
pub fn of_one(drive: DriveRaw, place: Place, log: &mut Log) -> Option<DriveRaw> {
    if addressed(&drive).is_none() {
        return Some(drive);
    }
    let at = drive.dual_actuator.as_ref().map_or(place, |at| at.place);
    let other = [
        ("flash", drive.flash.as_ref().map(|at| at.place)),
        ("smr", super::smr::section(drive.smr.as_ref()).and(drive.smr.as_ref()).map(|at| at.place)),
    ];
    if let Some((what, place)) = other.into_iter().find_map(|(what, place)| Some((what, place?))) {
        let message = format!("`{what}` on a drive with two actuators: no such drive is known");
        log.contradiction(place, message, "leave out `dual_actuator`, or this section");
        return None;
    }
    let geometry = match drive.geometry {
        Some(At { value, place, source }) => {
            Some(At { value: half_of_surfaces(value, at, log)?, place, source })
        }
        None => None,
    };
    let cache =
        drive.cache.map(|At { value, place, source }| At { value: half_of_cache(value), place, source });
    Some(DriveRaw { geometry, cache, ..drive })
}

fn half_of_surfaces(geometry: GeometryRaw, place: Place, log: &mut Log) -> Option<GeometryRaw> {
    let numbered = [
        geometry.patterns.as_ref().map(|at| at.place),
        geometry.slips.as_ref().map(|at| at.place),
        geometry.skips.as_ref().map(|at| at.place),
    ];
    if let Some(place) = numbered.into_iter().flatten().next() {
        let message = "tracks that are listed one by one belong to one actuator, and the drive has two";
        log.contradiction(place, message, "describe the geometry by zones, or leave out `dual_actuator`");
        return None;
    }
    let physical = geometry.physical_sector.as_ref().map_or(1, |at| at.value.0.get().max(1));
    let halved = |count: u64, what: &'static str, unit: u64, place: Place, log: &mut Log| {
        if count.is_multiple_of(2 * unit) {
            return Some(count / 2);
        }
        let whole =
            if unit > 1 { format!(" in sectors of {} bytes", unit * SECTOR_BYTES) } else { String::new() };
        let message = format!("{} cannot be divided between two actuators{whole}", counted(count, what));
        let remedy = format!("write a multiple of {}, or leave out `dual_actuator`", counted(2 * unit, what));
        log.contradiction(place, message, remedy);
        None
    };
    let mut half = geometry;
    if half.heads.is_none() && half.readable("heads") {
        log.fault(
            place,
            "two actuators on how many heads?",
            "add geometry.heads, of both actuators together",
        );
    }
    let heads = half.heads.as_mut()?;
    heads.value = Count(halved(heads.value.0, "head", 1, heads.place, log)?);
    for extent in [&mut half.capacity, &mut half.accessible].into_iter().flatten() {
        extent.value =
            Extent(Sectors::new(halved(extent.value.0.get(), "sector", physical, extent.place, log)?));
    }
    Some(half)
}

/// The cache is divided between the actuators; a segment keeps its size.
fn half_of_cache(cache: Switch<CacheRaw>) -> Switch<CacheRaw> {
    let Switch::On(mut half) = cache else { return cache };
    for extent in [&mut half.size, &mut half.write_limit].into_iter().flatten() {
        extent.value = Extent(Sectors::new(extent.value.0.get() / 2));
    }
    for segments in [&mut half.segments, &mut half.write_segments].into_iter().flatten() {
        segments.value = Count((segments.value.0 / 2).max(1));
    }
    Switch::On(half)
}

impl Shared<'_> {
    /// A drive whose two actuators have one half of the address range each; `drive` is one of them.
    pub(super) fn both_actuators(
        &mut self,
        raw: &TargetRaw,
        drive: &DriveRaw,
        place: Place,
        log: &mut Log,
    ) -> Option<(TargetParams, Sectors)> {
        check_faults_of_both(raw, log);
        let plain = self.model(&TargetRaw { faults: None, ..raw.clone() }, drive, place, log)?;
        let half = plain.capacity();
        let models: Option<Vec<Arc<DriveModel>>> = [Sectors::ZERO, half]
            .into_iter()
            .map(|first| {
                let faults = raw.faults.as_ref();
                let faults = faults.map(|at| At { value: in_half(&at.value, first, half), ..at.clone() });
                self.model(&TargetRaw { faults, ..raw.clone() }, drive, place, log)
            })
            .collect();
        let models = models?;
        let controller = raw.controller_written_out().and_then(|raw| given(raw.depth.as_ref()));
        let tags = plain.queue.depth.min(plain.protocol.tags());
        let depth = controller.map_or(tags, |depth| tags.min(depth.0 as u32));
        let array = ArrayParams {
            managed_by: ManagedBy::Controller,
            depth: Some(depth),
            synchronised: true,
            // A drive takes commands of any size.
            request: Sectors::new(2 * half.get()),
            ..ArrayParams::plain(Level::Linear, 2)
        };
        let whole = Sectors::new(2 * half.get());
        let mut params = array_system(raw, models, array, true, log);
        if let TargetParams::System(system) = &mut params {
            system.housings = vec![0, 0];
        }
        Some((params, whole))
    }
}

/// Faults that belong to one drive of the target are not defined for half of one.
fn check_faults_of_both(raw: &TargetRaw, log: &mut Log) {
    let Some(At { value: faults, .. }) = &raw.faults else { return };
    let places = [
        faults.slow.as_ref().map(|at| at.place),
        faults.hang.as_ref().map(|at| at.place),
        faults.reset.as_ref().map(|at| at.place),
        faults.lie.as_ref().map(|at| at.place),
        faults.media.as_ref().map(|at| at.place),
        faults.corrupt.as_ref().map(|at| at.place),
    ];
    if let Some(place) = places.into_iter().flatten().next() {
        let message =
            "faults at an instant are not modelled on a drive with two actuators and one address range";
        log.contradiction(place, message, "take read_errors or bad_sectors, or a drive with one actuator");
    }
}

/// The unreadable ranges of one half, counted from its first sector on.
fn in_half(faults: &FaultsRaw, first: Sectors, half: Sectors) -> FaultsRaw {
    let (first, end) = (first.get(), first.get() + half.get());
    let cut = |at: &At<Stretch>| {
        let from = at.value.first.0.get().max(first);
        let to = (at.value.first.0.get() + at.value.count.0.get()).min(end);
        (from < to).then(|| {
            let (first, count) = (Offset(Sectors::new(from - first)), Extent(Sectors::new(to - from)));
            At { value: Stretch { first, count, drive: None }, ..at.clone() }
        })
    };
    let bad_sectors = faults.bad_sectors.as_ref().map(|list| {
        let value: Vec<At<Stretch>> = list.value.iter().filter_map(cut).collect();
        At { value, ..list.clone() }
    });
    FaultsRaw { bad_sectors, ..faults.clone() }
}

/// A single logical unit is not the whole drive: its housing has another one, which is idle. Any other drive stays as it is.
pub fn one_unit(params: TargetParams, drive: &DriveRaw, log: &mut Log) -> TargetParams {
    if addressed(drive).is_none() {
        return params;
    }
    log.note(ONE_UNIT.to_owned());
    let mut system = match params {
        TargetParams::System(system) => system,
        TargetParams::Drive(model) => SystemParams::of_drive(model, ControllerParams::PLAIN),
        other => return other,
    };
    system.housings = vec![0];
    TargetParams::System(system)
}

/// By drive of an array: the first one on the same physical drive. Of the members on equal drives the first half are the
/// first actuators, the others in the same order the second ones. Spares follow in pairs; a journal's drive has one
/// actuator idle. Empty where all have one actuator.
pub fn housings(
    known: &ArrayContext<'_>,
    kinds: &[DriveRaw],
    which: &[usize],
    log: &mut Log,
) -> Option<Vec<u16>> {
    let mut texts: Vec<Option<String>> =
        kinds.iter().map(|drive| addressed(drive).map(|_| drive_spelling(drive))).collect();
    if texts.iter().all(Option::is_none) {
        return Some(Vec::new());
    }
    let mut found: Vec<u16> = (0..which.len() as u16).collect();
    let mut pairs: Vec<[u16; 2]> = Vec::new();
    while let Some(text) = texts.iter().find_map(Clone::clone) {
        let of = |range: std::ops::Range<usize>| -> Vec<u16> {
            range.filter(|&at| texts[which[at]].as_ref() == Some(&text)).map(|at| at as u16).collect()
        };
        let members = of(0..usize::from(known.members));
        let first_spare = usize::from(known.members);
        let spares = of(first_spare..first_spare + usize::from(known.spares()));
        for (drives, what, place) in [
            (&members, "member", known.members_place()),
            (&spares, "spare", known.raw.spares.as_ref().map_or(known.place, |at| at.place)),
        ] {
            if !drives.len().is_multiple_of(2) {
                let count = counted(drives.len() as u64, what);
                let message = format!("drives with two actuators each cannot make {count}");
                let remedy = format!(
                    "a {what} is one actuator: give an even number of them, or set dual_actuator = \"no\""
                );
                log.contradiction(place, message, remedy);
                return None;
            }
        }
        let (first, second) = members.split_at(members.len() / 2);
        pairs.extend(first.iter().zip(second).map(|(&first, &second)| [first, second]));
        for pair in spares.chunks_exact(2) {
            found[usize::from(pair[1])] = pair[0];
        }
        texts.iter_mut().filter(|other| other.as_ref() == Some(&text)).for_each(|done| *done = None);
    }
    for &[first, second] in &pairs {
        found[usize::from(second)] = first;
    }
    check_failures(known, &found, log);
    log.note(note_of_pairs(known, &pairs));
    Some(found)
}

/// A drive fails once, whichever of its actuators is named.
fn check_failures(known: &ArrayContext<'_>, housings: &[u16], log: &mut Log) {
    let list = known.faults.and_then(|faults| faults.fail.as_ref());
    let mut failed: Vec<usize> = Vec::new();
    for at in list.into_iter().flat_map(|list| &list.value) {
        let Some(drive) = at.value.drive.as_ref().map(|drive| drive.value.0 as usize) else { continue };
        let Some(housing) = housings.get(drive) else { continue };
        let other = failed.iter().find(|&&other| other != drive && housings[other] == *housing);
        if let Some(other) = other {
            let message =
                format!("drives {other} and {drive} are the two actuators of one drive, and fail together");
            log.contradiction(at.place, message, "keep one of the two");
        }
        failed.push(drive);
    }
}

fn note_of_pairs(known: &ArrayContext<'_>, pairs: &[[u16; 2]]) -> String {
    let bears = Bears::of(known);
    let missing: Vec<u16> =
        known.raw.missing.iter().flat_map(|list| &list.value).map(|at| at.value.0 as u16).collect();
    let without = |pair: &[u16; 2]| [&missing[..], pair].concat();
    let lost = pairs.iter().find(|pair| !bears.available_without(&without(pair)));
    let outcome = match lost {
        Some([first, second]) => format!("losing the drive of members {first} and {second} loses data"),
        None => "the array bears the loss of any one drive".to_owned(),
    };
    let alone = pairs.iter().find(|pair| pair.iter().filter(|member| missing.contains(member)).count() == 1);
    let alone = alone.map_or_else(String::new, |[first, second]| {
        let (gone, left) = if missing.contains(first) { (first, second) } else { (second, first) };
        format!(
            "; member {gone} is missing and member {left} is there: one actuator of a drive has failed alone"
        )
    });
    let mut named: Vec<String> =
        pairs.iter().take(3).map(|[first, second]| format!("{first} and {second}")).collect();
    if pairs.len() > named.len() {
        named.push("...".to_owned());
    }
    format!(
        "a member is one of the two actuators of a drive, and both fail together: members {}; {outcome}{alone} \
         (docs/how-to/dual-actuator.md)",
        named.join(", ")
    )
}
