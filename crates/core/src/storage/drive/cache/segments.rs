//! All segments of the cache: which of them covers a read, which one is replaced next.
//!
//! The least recently used segment is replaced. At most one has a head behind it.
use super::index::{Bounds, EMPTY, SegmentRanges};
use super::params::{CacheParams, Reach};
use super::recency::Recency;
use super::segment::{Cover, Ended, Motion, Segment};
use crate::storage::drive::mechanism::Arm;
use crate::storage::tree::NONE;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// Index of a segment in the table.
pub type SegmentIndex = u32;

/// The segment that has a head behind it, or had it until just now.
#[derive(Clone, Copy)]
pub struct Front {
    pub place: SegmentIndex,
    pub start: Lba,
    /// Where reading on would end by itself.
    pub limit: Lba,
    /// The sector that the head is just about to read, if it is at the start of one.
    next: Option<Lba>,
    pub has_stopped: bool,
}

impl Front {
    /// Whether the head is just about to read this sector.
    pub fn is_at(&self, first: Lba) -> bool {
        self.next == Some(first)
    }
}

pub struct Segments {
    params: CacheParams,
    /// The size of a segment, precomputed: a division is slow.
    segment: u64,
    segments: Vec<Segment>,
    index: SegmentRanges,
    /// Result of the last search.
    found: Vec<SegmentIndex>,
    recency: Recency,
    empty: Vec<SegmentIndex>,
    /// Segments in use.
    kept: u32,
    /// Sectors in them, including those that the head is on its way to.
    sectors: u64,
    /// The one with a head behind it.
    active: SegmentIndex,
    /// The last one that had a head behind it.
    left: SegmentIndex,
    /// A segment that was dropped while the head was reading on behind it: the arm is still there.
    given_up: Option<Segment>,
    /// Maximum segments and sectors that may be kept at present.
    most: u32,
    room: u64,
}

impl Segments {
    pub fn new(params: &CacheParams) -> Self {
        let mut segments = Segments {
            params: *params,
            segment: params.segment().get(),
            segments: Vec::new(),
            index: SegmentRanges::new(params.segments),
            found: Vec::new(),
            recency: Recency::default(),
            empty: Vec::new(),
            kept: 0,
            sectors: 0,
            active: NONE,
            left: NONE,
            given_up: None,
            most: 0,
            room: 0,
        };
        segments.make_room(0, 0);
        segments
    }

    /// The maximum that one segment can hold now.
    fn window(&self) -> Sectors {
        Sectors::new(self.segment.min(self.room))
    }

    /// Written data take this many segments and sectors: the rest is for reads.
    #[inline]
    pub fn make_room(&mut self, segments: u32, sectors: u64) {
        let CacheParams { segments: all, size, .. } = self.params;
        if let Some(reserved) = self.params.reserved() {
            self.most = all.saturating_sub(1);
            self.room = size.get() - reserved.get();
        } else {
            self.most = all.saturating_sub(segments);
            self.room = size.get().saturating_sub(sectors);
        }
        while self.kept > self.most || self.kept > self.least_kept() && self.sectors > self.room {
            self.clear(self.recency.oldest());
        }
    }

    /// What the buffer has for a read at `now`, and the segment that has it.
    #[inline]
    pub fn cover(&mut self, first: Lba, end: Lba, now: Instant, motion: Motion<'_>) -> (Cover, SegmentIndex) {
        let mut best = (Cover::Miss, NONE);
        self.find(first, first + Sectors::new(1));
        while let Some(place) = self.found.pop() {
            let cover = self.cover_in(place, first, end, now, motion);
            match (cover, best.0) {
                (Cover::Hit, _) => return (cover, place),
                (Cover::Coming(_), _) | (Cover::Partial(_), Cover::Miss) => best = (cover, place),
                (Cover::Partial(one), Cover::Partial(other)) if one > other => best = (cover, place),
                _ => {}
            }
        }
        best
    }

    /// Collects the segments that hold one of these sectors, or end just before the first.
    #[inline]
    fn find(&mut self, first: Lba, end: Lba) {
        self.index.meeting(first, end, &mut self.found);
    }

    fn cover_in(
        &mut self,
        place: SegmentIndex,
        first: Lba,
        end: Lba,
        now: Instant,
        motion: Motion<'_>,
    ) -> Cover {
        let with = (&self.params.read_ahead, self.window());
        let cover = self.segments[place as usize].cover(first, end, now, with, motion);
        self.note(place);
        cover
    }

