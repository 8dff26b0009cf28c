//! What a drive file leaves out and its interface implies: the queueing protocol, the cache, the write cache.
//! How the drive chooses among waiting commands is implied by its class (`class.rs`), as are the times that
//! data sheets leave out (`class_times.rs`).
//!
//! The interface is given by `link.standard`; where the file does not set it, by `identity.interface` as far
//! as that names one. Assumed values become part of the drive before anything is computed from it, so that
//! its meaning (and the scenario's hash) is the same as if they had been written, and they are reported:
//! nobody should find out from a result that a drive had no queue.
//!
//! The assumptions, from what drives of each interface are sold with: SATA of 3 and 6 Gbit/s has NCQ with 32
//! tags; SATA of 1.5 Gbit/s (2003 and 2004) and parallel ATA mostly had no queue; SCSI and SAS have tagged
//! queueing. ATA drives are shipped with the write cache on; SCSI and SAS drives of the catalogue mostly are
//! not. All have a buffer that caches reads.
use crate::check::cached_writes::{CachedWrites, cached_writes, caches_writes, section};
use crate::check::class::{DriveClass, Firmware, supply};
use crate::check::{class_times, given};
use crate::keys::numbers::Count;
use crate::keys::quantities::Extent;
use crate::keys::read::Mark;
use crate::keys::{At, Read, Source};
use crate::raw::cache::{CacheRaw, Segmentation};
use crate::raw::drive::DriveRaw;
use crate::raw::link::Standard;
use crate::raw::protocol::Protocol;
use crate::raw::queue::QueueRaw;
use crate::raw::scenario::TargetRaw;
use crate::raw::switch::Switch;
use crate::text::problem::Place;
use crate::text::shorten::begin;
use drivelab_units::{Bytes, SECTOR_BYTES, Sectors};
use serde_json::{Value, json};

/// A key that a drive file leaves out, the assumed value, and why.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Assumed {
    pub key: &'static str,
    pub value: Value,
    pub because: String,
}

/// How a drive is attached, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Interface {
    ParallelAta,
    Sata150,
    Sata300,
    Sata600,
    Scsi,
    Sas,
    Nvme,
}

/// Number of segments of a cache of which nothing is known.
const SEGMENTS: u64 = 16;

impl Interface {
    fn of(standard: Standard) -> Self {
        match standard {
            Standard::Ata66 | Standard::Ata100 | Standard::Ata133 => Interface::ParallelAta,
            Standard::Sata150 => Interface::Sata150,
            Standard::Sata300 => Interface::Sata300,
            Standard::Sata600 => Interface::Sata600,
            Standard::Ultra160 | Standard::Ultra320 => Interface::Scsi,
            Standard::Sas3 | Standard::Sas6 | Standard::Sas12 => Interface::Sas,
            Standard::Pcie3x2 | Standard::Pcie3x4 | Standard::Pcie4x4 | Standard::Pcie5x4 => Interface::Nvme,
        }
    }

    /// The interface that a text such as "SATA, 3 Gbit/s" names, with the standard where it states the rate
    /// too.
    fn named(text: &str) -> Option<(Self, Option<Standard>)> {
        let text = text.to_lowercase();
        let words: Vec<&str> = text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '.')
            .filter(|word| !word.is_empty())
            .collect();
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|name| word.starts_with(name)));
        // The rate is the first number, with a name before it or a unit after it.
        let number = |word: &&str| word.trim_matches(|c: char| c.is_ascii_alphabetic()).parse::<f64>().ok();
        let rate = words.iter().find_map(number);
        let (of, usual): (fn(f64) -> Option<Standard>, _) = if has(&["sata"])
            || words.windows(2).any(|two| two[0] == "serial" && two[1].starts_with("ata"))
        {
            // Without a rate, the one common since 2005 is assumed.
            (sata, Interface::Sata300)
        } else if has(&["sas"]) {
            (sas, Interface::Sas)
        } else if has(&["scsi", "ultra160", "ultra320", "u160", "u320"]) {
            (scsi, Interface::Scsi)
        } else if has(&["pata", "ide", "eide", "ata", "udma"]) {
            (parallel_ata, Interface::ParallelAta)
        } else if has(&["nvme", "pcie"]) {
            (|_| None, Interface::Nvme)
        } else {
            return None;
        };
        let standard = rate.and_then(of);
        Some((standard.map_or(usual, Interface::of), standard))
    }

    fn protocol(self) -> Protocol {
        match self {
            Interface::ParallelAta | Interface::Sata150 => Protocol::None,
            Interface::Sata300 | Interface::Sata600 => Protocol::Ncq,
            Interface::Scsi | Interface::Sas => Protocol::ScsiTcq,
            Interface::Nvme => Protocol::Nvme,
        }
    }

    fn write_cache(self) -> bool {
        !matches!(self, Interface::Scsi | Interface::Sas)
    }

    /// The usual size of the buffer in the years of the interface, in MiB.
    fn cache_mib(self) -> u64 {
        match self {
            Interface::ParallelAta => 2,
            Interface::Sata150 | Interface::Scsi => 8,
            Interface::Sata300 | Interface::Sas => 16,
            Interface::Sata600 | Interface::Nvme => 64,
        }
    }
}

