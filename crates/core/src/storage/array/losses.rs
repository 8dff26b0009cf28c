//! Which addresses of an array cannot be had, from what can be read of its members.
//!
//! Of each member everything below its *frontier* can be read: all of a whole one, nothing of a missing one, what is
//! rebuilt of a new one. A layout repeats itself after a *band* of rows, so that each stripe unit of the first band stands
//! for all that lie a multiple of the band behind it, and what is lost of them is a [`Run`] with at most a part of a
//! stripe unit before and behind it. So the cost does not grow with the drives.
use super::layout::{Copied, Layout, Linear, Piece, Rows, Spot};
use super::report::Run;
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors};

/// Nothing of it is unreadable.
pub const ALL: u64 = u64::MAX;

/// A stripe unit of the first band, and its like in all others.
struct Units {
    /// Its first address, and how far its next like lies behind it.
    address: u64,
    band: u64,
    /// The same on the member.
    stride: u64,
    unit: u64,
    times: u64,
}

/// Collects runs, and makes one of neighbours.
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
    fn lose(&mut self, units: &Units, from: u64, to: u64) {
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

    /// Ranges that touch are one.
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

/// What is lost with the frontiers `after` that was not with those `before`.
pub fn losses(layout: &Layout, before: &[u64], after: &[u64]) -> Vec<Run> {
    let mut runs = Runs::default();
    match layout {
        Layout::Linear(linear) => of_linear(linear, before, after, &mut runs),
        Layout::Copied(copied) => of_copies(copied, before, after, &mut runs),
        Layout::Rows(rows) => of_rows(rows, before, after, &mut runs),
        Layout::RaidZ(_) => unreachable!("records lie anywhere: see `pool_losses`"),
    }
    runs.joined()
}

fn of_linear(linear: &Linear, before: &[u64], after: &[u64], runs: &mut Runs) {
    let mut first = 0;
    for slot in 0..after.len() {
        let next = Spot { slot: slot as u16 + 1, at: 0 };
        let end = if slot + 1 < after.len() { linear.address(next) } else { linear.capacity() };
        let unit = end - first;
        let units = Units { address: first, band: unit, stride: unit, unit, times: 1 };
        runs.lose(&units, after[slot], before[slot]);
        first = end;
    }
}

/// From where in it on no copy of a stripe unit can be read.
fn of_copy(copied: &Copied, chunk: u64, frontiers: &[u64]) -> u64 {
    let from = |copy| {
        let Spot { slot, at } = copied.spot(&Piece { chunk, offset: 0, count: copied.unit() }, copy);
        let frontier = frontiers[usize::from(slot)];
        if frontier == ALL { ALL } else { frontier.saturating_sub(at) }
    };
    (0..copied.copies()).map(from).max().unwrap_or(0)
}

fn of_copies(copied: &Copied, before: &[u64], after: &[u64], runs: &mut Runs) {
    let (members, unit) = (after.len() as u64, copied.unit());
    let chunks = copied.capacity() / unit;
    let at = |chunk| copied.spot(&Piece { chunk, offset: 0, count: unit }, 0).at;
    for chunk in 0..members.min(chunks) {
        let (stride, times) = (at(chunk + members) - at(chunk), (chunks - chunk).div_ceil(members));
        let units = Units { address: chunk * unit, band: members * unit, stride, unit, times };
        let from = |frontiers| of_copy(copied, chunk, frontiers);
        runs.lose(&units, from(after), from(before));
    }
}

fn of_rows(rows: &Rows, before: &[u64], after: &[u64], runs: &mut Runs) {
    let (members, groups, unit, turn) = (rows.members(), rows.groups(), rows.unit(), rows.turn());
    let is_fixed = (0..rows.columns()).all(|column| rows.data(0, column) == rows.data(turn * groups, column));
    // Rows of a group in a band: parity is where it was, and so is the group's turn.
    let period = if is_fixed { turn } else { members };
    let bounds = [before, after].map(|frontiers| bounds(rows, frontiers));
    let band = period * groups;
    for row in 0..band.min(rows.rows()) {
        for column in 0..rows.columns() {
            let slot = usize::from(rows.data(row, column));
            let bound = |which: usize| bounds[which][slot / members as usize];
            let from = |which, frontier: u64| {
                let from = frontier.max(bound(which));
                if from == ALL { ALL } else { from.saturating_sub(rows.at(row)) }
            };
            let units = Units {
                address: row * rows.row_data() + u64::from(column) * unit,
                band: band * rows.row_data(),
                stride: period * unit,
                unit,
                times: (rows.rows() - row).div_ceil(band),
            };
            runs.lose(&units, from(1, after[slot]), from(0, before[slot]));
        }
    }
}

/// By group: from where on more members cannot be read than there are parities.
fn bounds(rows: &Rows, frontiers: &[u64]) -> Vec<u64> {
    let groups = frontiers.chunks(rows.members() as usize);
    let bound = |group: &[u64]| {
        let mut sorted = group.to_vec();
        sorted.sort_unstable();
        sorted[usize::from(rows.parities())]
    };
    groups.map(bound).collect()
}

/// Up to which place the others make up for what a slot is to hold.
pub fn reach(layout: &Layout, frontiers: &[u64], slot: u16) -> u64 {
    match layout {
        Layout::Linear(_) => 0,
        Layout::RaidZ(_) => unreachable!("records lie anywhere: see `pool_losses`"),
        Layout::Copied(copied) => {
            let chunks = 0..(copied.capacity() / copied.unit()).min(frontiers.len() as u64);
            let reach = |chunk| reach_of_chunk(copied, chunk, frontiers, slot);
            chunks.map(reach).min().unwrap_or(ALL)
        }
        Layout::Rows(rows) => bounds(rows, frontiers)[usize::from(slot) / rows.members() as usize],
    }
}

/// The first place on a slot at which a stripe unit or one of its like is lost.
fn reach_of_chunk(copied: &Copied, chunk: u64, frontiers: &[u64], slot: u16) -> u64 {
    let (members, unit) = (frontiers.len() as u64, copied.unit());
    let from = of_copy(copied, chunk, frontiers);
    let spot = |chunk, copy| copied.spot(&Piece { chunk, offset: 0, count: unit }, copy);
    let mut here = (0..copied.copies()).map(|copy| spot(chunk, copy)).filter(|spot| spot.slot == slot);
    let Some(at) = here.next().filter(|_| from < ALL).map(|spot| spot.at) else { return ALL };
    let stride = spot(chunk + members, 0).at - spot(chunk, 0).at;
    let from = if from % stride < unit { from } else { from.next_multiple_of(stride) };
    let times = (copied.capacity() / unit - chunk).div_ceil(members);
    if from / stride < times { at + from } else { ALL }
}

#[cfg(test)]
#[path = "losses_tests.rs"]
mod tests;
