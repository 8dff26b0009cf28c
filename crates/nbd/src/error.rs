//! Errors that prevent or end the use of a server.
use std::io;
use thiserror::Error;

/// An error; the caller adds the address.
#[derive(Debug, Error)]
pub enum NbdError {
    #[error("{0}")]
    Address(String),
    #[error("cannot connect: {}", in_words(.0))]
    Connect(io::Error),
    #[error("{0}")]
    Refused(String),
    #[error("TLS with the server fails: {0}")]
    Tls(String),
    #[error("the server does not keep to the NBD protocol: {0}")]
    Protocol(&'static str),
    #[error("the server has closed the connection")]
    Closed,
    #[error("the server did not answer within {0} s")]
    Silent(u64),
    #[error("a read at byte {offset} fails: {}", in_words(&io::Error::from_raw_os_error(*.errno as i32)))]
    Read { offset: u64, errno: u32 },
    #[error("the connection is lost: {}", in_words(.0))]
    Lost(io::Error),
}

/// The text of an I/O error: one of the operating system in lower case without its number, all others unchanged.
pub fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    if error.raw_os_error().is_none() {
        return text;
    }
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

impl From<io::Error> for NbdError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{
            BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock, WriteZero,
        };
        // An error of TLS is wrapped inside.
        let error = match error.downcast::<NbdError>() {
            Ok(found) => return found,
            Err(error) => error,
        };
        match error.kind() {
            UnexpectedEof | BrokenPipe | ConnectionReset | ConnectionAborted | WriteZero => NbdError::Closed,
            WouldBlock | TimedOut => NbdError::Silent(crate::connection::HANDSHAKE.as_secs()),
            _ => NbdError::Lost(error),
        }
    }
}
