//! RAID levels: where the addresses of an array lie on its members, and all that follows from it.
//!
//! A level is a folder with one implementation of [`RaidLevel`]: [`linear`] (JBOD), [`copied`] (RAID 0, 1, 01, 10), [`rows`]
//! (RAID 3 to 6, 30 to 60), [`raidz`]. The array asks a level nothing that is not in the trait; [`Layout`] passes each
//! question on to the level that it is. [`check`] has the rules of what can be built.
//!
//! All numbers are sectors. A *piece* is a stretch of the array's addresses that lies in one run on each member that has
//! it; a *spot* is a place on a member. Members are named by their slot in the array, whatever drive has it.
mod check;
pub(crate) mod copied;
mod error;
pub mod gf;
mod layout;
pub(crate) mod linear;
mod losses;
pub mod raidz;
pub mod reserved;
pub(crate) mod rows;

use super::background::{Job, Part};
use super::members::Members;
use super::plan::Planner;
use super::report::{Run, SyncKind};
use super::stripe_request::{Op, StripeRequest};
use crate::command::{Access, Outcome};
use crate::storage::context::Context;
use crate::storage::tree::Slot;
use alloc::vec::Vec;
pub use check::name;
pub use copied::{Copied, Piece};
use core::ops::Range;
pub use error::LevelError;
pub use layout::Layout;
pub use linear::Linear;
pub use losses::ALL;
pub use raidz::RaidZ;
pub use rows::{Row, Rows};

/// A place on a member.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    /// Slot of the member.
    pub slot: u16,
    /// Sector on the member.
    pub at: u64,
}

/// What a member holds somewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// A copy of these addresses of the array.
    Data {
        /// First address of the array that is held.
        first: u64,
        /// Number of the copy, 0 for the first.
        copy: u16,
    },
    /// Parity over data of the same row or record.
    Parity {
        /// Number of the parity: 0 is P (XOR), 1 is Q, 2 is R.
        which: u8,
    },
    /// Left over: no address of the array is there.
    Nothing,
}

impl Held {
    /// The first of the addresses, if it is data.
    pub fn address(self) -> Option<u64> {
        if let Held::Data { first, .. } = self { Some(first) } else { None }
    }
}

/// What a level keeps of its data beside them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Redundancy {
    /// More than one copy.
    Copies,
    /// Sums over several members.
    Parity,
}

/// What a window of background work goes over, in the numbers of its job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// First block.
    pub first: u64,
    /// The block after the last.
    pub end: u64,
    /// How many of them are asked for; the others are passed over.
    pub count: u64,
}

/// The blocks that a stripe request must have to itself: whether it writes, and the first and the end of them in whatever
/// numbers the level counts.
pub type Blocks = (bool, u64, u64);

/// What an array asks of its level.
pub trait RaidLevel {
    // Where addresses lie.

    /// Sectors that hosts can address.
    fn capacity(&self) -> u64;

    /// Sectors of each member that the array uses; of a JBOD, of the largest.
    fn used(&self) -> u64;

    /// Members of each group, where there are groups that know nothing of each other.
    fn group_members(&self) -> Option<u16> {
        None
    }

    /// Sectors that a write must cover to need nothing that is there already, where that is more than one.
    fn whole_write(&self) -> Option<u64> {
        None
    }

    /// Where an address lies while nothing is missing: of copies the first.
    fn home(&self, address: u64) -> Spot;

    /// The address that lies at a place, which may have a copy of it; none where parity or nothing is, or where addresses
    /// come and go.
    fn address_at(&self, spot: Spot) -> Option<u64>;

    // Requests of hosts.

    /// The blocks that a stripe request of a host must have to itself.
    fn blocks(&self, plan: &Planner, stripe_request: &StripeRequest) -> Option<Blocks>;

    /// Where the first stripe request of a command ends that goes from `at` to `end`.
    #[inline]
    fn cut(&self, _plan: &Planner, _access: Access, _at: u64, end: u64) -> u64 {
        end
    }

    /// Makes the commands of a stripe request that reads.
    ///
    /// # Errors
    /// How it ends if they cannot be made: what it asks for is lost, or could not be read.
    fn plan_read(&mut self, plan: &mut Planner, context: &mut Context, slot: Slot) -> Result<(), Outcome>;

    /// Makes the commands of a stripe request that writes.
    ///
    /// # Errors
    /// As for [`Self::plan_read`].
    fn plan_write(&mut self, plan: &mut Planner, context: &mut Context, slot: Slot) -> Result<(), Outcome>;

