//! Links and buses: how data get from the drives to the memory of their host, each drive's path a chain of stages, some
//! of which it shares with others.
//!
//! Data flow sector by sector, beside the media: a sector leaves when it is there and the stage before has passed it on.
//! So a transfer ends when the slowest stage has passed all of it, or when the last sector, there at last, has passed
//! every stage, whichever is later. A transfer begins when all stages of its path are free, first come first served in
//! the order of the calls. It has a stage for as long as its data take there, because the drive disconnects while it has
//! nothing to send; where the stage `holds`, from the first datum to the last. Start reading at [`Wires::carry`].
//! Source: INCITS, "SCSI Parallel Interface-4" (T10/1365-D) and "SCSI Primary Commands-3" (T10/1416-D, the
//! disconnect-reconnect mode page), for what a connection is and what it costs.
pub mod params;
mod stage;

use super::drive::params::LinkParams;
use crate::command::Access;
use alloc::vec::Vec;
use drivelab_units::{Instant, Sectors, Span};
use params::{BusParams, Hop};
use stage::{Stage, StageTime};

/// A transfer that is to cross a drive's path.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// A read's data go to the host, a write's come from there.
    pub access: Access,
    /// Sectors, at least one.
    pub count: Sectors,
    /// When the first sector is there to leave.
    pub from: Instant,
    /// When the last one is.
    pub last: Instant,
    /// What it takes to call the other end, from when the path is free until data can flow.
    pub call: Span,
}

/// When a transfer's data cross.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// The first datum leaves.
    pub begun: Instant,
    /// The last one has come.
    pub ended: Instant,
}

struct OnPath {
    hop: Hop,
    /// What the stage takes for transfers of the path's size.
    time: StageTime,
    /// One sector passes the stages before it, and those behind it.
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
    /// The size of its last transfer, which the times are for: most workloads have one size, and a division takes long.
    count: Sectors,
    /// What it was; a read where all stages take as long for either.
    access: Access,
    is_even: bool,
    /// The slowest stage passes all of it, and the others a sector each.
    flow: Span,
    /// One sector passes all stages.
    sector: Span,
    /// To take all stages.
    first: Span,
    /// With one stage that is plain and nobody else's: when that is free.
    own: Option<Instant>,
}

impl Path {
    /// Brings the times up to date for transfers of this size.
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

    /// When a transfer that has its path at `granted` ends.
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
    /// The buses, and for each drive those that its data cross, from the drive to the host.
    ///
    /// # Panics
    /// When a path names a bus that there is not.
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

    /// Whether a transfer of this drive may find more in its way than the drive's own.
    #[inline]
    pub fn is_shared(&self, drive: u16) -> bool {
        self.paths[usize::from(drive)].own.is_none()
    }

    /// What a read's transfer takes that finds its path free and its data there, without a call.
    #[inline]
    pub fn time_alone(&mut self, drive: u16, count: Sectors) -> Span {
        let path = self.path(drive, Access::Read, count);
        path.first + path.flow
    }

    /// When a transfer in this direction would find the path free, after all that was announced so far.
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

    /// A drive's data cross its path: says when, and keeps the path for them.
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
        // From when on and how long a transfer that has its path at `granted` has a stage. The call is the first one's.
        let has = |at: usize, stage: &Stage, granted: Instant| {
            let OnPath { time, before, behind, .. } = path.hops[at];
            let begun = granted + before;
            if stage.holds() {
                return (begun, path.end(transfer, granted).ended - (begun + behind));
            }
            (begun, time.first + time.rest + if at == 0 { transfer.call } else { Span::ZERO })
        };
        // Later each round, until no stage is in the way: behind all that was announced none is any more.
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
