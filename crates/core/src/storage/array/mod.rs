//! Arrays: several drives that look like one. A host's command becomes members' commands, in a certain order.
//!
//! - [`levels`] has a folder for each family of RAID levels: where addresses lie, how they are read and
//!   written, what a failure costs, what background work covers. The array asks a level what
//!   [`levels::RaidLevel`] lists, and no more.
//! - [`state`] is what the array holds for all of that; [`plan`] is what a level sees of it when it makes the
//!   commands of a stripe request; [`logs`] and [`bitmap`] add what must be recorded before the members are
//!   written; in [`marking`] and `logs/room.rs` stripe requests wait for that.
//! - [`stripe_request`] defines stripe requests; [`admission`] counts hosts' commands and queues those that
//!   wait, this file cuts them and answers hosts, [`claims`] knows which stripe request holds which blocks,
//!   [`waiting`] which one waits for which, [`phases`] takes a stripe request through its phases,
//!   [`processors`] has the computing time that this takes, [`below`] hands members' commands over.
//! - [`members`] knows which drive is in which slot and which of its data are valid; [`errors`] defines what
//!   happens when a member fails a command, [`health`] handles failures, [`condition`] has what they leave behind,
//!   [`defects`] and [`unreadable`] record which data are invalid or could not be read, [`background`] runs
//!   rebuild, resync and scrub.
//! - [`report`] reports what happened, [`traces`] records commands.
//!
//! Two stripe requests that touch the same blocks, at least one of which writes, never run at once where that
//! could leave copies that differ or parity that does not match: the younger waits. Start reading at
//! [`Array::submit`].
mod admission;
pub(crate) mod background;
mod below;
mod bitmap;
mod claims;
mod condition;
mod defects;
mod errors;
mod health;
pub mod levels;
pub(crate) mod logs;
mod marking;
pub mod members;
pub mod params;
mod phases;
mod plan;
mod processors;
pub mod report;
pub mod reserved;
mod state;
mod stripe_request;
mod traces;
mod unreadable;
mod waiting;

use super::context::Context;
use super::drive::Drive;
use super::events::ArrayEvent;
use super::overlap::Claim;
use super::tree::{NONE, Slot};
use crate::command::{Access, Breakdown, Command, Completion, Outcome};
use crate::fifo::Fifo;
use crate::trace::CommandTrace;
use admission::Admission;
use alloc::vec::Vec;
use background::Background;
use below::Below;
pub use bitmap::Bit;
use bitmap::IntentBitmap;
use claims::Claims;
use condition::{Condition, Errors};
use drivelab_units::{Instant, Lba, Sectors};
use levels::{Layout, LevelError};
pub use logs::Logged;
use logs::Logs;
use members::Members;
use params::ArrayParams;
use processors::Processors;
use state::ArrayState;
use stripe_request::{Owner, Request, StripeRequest};
use traces::Traces;
use waiting::Released;

/// One array: turns commands of hosts into commands of members, and does its own background work. An embedder
/// gets it from [`System::array`](super::system::System::array), read-only.
pub struct Array {
    layout: Layout,
    state: ArrayState,
    admission: Admission,
    claims: Claims,
    released: Released,
    bitmap: Option<IntentBitmap>,
    background: Background,
    errors: Errors,
    condition: Condition,
    processors: Processors,
    below: Below,
    answers: Fifo<Completion>,
    traces: Traces,
}

impl Array {
    /// # Panics
    /// When the parameters contradict each other or the drives: see [`ArrayParams::check`].
    pub fn new(params: &ArrayParams, drives: &[&Drive]) -> Self {
        let capacities: Vec<Sectors> = drives.iter().map(|drive| drive.capacity()).collect();
        let layout = Layout::new(params, &capacities).unwrap_or_else(|error: LevelError| panic!("{error}"));
        let ArrayParams { members, spares, .. } = *params;
        let forgets: Vec<bool> = drives.iter().map(|drive| drive.model().caches_writes()).collect();
        let least = capacities[..usize::from(members)].iter().min().map_or(0, |least| least.get());
        let logs = Logs::new(params, &capacities.iter().map(|capacity| capacity.get()).collect::<Vec<_>>());
        Array {
            layout,
            state: ArrayState::new(params, Members::new(members, spares, forgets), logs),
            admission: Admission::default(),
            claims: Claims::default(),
            released: Released::default(),
            bitmap: IntentBitmap::new(params, least),
            background: Background::new(&params.sync),
            errors: Errors::default(),
            condition: Condition::new(members..members + spares),
            processors: Processors::default(),
            below: Below::default(),
            answers: Fifo::default(),
            traces: Traces::default(),
        }
    }

    /// Sectors that hosts can address.
    pub fn capacity(&self) -> Sectors {
        self.layout.capacity()
    }

