//! The firmware of a drive whose queueing was never measured: what its class supplies, and how far off that
//! may be.
//!
//! The class counts only where neither the drive file nor the scenario sets `queue.order`: an explicit order
//! is followed exactly. Values that a class supplies become part of the drive before anything is computed
//! from it, as if they had been written.
use crate::catalogue;
use crate::check::assume::Assumed;
use crate::check::given;
use crate::keys::{At, Read};
use crate::raw::class::{Class, ClassRaw};
use crate::raw::drive::DriveRaw;
use crate::raw::protocol::Protocol;
use crate::raw::queue::QueueRaw;
use crate::raw::scenario::TargetRaw;
use crate::text::problem::{Log, Place};
use crate::text::tree::{Node, Value, document};
use drivelab_units::Sectors;
use serde_json::json;
use std::sync::OnceLock;

/// A drive's firmware as its class describes it.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Firmware {
    pub class: &'static str,
    /// The keys that the class supplied, with their values.
    pub supplied: Vec<(String, serde_json::Value)>,
    /// Number of drives with measured sweeps from which the range is derived.
    pub drives: usize,
    /// Number of those in this class.
    pub of_class: usize,
    /// How far I/Os per second may deviate from the prediction, by commands in the drive.
    pub range: Vec<Bounds>,
}

/// Measured I/Os per second as a share of the predicted: the expected minimum and maximum.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct Bounds {
    pub depth: u32,
    pub low: f64,
    pub high: f64,
}

/// The predictions of the classes for drives that were not used for their values: the largest error of any
/// measured sweep, applied in both directions and never smaller than at a lower depth, combined with the
/// error of a data sheet's seek time at a depth of 1. `tools/firmware_classes.py` computes it;
/// docs/firmware-classes.md has the table.
const RANGE: [Bounds; 2] =
    [Bounds { depth: 2, low: 0.85, high: 1.11 }, Bounds { depth: 4, low: 0.80, high: 1.16 }];

/// A parsed class file.
struct ClassFile {
    class: Class,
    raw: ClassRaw,
    facts: Vec<catalogue::Fact>,
}

fn filed() -> &'static [ClassFile] {
    static FILED: OnceLock<Vec<ClassFile>> = OnceLock::new();
    FILED.get_or_init(|| Class::FILED.into_iter().filter_map(read).collect())
}

fn read(class: Class) -> Option<ClassFile> {
    let text = catalogue::text(Class::FOLDER, class.name())?;
    let mut log = Log::default();
    let all = log.add(class.name(), text, true);
    let table = document(text, all, &mut log)?;
    let raw = ClassRaw::read(&Node { place: all, value: Value::Table(table) }, &mut log)?;
    Some(ClassFile { class, raw, facts: catalogue::facts(Class::FOLDER, text) })
}

/// Supplies the queue values of the drive's class; `None` where the class does not count.
pub fn supply(
    drive: &mut DriveRaw,
    above: &TargetRaw,
    place: Place,
    assumed: &mut Vec<Assumed>,
) -> Option<Firmware> {
    let named = drive.firmware.as_mut().and_then(|at| at.value.class.take());
    let queue = [above.queue.as_ref(), drive.queue.as_ref()];
    let stated = |at: &At<QueueRaw>| at.value.order.is_some() || !at.value.readable("order");
    let read = drive.readable("queue") && above.readable("queue") && drive.readable("firmware");
    if queue.iter().flatten().any(|at| stated(at)) || !read {
        return None;
    }
    let protocol = queue.iter().flatten().find_map(|at| given(at.value.protocol.as_ref()))?;
    if protocol == Protocol::None {
        return None;
    }
    let class = match named {
        Some(at) => at.value,
        None => {
            let (class, because) = inferred(drive, protocol);
            assumed.push(Assumed { key: "firmware.class", value: json!(class.name()), because });
            class
        }
    };
    let found = filed().iter().find(|filed| filed.class == class)?;
    let below = drive.queue.get_or_insert_with(|| At::new(QueueRaw::default(), place));
    let from = &found.raw.queue.as_ref()?.value;
    let supplied = fill(&mut below.value, from, place);
    let value = |key: &&str| {
        let full = format!("queue.{key}");
        let fact = found.facts.iter().find(|fact| fact.key == full)?;
        Some((full, fact.value.clone()))
    };
    let sweeps = |filed: &ClassFile| filed.raw.sweeps.as_ref().map_or(0, |at| at.value.0.len());
    Some(Firmware {
        class: class.name(),
        supplied: supplied.iter().filter_map(value).collect(),
        drives: filed().iter().map(sweeps).sum(),
        of_class: sweeps(found),
        range: RANGE.to_vec(),
    })
}

