//! The documented properties of a memory that accepts writes for a device and passes them on later: the page
//! cache of a host, or the cache of a RAID controller.
use core::fmt;
use drivelab_units::{Rate, Sectors, Span};

/// Which data go to the device next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FlushOrder {
    /// Upward by address from where the last flush ended, then again from the lowest.
    #[default]
    Address,
    /// Data that have waited longest first.
    Age,
}

/// Memory in front of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WriteBehindParams {
    /// Its total size.
    pub size: Sectors,
    /// Maximum data in it that the device does not have yet, including those being flushed. A write that
    /// finds no room waits; a write larger than this goes through to the device.
    pub limit: Sectors,
    /// Data are flushed while more than this waits. With zero they are flushed at once.
    pub background: Sectors,
    /// Data that have waited this long are flushed, however few they are; when `None` they may wait for ever.
    pub age: Option<Span>,
    /// The order in which data go to the device.
    pub order: FlushOrder,
    /// The largest flush command: contiguous data are flushed together up to this size.
    pub request: Sectors,
    /// Flush commands at the device at once.
    pub outstanding: u32,
    /// How fast data are copied to and from memory, one command at a time; infinitely fast when `None`.
    pub rate: Option<Rate>,
    /// The cost of a command that memory answers, in addition to the copy.
    pub overhead: Span,
    /// Whether the data survive a power cut. Then memory answers a FLUSH at once, and treats a write with
    /// force unit access like any other.
    pub battery: bool,
    /// Whether flush commands force unit access, so that no volatile cache below keeps their data; with a
    /// battery this applies to writes that go through as well, because then memory alone answers a FLUSH.
    pub force_unit_access: bool,
    /// Whether it keeps data that were read, and data that have been flushed, for later reads. Otherwise a
    /// read is answered from memory only when all of it is still to be flushed.
    pub keeps_reads: bool,
    /// Sectors of data in a row of the array behind it, where flushes are collected by row: a row is never
    /// split, and a flush that crosses the end of one consists of whole rows.
    pub stripe: Option<Sectors>,
    /// How long a part of a row waits for the rest: until nothing has been written to the row for this long.
    pub stripe_wait: Span,
    /// Whether writes go through: they are done when the device has done them. A battery then has nothing to
    /// keep, and a FLUSH goes on to the device.
    pub write_through: bool,
    /// Reads by lines, and read-ahead of sequential reads.
    pub read_ahead: Option<ReadAhead>,
}

/// Reads that are not in memory are fetched line by line, and so are the lines ahead of sequential reads.
/// Fetched lines are kept for later reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadAhead {
    /// The size of a line: fetches begin and end at line boundaries.
    pub unit: Sectors,
    /// How far beyond the end of a stream lines are fetched.
    pub window: Sectors,
    /// Maximum number of line fetches at the device.
    pub outstanding: u32,
    /// This many reads, each beginning where the one before it ended, make a stream; with 1 each read is one.
    pub after: u32,
    /// Streams that are tracked; the one that has not continued for longest is replaced by a new one.
    pub streams: u32,
}

impl WriteBehindParams {
    /// Maximum number of flush commands at the device at once.
    pub const OUTSTANDING_MAX: u32 = 1 << 12;
    /// Upper bound of a command's cost in addition to its copy.
    pub const OVERHEAD_MAX: Span = Span::from_s(10);
    /// Upper bound of the time that data wait.
    pub const AGE_MAX: Span = Span::from_s(1_000_000);
    /// Upper bound of the number of rows that a cache collects.
    pub const ROWS_MAX: u64 = 1 << 21;
    /// Upper bound of the number of streams that a cache tracks.
    pub const STREAMS_MAX: u32 = 1 << 8;
    /// How long Linux 2.6 held back writes that might become whole rows: `unplug_delay` of block/ll_rw_blk.c,
    /// which drivers/md/raid5.c waited for.
    pub const STRIPE_WAIT: Span = Span::from_ms(3);

