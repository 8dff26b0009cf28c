//! RAID 0, 1, 01 and 10: a write goes to all copies that there are, a read to one of them.
use super::super::layout::{Layout, Spot};
use super::super::params::ReadChoice;
use super::super::strand::Phase;
use super::{Array, Source};
use crate::command::{Access, Outcome};
use crate::target::context::Context;
use crate::target::tree::Slot;

impl Array {
    pub(super) fn plan_copied_write(&mut self, context: &mut Context<'_>, slot: Slot) -> Result<(), Outcome> {
        let strand = self.strands.get(slot);
        let (mut at, end) = (strand.first, strand.end);
        let id = self.command_id(slot);
        while at < end {
            let Layout::Copied(copied) = &self.layout else { unreachable!("the plan of copies") };
            let (piece, copies) = (copied.piece(at, end), copied.copies());
            let mut written = 0;
            for copy in 0..copies {
                let Layout::Copied(copied) = &self.layout else { unreachable!("the plan of copies") };
                let spot = copied.spot(&piece, copy);
                if !self.members.can_write(spot.slot) {
                    continue;
                }
                written += 1;
                let op = self.add(context, slot, Phase::Write, Access::Write, spot, piece.count);
                self.mix(context, op, spot.at, Source { id, at, factor: 1 }, piece.count);
            }
            if written == 0 {
                return Err(Outcome::Lost);
            }
            at += piece.count;
        }
        Ok(())
    }

    pub(super) fn plan_copied_read(&mut self, context: &mut Context<'_>, slot: Slot) -> Result<(), Outcome> {
        let strand = self.strands.get(slot);
        let (mut at, end, avoids) = (strand.first, strand.end, strand.avoids);
        let id = self.command_id(slot);
        while at < end {
            let Layout::Copied(copied) = &self.layout else { unreachable!("the plan of copies") };
            let piece = copied.piece(at, end);
            let mut best: Option<(Spot, u64)> = None;
            for copy in 0..copied.copies() {
                let spot = copied.spot(&piece, copy);
                let avoided = spot.slot < 64 && avoids >> spot.slot & 1 == 1;
                if avoided || !self.members.can_read(spot, piece.count) {
                    continue;
                }
                let member = self.members.get(spot.slot);
                let cost = match self.params.reads {
                    ReadChoice::NearestHead => member.head.abs_diff(spot.at),
                    ReadChoice::LeastQueued => member.outstanding.into(),
                    _ => 0,
                };
                if best.is_none_or(|(_, least)| cost < least) {
                    best = Some((spot, cost));
                }
            }
            let Some((spot, _)) = best else { return Err(Outcome::Lost) };
            let op = self.add(context, slot, Phase::Read, Access::Read, spot, piece.count);
            self.mix(context, id, at, Source { id: op, at: spot.at, factor: 1 }, piece.count);
            at += piece.count;
        }
        Ok(())
    }
}
