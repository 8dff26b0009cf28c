//! Parses replies, simple and structured, in any order and split at any byte. Nothing is allocated per request, and
//! data of reads are not buffered: they are passed on as they arrive.
use crate::error::NbdError;
use crate::wire::{SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk, u16_at, u32_at, u64_at};

/// Bytes of a simple reply without data, and of the beginning of any other reply.
const SIMPLE: usize = 16;
/// Bytes of a chunk's header.
const CHUNK: usize = 20;

/// An event of a request in flight.
#[derive(PartialEq, Eq, Debug)]
pub enum ReplyEvent<'a> {
    /// Data of a read, which begin at byte `at` of it.
    Data { tag: u64, at: u32, bytes: &'a [u8] },
    /// The end of a request: zero on success, otherwise the error number of Linux.
    Answer { tag: u64, errno: u32 },
}

/// A request in flight.
#[derive(Clone, Copy, Default)]
struct Pending {
    is_busy: bool,
    /// Distinguishes the request from earlier ones in the same slot.
    serial: u32,
    tag: u64,
    offset: u64,
    /// Bytes that a read returns; zero for other requests.
    bytes: u32,
    got: u32,
    errno: u32,
}

/// The chunk or simple reply whose body is being received.
#[derive(Clone, Copy, Default)]
struct Body {
    place: usize,
    left: u32,
    /// The offset in the read of the next byte; `None` if the body is not data.
    at: Option<u32>,
    is_last: bool,
}

/// The requests in flight, and the reply that is being received.
#[derive(Default)]
pub struct Replies {
    pending: Vec<Pending>,
    free: Vec<u32>,
    head: [u8; 32],
    /// Bytes of the header that have arrived.
    have: usize,
    body: Body,
}

impl Replies {
    /// Reserves space for `room` requests; more are accepted, at the cost of an allocation.
    pub fn new(room: usize) -> Self {
        Replies {
            pending: vec![Pending::default(); room],
            free: (0..room as u32).rev().collect(),
            ..Replies::default()
        }
    }

