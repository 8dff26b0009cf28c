//! RAID 0, 1, 01 and 10: a write goes to all copies that there are, a read to one of them.
//!
//! Of several copies the array chooses for each piece. A copy on which the read goes on where the piece before it ended
//! is at no distance, so that pieces that lie one behind the other stay one command. Sources: the Linux kernel,
//! drivers/md/raid1.c and raid10.c (`read_balance`), for the nearest head, for idle members before busy ones and for the
//! fewest commands. Of several idle members md takes the first, and so leaves the others idle while one command at a time
//! is outstanding; here it is the nearest.
//!
//! A striped set of RAID 01 that misses a member is given up whole, because whoever stripes it can do nothing with what
//! is left; RAID 10 goes on with each pair by itself.
use super::super::errors::is_unread;
use super::super::layout::{Copied, Layout, Piece, Spot};
use super::super::params::ReadChoice;
use super::super::stripe_request::{Op, Owner, Phase, StripeRequest};
use super::{Array, Avoids, Source};
use crate::command::{Access, Outcome};
use crate::storage::context::Context;
use crate::storage::tree::{NONE, Slot};

/// What decides between copies for all pieces of a stripe request.
struct Wish {
    stripe_request: Slot,
    serial: u32,
    avoids: Avoids,
    /// Copies to be passed over before one is taken, where they take turns.
    turn: u64,
    takes_turns: bool,
}

impl Array {
    /// The layout of a level with copies.
    pub(in super::super) fn copied(&self) -> Copied {
        let Layout::Copied(copied) = &self.layout else { unreachable!("the plan of copies") };
        *copied
    }

