//! The door of FUSE: the device as one file, which a loop device turns into a block device where root allows.
//!
//! The kernel's requests are heard by a thread of the library and wait in a channel; answers go straight to the kernel.
//! The file is read and written past the kernel's page cache, in whole blocks.
use crate::door::{Answer, Asked, Desk, Door, DoorCounts, Reply, Ticket};
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, Session, TimeOrNow, WriteFlags,
};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};
use rustix::mount::UnmountFlags;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The device's file in the folder.
pub const FILE: &str = "disk";
const DISK: INodeNo = INodeNo(2);
/// What the kernel knows of the file never changes.
const TTL: Duration = Duration::from_secs(3_600);
/// Requests that the kernel keeps under way; a loop device has 128.
const UNDER_WAY: u16 = 256;
const WRITE_MAX: u32 = 1 << 20;

/// Where an answer goes.
enum To {
    Read(ReplyData),
    Write(ReplyWrite, u32),
    Flush(ReplyEmpty),
}

impl To {
    fn fails(self, errno: Errno) {
        match self {
            To::Read(reply) => reply.error(errno),
            To::Write(reply, _) => reply.error(errno),
            To::Flush(reply) => reply.error(errno),
        }
    }
}

/// What the kernel sees.
struct Folder {
    size: u64,
    block_size: u32,
    owner: (u32, u32),
    began: SystemTime,
    sender: Sender<(Asked, To)>,
    wakes: Arc<OwnedFd>,
}

impl Folder {
    fn attributes(&self, node: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match node {
            INodeNo::ROOT => (FileType::Directory, 0o700, 0),
            DISK => (FileType::RegularFile, 0o600, self.size),
            _ => return None,
        };
        let (uid, gid) = self.owner;
        Some(FileAttr {
            ino: node,
            size,
            blocks: size / 512,
            atime: self.began,
            mtime: self.began,
            ctime: self.began,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid,
            gid,
            rdev: 0,
            blksize: self.block_size,
            flags: 0,
        })
    }

    fn ask(&self, asked: Asked, to: To) {
        if let Err(unsent) = self.sender.send((asked, to)) {
            return unsent.0.1.fails(Errno::EIO);
        }
        // The counter is full only where somebody is about to wake up anyway.
        let _ = rustix::io::write(&*self.wakes, &1_u64.to_ne_bytes());
    }

    fn is_whole(&self, offset: u64, length: u64) -> bool {
        let block = u64::from(self.block_size);
        offset.is_multiple_of(block) && length.is_multiple_of(block) && offset + length <= self.size
    }
}

