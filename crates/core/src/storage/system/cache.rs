//! A cache of a system, and its events on the agenda.
use crate::storage::array::Array;
use crate::storage::context::Context;
use crate::storage::events::Event;
use crate::storage::outputs::TargetEvent;
use crate::storage::write_behind::params::WriteBehindParams;
use crate::storage::write_behind::{Place, WriteBehind};
use drivelab_units::{Instant, Sectors};

/// Minimum number of sectors that a cache collects as one row. Rows of a few sectors, as in RAID 3, are
/// combined.
const COLLECTED_LEAST: u64 = 32;

pub struct CacheStage {
    pub memory: WriteBehind,
    /// The next copy and the next flush that are on the agenda.
    wakes: [Option<Instant>; 2],
}

impl CacheStage {
    pub fn new(params: &WriteBehindParams, place: Place, capacity: Sectors) -> Self {
        let mut memory = WriteBehind::new(params, place);
        memory.bound(capacity);
        CacheStage { memory, wakes: [None; 2] }
    }

    /// The controller's cache, in front of this array if there is one: its flushes are collected by the
    /// array's rows.
    pub fn of_controller(params: &WriteBehindParams, array: Option<&Array>, capacity: Sectors) -> Self {
        let row = array.and_then(|array| array.layout().whole_write()).map(|row| {
            let least = COLLECTED_LEAST.max(params.limit.get().div_ceil(WriteBehindParams::ROWS_MAX));
            least.next_multiple_of(row)
        });
        let stripe = params.stripe.or(row.map(Sectors::new));
        Self::new(&WriteBehindParams { stripe, ..*params }, Place::Controller, capacity)
    }

    /// Passes on its data operations, and the data that it has given up.
    pub fn pass_on_outputs(&mut self, context: &mut Context) {
        context.take_data(&mut self.memory);
        while let Some(what) = self.memory.poll_given_up() {
            let (at, memory) = (context.now, self.memory.place());
            context.report_event(TargetEvent::GivenUp { at, memory, what });
        }
    }

    /// Puts its next instants on the agenda. An early one does no harm, so that no second one is needed.
    pub fn schedule(&mut self, context: &mut Context, event: Event) {
        let due = [self.memory.next_copy(), self.memory.next_flush()];
        for (wakes, due) in self.wakes.iter_mut().zip(due) {
            if let Some(due) = due
                && wakes.is_none_or(|known| due < known)
            {
                *wakes = Some(due);
                // What ends before what begins.
                context.agenda.schedule(due, 1, event);
            }
        }
    }

    /// One of its instants is due, unless an earlier one has replaced it. Returns whether one is.
    pub fn wake(&mut self, now: Instant) -> bool {
        let mut due = false;
        for wakes in &mut self.wakes {
            due |= wakes.take_if(|wakes| *wakes == now).is_some();
        }
        if due {
            self.memory.tick(now);
        }
        due
    }
}
