//! The client's end of NBD, as far as our own host needs it: GO, then reads, writes and flushes with simple replies.
use super::wire::{
    FLAG_FIXED_NEWSTYLE, FLAG_NO_ZEROES, IHAVEOPT, NBDMAGIC, REPLY_MAGIC, REQUEST_MAGIC, SIMPLE_REPLY_MAGIC,
    command, flag, info, option, reply, u16_at, u32_at, u64_at,
};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};

/// Bytes of a simple reply without data.
const REPLY: usize = 16;

fn odd(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn read<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Takes the export of a server, on a stream that waits. Returns its size.
///
/// # Errors
/// When the server does not keep to the protocol, or refuses.
pub fn go(stream: &mut (impl Read + Write)) -> io::Result<u64> {
    let greeting: [u8; 18] = read(stream)?;
    if (u64_at(&greeting, 0), u64_at(&greeting, 8)) != (Some(NBDMAGIC), Some(IHAVEOPT)) {
        return Err(odd("no server of NBD is there"));
    }
    let mut said = u32::from(FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES).to_be_bytes().to_vec();
    said.extend(IHAVEOPT.to_be_bytes());
    for word in [option::GO, 6, 0] {
        said.extend(word.to_be_bytes());
    }
    said.extend([0, 0]);
    stream.write_all(&said)?;
    let mut size = None;
    loop {
        let head: [u8; 20] = read(stream)?;
        let (Some(REPLY_MAGIC), Some(kind), Some(length)) =
            (u64_at(&head, 0), u32_at(&head, 12), u32_at(&head, 16))
        else {
            return Err(odd("the server answers an option with something else"));
        };
        let mut data = vec![0; length.min(1 << 20) as usize];
        stream.read_exact(&mut data)?;
        match kind {
            reply::INFO if u16_at(&data, 0) == Some(info::EXPORT) => size = u64_at(&data, 2),
            reply::INFO => {}
            reply::ACK => return size.ok_or_else(|| odd("the server does not tell the size")),
            _ => return Err(odd("the server refuses the export")),
        }
    }
}

/// What a request does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Read,
    Write { fua: bool },
    Flush,
}

/// A reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answered {
    pub cookie: u64,
    /// Zero where it was done.
    pub errno: u32,
}

/// Requests under way. The data of reads are dropped as they come.
#[derive(Default)]
pub struct Client {
    /// Bytes of each read, by its cookie.
    reads: BTreeMap<u64, u32>,
    input: Vec<u8>,
    /// Bytes of a read's data that are still to come.
    drops: u64,
}

impl Client {
    /// Puts a request behind what is to be sent; a write with data that say nothing.
    pub fn put(&mut self, out: &mut Vec<u8>, kind: Kind, cookie: u64, offset: u64, length: u32) {
        let (number, flags) = match kind {
            Kind::Read => (command::READ, 0),
            Kind::Write { fua } => (command::WRITE, if fua { flag::FUA } else { 0 }),
            Kind::Flush => (command::FLUSH, 0),
        };
        out.extend(REQUEST_MAGIC.to_be_bytes());
        out.extend(flags.to_be_bytes());
        out.extend(number.to_be_bytes());
        out.extend(cookie.to_be_bytes());
        out.extend(offset.to_be_bytes());
        out.extend(length.to_be_bytes());
        match kind {
            Kind::Read => _ = self.reads.insert(cookie, length),
            Kind::Write { .. } => out.resize(out.len() + length as usize, 0xd1),
            Kind::Flush => {}
        }
    }

    /// Takes what has come, and calls `heard` for each reply.
    ///
    /// # Errors
    /// When the server does not keep to the protocol.
    pub fn take(&mut self, bytes: &[u8], mut heard: impl FnMut(Answered)) -> io::Result<()> {
        self.input.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            let skipped = self.drops.min((self.input.len() - at) as u64);
            at += skipped as usize;
            self.drops -= skipped;
            let head = &self.input[at..];
            if self.drops > 0 || head.len() < REPLY {
                break;
            }
            if u32_at(head, 0) != Some(SIMPLE_REPLY_MAGIC) {
                return Err(odd("the server answers with something else"));
            }
            let (errno, cookie) = (u32_at(head, 4).unwrap_or(0), u64_at(head, 8).unwrap_or(0));
            let length = self.reads.remove(&cookie).unwrap_or(0);
            self.drops = if errno == 0 { length.into() } else { 0 };
            at += REPLY;
            heard(Answered { cookie, errno });
        }
        self.input.drain(..at);
        Ok(())
    }
}
