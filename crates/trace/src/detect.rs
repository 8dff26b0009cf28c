//! Detects the format of a trace by its first bytes: by a magic number, or by the formats that can parse all of its
//! first lines.
//!
//! Invalid lines do not prevent detection if most lines fit one format. Nothing is guessed: if two formats can parse
//! the lines, or the meaning of 0 and 1 is ambiguous, an error asks for an option.
use crate::error::TraceError;
use crate::format::Format;
use crate::formats::blktrace::is_little_endian;
use crate::formats::event_text::Parsed;
use crate::formats::lined::Context;
use crate::formats::{event_parser, line_parser, native};
use crate::lines::Fault;
use crate::reader::{Options, PEEKED_BYTES};
use drivelab_units::{Given, key};

/// The number of lines that are tried.
const LINES: usize = 32;

/// Detects the format of a trace that begins with these bytes.
pub fn format(first: &[u8], options: &Options) -> Result<Format, TraceError> {
    if first.is_empty() {
        return Err(TraceError::Empty);
    }
    let is_blktrace = first.first_chunk().is_some_and(|word| is_little_endian(*word).is_some());
    let found = if first.starts_with(&native::MAGIC) {
        Format::Drivelab
    } else if is_blktrace {
        Format::Blktrace
    } else if first.contains(&0) {
        binary(first)?
    } else {
        return text(first, options);
    };
    if options.is_allowed(found) { Ok(found) } else { Err(TraceError::UnknownBinary) }
}

/// Magic bytes of container files that may hold traces, and the remedy.
const CONTAINERS: [(&[u8], &str); 7] = [
    (b"PK\x03\x04", "it is a zip archive: unpack it, and name one of its files"),
    (b"7z\xbc\xaf\x27\x1c", "it is a 7z archive: unpack it, and name one of its files"),
    (b"Rar!\x1a\x07", "it is a rar archive: unpack it, and name one of its files"),
    (
        b"\xfd7zXZ\0",
        "it is packed with xz, which is not read here: xz -dc FILE | drivelab trace info /dev/stdin",
    ),
    (
        b"\x04\x22\x4d\x18",
        "it is packed with lz4, which is not read here: lz4 -dc FILE | drivelab trace info /dev/stdin",
    ),
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
];
const UTF_16: &str = "it is UTF-16 text: iconv -f UTF-16 -t UTF-8 FILE | drivelab trace info /dev/stdin";
const TAR: &str = "it is a tar archive: unpack it, and name one of its files, or tar -xOf ARCHIVE FILE | drivelab trace \
                   info /dev/stdin";

/// Returns an error for a container file that may hold traces.
pub fn check_container(first: &[u8]) -> Result<(), TraceError> {
    // The magic of a tar archive is inside its first header, after the name and metadata of a file.
    if first.get(257..262) == Some(b"ustar") {
        return Err(TraceError::Container(TAR));
    }
    match CONTAINERS.iter().find(|(magic, _)| first.starts_with(magic)) {
        Some((_, what)) => Err(TraceError::Container(what)),
        None => Ok(()),
    }
}

/// CloudPhysics' records contain their version, at a different offset in each version.
fn binary(first: &[u8]) -> Result<Format, TraceError> {
    let carries = |size: usize, at: usize, version: u8| {
        let mut records = first.chunks_exact(size).take(LINES).peekable();
        records.peek().is_some() && records.all(|record| record[at + 1] == version && record[at] < 16)
    };
    match (carries(32, 14, 1), carries(40, 2, 2)) {
        (true, false) => Ok(Format::Vscsi1),
        (false, true) => Ok(Format::Vscsi2),
        (true, true) => Err(ambiguous(&[Format::Vscsi1, Format::Vscsi2])),
        (false, false) => Err(TraceError::UnknownBinary),
    }
}

