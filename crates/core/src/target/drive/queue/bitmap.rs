//! A set of small numbers that finds the least member from a number on by counting zero bits.
//!
//! One word of 64 bits stands over 64 words of the level below it, up to a level of one word: two levels for 4 096
//! numbers, four for sixteen million. So every operation takes as many steps as there are levels, whatever is in the set.
use alloc::vec;
use alloc::vec::Vec;

const LEVELS_MAX: usize = 6;

pub struct Bitmap {
    /// The levels one behind the other, the lowest first.
    words: Vec<u64>,
    /// Where each level begins in `words`, and behind the last one where that ends.
    begins: [u32; LEVELS_MAX + 1],
    levels: usize,
}

impl Bitmap {
    /// An empty set of numbers below `size`.
    pub fn new(size: usize) -> Self {
        let (mut begins, mut levels, mut bits) = ([0; LEVELS_MAX + 1], 0, size);
        loop {
            let words = bits.div_ceil(64);
            begins[levels + 1] = begins[levels] + words as u32;
            levels += 1;
            if words <= 1 {
                break;
            }
            bits = words;
        }
        Bitmap { words: vec![0; begins[levels] as usize], begins, levels }
    }

    #[inline]
    pub fn insert(&mut self, mut number: usize) {
        for level in 0..self.levels {
            let word = &mut self.words[self.begins[level] as usize + number / 64];
            let known = *word != 0;
            *word |= 1 << (number % 64);
            if known {
                return;
            }
            number /= 64;
        }
    }

    #[inline]
    pub fn remove(&mut self, mut number: usize) {
        for level in 0..self.levels {
            let word = &mut self.words[self.begins[level] as usize + number / 64];
            *word &= !(1 << (number % 64));
            if *word != 0 {
                return;
            }
            number /= 64;
        }
    }

    /// The least member that is not below `number`.
    #[inline]
    pub fn first_from(&self, mut number: usize) -> Option<usize> {
        let mut level = 0;
        loop {
            if level == self.levels {
                return None;
            }
            let at = self.begins[level] as usize + number / 64;
            if at >= self.begins[level + 1] as usize {
                return None;
            }
            let word = self.words[at] >> (number % 64);
            if word != 0 {
                number += word.trailing_zeros() as usize;
                break;
            }
            number = number / 64 + 1;
            level += 1;
        }
        while level > 0 {
            level -= 1;
            let word = self.words[self.begins[level] as usize + number];
            number = number * 64 + word.trailing_zeros() as usize;
        }
        Some(number)
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
