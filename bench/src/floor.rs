//! The floor: a loop that does the minimum work per command that any disk simulation must do, and nothing
//! else.
//!
//! It draws an address with splitmix64, searches its zone, looks the seek time up in a table, computes the
//! angle with one modulo, and counts the result in one bucket.
//!
//! The workspace checks arithmetic for overflow in release builds too. This loop is meant to be the minimum,
//! so Cargo.toml disables the checks for this package: the ratios then show what the checks cost the
//! simulator, instead of hiding it on both sides.
use std::hint::black_box;

/// First block, blocks per cylinder and first cylinder of a zone.
struct Zone {
    first: u64,
    per_cylinder: u64,
    cylinder: u64,
}

/// A drive as data unknown at compile time, as in a simulator that reads a scenario.
pub struct Floor {
    zones: Vec<Zone>,
    seek: Vec<u32>,
    blocks: u64,
    period: u64,
}

impl Floor {
    pub fn new() -> Self {
        let (mut zones, mut first) = (Vec::new(), 0);
        for zone in 0..24 {
            let per_cylinder = 4 * (1_320 - zone * 28);
            zones.push(Zone { first, per_cylinder, cylinder: zone * 3_333 });
            first += per_cylinder * 3_333;
        }
        let seek = (0..24 * 3_333u64).map(|d| 500_000 + 40_000 * d.isqrt() as u32).collect();
        Floor { zones, seek, blocks: black_box(first), period: black_box(8_333_333) }
    }

    /// Executes this many commands.
    pub fn run(&self, commands: u64) {
        let mut buckets = vec![0u32; 4096];
        let (mut state, mut now, mut cylinder) = (black_box(1u64), 0u64, 0u64);
        for _ in 0..commands {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            let lba = ((u128::from(z) * u128::from(self.blocks)) >> 64) as u64;
            let zone = &self.zones[self.zones.partition_point(|zone| zone.first <= lba) - 1];
            let target = zone.cylinder + (lba - zone.first) / zone.per_cylinder;
            let seek = u64::from(self.seek[target.abs_diff(cylinder) as usize]);
            cylinder = target;
            let angle = (now + seek) % self.period;
            let wait = ((z & 0xffff) * self.period) >> 16;
            let service = seek + if wait >= angle { wait - angle } else { wait + self.period - angle };
            now += service;
            buckets[(service >> 13) as usize & 4095] += 1;
        }
        black_box((buckets, now));
    }
}
