//! The class of a drive, the order that it supplies to a drive whose queueing was never measured, and how far
//! off the I/Os per second may be.
//!
//! The class supplies an order only where neither the drive file nor the scenario sets `queue.order`. Values
//! that it supplies become part of the drive before anything is computed from it, as if they had been
//! written. An order that its author sets, or that was measured on the drive, has no range; one that a file
//! marks as inferred, or that was measured on another drive, has that of the class. The mean seek time of a data sheet has
//! a range of its own, whatever the order is. No range is known of shingled drives.
use crate::catalogue;
use crate::check::assume::Assumed;
use crate::check::class_range;
use crate::check::{given, smr};
use crate::keys::read::Mark;
use crate::keys::{At, Read};
use crate::raw::class::{Class, ClassRaw};
use crate::raw::drive::DriveRaw;
use crate::raw::identity::FormFactor;
use crate::raw::protocol::Protocol;
use crate::raw::provenance::is_inferred;
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
    /// The keys that the class supplied, with their values; none where the drive file has an order of its own.
    pub supplied: Vec<(String, serde_json::Value)>,
    /// Number of drives with measured sweeps from which the range is derived; 0 where the order is known.
    pub drives: usize,
    /// Number of those in this class.
    pub of_class: usize,
    /// Number of drives with a measured access time from which the range is derived; 0 where that of this one is known.
    pub access_drives: usize,
    /// How far I/Os per second may deviate from the prediction, by commands in the drive.
    pub range: Vec<Bounds>,
}

/// Measured I/Os per second as a share of the predicted: nine of ten further drives are between `low` and `high`.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct Bounds {
    pub depth: u32,
    pub low: f64,
    pub high: f64,
}

/// A parsed class file.
pub struct ClassFile {
    class: Class,
    pub raw: ClassRaw,
    facts: Vec<catalogue::Fact>,
}

/// The class of a drive.
pub struct DriveClass {
    class: Class,
    /// Why, where the drive file does not name it.
    because: Option<String>,
}

impl DriveClass {
    /// The class that the drive file names, which is removed from it, or the one inferred from its facts;
    /// `None` if the key could not be read.
    pub fn of(drive: &mut DriveRaw, protocol: Protocol) -> Option<Self> {
        let firmware = drive.firmware.as_mut().map(|at| &mut at.value);
        let is_readable = firmware.as_ref().is_none_or(|firmware| firmware.readable("class"));
        if let Some(named) = firmware.and_then(|firmware| firmware.class.take()) {
            return Some(DriveClass { class: named.value, because: None });
        }
        if !is_readable || !drive.readable("firmware") {
            return None;
        }
        let (class, because) = inferred(drive, protocol);
        Some(DriveClass { class, because: Some(because) })
    }

    /// The class, and why, as an assumption, where the drive file does not name it.
    pub fn assumed(&self) -> Option<Assumed> {
        let because = self.because.clone()?;
        Some(Assumed { key: "firmware.class", value: json!(self.class.name()), because })
    }

    pub fn name(&self) -> &'static str {
        self.class.name()
    }

    /// Its file; `None` for `ideal`, which supplies nothing.
    pub fn file(&self) -> Option<&'static ClassFile> {
        filed().iter().find(|filed| filed.class == self.class)
    }
}

impl ClassFile {
    /// The value of a key, as its file has it.
    pub fn value(&self, key: &str) -> Option<serde_json::Value> {
        self.facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone())
    }
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

/// What is not known of a drive's order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Its author set it, or it was measured on the drive; or the drive has no queue.
    Known,
    /// It is that of the class.
    OfClass,
    /// It was inferred, and is not that of the class.
    Other,
}

/// Supplies the queue values of the drive's class where no order is set, and returns the range; `None` where
/// neither the order nor the access time is uncertain.
pub fn supply(drive: &mut DriveRaw, above: &TargetRaw, class: &DriveClass, place: Place) -> Option<Firmware> {
    let found = class.file()?;
    let (order, supplied) = supply_order(drive, above, found, place)?;
    let is_of_sheet = has_seek_of_sheet(drive);
    let range: &[Bounds] = match (order, is_of_sheet) {
        (Order::Known, false) => return None,
        (Order::Known, true) => &class_range::SEEK,
        (Order::OfClass, false) => &class_range::GAIN,
        (Order::OfClass, true) => &class_range::BOTH,
        (Order::Other, false) => &class_range::OTHER_GAIN,
        (Order::Other, true) => &class_range::OTHER_BOTH,
    };
    let value = |key: &&str| {
        let full = format!("queue.{key}");
        found.value(&full).map(|value| (full, value))
    };
    let (access_drives, drives) = class_range::DRIVES;
    let sweeps = found.raw.sweeps.as_ref().map_or(0, |at| at.value.0.len());
    // The drives from which the range is drawn record conventionally.
    let (is_shingled, is_uncertain) = (smr::section(drive.smr.as_ref()).is_some(), order != Order::Known);
    if is_shingled {
        let supplied = supplied.iter().filter_map(value).collect();
        let none = Firmware {
            class: class.name(),
            drives: 0,
            of_class: 0,
            access_drives: 0,
            range: Vec::new(),
            supplied,
        };
        return Some(none);
    }
    Some(Firmware {
        class: class.name(),
        supplied: supplied.iter().filter_map(value).collect(),
        drives: if is_uncertain { drives } else { 0 },
        of_class: if is_uncertain { sweeps } else { 0 },
        access_drives: if is_of_sheet { access_drives } else { 0 },
        range: range.to_vec(),
    })
}

