//! Text as a stream of lines, and parsing of numbers, without an allocation per line.
use crate::lines::{Fault, LINE_BYTES_MAX};
use std::io::{self, Read};

const BUFFER_BYTES: usize = 1 << 17;

/// Reads a text line by line in constant memory.
pub struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    number: u64,
}

/// The next item of a stream of lines.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    Line(&'a [u8]),
    /// A line above the length limit; the next line begins after it.
    Overlong,
    End,
}

impl<R: Read> Lines<R> {
    pub fn new(source: R) -> Self {
        Lines { source, buffer: vec![0; BUFFER_BYTES], begin: 0, end: 0, number: 0 }
    }

    /// The number of the last line, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its line end ("\n" or "\r\n").
    pub fn next_line(&mut self) -> io::Result<Next<'_>> {
        let mut searched = self.begin;
        loop {
            if let Some(found) = newline(&self.buffer[searched..self.end]) {
                let (begin, at) = (self.begin, searched + found);
                self.begin = at + 1;
                self.number += 1;
                if at - begin > LINE_BYTES_MAX as usize {
                    return Ok(Next::Overlong);
                }
                return Ok(Next::Line(trimmed(&self.buffer[begin..at])));
            }
            searched = self.end;
            if self.end - self.begin > LINE_BYTES_MAX as usize {
                self.number += 1;
                return self.skip_line();
            }
            if self.begin > 0 {
                self.buffer.copy_within(self.begin..self.end, 0);
                self.end -= self.begin;
                searched = self.end;
                self.begin = 0;
            }
            if self.fill()? == 0 {
                if self.begin == self.end {
                    return Ok(Next::End);
                }
                let begin = self.begin;
                self.begin = self.end;
                self.number += 1;
                return Ok(Next::Line(trimmed(&self.buffer[begin..self.end])));
            }
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(read) => {
                    self.end += read;
                    return Ok(read);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Skips the rest of a line of any length.
    #[cold]
    fn skip_line(&mut self) -> io::Result<Next<'_>> {
        loop {
            if let Some(found) = newline(&self.buffer[self.begin..self.end]) {
                self.begin += found + 1;
                return Ok(Next::Overlong);
            }
            (self.begin, self.end) = (0, 0);
            if self.fill()? == 0 {
                return Ok(Next::Overlong);
            }
        }
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Finds the first line end, eight bytes at a time.
fn newline(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const NEWLINES: u64 = u64::from_ne_bytes([b'\n'; 8]);
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (at, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk) ^ NEWLINES;
        // The lowest zero byte is found exactly, because it is the first to borrow.
        let zero = word.wrapping_sub(ONES) & !word & (ONES << 7);
        if zero != 0 {
            return Some(8 * at + zero.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|&byte| byte == b'\n').map(|at| 8 * chunks.len() + at)
}

/// Splits a line into exactly `N` fields with one separator between two.
pub fn split<const N: usize>(line: &[u8], separator: u8) -> Result<[&[u8]; N], Fault> {
    let (mut fields, mut count, mut begin) = ([&line[..0]; N], 0, 0);
    for (at, &byte) in line.iter().enumerate() {
        if byte == separator {
            if count < N {
                fields[count] = &line[begin..at];
            }
            count += 1;
            begin = at + 1;
        }
    }
    if count < N {
        fields[count] = &line[begin..];
    }
    if count + 1 == N { Ok(fields) } else { Err(Fault::Fields { found: count + 1, wanted: N }) }
}

/// The blank-separated fields of a line and their number; at most `N` fields are stored.
pub fn words<const N: usize>(line: &[u8]) -> ([&[u8]; N], usize) {
    let (mut fields, mut count) = ([&line[..0]; N], 0);
    for field in line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty()) {
        if count < N {
            fields[count] = field;
        }
        count += 1;
    }
    (fields, count)
}

/// The last `N` blank-separated fields of a line, the last one first, and the number of all.
pub fn from_end<const N: usize>(line: &[u8]) -> ([&[u8]; N], usize) {
    let (mut fields, mut count) = ([&line[..0]; N], 0);
    for field in line.rsplit(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty()) {
        if count < N {
            fields[count] = field;
        }
        count += 1;
    }
    (fields, count)
}

/// Exactly `N` blank-separated fields.
pub fn exact_words<const N: usize>(line: &[u8]) -> Result<[&[u8]; N], Fault> {
    let (fields, count) = words(line);
    if count == N { Ok(fields) } else { Err(Fault::Fields { found: count, wanted: N }) }
}

/// The fault of an invalid field.
#[cold]
pub fn fault(text: &[u8], wanted: &'static str) -> Fault {
    let text: String = String::from_utf8_lossy(text).chars().take(40).collect();
    Fault::Field { text, wanted }
}

/// Parses a whole number that consists of digits only.
pub fn whole(text: &[u8], wanted: &'static str) -> Result<u64, Fault> {
    digits(text).ok_or_else(|| fault(text, wanted))
}

/// Parses a whole number that consists of digits only, or of hex digits behind 0x.
pub fn any_base(text: &[u8], wanted: &'static str) -> Result<u64, Fault> {
    let Some(hex) = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")) else {
        return whole(text, wanted);
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(u64::from);
    let value = hex.iter().try_fold(0u64, |value, byte| value.checked_mul(16)?.checked_add(digit(byte)?));
    value.filter(|_| !hex.is_empty()).ok_or_else(|| fault(text, wanted))
}

fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    // Nineteen digits always fit.
    if text.len() <= 19 {
        let mut value = 0;
        for &byte in text {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = 10 * value + u64::from(digit);
        }
        return Some(value);
    }
    text.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

/// Parses a decimal number in units of `unit_ns` nanoseconds, rounded to the nearest nanosecond; the sign is returned
/// separately.
pub fn time(text: &[u8], unit_ns: u64, wanted: &'static str) -> Result<(bool, u64), Fault> {
    let (negative, plain) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let (whole, fraction) = match plain.iter().position(|&byte| byte == b'.') {
        Some(at) => (&plain[..at], &plain[at + 1..]),
        None => (plain, &plain[..0]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(fault(text, wanted));
    }
    let units = if whole.is_empty() { 0 } else { digits(whole).ok_or_else(|| fault(text, wanted))? };
    let ns = units.checked_mul(unit_ns).ok_or(Fault::Time)?;
    if fraction.is_empty() {
        return Ok((negative, ns));
    }
    if !fraction.iter().all(u8::is_ascii_digit) {
        return Err(fault(text, wanted));
    }
    let kept = &fraction[..fraction.len().min(18)];
    let part = u128::from(digits(kept).ok_or_else(|| fault(text, wanted))?);
    let scale = 10u128.pow(kept.len() as u32);
    let part = (part * u128::from(unit_ns) + scale / 2) / scale;
    // The fraction is less than a unit, so it fits.
    ns.checked_add(part as u64).map(|ns| (negative, ns)).ok_or(Fault::Time)
}

/// Converts sectors into bytes; a fault if 64 bits are too few.
pub fn sectors(count: u64) -> Result<u64, Fault> {
    count.checked_mul(drivelab_units::SECTOR_BYTES).ok_or(Fault::Extent)
}
