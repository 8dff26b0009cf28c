//! The drive's cache in parameters: how it is cut into segments, how it reads ahead, what it does with writes.
use core::fmt;
use drivelab_units::{Sectors, Share, Span};

/// How far the head reads on behind a read, if nothing else needs the arm. The limit in
/// [`ReadAheadParams::limit`] applies to all but the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reach {
    /// Not at all.
    #[default]
    Nothing,
    /// As far as the limit.
    Limit,
    /// To the end of the track at most.
    Track,
    /// To the end of the cylinder at most.
    Cylinder,
    /// To the end of the track; to the end of the next one when the segment already held the sectors just
    /// before this track. No other limit applies.
    NextTrack,
}

/// The drive's read-ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadAheadParams {
    /// The rule for how far.
    pub reach: Reach,
    /// The limit behind the last requested sector.
    pub limit: Sectors,
    /// Minimum that it reads before another command may have the arm.
    pub least: Sectors,
    /// Whether it reads on while commands wait in the queue.
    pub when_queued: bool,
    /// Whether it reads on only behind a read that continues where the previous read ended.
    pub when_sequential: bool,
    /// Whether a hit makes an idle arm continue reading behind what the buffer holds.
    pub on_hit: bool,
    /// Whether a read that begins with exactly the sector that the head is about to read counts as covered.
    pub covers_front: bool,
    /// With that: a read that begins so little ahead of the head that the head gets there within this time is
    /// covered too. A new access would take the firmware that long, and then cost a revolution.
    pub covers_within: Span,
    /// Whether a command that needs the arm waits until the sector under the head has passed.
    pub ends_sector: bool,
}

/// When data in the cache go to the media.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Destage {
    /// With the write itself: the arm starts as it would without a cache; only the host's answer does not
    /// wait.
    AtOnce,
    /// After the drive has been idle for a while; earlier when the cache fills, when data have waited long
    /// enough, and for a FLUSH.
    #[default]
    WhenIdle,
}

/// A write-back cache: its room, and when the data go to the media.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WriteBackParams {
    /// Maximum of data that wait for the media; a write that finds no room waits.
    pub limit: Sectors,
    /// Maximum number of segments with such data.
    pub segments: u32,
    /// When the data go to the media.
    pub destage: Destage,
    /// With [`Destage::WhenIdle`]: how long the drive must have had nothing to do.
    pub idle: Span,
    /// Data that have waited this long go next, the oldest first.
    pub age: Option<Span>,
    /// From this much on data compete with the host's commands for the arm.
    pub press_from: Sectors,
    /// Maximum of data that one destaging takes, neighbours included.
    pub run: Sectors,
    /// Whether a write may send its data while the arm is at work for another command or for the cache.
    pub while_busy: bool,
}

/// A drive's buffer memory as a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheParams {
    /// Its total size.
    pub size: Sectors,
    /// Maximum number of stretches of sectors that it holds.
    pub segments: u32,
    /// Whether all segments have one size (`size / segments`), or each takes what it needs.
    pub fixed: bool,
    /// Whether one segment is reserved for writes. Reads then never hit written data.
    pub separate_writes: bool,
    /// Whether written data remain readable in the cache once they are on the media.
    pub keeps_written: bool,
    /// A read's data go to the host once this share of them (of a segment at most) is in the buffer.
    pub send_from: Share,
    /// A write goes to the media once this share of its data (of a segment at most) is in the buffer.
    pub write_from: Share,
    /// And not before its first sectors are there, so many or all.
    pub write_first: Sectors,
    /// Whether a read keeps the sectors that pass the head on its track before its first sector.
    pub keeps_passing: bool,
    /// Whether a hit is answered while the arm destages.
    pub hits_while_busy: bool,
    /// Read-ahead.
    pub read_ahead: ReadAheadParams,
    /// Writes complete when their data are in the cache; write-through when `None`.
    pub write_back: Option<WriteBackParams>,
}

impl CacheParams {
    /// One segment and no write-back: it keeps `size` before the end of the last read, and reads on for
    /// `size` behind it.
    pub const fn reading_on(size: Sectors) -> Self {
        CacheParams {
            size: Sectors::new(2 * size.get()),
            segments: 1,
            fixed: true,
            separate_writes: false,
            keeps_written: true,
            send_from: Share::NONE,
            write_from: Share::NONE,
            write_first: Sectors::ZERO,
            keeps_passing: false,
            hits_while_busy: true,
            read_ahead: ReadAheadParams {
                reach: Reach::Limit,
                limit: size,
                least: Sectors::ZERO,
                when_queued: false,
                when_sequential: false,
                on_hit: false,
                covers_front: true,
                covers_within: Span::ZERO,
                ends_sector: false,
            },
            write_back: None,
        }
    }

    /// The same, reading on while commands wait, or only behind a read that continues where the previous one
    /// ended.
    pub const fn when(self, queued: bool, sequential: bool) -> Self {
        let read_ahead =
            ReadAheadParams { when_queued: queued, when_sequential: sequential, ..self.read_ahead };
        CacheParams { read_ahead, ..self }
    }

    /// The size of a segment where all are equal, else the maximum size of one.
    pub fn segment(&self) -> Sectors {
        if self.fixed { Sectors::new(self.size.get() / u64::from(self.segments.max(1))) } else { self.size }
    }
}

/// Maximum number of segments of a cache.
pub const SEGMENTS_MAX: u32 = 4_096;

/// Why the parameters of a cache are invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheError {
    /// No segments, or more than [`SEGMENTS_MAX`].
    Segments,
    /// Less than a sector per segment.
    Size,
    /// Written data may take nothing, or more than the whole cache.
    WriteLimit,
    /// Written data may take no segment, or more than all.
    WriteSegments,
    /// A run of no sectors.
    Run,
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segments => write!(f, "a cache has 1 to {SEGMENTS_MAX} segments"),
            Self::Size => write!(f, "a cache needs a sector for each segment"),
            Self::WriteLimit => {
                write!(f, "written data must have a part of the cache, and not more than it holds")
            }
            Self::WriteSegments => write!(f, "written data must have a segment, and not more than there are"),
            Self::Run => write!(f, "a destaging takes at least a sector"),
        }
    }
}

impl CacheParams {
    /// The segment that is reserved for writes, if one is.
    pub fn reserved(&self) -> Option<Sectors> {
        let each = self.size.get() / u64::from(self.segments.max(1));
        self.separate_writes.then_some(Sectors::new(each))
    }

    /// The limits for written data.
    pub fn for_writes(&self) -> Option<WriteBackParams> {
        let write_back = self.write_back?;
        Some(match self.reserved() {
            Some(reserved) => {
                WriteBackParams { limit: write_back.limit.min(reserved), segments: 1, ..write_back }
            }
            None => write_back,
        })
    }

    /// Checks the parameters. What depends on the drive,
    /// [`DriveModel::new`](crate::storage::drive::params::DriveModel::new) checks.
    pub fn check(&self) -> Result<(), CacheError> {
        if self.segments == 0 || self.segments > SEGMENTS_MAX {
            return Err(CacheError::Segments);
        }
        if self.size.get() < self.segments.into() {
            return Err(CacheError::Size);
        }
        let Some(write_back) = &self.write_back else { return Ok(()) };
        if write_back.limit == Sectors::ZERO || write_back.limit > self.size {
            return Err(CacheError::WriteLimit);
        }
        if write_back.segments == 0 || write_back.segments > self.segments {
            return Err(CacheError::WriteSegments);
        }
        if write_back.run == Sectors::ZERO {
            return Err(CacheError::Run);
        }
        Ok(())
    }
}
