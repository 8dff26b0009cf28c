//! Data operations: what happens to the data of commands, without the data themselves. Recorded only on
//! request.
//!
//! Whoever stores the bytes (an emulator) or represents them (a checker, by a stamp per sector) executes the
//! same stream in order. Each command, of a host or of a member, has a buffer with its id: a host's write
//! comes with a full one, a read's is filled where a member delivers, and all others are sums of other
//! buffers, as defined by `Mix`. What is accepted and not persisted is what a power cut loses.
//!
//! A drive's buffer has segments, and each of them has its own data: those of the media as the head has read
//! them. While the head reads on in a segment nothing is written to the media, so all its contents are as of
//! the time at which the segment is begun, or continues. Written data that wait in the cache at that time
//! take precedence over it until they reach the media. A drive that answers from a segment delivers that
//! segment's contents, and nothing newer: it must not do so when there is anything newer.
use crate::storage::array::Logged;
use drivelab_units::{Lba, Sectors};

/// Where in a drive the data of a read come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// From its media, overlaid with the written data that wait in the cache: the newest accepted version of
    /// each sector.
    Media,
    /// From the data of this write, which wait in the cache.
    Written {
        /// Number of the write in the target.
        write: u64,
    },
    /// From a segment of its buffer.
    Segment(u32),
}

/// One operation on data, named by addresses and command numbers, without bytes. Executed in the order of the
/// stream; `drivelab-data` executes it on version stamps or on bytes. `member` is the number of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataOp {
    /// A member has accepted part of a write: reads see it from now on. `write` is the command's id.
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
    /// Part of a write is on the media of a member: a power cut no longer loses it.
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
    /// Part of an accepted write will never reach the media, because a newer one has replaced it. What a
    /// power cut loses is not reported in this way:
    /// [`Drive::volatile`](crate::storage::drive::Drive::volatile) has it.
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
    /// A read's data leave a member now: its versions are those at this position in the stream.
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
    /// A segment of a drive's buffer is started anew, with the contents of the segment `joins`, and nothing
    /// else yet.
    Begin {
        /// Drive whose buffer it is.
        member: u16,
        /// Number of the new segment.
        segment: u32,
        /// Segment whose contents it takes over.
        joins: Option<u32>,
    },
    /// A segment gets these sectors as they pass the head: as they are on the media now, overlaid with the
    /// written data that wait in the cache.
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
    /// A segment gets another one's contents of these sectors.
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
    /// Part of the buffer of `from` is added (exclusive or) to part of the buffer of `into`, multiplied by
    /// `factor` in the field of 256 elements. Both parts are named by the addresses of their own commands.
    /// Emitted when the array plans, and to be evaluated when the buffer of `into` is first read: the data of
    /// `from` may arrive later.
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
    /// Part of what a read has fetched is copied, as it is now: the buffer of `kept` holds that, whatever
    /// becomes of the read's. A memory keeps its copy so, because several memories on a read's path may
    /// change its data, each by its own contents; and a command that was merged with the read gets its own
    /// copy, because the read's buffer may be released.
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
    /// A memory gives up part of a write that it has answered, because its device has failed to write it: the
    /// device's contents are older, or were left by a failed attempt.
    GiveUp {
        /// Number of the write.
        write: u64,
        /// First sector, as an address of the write.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// Earlier operations on a buffer no longer apply: it is planned anew.
    Forget {
        /// Number of the command whose buffer it is.
        id: u64,
        /// First sector, as an address of the command.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// A command that no host has issued is done, or will not be sent: an array's to a member, or a memory's
    /// own; or there is no command, and the buffer has a copy that a memory keeps. Drives may still write
    /// what they have accepted of it to their media, memories may hold it, and sums already defined may still
    /// be computed from it; its buffer is needed for nothing else. Commands that were merged with it may
    /// still get their parts of it at the same instant. A host's command is over when it is answered.
    Over {
        /// Number of the command, or of the kept copy.
        id: u64,
    },
    /// A memory has data of this buffer from now on, and may write them or answer reads with them.
    Hold {
        /// Number of the buffer.
        id: u64,
    },
    /// A memory that had data of this buffer no longer has any.
    Release {
        /// Number of the buffer.
        id: u64,
    },
    /// The media contents of a member change silently in these sectors: each of them holds something other
    /// than what was written there. Data that wait in its cache do not change.
    Corrupt {
        /// Drive whose media change.
        member: u16,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// A new, empty drive takes the place of a member.
    Replace {
        /// Number of the drive.
        member: u16,
    },
    /// The sector at `at` of the buffer of `into`, a write of an array's own, holds this word in addition to
    /// earlier ones. The array's metadata: after a power cut it knows what such sectors on the media record.
    AddWord {
        /// Number of the array's own write.
        into: u64,
        /// The sector, as an address of `into`.
        at: Lba,
        /// What is added to the sector.
        word: Word,
    },
}

/// What a sector of an array's metadata records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Word {
    /// A granule of the bitmap, with no bits set but those of separate words.
    Bits,
    /// A bit is set: for `count` blocks from the first on, in the level's block numbers.
    Bit {
        /// First block, in the level's numbers.
        first: u64,
        /// Blocks, at least one.
        count: u64,
    },
    /// A record of a log begins here, with its sequence number; separate words give its contents.
    Record {
        /// Sequence number of the record, ascending in its log.
        number: u64,
    },
    /// Part of a record.
    Logged(Logged),
    /// In a journal's superblock, or in a record of a log: records of the same log below this number are
    /// obsolete.
    Tail {
        /// Lowest valid record number.
        number: u64,
    },
}
