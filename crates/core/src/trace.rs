//! The path of a command through the drive, timestamp by timestamp. Recorded only on request.
use crate::command::{Breakdown, Command, Completion, Outcome};
use drivelab_units::Instant;

/// How a command was served.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Served {
    /// Not at all: it was refused or given up.
    Not,
    /// The queue chose it and the arm went there.
    Chosen,
    /// It continued where the one before it ended, in the same sweep.
    Joined,
    /// The head was reading towards it.
    Met,
    /// From the buffer, without the mechanism.
    Buffered,
    /// By memory above the drive, which never received it.
    Memory,
}

impl Served {
    /// Whether the drive served it.
    pub fn by_drive(self) -> bool {
        !matches!(self, Served::Not | Served::Memory)
    }
}

/// Data of a member's command in addition to its trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfMember {
    /// The number of the drive that served it.
    pub drive: u16,
    /// The host's command on whose behalf the array issued it, if that was not answered before; `None` for
    /// the array's own work.
    pub part_of: Option<u64>,
    /// Where the time of the member's command went.
    pub breakdown: Breakdown,
}

/// The timestamps of one command, in chronological order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandTrace {
    /// The command as the host issued it.
    pub command: Command,
    /// How it ended.
    pub outcome: Outcome,
    /// What served it: media, buffer or cache.
    pub served: Served,
    /// The command whose media access also served this one, when the host merged them; its own id otherwise.
    pub carried_by: u64,
    /// When the host submitted it.
    pub submitted: Instant,
    /// When the drive accepted it into its queue.
    pub accepted: Instant,
    /// When the mechanism started to serve it.
    pub chosen: Instant,
    /// When its first sector reached the head.
    pub begun: Instant,
    /// When its last sector had passed the head.
    pub ended: Instant,
    /// When the completion reached the host.
    pub completed: Instant,
    /// The cylinder of the arm when it was chosen.
    pub from_cylinder: u32,
    /// The cylinder of its first sector.
    pub cylinder: u32,
    /// The cylinder of its last sector.
    pub to_cylinder: u32,
    /// How many commands the drive had chosen before it.
    pub rank: u64,
    /// Set for a member's command, which no host has issued.
    pub member: Option<OfMember>,
}

impl CommandTrace {
    /// The trace of a command that memory above the drive has answered.
    pub fn in_memory(command: &Command, completion: &Completion) -> Self {
        let Completion { outcome, submitted, completed, .. } = *completion;
        CommandTrace {
            command: *command,
            outcome,
            served: Served::Memory,
            carried_by: command.id,
            submitted,
            accepted: submitted,
            chosen: submitted,
            begun: submitted,
            ended: completed,
            completed,
            from_cylinder: 0,
            cylinder: 0,
            to_cylinder: 0,
            rank: 0,
            member: None,
        }
    }
}
