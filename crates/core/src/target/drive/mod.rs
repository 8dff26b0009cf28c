//! One drive: queue, firmware, read-ahead buffer, mechanism and link, as a box in a target.
//!
//! A command lives through: arrival (a tag is taken), ready (its firmware overhead is over), dispatch (it is chosen and
//! the arm starts), media end, completion. Reads that the buffer covers skip the queue and the arm. Start reading at
//! [`Drive::submit`] and follow the events.
pub mod geometry;
#[cfg(test)]
mod geometry_tests;
pub mod mechanism;
pub mod params;
pub mod queue;
pub mod read_ahead;
pub mod seek;
pub mod spindle;

use super::context::{Context, Event};
use crate::command::{Access, Breakdown, Command, Completion, Outcome};
use crate::rng::Stream;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors, Span};
use mechanism::{Arm, Landing};
use params::{DriveModel, WriteData};
use queue::{Chooses, Entry, Order, SlotIndex, Slots, View, choose, look};
use read_ahead::{Cover, Ended, Motion, ReadAhead};
use spindle::Spindle;

/// What happens inside a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveEvent {
    /// The data in the mechanism's hands have all passed the head.
    MediaEnd(SlotIndex),
    /// The host sees the completion.
    Complete(SlotIndex),
    /// A command's overhead is over.
    Ready(SlotIndex),
    /// The drive has waited long enough for the host's answer.
    Choose,
}

impl DriveEvent {
    /// Which of several events at one instant runs first: what ends before what begins.
    pub fn class(self) -> u8 {
        match self {
            DriveEvent::MediaEnd(_) => 0,
            DriveEvent::Complete(_) => 1,
            DriveEvent::Ready(_) => 2,
            DriveEvent::Choose => 3,
        }
    }
}

/// A command that holds a tag, with what it has lived through so far.
#[derive(Clone, Copy)]
struct InFlight {
    command: Command,
    submitted: Instant,
    arrived: Instant,
    /// When its first sector came under the head.
    begun: Instant,
    landing: Landing,
    /// What is left of its last track when it ends.
    track_left: Span,
    breakdown: Breakdown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Activity {
    Idle,
    Busy,
}

pub struct Drive {
    index: u16,
    model: Arc<DriveModel>,
    spindle: Spindle,
    arm: Arm,
    upward: bool,
    activity: Activity,
    /// Since when the mechanism has been free.
    free_since: Instant,
    /// Before this the drive does not choose.
    choose_from: Instant,
    choose_scheduled: bool,
    firmware_free: Instant,
    link_free: Instant,
    before: Access,
    slots: Slots,
    /// By slot; what a free slot holds is left over.
    in_flight: Vec<InFlight>,
    free: Vec<SlotIndex>,
    /// Commands that found no free tag, in order of arrival.
    held: VecDeque<(Command, Instant)>,
    read_ahead: Option<ReadAhead>,
}

impl Drive {
    /// A drive whose platter starts at an angle drawn from the stream `drive/<index>/rotation`.
    pub fn new(model: Arc<DriveModel>, index: u16, seed: u64) -> Self {
        let phase = Stream::named(seed, &format!("drive/{index}/rotation")).below(model.period.as_ns());
        let depth = model.queue.depth;
        Drive {
            index,
            spindle: Spindle::new(model.period, Span::from_ns(phase)),
            arm: Arm::default(),
            upward: true,
            activity: Activity::Idle,
            free_since: Instant::ZERO,
            choose_from: Instant::ZERO,
            choose_scheduled: false,
            firmware_free: Instant::ZERO,
            link_free: Instant::ZERO,
            before: Access::Read,
            slots: Slots::new(depth, model.mechanism.geometry.cylinders()),
            in_flight: Vec::with_capacity(depth.into()),
            free: (0..depth).rev().collect(),
            held: VecDeque::with_capacity(64),
            read_ahead: model.read_ahead.as_ref().map(ReadAhead::new),
            model,
        }
    }

    pub fn capacity(&self) -> Sectors {
        self.model.capacity()
    }

    /// Takes a command: into a free slot, or behind the others that wait for one.
    pub fn submit(&mut self, context: &mut Context<'_>, command: Command) {
        match self.free.pop() {
            Some(slot) => self.accept(context, slot, command, context.now),
            None => self.held.push_back((command, context.now)),
        }
    }

    pub fn on_event(&mut self, context: &mut Context<'_>, event: DriveEvent) {
        match event {
            DriveEvent::Ready(slot) => self.on_ready(context, slot),
            DriveEvent::MediaEnd(slot) => self.on_media_end(context, slot),
            DriveEvent::Complete(slot) => self.on_complete(context, slot),
            DriveEvent::Choose => {
                self.choose_scheduled = false;
                self.choose(context);
            }
        }
    }

