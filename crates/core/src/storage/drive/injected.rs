//! Faults that are injected into a drive while it runs.
use super::queue::SlotIndex;
use super::{Drive, DriveEvent};
use crate::rng::{self, Stream};
use crate::storage::context::Context;
use crate::storage::driving::LAST;
use crate::storage::fault::{Cure, Slowness};
use crate::trace::Served;
use alloc::format;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// The faults injected into a drive, apart from its media.
pub struct Injected {
    /// Whether it answers FLUSH without having flushed.
    pub lies: bool,
    /// In which way it is slow, and since when.
    slow: Option<(Slowness, Instant)>,
    /// Until then it hangs: it reports nothing and starts nothing new.
    hangs_until: Option<Instant>,
    /// Since when a drive that takes a multiple of the time has worked, and until when it rests.
    works_since: Instant,
    rests_until: Instant,
    /// Where the last command that it rested after has ended.
    went_to: Lba,
    /// The key of the draws that decide which commands are slow.
    key: u64,
}

impl Injected {
    /// No faults for the drive with this index.
    pub fn new(index: u16, seed: u64) -> Self {
        let key = Stream::named(seed, &format!("drive/{index}/slow")).bits();
        Injected {
            lies: false,
            slow: None,
            hangs_until: None,
            works_since: Instant::ZERO,
            rests_until: Instant::ZERO,
            went_to: Lba::ZERO,
            key,
        }
    }

    /// Whether any injected fault may delay it.
    #[inline]
    pub fn delays(&self) -> bool {
        self.slow.is_some() || self.hangs_until.is_some()
    }

    /// It starts nothing new before this.
    #[inline]
    pub fn hung_until(&self) -> Instant {
        self.hangs_until.unwrap_or(Instant::ZERO)
    }

    /// The extra pickup time of a command to which its host gave this id.
    fn slower_by(&self, now: Instant, id: u64) -> Span {
        let Some((how, since)) = self.slow else { return Span::ZERO };
        let passed = (now - since).as_ns();
        match how {
            Slowness::Constant(by) => by,
            Slowness::Ramp { by, over } if passed < over.as_ns() => {
                let share = u128::from(by.as_ns()) * u128::from(passed) / u128::from(over.as_ns());
                Span::from_ns(share as u64)
            }
            Slowness::Ramp { by, .. } => by,
            Slowness::Some { by, share } if rng::keyed(self.key, id) >> 32 < share.bits() => by,
            Slowness::Some { .. } | Slowness::Times(_) => Span::ZERO,
        }
    }

    /// How many times as long everything takes, if it does.
    fn times(&self) -> Option<u32> {
        self.slow.and_then(|(how, _)| if let Slowness::Times(times) = how { Some(times) } else { None })
    }
}

impl Drive {
    /// These sectors become unreadable. Copies in the buffer stay there.
    pub fn make_unreadable(&mut self, first: Lba, count: Sectors, until: Cure) {
        self.mechanics.make_unreadable(first, first + count, until);
    }

    /// The link is reset: every command that has not been reported ends as aborted.
    pub fn reset_link(&mut self, context: &mut Context) {
        self.clear(context, |_| true);
        self.report_if_idle(context);
    }

    /// From now on it answers FLUSH at once without flushing, or no longer does.
    pub fn lie_about_flushes(&mut self, lies: bool) {
        self.injected.lies = lies;
    }

    /// From now on its firmware is slow in this way; `None` ends that.
    pub fn slow_down(&mut self, now: Instant, how: Option<Slowness>) {
        self.injected.slow = how.map(|how| (how, now));
        self.injected.works_since = now;
    }

    /// It hangs for `lasts`: it reports nothing and starts nothing new.
    pub fn hang(&mut self, now: Instant, lasts: Span) {
        let until = Instant::from_ns(now.as_ns().saturating_add(lasts.as_ns()).min(LAST.as_ns() / 2));
        let until = self.injected.hangs_until.map_or(until, |known| known.max(until));
        self.injected.hangs_until = Some(until);
        self.firmware.stall_until(until);
        self.mechanics.choose_from = self.mechanics.choose_from.max(until);
    }