    /// The layout: what lies where.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// To be called before anything else on an array that starts after another one was cut off: the metadata
    /// on the members record where the records of a pool lie, and which addresses are bad blocks.
    pub fn restore_after(&mut self, before: &Array) {
        self.layout.take_over(&before.layout);
        self.state.defects.bad_blocks = before.state.defects.bad_blocks.clone();
    }

    /// The parameters that it was built with.
    pub fn params(&self) -> &ArrayParams {
        &self.state.params
    }

    /// The slots, with the state of each member.
    pub fn members(&self) -> &Members {
        &self.state.members
    }

    /// Accepts a command of a host.
    pub fn submit(&mut self, context: &mut Context, command: &Command) {
        self.admission.note_arrival(command, context.now);
        self.fail_by_count(context);
        if self.admission.has_room(self.state.params.depth) {
            self.take(context, command, context.now);
        } else {
            self.admission.defer(command, context.now);
        }
    }

    /// Admits waiting commands, as many as may begin. One that ends at once makes room for the next in the
    /// same loop: recursion could overflow the stack.
    #[cold]
    fn admit_waiting(&mut self, context: &mut Context) {
        if !self.admission.begin_admitting() {
            return;
        }
        while let Some((command, came)) = self.admission.next_waiting(self.state.params.depth) {
            self.take(context, &command, came);
        }
    }

    /// A command that was submitted at `submitted` begins.
    #[inline(always)]
    fn take(&mut self, context: &mut Context, command: &Command, submitted: Instant) {
        self.admission.note_begin();
        let request = self.state.requests.add(Request {
            command: *command,
            submitted,
            // One for the request itself, until all its stripe requests have begun.
            stripe_requests: 1,
            outcome: Outcome::Done,
        });
        let (first, end) = (command.first.get(), command.end().get());
        let mut at = first;
        loop {
            let ArrayState { params, logs, .. } = &self.state;
            let next = self.layout.cut(params, logs, command.access, at, end);
            self.state.requests.get_mut(request).stripe_requests += 1;
            let stripe_request =
                self.add_stripe_request(submitted, Owner::Request(request), command.access, at, next);
            self.enter(context, stripe_request);
            if next >= end {
                break;
            }
            at = next;
        }
        if self.state.take_last(request) {
            let breakdown = Breakdown { queue: context.now - submitted, ..Breakdown::default() };
            self.answer(context, request, &breakdown, NONE);
        }
    }

    #[inline(always)]
    fn add_stripe_request(
        &mut self,
        since: Instant,
        owner: Owner,
        access: Access,
        first: u64,
        end: u64,
    ) -> Slot {
        let serial = self.state.next_serial();
        let slot =
            self.state.stripe_requests.add(StripeRequest::new(owner, access, first, end, since, serial));
        // Drops the trace of the earlier user of the place.
        if self.traces.are_kept() {
            self.traces.forget(slot);
        }
        slot
    }

    /// A stripe request begins, unless it must wait for an older one that has some of its blocks.
    #[inline(always)]
    fn enter(&mut self, context: &mut Context, slot: Slot) {
        if let Some(claim_range) = self.claim_range_of(self.state.stripe_requests.get(slot))
            && let Some(blocker) = self.claim(slot, claim_range)
        {
            return waiting::wait_behind(&mut self.state.stripe_requests, blocker, slot);
        }
        self.begin(context, slot);
    }

    /// A stripe request claims these blocks. Returns the stripe request that it must wait for, if any.
    fn claim(&mut self, slot: Slot, (write, first, end): (bool, u64, u64)) -> Option<Slot> {
        let claim = Claim { write, first: Lba::new(first), end: Lba::new(end), age: self.state.clock() };
        let blocker = self.claims.blocker(&claim);
        self.claims.insert(slot, &claim);
        self.state.stripe_requests.get_mut(slot).claim = Some(claim);
        blocker
    }

