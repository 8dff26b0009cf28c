//! A rebuild that is sampled: when the run goes on to the next place, and what the rebuild did at each.
//!
//! A drive that a rebuild keeps busy writes to its media what its cache has no room for, and what lies near its arm. So
//! the rebuild is faster than it will be until the caches are full, and again at each new place, until what lay near it
//! is written. The run therefore stays at the first place until written data no longer gather in the caches of drives,
//! hosts and controller, and then leaves uncounted at each place the time in which they filled, for each `PART` of the time
//! that counts, and at least `ARRIVING`. Where caches fill slowly, a quarter of the places are visited, four times as long
//! each.
use drivelab_core::setup::Sampling;
use drivelab_core::storage::Target;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::report::SyncKind;
use drivelab_record::sampled::{PartRecord, SampledRecord};
use drivelab_units::{Instant, Share, Span};

/// The time between two looks at the caches.
const LOOK: Span = Span::from_s(10);
/// The caches are steady once they hold at most this much more than at half of the time, in percent: one that fills as
/// 1 - exp(-t / T) then lacks 1 % of what it will hold.
const GROWTH_PERCENT: u64 = 10;
/// After that many looks sampling begins in any case.
const LOOKS_MAX: usize = 120;
/// The least time at each place that does not count: the arms come from elsewhere.
const ARRIVING: Span = Span::from_s(4);
/// Looks that tell nothing of how long the caches took to fill: they may have been full at any time before.
const FIRST_LOOKS: usize = 2;
/// What lies near the arm is written for longer than the caches take to fill. Where more is counted, more is left out in
/// proportion, so that the result comes nearer to that of a rebuild that never jumps.
const PART: Span = Span::from_s(10);
/// Where caches fill slowly, one of this many places is visited, for as many times as long.
const THINNED: u32 = 4;

/// See the module.
pub struct SampledRebuild {
    sampling: Sampling,
    /// Until then caches are not looked at: the warm-up of the run.
    from: Instant,
    next_at: Instant,
    /// The share of the rebuild that was done before the run.
    done_before: (u64, u64),
    /// Runs in the caches of drives, and sectors in the other caches, at each look.
    held: Vec<[u64; 2]>,
    stage: Stage,
    /// The time at each place that does not count.
    arriving: Span,
    /// How many parts of the time that counts each place has.
    parts: u32,
    record: SampledRecord,
}

#[derive(Clone, Copy)]
enum Stage {
    /// The rebuild has not begun, or caches are filling.
    Settling,
    /// At a place, and its arms come from elsewhere.
    Arriving(u32),
    /// At a place, in one of the parts of the time that counts, since this mark.
    Counting(u32, u32, Mark),
    Over,
}

#[derive(Clone, Copy)]
struct Mark {
    at: Instant,
    seen: Seen,
    ios: u64,
}

/// The rebuilds of an array at an instant.
#[derive(Clone, Copy)]
struct Seen {
    /// Those that have begun, and those of them that have ended.
    begun: u64,
    ended: u64,
    /// What all of them have processed of a member, in bytes.
    bytes: u64,
    /// Of the last one, in sectors: processed before the run, and in all.
    done_before: (u64, u64),
}

impl SampledRebuild {
    /// The sampling of a rebuild, in a run that counts from an instant on.
    pub fn new(sampling: Sampling, from: Instant) -> Self {
        SampledRebuild {
            sampling,
            from,
            next_at: Instant::ZERO,
            done_before: (0, 1),
            held: Vec::new(),
            stage: Stage::Settling,
            arriving: ARRIVING,
            parts: 1,
            record: SampledRecord::default(),
        }
    }

    /// When it must be called next.
    #[inline]
    pub fn next_at(&self) -> Instant {
        self.next_at
    }

    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// The share of the run that is done.
    pub fn share_done(&self) -> f64 {
        self.record.parts.len() as f64 / f64::from(self.sampling.places * self.parts)
    }

    pub fn close(self) -> SampledRecord {
        self.record
    }

