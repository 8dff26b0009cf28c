//! An image in a file of the device's size, with holes where nothing was written.
use super::{Image, room};
use drivelab_units::{Given, key};
use rustix::fs::{FlockOperation, SeekFrom, flock, seek};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A sparse file.
pub struct FileImage {
    file: File,
    size: u64,
}

impl FileImage {
    /// Opens or creates a file for reading and writing, and locks it exclusively.
    ///
    /// # Errors
    /// When the file cannot be opened, is locked by another program, or differs in size from the device.
    pub fn open(path: &Path, size: u64) -> io::Result<Self> {
        check_kind(path)?;
        Self::of(
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?,
            size,
            true,
        )
    }

    /// Locks an open file exclusively. Unless `is_new` allows it, it may not be empty.
    ///
    /// # Errors
    /// When it is locked by another program, or differs in size from the device.
    pub fn of(file: File, size: u64, is_new: bool) -> io::Result<Self> {
        lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        match file.metadata()?.len() {
            0 if size > 0 && !is_new => return Err(io::Error::new(io::ErrorKind::NotFound, "it is empty")),
            0 => {
                file.set_len(size).map_err(|error| room::explained(error, &file, size))?;
                // An empty file is no image: the next session has to find this one's size, even after a crash.
                file.sync_all().map_err(|error| room::explained(error, &file, size))?;
            }
            found if found == size => {}
            found => return Err(other(found, size)),
        }
        Ok(FileImage { file, size })
    }

    /// Opens a file read-only. If it is shorter than the device, the rest reads as zeros.
    ///
    /// # Errors
    /// When the file cannot be opened, is being written to, or is larger than the device.
    pub fn open_read_only(path: &Path, size: u64) -> io::Result<Self> {
        check_kind(path)?;
        let file = File::open(path)?;
        lock(&file, FlockOperation::NonBlockingLockShared)?;
        let found = seek(&file, SeekFrom::End(0))?;
        if found != size {
            return Err(other(found, size));
        }
        Ok(FileImage { file, size: found })
    }
}

fn check_kind(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::other(concat!(
            "it is a folder: one with an image for each drive is given with ",
            key!("store")
        )));
    }
    Ok(())
}

fn lock(file: &File, how: FlockOperation) -> io::Result<()> {
    flock(file, how).map_err(|error| match error {
        rustix::io::Errno::WOULDBLOCK => io::Error::other("another program uses it: end that first"),
        error => error.into(),
    })
}

/// The least size of an image to which a drive is fitted: smaller ones are no images of drives.
const FITTED_MIN: u64 = 1 << 20;

fn other(found: u64, size: u64) -> io::Error {
    let remedy = if found > size {
        "take an image of that size, or a larger drive".to_owned()
    } else if found < FITTED_MIN || !found.is_multiple_of(4_096) {
        "take an image of that size".to_owned()
    } else {
        let given = Given("drive_size", format_args!("{found}B"));
        format!("take an image of that size, or give the drive that of the image: {given}")
    };
    io::Error::other(format!("it has {found} bytes, and the drive {size}: {remedy}"))
}

impl Image for FileImage {
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let there = self.size.saturating_sub(at).min(into.len() as u64) as usize;
        let (from_file, behind) = into.split_at_mut(there);
        behind.fill(0);
        self.file.read_exact_at(from_file, at)
    }

    fn write(&mut self, at: u64, from: &[u8]) -> io::Result<()> {
        self.file.write_all_at(from, at)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.set_len(self.size)
    }

    fn extents(&self) -> io::Result<Vec<(u64, u64)>> {
        let (mut found, mut at) = (Vec::new(), 0);
        while at < self.size {
            let first = match seek(&self.file, SeekFrom::Data(at)) {
                Ok(first) => first,
                // No more data behind this offset.
                Err(rustix::io::Errno::NXIO) => break,
                Err(error) => return Err(error.into()),
            };
            let end = seek(&self.file, SeekFrom::Hole(first))?;
            found.push((first, end));
            at = end;
        }
        Ok(found)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}
