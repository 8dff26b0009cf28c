//! The drive's port to its link: when a command's data are transferred, when its completion reaches the host,
//! and which completions are held back to be reported together.
//!
//! A read's data leave as they pass the head or when enough of them are in the buffer; a write's data arrive
//! before the arm starts or while it moves. Media that find the data missing wait whole revolutions.
//!
//! Most drives report each completion by itself. One that coalesces holds the completions of a round back and reports
//! them together, as the Set Device Bits of Serial ATA can: one for many tags. The round ends with its last completion,
//! or when the drive has nothing left to do.
//!
//! The port knows instants and the drive's parameters; the positions of arm and platter are passed to it.
//! Source: Serial ATA International Organization, "Serial ATA Revision 2.6", 2007, native command queuing.

use super::mechanism::Passage;
use super::params::{DriveModel, WriteData};
use super::queue::SlotIndex;
use super::tasks::flight::{InFlight, OnLink};
use crate::command::{Access, Command, Completion, Outcome};
use crate::storage::context::Context;
use crate::storage::link::{Carried, Transfer};
use alloc::sync::Arc;
use alloc::vec::Vec;
use drivelab_units::{Instant, Sectors, Span};

/// The drive's end of its link.
pub struct Port {
    /// Index of the drive in the target.
    drive: u16,
    model: Arc<DriveModel>,
    /// The link time of one sector of a write.
    sector: Span,
    /// When all data that have been sent so far are across.
    free: Instant,
    /// Done, and not yet reported.
    unreported: Vec<SlotIndex>,
}

impl Port {
    /// The port of the drive with this index.
    pub fn new(drive: u16, model: Arc<DriveModel>) -> Self {
        let round = model.queue.coalesces.map_or(0, usize::from);
        let sector = model.link.time_of(Access::Write, Sectors::new(1));
        Port { drive, model, sector, free: Instant::ZERO, unreported: Vec::with_capacity(round) }
    }

    /// When a transfer that could begin now would be across, behind everything sent before.
    pub fn across(&self, from: Instant, access: Access, count: Sectors) -> Instant {
        from.max(self.free) + self.model.link.time_of(access, count)
    }

    /// Data cross the link.
    #[inline]
    pub fn carry(&self, context: &mut Context, transfer: &Transfer) -> Carried {
        context.wires.carry(self.drive, transfer)
    }

    /// The last of a command's data are across at `sent`: returns how long it then takes until the completion
    /// reaches the host.
    #[inline]
    pub fn completes(&mut self, access: Access, sent: Instant) -> Span {
        self.free = self.free.max(sent);
        let (read, write) = (self.model.firmware.read_completion, self.model.firmware.write_completion);
        let completion = if access == Access::Read { read } else { write };
        completion + self.model.exchange.bridge
    }

    /// The maximum time of a command apart from its media access: its data, and the completion.
    pub fn longest(&self, command: &Command) -> Span {
        let period = self.model.period.as_ns();
        let link = self.model.link.time_of(command.access, command.on_link());
        let data = match (command.access, self.model.link.write_data) {
            // Media wait whole revolutions for late data.
            (Access::Write, WriteData::WhilePositioning) => {
                Span::from_ns(link.as_ns().div_ceil(period) * period)
            }
            _ => link,
        };
        let firmware = &self.model.firmware;
        data + firmware.read_completion.max(firmware.write_completion) + self.model.exchange.bridge
    }

    /// How long the arm must wait for a write's data.
    #[inline]
    pub fn lead(&self, command: &Command) -> Span {
        match (command.access, self.model.link.write_data) {
            (Access::Write, WriteData::BeforePositioning) => {
                let called = self.model.protocol.releases(command, false);
                let service = if called { self.model.exchange.serviced() } else { Span::ZERO };
                service + self.model.link.time_of(Access::Write, command.on_link())
            }
            _ => Span::ZERO,
        }
    }

    /// Whether the arm waits for the data of such a command.
    #[inline]
    pub fn holds_arm(&self, access: Access) -> bool {
        access == Access::Write && self.model.link.write_data == WriteData::BeforePositioning
    }

    /// When the transfer of a read's data to the host begins: with the first of them, at `data_from`, or when
    /// enough of them are in the buffer.
    #[inline]
    pub fn sends_from(&self, flight: &InFlight, data_from: Instant, done: Instant) -> Instant {
        let Some(cache) = &self.model.cache else { return data_from };
        let share = cache.send_from.bits();
        if share == 0 {
            return data_from;
        }
        let count = flight.command.count.get();
        let enough = (u128::from(count.min(cache.segment().get())) * u128::from(share)) >> 32;
        // The sectors pass the head at an even rate, apart from track switches.
        let passing = u128::from(done.since(flight.begun).as_ns());
        data_from.max(flight.begun + Span::from_ns((passing * enough / u128::from(count)) as u64)).min(done)
    }

    /// Sends a read's data to the host, the last of them read at `done`.
    #[inline]
    pub fn send_read(&self, context: &mut Context, flight: &InFlight, done: Instant) -> Instant {
        let InFlight { command, media, link: OnLink { data_from, call, .. }, .. } = flight;
        // The link runs in parallel with the media, sector by sector: none leaves before it has been read.
        let tail =
            if media.sought > command.first { Span::ZERO } else { self.model.disconnect.reconnection() };
        let from = self.sends_from(flight, *data_from, done);
        let (access, count, last) = (Access::Read, command.count, (done + tail).max(from));
        self.carry(context, &Transfer { access, count, from, last, call: *call }).ended
    }

