//! Event-driven simulation of an array over its life: drives fail, are replaced and rebuilt, and data are lost.
//!
//! Each drive has the time of its next event, its failure or the end of its rebuild; the earliest one is next. There
//! is no event queue. A loss that occurs with a probability (an unreadable sector) is counted with this probability,
//! and the history continues with the remaining weight: the same mean as drawing it, with less variance.
mod defects;
mod forcing;
mod repairs;

use crate::law::uniform;
use crate::plan::Plan;
use drivelab_core::rng::Stream;
use libm::{expm1, log};
use serde::{Deserialize, Serialize};

/// The bytes that are lost with an unreadable sector.
pub const SECTOR_BYTES: f64 = 4096.0;

const NEVER: f64 = f64::INFINITY;

/// The options of a history.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HistoryOptions {
    /// The life in hours.
    pub life: f64,
    /// Whether failure biasing is used.
    pub biased: bool,
    /// Whether a history continues after a loss, with all drives repaired, and counts every loss.
    pub every_loss: bool,
}

/// The result of one history or of many: sums, each history with its weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// First losses within a year.
    pub year: f64,
    /// First losses within the life.
    pub life: f64,
    /// Those of them that are due to unreadable sectors.
    pub by_sectors: f64,
    /// All losses within the life: the first and, if the array continues, further ones.
    pub losses: f64,
    pub bytes: f64,
    /// Hours until the first loss or the end of life.
    pub hours: f64,
}

impl Tally {
    pub fn add(&mut self, other: &Tally, factor: f64) {
        self.year += factor * other.year;
        self.life += factor * other.life;
        self.by_sectors += factor * other.by_sectors;
        self.losses += factor * other.losses;
        self.bytes += factor * other.bytes;
        self.hours += factor * other.hours;
    }
}

/// Why a history stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    EndOfLife,
    Lost,
    /// The requested depth is reached: the number of members by which the array is closer to a loss.
    Depth,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Live,
    Rebuilding,
    Waiting,
}

/// The drives and their repairs.
#[derive(Clone, Debug)]
pub struct Array<'p> {
    plan: &'p Plan,
    way: HistoryOptions,
    /// The next event of each drive, in hours from the beginning of the life.
    next: Vec<f64>,
    phase: Vec<Phase>,
    born: Vec<f64>,
    /// The next latent defect of each drive: its beginning and end. Later ones are drawn when they are needed.
    defect: Vec<(f64, f64)>,
    missing: Vec<u32>,
    all_missing: u32,
    stores: Stores,
    now: f64,
    ageing: f64,
    weight: f64,
    /// The share of the history's weight without a loss so far.
    intact: f64,
}

/// Spares in stock, outstanding orders, the next event of each common cause, and drives that wait for a spare.
#[derive(Clone, Debug)]
struct Stores {
    stock: u32,
    orders: Vec<f64>,
    common: Vec<f64>,
    waiting: Vec<usize>,
}

impl<'p> Array<'p> {
    pub fn new(plan: &'p Plan, way: HistoryOptions) -> Self {
        let members = plan.cell_of.len();
        Array {
            plan,
            way,
            next: vec![NEVER; members],
            phase: vec![Phase::Live; members],
            born: vec![0.0; members],
            defect: vec![(NEVER, NEVER); members],
            missing: vec![0; plan.arrangement.cells.len()],
            all_missing: 0,
            stores: Stores { stock: 0, orders: Vec::new(), common: Vec::new(), waiting: Vec::new() },
            now: 0.0,
            ageing: 1.0,
            weight: 1.0,
            intact: 1.0,
        }
    }

    /// Begins a life with new drives.
    pub fn begin(&mut self, stream: &mut Stream) {
        let about = &self.plan.about;
        self.phase.fill(Phase::Live);
        self.born.fill(0.0);
        self.missing.fill(0);
        (self.all_missing, self.now, self.weight, self.intact) = (0, 0.0, 1.0, 1.0);
        self.stores.stock = about.spares.unwrap_or(0);
        self.stores.orders.clear();
        self.stores.waiting.clear();
        self.stores.common.clear();
        self.stores
            .common
            .extend(about.common.iter().map(|common| -common.mean_hours * log(uniform(stream))));
        self.ageing = 1.0;
        if let Some(batch) = &about.batch
            && self.chosen(batch.share, 0.0, stream)
        {
            self.ageing = batch.factor;
        }
        self.defect.fill((NEVER, 0.0));
        if self.way.biased {
            self.force(self.way.life, 1.0, false, stream);
        } else {
            for drive in 0..self.next.len() {
                self.next[drive] = self.failure_of(drive, stream);
            }
        }
    }

