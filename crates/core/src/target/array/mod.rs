//! Arrays: several drives that look like one. A command of a host becomes commands of the members, with an order among
//! them.
//!
//! - [`layout`] says where the addresses of the array lie, one file a family of levels.
//! - [`plan`] turns a strand into members' commands, one file a way of reading or writing.
//! - [`strand`] says what a strand is; this file carries them out: claims, phases, answers.
//! - [`members`] knows which drive has which slot and what of it is right; [`health`] acts on failures, [`sync`] goes over
//!   the members by itself.
//!
//! Two strands that touch the same blocks, of which one writes, never run at once where that could leave copies that
//! differ or parity that does not fit: the younger waits. Start reading at [`Array::submit`].
mod avoids;
mod gf;
mod health;
pub mod layout;
mod losses;
pub mod members;
pub mod params;
mod phases;
mod plan;
pub mod report;
mod stories;
mod strand;
pub mod sync;

use super::context::Context;
use super::drive::Drive;
use super::holes::Holes;
use super::overlap::{Claim, Overlaps};
use super::slab::Slab;
use super::tree::{NONE, Slot};
use super::write_behind::OWN_IDS;
use crate::command::{Access, Breakdown, Command, Completion, Outcome};
use crate::life::Life;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use avoids::Unreadable;
use drivelab_units::{Instant, Lba, Sectors};
use health::Condition;
use layout::{Layout, LevelError};
use members::Members;
use params::ArrayParams;
pub use plan::{Bit, Logged};
use plan::{Bitmap, Brought, LastOps, Logs};
use strand::{Op, Owner, Request, Strand};
use sync::Sync;

/// The ids of members' commands begin here, among those that no host has issued.
const OP_IDS: u64 = OWN_IDS | 1 << 51;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayEvent {
    /// The parity of the strand that took this place as the so many-th is computed.
    Computed { strand: u32, serial: u32 },
    /// The array looks after its own work.
    Sync,
    /// A new drive takes this slot.
    Replace { slot: u16 },
    /// This region may have been left alone for long enough to clear its bit.
    Unmark { region: u32 },
    /// Work that was put down for now begins.
    Begin { scheduled: u16 },
}

/// What the array says to above.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Answered {
    pub completion: Completion,
    /// The story of the member's command that was done last, told of the host's, when stories are kept.
    pub life: Option<Life>,
}

pub struct Array {
    params: ArrayParams,
    layout: Layout,
    members: Members,
    requests: Slab<Request>,
    strands: Slab<Strand>,
    ops: Slab<Op>,
    claims: Overlaps,
    /// What a plan has added last for each member, so that what lies behind it becomes part of the same command.
    last: LastOps,
    /// What a plan reads of a row, and what it writes of it.
    brought: Brought,
    written: Vec<Option<u64>>,
    logs: Logs,
    bitmap: Option<Bitmap>,
    /// Which drives answer writes that are not on their media, and whether any of a member or a spare does.
    forgets: Vec<bool>,
    any_forgets: bool,
    sync: Sync,
    /// Which of the spares are left.
    spares: VecDeque<u16>,
    /// What a rebuild could not read.
    holes: Holes,
    /// What strands have met that cannot be read.
    unreadable: Unreadable,
    /// Sectors that were written back because they could not be read.
    repaired: u64,
    condition: Condition,
    /// Goes on with each strand.
    clock: u64,
    ids: u64,
    /// Whoever computes parity is busy until then.
    computing_until: Instant,
    /// Reads so far that could have come from several copies.
    turns: u64,
    /// Commands of hosts so far, and when the last one came or was answered.
    taken: u64,
    busy_at: Instant,
    /// Commands of hosts that are not answered.
    outstanding: u32,
    /// Commands of hosts that wait for one of those, and when they came.
    waiting: VecDeque<(Command, Instant)>,
    /// Whether they are being let in.
    lets_in: bool,
    /// Strands that nothing holds any more and that have not been looked at again, in a chain through `next_held`.
    released: Slot,
    /// Whether those are being looked at.
    releases: bool,
    below: VecDeque<(u16, Command)>,
    answers: VecDeque<Answered>,
    /// The last story of a member's command.
    life: Option<Life>,
    /// By strand: the story of what ended last, when stories are kept.
    lives: Vec<Option<Life>>,
}

