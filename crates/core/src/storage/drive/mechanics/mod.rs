//! The drive's mechanics at work: the positions of arm and platter, the access under way, the queue of
//! waiting commands, and what the drive knows when it chooses among them.
//!
//! A command that continues without a gap where the one in service ends is carried out in the same sweep,
//! without a choice ([`sweep`]). After a read with nothing to follow the head reads on ([`reading_on`]), and a drive may
//! stay with a stream of reads while others wait ([`streams`]). The physics are in [`super::mechanism`], the order of the queue in [`super::queue`]. Start reading at
//! [`Mechanics::pass`].
pub(crate) mod reading_on;
mod streams;
pub(crate) mod sweep;
mod turns;

use super::cache::segment::Motion;
use super::faults::Faults;
use super::mechanism::{Arm, Landing, Passage};
use super::params::DriveModel;
use super::queue::orders::look;
use super::queue::{self, Entry, SlotIndex, Slots, View};
use super::spindle::Spindle;
use super::tasks::flight::{AtMedia, InFlight, Service};
use crate::command::{Access, Command};
use crate::rng::{self, Stream};
use crate::storage::fault::Cure;
use crate::trace::Served;
use alloc::format;
use alloc::sync::Arc;
use drivelab_units::{Instant, Lba, Sectors, Span};
use streams::Streams;
use sweep::Sweep;
pub use turns::Turns;

/// Maximum number of commands that may go out of turn, because they join the sweep or meet the head, while
/// others or the cache wait: then the drive chooses, so that a stream cannot starve the others. A choice of
/// the model for drives without a stream limit: no source gives such a bound.
const OUT_OF_TURN_MAX: u32 = 32;

/// The key of the draws for the scatter of the arm's movements, and the turns that were lost.
struct ScatterDraws {
    key: u64,
    turns: Turns,
}

/// Where the last accesses ended, and the streams that they are of.
pub struct LastAccess {
    /// The end of the last media access of any kind.
    media_end: Lba,
    /// The end of the last read, and whether the head may read on behind it.
    pub read_end: Lba,
    may_read_on: bool,
    streams: Streams,
}

/// Arm, platter and head at work, and their queue.
pub struct Mechanics {
    model: Arc<DriveModel>,
    /// Upper bound of the time to position for any access and to rotate to its first sector.
    longest_positioning: Span,
    spindle: Spindle,
    arm: Arm,
    /// Towards higher cylinders (LOOK).
    upward: bool,
    /// What the mechanism is carrying out.
    pub sweep: Option<Sweep>,
    /// Commands since the last choice that passed others.
    out_of_turn: u32,
    /// Since when the mechanism has been free.
    pub free_since: Instant,
    /// The drive does not choose before this.
    pub choose_from: Instant,
    /// The next scheduled choice, if one is on the agenda.
    choose_scheduled: Option<Instant>,
    /// The commands that wait for the mechanism in the order of the queue.
    pub slots: Slots,
    faults: Option<Faults>,
    scatter: ScatterDraws,
    pub last: LastAccess,
    /// Commands that the mechanism or the buffer has started to serve.
    turned_to: u64,
}

impl Mechanics {
    /// The mechanics of the drive with this index. The platter turns with that of drive `other`, whose angle
    /// is drawn from the stream `drive/<other>/rotation`; the scatter of the arm is drawn from
    /// `drive/<index>/scatter`.
    pub fn new(model: Arc<DriveModel>, index: u16, other: u16, seed: u64) -> Self {
        let phase = Stream::named(seed, &format!("drive/{other}/rotation")).below(model.period.as_ns());
        Mechanics {
            longest_positioning: model.mechanism.longest_positioning() + model.period,
            spindle: Spindle::new(model.period, Span::from_ns(phase)),
            arm: Arm::default(),
            upward: true,
            sweep: None,
            out_of_turn: 0,
            free_since: Instant::ZERO,
            choose_from: Instant::ZERO,
            choose_scheduled: None,
            slots: Slots::new(&model.queue, model.mechanism.geometry.cylinders(), model.period.as_ns()),
            scatter: ScatterDraws {
                key: Stream::named(seed, &format!("drive/{index}/scatter")).bits(),
                turns: Turns::default(),
            },
            faults: model.faults.as_ref().map(|params| Faults::new(params, index, seed)),
            last: LastAccess {
                media_end: Lba::ZERO,
                read_end: Lba::ZERO,
                may_read_on: true,
                streams: Streams::new(),
            },
            turned_to: 0,
            model,
        }
    }

