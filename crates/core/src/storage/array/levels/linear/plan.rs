//! JBOD: each part of a command goes to the drive that has it.
use super::Linear;
use crate::command::{Access, Outcome};
use crate::storage::array::plan::{Plan, Source};
use crate::storage::array::stripe_request::Phase;

impl Linear {
    pub(crate) fn plan(&self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        let ((mut at, end), access, unreadable) = (plan.range(), plan.access(), plan.unreadable());
        let id = plan.command_id();
        let phase = if access == Access::Read { Phase::Read } else { Phase::Write };
        while at < end {
            let (spot, left) = self.spot(at);
            let count = left.min(end - at).min(plan.most());
            let can = match access {
                Access::Read => plan.members().can_read(spot, count),
                _ => plan.members().can_write(spot.slot),
            };
            if !can {
                return Err(Outcome::Lost);
            }
            if plan.is_unreadable(unreadable, spot, count) {
                return Err(plan.unreadable_outcome());
            }
            let op = plan.add(phase, access, spot, count);
            let (host, member) = (Source { id, at, factor: 1 }, Source { id: op, at: spot.at, factor: 1 });
            match access {
                Access::Read => plan.mix(id, at, member, count),
                _ => plan.mix(op, spot.at, host, count),
            }
            at += count;
        }
        Ok(())
    }
}
