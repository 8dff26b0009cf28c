//! The duration limits in force, and when they, or a deadline, end a command.
use super::super::protocol::{DurationLimits, Exceeded, Protocol, TimeLimit};
use super::flight::{InFlight, TaskState};
use super::precedence::deadline;
use crate::command::{Command, Priority};
use alloc::sync::Arc;
use drivelab_units::{Instant, Span};

/// The limits that the hosts have set in a drive, if any.
pub struct Limits(Option<Arc<DurationLimits>>);

impl Limits {
    pub fn new(limits: Option<Arc<DurationLimits>>) -> Self {
        Limits(limits)
    }

    pub fn descriptors(&self) -> Option<&DurationLimits> {
        self.0.as_deref()
    }

    /// The descriptors and the index that a command names.
    fn named(&self, command: &Command) -> Option<(&DurationLimits, u8)> {
        let Priority::Limited(index) = command.priority else { return None };
        self.descriptors().map(|limits| (limits, index))
    }

    /// The guideline that a command has, where it has one.
    #[inline]
    pub fn guideline(&self, command: &Command) -> Option<Span> {
        let (limits, index) = self.named(command)?;
        limits.of(command.access, index).guideline.map(|guideline| guideline.within)
    }

    /// The instants at which this command may have to end before it is done: its deadline, where the drive aborts all
    /// commands then (NCQ), or its inactive time and its guideline.
    #[inline]
    pub fn may_end_at(&self, protocol: Protocol, flight: &InFlight) -> [Option<Instant>; 2] {
        let InFlight { command, accepted, .. } = flight;
        match (protocol, command.priority) {
            (Protocol::Ncq(ncq), Priority::Isochronous(within)) if ncq.aborts_late(command.access) => {
                [Some(deadline(*accepted, within)), None]
            }
            (_, Priority::Limited(_)) => self.limits_at(flight),
            _ => [None; 2],
        }
    }

    #[cold]
    fn limits_at(&self, flight: &InFlight) -> [Option<Instant>; 2] {
        let InFlight { command, accepted, .. } = flight;
        let Some((limits, index)) = self.named(command) else { return [None; 2] };
        let inactive = limits.of(command.access, index).inactive.filter(|limit| limit.then.ends());
        [inactive, limits.ends_at(command.access, index)]
            .map(|limit| limit.map(|limit| deadline(*accepted, limit.within)))
    }

    /// The instant at which a command that the drive begins to work on now may have to end.
    #[inline]
    pub fn active_until(&self, command: &Command, now: Instant) -> Option<Instant> {
        let (limits, index) = self.named(command)?;
        let active = limits.of(command.access, index).active?;
        active.then.ends().then(|| deadline(now, active.within))
    }

    /// How this command ends now that such an instant has come; `None` where it goes on.
    pub fn end_now(&self, flight: &InFlight, now: Instant) -> Option<Exceeded> {
        let InFlight { command, accepted, state, service, .. } = flight;
        if let Priority::Isochronous(_) = command.priority {
            return Some(Exceeded::Abort);
        }
        let (limits, index) = self.named(command)?;
        let limit = limits.of(command.access, index);
        let begun = *state == TaskState::Serving;
        let over = |limit: Option<TimeLimit>, from: Instant| {
            limit.filter(|limit| limit.then.ends() && now >= deadline(from, limit.within))
        };
        let inactive = over(limit.inactive.filter(|_| !begun), *accepted);
        let active = over(limit.active.filter(|_| begun), service.chosen);
        let guideline = over(limits.ends_at(command.access, index), *accepted);
        inactive.or(active).or(guideline).map(|limit| limit.then)
    }
}
