//! A text of any layout: the options describe its columns, such as `time:ms,offset:bytes,size:sectors,op,device,-`.
//!
//! Times, addresses and sizes have no unit by default, and op no meaning of 0 and 1. Fields are separated by commas, tabs
//! or blanks, as the first request shows. Lines before it are skipped if they begin with # or if they have a field for each
//! column but no number for time, address and size.
use super::blkparse::kind_of;
use super::lined::{Context, Line};
use crate::error::TraceError;
use crate::lines::Fault;
use crate::record::{Kind, Record};
use crate::text::{any_base, fault, time};
use drivelab_units::{Given, key};

/// The most columns.
const COLUMNS_MAX: usize = 64;
const TIMES: [(&str, u64); 5] =
    [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1), ("100ns", 100)];
const EXTENTS: [(&str, u64); 4] = [("bytes", 1), ("sectors", 512), ("KiB", 1_024), ("4KiB", 4_096)];
/// The units of times and of addresses, as a message lists them.
const TIME_UNITS: &str = "s, ms, us, ns and 100ns";
const EXTENT_UNITS: &str = "bytes, sectors (of 512 bytes), KiB and 4KiB";

/// What a column has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    Skipped,
    /// The beginning of the request, in units of so many nanoseconds.
    Time(u64),
    /// In units of so many bytes.
    Offset(u64),
    Size(u64),
    /// The flag of a read, if 0 and 1 are the operations.
    Operation(Option<u8>),
    Device,
    Response(u64),
}

/// The columns of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Columns {
    list: [Column; COLUMNS_MAX],
    count: usize,
}

fn wrong(text: &str, why: &str) -> TraceError {
    TraceError::Option(format!("{}: {why}", Given("trace.columns", text)))
}

/// One column by its name and unit.
fn column(part: &str) -> Result<Column, String> {
    let (name, unit) = part.split_once(':').map_or((part, None), |(name, unit)| (name, Some(unit)));
    let in_units = |units: &[(&str, u64)], names: &str, example: &str| {
        let Some(unit) = unit else {
            return Err(format!("{name} has no unit; give one of {names}, as in {name}:{example}"));
        };
        let found = units.iter().find(|(known, _)| *known == unit).map(|(_, factor)| *factor);
        found.ok_or_else(|| format!("{part}: there is no such unit; there are {names}"))
    };
    let plain = |column: Column| match unit {
        None => Ok(column),
        Some(_) => Err(format!("{part}: {name} has no unit; leave it out")),
    };
    match name {
        "-" => plain(Column::Skipped),
        "device" => plain(Column::Device),
        "time" => in_units(&TIMES, TIME_UNITS, "ms").map(Column::Time),
        "response" => in_units(&TIMES, TIME_UNITS, "ms").map(Column::Response),
        "offset" => in_units(&EXTENTS, EXTENT_UNITS, "bytes").map(Column::Offset),
        "size" => in_units(&EXTENTS, EXTENT_UNITS, "bytes").map(Column::Size),
        "op" => match unit {
            None => Ok(Column::Operation(None)),
            Some("0") => Ok(Column::Operation(Some(0))),
            Some("1") => Ok(Column::Operation(Some(1))),
            Some(_) => Err(format!("{part}: give op, or op:0 or op:1 where that number is a read")),
        },
        _ => Err(format!(
            "\"{part}\": there is no such column; there are time, offset, size, op, device, response and - for one that \
             does not matter"
        )),
    }
}

impl Columns {
    /// Parses a description.
    pub fn parse(text: &str) -> Result<Columns, TraceError> {
        let mut columns = Columns { list: [Column::Skipped; COLUMNS_MAX], count: 0 };
        for part in text.split(',').map(str::trim) {
            if columns.count == COLUMNS_MAX {
                return Err(wrong(text, &format!("more than {COLUMNS_MAX} columns")));
            }
            let found = column(part).map_err(|why| wrong(text, &why))?;
            let same = |other: &Column| core::mem::discriminant(other) == core::mem::discriminant(&found);
            if found != Column::Skipped && columns.list[..columns.count].iter().any(same) {
                return Err(wrong(text, &format!("{part} is there twice; give - for one of the two")));
            }
            columns.list[columns.count] = found;
            columns.count += 1;
        }
        let needed = [
            ("time", Column::Time(0)),
            ("offset", Column::Offset(0)),
            ("size", Column::Size(0)),
            ("op", Column::Operation(None)),
        ];
        let has = |kind: &Column| {
            columns.list.iter().any(|column| core::mem::discriminant(column) == core::mem::discriminant(kind))
        };
        let missing = needed.iter().find(|(_, kind)| !has(kind));
        match missing {
            Some((name, _)) => {
                Err(wrong(text, &format!("{name} is missing, without which there is no request")))
            }
            None => Ok(columns),
        }
    }

    /// The parser of a text with these columns.
    pub fn parser(self) -> Described {
        Described { columns: self, separator: None }
    }
}

/// What stands between two fields.
#[derive(Clone, Copy)]
enum Separator {
    Comma,
    Tab,
    Blanks,
}

/// Parser.
pub struct Described {
    columns: Columns,
    /// That of the first request.
    separator: Option<Separator>,
}

type Fields<'a> = [&'a [u8]; COLUMNS_MAX];

