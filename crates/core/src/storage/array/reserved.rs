//! What an array reserves at the beginning of each member, before its data.
//!
//! md puts its bitmap behind the superblock and the partial parity log of 1 MiB between that and the data (metadata 1.2).
use crate::storage::array::params::{ArrayParams, ConsistencyPolicy, Level};

/// Sectors of each member's partial parity log.
pub const PARTIAL_PARITY_LOG: u64 = 2_048;

/// Maximum number of regions of a bitmap.
pub const REGIONS_MOST: u64 = 1 << 24;

/// Sectors of one write of metadata: the parity granule, at least one.
#[inline]
pub fn granule(params: &ArrayParams) -> u64 {
    params.parity.granule.get().max(1)
}

/// The largest band whose partial parity a log can hold, with the descriptions of the up to three commands
/// that it takes.
#[inline]
pub fn largest_band(params: &ArrayParams) -> u64 {
    let granule = granule(params);
    let most = match params.consistency_policy {
        ConsistencyPolicy::PartialParityLog => params.request.get().min(PARTIAL_PARITY_LOG / 2),
        _ => params.request.get(),
    };
    (most / granule * granule).max(granule)
}

/// Bits of the bitmap in a granule.
pub fn bits(params: &ArrayParams) -> u64 {
    granule(params) * 512 * 8
}

/// The sector of this granule of the bitmap on each member: the first granule is the superblock's.
pub fn bitmap_at(params: &ArrayParams, which: u64) -> u64 {
    (1 + which) * granule(params)
}

/// Regions that the bitmap has bits for, on members of at least `least` sectors.
pub fn regions(params: &ArrayParams, least: u64) -> u64 {
    let ConsistencyPolicy::Bitmap { region, .. } = params.consistency_policy else { return 0 };
    counted(params, least).div_ceil(region.get().max(1))
}

/// Sectors that the bitmap covers, on members of at least `least` sectors.
pub fn counted(params: &ArrayParams, least: u64) -> u64 {
    // Levels with parity count the sectors of one member, over all groups; the others count those of the
    // array.
    let times = match params.level {
        Level::Interleaved { groups } | Level::Parity { groups, .. } => u64::from(groups),
        _ => u64::from(params.members),
    };
    least * times
}

/// Sectors of each member before its data.
pub fn sectors(params: &ArrayParams, least: u64) -> u64 {
    let taken = match params.consistency_policy {
        ConsistencyPolicy::None | ConsistencyPolicy::Journal => 0,
        ConsistencyPolicy::Bitmap { .. } => {
            (1 + regions(params, least).div_ceil(bits(params))) * granule(params)
        }
        ConsistencyPolicy::PartialParityLog => PARTIAL_PARITY_LOG,
    };
    taken.min(least)
}
