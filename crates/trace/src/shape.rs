//! Reshaping a trace request by request: one device of many, a window, another speed, another device.
//!
//! In this order: the device, then the records that are skipped and counted, the window of time since the first request of
//! the trace, the speed, the address. Response times stay as they were recorded: they are the old device's.
use crate::error::TraceError;
use crate::record::Record;
use drivelab_units::SECTOR_BYTES;

/// How addresses move onto a device of another size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remap {
    /// The address modulo the size. Keeps sizes, distances and sequential runs, but for those over the edge; what lies a
    /// multiple of the size apart becomes one place, so the working set shrinks and reuse grows.
    Wrap { to_bytes: u64 },
    /// The address times new over old size, down to a sector. Keeps the share of the device that lies between any two
    /// requests, so seeks stay as long in shares of the stroke; onto a smaller device requests that were side by side
    /// overlap, onto a larger one gaps open between them, so sequential runs are lost.
    Scale { from_bytes: u64, to_bytes: u64 },
}

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The name of the only device that is kept.
    pub device: Option<String>,
    pub skip: u64,
    pub count: Option<u64>,
    /// Since the first request of the trace.
    pub from_ns: u64,
    pub until_ns: Option<u64>,
    /// Times since the first request are multiplied by this ratio.
    pub scale_time: (u64, u64),
    pub remap: Option<Remap>,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            device: None,
            skip: 0,
            count: None,
            from_ns: 0,
            until_ns: None,
            scale_time: (1, 1),
            remap: None,
        }
    }
}

impl Shape {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), TraceError> {
        let option = |text: &str| Err(TraceError::Option(text.to_owned()));
        if self.scale_time.0 == 0 || self.scale_time.1 == 0 {
            return option("--scale-time: give a factor above zero, such as 0.5 for twice the speed");
        }
        let is_whole = |bytes: u64| bytes > 0 && bytes.is_multiple_of(SECTOR_BYTES);
        match self.remap {
            Some(Remap::Wrap { to_bytes }) if !is_whole(to_bytes) => {
                option("--capacity: give a multiple of 512 bytes above zero")
            }
            Some(Remap::Scale { from_bytes, to_bytes }) if !is_whole(to_bytes) || from_bytes == 0 => {
                option("--remap scale: --capacity is a multiple of 512 bytes, and --of is above zero")
            }
            _ => Ok(()),
        }
    }
}

/// What comes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shaped {
    Kept(Record),
    /// Not asked for.
    Dropped,
    /// A read or write of no bytes, or one larger than the device that it is to go onto.
    LeftOut,
    /// Neither this one nor any behind it.
    Over,
}

/// A shape at work on one trace.
pub struct Shaper {
    shape: Shape,
    first_ns: Option<u64>,
    seen: u64,
    kept: u64,
    is_sorted: bool,
}

impl Shaper {
    /// `is_sorted`: no request comes before one above it, so that the window's end is the end.
    pub fn new(shape: Shape, is_sorted: bool) -> Result<Self, TraceError> {
        shape.check()?;
        Ok(Shaper { shape, first_ns: None, seen: 0, kept: 0, is_sorted })
    }

    /// Reshapes the next request.
    pub fn take(&mut self, record: &Record, device: &str) -> Shaped {
        let first_ns = *self.first_ns.get_or_insert(record.time_ns);
        if self.shape.count.is_some_and(|count| self.kept >= count) {
            return Shaped::Over;
        }
        if self.shape.device.as_ref().is_some_and(|wanted| wanted != device) {
            return Shaped::Dropped;
        }
        self.seen += 1;
        if self.seen <= self.shape.skip {
            return Shaped::Dropped;
        }
        let since = record.time_ns.saturating_sub(first_ns);
        if self.shape.until_ns.is_some_and(|until| since >= until) {
            return if self.is_sorted { Shaped::Over } else { Shaped::Dropped };
        }
        if since < self.shape.from_ns {
            return Shaped::Dropped;
        }
        self.kept += 1;
        if record.kind.is_transfer() && record.length == 0 {
            return Shaped::LeftOut;
        }
        let time_ns = if since == 0 { record.time_ns } else { first_ns.saturating_add(self.scaled(since)) };
        let Some(offset) = self.address(record) else { return Shaped::LeftOut };
        Shaped::Kept(Record { time_ns, offset, ..*record })
    }

    /// Whether it begins with the first request, which a run needs that is to be repeated bit for bit.
    pub fn is_from_the_start(&self) -> bool {
        self.shape.skip == 0 && self.shape.from_ns == 0
    }

    /// When something happens that is no request; none where that is not kept.
    pub fn moment(&self, time_ns: u64) -> Option<u64> {
        let first_ns = self.first_ns.unwrap_or(time_ns);
        let since = time_ns.saturating_sub(first_ns);
        let is_kept = since >= self.shape.from_ns && self.shape.until_ns.is_none_or(|until| since < until);
        let is_kept = is_kept && self.shape.remap.is_none();
        is_kept.then(|| if since == 0 { time_ns } else { first_ns.saturating_add(self.scaled(since)) })
    }

    fn scaled(&self, since_ns: u64) -> u64 {
        let (numerator, denominator) = self.shape.scale_time;
        let scaled = u128::from(since_ns) * u128::from(numerator) / u128::from(denominator);
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// Where the request goes; none where it is larger than the device.
    fn address(&self, record: &Record) -> Option<u64> {
        let Some(remap) = self.shape.remap else { return Some(record.offset) };
        if record.length == 0 {
            return Some(0);
        }
        let (to_bytes, moved) = match remap {
            Remap::Wrap { to_bytes } => (to_bytes, record.offset % to_bytes),
            Remap::Scale { from_bytes, to_bytes } => {
                let scaled = u128::from(record.offset) * u128::from(to_bytes) / u128::from(from_bytes);
                let scaled = u64::try_from(scaled).unwrap_or(u64::MAX);
                (to_bytes, scaled - scaled % SECTOR_BYTES)
            }
        };
        // One that would reach over the edge is moved back to end there.
        let last = to_bytes.checked_sub(record.length)?;
        Some(moved.min(last - last % SECTOR_BYTES))
    }
}
