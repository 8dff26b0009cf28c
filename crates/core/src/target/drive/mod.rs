//! One drive: queue, firmware, read-ahead buffer, mechanism and link, as a box in a target.
//!
//! A command lives through: arrival (a tag is taken, the firmware takes it up), dispatch (it is chosen and the arm
//! starts), media end, completion. Reads that the buffer covers skip the queue and the arm. Arrival and completion are
//! here, what the mechanism does in between is in [`service`]. Start reading at [`Drive::submit`].
pub mod geometry;
#[cfg(test)]
mod geometry_tests;
pub mod mechanism;
pub mod params;
pub mod queue;
pub mod read_ahead;
pub mod seek;
mod service;
pub mod spindle;

use super::context::{Context, Event};
use crate::command::{Access, Breakdown, Command, Completion, Outcome};
use crate::life::{Life, Served};
use crate::rng::Stream;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors, Span};
use mechanism::{Arm, Landing};
use params::{DriveModel, WriteData};
use queue::{Entry, SlotIndex, Slots};
use read_ahead::{Cover, Motion, ReadAhead};
use service::Sweep;
use spindle::Spindle;

/// What happens inside a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveEvent {
    /// The data in the mechanism's hands have all passed the head.
    MediaEnd(SlotIndex),
    /// The host sees the completion.
    Complete(SlotIndex),
    /// The drive has waited long enough for the host's answer.
    Choose,
}

impl DriveEvent {
    /// Which of several events at one instant runs first: what ends before what begins.
    pub fn class(self) -> u8 {
        match self {
            DriveEvent::MediaEnd(_) => 0,
            DriveEvent::Complete(_) => 1,
            DriveEvent::Choose => 2,
        }
    }
}

/// A command that holds a tag, with what it has lived through so far.
#[derive(Clone, Copy)]
struct InFlight {
    command: Command,
    submitted: Instant,
    arrived: Instant,
    /// When the firmware has taken it up.
    ready: Instant,
    /// When its first sector comes under the head.
    begun: Instant,
    /// When the first of its data can leave for the host.
    data_from: Instant,
    landing: Landing,
    /// What is left of its last track when it ends.
    track_left: Span,
    story: Story,
    breakdown: Breakdown,
}

/// What a command's life tells beyond its breakdown.
#[derive(Clone, Copy)]
struct Story {
    served: Served,
    chosen: Instant,
    ended: Instant,
    from_cylinder: u32,
    to_cylinder: u32,
    rank: u64,
}

