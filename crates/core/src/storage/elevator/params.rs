//! The documented properties of the host's I/O scheduler. Defaults are those of the Linux documentation that each
//! policy's file names.
use drivelab_units::{Sectors, Span};

/// The order in which the host dispatches requests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElevatorOrder {
    /// In order of arrival, merged where they are adjacent.
    Noop,
    /// By address, in batches, with a time limit for each request: Linux's `deadline`.
    Deadline,
    /// By address in one direction, then from the lowest again.
    CLook,
    /// Time slices for each process, by address within: as Linux's `cfq`.
    Fair,
}

impl ElevatorOrder {
    /// All orders.
    pub const ALL: [ElevatorOrder; 4] =
        [ElevatorOrder::Noop, ElevatorOrder::Deadline, ElevatorOrder::CLook, ElevatorOrder::Fair];
}

/// A host's I/O scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElevatorParams {
    /// The order in which requests go to the device.
    pub order: ElevatorOrder,
    /// Requests at the device at once.
    pub depth: u32,
    /// The largest request made by merging; nothing is merged when `None`.
    pub merge_limit: Option<Sectors>,
    /// Used by [`ElevatorOrder::Deadline`] alone.
    pub deadline: DeadlineParams,
    /// Used by [`ElevatorOrder::Fair`] alone.
    pub fair: FairParams,
}

/// The times and counts of [`ElevatorOrder::Deadline`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeadlineParams {
    /// How long a read may wait before a batch of reads begins with it.
    pub read_expire: Span,
    /// The same of a write.
    pub write_expire: Span,
    /// Maximum number of requests in one batch.
    pub fifo_batch: u32,
    /// How many batches of reads may go before waiting writes.
    pub writes_starved: u32,
}

impl DeadlineParams {
    /// The defaults of Linux.
    pub const DEFAULT: DeadlineParams = DeadlineParams {
        read_expire: Span::from_ms(500),
        write_expire: Span::from_s(5),
        fifo_batch: 16,
        writes_starved: 2,
    };
}

/// The slices of [`ElevatorOrder::Fair`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FairParams {
    /// The time slice of a process.
    pub slice_sync: Span,
    /// The time slice of the asynchronous writes of all processes.
    pub slice_async: Span,
    /// How long the device is idled for a process that is likely to issue again. With zero, turns are counted
    /// in requests instead of time.
    pub slice_idle: Span,
    /// Maximum number of requests of one process at the device while others wait; with counted turns,
    /// requests in a turn.
    pub quantum: u32,
}

impl FairParams {
    /// The defaults of Linux.
    pub const DEFAULT: FairParams = FairParams {
        slice_sync: Span::from_ms(100),
        slice_async: Span::from_ms(40),
        slice_idle: Span::from_ms(8),
        quantum: 8,
    };
}
