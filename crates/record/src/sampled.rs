//! What a sampled rebuild did in each of its parts.
use serde::Serialize;

/// A rebuild that was sampled.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct SampledRecord {
    /// When sampling began: written data no longer gathered in caches, or the longest time for that was over.
    pub settled_ns: u64,
    /// Whether they no longer gathered.
    pub is_steady: bool,
    pub parts: Vec<PartRecord>,
}

/// A part of it that counts: one at each place, or several.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PartRecord {
    /// Its place, as a share of the work.
    pub rebuilt: f64,
    /// The time that counts.
    pub counted_ns: u64,
    /// Bytes of each new member that were written in it.
    pub member_bytes: u64,
    /// I/Os of hosts that finished in it.
    pub ios: u64,
}
