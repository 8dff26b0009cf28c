//! Errors that prevent or end a session.
use crate::platter::Failed;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum EmulateError {
    #[error("{what}: {why}")]
    Option { what: String, why: String },
    #[error("cannot open {path}: {}", told(.error))]
    Open { path: PathBuf, error: io::Error },
    #[error("cannot serve at {at}: {}", told(.error))]
    Bind { at: String, error: io::Error },
    #[error("cannot serve with TLS: {path}: {why}")]
    Certificates { path: PathBuf, why: String },
    #[error(
        "cannot mount the device at {folder}: {}; mounting takes /dev/fuse, and root or fusermount3",
        told(.error)
    )]
    Mount { folder: PathBuf, error: io::Error },
    #[error("cannot {} {}: {}", if .0.is_write { "write" } else { "read" }, .0.image, .0.why)]
    Image(Failed),
    #[error("cannot write the capture: {}", told(.0))]
    Capture(io::Error),
    #[error("cannot wait for clients: {}", told(.0))]
    Wait(io::Error),
    #[error("a defect of drivelab: {0}")]
    Defect(String),
}

/// The text of an error: one of the operating system in lower case without its number, all others unchanged.
pub(crate) fn told(error: &io::Error) -> String {
    let text = error.to_string();
    if error.raw_os_error().is_none() {
        return text;
    }
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
