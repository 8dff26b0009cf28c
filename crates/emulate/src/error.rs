//! Errors that prevent or end a session.
use crate::platter::Failed;
use drivelab_nbd::in_words;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum EmulateError {
    #[error("{what}: {why}")]
    Option { what: String, why: String },
    #[error("cannot open {path}: {}", in_words(.error))]
    Open { path: PathBuf, error: io::Error },
    #[error("cannot serve at {at}: {}", in_words(.error))]
    Bind { at: String, error: io::Error },
    #[error("cannot serve with TLS: {path}: {why}")]
    Certificates { path: PathBuf, why: String },
    #[error("cannot mount the device at {folder}: {}; {remedy}", in_words(.error))]
    Mount { folder: PathBuf, error: io::Error, remedy: &'static str },
    #[error("cannot {} {}: {}", if .0.is_write { "write" } else { "read" }, .0.image, .0.why)]
    Image(Failed),
    #[error("cannot write the capture: {}", in_words(.0))]
    Capture(io::Error),
    #[error("cannot wait for clients: {}", in_words(.0))]
    Wait(io::Error),
    #[error("a defect of drivelab: {0}")]
    Defect(String),
}
