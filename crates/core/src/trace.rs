//! What a command lived through in the drive, stamp by stamp. Kept only when asked for.
use crate::command::{Breakdown, Command, Completion, Outcome};
use drivelab_units::Instant;

/// How a command got its data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Served {
    /// Never: it was refused or given up.
    Not,
    /// The queue chose it and the arm went there.
    Chosen,
    /// It went on where the one before it ended, in the same sweep.
    Joined,
    /// The head was reading towards it.
    Met,
    /// From the buffer, without the mechanism.
    Buffered,
    /// By memory before the drive, which never had it.
    Memory,
}

impl Served {
    /// Whether the drive turned to it.
    pub fn by_drive(self) -> bool {
        !matches!(self, Served::Not | Served::Memory)
    }
}

/// What is known of a command of an array's member beyond its trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfMember {
    /// The number of the drive that had it.
    pub drive: u16,
    /// The command that the array had it for, when that was not answered before; none for the array's own work.
    pub part_of: Option<u64>,
    /// Where the time of the member's command went.
    pub breakdown: Breakdown,
}

/// The stamps of one command, in the order in which they happen.
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
    /// When the host handed it over.
    pub submitted: Instant,
    /// When the drive took it into its queue.
    pub accepted: Instant,
    /// When the mechanism turned to it.
    pub chosen: Instant,
    /// When its first sector came under the head.
    pub begun: Instant,
    /// When its last sector had passed.
    pub ended: Instant,
    /// When the host saw the completion.
    pub completed: Instant,
    /// The cylinder of the arm when it was chosen.
    pub from_cylinder: u32,
    /// The cylinder of its first sector.
    pub cylinder: u32,
    /// The cylinder of its last sector.
    pub to_cylinder: u32,
    /// How many commands the drive had chosen before it.
    pub rank: u64,
    /// Of a member's command, which no host has issued.
    pub member: Option<OfMember>,
}

impl CommandTrace {
    /// Of a command that memory before the drive has answered.
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
