//! RAID 0, 1, 01 and 10 as a level.
use super::Copied;
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
use alloc::vec::Vec;
use core::ops::Range;

/// Maximum number of sectors of copies that are compared as one piece: a mirror without stripes has no units.
const PIECE: u64 = 128;

impl RaidLevel for Copied {
    fn capacity(&self) -> u64 {
        self.capacity()
    }

    fn used(&self) -> u64 {
        self.used()
    }

    fn home(&self, address: u64) -> Spot {
        self.spot(&self.piece(address, address + 1), 0)
    }

    fn address_at(&self, spot: Spot) -> Option<u64> {
        self.held(spot).0.address()
    }

    fn claim_range(
        &self,
        _members: &Members,
        _granule: u64,
        stripe_request: &StripeRequest,
    ) -> Option<ClaimRange> {
        let StripeRequest { access, first, end, unreadable, .. } = *stripe_request;
        // The data written back must not be older than what a host writes meanwhile.
        if self.copies() == 1 || access == Access::Read && unreadable.is_empty() {
            return None;
        }
        Some((access == Access::Write, first, end))
    }

    #[inline]
    fn cut(&self, params: &ArrayParams, _logs: &Logs, access: Access, at: u64, end: u64) -> u64 {
        if access == Access::Read { self.cut_at_piece(params, at, end) } else { end }
    }

    #[inline]
    fn plan_read(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        self.read(plan)
    }

    #[inline]
    fn plan_write(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        self.write(plan)
    }

    fn redundancy(&self) -> Option<Redundancy> {
        (self.copies() > 1).then_some(Redundancy::Copies)
    }

    fn can_reconstruct(&self, is_there: &[bool]) -> bool {
        // The placement of copies is periodic with a much shorter period.
        let chunks = self.capacity() / self.unit();
        let examined = chunks.min(4 * (is_there.len() as u64 + 1) * u64::from(self.copies()));
        (0..examined).all(|chunk| {
            let piece = self.piece(chunk * self.unit(), (chunk + 1) * self.unit());
            (0..self.copies()).any(|copy| is_there[usize::from(self.spot(&piece, copy).slot)])
        })
    }

    fn copies_of(&self, address: u64) -> Vec<Spot> {
        let piece = self.piece(address, address + 1);
        (0..self.copies()).map(|copy| self.spot(&piece, copy)).collect()
    }

    fn compared_as_one(&self) -> u64 {
        self.unit().min(PIECE)
    }

    fn start(&self) -> u64 {
        self.start()
    }

    fn companions(&self, slot: u16) -> Range<u16> {
        let mut sets = (0..self.copies()).filter_map(|copy| self.set(copy));
        sets.find(|set| set.contains(&slot)).unwrap_or(slot..slot + 1)
    }

    fn is_kept_without(&self, members: &Members, op: &Op) -> bool {
        let mut pieces = self.pieces_of(op.slot, op.at, op.at + op.count);
        pieces.all(|(piece, _)| {
            let mut spots = (0..self.copies()).map(|copy| self.spot(&piece, copy));
            spots.any(|spot| members.can_write(spot.slot))
        })
    }

    fn losses(&self, members: &Members, before: &[u64], _failed: u16) -> Vec<Run> {
        self.losses_between(before, &members.frontiers())
    }

    fn reach(&self, members: &Members, slot: u16) -> u64 {
        self.reach_of(&members.frontiers(), slot)
    }

    fn readable_elsewhere(&self, members: &Members, defects: &Defects, op: &Op) -> Vec<(u64, u64)> {
        self.readable_elsewhere(members, defects, op)
    }

    fn only_stale_left(&self, members: &Members, defects: &Defects) -> Vec<Run> {
        self.only_stale_left(members, defects)
    }

    fn range(&self, kind: SyncKind, request: u64) -> (u64, (u64, u64)) {
        if kind == SyncKind::Rebuild {
            return (request, (self.start(), self.used()));
        }
        let columns = self.members() / u64::from(self.copies());
        (request * columns.max(1), (0, self.capacity()))
    }

    fn around(&self, job: &SyncJob, at: u64, to: u64) -> (u64, u64) {
        if job.kind == SyncKind::Rebuild { self.around(at, to) } else { (at, to) }
    }

    fn window_claim(&self, first: u64, end: u64) -> Option<ClaimRange> {
        (self.copies() > 1).then_some((true, first, end))
    }

    fn plan_window(&mut self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        match part.job.kind {
            SyncKind::Rebuild => self.rebuild_copies(plan, part),
            SyncKind::Resync | SyncKind::Scrub => self.compare_copies(plan, part),
        }
    }

    /// Where copies are compared, addresses of the array, divided over all its members.
    fn share(&self, kind: SyncKind, numbers: u64) -> u64 {
        if kind == SyncKind::Rebuild {
            return numbers;
        }
        numbers * u64::from(self.copies()) / self.members()
    }
}
