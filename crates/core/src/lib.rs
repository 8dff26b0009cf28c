//! The two machines: [`host::Host`] issues commands, [`storage::Target`] serves them.
//!
//! What traces here: state machines that do no I/O and never read a clock, and everything they are made of. What never
//! does: files, threads, clocks, hash maps, printing, payload bytes, scenario text. Start reading at [`machine`], then
//! [`storage::drive`], then one whole policy in `storage/drive/queue/orders/sptf.rs`.
//!
//! # One drive in twenty lines
//!
//! Virtual time jumps from one due instant to the next.
//!
//! ```
//! use drivelab_core::storage::drive::geometry::{GeometryParams, SurfaceOrder, ZoneParams};
//! use drivelab_core::storage::drive::params::{DriveModel, DriveParams, LinkParams, WriteData};
//! use drivelab_core::storage::drive::{protocol::Protocol, queue::QueueParams, seek::SeekParams};
//! use drivelab_core::storage::{Target, TargetInput, TargetOutput, TargetParams};
//! use drivelab_core::{Access, Command, Machine, Outcome};
//! use drivelab_units::{Instant, Lba, Rpm, Sectors, Span};
//!
//! let zone = ZoneParams { first_cylinder: 0, cylinders: 1_000, sectors_per_track: 600, ..ZoneParams::default() };
//! let drive = DriveParams {
//!     rpm: Rpm::from_milli(7_200_000).unwrap(),
//!     geometry: GeometryParams { heads: 4, order: SurfaceOrder::Cylinder, zones: vec![zone], capacity: None, patterns: None },
//!     seek: SeekParams::Table(vec![(1, Span::from_us(800)), (1_000, Span::from_ms(15))]),
//!     link: LinkParams { rate: None, write_rate: None, write_data: WriteData::WhilePositioning },
//!     queue: QueueParams::NONE,
//!     protocol: Protocol::None,
//!     settle: Default::default(), scatter: None, firmware: Default::default(), exchange: Default::default(),
//!     disconnect: Default::default(), cache: None, faults: None,
//! };
//! let model = DriveModel::new(&drive).unwrap();
//! let mut target = Target::new(&TargetParams::Drive(model.into()), 1);
//! let read = Command::new(0, Access::Read, Lba::new(1_000_000), Sectors::new(8));
//! target.handle(Instant::ZERO, TargetInput::Submit(read)).unwrap();
//! while let Some(due) = target.poll_timeout() {
//!     target.handle(due, TargetInput::Tick).unwrap();
//! }
//! let Some(TargetOutput::Completed(answer)) = target.poll_output() else { panic!("it is answered") };
//! assert_eq!(answer.outcome, Outcome::Done);
//! // Where the time went adds up to it.
//! assert_eq!(answer.breakdown.total(), answer.completed - answer.submitted);
//! assert!(answer.breakdown.seek > Span::from_us(800) && answer.breakdown.rotation < Span::from_us(8_334));
//! ```
//!
//! # A wall clock of one's own
//!
//! The same machine in real time: sleep until something is due, and say what time it is. Waking up late delays an
//! answer, and never what it says.
//!
//! ```
//! use drivelab_core::storage::server::{ServerParams, Service};
//! use drivelab_core::storage::{Target, TargetInput, TargetOutput, TargetParams};
//! use drivelab_core::{Access, Command, Machine};
//! use drivelab_units::{Instant, Lba, Sectors, Span};
//!
//! let began = std::time::Instant::now();
//! let now = || Instant::from_ns(began.elapsed().as_nanos() as u64);
//!
//! let service = Some(Service::Fixed(Span::from_ms(3)));
//! let station = ServerParams { capacity: Sectors::new(1_000), service, stations: 1 };
//! let mut target = Target::new(&TargetParams::Server(station), 1);
//! target.handle(now(), TargetInput::Submit(Command::new(0, Access::Read, Lba::new(0), Sectors::new(8)))).unwrap();
//! let answer = loop {
//!     if let Some(TargetOutput::Completed(answer)) = target.poll_output() {
//!         break answer;
//!     }
//!     let due = target.poll_timeout().expect("it is under way");
//!     std::thread::sleep(std::time::Duration::from_nanos(due.since(now()).as_ns()));
//!     target.handle(now(), TargetInput::Tick).unwrap();
//! };
//! // It was done at its due instant, whenever it was heard of.
//! assert_eq!(answer.completed - answer.submitted, Span::from_ms(3));
//! assert!(now() >= answer.completed);
//! ```
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod agenda;
pub mod command;
pub mod data;
pub mod digest;
pub mod fifo;
pub mod host;
pub mod machine;
pub mod rng;
pub mod setup;
pub mod storage;
pub mod trace;

pub use command::{Access, Attribute, Breakdown, Command, Completion, Outcome, Priority};
pub use machine::Machine;
pub use setup::{Limit, Setup};
pub use trace::{CommandTrace, OfMember, Served};

/// Raised whenever the same scenario and seed give another digest than before; the changelog's "Model" says why.
pub const MODEL_VERSION: u32 = 8;