    /// Continues until the end of life, a loss, or this depth of missing members.
    pub fn run(&mut self, depth: u32, tally: &mut Tally, stream: &mut Stream) -> Stop {
        loop {
            let (drive, mut at) = self.soonest();
            let order = self.stores.orders.iter().copied().fold(NEVER, f64::min);
            let common = self.stores.common.iter().copied().fold(NEVER, f64::min);
            at = at.min(order).min(common);
            if at > self.way.life {
                tally.hours += self.weight * self.intact * self.way.life;
                return Stop::EndOfLife;
            }
            self.now = at;
            let lost = if at == common {
                self.common_cause(tally, stream)
            } else if at == order {
                self.deliver(stream);
                false
            } else if self.phase[drive] == Phase::Live {
                self.break_down(drive, tally, stream)
            } else {
                self.return_to_work(drive, stream);
                false
            };
            if lost {
                return Stop::Lost;
            }
            if self.all_missing > 0
                && depth != u32::MAX
                && self.plan.arrangement.depth(&self.missing) >= depth
            {
                return Stop::Depth;
            }
        }
    }

    /// Draws the rest of each live drive's life anew, so that copies of a history diverge.
    pub fn redraw(&mut self, stream: &mut Stream) {
        for drive in 0..self.next.len() {
            if self.phase[drive] == Phase::Live {
                self.next[drive] = self.failure_of(drive, stream);
            }
        }
    }

    #[inline]
    fn soonest(&self) -> (usize, f64) {
        let mut found = (0, self.next[0]);
        for (drive, &at) in self.next.iter().enumerate().skip(1) {
            if at < found.1 {
                found = (drive, at);
            }
        }
        found
    }

    /// The failure time of a live drive from now on; never if it is after the end of life.
    #[inline]
    fn failure_of(&self, drive: usize, stream: &mut Stream) -> f64 {
        let born = self.born[drive];
        let law = &self.plan.about.drive;
        let (age, last) = ((self.now - born) * self.ageing, (self.way.life - born) * self.ageing);
        born + law.draw_after(age, last, stream) / self.ageing
    }

    /// A drive fails, and a good one may be pulled in its place. Returns whether data are lost and the history ends.
    fn break_down(&mut self, drive: usize, tally: &mut Tally, stream: &mut Stream) -> bool {
        let cell = self.plan.cell_of[drive];
        if self.fail(drive, tally, stream) {
            return true;
        }
        let mistake = self.plan.about.wrong_drive;
        let mut last = drive;
        if mistake > 0.0 && self.mistaken(mistake, stream) {
            let live = |other: &usize| self.plan.cell_of[*other] == cell && self.phase[*other] == Phase::Live;
            let good: Vec<usize> = (0..self.next.len()).filter(live).collect();
            if !good.is_empty() {
                last = good[stream.below(good.len() as u64) as usize];
                if self.fail(last, tally, stream) {
                    return true;
                }
            }
        }
        self.bias(last, stream);
        false
    }

    /// A drive becomes missing: losses, then its repair, which the caller may bias. Returns whether data are lost and
    /// the history ends.
    fn fail(&mut self, drive: usize, tally: &mut Tally, stream: &mut Stream) -> bool {
        let plan = self.plan;
        let cell = usize::from(plan.cell_of[drive]);
        let before = self.missing[cell];
        self.missing[cell] += 1;
        self.all_missing += 1;
        self.phase[drive] = Phase::Rebuilding;
        self.next[drive] = NEVER;
        let loss = plan.arrangement.loss(&self.missing, cell);
        if loss > 0.0 {
            let bytes = plan.arrangement.at_stake_drives(cell) * plan.about.capacity_bytes;
            self.lose(loss, bytes, false, tally);
            if loss == 1.0 {
                if !self.way.every_loss {
                    return true;
                }
                self.restore(stream);
                return false;
            }
        } else if plan.about.latent.is_some() && plan.arrangement.is_critical(&self.missing, cell) {
            self.read_everything(cell, tally, stream);
            if self.intact == 0.0 && !self.way.every_loss {
                return true;
            }
        }
        self.pace(cell, before, self.all_missing - 1);
        self.repair(drive, cell, stream);
        false
    }

