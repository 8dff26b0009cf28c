//! The emulator: serves the target of a scenario as a network block device with its data, in real time.
//!
//! Lives here: the clock, the transports, the data on images, faults and power cuts, and the capture of a session.
//! What never does: rules of physics (crate `core`), data operations (crate `data`), and the words of the command
//! line.
//!
//! One thread does everything: it receives requests ([`nbd`]), advances the model's time ([`engine`]) and sends due
//! replies ([`serve`]). Start reading at [`serve`], then [`engine`].
//!
//! # Example
//! Serves a drive while a client reads the greeting. The clock skips the waiting times of the model.
//! ```
//! use drivelab_core::storage::TargetParams;
//! use drivelab_core::storage::server::{ServerParams, Service};
//! use drivelab_emulate::{Address, Bytes, Device, Pace, ServeOptions, open};
//! use drivelab_units::{Sectors, Span};
//! use std::io::Read;
//! use std::os::unix::net::UnixStream;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! let service = Some(Service::Fixed(Span::from_ms(8)));
//! let target = TargetParams::Server(ServerParams { capacity: Sectors::new(1_000), service, stations: 1 });
//! let socket = std::env::temp_dir().join(format!("drivelab-doc-{}.socket", std::process::id()));
//! let options = ServeOptions {
//!     at: Address::Socket(socket.clone()),
//!     control: None,
//!     pace: Pace::Skip,
//!     bytes: Bytes::Memory,
//!     block_size: 512,
//!     capture: None,
//!     budget: Span::from_us(500),
//!     power_cut: None,
//!     injections: [].into(),
//!     keep: None,
//!     mount: None,
//!     transcript: None,
//! };
//! let server = open(Device { target, seed: 1, name: "station".into() }, &options)?;
//! let stop = AtomicBool::new(false);
//! std::thread::scope(|scope| {
//!     let session = scope.spawn(|| server.run(&stop));
//!     let mut greeting = [0; 8];
//!     UnixStream::connect(&socket).and_then(|mut client| client.read_exact(&mut greeting)).unwrap();
//!     assert_eq!(&greeting, b"NBDMAGIC");
//!     stop.store(true, Ordering::Relaxed);
//!     assert_eq!(session.join().unwrap().failure, None);
//! });
//! assert!(!socket.exists());
//! # Ok::<(), drivelab_emulate::EmulateError>(())
//! ```
mod accepting;
pub mod action;
mod answered;
mod caches;
pub mod capture;
pub mod clock;
mod conditions;
pub mod control;
pub mod crash;
mod damage;
pub mod engine;
pub mod error;
pub mod folder;
mod folder_files;
#[cfg_attr(not(target_os = "linux"), path = "fuse/elsewhere.rs")]
pub mod fuse;
mod held;
pub mod image;
pub mod lateness;
mod layout;
pub mod ledger;
pub mod live;
pub mod looped;
mod lost;
mod members;
mod model;
pub mod nbd;
pub mod open;
mod pending;
pub mod platter;
mod power;
pub mod real_time;
mod request;
mod restart;
mod scheduled;
pub mod serve;
pub mod session;
mod status;
pub mod store;
pub mod transcript;
pub mod transport;
pub mod transports;

pub use caches::write_caches;
pub use clock::Pace;
pub use engine::{Device, Engine};
pub use error::EmulateError;
pub use open::{Address, Bytes, ServeOptions, as_served, open};
pub use serve::Server;
pub use session::SessionRecord;
