//! Background work on the records of a RAID-Z pool: a resilver, and a scrub.
//!
//! The job counts places, so that members are read and written in ascending order however often records have
//! moved, and skips places without a record: OpenZFS, which finds its blocks by their trees, sorts them by
//! address before it reads any. A window covers as many records as make `request` sectors of each member. A
//! rebuild skips what was written since the new member joined, because its column was written then.
//!
//! Hosts write meanwhile, and no window holds their records back: new data go to another place. The places of
//! a window are pinned until it is done. A write that was planned before the new member joined does not
//! include it; a window waits for such writes to its places, and then processes them like all others.
//! Source: OpenZFS, dsl_scan.c ("scan queue sorting"). Not modelled: blocks of metadata, and the memory that
//! sorting takes.
use super::RaidZ;
use super::map::Column;
use super::plan::Old;
use crate::command::Access;
use crate::storage::array::background::{JobStage, RebuildTarget, SyncJob, WindowPart};
use crate::storage::array::members::Members;
use crate::storage::array::plan::Plan;
use crate::storage::array::report::SyncKind;
use crate::storage::array::stripe_request::Phase;
use crate::storage::tree::Slot;
use core::ops::Range;

impl RaidZ {
    /// The column of the record at a place that a target of a job should have and does not have yet.
    fn lacks(&self, members: &Members, target: &RebuildTarget, place: u64) -> Option<usize> {
        if target.until <= place || self.births().taken_after_join(place, target.slot) {
            return None;
        }
        let index = self.map().column_on(place * self.map().taken(), target.slot)?;
        let column = self.column(place, index);
        (!members.can_read(column.spot(), column.count)).then_some(index)
    }

    /// Whether a place is to be processed, if it has a record: for a scrub every record that can be read at
    /// all.
    pub(super) fn is_wanted(&self, members: &Members, job: &SyncJob, place: u64) -> bool {
        if job.kind == SyncKind::Rebuild {
            return job.targets.iter().any(|target| self.lacks(members, target, place).is_some());
        }
        !self.is_record_lost(members, place)
    }

    /// A host's write to a place of this window that began before a new member joined: the window waits for
    /// it.
    pub(super) fn writer_in(&self, members: &Members, job: &SyncJob, places: Range<u64>) -> Option<Slot> {
        if job.kind != SyncKind::Rebuild || job.stage == JobStage::Flushing {
            return None;
        }
        self.writer_to(places, |place| self.is_wanted(members, job, place))
    }

    /// Processes the records of a window: reads all that is readable of them, and writes what the new members
    /// lack.
    pub(crate) fn go_over_records(&mut self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        let WindowPart { at, to, .. } = *part;
        self.pin(plan.slot(), at..to);
        let unreadable = core::mem::take(&mut part.window().unreadable);
        let mut next = at;
        while let Some(place) = self.next_record(plan, part, next) {
            next = place + 1;
            if !self.go_over_record(plan, part, place, &unreadable) {
                break;
            }
            if self.next_record(plan, part, next) == Some(next) {
                self.pass_over_rest(plan, place);
            }
        }
        part.window().unreadable = unreadable;
        if part.job.kind != SyncKind::Rebuild {
            plan.compute_nothing();
        }
    }

    /// The next place of a window with a record that is to be processed.
    fn next_record(&self, plan: &Plan<'_>, part: &WindowPart<'_>, from: u64) -> Option<u64> {
        let job = &*part.job;
        let lies =
            |&place: &u64| self.record_at(place).is_some() && self.is_wanted(plan.members(), job, place);
        self.taken_from(from).take_while(|&place| place < part.to).find(lies)
    }

    /// Processes one record. Returns whether the window can continue.
    fn go_over_record(
        &self,
        plan: &mut Plan<'_>,
        part: &mut WindowPart<'_>,
        place: u64,
        unreadable: &[u16],
    ) -> bool {
        let can_read = |members: &Members, column: &Column| {
            !unreadable.contains(&column.slot) && self.can_read_column(members, place, column)
        };
        let map = *self.map();
        let columns = (0..map.columns()).map(|index| self.column(place, index));
        let missing = columns.filter(|column| !can_read(plan.members(), column)).count();
        if missing > map.parities().into() {
            let size = self.record();
            if let Some(record) = self.record_at(place).filter(|_| !unreadable.is_empty()) {
                plan.lose_range(part.job.group, record * size, size);
            } else if part.job.kind == SyncKind::Rebuild {
                part.job.stop_at(place);
                return false;
            }
            return true;
        }
        let old = self.read_whole_record(plan, place, can_read);
        for i in 0..part.job.targets.len() {
            let target = part.job.targets[i];
            if let Some(index) = self.lacks(plan.members(), &target, place) {
                let column = self.column(place, index);
                let write = plan.add(Phase::Write, Access::Write, column.spot(), column.count);
                self.make_column(plan, write, &old, index);
            }
        }
        self.give_back(plan, &old, unreadable);
        true
    }

    /// Unreadable parts of a record are written back to their members.
    fn give_back(&self, plan: &mut Plan<'_>, old: &Old, unreadable: &[u16]) {
        let map = self.map();
        for index in (0..map.columns()).filter(|_| !unreadable.is_empty()) {
            let column = self.column(old.place, index);
            if unreadable.contains(&column.slot) && self.can_read_column(plan.members(), old.place, &column) {
                let write = plan.repair(column.spot(), column.count);
                self.make_column(plan, write, old, index);
            }
        }
    }
}
