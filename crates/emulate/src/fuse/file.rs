//! The folder with its one file as the kernel sees it: turns kernel requests into replies or into requests to the
//! device, without I/O.
use super::wire::{
    self, Attributes, Head, IN_HEAD, OPEN_DIRECT_IO, OPEN_PARALLEL_WRITES, SETS_SIZE, TRANSFER, Transfer,
    opcode,
};
use crate::transport::DeviceRequest;
use rustix::io::Errno;
use std::time::{Duration, SystemTime};

/// The name of the device's file in the folder.
pub const FILE: &str = "disk";
const ROOT: u64 = 1;
const DISK: u64 = 2;
/// How long the kernel may cache attributes and names, which never change.
const VALID: Duration = Duration::from_secs(3_600);
const IS_FOLDER: u32 = 0o040_000;
const IS_FILE: u32 = 0o100_000;

/// The kind of kernel request that the device's reply answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum To {
    Read,
    Write(u32),
    Flush,
}

/// The result of a request.
#[derive(PartialEq, Eq, Debug)]
pub enum Taken {
    /// The request is answered at once.
    Answer(Result<Vec<u8>, Errno>),
    /// The request goes to the device.
    Ask(DeviceRequest, To),
    /// The request has no reply.
    Nothing,
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Folder {
    pub size: u64,
    pub block_size: u32,
    pub owner: (u32, u32),
    pub began: SystemTime,
}

impl Folder {
    fn attributes(&self, node: u64) -> Result<Attributes, Errno> {
        let (mode, size) = match node {
            ROOT => (IS_FOLDER | 0o700, 0),
            DISK => (IS_FILE | 0o600, self.size),
            _ => return Err(Errno::NOENT),
        };
        let Folder { block_size, owner, began: time, .. } = *self;
        Ok(Attributes { node, size, mode, links: 1, owner, block_size, time })
    }

    /// Handles a request of the kernel; `bytes` is the whole request, including this header.
    pub fn take(&self, head: &Head, bytes: &[u8]) -> Taken {
        let body = &bytes[IN_HEAD..];
        Taken::Answer(match head.opcode {
            opcode::READ => return self.read(body).unwrap_or_else(|errno| Taken::Answer(Err(errno))),
            opcode::WRITE => return self.write(body).unwrap_or_else(|errno| Taken::Answer(Err(errno))),
            opcode::FSYNC => return Taken::Ask(DeviceRequest::Flush, To::Flush),
            opcode::FORGET | opcode::BATCH_FORGET => return Taken::Nothing,
            opcode::LOOKUP => self.lookup(body),
            opcode::GETATTR => self.attributes(head.node).map(|found| wire::attributes(&found, VALID)),
            opcode::SETATTR => self.set_attributes(head.node, body),
            opcode::OPEN if head.node == DISK => Ok(wire::opened(OPEN_DIRECT_IO | OPEN_PARALLEL_WRITES)),
            opcode::OPEN => Err(Errno::ISDIR),
            opcode::OPENDIR => Ok(wire::opened(0)),
            opcode::READDIR => self.names(head.node, body),
            opcode::STATFS => Ok(wire::statfs(self.size / u64::from(self.block_size), self.block_size)),
            // FLUSH is sent when a file is closed; it is not a FLUSH of the device.
            opcode::FLUSH | opcode::RELEASE | opcode::RELEASEDIR | opcode::DESTROY => Ok(Vec::new()),
            change if opcode::CHANGES.contains(&change) => Err(Errno::PERM),
            _ => Err(Errno::NOSYS),
        })
    }

    fn lookup(&self, body: &[u8]) -> Result<Vec<u8>, Errno> {
        match body.strip_suffix(&[0]) {
            Some(name) if name == FILE.as_bytes() => Ok(wire::entry(&self.attributes(DISK)?, VALID)),
            _ => Err(Errno::NOENT),
        }
    }

    /// No attribute can be changed; attempts that programs make in passing succeed without effect.
    fn set_attributes(&self, node: u64, body: &[u8]) -> Result<Vec<u8>, Errno> {
        let found = self.attributes(node)?;
        let (valid, size) = (wire::u32_at(body, 0), wire::u64_at(body, 16));
        let (Some(valid), Some(size)) = (valid, size) else { return Err(Errno::INVAL) };
        // The size of a device is fixed.
        if valid & SETS_SIZE != 0 && size != found.size {
            return Err(Errno::PERM);
        }
        Ok(wire::attributes(&found, VALID))
    }

