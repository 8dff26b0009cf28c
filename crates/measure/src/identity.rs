//! What the caller checked before a run, to be recognised when it is opened.

/// The file or device to which a path led: the path may lead elsewhere a moment later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The file system that holds its name (`st_dev`).
    pub file_system: u64,
    /// `st_ino`.
    pub inode: u64,
    /// For a device file, the device (`st_rdev`).
    pub device: u64,
}
