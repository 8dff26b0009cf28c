//! Which records of a RAID-Z pool are lost, and how far a new member can be rebuilt.
//!
//! With more members missing than it has parities a pool is given up as a whole, as OpenZFS does. Otherwise a
//! record is lost when more of its columns than that are on members that are missing, or new and not yet
//! rebuilt there. Records lie anywhere, so those that have moved are examined one by one. Those that never
//! moved lie in order, and whether they are lost is periodic with the assignment of a record's columns to
//! members, between the places that new members have reached: so the cost grows with what was written, and
//! not with the size of the drives.
use super::RaidZ;
use crate::storage::array::levels::losses::Runs;
use crate::storage::array::members::{ALL, Members};
use crate::storage::array::report::Run;
use alloc::vec::Vec;

/// What can be read of the members of a pool, at one instant.
struct PoolView<'a> {
    pool: &'a RaidZ,
    /// By slot: its frontier, and whether there is a drive.
    members: Vec<(u64, bool)>,
}

/// Evenly spaced records, and the place of the first.
struct Series {
    record: u64,
    place: u64,
    every: u64,
    times: u64,
}

impl PoolView<'_> {
    fn is_pool_lost(&self) -> bool {
        let missing = self.members.iter().filter(|&&(_, is_there)| !is_there).count();
        missing > usize::from(self.pool.map().parities())
    }

    fn is_unreadable(&self, place: u64, index: usize) -> bool {
        let column = self.pool.column(place, index);
        let (frontier, is_there) = self.members[usize::from(column.slot)];
        column.at + column.count > frontier
            && !(is_there && self.pool.births().taken_after_join(place, column.slot))
    }

    /// Whether the record at a place is lost.
    fn is_lost(&self, place: u64) -> bool {
        let map = self.pool.map();
        let unreadable = (0..map.columns()).filter(|&index| self.is_unreadable(place, index)).count();
        self.is_pool_lost() || unreadable > map.parities().into()
    }

    /// The places that bound those straddling a frontier.
    fn cuts(&self) -> impl Iterator<Item = u64> {
        let map = *self.pool.map();
        let frontiers = self.members.iter().map(|&(frontier, _)| frontier).filter(|&frontier| frontier < ALL);
        let sectors = frontiers.map(move |frontier| frontier / map.sector() * map.members());
        sectors.flat_map(move |sectors| [sectors / map.taken(), sectors.div_ceil(map.taken())])
    }

    /// All records whose places satisfy `is_so`; for records that never moved it must be periodic between
    /// these cuts.
    fn series(&self, cuts: &[u64], is_so: impl Fn(u64) -> bool) -> Vec<Series> {
        let map = self.pool.map();
        let period = map.members() / common_divisor(map.taken(), map.members());
        let mut found = Vec::new();
        // Adjacent pages from which no record was ever moved are joined.
        let mut still: Option<(u64, u64)> = None;
        for (first, end, is_moved) in self.pool.moved_pages().chain([(u64::MAX, u64::MAX, true)]) {
            if !is_moved {
                still = Some((still.map_or(first, |(begin, _)| begin), end));
                continue;
            }
            if let Some((begin, end)) = still.take() {
                let inside = cuts.iter().copied().filter(|&cut| begin < cut && cut < end);
                let bounds: Vec<u64> = [begin].into_iter().chain(inside).chain([end]).collect();
                for bounds in bounds.windows(2) {
                    of_still(bounds[0], bounds[1], period, &is_so, &mut found);
                }
            }
            for record in first..end {
                let place = self.pool.place(record);
                if is_so(place) {
                    found.push(Series { record, place, every: 1, times: 1 });
                }
            }
        }
        found
    }

    /// The first place at which a slot should have a column of a lost record.
    fn reach(&self, slot: u16) -> u64 {
        if self.is_pool_lost() {
            return 0;
        }
        let map = self.pool.map();
        let mut cuts: Vec<u64> = self.cuts().collect();
        cuts.sort_unstable();
        let stops = |place: u64| {
            let index = map.column_on(place * map.taken(), slot);
            index.is_some_and(|index| self.is_unreadable(place, index)) && self.is_lost(place)
        };
        self.series(&cuts, stops).iter().map(|series| series.place).min().unwrap_or(ALL)
    }
}

/// Finds the records, among those that still lie at their first places.
fn of_still(begin: u64, end: u64, period: u64, is_so: impl Fn(u64) -> bool, found: &mut Vec<Series>) {
    let firsts: Vec<u64> = (begin..end.min(begin + period)).filter(|&place| is_so(place)).collect();
    if firsts.len() as u64 == period {
        return found.push(Series { record: begin, place: begin, every: 1, times: end - begin });
    }
    let series = |first: u64| {
        let times = (end - first).div_ceil(period);
        Series { record: first, place: first, every: period, times }
    };
    found.extend(firsts.into_iter().map(series));
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// What is lost with the members as in `after` and was not as in `before`.
fn losses_between(before: &PoolView<'_>, after: &PoolView<'_>) -> Vec<Run> {
    let mut cuts: Vec<u64> = before.cuts().chain(after.cuts()).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let size = after.pool.record();
    let mut runs = Runs::default();
    for series in after.series(&cuts, |place| after.is_lost(place) && !before.is_lost(place)) {
        let Series { record, every, times, .. } = series;
        runs.add(record * size, size, every * size, times);
    }
    runs.joined()
}

impl RaidZ {
    /// What has been lost since the members had the frontiers `before`. `slot` is the one that has failed
    /// since, unless several are missing from the start.
    pub(super) fn losses_since(&self, now: &Members, before: &[u64], slot: u16) -> Vec<Run> {
        let after = self.view(now);
        let was_there = |((now, &frontier), &(_, is_there)): ((u16, &u64), &(u64, bool))| {
            (frontier, is_there || now == slot || frontier == ALL)
        };
        let members = (0..).zip(before).zip(&after.members).map(was_there).collect();
        losses_between(&PoolView { pool: self, members }, &after)
    }

    /// Up to which place the others have everything that belongs on a slot.
    pub(super) fn reach_of(&self, members: &Members, slot: u16) -> u64 {
        if members.impaired <= self.map().parities().into() { ALL } else { self.view(members).reach(slot) }
    }

    fn view(&self, members: &Members) -> PoolView<'_> {
        let of = |slot| (members.frontier(slot), members.can_write(slot));
        PoolView { pool: self, members: (0..members.count()).map(of).collect() }
    }
}

#[cfg(test)]
#[path = "losses_tests.rs"]
mod tests;