    /// How much longer it hangs. The rests of a drive that takes a multiple of the time are no hangs.
    pub fn hangs_for(&self, now: Instant) -> Span {
        let until = self.injected.hung_until();
        if until == self.injected.rests_until { Span::ZERO } else { until.max(now) - now }
    }

    /// Sectors that no attempt can read: those that are good again once they are written, and those that never are.
    pub fn unreadable_sectors(&self) -> Sectors {
        self.mechanics.unreadable_sectors()
    }

    /// The slow firmware delays the pickup of a command.
    #[cold]
    pub(super) fn note_delay(&mut self, context: &Context, slot: SlotIndex) {
        let id = context.commands.id_of(self.tasks[slot].command.id);
        let by = self.injected.slower_by(context.now, id);
        self.firmware.stall(context.now, by);
        if self.tasks.held() == 1 {
            // Until now it was idle.
            self.injected.works_since = self.injected.works_since.max(context.now);
        }
    }

    /// A drive that takes a multiple of the time rests before it reports a command, which is done at `at`: the
    /// rest of that many times the time that it has worked. Where its buffer has answered, the whole takes
    /// at least that many times what the media need for the sectors in a stream.
    #[inline]
    pub(super) fn rest(&mut self, at: Instant, slot: SlotIndex) {
        if self.injected.delays() {
            self.rest_after(at, slot);
        }
    }

    #[cold]
    fn rest_after(&mut self, at: Instant, slot: SlotIndex) {
        let Some(times) = self.injected.times() else { return };
        // A hang that is over is forgotten, the last rest is not.
        let until = self.injected.hung_until().max(self.injected.rests_until);
        let in_rest = until > at;
        let since = if in_rest { self.injected.works_since } else { self.injected.works_since.max(until) };
        let worked = at.since(since);
        if worked.is_zero() {
            return;
        }
        let flight = &self.tasks[slot];
        let command = &flight.command;
        let times = u64::from(times);
        let end = command.end();
        // What it does beside an earlier rest adds to that rest.
        let beside = if in_rest { 0 } else { worked.as_ns() };
        let is_answered = matches!(flight.service.served, Served::Buffered | Served::Met);
        let is_of_disk = self.flash.is_none();
        let whole = if is_of_disk && is_answered && command.count.get() > 0 {
            let landing = self.mechanics.landing(command.first, command.count, command.access);
            let media = self.model.mechanism.stream_time(&landing, command.count);
            media.max(worked).as_ns().saturating_mul(times)
        } else if command.first == self.injected.went_to && flight.accepted < self.injected.works_since {
            // It would have gone on with this one, had it not rested: the turn between them is the rest's.
            let lost = flight.breakdown.rotation.min(worked);
            (worked - lost).as_ns().saturating_mul(times)
        } else {
            worked.as_ns().saturating_mul(times)
        };
        self.injected.went_to = end;
        let rests = whole.saturating_sub(beside);
        self.hang(at.max(until), Span::from_ns(rests));
        self.injected.works_since = at;
        self.injected.rests_until = self.injected.hung_until();
    }

    /// Whether a command that is done cannot be reported now, because the drive hangs: then it is reported at
    /// the end of the hang.
    #[cold]
    pub(super) fn defer_if_hung(&mut self, context: &mut Context, slot: SlotIndex) -> bool {
        let Some(until) = self.injected.hangs_until else { return false };
        if until <= context.now {
            self.injected.hangs_until = None;
            return false;
        }
        self.tasks[slot].breakdown.queue += until - context.now;
        self.schedule(context, until, DriveEvent::Complete(slot));
        true
    }

    /// The host aborts the command with this number. Returns whether the drive has it, and it was not aborted
    /// before.
    pub fn abort_numbered(&mut self, context: &mut Context, number: u64) -> bool {
        let Some(slot) = self.tasks.numbered(number) else { return false };
        let given_up = self.give_up(context, slot, crate::Outcome::Aborted);
        self.report_if_idle(context);
        given_up
    }
}
