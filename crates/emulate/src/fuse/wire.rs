//! The FUSE protocol between the kernel and a server: numbers and layouts, in the byte order of the machine.
//!
//! Source: `include/uapi/linux/fuse.h` of Linux, protocol 7.31 and later.
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The opcodes of requests.
pub mod opcode {
    pub const LOOKUP: u32 = 1;
    pub const FORGET: u32 = 2;
    pub const GETATTR: u32 = 3;
    pub const SETATTR: u32 = 4;
    pub const OPEN: u32 = 14;
    pub const READ: u32 = 15;
    pub const WRITE: u32 = 16;
    pub const STATFS: u32 = 17;
    pub const RELEASE: u32 = 18;
    pub const FSYNC: u32 = 20;
    pub const FLUSH: u32 = 25;
    pub const OPENDIR: u32 = 27;
    pub const READDIR: u32 = 28;
    pub const RELEASEDIR: u32 = 29;
    pub const DESTROY: u32 = 38;
    pub const BATCH_FORGET: u32 = 42;
    /// Requests that add or remove names in a folder: SYMLINK, MKNOD, MKDIR, UNLINK, RMDIR, RENAME, LINK, CREATE,
    /// RENAME2.
    pub const CHANGES: [u32; 9] = [6, 8, 9, 10, 11, 12, 13, 35, 45];
}

/// Reads and writes bypass the page cache.
pub const OPEN_DIRECT_IO: u32 = 1 << 0;
/// Several writes may be in flight at a time.
pub const OPEN_PARALLEL_WRITES: u32 = 1 << 6;
/// SETATTR sets the size.
pub const SETS_SIZE: u32 = 1 << 3;
/// Bytes of the request header.
pub const IN_HEAD: usize = 40;
/// Bytes of the reply header.
pub const OUT_HEAD: usize = 16;
/// Bytes of the parameters of a read or a write, before its data.
pub const TRANSFER: usize = 40;

pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes)
}

/// The fields of the request header that are used here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    pub opcode: u32,
    /// The id of the request, which its reply repeats.
    pub unique: u64,
    pub node: u64,
}

impl Head {
    /// Parses the header. `None` if the length in the header is not that of the bytes, or is shorter than a header.
    pub fn read(bytes: &[u8]) -> Option<Head> {
        let length = u32_at(bytes, 0)? as usize;
        if length != bytes.len() || length < IN_HEAD {
            return None;
        }
        Some(Head { opcode: u32_at(bytes, 4)?, unique: u64_at(bytes, 8)?, node: u64_at(bytes, 16)? })
    }
}

/// The parameters of a read or a write, behind the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    pub offset: u64,
    pub size: u32,
    /// The open flags of the file.
    pub flags: u32,
}

impl Transfer {
    pub fn read(bytes: &[u8]) -> Option<Transfer> {
        Some(Transfer { offset: u64_at(bytes, 8)?, size: u32_at(bytes, 16)?, flags: u32_at(bytes, 32)? })
    }
}

/// The header of a reply with `behind` bytes of payload. `errno` is 0 on success.
pub fn out_head(unique: u64, errno: i32, behind: usize) -> [u8; OUT_HEAD] {
    let mut head = [0; OUT_HEAD];
    head[..4].copy_from_slice(&((OUT_HEAD + behind) as u32).to_ne_bytes());
    head[4..8].copy_from_slice(&(-errno).to_ne_bytes());
    head[8..].copy_from_slice(&unique.to_ne_bytes());
    head
}

/// Appends 32-bit words.
fn put(out: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| out.extend(word.to_ne_bytes()));
}

/// Appends 64-bit words.
fn put_long(out: &mut Vec<u8>, words: &[u64]) {
    words.iter().for_each(|word| out.extend(word.to_ne_bytes()));
}

/// The attributes of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attributes {
    pub node: u64,
    pub size: u64,
    pub mode: u32,
    pub links: u32,
    pub owner: (u32, u32),
    pub block_size: u32,
    pub time: SystemTime,
}

impl Attributes {
    pub fn put(&self, out: &mut Vec<u8>) {
        let since = self.time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let (seconds, part) = (since.as_secs(), since.subsec_nanos());
        put_long(out, &[self.node, self.size, self.size / 512, seconds, seconds, seconds]);
        let (user, group) = self.owner;
        put(out, &[part, part, part, self.mode, self.links, user, group, 0, self.block_size, 0]);
    }
}

/// The reply to LOOKUP, which the kernel may cache for `valid`.
pub fn entry(found: &Attributes, valid: Duration) -> Vec<u8> {
    let mut out = Vec::new();
    put_long(&mut out, &[found.node, 0, valid.as_secs(), valid.as_secs()]);
    put(&mut out, &[0, 0]);
    found.put(&mut out);
    out
}

/// The reply to GETATTR and SETATTR.
pub fn attributes(found: &Attributes, valid: Duration) -> Vec<u8> {
    let mut out = valid.as_secs().to_ne_bytes().to_vec();
    put(&mut out, &[0, 0]);
    found.put(&mut out);
    out
}

/// The reply to OPEN and OPENDIR.
pub fn opened(flags: u32) -> Vec<u8> {
    let mut out = 0_u64.to_ne_bytes().to_vec();
    put(&mut out, &[flags, 0]);
    out
}

/// The reply to WRITE: the number of bytes written.
pub fn written(length: u32) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, &[length, 0]);
    out
}

/// The reply to STATFS: no block is free.
pub fn statfs(blocks: u64, block_size: u32) -> Vec<u8> {
    let mut out = Vec::new();
    put_long(&mut out, &[blocks, 0, 0, 1, 0]);
    put(&mut out, &[block_size, 255, block_size, 0]);
    put(&mut out, &[0; 6]);
    out
}

/// Appends a name to the reply to READDIR; `next` is the offset of the following entry.
pub fn put_name(out: &mut Vec<u8>, node: u64, next: u64, mode: u32, name: &str) {
    put_long(out, &[node, next]);
    put(out, &[name.len() as u32, mode >> 12]);
    out.extend(name.as_bytes());
    out.resize(out.len().next_multiple_of(8), 0);
}
