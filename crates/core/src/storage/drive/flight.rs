//! A command in the drive: what it is, where it is, and what it has lived through so far.
use super::mechanism::Landing;
use super::protocol::names::Name;
use crate::command::{Breakdown, Command, Outcome};
use crate::trace::{CommandTrace, Served};
use drivelab_units::{Instant, Lba, Span};

/// Where a command is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// Something must end before it may begin.
    Dormant,
    /// It waits for the mechanism.
    Waiting,
    /// The mechanism or the link is at it, or will be without another choice.
    Serving,
    /// It is over, and what the slot holds is left over.
    Free,
}

/// A command that holds a tag, with what it has lived through so far.
#[derive(Clone, Copy)]
pub(super) struct InFlight {
    pub command: Command,
    pub stage: Stage,
    pub outcome: Outcome,
    /// The drive's so many-th command.
    pub serial: u32,
    /// Whether the table of overlaps knows it.
    pub is_filed: bool,
    /// Whether the drive has let go of the bus and must call the host before data can flow.
    pub is_released: bool,
    pub submitted: Instant,
    /// When the drive took it.
    pub accepted: Instant,
    /// When nothing that must end before it was left.
    pub arrived: Instant,
    /// When the firmware has taken it up.
    pub ready: Instant,
    /// When its first sector comes under the head.
    pub begun: Instant,
    /// When the first of its data can leave for the host.
    pub data_from: Instant,
    /// When the last of a write's data have come.
    pub data_until: Instant,
    /// What a write still takes behind its data, and behind its media access: to let go of the bus, to take it up again.
    pub last_steps: (Span, Span),
    /// The first block that the media must give or take; what lies before is in the buffer.
    pub sought: Lba,
    pub landing: Landing,
    /// Nanoseconds of its track that passed before its first sector.
    pub passed: u64,
    /// What is left of its last track when it ends.
    pub track_left: Span,
    pub service: Service,
    pub breakdown: Breakdown,
}

impl InFlight {
    /// The place of a command; [`Self::begin`] and what follows fill it.
    pub fn new(command: &Command) -> Self {
        InFlight {
            command: *command,
            stage: Stage::Free,
            outcome: Outcome::Done,
            serial: 0,
            is_filed: false,
            is_released: false,
            submitted: Instant::ZERO,
            accepted: Instant::ZERO,
            arrived: Instant::ZERO,
            ready: Instant::ZERO,
            begun: Instant::ZERO,
            data_from: Instant::ZERO,
            data_until: Instant::ZERO,
            last_steps: (Span::ZERO, Span::ZERO),
            sought: Lba::ZERO,
            landing: Landing::default(),
            passed: 0,
            track_left: Span::ZERO,
            service: Service::untold(Instant::ZERO),
            breakdown: Breakdown::default(),
        }
    }

    /// A command arrives now. Field by field, and only those that are read before they are set on its way.
    #[inline]
    pub fn begin(&mut self, command: &Command, name: Name, serial: u32, submitted: Instant, now: Instant) {
        self.command = *command;
        let Name { initiator, tag, attempt } = name;
        (self.command.initiator, self.command.tag, self.command.attempt) = (initiator, tag, attempt);
        (self.stage, self.outcome, self.serial) = (Stage::Dormant, Outcome::Done, serial);
        (self.is_filed, self.is_released) = (false, false);
        (self.submitted, self.accepted, self.begun) = (submitted, now, now);
        self.service.served = Served::Not;
        self.breakdown = Breakdown { wait: now - submitted, ..Breakdown::default() };
    }

    /// The command's trace, when it has ended.
    pub fn trace(&self, outcome: Outcome, completed: Instant) -> CommandTrace {
        let InFlight { command, submitted, accepted, begun, landing, service, .. } = *self;
        let service = if service.served == Served::Not { Service::untold(accepted) } else { service };
        let Service { served, chosen, ended, from_cylinder, to_cylinder, rank } = service;
        // A command that the mechanism never went to has no place of its own.
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

/// What a command's trace tells beyond its breakdown.
#[derive(Clone, Copy)]
pub(super) struct Service {
    pub served: Served,
    pub chosen: Instant,
    pub ended: Instant,
    pub from_cylinder: u32,
    pub to_cylinder: u32,
    pub rank: u64,
}

impl Service {
    /// Of a command that was never turned to.
    fn untold(accepted: Instant) -> Self {
        let (chosen, ended) = (accepted, accepted);
        Service { served: Served::Not, chosen, ended, from_cylinder: 0, to_cylinder: 0, rank: 0 }
    }
}