    pub(super) fn plan_copied_write(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        let StripeRequest { first, end, .. } = *self.stripe_requests.get(slot);
        let (copied, most) = (self.copied(), self.params.request.get());
        let id = self.command_id(slot);
        let mut at = first;
        while at < end {
            let piece = copied.piece(at, end.min(at + most));
            let mut written = 0;
            for copy in 0..copied.copies() {
                let spot = copied.spot(&piece, copy);
                if !self.members.can_write(spot.slot) || self.is_given_up(&copied, copy) {
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

    pub(super) fn plan_copied_read(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        let StripeRequest { first, end, avoids, serial, .. } = *self.stripe_requests.get(slot);
        let (copied, most) = (self.copied(), self.params.request.get());
        let has_copies = copied.copies() > 1;
        // What one could not give is read from another, to write it back.
        let is_plain = avoids.is_empty() && !self.has_stale();
        if has_copies && self.params.reads == ReadChoice::AskAll && is_plain {
            return self.ask_all(context, slot, &copied);
        }
        let split = self.params.split.filter(|split| has_copies && end - first >= split.from.get());
        let takes_turns = split.is_some() || self.params.reads == ReadChoice::RoundRobin;
        let mut wish = Wish { stripe_request: slot, serial, avoids, turn: self.turns, takes_turns };
        self.turns += u64::from(has_copies);
        let id = self.command_id(slot);
        let mut at = first;
        while at < end {
            let mut upto = end.min(at + most);
            if let Some(split) = split {
                wish.turn = at / split.unit.get();
                upto = upto.min((wish.turn + 1) * split.unit.get());
            }
            let mut piece = copied.piece(at, upto);
            let mut chosen = self.choose(&copied, &piece, &wish);
            // Parts of it may stand on several members.
            if chosen.is_none() && self.has_stale() {
                piece = copied.piece(at, at + 1);
                chosen = self.choose(&copied, &piece, &wish);
            }
            let Some(spot) = chosen else { return Err(self.gone(avoids)) };
            let op = self.add(context, slot, Phase::Read, Access::Read, spot, piece.count);
            // Where the host has its answer already this is read to be written back.
            if id != u64::MAX {
                self.mix(context, id, at, Source { id: op, at: spot.at, factor: 1 }, piece.count);
            }
            self.repair_copies(context, slot, &copied, &piece, (op, spot));
            at += piece.count;
        }
        Ok(())
    }

    /// The copies of a piece that can be read.
    fn readable<'a>(
        &'a self,
        copied: &'a Copied,
        piece: &'a Piece,
        avoids: Avoids,
    ) -> impl Iterator<Item = Spot> + 'a {
        (0..copied.copies()).filter_map(move |copy| {
            let spot = copied.spot(piece, copy);
            (self.can_read(spot, piece.count, avoids) && !self.is_given_up(copied, copy)).then_some(spot)
        })
    }

    /// The copy that a piece is read from, if any can be.
    fn choose(&self, copied: &Copied, piece: &Piece, wish: &Wish) -> Option<Spot> {
        let mut readable = self.readable(copied, piece, wish.avoids);
        if copied.copies() == 1 {
            return readable.next();
        }
        if wish.takes_turns {
            let count = self.readable(copied, piece, wish.avoids).count() as u64;
            return readable.nth(wish.turn.checked_rem(count)? as usize);
        }
        match self.params.reads {
            ReadChoice::NearestHead => readable.min_by_key(|spot| {
                let distance = self.distance(wish, spot);
                (distance > 0 && self.members.get(spot.slot).outstanding > 0, distance)
            }),
            ReadChoice::LeastQueued => readable
                .min_by_key(|spot| (self.members.get(spot.slot).outstanding, self.distance(wish, spot))),
            ReadChoice::First | ReadChoice::RoundRobin | ReadChoice::AskAll => readable.next(),
        }
    }

    /// How far a spot lies from where the last command of its member ends, counting those that the stripe request has
    /// planned.
    fn distance(&self, wish: &Wish, spot: &Spot) -> u64 {
        let (serial, last) = self.last.0[usize::from(spot.slot)][Phase::Read as usize];
        let planned = (serial == wish.serial && last != NONE).then(|| self.ops.get(last));
        let planned = planned.filter(|op| op.stripe_request == wish.stripe_request && !op.is_out);
        planned.map_or(self.members.get(spot.slot).head, |op| op.at + op.count).abs_diff(spot.at)
    }

    /// Whether a copy cannot be had because another member of its striped set is missing.
    pub(in super::super) fn is_given_up(&self, copied: &Copied, copy: u16) -> bool {
        let is_short = |mut set: core::ops::Range<u16>| set.any(|slot| !self.members.can_write(slot));
        self.members.impaired > 0 && copied.set(copy).is_some_and(is_short)
    }

    /// Where a read of copies that are all asked is cut: the first answer must be one to all of it.
    pub(super) fn cut_at_piece(&self, copied: &Copied, at: u64, end: u64) -> u64 {
        if self.params.reads == ReadChoice::AskAll && copied.copies() > 1 {
            at + copied.piece(at, end.min(at + self.params.request.get())).count
        } else {
            end
        }
    }

    /// Asks every copy for a piece. Whose data the host gets is known with the first answer: see [`Self::first_answer`].
    fn ask_all(&mut self, context: &mut Context, slot: Slot, copied: &Copied) -> Result<(), Outcome> {
        let StripeRequest { first, end, avoids, .. } = *self.stripe_requests.get(slot);
        let piece = copied.piece(first, end);
        let mut asked = 0;
        for copy in 0..copied.copies() {
            let spot = copied.spot(&piece, copy);
            if self.readable(copied, &piece, avoids).any(|readable| readable == spot) {
                self.add(context, slot, Phase::Read, Access::Read, spot, piece.count);
                asked += 1;
            }
        }
        self.stripe_requests.get_mut(slot).takes_first = asked > 0;
        if asked == 0 { Err(self.gone(avoids)) } else { Ok(()) }
    }

    /// The first of several copies that were asked has answered: its data are the host's.
    pub(in super::super) fn first_answer(&self, context: &mut Context, op: &Op) {
        let StripeRequest { first, .. } = *self.stripe_requests.get(op.stripe_request);
        let (id, from) = (self.command_id(op.stripe_request), Source { id: op.id, at: op.at, factor: 1 });
        self.mix(context, id, first, from, op.count);
    }

    /// Whether a failed read does no harm, because another copy has answered or may still do so.
    pub(in super::super) fn is_not_missed(&mut self, op: &Op, outcome: Outcome) -> bool {
        let stripe_request = self.stripe_requests.get_mut(op.stripe_request);
        if stripe_request.owner == Owner::Request(NONE) {
            if is_unread(outcome) {
                self.unreadable.add(&mut stripe_request.avoids, op.spot(), op.count, outcome);
            }
            // What is to be written back has not come, wherever it is to be read from.
            stripe_request.is_spoilt = !stripe_request.avoids.is_empty();
            return true;
        }
        if !stripe_request.takes_first || stripe_request.pending == 0 {
            return false;
        }
        if is_unread(outcome) {
            self.unreadable.add(&mut stripe_request.avoids, op.spot(), op.count, outcome);
        }
        true
    }
}
