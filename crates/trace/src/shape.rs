//! Reshapes a trace request by request: selects a device or a window, changes the speed, remaps the addresses.
//!
//! In this order: the device, the number of requests to skip and to keep, the window of time since the first request
//! of the trace, the speed, the address. Response times remain as recorded: they are those of the original device.
use crate::error::TraceError;
use crate::record::Record;
use drivelab_units::{SECTOR_BYTES, key};

/// How addresses are mapped to a device of another size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remap {
    /// The address modulo the size. Preserves sizes, distances and sequential runs, except across the end of the
    /// device; addresses that differ by a multiple of the size coincide, so the working set shrinks and reuse
    /// increases.
    Wrap { to_bytes: u64 },
    /// The address times new size over old size, rounded down to a sector. Preserves the distance between requests as
    /// a fraction of the device, so seeks remain the same fraction of the stroke; on a smaller device adjacent
    /// requests overlap, on a larger one gaps open between them, so sequential runs are lost.
    Scale { from_bytes: u64, to_bytes: u64 },
}

impl Remap {
    /// The size of the new device.
    pub const fn to_bytes(self) -> u64 {
        let (Remap::Wrap { to_bytes } | Remap::Scale { to_bytes, .. }) = self;
        to_bytes
    }
}

/// The parameters of reshaping.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The name of the device whose requests are kept.
    pub device: Option<String>,
    pub skip: u64,
    pub count: Option<u64>,
    /// The window of time since the first request of the trace.
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
    /// Returns an error for invalid parameters.
    pub fn check(&self) -> Result<(), TraceError> {
        let option = |text: String| Err(TraceError::Option(text));
        let capacity = key!("trace.capacity");
        if self.scale_time.0 == 0 || self.scale_time.1 == 0 {
            let what = key!("trace.scale_time");
            return option(format!("{what}: give a factor above zero, such as 0.5 for twice the speed"));
        }
        let is_whole = |bytes: u64| bytes > 0 && bytes.is_multiple_of(SECTOR_BYTES);
        match self.remap {
            Some(Remap::Wrap { to_bytes }) if !is_whole(to_bytes) => {
                option(format!("{capacity}: give a multiple of 512 bytes above zero"))
            }
            Some(Remap::Scale { from_bytes, to_bytes }) if !is_whole(to_bytes) || from_bytes == 0 => {
                let (scale, of) = (key!("trace.remap", "scale"), key!("trace.of"));
                option(format!("{scale}: {capacity} is a multiple of 512 bytes, and {of} is above zero"))
            }
            _ => Ok(()),
        }
    }
}

/// The result for a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shaped {
    Kept(Record),
    /// The request is not selected.
    Dropped,
    /// A read or write of zero bytes, or one larger than the target device.
    LeftOut,
    /// Neither this request nor any later one is selected.
    Over,
}

/// Applies a shape to one trace.
pub struct Shaper {
    shape: Shape,
    first_ns: Option<u64>,
    seen: u64,
    kept: u64,
    is_sorted: bool,
}

impl Shaper {
    /// `is_sorted`: times do not go back, so the end of the window ends the trace.
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

    /// Whether the output begins with the first request, which an exact replay requires.
    pub fn is_from_the_start(&self) -> bool {
        self.shape.skip == 0 && self.shape.from_ns == 0
    }

    /// The time of an event that is not a request; `None` if the event is not kept.
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

    /// The new offset of the request; `None` if it is larger than the device.
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
        // A request that would cross the end is moved back to end there.
        let last = to_bytes.checked_sub(record.length)?;
        Some(moved.min(last - last % SECTOR_BYTES))
    }
}
