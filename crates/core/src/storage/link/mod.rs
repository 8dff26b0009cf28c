//! Links and buses: how data get from the drives to the memory of their host. Each drive's path is a chain of
//! stages, some of which it shares with others.
//!
//! Data flow sector by sector, in parallel with the media: a sector leaves when it is available and the stage
//! before has passed it on. So a transfer ends when the slowest stage has passed all of it, or when the last
//! sector, once available, has passed every stage, whichever is later. A transfer begins when all stages of
//! its path are free, first come first served in the order of the calls. It occupies a stage for as long as
//! its data take there, because the drive disconnects while it has nothing to send; where the stage `holds`,
//! from the first datum to the last. Start reading at [`Wires::carry`]. Source: INCITS, "SCSI Parallel
//! Interface-4" (T10/1365-D) and "SCSI Primary Commands-3" (T10/1416-D, the disconnect-reconnect mode page),
//! for what a connection is and what it costs.
pub mod params;
mod stage;

use super::drive::params::LinkParams;
use crate::command::Access;
use alloc::vec::Vec;
use drivelab_units::{Instant, Sectors, Span};
use params::{BusParams, Hop};
use stage::{Stage, StageTime};

/// A transfer over a drive's path.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// A read's data go to the host, a write's come from it.
    pub access: Access,
    /// Sectors, at least one.
    pub count: Sectors,
    /// When the first sector is available.
    pub from: Instant,
    /// When the last sector is available.
    pub last: Instant,
    /// The time of a reselection, from when the path is free until data can flow.
    pub call: Span,
}

/// When a transfer's data cross.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// The first datum leaves.
    pub begun: Instant,
    /// The last one has arrived.
    pub ended: Instant,
}

struct OnPath {
    hop: Hop,
    /// The stage's times for transfers of the path's current size.
    time: StageTime,
    /// The time of one sector through the stages before it, and through those after it.
    before: Span,
    behind: Span,
}

impl OnPath {
    fn new(hop: Hop) -> Self {
        OnPath { hop, time: StageTime::default(), before: Span::ZERO, behind: Span::ZERO }
    }
}

struct Path {
    hops: Vec<OnPath>,
    /// The size of its last transfer, for which the times are valid: most workloads have one size, and a
    /// division is slow.
    count: Sectors,
    /// Its access; always a read where all stages are equally fast for both.
    access: Access,
    is_even: bool,
    /// The time of all data through the slowest stage, and of one sector through each of the others.
    flow: Span,
    /// The time of one sector through all stages.
    sector: Span,
    /// The time to acquire all stages.
    first: Span,
    /// Only with a single plain stage that is not shared: when it becomes free.
    own: Option<Instant>,
}

impl Path {
    /// Computes the times for transfers of this size.
    #[cold]
    fn fit(&mut self, stages: &[Stage], access: Access, count: Sectors) {
        let (mut sector, mut first) = (Span::ZERO, Span::ZERO);
        let mut slowest = StageTime::default();
        for on_path in &mut self.hops {
            let time = stages[usize::from(on_path.hop.bus)].time_for(access, on_path.hop.rate, count);
            (on_path.time, on_path.before) = (time, sector);
            sector += time.sector;
            first += time.first;
            if time.rest >= slowest.rest {
                slowest = time;
            }
        }
        for on_path in &mut self.hops {
            on_path.behind = sector - (on_path.before + on_path.time.sector);
        }
        (self.access, self.count, self.sector, self.first) = (access, count, sector, first);
        self.flow = slowest.rest + (sector - slowest.sector);
    }

    /// When a transfer that gets its path at `granted` ends.
    fn end(&self, transfer: &Transfer, granted: Instant) -> Carried {
        let begun = granted + self.first + transfer.call;
        Carried { begun, ended: (begun + self.flow).max(transfer.last + self.sector) }
    }
}

/// All stages of a target, and each drive's path through them.
#[derive(Default)]
pub struct Wires {
    stages: Vec<Stage>,
    /// By drive.
    paths: Vec<Path>,
}

