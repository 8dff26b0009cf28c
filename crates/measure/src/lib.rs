//! The real clock against real devices: the workload of a scenario on a file, a block device or an NBD
//! address, with the record of a run.
//!
//! Lives here: the engine that drives the core's host, the ports to the device (io_uring, threads, NBD, none
//! at all), the opening of the target, and the figures that a measured point has beyond a simulated one. What
//! never does: `unsafe` (that is the room `ring`), a rule of the host (that is the core's), what may be
//! written to and what a figure is worth (that is Python's).
//!
//! Start reading at [`measure`], then [`engine`].
//!
//! # Example
//! A thousand reads that a port answers without a device.
//! ```
//! use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobParams, Marking, SizeShare, SubmitCost};
//! use drivelab_core::host::popularity::Popularity;
//! use drivelab_core::storage::TargetParams;
//! use drivelab_core::storage::server::ServerParams;
//! use drivelab_core::{Limit, Setup};
//! use drivelab_measure::{Control, DeviceAddress, MeasureOptions, measure};
//! use drivelab_units::{Lba, Sectors, Share, Span};
//! use std::sync::atomic::AtomicBool;
//!
//! let job = JobParams {
//!     initiator: 0,
//!     logical_unit: 0,
//!     process: 0,
//!     synchronous: true,
//!     marking: Marking::default(),
//!     priorities: Vec::new(),
//!     reads: Share::ALL,
//!     flushes: Flushes::Never,
//!     addressing: Addressing::Random,
//!     popularity: Popularity::Uniform,
//!     sizes: vec![SizeShare { size: Sectors::new(8), weight: 1 }],
//!     first: Lba::new(0),
//!     count: Sectors::new(1 << 20),
//!     align: Sectors::new(8),
//!     zones: None,
//!     command_limit: None,
//!     arrivals: Arrivals::Closed { outstanding: 4, think: Span::ZERO },
//!     submit: SubmitCost::NONE,
//!     ending: Default::default(),
//! };
//! let capacity = Sectors::new(1 << 20);
//! let setup = Setup {
//!     target: TargetParams::Server(ServerParams { capacity, service: None, stations: 1 }),
//!     jobs: vec![job],
//!     sections: [].into(),
//!     fed: None,
//!     warmup: Span::ZERO,
//!     limit: Limit { ios: Some(1_000), ..Limit::default() },
//!     seed: 1,
//!     traces: 0,
//!     checks_data: false,
//!     injections: [].into(),
//!     power_cut: None,
//! };
//! let stop = AtomicBool::new(false);
//! let control = Control { stop: &stop, progress: &|_| {} };
//! let found = measure(&setup, &MeasureOptions { at: DeviceAddress::Null, ..MeasureOptions::default() }, &control)?;
//! assert_eq!(found.point.read.ios, 1_000);
//! assert_eq!(found.point.depth.asked, Some(4));
//! # Ok::<(), drivelab_measure::MeasureError>(())
//! ```
mod drain;
mod engine;
mod error;
mod failures;
mod identity;
mod ledger;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod local;
mod nbd;
mod null;
#[cfg(target_os = "linux")]
mod open;
mod port;
mod report;
mod run;
mod steady;
#[cfg(target_os = "linux")]
mod threads;
#[cfg(target_os = "linux")]
mod uring;

pub use drain::UnderWay;
pub use error::MeasureError;
pub use failures::{FailedPlace, Failures};
pub use identity::Identity;
pub use report::{LoggedCommand, Measured, MeasuredPoint};
pub use run::{Control, DeviceAddress, IoEngine, MeasureOptions, OnError, fits_export, measure};
pub use steady::{Steady, SteadyRecord};
