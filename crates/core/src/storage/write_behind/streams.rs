//! Detects sequential reads, and the lines to be fetched ahead of them.
//!
//! A stream is identified by the address after its last read: a read that begins there continues it. With
//! enough reads a stream has a range to be fetched, from the line after its last read to the end of the
//! window. Streams take turns, line by line. There are few of them, so all are examined.
//! Source: Dell, "OpenManage Server Administrator Storage Management", read policies of PERC controllers (read-ahead,
//! adaptive read-ahead: after two sequential reads).
use super::params::ReadAhead;
use alloc::vec::Vec;
use drivelab_units::Lba;

#[derive(Clone, Copy)]
struct Stream {
    /// The address after its last read.
    next: Lba,
    /// Its reads so far.
    reads: u32,
    /// The next line to be fetched ahead, and the address after the last one.
    ahead: Lba,
    until: Lba,
    /// When it was last continued, counted in reads.
    used: u64,
}

pub struct Streams {
    streams: Vec<Stream>,
    reads: u64,
    /// The stream whose turn it is.
    turn: usize,
}

impl Streams {
    pub fn new(params: Option<&ReadAhead>) -> Self {
        let most = params.map_or(0, |params| params.streams as usize);
        Streams { streams: Vec::with_capacity(most), reads: 0, turn: 0 }
    }

    /// A read arrives. No range extends beyond `device_end`.
    pub fn observe_read(&mut self, first: Lba, end: Lba, device_end: Lba, params: &ReadAhead) {
        self.reads += 1;
        let used = self.reads;
        let at = self.streams.iter().position(|stream| stream.next == first).unwrap_or_else(|| {
            let new = Stream { next: first, reads: 0, ahead: Lba::ZERO, until: Lba::ZERO, used };
            self.place(new, params.streams as usize)
        });
        let stream = &mut self.streams[at];
        let reads = stream.reads.saturating_add(1);
        (stream.next, stream.reads, stream.used) = (end, reads, used);
        // Lines that overlap the read itself are fetched for it.
        let line = Lba::new(end.get().next_multiple_of(params.unit.get()));
        stream.ahead = stream.ahead.max(line);
        if reads >= params.after {
            let until = Lba::new(end.get().saturating_add(params.window.get()));
            stream.until = stream.until.max(until.min(device_end));
        }
    }

    /// Finds a place for a new stream.
    fn place(&mut self, new: Stream, most: usize) -> usize {
        if self.streams.len() < most {
            self.streams.push(new);
            return self.streams.len() - 1;
        }
        let oldest = (0..most).min_by_key(|&at| self.streams[at].used).unwrap_or(0);
        self.streams[oldest] = new;
        oldest
    }

    /// The next line to be fetched ahead, by its first sector; then it is the next stream's turn.
    pub fn next_line(&mut self, unit: u64) -> Option<Lba> {
        let count = self.streams.len();
        let at = (0..count).map(|i| (self.turn + i) % count).find(|&at| {
            let Stream { ahead, until, .. } = self.streams[at];
            ahead < until
        })?;
        self.turn = at + 1;
        let stream = &mut self.streams[at];
        let line = stream.ahead;
        stream.ahead = Lba::new(line.get() + unit);
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_units::Sectors;

    const PARAMS: ReadAhead =
        ReadAhead { unit: Sectors::new(16), window: Sectors::new(40), outstanding: 1, after: 2, streams: 2 };

    const END: Lba = Lba::new(10_000);

    fn saw(streams: &mut Streams, first: u64, count: u64) -> Vec<u64> {
        streams.observe_read(Lba::new(first), Lba::new(first + count), END, &PARAMS);
        core::iter::from_fn(|| streams.next_line(16)).map(Lba::get).collect()
    }

    #[test]
    fn lines_lie_behind_the_second_sequential_read_up_to_the_window() {
        let mut streams = Streams::new(Some(&PARAMS));
        assert_eq!(saw(&mut streams, 100, 8), []);
        // Up to 116 + 40.
        assert_eq!(saw(&mut streams, 108, 8), [128, 144]);
        assert_eq!(saw(&mut streams, 116, 8), [160]);
        assert_eq!(saw(&mut streams, 125, 8), [], "not where the last one ended");
        assert_eq!(saw(&mut streams, 124, 100), [224, 240, 256]);
    }

    #[test]
    fn no_line_begins_behind_the_device() {
        let params = ReadAhead { window: Sectors::new(u64::MAX), ..PARAMS };
        let mut streams = Streams::new(Some(&params));
        for first in [9_960, 9_968] {
            streams.observe_read(Lba::new(first), Lba::new(first + 8), END, &params);
        }
        let lines: Vec<u64> = core::iter::from_fn(|| streams.next_line(16)).map(Lba::get).collect();
        assert_eq!(lines, [9_984]);
    }

    #[test]
    fn the_stream_that_was_not_continued_for_longest_is_forgotten() {
        let mut streams = Streams::new(Some(&PARAMS));
        saw(&mut streams, 0, 16);
        saw(&mut streams, 1_000, 24);
        assert_eq!(saw(&mut streams, 16, 16), [32, 48, 64]);
        saw(&mut streams, 5_000, 8);
        assert_eq!(saw(&mut streams, 1_024, 8), [], "it is a new one");
        assert_eq!(saw(&mut streams, 5_008, 8), [5_024, 5_040]);
    }

    #[test]
    fn streams_take_turns() {
        let mut streams = Streams::new(Some(&PARAMS));
        for at in [0, 16] {
            for base in [0, 1_024] {
                streams.observe_read(Lba::new(base + at), Lba::new(base + at + 16), END, &PARAMS);
            }
        }
        let lines: Vec<u64> = core::iter::from_fn(|| streams.next_line(16)).map(Lba::get).collect();
        assert_eq!(lines, [32, 1_056, 48, 1_072, 64, 1_088]);
    }
}
