//! Drive-managed shingled recording, as typed in a drive file.
use crate::keys::numbers::Count;
use crate::keys::quantities::Extent;
use crate::keys::section;
use drivelab_units::Span;

/// Extents of a map.
pub type Extents = Count<1, 16777216>;

section! {
    facts: true,
    /// Drive-managed shingled recording: random writes go to a media cache, and the firmware merges them into bands of
    /// overlapping tracks when the drive is idle or the cache is full. Sequential writes that begin with a band go to it. The
    /// defaults are those of the one drive that is fitted (docs/how-to/shingled.md).
    pub struct SmrRaw {
        /// The size of a band, which is written as a whole.
        band: Extent = "30MiB",
        /// The size of the media cache. It lies at the outer edge and is not part of the capacity.
        cache: Extent = "32GiB",
        /// The most extents that are in the media cache: contiguous data of one or several writes.
        map_entries: Extents = "183000",
        /// The most extents that one append to the media cache writes.
        append_extents: Extents = "64",
        /// The most data of an append. Contiguous written data of this length that begin with a band go straight to it.
        append_most: Extent = "4MiB",
        /// What an append takes of the media cache beside its data.
        append_overhead: Extent = "800KiB",
        /// The most extents of a band that are merged into it at a time.
        merged_extents: Extents = "144",
        /// How long the firmware cleans before it serves a command again, and, while the map is full, accepts a write.
        slice: Span = "100ms",
        /// How long the drive must have had nothing to do before it cleans.
        idle: Span = "1s",
    }
}
