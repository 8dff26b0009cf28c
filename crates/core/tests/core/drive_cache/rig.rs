//! A drive by itself in the hands of a test: commands one after the other or side by side, with what became of each and
//! when written data reached the media.
use crate::common::sorted::Target;
use crate::common::{command, drive, ms, next_due, queue, target, us};
use drivelab_core::data::DataOp;
use drivelab_core::storage::TargetInput;
use drivelab_core::storage::drive::Drive;
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
use drivelab_core::storage::drive::params::{DriveParams, FirmwareParams, Overhead};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::trace::{CommandTrace, Served};
use drivelab_core::{Access, Command, Completion};
use drivelab_units::{Instant, Sectors, Span};

/// 50 us to take up a command, 5 us to end it, so that no command takes no time.
pub const TAKE_UP: Span = us(50);
pub const END: Span = us(5);

/// A cache of so many sectors in so many segments, which reads on for nothing and keeps no writes back.
pub fn cache(size: u64, segments: u32) -> CacheParams {
    CacheParams { size: Sectors::new(size), segments, ..CacheParams::reading_on(Sectors::ZERO) }
}

/// Takes writes for so many sectors, and keeps them for ever unless somebody waits.
pub fn keeping(limit: u64, segments: u32) -> WriteBackParams {
    WriteBackParams {
        limit: Sectors::new(limit),
        segments,
        destage: Destage::WhenIdle,
        idle: Span::from_s(1_000_000),
        age: None,
        press_from: Sectors::new(1_000_000_000),
        run: Sectors::new(limit),
        while_busy: true,
    }
}

/// The drive in round numbers with this cache: a queue of 8 in order of arrival, a turn of 6 ms, 1 ms for each seek.
pub fn cached(cache: CacheParams) -> DriveParams {
    let firmware = FirmwareParams {
        read_hit: Overhead::always(TAKE_UP),
        read_miss: Overhead::always(TAKE_UP),
        write_hit: Overhead::always(TAKE_UP),
        write: Overhead::always(TAKE_UP),
        read_completion: END,
        write_completion: END,
    };
    DriveParams { firmware, cache: Some(cache), queue: queue(8, Order::Fcfs), ..drive() }
}

/// A command that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub id: u64,
    pub trace: CommandTrace,
    pub completion: Completion,
}

/// Neighbouring blocks that reached the media at one instant, from the cache or past it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Landed {
    pub at: Instant,
    pub first: u64,
    pub end: u64,
}

pub struct Rig {
    target: Target,
    next_id: u64,
    pub now: Instant,
    pub ended: Vec<Ended>,
    pub landed: Vec<Landed>,
    /// Which write the pieces that reached the media are of, and when they did.
    pub persisted: Vec<(u64, Instant)>,
}

impl Rig {
    pub fn new(params: &DriveParams) -> Self {
        let mut target = Target::new(&target(params), 1);
        target.keep_traces();
        target.keep_data();
        let (ended, landed, persisted) = (Vec::new(), Vec::new(), Vec::new());
        Rig { target, next_id: 0, now: Instant::ZERO, ended, landed, persisted }
    }

    /// Sends a command now.
    pub fn send(&mut self, access: Access, first: u64, count: u64) -> u64 {
        self.submit(access, first, count, false)
    }

    /// Sends one that must reach the media, or come from there.
    pub fn send_forced(&mut self, access: Access, first: u64, count: u64) -> u64 {
        self.submit(access, first, count, true)
    }

    fn submit(&mut self, access: Access, first: u64, count: u64, force_unit_access: bool) -> u64 {
        let plain = command(self.next_id, access, first, count);
        self.next_id += 1;
        self.target.handle(self.now, TargetInput::Submit(Command { force_unit_access, ..plain }));
        self.process_outputs();
        plain.id
    }

    fn process_outputs(&mut self) {
        while let Some(op) = self.target.poll_data() {
            if let DataOp::Persist { write, first, count, .. } = op {
                self.persisted.push((write, self.now));
                let (first, end) = (first.get(), (first + count).get());
                match self.landed.last_mut().filter(|last| last.at == self.now && last.end == first) {
                    Some(last) => last.end = end,
                    None => self.landed.push(Landed { at: self.now, first, end }),
                }
            }
        }
        while let Some(completion) = self.target.poll_output() {
            let id = completion.id;
            let trace = std::iter::from_fn(|| self.target.poll_trace()).find(|trace| trace.command.id == id);
            let trace = trace.expect("each command leaves its service");
            self.ended.push(Ended { id, trace, completion });
        }
    }

    /// Goes on to this instant, event by event.
    pub fn run_to(&mut self, end: Instant) {
        while let Some(due) = next_due(&self.target).filter(|&due| due <= end) {
            self.step(due);
        }
        self.now = end;
    }

    fn step(&mut self, due: Instant) {
        self.now = due;
        self.target.handle(due, TargetInput::Tick);
        self.process_outputs();
    }

    pub fn wait(&mut self, span: Span) {
        self.run_to(self.now + span);
    }

    /// Goes on until this command has ended.
    pub fn finish(&mut self, id: u64) -> Ended {
        loop {
            if let Some(ended) = self.ended.iter().find(|ended| ended.id == id) {
                return *ended;
            }
            let due = next_due(&self.target).expect("a command under way ends");
            self.step(due);
        }
    }

    /// A command from its start to its end.
    pub fn go(&mut self, access: Access, first: u64, count: u64) -> Ended {
        let id = self.send(access, first, count);
        self.finish(id)
    }

    /// How a read was served, and long enough after it for the head to have read on.
    pub fn read(&mut self, first: u64, count: u64) -> Served {
        let served = self.go(Access::Read, first, count).trace.served;
        self.wait(ms(50));
        served
    }

    pub fn write(&mut self, first: u64, count: u64) -> Ended {
        let ended = self.go(Access::Write, first, count);
        self.wait(ms(50));
        ended
    }

    pub fn flush(&mut self) -> Ended {
        let ended = self.go(Access::Flush, 0, 0);
        self.wait(ms(50));
        ended
    }

    /// What reached the media since the last time that somebody asked: first block, and the one behind the last.
    pub fn take_landed(&mut self) -> Vec<(u64, u64)> {
        self.landed.drain(..).map(|landed| (landed.first, landed.end)).collect()
    }

    /// Segments and sectors in use for reads and for writes.
    pub fn held(&self) -> [(u32, u64); 2] {
        self.target.drive().and_then(Drive::cached).expect("a drive with a cache")
    }

    /// The blocks of written data that the media do not have, by address.
    pub fn volatile(&self) -> Vec<(u64, u64)> {
        let drive = self.target.drive().expect("a drive");
        let mut all: Vec<_> = drive.volatile().map(|piece| (piece.first.get(), piece.end.get())).collect();
        all.sort_unstable();
        all
    }
}

pub fn response(ended: &Ended) -> Span {
    ended.completion.completed - ended.completion.submitted
}
