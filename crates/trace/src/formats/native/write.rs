//! Writes drivelab's own format.
use super::bytes::{checksum, put, put_text};
use super::entry::{Before, Entry};
use super::injected::Injected;
use super::{BLOCK_ENTRIES_MAX, Header, MAGIC, VERSION};
use crate::error::{Place, TraceError};
use crate::record::{Clock, Record};
use crate::writer::{FormatWriter, RequestContext};
use std::io::{self, Write};

/// The bytes at which a block is written; an entry is far smaller than the remaining room.
const BLOCK_BYTES: usize = 1 << 16;

/// Writes blocks when they are full. Times are in nanoseconds.
pub struct NativeWriter {
    /// The header, until it is written.
    header: Option<Header>,
    payload: Vec<u8>,
    in_block: u32,
    entries: u64,
    before: Before,
    /// The device index in the output, by device index in the input.
    places: Vec<Option<u32>>,
    named: u32,
}

impl NativeWriter {
    pub fn new(header: Header) -> Self {
        NativeWriter {
            header: Some(header),
            payload: Vec::new(),
            in_block: 0,
            entries: 0,
            before: Before::default(),
            places: Vec::new(),
            named: 0,
        }
    }

    /// The index of a device, whose name is written if it is new.
    pub fn device(&mut self, out: &mut impl Write, place: u32, name: &str) -> io::Result<u32> {
        let at = place as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, None);
        }
        if let Some(place) = self.places[at] {
            return Ok(place);
        }
        self.entry(out, &Entry::Device(name.to_owned()))?;
        let place = self.named;
        self.places[at] = Some(place);
        self.named += 1;
        Ok(place)
    }

    /// Writes an injected fault.
    pub fn inject(&mut self, out: &mut impl Write, injected: Injected) -> io::Result<()> {
        self.entry(out, &Entry::Injected(injected))
    }

    fn entry(&mut self, out: &mut impl Write, entry: &Entry) -> io::Result<()> {
        self.open(out)?;
        self.before.put(&mut self.payload, entry);
        self.count(out)
    }

    fn count(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.in_block += 1;
        self.entries += 1;
        let is_full = self.payload.len() >= BLOCK_BYTES || self.in_block as usize == BLOCK_ENTRIES_MAX;
        if is_full { self.end_block(out) } else { Ok(()) }
    }

    fn open(&mut self, out: &mut impl Write) -> io::Result<()> {
        let Some(header) = self.header.take() else { return Ok(()) };
        let mut body = Vec::new();
        put(&mut body, header.unit_ns);
        body.push(match header.clock {
            Clock::Relative => 0,
            Clock::Unix => 1,
            Clock::Filetime => 2,
        });
        body.push(u8::from(header.seed.is_some()) | u8::from(header.device_bytes.is_some()) << 1);
        for value in [header.seed, header.device_bytes].into_iter().flatten() {
            body.extend(value.to_le_bytes());
        }
        put(&mut body, header.phases.len() as u64);
        for &(drive, phase) in &header.phases {
            put(&mut body, u64::from(drive));
            put(&mut body, phase);
        }
        put_text(&mut body, &header.remark);
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&(body.len() as u32).to_le_bytes())?;
        out.write_all(&body)?;
        out.write_all(&checksum(&body).to_le_bytes())
    }

    fn end_block(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.in_block == 0 {
            return Ok(());
        }
        for word in [self.payload.len() as u32, self.in_block, checksum(&self.payload)] {
            out.write_all(&word.to_le_bytes())?;
        }
        out.write_all(&self.payload)?;
        self.payload.clear();
        (self.in_block, self.before) = (0, Before::default());
        Ok(())
    }

    /// Ends the trace.
    pub fn end(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.open(out)?;
        self.end_block(out)?;
        let total = self.entries.to_le_bytes();
        out.write_all(&[0; 8])?;
        out.write_all(&total)?;
        out.write_all(&checksum(&total).to_le_bytes())
    }
}

impl<W: Write> FormatWriter<W> for NativeWriter {
    fn write(
        &mut self,
        out: &mut W,
        record: &Record,
        context: &RequestContext<'_>,
    ) -> Result<(), TraceError> {
        let device = self.device(out, record.device, context.device)?;
        self.open(out)?;
        self.before.put_request(&mut self.payload, &Record { device, ..*record });
        self.count(out)?;
        Ok(())
    }

    fn inject(&mut self, out: &mut W, injected: Injected) -> io::Result<bool> {
        self.inject(out, injected).map(|()| true)
    }

    fn finish(&mut self, out: &mut W, _place: Place) -> io::Result<()> {
        self.end(out)
    }
}
