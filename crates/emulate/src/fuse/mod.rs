//! The FUSE transport: the device as one file, which a loop device can turn into a block device where root allows it.
//!
//! The library mounts the file system and performs the FUSE handshake; from then on this module reads the kernel's
//! requests and writes the replies itself, in the thread that serves the device: a request costs two system calls and
//! no switch of threads. Reads and writes bypass the kernel's page cache, in whole blocks. Start reading at
//! [`FuseTransport`], then [`file`].
mod file;
mod wire;

pub use file::FILE;

use crate::error::EmulateError;
use crate::transport::{Answer, ReadData, Reply, RequestId, RequestSink, Transport, TransportCounts};
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

/// Requests that the kernel keeps in flight; a loop device has 128.
const UNDER_WAY: u16 = 256;
const WRITE_MAX: u32 = 1 << 20;
/// Buffer bytes: the longest write and the headers before its data.
const ROOM: usize = WRITE_MAX as usize + 4_096;
/// Requests that are handled before replies are sent.
const AT_ONCE: u32 = 64;

/// The parameters that are negotiated with the kernel.
struct Agreed;

impl Filesystem for Agreed {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // An older kernel grants fewer capabilities.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO | InitFlags::FUSE_MAX_PAGES);
        let _ = config.set_max_write(WRITE_MAX);
        let _ = config.set_max_background(UNDER_WAY);
        let _ = config.set_congestion_threshold(UNDER_WAY);
        Ok(())
    }
}

/// Mounts the device at a folder, as the file [`FILE`].
///
/// # Errors
/// When the mount fails: the reason, and what would let it succeed.
pub(crate) fn mount(folder: &Path, size: u64, block_size: u32) -> Result<Box<dyn Transport>, EmulateError> {
    match FuseTransport::mount(folder, size, block_size) {
        Ok(mounted) => Ok(Box::new(mounted)),
        Err(error) => Err(EmulateError::Mount { folder: folder.to_owned(), error, remedy: remedy() }),
    }
}

/// What lets a mount succeed that has failed here.
fn remedy() -> &'static str {
    let is_root = rustix::process::geteuid().is_root();
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let has_helper = std::env::split_paths(&folders).any(|folder| folder.join("fusermount3").is_file());
    remedy_for(Path::new("/dev/fuse").exists(), is_root, has_helper)
}

/// The same where there is a FUSE device or not, as root or not, with fusermount3 or without.
fn remedy_for(has_device: bool, is_root: bool, has_helper: bool) -> &'static str {
    match (has_device, is_root, has_helper) {
        (false, ..) => {
            "there is no /dev/fuse: start the container with --device /dev/fuse --cap-add SYS_ADMIN (docker, podman), or \
             load the module on the host with modprobe fuse"
        }
        (true, true, _) => {
            "/dev/fuse is there, and the right to mount is not: start the container with --device /dev/fuse --cap-add \
             SYS_ADMIN (docker, podman; where AppArmor confines it, --security-opt apparmor=unconfined too)"
        }
        (true, false, false) => {
            "only root mounts without fusermount3: install it (Debian: fuse3), or run as root"
        }
        (true, false, true) => {
            "fusermount3 mounts for a user who may read and write /dev/fuse and owns the folder; in a container it takes \
             --device /dev/fuse --cap-add SYS_ADMIN (docker, podman)"
        }
    }
}

/// See the module.
pub struct FuseTransport {
    path: PathBuf,
    folder: Folder,
    /// The FUSE descriptor; `None` after an unmount.
    kernel: Option<OwnedFd>,
    room: Box<[u8]>,
    waiting: BTreeMap<u64, To>,
    is_shut: bool,
    /// Unmounts when it is dropped.
    session: Option<Session<Agreed>>,
}

