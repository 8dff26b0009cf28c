//! RAID-Z: background work reads a record as a whole, with all of its parity, and computes from that what
//! belongs on a new member.
//!
//! The padding sectors between two records are read and written together with them where both are processed,
//! so that what is contiguous on a member stays one command. Source: OpenZFS, vdev_raidz.c: a scrub or a
//! resilver reads every column that is present, and skipped sectors are written all the same so that writes
//! can be joined.
use super::RaidZ;
use super::map::{Column, Map};
use super::plan::Old;
use super::sums::Solved;
use crate::command::Access;
use crate::storage::array::members::Members;
use crate::storage::array::members::Spot;
use crate::storage::array::plan::Plan;
use crate::storage::array::stripe_request::{Op, Phase};
use drivelab_units::Sectors;

impl RaidZ {
    /// Reads all that is readable of the record at a place, which must be enough to compute the rest. Returns
    /// what was read.
    pub(crate) fn read_whole_record(
        &self,
        plan: &mut Plan<'_>,
        place: u64,
        can_read: impl Fn(&Members, &Column) -> bool,
    ) -> Old {
        let map = *self.map();
        let parities = usize::from(map.parities());
        let mut old = Old::at(place);
        let mut sectors = 0;
        // Data first: they decide how much parity is needed.
        for index in (parities..map.columns()).chain(0..parities) {
            let column = self.column(place, index);
            if !can_read(plan.members(), &column) {
                if index >= parities {
                    let is_borne = old.solved.add_missing(index);
                    debug_assert!(is_borne, "no more is missing than there are parities");
                }
                continue;
            }
            old.ops[index] = plan.add(Phase::Read, Access::Read, column.spot(), column.count);
            sectors += column.count;
            if index < parities && old.solved.is_short() {
                old.solved.add_parity(index);
            }
        }
        if plan.keeps_data() {
            old.solved.solve(map.columns());
        }
        plan.compute(Sectors::new(sectors).bytes().get());
        old
    }

    /// States how the column of a record that a command writes is computed from what was read.
    pub(crate) fn make_column(&self, plan: &mut Plan<'_>, write: u64, old: &Old, index: usize) {
        let map = *self.map();
        let column = self.column(old.place, index);
        if !plan.keeps_data() {
            return;
        }
        let parities = usize::from(map.parities());
        let into = (write, column.at);
        if index >= parities {
            return self.mix_old_record(plan, into, old, self.part_of(index, 0, self.record()), 1);
        }
        for data in parities..map.columns() {
            let factor = Solved::factor(index, data, map.columns());
            self.mix_old_record(plan, into, old, self.part_of(data, 0, self.record()), factor);
        }
    }

    /// Extends a member's command over the padding behind a record, where the command ends there.
    pub(crate) fn pass_over_rest(&self, plan: &mut Plan<'_>, place: u64) {
        let map: Map = *self.map();
        let begin = place * map.taken();
        for sector in begin + map.total()..begin + map.taken() {
            let slot = (sector % map.members()) as u16;
            let at = sector / map.members() * map.sector();
            for (phase, access) in [(Phase::Read, Access::Read), (Phase::Write, Access::Write)] {
                let ends_here = |op: &&Op| op.at + op.count == at;
                if let Some(op) = plan.last_added(slot, phase).filter(ends_here) {
                    let repairs = op.repairs > 0;
                    plan.add_to(phase, (access, repairs), Spot { slot, at }, map.sector());
                }
            }
        }
    }
}
