//! Stamps, and the arithmetic of parity on them.
//!
//! A stamp represents the data of one sector: eight bytes, different for any two writes. Parity is the same
//! sum of products in the field of 256 elements that a real array computes, on these eight bytes in place of
//! 512. Sources: S. Vigna, "splitmix64", 2015 (public domain), for the mixing, which is invertible; H. P.
//! Anvin, "The mathematics of RAID-6", 2009, for the field (0x11d) and its generator 2.

/// The contents of a sector that was never written.
pub const BLANK: u64 = 0;

/// What a write puts into a sector: never [`BLANK`], and different for any two writes or sectors except with
/// a chance of one in 2^64. Given the sector, the write can be recovered: see [`write_of`].
#[inline]
pub fn stamp(write: u64, sector: u64) -> u64 {
    let mut mixed = write.wrapping_add(place(sector));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The write that puts this stamp into this sector. For any other value it is a number that no write has,
/// except by chance.
#[inline]
pub fn write_of(stamp: u64, sector: u64) -> u64 {
    let mut mixed = stamp ^ (stamp >> 31) ^ (stamp >> 62);
    mixed = mixed.wrapping_mul(0x3196_42b2_d24d_8ec3);
    mixed = (mixed ^ (mixed >> 27) ^ (mixed >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    (mixed ^ (mixed >> 30) ^ (mixed >> 60)).wrapping_sub(place(sector))
}

/// Far from that of any other sector, and from zero.
#[inline]
fn place(sector: u64) -> u64 {
    sector.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0xd6e8_feb8_6659_fd93)
}

/// Each of eight bytes multiplied by a factor in the field, all at once:
/// [`gf::mul`](drivelab_core::storage::array::levels::gf::mul) applied to each.
#[inline]
pub fn times(mut stamp: u64, factor: u8) -> u64 {
    if factor == 1 {
        return stamp;
    }
    const TOP: u64 = 0x8080_8080_8080_8080;
    const REDUCED: u64 = 0x1d;
    let (mut product, mut factor) = (0, factor);
    while factor != 0 {
        if factor & 1 == 1 {
            product ^= stamp;
        }
        let carries = (stamp & TOP) >> 7;
        stamp = ((stamp & !TOP) << 1) ^ (carries * REDUCED);
        factor >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::storage::array::levels::gf;
    use std::vec::Vec;

    #[test]
    fn products_are_byte_by_byte_and_distribute_over_sums() {
        let (a, b) = (stamp(3, 5), stamp(4, 5));
        for factor in 0..=255 {
            assert_eq!(times(a, factor) ^ times(b, factor), times(a ^ b, factor));
            let bytes = a.to_le_bytes().map(|byte| gf::mul(byte, factor));
            assert_eq!(times(a, factor), u64::from_le_bytes(bytes));
        }
        assert_eq!((times(a, 0), times(a, 1)), (0, a));
    }

    #[test]
    fn no_two_stamps_are_alike() {
        let mut all: Vec<u64> = (0..200).flat_map(|write| (0..200).map(move |s| stamp(write, s))).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]) && !all.contains(&BLANK));
    }

    #[test]
    fn a_stamp_identifies_its_write_given_the_sector() {
        for sector in [0, 1, 5, 1 << 40] {
            for write in [0, 1, 877, 1 << 48, 1 << 52] {
                assert_eq!(write_of(stamp(write, sector), sector), write);
                assert!(write_of(stamp(write, sector), sector + 1) > 1 << 53);
            }
            assert!(write_of(stamp(3, sector) ^ stamp(4, sector), sector) > 1 << 53);
            assert!(write_of(BLANK, sector) > 1 << 53);
        }
    }
}