impl Array {
    /// # Panics
    /// When the parameters contradict each other or the drives: see [`ArrayParams::check`].
    pub fn new(params: &ArrayParams, drives: &[&Drive]) -> Self {
        let capacities: Vec<Sectors> = drives.iter().map(|drive| drive.capacity()).collect();
        let layout = Layout::new(params, &capacities).unwrap_or_else(|error: LevelError| panic!("{error}"));
        let ArrayParams { members, spares, .. } = *params;
        let is_back = |drive: &&Drive| drive.model().cache.is_some_and(|cache| cache.write_back.is_some());
        let forgets: Vec<bool> = drives.iter().map(|drive| is_back(drive)).collect();
        let least = capacities[..usize::from(members)].iter().min().map_or(0, |least| least.get());
        Array {
            layout,
            members: Members::new(members),
            requests: Slab::default(),
            strands: Slab::default(),
            ops: Slab::default(),
            claims: Overlaps::new(),
            last: LastOps::new(members),
            brought: Brought::new(members),
            written: Vec::new(),
            logs: Logs::new(params, &drives.iter().map(|drive| drive.capacity().get()).collect::<Vec<_>>()),
            bitmap: Bitmap::new(params, least),
            any_forgets: forgets[..usize::from(members + spares)].contains(&true),
            forgets,
            sync: Sync::new(&params.sync),
            spares: (members..members + spares).collect(),
            holes: Holes::default(),
            unreadable: Unreadable::default(),
            repaired: 0,
            condition: Condition::default(),
            clock: 0,
            ids: 0,
            computing_until: Instant::ZERO,
            turns: 0,
            taken: 0,
            busy_at: Instant::ZERO,
            outstanding: 0,
            waiting: VecDeque::new(),
            lets_in: false,
            released: NONE,
            releases: false,
            below: VecDeque::with_capacity(64),
            answers: VecDeque::with_capacity(64),
            life: None,
            lives: Vec::new(),
            params: params.clone(),
        }
    }

