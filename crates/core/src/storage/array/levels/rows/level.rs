//! Levels with rows of stripe units and parity, behind the trait.
use super::Rows;
use crate::command::{Access, Outcome};
use crate::storage::array::background::{SyncJob, WindowPart};
use crate::storage::array::defects::Defects;
use crate::storage::array::levels::raid_level::{ClaimRange, RaidLevel, Redundancy};
use crate::storage::array::logs::Logs;
use crate::storage::array::members::Members;
use crate::storage::array::members::Spot;
use crate::storage::array::params::ArrayParams;
use crate::storage::array::plan::Plan;
use crate::storage::array::report::{Run, SyncKind};
use crate::storage::array::stripe_request::{Op, StripeRequest};
use crate::storage::bad_blocks::BadBlocks;
use crate::storage::context::Context;
use crate::storage::tree::Slot;
use alloc::vec::Vec;

impl RaidLevel for Rows {
    fn capacity(&self) -> u64 {
        self.capacity()
    }

    fn used(&self) -> u64 {
        self.used()
    }

    fn home(&self, address: u64) -> Spot {
        let cell = self.cell(address, address + 1);
        let row = self.row(cell.row);
        Spot { slot: self.data_of(&row, cell.column), at: row.at + cell.offset }
    }

    fn address_at(&self, spot: Spot) -> Option<u64> {
        self.held(spot).0.address()
    }

    fn group_members(&self) -> Option<u16> {
        Some(self.members() as u16)
    }

    fn whole_write(&self) -> Option<u64> {
        Some(self.row_data())
    }

    #[inline]
    fn claim_range(
        &self,
        members: &Members,
        granule: u64,
        stripe_request: &StripeRequest,
    ) -> Option<ClaimRange> {
        self.claim_of_rows(members, granule, stripe_request)
    }

    #[inline]
    fn cut(&self, params: &ArrayParams, logs: &Logs, access: Access, at: u64, end: u64) -> u64 {
        if access == Access::Write {
            self.cut_at_log(params, logs, at, self.cut_at_rows(at, end))
        } else {
            end
        }
    }

    #[inline]
    fn plan_read(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        if self.is_interleaved() { self.plan_interleaved(plan) } else { self.read(plan) }
    }

    #[inline]
    fn plan_write(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        if self.is_interleaved() { self.plan_interleaved(plan) } else { self.write(plan) }
    }

    #[inline]
    fn settle(
        &mut self,
        members: &Members,
        bad_blocks: &mut BadBlocks,
        _slot: Slot,
        stripe_request: &mut StripeRequest,
    ) {
        if !bad_blocks.is_empty() && stripe_request.has_written() {
            self.fill_bad(members, bad_blocks, stripe_request);
        }
    }

    fn lose_beside_bad_blocks(&self, members: &Members, defects: &mut Defects, context: &mut Context) {
        self.lose_beside_bad(members, defects, context);
    }

    fn passes_content(&self) -> bool {
        false
    }

    fn redundancy(&self) -> Option<Redundancy> {
        Some(Redundancy::Parity)
    }

    fn can_reconstruct(&self, is_there: &[bool]) -> bool {
        let missing = |group: &[bool]| group.iter().filter(|&&is_there| !is_there).count();
        is_there.chunks(self.members() as usize).all(|group| missing(group) <= self.parities().into())
    }

    fn compared_as_one(&self) -> u64 {
        self.row_data()
    }

    fn start(&self) -> u64 {
        self.start()
    }

    fn fails_the_last(&self) -> bool {
        true
    }

    fn is_kept_without(&self, members: &Members, op: &Op) -> bool {
        let group = self.slots(op.slot / self.members() as u16);
        let gone = group.filter(|&slot| !members.can_write(slot)).count();
        gone <= usize::from(self.parities())
    }

    fn losses(&self, members: &Members, before: &[u64], _failed: u16) -> Vec<Run> {
        self.losses_between(before, &members.frontiers())
    }

    fn reach(&self, members: &Members, slot: u16) -> u64 {
        self.reach_of(&members.frontiers(), slot)
    }

    fn range(&self, _kind: SyncKind, request: u64) -> (u64, (u64, u64)) {
        (request, (self.start(), self.used()))
    }

    fn around(&self, job: &SyncJob, at: u64, to: u64) -> (u64, u64) {
        let row = |place| self.row_at(job.group.into(), place);
        (row(at) * self.row_data(), (row(to - 1) + 1) * self.row_data())
    }

    /// Windows must exclude writes, but not each other; their row numbers apply to all groups.
    fn window_claim(&self, first: u64, end: u64) -> Option<ClaimRange> {
        let row = self.row_data();
        Some((false, first / row * self.unit(), end.div_ceil(row) * self.unit()))
    }

    fn plan_window(&mut self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        match part.job.kind {
            SyncKind::Rebuild => self.rebuild_rows(plan, part),
            SyncKind::Resync | SyncKind::Scrub => self.compare_rows(plan, part),
        }
    }
}
