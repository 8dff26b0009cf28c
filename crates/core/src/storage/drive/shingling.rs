//! What arm and cache do on a shingled drive: where commands find their sectors, appends to the media cache, streams that
//! go to their bands, cleaning. Times follow from the same mechanism as those of any drive.
use super::buffer::DestageUrgency;
use super::mechanics::Course;
use super::mechanics::sweep::Sweep;
use super::mechanism::Landing;
use super::queue::SlotIndex;
use super::shingled::{Shingled, Work};
use super::{Drive, DriveEvent};
use crate::command::Access;
use crate::storage::context::Context;
use drivelab_units::{Instant, Lba, Sectors};

impl Shingled {
    /// Where an access begins on the media, and where its first part ends: a read where its first sector lies, a write that
    /// is not cached where the next append goes.
    #[cold]
    fn place(&self, access: Access, first: Lba, end: Lba) -> (Lba, Lba) {
        if access == Access::Write {
            return self.append_at(end - first).unwrap_or((first, end));
        }
        let fragment = self.read_fragment(first, end);
        (fragment.at, fragment.at + fragment.count)
    }
}

/// The paths of commands.
impl Drive {
    /// Where a command's access begins, which is noted in it.
    #[inline(always)]
    pub(super) fn land(&mut self, slot: SlotIndex) -> Landing {
        let flight = &self.tasks[slot];
        let (access, first, end) = (flight.command.access, flight.media.sought, flight.command.end());
        let (at, until) = match &self.shingled {
            None => (first, end),
            Some(shingled) => shingled.place(access, first, end),
        };
        let landing = self.mechanics.landing(at, until - at, access);
        let flight = &mut self.tasks[slot];
        (flight.media.at, flight.media.until) = (at, until);
        flight.landing = landing;
        landing
    }

    /// The rest of an access whose first part has this course: what else of a read lies elsewhere; the record of a write.
    #[cold]
    pub(super) fn pass_rest(&mut self, slot: SlotIndex, course: Course) -> Course {
        let Some(shingled) = &mut self.shingled else { return course };
        let flight = &self.tasks[slot];
        let (access, end, mut at) = (flight.command.access, flight.command.end(), course.passage.end);
        if access == Access::Write {
            if shingled.append(&[(flight.command.first, end)]) {
                at = self.mechanics.access(shingled.record(), access, at);
            }
        } else {
            let mut first = flight.media.sought + (flight.media.until - flight.media.at);
            while first < end {
                let fragment = shingled.read_fragment(first, end);
                at = self.mechanics.access((fragment.at, fragment.at + fragment.count), access, at);
                first = first + fragment.count;
            }
        }
        let mut passage = course.passage;
        passage.transfer += at - passage.end;
        passage.end = at;
        Course { passage, ..course }
    }

    /// Whether the head does not read on behind these sectors: part of them, or of what it would read, is elsewhere.
    #[inline]
    pub(super) fn is_scattered(&self, first: Lba, end: Lba) -> bool {
        self.shingled.as_ref().is_some_and(|shingled| {
            let ahead = self.model.cache.as_ref().map_or(Sectors::ZERO, |cache| cache.read_ahead.limit);
            shingled.is_cached(first, end + ahead)
        })
    }
}

/// Work of the drive's own.
impl Drive {
    /// How urgently the arm is needed, where the cache needs it as `urgency` says.
    #[cold]
    pub(super) fn urgency_of_cleaning(&self, urgency: DestageUrgency, now: Instant) -> DestageUrgency {
        let asked = self.firmware.picked_up_at();
        let from = self
            .shingled
            .as_ref()
            .and_then(|shingled| shingled.cleans_from(self.mechanics.free_since, asked));
        match (urgency, from) {
            // A write waits for room in the map and not for that in the cache, or has gone past the cache.
            (_, Some(_)) if self.presses_for_the_map() => DestageUrgency::Press,
            (DestageUrgency::Press | DestageUrgency::Idle, _) | (_, None) => urgency,
            (_, Some(from)) if from <= now => DestageUrgency::Idle,
            (DestageUrgency::Later(at), Some(from)) => DestageUrgency::Later(at.min(from)),
            (DestageUrgency::None, Some(from)) => DestageUrgency::Later(from),
        }
    }

