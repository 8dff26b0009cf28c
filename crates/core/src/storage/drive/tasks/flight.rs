//! A command in the drive: what it is, where it is, and its timing so far.
use super::super::mechanics::Course;
use super::super::mechanism::Landing;
use super::super::protocol::names::Name;
use super::super::queue::SlotIndex;
use crate::command::{Breakdown, Command, Outcome};
use crate::trace::{CommandTrace, Served};
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use drivelab_units::{Instant, Lba, Span};

/// The state of a command, for task set and drive (SAM-2 7.5 names the first and the last of them).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskState {
    /// Something must end before it may begin.
    Dormant,
    /// It waits for the mechanism.
    Waiting,
    /// The mechanism or the link is serving it, or will be without another choice.
    Serving,
    /// It has ended; the slot's contents are stale.
    Free,
}

/// The link's part in a command.
#[derive(Clone, Copy, Default)]
pub struct OnLink {
    /// The reselection before data can be transferred: zero unless the drive has disconnected.
    pub call: Span,
    /// When the first of its data can be sent to the host.
    pub data_from: Instant,
    /// When the last of a write's data have arrived.
    pub data_until: Instant,
    /// Remaining steps of a write after its data, and after its media access: disconnection, and reselection.
    pub last_steps: (Span, Span),
}

/// The media's part in a command.
#[derive(Clone, Copy, Default)]
pub struct AtMedia {
    /// The first sector that must be read from or written to the media; the sectors before it are in the
    /// buffer.
    pub sought: Lba,
    /// Where its access begins on the media, and where what lies contiguously from there on ends.
    pub at: Lba,
    pub until: Lba,
    /// Nanoseconds of its track that passed before its first sector.
    pub passed: u64,
    /// The time that its last track still has left when it ends.
    pub track_left: Span,
}

/// A command that holds a tag, with its timing so far.
#[derive(Clone, Copy)]
pub struct InFlight {
    pub command: Command,
    pub state: TaskState,
    pub outcome: Outcome,
    /// The id that its host gave it, which keys the draws of faults and scatter; set only where there are
    /// any.
    pub drawn_as: u64,
    /// The number of commands that the drive had accepted, including this one.
    pub serial: u32,
    pub submitted: Instant,
    /// When the drive accepted it.
    pub accepted: Instant,
    /// When nothing was left that must end before it.
    pub arrived: Instant,
    /// When the firmware has finished its pickup.
    pub ready: Instant,
    /// When its first sector reaches the head.
    pub begun: Instant,
    pub link: OnLink,
    pub landing: Landing,
    pub media: AtMedia,
    pub service: Service,
    pub breakdown: Breakdown,
}

impl InFlight {
    /// The slot of a command; [`Self::begin`] and later calls fill it.
    pub fn new(command: &Command) -> Self {
        InFlight {
            command: *command,
            state: TaskState::Free,
            outcome: Outcome::Done,
            drawn_as: 0,
            serial: 0,
            submitted: Instant::ZERO,
            accepted: Instant::ZERO,
            arrived: Instant::ZERO,
            ready: Instant::ZERO,
            begun: Instant::ZERO,
            link: OnLink::default(),
            landing: Landing::default(),
            media: AtMedia::default(),
            service: Service::unserved(Instant::ZERO),
            breakdown: Breakdown::default(),
        }
    }

    /// A command arrives now. Sets field by field only those that are read before they are set later.
    #[inline]
    pub fn begin(&mut self, command: &Command, name: Name, serial: u32, submitted: Instant, now: Instant) {
        self.command = *command;
        let Name { initiator, tag, attempt } = name;
        (self.command.initiator, self.command.tag, self.command.attempt) = (initiator, tag, attempt);
        (self.state, self.outcome, self.serial) = (TaskState::Dormant, Outcome::Done, serial);
        self.link.call = Span::ZERO;
        (self.submitted, self.accepted, self.begun) = (submitted, now, now);
        self.service.served = Served::Not;
        self.breakdown = Breakdown { wait: now - submitted, ..Breakdown::default() };
    }