/// Supplies the order of the class where none is set: what is known of it then, and the keys that were set; `None` where
/// keys cannot be read.
fn supply_order(
    drive: &mut DriveRaw,
    above: &TargetRaw,
    class: &ClassFile,
    place: Place,
) -> Option<(Order, Vec<&'static str>)> {
    let queue = [above.queue.as_ref(), drive.queue.as_ref()];
    let read = drive.readable("queue") && above.readable("queue") && drive.readable("firmware");
    if !read || queue.iter().flatten().any(|at| !at.value.readable("order")) {
        return None;
    }
    let own = queue.iter().flatten().find_map(|at| at.value.order.as_ref());
    let protocol = queue.iter().flatten().find_map(|at| given(at.value.protocol.as_ref()));
    let has_queue = protocol.is_some_and(|protocol| protocol != Protocol::None);
    let from = &class.raw.queue.as_ref()?.value;
    match own {
        _ if !has_queue => Some((Order::Known, Vec::new())),
        Some(order) if !is_inferred(order) => Some((Order::Known, Vec::new())),
        Some(order) if given(from.order.as_ref()) == Some(order.value) => Some((Order::OfClass, Vec::new())),
        Some(_) => Some((Order::Other, Vec::new())),
        None => {
            let below = drive.queue.get_or_insert_with(|| At::new(QueueRaw::default(), place));
            Some((Order::OfClass, fill(&mut below.value, from, place)))
        }
    }
}

/// Whether the mean seek time is that of a data sheet, or a guess: three times of which the mean was neither measured
/// nor fitted on this drive.
fn has_seek_of_sheet(drive: &DriveRaw) -> bool {
    let average = drive.seek.as_ref().and_then(|at| at.value.average.as_ref());
    average.is_some_and(|at| !matches!(at.source.mark, Some(Mark::Measured | Mark::Fitted)))
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
    fill!(order, age_share, own_guideline, read_margin, write_margin, seek_margin, age_limit);
    fill!(joins_reads, joins_writes, stream_limit);
    filled
}

/// The class inferred from the facts of a drive, and from which fact.
fn inferred(drive: &DriveRaw, protocol: Protocol) -> (Class, String) {
    let rpm = given(drive.rpm.as_ref()).map_or(7_200, |rpm| rpm.milli().div_ceil(1_000));
    let geometry = drive.geometry.as_ref().map(|at| &at.value);
    let heads = geometry.and_then(|raw| given(raw.heads.as_ref())).map(|heads| heads.0);
    let capacity = geometry.and_then(|raw| given(raw.capacity.as_ref())).map(|extent| extent.0);
    let identity = drive.identity.as_ref().map(|at| &at.value);
    let year = identity.and_then(|raw| given(raw.year.as_ref())).map(|year| year.0);
    let form_factor = identity.and_then(|raw| given(raw.form_factor.as_ref()));
    if rpm >= FAST_RPM {
        return (Class::Scsi, format!("it turns at {rpm} rpm"));
    }
    let scsi = matches!(protocol, Protocol::ScsiTcq);
    let is_small = form_factor.map(|form| matches!(form, FormFactor::Inches2 | FormFactor::Inches1));
    match (is_small, heads) {
        (Some(true), _) if !scsi => {
            return (Class::Mobile, format!("its form factor is {}", spelled(&form_factor)));
        }
        (None, Some(heads)) if rpm <= MOBILE_RPM && heads <= MOBILE_HEADS && !scsi => {
            let because = format!(
                "it turns at {rpm} rpm and has {heads} heads, and no identity.form_factor says \"3.5in\""
            );
            return (Class::Mobile, because);
        }
        _ => {}
    }
    let is_new =
        year.map_or(capacity.is_some_and(|held| held >= NEARLINE_SECTORS), |year| year >= NEARLINE_YEAR);
    if scsi && !is_new {
        return (Class::Scsi, "it speaks SCSI, and nothing says that it is of 2015 or later".to_owned());
    }
    // No drive of 2.5 inch has that much.
    let is_large = capacity.is_some_and(|held| held >= NEARLINE_SECTORS);
    let unless = if is_small.is_none() && !scsi && !is_large {
        ", and no identity.form_factor says \"2.5in\""
    } else {
        ""
    };
    match year {
        Some(year) if year >= NEARLINE_YEAR => (Class::SataNearline, format!("it is of {year}{unless}")),
        Some(year) => (Class::SataDesktop, format!("it is of {year}{unless}")),
        None if is_large => (Class::SataNearline, "no drive of 6 TB or more is older than 2014".to_owned()),
        None => (Class::SataDesktop, format!("no identity.year says that it is of 2015 or later{unless}")),
    }
}

/// A form factor as a drive file spells it.
fn spelled(form_factor: &Option<FormFactor>) -> String {
    let mut text = String::new();
    if let Some(form_factor) = form_factor {
        form_factor.write(&mut text);
    }
    text
}

/// From this speed on, a drive is one of 10 000 or 15 000 rpm.
const FAST_RPM: u64 = 9_000;
/// Drives of 2.5 inch for notebooks mostly turn at 4 200 or 5 400 rpm and have one or two platters.
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
    fn every_class_has_a_file_that_names_an_order_and_its_times() {
        assert_eq!(filed().len(), Class::FILED.len());
        for filed @ ClassFile { class, raw, .. } in filed() {
            let times = ["read_hit", "read_miss", "write", "write_hit"].map(|key| format!("firmware.{key}"));
            for key in times.iter().map(String::as_str).chain(["settle.write_settle", "skew.margin"]) {
                assert!(filed.value(key).is_some(), "{class:?}: {key}");
            }
            let mut values = filed.facts.iter().filter(|fact| fact.key.contains('.'));
            assert!(values.all(|fact| fact.mark.is_some() && fact.source.is_some()), "{class:?}");
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
