//! A table by number, without std: keys here are addresses and ids, which no adversary chooses.
//!
//! Open addressing with linear probing; a removed key leaves no tombstone, because those behind it move up
//! (D. E. Knuth, The Art of Computer Programming, volume 3, 6.4, algorithm R). At most half of the places are
//! in use.
use alloc::vec::Vec;

const LEAST: usize = 16;

/// Values by number.
#[derive(Clone, Debug)]
pub struct Map<V> {
    /// A power of two of places, or none.
    places: Vec<Option<(u64, V)>>,
    len: usize,
}

impl<V> Default for Map<V> {
    fn default() -> Self {
        Map { places: Vec::new(), len: 0 }
    }
}

/// Numbers are their own hashes, mixed over all bits: the lower ones are used.
#[inline]
fn spread(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29) as usize
}

impl<V> Map<V> {
    /// Number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of a key, or the place that it would get; `None` while there are no places.
    #[inline]
    fn find(&self, key: u64) -> Option<usize> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = spread(key) & mask;
        while let Some((there, _)) = &self.places[at] {
            if *there == key {
                break;
            }
            at = (at + 1) & mask;
        }
        Some(at)
    }

    /// The value of a key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<&V> {
        self.places[self.find(key)?].as_ref().map(|(_, value)| value)
    }

    /// The same, mutable.
    #[inline]
    pub fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let at = self.find(key)?;
        self.places[at].as_mut().map(|(_, value)| value)
    }

    /// The value of a key, created if there is none.
    #[inline]
    pub fn get_or_insert_with(&mut self, key: u64, make: impl FnOnce() -> V) -> &mut V {
        let at = match self.find(key) {
            Some(at) if self.places[at].is_some() => at,
            _ => self.make_place(key),
        };
        let len = &mut self.len;
        let (_, value) = self.places[at].get_or_insert_with(|| {
            *len += 1;
            (key, make())
        });
        value
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: u64, value: V) {
        let at = match self.find(key) {
            Some(at) if self.places[at].is_some() => at,
            _ => self.make_place(key),
        };
        self.len += usize::from(self.places[at].is_none());
        self.places[at] = Some((key, value));
    }

    /// Makes a place for a key that is not there; grows the table when too many places are in use.
    fn make_place(&mut self, key: u64) -> usize {
        if 2 * (self.len + 1) > self.places.len() {
            let more = (2 * self.places.len()).max(LEAST);
            let before = core::mem::replace(&mut self.places, (0..more).map(|_| None).collect());
            for (key, value) in before.into_iter().flatten() {
                if let Some(at) = self.find(key) {
                    self.places[at] = Some((key, value));
                }
            }
        }
        self.find(key).unwrap_or(0)
    }

    /// Removes a key.
    pub fn remove(&mut self, key: u64) -> Option<V> {
        let mut free = self.find(key)?;
        let (_, value) = self.places[free].take()?;
        self.len -= 1;
        let mask = self.places.len() - 1;
        let mut at = free;
        loop {
            at = (at + 1) & mask;
            let Some((next, _)) = &self.places[at] else { return Some(value) };
            // It may move up unless its own first place is after the free one.
            let from_home = at.wrapping_sub(spread(*next)) & mask;
            if from_home >= at.wrapping_sub(free) & mask {
                self.places.swap(free, at);
                free = at;
            }
        }
    }

    /// All keys, in no particular order.
    pub fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.places.iter().flatten().map(|(key, _)| *key)
    }

    /// All values, in no particular order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.places.iter().flatten().map(|(_, value)| value)
    }

    /// Number of places, used or not: the memory of the table.
    pub fn places(&self) -> usize {
        self.places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_table(steps in prop::collection::vec((0_u64..60, 0_u8..4), 1..400), stride in 1_u64..1 << 40) {
            let (mut map, mut plain) = (Map::default(), BTreeMap::new());
            for (which, (key, what)) in (0..).zip(steps) {
                let key = key.wrapping_mul(stride);
                match what {
                    0 => _ = (map.insert(key, which), plain.insert(key, which)),
                    1 => prop_assert_eq!(map.remove(key), plain.remove(&key)),
                    2 => prop_assert_eq!(map.get_or_insert_with(key, || which), plain.entry(key).or_insert(which)),
                    _ => prop_assert_eq!(map.get(key), plain.get(&key)),
                }
                prop_assert_eq!((map.len(), map.is_empty()), (plain.len(), plain.is_empty()));
                let mut keys: std::vec::Vec<u64> = map.keys().collect();
                keys.sort_unstable();
                prop_assert!(keys.iter().eq(plain.keys()));
            }
        }
    }
}
