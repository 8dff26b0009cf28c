//! Which addresses of an array are lost, given what can be read of its members.
//!
//! Of each member everything below its *frontier* can be read: all of a complete one, nothing of a missing
//! one, the rebuilt part of a new one. A layout is periodic with a *band* of rows, so that each stripe unit
//! of the first band stands for all units a multiple of the band behind it, and what is lost of them is a
//! [`Run`] with at most a part of a stripe unit before and after it. So the cost does not grow with the size
//! of the drives.
use crate::storage::array::report::Run;
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors};

/// A stripe unit of the first band, and those at the same place in all other bands.
pub struct Units {
    /// Its first address, and the distance from there to the next band's.
    pub address: u64,
    pub band: u64,
    /// The same on the member.
    pub stride: u64,
    pub unit: u64,
    pub times: u64,
}

/// Collects runs, and joins adjacent ones.
#[derive(Default)]
pub struct Runs(Vec<Run>);

impl Runs {
    pub fn add(&mut self, first: u64, count: u64, every: u64, times: u64) {
        if count == 0 || times == 0 {
            return;
        }
        let (first, count) = (Lba::new(first), Sectors::new(count));
        let every = if times == 1 { count } else { Sectors::new(every) };
        let goes_on = |last: &&mut Run| {
            last.first + last.count == first && last.times == times && (times == 1 || last.every == every)
        };
        match self.0.last_mut().filter(goes_on) {
            Some(last) => {
                last.count = Sectors::new(last.count.get() + count.get());
                last.every = if times == 1 { last.count } else { every };
            }
            None => self.0.push(Run { first, count, every, times }),
        }
    }

    /// Sector `o` of the unit `b` bands on is lost where `b * stride + o` lies between `from` and `to`.
    pub fn lose(&mut self, units: &Units, from: u64, to: u64) {
        let &Units { address, band, stride, unit, times } = units;
        let (mut b, mut o) = (from / stride, from % stride);
        if o >= unit {
            (b, o) = (b + 1, 0);
        }
        let (last, part) = (to / stride, (to % stride).min(unit));
        let (last, part) = if last >= times { (times, 0) } else { (last, part) };
        if b > last || b == last && o >= part {
            return;
        }
        if b == last {
            return self.add(address + b * band + o, part - o, band, 1);
        }
        if o > 0 {
            self.add(address + b * band + o, unit - o, band, 1);
            b += 1;
        }
        self.add(address + b * band, unit, band, last - b);
        self.add(address + last * band, part, band, 1);
    }

    /// All runs, with adjacent ranges joined.
    pub fn joined(mut self) -> Vec<Run> {
        for run in &mut self.0 {
            if run.times > 1 && run.count == run.every {
                *run = Run::once(run.first.get(), run.count.get() * run.times);
            }
        }
        let mut runs = Runs::default();
        for run in self.0 {
            runs.add(run.first.get(), run.count.get(), run.every.get(), run.times);
        }
        runs.0
    }
}

#[cfg(test)]
#[path = "losses_tests.rs"]
mod tests;
