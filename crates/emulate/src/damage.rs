//! Acknowledged data that are destroyed while the power is on: by corruption, by the failure of a member, by a memory
//! that gives up, by a rebuild that finds sectors unreadable.
//!
//! While a write is under way, the sectors of its stripes cannot be judged: they are judged once it is over.
use crate::answered::AnsweredRanges;
use crate::engine::Engine;
use crate::held::Held;
use crate::ledger::{Cause, Lost};
use crate::lost::LostAddresses;
use crate::pending::PendingRequest;
use crate::session::{Damage, NAMED_MAX};
use crate::store::Store;
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::levels::Layout;
use drivelab_core::storage::array::report::{Report, ReportKind, Run};
use drivelab_core::storage::write_behind::{Piece, WriteBehind};
use drivelab_core::{Access, Command, Outcome};
use drivelab_data::Bytes;
use drivelab_units::{Instant, counted};
use std::collections::BTreeMap;
use std::ops::Range;

/// Something has happened that may have destroyed data.
pub(crate) struct Suspicion {
    cause: Cause,
    /// The writes that were under way at the first judgement; `None` before it.
    under_way: Option<Vec<u64>>,
}

/// What is known of losses, and what is still to be judged.
#[derive(Default)]
pub(crate) struct Losses {
    /// What may have destroyed data that are still to be judged.
    pub suspicion: Option<Suspicion>,
    pub named: NamedAsLost,
    /// What the array has lost with its members while writes were under way, each with the first id of a later command.
    pub runs: Vec<(Run, u64)>,
    /// The addresses that were listed as lost.
    pub so_far: LostAddresses,
    /// The changes of the array's bad blocks that are known.
    changes: u64,
    /// Whether what the array has reported as it began was judged.
    has_begun: bool,
}

/// What an array has named as lost and is not recorded yet: the first ranges of each run, and all sectors.
#[derive(Default)]
pub(crate) struct NamedAsLost {
    ranges: Vec<Lost>,
    sectors: u64,
}

impl NamedAsLost {
    fn add(&mut self, lost: Lost) {
        self.sectors += lost.sectors;
        match self.ranges.last_mut() {
            Some(last) if last.lba + last.sectors == lost.lba && last.cause == lost.cause => {
                last.sectors += lost.sectors;
            }
            _ => self.ranges.push(lost),
        }
    }
}

impl Engine {
    /// Something has happened to the drives that may have destroyed data.
    pub(crate) fn suspect(&mut self, cause: Cause) {
        self.losses.suspicion = Some(Suspicion { cause, under_way: None });
    }

    /// The same for an operation on data that may do so.
    pub(crate) fn suspect_op(&mut self, op: DataOp) {
        match op {
            DataOp::Corrupt { .. } => self.suspect(Cause::Corrupted),
            DataOp::GiveUp { .. } => self.suspect(Cause::GivenUp),
            _ => {}
        }
    }

    /// The same for what an array has reported. It names the addresses that it has lost itself; after a power cut all that
    /// was lost is judged together.
    pub(crate) fn suspect_report(&mut self, report: &Report) {
        match report.what {
            ReportKind::Failed { .. } => self.suspect(Cause::MemberFailed),
            ReportKind::Lost(run) if !self.is_off() => self.lose(run),
            _ => {}
        }
    }

