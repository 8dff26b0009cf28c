//! The entries of a block: devices, requests with all attributes of their commands, injected faults.
use super::bytes::{Cursor, put, put_difference, put_text};
use super::injected::{Injected, InjectedKind};
use crate::lines::Fault;
use crate::record::{Attributes, Kind, Record};
use drivelab_core::command::{Attribute, Priority};
use drivelab_units::Span;

/// An entry of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    Device(String),
    Injected(Injected),
    Request(Record),
}

const FAULT: u8 = 4;
const DEVICE: u8 = 5;
const SAME_DEVICE: u8 = 1 << 3;
const FOLLOWS: u8 = 1 << 4;
const SAME_LENGTH: u8 = 1 << 5;
const HAS_RESPONSE: u8 = 1 << 6;
const HAS_ATTRIBUTES: u8 = 1 << 7;

/// The bits of the mask of attributes.
mod mask {
    pub const ID: u64 = 1 << 0;
    pub const COOKIE: u64 = 1 << 1;
    pub const INITIATOR: u64 = 1 << 2;
    pub const LOGICAL_UNIT: u64 = 1 << 3;
    pub const TAG: u64 = 1 << 4;
    pub const ATTRIBUTE: u64 = 1 << 5;
    pub const PRIORITY: u64 = 1 << 6;
    pub const ATTEMPT: u64 = 1 << 7;
    pub const PROCESS: u64 = 1 << 8;
    pub const FUA: u64 = 1 << 9;
    pub const DIRECT: u64 = 1 << 10;
    pub const NOT_SYNCHRONOUS: u64 = 1 << 11;
    pub const LIMIT: u64 = 1 << 12;
    pub const ALL: u64 = (1 << 13) - 1;
}

/// The previous values that entries of a block are relative to.
#[derive(Clone, Copy, Default)]
pub struct Before {
    time_ns: u64,
    device: u32,
    end: u64,
    length: u64,
}

impl Before {
    pub fn put(&mut self, out: &mut Vec<u8>, entry: &Entry) {
        match entry {
            Entry::Device(name) => {
                out.push(DEVICE);
                put_text(out, name);
            }
            Entry::Injected(injected) => self.put_injected(out, injected),
            Entry::Request(record) => self.put_request(out, record),
        }
    }

    fn put_injected(&mut self, out: &mut Vec<u8>, injected: &Injected) {
        let (code, drive, first, second) = injected.kind.encode();
        out.extend([FAULT, code]);
        put_difference(out, injected.time_ns, self.time_ns);
        for value in [u64::from(drive), first, second] {
            put(out, value);
        }
        self.time_ns = injected.time_ns;
    }

    pub fn put_request(&mut self, out: &mut Vec<u8>, record: &Record) {
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let has_attributes = record.attributes != Attributes::DEFAULT;
        let head = record.kind as u8
            | flag(record.device == self.device, SAME_DEVICE)
            | flag(record.offset == self.end, FOLLOWS)
            | flag(record.length == self.length, SAME_LENGTH)
            | flag(record.response_ns.is_some(), HAS_RESPONSE)
            | flag(has_attributes, HAS_ATTRIBUTES);
        out.push(head);
        put_difference(out, record.time_ns, self.time_ns);
        if head & SAME_DEVICE == 0 {
            put(out, u64::from(record.device));
        }
        if head & FOLLOWS == 0 {
            put_difference(out, record.offset, self.end);
        }
        if head & SAME_LENGTH == 0 {
            put(out, record.length);
        }
        if let Some(response) = record.response_ns {
            put(out, response);
        }
        if has_attributes {
            put_attributes(out, &record.attributes);
        }
        self.advance(record);
    }

    fn advance(&mut self, record: &Record) {
        self.time_ns = record.time_ns;
        self.device = record.device;
        self.end = record.offset.wrapping_add(record.length);
        self.length = record.length;
    }

    pub fn take(&mut self, from: &mut Cursor<'_>) -> Result<Entry, Fault> {
        let head = from.byte()?;
        match head {
            DEVICE => return Ok(Entry::Device(from.text()?.to_owned())),
            FAULT => return self.take_injected(from).map(Entry::Injected),
            _ if head & 4 != 0 => return Err(Fault::Layout("an entry of no known kind")),
            _ => {}
        }
        let time_ns = from.difference(self.time_ns)?;
        let device = if head & SAME_DEVICE != 0 { self.device } else { from.small()? };
        let offset = if head & FOLLOWS != 0 { self.end } else { from.difference(self.end)? };
        let length = if head & SAME_LENGTH != 0 { self.length } else { from.number()? };
        let response_ns = if head & HAS_RESPONSE != 0 { Some(from.number()?) } else { None };
        let attributes =
            if head & HAS_ATTRIBUTES != 0 { take_attributes(from)? } else { Attributes::DEFAULT };
        let kind = Kind::ALL[usize::from(head & 3)];
        let record = Record { response_ns, attributes, ..Record::new(time_ns, device, kind, offset, length) };
        self.advance(&record);
        Ok(Entry::Request(record))
    }

