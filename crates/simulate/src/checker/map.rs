//! A table by number: keys here are addresses and ids, which no adversary chooses.
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Numbers are their own hashes, mixed over all bits: keys here are addresses and ids, which no adversary
/// chooses.
#[derive(Clone, Copy, Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

pub type Map<V> = HashMap<u64, V, BuildHasherDefault<Spread>>;
