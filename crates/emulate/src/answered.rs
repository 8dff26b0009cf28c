//! The addresses whose writes were answered: what an array can lose of them when too few members are left.
use drivelab_core::storage::array::report::Run;
use std::collections::BTreeMap;

/// Disjoint ranges of addresses, none of which touches the next: the first address, and the one after the last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AnsweredRanges(BTreeMap<u64, u64>);

impl AnsweredRanges {
    /// Every address: for images that an earlier session has written.
    pub fn all() -> Self {
        AnsweredRanges(BTreeMap::from([(0, u64::MAX)]))
    }

    /// These addresses were written.
    pub fn add(&mut self, first: u64, end: u64) {
        let (mut from, mut to) = (first, end);
        while let Some((&begin, &behind)) =
            self.0.range(..=to).next_back().filter(|(_, behind)| **behind >= from)
        {
            self.0.remove(&begin);
            (from, to) = (from.min(begin), to.max(behind));
        }
        self.0.insert(from, to);
    }

    /// These addresses are lost, or nothing is promised for them any more.
    pub fn remove(&mut self, first: u64, end: u64) {
        while let Some((&begin, &behind)) =
            self.0.range(..end).next_back().filter(|(_, behind)| **behind > first)
        {
            self.0.remove(&begin);
            if begin < first {
                self.0.insert(begin, first);
            }
            if behind > end {
                self.0.insert(end, behind);
            }
        }
    }

    /// The ranges that overlap these addresses, clipped to them.
    pub fn overlapping(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let before = self.0.range(..first).next_back();
        let all = before.into_iter().chain(self.0.range(first..end));
        all.map(move |(&from, &to)| (from.max(first), to.min(end))).filter(|(from, to)| from < to)
    }

    /// Those of a run's addresses that were written, as ranges, upward.
    pub fn within(&self, run: Run) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (first, every) = (run.first.get(), run.every.get().max(1));
        self.overlapping(first, run.end()).flat_map(move |(from, to)| {
            let indices = (from - first) / every..run.times.min((to - first).div_ceil(every));
            let of_run = indices.map(move |index| first + index * every);
            of_run.map(move |at| (from.max(at), to.min(at + run.count.get()))).filter(|(from, to)| from < to)
        })
    }

    /// Whether an address was written.
    pub fn has(&self, at: u64) -> bool {
        self.overlapping(at, at + 1).next().is_some()
    }

    /// The number of those addresses, without a visit of each range.
    pub fn count_within(&self, run: Run) -> u64 {
        let (first, count, every) = (run.first.get(), run.count.get(), run.every.get().max(1));
        let below = |end: u64| {
            let index = (end - first) / every;
            if index >= run.times {
                run.times * count
            } else {
                index * count + count.min((end - first) % every)
            }
        };
        self.overlapping(first, run.end()).map(|(from, to)| below(to) - below(from)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_units::{Lba, Sectors};
    use proptest::prelude::*;

    const END: u64 = 200;

    fn changes() -> impl Strategy<Value = Vec<(bool, u64, u64)>> {
        prop::collection::vec((any::<bool>(), 0..END, 1..40u64), 0..30)
    }

    proptest! {
        #[test]
        fn they_are_those_of_a_plain_list(
            changes in changes(), first in 0..END, count in 1..20u64, gap in 0..30u64, times in 1..12u64,
        ) {
            let mut answered = AnsweredRanges::default();
            let mut plain = vec![false; 512];
            for (is_written, from, length) in changes {
                let to = from + length;
                plain[from as usize..to as usize].fill(is_written);
                if is_written { answered.add(from, to) } else { answered.remove(from, to) }
            }
            let run = Run {
                first: Lba::new(first), count: Sectors::new(count), every: Sectors::new(count + gap), times,
            };
            let mut found = vec![false; 2_048];
            for (from, to) in answered.within(run) {
                found[from as usize..to as usize].fill(true);
            }
            prop_assert_eq!(answered.count_within(run), found.iter().filter(|found| **found).count() as u64);
            for (first, count) in run.ranges() {
                for at in first.get()..(first + count).get() {
                    let is_written = plain.get(at as usize).copied().unwrap_or(false);
                    prop_assert_eq!(std::mem::take(&mut found[at as usize]), is_written, "{}", at);
                }
            }
            prop_assert!(!found.contains(&true));
            for at in 0..1_000 {
                let is_within = answered.within(run).any(|(from, to)| (from..to).contains(&at));
                prop_assert_eq!(run.has(at) && answered.has(at), is_within, "{}", at);
            }
            // None touches the next.
            let all: Vec<_> = answered.0.into_iter().collect();
            prop_assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