impl Wires {
    /// The buses, and for each drive those that its data cross, in order from the drive to the host.
    ///
    /// # Panics
    /// When a path names a bus that does not exist.
    pub fn new(buses: &[BusParams], paths: &[&[Hop]]) -> Self {
        let stages: Vec<Stage> = buses.iter().map(Stage::new).collect();
        let users = |bus| paths.iter().flat_map(|hops| hops.iter()).filter(|hop| hop.bus == bus).count();
        let path = |hops: &&[Hop]| {
            let own = match hops {
                [hop] => users(hop.bus) == 1 && stages[usize::from(hop.bus)].is_plain(),
                _ => false,
            };
            let mut path = Path {
                hops: hops.iter().map(|&hop| OnPath::new(hop)).collect(),
                count: Sectors::ZERO,
                access: Access::Read,
                is_even: hops.iter().all(|hop| stages[usize::from(hop.bus)].is_even()),
                flow: Span::ZERO,
                sector: Span::ZERO,
                first: Span::ZERO,
                own: own.then_some(Instant::ZERO),
            };
            path.fit(&stages, Access::Read, Sectors::ZERO);
            path
        };
        let paths = paths.iter().map(path).collect();
        Wires { stages, paths }
    }

    /// One drive: its own link, and the bus of the host behind its controller.
    pub fn of_drive(link: &LinkParams, bus: Option<&BusParams>) -> Self {
        let own = link.bus();
        let hop = |bus| Hop { bus, rate: None };
        match bus {
            None => Wires::new(&[own], &[&[hop(0)]]),
            Some(bus) => Wires::new(&[own, *bus], &[&[hop(0), hop(1)]]),
        }
    }

    /// Whether transfers of other drives may be in the way of this drive's.
    #[inline]
    pub fn is_shared(&self, drive: u16) -> bool {
        self.paths[usize::from(drive)].own.is_none()
    }

    /// The time of a read's transfer that finds its path free and its data available, without a reselection.
    #[inline]
    pub fn time_alone(&mut self, drive: u16, count: Sectors) -> Span {
        let path = self.path(drive, Access::Read, count);
        path.first + path.flow
    }

    /// When a transfer in this direction would find the path free, after everything announced so far.
    pub fn free_from(&self, drive: u16, access: Access) -> Instant {
        let path = &self.paths[usize::from(drive)];
        let free = |on_path: &OnPath| self.stages[usize::from(on_path.hop.bus)].free_from(access);
        path.own.unwrap_or_else(|| path.hops.iter().map(free).max().unwrap_or_default())
    }

    #[inline]
    fn path(&mut self, drive: u16, access: Access, count: Sectors) -> &mut Path {
        let path = &mut self.paths[usize::from(drive)];
        let access = if path.is_even { Access::Read } else { access };
        if path.count != count || path.access != access {
            path.fit(&self.stages, access, count);
        }
        path
    }

    /// Transfers a drive's data over its path: returns when, and reserves the path for them.
    #[inline]
    pub fn carry(&mut self, drive: u16, transfer: &Transfer) -> Carried {
        debug_assert!(transfer.count.get() > 0 && transfer.last >= transfer.from);
        let path = self.path(drive, transfer.access, transfer.count);
        let Some(free) = path.own else { return self.carry_on_stages(drive, transfer) };
        let carried = path.end(transfer, free.max(transfer.from));
        path.own = Some(carried.ended);
        carried
    }

    fn carry_on_stages(&mut self, drive: u16, transfer: &Transfer) -> Carried {
        let Wires { stages, paths } = self;
        let path = &paths[usize::from(drive)];
        let &Transfer { access, from, .. } = transfer;
        // When and for how long a transfer that gets its path at `granted` occupies a stage. The reselection
        // counts for the first stage.
        let has = |at: usize, stage: &Stage, granted: Instant| {
            let OnPath { time, before, behind, .. } = path.hops[at];
            let begun = granted + before;
            if stage.holds() {
                return (begun, path.end(transfer, granted).ended - (begun + behind));
            }
            (begun, time.first + time.rest + if at == 0 { transfer.call } else { Span::ZERO })
        };
        // Moves to a later instant each round, until no stage is in the way: after everything announced none
        // is.
        let mut granted = from;
        loop {
            let mut later = granted;
            for (at, on_path) in path.hops.iter().enumerate() {
                let stage = &stages[usize::from(on_path.hop.bus)];
                let (begun, span) = has(at, stage, granted);
                later = later.max(granted + (stage.earliest(access, begun, span) - begun));
            }
            if later == granted {
                break;
            }
            granted = later;
        }
        for (at, on_path) in path.hops.iter().enumerate() {
            let stage = &mut stages[usize::from(on_path.hop.bus)];
            let (begun, span) = has(at, stage, granted);
            stage.take(access, begun, span);
        }
        path.end(transfer, granted)
    }
}