    /// Notes what was answered of the addresses that the array has lost; the controller's memory still has some of them.
    fn lose(&mut self, run: Run) {
        let Some(answered) = self.store.answered_ranges() else { return };
        let (first, end) = (run.first.get(), run.end());
        let held = self.unwritten_within(first, end);
        let is_unread = run.times == 1
            && self.model.target.array().is_some_and(|array| array.bad_blocks().cover(first, end));
        let cause = if is_unread { Cause::Unreadable } else { Cause::MissingMembers };
        let in_memory =
            held.within(run).flat_map(|(from, to)| from..to).filter(|&at| answered.has(at)).count();
        let sectors = answered.count_within(run) - in_memory as u64;
        self.losses.named.sectors += sectors;
        if !is_unread {
            self.losses.so_far.add_run(run, sectors, answered);
        }
        for (from, to) in answered.within(run).take(NAMED_MAX) {
            let mut lba = from;
            for (held_from, held_to) in held.overlapping(from, to).chain([(to, to)]) {
                if lba < held_from {
                    self.losses.named.ranges.push(Lost { lba, sectors: held_from - lba, cause });
                    if is_unread {
                        self.losses.so_far.add(lba, held_from);
                    }
                }
                lba = held_to;
            }
        }
        if is_unread {
            self.store.give_up(first, end);
        } else if !self.orders.is_empty() {
            self.losses.runs.push((run, self.next_id));
        }
    }

    /// A write has ended well: what the array has lost of it while it was under way is lost with its members. What was
    /// answered there before, was listed then.
    pub(crate) fn lose_unanswered(&mut self, command: &Command, outcome: Outcome) {
        if self.losses.runs.is_empty() {
            return;
        }
        if command.access == Access::Write && outcome == Outcome::Done {
            self.lose_late(command.first.get(), command.end().get());
        }
        let oldest = self.orders.keys().next().copied().unwrap_or(u64::MAX);
        self.losses.runs.retain(|(_, later)| oldest < *later);
    }

    /// Notes what a write that has just been answered has put into addresses that were lost meanwhile.
    fn lose_late(&mut self, first: u64, end: u64) {
        let Some(answered) = self.store.answered_ranges() else { return };
        let held = self.unwritten_within(first, end);
        let is_lost = |at: &u64| self.losses.runs.iter().any(|(run, _)| run.has(*at));
        let late: Vec<u64> =
            (first..end).filter(is_lost).filter(|&at| !answered.has(at) && !held.has(at)).collect();
        for at in late {
            self.losses.named.add(Lost { lba: at, sectors: 1, cause: Cause::MissingMembers });
            self.losses.so_far.add_late(at);
        }
    }

    /// A write is answered. If it has ended well, those of its addresses that are the array's bad blocks now were lost
    /// while it was under way, unless the controller's memory has them.
    pub(crate) fn note_written(&mut self, order: &PendingRequest, outcome: Outcome) {
        if outcome != Outcome::Done {
            return;
        }
        let (at, to) = (order.at, order.at + order.count);
        let Some(array) = self.model.target.array().filter(|array| array.bad_blocks().touch(at, to)) else {
            return;
        };
        let bad: Vec<(u64, u64)> = array.bad_blocks().within(at, to).collect();
        let held = self.unwritten_within(at, to);
        for (from, to) in bad {
            let mut first = from;
            for (held_from, held_to) in held.overlapping(from, to).chain([(to, to)]) {
                if first < held_from {
                    self.losses.named.add(Lost {
                        lba: first,
                        sectors: held_from - first,
                        cause: Cause::Unreadable,
                    });
                    self.losses.so_far.add(first, held_from);
                    self.store.give_up(first, held_from);
                }
                first = held_to;
            }
        }
    }

    /// Whether the array's bad blocks have changed since the last call.
    pub(crate) fn have_bad_blocks_changed(&mut self) -> bool {
        let changes = self.model.target.array().map_or(0, |array| array.bad_blocks().changes());
        std::mem::replace(&mut self.losses.changes, changes) != changes
    }

