//! io_uring over one file, with buffers of its own: the one room where `unsafe` is allowed.
//!
//! Lives here: the ring, the registered file, the registered buffers, and who owns a buffer when. What never does: what
//! is asked of the file, a clock, a record. Start reading at [`Ring`].
//!
//! # Soundness
//! A buffer belongs to the kernel from [`Ring::push`] until its completion is handed out by [`Ring::reap`]. `is_busy` of
//! its slot says so: in that time no reference to it can be had, no second request can take it, and memory that the kernel
//! still owns when the ring is dropped is never freed.
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod ring;

#[cfg(target_os = "linux")]
pub use ring::{Ring, SLOTS_MAX};

/// What is asked of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Read,
    /// `durable`: on the medium before it is answered (RWF_DSYNC).
    Write {
        durable: bool,
    },
    /// All that was answered goes to the medium (fdatasync).
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

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    pub slot: u32,
    /// Bytes that were moved, or the negative of an errno.
    pub result: i32,
}
