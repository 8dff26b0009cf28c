//! RAID 0, 1, 01 and 10: a write goes to all copies that are present, a read to one of them.
//!
//! Among several copies the array chooses for each piece. A copy on which the read would continue where the
//! piece before it ended is at distance zero, so that contiguous pieces stay one command. Sources: the Linux
//! kernel, drivers/md/raid1.c and raid10.c (`read_balance`), for the nearest head, for idle members before
//! busy ones and for the fewest commands. Of several idle members md takes the first, and so leaves the
//! others idle while one command at a time is outstanding; here it is the nearest.
//!
//! A striped set of RAID 01 with a member missing is given up as a whole, because the layer that stripes it
//! cannot use what is left; RAID 10 continues with each pair by itself.
use super::{Copied, Piece};
use crate::command::{Access, Outcome};
use crate::storage::array::members::Members;
use crate::storage::array::members::Spot;
use crate::storage::array::params::{ArrayParams, ReadChoice};
use crate::storage::array::plan::{Plan, Source};
use crate::storage::array::stripe_request::Phase;

/// What decides the choice of a copy for all pieces of a stripe request.
struct CopyChoice {
    /// How many copies to skip before one is taken, where they take turns.
    turn: u64,
    takes_turns: bool,
}

impl Copied {
    pub(crate) fn write(&self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        let (first, end) = plan.range();
        let most = plan.most();
        let id = plan.command_id();
        let mut at = first;
        while at < end {
            let piece = self.piece(at, end.min(at + most));
            let mut written = 0;
            for copy in 0..self.copies() {
                let spot = self.spot(&piece, copy);
                if !plan.members().can_write(spot.slot) || self.is_given_up(plan.members(), copy) {
                    continue;
                }
                written += 1;
                let op = plan.add(Phase::Write, Access::Write, spot, piece.count);
                plan.mix(op, spot.at, Source { id, at, factor: 1 }, piece.count);
            }
            if written == 0 {
                return Err(Outcome::Lost);
            }
            at += piece.count;
        }
        Ok(())
    }

    pub(crate) fn read(&self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        let (first, end) = plan.range();
        let unreadable = plan.unreadable();
        let most = plan.most();
        let has_copies = self.copies() > 1;
        if !has_copies && plan.members().impaired == 0 && unreadable.is_empty() {
            self.read_as_it_lies(plan);
            return Ok(());
        }
        // What one copy could not deliver is read from another, to be written back.
        let is_plain = unreadable.is_empty() && !plan.has_stale();
        if has_copies && plan.params().reads == ReadChoice::AskAll && is_plain {
            return self.ask_all(plan);
        }
        let split = plan.params().split.filter(|split| has_copies && end - first >= split.from.get());
        let takes_turns = split.is_some() || plan.params().reads == ReadChoice::RoundRobin;
        let mut choice = CopyChoice { turn: plan.take_turn(has_copies), takes_turns };
        let id = plan.command_id();
        let mut at = first;
        while at < end {
            let mut upto = end.min(at + most);
            if let Some(split) = split {
                choice.turn = at / split.unit.get();
                upto = upto.min((choice.turn + 1) * split.unit.get());
            }
            let mut piece = self.piece(at, upto);
            let mut chosen = self.choose(plan, &piece, &choice);
            // Its valid sectors may be on different members.
            if chosen.is_none() && plan.has_stale() {
                piece = self.piece(at, at + 1);
                chosen = self.choose(plan, &piece, &choice);
            }
            let Some(spot) = chosen else { return Err(plan.unreadable_outcome()) };
            let op = plan.add(Phase::Read, Access::Read, spot, piece.count);
            // Where the host has its answer already, this is read only to be written back.
            if id != u64::MAX {
                plan.mix(id, at, Source { id: op, at: spot.at, factor: 1 }, piece.count);
            }
            self.repair_copies(plan, &piece, (op, spot));
            at += piece.count;
        }
        Ok(())
    }

    /// Reads where there is one copy and all members are present.
    fn read_as_it_lies(&self, plan: &mut Plan<'_>) {
        let (first, end) = plan.range();
        let (id, most) = (plan.command_id(), plan.most());
        let mut at = first;
        while at < end {
            let piece = self.piece(at, end.min(at + most));
            let spot = self.spot(&piece, 0);
            let op = plan.add(Phase::Read, Access::Read, spot, piece.count);
            plan.mix(id, at, Source { id: op, at: spot.at, factor: 1 }, piece.count);
            at += piece.count;
        }
    }

    /// The copies of a piece that can be read.
    fn readable<'a>(&'a self, plan: &'a Plan<'_>, piece: &'a Piece) -> impl Iterator<Item = Spot> + 'a {
        (0..self.copies()).filter_map(move |copy| {
            let spot = self.spot(piece, copy);
            (plan.can_read(spot, piece.count) && !self.is_given_up(plan.members(), copy)).then_some(spot)
        })
    }

    /// The copy that a piece is read from, if any can be.
    fn choose(&self, plan: &Plan<'_>, piece: &Piece, choice: &CopyChoice) -> Option<Spot> {
        let mut readable = self.readable(plan, piece);
        if self.copies() == 1 {
            return readable.next();
        }
        if choice.takes_turns {
            let count = self.readable(plan, piece).count() as u64;
            return readable.nth(choice.turn.checked_rem(count)? as usize);
        }
        match plan.params().reads {
            ReadChoice::NearestHead => readable.min_by_key(|spot| {
                let distance = plan.head(spot.slot).abs_diff(spot.at);
                (distance > 0 && plan.members().get(spot.slot).outstanding > 0, distance)
            }),
            ReadChoice::LeastQueued => readable.min_by_key(|spot| {
                (plan.members().get(spot.slot).outstanding, plan.head(spot.slot).abs_diff(spot.at))
            }),
            ReadChoice::First | ReadChoice::RoundRobin | ReadChoice::AskAll => readable.next(),
        }
    }

    /// Whether a copy cannot be read because a member of its striped set is missing.
    pub(crate) fn is_given_up(&self, members: &Members, copy: u16) -> bool {
        let is_short = |mut set: core::ops::Range<u16>| set.any(|slot| !members.can_write(slot));
        members.impaired > 0 && self.set(copy).is_some_and(is_short)
    }

    /// The end of a read that goes to all copies: the first answer must cover all of it.
    pub(crate) fn cut_at_piece(&self, params: &ArrayParams, at: u64, end: u64) -> u64 {
        if params.reads == ReadChoice::AskAll && self.copies() > 1 {
            at + self.piece(at, end.min(at + params.request.get())).count
        } else {
            end
        }
    }

    /// Reads a piece from every copy. The first answer decides whose data the host gets.
    fn ask_all(&self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        let (first, end) = plan.range();
        let piece = self.piece(first, end);
        let mut issued = 0;
        for copy in 0..self.copies() {
            let spot = self.spot(&piece, copy);
            if self.readable(plan, &piece).any(|readable| readable == spot) {
                plan.add(Phase::Read, Access::Read, spot, piece.count);
                issued += 1;
            }
        }
        if issued == 0 {
            return Err(plan.unreadable_outcome());
        }
        plan.take_first_answer();
        Ok(())
    }
}
