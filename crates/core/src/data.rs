//! Data operations: what happens to the data that commands carry, without the data. Kept only when asked for.
//!
//! Whoever holds the bytes (an emulator's store) or stands for them (a checker's stamp per sector) carries out the same
//! stream in order. Each command, of a host or of a member, has a buffer with its id: a host's write brings it full, a
//! read fills it where a member delivers, and all others are sums of others' buffers, as `Mix` says. What is accepted and
//! not persisted is what a power cut loses.
//!
//! A drive's buffer has segments, and each of them has data of its own: those of the media as the head has read them.
//! While the head reads on in a segment nothing comes to the media, so all of it is as it is when the segment is begun,
//! or goes on. Written data that wait in the cache at that time lie over it until they reach the media. A drive that
//! answers from a segment delivers what that has, and not what came since: it must not do so when anything came.
use crate::storage::array::Logged;
use drivelab_units::{Lba, Sectors};

/// Where a drive has the data of a read from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// From its media, with the written data over them that wait in the cache: the newest accepted version of each sector.
    Media,
    /// From the data of this write, which wait in the cache.
    Written { write: u64 },
    /// From a segment of its buffer.
    Segment(u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataOp {
    /// Part of a write is in a member's keeping: reads see it from now on. `write` is the command's id.
    Accept { write: u64, member: u16, first: Lba, count: Sectors },
    /// Part of a write is on the media of a member: no power cut takes it back.
    Persist { write: u64, member: u16, first: Lba, count: Sectors },
    /// Part of an accepted write will never reach the media, because a newer one has taken its place or power failed.
    Drop { write: u64, member: u16, first: Lba, count: Sectors },
    /// A read's data leave a member now: its versions are those of this place in the stream.
    Deliver { read: u64, member: u16, first: Lba, count: Sectors, from: Source },
    /// A segment of a drive's buffer is begun anew, with all that the one at `joins` has, and nothing else yet.
    Begin { member: u16, segment: u32, joins: Option<u32> },
    /// A segment gets these blocks as they pass the head: as they are on the media now, with the written data over them
    /// that wait in the cache.
    Load { member: u16, segment: u32, first: Lba, count: Sectors },
    /// A segment gets what another one has of these blocks.
    Copy { member: u16, segment: u32, from: u32, first: Lba, count: Sectors },
    /// Part of the buffer of `into` gets the part of the buffer of `from` added to it (exclusive or), multiplied with
    /// `factor` in the field of 256 elements. Both parts are named by the addresses of their own commands. Said as the
    /// array plans, and to be done when the buffer of `into` is first looked at: what `from` brings may come later.
    Mix { into: u64, at: Lba, from: u64, from_at: Lba, count: Sectors, factor: u8 },
    /// Part of what a read has fetched is copied, as it is now: the buffer of `kept` has that, whatever becomes of the
    /// read's. A memory keeps it so, because several memories on a read's way may change its data, each by what it has
    /// itself; and a command that was merged with the read gets its own, because whoever has the read's is done with it.
    Keep { kept: u64, read: u64, first: Lba, count: Sectors },
    /// A memory gives up part of a write that it has answered, because its device has not taken it: what is found there is
    /// older, or came as an attempt failed.
    GiveUp { write: u64, first: Lba, count: Sectors },
    /// What was said of a buffer does not hold any more: it is planned anew.
    Forget { id: u64, first: Lba, count: Sectors },
    /// A command that no host has issued is done, or will not be sent: an array's to a member, or a memory's own; or there
    /// is none, and the buffer has a copy that a memory keeps. What drives have accepted of it they may still take to their
    /// media, memories may hold it, and sums that were said may still be made of it; of nothing else its buffer is needed.
    /// Commands that were merged with it may be said to have their parts of it at the same instant. A host's command is over
    /// when it is answered.
    Over { id: u64 },
    /// A memory has data of this buffer from now on, and may write them or answer reads with them.
    Hold { id: u64 },
    /// A memory that had data of this buffer has none any more.
    Release { id: u64 },
    /// What is on the media of a member changes in these sectors, and nobody is told: each of them holds something else than
    /// what was written there. What waits in its cache does not.
    Corrupt { member: u16, first: Lba, count: Sectors },
    /// A drive takes the place of a member, with nothing on it.
    Replace { member: u16 },
    /// The sector at `at` of the buffer of `into`, a write of an array's own, holds this word beside those that were said
    /// of it before. The array's metadata: what it knows after a power cut is what such sectors on the media say.
    Tell { into: u64, at: Lba, word: Word },
}

/// What a sector of an array's metadata says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Word {
    /// A granule of the bitmap, with none but the bits that are said beside.
    Bits,
    /// A bit is set: of so many blocks from the first on, in the numbers that the level counts its blocks by.
    Bit { first: u64, count: u64 },
    /// A record of a log begins here, the so many-th; what it holds is said beside.
    Record { number: u64 },
    /// Part of a record.
    Logged(Logged),
    /// In a journal's superblock, or beside a record of a log: records of the same log below this number do not count.
    Tail { number: u64 },
}