    fn take_injected(&mut self, from: &mut Cursor<'_>) -> Result<Injected, Fault> {
        let code = from.byte()?;
        let time_ns = from.difference(self.time_ns)?;
        let kind = InjectedKind::decode(code, from.small()?, from.number()?, from.number()?)?;
        self.time_ns = time_ns;
        Ok(Injected { time_ns, kind })
    }
}

fn put_attributes(out: &mut Vec<u8>, of: &Attributes) {
    let attribute = of.attribute as u64;
    let priority = match of.priority {
        Priority::Normal | Priority::Limited(_) => None,
        Priority::High => Some(0),
        Priority::Isochronous(span) => Some(span.as_ns().saturating_add(1)),
    };
    let limit = if let Priority::Limited(index) = of.priority { Some(index.into()) } else { None };
    let values = [
        (mask::ID, of.id),
        (mask::COOKIE, of.cookie),
        (mask::INITIATOR, u64::from(of.initiator)),
        (mask::LOGICAL_UNIT, u64::from(of.logical_unit)),
        (mask::TAG, u64::from(of.tag)),
        (mask::ATTRIBUTE, attribute),
    ];
    let later = [(mask::ATTEMPT, u64::from(of.attempt)), (mask::PROCESS, u64::from(of.process))];
    let flags = [
        (mask::FUA, of.force_unit_access),
        (mask::DIRECT, of.direct),
        (mask::NOT_SYNCHRONOUS, !of.synchronous),
    ];
    let valued = values.iter().chain(&later).filter(|(_, value)| *value != 0).map(|(bit, _)| bit);
    let flagged = flags.iter().filter(|(_, is_set)| *is_set).map(|(bit, _)| bit);
    let mask = valued.chain(flagged).fold(0, |mask, bit| mask | bit);
    let urgent =
        if priority.is_some() { mask::PRIORITY } else { 0 } | if limit.is_some() { mask::LIMIT } else { 0 };
    put(out, mask | urgent);
    let put_all = |out: &mut Vec<u8>, values: &[(u64, u64)]| {
        values.iter().filter(|(_, value)| *value != 0).for_each(|(_, value)| put(out, *value));
    };
    put_all(out, &values);
    if let Some(priority) = priority {
        put(out, priority);
    }
    put_all(out, &later);
    if let Some(limit) = limit {
        put(out, limit);
    }
}

fn take_attributes(from: &mut Cursor<'_>) -> Result<Attributes, Fault> {
    let mask = from.number()?;
    if mask & !mask::ALL != 0 {
        return Err(Fault::Layout("an attribute of no known kind"));
    }
    let mut found = Attributes::DEFAULT;
    let has = |bit: u64| mask & bit != 0;
    if has(mask::ID) {
        found.id = from.number()?;
    }
    if has(mask::COOKIE) {
        found.cookie = from.number()?;
    }
    if has(mask::INITIATOR) {
        found.initiator = from.small()?;
    }
    if has(mask::LOGICAL_UNIT) {
        found.logical_unit = from.small()?;
    }
    if has(mask::TAG) {
        found.tag = from.small()?;
    }
    if has(mask::ATTRIBUTE) {
        found.attribute = match from.number()? {
            1 => Attribute::Ordered,
            2 => Attribute::HeadOfQueue,
            3 => Attribute::Aca,
            4 => Attribute::Untagged,
            _ => return Err(Fault::Layout("a task attribute of no known kind")),
        };
    }
    if has(mask::PRIORITY) && has(mask::LIMIT) {
        return Err(Fault::Layout("a priority beside a duration limit"));
    }
    if has(mask::PRIORITY) {
        found.priority = match from.number()? {
            0 => Priority::High,
            coded => Priority::Isochronous(Span::from_ns(coded - 1)),
        };
    }
    if has(mask::ATTEMPT) {
        found.attempt = from.small()?;
    }
    if has(mask::PROCESS) {
        found.process = from.small()?;
    }
    if has(mask::LIMIT) {
        found.priority = Priority::Limited(from.small()?);
    }
    found.force_unit_access = has(mask::FUA);
    found.direct = has(mask::DIRECT);
    found.synchronous = !has(mask::NOT_SYNCHRONOUS);
    Ok(found)
}
