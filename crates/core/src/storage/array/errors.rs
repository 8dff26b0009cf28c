//! What follows when a member does not do a command: it timed out, or its drive answered with an error.
//!
//! A **read** is planned anew without what could not be read, and that is written back from the others (`repair.rs` of the levels).
//! A **write** leaves a member that holds neither the old data nor the new ones for sure, so it fails the member, whoever
//! sent it: a host, a repair, a rebuild, a bitmap or a log. So does a FLUSH that a log asks for, because what the log has
//! is freed after it. Who keeps the array makes no difference.
//!
//! - The last copy of something is not failed, nor is a member of a pool that is not to lose more than its parities: the
//!   host hears of the error, the array is *broken*, and from then on it refuses writes and answers reads. Where another
//!   member has a copy of what was being written, that copy stands, and the one that may differ is *stale*: nobody reads it
//!   any more. md has no such note of its own (its log of bad blocks is one), and would leave copies that differ.
//! - A level with parity fails the member even so, and has lost its addresses.
//! - RAID 0 and JBOD pass the error on.
//!
//! A FLUSH of a host that a member does not do is answered with the error, and the member stays.
//!
//! Sources: the Linux kernel, drivers/md/raid1.c and raid10.c (`raid1_end_write_request`, `raid1_error`, `raid10_error`),
//! raid5.c (`raid5_end_write_request`, `raid5_error`), md.c (`super_written`, `MD_BROKEN`). md keeps the member where it
//! has a log of bad blocks with room for the blocks (`rdev_set_badblocks`); here it has none. OpenZFS, vdev.c
//! (`vdev_stat_update`, `vdev_fault`) and zio.c (`zio_vdev_io_assess`): it tries a write once more, counts the error, notes
//! the transaction in the device's DTL, and its daemon faults the device at the tenth error within ten minutes, unless
//! the pool needs it. Here the first error faults it.
use super::Array;
use super::levels::Spot;
use super::members::MemberState;
use super::report::Happened;
use super::stripe_request::{Op, Owner};
use crate::command::{Access, Completion, Outcome};
use crate::storage::context::Context;
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors};

/// Members' commands that ended with an error of their drives.
#[derive(Default)]
pub struct Errors {
    reads: u64,
    /// And FLUSHes.
    writes: u64,
    /// Drives that were given up, and that the system has not heard of.
    given_up: Vec<u16>,
}

/// Whether a read that ended like this is had from elsewhere, and written back.
#[inline]
pub fn is_unread(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::MediaError | Outcome::TimedOut)
}

impl Array {
    /// Commands of members that ended with an error although the member was there: reads, then writes and FLUSHes.
    pub fn member_errors(&self) -> [u64; 2] {
        [self.errors.reads, self.errors.writes]
    }

    /// The next drive that the array has given up: nothing that it does is of interest any more.
    #[inline]
    pub fn next_given_up(&mut self) -> Option<u16> {
        self.errors.given_up.pop()
    }

    /// Whether every write is refused, because the last copy of something did not do one.
    #[inline]
    pub(crate) fn refuses_writes(&self) -> bool {
        self.condition.is_broken
    }

    /// The same, or because the journal is gone.
    pub fn takes_no_writes(&self) -> bool {
        self.refuses_writes() || self.planner.logs.is_lost()
    }

    /// A member has not done a command. Returns whether that has ended with its drive.
    #[cold]
    pub(crate) fn has_erred(&mut self, context: &mut Context, completion: &Completion) -> bool {
        let op = *self.planner.ops.get(completion.tag);
        let is_read = op.access == Access::Read;
        *if is_read { &mut self.errors.reads } else { &mut self.errors.writes } += 1;
        let is_of_log = self.planner.stripe_requests.get(op.stripe_request).owner == Owner::Log;
        if is_read || op.access == Access::Flush && !is_of_log || !self.may_do_without(op.slot) {
            return false;
        }
        let Op { slot, drive, .. } = op;
        let what = Happened::WriteError { slot, drive, outcome: completion.outcome };
        if slot < self.planner.params.members && (self.refuses_writes() || self.is_needed(slot)) {
            if !core::mem::replace(&mut self.condition.is_broken, true) {
                self.report(context, slot, what);
                self.report(context, slot, Happened::Broken);
            }
            self.make_stale(context, &op);
            return false;
        }
        self.report(context, slot.min(self.planner.params.members - 1), what);
        self.errors.given_up.push(drive);
        self.fail(context, drive);
        true
    }

    /// Whether the level has anything beside what a member holds. The journal can be done without.
    fn may_do_without(&self, slot: u16) -> bool {
        slot == self.planner.params.members || self.layout.is_redundant()
    }

    /// Whether a member has the last copy of something, or a pool would be lost with it. In RAID 01 its striped set goes
    /// with it.
    fn is_needed(&mut self, slot: u16) -> bool {
        if self.layout.fails_the_last() {
            return false;
        }
        let set = self.layout.companions(slot);
        let before: Vec<MemberState> = set.clone().map(|slot| self.planner.members.get(slot).state).collect();
        set.clone().for_each(|slot| self.planner.members.set(slot, MemberState::Missing));
        let is_needed = !set.clone().all(|slot| self.can_be_rebuilt(slot));
        set.zip(before).for_each(|(slot, state)| self.planner.members.set(slot, state));
        is_needed
    }

    /// What a write was to bring to a member that stays is read from the other copies, as far as there are any.
    fn make_stale(&mut self, context: &mut Context, op: &Op) {
        let Op { slot, drive, .. } = *op;
        for (first, end) in self.layout.others_have(&self.planner, op) {
            self.planner.defects.make_stale(self.planner.params.members, slot, (first, end));
            let (first, count) = (Lba::new(first), Sectors::new(end - first));
            self.report(context, slot, Happened::Stale { slot, drive, first, count });
        }
    }

    /// A member is gone: where it had the copy that stood, the addresses are lost.
    pub(crate) fn lose_stale(&mut self, context: &mut Context) {
        for run in self.layout.lost_but_for_stale(&self.planner) {
            self.condition.has_lost = true;
            self.report(context, 0, Happened::Lost(run));
        }
    }

    /// Whether any of these sectors of a member are read from other copies, because it did not take them.
    #[inline]
    pub fn is_stale(&self, spot: Spot, count: u64) -> bool {
        self.planner.defects.is_stale(spot, count)
    }

    /// All that is stale: which slot, the first sector, and the one behind the last.
    pub fn stale(&self) -> impl Iterator<Item = (u16, u64, u64)> {
        self.planner.defects.stale()
    }

    /// Sectors that could not be read, and that have been written back since the run began.
    pub fn repaired(&self) -> u64 {
        self.planner.defects.repaired
    }
}