    /// Records the acknowledged data that were destroyed, if anything has happened that may do so.
    pub(crate) fn judge(&mut self, now: Instant) {
        if self.losses.named.sectors > 0 {
            let lost = std::mem::take(&mut self.losses.named);
            self.log.record_lost(now, lost.ranges, lost.sectors, !self.losses.has_begun);
        }
        self.losses.has_begun = true;
        let Some(suspicion) = self.losses.suspicion.as_ref().filter(|_| !self.is_off()) else { return };
        let is_waiting = suspicion.under_way.as_ref();
        if is_waiting.is_some_and(|ids| ids.iter().any(|id| self.orders.contains_key(id)))
            || self.model.target.controller_cache().is_some_and(|cache| cache.flushing() > 0)
        {
            return;
        }
        let cause = suspicion.cause;
        let is_write = |id: &u64| self.orders[id].access == Access::Write;
        let ids: Vec<u64> = self.orders.keys().copied().filter(is_write).collect();
        let is_last = suspicion.under_way.is_some() || ids.is_empty();
        let lost = self.destroyed(cause);
        self.losses.suspicion = (!is_last).then_some(Suspicion { cause, under_way: Some(ids) });
        if !lost.is_empty() {
            lost.iter().for_each(|lost| self.losses.so_far.add(lost.lba, lost.lba + lost.sectors));
            self.log.record_damage(Damage::new(now, lost));
        }
    }

    /// The acknowledged data that are not there any more, except for stripes with a write under way.
    fn destroyed(&mut self, cause: Cause) -> Vec<Lost> {
        let memory = self.in_memory();
        let array = self.model.target.array();
        let busy: Vec<Range<u64>> = self
            .orders
            .values()
            .filter(|order| order.access == Access::Write)
            .map(|order| together(array, order.at, order.count))
            .collect();
        let Store::Modelled(modelled) = &mut self.store else { return Vec::new() };
        let held = Held::new(array, modelled.data.media());
        let found = |at: u64| match memory.get(&at) {
            _ if busy.iter().any(|range| range.contains(&at)) => Vec::new(),
            Some(cell) => vec![Some(cell.clone())],
            None => held.found(at),
        };
        let cause = |_, found: Option<&Bytes>| if found.is_some() { cause } else { Cause::MissingMembers };
        let mut lost = modelled.ledger.lost(found, |_, _| false, cause);
        // The array names these, whether they were at rest or not.
        lost.retain(|lost| lost.cause != Cause::MissingMembers);
        lost
    }

    /// Which of these addresses the controller's memory has and no drive has been given.
    fn unwritten_within(&self, first: u64, end: u64) -> AnsweredRanges {
        let mut held = AnsweredRanges::default();
        for piece in self.model.target.controller_cache().into_iter().flat_map(WriteBehind::unwritten) {
            let (from, to) = (piece.first.get().max(first), (piece.first + piece.count).get().min(end));
            if from < to {
                held.add(from, to);
            }
        }
        held
    }

    /// The data that the controller's memory has and no drive has been given.
    pub(crate) fn in_memory(&self) -> BTreeMap<u64, Bytes> {
        let (Store::Modelled(modelled), Some(cache)) = (&self.store, self.model.target.controller_cache())
        else {
            return BTreeMap::new();
        };
        let contents_of = |piece: Piece| {
            let (first, count) = (piece.first.get(), piece.count.get());
            Some((first..).zip(modelled.data.peek(piece.write, first, count).ok()?))
        };
        // Newer data come later.
        cache.unwritten().filter_map(contents_of).flatten().collect()
    }

    /// What an action has destroyed, for its answer: the damage recorded since there were `before` entries.
    pub(crate) fn damage_since(&self, before: usize) -> String {
        let new = self.log.damage.iter().skip(before);
        new.map(|damage| {
            let cause = damage.lost.first().map_or("", |lost| lost.cause.in_words());
            let are = if damage.lost_sectors == 1 { "is" } else { "are" };
            format!("; {} {are} lost {cause}", counted(damage.lost_sectors, "answered sector"))
        })
        .collect()
    }
}

/// The addresses whose data may be computed from these while they are being written.
fn together(array: Option<&Array>, first: u64, count: u64) -> Range<u64> {
    let end = first + count;
    match array.map(Array::layout) {
        Some(Layout::Rows(rows)) => {
            let row = rows.row_data();
            first / row * row..end.div_ceil(row) * row
        }
        _ => first..end,
    }
}
