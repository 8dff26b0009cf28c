//! Sees everything that a target does with data, and holds it to what it says to its hosts.
use super::buffers::Buffers;
use super::consistent::{self, Fit};
use super::error::{Untruth, Wrong};
use super::media::{Media, Sector};
use super::oracle::Oracle;
use super::segments::{NotHeld, Segments};
use drivelab_core::data::{DataOp, Source};
use drivelab_core::storage::array::Array;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::WriteBehindParams;
use drivelab_core::{Access, Command, Completion, Outcome};
use drivelab_units::Instant;
use std::sync::Arc;

/// What a sector takes that a segment keeps, in bytes.
const KEPT: u64 = 32;

/// Holds a target to its word. Give it each command as it is submitted, each data operation in order, and then each
/// completion.
pub struct Witness {
    seed: u64,
    pub(super) buffers: Buffers,
    /// Whether there is a memory that may write again what was answered long ago.
    has_memory: bool,
    pub(super) media: Media,
    segments: Segments,
    pub(super) oracle: Oracle,
    /// Commands that are over. What they were merged with is over at the same instant, and looks at theirs.
    over: Vec<(Instant, u64)>,
    /// What a drive has accepted or persisted last.
    last: (DataOp, Vec<u64>),
    /// Whether reads of sound drives may fail.
    pub(super) may_fail: bool,
    /// Whether the target refuses writes, because something below could not do one.
    pub(super) refuses_writes: bool,
}

/// Whether any of these answers writes that are not on its media.
fn has_volatile_drive(drives: &[Arc<DriveModel>]) -> bool {
    drives.iter().any(|drive| drive.cache.as_ref().is_some_and(|cache| cache.write_back.is_some()))
}

impl Witness {
    pub fn new(params: &SystemParams, seed: u64) -> Self {
        // More than a segment has with what the head has yet to read for it.
        let buffers = params
            .drives
            .iter()
            .map(|drive| drive.cache.map_or(0, |cache| 4 * cache.size.get() + cache.read_ahead.limit.get()));
        let memories = [params.host_cache, params.controller.cache];
        let volatile = |memory: &WriteBehindParams| !memory.battery;
        let mut oracle =
            Oracle::new(has_volatile_drive(&params.drives) || memories.iter().flatten().any(volatile));
        if params.host_cache.is_some() {
            oracle = oracle.with_host_caches();
        }
        Witness {
            seed,
            buffers: Buffers::default(),
            has_memory: memories.iter().any(Option::is_some),
            media: Media::new(params.drives.len()),
            segments: Segments::new(buffers),
            oracle,
            over: Vec::new(),
            last: (DataOp::Replace { member: 0 }, Vec::new()),
            may_fail: params.drives.iter().any(|drive| drive.faults.is_some()),
            refuses_writes: false,
        }
    }

    /// Of a target whose power is never cut: less is kept of what was.
    pub fn without_cuts(self) -> Self {
        Witness { oracle: self.oracle.without_cuts(), buffers: self.buffers.without_words(), ..self }
    }

    /// About how much memory all that takes.
    pub fn bytes(&self) -> u64 {
        const SECTOR: u64 = size_of::<Sector>() as u64;
        (self.media.size() + self.buffers.size()) * SECTOR + self.segments.kept() * KEPT + self.oracle.bytes()
    }

