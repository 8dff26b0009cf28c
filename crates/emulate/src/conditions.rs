//! Slow and lying members: conditions that last until they are ended, recorded separately for the scenario and for
//! the user. Each side ends only its own conditions.
//!
//! A drive is slow in one way at a time. The user's condition overrides the scenario's, which continues as if it had
//! never been overridden once the user's ends.
use crate::action::{Action, Kind};
use drivelab_units::{Instant, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A ramp that was overridden continues in steps of this fraction of its length.
const STEPS: u64 = 100;

/// A member, and whether the scenario has set the condition: the user's sorts first.
type Side = (u16, bool);

/// See the module.
#[derive(Clone, Default)]
pub(crate) struct Conditions {
    slow: BTreeMap<Side, (Action, Instant)>,
    lies: BTreeSet<Side>,
}

impl Conditions {
    /// Records an action that is carried out now. Returns whether it begins or ends a lasting condition.
    pub fn note(&mut self, now: Instant, action: &Action) -> bool {
        let side = (action.member, action.scenario);
        match action.action {
            Kind::Slow if action.by_ns == Some(0) || action.factor == Some(1) => _ = self.slow.remove(&side),
            Kind::Slow => _ = self.slow.insert(side, (*action, now)),
            Kind::Lie => _ = self.lies.insert(side),
            Kind::Honest => _ = self.lies.remove(&side),
            _ => return false,
        }
        true
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

    /// The conditions as text that is appended to the status.
    pub fn describe(&self) -> String {
        let side = |scenario: bool| if scenario { ", by the scenario" } else { "" };
        let slow = self.slow.iter().map(|(&(member, scenario), (action, _))| {
            let side = side(scenario);
            match action.factor {
                Some(factor) => format!("; member {member} takes {factor} times as long{side}"),
                None => {
                    let by = Span::from_ns(action.by_ns.unwrap_or(0));
                    format!("; member {member} is slow by {by}{side}")
                }
            }
        });
        let lies = self.lies.iter();
        let lies =
            lies.map(|&(member, scenario)| format!("; member {member} lies about FLUSH{}", side(scenario)));
        slow.chain(lies).collect()
    }

    /// The condition in force for the member and the state (slow or lying) of an action.
    pub fn in_force(&self, action: &Action) -> InForce {
        let member = action.member;
        if action.action != Kind::Slow {
            let lies = self.lies.range((member, false)..=(member, true)).next().is_some();
            return InForce::Lies(lies);
        }
        let held = self.slow.range((member, false)..=(member, true)).next();
        InForce::Slow(held.map(|(_, held)| *held))
    }
}

/// The condition in force for a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InForce {
    Lies(bool),
    /// The action that made it slow, and since when.
    Slow(Option<(Action, Instant)>),
}

impl InForce {
    /// Whether no condition is in force.
    pub fn is_nothing(self) -> bool {
        matches!(self, InForce::Lies(false) | InForce::Slow(None))
    }

    /// The action that the target receives now, and when the next one follows: a ramp that began earlier continues in
    /// steps.
    pub fn next_action(self, member: u16, now: Instant) -> (Action, Option<Instant>) {
        let plain = |kind| Action { member, ..Action::of(kind) };
        let (action, since) = match self {
            InForce::Lies(true) => return (plain(Kind::Lie), None),
            InForce::Lies(false) => return (plain(Kind::Honest), None),
            InForce::Slow(None) => return (Action { by_ns: Some(0), ..plain(Kind::Slow) }, None),
            InForce::Slow(Some(held)) => held,
        };
        let passed = now.since(since).as_ns();
        match (action.over_ns, action.by_ns) {
            (Some(over), Some(by)) if passed > 0 => {
                let reached = u128::from(by) * u128::from(passed.min(over)) / u128::from(over.max(1));
                let step = Span::from_ns((over / STEPS).max(1));
                let again = (passed < over).then(|| now + step);
                (Action { by_ns: Some(reached as u64), over_ns: None, ..action }, again)
            }
            _ => (action, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    fn slow(by_ms: u64, scenario: bool) -> Action {
        Action { by_ns: Some(by_ms * 1_000_000), scenario, member: 2, ..Action::of(Kind::Slow) }
    }

    fn by_ms(conditions: &Conditions, now: Instant) -> u64 {
        let (action, _) = conditions.in_force(&slow(0, false)).next_action(2, now);
        action.by_ns.expect("of a slow member") / 1_000_000
    }

    #[test]
    fn each_side_ends_its_own() {
        let mut conditions = Conditions::default();
        conditions.note(at(0), &slow(10, true));
        conditions.note(at(1), &slow(30, false));
        assert_eq!(by_ms(&conditions, at(2)), 30);
        conditions.note(at(2), &slow(0, false));
        assert_eq!(by_ms(&conditions, at(3)), 10);
        conditions.note(at(3), &slow(30, false));
        conditions.note(at(4), &slow(0, true));
        assert_eq!(by_ms(&conditions, at(5)), 30);
        conditions.note(at(5), &slow(0, false));
        assert_eq!(by_ms(&conditions, at(6)), 0);
        let lie = |kind, scenario| Action { scenario, ..Action::of(kind) };
        conditions.note(at(0), &lie(Kind::Lie, true));
        conditions.note(at(1), &lie(Kind::Lie, false));
        conditions.note(at(2), &lie(Kind::Honest, false));
        assert_eq!(conditions.in_force(&lie(Kind::Lie, false)), InForce::Lies(true));
        conditions.note(at(3), &lie(Kind::Honest, true));
        assert!(conditions.in_force(&lie(Kind::Lie, false)).is_nothing());
    }

    #[test]
    fn a_ramp_that_was_covered_is_where_it_would_have_been() {
        let mut conditions = Conditions::default();
        let ramp = Action { over_ns: Some(1_000_000_000), ..slow(100, true) };
        conditions.note(at(0), &ramp);
        assert_eq!(conditions.in_force(&ramp).next_action(2, at(0)), (ramp, None));
        let (action, again) = conditions.in_force(&ramp).next_action(2, at(250));
        assert_eq!((action.by_ns, action.over_ns, again), (Some(25_000_000), None, Some(at(260))));
        let (action, again) = conditions.in_force(&ramp).next_action(2, at(5_000));
        assert_eq!((action.by_ns, action.over_ns, again), (Some(100_000_000), None, None));
    }

    #[test]
    fn a_new_drive_has_nothing_of_the_old_one() {
        let mut conditions = Conditions::default();
        conditions.note(at(0), &slow(10, true));
        conditions.note(at(0), &Action { member: 2, ..Action::of(Kind::Lie) });
        assert_eq!(conditions.members().into_iter().collect::<Vec<_>>(), [2]);
        let text = "; member 2 is slow by 10ms, by the scenario; member 2 lies about FLUSH";
        assert_eq!(conditions.describe(), text);
        conditions.forget(2);
        assert!(conditions.members().is_empty());
    }
}
