//! The client's end of NBD: addresses, the handshake, requests and replies over one connection.
//!
//! Lives here: the numbers of the protocol ([`wire`]), which the server of the room `emulate` uses too, and a client that
//! keeps any number of requests in flight on one connection and allocates nothing per request. What never does: a
//! server, when a request is due.
//!
//! Start reading at [`Connection`], then [`replies`].
pub mod address;
pub mod connection;
pub mod error;
pub mod handshake;
pub mod replies;
mod tls;
pub mod wire;

pub use address::{Address, Place};
pub use connection::{Connection, Kind, Request};
pub use error::NbdError;
pub use handshake::Export;
pub use replies::Heard;
