//! Transports between clients and the engine: a [`Transport`] receives requests and sends replies.
//!
//! NBD and FUSE are transports. A transport has file descriptors to wait on, reads input when one of them is ready,
//! and never blocks.
use drivelab_data::{Bytes, cell};
use drivelab_units::Instant;
use rustix::event::{PollFd, PollFlags};
use std::collections::BTreeMap;
use std::time::Instant as Moment;

/// A request to the device: within its bounds, and in whole blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeviceRequest {
    Read {
        offset: u64,
        length: u32,
    },
    Write {
        offset: u64,
        data: Vec<u8>,
        fua: bool,
    },
    Flush,
    Trim {
        offset: u64,
        length: u32,
        fua: bool,
    },
    Zero {
        offset: u64,
        length: u32,
        fua: bool,
    },
    /// A read whose data are not sent.
    Cache {
        offset: u64,
        length: u32,
    },
    /// The allocation of a range; one extent is enough if `one` is set.
    Status {
        offset: u64,
        length: u32,
        one: bool,
    },
}

/// The identity of a request: the number of the client, unique in the session, and the client's own id of the
/// request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestId {
    pub client: u64,
    pub cookie: u64,
}

/// The data of a read.
#[derive(Clone, PartialEq, Debug)]
pub enum ReadData {
    Sectors(Vec<Bytes>),
    Plain(Vec<u8>),
}

impl ReadData {
    /// The length in bytes.
    pub fn len(&self) -> usize {
        match self {
            ReadData::Sectors(cells) => cells.len() * cell::SECTOR,
            ReadData::Plain(bytes) => bytes.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the bytes to `out`.
    pub fn put(&self, out: &mut Vec<u8>) {
        match self {
            ReadData::Sectors(cells) => cells.iter().for_each(|cell| out.extend_from_slice(cell.as_bytes())),
            ReadData::Plain(bytes) => out.extend_from_slice(bytes),
        }
    }
}

/// The result of a successful request.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    Done,
    /// The data of a read that begins at this offset.
    Data {
        offset: u64,
        found: ReadData,
    },
    /// Lengths in bytes, and whether the range is a hole.
    Extents(Vec<(u32, bool)>),
}

/// Why a request has failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The device reported an error.
    Io(&'static str),
    /// The request is invalid.
    Invalid(&'static str),
}

/// A reply to a request.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    pub request_id: RequestId,
    /// The completion time in the model; `None` if the model was not involved.
    pub due: Option<Instant>,
    pub answer: Result<Answer, Failure>,
}

/// Accepts requests at the moment of their arrival.
pub trait RequestSink {
    fn submit(&mut self, request_id: RequestId, request: DeviceRequest);
}

/// A transport by which clients reach the device.
pub trait Transport: Send {
    /// The address at which clients connect.
    fn uri(&self) -> String;

    /// Appends the descriptors to wait for.
    fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>);

    /// Reads and handles input. `ready` has the events of each descriptor of [`Transport::wait_for`], in the same order.
    fn receive(&mut self, ready: &[PollFlags], sink: &mut dyn RequestSink);

    /// Accepts a reply. Replies to clients that have disconnected are dropped.
    fn answer(&mut self, reply: Reply);

    /// Sends the accepted replies, as far as the sockets accept them without blocking.
    fn flush(&mut self);

    /// Disconnects clients that have stalled. Called often, with the machine's time.
    fn expire(&mut self, _now: Moment) {}

    /// Disconnects all clients; unsent replies are lost.
    fn drop_clients(&mut self);

    /// Refuses new clients, or accepts them again.
    fn shut(&mut self, is_shut: bool);

    /// The counts so far.
    fn counts(&self) -> TransportCounts;
}

/// The counts of a transport.
#[derive(Clone, Default, Debug, serde::Serialize)]
pub struct TransportCounts {
    /// Accepted connections.
    pub connections: u64,
    /// Connections that ended because the client violated the protocol, or has stalled.
    pub malformed: u64,
    /// Clients that disconnected when TLS was required.
    pub left_without_tls: u64,
    /// The reasons for which they ended, with their counts; only the first of many different reasons.
    pub ended: BTreeMap<String, u64>,
}
