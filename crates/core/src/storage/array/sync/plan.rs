//! What a window reads and writes, by layout.
//!
//! A layout says three things: how a job counts ([`Array::range_of`]), among which addresses a window lies
//! ([`Array::addresses_of`]), and what its commands are ([`Array::plan_sync`]). RAID-Z, whose data are not evenly spread,
//! says it in [`records`](super::records); frontiers, pace and order of the windows are the same for all.
use super::super::layout::{Held, Layout, Piece, Spot};
use super::super::plan::Source;
use super::super::report::{Happened, Run, SyncKind};
use super::super::stripe_request::{Op, Phase};
use super::job::{Job, Stage, Ticket, Window};
use super::{Array, Context};
use crate::command::{Access, Outcome};
use crate::storage::tree::Slot;
use core::ops::Range;
use drivelab_units::Sectors;

/// What a window is about, out of its job.
#[derive(Clone, Copy)]
pub struct Part {
    pub kind: SyncKind,
    pub ticket: Ticket,
    pub stripe_request: Slot,
    pub group: u16,
    pub at: u64,
    pub to: u64,
}

impl Array {
    /// How far a job goes at once, and from where to where in all: sectors of each member; addresses where copies are
    /// compared; places for records.
    pub(super) fn range_of(&self, kind: SyncKind) -> (u64, (u64, u64)) {
        let request = self.sync.params.request.get().max(1);
        match &self.layout {
            // Nothing can be compared, nothing made again.
            Layout::Linear(_) => (request, (0, 0)),
            Layout::Copied(copied) if kind == SyncKind::Rebuild => (request, (copied.start(), copied.used())),
            Layout::Copied(copied) => {
                let columns = u64::from(self.params.members) / u64::from(copied.copies());
                (request * columns.max(1), (0, copied.capacity()))
            }
            Layout::Rows(rows) => (request, (rows.start(), rows.used())),
            // A record is written anew elsewhere: nothing is left in doubt.
            Layout::RaidZ(_) if kind == SyncKind::Resync => (request, (0, 0)),
            Layout::RaidZ(pool) => {
                let sectors = request / pool.map().sector() * pool.map().members();
                ((sectors / pool.map().taken()).max(1), (0, pool.places()))
            }
        }
    }

    /// The addresses among which is all that a window of a job touches, or its places for records.
    pub(super) fn addresses_of(&self, job: &Job, at: u64, to: u64) -> (u64, u64) {
        match &self.layout {
            Layout::Copied(copied) if job.kind == SyncKind::Rebuild => copied.around(at, to),
            Layout::Linear(_) | Layout::Copied(_) | Layout::RaidZ(_) => (at, to),
            Layout::Rows(rows) => {
                let row = |place| rows.row_at(job.group.into(), place);
                (row(at) * rows.row_data(), (row(to - 1) + 1) * rows.row_data())
            }
        }
    }

    /// The blocks that a window's stripe request must have to itself, in the numbers of its level. Windows of groups with
    /// parity need to keep writes out, and not each other: what they say of rows is true of all groups.
    pub(in super::super) fn blocks_of_sync(&self, first: u64, end: u64) -> Option<(bool, u64, u64)> {
        match &self.layout {
            Layout::Linear(_) => None,
            Layout::Copied(copied) if copied.copies() == 1 => None,
            Layout::Copied(_) => Some((true, first, end)),
            Layout::Rows(rows) => {
                let row = rows.row_data();
                Some((false, first / row * rows.unit(), end.div_ceil(row) * rows.unit()))
            }
            // Places are pinned.
            Layout::RaidZ(_) => None,
        }
    }

