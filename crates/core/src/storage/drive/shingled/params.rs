//! What is known of a shingled drive's translation, in parameters.
use core::fmt;
use drivelab_units::{Sectors, Span};

/// A drive-managed shingled drive: which part of it is the media cache, and how the firmware fills and cleans it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShingledParams {
    /// Sectors of a band: tracks that overlap, so that they can only be written from the first to the last.
    pub band: Sectors,
    /// Sectors of the media cache: the last ones of the geometry, behind those that the host addresses. Where they lie on the
    /// platters is [`GeometryParams::outer_last`](super::super::geometry::GeometryParams::outer_last)'s matter.
    pub cache: Sectors,
    /// Maximum number of extents that the map of the media cache holds.
    pub map_entries: u32,
    /// Maximum number of extents that one append to the media cache writes.
    pub append_extents: u32,
    /// Maximum of data that one append writes. Contiguous data of as much that begin with a band go to the band itself.
    pub append_most: Sectors,
    /// Sectors of the media cache that an append takes beside its data.
    pub append_overhead: Sectors,
    /// Maximum number of extents that are merged into their band at a time.
    pub merged_extents: u32,
    /// How long the firmware cleans before it looks at the host's commands again.
    pub slice: Span,
    /// How long the drive must have had nothing to do before it cleans.
    pub idle: Span,
}

/// Why the parameters of a shingled drive are invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShingledError {
    /// A band of less than [`BAND_LEAST`] or of more than the drive, or more than [`BANDS_MAX`] of them.
    Band,
    /// The media cache does not fit on the media beside what the host addresses.
    Cache,
    /// An append, its overhead included, of nothing, of more than [`APPEND_MAX`], or of more than half of the media cache.
    Append,
    /// Cleaning in slices of no time.
    Slice,
    /// A map, an append or a merge of no extents, or an append that is larger than the map.
    Extents,
}

/// Sectors at the begin of the media cache for the records of appends. A choice of the model.
pub(super) const RECORDS: u64 = 2_048;

/// Minimum size of a band: a block of 4 KiB.
pub const BAND_LEAST: Sectors = Sectors::new(8);

/// Maximum number of bands of a drive: ten times that of the largest today.
pub const BANDS_MAX: u64 = 1 << 23;

/// Maximum size of an append: 256 MiB, more than the memory of most drives.
pub const APPEND_MAX: Sectors = Sectors::new(1 << 19);

impl ShingledParams {
    /// Checks the parameters for a drive of this capacity whose zones hold `held` sectors.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(&self, capacity: Sectors, held: Sectors) -> Result<(), ShingledError> {
        if held.get() < capacity.get().saturating_add(self.cache.get()) {
            return Err(ShingledError::Cache);
        }
        if self.band < BAND_LEAST
            || self.band > capacity
            || capacity.get().div_ceil(self.band.get()) > BANDS_MAX
        {
            return Err(ShingledError::Band);
        }
        let append = self.append_most.get().saturating_add(self.append_overhead.get());
        let is_too_large = append > APPEND_MAX.get() || self.cache.get() < 2 * append + RECORDS;
        if self.append_most.get() == 0 || is_too_large {
            return Err(ShingledError::Append);
        }
        if self.slice.is_zero() {
            return Err(ShingledError::Slice);
        }
        if self.append_extents == 0 || self.merged_extents == 0 || self.map_entries < 2 * self.append_extents
        {
            return Err(ShingledError::Extents);
        }
        Ok(())
    }

    /// Sectors of the largest append, its overhead included.
    pub(super) fn append(&self) -> u64 {
        self.append_most.get() + self.append_overhead.get()
    }
}

impl fmt::Display for ShingledError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Band => write!(
                f,
                "a band holds at least 4 KiB and not more than the drive, and there are at most {BANDS_MAX}"
            ),
            Self::Cache => {
                write!(f, "the media cache must fit on the media, beside what the host addresses")
            }
            Self::Append => write!(
                f,
                "an append with its overhead takes up to 256 MiB, and at most half of the media cache"
            ),
            Self::Slice => write!(f, "a slice of cleaning takes some time"),
            Self::Extents => {
                write!(
                    f,
                    "the map holds at least twice `append_extents`, and an append and a merge at least one extent"
                )
            }
        }
    }
}
