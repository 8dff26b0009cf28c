//! What a session has put down for later: the actions of its scenario, and the consequences of actions, which are the
//! ends of faults, the next bursts of a slow drive and the steps of a ramp.
use crate::action::{Action, Kind};
use crate::engine::Engine;
use drivelab_core::Access;
use drivelab_core::setup::Injection;
use drivelab_core::storage::{Fault, Slowness};
use drivelab_data::stamp::stamp;
use drivelab_trace::formats::native::millionths;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// How long a write is taken to last before any was done.
pub(crate) const WRITE_TAKES: Span = Span::from_ms(5);

/// A scheduled consequence of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DelayedAction {
    /// An action: the end of an earlier one, or the next burst.
    Action(Action),
    /// The next step of a ramp of a member.
    Step(u16),
    /// A power cut that was asked for while a write is under way.
    Cut(Action),
}

/// An injection of the scenario as an action.
impl From<&Injection> for Action {
    fn from(injection: &Injection) -> Self {
        let Injection { fault, lasts, every, .. } = *injection;
        let (for_ns, every_ns) = (lasts.map(Span::as_ns), every.map(Span::as_ns));
        let range = |kind, first: Lba, count: Sectors| Action {
            lba: Some(first.get()),
            sectors: Some(count.get()),
            ..Action::of(kind)
        };
        let slow = |by: Span| Action { by_ns: Some(by.as_ns()), for_ns, every_ns, ..Action::of(Kind::Slow) };
        let action = match fault {
            Fault::MediaError { first, count, .. } => range(Kind::Media, first, count),
            Fault::Corrupt { first, count, .. } => range(Kind::Corrupt, first, count),
            Fault::LinkReset { .. } => Action::of(Kind::Reset),
            Fault::LyingFlush { lies: true, .. } => Action { for_ns, ..Action::of(Kind::Lie) },
            Fault::LyingFlush { lies: false, .. } => Action::of(Kind::Honest),
            Fault::Hang { lasts, .. } => Action { for_ns: Some(lasts.as_ns()), ..Action::of(Kind::Hang) },
            Fault::Slow { how: None, .. } => slow(Span::ZERO),
            Fault::Slow { how: Some(how), .. } => match how {
                Slowness::Constant(by) => slow(by),
                Slowness::Ramp { by, over } => Action { over_ns: Some(over.as_ns()), ..slow(by) },
                Slowness::Some { by, share } => {
                    Action { share_ppm: u32::try_from(millionths(share)).ok(), ..slow(by) }
                }
                Slowness::Times(times) => Action { by_ns: None, factor: Some(times), ..slow(Span::ZERO) },
                Slowness::Bursts { by, every, lasts } => {
                    Action { for_ns: Some(lasts.as_ns()), every_ns: Some(every.as_ns()), ..slow(by) }
                }
            },
        };
        Action { member: fault.drive(), scenario: true, ..action }
    }
}

impl Engine {
    /// Carries out what is due, in its order and each at its own instant however late this thread is, and before any
    /// input that is newer.
    pub(crate) fn run_scheduled(&mut self, now: Instant) {
        loop {
            let planned = self.planned.front().map(|(at, _)| *at).filter(|at| *at <= now);
            let later = self.later.first().map(|(at, _)| *at).filter(|at| *at <= now);
            match (planned, later) {
                (Some(at), later) if later.is_none_or(|later| at <= later) => self.run_planned(),
                (_, Some(due)) => {
                    let (_, later) = self.later.remove(0);
                    self.run_consequence(due.max(self.advanced), due, &later);
                }
                _ => return,
            }
        }
    }

    /// Carries out the next action of the scenario.
    fn run_planned(&mut self) {
        let Some((at, action)) = self.planned.pop_front() else { return };
        let at = at.max(self.advanced);
        if let Err(why) = action.check().and_then(|()| self.carry_out(at, &action)) {
            self.log.record_undone(at, &action, &why);
        }
    }

    /// Records the scheduled actions that the end of the session prevents.
    pub(crate) fn record_not_run(&mut self, now: Instant) {
        self.run_scheduled(now);
        for (at, action) in std::mem::take(&mut self.planned) {
            self.log.record_undone(at, &action, "the session was over before");
        }
    }

    /// Carries out a consequence that was due at `due` now, or as soon as the power is back. A failure is recorded
    /// for a drive that is not replaced; another condition that can no longer be undone needs no undoing.
    fn run_consequence(&mut self, now: Instant, due: Instant, later: &DelayedAction) {
        self.advance(now);
        if let Some(until) = self.model.off_until {
            return self.act_with_power(until, due, later);
        }
        match later {
            DelayedAction::Step(member) => {
                let in_force =
                    self.conditions.in_force(&Action { member: *member, ..Action::of(Kind::Slow) });
                let _ = self.send_condition(now, *member, in_force);
            }
            DelayedAction::Cut(action) => self.cut_in_write(now, action),
            DelayedAction::Action(action) if action.every_ns.is_none() => {
                if let Err(why) = self.carry_out(now, action)
                    && action.action == Kind::Replace
                {
                    self.log.record_not_replaced(now, action.member, &why);
                }
            }
            DelayedAction::Action(action) => {
                // A burst begins or ends; only the first one was recorded.
                let _ = self.inject(now, action);
                self.plan(due, action);
            }
        }
    }

    /// The power is off: the consequence is carried out when it is back. Bursts begin and end meanwhile.
    fn act_with_power(&mut self, until: Instant, due: Instant, later: &DelayedAction) {
        match later {
            DelayedAction::Action(action) if action.every_ns.is_some() => {
                self.conditions.note(due, action);
                self.follow(until, DelayedAction::Step(action.member));
                self.plan(due, action);
            }
            later => self.follow(until, *later),
        }
    }

    /// The power is to go at a random instant while a write is under way: within the time that the last write took, from
    /// now on if one is under way, or else from the next one on.
    pub(crate) fn arm_cut(&mut self, now: Instant, action: &Action) {
        if !self.is_writing() {
            self.armed = Some(*action);
            return;
        }
        let mut draw = self.model.device.seed ^ now.as_ns() ^ ((self.log.power_cuts.len() as u64) << 48);
        draw = stamp(draw, self.log.writes.commands);
        let within = Span::from_ns(draw % self.write_takes.as_ns().max(1));
        self.follow(now + within, DelayedAction::Cut(*action));
    }

    /// Cuts the power if a write is under way; otherwise the next one is waited for.
    fn cut_in_write(&mut self, now: Instant, action: &Action) {
        if self.is_writing() {
            let _ = self.carry_out(now, &Action { during_write: false, ..*action });
        } else {
            self.arm_cut(now, action);
        }
    }

    /// Whether a write is under way.
    pub(crate) fn is_writing(&self) -> bool {
        self.orders.values().any(|order| order.access == Access::Write)
    }

    pub(crate) fn follow(&mut self, at: Instant, later: DelayedAction) {
        self.later.push((at, later));
        self.later.sort_by_key(|(at, _)| *at);
    }

    /// Schedules the end of an action, and the next burst.
    pub(crate) fn plan(&mut self, from: Instant, action: &Action) {
        let (Some(undone), Some(for_ns)) = (action.undone(), action.for_ns) else { return };
        self.follow(from + Span::from_ns(for_ns), DelayedAction::Action(undone));
        if let Some(every_ns) = action.every_ns {
            self.follow(from + Span::from_ns(every_ns), DelayedAction::Action(*action));
        }
    }
}