fn text(first: &[u8], options: &Options) -> Result<Format, TraceError> {
    let mut lines: Vec<&[u8]> = first.split(|&byte| byte == b'\n').collect();
    // The last line may be truncated.
    if lines.len() > 1 {
        lines.pop();
    }
    lines.truncate(LINES);
    let lines: Vec<&[u8]> = lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    let filled = lines.iter().filter(|line| !line.trim_ascii().is_empty()).count();
    if filled == 0 && first.len() < PEEKED_BYTES {
        return Err(TraceError::Empty);
    }
    // Lines that a format cannot parse; the reader reports them or leaves them out.
    let mut found: Vec<(usize, Format)> = Vec::new();
    for format in Format::ALL.into_iter().filter(|&format| options.is_allowed(format)) {
        if let Some(wrong) = wrong(format, &lines, options)?.filter(|wrong| wrong * 2 < filled) {
            found.push((wrong, format));
        }
    }
    let least = found.iter().map(|(wrong, _)| *wrong).min().unwrap_or(0);
    let candidates: Vec<Format> =
        found.into_iter().filter(|(wrong, _)| *wrong == least).map(|(_, format)| format).collect();
    match candidates[..] {
        [] => Err(unknown(&lines)),
        // Both formats have traces with 0 for reads and traces with 1 for reads.
        [Format::Disksim] | [Format::Mqsim] | [Format::Disksim, Format::Mqsim] => Err(flagged()),
        [format] => Ok(format),
        _ => Err(ambiguous(&candidates)),
    }
}

/// The number of lines that a format cannot parse; `None` if it can parse none of them. An error if a title says that the
/// trace lacks what a request needs.
fn wrong(format: Format, lines: &[&[u8]], options: &Options) -> Result<Option<usize>, TraceError> {
    let plain = lines.iter().enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
    let unit_ns = options.unit_ns.unwrap_or(format.unit_ns());
    let (mut right, mut wrong) = (0, 0);
    if let Some(mut parser) = event_parser(format, unit_ns) {
        for (_, line) in plain {
            match parser.line(line) {
                // The lines after the summary's beginning are no events.
                Ok(Parsed::Summary) => break,
                Ok(Parsed::Title) => {}
                Ok(_) => right += 1,
                Err(_) => wrong += 1,
            }
        }
        return Ok((right > 0).then_some(wrong));
    }
    let Some(mut parser) = line_parser(format) else { return Ok(None) };
    let mut context = Context { unit_ns, ..Context::default() };
    for (at, line) in plain {
        context.line = at as u64 + 1;
        match parser.line(line, &mut context) {
            Ok(_) => right += 1,
            Err(Fault::Lacks(what)) => return Err(TraceError::Lacking { line: context.line, what }),
            Err(_) => wrong += 1,
        }
    }
    Ok((right > 0).then_some(wrong))
}

fn unknown(lines: &[&[u8]]) -> TraceError {
    let first = lines.iter().find(|line| !line.trim_ascii().is_empty());
    let shown = String::from_utf8_lossy(first.map_or(&b""[..], |line| &line[..line.len().min(80)]));
    let shown = shown.chars().filter(|character| !character.is_control()).collect();
    TraceError::Unknown(shown, first.map_or(String::new(), |line| nearest(line)))
}

/// The fault of a line whose number of fields fits only one format.
fn nearest(line: &[u8]) -> String {
    let mut found = Vec::new();
    for format in Format::ALL {
        // The faults of an iolog's first line, and of formats of any number of fields, apply to any text.
        let is_any = matches!(format, Format::Fiu | Format::Biosnoop | Format::Iosnoop | Format::Etw);
        if is_any || matches!(format, Format::Iolog2 | Format::Iolog3) {
            continue;
        }
        let Some(mut parser) = line_parser(format) else { continue };
        let mut context = Context { unit_ns: format.unit_ns(), line: 1, ..Context::default() };
        match parser.line(line, &mut context) {
            Ok(_) | Err(Fault::Fields { .. }) => {}
            Err(fault) => found.push((format, fault)),
        }
    }
    // SPC allows any number of fields after the fifth.
    if found.len() > 1 {
        found.retain(|(format, _)| *format != Format::Spc);
    }
    match &found[..] {
        [(format, fault)] => format!(" (as {}: {fault})", format.name()),
        _ => String::new(),
    }
}

fn ambiguous(candidates: &[Format]) -> TraceError {
    let names: Vec<&str> = candidates.iter().map(|format| format.name()).collect();
    let last = names.len() - 1;
    let (others, last) = (&names[..last], names[last]);
    let given: Vec<String> = others.iter().map(|name| Given("trace.format", name).to_string()).collect();
    TraceError::Ambiguous(format!(
        "it can be read as {} and as {last}, which mean different things: give {} or {}",
        others.join(", "),
        given.join(", "),
        Given("trace.format", last)
    ))
}

fn flagged() -> TraceError {
    TraceError::Ambiguous(format!(
        "five columns of numbers: DiskSim's format has times in ms, MQSim's in ns, and 1 is a read in their manuals but \
         a write in some traces; give {} or {}, and {} where 0 is a read",
        key!("trace.format", "disksim"),
        key!("trace.format", "mqsim"),
        key!("trace.read_flag", "0")
    ))
}
