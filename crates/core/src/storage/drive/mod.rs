//! One drive: protocol, queue, firmware, read-ahead buffer, mechanism and link, as a box in a target.
//!
//! A command traces through: arrival (a tag is taken), enabling (nothing that must end before it is left), taking up by the
//! firmware, dispatch (it is chosen and the arm starts), media end, completion. Reads that the buffer covers skip the
//! queue and the arm. Arrival and the end are in [`tasks`], taking up and completion here, what the mechanism does in
//! between is in [`service`]. Start reading at [`Drive::submit`].
mod allegiance;
pub mod cache;
mod data_flow;
mod deadlines;
mod delivering;
pub mod disconnect;
pub mod faults;
mod flight;
pub mod geometry;
#[cfg(test)]
mod geometry_tests;
mod joining;
pub mod mechanism;
pub mod params;
pub mod protocol;
pub mod queue;
mod reading_on;
mod reports;
pub mod seek;
mod service;
pub mod spindle;
mod tasks;
mod write_back;

use super::context::{Context, Event};
use super::link::Transfer;
use super::tree::NONE;
use crate::command::{Access, Attribute, Command, Completion, Outcome, Priority};
use crate::rng::Stream;
use crate::trace::Served;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use cache::Cache;
use cache::segment::Cover;
use cache::segments::Place;
use disconnect::Steps;
use drivelab_units::{Instant, Lba, Sectors, Span};
use faults::Faults;
use flight::{InFlight, Service, Stage};
use joining::Sweep;
use mechanism::{Arm, Landing};
use params::{DriveModel, WriteData};
use protocol::Protocol;
use queue::{Entry, SlotIndex, Slots};
use spindle::Spindle;
use tasks::Tasks;
use write_back::Barrier;

/// What happens inside a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveEvent {
    /// The data in the mechanism's hands have all passed the head.
    MediaEnd(SlotIndex),
    /// The host sees the completion.
    Complete(SlotIndex),
    /// It is time to look for something to do.
    Choose,
    /// What the cache has sent to the media is there.
    Destaged,
    /// The deadline of the command that took this slot as the drive's so many-th has come.
    Deadline(SlotIndex, u32),
}

impl DriveEvent {
    /// Which of several events at one instant runs first: what ends before what begins.
    pub fn class(self) -> u8 {
        match self {
            DriveEvent::MediaEnd(_) | DriveEvent::Destaged => 0,
            DriveEvent::Complete(_) => 1,
            DriveEvent::Choose => 2,
            DriveEvent::Deadline(..) => 3,
        }
    }
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
    /// When it looks next, if that is on the agenda.
    choose_scheduled: Option<Instant>,
    firmware_free: Instant,
    link_free: Instant,
    /// The kind of the command taken up last.
    before: Access,
    tasks: Tasks,
    slots: Slots,
    /// By slot; what a free slot holds is left over.
    in_flight: Vec<InFlight>,
    free: Vec<SlotIndex>,
    faults: Option<Faults>,
    /// Done, and not yet reported.
    unreported: Vec<SlotIndex>,
    cache: Option<Cache>,
    /// Writes that wait for room in the cache, oldest first.
    writers: VecDeque<SlotIndex>,
    /// Reads that the buffer can answer, and that wait until the arm has done the cache's work, oldest first.
    hits: VecDeque<SlotIndex>,
    /// Commands that wait until what the cache holds is on the media, oldest first.
    barriers: Vec<Barrier>,
    /// Whether it is the cache's turn when it wants the arm as much as the host does.
    cache_has_turn: bool,
    /// Whether it is the turn of the piece that has waited longest, if it has waited long enough.
    oldest_has_turn: bool,
    /// Whether the cache empties itself because nothing else is to be done.
    draining: bool,
    /// When the firmware took up a command last.
    taken_up_at: Instant,
    /// Where the last read ended.
    read_end: Lba,
    /// Whether the head may read on behind that.
    may_read_on: bool,
    /// Where the last media access ended.
    media_end: Lba,
    /// Where the last write that was taken up ends.
    write_end: Lba,
    /// Commands that the drive has taken, and that the mechanism or the buffer has turned to.
    taken: u32,
    turned_to: u64,
    /// No access takes longer to position and to turn to its first sector.
    longest_positioning: Span,
    /// What the link takes for one sector.
    link_sector: Span,
}