    /// The arm starts for the command as given by `course`.
    #[inline(always)]
    pub fn start(&mut self, course: &Course, service: Service) {
        let passage = &course.passage;
        self.state = TaskState::Serving;
        if course.fails {
            self.outcome = Outcome::MediaError;
        }
        self.breakdown.seek = passage.seek;
        self.breakdown.rotation = passage.rotation;
        self.breakdown.transfer = passage.transfer;
        self.media.track_left = passage.track_left;
        self.service = Service { ended: passage.end, to_cylinder: passage.arm.cylinder, ..service };
    }

    /// The command's trace, when it has ended.
    pub fn trace(&self, outcome: Outcome, completed: Instant) -> CommandTrace {
        let InFlight { command, submitted, accepted, begun, landing, service, .. } = *self;
        let service = if service.served == Served::Not { Service::unserved(accepted) } else { service };
        let Service { served, chosen, ended, from_cylinder, to_cylinder, rank } = service;
        // A command without a media access has no position of its own.
        let cylinder = if served == Served::Chosen || served == Served::Joined {
            landing.cylinder
        } else {
            from_cylinder
        };
        let carried_by = command.id;
        CommandTrace {
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
            member: None,
        }
    }
}

/// All commands that the drive holds, by slot, and the slots that are free.
pub struct Flights {
    /// The contents of a free slot are stale.
    by_slot: Vec<InFlight>,
    free: Vec<SlotIndex>,
    taken: u32,
}

impl Flights {
    pub fn new(depth: u32) -> Self {
        let by_slot = Vec::with_capacity(depth as usize);
        Flights { by_slot, free: (0..depth).rev().collect(), taken: 0 }
    }

    /// A command arrives now and takes a slot; `None` when all are taken.
    #[inline]
    pub fn begin(
        &mut self,
        command: &Command,
        name: Name,
        submitted: Instant,
        now: Instant,
    ) -> Option<SlotIndex> {
        let slot = self.free.pop()?;
        self.taken = self.taken.wrapping_add(1);
        if self.by_slot.len() <= slot as usize {
            // Slots are first used in the order of their numbers.
            self.by_slot.push(InFlight::new(command));
        }
        self.by_slot[slot as usize].begin(command, name, self.taken, submitted, now);
        Some(slot)
    }

    /// The slot is free again.
    #[inline]
    pub fn end(&mut self, slot: SlotIndex) {
        self.free.push(slot);
    }

    /// All slots that have ever been used.
    pub fn slots(&self) -> core::ops::Range<SlotIndex> {
        0..self.by_slot.len() as SlotIndex
    }

    /// The command in this slot, if there is one.
    pub fn held(&self, slot: SlotIndex) -> Option<&InFlight> {
        self.by_slot.get(slot as usize).filter(|flight| flight.state != TaskState::Free)
    }
}

impl Index<SlotIndex> for Flights {
    type Output = InFlight;

    #[inline]
    fn index(&self, slot: SlotIndex) -> &InFlight {
        &self.by_slot[slot as usize]
    }
}

impl IndexMut<SlotIndex> for Flights {
    #[inline]
    fn index_mut(&mut self, slot: SlotIndex) -> &mut InFlight {
        &mut self.by_slot[slot as usize]
    }
}

/// What a command's trace records beyond its breakdown.
#[derive(Clone, Copy)]
pub struct Service {
    pub served: Served,
    pub chosen: Instant,
    pub ended: Instant,
    pub from_cylinder: u32,
    pub to_cylinder: u32,
    pub rank: u64,
}

impl Service {
    /// For a command that was never served.
    fn unserved(accepted: Instant) -> Self {
        let (chosen, ended) = (accepted, accepted);
        Service { served: Served::Not, chosen, ended, from_cylinder: 0, to_cylinder: 0, rank: 0 }
    }
}
