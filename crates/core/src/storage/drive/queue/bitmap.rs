//! A set of small numbers that finds the least member not below a given number by counting zero bits.
//!
//! Above the words there is a smaller set: which of them are not zero. So every operation takes as many steps
//! as there are levels (two for 4 096 numbers, four for sixteen million), whatever the set contains.
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

pub struct Bitmap {
    words: Vec<u64>,
    /// The numbers of the words that are not zero, where there is more than one word.
    filled: Option<Box<Bitmap>>,
}

impl Bitmap {
    /// An empty set of numbers below `size`.
    pub fn new(size: usize) -> Self {
        let words = size.div_ceil(64);
        let filled = (words > 1).then(|| Box::new(Bitmap::new(words)));
        Bitmap { words: vec![0; words], filled }
    }

    #[inline]
    pub fn insert(&mut self, number: usize) {
        let word = &mut self.words[number / 64];
        let empty = *word == 0;
        *word |= 1 << (number % 64);
        if empty && let Some(filled) = &mut self.filled {
            filled.insert(number / 64);
        }
    }

    #[inline]
    pub fn remove(&mut self, number: usize) {
        let word = &mut self.words[number / 64];
        *word &= !(1 << (number % 64));
        if *word == 0
            && let Some(filled) = &mut self.filled
        {
            filled.remove(number / 64);
        }
    }

    /// The least member that is not below `number`.
    #[inline]
    pub fn first_from(&self, number: usize) -> Option<usize> {
        let members = self.words.get(number / 64)? >> (number % 64);
        if members != 0 {
            return Some(number + members.trailing_zeros() as usize);
        }
        let word = self.filled.as_ref()?.first_from(number / 64 + 1)?;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_bitmap_is_a_set(
            size in prop_oneof![1usize..200, 4_000usize..5_000, 250_000usize..270_000],
            steps in prop::collection::vec((any::<bool>(), any::<u32>(), any::<bool>()), 1..200),
        ) {
            let (mut bitmap, mut set) = (Bitmap::new(size), BTreeSet::new());
            for (insert, number, end) in steps {
                // At the end of the range half of the time: that is where the levels are cut off.
                let number = number as usize % size;
                let number = if end { size - 1 - number % 70.min(size) } else { number };
                if insert {
                    bitmap.insert(number);
                    set.insert(number);
                } else {
                    bitmap.remove(number);
                    set.remove(&number);
                }
                for from in [0, number, number + 1, number / 2, size - 1, size] {
                    prop_assert_eq!(bitmap.first_from(from), set.range(from..).next().copied());
                }
            }
        }
    }
}