    /// A rebuild reads the remaining members of a critical array, which may have unreadable sectors.
    fn read_everything(&mut self, cell: usize, tally: &mut Tally, stream: &mut Stream) {
        let plan = self.plan;
        let Some(latent) = &plan.about.latent else { return };
        if let Some(per_byte) = latent.per_byte {
            let expected =
                per_byte * plan.arrangement.exposed_drives(&self.missing, cell) * plan.about.capacity_bytes;
            if expected > 0.0 {
                let chance = -expm1(-expected);
                self.lose(chance, SECTOR_BYTES * expected / chance, true, tally);
            }
            return;
        }
        let (chance, defects) = self.rebuild_defects(cell, stream);
        if chance > 0.0 {
            self.lose(chance, SECTOR_BYTES * defects, true, tally);
        }
    }

    fn lose(&mut self, chance: f64, bytes: f64, by_sectors: bool, tally: &mut Tally) {
        let first = self.weight * self.intact * chance;
        tally.life += first;
        if by_sectors {
            tally.by_sectors += first;
        }
        if self.now <= crate::HOURS_PER_YEAR {
            tally.year += first;
        }
        tally.hours += first * self.now;
        // If the history continues after a loss, each loss has the full weight, whatever was lost before.
        let counted = if self.way.every_loss { self.weight * chance } else { first };
        tally.losses += counted;
        tally.bytes += counted * bytes;
        self.intact *= 1.0 - chance;
    }

    /// Replaces all missing drives by new ones with all data, as after a restore from backup.
    fn restore(&mut self, stream: &mut Stream) {
        for drive in 0..self.next.len() {
            if self.phase[drive] != Phase::Live {
                self.renew(drive, stream);
            }
        }
        self.missing.fill(0);
        self.all_missing = 0;
        self.stores.waiting.clear();
    }

    fn renew(&mut self, drive: usize, stream: &mut Stream) {
        self.phase[drive] = Phase::Live;
        self.born[drive] = self.now;
        self.defect[drive] = (NEVER, self.now);
        self.next[drive] = self.failure_of(drive, stream);
    }

    fn return_to_work(&mut self, drive: usize, stream: &mut Stream) {
        let cell = usize::from(self.plan.cell_of[drive]);
        let before = (self.missing[cell], self.all_missing);
        self.missing[cell] -= 1;
        self.all_missing -= 1;
        self.renew(drive, stream);
        self.pace(cell, before.0, before.1);
    }

    /// An event of a common cause, which may take several drives at once.
    fn common_cause(&mut self, tally: &mut Tally, stream: &mut Stream) -> bool {
        let now = self.now;
        for (which, common) in self.plan.about.common.iter().enumerate() {
            if self.stores.common[which] != now {
                continue;
            }
            self.stores.common[which] = now - common.mean_hours * log(uniform(stream));
            let failed = self.failed_drives(which, stream);
            for &drive in &failed {
                if self.phase[drive] == Phase::Live && self.fail(drive, tally, stream) {
                    return true;
                }
            }
            if let Some(&last) = failed.last() {
                self.bias(last, stream);
            }
        }
        false
    }

    /// Rebuilds in progress continue at the rate of the new state: their remaining time is scaled.
    fn pace(&mut self, cell: usize, before: u32, all_before: u32) {
        let plan = self.plan;
        let serial = plan.about.repair.serial;
        if self.all_missing == 0 || (!serial && plan.rebuild_means.len() == 1) {
            return;
        }
        let slower = plan.rebuild_mean(self.missing[cell]) / plan.rebuild_mean(before.max(1));
        let shared =
            if serial { f64::from(self.all_missing.max(1)) / f64::from(all_before.max(1)) } else { 1.0 };
        for drive in 0..self.next.len() {
            if self.phase[drive] != Phase::Rebuilding || self.next[drive] == NEVER {
                continue;
            }
            let own = if usize::from(plan.cell_of[drive]) == cell { slower } else { 1.0 };
            self.next[drive] = self.now + (self.next[drive] - self.now) * own * shared;
        }
    }
}
