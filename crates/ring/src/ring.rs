//! The ring: takes requests of slots, returns their completions.
use crate::memory::Memory;
use crate::{Done, Kind, Request, SLOTS_MAX};
use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Writes return only when the data are on the medium (linux/fs.h).
const RWF_DSYNC: i32 = 2;
/// The index of the registered file.
const FILE: Fixed = Fixed(0);
/// `errno` of a wait that timed out, and of one that a signal ended (asm-generic/errno.h).
const ETIME: i32 = 62;
const EINTR: i32 = 4;
/// `errno` of a kernel that has no memory for a request at the moment, or requires completions to be reaped
/// first.
const EAGAIN: i32 = 11;
const EBUSY: i32 = 16;

pub struct Ring {
    ring: ManuallyDrop<IoUring>,
    memory: ManuallyDrop<Memory>,
    /// Whether the kernel owns the slot's buffer.
    is_busy: Vec<bool>,
    in_flight: u32,
    has_registered_buffers: bool,
    // The registered file: open as long as the ring exists.
    _file: File,
}

impl Ring {
    /// A ring with this many slots for the file, each with a buffer of this many bytes.
    ///
    /// It is to be made and used by one thread: the kernel then does its part of a completion when that
    /// thread asks for it.
    ///
    /// # Errors
    /// With no slot or more than [`SLOTS_MAX`], where io_uring is refused (containers,
    /// kernel.io_uring_disabled), or where that much memory is not available.
    pub fn new(file: File, slots: u32, slot_bytes: u32) -> io::Result<Self> {
        if slots == 0 || slots > SLOTS_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let memory = Memory::new(slots, slot_bytes)?;
        // At most one request per slot is in flight, and the completion queue is twice as long: it never
        // overflows.
        let entries = slots.next_power_of_two();
        let ring = build(entries)?;
        ring.submitter().register_files(&[file.as_raw_fd()])?;
        let vectors: Vec<libc::iovec> = (0..slots)
            .map(|slot| libc::iovec { iov_base: memory.pointer(slot).cast(), iov_len: memory.slot_bytes() })
            .collect();
        // SAFETY: the buffers live as long as the ring: both are dropped together, or neither is.
        let registered = unsafe { ring.submitter().register_buffers(&vectors) };
        Ok(Ring {
            ring: ManuallyDrop::new(ring),
            memory: ManuallyDrop::new(memory),
            is_busy: vec![false; slots as usize],
            in_flight: 0,
            // Registration is refused where the limit on locked memory is lower: unregistered buffers are
            // then used.
            has_registered_buffers: registered.is_ok(),
            _file: file,
        })
    }

    pub fn has_registered_buffers(&self) -> bool {
        self.has_registered_buffers
    }

    /// Requests that the kernel has, or gets with the next [`Self::submit`].
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// A slot's buffer; `None` while the kernel owns it, or if there is no such slot.
    pub fn buffer_mut(&mut self, slot: u32) -> Option<&mut [u8]> {
        let is_free = self.is_busy.get(slot as usize).is_some_and(|is_busy| !is_busy);
        is_free.then(|| self.memory.bytes_mut(slot))
    }

    /// Queues a request in the ring; it goes to the kernel with the next [`Self::submit`].
    ///
    /// # Errors
    /// If the slot is in use or does not exist, its buffer is too small, or the ring is full.
    #[inline]
    pub fn push(&mut self, request: &Request) -> io::Result<()> {
        let Request { slot, kind, offset, bytes } = *request;
        let is_free = self.is_busy.get(slot as usize).is_some_and(|is_busy| !is_busy);
        if !is_free || bytes as usize > self.memory.slot_bytes() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (buffer, index) = (self.memory.pointer(slot), slot as u16);
        let entry = match kind {
            Kind::Read if self.has_registered_buffers => {
                opcode::ReadFixed::new(FILE, buffer, bytes, index).offset(offset).build()
            }
            Kind::Read => opcode::Read::new(FILE, buffer, bytes).offset(offset).build(),
            Kind::Write { durable } => {
                let flags = if durable { RWF_DSYNC } else { 0 };
                if self.has_registered_buffers {
                    opcode::WriteFixed::new(FILE, buffer, bytes, index).offset(offset).rw_flags(flags).build()
                } else {
                    opcode::Write::new(FILE, buffer, bytes).offset(offset).rw_flags(flags).build()
                }
            }
            Kind::Flush => opcode::Fsync::new(FILE).flags(FsyncFlags::DATASYNC).build(),
        };
        self.enqueue(&entry.user_data(u64::from(slot)))?;
        self.is_busy[slot as usize] = true;
        self.in_flight += 1;
        Ok(())
    }

    #[inline]
    fn enqueue(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: its buffer is a slot of `memory`, at least as long as the request and marked busy until it completes;
        // the memory is not freed before.
        let pushed = unsafe { self.ring.submission().push(entry) };
        pushed.map_err(|_| io::ErrorKind::WouldBlock.into())
    }

    /// Submits pushed requests to the kernel; those for which it has no room at the moment go with the next
    /// [`Self::wait`].
    ///
    /// # Errors
    /// Any other error of io_uring_enter.
    #[inline]
    pub fn submit(&mut self) -> io::Result<()> {
        while !self.ring.submission().is_empty() {
            match self.ring.submit() {
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(EINTR) => {}
                Err(error) if matches!(error.raw_os_error(), Some(EAGAIN | EBUSY)) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Submits the remaining pushed requests, and waits until a request has completed, for at most this long.
    ///
    /// # Errors
    /// Any error of io_uring_enter except a timeout, a signal and a kernel that is short of memory.
    #[inline]
    pub fn wait(&mut self, most: Duration) -> io::Result<()> {
        let time = Timespec::from(most);
        let arguments = SubmitArgs::new().timespec(&time);
        match self.ring.submitter().submit_with_args(1, &arguments) {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.raw_os_error(), Some(ETIME | EINTR | EAGAIN | EBUSY)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Appends completions to `done`, without waiting.
    #[inline]
    pub fn reap(&mut self, done: &mut Vec<Done>) {
        for entry in self.ring.completion() {
            let slot = entry.user_data() as u32;
            self.is_busy[slot as usize] = false;
            self.in_flight -= 1;
            done.push(Done { slot, result: entry.result() });
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // The kernel may still write to the buffers: they are kept, and so is the ring with which they
            // are registered.
            return;
        }
        // SAFETY: nothing is in flight, and neither is used after this.
        unsafe { ManuallyDrop::drop(&mut self.ring) };
        // SAFETY: the ring with which the buffers were registered is gone.
        unsafe { ManuallyDrop::drop(&mut self.memory) };
    }
}

/// A ring with the newest setup flags that this kernel supports.
fn build(entries: u32) -> io::Result<IoUring> {
    let best = IoUring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .setup_cqsize(entries * 2)
        .build(entries);
    best.or_else(|_| IoUring::builder().setup_cqsize(entries * 2).build(entries))
}
