//! JBOD: the drives are concatenated, each with its full capacity.
mod level;
mod plan;

use crate::storage::array::members::Spot;
use alloc::vec::Vec;
use drivelab_units::Sectors;

/// JBOD: members concatenated, without redundancy.
pub struct Linear {
    /// The address of the array at which each member ends.
    ends: Vec<u64>,
}

impl Linear {
    /// Concatenates members of these capacities.
    pub fn new(capacities: &[Sectors]) -> Self {
        let mut end = 0;
        let ends = capacities.iter().map(|capacity| {
            end += capacity.get();
            end
        });
        Linear { ends: ends.collect() }
    }

    /// Sectors that hosts can address: the sum of all members.
    pub fn capacity(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Sectors of the largest member.
    pub fn used(&self) -> u64 {
        let begins = core::iter::once(0).chain(self.ends.iter().copied());
        self.ends.iter().zip(begins).map(|(end, begin)| end - begin).max().unwrap_or(0)
    }

    /// Where an address lies, and how many sectors of the member follow from there.
    pub fn spot(&self, at: u64) -> (Spot, u64) {
        let slot = self.ends.partition_point(|&end| end <= at);
        let begin = if slot == 0 { 0 } else { self.ends[slot - 1] };
        (Spot { slot: slot as u16, at: at - begin }, self.ends[slot] - at)
    }

    /// The address of the array at a place.
    pub fn address(&self, spot: Spot) -> u64 {
        let slot = usize::from(spot.slot);
        spot.at + if slot == 0 { 0 } else { self.ends[slot - 1] }
    }
}