    /// Whom a stripe request must wait for although nobody has its blocks. For one of background work its job and its
    /// window are given.
    fn keeper(&mut self, _plan: &Planner, _slot: Slot, _window: Option<(&Job, Range<u64>)>) -> Option<Slot> {
        None
    }

    /// Whether members get nothing but the host's data, so that a write of zeroes, or a discard, goes to them as such.
    fn passes_content(&self) -> bool {
        true
    }

    /// A stripe request has ended.
    #[inline]
    fn settle(&mut self, _plan: &mut Planner, _slot: Slot) {}

    /// Whether its plans look up themselves what was lost sector by sector.
    #[inline]
    fn looks_up_losses(&self) -> bool {
        false
    }

    // What survives when members are gone.

    /// What it keeps of its data beside them.
    fn redundancy(&self) -> Option<Redundancy>;

    /// Whether all data can be had from the slots that are there; `is_there` is by slot.
    fn bears(&self, is_there: &[bool]) -> bool;

    /// All places that hold a copy of an address, its home first. Where others make up for it by sums there is one.
    fn copies_of(&self, address: u64) -> Vec<Spot> {
        Vec::from([self.home(address)])
    }

    /// Addresses of what fits together or not as one: a row of stripe units, a record, a piece of a copy.
    fn compared_as_one(&self) -> u64;

    /// The first sector of each member that is not reserved for logs.
    fn start(&self) -> u64 {
        0
    }

    /// Sectors of a record, where data are kept in records.
    fn record(&self) -> Option<u64> {
        None
    }

    /// Whether a member that did not do a write is failed even where it has the last copy of something.
    fn fails_the_last(&self) -> bool {
        false
    }

    /// The members that are given up with one.
    fn companions(&self, slot: u16) -> Range<u16> {
        slot..slot + 1
    }

    /// Whether what a write was to bring to a member that is gone can be had without it.
    fn is_kept_without(&self, members: &Members, op: &Op) -> bool;

    /// What is lost as the members are now that was not when they had the frontiers `before`. `failed` is the one that has
    /// failed since, unless several are missing from the start.
    fn losses(&self, members: &Members, before: &[u64], failed: u16) -> Vec<Run>;

    /// Up to which place the others make up for what a slot is to hold: in a job's numbers.
    fn reach(&self, members: &Members, slot: u16) -> u64;

    /// What of a write that a member did not do can be had from other members: first sector and end, on that member.
    fn others_have(&self, _plan: &Planner, _op: &Op) -> Vec<(u64, u64)> {
        Vec::new()
    }

    /// The addresses of which only stale sectors are left.
    fn lost_but_for_stale(&self, _plan: &Planner) -> Vec<Run> {
        Vec::new()
    }

    /// A new member takes a slot.
    fn joins(&mut self, _slot: u16) {}

    // Background work.

    /// How far a job goes at once when each member's share is `request` sectors, and from where to where in all: sectors of
    /// each member, addresses of the array, or whatever else the level counts.
    fn range(&self, kind: SyncKind, request: u64) -> (u64, (u64, u64));

    /// The addresses among which is all that a window of a job touches; the same numbers where the level does not count
    /// by addresses.
    fn around(&self, _job: &Job, at: u64, to: u64) -> (u64, u64) {
        (at, to)
    }

    /// The blocks that a window's stripe request must have to itself.
    fn blocks_of_window(&self, first: u64, end: u64) -> Option<Blocks>;

    /// What a job's next window is to go over.
    fn next_stretch(&self, _members: &Members, job: &Job) -> Option<Stretch> {
        let (first, end) = (job.next, (job.next + job.step).min(job.end));
        (first < end).then_some(Stretch { first, end, count: end - first })
    }

    /// Makes the commands of a window.
    fn plan_window(&mut self, plan: &mut Planner, context: &mut Context, part: &mut Part<'_>);

    /// The sector of each member below which all lies that a job has gone over.
    fn edge(&self, numbers: u64) -> u64 {
        numbers
    }

    /// Numbers of a job as sectors of each member.
    fn share(&self, _kind: SyncKind, numbers: u64) -> u64 {
        numbers
    }

    /// How many of its numbers a window goes over at once where something could not be read, on whole sectors of `granule`.
    fn smallest_window(&self, granule: u64) -> u64 {
        granule
    }

    /// Where what a job goes over ends before anybody has written.
    fn filled(&self, job: &Job) -> u64 {
        job.end
    }

    /// How many numbers a job goes over in all.
    fn length(&self, job: &Job) -> u64 {
        job.end - job.begin
    }
}
