//! NBD: fixed newstyle handshake, structured replies, replies in any order. The codec does no I/O; [`door`] has the sockets.
//!
//! Start reading at [`session`]: one connection as a state machine.
pub mod client;
pub mod door;
pub mod export;
pub mod handshake;
pub mod request;
pub mod session;
pub mod wire;

pub use door::NbdDoor;
pub use export::Export;
pub use session::{Closed, Request, Session};
pub use wire::Errno;
