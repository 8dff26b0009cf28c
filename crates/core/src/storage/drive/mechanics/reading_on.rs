//! Reading on: what the head does after a read with nothing to follow, and the reads that it meets on its
//! path.
use super::super::buffer::Buffer;
use super::super::cache::params::ReadAheadParams;
use super::super::cache::segment::{Cover, Ended};
use super::super::cache::segments::SegmentIndex;
use super::super::geometry::Geometry;
use super::super::queue::{ChoiceTime, SlotIndex};
use super::super::tasks::flight::InFlight;
use super::Mechanics;
use crate::command::{Access, Command};
use crate::storage::context::Context;
use crate::trace::Served;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// At most this many waiting commands per cylinder on the head's path are examined; a cylinder may have any
/// number. A bound on the model's work: a firmware that examines fewer is described by the queue's window.
const SCANNED_MAX: usize = 64;

/// How a read is served that needs no access by the mechanism.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// The buffer has all of it.
    Held(SegmentIndex),
    /// The head will have read it at this instant.
    Coming(SegmentIndex, Instant),
}

/// A read as it ends: what the buffer keeps of it.
#[derive(Clone, Copy, Debug)]
pub struct ReadEnd {
    pub first: Lba,
    /// The first sector that came from the media.
    pub sought: Lba,
    pub end: Lba,
    /// From here up to `sought` the buffer still has its earlier contents, in the segment `holder`.
    pub held: Lba,
    pub holder: SegmentIndex,
    /// Whether the command continues the read before it.
    pub is_sequential: bool,
    /// Whether the drive may stay with a stream although commands wait.
    pub may_stay: bool,
}

impl Mechanics {
    /// The waiting read on the arm's cylinder that begins nearest behind what the head read last, or in it.
    #[inline]
    pub fn next_on_the_way(&self, buffer: &Buffer, now: Instant) -> Option<SlotIndex> {
        let start = buffer.cache()?.segments.front(now)?.start;
        if self.slots.is_empty() || !self.model.queue.examines_all(self.slots.candidates()) {
            return None;
        }
        self.waiting_from(start, self.arm.cylinder)
    }

    /// The waiting read on a cylinder that begins at this sector or nearest after it, among the first few
    /// there.
    pub fn waiting_from(&self, start: Lba, cylinder: u32) -> Option<SlotIndex> {
        let kind = self.slots.kind(false);
        let row = self.slots.row(kind);
        let mut at = self.slots.first_from(kind, cylinder);
        let mut nearest: Option<(Lba, SlotIndex)> = None;
        for _ in 0..SCANNED_MAX {
            let Some(slot) = self.slots.slot_at(row, at) else { break };
            let entry = self.slots.entry(slot);
            if entry.cylinder != cylinder {
                break;
            }
            let begins = self.slots.first(slot);
            if !entry.write && begins >= start && nearest.is_none_or(|(first, _)| begins < first) {
                nearest = Some((begins, slot));
            }
            at = self.slots.next(row, at, true);
        }
        nearest.map(|(_, slot)| slot)
    }

    /// When the head reaches the first sector of a read that it will have read at this instant: nanoseconds
    /// from now.
    pub fn time_to_first_sector(&self, flight: &InFlight, at: Instant, now: Instant) -> u64 {
        let sector = self.model.mechanism.sector_time(&flight.landing).as_ns();
        at.since(now).as_ns().saturating_sub(sector * flight.command.count.get())
    }

    /// How a waiting read can be served without an access of its own: the buffer has got it since it arrived,
    /// or the head reaches it by reading on, or by reading on again after it stopped just now.
    #[inline]
    pub fn in_passing(&self, buffer: &mut Buffer, command: &Command, now: Instant) -> Option<Passing> {
        let (first, end) = (command.first, command.end());
        if command.access == Access::Write || command.force_unit_access || self.is_unreadable(command) {
            return None;
        }
        let motion = self.motion();
        let cache = buffer.cache_mut()?;
        let front = cache.segments.front(now).filter(|front| front.start <= first && first <= front.limit)?;
        if front.has_stopped {
            cache.segments.resume(front.place);
        }
        match cache.cover(first, end, now, motion) {
            (Cover::Hit, segment) => {
                // A head that was not to read on after its read does not start to.
                if front.has_stopped && !self.last.may_read_on {
                    cache.segments.stop(now, motion);
                }
                Some(Passing::Held(segment))
            }
            (Cover::Coming(at), segment) if front.is_at(first) || cache.segments.still_reads(now, motion) => {
                Some(Passing::Coming(segment, at))
            }
            _ => {
                if front.has_stopped {
                    cache.segments.stop(now, motion);
                }
                None
            }
        }
    }

    /// Whether the head that is reading on may serve a read that arrives now: not while it reads on only
    /// until the drive has chosen, unless for a stream.
    #[inline]
    pub fn may_meet(&self) -> bool {
        let when_queued = || {
            self.model.cache.as_ref().is_some_and(|cache| {
                let ReadAheadParams { when_queued, least, .. } = cache.read_ahead;
                when_queued || least > Sectors::ZERO
            })
        };
        self.sweep.is_none() && (self.slots.is_empty() || self.stream().is_some() || when_queued())
    }