    /// Updates the index entry of a segment.
    #[inline]
    fn note(&mut self, place: SegmentIndex) {
        let Segment { start, limit, .. } = self.segments[place as usize];
        let new = Bounds { start: start.get(), limit: limit.get() };
        let old = self.index.set(place, new);
        self.sectors = self.sectors + self.held(new) - self.held(old);
    }

    /// Maximum number of sectors that a segment may hold.
    #[inline]
    fn held(&self, bounds: Bounds) -> u64 {
        bounds.limit.saturating_sub(bounds.start).min(self.segment)
    }

    /// The segment has just been used.
    #[inline]
    pub fn touch(&mut self, place: SegmentIndex) {
        self.recency.touch(place);
    }

    fn clear(&mut self, place: SegmentIndex) {
        let old = self.index.set(place, EMPTY);
        self.sectors -= self.held(old);
        self.kept -= 1;
        self.recency.unlink(place);
        self.empty.push(place);
        self.lose_head(place);
    }

    /// A place's contents are no longer valid; if a head was behind it, the arm stays where it is.
    fn lose_head(&mut self, place: SegmentIndex) {
        if self.active == place {
            self.given_up = Some(self.segments[place as usize]);
            self.active = NONE;
        }
        if self.left == place {
            self.left = NONE;
        }
    }

    /// A single segment is always kept, limited to the room, if there is any.
    fn least_kept(&self) -> u32 {
        u32::from(self.room > 0)
    }

    // Inlined, so that the segment is built in place.
    #[inline(always)]
    fn place(&mut self, segment: Segment) -> SegmentIndex {
        if self.most == 0 || self.room == 0 {
            return NONE;
        }
        while self.kept > self.most {
            self.clear(self.recency.oldest());
        }
        if self.kept == self.most {
            // The least recently used one is replaced.
            let place = self.recency.oldest();
            self.lose_head(place);
            self.segments[place as usize] = segment;
            self.touch(place);
            self.note(place);
            return self.fit(place);
        }
        let place = self.empty.pop().unwrap_or_else(|| {
            self.segments.push(segment);
            self.recency.add_place();
            self.segments.len() as SegmentIndex - 1
        });
        self.segments[place as usize] = segment;
        self.kept += 1;
        self.recency.link(place);
        self.note(place);
        self.fit(place)
    }

    /// Drops the least recently used segments until everything fits. `place` is the most recent.
    #[inline]
    fn fit(&mut self, place: SegmentIndex) -> SegmentIndex {
        while self.sectors > self.room && self.kept > self.least_kept() {
            self.clear(self.recency.oldest());
        }
        place
    }

    /// The media transfer of the read `first .. end` has just ended: the head reads on, as far as the cache
    /// permits. Where only the sectors from `sought` on had to be fetched, the sectors before them are joined
    /// with it into one segment. Returns the new segment's place, and the place of the segment that it
    /// continues.
    pub fn start(
        &mut self,
        first: Lba,
        sought: Lba,
        end: Lba,
        ended: &Ended,
        motion: Motion<'_>,
    ) -> (SegmentIndex, SegmentIndex) {
        let (mut begin, mut joined) = (first, NONE);
        if sought > first {
            self.find(first, first + Sectors::new(1));
        }
        while sought > first
            && let Some(place) = self.found.pop()
        {
            if self.continues(place, first, ended.at, motion) {
                let start = self.segments[place as usize].start;
                if start < begin {
                    (begin, joined) = (start, place);
                }
                self.clear(place);
            }
        }
        let limit = motion.limit(&self.params.read_ahead, begin, end);
        let segment =
            Segment::reading_on(begin, end, limit, ended).with_ahead(first, ended.ahead, self.window());
        self.active = self.place(segment);
        self.given_up = None;
        (self.active, joined)
    }

    /// Whether a segment at rest holds the sector just before this one.
    fn continues(&mut self, place: SegmentIndex, first: Lba, now: Instant, motion: Motion<'_>) -> bool {
        if first == Lba::ZERO || place == self.active {
            return false;
        }
        let before = Lba::new(first.get() - 1);
        self.index.get(place).start < first.get()
            && self.cover_in(place, before, first, now, motion) == Cover::Hit
    }

    /// Written data have reached the media, and the buffer keeps them. Returns their place, if it does.
    pub fn keep(&mut self, first: Lba, end: Lba, now: Instant) -> SegmentIndex {
        if !self.params.keeps_written || self.params.separate_writes {
            return NONE;
        }
        self.place(Segment::at_rest(first, end, now))
    }

    /// Where reading on ends by itself in this segment.
    #[inline]
    pub fn limit(&self, place: SegmentIndex) -> Lba {
        self.segments[place as usize].limit
    }

