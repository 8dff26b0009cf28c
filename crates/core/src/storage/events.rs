//! What a target schedules on its agenda: an event for each kind of box.
use super::drive::DriveEvent;

/// Everything that a target's agenda can hold; boxes of one kind are distinguished by their index.
// The discriminant as a separate word in front: no copy then mixes it with the fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Event {
    Drive(u16, DriveEvent),
    Controller(u16, ControllerEvent),
    /// An I/O scheduler is due to be polled again.
    Elevator(Before),
    Array(ArrayEvent),
    /// A drive fails for good.
    Fails {
        drive: u16,
    },
    /// A host's cache is due.
    HostCache {
        initiator: u16,
    },
    /// The controller's cache is due.
    ControllerCache,
    Server(ServerEvent),
}

/// What an I/O scheduler is in front of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Before {
    /// All commands of this initiator.
    Target { initiator: u16 },
    /// One drive of an array that the host keeps.
    Drive(u16),
}

/// What a controller schedules for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControllerEvent {
    /// A command reaches the drive.
    Deliver {
        /// Initiator of the command.
        initiator: u16,
        /// Its tag.
        tag: u32,
    },
    /// The host has processed a completion.
    Taken {
        /// Initiator of the command.
        initiator: u16,
        /// Its tag.
        tag: u32,
    },
    /// The queue may continue.
    GoOn {
        /// Initiator whose queue continues.
        initiator: u16,
    },
    /// The host's error handler has finished.
    Recovered {
        /// Initiator whose queue had stopped.
        initiator: u16,
    },
    /// The command with this tag has been at the drive longer than the timeout.
    TimeOut {
        /// Initiator of the command.
        initiator: u16,
        /// Its tag.
        tag: u32,
        /// Distinguishes it from earlier commands with the tag.
        serial: u32,
    },
}

/// What the array schedules for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayEvent {
    /// The parity of the stripe request in this place is computed.
    Computed {
        /// Place of the stripe request.
        stripe_request: u32,
        /// Distinguishes it from earlier users of the place.
        serial: u32,
    },
    /// The background work is due.
    Background,
    /// A new drive takes this slot.
    Replace {
        /// The slot.
        slot: u16,
    },
    /// This region may have been without writes for long enough to clear its bit.
    Unmark {
        /// Number of the region in the bitmap.
        region: u32,
    },
    /// Scheduled work begins.
    Begin {
        /// Index among [`ArrayParams::scheduled`](params::ArrayParams).
        scheduled: u16,
    },
}

/// The command at the head of a station is done there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerEvent {
    pub(crate) station: u16,
}
