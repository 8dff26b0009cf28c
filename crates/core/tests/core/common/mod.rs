//! What the tests of the machines are built from: drives and stations in round numbers, jobs, and a probe that sends a
//! target one command after the other. The room above uses it too.
#![allow(dead_code, reason = "each test program uses a part")]

pub mod scenarios;
pub mod sorted;
pub mod trace;

use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobParams, Marking, SizeShare, SubmitCost};
use drivelab_core::storage::drive::disconnect::DisconnectParams;
use drivelab_core::storage::drive::geometry::{GeometryParams, SurfaceOrder, ZoneParams};
use drivelab_core::storage::drive::mechanism::SettleParams;
use drivelab_core::storage::drive::params::{
    DriveModel, DriveParams, FirmwareParams, LinkParams, Medium, WriteData,
};
use drivelab_core::storage::drive::protocol::{ExchangeParams, Protocol, Reordering, ScsiParams};
use drivelab_core::storage::drive::queue::{Order, PositionKnowledge, QueueParams};
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_core::storage::server::{ServerParams, Service};
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Command, Completion, Limit, Machine, Setup};
use drivelab_units::{Angle, Frequency, Instant, Lba, Rpm, Sectors, Share, Span};
use sorted::Target;
use std::cell::Cell;
use std::sync::Arc;

/// One revolution of [`drive`] in nanoseconds.
pub const TURN: u64 = 6_000_000;
/// Sectors on a track of [`drive`]; one passes in 10 us.
pub const TRACK: u64 = 600;

/// A target that goes on for so many steps has come into a loop. The longest histories are of an overloaded drive with a
/// short queue, which refuses some twenty commands in each millisecond until thousands have been served.
pub const STEPS_MAX: u32 = 1 << 24;

pub const fn us(us: u64) -> Span {
    Span::from_us(us)
}

pub const fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// A zone without skews or slips.
pub fn zone(first_cylinder: u32, cylinders: u32, sectors_per_track: u32) -> ZoneParams {
    ZoneParams {
        first_cylinder,
        cylinders,
        sectors_per_track,
        track_skew: Angle::ZERO,
        cylinder_skew: Angle::ZERO,
        ..ZoneParams::default()
    }
}

pub fn layout(heads: u32, zones: Vec<ZoneParams>) -> GeometryParams {
    GeometryParams {
        heads,
        order: SurfaceOrder::Cylinder,
        zones,
        patterns: None,
        capacity: None,
        outer_last: 0,
    }
}

/// A seek curve that takes this long for every distance of a drive with so many cylinders.
pub fn flat_seek(time: Span, cylinders: u32) -> SeekParams {
    SeekParams::Table(vec![(1, time), (cylinders, time)])
}

/// A bare drive: 6 ms a turn, one head, 1 000 cylinders of 600 sectors, 1 ms for every seek; no overhead, an infinitely
/// fast link, one command at a time, no buffer.
pub fn drive() -> DriveParams {
    DriveParams {
        rpm: Rpm::from_milli(10_000_000).unwrap(),
        geometry: layout(1, vec![zone(0, 1_000, TRACK as u32)]),
        seek: flat_seek(ms(1), 1_000),
        settle: SettleParams::default(),
        scatter: None,
        firmware: FirmwareParams::default(),
        link: LinkParams {
            rate: None,
            write_rate: None,
            write_data: WriteData::WhilePositioning,
            full_duplex: false,
        },
        queue: QueueParams::NONE,
        protocol: Protocol::ScsiTcq(ScsiParams { reordering: Reordering::Unrestricted, ..ScsiParams::USUAL }),
        duration_limits: None,
        exchange: ExchangeParams::default(),
        disconnect: DisconnectParams::default(),
        cache: None,
        medium: Medium::Conventional,
        faults: None,
    }
}

/// A queue that chooses by this order with full knowledge, as the media transfer ends.
pub fn queue(depth: u32, order: Order) -> QueueParams {
    QueueParams { depth, order, knows: PositionKnowledge::Angle, ..QueueParams::NONE }
}

pub fn target(params: &DriveParams) -> TargetParams {
    TargetParams::Drive(Arc::new(DriveModel::new(params).unwrap()))
}

/// Stations in tandem, of a million sectors.
pub fn stations(service: Option<Service>, stations: u16) -> TargetParams {
    TargetParams::Server(ServerParams { capacity: Sectors::new(1_000_000), service, stations })
}

/// Random reads of 8 sectors over the first million, one at a time.
pub fn job() -> JobParams {
    JobParams {
        initiator: 0,
        logical_unit: 0,
        process: 0,
        synchronous: true,
        marking: Marking::default(),
        priorities: Vec::new(),
        reads: Share::ALL,
        flushes: Flushes::Never,
        addressing: Addressing::Random,
        popularity: Default::default(),
        sizes: sizes(8),
        first: Lba::new(0),
        count: Sectors::new(1_000_000),
        align: Sectors::new(8),
        zones: None,
        command_limit: None,
        arrivals: outstanding(1),
        submit: SubmitCost::NONE,
        ending: Default::default(),
    }
}

