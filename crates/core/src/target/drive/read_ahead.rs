//! The read-ahead buffer: behind a read the head stays where it is and reads on, until the buffer is full or the arm is
//! needed elsewhere. A sequential stream then finds its data in the buffer, or meets the head on its way.
//!
//! One segment. Nothing is scheduled: the state is where the head was at some instant, and what it has read since
//! follows from the platter's turning.
use super::mechanism::{Arm, Mechanism, Passage};
use super::params::ReadAheadParams;
use super::spindle::Spindle;
use crate::command::Access;
use drivelab_units::{Instant, Lba, Sectors, Span};

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

/// How the media transfer of a read left the head.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub at: Instant,
    pub arm: Arm,
    /// Until its track has passed.
    pub track_left: Span,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    /// The oldest block kept.
    start: Lba,
    /// All blocks before this one are in the buffer from `held` on; the head is about to read this one at `at`.
    next: Lba,
    held: Instant,
    at: Instant,
    arm: Arm,
    /// Until then the head stays on its track.
    track_ends: Instant,
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
    /// Reads `first .. end` from `now` on.
    fn read(&self, now: Instant, arm: Arm, first: Lba, end: Lba) -> Passage {
        let landing = self.mechanism.landing(first, end - first, Access::Read, self.spindle);
        self.mechanism.pass(self.spindle, now, arm, &landing, Lba::new(end.get() - 1), Access::Read)
    }

    fn capacity(&self) -> Lba {
        Lba::new(self.mechanism.geometry.capacity().get())
    }
}

impl Segment {
    /// When the head has read all blocks before `end` (at most `limit`).
    fn time_of(&self, end: Lba, motion: Motion<'_>) -> Instant {
        if end <= self.next { self.held } else { motion.read(self.at, self.arm, self.next, end).end }
    }

    /// Lets the head read up to `end`.
    fn advance(&mut self, end: Lba, motion: Motion<'_>) {
        if end > self.next {
            let passage = motion.read(self.at, self.arm, self.next, end);
            (self.next, self.held, self.at, self.arm) = (end, passage.end, passage.end, passage.arm);
            self.track_ends = passage.end + passage.track_left;
        }
    }

    /// Makes room for `size` blocks behind `end`. A head that had stopped for want of room waits for its block again.
    fn extend(&mut self, end: Lba, size: Sectors, now: Instant, motion: Motion<'_>) {
        let limit = (end + size).min(motion.capacity());
        if limit <= self.limit {
            return;
        }
        if self.time_of(self.limit, motion) < now {
            let next = self.limit;
            self.advance(next, motion);
            let again = motion.read(now, self.arm, next, next + Sectors::new(1));
            self.at = now + again.seek + again.rotation;
            self.arm = again.arm;
            self.track_ends = again.end + again.track_left;
        }
        self.limit = limit;
        self.start = self.start.max(Lba::new(end.get().saturating_sub(size.get())));
    }

    /// Lets the head read on until `now`, track by track, for at most the buffer's size. Returns where the arm is.
    fn follow(&mut self, now: Instant, motion: Motion<'_>) -> Arm {
        let geometry = &motion.mechanism.geometry;
        while self.track_ends <= now && self.next < self.limit {
            let slot = geometry.locate(self.next);
            let left = geometry.sectors_per_track(slot.zone) - slot.sector;
            let end = (self.next + Sectors::new(left.into())).min(self.limit);
            if self.time_of(end, motion) > now {
                // The arm is on this track or on its way there.
                let track = geometry.track(slot.zone, slot.track);
                return Arm { cylinder: track.cylinder, head: track.head };
            }
            self.advance(end, motion);
        }
        self.arm
    }
}

impl ReadAhead {
    pub fn new(params: &ReadAheadParams) -> Self {
        ReadAhead { size: params.size, segment: None }
    }

    /// The media transfer of the read `first .. end` has just ended: the head reads on.
    pub fn start(&mut self, first: Lba, end: Lba, passed: &Ended, motion: Motion<'_>) {
        let limit = (end + self.size).min(motion.capacity());
        let start = first.max(Lba::new(end.get().saturating_sub(self.size.get())));
        let Ended { at, arm, track_left } = *passed;
        self.segment = Some(Segment {
            start,
            next: end,
            held: at,
            at,
            arm,
            track_ends: at + track_left,
            limit,
            stopped: None,
        });
    }

    /// What the buffer can do for a read at `now`; changes nothing.
    pub fn cover(&self, first: Lba, end: Lba, now: Instant, motion: Motion<'_>) -> Cover {
        let Some(segment) = &self.segment else { return Cover::Miss };
        if first < segment.start || first > segment.limit {
            return Cover::Miss;
        }
        let until = segment.stopped.unwrap_or(now);
        if first > segment.next && segment.time_of(first, motion) > until {
            return Cover::Miss;
        }
        if end <= segment.limit && segment.time_of(end, motion) <= until {
            return Cover::Hit;
        }
        if segment.stopped.is_some() {
            return Cover::Miss;
        }
        let mut extended = *segment;
        extended.extend(end, self.size, now, motion);
        Cover::Coming(extended.time_of(end, motion))
    }

    /// A read that ends at `end` was served from the buffer or from the head on its way: read on behind it.
    pub fn consume(&mut self, end: Lba, now: Instant, motion: Motion<'_>) {
        let Some(segment) = &mut self.segment else { return };
        if segment.stopped.is_some() {
            return;
        }
        segment.extend(end, self.size, now, motion);
        segment.advance(end, motion);
    }

    /// Whether the head has just read up to `end` as part of reading on, so that there is nothing to start.
    pub fn continues_to(&self, end: Lba) -> bool {
        self.segment.as_ref().is_some_and(|segment| segment.stopped.is_none() && segment.next == end)
    }

    /// The arm is needed elsewhere: reading on ends. Returns where the arm is, if the buffer had it.
    #[inline]
    pub fn stop(&mut self, now: Instant, motion: Motion<'_>) -> Option<Arm> {
        let segment = self.segment.as_mut().filter(|segment| segment.stopped.is_none())?;
        segment.stopped = Some(now);
        let on_its_track = segment.track_ends > now || segment.next >= segment.limit;
        Some(if on_its_track { segment.arm } else { segment.follow(now, motion) })
    }

    /// Whether the head has stopped just now, about to read this block.
    pub fn stopped_at(&self, first: Lba, now: Instant) -> bool {
        let just =
            |segment: &Segment| segment.stopped == Some(now) && segment.next == first && segment.at == now;
        self.segment.as_ref().is_some_and(just)
    }

    /// The head goes on as if it had not stopped.
    pub fn resume(&mut self) {
        self.segment.iter_mut().for_each(|segment| segment.stopped = None);
    }

    /// Forgets everything when a write touches the segment.
    pub fn written(&mut self, first: Lba, end: Lba) {
        if self.segment.as_ref().is_some_and(|segment| first < segment.limit && end > segment.start) {
            self.segment = None;
        }
    }
}
