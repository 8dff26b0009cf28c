//! Slow and lying members: conditions that last until they are ended, recorded separately for the scenario and for
//! the user. Each side ends only its own conditions.
//!
//! A drive is slow in one way at a time. The user's condition overrides the scenario's, which continues as if it had
//! never been overridden once the user's ends.
use crate::action::{Action, Kind};
use drivelab_core::storage::{Fault, Lasting, Slowness};
use drivelab_trace::formats::native::millionths;
use drivelab_units::{Instant, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A ramp that was overridden continues in steps of this fraction of its length.
const STEPS: u64 = 100;

/// A member, and whether the scenario has set the condition: the user's sorts first.
type Side = (u16, bool);

/// A member that is slow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slow {
    pub how: Slowness,
    pub lasting: Lasting,
    pub since: Instant,
}

/// See the module.
#[derive(Clone, Default)]
pub(crate) struct Conditions {
    slow: BTreeMap<Side, Slow>,
    lies: BTreeSet<Side>,
}

impl Conditions {
    /// Records an action that is carried out now.
    pub fn note(&mut self, now: Instant, action: &Action) {
        let Kind::Fault(fault, lasting) = action.kind else { return };
        let side = (fault.drive().unwrap_or(0), action.scenario);
        match fault {
            Fault::Slow { how: None, .. } => _ = self.slow.remove(&side),
            Fault::Slow { how: Some(how), .. } => {
                self.slow.insert(side, Slow { how, lasting, since: now });
            }
            Fault::LyingFlush { lies: true, .. } => _ = self.lies.insert(side),
            Fault::LyingFlush { lies: false, .. } => _ = self.lies.remove(&side),
            _ => {}
        }
    }

    /// Forgets the conditions of a member whose drive was replaced.
    pub fn forget(&mut self, member: u16) {
        self.slow.retain(|&(of, _), _| of != member);
        self.lies.retain(|&(of, _)| of != member);
    }

    /// The members with a lasting condition.
    pub fn members(&self) -> BTreeSet<u16> {
        self.slow.keys().chain(&self.lies).map(|&(member, _)| member).collect()
    }

    /// The conditions as text that is appended to the status; `name` is what a member is called.
    pub fn describe(&self, now: Instant, name: &dyn Fn(u16) -> String) -> String {
        let side = |scenario: bool| if scenario { ", by the scenario" } else { "" };
        let slow = self.slow.iter().map(|(&(member, scenario), slow)| {
            format!("; {} is slow by {}{}", name(member), slow.describe(now), side(scenario))
        });
        let lies = self.lies.iter();
        let lies =
            lies.map(|&(member, scenario)| format!("; {} lies about FLUSH{}", name(member), side(scenario)));
        slow.chain(lies).collect()
    }

    /// In which way a member is slow.
    pub fn slow(&self, member: u16) -> InForce {
        let held = self.slow.range((member, false)..=(member, true)).next();
        InForce::Slow(held.map(|(_, held)| *held))
    }

    /// Whether a member lies about FLUSH.
    pub fn lies(&self, member: u16) -> InForce {
        InForce::Lies(self.lies.range((member, false)..=(member, true)).next().is_some())
    }

    /// The member whose state (slow or lying) a fault sets, and the condition in force for it.
    pub fn in_force(&self, fault: Fault) -> Option<(u16, InForce)> {
        match fault {
            Fault::Slow { drive, .. } => Some((drive, self.slow(drive))),
            Fault::LyingFlush { drive, .. } => Some((drive, self.lies(drive))),
            _ => None,
        }
    }
}

impl Slow {
    /// By how much it is slow, and which of its commands.
    pub fn describe(&self, now: Instant) -> String {
        let mut text = match self.how {
            Slowness::Times(times) => return format!("a factor of {times}"),
            Slowness::Constant(by) => by.to_string(),
            Slowness::Some { by, share } => {
                format!("{by} in {} % of its commands", millionths(share) as f64 / 1e4)
            }
            Slowness::Ramp { by, over } if now.since(self.since) < over => format!(
                "{} now, and by {by} from {} on",
                reached(by, over, now.since(self.since)),
                (self.since + over).since(Instant::ZERO)
            ),
            Slowness::Ramp { by, .. } => by.to_string(),
        };
        if let Lasting::Bursts { lasts, every } = self.lasting {
            text += &format!(" in bursts of {lasts} every {every}");
        }
        text
    }
}

/// The delay of a ramp after a time.
fn reached(by: Span, over: Span, passed: Span) -> Span {
    let passed = passed.as_ns().min(over.as_ns());
    Span::from_ns((u128::from(by.as_ns()) * u128::from(passed) / u128::from(over.as_ns().max(1))) as u64)
}

/// The condition in force for a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InForce {
    Lies(bool),
    Slow(Option<Slow>),
}

impl InForce {
    /// Whether no condition is in force.
    pub fn is_nothing(self) -> bool {
        matches!(self, InForce::Lies(false) | InForce::Slow(None))
    }