/// The same over a whole target, every address a multiple of the size.
pub fn random_job(target: &TargetParams, seed: u64, size: u64) -> JobParams {
    let count = Target::new(target, seed).capacity();
    JobParams { sizes: sizes(size), count, align: Sectors::new(size), ..job() }
}

pub fn sizes(sectors: u64) -> Vec<SizeShare> {
    vec![SizeShare { size: Sectors::new(sectors), weight: 1 }]
}

pub fn outstanding(outstanding: u32) -> Arrivals {
    Arrivals::Closed { outstanding, think: Span::ZERO }
}

pub fn poisson(per_second: u64) -> Arrivals {
    Arrivals::Poisson { rate: Frequency::from_millihertz(per_second * 1_000).unwrap() }
}

/// A run of so many I/Os without a warm-up.
pub fn setup(target: TargetParams, job: JobParams, ios: u64) -> Setup {
    Setup {
        target,
        jobs: vec![job],
        sections: [].into(),
        fed: None,
        warmup: Span::ZERO,
        limit: Limit { duration: None, ios: Some(ios), until: None },
        seed: 1,
        traces: 0,
        checks_data: false,
        injections: [].into(),
        power_cut: None,
    }
}

pub fn command(id: u64, access: Access, first: u64, count: u64) -> Command {
    Command::new(id, access, Lba::new(first), Sectors::new(count))
}

thread_local! {
    /// When the last event was due, the events of its history so far, and those at that instant.
    static STEPS: Cell<(Instant, u32, u32)> = const { Cell::new((Instant::ZERO, 0, 0)) };
}

/// More events than any history has at one instant.
const STEPS_AT_ONCE_MAX: u32 = 1 << 18;

/// Counts an event of a machine. Fails a test whose machine goes on for ever: with a fault in it, it may have something
/// to do again and again and never come to an end. Where time goes back another history begins.
pub fn count_step(due: Instant) {
    let (last, steps, at_once) = STEPS.get();
    let steps = if due < last { 0 } else { steps + 1 };
    let at_once = if due == last { at_once + 1 } else { 0 };
    STEPS.set((due, steps, at_once));
    assert!(steps < STEPS_MAX, "a history of a few commands comes to its end");
    assert!(at_once < STEPS_AT_ONCE_MAX, "time goes on behind {due:?}");
}

/// When a machine wants to be woken.
pub fn next_due(machine: &impl Machine) -> Option<Instant> {
    let due = machine.poll_timeout()?;
    count_step(due);
    Some(due)
}

/// A target in the hands of a test that plays the host.
pub struct Probe {
    target: Target,
    next_id: u64,
    pub now: Instant,
}

impl Probe {
    pub fn new(target: &TargetParams, seed: u64) -> Self {
        Probe { target: Target::new(target, seed), next_id: 0, now: Instant::ZERO }
    }

    pub fn of(params: &DriveParams) -> Self {
        Probe::new(&target(params), 1)
    }

    pub fn target(&mut self) -> &mut Target {
        &mut self.target
    }

    /// What can be addressed.
    pub fn capacity(&self) -> u64 {
        self.target.capacity().get()
    }

    /// Lets time pass before the next command.
    pub fn wait(&mut self, span: Span) {
        self.now += span;
    }

    /// Sends a command now, without waiting for it. Returns its number.
    pub fn send(&mut self, access: Access, first: u64, count: u64) -> u64 {
        let command = command(self.next_id, access, first, count);
        self.next_id += 1;
        self.target.handle(self.now, TargetInput::Submit(command));
        command.id
    }

    /// The next completion; time goes on to its instant.
    pub fn answer(&mut self) -> Option<Completion> {
        for _ in 0..STEPS_MAX {
            if let Some(completion) = self.target.poll_output() {
                self.now = self.now.max(completion.completed);
                return Some(completion);
            }
            let due = next_due(&self.target)?;
            self.target.handle(due, TargetInput::Tick);
        }
        panic!("the target goes on without an end, and answers nothing");
    }

    /// All completions that are still to come.
    pub fn drain(&mut self) -> Vec<Completion> {
        std::iter::from_fn(|| self.answer()).collect()
    }

    /// Sends a command and waits for its completion.
    pub fn go(&mut self, access: Access, first: u64, count: u64) -> Completion {
        self.send(access, first, count);
        self.answer().expect("a command alone is answered")
    }

    pub fn read(&mut self, first: u64, count: u64) -> Completion {
        self.go(Access::Read, first, count)
    }

    pub fn write(&mut self, first: u64, count: u64) -> Completion {
        self.go(Access::Write, first, count)
    }
}

/// From submission to completion in nanoseconds.
pub fn response(completion: &Completion) -> u64 {
    (completion.completed - completion.submitted).as_ns()
}