/// Copies to `below` the values that it leaves open and `from` has; returns the keys that were set.
fn fill(below: &mut QueueRaw, from: &QueueRaw, place: Place) -> Vec<&'static str> {
    let mut filled = Vec::new();
    macro_rules! fill {
        ($($key:ident),*) => { $(
            if let Some(at) = from.$key.as_ref().filter(|_| below.$key.is_none() && below.readable(stringify!($key))) {
                below.$key = Some(At::new(at.value.clone(), place));
                filled.push(stringify!($key));
            }
        )* };
    }
    // When the drive chooses and how long it waits before choosing belong together.
    if below.chooses.is_none() {
        fill!(chooses, answer_time);
    }
    fill!(order, age_share, read_margin, write_margin, seek_margin, age_limit, joins_reads);
    filled
}

/// The class inferred from the facts of a drive, and from which fact.
fn inferred(drive: &DriveRaw, protocol: Protocol) -> (Class, String) {
    let rpm = given(drive.rpm.as_ref()).map_or(7_200, |rpm| rpm.milli().div_ceil(1_000));
    let geometry = drive.geometry.as_ref().map(|at| &at.value);
    let heads = geometry.and_then(|raw| given(raw.heads.as_ref())).map(|heads| heads.0);
    let capacity = geometry.and_then(|raw| given(raw.capacity.as_ref())).map(|extent| extent.0);
    let year = drive.identity.as_ref().and_then(|at| given(at.value.year.as_ref())).map(|year| year.0);
    if rpm >= FAST_RPM {
        return (Class::Scsi, format!("it turns at {rpm} rpm"));
    }
    let scsi = matches!(protocol, Protocol::ScsiTcq);
    if let Some(heads) = heads.filter(|&heads| rpm <= MOBILE_RPM && heads <= MOBILE_HEADS && !scsi) {
        return (Class::Mobile, format!("it turns at {rpm} rpm and has {heads} heads"));
    }
    let is_new =
        year.map_or(capacity.is_some_and(|held| held >= NEARLINE_SECTORS), |year| year >= NEARLINE_YEAR);
    if scsi && !is_new {
        return (Class::Scsi, "it speaks SCSI, and nothing says that it is of 2015 or later".to_owned());
    }
    match (year, capacity) {
        (Some(year), _) if year >= NEARLINE_YEAR => (Class::SataNearline, format!("it is of {year}")),
        (Some(year), _) => (Class::SataDesktop, format!("it is of {year}")),
        (None, Some(capacity)) if capacity >= NEARLINE_SECTORS => {
            (Class::SataNearline, "no drive of 6 TB or more is older than 2014".to_owned())
        }
        (None, _) => (Class::SataDesktop, "no identity.year says that it is of 2015 or later".to_owned()),
    }
}

/// From this speed on, a drive is one of 10 000 or 15 000 rpm.
const FAST_RPM: u64 = 9_000;
/// Drives of 2.5 inch for notebooks turn at 4 200 or 5 400 rpm and have one or two platters.
const MOBILE_RPM: u64 = 5_500;
const MOBILE_HEADS: u64 = 4;
/// The first model year of drives that choose after the answer, as far as is known.
const NEARLINE_YEAR: u64 = 2015;
/// 6 TB.
const NEARLINE_SECTORS: Sectors = Sectors::new(6_000_000_000_000 / 512);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_file_that_names_an_order() {
        assert_eq!(filed().len(), Class::FILED.len());
        for ClassFile { class, raw, .. } in filed() {
            let queue = &raw.queue.as_ref().unwrap().value;
            assert!(queue.order.is_some() && queue.unreadable.is_empty(), "{class:?}");
            let known =
                |source: &str| raw.sources.as_ref().unwrap().value.0.iter().any(|(short, _)| short == source);
            let sweeps = raw.sweeps.as_ref().map(|at| &at.value.0[..]).unwrap_or_default();
            assert!(sweeps.iter().all(|(_, source)| known(&source.value)), "{class:?}");
        }
        assert_eq!(catalogue::entries(Class::FOLDER).len(), Class::FILED.len());
    }

    /// A value that a class has and `fill` does not know would be lost.
    #[test]
    fn all_that_a_class_has_is_supplied() {
        for ClassFile { class, raw, .. } in filed() {
            let from = &raw.queue.as_ref().unwrap().value;
            let log = &mut Log::default();
            let place = log.add("", "", true);
            let mut below = QueueRaw::default();
            let mut filled = fill(&mut below, from, place);
            let mut has: Vec<&str> = from.set().into_iter().map(|(key, _)| key).collect();
            filled.sort_unstable();
            has.sort_unstable();
            assert_eq!(filled, has, "{class:?}");
        }
    }

    #[test]
    fn names_are_as_they_are_spelled() {
        for class in Class::FILED.into_iter().chain([Class::Ideal]) {
            let mut text = String::new();
            class.write(&mut text);
            assert_eq!(text, class.name());
        }
    }
}
