//! What a host hears and says: completions come in; commands, and I/Os that begin and finish, go out.
use crate::command::{Access, Breakdown, Command, Completion, Outcome};
use drivelab_units::{Instant, Sectors};

pub enum HostInput {
    /// Nothing but the time.
    Tick,
    Completed(Completion),
}

/// A finished I/O, as the application saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Io {
    pub job: u32,
    pub access: Access,
    pub count: Sectors,
    pub outcome: Outcome,
    /// When it was meant to begin; in an open loop maybe before it could.
    pub intended: Instant,
    pub finished: Instant,
    /// Where the time from `intended` to `finished` went: the way of the command that was done last.
    pub breakdown: Breakdown,
}

// The tag as a word of its own in front: no copy then mixes it with the fields.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum HostOutput {
    /// Send this command at this instant; with it a new I/O enters the system, or not.
    Submit { at: Instant, begins: bool, command: Command },
    /// An I/O entered the system at this instant, but its commands must wait.
    Began(Instant),
    /// An I/O is finished.
    Finished(Io),
}

impl HostOutput {
    /// The command that is to be sent, if it is one.
    pub fn command(&self) -> Option<&Command> {
        if let HostOutput::Submit { command, .. } = self { Some(command) } else { None }
    }
}
