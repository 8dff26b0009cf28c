//! Executes the stream of a target's data operations.
//!
//! Whoever drives a target gives the executor each write when it is issued ([`Executor::write_data`], or
//! [`Executor::write`] where the contents do not matter), each operation in order ([`Executor::apply`]), and
//! asks for a read's data when the target has answered it ([`Executor::answered`]). When a read leaves a
//! drive its data are copied, so that later writes to the media do not change them.
use crate::buffers::Buffers;
use crate::cell::{Cell, Stamp};
use crate::media::{Media, Sector};
use crate::platter::Platter;
use crate::segments::{NotHeld, Segments};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use drivelab_core::data::{DataOp, Source};
use drivelab_core::storage::drive::cache::params::Reach;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::{Access, Command, Completion, Outcome};
use drivelab_units::{Instant, Lba, Sectors};

/// A stream of operations that cannot be executed: the target that emitted it is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The data of a command are a sum of themselves.
    Endless {
        /// Its number.
        command: u64,
    },
    /// A drive delivers from a segment of its buffer a sector that the segment does not have: the first one.
    NotHeld {
        /// The read, by its number.
        command: u64,
        /// The drive that delivers.
        drive: u16,
        /// The sector on that drive.
        sector: u64,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Endless { command } => write!(f, "the data of command {command} are made of themselves"),
            Fault::NotHeld { command, drive, sector } => {
                write!(
                    f,
                    "drive {drive} answers read {command} from a buffer that does not have sector {sector}"
                )
            }
        }
    }
}

impl core::error::Error for Fault {}

/// The data of a target: those of its commands and those of its drives.
pub struct Executor<C: Cell = Stamp> {
    buffers: Buffers<C>,
    media: Media<C>,
    segments: Segments<C>,
    /// Commands that are over. Commands merged with them are over at the same instant, and still read their
    /// data.
    over: Vec<(Instant, u64)>,
    /// The last operation in which a drive accepted or persisted data, and the data.
    last: (DataOp, Vec<C>),
}

impl<C: Cell> Executor<C> {
    /// For as many drives as there are numbers: for each the maximum number of sectors of a segment of its
    /// buffer, including those that the head has yet to read for it.
    pub fn new(segments: impl Iterator<Item = u64>) -> Self {
        let segments = Segments::new(segments);
        Executor {
            buffers: Buffers::default(),
            media: Media::new(segments.drives()),
            segments,
            over: Vec::new(),
            last: (DataOp::Replace { member: 0 }, Vec::new()),
        }
    }

    /// For the drives of a system.
    pub fn of_system(params: &SystemParams) -> Self {
        Self::new(params.drives.iter().map(|drive| {
            let Some(cache) = &drive.cache else { return 0 };
            let ahead = match cache.read_ahead.reach {
                // Its own limit is the end of a track further on; the first track is about as long as any.
                Reach::NextTrack => 8 * drive.mechanism.geometry.track_range(Lba::ZERO).1.get(),
                _ => cache.read_ahead.limit.get(),
            };
            4 * cache.size.get() + ahead
        }))
    }

    /// The same on media stored elsewhere, one platter for each drive.
    #[must_use]
    pub fn on_platters(self, platters: Vec<Arc<dyn Platter<C>>>) -> Self {
        debug_assert_eq!(platters.len(), self.media.drives(), "one for each drive");
        Executor { media: Media::on(platters), ..self }
    }

    /// For a target whose power is never cut: the words of its metadata are not stored.
    #[must_use]
    pub fn without_words(self) -> Self {
        Executor { buffers: self.buffers.without_words(), ..self }
    }

    /// A host issues a write whose contents do not matter: each sector gets its [`Cell::version`], which
    /// takes no memory before a drive has it.
    pub fn write(&mut self, id: u64, first: Lba, count: Sectors) {
        self.buffers.write(id, first, count);
    }

    /// A host issues a write of zeroes or a discard.
    ///
    /// ```
    /// use drivelab_core::data::DataOp;
    /// use drivelab_data::{Bytes, Executor};
    /// use drivelab_units::{Instant, Lba, Sectors};
    ///
    /// let mut executor: Executor<Bytes> = Executor::new([0].into_iter());
    /// let (first, count, member) = (Lba::new(8), Sectors::new(1), 0);
    /// executor.write_data(1, 8, &[Bytes::from([0xa5; 512])]);
    /// executor.apply(Instant::ZERO, DataOp::Accept { write: 1, member, first, count })?;
    /// executor.write_zeroes(2, first, count);
    /// executor.apply(Instant::ZERO, DataOp::Accept { write: 2, member, first, count })?;
    /// assert_eq!(executor.media().read(0, 8, 1), [Bytes::default()]);
    /// # Ok::<(), drivelab_data::Fault>(())
    /// ```
    pub fn write_zeroes(&mut self, id: u64, first: Lba, count: Sectors) {
        self.buffers.bring(id, first.get(), alloc::vec![C::default(); count.get() as usize]);
    }

    /// A host issues a write of these data, starting at a sector.
    pub fn write_data(&mut self, id: u64, first: u64, cells: &[C]) {
        self.buffers.bring(id, first, cells.to_vec());
    }