    /// What the drive knows when it chooses at this instant.
    #[inline]
    pub fn view(&self, now: Instant) -> View<'_> {
        View {
            mechanism: &self.model.mechanism,
            params: &self.model.queue,
            arm: self.arm,
            upward: self.upward,
            now: now.as_ns(),
            turned: self.spindle.turned(now),
            period: self.spindle.period(),
            waiting: self.slots.len() as u64,
        }
    }

    /// The moving parts that the buffer's state follows from.
    #[inline]
    pub fn motion(&self) -> Motion<'_> {
        Motion { mechanism: &self.model.mechanism, spindle: &self.spindle }
    }

    /// Where an access begins, and how much of it is there.
    // Always inlined, so that the landing is built in place.
    #[inline(always)]
    pub fn landing(&self, first: Lba, count: Sectors, access: Access) -> Landing {
        self.model.mechanism.landing(first, count, access, &self.spindle)
    }

    /// When a command counts as having arrived that has this guideline: earlier or later than it has, by how much
    /// shorter or longer the guideline is than what the drive itself means to keep to.
    pub fn counts_from(&self, arrived: Instant, guideline: Option<Span>) -> Instant {
        let own = self.model.queue.own_guideline;
        let Some(guideline) = guideline.filter(|_| !own.is_zero()) else { return arrived };
        let own = own.as_ns().saturating_mul(self.slots.len() as u64 + 1);
        let later = arrived.as_ns().saturating_add(guideline.as_ns());
        Instant::from_ns(later.saturating_sub(own))
    }

    /// Files a command in the queue, which has this guideline; its data need `lead` before the arm may start.
    // Takes the landing just computed by its caller: to read back what was written in parts a moment ago is
    // slow.
    #[inline(always)]
    pub fn file(
        &mut self,
        slot: SlotIndex,
        flight: &InFlight,
        landing: Landing,
        lead: Span,
        guideline: Option<Span>,
    ) {
        let &InFlight { ref command, arrived, ready, media: AtMedia { sought, .. }, .. } = flight;
        let Landing { cylinder, head, start, longest_wait, .. } = landing;
        let arrived = self.counts_from(arrived, guideline);
        let (arrived, ready, lead) = (arrived.as_ns(), ready.as_ns(), lead.as_ns());
        let (sequence, write) = (0, command.access == Access::Write);
        let entry = Entry { sequence, arrived, ready, lead, cylinder, head, start, longest_wait, write };
        self.slots.insert(slot, entry, (sought, command.end()));
    }

    /// Whether nothing may pass the oldest waiting command.
    pub fn is_overdue(&self, now: Instant) -> bool {
        queue::is_overdue(&self.slots, &self.model.queue, now.as_ns())
    }

    /// The drive is to choose at this instant. Returns whether that must be put on the agenda: not if it
    /// chooses earlier anyway.
    pub fn choose_at(&mut self, now: Instant, at: Instant) -> bool {
        let sooner = self.choose_scheduled.is_none_or(|known| at < known || known < now);
        if sooner {
            self.choose_scheduled = Some(at);
        }
        sooner
    }

    /// The drive makes its scheduled choice.
    pub fn choice_made(&mut self, now: Instant) {
        if self.choose_scheduled == Some(now) {
            self.choose_scheduled = None;
        }
    }

    /// The turns that were lost so far.
    pub fn turns(&self) -> Turns {
        self.scatter.turns
    }

    /// The drive starts to serve a command: returns what its trace records of that.
    #[inline]
    pub fn begin_service(&mut self, served: Served, now: Instant) -> Service {
        let cylinder = self.arm.cylinder;
        let (from_cylinder, to_cylinder, rank) = (cylinder, cylinder, self.turned_to);
        self.turned_to += 1;
        Service { served, chosen: now, ended: now, from_cylinder, to_cylinder, rank }
    }
}

/// An access as the mechanism is to carry it out.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    pub passage: Passage,
    /// Whether the arm is there already, or at most one track switch away.
    pub is_near: bool,
    /// Whether the media fail it.
    pub fails: bool,
}

