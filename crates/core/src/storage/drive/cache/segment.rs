//! One segment: a stretch of sectors in the buffer, and the head that may still be reading on behind it.
//!
//! Nothing is scheduled: the state records the head's position at some instant, and what it has read since
//! follows from the rotation.
use super::params::{Reach, ReadAheadParams};
use crate::command::Access;
use crate::storage::drive::mechanism::{Arm, Mechanism, Passage};
use crate::storage::drive::spindle::Spindle;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// The head's state at the end of the media transfer of a read.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub at: Instant,
    pub arm: Arm,
    /// Time until its track has passed.
    pub track_left: Span,
    /// Sectors of the same track that the head has read already: the first one, and the one after the last.
    pub ahead: (Lba, Lba),
}

/// What one segment can do for a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cover {
    /// Nothing: the mechanism must fetch it.
    Miss,
    /// All of it is in the buffer.
    Hit,
    /// All sectors before this one are in the buffer, and the head is not on its way to the rest.
    Partial(Lba),
    /// The head is reading towards it without a gap and will have read all of it at this instant.
    Coming(Instant),
}

/// The moving parts from which the buffer's state follows.
#[derive(Clone, Copy)]
pub struct Motion<'a> {
    pub mechanism: &'a Mechanism,
    pub spindle: &'a Spindle,
}

impl Motion<'_> {
    /// The passage of a read of `first .. end` that starts at `now`.
    pub fn read(&self, now: Instant, arm: Arm, first: Lba, end: Lba) -> Passage {
        let landing = self.mechanism.landing(first, end - first, Access::Read, self.spindle);
        self.mechanism.pass(self.spindle, now, arm, &landing, Lba::new(end.get() - 1), Access::Read)
    }

    pub fn capacity(&self) -> Lba {
        Lba::new(self.mechanism.geometry.capacity().get())
    }

    /// Where the head, reading on behind `end` for a segment that begins at `start`, stops by itself.
    pub fn limit(&self, params: &ReadAheadParams, start: Lba, end: Lba) -> Lba {
        let (geometry, capacity) = (&self.mechanism.geometry, self.capacity());
        if end >= capacity {
            return capacity;
        }
        let far = (end + params.limit).min(capacity);
        let last = Lba::new(end.get().max(1) - 1);
        match params.reach {
            Reach::Nothing => end,
            Reach::Limit => far,
            Reach::Track => far.min(geometry.track_range(last).1).max(end),
            Reach::Cylinder => far.min(geometry.cylinder_end(last)).max(end),
            Reach::NextTrack => {
                let (begin, track_end) = geometry.track_range(end);
                if start >= begin || track_end >= capacity {
                    track_end
                } else {
                    geometry.track_range(track_end).1
                }
            }
        }
    }
}

/// No sectors.
const NOTHING: (Lba, Lba) = (Lba::ZERO, Lba::ZERO);

#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The oldest sector kept; where the window is full, older sectors have been displaced by newer ones.
    pub start: Lba,
    /// All sectors before this one are in the buffer from `held` on; the head will begin to read this one at
    /// `at`.
    next: Lba,
    held: Instant,
    at: Instant,
    arm: Arm,
    /// The head stays on its track until then.
    track_ends: Instant,
    /// Where reading on ends by itself.
    pub limit: Lba,
    /// Sectors that are present before the head reaches them: the first one, and the one after the last. They
    /// passed the head before those from `passed` on did, so they are displaced first.
    ahead: (Lba, Lba),
    passed: Lba,
    /// When the arm was called away; still reading on when `None`.
    stopped: Option<Instant>,
}

impl Segment {
    /// A segment of these sectors without a head behind it.
    pub fn at_rest(start: Lba, end: Lba, now: Instant) -> Self {
        let arm = Arm::default();
        let (at, held, track_ends, stopped) = (now, now, now, Some(now));
        Segment {
            start,
            next: end,
            held,
            at,
            arm,
            track_ends,
            limit: end,
            ahead: NOTHING,
            passed: start,
            stopped,
        }
    }

    /// The media transfer of a read of the sectors before `end` has just ended: the head reads on.
    pub fn reading_on(start: Lba, end: Lba, limit: Lba, ended: &Ended) -> Self {
        let Ended { at, arm, track_left, .. } = *ended;
        let track_ends = at + track_left;
        let (ahead, passed) = (NOTHING, start);
        Segment { start, next: end, held: at, at, arm, track_ends, limit, ahead, passed, stopped: None }
    }

    /// The same with sectors that are present already, behind others that passed after them from `passed` on. They
    /// count if the head gets to them, and if there is room for all up to their end: else those that are read
    /// before the head is there displace them.
    pub fn with_ahead(self, passed: Lba, ahead: (Lba, Lba), window: Sectors) -> Self {
        let reaches = ahead.0 <= self.limit && ahead.1 > ahead.0 && ahead.1 - passed <= window;
        if reaches { Segment { limit: self.limit.max(ahead.1), ahead, passed, ..self } } else { self }
    }

