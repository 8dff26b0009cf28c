//! Events of a request in the Linux block layer, as recorded by blktrace, binary or printed by blkparse, and by ftrace.
use crate::record::Kind;

/// The actions that matter here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Q: the request is queued.
    Queue,
    /// D: the request is issued to the driver.
    Issue,
    /// The request of the driver is inserted into the scheduler's queue.
    Insert,
    /// The request of the driver is issued; requests may have been merged into it since it was inserted.
    Start,
    /// C: the request is complete.
    Complete,
}

/// One event of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    pub time_ns: u64,
    pub device: u32,
    pub action: Action,
    pub kind: Kind,
    pub offset: u64,
    pub length: u64,
    pub process: u32,
    pub synchronous: bool,
    pub force_unit_access: bool,
}