    /// Checks the parameters.
    pub fn check(&self) -> Result<(), WriteBehindError> {
        if self.limit == Sectors::ZERO || self.limit > self.size {
            return Err(WriteBehindError::Limit);
        }
        if self.background > self.limit {
            return Err(WriteBehindError::Background);
        }
        if self.request == Sectors::ZERO {
            return Err(WriteBehindError::Request);
        }
        if !(1..=Self::OUTSTANDING_MAX).contains(&self.outstanding) {
            return Err(WriteBehindError::Outstanding);
        }
        if self.overhead > Self::OVERHEAD_MAX {
            return Err(WriteBehindError::Overhead);
        }
        if self.age.is_some_and(|age| age > Self::AGE_MAX) {
            return Err(WriteBehindError::Age);
        }
        let rows = |stripe: Sectors| Self::ROWS_MAX.saturating_mul(stripe.get());
        if self.stripe.is_some_and(|stripe| rows(stripe) < self.limit.get()) {
            return Err(WriteBehindError::Stripe);
        }
        if self.stripe_wait > Self::AGE_MAX {
            return Err(WriteBehindError::StripeWait);
        }
        self.read_ahead.map_or(Ok(()), |read_ahead| self.check_read_ahead(&read_ahead))
    }

    fn check_read_ahead(&self, read_ahead: &ReadAhead) -> Result<(), WriteBehindError> {
        let ReadAhead { unit, window, outstanding, after, streams } = *read_ahead;
        if unit == Sectors::ZERO || unit > self.size {
            return Err(WriteBehindError::Line);
        }
        if window > self.size {
            return Err(WriteBehindError::Window);
        }
        if !(1..=Self::OUTSTANDING_MAX).contains(&outstanding) {
            return Err(WriteBehindError::Lines);
        }
        if after == 0 || !(1..=Self::STREAMS_MAX).contains(&streams) {
            return Err(WriteBehindError::Streams);
        }
        Ok(())
    }
}

/// Why the parameters of a cache are invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteBehindError {
    /// The limit of dirty data is zero, or larger than the memory.
    Limit,
    /// Flushing begins only above the limit.
    Background,
    /// A flush command of zero sectors.
    Request,
    /// No flush command outstanding, or more than [`WriteBehindParams::OUTSTANDING_MAX`].
    Outstanding,
    /// An overhead above [`WriteBehindParams::OVERHEAD_MAX`].
    Overhead,
    /// An age above [`WriteBehindParams::AGE_MAX`].
    Age,
    /// More than [`WriteBehindParams::ROWS_MAX`] rows within the limit.
    Stripe,
    /// A wait for whole rows above [`WriteBehindParams::AGE_MAX`].
    StripeWait,
    /// A line of zero sectors, or one larger than the memory.
    Line,
    /// A read-ahead window larger than the memory.
    Window,
    /// No line fetch under way, or more than [`WriteBehindParams::OUTSTANDING_MAX`].
    Lines,
    /// A stream of no reads, or a number of streams outside 1 to [`WriteBehindParams::STREAMS_MAX`].
    Streams,
}

impl fmt::Display for WriteBehindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit => {
                write!(f, "the limit of data to be flushed must be above zero and within the memory")
            }
            Self::Background => write!(f, "flushing must begin at or below the limit of data to be flushed"),
            Self::Request => write!(f, "a flush command must carry at least one sector"),
            Self::Outstanding => {
                write!(f, "flush commands outstanding must be 1 to {}", WriteBehindParams::OUTSTANDING_MAX)
            }
            Self::Overhead => {
                write!(f, "a command must cost at most {} beside its copy", WriteBehindParams::OVERHEAD_MAX)
            }
            Self::Age => write!(f, "data must be flushed after at most {}", WriteBehindParams::AGE_MAX),
            Self::Stripe => {
                write!(f, "at most {} rows of an array may wait to be flushed", WriteBehindParams::ROWS_MAX)
            }
            Self::StripeWait => {
                write!(f, "a part of a row must wait at most {}", WriteBehindParams::AGE_MAX)
            }
            Self::Line => write!(f, "a line must be larger than nothing and fit into the memory"),
            Self::Window => write!(f, "what is read ahead must fit into the memory"),
            Self::Lines => {
                write!(f, "lines on their way must be 1 to {}", WriteBehindParams::OUTSTANDING_MAX)
            }
            Self::Streams => write!(
                f,
                "a stream takes at least one read, and 1 to {} streams are told apart",
                WriteBehindParams::STREAMS_MAX
            ),
        }
    }
}

impl core::error::Error for WriteBehindError {}
