//! The mechanism: arm, heads and platters together. How long an access takes from where the arm is now.
use super::geometry::{Geometry, Slot};
use super::seek::SeekCurve;
use super::spindle::Spindle;
use crate::command::Access;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// Where the arm stands and which head reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arm {
    pub cylinder: u32,
    pub head: u32,
}

/// What the mechanism costs beside the seek curve.
#[derive(Clone, Copy, Debug, Default)]
pub struct SettleParams {
    /// From one head to another. It runs beside a seek: the longer of the two counts.
    pub head_switch: Span,
    /// Added to every movement before a write; may be negative.
    pub write_settle_ns: i64,
    /// Whether an access may begin in the middle of its part of a track (zero-latency), by kind.
    pub read_on_arrival: bool,
    pub write_on_arrival: bool,
}

/// An access as the mechanism carries it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    pub seek: Span,
    pub rotation: Span,
    /// From the first sector to the last, with all track switches between.
    pub transfer: Span,
    pub end: Instant,
    /// Where it leaves the arm.
    pub arm: Arm,
}

/// The first part of an access, all on one track: what choosing between accesses needs to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Landing {
    pub cylinder: u32,
    pub head: u32,
    /// Time into the revolution at which the first slot begins.
    pub start: u32,
    /// The longest wait that rotation can cost: one period, or less for an access that may begin on arrival.
    pub longest_wait: u32,
}

#[derive(Clone, Debug)]
pub struct Mechanism {
    pub geometry: Geometry,
    pub seek: SeekCurve,
    pub settle: SettleParams,
}

/// Part of an access that lies on one track.
struct Piece {
    slot: Slot,
    /// Slots up to the last block of the piece, slipped ones included.
    slots: u32,
}

impl Mechanism {
    /// The time to bring `head` over `cylinder` and settle there.
    #[inline]
    pub fn positioning(&self, arm: Arm, cylinder: u32, head: u32, access: Access) -> u64 {
        let mut time = u64::from(self.seek.time(arm.cylinder.abs_diff(cylinder)));
        if arm.head != head {
            time = time.max(self.settle.head_switch.as_ns());
        }
        if time != 0 && access == Access::Write {
            time = time.saturating_add_signed(self.settle.write_settle_ns);
        }
        time
    }

    fn on_arrival(&self, access: Access) -> bool {
        match access {
            Access::Read => self.settle.read_on_arrival,
            Access::Write => self.settle.write_on_arrival,
        }
    }

    /// Where an access begins.
    pub fn landing(&self, first: Lba, count: Sectors, access: Access, spindle: &Spindle) -> Landing {
        let slot = self.geometry.locate(first);
        let track = self.geometry.track(slot.zone, slot.track);
        let offset = self.geometry.boundary(slot.zone, slot.sector).as_ns();
        let start = wrap(track.start.as_ns() + offset, spindle.period());
        let mut longest_wait = spindle.period();
        if self.on_arrival(access) {
            let left = u64::from(self.geometry.sectors_per_track(slot.zone) - slot.sector);
            let end = slot.sector + count.get().min(left) as u32;
            longest_wait -= self.geometry.boundary(slot.zone, end).as_ns() - offset;
        }
        Landing { cylinder: track.cylinder, head: track.head, start: start as u32, longest_wait: longest_wait as u32 }
    }

    /// Carries out an access that begins at `now`.
    ///
    /// # Panics
    /// When the access is empty or leaves the drive.
    #[inline]
    pub fn pass(&self, spindle: &Spindle, now: Instant, arm: Arm, first: Lba, count: Sectors, access: Access) -> Passage {
        assert!(count.get() > 0, "an access moves at least one sector");
        let slot = self.geometry.locate(first);
        let per_track = self.geometry.sectors_per_track(slot.zone);
        let (seek, rotation, duration, arm_there);
        if u64::from(slot.sector) + count.get() <= u64::from(per_track) && !self.geometry.has_slips(slot.zone) {
            // The common case: one piece on one track.
            let piece = Piece { slot, slots: count.get() as u32 };
            (seek, rotation, duration, arm_there) = self.piece(spindle, now, arm, &piece, access);
            let end = now + Span::from_ns(seek + rotation + duration);
            let [seek, rotation, transfer] = [seek, rotation, duration].map(Span::from_ns);
            return Passage { seek, rotation, transfer, end, arm: arm_there };
        }
        self.pass_tracks(spindle, now, arm, first, count, access)
    }

    /// The general case: several tracks, or slipped slots on the way.
    fn pass_tracks(
        &self,
        spindle: &Spindle,
        now: Instant,
        mut arm: Arm,
        first: Lba,
        count: Sectors,
        access: Access,
    ) -> Passage {
        let last = self.geometry.locate(Lba::new((first + count).get() - 1));
        let mut slot = self.geometry.locate(first);
        let (mut at, mut passage) = (now, None);
        loop {
            let here = (slot.zone, slot.track);
            let end = if here == (last.zone, last.track) {
                last.sector + 1
            } else {
                self.geometry.sectors_per_track(slot.zone)
            };
            let piece = Piece { slot, slots: end - slot.sector };
            let (seek, rotation, duration, there) = self.piece(spindle, at, arm, &piece, access);
            at += Span::from_ns(seek + rotation + duration);
            arm = there;
            let (seek, rotation, begun) = *passage.get_or_insert((seek, rotation, now + Span::from_ns(seek + rotation)));
            if here == (last.zone, last.track) {
                let [seek, rotation] = [seek, rotation].map(Span::from_ns);
                return Passage { seek, rotation, transfer: at - begun, end: at, arm };
            }
            let Some((zone, track)) = self.geometry.next_track(slot.zone, slot.track) else {
                unreachable!("the last block lies on a track of the drive")
            };
            slot = Slot { zone, track, sector: 0 };
        }
    }

    /// Seek, rotation and media time in nanoseconds of one piece, and where the arm is then.
    #[inline]
    fn piece(&self, spindle: &Spindle, at: Instant, arm: Arm, piece: &Piece, access: Access) -> (u64, u64, u64, Arm) {
        let Slot { zone, track, sector } = piece.slot;
        let track = self.geometry.track(zone, track);
        let seek = self.positioning(arm, track.cylinder, track.head, access);
        let offset = self.geometry.boundary(zone, sector).as_ns();
        let duration = self.geometry.boundary(zone, sector + piece.slots).as_ns() - offset;
        let target = wrap(track.start.as_ns() + offset, spindle.period());
        let mut rotation = spindle.until(at + Span::from_ns(seek), target);
        if rotation + duration > spindle.period() && self.on_arrival(access) {
            // The head lands inside the piece: it takes what passes, and the rest when it comes round.
            rotation = spindle.period() - duration;
        }
        (seek, rotation, duration, Arm { cylinder: track.cylinder, head: track.head })
    }
}

/// `time` modulo the period, for a time below two periods.
#[inline]
fn wrap(time: u64, period: u64) -> u64 {
    if time >= period { time - period } else { time }
}
