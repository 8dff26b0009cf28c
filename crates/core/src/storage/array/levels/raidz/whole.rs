//! RAID-Z: a record that the pool goes over is read whole, with all of its parity, and what a new member is to have of it
//! is computed from that.
//!
//! The sectors that are left over between two records are read and written with them where both are gone over: so what lies
//! side by side on a member stays one command. Source: OpenZFS, vdev_raidz.c: a scrub or a resilver reads every column that
//! there is, and sectors that are skipped are written all the same so that writes can be joined.
use super::RaidZ;
use super::map::{Column, Map};
use super::plan::Old;
use super::sums::Solved;
use crate::command::Access;
use crate::storage::array::levels::Spot;
use crate::storage::array::members::Members;
use crate::storage::array::plan::Planner;
use crate::storage::array::stripe_request::{Op, Phase};
use crate::storage::context::Context;
use crate::storage::tree::Slot;
use drivelab_units::Sectors;

impl RaidZ {
    /// Reads what can be read of the record at a place, which must be enough. Returns what was read.
    pub(crate) fn read_whole_record(
        &self,
        plan: &mut Planner,
        context: &mut Context,
        stripe_request: Slot,
        place: u64,
        can_read: impl Fn(&Members, &Column) -> bool,
    ) -> Old {
        let map = *self.map();
        let parities = usize::from(map.parities());
        let mut old = Old::at(place);
        let mut sectors = 0;
        // Data first: they say how much parity is needed for what is missing of them.
        for index in (parities..map.columns()).chain(0..parities) {
            let column = self.column(place, index);
            if !can_read(&plan.members, &column) {
                if index >= parities {
                    let is_borne = old.solved.wants(index);
                    debug_assert!(is_borne, "no more is missing than there are parities");
                }
                continue;
            }
            old.ops[index] =
                plan.add(context, stripe_request, Phase::Read, Access::Read, column.spot(), column.count);
            sectors += column.count;
            if index < parities && old.solved.is_short() {
                old.solved.has(index);
            }
        }
        if context.keeps.data {
            old.solved.solve(map.columns());
        }
        plan.stripe_requests.get_mut(stripe_request).plan.computes += Sectors::new(sectors).bytes().get();
        old
    }

    /// Says how the column of a record that a command writes follows from what was read.
    pub(crate) fn make_column(
        &self,
        plan: &Planner,
        context: &mut Context,
        write: u64,
        old: &Old,
        index: usize,
    ) {
        let map = *self.map();
        let column = self.column(old.place, index);
        if !context.keeps.data {
            return;
        }
        let parities = usize::from(map.parities());
        let into = (write, column.at);
        if index >= parities {
            return self.mix_old_record(plan, context, into, old, self.part_of(index, 0, self.record()), 1);
        }
        for data in parities..map.columns() {
            let factor = Solved::factor(index, data, map.columns());
            self.mix_old_record(plan, context, into, old, self.part_of(data, 0, self.record()), factor);
        }
    }

    /// Goes on over the sectors that are left over behind a record, where a member's command ends at them.
    pub(crate) fn pass_over_rest(&self, plan: &mut Planner, stripe_request: Slot, place: u64) {
        let map: Map = *self.map();
        let begin = place * map.taken();
        for sector in begin + map.total()..begin + map.taken() {
            let slot = (sector % map.members()) as u16;
            let at = sector / map.members() * map.sector();
            for (phase, access) in [(Phase::Read, Access::Read), (Phase::Write, Access::Write)] {
                let ends_here = |op: &&Op| op.at + op.count == at;
                if let Some(op) = plan.last_added(stripe_request, slot, phase).filter(ends_here) {
                    let repairs = op.repairs > 0;
                    plan.add_to(stripe_request, phase, (access, repairs), Spot { slot, at }, map.sector());
                }
            }
        }
    }
}
