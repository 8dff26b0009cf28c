//! Streams: sequential reads that the firmware recognizes, and how long it stays with one while other commands wait.
//!
//! A drive with a stream limit carries out a running stream before everything else, and reads on for the stream's next
//! command, until the oldest waiting command has waited that long; then that one goes first.
use super::Mechanics;
use crate::command::Access;
use crate::storage::drive::buffer::Buffer;
use crate::storage::drive::queue::SlotIndex;
use drivelab_units::{Instant, Lba, Sectors};

/// Number of streams that the firmware follows. A choice of the model: no source gives it.
const STREAMS: usize = 16;

/// A stream is recognized after this many reads of it that begin where the ones before them ended. A choice of the model:
/// more than the parts into which hosts cut one large read.
const RECOGNIZED_AFTER: u32 = 16;

/// A sequence of reads.
#[derive(Clone, Copy)]
struct Sequence {
    /// Where the last of them in order of address ends.
    end: Lba,
    /// Those that began where the ones before them ended.
    reads: u32,
}

/// The sequences of reads that the firmware follows.
#[derive(Clone)]
pub struct Streams {
    /// The one that was read last is the first.
    sequences: [Sequence; STREAMS],
    /// Until when the head reads on for the stream that is running.
    pub stays: Instant,
}

impl Streams {
    pub const fn new() -> Self {
        let none = Sequence { end: Lba::new(u64::MAX), reads: 0 };
        Streams { sequences: [none; STREAMS], stays: Instant::ZERO }
    }

    /// A read was served. It is one of the sequence that ends at most `near` from where it begins, for a queue may be
    /// served out of order, or else begins one in place of that which was not read for longest.
    fn note(&mut self, first: Lba, end: Lba, near: Sectors) {
        let all = &mut self.sequences;
        let at = all.iter().position(|one| one.end.get().abs_diff(first.get()) <= near.get());
        let new = Sequence { end, reads: 1 };
        let sequence = at.map_or(new, |at| {
            let Sequence { end: before, reads } = all[at];
            Sequence { end: before.max(end), reads: reads.saturating_add(u32::from(before == first)) }
        });
        all[..=at.unwrap_or(STREAMS - 1)].rotate_right(1);
        all[0] = sequence;
    }

    /// Where the last read ended, if it was one of a recognized stream.
    fn running(&self) -> Option<Lba> {
        let [last, ..] = self.sequences;
        (last.reads >= RECOGNIZED_AFTER).then_some(last.end)
    }
}

impl Mechanics {
    /// A read of these sectors was served.
    #[inline]
    pub fn note_read(&mut self, first: Lba, end: Lba) {
        self.last.read_end = end;
        if self.model.queue.stream_limit.is_some() {
            self.last.streams.note(first, end, self.near_a_stream());
        }
    }

    /// How far from the end of a stream its reads begin: as far as the drive reads ahead.
    fn near_a_stream(&self) -> Sectors {
        self.model.cache.as_ref().map_or(Sectors::ZERO, |cache| cache.read_ahead.limit)
    }

    /// The waiting read that the stream which ends here goes on with: the first one near that, on its cylinder.
    fn next_of_stream(&self, end: Lba) -> Option<SlotIndex> {
        if self.slots.is_empty() || end.get() >= self.model.capacity().get() {
            return None;
        }
        let cylinder = self.landing(end, Sectors::new(1), Access::Read).cylinder;
        let near = self.near_a_stream().get();
        let next = self.waiting_from(Lba::new(end.get().saturating_sub(near)), cylinder)?;
        (self.slots.first(next).get() <= end.get() + near).then_some(next)
    }

    /// Where the stream that is running goes on, if the drive stays with streams.
    #[inline]
    pub fn stream(&self) -> Option<Lba> {
        self.model.queue.stream_limit.and_then(|_| self.last.streams.running())
    }

    /// When the oldest waiting command will have waited as long as a stream may keep it waiting; never while none waits.
    /// `None` where the drive has no such limit.
    #[inline]
    pub fn stream_yields_at(&self) -> Option<Instant> {
        let limit = self.model.queue.stream_limit?;
        let arrived = self.slots.oldest().map_or(u64::MAX, |oldest| self.slots.entry(oldest).arrived);
        Some(Instant::from_ns(arrived.saturating_add(limit.as_ns())))
    }