    /// Registers a request with the caller's tag that returns `bytes` bytes. Returns its cookie.
    pub fn begin(&mut self, tag: u64, offset: u64, bytes: u32) -> u64 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.pending.push(Pending::default());
            (self.pending.len() - 1) as u32
        });
        let pending = &mut self.pending[place as usize];
        let serial = pending.serial.wrapping_add(1);
        *pending = Pending { is_busy: true, serial, tag, offset, bytes, got: 0, errno: 0 };
        u64::from(serial) << 32 | u64::from(place)
    }

    /// The number of requests in flight.
    pub fn in_flight(&self) -> usize {
        self.pending.len() - self.free.len()
    }

    /// Reports the tags of all requests in flight, and drops them.
    pub fn give_up(&mut self, mut lost: impl FnMut(u64)) {
        for (place, pending) in self.pending.iter_mut().enumerate() {
            if std::mem::take(&mut pending.is_busy) {
                self.free.push(place as u32);
                lost(pending.tag);
            }
        }
    }

    /// Processes received bytes.
    ///
    /// # Errors
    /// When the server violates the protocol; the connection cannot be used any more.
    pub fn take(
        &mut self,
        mut bytes: &[u8],
        mut on_event: impl FnMut(ReplyEvent<'_>),
    ) -> Result<(), NbdError> {
        while !bytes.is_empty() {
            if self.body.left == 0 {
                bytes = self.head(bytes, &mut on_event)?;
                continue;
            }
            let count = bytes.len().min(self.body.left as usize);
            let (now, later) = bytes.split_at(count);
            if let Some(at) = &mut self.body.at {
                on_event(ReplyEvent::Data { tag: self.pending[self.body.place].tag, at: *at, bytes: now });
                *at += count as u32;
            }
            self.body.left -= count as u32;
            bytes = later;
            if self.body.left == 0 {
                self.end_chunk(&mut on_event)?;
            }
        }
        Ok(())
    }

    /// Consumes bytes of a header, and returns the rest.
    fn head<'a>(
        &mut self,
        bytes: &'a [u8],
        on_event: &mut impl FnMut(ReplyEvent<'_>),
    ) -> Result<&'a [u8], NbdError> {
        let count = bytes.len().min(self.needs()? - self.have);
        let (now, later) = bytes.split_at(count);
        self.head[self.have..self.have + count].copy_from_slice(now);
        self.have += count;
        if self.have == self.needs()? {
            self.body = self.read()?;
            self.have = 0;
            if self.body.left == 0 {
                self.end_chunk(on_event)?;
            }
        }
        Ok(later)
    }

    /// The length of this header, as far as it is known from the bytes that have arrived.
    fn needs(&self) -> Result<usize, NbdError> {
        if self.have < SIMPLE {
            return Ok(SIMPLE);
        }
        match u32_at(&self.head, 0) {
            Some(SIMPLE_REPLY_MAGIC) => return Ok(SIMPLE),
            Some(STRUCTURED_REPLY_MAGIC) => {}
            _ => return Err(NbdError::Protocol("a reply does not begin as replies do")),
        }
        if self.have < CHUNK {
            return Ok(CHUNK);
        }
        let length = u32_at(&self.head, 16).unwrap_or(0);
        Ok(match u16_at(&self.head, 6).unwrap_or(0) {
            chunk::OFFSET_DATA if length > 8 => CHUNK + 8,
            chunk::OFFSET_HOLE if length == 12 => CHUNK + 12,
            kind if kind & chunk::IS_ERROR != 0 && length >= 6 => CHUNK + 6,
            chunk::NONE if length == 0 => CHUNK,
            _ => return Err(NbdError::Protocol("a chunk that was not asked for, or of a wrong length")),
        })
    }

    /// Parses a complete header.
    fn read(&mut self) -> Result<Body, NbdError> {
        let cookie = u64_at(&self.head, 8).unwrap_or(0);
        let place = (cookie & u64::from(u32::MAX)) as usize;
        let found =
            self.pending.get_mut(place).filter(|one| one.is_busy && one.serial == (cookie >> 32) as u32);
        let Some(pending) = found else {
            return Err(NbdError::Protocol("a reply to a request that was not made"));
        };
        if u32_at(&self.head, 0) == Some(SIMPLE_REPLY_MAGIC) {
            pending.errno = u32_at(&self.head, 4).unwrap_or(0);
            pending.got = pending.bytes;
            let left = if pending.errno == 0 { pending.bytes } else { 0 };
            return Ok(Body { place, left, at: Some(0), is_last: true });
        }
        let is_last = u16_at(&self.head, 4).unwrap_or(0) & chunk::DONE != 0;
        let (kind, length) = (u16_at(&self.head, 6).unwrap_or(0), u32_at(&self.head, 16).unwrap_or(0));
        if kind & chunk::IS_ERROR != 0 {
            let errno = u32_at(&self.head, CHUNK).unwrap_or(0);
            if errno == 0 {
                return Err(NbdError::Protocol("an error without a number"));
            }
            pending.errno = errno;
            return Ok(Body { place, left: length - 6, at: None, is_last });
        }
        if kind == chunk::NONE {
            return Ok(Body { place, left: 0, at: None, is_last });
        }
        let offset = u64_at(&self.head, CHUNK).unwrap_or(0);
        let is_hole = kind == chunk::OFFSET_HOLE;
        let bytes = if is_hole { u32_at(&self.head, CHUNK + 8).unwrap_or(0) } else { length - 8 };
        let room = u64::from(pending.bytes - pending.got);
        let end = u64::from(pending.bytes);
        let at = offset.checked_sub(pending.offset).filter(|at| *at < end && at + u64::from(bytes) <= end);
        let (Some(at), true) = (at, u64::from(bytes) <= room) else {
            return Err(NbdError::Protocol("data that the read did not ask for"));
        };
        pending.got += bytes;
        Ok(Body { place, left: if is_hole { 0 } else { bytes }, at: Some(at as u32), is_last })
    }

    /// Handles the end of a chunk.
    fn end_chunk(&mut self, on_event: &mut impl FnMut(ReplyEvent<'_>)) -> Result<(), NbdError> {
        if !self.body.is_last {
            return Ok(());
        }
        let pending = &mut self.pending[self.body.place];
        if pending.errno == 0 && pending.got != pending.bytes {
            return Err(NbdError::Protocol("a read is answered with fewer bytes than it asked for"));
        }
        pending.is_busy = false;
        self.free.push(self.body.place as u32);
        on_event(ReplyEvent::Answer { tag: pending.tag, errno: pending.errno });
        Ok(())
    }
}

#[cfg(test)]
#[path = "replies_tests.rs"]
mod tests;
