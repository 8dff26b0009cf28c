//! Why nothing was measured.
use drivelab_nbd::{NbdError, in_words};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum MeasureError {
    #[error("{}: {}", .path.display(), in_words(.error))]
    Open { path: PathBuf, error: io::Error },
    #[error("{}: {why}", .path.display())]
    Target { path: PathBuf, why: String },
    #[error("{address}: {error}")]
    Address { address: String, error: NbdError },
    #[error("the workload: {0}")]
    Workload(String),
    #[error("io_uring is refused here: {0}")]
    Refused(io::Error),
    #[error("the kernel refuses to go on: {0}")]
    Port(io::Error),
    #[error("the accounts of the run disagree, a defect of drivelab: {0}")]
    Accounts(String),
    #[error("host and device do not understand each other, a defect of drivelab: {0}")]
    Defect(String),
}
