//! Numbers drawn from bytes; zeros once the bytes are used up.

/// The remaining bytes.
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// The next `count` bytes as one little-endian number.
    pub fn number(&mut self, count: u32) -> u64 {
        (0..count).fold(0, |number, at| number | u64::from(self.byte()) << (8 * at))
    }

    /// A number below `limit`, which must not be zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.number(if limit > 1 << 16 { 5 } else { 2 }) % limit
    }
}