    /// What the stream that is running makes the drive serve next: the stream's next command, or, when it must yield, the
    /// oldest command. `None` where the order of the queue decides.
    #[inline]
    pub fn next_by_stream(&self, now: Instant) -> Option<SlotIndex> {
        let (end, yields) = (self.stream()?, self.stream_yields_at()?);
        if now < yields { self.next_of_stream(end) } else { self.slots.oldest() }
    }

    /// The head, reading on behind the stream that is running, keeps the arm from the commands that wait: as far as it reads
    /// by itself, but not where the stream's next command waits. Returns whether it reads on behind a stream.
    pub fn stay_with_stream(&mut self, buffer: &Buffer, now: Instant) -> bool {
        let Some(until) = self.reads_on_for_stream(buffer, now) else { return false };
        self.last.streams.stays = until;
        true
    }

    fn reads_on_for_stream(&self, buffer: &Buffer, now: Instant) -> Option<Instant> {
        let segments = &buffer.cache()?.segments;
        let end = self.stream().filter(|_| self.stream_yields_at().is_some_and(|at| now < at))?;
        let limit = segments.reads_on_behind(end)?;
        let next_waits = self.next_of_stream(end).is_some();
        Some(if next_waits { now } else { segments.read_by(limit, self.motion()) })
    }

    /// Until when the arm stays with a stream, if it does now: not where the stream's next command waits for it.
    #[inline]
    pub fn stays_until(&self, now: Instant) -> Option<Instant> {
        let stays = self.last.streams.stays;
        if stays <= now || self.stream().is_none_or(|end| self.next_of_stream(end).is_some()) {
            return None;
        }
        self.stream_yields_at().map(|yields| yields.min(stays))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Sectors = Sectors::new(64);

    /// Serves a read of eight sectors.
    fn read(streams: &mut Streams, first: u64) {
        streams.note(Lba::new(first), Lba::new(first + 8), NEAR);
    }

    #[test]
    fn interleaved_streams_are_recognized() {
        let mut streams = Streams::new();
        for step in 0..u64::from(RECOGNIZED_AFTER) - 1 {
            for stream in 0..STREAMS as u64 {
                read(&mut streams, 1_000_000 * stream + 8 * step);
                assert_eq!(streams.running(), None);
            }
        }
        let step = 8 * u64::from(RECOGNIZED_AFTER - 1);
        read(&mut streams, step);
        assert_eq!(streams.running(), Some(Lba::new(step + 8)));
        read(&mut streams, 77_000);
        assert_eq!(streams.running(), None, "the last read was none of a stream");
        read(&mut streams, step + 8);
        assert_eq!(streams.running(), Some(Lba::new(step + 16)), "and it goes on after that");
    }

    #[test]
    fn a_stream_may_be_served_out_of_order() {
        let mut streams = Streams::new();
        // Each second one before the first: half of them go on.
        for pair in 0..u64::from(RECOGNIZED_AFTER) {
            read(&mut streams, 16 * pair + 8);
            read(&mut streams, 16 * pair);
        }
        assert_eq!(streams.running(), None);
        let mut in_order = streams.clone();
        for step in 0..u64::from(RECOGNIZED_AFTER) {
            read(&mut in_order, 16 * u64::from(RECOGNIZED_AFTER) + 8 * step);
        }
        assert!(in_order.running().is_some());
    }

    #[test]
    fn reads_of_a_small_range_are_no_stream() {
        let mut streams = Streams::new();
        for step in 0..1_000_u64 {
            read(&mut streams, step * 37 % 61);
            assert_eq!(streams.running(), None);
        }
    }

    #[test]
    fn the_sequence_that_was_not_read_for_longest_is_forgotten() {
        let mut streams = Streams::new();
        for step in 0..u64::from(RECOGNIZED_AFTER) {
            read(&mut streams, 8 * step);
        }
        let end = 8 * u64::from(RECOGNIZED_AFTER);
        for other in 1..STREAMS as u64 {
            read(&mut streams, 1_000_000 * other);
        }
        let mut kept = streams.clone();
        read(&mut kept, end);
        assert_eq!(kept.running(), Some(Lba::new(end + 8)));
        read(&mut streams, 1_000_000 * STREAMS as u64);
        read(&mut streams, end);
        assert_eq!(streams.running(), None);
    }
}