/// Media accesses.
impl Mechanics {
    /// Carries out a command that starts at `started`; `late` gives the time that its data keep the media
    /// waiting.
    #[inline(always)]
    pub fn pass(
        &mut self,
        flight: &InFlight,
        started: Instant,
        late: impl FnOnce(&Passage) -> Span,
    ) -> Course {
        let (access, landing) = (flight.command.access, &flight.landing);
        let (first, end) = (flight.media.at, flight.media.until);
        let is_near = self.arm.cylinder.abs_diff(landing.cylinder) <= 1;
        self.upward = look::upward_after(self.arm.cylinder, landing.cylinder, self.upward);
        let mut passage = self.reach(landing, (first, end), access, started, attempt_of(flight));
        let late = late(&passage);
        let (fails, again) = self.media_failure(flight);
        passage.rotation += late + again;
        passage.end += late + again;
        (self.arm, self.last.media_end) = (passage.arm, end);
        Course { passage, is_near, fails }
    }

    /// Destages data of the cache, starting at `started`; `late` gives the time that they keep the media
    /// waiting. Returns when they are on the media.
    pub fn destage(
        &mut self,
        first: Lba,
        end: Lba,
        started: Instant,
        late: impl FnOnce(Instant, &Passage) -> Span,
    ) -> Instant {
        let landing = self.landing(first, end - first, Access::Write);
        let hold = self.least_hold(&landing, first, Access::Write);
        // A command chosen ahead was chosen for another position of the arm.
        self.slots.plan(None);
        // The cache's data belong to no command any more: the draw is keyed by their place.
        let passage = self.reach(&landing, (first, end), Access::Write, started, first.get());
        let started = started + hold;
        let passage = Passage { seek: passage.seek - hold, ..passage };
        (self.arm, self.last.media_end) = (passage.arm, end);
        self.sweep = Some(Sweep::of_the_cache(end));
        passage.end + late(started, &passage)
    }

    /// Carries out an access of the drive's own to these sectors of the media, starting at `started`. Returns its end.
    #[inline(never)]
    pub fn access(&mut self, (first, end): (Lba, Lba), access: Access, started: Instant) -> Instant {
        let landing = self.landing(first, end - first, access);
        self.slots.plan(None);
        let passage = self.reach(&landing, (first, end), access, started, first.get());
        (self.arm, self.last.media_end) = (passage.arm, end);
        passage.end
    }

    /// Positions for an access and carries it out. `key` is that of the movement's scatter.
    #[inline(always)]
    fn reach(
        &mut self,
        landing: &Landing,
        (first, end): (Lba, Lba),
        access: Access,
        started: Instant,
        key: u64,
    ) -> Passage {
        let last = Lba::new(end.get() - 1);
        let hold = self.least_hold(landing, first, access);
        let mechanism = &self.model.mechanism;
        let begun = started + hold;
        let mut passage = if mechanism.scatter.is_none() {
            mechanism.pass(&self.spindle, begun, self.arm, landing, last, access)
        } else {
            self.scatter(landing, last, access, begun, key)
        };
        passage.seek += hold;
        let turns =
            self.model.mechanism.turns_to_read_first((first, end), access, landing, self.last.media_end);
        if turns > 0 {
            let more = Span::from_ns(turns * self.spindle.period());
            passage.rotation += more;
            passage.end += more;
            self.scatter.turns.partial_writes += 1;
        }
        passage
    }

    /// The same with an arm whose movements deviate from the seek curve.
    #[inline(never)]
    fn scatter(&mut self, landing: &Landing, last: Lba, access: Access, begun: Instant, key: u64) -> Passage {
        let Mechanics { model, spindle, arm, .. } = self;
        let mechanism = &model.mechanism;
        let moved = mechanism.positioning(*arm, landing.cylinder, landing.head, access);
        let distance = arm.cylinder.abs_diff(landing.cylinder);
        let took = mechanism.scattered(moved, distance, rng::keyed(self.scatter.key, key));
        let passage = mechanism.pass_after(spindle, begun, took, landing, last, access);
        if moved > 0 {
            let margin = if distance > 1 { model.queue.margin(access, moved) } else { 0 };
            let planned =
                moved + margin + spindle.until(begun + Span::from_ns(moved + margin), landing.start.into());
            let came = passage.seek.as_ns() + passage.rotation.as_ns();
            self.scatter.turns.movements += 1;
            self.scatter.turns.missed += u64::from(came > planned + spindle.period() / 2);
        }
        passage
    }

