//! JBOD as a level: no member can be reconstructed from others, and there is nothing to compare or to
//! restore.
use super::super::losses::{Runs, Units};
use super::Linear;
use crate::command::Outcome;
use crate::storage::array::background::WindowPart;
use crate::storage::array::levels::raid_level::{ClaimRange, RaidLevel, Redundancy};
use crate::storage::array::members::Members;
use crate::storage::array::members::Spot;
use crate::storage::array::plan::Plan;
use crate::storage::array::report::{Run, SyncKind};
use crate::storage::array::stripe_request::{Op, StripeRequest};
use alloc::vec::Vec;

impl RaidLevel for Linear {
    fn capacity(&self) -> u64 {
        self.capacity()
    }

    fn used(&self) -> u64 {
        self.used()
    }

    fn home(&self, address: u64) -> Spot {
        self.spot(address).0
    }

    fn address_at(&self, spot: Spot) -> Option<u64> {
        Some(self.address(spot))
    }

    fn claim_range(
        &self,
        _members: &Members,
        _granule: u64,
        _stripe_request: &StripeRequest,
    ) -> Option<ClaimRange> {
        None
    }

    fn plan_read(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        self.plan(plan)
    }

    fn plan_write(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        self.plan(plan)
    }

    fn redundancy(&self) -> Option<Redundancy> {
        None
    }

    fn can_reconstruct(&self, is_there: &[bool]) -> bool {
        is_there.iter().all(|&is_there| is_there)
    }

    fn compared_as_one(&self) -> u64 {
        self.capacity()
    }

    fn is_kept_without(&self, _members: &Members, _op: &Op) -> bool {
        false
    }

    fn losses(&self, members: &Members, before: &[u64], _failed: u16) -> Vec<Run> {
        self.losses_between(before, &members.frontiers())
    }

    fn reach(&self, _members: &Members, _slot: u16) -> u64 {
        0
    }

    fn range(&self, _kind: SyncKind, request: u64) -> (u64, (u64, u64)) {
        (request, (0, 0))
    }

    fn window_claim(&self, _first: u64, _end: u64) -> Option<ClaimRange> {
        None
    }

    fn plan_window(&mut self, _plan: &mut Plan<'_>, _part: &mut WindowPart<'_>) {}
}

impl Linear {
    /// What is lost with the frontiers `after` and was not with those `before`.
    pub(crate) fn losses_between(&self, before: &[u64], after: &[u64]) -> Vec<Run> {
        let (mut runs, mut first) = (Runs::default(), 0);
        for slot in 0..after.len() {
            let next = Spot { slot: slot as u16 + 1, at: 0 };
            let end = if slot + 1 < after.len() { self.address(next) } else { self.capacity() };
            let unit = end - first;
            let units = Units { address: first, band: unit, stride: unit, unit, times: 1 };
            runs.lose(&units, after[slot], before[slot]);
            first = end;
        }
        runs.joined()
    }
}
