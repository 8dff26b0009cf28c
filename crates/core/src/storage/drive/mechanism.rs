//! The mechanism: arm, heads and platters together. How long an access takes from the arm's present position.
use super::geometry::{Geometry, SectorSlot};
use super::scatter::Scatter;
use super::seek::SeekCurve;
use super::spindle::Spindle;
use crate::command::Access;
use core::hint::select_unpredictable;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// The position of the arm and the head in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arm {
    /// Cylinder, 0 at the outer edge.
    pub cylinder: u32,
    /// The head in use, from 0.
    pub head: u32,
}

/// The mechanism's times other than the seek curve, and how an access meets its sectors.
#[derive(Clone, Copy, Debug, Default)]
pub struct SettleParams {
    /// From one head to another. It overlaps with a seek: the longer of the two counts.
    pub head_switch: Span,
    /// Added to every movement before a write; may be negative.
    pub write_settle_ns: i64,
    /// Minimum positioning time of a write that does not continue where the arm has just been.
    pub write_least: Span,
    /// Whether an access may begin in the middle of its part of a track (zero-latency), by kind.
    pub read_on_arrival: bool,
    /// Whether a write may begin in the middle of its part of a track.
    pub write_on_arrival: bool,
    /// Sectors that the media hold as one, such as 8 of a drive with 512 bytes emulated on 4 KiB (512e); 0 or 1 where
    /// each is one by itself.
    pub physical_sectors: u32,
}

/// An access as the mechanism carries it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// Movement of the arm to the first sector, settling included.
    pub seek: Span,
    /// From there until the first sector reaches the head.
    pub rotation: Span,
    /// From the first sector to the last, including all track switches.
    pub transfer: Span,
    /// When the last sector has passed the head.
    pub end: Instant,
    /// The arm's position afterwards.
    pub arm: Arm,
    /// From `end` until the last track has passed the head.
    pub track_left: Span,
}

/// The first part of an access, all on one track: what the choice between accesses needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Landing {
    /// Cylinder of the first sector.
    pub cylinder: u32,
    /// Head of the first sector.
    pub head: u32,
    /// Time into the revolution at which the first slot begins.
    pub start: u32,
    /// The longest possible rotational latency: one period, or less for an access that may begin on arrival.
    pub longest_wait: u32,
    /// The time that the part takes to pass the head.
    pub duration: u32,
    /// From its end until the track has passed.
    pub track_left: u32,
    zone: u32,
    track: u32,
    /// Whether the access ends on this track.
    whole: bool,
}

impl Landing {
    /// Whether the access lies on one track.
    pub fn is_whole(&self) -> bool {
        self.whole
    }
}

/// The moving parts of a drive: where blocks lie, and how long the arm takes to reach them.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Where blocks lie.
    pub geometry: Geometry,
    /// The seek time by distance.
    pub seek: SeekCurve,
    /// Settling times, and whether an access may begin in the middle of its part of a track.
    pub settle: SettleParams,
    /// How far movements deviate from the curve.
    pub scatter: Option<Scatter>,
}

impl Mechanism {
    /// The time to bring `head` over `cylinder` and settle there.
    // Always inlined into the search: it is most of what a search does.
    #[inline(always)]
    pub fn positioning(&self, arm: Arm, cylinder: u32, head: u32, access: Access) -> u64 {
        let mut time = u64::from(self.seek.time(arm.cylinder.abs_diff(cylinder)));
        if arm.head != head {
            time = time.max(self.settle.head_switch.as_ns());
        }
        // Whether it is a write is unpredictable: no branch.
        let settles = time != 0 && access == Access::Write;
        let settle = select_unpredictable(settles, self.settle.write_settle_ns, 0);
        (time as i64 + settle).max(0) as u64
    }

    /// Upper bound of the time of any movement.
    pub fn longest_positioning(&self) -> Span {
        let settle = self.settle.write_settle_ns.max(0) as u64;
        let most = Span::from_ns(u64::from(self.seek.most()).max(self.settle.head_switch.as_ns()) + settle);
        most.max(self.settle.write_least) + self.scatter.as_ref().map_or(Span::ZERO, Scatter::most)
    }

