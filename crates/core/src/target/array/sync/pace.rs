//! How fast an array goes over its members, as Linux' md does it with `sync_speed_min` and `sync_speed_max`: while hosts use
//! the array not above the floor, else up to the ceiling. Source: the Linux kernel, drivers/md/md.c (`md_do_sync`), which
//! looks back over three seconds and more.
use super::super::params::SyncParams;
use drivelab_units::{Instant, Rate, Sectors, Span};

/// What is begun late may be made up for, but no more than falls due in this time.
const CATCH_UP: Span = Span::from_s(3);

/// When the next window may begin, by either rate.
#[derive(Default)]
pub struct Pace {
    floor: Instant,
    ceiling: Instant,
}

fn go_on(due: Instant, now: Instant, rate: Option<Rate>, count: Sectors) -> Instant {
    let earliest = Instant::from_ns(now.as_ns().saturating_sub(CATCH_UP.as_ns()));
    rate.map_or(Instant::ZERO, |rate| due.max(earliest) + rate.time_for(count.bytes()))
}

impl Pace {
    pub fn beginning(now: Instant) -> Self {
        Pace { floor: now, ceiling: now }
    }

    /// When the next window may begin. `idle_from` is when the array will be idle, or has become so, if nothing more comes;
    /// nobody knows while a command is under way.
    pub fn due(&self, idle_from: Option<Instant>) -> Instant {
        self.ceiling.max(idle_from.map_or(self.floor, |idle| idle.min(self.floor)))
    }

    /// A window of so many sectors of each member begins.
    pub fn begins(&mut self, now: Instant, params: &SyncParams, is_idle: bool, count: Sectors) {
        self.ceiling = go_on(self.ceiling, now, params.ceiling, count);
        // What an idle array does beyond the floor is not held against it.
        let floor = if is_idle { now } else { self.floor };
        self.floor = go_on(floor, now, params.floor, count);
    }
}
