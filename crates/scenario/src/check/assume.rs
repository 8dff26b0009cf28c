//! What a drive file leaves out and its interface tells: the queueing protocol, the cache, the write cache.
//!
//! Which interface that is, `link.standard` says; where the file does not set it, `identity.interface` as far as it names one.
//! What is assumed becomes part of the drive before anything is made of it, so that its meaning (and the scenario's hash) is
//! the same as if it had been written, and it is told: nobody should find out from a result that a drive had no queue.
//!
//! The assumptions, from what drives of each interface are sold with: SATA of 3 and 6 Gbit/s has NCQ with 32 tags; SATA of
//! 1.5 Gbit/s (2003 and 2004) and parallel ATA mostly had no queue; SCSI and SAS have tagged queueing. ATA drives are shipped
//! with the write cache on; SCSI and SAS drives of the catalogue mostly are not. All have a buffer that caches reads.
use crate::check::given;
use crate::keys::numbers::Count;
use crate::keys::quantities::Extent;
use crate::keys::{At, Read};
use crate::raw::cache::CacheRaw;
use crate::raw::drive::DriveRaw;
use crate::raw::link::Standard;
use crate::raw::protocol::Protocol;
use crate::raw::scenario::TargetRaw;
use crate::raw::switch::Switch;
use crate::text::problem::Place;
use crate::text::shorten::begin;
use drivelab_units::{Bytes, SECTOR_BYTES, Sectors};
use serde_json::{Value, json};

/// A key that a drive file leaves out, what holds in its place, and why.
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
}

/// Segments of a cache of which nothing is known.
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
        }
    }

    /// What a text such as "SATA, 3 Gbit/s" names.
    fn named(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let words: Vec<&str> = text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '.')
            .filter(|word| !word.is_empty())
            .collect();
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|name| word.starts_with(name)));
        // The numbers of the rate, with or without a unit behind them.
        let number =
            |word: &&str| word.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<f64>().ok();
        let rate = words.iter().find_map(number);
        if has(&["sata"]) || words.windows(2).any(|two| two[0] == "serial" && two[1].starts_with("ata")) {
            // Without a number it is one of those that are common since 2005.
            return Some(match rate {
                Some(150.0 | 1.5 | 1.0) => Interface::Sata150,
                Some(600.0 | 6.0) => Interface::Sata600,
                _ => Interface::Sata300,
            });
        }
        if has(&["sas"]) {
            Some(Interface::Sas)
        } else if has(&["scsi", "ultra160", "ultra320", "u160", "u320"]) {
            Some(Interface::Scsi)
        } else if has(&["pata", "ide", "eide", "ata", "udma"]) {
            Some(Interface::ParallelAta)
        } else {
            None
        }
    }

    fn protocol(self) -> Protocol {
        match self {
            Interface::ParallelAta | Interface::Sata150 => Protocol::None,
            Interface::Sata300 | Interface::Sata600 => Protocol::Ncq,
            Interface::Scsi | Interface::Sas => Protocol::ScsiTcq,
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
            Interface::Sata600 => 64,
        }
    }
}

/// Completes a drive by what its interface implies; what the scenario says of it above is not assumed.
pub fn complete(drive: &mut DriveRaw, above: &TargetRaw, place: Place) -> Vec<Assumed> {
    let (interface, because, place) = interface(drive, place);
    let mut assumed = Vec::new();
    let mut assume = |key, value| assumed.push(Assumed { key, value, because: because.clone() });
    let set = |queue: Option<&At<crate::raw::queue::QueueRaw>>| {
        queue.is_some_and(|at| at.value.protocol.is_some() || !at.value.readable("protocol"))
    };
    if !set(drive.queue.as_ref()) && !set(above.queue.as_ref()) && drive.readable("queue") {
        let protocol = interface.map_or(Protocol::None, Interface::protocol);
        let mut name = String::new();
        protocol.write(&mut name);
        assume("queue.protocol", json!(name));
        if interface.is_some() {
            let queue = drive.queue.get_or_insert_with(|| At::new(Default::default(), place));
            queue.value.protocol = Some(At::new(protocol, place));
        }
    }
    let clear = drive.readable("cache") && above.readable("cache");
    if drive.cache.is_none() && above.cache.is_none() && clear {
        match interface.map(Interface::cache_mib) {
            Some(mib) => {
                assume("cache", json!({ "size": format!("{mib}MiB"), "segments": SEGMENTS }));
                let size = Sectors::new(Bytes::new(mib << 20).get() / SECTOR_BYTES);
                let raw = CacheRaw {
                    size: Some(At::new(Extent(size), place)),
                    segments: Some(At::new(Count(SEGMENTS), place)),
                    ..CacheRaw::default()
                };
                drive.cache = Some(At::new(Switch::On(raw), place));
            }
            None => assume("cache", json!(false)),
        }
    }
    let there = |cache: &At<Switch<CacheRaw>>| matches!(cache.value, Switch::On(_));
    let cache = above.cache.as_ref().or(drive.cache.as_ref()).is_some_and(there);
    let clear = drive.readable("write_cache") && above.readable("write_cache");
    if drive.write_cache.is_none() && above.write_cache.is_none() && clear && cache {
        let on = interface.is_some_and(Interface::write_cache);
        assume("write_cache", json!(on));
        if interface.is_some() {
            drive.write_cache = Some(At::new(on, place));
        }
    }
    assumed
}

/// The interface of a drive, what says so, and where.
fn interface(drive: &DriveRaw, place: Place) -> (Option<Interface>, String, Place) {
    if let Some(standard) = drive.link.as_ref().and_then(|at| at.value.standard.as_ref()) {
        let mut name = String::new();
        standard.value.write(&mut name);
        return (Some(Interface::of(standard.value)), format!("link.standard is \"{name}\""), standard.place);
    }
    let text = drive.identity.as_ref().and_then(|at| at.value.interface.as_ref());
    let Some((text, at)) = given(text).zip(text.map(|at| at.place)) else {
        let because = "the drive file has neither `link.standard` nor `identity.interface`";
        return (None, because.to_owned(), place);
    };
    match Interface::named(&text) {
        Some(found) => (Some(found), format!("identity.interface is \"{}\"", begin(&text)), at),
        None => {
            let because =
                format!("identity.interface \"{}\" is no known interface; set link.standard", begin(&text));
            (None, because, place)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_data_sheet_calls_an_interface_is_understood() {
        for (text, expected) in [
            ("SATA 3Gb/s", Some(Interface::Sata300)),
            ("SATA 3.0 Gb/s", Some(Interface::Sata300)),
            ("SATA, 300 MB/s", Some(Interface::Sata300)),
            ("SATA II", Some(Interface::Sata300)),
            ("SATA", Some(Interface::Sata300)),
            ("SATA 6Gb/s", Some(Interface::Sata600)),
            ("Serial ATA 600", Some(Interface::Sata600)),
            ("SATA 1.5 Gb/s", Some(Interface::Sata150)),
            ("SATA 150, through a bridge", Some(Interface::Sata150)),
            ("SAS, 12 Gbit/s", Some(Interface::Sas)),
            ("SCSI, Ultra320", Some(Interface::Scsi)),
            ("Ultra320", Some(Interface::Scsi)),
            ("ATA/100", Some(Interface::ParallelAta)),
            ("PATA", Some(Interface::ParallelAta)),
            ("IDE", Some(Interface::ParallelAta)),
            ("NVMe", None),
            ("USB 3.0", None),
            ("", None),
        ] {
            assert_eq!(Interface::named(text), expected, "{text}");
        }
    }
}