/// The fields of a line and their number; at most [`COLUMNS_MAX`] are stored.
fn fields(line: &[u8], separator: Separator) -> (Fields<'_>, usize) {
    let (mut fields, mut count) = ([&line[..0]; COLUMNS_MAX], 0);
    let mut add = |field| {
        if count < COLUMNS_MAX {
            fields[count] = field;
        }
        count += 1;
    };
    match separator {
        Separator::Comma => line.split(|&byte| byte == b',').for_each(|field| add(field.trim_ascii())),
        Separator::Tab => line.split(|&byte| byte == b'\t').for_each(|field| add(field.trim_ascii())),
        Separator::Blanks => {
            let words = line.split(|byte| matches!(byte, b' ' | b'\t'));
            words.filter(|field| !field.is_empty()).for_each(add);
        }
    }
    (fields, count)
}

const WHICH: &str = concat!(
    "the operation is 0 or 1, and which of them is a read is unknown: say so with op:0 or op:1 in ",
    key!("trace.columns")
);
const OPERATION: &str = "an operation such as R, W, read or write";

/// The operation, by its name or by the kernel's flags.
fn operation(text: &[u8], read: Option<u8>, has_size: bool) -> Result<Kind, Fault> {
    if let [digit @ (b'0' | b'1')] = text {
        let read = read.ok_or(Fault::Lacks(WHICH))?;
        return Ok(if digit - b'0' == read { Kind::Read } else { Kind::Write });
    }
    if read.is_some() {
        return Err(fault(text, "0 or 1"));
    }
    const NAMES: [(&[u8], Kind); 10] = [
        (b"r", Kind::Read),
        (b"w", Kind::Write),
        (b"read", Kind::Read),
        (b"write", Kind::Write),
        (b"flush", Kind::Flush),
        (b"sync", Kind::Flush),
        (b"discard", Kind::Discard),
        (b"trim", Kind::Discard),
        (b"unmap", Kind::Discard),
        (b"d", Kind::Discard),
    ];
    if let Some((_, kind)) = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        return Ok(*kind);
    }
    let is_flags = text.len() <= 8 && text.iter().all(|byte| b"RWDFNASME".contains(byte));
    kind_of(text, has_size).filter(|_| is_flags).ok_or_else(|| fault(text, OPERATION))
}

/// A number of units.
fn bytes(text: &[u8], unit: u64, wanted: &'static str) -> Result<u64, Fault> {
    any_base(text, wanted)?.checked_mul(unit).ok_or(Fault::Extent)
}

/// A time that is not below zero.
fn span(text: &[u8], unit_ns: u64, wanted: &'static str) -> Result<u64, Fault> {
    match time(text, unit_ns, wanted)? {
        (false, ns) => Ok(ns),
        (true, _) => Err(fault(text, wanted)),
    }
}

impl Described {
    fn record(&self, line: &[u8], separator: Separator, context: &mut Context) -> Result<Record, Fault> {
        let (fields, found) = fields(line, separator);
        let Columns { list, count } = &self.columns;
        if found != *count {
            return Err(Fault::Fields { found, wanted: *count });
        }
        let mut record = Record::new(0, 0, Kind::Read, 0, 0);
        let (mut name, mut code) = (&b"0"[..], (&line[..0], None));
        for (column, &field) in list[..*count].iter().zip(&fields) {
            match *column {
                Column::Skipped => {}
                Column::Time(unit) => record.time_ns = span(field, unit, "a time")?,
                Column::Offset(unit) => record.offset = bytes(field, unit, "an address")?,
                Column::Size(unit) => record.length = bytes(field, unit, "a size")?,
                Column::Operation(read) => code = (field, read),
                Column::Device => name = field,
                // A request may have got no response.
                Column::Response(_) if matches!(field, b"" | b"-") => {}
                Column::Response(unit) => record.response_ns = Some(span(field, unit, "a response time")?),
            }
        }
        record.kind = operation(code.0, code.1, record.length > 0)?;
        if record.kind == Kind::Flush {
            (record.offset, record.length) = (0, 0);
        }
        record.offset.checked_add(record.length).ok_or(Fault::Extent)?;
        if name.is_empty() {
            return Err(fault(name, "the name of a device"));
        }
        record.device = context.devices.place(name)?;
        Ok(record)
    }

    /// Whether a line before the first request names the columns.
    fn is_title(&self, line: &[u8]) -> bool {
        if line.starts_with(b"#") {
            return true;
        }
        let Columns { list, count } = &self.columns;
        let is_number = |field: &[u8]| field.first().is_some_and(|byte| b"0123456789-+.".contains(byte));
        let names = |separator: Separator| {
            let (fields, found) = fields(line, separator);
            let is_figure =
                |column: &Column| matches!(column, Column::Time(_) | Column::Offset(_) | Column::Size(_));
            let mut figures = list[..*count].iter().zip(&fields).filter(|(column, _)| is_figure(column));
            found == *count && figures.all(|(_, field)| !field.is_empty() && !is_number(field))
        };
        [Separator::Comma, Separator::Tab, Separator::Blanks].into_iter().any(names)
    }
}

impl Line for Described {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        if let Some(separator) = self.separator {
            return self.record(line, separator, context).map(Some);
        }
        let (mut wrong, mut count) = (None, None);
        for separator in [Separator::Comma, Separator::Tab, Separator::Blanks] {
            match self.record(line, separator, context) {
                Ok(record) => {
                    self.separator = Some(separator);
                    return Ok(Some(record));
                }
                // The separator that divides the line into the most fields.
                Err(Fault::Fields { found, wanted }) => count = count.max(Some((found, wanted))),
                Err(fault) => wrong = wrong.or(Some(fault)),
            }
        }
        if self.is_title(line) {
            context.is_title = true;
            return Ok(None);
        }
        let (found, wanted) = count.unwrap_or_default();
        Err(wrong.unwrap_or(Fault::Fields { found, wanted }))
    }
}