impl Filesystem for Folder {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // A kernel that has less gives less.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO | InitFlags::FUSE_MAX_PAGES);
        let _ = config.set_max_write(WRITE_MAX);
        let _ = config.set_max_background(UNDER_WAY);
        let _ = config.set_congestion_threshold(UNDER_WAY);
        Ok(())
    }

    fn lookup(&self, _request: &Request, _parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(DISK).filter(|_| name == FILE) {
            Some(found) => reply.entry(&TTL, &found, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _request: &Request, node: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(node) {
            Some(found) => reply.attr(&TTL, &found),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Nothing of the file can be changed; what programs do in passing is taken without effect.
    fn setattr(
        &self,
        _request: &Request,
        node: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.attributes(node) {
            // A device does not shrink, and does not grow.
            Some(found) if size.is_none_or(|size| size == found.size) => reply.attr(&TTL, &found),
            Some(_) => reply.error(Errno::EPERM),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readdir(
        &self,
        _request: &Request,
        node: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if node != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let entries = [
            (node, FileType::Directory, "."),
            (node, FileType::Directory, ".."),
            (DISK, FileType::RegularFile, FILE),
        ];
        for (next, (node, kind, name)) in (1..).zip(entries).skip(offset as usize) {
            if reply.add(node, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn open(&self, _request: &Request, node: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        if node != DISK {
            return reply.error(Errno::EISDIR);
        }
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);
    }

    fn read(
        &self,
        _request: &Request,
        _node: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let length = u64::from(size).min(self.size.saturating_sub(offset));
        if length == 0 {
            return reply.data(&[]);
        }
        if !self.is_whole(offset, length) {
            return reply.error(Errno::EINVAL);
        }
        self.ask(Asked::Read { offset, length: length as u32 }, To::Read(reply));
    }

    fn write(
        &self,
        _request: &Request,
        _node: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if offset >= self.size {
            return reply.error(Errno::ENOSPC);
        }
        if !self.is_whole(offset, data.len() as u64) {
            return reply.error(Errno::EINVAL);
        }
        let synchronous = rustix::fs::OFlags::DSYNC.bits() as i32;
        let fua = flags.0 & synchronous != 0;
        let length = data.len() as u32;
        self.ask(Asked::Write { offset, data: data.to_vec(), fua }, To::Write(reply, length));
    }

    fn flush(
        &self,
        _request: &Request,
        _node: INodeNo,
        _handle: FileHandle,
        _owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        // Of a file that is closed: that is no FLUSH of the device.
        reply.ok();
    }

    fn fsync(
        &self,
        _request: &Request,
        _node: INodeNo,
        _handle: FileHandle,
        _data_alone: bool,
        reply: ReplyEmpty,
    ) {
        self.ask(Asked::Flush, To::Flush(reply));
    }
}

/// See the module.
pub struct FuseDoor {
    folder: PathBuf,
    receiver: Receiver<(Asked, To)>,
    wakes: Arc<OwnedFd>,
    waiting: HashMap<u64, To>,
    cookies: u64,
    is_shut: bool,
    /// Unmounts as it goes.
    session: Option<BackgroundSession>,
}

impl FuseDoor {
    /// Mounts the device at a folder, as the file [`FILE`].
    ///
    /// # Errors
    /// Where the kernel does not let us mount.
    pub fn mount(folder: &Path, size: u64, block_size: u32) -> io::Result<Self> {
        let wakes = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
        let (sender, receiver) = channel();
        let owner = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let seen =
            Folder { size, block_size, owner, began: SystemTime::now(), sender, wakes: Arc::clone(&wakes) };
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("drivelab".into()),
            MountOption::Subtype("drivelab".into()),
            MountOption::NoSuid,
            MountOption::NoDev,
        ];
        let session = Some(Session::new(seen, folder, &config)?.spawn()?);
        let waiting = HashMap::new();
        Ok(FuseDoor {
            folder: folder.to_owned(),
            receiver,
            wakes,
            waiting,
            cookies: 0,
            is_shut: false,
            session,
        })
    }
}

impl Drop for FuseDoor {
    fn drop(&mut self) {
        self.drop_clients();
        // Who has the file open, as a loop device does, must not keep the folder: what is asked of it fails from now on.
        // Without the right to do that the library asks fusermount3.
        let _ = rustix::mount::unmount(&self.folder, UnmountFlags::DETACH);
        drop(self.session.take());
    }
}

impl Door for FuseDoor {
    fn uri(&self) -> String {
        self.folder.join(FILE).display().to_string()
    }

    fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        fds.push(PollFd::from_borrowed_fd(self.wakes.as_fd(), PollFlags::IN));
    }

    fn receive(&mut self, _ready: &[PollFlags], desk: &mut dyn Desk) {
        let _ = rustix::io::read(&*self.wakes, &mut [0; 8]);
        while let Ok((asked, to)) = self.receiver.try_recv() {
            if self.is_shut {
                to.fails(Errno::EIO);
                continue;
            }
            self.cookies += 1;
            self.waiting.insert(self.cookies, to);
            desk.submit(Ticket { client: 0, cookie: self.cookies }, asked);
        }
    }

    fn answer(&mut self, reply: &Reply) {
        match (self.waiting.remove(&reply.ticket.cookie), &reply.answer) {
            (Some(To::Read(to)), Ok(Answer::Data { found, .. })) => {
                let mut bytes = Vec::with_capacity(found.len());
                found.put(&mut bytes);
                to.data(&bytes);
            }
            (Some(To::Write(to, length)), Ok(_)) => to.written(length),
            (Some(To::Flush(to)), Ok(_)) => to.ok(),
            (Some(to), _) => to.fails(Errno::EIO),
            (None, _) => {}
        }
    }

    fn flush(&mut self) {}

    fn drop_clients(&mut self) {
        self.waiting.drain().for_each(|(_, to)| to.fails(Errno::EIO));
    }

    fn shut(&mut self, is_shut: bool) {
        self.is_shut = is_shut;
    }

    fn counts(&self) -> DoorCounts {
        DoorCounts::default()
    }
}