    /// The time of a movement that takes `moved` by the curve, drawn with 64 random bits: at least half of
    /// that.
    #[inline]
    pub fn scattered(&self, moved: u64, distance: u32, bits: u64) -> u64 {
        let Some(scatter) = self.scatter.as_ref().filter(|_| moved > 0) else { return moved };
        (moved as i64 + scatter.excess(distance, bits)).max((moved / 2) as i64) as u64
    }

    /// How many turns a write to these sectors takes more because it covers a physical sector in part: that is read as
    /// it passes, and written a turn later. One turn serves both ends of a write on one track. The physical sector in which
    /// the access before ended, at `ended`, is still in the drive's memory.
    #[inline]
    pub fn turns_to_read_first(
        &self,
        (first, end): (Lba, Lba),
        access: Access,
        landing: &Landing,
        ended: Lba,
    ) -> u64 {
        let physical = u64::from(self.settle.physical_sectors);
        if physical <= 1 || access != Access::Write {
            return 0;
        }
        let known = ended.get().checked_sub(1).map(|last| last / physical);
        let is_read = |border: Lba, sector: u64| {
            !border.get().is_multiple_of(physical) && known != Some(sector / physical)
        };
        let ends = [is_read(first, first.get()), is_read(end, end.get() - 1)].map(u64::from);
        let is_one = first.get() / physical == (end.get() - 1) / physical;
        if landing.is_whole() || is_one { ends[0].max(ends[1]) } else { ends[0] + ends[1] }
    }

    fn on_arrival(&self, access: Access) -> bool {
        match access {
            Access::Read => self.settle.read_on_arrival,
            Access::Write | Access::Flush => self.settle.write_on_arrival,
        }
    }

    /// Where an access begins, and how much of it is there.
    ///
    /// # Panics
    /// When the access is empty or leaves the drive.
    // Always inlined, so that the landing is built in place.
    #[inline(always)]
    pub fn landing(&self, first: Lba, count: Sectors, access: Access, spindle: &Spindle) -> Landing {
        assert!(count.get() > 0, "an access moves at least one sector");
        let slot = self.geometry.find(first);
        let per_track = self.geometry.sectors_per_track(slot.zone);
        let (mut end, mut whole) = (u64::from(slot.sector) + count.get(), true);
        if end > per_track.into() || self.geometry.has_gaps(slot.zone) {
            let last = self.geometry.locate(Lba::new((first + count).get() - 1));
            whole = (last.zone, last.track) == (slot.zone, slot.track);
            let there = || self.geometry.track_end(slot.zone, slot.track);
            end = if whole { last.sector + 1 } else { there() }.into();
        }
        self.piece(slot, end as u32, whole, access, spindle)
    }

    /// The time that one sector of this landing takes to pass the head.
    #[inline]
    pub fn sector_time(&self, landing: &Landing) -> Span {
        self.geometry.boundary(landing.zone, 1)
    }

    /// The time that a stream takes for this many sectors where this landing lies, with its share of the track switches.
    pub fn stream_time(&self, landing: &Landing, count: Sectors) -> Span {
        let (geometry, zone) = (&self.geometry, landing.zone);
        let per_track = geometry.sectors_per_track(zone);
        let period = geometry.boundary(zone, per_track).as_ns();
        let start = |track| geometry.look_up(zone, track).start.as_ns();
        let before = landing.track.saturating_sub(1);
        let skew = (start(before + 1) + period - start(before)) % period;
        Span::from_ns(count.get() * (period + skew) / u64::from(per_track))
    }

