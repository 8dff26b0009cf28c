//! Commands that a device failed: counted by error, the first of them with their addresses.
use drivelab_core::{Access, Command, Outcome};
use drivelab_units::SECTOR_BYTES;
use rustix::io::Errno;
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of failed places that are kept.
const PLACES_MAX: usize = 64;
/// Failed commands in a row, with no success between them: the device no longer responds usefully.
const IN_A_ROW_MAX: u32 = 10_000;

/// What a failure means for the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureClass {
    /// This place cannot be read or written; others may be.
    Bad,
    DeviceGone,
    DiskFull,
}

/// A place at which a command failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FailedPlace {
    pub access: &'static str,
    pub offset_bytes: u64,
    pub bytes: u64,
    pub error: String,
    /// Number of failures there.
    pub count: u64,
}

/// All failures of a run, its warm-up included.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Failures {
    pub count: u64,
    pub by_error: BTreeMap<String, u64>,
    /// The first 64 places, in the order in which they failed.
    pub places: Vec<FailedPlace>,
    #[serde(skip)]
    in_a_row: u32,
}

impl Failures {
    /// A command succeeded.
    #[inline]
    pub fn record_success(&mut self) {
        self.in_a_row = 0;
    }

    /// A command failed: with a negative errno, or with fewer bytes than it asked for.
    #[cold]
    pub fn add(&mut self, command: &Command, result: i32) -> (FailureClass, Outcome) {
        let (error, meaning, outcome) = classify(result);
        self.count += 1;
        self.in_a_row += 1;
        *self.by_error.entry(error.clone()).or_default() += 1;
        let access = match command.access {
            Access::Read => "read",
            Access::Write => "write",
            Access::Flush => "flush",
        };
        let offset_bytes = command.first.get() * SECTOR_BYTES;
        let known = self.places.iter_mut().find(|place| {
            place.offset_bytes == offset_bytes && place.access == access && place.error == error
        });
        if let Some(place) = known {
            place.count += 1;
        } else if self.places.len() < PLACES_MAX {
            let bytes = command.count.bytes().get();
            self.places.push(FailedPlace { access, offset_bytes, bytes, error, count: 1 });
        }
        let meaning = if self.in_a_row > IN_A_ROW_MAX { FailureClass::DeviceGone } else { meaning };
        (meaning, outcome)
    }
}

fn classify(result: i32) -> (String, FailureClass, Outcome) {
    if result >= 0 {
        return ("short".into(), FailureClass::Bad, Outcome::OutOfRange);
    }
    match Errno::from_raw_os_error(-result) {
        Errno::NODEV => ("ENODEV".into(), FailureClass::DeviceGone, Outcome::Failed),
        Errno::NXIO => ("ENXIO".into(), FailureClass::DeviceGone, Outcome::Failed),
        Errno::SHUTDOWN => ("ESHUTDOWN".into(), FailureClass::DeviceGone, Outcome::Failed),
        Errno::NOSPC => ("ENOSPC".into(), FailureClass::DiskFull, Outcome::Failed),
        Errno::DQUOT => ("EDQUOT".into(), FailureClass::DiskFull, Outcome::Failed),
        Errno::FBIG => ("EFBIG".into(), FailureClass::DiskFull, Outcome::Failed),
        Errno::IO => ("EIO".into(), FailureClass::Bad, Outcome::MediaError),
        Errno::NODATA => ("ENODATA".into(), FailureClass::Bad, Outcome::MediaError),
        Errno::ILSEQ => ("EILSEQ".into(), FailureClass::Bad, Outcome::MediaError),
        #[cfg(target_os = "linux")]
        Errno::REMOTEIO => ("EREMOTEIO".into(), FailureClass::Bad, Outcome::MediaError),
        Errno::BADMSG => ("EBADMSG".into(), FailureClass::Bad, Outcome::MediaError),
        Errno::TIMEDOUT => ("ETIMEDOUT".into(), FailureClass::Bad, Outcome::TimedOut),
        Errno::AGAIN => ("EAGAIN".into(), FailureClass::Bad, Outcome::Busy),
        Errno::INVAL => ("EINVAL".into(), FailureClass::Bad, Outcome::Invalid),
        Errno::BADF => ("EBADF".into(), FailureClass::Bad, Outcome::Invalid),
        _ => (format!("errno {}", -result), FailureClass::Bad, Outcome::Failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_units::{Lba, Sectors};

    fn command(first: u64) -> Command {
        Command::new(0, Access::Read, Lba::new(first), Sectors::new(8))
    }

    #[test]
    fn failures_are_counted_and_located_once_each() {
        let mut failures = Failures::default();
        for first in [8, 16, 8] {
            assert_eq!(failures.add(&command(first), -5), (FailureClass::Bad, Outcome::MediaError));
        }
        assert_eq!(failures.add(&command(0), 512), (FailureClass::Bad, Outcome::OutOfRange));
        assert_eq!((failures.count, failures.by_error["EIO"], failures.by_error["short"]), (4, 3, 1));
        let places: Vec<_> = failures.places.iter().map(|place| (place.offset_bytes, place.count)).collect();
        assert_eq!(places, [(4_096, 2), (8_192, 1), (0, 1)]);
    }

    #[test]
    fn a_device_that_is_gone_and_a_full_disk_end_the_run_and_a_bad_block_does_not() {
        let mut failures = Failures::default();
        assert_eq!(failures.add(&command(0), -19).0, FailureClass::DeviceGone);
        assert_eq!(failures.add(&command(0), -28).0, FailureClass::DiskFull);
        for _ in 2..IN_A_ROW_MAX {
            assert_eq!(failures.add(&command(0), -5).0, FailureClass::Bad);
        }
        failures.record_success();
        assert_eq!(failures.add(&command(0), -5).0, FailureClass::Bad);
        for _ in 0..IN_A_ROW_MAX {
            failures.add(&command(0), -5);
        }
        assert_eq!(failures.add(&command(0), -5).0, FailureClass::DeviceGone, "nothing works any more");
    }

    #[test]
    fn no_more_than_64_places_are_kept() {
        let mut failures = Failures::default();
        (0..200).for_each(|first| _ = failures.add(&command(first * 8), -5));
        assert_eq!((failures.count, failures.places.len()), (200, PLACES_MAX));
    }
}
