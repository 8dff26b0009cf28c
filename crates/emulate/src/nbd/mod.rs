//! NBD: fixed newstyle handshake, structured replies, replies in any order. The codec does no I/O; [`transport`] has the sockets.
//!
//! The protocol numbers and the client that the simulator's host uses are in crate `nbd`.
//!
//! Start reading at [`session`]: one connection as a state machine.
pub mod export;
pub mod handshake;
pub mod listener;
mod payload;
pub mod request;
pub mod session;
mod sharing;
mod stream;
pub mod tls;
pub mod transport;
mod under_way;

pub use drivelab_nbd::wire;
pub use export::Export;
pub use handshake::Security;
pub use listener::Listening;
pub use session::{Closed, Request, Session};
pub use tls::Certificates;
pub use transport::NbdTransport;
pub use wire::Errno;
