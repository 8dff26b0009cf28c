//! The digest of a run: one number that is equal for two runs exactly when their events are.
//!
//! Not cryptographic: it guards against accidents of implementation, not against an adversary.

/// A running digest of 64-bit words; the order of the words matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0x6472_6976_656c_6162)
    }
}

impl Digest {
    /// Folds one word in: multiply by an odd constant, keep the high half too.
    #[inline]
    pub fn fold(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        self.0 = (product as u64) ^ ((product >> 64) as u64).rotate_left(29);
    }

    /// The 64-bit digest of everything added so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn digest(words: &[u64]) -> u64 {
        let mut digest = Digest::default();
        words.iter().for_each(|&word| digest.fold(word));
        digest.value()
    }

    proptest! {
        #[test]
        fn any_changed_bit_changes_the_digest(mut words in prop::collection::vec(any::<u64>(), 1..20), at in 0usize..20, bit in 0u32..64) {
            let before = digest(&words);
            let at = at % words.len();
            words[at] ^= 1 << bit;
            prop_assert_ne!(digest(&words), before);
        }

        #[test]
        fn order_matters(words in prop::collection::vec(any::<u64>(), 2..20)) {
            let mut swapped: Vec<u64> = words.clone();
            swapped.swap(0, 1);
            prop_assert_eq!(digest(&swapped) == digest(&words), swapped == words);
        }
    }
}
