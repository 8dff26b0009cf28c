//! How fast an array makes a pass over its members, as Linux' md does it with `sync_speed_min` and
//! `sync_speed_max`: never above the ceiling; never below the floor, whatever hosts do; and between them it
//! yields to hosts. Since Linux 4.2 it does so by waiting for what it has under way before it continues;
//! before, by waiting until nobody used the array. Source: the Linux kernel, drivers/md/md.c (`md_do_sync`,
//! `is_mddev_idle`), which looks back over three seconds and more; the change is N. Brown's "md: allow resync
//! to go faster when there is competing IO", 2015.
use super::super::params::SyncParams;
use super::super::report::UnderLoad;
use drivelab_units::{Instant, Rate, Sectors, Span};

/// A job that is behind may catch up, but with no more than falls due in this time.
const CATCH_UP: Span = Span::from_s(3);

/// Hosts use the array when they have requested more sectors than this since the last check (`is_mddev_idle`:
/// 64 sectors, there of a member).
const UNNOTICED: Sectors = Sectors::new(64);

/// The sectors that hosts had requested when a job last found them using the array.
#[derive(Default)]
pub struct Hosts(u64);

impl Hosts {
    /// Notes the sectors `requested` in total. Returns whether hosts have used the array since.
    pub fn note_use(&mut self, requested: u64) -> bool {
        let busy = requested - self.0 > UNNOTICED.get();
        if busy {
            self.0 = requested;
        }
        busy
    }
}

/// When the next window may begin, by either rate, and how well the floor has been kept.
#[derive(Default)]
pub struct SyncPace {
    floor: Instant,
    ceiling: Instant,
    /// When the last window of this job's turn began, and how many sectors of each member it covers.
    last: Option<(Instant, Sectors)>,
    under_load: UnderLoad,
    /// The hosts' use at the last check.
    pub hosts: Hosts,
    /// No further window begins until those under way are done.
    pub drains: bool,
}

fn go_on(due: Instant, now: Instant, rate: Option<Rate>, count: Sectors) -> Instant {
    let earliest = Instant::from_ns(now.as_ns().saturating_sub(CATCH_UP.as_ns()));
    rate.map_or(Instant::ZERO, |rate| due.max(earliest) + rate.time_for(count.bytes()))
}

impl SyncPace {
    /// A job begins when hosts have `requested` this many sectors.
    pub fn beginning(now: Instant, requested: u64) -> Self {
        SyncPace { floor: now, ceiling: now, hosts: Hosts(requested), ..SyncPace::default() }
    }

    /// When the next window may begin. `idle_from` is when the array will be idle, or has become so, if
    /// nothing more arrives; `None` while a command is under way.
    pub fn due(&self, idle_from: Option<Instant>) -> Instant {
        self.ceiling.max(idle_from.map_or(self.floor, |idle| idle.min(self.floor)))
    }

    /// Whether the floor demands nothing at present.
    pub fn meets_minimum_rate(&self, now: Instant) -> bool {
        self.floor > now
    }

    /// A window of `count` sectors of each member begins.
    pub fn begin_window(&mut self, now: Instant, params: &SyncParams, is_idle: bool, count: Sectors) {
        self.account(now, params, is_idle);
        self.last = Some((now, count));
        self.ceiling = go_on(self.ceiling, now, params.ceiling, count);
        // What an idle array does beyond the floor is not deducted from what falls due later.
        let floor = if is_idle { now } else { self.floor.min(now + CATCH_UP) };
        self.floor = go_on(floor, now, params.floor, count);
    }

    /// Accounts for the time up to now: a window begins, or the job ends.
    pub fn account(&mut self, now: Instant, params: &SyncParams, is_idle: bool) {
        self.under_load = self.under_load_at(now, params, is_idle);
        self.last = None;
    }

    /// Another job has the turn: the time until this job's next turn is not counted.
    pub fn rest(&mut self) {
        self.last = None;
    }

    /// The time and sectors under hosts' load so far; since its last window began the job has run beside
    /// hosts unless the array is idle.
    pub fn under_load_at(&self, now: Instant, params: &SyncParams, is_idle: bool) -> UnderLoad {
        let UnderLoad { time, swept, missed } = self.under_load;
        let Some((began, count)) = self.last.filter(|_| !is_idle) else { return self.under_load };
        // What falls due and is not begun within the catch-up time is dropped for good.
        let late = now.since(self.floor + CATCH_UP);
        let late = if params.floor.is_some() { late } else { Span::ZERO };
        UnderLoad {
            time: time + now.since(began),
            swept: Sectors::new(swept.get() + count.get()),
            missed: missed + late,
        }
    }
}
