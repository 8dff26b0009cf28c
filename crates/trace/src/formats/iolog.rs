//! fio's iolog, versions 2 and 3: `file action [offset length]`, in version 3 preceded by a time in microseconds.
//!
//! Version 2 has `wait` lines instead of times, whose offset is the microseconds since the previous wait, so a
//! request's time is the sum of all earlier waits. `add`, `open` and `close` are not requests; `sync`, `datasync` and
//! `sync_file_range` are flushes, `trim` is a discard. (fio, HOWTO, "Trace file format"; its iolog.c.)
use super::lined::{Context, Line};
use crate::error::{Place, TraceError};
use crate::lines::Fault;
use crate::record::{Kind, Record};
use crate::text::{fault, time, whole, words};
use crate::writer::{FormatWriter, RequestContext, Timeline};
use std::io::{self, Write};

/// The shortest wait in microseconds; fio drops shorter ones when it replays.
const WAIT_MIN_US: u64 = 100;

/// The parser of one version.
pub struct Iolog {
    version: u8,
    /// The sum of the waits.
    waited_ns: u64,
}

impl Iolog {
    pub fn new(version: u8) -> Self {
        Iolog { version, waited_ns: 0 }
    }

    /// The first line of the file.
    pub const fn title(version: u8) -> &'static str {
        if version == 2 { "fio version 2 iolog" } else { "fio version 3 iolog" }
    }
}

impl Line for Iolog {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        if context.line == 1 {
            if line.trim_ascii() != Iolog::title(self.version).as_bytes() {
                return Err(fault(line, "the first line of an iolog of this version"));
            }
            context.is_title = true;
            return Ok(None);
        }
        let (fields, count) = words::<5>(line);
        let (at, fields, count) = if self.version == 2 {
            (None, &fields[..], count)
        } else {
            let (negative, at) = time(fields[0], context.unit_ns, "a time in microseconds")?;
            if negative {
                return Err(fault(fields[0], "a time in microseconds"));
            }
            (Some(at), &fields[1..], count.saturating_sub(1))
        };
        let (name, action) = (fields[0], fields[1]);
        if count == 2 && matches!(action, b"add" | b"open" | b"close") {
            return Ok(None);
        }
        if count != 4 {
            let extra = usize::from(self.version == 3);
            return Err(Fault::Fields { found: count + extra, wanted: 4 + extra });
        }
        let offset = whole(fields[2], "an offset in bytes")?;
        let length = whole(fields[3], "a length in bytes")?;
        let kind = match action {
            b"read" => Kind::Read,
            b"write" => Kind::Write,
            b"sync" | b"datasync" | b"sync_file_range" => Kind::Flush,
            b"trim" => Kind::Discard,
            b"wait" if self.version == 2 => {
                let wait = offset.checked_mul(context.unit_ns).ok_or(Fault::Time)?;
                self.waited_ns = self.waited_ns.checked_add(wait).ok_or(Fault::Time)?;
                return Ok(None);
            }
            _ => return Err(fault(action, "an action of fio's iolog")),
        };
        let (offset, length) = if kind == Kind::Flush { (0, 0) } else { (offset, length) };
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let device = context.devices.place(name)?;
        Ok(Some(Record::new(at.unwrap_or(self.waited_ns), device, kind, offset, length)))
    }
}

/// Writer of either version: times since the first request, rounded down to microseconds.
///
/// Version 2: a wait is written when 100 us have passed since the previous one, so that fio drops none and the times
/// do not drift.
pub struct IologWriter {
    version: u8,
    timeline: Timeline,
    waited_us: u64,
    last_us: u64,
    /// The name under which a device was opened, by device index.
    opened: Vec<Option<String>>,
}

impl IologWriter {
    pub fn new(version: u8) -> Self {
        IologWriter { version, timeline: Timeline::default(), waited_us: 0, last_us: 0, opened: Vec::new() }
    }

    fn line(&self, out: &mut impl Write, name: &str, action: &str) -> io::Result<()> {
        if self.version == 3 {
            write!(out, "{} ", self.last_us)?;
        }
        write!(out, "{name} {action}")
    }

    /// A name that is a single field and unique among the devices.
    fn name(&self, place: u32, context: &str) -> String {
        let mut name: String = context.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
        if name.is_empty() {
            name = place.to_string();
        }
        while self.opened.iter().flatten().any(|other| *other == name) {
            name.push('_');
        }
        name
    }

    fn open(
        &mut self,
        out: &mut impl Write,
        record: &Record,
        context: &RequestContext<'_>,
    ) -> io::Result<()> {
        let place = record.device as usize;
        if self.opened.is_empty() {
            writeln!(out, "{}", Iolog::title(self.version))?;
        }
        if self.opened.len() <= place {
            self.opened.resize(place + 1, None);
        }
        let name = self.name(record.device, context.device);
        for action in ["add\n", "open\n"] {
            self.line(out, &name, action)?;
        }
        self.opened[place] = Some(name);
        Ok(())
    }
}

impl<W: Write> FormatWriter<W> for IologWriter {
    fn write(
        &mut self,
        out: &mut W,
        record: &Record,
        context: &RequestContext<'_>,
    ) -> Result<(), TraceError> {
        let us = self.timeline.since_first(record.time_ns) / 1_000;
        self.last_us = us;
        if self.opened.get(record.device as usize).is_none_or(Option::is_none) {
            self.open(out, record, context)?;
        }
        let name = self.opened[record.device as usize].as_deref().unwrap_or_default();
        // A wait cannot be negative where times go back.
        let wait = us.saturating_sub(self.waited_us);
        if self.version == 2 && wait >= WAIT_MIN_US {
            self.line(out, name, "wait")?;
            writeln!(out, " {wait} 0")?;
            self.waited_us = us;
        }
        let name = self.opened[record.device as usize].as_deref().unwrap_or_default();
        let action = match record.kind {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Flush => "sync",
            Kind::Discard => "trim",
        };
        self.line(out, name, action)?;
        writeln!(out, " {} {}", record.offset, record.length)?;
        Ok(())
    }

    fn finish(&mut self, out: &mut W, _place: Place) -> io::Result<()> {
        for name in self.opened.iter().flatten() {
            self.line(out, name, "close\n")?;
        }
        Ok(())
    }
}
