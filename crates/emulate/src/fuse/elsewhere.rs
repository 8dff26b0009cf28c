//! The FUSE transport on other systems than Linux: refused, since its requests are those of Linux's kernel.
use crate::error::EmulateError;
use crate::transport::Transport;
use std::path::Path;

/// Refuses with the reason and the remedy.
pub(crate) fn mount(folder: &Path, _size: u64, _block_size: u32) -> Result<Box<dyn Transport>, EmulateError> {
    let why = "a device is mounted as a file on Linux only, by its FUSE; leave the mount out, and connect to the device \
               over NBD";
    Err(EmulateError::Option { what: folder.display().to_string(), why: why.into() })
}