    /// Executes an operation that the target has emitted at this instant or before.
    ///
    /// # Errors
    /// Where the target's operations contradict each other.
    ///
    /// # Panics
    /// Where no drive has the operation's number.
    pub fn apply(&mut self, now: Instant, op: DataOp) -> Result<(), Fault> {
        while let Some((_, id)) = self.over.pop_if(|(over, _)| *over < now) {
            self.buffers.over(id);
        }
        match op {
            DataOp::Mix { .. } => self.buffers.mix(&op),
            DataOp::Forget { id, first, count } => self.buffers.forget(id, first, count),
            DataOp::Accept { write, member, first, count } => {
                let cells = self.peek(write, first.get(), count.get())?;
                self.segments.accept(member, first.get(), count.get(), &self.media);
                self.media.accept(member, first.get(), &cells);
                self.buffers.accepted(write, count.get());
                self.last = (op, cells);
            }
            DataOp::Persist { write, member, first, count } => {
                // Without a write cache the media get at once what the drive has accepted.
                if self.last.0 != (DataOp::Accept { write, member, first, count }) {
                    self.last.1 = self.peek(write, first.get(), count.get())?;
                }
                self.segments.persist(member, first.get(), count.get(), &self.media);
                self.media.persist(member, first.get(), &self.last.1);
                self.last.0 = op;
                self.buffers.persisted(write, member, first.get(), &self.last.1);
            }
            DataOp::Drop { write, count, .. } => self.buffers.dropped(write, count.get()),
            DataOp::Deliver { read, member, first, count, from } => {
                self.deliver(read, member, (first.get(), count.get()), from)?;
            }
            DataOp::Begin { member, segment, joins } => self.segments.begin(member, segment, joins),
            DataOp::Load { member, segment, first, count } => {
                self.segments.load(member, segment, first.get(), count.get());
            }
            DataOp::Copy { member, segment, from, first, count } => {
                self.segments.copy(member, segment, from, first.get(), count.get());
            }
            DataOp::Keep { kept, read, first, count } => {
                let cells = self.peek(read, first.get(), count.get())?;
                self.buffers.bring(kept, first.get(), cells);
            }
            DataOp::Hold { id } => self.buffers.hold(id),
            DataOp::Release { id } => self.buffers.release(id),
            DataOp::GiveUp { .. } => {}
            DataOp::Corrupt { member, first, count } => {
                self.segments.corrupt(member, first.get(), count.get(), &self.media);
                self.media.corrupt(member, first.get(), count.get());
            }
            DataOp::Replace { member } => {
                self.media.replace(member);
                self.segments.replace(member);
                self.buffers.replace(member);
            }
            DataOp::AddWord { into, at, word } => self.buffers.add_word(into, at, word),
            DataOp::Over { id } => self.over.push((now, id)),
        }
        Ok(())
    }

    /// A drive delivers part of a read: the read's buffer gets it as it is now.
    fn deliver(
        &mut self,
        read: u64,
        member: u16,
        (first, count): (u64, u64),
        from: Source,
    ) -> Result<(), Fault> {
        let cells = match from {
            Source::Media => self.media.read(member, first, count),
            Source::Written { write } => self.peek(write, first, count)?,
            Source::Segment(place) => self
                .segments
                .read(member, place, first, count, &self.media)
                .map_err(|NotHeld(sector)| Fault::NotHeld { command: read, drive: member, sector })?,
        };
        self.buffers.bring(read, first, cells);
        Ok(())
    }

    /// The present contents of a command's buffer at these addresses.
    ///
    /// # Errors
    /// Where it is a sum of itself.
    pub fn peek(&self, id: u64, first: u64, count: u64) -> Result<Vec<C>, Fault> {
        self.buffers.peek(id, first, count).ok_or(Fault::Endless { command: id })
    }

    /// The target has answered a host's command, all of whose operations have been executed: its buffer is
    /// needed only for operations that refer to it. Returns the data of a read that was done, else nothing.
    /// # Errors
    /// Where the data are a sum of themselves.
    pub fn answered(&mut self, command: &Command, completion: &Completion) -> Result<Vec<C>, Fault> {
        let is_read = command.access == Access::Read && completion.outcome == Outcome::Done;
        let (first, count) = (command.first.get(), command.count.get());
        let found = if is_read { self.peek(command.id, first, count)? } else { Vec::new() };
        self.over.push((completion.completed, command.id));
        Ok(found)
    }

    /// The power is cut: each drive has the contents of its media and nothing else, and new commands may have
    /// the ids of old ones. Returns the buffers of all commands, for the recovery of an array.
    pub fn cut_power(&mut self) -> Buffers<C> {
        self.over.clear();
        self.segments.clear();
        self.media.cut_power();
        self.last.0 = DataOp::Replace { member: 0 };
        let next =
            if self.buffers.keeps_words() { Buffers::default() } else { Buffers::default().without_words() };
        core::mem::replace(&mut self.buffers, next)
    }

    /// The contents of the drives.
    pub fn media(&self) -> &Media<C> {
        &self.media
    }

    /// The same, mutable: to repair or corrupt data in place.
    pub fn media_mut(&mut self) -> &mut Media<C> {
        &mut self.media
    }

    /// The data of commands.
    pub fn buffers(&self) -> &Buffers<C> {
        &self.buffers
    }

    /// Completes this instant: commands that are over and whose buffers were kept until its end.
    pub fn settle(&mut self) {
        while let Some((_, id)) = self.over.pop() {
            self.buffers.over(id);
        }
    }

    /// Approximate memory of all that, in bytes.
    pub fn bytes(&self) -> u64 {
        /// Overhead of a sector kept by a segment, in addition to its data.
        const KEPT: u64 = 24;
        let sector = size_of::<Sector<C>>().max(2 * C::SIZE as usize) as u64;
        self.media.size() * sector + self.buffers.size() + self.segments.kept() * (KEPT + C::SIZE)
    }
}
