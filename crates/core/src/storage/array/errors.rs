//! What happens when a member fails a command: it timed out, or its drive answered with an error.
//!
//! A **read** is planned anew without what could not be read, and the unreadable sectors are written back
//! from the others (`repair.rs` of the levels). After a failed **write** a member holds for certain neither
//! the old data nor the new, so the member is failed, whoever sent the write: a host, a repair, a rebuild, a
//! bitmap or a log. The same holds for a FLUSH that a log asks for, because the log frees its contents after
//! it. It makes no difference whether host or controller keeps the array.
//!
//! - The last copy of something is not failed, nor is a member of a pool that must not lose more than its
//!   parities: the host gets the error, the array is *broken*, and from then on it refuses writes and answers
//!   reads. Where another member has a copy of what was being written, that copy is the valid one, and the
//!   one that may differ is *stale*: it is no longer read. Apart from its bad block log md keeps no such
//!   record, and would leave copies that differ.
//! - A level with parity fails the member all the same, and loses its addresses.
//! - RAID 0 and JBOD pass the error on.
//!
//! A host's FLUSH that a member fails is answered with the error, and the member stays.
//!
//! Sources: the Linux kernel, drivers/md/raid1.c and raid10.c (`raid1_end_write_request`, `raid1_error`, `raid10_error`),
//! raid5.c (`raid5_end_write_request`, `raid5_error`), md.c (`super_written`, `MD_BROKEN`). md keeps the
//! member where its bad block log has room for the blocks (`rdev_set_badblocks`); here there is no such log.
//! OpenZFS, vdev.c (`vdev_stat_update`, `vdev_fault`) and zio.c (`zio_vdev_io_assess`): it retries a write
//! once, counts the error, records the transaction in the device's DTL, and its daemon faults the device at
//! the tenth error within ten minutes, unless the pool needs it. Here the first error faults it.
use super::Array;
use super::members::{MemberState, Spot};
use super::report::ReportKind;
use super::stripe_request::{Op, Owner};
use crate::command::{Access, Completion};
use crate::storage::bad_blocks::BadBlocks;
use crate::storage::context::Context;
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors};

impl Array {
    /// Commands that ended with an error although the member was present: reads, then writes and FLUSHes.
    pub fn member_errors(&self) -> [u64; 2] {
        [self.errors.reads, self.errors.writes]
    }

    /// The next drive that the array has given up: its answers no longer matter.
    #[inline]
    pub fn next_given_up(&mut self) -> Option<u16> {
        self.errors.given_up.pop()
    }

    /// Whether every write is refused, because the last copy of something failed a write, or the journal has failed.
    pub fn takes_no_writes(&self) -> bool {
        self.condition.is_broken || self.state.logs.is_lost()
    }

    /// A member has failed a command. Returns whether the command has ended together with its drive.
    #[cold]
    pub(crate) fn note_error(&mut self, context: &mut Context, completion: &Completion) -> bool {
        let op = *self.state.ops.get(completion.tag);
        let is_read = op.access == Access::Read;
        *if is_read { &mut self.errors.reads } else { &mut self.errors.writes } += 1;
        let is_of_log = self.state.stripe_requests.get(op.stripe_request).owner == Owner::Log;
        // The array can always work without the journal, and without a member if its level is redundant.
        let may_do_without = op.slot == self.state.params.members || self.layout.is_redundant();
        if is_read || op.access == Access::Flush && !is_of_log || !may_do_without {
            return false;
        }
        let Op { slot, drive, .. } = op;
        let what = ReportKind::WriteError { slot, drive, outcome: completion.outcome };
        if slot < self.state.params.members && (self.condition.is_broken || self.would_lose(slot)) {
            if !core::mem::replace(&mut self.condition.is_broken, true) {
                context.report_array(self.layout.group_of(slot), what);
                context.report_array(self.layout.group_of(slot), ReportKind::Broken);
            }
            self.make_stale(context, &op);
            return false;
        }
        context.report_array(self.layout.group_of(slot.min(self.state.params.members - 1)), what);
        self.errors.given_up.push(drive);
        self.fail(context, drive);
        true
    }

    /// Whether a member has the last copy of something, or the pool would be lost with it. In RAID 01 its
    /// striped set would fail with it.
    fn would_lose(&mut self, slot: u16) -> bool {
        if self.layout.fails_the_last() {
            return false;
        }
        let set = self.layout.companions(slot);
        let before: Vec<MemberState> = set.clone().map(|slot| self.state.members.get(slot).state).collect();
        set.clone().for_each(|slot| self.state.members.set(slot, MemberState::Missing));
        let is_needed = !set.clone().all(|slot| self.layout.can_be_rebuilt(&self.state.members, slot));
        set.zip(before).for_each(|(slot, state)| self.state.members.set(slot, state));
        is_needed
    }

    /// What a write failed to bring to a member that stays is read from other copies, where there are any.
    fn make_stale(&mut self, context: &mut Context, op: &Op) {
        let Op { slot, drive, .. } = *op;
        for (first, end) in self.layout.readable_elsewhere(&self.state.members, &self.state.defects, op) {
            self.state.defects.make_stale(self.state.params.members, slot, (first, end));
            let (first, count) = (Lba::new(first), Sectors::new(end - first));
            context.report_array(self.layout.group_of(slot), ReportKind::Stale { slot, drive, first, count });
        }
    }

    /// A member has failed: where it had the only valid copy, the addresses are lost.
    pub(crate) fn lose_stale(&mut self, context: &mut Context) {
        for run in self.layout.only_stale_left(&self.state.members, &self.state.defects) {
            self.condition.has_lost = true;
            context.report_array(0, ReportKind::Lost(run));
        }
    }

    /// Whether any of these sectors of a member are read from other copies, because a write to them failed.
    #[inline]
    pub fn is_stale(&self, spot: Spot, count: u64) -> bool {
        self.state.defects.is_stale(spot, count)
    }

    /// All stale stretches: the slot, the first sector, and the one after the last.
    pub fn stale(&self) -> impl Iterator<Item = (u16, u64, u64)> {
        self.state.defects.stale()
    }

    /// The addresses that background work could not read from any member. A write makes them readable.
    pub fn bad_blocks(&self) -> &BadBlocks {
        &self.state.defects.bad_blocks
    }

    /// Sectors that could not be read and have been written back since the run began.
    pub fn repaired(&self) -> u64 {
        self.state.defects.repaired
    }
}
