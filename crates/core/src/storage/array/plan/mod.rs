//! [`Plan`]: what a level sees of the array when it makes the members' commands of a stripe request, and where
//! it adds them.
//!
//! A plan adds commands in any order; one that is adjacent to the last one for the same member, phase and
//! direction is merged with it. A plan that cannot be made, because too many members are missing, returns an
//! error.
mod journal;
mod partial_parity;
mod planning;
mod repair;
mod units;

use super::members::{Members, Spot};
use super::params::ArrayParams;
use super::state::ArrayState;
use super::stripe_request::{Op, Phase, StripeRequest};
use super::unreadable::UnreadableList;
use crate::command::{Access, OWN_IDS, Outcome};
use crate::data::{DataOp, Word};
use crate::storage::bad_blocks::BadBlocks;
use crate::storage::context::Context;
use crate::storage::tree::{NONE, Slot};
use drivelab_units::{Lba, Sectors};
pub use planning::Planning;

/// The ids of members' commands begin here, in the range that no host uses.
const OP_IDS: u64 = OWN_IDS | 1 << 51;

/// The plan of one stripe request.
pub struct Plan<'a> {
    state: &'a mut ArrayState,
    context: &'a mut Context,
    slot: Slot,
}

/// Where the data of a piece of a command come from, or go to.
#[derive(Clone, Copy)]
pub struct Source {
    /// The command whose data they are.
    pub id: u64,
    pub at: u64,
    /// The factor in the field of 256 elements by which they are multiplied before they are added.
    pub factor: u8,
}

/// What is planned, and what a level needs to know for that.
impl<'a> Plan<'a> {
    #[inline(always)]
    pub fn new(state: &'a mut ArrayState, context: &'a mut Context, slot: Slot) -> Self {
        Plan { state, context, slot }
    }

    /// The place of its stripe request.
    #[inline]
    pub fn slot(&self) -> Slot {
        self.slot
    }

    #[inline]
    fn stripe_request(&self) -> &StripeRequest {
        self.state.stripe_requests.get(self.slot)
    }

    /// The addresses of the array that it covers: the first, and the one after the last.
    #[inline]
    pub fn range(&self) -> (u64, u64) {
        let &StripeRequest { first, end, .. } = self.stripe_request();
        (first, end)
    }

    #[inline]
    pub fn access(&self) -> Access {
        self.stripe_request().access
    }

    /// What the stripe request has found unreadable.
    #[inline]
    pub fn unreadable(&self) -> UnreadableList {
        self.stripe_request().unreadable
    }

    /// The id of the host's command that it is part of.
    #[inline]
    pub fn command_id(&self) -> u64 {
        self.state.command_id(self.slot)
    }

    #[inline]
    pub fn params(&self) -> &ArrayParams {
        &self.state.params
    }

    #[inline]
    pub fn members(&self) -> &Members {
        &self.state.members
    }

    /// Maximum number of sectors of a member's command.
    #[inline]
    pub fn most(&self) -> u64 {
        self.state.params.request.get()
    }

    /// The sectors over which parity is computed as a unit.
    #[inline]
    pub fn granule(&self) -> u64 {
        self.state.granule()
    }

    /// Whether data operations are kept.
    #[inline]
    pub fn keeps_data(&self) -> bool {
        self.context.enabled.data
    }

    /// Whether a member is present and its data in the `count` sectors from a spot on are valid.
    #[inline]
    pub fn is_right(&self, spot: Spot, count: u64) -> bool {
        self.state.defects.is_right(&self.state.members, spot, count)
    }

    /// Whether they can be read as well, as far as the stripe request knows.
    #[inline]
    pub fn can_read(&self, spot: Spot, count: u64) -> bool {
        self.is_right(spot, count) && !self.is_unreadable(self.unreadable(), spot, count)
    }

    /// Whether any of these sectors is in a list of unreadable stretches.
    #[inline]
    pub fn is_unreadable(&self, unreadable: UnreadableList, spot: Spot, count: u64) -> bool {
        self.state.defects.unreadable.has(unreadable, spot, count)
    }

    /// Whether some member that stays has failed a write.
    #[inline]
    pub fn has_stale(&self) -> bool {
        self.state.defects.has_stale()
    }

    /// The addresses that could not be read anywhere.
    #[inline]
    pub fn bad_blocks(&self) -> &BadBlocks {
        &self.state.defects.bad_blocks
    }

    /// Whether any of these addresses could not be read anywhere.
    pub fn touches_bad_blocks(&self, first: u64, end: u64) -> bool {
        self.state.defects.bad_blocks.touch(first, end)
    }

    /// The outcome of a stripe request that cannot read something: that of the unreadable read, or `Lost`
    /// where no member has it.
    pub fn unreadable_outcome(&self) -> Outcome {
        self.state.defects.unreadable.why(self.unreadable())
    }

