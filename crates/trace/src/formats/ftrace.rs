//! Events of the Linux block layer as ftrace, `trace-cmd report` and `perf script` print them.
//!
//! `task-pid [(tgid)] [cpu] [flags] seconds: event: payload`. block_rq_insert, block_rq_issue and block_rq_complete
//! have `major,minor flags [bytes] (command) sector + sectors .. [name]`. A request begins when it is inserted, or when it
//! is issued if it was not; requests merged into it before the issue make it larger. Other events are no requests.
//! (include/trace/events/block.h of Linux; Documentation/trace/ftrace.rst.)
use super::blkparse::{is_device, is_fua, kind_of};
use super::event_text::{EventLine, Parsed};
use super::events::{Action, Event};
use crate::devices::Devices;
use crate::lines::Fault;
use crate::record::Kind;
use crate::text::{fault, sectors, time, whole};

/// Parses lines into events.
pub struct Parser {
    pub devices: Devices,
    pub unit_ns: u64,
}

/// What stands before the payload of an event.
struct Head<'a> {
    process: u32,
    at: &'a [u8],
    event: &'a [u8],
    payload: &'a [u8],
}

/// Whether the line is about the recording.
fn is_title(line: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 6] = [b"#", b"cpus=", b"version =", b"CPU ", b"CPU:", b"=>"];
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

/// The next word, and what follows it.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    text.split_at(end)
}

/// The process before the processor: `name-number`, perhaps with the number of its group in parentheses, or
/// `name number`.
fn process(text: &[u8]) -> Option<u32> {
    let mut text = text.trim_ascii();
    if text.ends_with(b")") {
        text = text[..text.iter().rposition(|&byte| byte == b'(')?].trim_ascii_end();
    }
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let number = whole(&text[text.len() - digits..], "").ok()?;
    Some(number.try_into().unwrap_or(u32::MAX))
}

fn head(line: &[u8]) -> Option<Head<'_>> {
    let mut rest = line;
    let before = loop {
        let (found, behind) = word(rest);
        if found.is_empty() {
            return None;
        }
        let is_processor = found.strip_prefix(b"[").and_then(|found| found.strip_suffix(b"]"));
        rest = behind;
        if is_processor.is_some_and(|number| whole(number, "").is_ok()) {
            break &line[..line.len() - behind.len() - found.len()];
        }
    };
    let process = process(before)?;
    let (mut at, mut behind) = word(rest);
    if !at.ends_with(b":") {
        (at, behind) = word(behind);
    }
    let (event, payload) = word(behind);
    let event = event.strip_suffix(b":")?;
    let event = event.strip_prefix(b"block:").unwrap_or(event);
    Some(Head { process, at: at.strip_suffix(b":")?, event, payload })
}

/// Device, flags, sector and number of sectors of a payload.
fn extent(payload: &[u8]) -> Result<[&[u8]; 4], Fault> {
    let (device, rest) = word(payload);
    let (flags, rest) = word(rest);
    // The command in parentheses may be of several words.
    let Some(behind) = rest.windows(2).position(|two| two == b") ") else {
        return Err(fault(rest.trim_ascii(), "a command in parentheses"));
    };
    let (sector, rest) = word(&rest[behind + 2..]);
    let (plus, rest) = word(rest);
    if plus != b"+" {
        return Err(fault(sector, "an address as sector + sectors"));
    }
    Ok([device, flags, sector, word(rest).0])
}

impl EventLine for Parser {
    fn line(&mut self, line: &[u8]) -> Result<Parsed, Fault> {
        let line = line.trim_ascii();
        if is_title(line) {
            return Ok(Parsed::Title);
        }
        let Some(head) = head(line) else {
            return Err(Fault::Layout("not an event as task-pid [cpu] seconds: event: payload"));
        };
        // Clocks other than the default count cycles or events, without a point.
        let is_seconds = self.unit_ns != 1_000_000_000 || head.at.contains(&b'.');
        let (negative, time_ns) = time(head.at, self.unit_ns, "a time in seconds")?;
        if negative || !is_seconds {
            return Err(fault(head.at, "a time in seconds with decimals"));
        }
        let action = match head.event {
            b"block_rq_insert" => Action::Insert,
            b"block_rq_issue" => Action::Start,
            b"block_rq_complete" => Action::Complete,
            _ => return Ok(Parsed::Other),
        };
        let [device, flags, sector, count] = extent(head.payload)?;
        if !is_device(device) {
            return Err(fault(device, "a device as major,minor"));
        }
        let length = sectors(whole(count, "a number of sectors")?)?;
        let Some(kind) = kind_of(flags, length > 0) else { return Ok(Parsed::Other) };
        let offset = if kind == Kind::Flush { 0 } else { sectors(whole(sector, "an address in sectors")?)? };
        offset.checked_add(length).ok_or(Fault::Extent)?;
        Ok(Parsed::Event(Event {
            time_ns,
            device: self.devices.place(device)?,
            action,
            kind,
            offset,
            length,
            process: head.process,
            synchronous: kind == Kind::Read || flags.contains(&b'S'),
            force_unit_access: is_fua(flags),
        }))
    }

    fn devices(&self) -> &Devices {
        &self.devices
    }
}
