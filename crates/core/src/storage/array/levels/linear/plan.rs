//! JBOD: each part of a command goes to the drive that has it.
use super::Linear;
use crate::command::{Access, Outcome};
use crate::storage::array::plan::{Planner, Source};
use crate::storage::array::stripe_request::Phase;
use crate::storage::context::Context;
use crate::storage::tree::Slot;

impl Linear {
    pub(crate) fn plan(&self, plan: &mut Planner, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        let stripe_request = plan.stripe_requests.get(slot);
        let (mut at, end, access, unreadable) =
            (stripe_request.first, stripe_request.end, stripe_request.access, stripe_request.unreadable);
        let id = plan.command_id(slot);
        let phase = if access == Access::Read { Phase::Read } else { Phase::Write };
        while at < end {
            let (spot, left) = self.spot(at);
            let count = left.min(end - at).min(plan.params.request.get());
            let can = match access {
                Access::Read => plan.members.can_read(spot, count),
                _ => plan.members.can_write(spot.slot),
            };
            if !can {
                return Err(Outcome::Lost);
            }
            if plan.defects.unreadable.has(unreadable, spot, count) {
                return Err(plan.unreadable_outcome(unreadable));
            }
            let op = plan.add(context, slot, phase, access, spot, count);
            let (host, member) = (Source { id, at, factor: 1 }, Source { id: op, at: spot.at, factor: 1 });
            match access {
                Access::Read => plan.mix(context, id, at, member, count),
                _ => plan.mix(context, op, spot.at, host, count),
            }
            at += count;
        }
        Ok(())
    }
}
