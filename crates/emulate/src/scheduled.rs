//! What a session has put down for later: the actions of its scenario, and the consequences of actions, which are the
//! ends of faults, the next bursts of a slow drive and the steps of a ramp.
use crate::action::{Action, Kind};
use crate::engine::Engine;
use drivelab_core::Access;
use drivelab_core::storage::Fault;
use drivelab_data::stamp::stamp;
use drivelab_units::{Instant, Span};

/// How long a write is taken to last before any was done.
pub(crate) const WRITE_TAKES: Span = Span::from_ms(5);

/// A scheduled consequence of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DelayedAction {
    /// The end of an earlier action.
    End(Action),
    /// The begin or the end of the next burst.
    Burst(Action),
    /// The next step of a ramp of a member.
    Step(u16),
    /// A power cut that was asked for while a write is under way.
    Cut(Action),
}

impl DelayedAction {
    /// Whether an action that is carried out now makes it obsolete.
    pub fn is_overtaken(&self, by: &Action) -> bool {
        // A new drive has none of the conditions of the old one.
        let renewed = if let Kind::Fault(Fault::Replace { drive }, _) = by.kind { Some(drive) } else { None };
        match self {
            DelayedAction::End(action) | DelayedAction::Burst(action) => {
                by.overtakes(action) || renewed.is_some() && action.member() == renewed
            }
            DelayedAction::Step(member) => renewed == Some(*member),
            DelayedAction::Cut(_) => false,
        }
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
                let _ = self.send_condition(now, *member, self.conditions.slow(*member));
            }
            DelayedAction::Cut(action) => self.cut_in_write(now, action),
            DelayedAction::End(action) => {
                if let Err(why) = self.carry_out(now, action)
                    && let Kind::Fault(Fault::Replace { drive }, _) = action.kind
                {
                    self.log.record_not_replaced(now, drive, &why);
                }
            }
            DelayedAction::Burst(action) => {
                // Only the first burst was recorded.
                let _ = self.inject(now, action);
                self.plan(due, action);
            }
        }
    }

    /// The power is off: the consequence is carried out when it is back. Bursts begin and end meanwhile.
    fn act_with_power(&mut self, until: Instant, due: Instant, later: &DelayedAction) {
        match later {
            DelayedAction::Burst(action) => {
                self.conditions.note(due, action);
                if let Some(member) = action.member() {
                    self.follow(until, DelayedAction::Step(member));
                }
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
        match action.kind {
            Kind::CutInWrite(lasting) if self.is_writing() => {
                let _ =
                    self.carry_out(now, &Action { kind: Kind::Fault(Fault::CutPower, lasting), ..*action });
            }
            _ => self.arm_cut(now, action),
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
        let Kind::Fault(fault, lasting) = action.kind else { return };
        let (Some(end), Some(lasts)) = (fault.end(), lasting.length()) else { return };
        let end = Action { kind: end.into(), ..*action };
        match lasting.every() {
            None => self.follow(from + lasts, DelayedAction::End(end)),
            Some(every) => {
                self.follow(from + lasts, DelayedAction::Burst(end));
                self.follow(from + every, DelayedAction::Burst(*action));
            }
        }
    }
}
