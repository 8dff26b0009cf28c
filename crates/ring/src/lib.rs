//! io_uring over one file, with buffers of its own: the one room where `unsafe` is allowed.
//!
//! Lives here: the ring, the registered file, the registered buffers, and the ownership of buffers. What
//! never does: the choice of requests, a clock, a record. Start reading at [`Ring`].
//!
//! # Soundness
//! A buffer belongs to the kernel from [`Ring::push`] until its completion is returned by [`Ring::reap`].
//! `is_busy` of its slot says so: in that time no reference to it can be obtained, no second request can take
//! it, and memory that the kernel still owns when the ring is dropped is never freed.
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod ring;

#[cfg(target_os = "linux")]
pub use ring::Ring;

/// Maximum number of requests in flight: fewer than a buffer's index can count, and as many as anybody needs.
pub const SLOTS_MAX: u32 = 1 << 12;

/// The operation on the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Read,
    /// `durable`: on the medium before it is answered (RWF_DSYNC).
    Write {
        durable: bool,
    },
    /// Writes everything that was answered to the medium (fdatasync).
    Flush,
}

/// One request of a slot; a FLUSH has no offset and no bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    pub slot: u32,
    pub kind: Kind,
    /// In bytes from the start of the file.
    pub offset: u64,
    pub bytes: u32,
}

/// The result of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    pub slot: u32,
    /// Bytes transferred, or a negative errno.
    pub result: i32,
}