    /// How much longer a write's positioning must take than the arm needs, where a minimum is set.
    #[inline]
    fn least_hold(&self, landing: &Landing, first: Lba, access: Access) -> Span {
        let least = self.model.mechanism.settle.write_least;
        if least.is_zero() || access != Access::Write || first == self.last.media_end {
            return Span::ZERO;
        }
        let Landing { cylinder, head, .. } = *landing;
        let moved = self.model.mechanism.positioning(self.arm, cylinder, head, access);
        Span::from_ns(least.as_ns().saturating_sub(moved))
    }

    /// The passage of a command if the arm started for it now, without the minimum for a write.
    pub fn passage(&self, flight: &InFlight, started: Instant) -> Passage {
        let InFlight { command, landing, media, .. } = flight;
        let last = Lba::new(media.until.get() - 1);
        let mechanism = &self.model.mechanism;
        let mut passage = mechanism.pass(&self.spindle, started, self.arm, landing, last, command.access);
        let range = (media.at, media.until);
        let turns = mechanism.turns_to_read_first(range, command.access, landing, self.last.media_end);
        let more = Span::from_ns(turns * self.spindle.period());
        passage.rotation += more;
        passage.end += more;
        passage
    }

    /// The maximum time of a command's access, including its positioning and a revolution that a track switch
    /// may cost.
    pub fn longest(&self, flight: &InFlight) -> Span {
        // Depending on the angle at which it begins, the first track switch may cost an extra revolution.
        let turn = Span::from_ns(self.spindle.period());
        let passage = self.passage(flight, flight.ready);
        let ends = if self.model.mechanism.settle.physical_sectors > 1 { 2 } else { 0 };
        self.longest_positioning + passage.transfer + turn + Span::from_ns(ends * self.spindle.period())
    }

    /// When the first sector that can be sent to the host has been read: the one in which the head landed if
    /// data may be sent out of order, else the first of the command.
    #[inline]
    pub fn first_datum(&self, landing: &Landing, started: Instant, passage: &Passage) -> Instant {
        let sector = self.model.mechanism.sector_time(landing);
        let begun = started + passage.seek + passage.rotation;
        let lands_inside = u64::from(landing.longest_wait) < self.spindle.period();
        if !lands_inside || self.model.protocol.delivers_out_of_order() {
            return begun + sector;
        }
        let there = started + passage.seek;
        begun.max(there + Span::from_ns(self.spindle.until(there, landing.start.into()))) + sector
    }

    /// Nanoseconds of its track that pass from the landing to the first sector; the whole track when the head
    /// lands inside the piece.
    #[inline]
    pub fn passed(&self, landing: &Landing, passage: &Passage) -> u64 {
        let inside = u64::from(landing.longest_wait) < self.spindle.period()
            && passage.rotation.as_ns() == u64::from(landing.longest_wait);
        if inside { self.spindle.period() } else { passage.rotation.as_ns() }
    }

    /// Whether the media fail this attempt at a command, and how long the drive then retries before it gives
    /// up.
    #[inline]
    pub fn media_failure(&self, flight: &InFlight) -> (bool, Span) {
        let Some(faults) = &self.faults else { return (false, Span::ZERO) };
        let failing = faults.fails_attempt(&flight.command, flight.drawn_as);
        (failing, if failing { faults.retries } else { Span::ZERO })
    }

    /// Whether anything is drawn for a command: its media have or had any faults, or the arm scatters.
    #[inline]
    pub fn draws(&self) -> bool {
        self.faults.is_some() || self.model.mechanism.scatter.is_some()
    }

    /// These sectors become unreadable.
    pub fn make_unreadable(&mut self, first: Lba, end: Lba, until: Cure) {
        self.faults.get_or_insert_default().make_unreadable(first, end, until);
    }

    /// Sectors that no attempt can read.
    pub fn unreadable_sectors(&self) -> Sectors {
        self.faults.as_ref().map_or(Sectors::ZERO, Faults::unreadable_sectors)
    }

    /// Whether a command touches sectors that no attempt can read.
    #[inline]
    pub fn is_unreadable(&self, command: &Command) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.is_unreadable(command))
    }

    /// These sectors are written, or will be before anything reads them.
    pub fn heal(&mut self, first: Lba, end: Lba) {
        self.faults.iter_mut().for_each(|faults| faults.heal(first, end));
    }
}

/// The key of the draws for this attempt at a command.
#[inline]
fn attempt_of(flight: &InFlight) -> u64 {
    flight.drawn_as << 8 | u64::from(flight.command.attempt)
}
