//! The duration limits in force in a drive: the scenario's override the drive file's.
use super::protocol::protocol_name;
use crate::check::given;
use crate::keys::At;
use crate::keys::section::lay_over;
use crate::raw::duration::{DurationLimitsRaw, LimitRaw};
use crate::raw::queue::QueueRaw;
use crate::text::problem::{Log, Place};
use drivelab_core::storage::drive::protocol::{
    DESCRIPTORS, Descriptor, DurationLimits, Exceeded, Protocol, TimeLimit,
};
use drivelab_units::Span;
use std::sync::Arc;

/// The limits of a drive with this protocol in force; `None` where none are set.
pub fn duration_limits(
    above: Option<&At<QueueRaw>>,
    below: Option<&At<QueueRaw>>,
    protocol: Protocol,
    log: &mut Log,
) -> Option<Arc<DurationLimits>> {
    let own = |at: Option<&At<QueueRaw>>| at.and_then(|at| at.value.duration_limits.clone());
    let place = own(above).map(|at| at.place);
    let at = lay_over(own(above), own(below))?;
    if let Some(place) = place.filter(|_| !protocol.has_duration_limits()) {
        let message = format!("{} has no duration limits; ncq and scsi-tcq have", protocol_name(protocol));
        log.contradiction(
            place,
            message,
            "take a drive and a controller that share one of them, or leave them out",
        );
    }
    let DurationLimitsRaw { read, write, .. } = at.value;
    let [reads, writes] = [read, write].map(|list| descriptors(list.as_ref(), log));
    protocol.has_duration_limits().then(|| Arc::new(DurationLimits { reads, writes }))
}

fn descriptors(list: Option<&At<Vec<At<LimitRaw>>>>, log: &mut Log) -> [Descriptor; DESCRIPTORS] {
    let mut found = [Descriptor::default(); DESCRIPTORS];
    let Some(list) = list else { return found };
    let number = list.value.len();
    for (place, (index, at)) in found.iter_mut().zip((1..).zip(&list.value)) {
        *place = descriptor(at, index < number, log);
    }
    found
}

fn descriptor(at: &At<LimitRaw>, has_next: bool, log: &mut Log) -> Descriptor {
    let raw = &at.value;
    let [inactive, active, guideline] = [
        ("inactive", raw.inactive.as_ref(), raw.inactive_policy.as_ref()),
        ("active", raw.active.as_ref(), raw.active_policy.as_ref()),
        ("guideline", raw.guideline.as_ref(), raw.guideline_policy.as_ref()),
    ]
    .map(|(key, within, policy)| limit(key, within, policy, raw.readable(key), has_next, log));
    Descriptor { inactive, active, guideline }
}

fn limit(
    key: &str,
    within: Option<&At<Span>>,
    policy: Option<&At<Exceeded>>,
    clear: bool,
    has_next: bool,
    log: &mut Log,
) -> Option<TimeLimit> {
    let then = given(policy).unwrap_or_default();
    let Some(within) = within else {
        if let Some(policy) = policy.filter(|_| clear) {
            log.fault(
                policy.place,
                format!("`{key}_policy` has no effect without `{key}`"),
                format!("add {key} = \"50ms\", or leave it out"),
            );
        }
        return None;
    };
    if within.value.is_zero() {
        log.fault(
            within.place,
            "no command is done in no time",
            "write a time such as \"50ms\", or leave it out",
        );
    }
    if let Some(policy) = policy {
        check_policy(key, policy.value, policy.place, has_next, log);
    }
    Some(TimeLimit { within: within.value, then })
}

/// Only a guideline can give way to another limit, and the last descriptor has none behind it.
fn check_policy(key: &str, policy: Exceeded, place: Place, has_next: bool, log: &mut Log) {
    let gives_way = matches!(policy, Exceeded::NextLimit | Exceeded::NoLimit);
    if gives_way && key != "guideline" {
        let remedy = "write complete-earliest, complete-unavailable or abort";
        log.fault(place, format!("the {key} time has no such policy: the guideline has"), remedy);
    } else if policy == Exceeded::NextLimit && !has_next {
        log.fault(
            place,
            "no descriptor follows this one",
            "add one with a longer guideline, or write another policy",
        );
    }
}