    fn names(&self, node: u64, body: &[u8]) -> Result<Vec<u8>, Errno> {
        if node != ROOT {
            return Err(Errno::NOTDIR);
        }
        let transfer = Transfer::read(body).ok_or(Errno::INVAL)?;
        let mut out = Vec::new();
        let entries = [(ROOT, IS_FOLDER, "."), (ROOT, IS_FOLDER, ".."), (DISK, IS_FILE, FILE)];
        for (next, (node, mode, name)) in (1..).zip(entries).skip(transfer.offset.min(3) as usize) {
            let before = out.len();
            wire::put_name(&mut out, node, next, mode, name);
            if out.len() > transfer.size as usize {
                out.truncate(before);
                break;
            }
        }
        Ok(out)
    }

    fn is_whole(&self, offset: u64, length: u64) -> bool {
        let block = u64::from(self.block_size);
        let is_on = offset.checked_add(length).is_some_and(|end| end <= self.size);
        is_on && offset.is_multiple_of(block) && length.is_multiple_of(block)
    }

    fn read(&self, body: &[u8]) -> Result<Taken, Errno> {
        let Transfer { offset, size, .. } = Transfer::read(body).ok_or(Errno::INVAL)?;
        let length = u64::from(size).min(self.size.saturating_sub(offset));
        if length == 0 {
            return Ok(Taken::Answer(Ok(Vec::new())));
        }
        if !self.is_whole(offset, length) {
            return Err(Errno::INVAL);
        }
        Ok(Taken::Ask(DeviceRequest::Read { offset, length: length as u32 }, To::Read))
    }

