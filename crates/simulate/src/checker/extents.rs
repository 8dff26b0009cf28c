//! A table by address in which neighbours with equal values are one entry: the sectors of one command stay
//! one entry until another command splits it.
use std::collections::BTreeMap;

#[derive(Clone)]
pub struct Extents<T> {
    /// By the first address of each entry; with the address after its last.
    all: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for Extents<T> {
    fn default() -> Self {
        Extents { all: BTreeMap::new() }
    }
}

impl<T: Clone + Default> Extents<T> {
    pub fn get(&self, at: u64) -> Option<&T> {
        let (_, (end, value)) = self.all.range(..=at).next_back()?;
        (at < *end).then_some(value)
    }

    /// The entries that overlap these addresses, upward: first address, end, and value.
    pub fn among(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, u64, &T)> {
        let before = self.all.range(..first).next_back();
        let all = before.into_iter().chain(self.all.range(first..end));
        let cut = all.map(move |(&at, (to, value))| (first.max(at), end.min(*to), value));
        cut.filter(|(at, to, _)| at < to)
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, &T)> {
        self.all.iter().map(|(at, (end, value))| (*at, *end, value))
    }

    /// All values, each once.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.all.values_mut().map(|(_, value)| value)
    }

    /// Changes the values of those of these addresses that have one.
    pub fn change(&mut self, first: u64, end: u64, mut change: impl FnMut(&mut T)) {
        self.cut_at(first);
        self.cut_at(end);
        self.all.range_mut(first..end).for_each(|(_, (_, value))| change(value));
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Changes the values of all these addresses: new entries start with the default.
    pub fn cover(&mut self, first: u64, end: u64, change: impl FnMut(&mut T)) {
        let mut gaps = Vec::new();
        let mut at = first;
        for (from, to, _) in self.among(first, end) {
            if at < from {
                gaps.push((at, from));
            }
            at = to;
        }
        if at < end {
            gaps.push((at, end));
        }
        self.all.extend(gaps.into_iter().map(|(at, to)| (at, (to, T::default()))));
        self.change(first, end, change);
    }

    /// Joins adjacent entries with equal values, within these addresses and next to them.
    pub fn join(&mut self, first: u64, end: u64)
    where
        T: PartialEq,
    {
        let before = self.all.range(..first).next_back().map_or(first, |(&at, _)| at);
        let mut last: Option<(u64, u64)> = None;
        let mut joined = Vec::new();
        for (&at, (to, value)) in self.all.range(before..=end) {
            let alike = |&(_, until): &(u64, u64)| until == at;
            let one = last.filter(alike).filter(|(first, _)| self.all[first].1 == *value);
            last = Some(one.map_or((at, *to), |(first, _)| (first, *to)));
            if let Some((first, _)) = one {
                joined.push((at, first, *to));
            }
        }
        for (gone, first, end) in joined {
            self.all.remove(&gone);
            if let Some((until, _)) = self.all.get_mut(&first) {
                *until = end;
            }
        }
    }

    /// Splits the entry across an address into two.
    fn cut_at(&mut self, at: u64) {
        let before = self.all.range_mut(..at).next_back();
        if let Some((_, (end, value))) = before.filter(|(_, (end, _))| at < *end) {
            let rest = (std::mem::replace(end, at), value.clone());
            self.all.insert(at, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extent_is_cut_where_something_else_holds_for_part_of_it() {
        let mut extents: Extents<Vec<u8>> = Extents::default();
        extents.cover(10, 20, |all| all.push(1));
        extents.cover(15, 30, |all| all.push(2));
        extents.change(0, 12, |all| all.push(3));
        let all: Vec<(u64, u64, &[u8])> = extents.iter().map(|(at, end, all)| (at, end, &all[..])).collect();
        assert_eq!(all, [(10, 12, &[1, 3][..]), (12, 15, &[1]), (15, 20, &[1, 2]), (20, 30, &[2])]);
        assert_eq!((extents.get(9), extents.get(30)), (None, None));
        assert_eq!(extents.get(19), Some(&vec![1, 2]));
        let among: Vec<(u64, u64)> = extents.among(14, 25).map(|(at, end, _)| (at, end)).collect();
        assert_eq!(among, [(14, 15), (15, 20), (20, 25)]);
    }

    #[test]
    fn neighbours_for_which_the_same_holds_are_one() {
        let mut extents: Extents<u8> = Extents::default();
        for at in 0..10 {
            extents.cover(at, at + 1, |all| *all = u8::from(at == 4));
        }
        extents.cover(20, 21, |_| ());
        extents.join(2, 8);
        let all: Vec<(u64, u64)> = extents.iter().map(|(at, end, _)| (at, end)).collect();
        assert_eq!(all, [(0, 1), (1, 4), (4, 5), (5, 9), (9, 10), (20, 21)]);
        extents.join(0, 20);
        assert_eq!(extents.len(), 4);
    }
}