    /// These addresses are lost, because sectors could not be read; reported for a group of members.
    pub fn lose_range(&mut self, group: u16, first: u64, count: u64) {
        self.state.defects.lose_range(self.context, group, first, count);
    }
}

/// Members' commands.
impl Plan<'_> {
    /// Adds a command of a member, or extends the one before it. Returns its id.
    #[inline]
    pub fn add(&mut self, phase: Phase, access: Access, spot: Spot, count: u64) -> u64 {
        self.add_to(phase, (access, false), spot, count)
    }

    /// The same, with a flag for a repair: the two are kept apart, because the failure of a repair has no
    /// consequence.
    #[inline]
    pub fn add_to(&mut self, phase: Phase, (access, repairs): (Access, bool), spot: Spot, count: u64) -> u64 {
        let stripe_request = self.slot;
        let ArrayState { params, stripe_requests, ops, planning, .. } = &mut *self.state;
        let most = params.request.get();
        let plan = &mut stripe_requests.get_mut(stripe_request).plan;
        let last = &mut planning.last[usize::from(spot.slot)][phase as usize];
        if last.0 == plan.serial && last.1 != NONE {
            let op = ops.get_mut(last.1);
            let goes_on = op.at + op.count == spot.at && op.access == access && (op.repairs > 0) == repairs;
            if goes_on && op.count + count <= most && op.stripe_request == stripe_request && !op.is_out {
                op.count += count;
                return op.id;
            }
        }
        let id = OP_IDS + planning.ids;
        planning.ids += 1;
        let (slot, at, drive, is_out) = (spot.slot, spot.at, 0, false);
        let op =
            Op { id, stripe_request, slot, drive, access, phase, at, count, is_out, repairs: 0, next: NONE };
        let place = ops.add(op);
        // Sent in the order in which they were added.
        let (head, tail) = (&mut plan.unsent[phase as usize], &mut plan.last_unsent[phase as usize]);
        if *head == NONE {
            *head = place;
        } else {
            ops.get_mut(*tail).next = place;
        }
        *tail = place;
        *last = (plan.serial, place);
        id
    }

    /// The command that was added last for a member.
    #[inline]
    pub fn last_added(&self, slot: u16, phase: Phase) -> Option<&Op> {
        let (serial, op) = self.state.planning.last[usize::from(slot)][phase as usize];
        (serial == self.stripe_request().plan.serial && op != NONE).then(|| self.state.ops.get(op))
    }

    /// Where the member's head will be after its last command, planned ones included.
    pub fn head(&self, slot: u16) -> u64 {
        let planned = self.last_added(slot, Phase::Read);
        let planned = planned.filter(|op| op.stripe_request == self.slot && !op.is_out);
        planned.map_or(self.state.members.get(slot).head, |op| op.at + op.count)
    }

    /// Flushes the members meant that are present.
    pub fn flush(&mut self, phase: Phase, is_meant: impl Fn(&Members, u16) -> bool) {
        for slot in 0..self.state.params.members {
            if self.state.members.can_write(slot) && is_meant(&self.state.members, slot) {
                self.add(phase, Access::Flush, Spot { slot, at: 0 }, 0);
            }
        }
    }

    /// States where `count` sectors of a command's data come from, when data operations are kept.
    #[inline]
    pub fn mix(&mut self, into: u64, at: u64, from: Source, count: u64) {
        if self.context.enabled.data {
            self.context.data_op(DataOp::Mix {
                into,
                at: Lba::new(at),
                from: from.id,
                from_at: Lba::new(from.at),
                count: Sectors::new(count),
                factor: from.factor,
            });
        }
    }

    /// A sector of one of the array's own writes holds this word.
    pub fn add_word(&mut self, into: u64, at: u64, word: Word) {
        self.context.add_word(into, at, word);
    }

    /// Parity is computed over these bytes as well before anything is written.
    #[inline]
    pub fn compute(&mut self, bytes: u64) {
        self.state.stripe_requests.get_mut(self.slot).plan.computes += bytes;
    }

    /// The first of several copies that were read has answered: the host gets its data.
    pub fn deliver(&mut self, op: &Op) {
        let ((first, _), id) = (self.range(), self.command_id());
        self.mix(id, first, Source { id: op.id, at: op.at, factor: 1 }, op.count);
    }

    /// Nothing is computed after all.
    pub fn compute_nothing(&mut self) {
        self.state.stripe_requests.get_mut(self.slot).plan.computes = 0;
    }

    /// The first answer completes the stripe request.
    pub fn take_first_answer(&mut self) {
        self.state.stripe_requests.get_mut(self.slot).plan.takes_first = true;
    }

    /// The number of reads before this one that had a choice of copies; `has_choice` says whether it has one.
    pub fn take_turn(&mut self, has_choice: bool) -> u64 {
        let turn = self.state.planning.turns;
        self.state.planning.turns += u64::from(has_choice);
        turn
    }
}