    pub fn capacity(&self) -> Sectors {
        self.layout.capacity()
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// To be called before anything else by an array that comes up where another one was cut off: metadata on the members
    /// tell where the records of a pool lie.
    pub fn come_up_after(&mut self, before: &Array) {
        if let (Layout::RaidZ(pool), Layout::RaidZ(before)) = (&mut self.layout, &before.layout) {
            pool.lie_as(before);
        }
    }

    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Takes a command of a host.
    pub fn submit(&mut self, context: &mut Context<'_>, command: &Command) {
        self.taken += 1;
        self.busy_at = context.now;
        self.fail_by_count(context);
        if self.has_room() {
            self.take(context, command, context.now);
        } else {
            self.waiting.push_back((*command, context.now));
        }
    }

    /// A command begins that came at `submitted`.
    fn take(&mut self, context: &mut Context<'_>, command: &Command, submitted: Instant) {
        self.outstanding += 1;
        let outcome = self.meet_holes(command);
        let request = self.requests.add(Request {
            command: *command,
            submitted,
            // Until all its strands have begun.
            strands: 1,
            outcome,
        });
        let (first, end) = (command.first.get(), command.end().get());
        let mut at = first;
        loop {
            let next = self.cut(command.access, at, end);
            self.requests.get_mut(request).strands += 1;
            let strand = self.add_strand(submitted, Owner::Request(request), command.access, at, next);
            self.enter(context, strand);
            if next >= end {
                break;
            }
            at = next;
        }
        let breakdown = Breakdown { queue: context.now - submitted, ..Breakdown::default() };
        self.strand_is_done(context, request, breakdown, NONE);
    }

    fn add_strand(&mut self, since: Instant, owner: Owner, access: Access, first: u64, end: u64) -> Slot {
        self.clock += 1;
        let serial = self.clock as u32;
        self.strands.add(Strand::new(owner, access, first, end, since, serial))
    }

    /// A strand comes: it begins, unless it must wait for an older one that has some of its blocks.
    fn enter(&mut self, context: &mut Context<'_>, slot: Slot) {
        if let Some((write, first, end)) = self.blocks_of(self.strands.get(slot)) {
            let claim = Claim { write, first: Lba::new(first), end: Lba::new(end), age: self.clock };
            let blocker = self.claims.blocker(&claim);
            self.claims.insert(slot, &claim);
            self.strands.get_mut(slot).claim = Some(claim);
            if let Some(blocker) = blocker {
                return self.hold(blocker, slot);
            }
        }
        self.begin(context, slot);
    }

    fn hold(&mut self, blocker: Slot, slot: Slot) {
        let held = core::mem::replace(&mut self.strands.get_mut(blocker).held, slot);
        self.strands.get_mut(slot).next_held = held;
    }

    /// A strand has gone through all its phases, or cannot go on.
    fn end_strand(&mut self, context: &mut Context<'_>, slot: Slot) {
        self.settle_records(slot);
        self.unreadable.clear(&mut self.strands.get_mut(slot).avoids);
        let &Strand { owner, outcome, breakdown, claim, first, end, is_marked, .. } = self.strands.get(slot);
        if is_marked {
            self.unmark(context, slot);
        }
        let record = self.logs.leave(slot);
        if let Some(claim) = claim {
            self.claims.remove(slot, claim.write);
        }
        let held = core::mem::replace(&mut self.strands.get_mut(slot).held, NONE);
        self.strands.free(slot);
        match owner {
            Owner::Request(NONE) => {}
            Owner::Request(request) => {
                // What was lost before is no less so.
                let known = &mut self.requests.get_mut(request).outcome;
                if outcome != Outcome::Done && *known != Outcome::Lost {
                    *known = outcome;
                }
                self.strand_is_done(context, request, breakdown, slot);
            }
            Owner::Sync => self.sync_is_done(context, slot),
            Owner::Bitmap => self.is_cleared(context, first),
            Owner::Log => self.log_is_free(context, first, end),
        }
        self.release(context, held);
        if self.logs.is_kept() {
            self.leave_logs(context, record);
        }
    }

    /// Strands are not held any more: they are looked at again. One that ends at once, because too many members are
    /// missing, leaves those that it held to the same loop: a chain of them may be longer than the stack is deep.
    fn release(&mut self, context: &mut Context<'_>, held: Slot) {
        let mut last = held;
        while last != NONE {
            let next = &mut self.strands.get_mut(last).next_held;
            last = *next;
            if last == NONE {
                *next = self.released;
                self.released = held;
            }
        }
        if core::mem::replace(&mut self.releases, true) {
            return;
        }
        while self.released != NONE {
            let slot = self.released;
            self.released = core::mem::replace(&mut self.strands.get_mut(slot).next_held, NONE);
            self.look_again(context, slot);
        }
        self.releases = false;
    }

    /// A strand that held this one is done.
    fn look_again(&mut self, context: &mut Context<'_>, slot: Slot) {
        let Some(claim) = self.strands.get(slot).claim else { unreachable!("it waits for its blocks") };
        match self.claims.blocker(&claim) {
            Some(blocker) => self.hold(blocker, slot),
            None => self.begin(context, slot),
        }
    }

    /// One of a request's strands is done; with the last of them the host hears of it.
    fn strand_is_done(
        &mut self,
        context: &mut Context<'_>,
        request: Slot,
        breakdown: Breakdown,
        strand: Slot,
    ) {
        let entry = self.requests.get_mut(request);
        entry.strands -= 1;
        if entry.strands > 0 {
            return;
        }
        let Request { command, submitted, outcome, .. } = *entry;
        self.requests.free(request);
        self.outstanding -= 1;
        self.busy_at = context.now;
        let Command { id, initiator, tag, .. } = command;
        let completed = context.now;
        debug_assert_eq!(breakdown.total(), completed - submitted);
        let completion = Completion { id, initiator, tag, outcome, submitted, completed, breakdown };
        let life = context.lives.is_some().then(|| self.told(strand, &command, &completion));
        self.answers.push_back(Answered { completion, life });
        self.let_in(context);
        if self.outstanding == 0 {
            self.may_become_idle(context);
        }
    }

    /// Commands that wait begin, as many as may. One that ends at once makes room for the next in the same loop: there may
    /// be more of them than the stack is deep.
    fn let_in(&mut self, context: &mut Context<'_>) {
        if self.waiting.is_empty() || core::mem::replace(&mut self.lets_in, true) {
            return;
        }
        while self.has_room()
            && let Some((command, came)) = self.waiting.pop_front()
        {
            self.take(context, &command, came);
        }
        self.lets_in = false;
    }

    fn has_room(&self) -> bool {
        self.params.depth.is_none_or(|depth| self.outstanding < depth)
    }

    pub fn on_event(&mut self, context: &mut Context<'_>, event: ArrayEvent) {
        match event {
            ArrayEvent::Computed { strand: slot, serial } => {
                let strand = self.strands.get_mut(slot);
                debug_assert_eq!(strand.serial, serial);
                strand.breakdown.overhead += context.now - strand.since;
                strand.since = context.now;
                self.go_on(context, slot);
            }
            ArrayEvent::Sync => self.wake_sync(context),
            ArrayEvent::Replace { slot } => self.replace(context, slot),
            ArrayEvent::Unmark { region } => self.clear_region(context, region),
            ArrayEvent::Begin { scheduled } => self.begin_scheduled(context, scheduled),
        }
    }

    /// The next command for a drive. Its tag is the array's own.
    #[inline]
    pub fn poll_below(&mut self) -> Option<(u16, Command)> {
        self.below.pop_front()
    }

    /// The next answer to above.
    #[inline]
    pub fn poll_answer(&mut self) -> Option<Answered> {
        self.answers.pop_front()
    }
}
