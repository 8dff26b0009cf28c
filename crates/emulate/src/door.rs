//! What stands between clients and the engine: a door hears requests and hands answers out.
//!
//! NBD is the first; a file system in user space or a block device of the kernel would be others. A door has descriptors
//! to wait on, reads what has come when one of them is ready, and never waits itself.
use drivelab_data::{Bytes, cell};
use drivelab_units::Instant;
use rustix::event::{PollFd, PollFlags};
use std::collections::BTreeMap;

/// What is asked of the device: on it, and in whole blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
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
    /// Read, and the data are not sent.
    Cache {
        offset: u64,
        length: u32,
    },
    /// What is allocated; one stretch is enough where `one` is set.
    Status {
        offset: u64,
        length: u32,
        one: bool,
    },
}

/// Whose request it is: the client by a number that no other of the session has, and what the client calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    pub client: u64,
    pub cookie: u64,
}

/// What a read has fetched.
#[derive(Clone, PartialEq, Debug)]
pub enum Found {
    Sectors(Vec<Bytes>),
    Plain(Vec<u8>),
}

impl Found {
    /// In bytes.
    pub fn len(&self) -> usize {
        match self {
            Found::Sectors(cells) => cells.len() * cell::SECTOR,
            Found::Plain(bytes) => bytes.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the bytes.
    pub fn put(&self, out: &mut Vec<u8>) {
        match self {
            Found::Sectors(cells) => cells.iter().for_each(|cell| out.extend_from_slice(cell.as_bytes())),
            Found::Plain(bytes) => out.extend_from_slice(bytes),
        }
    }
}

/// What comes of a request that was done.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    Done,
    /// Of a read, from this offset on.
    Data {
        offset: u64,
        found: Found,
    },
    /// Lengths in bytes, and whether nothing is allocated there.
    Extents(Vec<(u32, bool)>),
}

/// Why a request was not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The device could not.
    Io(&'static str),
    /// It was wrong.
    Invalid(&'static str),
}

/// An answer on its way out.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    pub ticket: Ticket,
    /// When the model was done; none where the model had no part in it.
    pub due: Option<Instant>,
    pub answer: Result<Answer, Failure>,
}

/// Takes requests, each at the moment at which it comes.
pub trait Desk {
    fn submit(&mut self, ticket: Ticket, asked: Asked);
}

/// A way for clients to a device.
pub trait Door: Send {
    /// What clients are given to find it.
    fn uri(&self) -> String;

    /// Adds what is to be waited for.
    fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>);

    /// Hears what has come. `ready` tells of each descriptor that was to be waited for, in that order.
    fn receive(&mut self, ready: &[PollFlags], desk: &mut dyn Desk);

    /// Takes an answer. Those to clients that have left are dropped.
    fn answer(&mut self, reply: Reply);

    /// Sends what was answered, as far as clients take it at once.
    fn flush(&mut self);

    /// All clients lose their connection, what was sent to them and not taken included.
    fn drop_clients(&mut self);

    /// No client is let in, or again.
    fn shut(&mut self, is_shut: bool);

    /// What it has seen so far.
    fn counts(&self) -> DoorCounts;
}

/// What a door has seen.
#[derive(Clone, Default, Debug, serde::Serialize)]
pub struct DoorCounts {
    /// Connections that were taken.
    pub connections: u64,
    /// Those that ended because the other end did not keep to the protocol.
    pub malformed: u64,
    /// Clients that have left when they heard that TLS is needed.
    pub left_without_tls: u64,
    /// Why these ended, and how many of them; of many different reasons the first ones.
    pub ended: BTreeMap<String, u64>,
}