    /// The power is gone: commands that come now may have the ids of old ones. Returns what all had carried.
    pub(super) fn forget_commands(&mut self) -> Buffers {
        self.over.clear();
        self.segments.clear();
        std::mem::take(&mut self.buffers)
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn untruth(&self, at: Instant, wrong: Wrong) -> Untruth {
        Untruth { seed: self.seed, at, wrong }
    }

    /// A host issues a command.
    pub fn submitted(&mut self, command: &Command) {
        if command.access == Access::Write {
            self.buffers.write(command.id, command.first, command.count);
        }
        self.oracle.submitted(command);
    }

    /// The target has done something with data.
    pub fn observe(&mut self, at: Instant, op: DataOp) -> Result<(), Untruth> {
        while let Some((_, id)) = self.over.pop_if(|(over, _)| *over < at) {
            self.buffers.over(id);
        }
        match op {
            DataOp::Mix { .. } => self.buffers.mix(&op),
            DataOp::Forget { id, first, count } => self.buffers.forget(id, first, count),
            DataOp::Accept { write, member, first, count } => {
                let stamps = self.look(at, write, first.get(), count.get())?;
                self.segments.accept(member, first.get(), count.get(), &self.media);
                self.media.accept(member, first.get(), &stamps);
                self.buffers.accepted(write, count.get());
                self.last = (op, stamps);
            }
            DataOp::Persist { write, member, first, count } => {
                // Without a write cache the media have at once what the drive has accepted.
                if self.last.0 != (DataOp::Accept { write, member, first, count }) {
                    self.last.1 = self.look(at, write, first.get(), count.get())?;
                }
                self.segments.persist(member, first.get(), count.get(), &self.media);
                self.media.persist(member, first.get(), &self.last.1);
                self.last.0 = op;
                self.buffers.dropped(write, count.get());
            }
            DataOp::Deliver { read, member, first, count, from } => {
                let (first, count) = (first.get(), count.get());
                let stamps = match from {
                    Source::Media => self.media.read(member, first, count),
                    Source::Written { write } => self.look(at, write, first, count)?,
                    Source::Segment(place) => self
                        .segments
                        .read(member, place, first, count, &self.media)
                        .map_err(|NotHeld(sector)| {
                            self.untruth(at, Wrong::NotHeld { command: read, drive: member, sector })
                        })?,
                };
                self.buffers.bring(read, first, stamps);
            }
            DataOp::Begin { member, segment, joins } => self.segments.begin(member, segment, joins),
            DataOp::Load { member, segment, first, count } => {
                self.segments.load(member, segment, first.get(), count.get());
            }
            DataOp::Copy { member, segment, from, first, count } => {
                self.segments.copy(member, segment, from, first.get(), count.get());
            }
            DataOp::Keep { kept, read, first, count } => {
                let stamps = self.look(at, read, first.get(), count.get())?;
                self.buffers.bring(kept, first.get(), stamps);
            }
            DataOp::GiveUp { write, first, count } => {
                let stamps = self.look(at, write, first.get(), count.get())?;
                self.oracle.give_up(first.get(), &stamps);
            }
            DataOp::Replace { member } => {
                self.media.replace(member);
                self.segments.replace(member);
            }
            DataOp::Tell { into, at, word } => self.buffers.tell(into, at, word),
            DataOp::Drop { write, count, .. } => self.buffers.dropped(write, count.get()),
            DataOp::Over { id } => self.over.push((at, id)),
        }
        Ok(())
    }

    fn look(&self, at: Instant, id: u64, first: u64, count: u64) -> Result<Vec<u64>, Untruth> {
        let stamps = self.buffers.look(id, first, count);
        stamps.ok_or_else(|| self.untruth(at, Wrong::Endless { command: id }))
    }

    /// The target has answered a command. Returns what a read has fetched.
    pub fn completed(&mut self, command: &Command, completion: &Completion) -> Result<Vec<u64>, Untruth> {
        let (id, at, outcome) = (command.id, completion.completed, completion.outcome);
        let reads = command.access == Access::Read && outcome == Outcome::Done;
        let found =
            if reads { self.look(at, id, command.first.get(), command.count.get())? } else { Vec::new() };
        if command.access == Access::Read || !self.has_memory {
            self.over.push((at, id));
        }
        let fails = matches!(outcome, Outcome::Lost | Outcome::Failed | Outcome::OutOfRange);
        let refused = self.refuses_writes && command.access != Access::Read;
        if fails && !refused && !self.may_fail && !self.oracle.is_lost() {
            return Err(self.untruth(at, Wrong::Failed { command: id, outcome }));
        }
        let told = self.oracle.completed(id, outcome, &found);
        told.map_err(|found| self.untruth(at, Wrong::Read { command: id, found }))?;
        Ok(found)
    }

    /// Nothing is under way at the array: its members must fit each other. Returns what was compared; nothing where too
    /// little is left.
    pub fn check_members(&self, at: Instant, array: &Array) -> Result<Option<Fit>, Untruth> {
        let drives = consistent::whole(array);
        if !consistent::bears(array.layout(), &drives) {
            return Ok(None);
        }
        let mut fit =
            consistent::compare(array.layout(), &drives, &consistent::that_counts(array, &self.media));
        match fit.first.take() {
            Some(wrong) => Err(self.untruth(at, wrong)),
            None => Ok(Some(fit)),
        }
    }
}
