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

    /// The conditions as text that is appended to the status; `name` is what a member is called.
    pub fn describe(&self, now: Instant, name: &dyn Fn(u16) -> String) -> String {
        let side = |scenario: bool| if scenario { ", by the scenario" } else { "" };
        let slow = self.slow.iter().map(|(&(member, scenario), (action, since))| {
            format!("; {} is slow by {}{}", name(member), how_slow(action, *since, now), side(scenario))
        });
        let lies = self.lies.iter();
        let lies =
            lies.map(|&(member, scenario)| format!("; {} lies about FLUSH{}", name(member), side(scenario)));
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

/// By how much a member is slow, and which of its commands.
pub(crate) fn how_slow(action: &Action, since: Instant, now: Instant) -> String {
    if let Some(factor) = action.factor {
        return format!("a factor of {factor}");
    }
    let by = Span::from_ns(action.by_ns.unwrap_or(0));
    let length = |ns: u64| Span::from_ns(ns);
    let mut text = match action.over_ns {
        Some(over) if now.since(since) < length(over) => {
            format!(
                "{} now, and by {by} from {} on",
                reached(by, length(over), now.since(since)),
                (since + length(over)).since(Instant::ZERO)
            )
        }
        _ => by.to_string(),
    };
    if let Some(share) = action.share_ppm {
        text += &format!(" in {} % of its commands", f64::from(share) / 1e4);
    }
    if let (Some(lasts), Some(every)) = (action.for_ns, action.every_ns) {
        text += &format!(" in bursts of {} every {}", length(lasts), length(every));
    }
    text
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
                let reached = reached(Span::from_ns(by), Span::from_ns(over), Span::from_ns(passed));
                let step = Span::from_ns((over / STEPS).max(1));
                let again = (passed < over).then(|| now + step);
                (Action { by_ns: Some(reached.as_ns()), over_ns: None, ..action }, again)
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
        let describe =
            |conditions: &Conditions, now| conditions.describe(now, &|member| format!("member {member}"));
        assert_eq!(describe(&conditions, at(1)), text);
        let ramp = Action { over_ns: Some(1_000_000_000), ..slow(100, false) };
        conditions.note(at(1_000), &ramp);
        assert!(
            describe(&conditions, at(1_250))
                .starts_with("; member 2 is slow by 25ms now, and by 100ms from 2s on; ")
        );
        assert!(describe(&conditions, at(2_500)).starts_with("; member 2 is slow by 100ms; "));
        let bursts = Action { for_ns: Some(200_000_000), every_ns: Some(5_000_000_000), ..slow(100, false) };
        conditions.note(at(2_500), &Action { share_ppm: Some(15_000), ..bursts });
        let text = "; member 2 is slow by 100ms in 1.5 % of its commands in bursts of 200ms every 5s; ";
        assert!(describe(&conditions, at(2_500)).starts_with(text));
        conditions.forget(2);
        assert!(conditions.members().is_empty());
    }
}
