//! The door of FUSE: the device as one file, which a loop device turns into a block device where root allows.
//!
//! The library mounts it and shakes hands with the kernel; from then on this door reads the kernel's requests and writes
//! answers itself, in the thread that serves the device: a request costs two calls to the kernel, and nobody hands it on to
//! another thread. The file is read and written past the kernel's page cache, in whole blocks. Start reading at
//! [`FuseDoor`], then [`file`].
mod file;
mod wire;

pub use file::FILE;

use crate::door::{Answer, Desk, Door, DoorCounts, Found, Reply, Ticket};
use file::{Folder, Taken, To};
use fuser::{Config, Filesystem, InitFlags, KernelConfig, MountOption, Request, Session};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use wire::{Head, OUT_HEAD, out_head};

/// Requests that the kernel keeps under way; a loop device has 128.
const UNDER_WAY: u16 = 256;
const WRITE_MAX: u32 = 1 << 20;
/// The longest write, and what stands before its data.
const ROOM: usize = WRITE_MAX as usize + 4_096;
/// Requests that are taken before answers go out.
const AT_ONCE: u32 = 64;

/// What is agreed on with the kernel.
struct Agreed;

impl Filesystem for Agreed {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // A kernel that has less gives less.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO | InitFlags::FUSE_MAX_PAGES);
        let _ = config.set_max_write(WRITE_MAX);
        let _ = config.set_max_background(UNDER_WAY);
        let _ = config.set_congestion_threshold(UNDER_WAY);
        Ok(())
    }
}

/// See the module.
pub struct FuseDoor {
    path: PathBuf,
    folder: Folder,
    /// Requests come from it, and answers go to it; none once nobody is there any more.
    kernel: Option<OwnedFd>,
    room: Box<[u8]>,
    waiting: BTreeMap<u64, To>,
    is_shut: bool,
    /// Unmounts as it goes.
    session: Option<Session<Agreed>>,
}

impl FuseDoor {
    /// Mounts the device at a folder, as the file [`FILE`].
    ///
    /// # Errors
    /// Where the kernel does not let us mount.
    pub fn mount(path: &Path, size: u64, block_size: u32) -> io::Result<Self> {
        let owner = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("drivelab".into()),
            MountOption::Subtype("drivelab".into()),
            MountOption::NoSuid,
            MountOption::NoDev,
        ];
        let session = Session::new(Agreed, path, &config)?;
        let kernel = session.as_fd().try_clone_to_owned()?;
        rustix::io::ioctl_fionbio(&kernel, true)?;
        Ok(FuseDoor {
            path: path.to_owned(),
            folder: Folder { size, block_size, owner, began: SystemTime::now() },
            kernel: Some(kernel),
            room: vec![0; ROOM].into(),
            waiting: BTreeMap::new(),
            is_shut: false,
            session: Some(session),
        })
    }

    /// The next request's bytes, in the room; none where there is none.
    fn next(&mut self) -> Option<usize> {
        loop {
            match rustix::io::read(self.kernel.as_ref()?, &mut *self.room) {
                Ok(count) => return Some(count),
                // Who had asked does not wait any more.
                Err(Errno::NOENT | Errno::INTR) => {}
                Err(Errno::AGAIN) => return None,
                // It was unmounted.
                Err(_) => {
                    self.kernel = None;
                    return None;
                }
            }
        }
    }

    /// Answers a request. Nobody may be there to hear it.
    fn say(&self, unique: u64, answer: Result<&[u8], Errno>) {
        let Some(kernel) = &self.kernel else { return };
        let (errno, data) = match answer {
            Ok(data) => (0, data),
            Err(errno) => (errno.raw_os_error(), &[][..]),
        };
        let head: [u8; OUT_HEAD] = out_head(unique, errno, data.len());
        let _ = rustix::io::writev(kernel, &[IoSlice::new(&head), IoSlice::new(data)]);
    }

    fn say_done(&self, unique: u64, to: To, answer: &Answer) {
        match (to, answer) {
            (To::Read, Answer::Data { found: Found::Plain(bytes), .. }) => self.say(unique, Ok(bytes)),
            (To::Read, Answer::Data { found, .. }) => {
                let mut bytes = Vec::with_capacity(found.len());
                found.put(&mut bytes);
                self.say(unique, Ok(&bytes));
            }
            (To::Write(length), _) => self.say(unique, Ok(&wire::written(length))),
            (To::Flush, _) => self.say(unique, Ok(&[])),
            (To::Read, _) => self.say(unique, Err(Errno::IO)),
        }
    }
}

impl Drop for FuseDoor {
    fn drop(&mut self) {
        self.drop_clients();
        // Who has the file open, as a loop device does, must not keep the folder: what is asked of it fails from now on.
        // Without the right to do that the library asks fusermount3.
        let _ = rustix::mount::unmount(&self.path, UnmountFlags::DETACH);
        self.kernel = None;
        drop(self.session.take());
    }
}

impl Door for FuseDoor {
    fn uri(&self) -> String {
        self.path.join(FILE).display().to_string()
    }

    fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        fds.extend(self.kernel.iter().map(|kernel| PollFd::from_borrowed_fd(kernel.as_fd(), PollFlags::IN)));
    }

    fn receive(&mut self, ready: &[PollFlags], desk: &mut dyn Desk) {
        if ready.iter().all(PollFlags::is_empty) {
            return;
        }
        for _ in 0..AT_ONCE {
            let Some(count) = self.next() else { return };
            let bytes = &self.room[..count];
            let Some(head) = Head::read(bytes) else { continue };
            match self.folder.take(&head, bytes) {
                Taken::Ask(..) if self.is_shut => self.say(head.unique, Err(Errno::IO)),
                Taken::Ask(asked, to) => {
                    self.waiting.insert(head.unique, to);
                    desk.submit(Ticket { client: 0, cookie: head.unique }, asked);
                }
                Taken::Answer(Ok(found)) => self.say(head.unique, Ok(&found)),
                Taken::Answer(Err(errno)) => self.say(head.unique, Err(errno)),
                Taken::Nothing => {}
            }
        }
    }

    fn answer(&mut self, reply: Reply) {
        let unique = reply.ticket.cookie;
        let Some(to) = self.waiting.remove(&unique) else { return };
        match &reply.answer {
            Ok(answer) => self.say_done(unique, to, answer),
            Err(_) => self.say(unique, Err(Errno::IO)),
        }
    }

    fn flush(&mut self) {}

    fn drop_clients(&mut self) {
        for (unique, _) in std::mem::take(&mut self.waiting) {
            self.say(unique, Err(Errno::IO));
        }
    }

    fn shut(&mut self, is_shut: bool) {
        self.is_shut = is_shut;
    }

    fn counts(&self) -> DoorCounts {
        DoorCounts::default()
    }
}
