//! What an array asks of its level, and the answers.
use crate::command::{Access, Outcome};
use crate::storage::array::background::{SyncJob, WindowPart, WindowRange};
use crate::storage::array::defects::Defects;
use crate::storage::array::logs::Logs;
use crate::storage::array::members::{Members, Spot};
use crate::storage::array::params::ArrayParams;
use crate::storage::array::plan::Plan;
use crate::storage::array::report::{Run, SyncKind};
use crate::storage::array::stripe_request::{Op, StripeRequest};
use crate::storage::bad_blocks::BadBlocks;
use crate::storage::context::Context;
use crate::storage::tree::Slot;
use alloc::vec::Vec;
use core::ops::Range;

/// What a place on a member holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SectorRole {
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
    /// Unused: it holds no address of the array.
    Nothing,
}

impl SectorRole {
    /// The first of the addresses, if it is data.
    pub fn address(self) -> Option<u64> {
        if let SectorRole::Data { first, .. } = self { Some(first) } else { None }
    }
}

/// The kind of redundancy that a level stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Redundancy {
    /// More than one copy.
    Copies,
    /// Sums over several members.
    Parity,
}

/// The blocks that a stripe request must hold exclusively: whether it writes, and the first and the end of
/// them in the level's own numbers.
pub type ClaimRange = (bool, u64, u64);

/// What an array asks of its level.
pub trait RaidLevel {
    // Where addresses lie.

    /// Sectors that hosts can address.
    fn capacity(&self) -> u64;

    /// Sectors of each member that the array uses; of a JBOD, of the largest.
    fn used(&self) -> u64;

    /// Members of each group, where there are groups that are independent of each other.
    fn group_members(&self) -> Option<u16> {
        None
    }

    /// Sectors that a write must cover to need no old data or parity, where that is more than one.
    fn whole_write(&self) -> Option<u64> {
        None
    }

    /// Where an address lies while no member is missing: the first of its copies.
    fn home(&self, address: u64) -> Spot;

    /// The address whose data, or a copy of them, a place holds; `None` for parity or an unused place, or
    /// where addresses have no fixed place.
    fn address_at(&self, spot: Spot) -> Option<u64>;

    // Requests of hosts.

    /// The blocks that a stripe request of a host must hold exclusively.
    /// `granule` is that of the parity.
    fn claim_range(
        &self,
        members: &Members,
        granule: u64,
        stripe_request: &StripeRequest,
    ) -> Option<ClaimRange>;

    /// The end of the first stripe request of a command for `at` to `end`.
    #[inline]
    fn cut(&self, _params: &ArrayParams, _logs: &Logs, _access: Access, _at: u64, end: u64) -> u64 {
        end
    }