pub struct Drive {
    index: u16,
    model: Arc<DriveModel>,
    spindle: Spindle,
    arm: Arm,
    /// Towards higher cylinders (LOOK).
    upward: bool,
    /// What the mechanism is carrying out.
    sweep: Option<Sweep>,
    /// Commands since the last choice that went past others.
    out_of_turn: u32,
    /// Since when the mechanism has been free.
    free_since: Instant,
    /// Before this the drive does not choose.
    choose_from: Instant,
    choose_scheduled: bool,
    firmware_free: Instant,
    link_free: Instant,
    /// The kind of the command taken up last.
    before: Access,
    slots: Slots,
    /// By slot; what a free slot holds is left over.
    in_flight: Vec<InFlight>,
    free: Vec<SlotIndex>,
    /// Commands that found no free tag, in order of arrival.
    held: VecDeque<(Command, Instant)>,
    read_ahead: Option<ReadAhead>,
    /// Where the last read ended.
    read_end: Lba,
    /// Commands that the mechanism or the buffer has turned to.
    turned_to: u64,
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
            sweep: None,
            out_of_turn: 0,
            free_since: Instant::ZERO,
            choose_from: Instant::ZERO,
            choose_scheduled: false,
            firmware_free: Instant::ZERO,
            link_free: Instant::ZERO,
            before: Access::Read,
            slots: Slots::new(&model.queue, model.mechanism.geometry.cylinders(), model.period.as_ns()),
            in_flight: Vec::with_capacity(depth as usize),
            free: (0..depth).rev().collect(),
            held: VecDeque::with_capacity(64),
            read_ahead: model.read_ahead.as_ref().map(ReadAhead::new),
            read_end: Lba::ZERO,
            turned_to: 0,
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
            DriveEvent::MediaEnd(slot) => self.on_media_end(context, slot),
            DriveEvent::Complete(slot) => self.on_complete(context, slot),
            DriveEvent::Choose => {
                self.choose_scheduled = false;
                self.choose(context);
            }
        }
    }

    /// A tag is free: the firmware takes the command up, one after the other.
    fn accept(&mut self, context: &mut Context<'_>, slot: SlotIndex, command: Command, submitted: Instant) {
        let now = context.now;
        let firmware = &self.model.firmware;
        let cover = if command.access == Access::Read { self.cover(&command, now) } else { Cover::Miss };
        let overhead = match (command.access, cover) {
            (Access::Write, _) => firmware.write,
            (Access::Read, Cover::Miss) => firmware.read_miss,
            (Access::Read, _) => firmware.read_hit,
        };
        let ready = now.max(self.firmware_free) + overhead.after(self.before);
        self.before = command.access;
        self.firmware_free = ready;
        let breakdown = Breakdown { wait: now - submitted, ..Breakdown::default() };
        let (landing, track_left, begun, data_from) = (Landing::default(), Span::ZERO, ready, ready);
        let story = self.story(Served::Not, now);
        let flight = InFlight {
            command,
            submitted,
            arrived: now,
            ready,
            begun,
            data_from,
            landing,
            track_left,
            story,
            breakdown,
        };
        match self.in_flight.get_mut(slot as usize) {
            Some(place) => *place = flight,
            // Slots are first used in the order of their numbers.
            None => self.in_flight.push(flight),
        }
        match cover {
            Cover::Hit => self.serve_from_buffer(context, slot),
            Cover::Coming(at) if self.sweep.is_none() && self.may_go_out_of_turn(now) => {
                self.meet_head(context, slot, at);
            }
            _ => self.enqueue(context, slot),
        }
    }

    /// The story of a command that the drive turns to now.
    #[inline]
    fn story(&self, served: Served, now: Instant) -> Story {
        let cylinder = self.arm.cylinder;
        let (from_cylinder, to_cylinder, rank) = (cylinder, cylinder, self.turned_to);
        Story { served, chosen: now, ended: now, from_cylinder, to_cylinder, rank }
    }

    /// The command needs the mechanism: it joins what the mechanism is at, or waits for its turn.
    fn enqueue(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        let Command { first, count, access, .. } = self.flight(slot).command;
        let landing = self.model.mechanism.landing(first, count, access, &self.spindle);
        self.flight(slot).landing = landing;
        if !self.joins(context.now, first, access, slot) && !self.starts_at_once(context, slot) {
            self.file(slot);
            self.choose(context);
        }
    }

    /// Puts a command into the queue.
    fn file(&mut self, slot: SlotIndex) {
        let InFlight { command, arrived, ready, landing, .. } = *self.flight(slot);
        let Landing { cylinder, head, start, longest_wait, .. } = landing;
        let (arrived, ready, lead) = (arrived.as_ns(), ready.as_ns(), self.lead(&command).as_ns());
        let (first, write) = (command.first, command.access == Access::Write);
        let set_there = Entry::default();
        let entry =
            Entry { arrived, ready, lead, first, cylinder, head, start, longest_wait, write, ..set_there };
        self.slots.insert(slot, entry);
    }

    /// Whether nothing may go past the command that has waited longest.
    fn is_overdue(&self, now: Instant) -> bool {
        queue::is_overdue(&self.slots, &self.model.queue, now.as_ns())
    }

    /// A read whose data are all in the buffer: only the link has work.
    fn serve_from_buffer(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        let story = self.story(Served::Buffered, context.now);
        self.turned_to += 1;
        let flight = self.flight(slot);
        let (ready, end, count) = (flight.ready, flight.command.end(), flight.command.count);
        flight.story = Story { ended: ready, ..story };
        flight.breakdown.overhead = ready - flight.arrived;
        self.consume(end, context.now);
        self.read_end = end;
        let sent = self.link_free.max(ready) + self.model.link.time_for(count);
        self.finish(context, slot, ready, sent);
    }

    /// Mechanism and firmware are done at `done`, the link at `sent`: returns when the completion follows.
    fn finish(
        &mut self,
        context: &mut Context<'_>,
        slot: SlotIndex,
        done: Instant,
        sent: Instant,
    ) -> Instant {
        self.link_free = self.link_free.max(sent);
        let (read, write) = (self.model.firmware.read_completion, self.model.firmware.write_completion);
        let flight = self.flight(slot);
        let completion = if flight.command.access == Access::Read { read } else { write };
        flight.breakdown.link += sent - done;
        flight.breakdown.overhead += completion;
        let completed = sent + completion;
        self.schedule(context, completed, DriveEvent::Complete(slot));
        completed
    }

    fn on_complete(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        let now = context.now;
        let InFlight { command, submitted, breakdown, .. } = *self.flight(slot);
        debug_assert_eq!(breakdown.total(), now - submitted);
        let Command { id, initiator, tag, .. } = command;
        let outcome = Outcome::Done;
        if let Some(lives) = context.lives {
            lives.push_back(self.life(slot, outcome, now));
        }
        context.complete(Completion { id, initiator, tag, outcome, submitted, completed: now, breakdown });
        match self.held.pop_front() {
            Some((command, submitted)) => self.accept(context, slot, command, submitted),
            None => self.free.push(slot),
        }
    }

    fn life(&self, slot: SlotIndex, outcome: Outcome, completed: Instant) -> Life {
        let InFlight { command, submitted, arrived, begun, landing, story, .. } =
            self.in_flight[slot as usize];
        let Story { served, chosen, ended, from_cylinder, to_cylinder, rank } = story;
        // A command that the mechanism never went to has no place of its own.
        let cylinder = if served == Served::Chosen || served == Served::Joined {
            landing.cylinder
        } else {
            from_cylinder
        };
        let (accepted, carried_by) = (arrived, command.id);
        Life {
            command,
            outcome,
            served,
            carried_by,
            submitted,
            accepted,
            chosen,
            begun,
            ended,
            completed,
            from_cylinder,
            cylinder,
            to_cylinder,
            rank,
        }
    }

    fn motion(&self) -> Motion<'_> {
        Motion { mechanism: &self.model.mechanism, spindle: &self.spindle }
    }

    fn cover(&self, command: &Command, now: Instant) -> Cover {
        let Some(read_ahead) = &self.read_ahead else { return Cover::Miss };
        read_ahead.cover(command.first, command.end(), now, self.motion())
    }

    /// The buffer has served a read that ends at `end`.
    fn consume(&mut self, end: Lba, now: Instant) {
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        if let Some(read_ahead) = &mut self.read_ahead {
            read_ahead.consume(end, now, motion);
        }
    }

    /// How long the arm must wait for a write's data.
    fn lead(&self, command: &Command) -> Span {
        match (command.access, self.model.link.write_data) {
            (Access::Write, WriteData::BeforePositioning) => self.model.link.time_for(command.count),
            _ => Span::ZERO,
        }
    }

    #[inline]
    fn flight(&mut self, slot: SlotIndex) -> &mut InFlight {
        &mut self.in_flight[slot as usize]
    }

    #[inline]
    fn schedule(&self, context: &mut Context<'_>, due: Instant, event: DriveEvent) {
        context.agenda.schedule(due, event.class(), Event::Drive(self.index, event));
    }
}
