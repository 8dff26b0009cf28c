//! The payload of a write while it is received.
//!
//! Its memory grows with what has arrived: the header of a write alone takes none, whatever length it names.

/// The memory that a payload begins with, at most.
const FIRST: usize = 256 << 10;

/// See the module.
#[derive(Default)]
pub(super) struct Payload {
    /// What has arrived, then room for more.
    bytes: Vec<u8>,
    arrived: usize,
    length: usize,
}

impl Payload {
    /// A payload of `length` bytes, of which nothing has arrived.
    pub fn new(length: usize) -> Self {
        Payload { bytes: Vec::new(), arrived: 0, length }
    }

    /// Takes what is in `input` of it. Returns the number of bytes.
    pub fn take(&mut self, input: &[u8]) -> usize {
        let count = input.len().min(self.length - self.arrived);
        let mut rest = &input[..count];
        while !rest.is_empty() {
            let room = self.room();
            let (part, behind) = rest.split_at(rest.len().min(room.len()));
            room[..part.len()].copy_from_slice(part);
            self.filled(part.len());
            rest = behind;
        }
        count
    }

    /// Room for bytes that have not arrived; empty if all have.
    pub fn room(&mut self) -> &mut [u8] {
        if self.bytes.len() == self.arrived {
            let size = (2 * self.arrived).max(FIRST).min(self.length);
            if self.bytes.is_empty() {
                self.bytes = vec![0; size];
            } else {
                self.bytes.resize(size, 0);
            }
        }
        &mut self.bytes[self.arrived..]
    }

    /// Reports that `count` bytes were read into the room.
    pub fn filled(&mut self, count: usize) {
        self.arrived += count;
    }

    pub fn is_whole(&self) -> bool {
        self.arrived == self.length
    }

    /// The bytes of memory that it takes.
    pub fn held(&self) -> usize {
        self.bytes.len()
    }

    /// The data of a whole payload.
    pub fn into_data(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_follows_what_has_arrived() {
        const LENGTH: usize = 5 << 20;
        let mut payload = Payload::new(LENGTH);
        assert_eq!(payload.held(), 0);
        let mut arrived = 0;
        while !payload.is_whole() {
            let count = payload.room().len().min(100_000);
            payload.room()[..count].fill(7);
            payload.filled(count);
            arrived += count;
            assert!(payload.held() <= (2 * arrived).max(FIRST), "{} for {arrived}", payload.held());
        }
        assert_eq!((arrived, payload.room().len()), (LENGTH, 0));
        assert_eq!(payload.into_data(), vec![7; LENGTH]);
    }

    #[test]
    fn what_belongs_to_the_next_request_is_left() {
        let mut payload = Payload::new(1_000_000);
        let input: Vec<u8> = (0..700_000_u32).map(|place| place as u8).collect();
        assert_eq!((payload.take(&input), payload.is_whole()), (700_000, false));
        assert_eq!((payload.take(&input), payload.is_whole()), (300_000, true));
        assert_eq!(payload.take(&input), 0);
        assert_eq!(payload.into_data(), [&input[..], &input[..300_000]].concat());
    }

    #[test]
    fn a_payload_of_no_bytes_is_whole() {
        assert!(Payload::new(0).is_whole());
        assert!(Payload::new(0).room().is_empty());
    }
}
