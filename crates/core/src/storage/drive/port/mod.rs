//! The drive's port to its link: when a command's data flow, when the host hears that it is done, and which completions
//! are held back to be reported together.
//!
//! A read's data leave as they come under the head or when enough of them are in the buffer; a write's come before the arm
//! starts or beside its way. Media that find the data missing wait whole turns.
//!
//! Most drives report each completion by itself. One that coalesces holds the completions of a round back and reports
//! them together, as the Set Device Bits of Serial ATA can: one for many tags. The round ends with its last completion,
//! or when the drive has nothing left to do.
//!
//! The port knows instants and the drive's parameters; where arm and platter are it is told.
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

/// Where the drive meets its link.
pub struct Port {
    /// Which of the target's drives.
    drive: u16,
    model: Arc<DriveModel>,
    /// What the link takes for one sector of a write.
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

    /// When a transfer that could begin now would be across, beside all that has been sent.
    pub fn across(&self, from: Instant, access: Access, count: Sectors) -> Instant {
        from.max(self.free) + self.model.link.time_of(access, count)
    }

    /// Data cross the link.
    #[inline]
    pub fn carry(&self, context: &mut Context, transfer: &Transfer) -> Carried {
        context.wires.carry(self.drive, transfer)
    }

    /// The last of a command's data are across at `sent`: how long it then takes until the host sees the completion.
    #[inline]
    pub fn completes(&mut self, access: Access, sent: Instant) -> Span {
        self.free = self.free.max(sent);
        let (read, write) = (self.model.firmware.read_completion, self.model.firmware.write_completion);
        let completion = if access == Access::Read { read } else { write };
        completion + self.model.exchange.bridge
    }

    /// The longest that a command can take beside its media access: its data, and the way to the host.
    pub fn longest(&self, command: &Command) -> Span {
        let period = self.model.period.as_ns();
        let link = self.model.link.time_of(command.access, command.on_link());
        let data = match (command.access, self.model.link.write_data) {
            // The media wait whole turns for data that come late.
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
                let called = self.model.protocol.releases(command);
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

    /// When a read's data begin to go to the host: with the first of them, at `data_from`, or when enough of them are in
    /// the buffer.
    #[inline]
    pub fn sends_from(&self, flight: &InFlight, data_from: Instant, done: Instant) -> Instant {
        let Some(cache) = &self.model.cache else { return data_from };
        let share = cache.send_from.bits();
        if share == 0 {
            return data_from;
        }
        let count = flight.command.count.get();
        let enough = (u128::from(count.min(cache.segment().get())) * u128::from(share)) >> 32;
        // The sectors pass the head at an even pace, switches of track apart.
        let passing = u128::from(done.since(flight.begun).as_ns());
        data_from.max(flight.begun + Span::from_ns((passing * enough / u128::from(count)) as u64)).min(done)
    }

    /// A read's data go to the host, the last of them read at `done`.
    #[inline]
    pub fn send_read(&self, context: &mut Context, flight: &InFlight, done: Instant) -> Instant {
        let InFlight { command, media, link: OnLink { data_from, call, .. }, .. } = flight;
        // The link runs beside the media, sector behind sector: none leaves before it is there.
        let tail =
            if media.sought > command.first { Span::ZERO } else { self.model.disconnect.reconnection() };
        let from = self.sends_from(flight, *data_from, done);
        let (access, count, last) = (Access::Read, command.count, (done + tail).max(from));
        self.carry(context, &Transfer { access, count, from, last, call: *call }).ended
    }

    /// A write's data cross the link: at once when the drive has the command, or when the arm turns to it.
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
        // A drive that has let go of the bus must call for the data.
        self.carry(context, &Transfer { access, count, from, last: from, call: flight.link.call })
    }

    /// Whole turns that a write waits on its first sector because the link would bring its data too late.
    #[inline]
    pub fn turns_lost_to_late_data(&self, flight: &InFlight, started: Instant, passage: &Passage) -> Span {
        let InFlight { command, link: OnLink { data_from, call, .. }, .. } = flight;
        if command.access == Access::Read || self.model.link.write_data == WriteData::BeforePositioning {
            return Span::ZERO;
        }
        // A drive that has let go of the bus calls for the data as soon as it has taken the command up.
        let begun = *data_from + *call;
        let ended = begun + self.model.link.time_of(Access::Write, command.on_link());
        self.turns_lost(&Carried { begun, ended }, command.on_link(), started, passage)
    }

    /// Whole turns that writing waits because its data would not be there as they are needed.
    #[inline]
    pub fn turns_lost(&self, data: &Carried, count: Sectors, started: Instant, passage: &Passage) -> Span {
        let flow = (data.ended - data.begun).as_ns();
        let ahead = flow.saturating_sub(passage.transfer.as_ns());
        let sectors = self.sectors_before_media(count);
        let ahead = ahead.max(self.sector.as_ns() * sectors);
        let begun = started + passage.seek + passage.rotation;
        let short = (data.begun + Span::from_ns(ahead)).since(begun).as_ns();
        if short == 0 {
            return Span::ZERO;
        }
        let period = self.model.period.as_ns();
        Span::from_ns(short.div_ceil(period) * period)
    }

    /// How many of a write's sectors must be there before the first can be written.
    #[inline]
    fn sectors_before_media(&self, count: Sectors) -> u64 {
        let least = self.model.disconnect.sectors_before_media(count.get());
        let Some(cache) = &self.model.cache else { return least };
        let share = cache.write_from.bits();
        if share == 0 {
            return least;
        }
        let at_once = count.get().min(cache.segment().get());
        least.max(((u128::from(at_once) * u128::from(share)) >> 32) as u64)
    }

    /// A write's data are on the media at `done`: when the drive can say so.
    pub fn ends_write(&self, flight: &InFlight, done: Instant) -> Instant {
        let (release, end) = flight.link.last_steps;
        if release.is_zero() && end.is_zero() {
            return done;
        }
        done.max(flight.link.data_until + release) + end
    }
}

/// Reports.
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

    /// The room of a round that has been reported, for the next one.
    pub fn give_back(&mut self, round: Vec<SlotIndex>) {
        debug_assert!(round.is_empty() && self.unreported.is_empty());
        self.unreported = round;
    }

    /// The controller hears how a command has ended, and so does whoever keeps the traces.
    #[inline]
    pub fn answer(&self, context: &mut Context, flight: &InFlight) {
        let now = context.now;
        let &InFlight { ref command, outcome, submitted, mut breakdown, .. } = flight;
        let Command { id, initiator, tag, .. } = *command;
        if outcome != Outcome::Done {
            // A command that was given up has been somewhere all the time; what is not accounted for is the queue.
            breakdown.queue += now - (submitted + breakdown.total());
        }
        debug_assert_eq!(breakdown.total(), now - submitted);
        if context.keeps.traces {
            self.trace(context, flight);
        }
        let completion = Completion { id, initiator, tag, outcome, submitted, completed: now, breakdown };
        context.answer(self.drive, completion);
    }

    #[cold]
    fn trace(&self, context: &mut Context, flight: &InFlight) {
        context.lives.push_back((self.drive, flight.trace(flight.outcome, context.now)));
    }
}
