//! The map of the media cache: which of the host's sectors are in it, and where.
//!
//! Each band has an ordered set of extents, none of which crosses its border. What is in no extent is in its band.
use crate::storage::slab::Slab;
use crate::storage::tree::{NONE, Slot, Tree};
use alloc::boxed::Box;
use drivelab_units::{Lba, Sectors};

/// Sectors of the host that lie contiguously in the media cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    pub first: u64,
    pub end: u64,
    /// Where its first sector lies on the media.
    pub at: u64,
    /// Sectors of the media cache that it takes, its share of its append's overhead included.
    pub takes: u64,
}

/// A part of a range of the host's sectors, as it lies on the media.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// Where it begins on the media.
    pub at: Lba,
    pub count: Sectors,
    /// Whether it is in the media cache.
    pub cached: bool,
}

#[derive(Clone)]
pub struct Map {
    band: u64,
    extents: Slab<Extent>,
    by_first: Tree<u64>,
    /// The root of each band's set.
    bands: Box<[Slot]>,
    entries: u32,
    takes: u64,
}

impl Map {
    /// An empty map for a drive of `capacity` sectors in bands of `band`.
    pub fn new(capacity: Sectors, band: Sectors) -> Self {
        let bands = capacity.get().div_ceil(band.get()) as usize;
        Map {
            band: band.get(),
            extents: Slab::default(),
            by_first: Tree::new(),
            bands: alloc::vec![NONE; bands].into(),
            entries: 0,
            takes: 0,
        }
    }

    /// Extents in the map.
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Sectors of the media cache in use.
    pub fn takes(&self) -> Sectors {
        Sectors::new(self.takes)
    }

    /// The band of a sector.
    pub fn band_of(&self, lba: u64) -> u32 {
        (lba / self.band) as u32
    }

    /// The first sector of a band, and the first of the next one.
    pub fn range(&self, band: u32) -> (u64, u64) {
        let first = u64::from(band) * self.band;
        (first, first + self.band)
    }

    /// Whether nothing of a band is in the media cache.
    pub fn is_clean(&self, band: u32) -> bool {
        self.bands[band as usize] == NONE
    }

    /// The first extent of this sector's band that ends behind it.
    fn lowest(&self, lba: u64) -> Option<Slot> {
        let root = self.bands[self.band_of(lba) as usize];
        let before = self.by_first.below(root, &(lba + 1));
        before
            .filter(|&slot| self.extents.get(slot).end > lba)
            .or_else(|| self.by_first.at_or_above(root, &(lba + 1)))
    }

