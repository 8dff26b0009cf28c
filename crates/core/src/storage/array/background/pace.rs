//! How fast an array goes over its members, as Linux' md does it with `sync_speed_min` and `sync_speed_max`: never above
//! the ceiling; below the floor whatever hosts do; and between them it gives way to hosts. Since Linux 4.2 it does that
//! by waiting for what it has under way before it goes on; before, by waiting until nobody used the array. Source: the
//! Linux kernel, drivers/md/md.c (`md_do_sync`, `is_mddev_idle`), which looks back over three seconds and more; the
//! change is N. Brown's "md: allow resync to go faster when there is competing IO", 2015.
use super::super::params::SyncParams;
use super::super::report::UnderLoad;
use drivelab_units::{Instant, Rate, Sectors, Span};

/// What is begun late may be made up for, but no more than falls due in this time.
const CATCH_UP: Span = Span::from_s(3);

/// Hosts use the array when they have asked for more than so much since the last look (`is_mddev_idle`: 64 sectors, there
/// of a member).
const UNNOTICED: Sectors = Sectors::new(64);

/// What hosts had asked for when a job last saw that they use the array.
#[derive(Default)]
pub struct Hosts(u64);

impl Hosts {
    /// Whether they have used it since, when they have asked for so many sectors in all.
    pub fn were_busy(&mut self, asked: u64) -> bool {
        let busy = asked - self.0 > UNNOTICED.get();
        if busy {
            self.0 = asked;
        }
        busy
    }
}

/// When the next window may begin, by either rate, and how well the floor was kept.
#[derive(Default)]
pub struct Pace {
    floor: Instant,
    ceiling: Instant,
    /// When the last window began that had the turn, and how much of each member it is.
    last: Option<(Instant, Sectors)>,
    under_load: UnderLoad,
    /// What hosts had asked for when it looked last.
    pub hosts: Hosts,
    /// Nothing more begins before what is under way is done.
    pub drains: bool,
}

fn go_on(due: Instant, now: Instant, rate: Option<Rate>, count: Sectors) -> Instant {
    let earliest = Instant::from_ns(now.as_ns().saturating_sub(CATCH_UP.as_ns()));
    rate.map_or(Instant::ZERO, |rate| due.max(earliest) + rate.time_for(count.bytes()))
}

impl Pace {
    /// A job begins when hosts have asked for so many sectors.
    pub fn beginning(now: Instant, asked: u64) -> Self {
        Pace { floor: now, ceiling: now, hosts: Hosts(asked), ..Pace::default() }
    }

    /// When the next window may begin. `idle_from` is when the array will be idle, or has become so, if nothing more comes;
    /// nobody knows while a command is under way.
    pub fn due(&self, idle_from: Option<Instant>) -> Instant {
        self.ceiling.max(idle_from.map_or(self.floor, |idle| idle.min(self.floor)))
    }

    /// Whether the floor asks for nothing just now.
    pub fn has_had_floor(&self, now: Instant) -> bool {
        self.floor > now
    }

    /// A window of so many sectors of each member begins.
    pub fn begins(&mut self, now: Instant, params: &SyncParams, is_idle: bool, count: Sectors) {
        self.passes(now, params, is_idle);
        self.last = Some((now, count));
        self.ceiling = go_on(self.ceiling, now, params.ceiling, count);
        // What an idle array does beyond the floor is not held against it.
        let floor = if is_idle { now } else { self.floor.min(now + CATCH_UP) };
        self.floor = go_on(floor, now, params.floor, count);
    }

    /// A window has taken until now, or the job ends.
    pub fn passes(&mut self, now: Instant, params: &SyncParams, is_idle: bool) {
        self.under_load = self.under_load_at(now, params, is_idle);
        self.last = None;
    }

    /// Another job has the turn: what passes until this one has it again counts for nothing.
    pub fn rests(&mut self) {
        self.last = None;
    }

    /// What hosts have left to the job so far; since its last window began it has been beside them unless the array is
    /// idle.
    pub fn under_load_at(&self, now: Instant, params: &SyncParams, is_idle: bool) -> UnderLoad {
        let UnderLoad { time, swept, missed } = self.under_load;
        let Some((began, count)) = self.last.filter(|_| !is_idle) else { return self.under_load };
        // What falls due and is not begun within the time to catch up is left out for good.
        let late = now.since(self.floor + CATCH_UP);
        let late = if params.floor.is_some() { late } else { Span::ZERO };
        UnderLoad {
            time: time + now.since(began),
            swept: Sectors::new(swept.get() + count.get()),
            missed: missed + late,
        }
    }
}
