//! The queueing attributes of a job's commands, and whether the protocol in force supports them.
use super::protocol::protocol_name;
use super::workload::Served;
use crate::check::given;
use crate::keys::numbers::Fio;
use crate::keys::{At, Read};
use crate::raw::workload::{JobRaw, PriorityName, Rw};
use crate::text::problem::{Log, Place};
use drivelab_core::host::params::Marking;
use drivelab_core::storage::drive::protocol::Protocol;
use drivelab_core::{Attribute, Priority};
use drivelab_units::Span;

/// The job's keys on it.
pub struct MarkingKeys<'a> {
    pub attribute: Option<&'a At<Attribute>>,
    pub priority: Option<&'a At<PriorityName>>,
    pub icc: Option<&'a At<Span>>,
    pub fua: Option<&'a At<bool>>,
    pub sync: Option<&'a At<Fio>>,
    pub direct: Option<&'a At<Fio>>,
    /// Whether priority and deadline could be read.
    pub clear: bool,
}

/// The marking of a job's commands; what the protocol does not support is recorded.
pub fn marking(asks: &MarkingKeys<'_>, served: Option<Served<'_>>, log: &mut Log) -> Marking {
    let MarkingKeys { attribute, priority, icc, fua, sync, direct, clear } = *asks;
    let named = given(priority).unwrap_or(PriorityName::Normal);
    if let Some(icc) = icc {
        if named == PriorityName::Isochronous || !clear {
            log.has_effect(icc.place);
        } else {
            let mut name = String::new();
            named.write(&mut name);
            let message = format!("`icc` has no effect with priority = \"{name}\"");
            log.no_effect(icc.place, message, "set priority to isochronous, or leave icc out".to_owned());
        }
        if icc.value.is_zero() {
            log.fault(
                icc.place,
                "no command meets a deadline at its arrival",
                "write a time such as \"50ms\"",
            );
        }
    }
    if let Some(Served { array: true, .. }) = served {
        check_array(attribute, priority, log);
    } else if let Some(Served { drive: Some(protocol), .. }) = served {
        check_attribute(attribute, protocol, log);
        check_priority(priority, protocol, log);
    }
    let priority = match (named, icc) {
        (PriorityName::Normal, _) => Priority::Normal,
        (PriorityName::High, _) => Priority::High,
        (PriorityName::Isochronous, Some(icc)) => Priority::Isochronous(icc.value),
        (PriorityName::Isochronous, None) => {
            let place = priority.map_or_else(Place::default, |at| at.place);
            if clear {
                log.fault(place, "an isochronous command needs its deadline", "add icc = \"50ms\"");
            }
            Priority::Normal
        }
    };
    let attribute = given(attribute).unwrap_or_default();
    let force_unit_access = given(fua).unwrap_or(false);
    let sync = given(sync).is_some_and(|sync| sync.0);
    let direct = check_direct(direct, served, log);
    Marking { attribute, priority, force_unit_access, sync, direct }
}

/// Whether I/Os bypass the host's own cache. Without a cache, all do.
fn check_direct(direct: Option<&At<Fio>>, served: Option<Served<'_>>, log: &mut Log) -> bool {
    let cached = served.is_some_and(|served| served.host_cache);
    let Some(at) = direct else { return !cached };
    if cached {
        log.has_effect(at.place);
    } else if !at.value.0 && served.is_some() {
        let message = "`direct` has no effect: the host has no cache, so every I/O is direct";
        let remedy = "add target.host_cache, or leave it out";
        log.no_effect(at.place, message.to_owned(), remedy.to_owned());
    }
    at.value.0 || !cached
}

/// An array's own commands to its members are simple ones, whatever attributes a host gives its commands.
fn check_array(attribute: Option<&At<Attribute>>, priority: Option<&At<PriorityName>>, log: &mut Log) {
    let attribute = attribute.filter(|at| at.value != Attribute::Simple).map(|at| ("attribute", at.place));
    let priority = priority.filter(|at| at.value != PriorityName::Normal).map(|at| ("priority", at.place));
    for (key, place) in attribute.into_iter().chain(priority) {
        let message = format!("an array hands on no {key}: its commands to the members are simple ones");
        log.contradiction(place, message, format!("leave {key} out, or take a drive without an array"));
    }
}

fn check_attribute(attribute: Option<&At<Attribute>>, protocol: Protocol, log: &mut Log) {
    let Some(at) = attribute else { return };
    let scsi = matches!(protocol, Protocol::ScsiTcq(_));
    if scsi || !matches!(at.value, Attribute::Ordered | Attribute::HeadOfQueue) {
        return;
    }
    let mut name = String::new();
    at.value.write(&mut name);
    let message =
        format!("{} has no attribute \"{name}\": it has simple and untagged", protocol_name(protocol));
    log.contradiction(
        at.place,
        message,
        "take a drive and a controller that share scsi-tcq, or leave attribute out",
    );
}

fn check_priority(priority: Option<&At<PriorityName>>, protocol: Protocol, log: &mut Log) {
    let Some(at) = priority else { return };
    if at.value == PriorityName::Normal || matches!(protocol, Protocol::Ncq(_)) {
        return;
    }
    let message = format!("{} has no priorities; ncq has", protocol_name(protocol));
    log.contradiction(
        at.place,
        message,
        "take a drive and a controller that share ncq, or leave priority out",
    );
}

/// Keys that apply to drives only, where the target is not a drive. A station serves a flush like any other
/// request, and has no write-through.
pub fn only_for_drives(set: &[(&str, Place)], log: &mut Log) {
    for &(key, place) in set {
        if ["attribute", "priority", "icc", "initiator"].contains(&key) {
            let message = format!("`{key}` asks something of a drive; this target has none");
            log.fault(place, message, "leave it out, or take a drive");
        }
    }
}

/// Only SCSI lets several hosts share a drive. `jobs` are initiators, with the places where they were given.
pub fn check_initiators(jobs: &[(u16, Option<Place>)], served: Served<'_>, log: &mut Log) {
    let Some(protocol) = served.drive else { return };
    if matches!(protocol, Protocol::ScsiTcq(_)) {
        return;
    }
    let Some(&(first, _)) = jobs.first() else { return };
    if let Some(&(other, place)) = jobs.iter().find(|(other, _)| *other != first) {
        let place = place.or_else(|| jobs.iter().find_map(|(_, place)| *place)).unwrap_or_default();
        let message = format!("initiators {first} and {other}: {} knows one host", protocol_name(protocol));
        log.contradiction(
            place,
            message,
            "take a drive and a controller that share scsi-tcq, or one initiator",
        );
    }
}

/// Whether a job's I/Os are synchronous matters to one I/O scheduler only.
pub fn check_synchronous(raw: &JobRaw, served: Served<'_>, log: &mut Log) {
    let Some(at) = &raw.synchronous else { return };
    if served.fair {
        log.has_effect(at.place);
    } else {
        let message = "`synchronous` has no effect: only the I/O scheduler \"fair\" asks who waits";
        let remedy = "set target.elevator.order to fair, or leave it out";
        log.no_effect(at.place, message.to_owned(), remedy.to_owned());
    }
}

/// `sync` is about writes: where a job has none it waits for nothing.
pub fn check_sync(raw: &JobRaw, rw: Rw, log: &mut Log) {
    let Some(at) = raw.sync.as_ref().filter(|at| at.value.0) else { return };
    if rw.writes() {
        log.has_effect(at.place);
    } else {
        let message = format!("`sync` has no effect with rw = \"{}\": it makes writes wait", rw.name());
        log.no_effect(at.place, message, "leave it out, or let the job write".to_owned());
    }
}
