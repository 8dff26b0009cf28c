//! A disk without room for a file: how much the file needs, and how much is free.
use drivelab_units::key;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;

/// The error of a file, or of the folder that it was to be in: where the disk lacks the room, with the bytes that the
/// file needs and those that are free.
pub(crate) fn explained(error: io::Error, place: impl AsFd, needed: u64) -> io::Error {
    let free = rustix::fs::fstatvfs(place).ok().map(|found| found.f_bavail.saturating_mul(found.f_frsize));
    match (error.kind(), free) {
        (ErrorKind::StorageFull | ErrorKind::QuotaExceeded, Some(free)) => {
            let why = drivelab_nbd::in_words(&error);
            io::Error::new(error.kind(), text(&why, needed, free))
        }
        (ErrorKind::FileTooLarge, _) => io::Error::new(
            error.kind(),
            format!(
                "the file system takes no file of {needed} bytes: take a folder on another one, such as XFS, or a smaller \
                 drive with {}",
                key!("drive_size")
            ),
        ),
        _ => error,
    }
}

fn text(why: &str, needed: u64, free: u64) -> String {
    format!(
        "{why}: {needed} bytes are needed and {free} are free; free some, or take a folder on another disk"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_full_disk_is_told_with_what_is_needed_and_what_is_free() {
        let folder = File::open(std::env::temp_dir()).expect("it is there");
        let told = |kind: ErrorKind| explained(io::Error::from(kind), &folder, 4_096).to_string();
        let full = told(ErrorKind::StorageFull);
        assert!(
            full.contains(": 4096 bytes are needed and ") && full.contains(" are free; free some"),
            "{full}"
        );
        assert!(told(ErrorKind::FileTooLarge).contains("takes no file of 4096 bytes"));
        let other = io::Error::from(ErrorKind::PermissionDenied).to_string();
        assert_eq!(told(ErrorKind::PermissionDenied), other);
        assert_eq!(
            text("no space", 5, 3),
            "no space: 5 bytes are needed and 3 are free; free some, or take a folder on another disk"
        );
    }
}
