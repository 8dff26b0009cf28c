//! Deadlines of isochronous commands: when one of them must go before what the drive would choose.
//!
//! A command with a deadline waits its turn like the others until one more access before it could make it miss: then it
//! goes first. What that access takes is known; the command itself, and all others with deadlines before it, are taken
//! at their worst: the arm across the drive, a whole turn, the transfer, and the way to the host.
//! Source: Western Digital Ultrastar HC580 specification 12.20 (isochronous priority, ICC).
use super::params::WriteData;
use super::queue::{SlotIndex, View};
use super::{Drive, InFlight};
use crate::command::Access;
use drivelab_units::{Instant, Lba, Span};

/// A waiting command with a deadline.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    due: Instant,
    pub slot: SlotIndex,
    /// The longest time from its choice until the host has it.
    longest: Span,
}

/// When a command that came then must be done: not before the end of time, where it may take that long.
pub(super) fn deadline(accepted: Instant, within: Span) -> Instant {
    Instant::from_ns(accepted.as_ns().saturating_add(within.as_ns()))
}

impl Drive {
    /// A command with a deadline waits.
    pub(super) fn press(&mut self, slot: SlotIndex, due: Instant) {
        let longest = self.longest_service(slot);
        self.tasks.deadlines.push(Deadline { due, slot, longest });
    }

    /// The command with the first deadline, if turning to this one before it could make it miss.
    pub(super) fn endangered_by(&self, next: SlotIndex, view: &View<'_>) -> Option<SlotIndex> {
        let first = self.tasks.deadlines.iter().min_by_key(|deadline| (deadline.due, deadline.slot))?;
        let all = self.tasks.deadlines.iter().fold(Span::ZERO, |sum, deadline| sum + deadline.longest);
        (self.free_after(next, view) + all > first.due).then_some(first.slot)
    }

    /// When mechanism and link are free again if the arm turns to this command now.
    fn free_after(&self, slot: SlotIndex, view: &View<'_>) -> Instant {
        let InFlight { command, ready, landing, .. } = self.in_flight[slot as usize];
        let started = Instant::from_ns(view.now).max(ready) + self.lead(&command);
        let last = Lba::new(command.end().get() - 1);
        let mechanism = &self.model.mechanism;
        let passage = mechanism.pass(&self.spindle, started, self.arm, &landing, last, command.access);
        let end = passage.end + self.turns_lost_to_late_data(slot, started, &passage);
        end.max(self.link_free) + self.model.link.time_for(command.count)
    }

    fn longest_service(&self, slot: SlotIndex) -> Span {
        let InFlight { command, ready, landing, .. } = self.in_flight[slot as usize];
        let (link, period) = (self.model.link.time_for(command.count), self.spindle.period());
        let data = match (command.access, self.model.link.write_data) {
            // The media wait whole turns for data that come late.
            (Access::Write, WriteData::WhilePositioning) => {
                Span::from_ns(link.as_ns().div_ceil(period) * period)
            }
            _ => link,
        };
        // Where the access begins within a turn may cost its first switch of track another one.
        let (last, turn) = (Lba::new(command.end().get() - 1), Span::from_ns(period));
        let mechanism = &self.model.mechanism;
        let passage = mechanism.pass(&self.spindle, ready, self.arm, &landing, last, command.access);
        let firmware = &self.model.firmware;
        let completion = firmware.read_completion.max(firmware.write_completion) + self.model.exchange.bridge;
        self.longest_positioning + passage.transfer + turn + data + completion
    }
}