// The standard of this rate, in MB/s or Gbit/s.

fn sata(rate: f64) -> Option<Standard> {
    match rate {
        150.0 | 1.5 => Some(Standard::Sata150),
        300.0 | 3.0 => Some(Standard::Sata300),
        600.0 | 6.0 => Some(Standard::Sata600),
        _ => None,
    }
}

fn sas(rate: f64) -> Option<Standard> {
    match rate {
        300.0 | 3.0 => Some(Standard::Sas3),
        600.0 | 6.0 => Some(Standard::Sas6),
        1_200.0 | 12.0 => Some(Standard::Sas12),
        _ => None,
    }
}

fn scsi(rate: f64) -> Option<Standard> {
    match rate {
        160.0 => Some(Standard::Ultra160),
        320.0 => Some(Standard::Ultra320),
        _ => None,
    }
}

fn parallel_ata(rate: f64) -> Option<Standard> {
    match rate {
        66.0 => Some(Standard::Ata66),
        100.0 => Some(Standard::Ata100),
        133.0 => Some(Standard::Ata133),
        _ => None,
    }
}

/// What completes a drive.
pub struct Completed {
    pub assumed: Vec<Assumed>,
    /// Where its class has a part in its order.
    pub firmware: Option<Firmware>,
    /// With a write cache.
    pub cached_writes: Option<CachedWrites>,
}

/// Completes a drive by what its interface and its class imply; what the scenario sets for it is not assumed.
pub fn complete(drive: &mut DriveRaw, above: &TargetRaw, place: Place) -> Completed {
    let stated = stated_interface(drive, place);
    let mut assumed = Vec::new();
    assume_link(drive, &stated, &mut assumed);
    assume_protocol(drive, above, &stated, &mut assumed);
    if drive.flash.is_some() {
        assume_write_cache(drive, above, &stated, &mut assumed);
        return Completed { assumed, firmware: None, cached_writes: None };
    }
    assume_cache(drive, above, &stated, &mut assumed);
    assume_write_cache(drive, above, &stated, &mut assumed);
    let queue = [above.queue.as_ref(), drive.queue.as_ref()];
    let protocol = queue.iter().flatten().find_map(|at| given(at.value.protocol.as_ref()));
    let class = DriveClass::of(drive, protocol.unwrap_or(Protocol::None));
    let (mut firmware, mut times) = (None, Vec::new());
    if let Some(class) = class {
        firmware = supply(drive, above, &class, place);
        class_times::supply(drive, &class, caches_writes(drive, above), place, &mut times);
        // The range of a mean seek time is that of all classes.
        let is_used = firmware.as_ref().is_some_and(|one| one.drives > 0) || !times.is_empty();
        assumed.extend(class.assumed().filter(|_| is_used));
    }
    assumed.append(&mut times);
    Completed { assumed, firmware, cached_writes: cached_writes(drive, above) }
}

/// The standard of the link, where the interface's name states it.
fn assume_link(drive: &mut DriveRaw, stated: &StatedInterface, assumed: &mut Vec<Assumed>) {
    let own = drive.link.as_ref().is_some_and(|at| at.value.standard.is_some() || at.value.rate.is_some());
    let Some(standard) = stated.standard.filter(|_| !own && drive.readable("link")) else { return };
    assumed.push(stated.implies("link.standard", json!(spelled(&standard))));
    let link = drive.link.get_or_insert_with(|| At::new(Default::default(), stated.place));
    if link.value.readable("standard") && link.value.readable("rate") {
        link.value.standard = Some(At::new(standard, stated.place));
    }
}

