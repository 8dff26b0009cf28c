//! The read-ahead buffer: behind a read the head stays where it is and reads on, until the buffer is full or the arm is
//! needed elsewhere. A sequential stream then finds its data in the buffer, or meets the head on its way.
//!
//! One segment. Nothing is scheduled: the state is where the head was at some instant, and what it has read since
//! follows from the platter's turning.
use super::mechanism::{Arm, Mechanism};
use super::params::ReadAheadParams;
use super::spindle::Spindle;
use crate::command::Access;
use drivelab_units::{Instant, Lba, Sectors};

/// What the buffer can do for a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cover {
    /// Nothing: the mechanism must fetch it.
    Miss,
    /// All of it is in the buffer.
    Hit,
    /// The head is reading towards it without a gap and will have it all at this instant.
    Coming(Instant),
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    /// The oldest block kept.
    start: Lba,
    /// All blocks before this one are in the buffer at `at`, and the head is about to read this one.
    next: Lba,
    at: Instant,
    arm: Arm,
    /// Where reading on ends for want of room.
    limit: Lba,
    /// When the arm was called away; still reading on when `None`.
    stopped: Option<Instant>,
}

#[derive(Clone, Debug)]
pub struct ReadAhead {
    size: Sectors,
    segment: Option<Segment>,
}

/// The moving parts that the buffer's state follows from.
#[derive(Clone, Copy)]
pub struct Motion<'a> {
    pub mechanism: &'a Mechanism,
    pub spindle: &'a Spindle,
}

impl Motion<'_> {
    fn capacity(&self) -> Lba {
        Lba::new(self.mechanism.geometry.capacity().get())
    }
}

impl Segment {
    /// When the head has read all blocks before `end` (at most `limit`).
    fn time_of(&self, end: Lba, motion: Motion<'_>) -> (Instant, Arm) {
        if end <= self.next {
            return (self.at, self.arm);
        }
        let Motion { mechanism, spindle } = motion;
        let passage = mechanism.pass(spindle, self.at, self.arm, self.next, end - self.next, Access::Read);
        (passage.end, passage.arm)
    }

    /// Makes room for `size` blocks behind `end`. A head that had stopped for want of room waits for its block again.
    fn extend(&mut self, end: Lba, size: Sectors, now: Instant, motion: Motion<'_>) {
        let limit = (end + size).min(motion.capacity());
        if limit <= self.limit {
            return;
        }
        let (full, arm) = self.time_of(self.limit, motion);
        if full < now {
            let (next, mechanism) = (self.limit, motion.mechanism);
            let again = mechanism.pass(motion.spindle, now, arm, next, Sectors::new(1), Access::Read);
            self.next = next;
            self.at = now + again.seek + again.rotation;
            self.arm = again.arm;
        }
        self.limit = limit;
        self.start = self.start.max(Lba::new(end.get().saturating_sub(size.get())));
    }
}

impl ReadAhead {
    pub fn new(params: &ReadAheadParams) -> Self {
        ReadAhead { size: params.size, segment: None }
    }

    /// The media transfer of the read `first .. end` has just ended: the head reads on.
    pub fn start(&mut self, first: Lba, end: Lba, now: Instant, arm: Arm, motion: Motion<'_>) {
        let limit = (end + self.size).min(motion.capacity());
        let start = first.max(Lba::new(end.get().saturating_sub(self.size.get())));
        self.segment = Some(Segment { start, next: end, at: now, arm, limit, stopped: None });
    }

    /// What the buffer can do for a read at `now`; changes nothing.
    pub fn cover(&self, first: Lba, end: Lba, now: Instant, motion: Motion<'_>) -> Cover {
        let Some(segment) = &self.segment else { return Cover::Miss };
        if first < segment.start || first > segment.limit {
            return Cover::Miss;
        }
        let until = segment.stopped.unwrap_or(now);
        if segment.time_of(first, motion).0 > until && first > segment.next {
            return Cover::Miss;
        }
        if end <= segment.limit && segment.time_of(end, motion).0 <= until {
            return Cover::Hit;
        }
        if segment.stopped.is_some() {
            return Cover::Miss;
        }
        let mut extended = *segment;
        extended.extend(end, self.size, now, motion);
        Cover::Coming(extended.time_of(end, motion).0)
    }

    /// A read that ends at `end` was served from the buffer or from the head on its way: read on behind it.
    pub fn consume(&mut self, end: Lba, now: Instant, motion: Motion<'_>) {
        let Some(segment) = &mut self.segment else { return };
        if segment.stopped.is_some() {
            return;
        }
        segment.extend(end, self.size, now, motion);
        let (at, arm) = segment.time_of(end, motion);
        if end > segment.next {
            (segment.next, segment.at, segment.arm) = (end, at, arm);
        }
    }

    /// Whether the head has just read up to `end` as part of reading on, so that there is nothing to start.
    pub fn continues_to(&self, end: Lba) -> bool {
        self.segment.as_ref().is_some_and(|segment| segment.stopped.is_none() && segment.next == end)
    }

    /// The arm is needed elsewhere: reading on ends. Returns where the arm is, if the buffer had it.
    pub fn stop(&mut self, now: Instant, motion: Motion<'_>) -> Option<Arm> {
        let segment = self.segment.as_mut().filter(|segment| segment.stopped.is_none())?;
        segment.stopped = Some(now);
        let geometry = &motion.mechanism.geometry;
        // Track by track, for at most the buffer's size.
        while segment.next < segment.limit {
            let slot = geometry.locate(segment.next);
            let left = geometry.sectors_per_track(slot.zone) - slot.sector;
            let end = (segment.next + Sectors::new(left.into())).min(segment.limit);
            let (at, arm) = segment.time_of(end, motion);
            if at > now {
                break;
            }
            (segment.next, segment.at, segment.arm) = (end, at, arm);
        }
        Some(segment.arm)
    }

    /// Forgets everything when a write touches the segment.
    pub fn written(&mut self, first: Lba, end: Lba) {
        if self.segment.as_ref().is_some_and(|segment| first < segment.limit && end > segment.start) {
            self.segment = None;
        }
    }
}