    /// Whether the head has not got to the sectors that are present already.
    fn has_ahead(&self) -> bool {
        self.ahead.1 > self.next
    }

    /// The room has shrunk: sectors that the head has not got to by `now` are displaced where there is no room
    /// for all up to their end.
    #[cold]
    fn displace_ahead(&mut self, now: Instant, window: Sectors, motion: Motion<'_>) {
        if self.ahead.1 - self.passed <= window {
            return;
        }
        if self.time_of(self.ahead.0, motion) <= now {
            self.skip(motion);
        } else {
            self.ahead = NOTHING;
        }
    }

    pub fn is_active(&self) -> bool {
        self.stopped.is_none()
    }

    /// When the head has read all sectors before `end` (at most `limit`).
    #[inline]
    fn time_of(&self, end: Lba, motion: Motion<'_>) -> Instant {
        if end <= self.next {
            return self.held;
        }
        let (from, to) = self.ahead;
        if to <= self.next || end <= from {
            return motion.read(self.at, self.arm, self.next, end).end;
        }
        let mut there = *self;
        there.skip(motion);
        if end <= there.next { there.held } else { motion.read(there.at, there.arm, there.next, end).end }
    }

    /// Moves the head up to the sectors that are present already, and past them.
    fn skip(&mut self, motion: Motion<'_>) {
        let (from, to) = core::mem::replace(&mut self.ahead, NOTHING);
        if from > self.next {
            let passage = motion.read(self.at, self.arm, self.next, from);
            (self.held, self.at, self.arm) = (passage.end, passage.end, passage.arm);
        }
        (self.next, self.track_ends) = (to, self.at);
    }

    /// When the head has read all sectors before `end`, or everything that it reads by itself.
    pub fn read_by(&self, end: Lba, motion: Motion<'_>) -> Instant {
        self.time_of(end.min(self.limit), motion)
    }

    /// Moves the head up to `end`.
    fn advance(&mut self, end: Lba, motion: Motion<'_>) {
        if self.has_ahead() && end > self.ahead.0 {
            self.skip(motion);
        }
        if end > self.next {
            let passage = motion.read(self.at, self.arm, self.next, end);
            (self.next, self.held, self.at, self.arm) = (end, passage.end, passage.end, passage.arm);
            self.track_ends = passage.end + passage.track_left;
        }
    }

    /// Moves the limit out. A head that had stopped for lack of room waits for its sector again.
    pub fn extend(&mut self, limit: Lba, now: Instant, motion: Motion<'_>) {
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
    }

    /// Moves the head on until `now`, track by track. Returns where the arm is.
    fn follow(&mut self, now: Instant, motion: Motion<'_>) -> Arm {
        let geometry = &motion.mechanism.geometry;
        while self.track_ends <= now && self.next < self.limit {
            let slot = geometry.locate(self.next);
            let end = geometry.lba_after_track(slot.zone, slot.track).min(self.limit);
            if self.time_of(end, motion) > now {
                // The arm is on this track or on its way there.
                let track = geometry.track(slot.zone, slot.track);
                return Arm { cylinder: track.cylinder, head: track.head };
            }
            self.advance(end, motion);
        }
        self.arm
    }

    /// The sector after the last one that the head has read by `now`.
    fn front(&mut self, now: Instant, motion: Motion<'_>) -> Lba {
        self.follow(now, motion);
        // What a read has been promised counts as read.
        if self.next >= self.limit || self.time_of(self.limit, motion) <= now {
            return self.limit;
        }
        let geometry = &motion.mechanism.geometry;
        let slot = geometry.locate(self.next);
        let (mut low, mut high) =
            (self.next, geometry.lba_after_track(slot.zone, slot.track).min(self.limit));
        // All sectors before `low` are present, and not all before `high + 1`.
        while low < high {
            let middle = Lba::new((low.get() + high.get()).div_ceil(2));
            if self.time_of(middle, motion) <= now {
                low = middle;
            } else {
                high = Lba::new(middle.get() - 1);
            }
        }
        low
    }

    /// Fixes what a segment at rest holds, on the first question.
    fn settle(&mut self, motion: Motion<'_>) {
        if let Some(stopped) = self.stopped.filter(|_| self.next < self.limit) {
            let front = self.front(stopped, motion);
            let start = self.start;
            *self = Segment { start, ..Segment::at_rest(start, front, stopped) };
        }
    }

