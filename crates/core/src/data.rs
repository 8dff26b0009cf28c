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
    Written {
        /// Number of the write in the target.
        write: u64,
    },
    /// From a segment of its buffer.
    Segment(u32),
}

/// One operation on data, named by addresses and command numbers, without bytes. Executed in the order of the stream;
/// `drivelab-data` carries them out on version stamps or on bytes. `member` is the number of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataOp {
    /// Part of a write is in a member's keeping: reads see it from now on. `write` is the command's id.
    Accept {
        /// Number of the write.
        write: u64,
        /// Drive that accepts it.
        member: u16,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// Part of a write is on the media of a member: no power cut takes it back.
    Persist {
        /// Number of the write.
        write: u64,
        /// Drive whose media hold it.
        member: u16,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// Part of an accepted write will never reach the media, because a newer one has taken its place. What a power cut
    /// takes is not said: [`Drive::volatile`](crate::storage::drive::Drive::volatile) has it.
    Drop {
        /// Number of the write.
        write: u64,
        /// Drive that had accepted it.
        member: u16,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// A read's data leave a member now: its versions are those of this place in the stream.
    Deliver {
        /// Number of the read.
        read: u64,
        /// Drive that delivers.
        member: u16,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
        /// Where on the drive the data come from.
        from: Source,
    },
    /// A segment of a drive's buffer is begun anew, with all that the one at `joins` has, and nothing else yet.
    Begin {
        /// Drive whose buffer it is.
        member: u16,
        /// Number of the new segment.
        segment: u32,
        /// Segment whose contents it takes over.
        joins: Option<u32>,
    },
    /// A segment gets these blocks as they pass the head: as they are on the media now, with the written data over them
    /// that wait in the cache.
    Load {
        /// Drive whose buffer it is.
        member: u16,
        /// Segment that is filled.
        segment: u32,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// A segment gets what another one has of these blocks.
    Copy {
        /// Drive whose buffer it is.
        member: u16,
        /// Segment that is filled.
        segment: u32,
        /// Segment that is copied from.
        from: u32,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// Part of the buffer of `into` gets the part of the buffer of `from` added to it (exclusive or), multiplied with
    /// `factor` in the field of 256 elements. Both parts are named by the addresses of their own commands. Said as the
    /// array plans, and to be done when the buffer of `into` is first looked at: what `from` brings may come later.
    Mix {
        /// Number of the command whose buffer changes.
        into: u64,
        /// First sector changed, as an address of `into`.
        at: Lba,
        /// Number of the command whose buffer is added.
        from: u64,
        /// First sector added, as an address of `from`.
        from_at: Lba,
        /// Sectors, at least one.
        count: Sectors,
        /// Factor in GF(2^8); 1 is plain parity (XOR).
        factor: u8,
    },
    /// Part of what a read has fetched is copied, as it is now: the buffer of `kept` has that, whatever becomes of the
    /// read's. A memory keeps it so, because several memories on a read's way may change its data, each by what it has
    /// itself; and a command that was merged with the read gets its own, because whoever has the read's is done with it.
    Keep {
        /// Number of the buffer that gets the copy.
        kept: u64,
        /// Number of the read that fetched the data.
        read: u64,
        /// First sector, as an address of the read.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// A memory gives up part of a write that it has answered, because its device has not taken it: what is found there is
    /// older, or came as an attempt failed.
    GiveUp {
        /// Number of the write.
        write: u64,
        /// First sector, as an address of the write.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// What was said of a buffer does not hold any more: it is planned anew.
    Forget {
        /// Number of the command whose buffer it is.
        id: u64,
        /// First sector, as an address of the command.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// A command that no host has issued is done, or will not be sent: an array's to a member, or a memory's own; or there
    /// is none, and the buffer has a copy that a memory keeps. What drives have accepted of it they may still take to their
    /// media, memories may hold it, and sums that were said may still be made of it; of nothing else its buffer is needed.
    /// Commands that were merged with it may be said to have their parts of it at the same instant. A host's command is over
    /// when it is answered.
    Over {
        /// Number of the command, or of the kept copy.
        id: u64,
    },
    /// A memory has data of this buffer from now on, and may write them or answer reads with them.
    Hold {
        /// Number of the buffer.
        id: u64,
    },
    /// A memory that had data of this buffer has none any more.
    Release {
        /// Number of the buffer.
        id: u64,
    },
    /// What is on the media of a member changes in these sectors, and nobody is told: each of them holds something else than
    /// what was written there. What waits in its cache does not.
    Corrupt {
        /// Drive whose media change.
        member: u16,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// A drive takes the place of a member, with nothing on it.
    Replace {
        /// Number of the drive.
        member: u16,
    },
    /// The sector at `at` of the buffer of `into`, a write of an array's own, holds this word beside those that were said
    /// of it before. The array's metadata: what it knows after a power cut is what such sectors on the media say.
    Tell {
        /// Number of the array's own write.
        into: u64,
        /// The sector, as an address of `into`.
        at: Lba,
        /// What is added to the sector.
        word: Word,
    },
}

/// What a sector of an array's metadata says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Word {
    /// A granule of the bitmap, with none but the bits that are said beside.
    Bits,
    /// A bit is set: of so many blocks from the first on, in the numbers that the level counts its blocks by.
    Bit {
        /// First block, in the level's numbers.
        first: u64,
        /// Blocks, at least one.
        count: u64,
    },
    /// A record of a log begins here, with its sequence number; what it holds is told by the operations beside it.
    Record {
        /// Sequence number of the record, ascending in its log.
        number: u64,
    },
    /// Part of a record.
    Logged(Logged),
    /// In a journal's superblock, or beside a record of a log: records of the same log below this number do not count.
    Tail {
        /// Lowest record number that counts.
        number: u64,
    },
}