    /// A tag is free: the firmware takes the command up as soon as it can.
    fn accept(&mut self, context: &mut Context<'_>, slot: SlotIndex, command: Command, submitted: Instant) {
        let now = context.now;
        let wait = now - submitted;
        let breakdown = Breakdown { wait, ..Breakdown::default() };
        let (landing, track_left) = (Landing::default(), Span::ZERO);
        let flight =
            InFlight { command, submitted, arrived: now, begun: now, landing, track_left, breakdown };
        match self.in_flight.get_mut(usize::from(slot)) {
            Some(place) => *place = flight,
            // Slots are first used in the order of their numbers.
            None => self.in_flight.push(flight),
        }
        let firmware = &self.model.firmware;
        let overhead = match command.access {
            Access::Write => firmware.write,
            Access::Read if self.cover(&command, now) == Cover::Miss => firmware.read_miss,
            Access::Read => firmware.read_hit,
        };
        let ready = now.max(self.firmware_free) + overhead.after(self.before);
        self.before = command.access;
        self.firmware_free = ready;
        self.schedule(context, ready, DriveEvent::Ready(slot));
    }

    fn on_ready(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        let now = context.now;
        let command = self.flight(slot).command;
        if command.access == Access::Read {
            match self.cover(&command, now) {
                Cover::Hit => return self.serve_from_buffer(context, slot),
                Cover::Coming(at) if self.activity == Activity::Idle => {
                    return self.meet_head(context, slot, at);
                }
                _ => {}
            }
        }
        let landing =
            self.model.mechanism.landing(command.first, command.count, command.access, &self.spindle);
        let lead = self.lead(&command).as_ns() as u32;
        let flight = self.flight(slot);
        flight.landing = landing;
        let entry = Entry::new(&landing, command.access, lead, flight.arrived);
        self.slots.insert(slot, entry);
        self.choose(context);
    }

    /// The arm is free: pick the next command, if this is the time to.
    fn choose(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        if self.activity != Activity::Idle || self.slots.is_empty() {
            return;
        }
        if now < self.choose_from {
            if !self.choose_scheduled {
                self.choose_scheduled = true;
                self.schedule(context, self.choose_from, DriveEvent::Choose);
            }
            return;
        }
        if self.model.queue.chooses == Chooses::AfterAnswer && self.firmware_free > now {
            // A command is being taken up; it will come back here when it is ready.
            return;
        }
        if let Some(arm) = self.stop_reading_ahead(now) {
            self.arm = arm;
        }
        let view = View {
            mechanism: &self.model.mechanism,
            params: &self.model.queue,
            arm: self.arm,
            upward: self.upward,
            now: now.as_ns(),
            turned: self.spindle.turned(now),
            period: self.spindle.period(),
        };
        let Some(slot) = choose(&self.slots, &view) else { return };
        if self.model.queue.order == Order::Look {
            self.upward = look::upward_after(self.slots.entry(slot), &view);
        }
        self.slots.remove(slot);
        self.dispatch(context, slot);
    }

    /// The arm starts for this command.
    fn dispatch(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        let now = context.now;
        let InFlight { command, landing, .. } = *self.flight(slot);
        let Command { first, count, access, .. } = command;
        let lead = self.lead(&command);
        let last = Lba::new(command.end().get() - 1);
        let mut passage =
            self.model.mechanism.pass(&self.spindle, now + lead, self.arm, &landing, last, access);
        let late = self.turns_lost_to_late_data(access, count, &passage);
        passage.rotation += late;
        passage.end += late;
        let free_since = self.free_since;
        let flight = self.flight(slot);
        let base = flight.arrived.max(free_since);
        flight.breakdown.queue = base - flight.arrived;
        flight.breakdown.overhead = now - base;
        flight.breakdown.link = lead;
        flight.breakdown.seek = passage.seek;
        flight.breakdown.rotation = passage.rotation;
        flight.breakdown.transfer = passage.transfer;
        flight.begun = now + lead + passage.seek + passage.rotation;
        flight.track_left = passage.track_left;
        self.arm = passage.arm;
        self.activity = Activity::Busy;
        if access == Access::Write
            && let Some(read_ahead) = &mut self.read_ahead
        {
            read_ahead.written(first, first + count);
        }
        context.digest.fold(now.as_ns());
        self.schedule(context, passage.end, DriveEvent::MediaEnd(slot));
    }

    /// A read that the head, reading ahead, is just about to pass: no arm movement, no rotation.
    fn meet_head(&mut self, context: &mut Context<'_>, slot: SlotIndex, at: Instant) {
        let now = context.now;
        let free_since = self.free_since;
        let flight = self.flight(slot);
        let base = flight.arrived.max(free_since.min(now));
        let end = flight.command.end();
        flight.breakdown.queue = base - flight.arrived;
        flight.breakdown.overhead = now - base;
        flight.breakdown.transfer = at - now;
        flight.begun = now;
        self.activity = Activity::Busy;
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        if let Some(read_ahead) = &mut self.read_ahead {
            read_ahead.consume(end, now, motion);
        }
        context.digest.fold(now.as_ns());
        self.schedule(context, at, DriveEvent::MediaEnd(slot));
    }

