//! How many writes a drive's cache holds, and how far cached random writes may lie from the prediction where nobody
//! has measured that.
//!
//! A drive destages the nearest of the writes that its cache holds: the more there are, the less each of them
//! costs, whatever the host's depth is. Data sheets have the size of the memory only.
use crate::check::{given, smr};
use crate::keys::At;
use crate::raw::cache::{CacheRaw, Segments};
use crate::raw::drive::DriveRaw;
use crate::raw::provenance::is_inferred;
use crate::raw::scenario::TargetRaw;
use crate::raw::switch::Switch;

/// The written data that a drive's cache holds.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct CachedWrites {
    /// The most segments that hold them.
    pub segments: u32,
    /// How far I/Os per second of cached random writes may deviate from the prediction for this number: the
    /// expected minimum and maximum as a share of it; 1 where the number was measured, or is its author's own.
    pub low: f64,
    pub high: f64,
}

/// The fewest and the most segments for written data that are known of any drive: measured on the 4 TB drive of
/// the catalogue, and fitted to the published writes per second of its Exos X24.
pub const FEWEST: u32 = 11;
pub const MOST: u32 = 2_304;

/// Random writes of 4 KiB per second that the model of the Exos X24 destages, by segments for written data.
/// `tools/firmware_classes.py` computes it; docs/reference/firmware-classes.md has the table.
const DESTAGED: [(u32, f64); 13] = [
    (1, 78.7),
    (2, 95.6),
    (4, 116.2),
    (8, 140.6),
    (11, 152.8),
    (16, 170.1),
    (32, 210.6),
    (64, 252.4),
    (128, 301.7),
    (256, 356.3),
    (512, 413.8),
    (1_024, 488.1),
    (2_304, 571.3),
];

/// Of a completed drive with the scenario's keys: what its cache holds of written data; `None` without a write
/// cache.
pub fn cached_writes(drive: &DriveRaw, above: &TargetRaw) -> Option<CachedWrites> {
    if !caches_writes(drive, above) {
        return None;
    }
    let of = |raw: &CacheRaw| (raw.write_segments.clone(), raw.segments.clone());
    let [(own_writes, own), (writes, all)] =
        [above.cache.as_ref(), drive.cache.as_ref()].map(|at| section(at).map_or((None, None), of));
    let all: Option<At<Segments>> = own.or(all);
    let key = own_writes.or(writes).or_else(|| all.clone())?;
    let most = given(all.as_ref()).map_or(u64::MAX, |all| all.0);
    let segments = u32::try_from(key.value.0.min(most)).ok()?;
    let rate = rate_with(segments);
    // A shingled drive appends what waits in the order of its age: to choose among more gains nothing.
    let is_shingled = smr::section(drive.smr.as_ref()).is_some();
    let (low, high) = if is_inferred(&key) && !is_shingled {
        ((rate_with(FEWEST) / rate).min(1.0), (rate_with(MOST) / rate).max(1.0))
    } else {
        (1.0, 1.0)
    };
    Some(CachedWrites { segments, low, high })
}

/// Whether writes complete in the drive's cache.
pub fn caches_writes(drive: &DriveRaw, above: &TargetRaw) -> bool {
    let is_on = above.write_cache.as_ref().or(drive.write_cache.as_ref()).is_some_and(|at| at.value);
    is_on && section(above.cache.as_ref().or(drive.cache.as_ref())).is_some()
}

/// The keys of a cache that is there.
pub fn section(at: Option<&At<Switch<CacheRaw>>>) -> Option<&CacheRaw> {
    match at {
        Some(At { value: Switch::On(raw), .. }) => Some(raw),
        _ => None,
    }
}

/// Writes per second with this many segments, linear between the numbers of the table.
fn rate_with(segments: u32) -> f64 {
    let after = DESTAGED.iter().position(|(count, _)| *count >= segments).unwrap_or(DESTAGED.len() - 1);
    let (next, next_rate) = DESTAGED[after];
    let (before, rate) = DESTAGED[after.saturating_sub(1)];
    if next <= segments || next == before {
        return next_rate;
    }
    rate + (next_rate - rate) * f64::from(segments - before) / f64::from(next - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_segments_never_destage_less_and_the_table_is_met() {
        assert!(DESTAGED.iter().all(|&(count, rate)| rate_with(count) == rate));
        assert!((1..5_000).all(|count| rate_with(count) <= rate_with(count + 1)));
    }
}
