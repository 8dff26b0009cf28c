//! RAID-Z as a level.
use super::RaidZ;
use crate::command::{Access, Outcome};
use crate::storage::array::background::WindowRange;
use crate::storage::array::background::{JobStage, SyncJob, WindowPart};
use crate::storage::array::levels::raid_level::{ClaimRange, RaidLevel, Redundancy};
use crate::storage::array::logs::Logs;
use crate::storage::array::members::Members;
use crate::storage::array::members::Spot;
use crate::storage::array::params::ArrayParams;
use crate::storage::array::plan::Plan;
use crate::storage::array::report::{Run, SyncKind};
use crate::storage::array::stripe_request::{Op, StripeRequest};
use crate::storage::bad_blocks::BadBlocks;
use crate::storage::tree::Slot;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

impl RaidLevel for Box<RaidZ> {
    fn capacity(&self) -> u64 {
        (**self).capacity()
    }

    fn used(&self) -> u64 {
        (**self).used()
    }

    fn home(&self, address: u64) -> Spot {
        let (place, column, offset) = self.column_at(address);
        let column = self.column(place, column);
        Spot { slot: column.slot, at: column.at + offset }
    }

    /// Records have no fixed place.
    fn address_at(&self, _spot: Spot) -> Option<u64> {
        None
    }

    /// Block numbers count records. A read keeps its records from being moved.
    fn claim_range(
        &self,
        _members: &Members,
        _granule: u64,
        stripe_request: &StripeRequest,
    ) -> Option<ClaimRange> {
        let StripeRequest { access, first, end, .. } = *stripe_request;
        Some((access == Access::Write, first / (**self).record(), (end - 1) / (**self).record() + 1))
    }

    fn cut(&self, _params: &ArrayParams, _logs: &Logs, access: Access, at: u64, end: u64) -> u64 {
        if access == Access::Write { self.cut_at_records(at, end) } else { end }
    }

    fn plan_read(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        self.read(plan)
    }

    fn plan_write(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        self.write(plan)
    }

    fn blocker(
        &mut self,
        members: &Members,
        stripe_request: (Slot, &StripeRequest),
        window: Option<(&SyncJob, Range<u64>)>,
    ) -> Option<Slot> {
        (**self).blocker(members, stripe_request, window)
    }

    fn settle(
        &mut self,
        members: &Members,
        bad_blocks: &mut BadBlocks,
        slot: Slot,
        stripe_request: &mut StripeRequest,
    ) {
        self.settle_records(members, bad_blocks, slot, stripe_request);
    }

    fn passes_content(&self) -> bool {
        false
    }

    fn redundancy(&self) -> Option<Redundancy> {
        Some(Redundancy::Parity)
    }

    fn can_reconstruct(&self, is_there: &[bool]) -> bool {
        is_there.iter().filter(|&&is_there| !is_there).count() <= self.map().parities().into()
    }

    fn compared_as_one(&self) -> u64 {
        (**self).record()
    }

    fn record(&self) -> Option<u64> {
        Some((**self).record())
    }

    /// Determined at the end of the stripe request.
    fn is_kept_without(&self, _members: &Members, _op: &Op) -> bool {
        true
    }

    fn losses(&self, members: &Members, before: &[u64], failed: u16) -> Vec<Run> {
        self.losses_since(members, before, failed)
    }

    fn reach(&self, members: &Members, slot: u16) -> u64 {
        self.reach_of(members, slot)
    }

    fn note_join(&mut self, slot: u16) {
        self.births_mut().join(slot);
    }

    fn range(&self, kind: SyncKind, request: u64) -> (u64, (u64, u64)) {
        // A record is written to a new place: nothing becomes inconsistent.
        if kind == SyncKind::Resync {
            return (request, (0, 0));
        }
        let sectors = request / self.map().sector() * self.map().members();
        ((sectors / self.map().taken()).max(1), (0, self.places()))
    }

    /// A window pins its places instead.
    fn window_claim(&self, _first: u64, _end: u64) -> Option<ClaimRange> {
        None
    }

    fn next_stretch(&self, members: &Members, job: &SyncJob) -> Option<WindowRange> {
        self.stretch(job.next, job.step, |place| self.is_wanted(members, job, place))
    }

    fn plan_window(&mut self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        self.go_over_records(plan, part);
    }

    fn edge(&self, numbers: u64) -> u64 {
        (**self).edge(numbers)
    }

    fn share(&self, _kind: SyncKind, numbers: u64) -> u64 {
        self.share_of(numbers)
    }

    fn smallest_window(&self, _granule: u64) -> u64 {
        1
    }

    /// While nobody has written to the pool yet, all records lie at its beginning.
    fn filled(&self, _job: &SyncJob) -> u64 {
        self.records()
    }

    /// Records that hosts have written since are skipped.
    fn length(&self, job: &SyncJob) -> u64 {
        if job.stage == JobStage::Ended {
            job.done.before + job.done.swept
        } else if job.is_empty() {
            job.end - job.begin
        } else {
            self.records()
        }
    }
}