    /// Makes the commands of a window's stripe request.
    pub(in super::super) fn plan_sync(
        &mut self,
        context: &mut Context,
        stripe_request: Slot,
    ) -> Result<(), Outcome> {
        let ticket = self.sync.tickets[stripe_request as usize];
        let Some(window) = self.sync.window(ticket) else { return Ok(()) };
        if window.is_bad {
            return Err(self.stripe_requests.get(stripe_request).outcome);
        }
        let (at, to) = (window.at, window.to);
        let job = &self.sync.jobs[ticket.job];
        let (kind, group) = (job.kind, job.group);
        if job.stage == Stage::Flushing {
            self.plan_sync_flush(context, stripe_request, ticket);
            return Ok(());
        }
        let part = Part { kind, ticket, stripe_request, group, at, to };
        match (&self.layout, kind) {
            (Layout::Linear(_), _) => {}
            (Layout::Copied(_), SyncKind::Rebuild) => self.rebuild_copies(context, part),
            (Layout::Copied(_), _) => self.compare_copies(context, part),
            (Layout::Rows(_), SyncKind::Rebuild) => self.rebuild_rows(context, part),
            (Layout::Rows(_), _) => self.compare_rows(context, part),
            (Layout::RaidZ(_), _) => self.go_over_records(context, part),
        }
        Ok(())
    }

    /// Those that were written put it on their media.
    fn plan_sync_flush(&mut self, context: &mut Context, stripe_request: Slot, ticket: Ticket) {
        let group = self.sync.jobs[ticket.job].group;
        for slot in 0..self.params.members {
            let job = &self.sync.jobs[ticket.job];
            let is_target = job.targets.iter().any(|target| target.slot == slot);
            let was_written = is_target || job.kind != SyncKind::Rebuild && self.group_of(slot) == group;
            if was_written && self.members.can_write(slot) {
                self.add(context, stripe_request, Phase::Write, Access::Flush, Spot { slot, at: 0 }, 0);
            }
        }
    }

    /// Whether a place can be read, as far as this window knows.
    fn can_sync_read(&mut self, ticket: Ticket, spot: Spot, count: u64) -> bool {
        let is_avoided = |window: &mut Window| window.avoids.contains(&spot.slot);
        self.is_right(spot, count) && !self.sync.window(ticket).is_some_and(is_avoided)
    }

    fn has_met_errors(&mut self, ticket: Ticket) -> bool {
        self.sync.window(ticket).is_some_and(|window| !window.avoids.is_empty())
    }

    /// These addresses are lost, because sectors could not be read.
    pub(super) fn lose_range(&mut self, context: &mut Context, slot: u16, first: u64, count: u64) {
        if !self.bad_blocks.cover(first, first + count) {
            self.bad_blocks.add(first, first + count);
            self.report(context, slot, Happened::Lost(Run::once(first, count)));
        }
    }

    /// Each new member that needs the part: as the so many-th of the job's, and where the part begins for it.
    fn needs(&self, part: &Part, i: usize) -> Option<(u16, u64)> {
        let target = self.sync.jobs[part.ticket.job].targets[i];
        let done = self.members.frontier(target.slot);
        (done < part.to && target.until > part.at).then(|| (target.slot, done.max(part.at)))
    }

    fn rebuild_copies(&mut self, context: &mut Context, part: Part) {
        for i in 0..self.sync.jobs[part.ticket.job].targets.len() {
            let Some((slot, mut at)) = self.needs(&part, i) else { continue };
            while at < part.to {
                let (held, left) = self.copied().held(Spot { slot, at });
                let count = left.min(part.to - at);
                if let Held::Data { first, copy } = held {
                    let piece = self.copied().piece(first, first + count);
                    match self.other_copy(part.ticket, &piece, copy) {
                        Some(from) => self.copy(context, part.stripe_request, from, Spot { slot, at }, count),
                        None if self.has_met_errors(part.ticket) => {
                            self.lose_range(context, slot, first, count);
                        }
                        None => {
                            let target = &mut self.sync.jobs[part.ticket.job].targets[i];
                            target.until = target.until.min(at);
                            break;
                        }
                    }
                }
                at += count;
            }
        }
    }