    /// An instant at which it was to be called. `ios` is the number of I/Os that hosts have finished so far.
    #[cold]
    pub fn pass(&mut self, now: Instant, target: &mut Target, ios: u64) {
        let seen = target.array().map(seen).filter(|seen| seen.begun > seen.ended);
        let Some(seen) = seen.filter(|seen| !self.has_changed(seen)) else {
            // Either it has not begun, or there is nothing left to sample, or a further one has begun.
            let awaits = target.array().is_some_and(|array| array.awaits_rebuild(now));
            let has_begun = !matches!(self.stage, Stage::Settling);
            self.stage = if awaits && !has_begun { Stage::Settling } else { Stage::Over };
            self.next_at = now + LOOK;
            return;
        };
        self.done_before = seen.done_before;
        let mark = Mark { at: now, seen, ios };
        let stage = self.stage;
        match stage {
            Stage::Settling if now < self.from => {
                target.skip_rebuilds(self.share(0));
                self.next_at = self.from;
            }
            Stage::Settling if !self.look_at_caches(target) => {
                target.skip_rebuilds(self.share(0));
                self.next_at = now + LOOK;
            }
            Stage::Settling => {
                self.note_settled(now);
                target.skip_rebuilds(self.share(0));
                (self.next_at, self.stage) = (now + self.arriving, Stage::Arriving(0));
            }
            Stage::Arriving(place) => {
                self.next_at = now + self.sampling.stay;
                self.stage = Stage::Counting(place, 1, mark);
            }
            Stage::Counting(place, part, before) => {
                self.note_part(place, before, mark);
                let next = place + 1;
                if part < self.parts {
                    self.next_at = now + self.sampling.stay;
                    self.stage = Stage::Counting(place, part + 1, mark);
                } else if next < self.sampling.places {
                    target.skip_rebuilds(self.share(next));
                    (self.next_at, self.stage) = (now + self.arriving, Stage::Arriving(next));
                } else {
                    self.stage = Stage::Over;
                }
            }
            Stage::Over => {}
        }
    }

    /// The caches are full: how long each place takes, and how many there are, depends on how long that took.
    fn note_settled(&mut self, now: Instant) {
        self.record.settled_ns = now.as_ns();
        let filling = self.held.len().saturating_sub(1 + FIRST_LOOKS) as u64;
        let parts = (self.sampling.stay.as_ns() / PART.as_ns()).max(1);
        self.arriving = Span::from_ns(parts * filling * LOOK.as_ns()).max(ARRIVING);
        if self.arriving > ARRIVING && self.sampling.places.is_multiple_of(THINNED) {
            self.parts = THINNED;
            self.sampling.places /= THINNED;
        }
    }

    fn note_part(&mut self, place: u32, from: Mark, to: Mark) {
        self.record.parts.push(PartRecord {
            rebuilt: self.share(place).bits() as f64 / Share::ALL.bits() as f64,
            counted_ns: to.at.since(from.at).as_ns(),
            // Rebuilds of several groups run side by side.
            member_bytes: (to.seen.bytes - from.seen.bytes) / (to.seen.begun - to.seen.ended),
            ios: to.ios - from.ios,
        });
    }

    /// Whether a rebuild has begun or ended inside the part that is counted.
    fn has_changed(&self, seen: &Seen) -> bool {
        let Stage::Counting(_, _, Mark { seen: before, .. }) = self.stage else { return false };
        (seen.begun, seen.ended) != (before.begun, before.ended)
    }

    /// The middle of an equal share of the work that is left.
    fn share(&self, place: u32) -> Share {
        let (place, places) = (u64::from(place), u64::from(self.sampling.places));
        let (before, of) = self.done_before;
        let left = of.saturating_sub(before);
        Share::from_ratio(2 * places * before + left * (2 * place + 1), 2 * places * of).unwrap_or(Share::ALL)
    }

    /// Looks at the caches once more. Returns whether written data no longer gather in them, or sampling begins in any
    /// case; the first look, at the beginning, sees nothing.
    fn look_at_caches(&mut self, target: &Target) -> bool {
        let (runs, sectors) = target.held_in_caches();
        let looks = self.held.len();
        self.held.push([runs, sectors.get()]);
        let grows = |held: u64, before: u64| held * 100 > before * (100 + GROWTH_PERCENT);
        let before = self.held[looks / 2];
        self.record.is_steady = looks > 0 && !(0..2).any(|what| grows(self.held[looks][what], before[what]));
        self.record.is_steady || looks >= LOOKS_MAX
    }
}

/// The rebuilds of an array now.
fn seen(array: &Array) -> Seen {
    let rebuilds = array.progress().filter(|job| job.kind == SyncKind::Rebuild);
    rebuilds.fold(Seen { begun: 0, ended: 0, bytes: 0, done_before: (0, 1) }, |seen, job| Seen {
        begun: seen.begun + 1,
        ended: seen.ended + u64::from(job.ended.is_some()),
        bytes: seen.bytes + job.swept.bytes().get(),
        done_before: (job.before.get(), job.of.get().max(1)),
    })
}
