//! Inputs and outputs of a host: completions come in; commands, and I/Os that begin and finish, go out.
use crate::command::{Access, Breakdown, Command, Completion, Outcome};
use drivelab_units::{Instant, Sectors};

/// An input of a host.
pub enum HostInput {
    /// Only the time.
    Tick,
    /// A target has answered a command of this host, identified by its tag.
    Completed(Completion),
}

/// A finished I/O, as the application saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Io {
    /// Index of the job in the workload; [`FED`](super::feed::FED) for an I/O that was fed.
    pub job: u32,
    /// Read, write or flush.
    pub access: Access,
    /// Index of its priority among those of its job: zero is that of the job's marking, then those by share.
    pub priority: u8,
    /// Sectors of the whole I/O; zero for a flush.
    pub count: Sectors,
    /// How it ended: the last outcome other than [`Outcome::Done`] among its commands, if there is one.
    pub outcome: Outcome,
    /// When it was meant to begin; in an open loop possibly before it could.
    pub intended: Instant,
    /// When its last command had completed.
    pub finished: Instant,
    /// Where the time from `intended` to `finished` went: the breakdown of the command that ended last.
    pub breakdown: Breakdown,
}

// The discriminant as a separate word in front: no copy then mixes it with the fields.
/// An output of a host.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum HostOutput {
    /// Send this command at this instant; a new I/O may enter the system with it.
    Submit {
        /// When the command is sent; never before the input that caused it.
        at: Instant,
        /// Whether an I/O enters the system with it: not with an I/O's later commands, nor after
        /// [`HostOutput::Began`], nor with a FLUSH.
        begins: bool,
        /// The command, with the tag by which the host identifies its completion.
        command: Command,
    },
    /// An I/O entered the system at this instant, but its commands must wait.
    Began(Instant),
    /// An I/O is finished.
    Finished(Io),
}

impl HostOutput {
    /// The command to be sent, if this is one.
    pub fn command(&self) -> Option<&Command> {
        if let HostOutput::Submit { command, .. } = self { Some(command) } else { None }
    }
}