    /// The segment in which the head has just read up to `end` while reading on.
    pub fn read_ahead_segment(&self, end: Lba) -> Option<SegmentIndex> {
        self.continues_to(end).then_some(self.active)
    }

    /// A read that ends at `end` was served from this segment or from the head behind it.
    pub fn consume(&mut self, place: SegmentIndex, end: Lba, now: Instant, motion: Motion<'_>) {
        self.segments[place as usize].consume(end, now, &self.params.read_ahead, motion);
        self.touch(place);
        self.note(place);
    }

    /// Whether the arm, being idle, continues reading behind this segment, which has answered a whole read.
    pub fn may_continue_read_ahead(&self, place: SegmentIndex) -> bool {
        let params = &self.params.read_ahead;
        let idle = self.active == NONE && self.given_up.is_none();
        params.on_hit && params.reach != Reach::Nothing && idle && place != NONE
    }

    /// Continues reading. Returns the range that the head is to read; `None` where it stays.
    pub fn go_on(
        &mut self,
        place: SegmentIndex,
        end: Lba,
        from: Instant,
        arm: Arm,
        motion: Motion<'_>,
    ) -> Option<(Lba, Lba)> {
        let segment = &mut self.segments[place as usize];
        segment.go_on(end, from, arm, &self.params.read_ahead, motion);
        let ahead = segment.is_active().then(|| segment.ahead_of_head());
        if ahead.is_some() {
            (self.active, self.given_up) = (place, None);
        }
        self.note(place);
        ahead
    }

    /// When the head has read everything before this sector, or everything that it reads by itself.
    pub fn read_by(&self, end: Lba, motion: Motion<'_>) -> Instant {
        self.reading().map_or(Instant::ZERO, |segment| segment.read_by(end, motion))
    }

    /// Until where the head reads on by itself, if it reads on behind a read that ended at this sector.
    pub fn reads_on_behind(&self, end: Lba) -> Option<Lba> {
        let segment = self.reading()?;
        (segment.start < end && end <= segment.limit).then_some(segment.limit)
    }

    #[inline]
    fn reading(&self) -> Option<&Segment> {
        self.segments.get(self.active as usize)
    }

    /// Whether the head has just read up to `end` while reading on, so that nothing needs to start.
    pub fn continues_to(&self, end: Lba) -> bool {
        self.reading().is_some_and(|segment| segment.continues_to(end))
    }

    /// The arm is needed elsewhere: reading on ends. Returns where the arm is, and how long the sector under
    /// the head, or a switch to another track, still keeps it there, if the head was reading for the buffer.
    #[inline]
    pub fn stop(&mut self, now: Instant, motion: Motion<'_>) -> Option<(Arm, Span)> {
        let mut gone = self.given_up.take();
        let active = core::mem::replace(&mut self.active, NONE);
        if active != NONE {
            self.left = active;
        }
        let segment = self.segments.get_mut(active as usize).or(gone.as_mut())?;
        let ends_sector = self.params.read_ahead.ends_sector;
        let residue = if ends_sector { segment.remaining_time(now, motion) } else { Span::ZERO };
        let (arm, switch) = segment.stop(now, ends_sector, motion);
        Some((arm, residue + switch))
    }

    /// The segment behind which the head reads on, or stopped just now.
    pub fn front(&self, now: Instant) -> Option<Front> {
        let has_stopped = self.active == NONE;
        let place = if has_stopped { self.left } else { self.active };
        let segment = self.segments.get(place as usize)?;
        let there = !has_stopped || segment.has_stopped(now);
        let next = segment.is_about_to_read(now);
        there.then_some(Front { place, start: segment.start, limit: segment.limit, next, has_stopped })
    }

    /// Whether the head has not reached the place where it stops by itself.
    pub fn still_reads(&self, now: Instant, motion: Motion<'_>) -> bool {
        self.reading().is_some_and(|segment| segment.read_by(segment.limit, motion) > now)
    }

    /// The head continues as if it had not stopped.
    pub fn resume(&mut self, place: SegmentIndex) {
        self.segments[place as usize].resume();
        (self.active, self.given_up) = (place, None);
    }

    /// Invalidates these sectors in the buffer.
    #[inline]
    pub fn forget(&mut self, first: Lba, end: Lba) {
        self.find(first, end);
        while let Some(place) = self.found.pop() {
            if self.index.get(place).limit > first.get() {
                self.clear(place);
            }
        }
    }

    /// Segments and sectors in use for reads.
    pub fn kept(&self) -> (u32, u64) {
        (self.kept, self.sectors.min(self.room))
    }
}