    /// The head reads on behind this read, where the drive does that at all and nothing else needs the arm.
    /// Returns until when the arm stays even if it is needed.
    #[inline]
    pub fn read_on(
        &mut self,
        context: &mut Context,
        buffer: &mut Buffer,
        read: &ReadEnd,
        ended: &Ended,
        wanted: bool,
    ) -> Instant {
        let &ReadEnd { first, sought, end, held, holder, is_sequential, may_stay } = read;
        let when_sequential = self.model.cache.as_ref().is_some_and(|cache| cache.read_ahead.when_sequential);
        self.last.may_read_on = is_sequential || !when_sequential;
        let waits = !self.slots.is_empty() && !self.is_followed(end);
        let Some(cache) = buffer.cache_mut() else { return ended.at };
        if !cache.segments.continues_to(end) {
            let segments = cache.segments.start(first, sought, end, ended, self.motion());
            buffer.report_segment(context, (first, held, sought), segments, holder);
        }
        let stays = may_stay && self.stay_with_stream(buffer, ended.at);
        let Some(cache) = buffer.cache_mut() else { return ended.at };
        let ReadAheadParams { when_queued, least, .. } = cache.params.read_ahead;
        let queued = waits && !when_queued && !stays;
        if wanted || !self.last.may_read_on || queued && least == Sectors::ZERO {
            self.stop_reading_on(buffer, ended.at);
            return ended.at;
        }
        if least == Sectors::ZERO { ended.at } else { cache.segments.read_by(end + least, self.motion()) }
    }

    /// Whether a read is waiting that begins here or within the head's permitted reading ahead, and the drive
    /// has yet to choose: until then it reads on towards that. It does so for no other command: the mixed
    /// columns of LKML (docs/studies/accuracy.md) show reads no faster than the writes between them, so a drive that
    /// is about to write does not read on meanwhile.
    fn is_followed(&self, end: Lba) -> bool {
        let has_chosen = matches!(self.model.queue.chooses, ChoiceTime::AtMediaEnd | ChoiceTime::OneAhead);
        let Some(cache) = self.model.cache.as_ref().filter(|_| !has_chosen) else {
            return false;
        };
        if end.get() >= self.model.capacity().get() {
            return false;
        }
        let landing = self.landing(end, Sectors::new(1), Access::Read);
        let sector = self.model.mechanism.sector_time(&landing).as_ns();
        let soon = |slot: SlotIndex| {
            let gap = (self.slots.first(slot) - end).get();
            gap.saturating_mul(sector) <= cache.read_ahead.covers_within.as_ns()
        };
        self.waiting_from(end, landing.cylinder).is_some_and(soon)
    }

    /// What the buffer has got on the track beside a read's sectors from `first` on: the sector from which it
    /// is contiguous with them, and the range that the head passed behind them.
    fn passed_by(&self, flight: &InFlight, first: Lba) -> (Lba, (Lba, Lba)) {
        let none = (first, (Lba::ZERO, Lba::ZERO));
        let Some(cache) = &self.model.cache else { return none };
        let chosen = flight.service.served == Served::Chosen && flight.landing.is_whole();
        if !(cache.keeps_passing && chosen) || self.model.medium.shingled().is_some() {
            return none;
        }
        let (geometry, sought) = (&self.model.mechanism.geometry, flight.media.sought);
        let at = geometry.locate(sought);
        let per_track = geometry.sectors_per_track(at.zone);
        // In slots: not every slot holds a block.
        let passed = (flight.media.passed * u64::from(per_track) / self.spindle.period()) as u32;
        let before = passed.min(at.sector);
        let begin = first_from_slot(geometry, sought, at.sector - before).min(first);
        let behind = (passed - before).min(per_track);
        if behind == 0 || !self.model.mechanism.settle.read_on_arrival {
            return (begin, none.1);
        }
        let track_end = geometry.track_range(sought).1;
        let from = first_from_slot(geometry, sought, per_track - behind).max(flight.command.end());
        (begin, if from < track_end { (from, track_end) } else { none.1 })
    }

    /// The sector from which the buffer has a read's track, where it has the read's own sectors from `held` on,
    /// and the state in which the read's media transfer has left the head.
    #[inline]
    pub fn left_by(&self, flight: &InFlight, held: Lba, now: Instant) -> (Lba, Ended) {
        let (begin, ahead) = self.passed_by(flight, held);
        (begin, Ended { at: now, arm: self.arm, track_left: flight.media.track_left, ahead })
    }

    /// A read was answered from a segment while the arm is idle: it reads on behind what is there, starting
    /// at this instant.
    pub fn go_on_behind(
        &self,
        context: &mut Context,
        buffer: &mut Buffer,
        segment: SegmentIndex,
        end: Lba,
        from: Instant,
    ) {
        let Some(cache) = buffer.cache_mut() else { return };
        if cache.segments.may_continue_read_ahead(segment)
            && let Some((first, end)) = cache.segments.go_on(segment, end, from, self.arm, self.motion())
        {
            buffer.loads(context, segment, first, end);
        }
    }

    /// The arm is needed elsewhere. Returns how long the sector under the head still keeps it.
    #[inline]
    pub fn stop_reading_on(&mut self, buffer: &mut Buffer, now: Instant) -> Span {
        self.last.streams.stays = Instant::ZERO;
        let Some(cache) = buffer.cache_mut() else { return Span::ZERO };
        let Some((arm, residue)) = cache.segments.stop(now, self.motion()) else { return Span::ZERO };
        self.arm = arm;
        residue
    }

    /// The arm is needed elsewhere during a read-ahead. Returns when it can start.
    #[inline]
    pub fn leave_segment(&mut self, buffer: &mut Buffer, now: Instant) -> Instant {
        now + self.stop_reading_on(buffer, now)
    }
}

/// The first block of this block's track that lies in this slot or behind it; the one after the track's last where there
/// is none.
fn first_from_slot(geometry: &Geometry, lba: Lba, slot: u32) -> Lba {
    let (first, end) = geometry.track_range(lba);
    let (mut low, mut high) = (first.get(), end.get());
    while low < high {
        let middle = low.midpoint(high);
        if geometry.locate(Lba::new(middle)).sector < slot {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Lba::new(low)
}
