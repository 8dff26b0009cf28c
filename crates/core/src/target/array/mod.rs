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
mod health;
pub mod layout;
pub mod members;
pub mod params;
mod plan;
pub mod report;
mod strand;
mod sync;

use super::context::{Context, Event};
use super::drive::Drive;
use super::overlap::{Claim, Overlaps};
use super::slab::Slab;
use super::tree::{NONE, Slot};
use super::write_behind::OWN_IDS;
use crate::command::{Access, Attribute, Breakdown, Command, Completion, Outcome, Priority};
use crate::life::Life;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::{Bytes, Instant, Lba, Sectors, Span};
use layout::{Layout, LevelError};
use members::Members;
use params::ArrayParams;
use plan::LastOps;
use strand::{Op, Owner, Phase, Request, Strand};
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
    sync: Sync,
    /// Capacities of all drives, and which of the spares are left.
    capacities: Vec<u64>,
    spares: VecDeque<u16>,
    /// Goes on with each strand.
    clock: u64,
    ids: u64,
    /// Whoever computes parity is busy until then.
    computing_until: Instant,
    /// Commands of hosts so far, and when the last one came or was answered.
    taken: u64,
    busy_at: Instant,
    /// Commands of hosts that are not answered.
    outstanding: u32,
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
        Array {
            layout,
            members: Members::new(members),
            requests: Slab::default(),
            strands: Slab::default(),
            ops: Slab::default(),
            claims: Overlaps::new(),
            last: LastOps::new(members),
            sync: Sync::new(&params.sync),
            capacities: capacities.iter().map(|capacity| capacity.get()).collect(),
            spares: (members..members + spares).collect(),
            clock: 0,
            ids: 0,
            computing_until: Instant::ZERO,
            taken: 0,
            busy_at: Instant::ZERO,
            outstanding: 0,
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

    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Takes a command of a host.
    pub fn submit(&mut self, context: &mut Context<'_>, command: &Command) {
        let now = context.now;
        self.taken += 1;
        self.outstanding += 1;
        self.busy_at = now;
        self.fail_by_count(context);
        let request = self.requests.add(Request {
            command: *command,
            submitted: now,
            // Until all its strands have begun.
            strands: 1,
            outcome: Outcome::Done,
            is_answered: false,
        });
        let (first, end) = (command.first.get(), command.end().get());
        let mut at = first;
        loop {
            let next = if command.access == Access::Write { self.cut(at, end) } else { end };
            self.requests.get_mut(request).strands += 1;
            let strand = self.add_strand(now, Owner::Request(request), command.access, at, next);
            self.enter(context, strand);
            if next >= end {
                break;
            }
            at = next;
        }
        self.strand_is_done(context, request, Breakdown::default(), NONE);
    }

    fn add_strand(&mut self, now: Instant, owner: Owner, access: Access, first: u64, end: u64) -> Slot {
        self.clock += 1;
        let serial = self.clock as u32;
        self.strands.add(Strand::new(owner, access, first, end, now, serial))
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

    /// Nothing is in a strand's way: it is planned, and goes.
    fn begin(&mut self, context: &mut Context<'_>, slot: Slot) {
        let now = context.now;
        let strand = self.strands.get_mut(slot);
        strand.breakdown.queue += now - strand.since;
        strand.since = now;
        self.forget_read(context, slot);
        if let Err(outcome) = self.plan(context, slot) {
            self.forget_ops(slot);
            self.strands.get_mut(slot).outcome = outcome;
            return self.end_strand(context, slot);
        }
        self.go_on(context, slot);
    }

    /// Sends the commands of the next phase that has any; a strand that has none left is done.
    fn go_on(&mut self, context: &mut Context<'_>, slot: Slot) {
        for phase in Phase::ALL {
            let strand = self.strands.get_mut(slot);
            if strand.unsent[phase as usize] == NONE {
                continue;
            }
            if phase > Phase::Read && strand.computes > 0 {
                return self.compute(context, slot);
            }
            strand.phase = phase;
            return self.send(slot, phase);
        }
        self.end_strand(context, slot);
    }

    /// Parity is computed, by one for all, before anything is written.
    fn compute(&mut self, context: &mut Context<'_>, slot: Slot) {
        let strand = self.strands.get_mut(slot);
        let bytes = core::mem::take(&mut strand.computes);
        let time = self.params.parity.rate.map_or(Span::ZERO, |rate| rate.time_for(Bytes::new(bytes)));
        if time.is_zero() {
            return self.go_on(context, slot);
        }
        self.computing_until = self.computing_until.max(context.now) + time;
        let event = ArrayEvent::Computed { strand: slot, serial: strand.serial };
        context.agenda.schedule(self.computing_until, 2, Event::Array(event));
    }

    fn send(&mut self, slot: Slot, phase: Phase) {
        let strand = self.strands.get_mut(slot);
        let mut at = core::mem::replace(&mut strand.unsent[phase as usize], NONE);
        let like = match strand.owner {
            Owner::Request(request) => self.requests.get(request).command,
            Owner::Sync => sync::COMMAND,
        };
        while at != NONE {
            let op = self.ops.get_mut(at);
            let member = self.members.get_mut(op.slot);
            (op.drive, op.is_out) = (member.drive, true);
            member.outstanding += 1;
            member.head = op.at + op.count;
            strand.pending += 1;
            let command = Command {
                id: op.id,
                initiator: 0,
                tag: at,
                attribute: Attribute::Simple,
                priority: Priority::Normal,
                access: op.access,
                first: Lba::new(op.at),
                count: Sectors::new(op.count),
                ..like
            };
            self.below.push_back((op.drive, command));
            at = op.next;
        }
    }

    /// A member's command is done.
    pub fn completed(&mut self, context: &mut Context<'_>, completion: &Completion) {
        let op = *self.ops.get(completion.tag);
        debug_assert!(op.is_out && op.id == completion.id);
        self.members.get_mut(op.slot).outstanding -= 1;
        if context.lives.is_some() {
            self.tell(op.strand, op.id);
        }
        self.end_op(context, completion.tag, completion.outcome, completion.breakdown);
    }

    /// A command is not with its member any more.
    fn end_op(&mut self, context: &mut Context<'_>, at: Slot, outcome: Outcome, breakdown: Breakdown) {
        let op = *self.ops.get(at);
        self.ops.get_mut(at).is_out = false;
        self.ops.free(at);
        let strand = self.strands.get_mut(op.strand);
        strand.pending -= 1;
        if outcome != Outcome::Done {
            self.op_failed(context, &op, outcome);
        } else if strand.takes_first && !strand.is_spoilt {
            self.answer_early(context, op.strand, breakdown);
        }
        let strand = self.strands.get_mut(op.strand);
        if strand.pending > 0 {
            return;
        }
        strand.breakdown.add(&breakdown);
        strand.since = context.now;
        if strand.is_spoilt {
            self.plan_anew(context, op.strand);
        } else {
            self.go_on(context, op.strand);
        }
    }

    /// Of several copies that were asked one has answered: the host need not wait for the others.
    fn answer_early(&mut self, context: &mut Context<'_>, slot: Slot, breakdown: Breakdown) {
        let strand = self.strands.get_mut(slot);
        strand.takes_first = false;
        let mut total = strand.breakdown;
        total.add(&breakdown);
        if let Owner::Request(request) = strand.owner {
            strand.owner = Owner::Request(NONE);
            self.strand_is_done(context, request, total, slot);
        }
    }

    /// A strand could not read what it wanted to: it begins once more, with what it knows now.
    fn plan_anew(&mut self, context: &mut Context<'_>, slot: Slot) {
        self.forget_ops(slot);
        // Nothing is to become part of a command of the first plan.
        self.clock += 1;
        let serial = self.clock as u32;
        let strand = self.strands.get_mut(slot);
        (strand.is_spoilt, strand.computes, strand.phase) = (false, 0, Phase::Read);
        strand.serial = serial;
        self.begin(context, slot);
    }

    /// What was planned and not sent is given up.
    fn forget_ops(&mut self, slot: Slot) {
        for phase in Phase::ALL {
            let mut at = core::mem::replace(&mut self.strands.get_mut(slot).unsent[phase as usize], NONE);
            while at != NONE {
                self.ops.free(at);
                at = self.ops.get(at).next;
            }
        }
    }

    /// A strand has gone through all its phases, or cannot go on.
    fn end_strand(&mut self, context: &mut Context<'_>, slot: Slot) {
        let strand = self.strands.get(slot);
        let (owner, outcome, breakdown, claim) =
            (strand.owner, strand.outcome, strand.breakdown, strand.claim);
        if let Some(claim) = claim {
            self.claims.remove(slot, claim.write);
        }
        let mut held = core::mem::replace(&mut self.strands.get_mut(slot).held, NONE);
        self.strands.free(slot);
        match owner {
            Owner::Request(NONE) => {}
            Owner::Request(request) => {
                if outcome != Outcome::Done {
                    self.requests.get_mut(request).outcome = outcome;
                }
                self.strand_is_done(context, request, breakdown, slot);
            }
            Owner::Sync => self.sync_is_done(context, slot),
        }
        while held != NONE {
            let next = core::mem::replace(&mut self.strands.get_mut(held).next_held, NONE);
            self.look_again(context, held);
            held = next;
        }
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
            ArrayEvent::Sync => self.pump_sync(context),
            ArrayEvent::Replace { slot } => self.replace(context, slot),
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

    /// The story of a member's command that is about to end.
    pub fn lived(&mut self, life: Life) {
        self.life = Some(life);
    }

    /// Keeps the story of a member's command as that of its strand.
    fn tell(&mut self, strand: Slot, op: u64) {
        let Some(life) = self.life.take_if(|life| life.command.id == op) else { return };
        if self.lives.len() <= strand as usize {
            self.lives.resize(strand as usize + 1, None);
        }
        self.lives[strand as usize] = Some(life);
    }

    /// The story of a host's command: that of the member's command that was done last.
    fn told(&mut self, strand: Slot, command: &Command, completion: &Completion) -> Life {
        let last = self.lives.get_mut(strand as usize).and_then(Option::take);
        let Completion { outcome, submitted, completed, .. } = *completion;
        match last {
            Some(life) => {
                Life { command: *command, carried_by: command.id, outcome, submitted, completed, ..life }
            }
            None => Life::in_memory(command, completion),
        }
    }
}
