//! Unreadable parts of a record are written back to their place.
use super::RaidZ;
use super::plan::{ColumnPart, Old};
use super::sums::Solved;
use crate::storage::array::members::Spot;
use crate::storage::array::plan::Plan;

impl RaidZ {
    /// Writes the unreadable parts of a record back to their place.
    pub(crate) fn repair_record(&self, plan: &mut Plan<'_>, old: &Old) {
        let unreadable = plan.unreadable();
        let map = *self.map();
        let parities = usize::from(map.parities());
        let column = |index| map.column(old.place * map.taken(), index);
        for index in (0..map.columns()).filter(|_| !unreadable.is_empty()) {
            let (spot, whole, mut rest) = (column(index).spot(), column(index).count, unreadable);
            while let Some((at, count, others)) = plan.bad_of(rest, spot, whole) {
                rest = others;
                let (op, offset) = (plan.repair(Spot { at, ..spot }, count), at - spot.at);
                if index >= parities {
                    let stretch = ColumnPart { column: index, offset, count };
                    self.mix_old_record(plan, (op, at), old, stretch, 1);
                    continue;
                }
                for data in parities..map.columns() {
                    // A column may be one row shorter than its parity.
                    let count = count.min(column(data).count.saturating_sub(offset));
                    let factor = Solved::factor(index, data, map.columns());
                    self.mix_old_record(
                        plan,
                        (op, at),
                        old,
                        ColumnPart { column: data, offset, count },
                        factor,
                    );
                }
            }
        }
    }
}
