//! The queueing attributes of a job's commands, and whether the protocol in force supports them.
use super::protocol::protocol_name;
use super::workload::Served;
use crate::check::given;
use crate::keys::numbers::Fio;
use crate::keys::{At, Read};
use crate::raw::duration::PrioritySplit;
use crate::raw::workload::{JobRaw, PriorityName, Rw};
use crate::text::problem::{Log, Place};
use drivelab_core::host::params::{Marking, PriorityShare};
use drivelab_core::storage::drive::protocol::{Descriptor, DurationLimits, Protocol};
use drivelab_core::{Access, Attribute, Priority};
use drivelab_units::{Share, Span};

/// The job's keys on it.
pub struct MarkingKeys<'a> {
    pub attribute: Option<&'a At<Attribute>>,
    pub priority: Option<&'a At<PriorityName>>,
    pub split: Option<&'a At<PrioritySplit>>,
    pub icc: Option<&'a At<Span>>,
    pub fua: Option<&'a At<bool>>,
    pub sync: Option<&'a At<Fio>>,
    pub direct: Option<&'a At<Fio>>,
    /// What its commands may be.
    pub accesses: &'a [Access],
    /// Whether priority and deadline could be read.
    pub clear: bool,
}

impl MarkingKeys<'_> {
    /// The priorities that commands may have, each with its place.
    fn priorities(&self) -> Vec<(PriorityName, Place)> {
        let own = self.priority.map(|at| (at.value, at.place));
        let split =
            self.split.into_iter().flat_map(|at| at.value.0.iter().map(|(name, _)| (*name, at.place)));
        own.into_iter().chain(split).collect()
    }
}

/// The marking of a job's commands, and their priorities by share; what the protocol does not support is recorded.
pub fn marking(
    asks: &MarkingKeys<'_>,
    served: Option<Served<'_>>,
    log: &mut Log,
) -> (Marking, Vec<PriorityShare>) {
    let MarkingKeys { attribute, priority, split, icc, fua, sync, direct, accesses, clear } = *asks;
    let named = asks.priorities();
    let isochronous = named.iter().find(|(name, _)| *name == PriorityName::Isochronous);
    if let Some(icc) = icc {
        if isochronous.is_some() || !clear {
            log.has_effect(icc.place);
        } else {
            let set = match split {
                Some(_) => "prioritysplit, which names no isochronous".to_owned(),
                None => {
                    format!("priority = \"{}\"", given(priority).unwrap_or(PriorityName::Normal).spelled())
                }
            };
            let message = format!("`icc` has no effect with {set}");
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
        check_array(attribute, &named, log);
    } else if let Some(Served { drive: Some(protocol), limits, .. }) = served {
        check_attribute(attribute, protocol, log);
        for &(name, place) in &named {
            check_priority((name, place), protocol, log);
            check_limit((name, place), protocol, limits, accesses, log);
        }
    }
    if let Some((_, place)) = isochronous.filter(|_| icc.is_none() && clear) {
        log.fault(*place, "an isochronous command needs its deadline", "add icc = \"50ms\"");
    }
    let core = |name: PriorityName| match (name, name.limit(), icc) {
        (PriorityName::High, ..) => Priority::High,
        (PriorityName::Isochronous, _, Some(icc)) => Priority::Isochronous(icc.value),
        (_, Some(index), _) => Priority::Limited(index),
        _ => Priority::Normal,
    };
    let share = |&(name, percent): &(PriorityName, u32)| PriorityShare {
        priority: core(name),
        share: Share::from_ratio(percent.into(), 100).unwrap_or(Share::NONE),
    };
    let shares = split.map_or_else(Vec::new, |at| at.value.0.iter().map(share).collect());
    let priority = core(given(priority).unwrap_or(PriorityName::Normal));
    let attribute = given(attribute).unwrap_or_default();
    let force_unit_access = given(fua).unwrap_or(false);
    let sync = given(sync).is_some_and(|sync| sync.0);
    let direct = check_direct(direct, served, log);
    (Marking { attribute, priority, force_unit_access, sync, direct }, shares)
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
fn check_array(attribute: Option<&At<Attribute>>, named: &[(PriorityName, Place)], log: &mut Log) {
    let attribute = attribute.filter(|at| at.value != Attribute::Simple).map(|at| ("attribute", at.place));
    let priority =
        named.iter().find(|(name, _)| *name != PriorityName::Normal).map(|(_, at)| ("priority", *at));
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

fn check_priority((name, place): (PriorityName, Place), protocol: Protocol, log: &mut Log) {
    if name == PriorityName::Normal || name.limit().is_some() || matches!(protocol, Protocol::Ncq(_)) {
        return;
    }
    let message = format!("{} has no priorities; ncq has", protocol_name(protocol));
    log.contradiction(place, message, "take a drive and a controller that share ncq, or leave priority out");
}

/// A command names a descriptor, which the drive must have for each of its directions.
fn check_limit(
    (name, place): (PriorityName, Place),
    protocol: Protocol,
    limits: Option<&DurationLimits>,
    accesses: &[Access],
    log: &mut Log,
) {
    let Some(index) = name.limit() else { return };
    if !protocol.has_duration_limits() {
        let message = format!("{} has no duration limits; ncq and scsi-tcq have", protocol_name(protocol));
        log.contradiction(
            place,
            message,
            "take a drive and a controller that share one of them, or leave it out",
        );
        return;
    }
    for &access in accesses.iter().filter(|access| **access != Access::Flush) {
        let has = |limits: &DurationLimits| limits.of(access, index) != Descriptor::default();
        if !limits.is_some_and(has) {
            let key = if access == Access::Read { "read" } else { "write" };
            let message = format!("the drive has no descriptor {index} of duration limits for a {key}");
            let remedy =
                format!("set target.queue.duration_limits.{key}, as in [{{ guideline = \"50ms\" }}]");
            log.contradiction(place, message, remedy);
        }
    }
}

/// Keys that apply to drives only, where the target is not a drive. A station serves a flush like any other
/// request, and has no write-through.
pub fn only_for_drives(set: &[(&str, Place)], log: &mut Log) {
    for &(key, place) in set {
        if ["attribute", "priority", "prioritysplit", "icc", "initiator"].contains(&key) {
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