fn assume_protocol(
    drive: &mut DriveRaw,
    above: &TargetRaw,
    stated: &StatedInterface,
    assumed: &mut Vec<Assumed>,
) {
    let set = |queue: Option<&At<QueueRaw>>| {
        queue.is_some_and(|at| at.value.protocol.is_some() || !at.value.readable("protocol"))
    };
    if set(drive.queue.as_ref()) || set(above.queue.as_ref()) || !drive.readable("queue") {
        return;
    }
    let protocol = stated.interface.map_or(Protocol::None, Interface::protocol);
    assumed.push(stated.implies("queue.protocol", json!(spelled(&protocol))));
    if stated.interface.is_some() {
        let queue = drive.queue.get_or_insert_with(|| At::new(Default::default(), stated.place));
        queue.value.protocol = Some(At::new(protocol, stated.place));
    }
}

/// The cache, or what its description leaves out of it: its size and the number of its segments.
fn assume_cache(
    drive: &mut DriveRaw,
    above: &TargetRaw,
    stated: &StatedInterface,
    assumed: &mut Vec<Assumed>,
) {
    if !drive.readable("cache") || !above.readable("cache") {
        return;
    }
    let implied = stated.interface.map(Interface::cache_mib);
    let (own, below) = (section(above.cache.as_ref()), section(drive.cache.as_ref()));
    if drive.cache.is_none() && above.cache.is_none() {
        let value = implied.map(|mib| json!({ "size": format!("{mib}MiB"), "segments": SEGMENTS }));
        assumed.push(stated.implies("cache", value.unwrap_or(json!(false))));
        if let Some(mib) = implied {
            let raw = CacheRaw {
                size: Some(At::new(mebibytes(mib), stated.place)),
                segments: Some(inferred(Count(SEGMENTS), stated.place)),
                ..CacheRaw::default()
            };
            drive.cache = Some(At::new(Switch::On(raw), stated.place));
        }
        return;
    }
    if section(above.cache.as_ref().or(drive.cache.as_ref())).is_none() {
        return;
    }
    let sets = |raw: Option<&CacheRaw>, key| {
        raw.is_some_and(|raw| raw.set().iter().any(|(name, _)| *name == key) || !raw.readable(key))
    };
    let lacks = |key| !sets(own, key) && !sets(below, key);
    let size = implied.filter(|_| lacks("size") && lacks("segment_size")).map(mebibytes);
    let segments = lacks("segments").then(|| usual_segments(own, below, size));
    if let Some(mib) = implied.filter(|_| size.is_some()) {
        assumed.push(stated.implies("cache.size", json!(format!("{mib}MiB"))));
    }
    if let Some(segments) = segments {
        let because = "data sheets have the size only; drives whose segments are known have 3 to 2304";
        assumed.push(Assumed { key: "cache.segments", value: json!(segments), because: because.to_owned() });
    }
    if size.is_none() && segments.is_none() {
        return;
    }
    if below.is_none() {
        drive.cache = Some(At::new(Switch::On(CacheRaw::default()), stated.place));
    }
    if let Some(At { value: Switch::On(raw), .. }) = &mut drive.cache {
        raw.size = size.map(|size| At::new(size, stated.place)).or_else(|| raw.size.take());
        let found = segments.map(|segments| inferred(Count(segments), stated.place));
        raw.segments = found.or_else(|| raw.segments.take());
    }
}

/// The segments of a cache of which only the size is known: as many as usual, fewer if they would be too small
/// for what is read ahead, more if writes alone have more.
fn usual_segments(own: Option<&CacheRaw>, below: Option<&CacheRaw>, implied: Option<Extent>) -> u64 {
    fn of<T: Clone>(layers: [Option<&CacheRaw>; 2], key: impl Fn(&CacheRaw) -> Option<&At<T>>) -> Option<T> {
        layers.into_iter().flatten().find_map(|raw| given(key(raw)))
    }
    let layers = [own, below];
    let least = of(layers, |raw| raw.write_segments.as_ref()).map_or(1, |count| count.0);
    let usual = SEGMENTS.max(least);
    let Some(size) = of(layers, |raw| raw.size.as_ref()).or(implied).map(|size| size.0.get()) else {
        return usual;
    };
    let is_fixed = of(layers, |raw| raw.segmentation.as_ref()) != Some(Segmentation::Adaptive);
    let ahead =
        [of(layers, |raw| raw.read_ahead_limit.as_ref()), of(layers, |raw| raw.read_ahead_least.as_ref())];
    let most_ahead = ahead.into_iter().flatten().map(|extent| extent.0.get()).max().filter(|_| is_fixed);
    usual.min(size / most_ahead.unwrap_or(1).max(1)).max(1)
}