    /// The fault that the target receives now, and when the next one follows: a ramp that began earlier continues in
    /// steps.
    pub fn next_fault(self, drive: u16, now: Instant) -> (Fault, Option<Instant>) {
        let (how, since) = match self {
            InForce::Lies(lies) => return (Fault::LyingFlush { drive, lies }, None),
            InForce::Slow(None) => return (Fault::Slow { drive, how: None }, None),
            InForce::Slow(Some(Slow { how, since, .. })) => (how, since),
        };
        let passed = now.since(since);
        match how {
            Slowness::Ramp { by, over } if !passed.is_zero() => {
                let reached = reached(by, over, passed);
                let how = (!reached.is_zero()).then_some(Slowness::Constant(reached));
                let step = Span::from_ns((over.as_ns() / STEPS).max(1));
                (Fault::Slow { drive, how }, (passed < over).then(|| now + step))
            }
            how => (Fault::Slow { drive, how: Some(how) }, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_units::Share;

    fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    const RAMP: Slowness = Slowness::Ramp { by: Span::from_ms(100), over: Span::from_s(1) };

    /// Member 2 is slow from now on, or no longer.
    fn slow(by_ms: u64) -> Fault {
        let how = (by_ms > 0).then_some(Slowness::Constant(Span::from_ms(by_ms)));
        Fault::Slow { drive: 2, how }
    }

    fn note(conditions: &mut Conditions, now: Instant, fault: Fault, scenario: bool) {
        conditions.note(now, &Action { scenario, ..fault.into() });
    }

    fn ramp() -> Fault {
        Fault::Slow { drive: 2, how: Some(RAMP) }
    }

    fn now(conditions: &Conditions, now: Instant) -> (Fault, Option<Instant>) {
        conditions.slow(2).next_fault(2, now)
    }

    #[test]
    fn each_side_ends_its_own() {
        let mut conditions = Conditions::default();
        note(&mut conditions, at(0), slow(10), true);
        note(&mut conditions, at(1), slow(30), false);
        assert_eq!(now(&conditions, at(2)), (slow(30), None));
        note(&mut conditions, at(2), slow(0), false);
        assert_eq!(now(&conditions, at(3)), (slow(10), None));
        note(&mut conditions, at(3), slow(30), false);
        note(&mut conditions, at(4), slow(0), true);
        assert_eq!(now(&conditions, at(5)), (slow(30), None));
        note(&mut conditions, at(5), slow(0), false);
        assert_eq!(now(&conditions, at(6)), (slow(0), None));
        let lie = |lies| Fault::LyingFlush { drive: 0, lies };
        note(&mut conditions, at(0), lie(true), true);
        note(&mut conditions, at(1), lie(true), false);
        note(&mut conditions, at(2), lie(false), false);
        assert_eq!(conditions.lies(0), InForce::Lies(true));
        note(&mut conditions, at(3), lie(false), true);
        assert!(conditions.lies(0).is_nothing());
    }

    #[test]
    fn a_ramp_that_was_covered_is_where_it_would_have_been() {
        let mut conditions = Conditions::default();
        note(&mut conditions, at(0), ramp(), true);
        assert_eq!(now(&conditions, at(0)), (ramp(), None));
        assert_eq!(now(&conditions, at(250)), (slow(25), Some(at(260))));
        assert_eq!(now(&conditions, at(5_000)), (slow(100), None));
    }

    #[test]
    fn a_new_drive_has_nothing_of_the_old_one() {
        let mut conditions = Conditions::default();
        note(&mut conditions, at(0), slow(10), true);
        note(&mut conditions, at(0), Fault::LyingFlush { drive: 2, lies: true }, false);
        assert_eq!(conditions.members().into_iter().collect::<Vec<_>>(), [2]);
        let text = "; member 2 is slow by 10ms, by the scenario; member 2 lies about FLUSH";
        let describe =
            |conditions: &Conditions, now| conditions.describe(now, &|member| format!("member {member}"));
        assert_eq!(describe(&conditions, at(1)), text);
        note(&mut conditions, at(1_000), ramp(), false);
        assert!(
            describe(&conditions, at(1_250))
                .starts_with("; member 2 is slow by 25ms now, and by 100ms from 2s on; ")
        );
        assert!(describe(&conditions, at(2_500)).starts_with("; member 2 is slow by 100ms; "));
        let share = Share::from_ratio(15, 1_000).expect("less than all");
        let some = Fault::Slow { drive: 2, how: Some(Slowness::Some { by: Span::from_ms(100), share }) };
        let bursts = Lasting::Bursts { lasts: Span::from_ms(200), every: Span::from_s(5) };
        conditions.note(at(2_500), &Kind::Fault(some, bursts).into());
        let text = "; member 2 is slow by 100ms in 1.5 % of its commands in bursts of 200ms every 5s; ";
        assert!(describe(&conditions, at(2_500)).starts_with(text));
        conditions.forget(2);
        assert!(conditions.members().is_empty());
    }
}