    fn write(&self, body: &[u8]) -> Result<Taken, Errno> {
        let Transfer { offset, size, flags } = Transfer::read(body).ok_or(Errno::INVAL)?;
        let data = &body[TRANSFER.min(body.len())..];
        if data.len() != size as usize {
            return Err(Errno::INVAL);
        }
        if offset >= self.size {
            return Err(Errno::NOSPC);
        }
        if !self.is_whole(offset, u64::from(size)) {
            return Err(Errno::INVAL);
        }
        let fua = flags & rustix::fs::OFlags::DSYNC.bits() != 0;
        Ok(Taken::Ask(DeviceRequest::Write { offset, data: data.to_vec(), fua }, To::Write(size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: Folder =
        Folder { size: 1 << 20, block_size: 512, owner: (7, 8), began: SystemTime::UNIX_EPOCH };

    fn taken(opcode: u32, node: u64, body: &[u8]) -> Taken {
        let mut bytes = vec![0; IN_HEAD];
        bytes.extend(body);
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        bytes[4..8].copy_from_slice(&opcode.to_ne_bytes());
        bytes[8..16].copy_from_slice(&99_u64.to_ne_bytes());
        bytes[16..24].copy_from_slice(&node.to_ne_bytes());
        let head = Head::read(&bytes).expect("it is as long as it says");
        assert_eq!(head, Head { opcode, unique: 99, node });
        FOLDER.take(&head, &bytes)
    }

    fn transfer(offset: u64, size: u32, flags: u32, data: &[u8]) -> Vec<u8> {
        let mut body = vec![0; TRANSFER];
        body[8..16].copy_from_slice(&offset.to_ne_bytes());
        body[16..20].copy_from_slice(&size.to_ne_bytes());
        body[32..36].copy_from_slice(&flags.to_ne_bytes());
        body.extend(data);
        body
    }

    fn answer(taken: Taken) -> Result<Vec<u8>, Errno> {
        let Taken::Answer(answer) = taken else { panic!("{taken:?} is no answer") };
        answer
    }

    #[test]
    fn transfers_are_of_whole_blocks_on_the_device() {
        let read = |offset, size| taken(opcode::READ, DISK, &transfer(offset, size, 0, &[]));
        let expected = |offset, length| Taken::Ask(DeviceRequest::Read { offset, length }, To::Read);
        assert_eq!(read(512, 4096), expected(512, 4096));
        // A read that extends beyond the end is cut off there.
        assert_eq!(read((1 << 20) - 512, 4096), expected((1 << 20) - 512, 512));
        assert_eq!(answer(read(1 << 20, 512)), Ok(Vec::new()));
        assert_eq!(answer(read(u64::MAX, 512)), Ok(Vec::new()));
        for (offset, size) in [(1, 512), (512, 100)] {
            assert_eq!(answer(read(offset, size)), Err(Errno::INVAL));
        }
        let data = vec![7; 1024];
        let write = |offset, flags| taken(opcode::WRITE, DISK, &transfer(offset, 1024, flags, &data));
        let expected = |offset, fua| {
            Taken::Ask(DeviceRequest::Write { offset, data: data.clone(), fua }, To::Write(1024))
        };
        assert_eq!(write(512, 0), expected(512, false));
        assert_eq!(write(0, rustix::fs::OFlags::SYNC.bits()), expected(0, true));
        assert_eq!(answer(write(1 << 20, 0)), Err(Errno::NOSPC));
        assert_eq!(answer(write((1 << 20) - 512, 0)), Err(Errno::INVAL));
        let short = transfer(0, 1024, 0, &data[..512]);
        assert_eq!(answer(taken(opcode::WRITE, DISK, &short)), Err(Errno::INVAL));
        assert_eq!(taken(opcode::FSYNC, DISK, &[0; 16]), Taken::Ask(DeviceRequest::Flush, To::Flush));
    }

    #[test]
    fn the_folder_has_one_file() {
        let found = answer(taken(opcode::LOOKUP, ROOT, b"disk\0")).expect("it is there");
        assert_eq!((found.len(), wire::u64_at(&found, 0)), (128, Some(DISK)));
        assert_eq!(wire::u64_at(&found, 48), Some(1 << 20), "its size");
        assert_eq!(answer(taken(opcode::LOOKUP, ROOT, b"disc\0")), Err(Errno::NOENT));
        let reply = answer(taken(opcode::GETATTR, ROOT, &[0; 16])).expect("it is there");
        assert_eq!((reply.len(), wire::u32_at(&reply, 16 + 60)), (104, Some(IS_FOLDER | 0o700)));
        assert_eq!(answer(taken(opcode::GETATTR, 3, &[0; 16])), Err(Errno::NOENT));
        let names = |offset, size| answer(taken(opcode::READDIR, ROOT, &transfer(offset, size, 0, &[])));
        let all = names(0, 4096).expect("it is a folder");
        assert_eq!(all.len(), 3 * 32);
        assert_eq!(&all[64 + 24..64 + 28], b"disk");
        assert_eq!(names(2, 4096).as_deref(), Ok(&all[64..]));
        assert_eq!(names(0, 40).as_deref(), Ok(&all[..32]));
        assert_eq!(names(u64::MAX, 4096), Ok(Vec::new()));
        assert_eq!(answer(taken(opcode::READDIR, DISK, &transfer(0, 4096, 0, &[]))), Err(Errno::NOTDIR));
        assert_eq!(answer(taken(opcode::OPEN, ROOT, &[0; 8])), Err(Errno::ISDIR));
        assert_eq!(answer(taken(999, ROOT, &[])), Err(Errno::NOSYS));
        assert_eq!(answer(taken(opcode::CHANGES[7], ROOT, b"other\0")), Err(Errno::PERM));
        assert_eq!(taken(opcode::FORGET, DISK, &[0; 8]), Taken::Nothing);
    }

    #[test]
    fn a_device_keeps_its_size() {
        let set = |valid: u32, size: u64| {
            let mut body = vec![0; 88];
            body[..4].copy_from_slice(&valid.to_ne_bytes());
            body[16..24].copy_from_slice(&size.to_ne_bytes());
            answer(taken(opcode::SETATTR, DISK, &body))
        };
        assert!(set(SETS_SIZE, 1 << 20).is_ok());
        assert!(set(0, 0).is_ok());
        assert_eq!(set(SETS_SIZE, 0), Err(Errno::PERM));
        assert_eq!(answer(taken(opcode::SETATTR, DISK, &[])), Err(Errno::INVAL));
    }

    #[test]
    fn what_is_cut_off_is_no_request() {
        let mut bytes = vec![0; IN_HEAD];
        bytes[0] = 41;
        assert_eq!(Head::read(&bytes), None);
        assert_eq!(Head::read(&bytes[..10]), None);
        for opcode in 0..60 {
            // Nothing behind the head, whatever it is.
            let _ = taken(opcode, DISK, &[]);
        }
    }
}
