//! Windows of levels with parity: a rebuild reads all other members of the group, a resync and a scrub all of them.
use super::Rows;
use crate::command::Access;
use crate::storage::array::background::WindowPart;
use crate::storage::array::levels::raid_level::SectorRole;
use crate::storage::array::members::Spot;
use crate::storage::array::plan::Plan;
use crate::storage::array::report::SyncKind;
use crate::storage::array::stripe_request::Phase;
use core::ops::Range;
use drivelab_units::Sectors;

impl Rows {
    /// Writes what could not be read of the part back to its members, computed from what was read of the
    /// others, unless it has bad blocks.
    fn rewrite_rows(&self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        let count = part.to - part.at;
        if self.has_bad_in(plan.bad_blocks(), part.job.group.into(), part.at, count) {
            return;
        }
        for slot in self.slots(part.job.group) {
            let spot = Spot { slot, at: part.at };
            if part.is_bad(plan, spot, count) {
                let write = plan.repair(spot, count);
                if plan.keeps_data() {
                    self.mix_member(plan, part, (spot, count), write);
                }
            }
        }
    }

    /// The slots of a group.
    pub(super) fn slots(&self, group: u16) -> Range<u16> {
        let members = self.members() as u16;
        group * members..(group + 1) * members
    }

    /// Reads every other member of the group, and writes the computed contents to the new ones.
    pub(super) fn rebuild_rows(&self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        if self.has_bad_in(plan.bad_blocks(), part.job.group.into(), part.at, part.to - part.at) {
            part.refine(plan.granule());
        }
        let WindowPart { at, to, .. } = *part;
        let count = to - at;
        let slots = self.slots(part.job.group);
        let parities = usize::from(self.parities());
        let mut unreadable = 0;
        for slot in slots.clone() {
            unreadable += usize::from(!part.can_read(plan, Spot { slot, at }, count));
        }
        if unreadable > parities {
            if part.has_met_errors() {
                return self.lose_rows(plan, part);
            }
            return part.job.stop_at(at);
        }
        let readable = self.members() - unreadable as u64;
        for slot in slots {
            if part.can_read(plan, Spot { slot, at }, count) {
                plan.add(Phase::Read, Access::Read, Spot { slot, at }, count);
            }
        }
        for i in 0..part.job.targets.len() {
            let Some((slot, from)) = part.needs(plan, i) else { continue };
            let spot = Spot { slot, at: from };
            if self.has_bad_in(plan.bad_blocks(), part.job.group.into(), from, to - from) {
                self.rebuild_beside_bad(plan, part, spot);
            } else {
                self.rebuild_unit(plan, part, spot, to - from);
            }
        }
        plan.compute(Sectors::new(count * readable).bytes().get());
        if part.has_met_errors() {
            self.rewrite_rows(plan, part);
        }
    }

    /// Writes what belongs on a new member, computed from what was read.
    pub(super) fn rebuild_unit(
        &self,
        plan: &mut Plan<'_>,
        part: &mut WindowPart<'_>,
        spot: Spot,
        count: u64,
    ) {
        let write = plan.add(Phase::Write, Access::Write, spot, count);
        if plan.keeps_data() {
            self.mix_member(plan, part, (spot, count), write);
        }
    }

    /// States how what is written to a new member is computed from what was read, row by row.
    fn mix_member(
        &self,
        plan: &mut Plan<'_>,
        part: &mut WindowPart<'_>,
        (into, count): (Spot, u64),
        write: u64,
    ) {
        let (mut at, end) = (into.at, into.at + count);
        while at < end {
            let row = self.row_at(part.job.group.into(), at);
            let count = (self.at(row) + self.unit()).min(end) - at;
            self.mix_made(plan, (write, row), Spot { at, ..into }, count);
            at += count;
        }
    }

    /// Reports as lost the unreadable parts of rows with too many of them.
    fn lose_rows(&self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        for slot in self.slots(part.job.group) {
            let mut at = part.at;
            while at < part.to {
                let spot = Spot { slot, at };
                let (held, left) = self.held(spot);
                let count = left.min(part.to - at);
                if let SectorRole::Data { first, .. } = held
                    && !part.can_read(plan, spot, count)
                {
                    plan.lose_range(part.job.group, first, count);
                }
                at += count;
            }
        }
    }

    /// Reads every member of the group; a resync then writes all parity, computed from what was read.
    pub(super) fn compare_rows(&self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        let WindowPart { at, to, .. } = *part;
        let (slots, parities) = (self.slots(part.job.group), usize::from(self.parities()));
        let mut unreadable = 0;
        for slot in slots.clone() {
            let spot = Spot { slot, at };
            if part.can_read(plan, spot, to - at) {
                plan.add(Phase::Read, Access::Read, spot, to - at);
            } else {
                unreadable += 1;
            }
        }
        if unreadable > parities && part.has_met_errors() {
            return self.lose_rows(plan, part);
        }
        if part.job.kind == SyncKind::Resync && unreadable == 0 {
            self.write_all_parity(plan, part);
        }
        if unreadable <= parities && part.has_met_errors() {
            self.rewrite_rows(plan, part);
        }
    }

    /// Writes all parity of the part, computed from its data.
    fn write_all_parity(&self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        let mut at = part.at;
        while at < part.to {
            let row = self.row_at(part.job.group.into(), at);
            let count = (self.at(row) + self.unit()).min(part.to) - at;
            for which in 0..self.parities() {
                let spot = Spot { slot: self.parity(row, which), at };
                let write = plan.add(Phase::Write, Access::Write, spot, count);
                if plan.keeps_data() {
                    self.mix_made(plan, (write, row), spot, count);
                }
            }
            at += count;
        }
        let data = (part.to - part.at) * u64::from(self.columns());
        plan.compute(Sectors::new(data).bytes().get());
    }
}