    /// The extents of a band in the order of their sectors, from `from` on.
    pub fn of_band(&self, from: u64) -> impl Iterator<Item = Extent> + '_ {
        let (band, mut at) = (self.band_of(from), from);
        core::iter::from_fn(move || {
            if at >= self.range(band).1 || at / self.band != u64::from(band) {
                return None;
            }
            let extent = *self.extents.get(self.lowest(at)?);
            at = extent.end;
            Some(extent)
        })
    }

    /// The first part of these sectors that lies contiguously on the media.
    pub fn fragment(&self, first: Lba, end: Lba) -> Fragment {
        let (first, end) = (first.get(), end.get());
        let home =
            |until: u64| Fragment { at: Lba::new(first), count: Sectors::new(until - first), cached: false };
        let mut from = first;
        while from < end {
            let border = self.range(self.band_of(from)).1;
            if let Some(slot) = self.lowest(from) {
                let extent = self.extents.get(slot);
                if extent.first <= first {
                    let (at, until) = (extent.at + (first - extent.first), extent.end.min(end));
                    return Fragment { at: Lba::new(at), count: Sectors::new(until - first), cached: true };
                }
                return home(extent.first.min(end));
            }
            from = border;
        }
        home(end)
    }

    /// Maps sectors that now lie at `at` in the media cache and take `takes` sectors of it.
    pub fn insert(&mut self, Extent { mut first, end, mut at, takes }: Extent) {
        self.remove(first, end);
        let (count, mut left) = (end - first, takes);
        while first < end {
            let (band, until) = (self.band_of(first), self.range(self.band_of(first)).1.min(end));
            let part = if until == end { left } else { takes * (until - first) / count };
            left -= part;
            self.add(band, Extent { first, end: until, at, takes: part });
            at += until - first;
            first = until;
        }
    }

    fn add(&mut self, band: u32, extent: Extent) {
        let slot = self.extents.add(extent);
        self.by_first.insert(&mut self.bands[band as usize], slot, extent.first, ());
        self.entries += 1;
        self.takes += extent.takes;
    }

    fn drop_extent(&mut self, band: u32, slot: Slot) -> Extent {
        self.by_first.remove(&mut self.bands[band as usize], slot);
        let extent = *self.extents.get(slot);
        self.extents.free(slot);
        self.entries -= 1;
        self.takes -= extent.takes;
        extent
    }

    /// These sectors are no longer in the media cache.
    pub fn remove(&mut self, first: u64, end: u64) {
        self.remove_where(first, end, |_| true);
    }

    /// The same for those that still lie where they lay when `at` was the place of the first of them.
    pub fn remove_unchanged(&mut self, first: u64, end: u64, at: u64) {
        self.remove_where(first, end, |part| part.at == at + (part.first - first));
    }

    fn remove_where(&mut self, first: u64, end: u64, mut goes: impl FnMut(&Extent) -> bool) {
        let mut from = first;
        while from < end {
            let (band, border) = (self.band_of(from), self.range(self.band_of(from)).1);
            while from < end.min(border)
                && let Some(slot) = self.lowest(from)
            {
                let whole = *self.extents.get(slot);
                if whole.first >= end {
                    break;
                }
                from = whole.end;
                let (low, high) = (whole.first.max(first), whole.end.min(end));
                let part = |from: u64, to: u64| {
                    let takes = whole.takes * (to - from) / (whole.end - whole.first);
                    Extent { first: from, end: to, at: whole.at + (from - whole.first), takes }
                };
                if !goes(&part(low, high)) {
                    continue;
                }
                self.drop_extent(band, slot);
                for rest in [part(whole.first, low), part(high, whole.end)] {
                    if rest.first < rest.end {
                        self.add(band, rest);
                    }
                }
            }
            from = from.max(border);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Where each of the host's sectors lies.
    struct Naive(Vec<Option<u64>>);

    impl Naive {
        fn set(&mut self, first: u64, end: u64, at: Option<u64>) {
            (first..end).for_each(|lba| self.0[lba as usize] = at.map(|at| at + (lba - first)));
        }
    }

    const CAPACITY: u64 = 96;
    const BAND: u64 = 20;

    proptest! {
        #[test]
        fn the_map_is_what_a_list_of_all_sectors_is(
            steps in prop::collection::vec((0..CAPACITY, 1..30u64, 0..4u8), 1..60),
        ) {
            let mut map = Map::new(Sectors::new(CAPACITY), Sectors::new(BAND));
            let mut naive = Naive(alloc::vec![None; CAPACITY as usize]);
            let mut at = 1_000;
            for (first, count, kind) in steps {
                let end = (first + count).min(CAPACITY);
                match kind {
                    0 => {
                        map.remove(first, end);
                        naive.set(first, end, None);
                    }
                    1 => {
                        // What one place held, as far as it still does.
                        let old = at - 40;
                        map.remove_unchanged(first, end, old);
                        for lba in first..end {
                            if naive.0[lba as usize] == Some(old + (lba - first)) {
                                naive.0[lba as usize] = None;
                            }
                        }
                    }
                    _ => {
                        map.insert(Extent { first, end, at, takes: end - first });
                        naive.set(first, end, Some(at));
                        at += 40;
                    }
                }
                let cached = naive.0.iter().flatten().count() as u64;
                prop_assert_eq!(map.takes().get(), cached);
                for first in 0..CAPACITY {
                    let found = map.fragment(Lba::new(first), Lba::new(CAPACITY));
                    let (count, home) = (found.count.get(), naive.0[first as usize].is_none());
                    prop_assert_eq!(found.cached, !home);
                    prop_assert!(count > 0 && first + count <= CAPACITY);
                    for step in 0..count {
                        let place = naive.0[(first + step) as usize];
                        prop_assert_eq!(place.unwrap_or(first + step), found.at.get() + step);
                        prop_assert_eq!(place.is_none(), home);
                    }
                    if home && first + count < CAPACITY {
                        prop_assert!(naive.0[(first + count) as usize].is_some());
                    }
                }
                let listed: u64 = (0..CAPACITY.div_ceil(BAND)).flat_map(|band| map.of_band(band * BAND)).map(|e| e.end - e.first).sum();
                prop_assert_eq!(listed, cached);
                prop_assert_eq!((0..map.bands.len()).all(|band| map.is_clean(band as u32)), cached == 0);
            }
        }
    }
}
