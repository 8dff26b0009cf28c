//! Encodes and decodes numbers and texts.
use super::TEXT_BYTES_MAX;
use crate::lines::Fault;
use flate2::Crc;

pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes the wrapping difference of two numbers.
pub fn put_difference(out: &mut Vec<u8>, value: u64, from: u64) {
    let difference = value.wrapping_sub(from) as i64;
    put(out, (difference << 1 ^ difference >> 63) as u64);
}

pub fn put_text(out: &mut Vec<u8>, text: &str) {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    put(out, end as u64);
    out.extend_from_slice(&text.as_bytes()[..end]);
}

pub fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

const SHORT: Fault = Fault::Layout("a block ends within an entry");

/// Bytes that are consumed from the front.
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn byte(&mut self) -> Result<u8, Fault> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub fn long(&mut self) -> Result<u64, Fault> {
        self.take(8)?.try_into().map(u64::from_le_bytes).map_err(|_| SHORT)
    }

    pub fn number(&mut self) -> Result<u64, Fault> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                break;
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Fault::Layout("a number of more than 64 bits"))
    }

    pub fn difference(&mut self, from: u64) -> Result<u64, Fault> {
        let coded = self.number()?;
        let difference = (coded >> 1) as i64 ^ -((coded & 1) as i64);
        Ok(from.wrapping_add(difference as u64))
    }

    /// A number of a smaller type.
    pub fn small<T: TryFrom<u64>>(&mut self) -> Result<T, Fault> {
        self.number()?.try_into().map_err(|_| Fault::Layout("a number that is too large for its place"))
    }

    pub fn text(&mut self) -> Result<&'a str, Fault> {
        let count = self.small::<usize>()?;
        if count > TEXT_BYTES_MAX {
            return Err(Fault::Layout("a text of more than 4096 bytes"));
        }
        std::str::from_utf8(self.take(count)?).map_err(|_| Fault::Layout("a text that is not UTF-8"))
    }
}