    /// Whether cleaning goes before all commands.
    pub(super) fn must_clean(&self) -> bool {
        self.shingled.as_ref().is_some_and(|shingled| shingled.is_overfull())
    }

    /// Whether commands need a place in the map.
    fn presses_for_the_map(&self) -> bool {
        let is_full = self.shingled.as_ref().is_some_and(|shingled| shingled.room() == 0);
        let waits = self.buffer.waiting.presses() && (is_full || !self.maps_one_more());
        waits || is_full && !self.buffer.is_write_back() || self.must_clean()
    }

    /// Whether the map leaves room for one more write in the cache.
    #[inline]
    pub(super) fn maps_one_more(&self) -> bool {
        self.shingled.as_ref().is_none_or(|shingled| shingled.admits(self.buffer.waiting_runs()))
    }

    /// The arm is offered to the drive's own work; the host needs it too if `wanted`. Returns whether there is any that
    /// takes it: a stream, an append, cleaning.
    #[cold]
    pub(super) fn works(&mut self, context: &mut Context, wanted: bool) -> bool {
        if wanted && !self.buffer.has_turn() && !self.must_clean() {
            return false;
        }
        let (now, idle) = (context.now, !wanted);
        let left = self.mechanics.leave_segment(&mut self.buffer, now);
        let ended = self
            .write_stream(left, now, idle)
            .or_else(|| self.append(left, now, idle))
            .or_else(|| self.clean(left, idle));
        let Some(ended) = ended else { return false };
        self.mechanics.sweep = Some(Sweep::of_the_cache(Lba::ZERO));
        context.digest.fold(now.as_ns() ^ ended.as_ns() << 32);
        self.schedule(context, ended, DriveEvent::Destaged);
        true
    }

    /// A stream that waits in the cache goes to its band: returns when it is there.
    fn write_stream(&mut self, from: Instant, now: Instant, idle: bool) -> Option<Instant> {
        let shingled = self.shingled.as_mut()?;
        let (piece, band_end) = self.buffer.stream(shingled, self.mechanics.motion())?;
        let launched = self.buffer.launch(piece, band_end, now, idle)?;
        shingled.write_stream(launched.first, launched.end, band_end);
        shingled.work = Work::Destage;
        let started = from.max(launched.from).max(launched.data.ended);
        Some(self.mechanics.access((launched.first, launched.end), Access::Write, started))
    }

    /// The oldest written data go to the media cache: returns when they are there, with their record.
    fn append(&mut self, from: Instant, now: Instant, idle: bool) -> Option<Instant> {
        let shingled = self.shingled.as_mut()?;
        if shingled.room() == 0 {
            return None;
        }
        let mut extents = core::mem::take(&mut shingled.extents);
        let launched =
            self.buffer.launch_append(shingled, self.mechanics.motion(), &mut extents, (now, idle));
        let data: u64 = extents.iter().map(|&(first, end)| (end - first).get()).sum();
        // Only one piece can be larger than an append.
        let at = shingled.append_at(Sectors::new(data)).or(extents.first().copied());
        let has_record = launched.is_some() && shingled.append(&extents);
        shingled.extents = extents;
        let written = self.mechanics.access(at?, Access::Write, from.max(launched?));
        shingled.work = Work::Destage;
        Some(if has_record {
            self.mechanics.access(shingled.record(), Access::Write, written)
        } else {
            written
        })
    }

    /// A slice of cleaning: returns its end.
    fn clean(&mut self, from: Instant, idle: bool) -> Option<Instant> {
        let (quiet, mechanics) = (self.mechanics.free_since, &mut self.mechanics);
        let shingled = self.shingled.as_mut()?;
        let ended = shingled
            .clean(from, quiet, idle, |first, end, access, at| mechanics.access((first, end), access, at))?;
        self.buffer.lend_arm();
        Some(ended)
    }

    /// The drive's own work is done. Returns whether data of the cache are now on the media.
    #[inline]
    pub(super) fn has_destaged(&mut self) -> bool {
        self.shingled.as_mut().is_none_or(|shingled| shingled.has_destaged())
    }
}