    /// Where a piece can be read beside this copy of it.
    fn other_copy(&mut self, ticket: Ticket, piece: &Piece, but: u16) -> Option<Spot> {
        let copies = (0..self.copied().copies()).filter(|&copy| copy != but);
        for copy in copies {
            let spot = self.copied().spot(piece, copy);
            if self.can_sync_read(ticket, spot, piece.count) {
                return Some(spot);
            }
        }
        None
    }

    fn copy(&mut self, context: &mut Context, stripe_request: Slot, from: Spot, to: Spot, count: u64) {
        // What goes to several is read once.
        let is_read = |op: &&Op| op.at <= from.at && from.at + count <= op.at + op.count;
        let known = self.last_added(stripe_request, from.slot, Phase::Read).filter(is_read).map(|op| op.id);
        let read = known
            .unwrap_or_else(|| self.add(context, stripe_request, Phase::Read, Access::Read, from, count));
        let write = self.add(context, stripe_request, Phase::Write, Access::Write, to, count);
        self.mix(context, write, to.at, Source { id: read, at: from.at, factor: 1 }, count);
    }

    /// Reads every copy; a resync reads the first that there is and writes the others.
    fn compare_copies(&mut self, context: &mut Context, part: Part) {
        let mut at = part.at;
        while at < part.to {
            let piece = self.copied().piece(at, part.to);
            let mut source = None;
            for copy in 0..self.copied().copies() {
                let spot = self.copied().spot(&piece, copy);
                if !self.can_sync_read(part.ticket, spot, piece.count) {
                    continue;
                }
                match (part.kind, source) {
                    (SyncKind::Resync, Some(from)) => {
                        self.copy(context, part.stripe_request, from, spot, piece.count);
                    }
                    _ => {
                        self.add(context, part.stripe_request, Phase::Read, Access::Read, spot, piece.count);
                        source = Some(spot);
                    }
                }
            }
            if source.is_none() && self.has_met_errors(part.ticket) {
                let slot = self.copied().spot(&piece, 0).slot;
                self.lose_range(context, slot, at, piece.count);
            }
            if let Some(from) = source {
                self.rewrite_copies(context, part, &piece, from);
            }
            at += piece.count;
        }
    }

    /// Whether a place could not be read by this window, on a member that is there.
    fn is_bad(&mut self, ticket: Ticket, spot: Spot, count: u64) -> bool {
        self.is_right(spot, count) && !self.can_sync_read(ticket, spot, count)
    }

    /// Writes a piece back to the copies that could not give it.
    fn rewrite_copies(&mut self, context: &mut Context, part: Part, piece: &Piece, from: Spot) {
        for copy in 0..self.copied().copies() {
            let spot = self.copied().spot(piece, copy);
            if self.is_bad(part.ticket, spot, piece.count)
                && let Some(&Op { id, .. }) = self.last_added(part.stripe_request, from.slot, Phase::Read)
            {
                let write = self.repair(part.stripe_request, spot, piece.count);
                self.mix(context, write, spot.at, Source { id, at: from.at, factor: 1 }, piece.count);
            }
        }
    }

    /// Writes what could not be read of the part back to its members, made from what was read of the others.
    fn rewrite_rows(&mut self, context: &mut Context, part: Part) {
        let count = part.to - part.at;
        for slot in self.slots(part.group) {
            let spot = Spot { slot, at: part.at };
            if self.is_bad(part.ticket, spot, count) {
                let write = self.repair(part.stripe_request, spot, count);
                if context.data.is_some() {
                    self.mix_member(context, part, spot, write);
                }
            }
        }
    }

    /// The slots of a group.
    fn slots(&self, group: u16) -> Range<u16> {
        let members = self.rows().members() as u16;
        group * members..(group + 1) * members
    }

