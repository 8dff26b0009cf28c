//! The repair of a drive: detection, a spare or a delivery, an attended hour, the rebuild.
use super::{Array, Phase};
use drivelab_core::rng::Stream;

impl Array<'_> {
    /// Begins the repair of a drive: with a spare, or with a new drive that is delivered first.
    pub(super) fn repair(&mut self, drive: usize, cell: usize, stream: &mut Stream) {
        let repair = &self.plan.about.repair;
        let found = self.now + repair.detection().draw(stream);
        if self.plan.about.spares.is_none() {
            let there = self.attended(found + repair.replacement().draw(stream));
            self.next[drive] = there + self.rebuild(cell, stream);
            return;
        }
        self.stores.orders.push(self.attended(found + repair.replacement().draw(stream)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{HistoryOptions, Tally};
    use crate::description::{Attended, Description, Rebuild, Repair};
    use crate::law::Law;
    use crate::plan::Plan;

    const WAY: HistoryOptions = HistoryOptions { life: 87_600.0, biased: false, every_loss: false };

    /// Triple parity of six: an hour to detect, ten to deliver, five to rebuild.
    fn plan(spares: Option<u32>, attended: Option<Attended>) -> Plan {
        let rebuild = Rebuild { time: Law::Fixed { hours: 5.0 }, low_hours: None, high_hours: None };
        let (detection, replacement) = (Some(Law::Fixed { hours: 1.0 }), Some(Law::Fixed { hours: 10.0 }));
        let about = Description {
            level: "raidz3".into(),
            members: 6,
            layout: None,
            copies: None,
            groups: None,
            parity: None,
            width: None,
            stripes: None,
            capacity_bytes: 16e12,
            life_hours: WAY.life,
            drive: Law::Exponential { mean_hours: 1e9 },
            batch: None,
            latent: None,
            repair: Repair { detection, replacement, rebuild: vec![rebuild], serial: false, attended },
            spares,
            wrong_drive: 0.0,
            common: vec![],
            outages: vec![],
        };
        Plan::check(about).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    fn hours(hours_per_day: f64, days_per_week: u32) -> Option<Attended> {
        Some(Attended { hours_per_day, days_per_week })
    }

    /// Days and weeks begin with their attended hours.
    #[test]
    fn a_replacement_begins_at_the_first_attended_hour() {
        let (day, week) = (24.0, 168.0);
        for (attended, at, begins) in [
            (hours(8.0, 5), 0.0, 0.0),
            (hours(8.0, 5), 7.5, 7.5),
            (hours(8.0, 5), 8.0, 8.0),
            (hours(8.0, 5), 8.5, day),
            (hours(8.0, 5), 23.5, day),
            (hours(8.0, 5), day, day),
            // The last evening before the days off, and these.
            (hours(8.0, 5), 4.0 * day + 7.5, 4.0 * day + 7.5),
            (hours(8.0, 5), 4.0 * day + 8.5, week),
            (hours(8.0, 5), 5.0 * day, week),
            (hours(8.0, 5), 6.0 * day + 3.0, week),
            (hours(8.0, 5), week, week),
            (hours(8.0, 5), week + 9.0, week + day),
            (hours(8.0, 5), week + 5.5 * day, 2.0 * week),
            (hours(1.0, 7), 6.0 * day + 2.0, week),
            (hours(24.0, 1), 23.5, 23.5),
            (hours(24.0, 1), day, week),
            (hours(24.0, 7), 6.0 * day + 23.5, 6.0 * day + 23.5),
            (None, 5.5 * day, 5.5 * day),
        ] {
            let plan = plan(None, attended.clone());
            assert_eq!(Array::new(&plan, WAY).attended(at), begins, "{attended:?} at {at}");
        }
    }

    /// Detected after an hour, delivered after ten more, which is behind the attended hours; a spare is there at once.
    #[test]
    fn a_rebuild_waits_for_somebody_who_replaces_the_drive() {
        for (spares, ends) in [(None, 29.0), (Some(1), 6.0)] {
            let plan = plan(spares, hours(8.0, 5));
            let mut array = Array::new(&plan, WAY);
            array.stores.stock = spares.unwrap_or(0);
            array.fail(2, &mut Tally::default(), &mut Stream::named(1, "repairs"));
            assert_eq!(array.next[2], ends, "{spares:?}");
            assert_eq!(array.stores.orders, spares.map_or(vec![], |_| vec![24.0]));
        }
    }

    #[test]
    fn of_drives_that_wait_the_oldest_failure_is_served_first() {
        let plan = plan(Some(0), None);
        let mut array = Array::new(&plan, WAY);
        let mut stream = Stream::named(1, "repairs");
        let failures = [(4, 1.0), (1, 2.0), (2, 3.0)];
        for (drive, at) in failures {
            array.now = at;
            array.fail(drive, &mut Tally::default(), &mut stream);
        }
        for (served, (drive, failed)) in failures.into_iter().enumerate() {
            array.now = failed + 11.0;
            array.deliver(&mut stream);
            assert_eq!((array.phase[drive], array.next[drive]), (Phase::Rebuilding, failed + 16.0));
            let waiting = failures[served + 1..].iter().map(|(drive, _)| *drive).collect::<Vec<_>>();
            assert_eq!(array.stores.waiting, waiting);
            assert!(waiting.iter().all(|&drive| array.phase[drive] == Phase::Waiting));
        }
    }
}
