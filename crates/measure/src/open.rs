//! Opening the target: bypassing the page cache where the system allows it, exclusively where it is written
//! to.
use crate::error::MeasureError;
use crate::identity::Identity;
use rustix::fs::{OFlags, ioctl_blksszget};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, IoSliceMut, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The alignment of memory in the probe.
const ALIGN: usize = 4096;
/// Granularities that are probed.
const GRANULARITIES: [usize; 5] = [512, 1024, 2048, 4096, 16384];

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Identity { file_system: metadata.dev(), inode: metadata.ino(), device: metadata.rdev() }
    }
}

/// A target as it was opened.
#[derive(Debug)]
pub struct Opened {
    pub file: File,
    pub bytes: u64,
    /// Whether reads and writes bypass the page cache.
    pub is_direct: bool,
    /// Whether that was requested and refused.
    pub is_direct_refused: bool,
    /// Offsets and sizes must be multiples of this many bytes.
    pub granularity: u32,
}

/// Opens a target for reading, and for writing too if `writes`.
///
/// A block device that is written to is opened exclusively: the kernel refuses that while anything uses it.
///
/// # Errors
/// If it cannot be opened this way, is neither a file nor a block device, is empty, or is not the `expected`
/// one.
pub fn open(
    path: &Path,
    writes: bool,
    wants_direct: bool,
    expected: Option<Identity>,
) -> Result<Opened, MeasureError> {
    let failed = |error: io::Error| MeasureError::Open { path: path.into(), error };
    let wrong = |why: &str| MeasureError::Target { path: path.into(), why: why.into() };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    let kind = metadata.file_type();
    let is_block_device = kind.is_block_device();
    if kind.is_dir() {
        return Err(wrong("is a directory; name a file in it, or a block device"));
    }
    if !is_block_device && !kind.is_file() {
        return Err(wrong("is neither a file nor a block device"));
    }
    let alone = if writes && is_block_device { OFlags::EXCL } else { OFlags::empty() };
    let with = |flags: OFlags| {
        let flags = (flags | alone).bits() as i32;
        OpenOptions::new().read(true).write(writes).custom_flags(flags).open(path)
    };
    let (file, is_direct) = match wants_direct.then(|| with(OFlags::DIRECT)) {
        Some(Ok(file)) => (file, true),
        Some(Err(error)) if Errno::from_io_error(&error) != Some(Errno::INVAL) => {
            return Err(refused(path, error, writes));
        }
        _ => (with(OFlags::empty()).map_err(|error| refused(path, error, writes))?, false),
    };
    // Between the check and the opening the path may have come to lead elsewhere.
    let found = Identity::of(&file.metadata().map_err(failed)?);
    if found != expected.unwrap_or(Identity::of(&metadata)) {
        return Err(wrong(
            "is not what it was a moment ago: another file or device has its name now; nothing was done",
        ));
    }
    let bytes = (&file).seek(SeekFrom::End(0)).map_err(failed)?;
    if bytes == 0 {
        return Err(wrong("is empty; a file has to be there in its full size before it is measured"));
    }
    let granularity = match (is_block_device, is_direct) {
        (true, true) => ioctl_blksszget(&file).map_err(|errno| failed(errno.into()))?,
        (_, true) => probe(&file).map_err(failed)?,
        (_, false) => 1,
    };
    let is_direct_refused = wants_direct && !is_direct;
    Ok(Opened { file, bytes, is_direct, is_direct_refused, granularity })
}

fn refused(path: &Path, error: io::Error, writes: bool) -> MeasureError {
    let why = match Errno::from_io_error(&error) {
        Some(Errno::BUSY) => "is in use (mounted, swap, or part of another device); it is not written to",
        Some(Errno::ROFS) => "lies on a read-only file system, and is to be written to",
        Some(Errno::ACCESS | Errno::PERM) if writes => {
            "may not be written to by this user; a block device needs root or the group of its file"
        }
        Some(Errno::ACCESS | Errno::PERM) => {
            "may not be read by this user; a block device needs root or the group of its file"
        }
        _ => return MeasureError::Open { path: path.into(), error },
    };
    MeasureError::Target { path: path.into(), why: why.into() }
}

/// The granularity of a file's reads: found by reading.
fn probe(file: &File) -> io::Result<u32> {
    let mut memory = vec![0; 2 * GRANULARITIES[GRANULARITIES.len() - 1] + ALIGN];
    let start = memory.as_ptr().align_offset(ALIGN);
    for granularity in GRANULARITIES {
        let buffer = &mut memory[start..start + granularity];
        let found =
            preadv2(file, &mut [IoSliceMut::new(buffer)], granularity as u64, ReadWriteFlags::empty());
        match found {
            Err(Errno::INVAL) => {}
            // Bad blocks are for the run to find.
            Ok(_) | Err(Errno::IO) => return Ok(granularity as u32),
            Err(error) => return Err(error.into()),
        }
    }
    Err(Errno::INVAL.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(path: &str, writes: bool) -> String {
        open(Path::new(path), writes, true, None).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_measured_is_named() {
        assert_eq!(message("/nowhere/at/all", false), "/nowhere/at/all: no such file or directory");
        assert!(message("/proc", false).starts_with("/proc: is a directory; name a file"));
        assert_eq!(message("/dev/null", false), "/dev/null: is neither a file nor a block device");
        let empty = std::env::temp_dir().join(format!("drivelab-empty-{}", std::process::id()));
        File::create(&empty).unwrap();
        assert!(message(empty.to_str().unwrap(), false).contains("is empty; a file has to be there"));
        std::fs::remove_file(empty).unwrap();
    }

    #[test]
    fn a_file_reports_its_size_and_the_alignment_of_its_reads() {
        let path = std::env::temp_dir().join(format!("drivelab-open-{}", std::process::id()));
        std::fs::write(&path, vec![1; 1 << 16]).unwrap();
        let opened = open(&path, true, true, None).unwrap();
        assert_eq!(opened.bytes, 1 << 16);
        assert!(opened.granularity == 1 || opened.granularity.is_multiple_of(512));
        assert_eq!(opened.is_direct_refused, !opened.is_direct);
        assert!(!open(&path, false, false, None).unwrap().is_direct);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_has_replaced_the_file_that_was_checked_is_not_opened() {
        let path = std::env::temp_dir().join(format!("drivelab-replaced-{}", std::process::id()));
        let other = path.with_extension("other");
        std::fs::write(&path, vec![1; 1 << 16]).unwrap();
        std::fs::write(&other, vec![2; 1 << 16]).unwrap();
        let identity = Identity::of(&std::fs::metadata(&path).unwrap());
        assert!(open(&path, true, true, Some(identity)).is_ok());
        std::fs::rename(&other, &path).unwrap();
        let error = open(&path, true, true, Some(identity)).unwrap_err().to_string();
        assert!(error.contains("is not what it was a moment ago"), "{error}");
        std::fs::remove_file(path).unwrap();
    }
}
