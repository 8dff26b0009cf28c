//! JBOD: each part of a command goes to the drive that has it.
use super::super::layout::Layout;
use super::super::stripe_request::Phase;
use super::{Array, Source};
use crate::command::{Access, Outcome};
use crate::storage::context::Context;
use crate::storage::tree::Slot;

impl Array {
    pub(super) fn plan_linear(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        let stripe_request = self.stripe_requests.get(slot);
        let (mut at, end, access, avoids) =
            (stripe_request.first, stripe_request.end, stripe_request.access, stripe_request.avoids);
        let id = self.command_id(slot);
        let phase = if access == Access::Read { Phase::Read } else { Phase::Write };
        while at < end {
            let Layout::Linear(linear) = &self.layout else { unreachable!("the plan of a JBOD") };
            let (spot, left) = linear.spot(at);
            let count = left.min(end - at).min(self.params.request.get());
            let can = match access {
                Access::Read => self.members.can_read(spot, count),
                _ => self.members.can_write(spot.slot),
            };
            if !can {
                return Err(Outcome::Lost);
            }
            if self.unreadable.has(avoids, spot, count) {
                return Err(self.gone(avoids));
            }
            let op = self.add(context, slot, phase, access, spot, count);
            let (host, member) = (Source { id, at, factor: 1 }, Source { id: op, at: spot.at, factor: 1 });
            match access {
                Access::Read => self.mix(context, id, at, member, count),
                _ => self.mix(context, op, spot.at, host, count),
            }
            at += count;
        }
        Ok(())
    }
}
