//! Data operations: what happens to the data that commands carry, without the data. Kept only when asked for.
//!
//! Whoever holds the bytes (an emulator's store) or stands for them (a checker's stamp per sector) carries out the same
//! stream in order. A read sees the newest accepted version of each sector. What is accepted and not persisted is what a
//! power cut loses.
use drivelab_units::{Lba, Sectors};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataOp {
    /// Part of a write is in the target's keeping: reads see it from now on. `write` is the command's id.
    Accept { write: u64, first: Lba, count: Sectors },
    /// Part of a write is on the media of a member: no power cut takes it back.
    Persist { write: u64, member: u16, first: Lba, count: Sectors },
    /// Part of an accepted write will never reach the media, because a newer one has taken its place or power failed.
    Drop { write: u64, first: Lba, count: Sectors },
    /// A read's data leave the target for the host now: its versions are those of this place in the stream.
    Deliver { read: u64, first: Lba, count: Sectors },
}
