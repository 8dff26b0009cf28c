//! The condition of an array: for how long members were missing, what is lost or refused, the spares, and the
//! errors of members.
use crate::storage::context::Context;
use crate::storage::events::{ArrayEvent, Event};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;
use drivelab_units::{Instant, Span};

/// The condition of the array so far.
#[derive(Default)]
pub struct Condition {
    /// Since when some member has not been complete.
    impaired_since: Option<Instant>,
    /// How long that was the case in earlier periods.
    impaired: Span,
    pub(crate) has_lost: bool,
    /// Whether writes are refused, because the last copy of something failed a write.
    pub(crate) is_broken: bool,
    /// Slots for which a spare is to be taken later.
    pub(crate) awaited: u32,
    /// The spares that are left.
    pub(crate) spares: VecDeque<u16>,
}

impl Condition {
    /// A condition with these spares.
    pub fn new(spares: Range<u16>) -> Self {
        Condition { spares: spares.collect(), ..Condition::default() }
    }

    /// Notes whether some member is not complete from now on.
    pub fn note(&mut self, is_impaired: bool, now: Instant) {
        match (is_impaired, self.impaired_since) {
            (true, None) => self.impaired_since = Some(now),
            (false, Some(since)) => {
                self.impaired += now - since;
                self.impaired_since = None;
            }
            _ => {}
        }
    }

    /// How long some member was not complete, up to an instant.
    pub fn impaired_for(&self, now: Instant) -> Span {
        self.impaired + self.impaired_since.map_or(Span::ZERO, |since| now.since(since))
    }

    /// A spare is to take this slot later.
    pub fn await_spare(&mut self, context: &mut Context, due: Instant, slot: u16) {
        self.awaited += 1;
        context.agenda.schedule(due, 4, Event::Array(ArrayEvent::Replace { slot }));
    }
}

/// Members' commands that ended with an error of their drives.
#[derive(Default)]
pub struct Errors {
    pub reads: u64,
    /// Writes and FLUSHes.
    pub writes: u64,
    /// Drives that were given up, and whose failure has not been reported to the system.
    pub given_up: Vec<u16>,
}