    /// The part of a track from a slot up to slot `end`.
    #[inline(always)]
    fn piece(&self, slot: SectorSlot, end: u32, whole: bool, access: Access, spindle: &Spindle) -> Landing {
        let SectorSlot { zone, track, sector } = slot;
        let (place, period) = (self.geometry.look_up(zone, track), spindle.period());
        let begin = self.geometry.boundary(zone, sector).as_ns();
        let end = self.geometry.boundary(zone, end).as_ns();
        let longest_wait = if self.on_arrival(access) { period - (end - begin) } else { period };
        Landing {
            cylinder: place.cylinder,
            head: place.head,
            start: wrap(place.start.as_ns() + begin, period) as u32,
            longest_wait: longest_wait as u32,
            duration: (end - begin) as u32,
            track_left: (period - end) as u32,
            zone,
            track,
            whole,
        }
    }

    /// Carries out an access that begins at `now` on its landing.
    #[inline(always)]
    pub fn pass(
        &self,
        spindle: &Spindle,
        now: Instant,
        arm: Arm,
        landing: &Landing,
        last: Lba,
        access: Access,
    ) -> Passage {
        let seek = self.positioning(arm, landing.cylinder, landing.head, access);
        self.pass_after(spindle, now, seek, landing, last, access)
    }

    /// The same with an arm that arrives after this many nanoseconds.
    // Always inlined: its result is read at once.
    #[inline(always)]
    pub fn pass_after(
        &self,
        spindle: &Spindle,
        now: Instant,
        seek: u64,
        landing: &Landing,
        last: Lba,
        access: Access,
    ) -> Passage {
        let rotation = wait(spindle, now, seek, landing);
        let begun = now + Span::from_ns(seek + rotation);
        let mut at = begun + Span::from_ns(landing.duration.into());
        let mut piece = *landing;
        if !landing.whole {
            (at, piece) = self.pass_on(spindle, at, piece, last, access);
        }
        Passage {
            seek: Span::from_ns(seek),
            rotation: Span::from_ns(rotation),
            transfer: at - begun,
            end: at,
            arm: Arm { cylinder: piece.cylinder, head: piece.head },
            track_left: Span::from_ns(piece.track_left.into()),
        }
    }

    /// The rest of an access after its first track; returns its end, and its last piece.
    fn pass_on(
        &self,
        spindle: &Spindle,
        mut at: Instant,
        mut piece: Landing,
        last: Lba,
        access: Access,
    ) -> (Instant, Landing) {
        let last = self.geometry.locate(last);
        while !piece.whole {
            let Some(slot) = self.geometry.next_slot(piece.zone, piece.track) else {
                unreachable!("the last block lies on a track of the drive")
            };
            let whole = (slot.zone, slot.track) == (last.zone, last.track);
            let end = if whole { last.sector + 1 } else { self.geometry.track_end(slot.zone, slot.track) };
            let arm = Arm { cylinder: piece.cylinder, head: piece.head };
            piece = self.piece(slot, end, whole, access, spindle);
            let (switch, rotation) = self.reach(spindle, at, arm, &piece, access);
            at += Span::from_ns(switch + rotation + u64::from(piece.duration));
        }
        (at, piece)
    }

    /// Nanoseconds of movement and of rotation until a piece begins. Where an access may begin on arrival, a
    /// head that lands inside the piece reads or writes from there on, and the rest when it comes round.
    #[inline]
    fn reach(&self, spindle: &Spindle, at: Instant, arm: Arm, piece: &Landing, access: Access) -> (u64, u64) {
        let seek = self.positioning(arm, piece.cylinder, piece.head, access);
        (seek, wait(spindle, at, seek, piece))
    }
}

/// Nanoseconds of rotation until a piece begins, for a head that arrives after `seek` nanoseconds.
#[inline]
fn wait(spindle: &Spindle, at: Instant, seek: u64, piece: &Landing) -> u64 {
    spindle.until(at + Span::from_ns(seek), piece.start.into()).min(piece.longest_wait.into())
}

/// `time` modulo the period, for a time below two periods.
#[inline]
fn wrap(time: u64, period: u64) -> u64 {
    if time >= period { time - period } else { time }
}