    /// A read whose data are all in the buffer: only the link has work.
    fn serve_from_buffer(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        let now = context.now;
        let flight = self.flight(slot);
        let (arrived, end, count) = (flight.arrived, flight.command.end(), flight.command.count);
        flight.breakdown.overhead = now - arrived;
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        if let Some(read_ahead) = &mut self.read_ahead {
            read_ahead.consume(end, now, motion);
        }
        let sent = self.link_free.max(now) + self.model.link.time_for(count);
        self.finish(context, slot, now, sent);
    }

    fn on_media_end(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        let now = context.now;
        self.activity = Activity::Idle;
        self.free_since = now;
        let InFlight { command, begun, track_left, .. } = *self.flight(slot);
        let Command { first, count, access, .. } = command;
        let mut sent = now;
        if access == Access::Read {
            // The link runs beside the media, but cannot end before it, nor begin before the first sector.
            sent = sent.max(self.link_free.max(begun) + self.model.link.time_for(count));
            let may_read_on =
                self.slots.is_empty() || self.model.read_ahead.is_some_and(|params| params.when_queued);
            self.read_on(first, first + count, &Ended { at: now, arm: self.arm, track_left }, may_read_on);
        }
        let completed = self.finish(context, slot, now, sent);
        self.choose_from = match self.model.queue.chooses {
            Chooses::AtMediaEnd => now,
            Chooses::AfterAnswer => completed + self.model.queue.answer_time,
        };
        self.choose(context);
    }

    /// The head goes on behind a read, unless others want the arm.
    fn read_on(&mut self, first: Lba, end: Lba, ended: &Ended, may: bool) {
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        let Some(read_ahead) = &mut self.read_ahead else { return };
        if !read_ahead.continues_to(end) {
            read_ahead.start(first, end, ended, motion);
        }
        if !may && let Some(arm) = read_ahead.stop(ended.at, motion) {
            self.arm = arm;
        }
    }

    /// The mechanism's part ended at `mechanism_end`, the link's at `sent`: the completion follows. Returns when.
    fn finish(
        &mut self,
        context: &mut Context<'_>,
        slot: SlotIndex,
        mechanism_end: Instant,
        sent: Instant,
    ) -> Instant {
        self.link_free = self.link_free.max(sent);
        let firmware = self.model.firmware;
        let flight = self.flight(slot);
        let completion = match flight.command.access {
            Access::Read => firmware.read_completion,
            Access::Write => firmware.write_completion,
        };
        flight.breakdown.link += sent - mechanism_end;
        flight.breakdown.overhead += completion;
        self.schedule(context, sent + completion, DriveEvent::Complete(slot));
        sent + completion
    }

    fn on_complete(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        let now = context.now;
        let InFlight { command, submitted, breakdown, .. } = *self.flight(slot);
        debug_assert_eq!(breakdown.total(), now - submitted);
        let Command { id, initiator, tag, .. } = command;
        let outcome = Outcome::Done;
        context.complete(Completion { id, initiator, tag, outcome, submitted, completed: now, breakdown });
        match self.held.pop_front() {
            Some((command, submitted)) => self.accept(context, slot, command, submitted),
            None => self.free.push(slot),
        }
    }

    fn cover(&self, command: &Command, now: Instant) -> Cover {
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        self.read_ahead
            .as_ref()
            .map_or(Cover::Miss, |buffer| buffer.cover(command.first, command.end(), now, motion))
    }

    fn stop_reading_ahead(&mut self, now: Instant) -> Option<Arm> {
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        self.read_ahead.as_mut().and_then(|buffer| buffer.stop(now, motion))
    }

    /// How long the arm must wait for a write's data.
    fn lead(&self, command: &Command) -> Span {
        match (command.access, self.model.link.write_data) {
            (Access::Write, WriteData::BeforePositioning) => self.model.link.time_for(command.count),
            _ => Span::ZERO,
        }
    }

    /// Whole turns that a write waits on its first sector because the link would fall behind the media.
    fn turns_lost_to_late_data(&self, access: Access, count: Sectors, passage: &mechanism::Passage) -> Span {
        if access == Access::Read || self.model.link.write_data == WriteData::BeforePositioning {
            return Span::ZERO;
        }
        let link = self.model.link.time_for(count);
        let needed = link.as_ns().saturating_sub(passage.transfer.as_ns());
        let needed = needed.max(self.model.link.time_for(Sectors::new(1)).as_ns());
        let there = (passage.seek + passage.rotation).as_ns();
        let period = self.spindle.period();
        Span::from_ns(needed.saturating_sub(there).div_ceil(period) * period)
    }

    #[inline]
    fn flight(&mut self, slot: SlotIndex) -> &mut InFlight {
        &mut self.in_flight[usize::from(slot)]
    }

    #[inline]
    fn schedule(&self, context: &mut Context<'_>, due: Instant, event: DriveEvent) {
        context.agenda.schedule(due, event.class(), Event::Drive(self.index, event));
    }
}