    /// Transfers a write's data: at once when the drive has the command, or when the arm starts for it.
    #[inline]
    pub fn write_data(&self, context: &mut Context, flight: &InFlight, started: Instant) -> Carried {
        let (access, count) = (flight.command.access, flight.command.on_link());
        if access == Access::Read {
            return Carried { begun: started, ended: started };
        }
        let from = match self.model.link.write_data {
            WriteData::BeforePositioning => started,
            WriteData::WhilePositioning => flight.link.data_from,
        };
        // A drive that has disconnected must reselect for the data.
        self.carry(context, &Transfer { access, count, from, last: from, call: flight.link.call })
    }

    /// Whole revolutions that a write waits for its first sector because the link would deliver its data too
    /// late.
    #[inline]
    pub fn turns_lost_to_late_data(&self, flight: &InFlight, started: Instant, passage: &Passage) -> Span {
        let InFlight { command, link: OnLink { data_from, call, .. }, .. } = flight;
        if command.access == Access::Read || self.model.link.write_data == WriteData::BeforePositioning {
            return Span::ZERO;
        }
        // A drive that has disconnected reselects for the data as soon as it has picked up the command.
        let begun = *data_from + *call;
        let ended = begun + self.model.link.time_of(Access::Write, command.on_link());
        self.turns_lost(&Carried { begun, ended }, command.on_link(), started, passage)
    }

    /// Whole revolutions that a write waits because its data would not have arrived when they are needed.
    #[inline]
    pub fn turns_lost(&self, data: &Carried, count: Sectors, started: Instant, passage: &Passage) -> Span {
        let flow = (data.ended - data.begun).as_ns();
        // Each sector is there before it passes the head, with the lead behind it until the last has come.
        let lead = self.sectors_before_media(count);
        let transfer = passage.transfer.as_ns();
        // Most drives have no lead, and a division would be the slowest step here.
        let beneath = if lead == 0 { transfer } else { share_of(transfer, count.get() - lead, count.get()) };
        let ahead = flow.saturating_sub(beneath).max(self.sector.as_ns() * lead);
        let begun = started + passage.seek + passage.rotation;
        let short = (data.begun + Span::from_ns(ahead)).since(begun).as_ns();
        if short == 0 {
            return Span::ZERO;
        }
        let period = self.model.period.as_ns();
        Span::from_ns(short.div_ceil(period) * period)
    }

    /// How many of a write's sectors must have arrived before the first can be written: the lead of the data.
    #[inline]
    fn sectors_before_media(&self, count: Sectors) -> u64 {
        let least = self.model.disconnect.sectors_before_media(count.get());
        let Some(cache) = &self.model.cache else { return least };
        let (first, share) = (cache.write_first.get(), cache.write_from.bits());
        if first == 0 && share == 0 {
            return least;
        }
        let at_once = count.get().min(cache.segment().get());
        let share = ((u128::from(at_once) * u128::from(share)) >> 32) as u64;
        least.max(share).max(first.min(at_once))
    }

    /// A write's data are on the media at `done`: returns when the drive can report that.
    pub fn ends_write(&self, flight: &InFlight, done: Instant) -> Instant {
        let (release, end) = flight.link.last_steps;
        if release.is_zero() && end.is_zero() {
            return done;
        }
        done.max(flight.link.data_until + release) + end
    }
}

/// This part of a time.
#[inline]
fn share_of(time: u64, part: u64, whole: u64) -> u64 {
    (u128::from(time) * u128::from(part) / u128::from(whole)) as u64
}

/// Completion reports.
impl Port {
    /// Whether each completion is reported by itself.
    #[inline]
    pub fn reports_each(&self) -> bool {
        self.model.queue.coalesces.is_none()
    }

    /// A command is done and held back. Returns whether its round is complete.
    pub fn hold_back(&mut self, slot: SlotIndex) -> bool {
        self.unreported.push(slot);
        self.model.queue.coalesces.is_none_or(|round| self.unreported.len() >= usize::from(round))
    }

    /// Whether a completion is held back.
    pub fn has_unreported(&self) -> bool {
        !self.unreported.is_empty()
    }

    /// The commands of the round, in the order in which they were done; the next round begins.
    pub fn take_round(&mut self) -> Vec<SlotIndex> {
        core::mem::take(&mut self.unreported)
    }

    /// Returns the buffer of a reported round for reuse.
    pub fn give_back(&mut self, round: Vec<SlotIndex>) {
        debug_assert!(round.is_empty() && self.unreported.is_empty());
        self.unreported = round;
    }

    /// Reports to the controller how a command has ended, and its trace where traces are kept.
    #[inline]
    pub fn answer(&self, context: &mut Context, flight: &InFlight) {
        let now = context.now;
        let &InFlight { ref command, outcome, submitted, mut breakdown, .. } = flight;
        let Command { id, initiator, tag, .. } = *command;
        if outcome != Outcome::Done {
            // For a command that was given up, the time that is not accounted for counts as queue.
            breakdown.queue += now - (submitted + breakdown.total());
        }
        debug_assert_eq!(breakdown.total(), now - submitted);
        if context.enabled.traces {
            self.trace(context, flight);
        }
        let completion = Completion { id, initiator, tag, outcome, submitted, completed: now, breakdown };
        context.answer(self.drive, completion);
    }

    #[cold]
    fn trace(&self, context: &mut Context, flight: &InFlight) {
        context.traces.push_back((self.drive, flight.trace(flight.outcome, context.now)));
    }
}
