//! The two machines: [`host::Host`] issues commands, [`storage::Target`] serves them.
//!
//! What lives here: state machines that do no I/O and never read a clock, and everything they consist of.
//! What does not: files, threads, clocks, hash maps, printing, payload bytes, scenario text. Start reading at
//! [`machine`], then [`storage::drive`], then one whole policy in `storage/drive/queue/orders/sptf.rs`.
//!
//! # One drive in twenty lines
//!
//! Virtual time jumps from one due instant to the next.
//!
//! ```
//! use drivelab_core::storage::drive::geometry::GeometryParams;
//! use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
//! use drivelab_core::storage::drive::seek::SeekParams;
//! use drivelab_core::storage::{Target, TargetInput, TargetOutput, TargetParams};
//! use drivelab_core::{Access, Command, Machine, Outcome};
//! use drivelab_units::{Instant, Lba, Rpm, Sectors, Span};
//!
//! let rpm = Rpm::from_milli(7_200_000).unwrap();
//! let seek = SeekParams::Table(vec![(1, Span::from_us(800)), (1_000, Span::from_ms(15))]);
//! let drive = DriveParams::plain(rpm, GeometryParams::one_zone(4, 1_000, 600), seek);
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
//! The same machine in real time: sleep until something is due, and pass the current time. Waking up late
//! delays an answer, but never changes its contents.
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
//! // It completed at its due instant, whenever that was noticed.
//! assert_eq!(answer.completed - answer.submitted, Span::from_ms(3));
//! assert!(now() >= answer.completed);
//! ```
//!
//! # An array with a member that has failed
//!
//! A mirror continues without it, and reports that.
//!
//! ```
//! use drivelab_core::storage::drive::geometry::GeometryParams;
//! use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
//! use drivelab_core::storage::drive::seek::SeekParams;
//! use drivelab_core::storage::array::params::{ArrayParams, Level};
//! use drivelab_core::storage::array::report::ReportKind;
//! use drivelab_core::storage::controller::params::ControllerParams;
//! use drivelab_core::storage::system::SystemParams;
//! use drivelab_core::storage::{Fault, Target, TargetInput, TargetParams};
//! use drivelab_core::{Access, Command, Machine, Outcome};
//! use drivelab_units::{Instant, Lba, Rpm, Sectors, Span};
//!
//! let rpm = Rpm::from_milli(7_200_000).unwrap();
//! let seek = SeekParams::Table(vec![(1, Span::from_us(800)), (1_000, Span::from_ms(15))]);
//! let drive = DriveParams::plain(rpm, GeometryParams::one_zone(4, 1_000, 600), seek);
//! let model = std::sync::Arc::new(DriveModel::new(&drive).unwrap());
//! let mirror = SystemParams {
//!     drives: vec![model.clone(), model.clone()],
//!     array: Some(ArrayParams::plain(Level::Mirrored, 2)),
//!     ..SystemParams::of_drive(model, ControllerParams::PLAIN)
//! };
//! let mut target = Target::new(&TargetParams::System(mirror), 1);
//! target.handle(Instant::ZERO, TargetInput::Inject(Fault::Fail { drive: 0 })).unwrap();
//! let read = Command::new(0, Access::Read, Lba::new(5_000), Sectors::new(8));
//! target.handle(Instant::ZERO, TargetInput::Submit(read)).unwrap();
//! while let Some(due) = target.poll_timeout() {
//!     target.handle(due, TargetInput::Tick).unwrap();
//! }
//! let outputs: Vec<_> = std::iter::from_fn(|| target.poll_output()).collect();
//! assert!(outputs.iter().any(|output| output.report().is_some_and(|report| matches!(report.what, ReportKind::Failed { .. }))));
//! assert!(outputs.iter().any(|output| output.completed().is_some_and(|answer| answer.outcome == Outcome::Done)));
//! assert_eq!(target.system().unwrap().array().unwrap().members().missing(), 1);
//! ```
//!
//! # Giving a command up
//!
//! A waiting command ends at once, and causes no further work.
//!
//! ```
//! use drivelab_core::storage::drive::geometry::GeometryParams;
//! use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
//! use drivelab_core::storage::drive::seek::SeekParams;
//! use drivelab_core::storage::{Accepted, Target, TargetInput, TargetOutput, TargetParams};
//! use drivelab_core::{Access, Command, Machine, Outcome};
//! use drivelab_units::{Instant, Lba, Rpm, Sectors, Span};
//!
//! let rpm = Rpm::from_milli(7_200_000).unwrap();
//! let seek = SeekParams::Table(vec![(1, Span::from_us(800)), (1_000, Span::from_ms(15))]);
//! let drive = DriveParams::plain(rpm, GeometryParams::one_zone(4, 1_000, 600), seek);
//! let mut target = Target::new(&TargetParams::Drive(DriveModel::new(&drive).unwrap().into()), 1);
//! for id in [7, 8] {
//!     let read = Command::new(id, Access::Read, Lba::new(90_000 * id), Sectors::new(8));
//!     target.handle(Instant::ZERO, TargetInput::Submit(read)).unwrap();
//! }
//! // The drive has no queue: the second waits for the first.
//! let accepted = target.handle(Instant::ZERO, TargetInput::Abort { id: 8 }).unwrap();
//! assert_eq!(accepted, Accepted::Aborting);
//! let Some(TargetOutput::Completed(answer)) = target.poll_output() else { panic!("it is answered") };
//! assert_eq!((answer.id, answer.outcome, answer.completed), (8, Outcome::Aborted, Instant::ZERO));
//! ```
//!
//! # Cutting power
//!
//! No command under way is answered any more, and no further one is accepted.
//!
//! ```
//! use drivelab_core::storage::server::{ServerParams, Service};
//! use drivelab_core::storage::{CallError, Fault, Target, TargetEvent, TargetInput, TargetOutput, TargetParams};
//! use drivelab_core::{Access, Command, Machine};
//! use drivelab_units::{Instant, Lba, Sectors, Span};
//!
//! let service = Some(Service::Fixed(Span::from_ms(3)));
//! let station = ServerParams { capacity: Sectors::new(1_000), service, stations: 1 };
//! let mut target = Target::new(&TargetParams::Server(station), 1);
//! let write = Command::new(0, Access::Write, Lba::new(0), Sectors::new(8));
//! let at = Instant::ZERO + Span::from_ms(1);
//! target.handle(Instant::ZERO, TargetInput::Submit(write)).unwrap();
//! target.handle(at, TargetInput::Inject(Fault::CutPower)).unwrap();
//! assert_eq!(target.poll_output(), Some(TargetOutput::Event(TargetEvent::PowerCut { at })));
//! assert_eq!((target.poll_output(), target.poll_timeout()), (None, None));
//! assert_eq!(target.handle(at, TargetInput::Submit(write)), Err(CallError::PowerIsOff));
//! ```
//!
//! # An order of one's own
//!
//! A drive's order is a cost: the waiting command with the least cost goes next. [`Rule::own`] makes one from
//! a function, with an example; [`QueueParams::order`] takes it as [`Order::Own`]. A scheduler of your own
//! for the host goes in front of the target: it holds commands back, and sends the next when one is answered.
//!
//! [`Rule::own`]: storage::drive::queue::orders::Rule::own
//! [`QueueParams::order`]: storage::drive::queue::QueueParams::order
//! [`Order::Own`]: storage::drive::queue::Order::Own
#![no_std]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub(crate) mod agenda;
pub mod command;
pub mod data;
pub mod digest;
pub(crate) mod fifo;
pub mod host;
pub mod machine;
pub mod rng;
pub mod setup;
pub mod storage;
pub mod trace;

pub use command::{Access, Attribute, Breakdown, Command, Completion, Content, Outcome, Priority};
pub use machine::Machine;
pub use setup::{Limit, Section, Setup};
pub use trace::{CommandTrace, OfMember, Served};

/// Raised whenever the same scenario and seed give another digest than before; the changelog's "Model" says why.
pub const MODEL_VERSION: u32 = 16;
