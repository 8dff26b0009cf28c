//! Replies, simple and structured, in any order and cut anywhere. Nothing is allocated per request, and nothing is kept of
//! the data of reads: they are handed on as they come.
use crate::error::NbdError;
use crate::wire::{SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk, u16_at, u32_at, u64_at};

/// Bytes of a simple reply without data, and the beginning of any other.
const SIMPLE: usize = 16;
/// Bytes before what a chunk carries.
const CHUNK: usize = 20;

/// What a server says of requests under way.
#[derive(PartialEq, Eq, Debug)]
pub enum Heard<'a> {
    /// Data of a read, from this byte of it on.
    Data { tag: u64, at: u32, bytes: &'a [u8] },
    /// The end of a request: zero where it was done, else the number of the error, which is that of Linux.
    Answer { tag: u64, errno: u32 },
}

/// A request under way.
#[derive(Clone, Copy, Default)]
struct Pending {
    is_busy: bool,
    /// Told apart from earlier requests in the same place.
    serial: u32,
    tag: u64,
    offset: u64,
    /// Bytes that a read gets; zero of others.
    bytes: u32,
    got: u32,
    errno: u32,
}

/// The chunk, or simple reply, whose body is coming.
#[derive(Clone, Copy, Default)]
struct Body {
    place: usize,
    left: u32,
    /// The byte of the read that comes next; none where the body is not data.
    at: Option<u32>,
    is_last: bool,
}

/// Requests under way, and the reply that is coming in.
#[derive(Default)]
pub struct Replies {
    pending: Vec<Pending>,
    free: Vec<u32>,
    head: [u8; 32],
    /// Bytes of the head that are there.
    have: usize,
    body: Body,
}

impl Replies {
    /// With room for so many requests; more are taken, at the price of an allocation.
    pub fn new(room: usize) -> Self {
        Replies {
            pending: vec![Pending::default(); room],
            free: (0..room as u32).rev().collect(),
            ..Replies::default()
        }
    }

    /// A request begins that the caller knows by this tag, and gets so many bytes. Returns its cookie.
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

    /// Requests under way.
    pub fn in_flight(&self) -> usize {
        self.pending.len() - self.free.len()
    }

    /// The tags of all requests under way; after this there are none.
    pub fn give_up(&mut self, mut lost: impl FnMut(u64)) {
        for (place, pending) in self.pending.iter_mut().enumerate() {
            if std::mem::take(&mut pending.is_busy) {
                self.free.push(place as u32);
                lost(pending.tag);
            }
        }
    }

    /// Takes what has come.
    ///
    /// # Errors
    /// When the server does not keep to the protocol; nothing more can be told from this connection then.
    pub fn take(&mut self, mut bytes: &[u8], mut heard: impl FnMut(Heard<'_>)) -> Result<(), NbdError> {
        while !bytes.is_empty() {
            if self.body.left == 0 {
                bytes = self.head(bytes, &mut heard)?;
                continue;
            }
            let count = bytes.len().min(self.body.left as usize);
            let (now, later) = bytes.split_at(count);
            if let Some(at) = &mut self.body.at {
                heard(Heard::Data { tag: self.pending[self.body.place].tag, at: *at, bytes: now });
                *at += count as u32;
            }
            self.body.left -= count as u32;
            bytes = later;
            if self.body.left == 0 {
                self.over(&mut heard)?;
            }
        }
        Ok(())
    }

    /// Takes bytes of a head, and returns the rest.
    fn head<'a>(&mut self, bytes: &'a [u8], heard: &mut impl FnMut(Heard<'_>)) -> Result<&'a [u8], NbdError> {
        let count = bytes.len().min(self.needs()? - self.have);
        let (now, later) = bytes.split_at(count);
        self.head[self.have..self.have + count].copy_from_slice(now);
        self.have += count;
        if self.have == self.needs()? {
            self.body = self.read()?;
            self.have = 0;
            if self.body.left == 0 {
                self.over(heard)?;
            }
        }
        Ok(later)
    }

    /// Bytes of this head, as far as can be told from those that are there.
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

    /// What a head says that is all there.
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

    /// A chunk is all there.
    fn over(&mut self, heard: &mut impl FnMut(Heard<'_>)) -> Result<(), NbdError> {
        if !self.body.is_last {
            return Ok(());
        }
        let pending = &mut self.pending[self.body.place];
        if pending.errno == 0 && pending.got != pending.bytes {
            return Err(NbdError::Protocol("a read is answered with fewer bytes than it asked for"));
        }
        pending.is_busy = false;
        self.free.push(self.body.place as u32);
        heard(Heard::Answer { tag: pending.tag, errno: pending.errno });
        Ok(())
    }
}

#[cfg(test)]
#[path = "replies_tests.rs"]
mod tests;
