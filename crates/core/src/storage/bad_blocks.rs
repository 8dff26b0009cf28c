//! Addresses that cannot be read, until they are written: unreadable sectors of a drive, and what an array
//! has lost sector by sector because a rebuild could not read what it needed.
use alloc::vec::Vec;

/// Disjoint ranges of addresses, upward, none of which touches the next.
#[derive(Clone, Default)]
pub struct BadBlocks {
    ranges: Vec<(u64, u64)>,
    changes: u64,
}

impl BadBlocks {
    /// Whether all addresses are good.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Each range: its first address, and the one after its last.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ranges.iter().copied()
    }

    /// The bad ranges within these addresses.
    pub fn within(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let from = self.ranges.partition_point(|block| block.1 <= first);
        let overlapping = self.ranges[from..].iter().take_while(move |block| block.0 < end);
        overlapping.map(move |block| (block.0.max(first), block.1.min(end)))
    }

    /// Incremented with each change.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Number of bad addresses.
    pub fn count(&self) -> u64 {
        self.iter().map(|(first, end)| end - first).sum()
    }

    /// Whether any of these addresses is bad.
    pub fn touch(&self, first: u64, end: u64) -> bool {
        let at = self.ranges.partition_point(|block| block.1 <= first);
        self.ranges.get(at).is_some_and(|block| block.0 < end)
    }

    /// Whether all of these addresses are bad.
    pub fn cover(&self, first: u64, end: u64) -> bool {
        let at = self.ranges.partition_point(|block| block.1 <= first);
        self.ranges.get(at).is_some_and(|block| block.0 <= first && end <= block.1)
    }

    /// These addresses are bad from now on.
    pub fn add(&mut self, first: u64, end: u64) {
        let at = self.ranges.partition_point(|block| block.1 < first);
        let to = self.ranges.partition_point(|block| block.0 <= end);
        let joined = self.ranges[at..to]
            .iter()
            .fold((first, end), |all, block| (all.0.min(block.0), all.1.max(block.1)));
        self.changes += 1;
        self.ranges.splice(at..to, [joined]);
    }

    /// These addresses are written and become good again.
    pub fn fill(&mut self, first: u64, end: u64) {
        let at = self.ranges.partition_point(|block| block.1 <= first);
        let to = self.ranges.partition_point(|block| block.0 < end);
        if at >= to {
            return;
        }
        let (below, above) = ((self.ranges[at].0, first), (end, self.ranges[to - 1].1));
        self.changes += 1;
        let left = [below, above].into_iter().filter(|(first, end)| first < end);
        self.ranges.splice(at..to, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn holes_are_what_was_added_and_not_filled(
            steps in prop::collection::vec((any::<bool>(), 0u64..60, 1u64..12), 1..30),
        ) {
            let (mut bad, mut plain) = (BadBlocks::default(), [false; 80]);
            for (adds, first, count) in steps {
                if adds { bad.add(first, first + count) } else { bad.fill(first, first + count) }
                plain[first as usize..(first + count) as usize].fill(adds);
                prop_assert_eq!(bad.is_empty(), plain.iter().all(|block| !block));
                prop_assert_eq!(bad.count(), plain.iter().filter(|block| **block).count() as u64);
                prop_assert!(bad.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
                let within: Vec<u64> = bad.within(10, 40).flat_map(|(first, end)| first..end).collect();
                prop_assert_eq!(within, (10..40u64).filter(|&at| plain[at as usize]).collect::<Vec<_>>());
                for at in 0..79u64 {
                    prop_assert_eq!(bad.touch(at, at + 1), plain[at as usize], "{}", at);
                    prop_assert_eq!(bad.touch(at, at + 2), plain[at as usize] || plain[at as usize + 1]);
                }
            }
        }
    }
}