    /// A stripe request has gone through all its phases, or has failed.
    fn end_stripe_request(&mut self, context: &mut Context, slot: Slot) {
        let ArrayState { members, stripe_requests, defects, .. } = &mut self.state;
        let stripe_request = stripe_requests.get_mut(slot);
        self.layout.settle(members, &mut defects.bad_blocks, slot, stripe_request);
        defects.unreadable.clear(&mut stripe_request.unreadable);
        let stripe_request = self.state.stripe_requests.get(slot);
        let (owner, first, end) = (stripe_request.owner, stripe_request.first, stripe_request.end);
        if stripe_request.claim.is_some() {
            if stripe_request.is_marked {
                self.unmark(context, slot);
            }
            self.claims.remove(slot);
        }
        let record = self.state.logs.leave(slot);
        let held = core::mem::replace(&mut self.state.stripe_requests.get_mut(slot).held, NONE);
        self.state.stripe_requests.free(slot);
        // Its place keeps its contents until another stripe request takes it.
        let stripe_request = self.state.stripe_requests.get(slot);
        match owner {
            Owner::Request(NONE) => {}
            Owner::Request(request) => {
                let (outcome, breakdown) = (stripe_request.outcome, stripe_request.breakdown);
                // `Lost` takes precedence over later errors.
                let known = &mut self.state.requests.get_mut(request).outcome;
                if outcome != Outcome::Done && *known != Outcome::Lost {
                    *known = outcome;
                }
                if self.state.take_last(request) {
                    self.answer(context, request, &breakdown, slot);
                }
            }
            Owner::Background => {
                let granule = self.layout.smallest_window(self.state.granule());
                self.background.end_window(slot, stripe_request.outcome, granule);
                self.pump_background(context);
            }
            Owner::Bitmap => self.end_granule(context, first as usize),
            Owner::Log => self.free_log(context, first, end),
        }
        if held != NONE {
            self.release(context, held);
        }
        if self.state.logs.is_kept() {
            self.leave_logs(context, record);
        }
    }

    /// Stripe requests are no longer held: they are re-checked. One that ends at once, because too many
    /// members are missing, leaves those that it held to the same loop: recursion over a chain of them could
    /// overflow the stack.
    #[cold]
    fn release(&mut self, context: &mut Context, held: Slot) {
        if !self.released.release(&mut self.state.stripe_requests, held) {
            return;
        }
        while let Some(slot) = self.released.next(&mut self.state.stripe_requests) {
            self.recheck(context, slot);
        }
    }

    /// Re-checks a stripe request after the one that held it is done.
    fn recheck(&mut self, context: &mut Context, slot: Slot) {
        match self.state.stripe_requests.get(slot).claim.and_then(|claim| self.claims.blocker(&claim)) {
            Some(blocker) => waiting::wait_behind(&mut self.state.stripe_requests, blocker, slot),
            None => self.begin(context, slot),
        }
    }

    /// All stripe requests of a request are done: the host is answered. `stripe_request` is the one that
    /// ended last, if it was with members.
    fn answer(&mut self, context: &mut Context, request: Slot, breakdown: &Breakdown, stripe_request: Slot) {
        let completed = context.now;
        self.state.requests.free(request);
        self.admission.note_end(completed);
        let &Request { ref command, submitted, outcome, .. } = self.state.requests.get(request);
        let &Command { id, initiator, tag, .. } = command;
        debug_assert_eq!(breakdown.total(), completed - submitted);
        // Built in place: a copy right after partial writes would be slow.
        self.answers.push_back(Completion {
            id,
            initiator,
            tag,
            outcome,
            submitted,
            completed,
            breakdown: *breakdown,
        });
        if context.enabled.traces {
            let command = &self.state.requests.get(request).command;
            if let Some(completion) = self.answers.back() {
                self.traces.answer(stripe_request, command, completion);
            }
        }
        if self.admission.has_waiting() {
            self.admit_waiting(context);
        }
        if self.admission.is_quiet() {
            self.background.note_quiet(context);
        }
    }

    pub(crate) fn on_event(&mut self, context: &mut Context, event: ArrayEvent) {
        match event {
            ArrayEvent::Computed { stripe_request: slot, serial } => {
                let stripe_request = self.state.stripe_requests.get_mut(slot);
                debug_assert_eq!(stripe_request.plan.serial, serial);
                stripe_request.breakdown.overhead += context.now - stripe_request.since;
                stripe_request.since = context.now;
                self.go_on(context, slot);
            }
            ArrayEvent::Background => {
                if self.background.take_wake(context.now) {
                    self.pump_background(context);
                }
            }
            ArrayEvent::Replace { slot } => self.replace(context, slot),
            ArrayEvent::Unmark { region } => self.clear_region(context, region),
            ArrayEvent::Begin { scheduled } => {
                self.begin_work(context, self.state.params.scheduled[usize::from(scheduled)].kind);
            }
        }
    }

    /// Whether there is a command for a drive: see [`Self::next_below`].
    #[inline]
    pub fn has_below(&self) -> bool {
        !self.below.is_empty()
    }

    /// The next answer to above, which stays the next one until [`Self::drop_answer`].
    #[inline]
    pub fn answer_above(&self) -> Option<&Completion> {
        self.answers.front()
    }

    #[inline]
    pub(crate) fn drop_answer(&mut self) {
        self.answers.drop_front();
    }

    /// The trace of a member's command that is about to end.
    pub fn receive_trace(&mut self, trace: CommandTrace) {
        self.traces.receive(trace);
    }

    /// The trace of the answer that was dropped last, when traces are kept.
    pub fn poll_trace(&mut self) -> Option<CommandTrace> {
        self.traces.poll()
    }
}