    /// Makes the commands of a stripe request that reads.
    ///
    /// # Errors
    /// The outcome if they cannot be made: what it asks for is lost, or could not be read.
    fn plan_read(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome>;

    /// Makes the commands of a stripe request that writes.
    ///
    /// # Errors
    /// As for [`Self::plan_read`].
    fn plan_write(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome>;

    /// The stripe request that another one must wait for although nobody has its blocks. For a stripe request
    /// of background work, its job and its window are given.
    fn blocker(
        &mut self,
        _members: &Members,
        _stripe_request: (Slot, &StripeRequest),
        _window: Option<(&SyncJob, Range<u64>)>,
    ) -> Option<Slot> {
        None
    }

    /// Whether members get nothing but the host's data, so that a write of zeroes, or a discard, is passed on
    /// as such.
    fn passes_content(&self) -> bool {
        true
    }

    /// A stripe request has ended. Bad blocks that it has written are good again.
    #[inline]
    fn settle(
        &mut self,
        _members: &Members,
        bad_blocks: &mut BadBlocks,
        _slot: Slot,
        stripe_request: &mut StripeRequest,
    ) {
        if !bad_blocks.is_empty() && stripe_request.has_written() {
            bad_blocks.fill(stripe_request.first, stripe_request.end);
        }
    }

    /// Members have failed: reports as lost what could only be computed from rows with bad blocks.
    fn lose_beside_bad_blocks(&self, _members: &Members, _defects: &mut Defects, _context: &mut Context) {}

    // What survives when members are missing.

    /// The redundancy that the level stores.
    fn redundancy(&self) -> Option<Redundancy>;

    /// Whether all data can be reconstructed from the slots that are present; `is_there` is indexed by slot.
    fn can_reconstruct(&self, is_there: &[bool]) -> bool;

    /// All places that hold a copy of an address, its home first; the home alone where the level stores parity.
    fn copies_of(&self, address: u64) -> Vec<Spot> {
        Vec::from([self.home(address)])
    }

    /// Number of addresses whose consistency is checked as one: a row of stripe units, a record, a piece of a copy.
    fn compared_as_one(&self) -> u64;

    /// The first sector of each member that is not reserved for logs.
    fn start(&self) -> u64 {
        0
    }

    /// Sectors of a record, for levels that store data in records.
    fn record(&self) -> Option<u64> {
        None
    }

    /// Whether a member that failed a write is failed even where it has the last copy of something.
    fn fails_the_last(&self) -> bool {
        false
    }

    /// The members that are given up together with this one.
    fn companions(&self, slot: u16) -> Range<u16> {
        slot..slot + 1
    }

    /// Whether the data of a write to a missing member are available without it.
    fn is_kept_without(&self, members: &Members, op: &Op) -> bool;

    /// What is lost with the members as they are now and was not with the frontiers `before`. `failed` is the
    /// one that has failed since, unless several are missing from the start.
    fn losses(&self, members: &Members, before: &[u64], failed: u16) -> Vec<Run>;

    /// Up to which place the others have everything that belongs on a slot, in a job's numbers.
    fn reach(&self, members: &Members, slot: u16) -> u64;

    /// Which parts of a write that a member failed other members have: first sector and end, on that member.
    fn readable_elsewhere(&self, _members: &Members, _defects: &Defects, _op: &Op) -> Vec<(u64, u64)> {
        Vec::new()
    }

    /// The addresses of which only stale sectors are left.
    fn only_stale_left(&self, _members: &Members, _defects: &Defects) -> Vec<Run> {
        Vec::new()
    }

    /// A new member takes a slot.
    fn note_join(&mut self, _slot: u16) {}

    // Background work.

    /// The step of a job's windows when each member's share is `request` sectors, and the job's whole range:
    /// sectors of each member, addresses of the array, or whatever else the level counts.
    fn range(&self, kind: SyncKind, request: u64) -> (u64, (u64, u64));

    /// The range of addresses that contains everything a job's window touches; the same numbers where the
    /// level does not count by addresses.
    fn around(&self, _job: &SyncJob, at: u64, to: u64) -> (u64, u64) {
        (at, to)
    }

    /// The blocks that a window's stripe request must hold exclusively.
    fn window_claim(&self, first: u64, end: u64) -> Option<ClaimRange>;

    /// What a job's next window is to cover.
    fn next_stretch(&self, _members: &Members, job: &SyncJob) -> Option<WindowRange> {
        let (first, end) = (job.next, (job.next + job.step).min(job.end));
        (first < end).then_some(WindowRange { first, end, count: end - first })
    }

    /// Makes the commands of a window.
    fn plan_window(&mut self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>);

    /// The sector of each member below which a job has processed everything.
    fn edge(&self, numbers: u64) -> u64 {
        numbers
    }

    /// A job's numbers converted to sectors of each member.
    fn share(&self, _kind: SyncKind, numbers: u64) -> u64 {
        numbers
    }

    /// The size of a window, in the job's numbers, where something could not be read; `granule` where these
    /// are sectors.
    fn smallest_window(&self, granule: u64) -> u64 {
        granule
    }

    /// Where the range of a job ends on an array that nothing has been written to yet.
    fn filled(&self, job: &SyncJob) -> u64 {
        job.end
    }

    /// How many numbers a job covers in total.
    fn length(&self, job: &SyncJob) -> u64 {
        job.end - job.begin
    }
}
