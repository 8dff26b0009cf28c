//! The repair of a drive: detection, a spare or a delivery, an attended hour, the rebuild.
use super::{Array, Phase};
use drivelab_core::rng::Stream;

impl Array<'_> {
    /// Begins the repair of a drive: with a spare, or with a new drive that is delivered first.
    pub(super) fn repair(&mut self, drive: usize, cell: usize, stream: &mut Stream) {
        let repair = &self.plan.about.repair;
        let found = self.now + repair.detection.draw(stream);
        if self.plan.about.spares.is_none() {
            let there = self.attended(found + repair.replacement.draw(stream));
            self.next[drive] = there + self.rebuild(cell, stream);
            return;
        }
        self.stores.orders.push(self.attended(found + repair.replacement.draw(stream)));
        if self.stores.stock > 0 {
            self.stores.stock -= 1;
            self.next[drive] = found + self.rebuild(cell, stream);
        } else {
            self.phase[drive] = Phase::Waiting;
            self.stores.waiting.push(drive);
        }
    }

    pub(super) fn rebuild(&self, cell: usize, stream: &mut Stream) -> f64 {
        let shared = if self.plan.about.repair.serial { f64::from(self.all_missing) } else { 1.0 };
        self.plan.rebuild(self.missing[cell]).draw(stream) * shared
    }

    /// The first instant from `at` on at which the array is attended.
    pub(super) fn attended(&self, at: f64) -> f64 {
        let Some(attended) = &self.plan.about.repair.attended else { return at };
        let week = 24.0 * 7.0;
        let (weeks, hour) = ((at / week).floor() * week, at.rem_euclid(week));
        let day = (hour / 24.0).floor();
        if day >= f64::from(attended.days_per_week) {
            return weeks + week;
        }
        if hour - 24.0 * day <= attended.hours_per_day {
            return at;
        }
        let tomorrow = day + 1.0;
        weeks + if tomorrow >= f64::from(attended.days_per_week) { week } else { 24.0 * tomorrow }
    }

    /// A new drive is delivered: it replaces the drive that has waited longest, or becomes a spare.
    pub(super) fn deliver(&mut self, stream: &mut Stream) {
        let now = self.now;
        if let Some(at) = self.stores.orders.iter().position(|&order| order == now) {
            self.stores.orders.swap_remove(at);
        }
        if self.stores.waiting.is_empty() {
            self.stores.stock = (self.stores.stock + 1).min(self.plan.about.spares.unwrap_or(0));
            return;
        }
        let drive = self.stores.waiting.remove(0);
        let cell = usize::from(self.plan.cell_of[drive]);
        self.phase[drive] = Phase::Rebuilding;
        self.next[drive] = now + self.rebuild(cell, stream);
    }
}
