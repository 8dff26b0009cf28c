//! The client side of NBD: addresses, the handshake, requests and replies over one connection.
//!
//! Lives here: the constants of the protocol ([`wire`]), which the server in crate `emulate` uses too, and a client
//! that keeps any number of requests in flight on one connection and allocates nothing per request. What never does:
//! a server, the timing of requests.
//!
//! Start reading at [`Connection`], then [`replies`].
pub mod address;
pub mod connection;
pub mod error;
pub mod handshake;
pub mod replies;
mod tls;
pub mod wire;

pub use address::{Address, Endpoint};
pub use connection::{Connection, Kind, Request};
pub use error::{NbdError, in_words};
pub use handshake::Export;
pub use replies::ReplyEvent;