    /// Reads every other member of the group, and writes what follows to the new ones.
    fn rebuild_rows(&mut self, context: &mut Context, part: Part) {
        let Part { ticket, stripe_request, at, to, .. } = part;
        let count = to - at;
        let slots = self.slots(part.group);
        let parities = usize::from(self.rows().parities());
        let mut unreadable = 0;
        for slot in slots.clone() {
            unreadable += usize::from(!self.can_sync_read(ticket, Spot { slot, at }, count));
        }
        if unreadable > parities {
            if self.has_met_errors(ticket) {
                return self.lose_rows(context, part);
            }
            return self.sync.jobs[ticket.job].stop_at(at);
        }
        let readable = self.rows().members() - unreadable as u64;
        for slot in slots {
            if self.can_sync_read(ticket, Spot { slot, at }, count) {
                self.add(context, stripe_request, Phase::Read, Access::Read, Spot { slot, at }, count);
            }
        }
        for i in 0..self.sync.jobs[ticket.job].targets.len() {
            let Some((slot, from)) = self.needs(&part, i) else { continue };
            let write = self.add(
                context,
                stripe_request,
                Phase::Write,
                Access::Write,
                Spot { slot, at: from },
                to - from,
            );
            if context.data.is_some() {
                self.mix_member(context, part, Spot { slot, at: from }, write);
            }
        }
        self.stripe_requests.get_mut(stripe_request).computes = Sectors::new(count * readable).bytes().get();
        if self.has_met_errors(ticket) {
            self.rewrite_rows(context, part);
        }
    }

    /// Says how what is written to a new member follows from what was read, row by row.
    fn mix_member(&mut self, context: &mut Context, part: Part, into: Spot, write: u64) {
        let rows = self.rows();
        let mut at = into.at;
        while at < part.to {
            let row = rows.row_at(part.group.into(), at);
            let count = (rows.at(row) + rows.unit()).min(part.to) - at;
            self.mix_made(context, part.stripe_request, (write, row), Spot { at, ..into }, count);
            at += count;
        }
    }

    /// Of rows of which too much cannot be read, that is lost.
    fn lose_rows(&mut self, context: &mut Context, part: Part) {
        for slot in self.slots(part.group) {
            let mut at = part.at;
            while at < part.to {
                let spot = Spot { slot, at };
                let (held, left) = self.rows().held(spot);
                let count = left.min(part.to - at);
                if let Held::Data { first, .. } = held
                    && !self.can_sync_read(part.ticket, spot, count)
                {
                    self.lose_range(context, slot, first, count);
                }
                at += count;
            }
        }
    }

    /// Reads every member of the group; a resync then writes all parity that follows from what was read.
    fn compare_rows(&mut self, context: &mut Context, part: Part) {
        let Part { ticket, stripe_request, at, to, .. } = part;
        let (slots, parities) = (self.slots(part.group), usize::from(self.rows().parities()));
        let mut unreadable = 0;
        for slot in slots.clone() {
            let spot = Spot { slot, at };
            if self.can_sync_read(ticket, spot, to - at) {
                self.add(context, stripe_request, Phase::Read, Access::Read, spot, to - at);
            } else {
                unreadable += 1;
            }
        }
        if unreadable > parities && self.has_met_errors(ticket) {
            return self.lose_rows(context, part);
        }
        if part.kind == SyncKind::Resync && unreadable == 0 {
            self.write_all_parity(context, part);
        }
        if unreadable <= parities && self.has_met_errors(ticket) {
            self.rewrite_rows(context, part);
        }
    }

    /// Writes all parity of the part, as it follows from its data.
    fn write_all_parity(&mut self, context: &mut Context, part: Part) {
        let rows = self.rows();
        let mut at = part.at;
        while at < part.to {
            let row = rows.row_at(part.group.into(), at);
            let count = (rows.at(row) + rows.unit()).min(part.to) - at;
            for which in 0..rows.parities() {
                let spot = Spot { slot: rows.parity(row, which), at };
                let write = self.add(context, part.stripe_request, Phase::Write, Access::Write, spot, count);
                if context.data.is_some() {
                    self.mix_made(context, part.stripe_request, (write, row), spot, count);
                }
            }
            at += count;
        }
        let data = (part.to - part.at) * u64::from(rows.columns());
        self.stripe_requests.get_mut(part.stripe_request).computes = Sectors::new(data).bytes().get();
    }
}