impl FuseTransport {
    /// Mounts the device at a folder, as the file [`FILE`].
    ///
    /// # Errors
    /// When the mount fails.
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
        Ok(FuseTransport {
            path: path.to_owned(),
            folder: Folder { size, block_size, owner, began: SystemTime::now() },
            kernel: Some(kernel),
            room: vec![0; ROOM].into(),
            waiting: BTreeMap::new(),
            is_shut: false,
            session: Some(session),
        })
    }

    /// Reads the next request into the buffer, and returns its length; `None` if there is none.
    fn next(&mut self) -> Option<usize> {
        loop {
            match rustix::io::read(self.kernel.as_ref()?, &mut *self.room) {
                Ok(count) => return Some(count),
                // The request was aborted.
                Err(Errno::NOENT | Errno::INTR) => {}
                Err(Errno::AGAIN) => return None,
                // The file system was unmounted.
                Err(_) => {
                    self.kernel = None;
                    return None;
                }
            }
        }
    }

    /// Sends a reply. The file system may be unmounted by now.
    fn reply(&self, unique: u64, answer: Result<&[u8], Errno>) {
        let Some(kernel) = &self.kernel else { return };
        let (errno, data) = match answer {
            Ok(data) => (0, data),
            Err(errno) => (errno.raw_os_error(), &[][..]),
        };
        let head: [u8; OUT_HEAD] = out_head(unique, errno, data.len());
        let _ = rustix::io::writev(kernel, &[IoSlice::new(&head), IoSlice::new(data)]);
    }

    fn reply_done(&self, unique: u64, to: To, answer: &Answer) {
        match (to, answer) {
            (To::Read, Answer::Data { found: ReadData::Plain(bytes), .. }) => self.reply(unique, Ok(bytes)),
            (To::Read, Answer::Data { found, .. }) => {
                let mut bytes = Vec::with_capacity(found.len());
                found.put(&mut bytes);
                self.reply(unique, Ok(&bytes));
            }
            (To::Write(length), _) => self.reply(unique, Ok(&wire::written(length))),
            (To::Flush, _) => self.reply(unique, Ok(&[])),
            (To::Read, _) => self.reply(unique, Err(Errno::IO)),
        }
    }
}

impl Drop for FuseTransport {
    fn drop(&mut self) {
        self.drop_clients();
        // A process that has the file open, such as a loop device, must not keep the mount busy: its requests fail
        // from now on. Without the privilege for this call the library uses fusermount3.
        let _ = rustix::mount::unmount(&self.path, UnmountFlags::DETACH);
        self.kernel = None;
        drop(self.session.take());
    }
}

impl Transport for FuseTransport {
    fn uri(&self) -> String {
        self.path.join(FILE).display().to_string()
    }

    fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        fds.extend(self.kernel.iter().map(|kernel| PollFd::from_borrowed_fd(kernel.as_fd(), PollFlags::IN)));
    }

    fn receive(&mut self, ready: &[PollFlags], sink: &mut dyn RequestSink) {
        if ready.iter().all(PollFlags::is_empty) {
            return;
        }
        for _ in 0..AT_ONCE {
            let Some(count) = self.next() else { return };
            let bytes = &self.room[..count];
            let Some(head) = Head::read(bytes) else { continue };
            match self.folder.take(&head, bytes) {
                Taken::Ask(..) if self.is_shut => self.reply(head.unique, Err(Errno::IO)),
                Taken::Ask(request, to) => {
                    self.waiting.insert(head.unique, to);
                    sink.submit(RequestId { client: 0, cookie: head.unique }, request);
                }
                Taken::Answer(Ok(found)) => self.reply(head.unique, Ok(&found)),
                Taken::Answer(Err(errno)) => self.reply(head.unique, Err(errno)),
                Taken::Nothing => {}
            }
        }
    }

    fn answer(&mut self, reply: Reply) {
        let unique = reply.request_id.cookie;
        let Some(to) = self.waiting.remove(&unique) else { return };
        match &reply.answer {
            Ok(answer) => self.reply_done(unique, to, answer),
            Err(_) => self.reply(unique, Err(Errno::IO)),
        }
    }

    fn flush(&mut self) {}

    fn drop_clients(&mut self) {
        for (unique, _) in std::mem::take(&mut self.waiting) {
            self.reply(unique, Err(Errno::IO));
        }
    }

    fn shut(&mut self, is_shut: bool) {
        self.is_shut = is_shut;
    }

    fn counts(&self) -> TransportCounts {
        TransportCounts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_mount_names_what_is_missing() {
        for (is_root, has_helper) in [(false, false), (false, true), (true, false), (true, true)] {
            assert!(remedy_for(false, is_root, has_helper).starts_with("there is no /dev/fuse: "));
        }
        assert!(remedy_for(true, true, false).contains("--device /dev/fuse --cap-add SYS_ADMIN"));
        assert!(remedy_for(true, false, false).contains("install it (Debian: fuse3)"));
        assert!(remedy_for(true, false, true).contains("--device /dev/fuse --cap-add SYS_ADMIN"));
    }
}
