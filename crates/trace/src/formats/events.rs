//! What happens to a request in Linux' block layer, as blktrace records it: in binary or as blkparse prints it.
use crate::record::Kind;

/// What matters here of the many actions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Q: the request is there.
    Queue,
    /// D: it goes to the driver.
    Issue,
    /// C: it is done.
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