impl Drive {
    /// A drive whose platter starts at an angle drawn from the stream `drive/<index>/rotation`.
    pub fn new(model: Arc<DriveModel>, index: u16, seed: u64) -> Self {
        Drive::turning_as(model, index, index, seed)
    }

    /// A drive whose platter turns with that of another one of the same period.
    pub fn turning_as(model: Arc<DriveModel>, index: u16, other: u16, seed: u64) -> Self {
        let phase = Stream::named(seed, &format!("drive/{other}/rotation")).below(model.period.as_ns());
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
            choose_scheduled: None,
            firmware_free: Instant::ZERO,
            link_free: Instant::ZERO,
            before: Access::Read,
            tasks: Tasks::new(model.protocol, depth as usize),
            slots: Slots::new(&model.queue, model.mechanism.geometry.cylinders(), model.period.as_ns()),
            in_flight: Vec::with_capacity(depth as usize),
            free: (0..depth).rev().collect(),
            faults: model.faults.as_ref().map(|params| Faults::new(params, index, seed)),
            unreported: Vec::with_capacity(model.queue.coalesces.map_or(0, usize::from)),
            cache: model
                .cache
                .as_ref()
                .map(|params| Cache::new(params, &model.mechanism, model.period.as_ns())),
            writers: VecDeque::new(),
            hits: VecDeque::new(),
            barriers: Vec::new(),
            cache_has_turn: false,
            oldest_has_turn: true,
            draining: false,
            taken_up_at: Instant::ZERO,
            read_end: Lba::ZERO,
            may_read_on: true,
            media_end: Lba::ZERO,
            write_end: Lba::ZERO,
            taken: 0,
            turned_to: 0,
            longest_positioning: model.mechanism.longest_positioning() + model.period,
            link_sector: model.link.time_for(Sectors::new(1)),
            model,
        }
    }

    /// Which of the target's drives.
    pub fn index(&self) -> u16 {
        self.index
    }

    pub fn model(&self) -> &DriveModel {
        &self.model
    }

    pub fn capacity(&self) -> Sectors {
        self.model.capacity()
    }

    pub fn protocol(&self) -> Protocol {
        self.model.protocol
    }

    /// Commands that it holds at once.
    pub fn depth(&self) -> u32 {
        self.model.queue.depth
    }

    #[inline(always)]
    pub fn on_event(&mut self, context: &mut Context, event: DriveEvent) {
        match event {
            DriveEvent::MediaEnd(slot) => self.on_media_end(context, slot),
            DriveEvent::Complete(slot) => self.on_complete(context, slot),
            DriveEvent::Choose => self.on_choose(context),
            DriveEvent::Destaged => self.on_destaged(context),
            DriveEvent::Deadline(slot, serial) => self.on_deadline(context, slot, serial),
        }
    }

    #[inline(never)]
    fn on_choose(&mut self, context: &mut Context) {
        if self.choose_scheduled == Some(context.now) {
            self.choose_scheduled = None;
        }
        self.choose(context);
    }

    /// The command may begin: the firmware takes it up, one after the other.
    #[inline(always)]
    fn take_up(&mut self, context: &mut Context, slot: SlotIndex) {
        let now = context.now;
        let command = &self.in_flight[slot as usize].command;
        let (access, first, end) = (command.access, command.first, command.end());
        let bad = self.faults.as_ref().is_some_and(|faults| faults.is_unreadable(command));
        let may_go = self.tasks.may_go_at_once(command) && !bad;
        let buffered = access == Access::Read && !command.force_unit_access && may_go;
        let (cover, place) = if buffered { self.cover(first, end, now) } else { (Cover::Miss, NONE) };
        let command = &self.in_flight[slot as usize].command;
        let is_cached = self.is_cached(command);
        let DriveModel { firmware, protocol, exchange, .. } = &*self.model;
        let written = (self.before == Access::Write).then_some(self.write_end);
        let overhead = match (access, cover) {
            (Access::Flush, _) => firmware.write_hit,
            (Access::Write, _) if is_cached => firmware.write_hit,
            (Access::Write, _) => firmware.write,
            (Access::Read, Cover::Miss | Cover::Partial(_)) => firmware.read_miss,
            (Access::Read, _) => firmware.read_hit,
        };
        let (overhead, bus) = (overhead.after(self.before), &self.model.disconnect);
        let free = now.max(self.firmware_free) + exchange.bridge;
        let mut steps = Steps { arm: overhead, data: overhead, ..Steps::default() };
        match (access, cover) {
            (Access::Write, _) if is_cached => steps.data = overhead + bus.preparation,
            (Access::Write, _) => steps = bus.write(command, overhead, written),
            (Access::Read, Cover::Miss) => steps.data = overhead + bus.after_command(self.before),
            (Access::Read, Cover::Partial(_)) => {
                steps.data = firmware.read_hit.after(self.before) + bus.preparation;
            }
            (Access::Read, _) => steps.arm = overhead + bus.preparation,
            (Access::Flush, _) => {}
        }
        let (mut ready, mut data) = (free + steps.arm, free + steps.data);
        let needs_media = cover != Cover::Hit && !is_cached && access != Access::Flush;
        let is_released = needs_media && protocol.releases(command);
        if is_released {
            ready += exchange.released();
            data += exchange.released();
        }
        if access == Access::Write {
            self.write_end = end;
        }
        self.before = access;
        (self.firmware_free, self.taken_up_at) = (ready, now);
        let flight = self.flight(slot);
        (flight.arrived, flight.ready, flight.begun, flight.data_from) = (now, ready, ready, data);
        (flight.stage, flight.is_released, flight.sought) = (Stage::Serving, is_released, first);
        flight.last_steps = (steps.release, steps.end);
        flight.breakdown.queue = now - flight.accepted;
        if is_cached {
            return self.write_back(context, slot);
        }
        match cover {
            Cover::Hit if self.holds_hits() => self.hold_hit(slot),
            Cover::Hit => self.serve_from_buffer(context, slot, place),
            Cover::Coming(at) if self.may_be_met(now) => {
                self.meet_head(context, slot, place, at);
            }
            Cover::Partial(sought) => {
                let id = self.flight(slot).command.id;
                self.deliver_held(context, id, first, sought, place);
                self.flight(slot).sought = sought;
                self.enqueue(context, slot);
            }
            _ if self.is_write_back() && self.waits_for_media(slot) => self.choose(context),
            _ if access == Access::Flush => self.flushed(context, slot),
            _ => self.enqueue(context, slot),
        }
    }

    /// The trace of a command that the drive turns to now.
    #[inline]
    fn service(&self, served: Served, now: Instant) -> Service {
        let cylinder = self.arm.cylinder;
        let (from_cylinder, to_cylinder, rank) = (cylinder, cylinder, self.turned_to);
        Service { served, chosen: now, ended: now, from_cylinder, to_cylinder, rank }
    }

    /// The command needs the mechanism: it joins what the mechanism is at, or waits for its turn.
    fn enqueue(&mut self, context: &mut Context, slot: SlotIndex) {
        let flight = self.flight(slot);
        let (first, access) = (flight.sought, flight.command.access);
        let count = flight.command.end() - first;
        let landing = self.model.mechanism.landing(first, count, access, &self.spindle);
        self.flight(slot).landing = landing;
        if !self.joins(context.now, first, access, slot) && !self.starts_at_once(context, slot) {
            self.file(slot, landing);
            self.choose(context);
        }
    }

    /// Puts a command into the queue.
    // The landing as its caller has just reckoned it: to read again what was written a moment ago in parts is slow.
    #[inline(always)]
    fn file(&mut self, slot: SlotIndex, landing: Landing) {
        self.flight(slot).stage = Stage::Waiting;
        let &InFlight { ref command, accepted, arrived, ready, sought, .. } = &self.in_flight[slot as usize];
        if self.tasks.blocks(command) && !self.tasks.stands_still() {
            return self.tasks.blocked.push_back(slot);
        }
        if matches!(command.attribute, Attribute::HeadOfQueue | Attribute::Aca) {
            self.unjoin();
            self.tasks.urgent.push(slot);
            return;
        }
        let priority = command.priority;
        let Landing { cylinder, head, start, longest_wait, .. } = landing;
        let (arrived, ready, lead) = (arrived.as_ns(), ready.as_ns(), self.lead(command).as_ns());
        let (first, write) = (sought, command.access == Access::Write);
        let set_there = Entry::default();
        let entry =
            Entry { arrived, ready, lead, first, cylinder, head, start, longest_wait, write, ..set_there };
        self.slots.insert(slot, entry);
        match priority {
            Priority::Normal => {}
            Priority::High => self.tasks.high.push(slot),
            Priority::Isochronous(within) => self.press(slot, deadlines::deadline(accepted, within)),
        }
    }

    /// Whether nothing may go past the command that has waited longest.
    fn is_overdue(&self, now: Instant) -> bool {
        queue::is_overdue(&self.slots, &self.model.queue, now.as_ns())
    }

    /// A read whose data are all in the buffer: only the link has work.
    fn serve_from_buffer(&mut self, context: &mut Context, slot: SlotIndex, place: Place) {
        let service = self.service(Served::Buffered, context.now);
        self.turned_to += 1;
        let flight = self.flight(slot);
        let Command { id, first, count, .. } = flight.command;
        let (ready, end, is_released) = (flight.ready, first + count, flight.is_released);
        let base = flight.arrived.max(context.now);
        let ready = ready.max(base);
        flight.breakdown.queue += base - flight.arrived;
        flight.breakdown.overhead = ready - base;
        (flight.ready, flight.begun, flight.service) = (ready, ready, Service { ended: ready, ..service });
        self.deliver_held(context, id, first, end, place);
        self.consume(context, place, end);
        self.goes_on_behind(context, place, end);
        self.read_end = end;
        // Who waited for the media has let go of the bus.
        let call = if is_released { self.model.exchange.serviced() } else { Span::ZERO };
        let transfer = Transfer { access: Access::Read, count, from: ready, last: ready, call };
        let sent = context.wires.carry(self.index, &transfer).ended;
        self.finish(context, slot, ready, sent);
        self.unfile(context, slot);
    }

    /// Mechanism and firmware are done at `done`, the link at `sent`: returns when the completion follows.
    fn finish(&mut self, context: &mut Context, slot: SlotIndex, done: Instant, sent: Instant) -> Instant {
        self.link_free = self.link_free.max(sent);
        let (read, write) = (self.model.firmware.read_completion, self.model.firmware.write_completion);
        let bridge = self.model.exchange.bridge;
        let flight = self.flight(slot);
        let completion = if flight.command.access == Access::Read { read } else { write };
        let completion = completion + bridge;
        flight.breakdown.link += sent - done;
        flight.breakdown.overhead += completion;
        let completed = sent + completion;
        self.schedule(context, completed, DriveEvent::Complete(slot));
        completed
    }

    /// The host hears how a command ended, and the slot is free.
    fn end(&mut self, context: &mut Context, slot: SlotIndex) {
        let now = context.now;
        let &mut InFlight { ref command, stage, outcome, submitted, mut breakdown, .. } = self.flight(slot);
        let Command { id, initiator, tag, .. } = *command;
        if outcome != Outcome::Done {
            // A command that was given up has been somewhere all the time; what is not accounted for is the queue.
            breakdown.queue += now - (submitted + breakdown.total());
        }
        debug_assert_eq!(breakdown.total(), now - submitted);
        if context.traces.is_some() {
            self.tell_life(context, slot);
        }
        let index = self.index;
        context
            .answer(index, Completion { id, initiator, tag, outcome, submitted, completed: now, breakdown });
        self.flight(slot).stage = Stage::Free;
        if outcome == Outcome::MediaError {
            let command = self.flight(slot).command;
            self.failed(context, &command);
        }
        self.leave(context, slot, stage);
    }

    /// How long the arm must wait for a write's data.
    #[inline]
    fn lead(&self, command: &Command) -> Span {
        match (command.access, self.model.link.write_data) {
            (Access::Write, WriteData::BeforePositioning) => {
                let called = self.model.protocol.releases(command);
                let service = if called { self.model.exchange.serviced() } else { Span::ZERO };
                service + self.model.link.time_for(command.count)
            }
            _ => Span::ZERO,
        }
    }

    #[inline]
    fn flight(&mut self, slot: SlotIndex) -> &mut InFlight {
        &mut self.in_flight[slot as usize]
    }

    #[inline]
    fn schedule(&self, context: &mut Context, due: Instant, event: DriveEvent) {
        context.agenda.schedule(due, event.class(), Event::Drive(self.index, event));
    }
}