    /// What the segment has for a read at `now`; its contents do not change. `window` is the maximum that it
    /// can hold.
    pub fn cover(
        &mut self,
        first: Lba,
        end: Lba,
        now: Instant,
        (params, window): (&ReadAheadParams, Sectors),
        motion: Motion<'_>,
    ) -> Cover {
        if first < self.start || first > self.limit {
            return Cover::Miss;
        }
        self.settle(motion);
        let until = self.stopped.unwrap_or(now);
        if self.has_ahead() {
            self.displace_ahead(until, window, motion);
        }
        if first >= self.next {
            // Only a moving head can reach it in passing.
            let passes = self.stopped.is_none() && params.covers_front;
            let awaited = if passes { until + params.covers_within } else { until };
            if first > self.next && self.time_of(first, motion) > awaited {
                return Cover::Miss;
            }
            let is_there = first < self.limit && self.time_of(first + Sectors::new(1), motion) <= until;
            if !is_there && !passes {
                return Cover::Miss;
            }
        }
        // The window may have moved past the oldest sectors.
        if self.limit.get() > first.get() + window.get() {
            let front = self.front(until, motion);
            // What is present ahead of the head takes room too.
            let newest = if self.has_ahead() { front.max(self.ahead.1) } else { front };
            if newest.get() > first.get() + window.get() {
                return Cover::Miss;
            }
        }
        if end <= self.limit && self.time_of(end, motion) <= until {
            return Cover::Hit;
        }
        if self.stopped.is_some() {
            return Cover::Partial(self.next);
        }
        let mut extended = *self;
        extended.extend(motion.limit(params, self.start, end).max(end), now, motion);
        Cover::Coming(extended.time_of(end, motion))
    }

    /// A read that ends at `end` was served from the segment or from the head under way: the head reads on
    /// behind it.
    pub fn consume(&mut self, end: Lba, now: Instant, params: &ReadAheadParams, motion: Motion<'_>) {
        if self.stopped.is_none() {
            self.extend(motion.limit(params, self.start, end).max(end), now, motion);
            self.advance(end, motion);
        }
    }

    /// An idle arm continues reading behind what the segment holds.
    pub fn go_on(&mut self, end: Lba, from: Instant, arm: Arm, params: &ReadAheadParams, motion: Motion<'_>) {
        self.settle(motion);
        let limit = motion.limit(params, self.start, end).max(self.limit);
        if limit > self.next {
            let ended = Ended { at: from, arm, track_left: Span::ZERO, ahead: NOTHING };
            let Segment { start, next, held, .. } = *self;
            *self = Segment { held, ..Segment::reading_on(start, next, limit, &ended) };
        }
    }

    /// The part that the head still has to read: its next sector, and its limit.
    pub fn ahead_of_head(&self) -> (Lba, Lba) {
        (self.next, self.limit)
    }

    /// Whether the head has just read up to `end` while reading on, so that nothing needs to start. Sectors
    /// that it passed earlier may lie behind that.
    pub fn continues_to(&self, end: Lba) -> bool {
        self.stopped.is_none() && self.start < end && end <= self.next
    }

    /// The arm is needed elsewhere: reading on ends. Returns where the arm is, and how long the switch to another track
    /// that has begun still takes. `finishes` if the head completes the sector that it is to read there too, which
    /// [`Self::remaining_time`] counts.
    #[inline]
    pub fn stop(&mut self, now: Instant, finishes: bool, motion: Motion<'_>) -> (Arm, Span) {
        self.stopped = Some(now);
        let on_its_track = self.track_ends > now || self.next >= self.limit;
        if on_its_track {
            return (self.arm, Span::ZERO);
        }
        let next = self.follow(now, motion);
        let switch = motion.mechanism.positioning(self.arm, next.cylinder, next.head, Access::Read);
        let switched = self.at + Span::from_ns(switch);
        if finishes || switched <= now {
            (next, Span::ZERO)
        } else if self.at >= now {
            // At the very end of the track nothing has moved yet.
            (self.arm, Span::ZERO)
        } else {
            (next, switched.since(now))
        }
    }

    /// The time that the sector under the head, or the movement to it, still takes at `now`.
    pub fn remaining_time(&mut self, now: Instant, motion: Motion<'_>) -> Span {
        let front = self.front(now, motion);
        if front >= self.limit {
            Span::ZERO
        } else {
            self.time_of(front + Sectors::new(1), motion).since(now)
        }
    }

    /// The sector that the head begins to read at exactly this instant, if any.
    pub fn is_about_to_read(&self, now: Instant) -> Option<Lba> {
        (self.at == now).then_some(self.next)
    }

    /// Whether the head stopped at exactly this instant.
    pub fn has_stopped(&self, now: Instant) -> bool {
        self.stopped == Some(now)
    }

    /// The head continues as if it had not stopped.
    pub fn resume(&mut self) {
        self.stopped = None;
    }
}