fn assume_write_cache(
    drive: &mut DriveRaw,
    above: &TargetRaw,
    stated: &StatedInterface,
    assumed: &mut Vec<Assumed>,
) {
    let cache = drive.flash.is_some() || section(above.cache.as_ref().or(drive.cache.as_ref())).is_some();
    let clear = drive.readable("write_cache") && above.readable("write_cache");
    if drive.write_cache.is_none() && above.write_cache.is_none() && clear && cache {
        let on = stated.interface.is_some_and(Interface::write_cache);
        assumed.push(stated.implies("write_cache", json!(on)));
        if stated.interface.is_some() {
            drive.write_cache = Some(At::new(on, stated.place));
        }
    }
}

fn mebibytes(mib: u64) -> Extent {
    Extent(Sectors::new(Bytes::new(mib << 20).get() / SECTOR_BYTES))
}

/// A value that nobody has measured.
fn inferred<T>(value: T, place: Place) -> At<T> {
    At { source: Source { source: None, mark: Some(Mark::Inferred) }, ..At::new(value, place) }
}

fn spelled(name: &impl Read) -> String {
    let mut text = String::new();
    name.write(&mut text);
    text
}

/// The interface of a drive, what states it, and where.
struct StatedInterface {
    interface: Option<Interface>,
    /// The standard, where `link` does not state it.
    standard: Option<Standard>,
    because: String,
    place: Place,
}

impl StatedInterface {
    /// What the interface implies, as an assumption.
    fn implies(&self, key: &'static str, value: Value) -> Assumed {
        Assumed { key, value, because: self.because.clone() }
    }
}

fn stated_interface(drive: &DriveRaw, place: Place) -> StatedInterface {
    if let Some(standard) = drive.link.as_ref().and_then(|at| at.value.standard.as_ref()) {
        let because = format!("link.standard is \"{}\"", spelled(&standard.value));
        let interface = Some(Interface::of(standard.value));
        return StatedInterface { interface, standard: None, because, place: standard.place };
    }
    let text = drive.identity.as_ref().and_then(|at| at.value.interface.as_ref());
    let Some((text, at)) = given(text).zip(text.map(|at| at.place)) else {
        let because = "the drive file has neither `link.standard` nor `identity.interface`".to_owned();
        return StatedInterface { interface: None, standard: None, because, place };
    };
    match Interface::named(&text) {
        Some((found, standard)) => {
            let because = format!("identity.interface is \"{}\"", begin(&text));
            StatedInterface { interface: Some(found), standard, because, place: at }
        }
        None => {
            let because = format!("identity.interface \"{}\" is no known interface", begin(&text));
            StatedInterface { interface: None, standard: None, because, place }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_data_sheet_calls_an_interface_is_understood() {
        for (text, expected) in [
            ("SATA 3Gb/s", Some((Interface::Sata300, Some(Standard::Sata300)))),
            ("SATA 3.0 Gb/s", Some((Interface::Sata300, Some(Standard::Sata300)))),
            ("SATA, 300 MB/s", Some((Interface::Sata300, Some(Standard::Sata300)))),
            ("SATA-300", Some((Interface::Sata300, Some(Standard::Sata300)))),
            ("SATA II", Some((Interface::Sata300, None))),
            ("SATA", Some((Interface::Sata300, None))),
            ("SATA 6Gb/s", Some((Interface::Sata600, Some(Standard::Sata600)))),
            ("Serial ATA 600", Some((Interface::Sata600, Some(Standard::Sata600)))),
            ("SATA 1.5 Gb/s", Some((Interface::Sata150, Some(Standard::Sata150)))),
            ("SATA 150, through a bridge", Some((Interface::Sata150, Some(Standard::Sata150)))),
            ("SAS, 12 Gbit/s", Some((Interface::Sas, Some(Standard::Sas12)))),
            ("SAS", Some((Interface::Sas, None))),
            ("SCSI, Ultra320", Some((Interface::Scsi, Some(Standard::Ultra320)))),
            ("Ultra160", Some((Interface::Scsi, Some(Standard::Ultra160)))),
            ("SCSI (Ultra2, wide)", Some((Interface::Scsi, None))),
            ("ATA/100", Some((Interface::ParallelAta, Some(Standard::Ata100)))),
            ("PATA", Some((Interface::ParallelAta, None))),
            ("IDE", Some((Interface::ParallelAta, None))),
            ("NVMe", Some((Interface::Nvme, None))),
            ("PCIe 3.0 x4, NVMe", Some((Interface::Nvme, None))),
            ("USB 3.0", None),
            ("", None),
        ] {
            assert_eq!(Interface::named(text), expected, "{text}");
        }
    }
}
