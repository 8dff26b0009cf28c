//! The drive's task set at work: which commands it takes, when it may begin them, and what becomes of them when one
//! fails or its host gives it up.
use super::deadlines::{Deadline, deadline};
use super::protocol::names::{Name, Names};
use super::protocol::overlap::Overlaps;
use super::protocol::task_set::TaskSets;
use super::protocol::{Clears, Protocol};
use super::queue::SlotIndex;
use super::{Drive, DriveEvent, InFlight, Stage};
use crate::command::{Access, Attribute, Command, Outcome, Priority};
use crate::storage::context::Context;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::Instant;

/// All commands that the drive holds, as the protocol sees them.
pub(super) struct Tasks {
    pub(super) sets: TaskSets,
    overlaps: Option<Overlaps>,
    names: Names,
    /// Tags that an initiator may use.
    tags: u32,
    /// Commands held, dormant ones and those in service included.
    pub held: u32,
    /// Whether the one command held had to have the drive to itself.
    alone: bool,
    /// HEAD OF QUEUE commands that wait for the mechanism, the last to come on top.
    pub urgent: Vec<SlotIndex>,
    /// Commands that were to be next in the same sweep when something came between, oldest first.
    pub interrupted: VecDeque<SlotIndex>,
    /// Waiting commands of high priority.
    pub high: Vec<SlotIndex>,
    /// Waiting commands with a deadline.
    pub deadlines: Vec<Deadline>,
    /// Initiators whose errors have left an auto contingent allegiance.
    pub allegiances: Vec<u16>,
    /// Commands that would wait for the mechanism if it were not for an allegiance in their own task set, oldest first.
    pub blocked: VecDeque<SlotIndex>,
    /// The tag that failed, until the host reads the log (NCQ).
    log: Option<u32>,
    /// Initiators that another one's error has cleared commands of.
    attentions: Vec<u16>,
}

impl Tasks {
    pub fn new(protocol: Protocol, depth: usize) -> Self {
        let overlaps = protocol.keeps_overlaps().then(|| Overlaps::new(depth));
        Tasks {
            sets: TaskSets::new(protocol.keeps_sets_apart()),
            overlaps,
            names: Names::default(),
            tags: if protocol.is_tagged() { protocol.tags() } else { u32::MAX },
            held: 0,
            alone: false,
            urgent: Vec::new(),
            interrupted: VecDeque::new(),
            high: Vec::new(),
            deadlines: Vec::new(),
            allegiances: Vec::new(),
            blocked: VecDeque::new(),
            log: None,
            attentions: Vec::new(),
        }
    }

    /// Whether something goes before whatever the policy would choose.
    #[inline]
    pub fn is_pressed(&self) -> bool {
        let Tasks { urgent, interrupted, high, deadlines, allegiances, .. } = self;
        let first = urgent.is_empty() && interrupted.is_empty() && high.is_empty();
        !(first && deadlines.is_empty() && allegiances.is_empty())
    }

    /// Whether the buffer may answer this command before all that waits.
    #[inline]
    pub fn may_go_at_once(&self, command: &Command) -> bool {
        let jumps = matches!(command.attribute, Attribute::HeadOfQueue | Attribute::Aca);
        !self.blocks(command) && (jumps || self.urgent.is_empty())
    }
}

impl Drive {
    /// Takes a command under this name; or says why not.
    pub fn submit(
        &mut self,
        context: &mut Context,
        command: &Command,
        name: Name,
        submitted: Instant,
    ) -> Result<(), Outcome> {
        if !self.is_plain(command, name)
            && let Some(refusal) = self.refusal(context, command, name)
        {
            return Err(refusal);
        }
        let protocol = self.model.protocol;
        let Some(slot) = self.free.pop() else { return Err(Outcome::Full) };
        if protocol.is_tagged() {
            self.tasks.names.set(name.initiator, name.tag, slot);
        }
        self.tasks.held += 1;
        context.held.add_one(context.now);
        self.tasks.alone = protocol.is_alone(command);
        self.taken = self.taken.wrapping_add(1);
        if self.in_flight.len() <= slot as usize {
            // Slots are first used in the order of their numbers.
            self.in_flight.push(InFlight::new(command));
        }
        let (serial, now) = (self.taken, context.now);
        self.flight(slot).begin(command, name, serial, submitted, now);
        let attribute = protocol.acts_as(command.attribute);
        if self.tasks.sets.of(name.initiator).arrives(slot, attribute) {
            self.enable(context, slot);
        }
        Ok(())
    }

    /// Whether no protocol has anything against a command under this name: what holds of nearly all.
    #[inline]
    fn is_plain(&self, command: &Command, name: Name) -> bool {
        let Tasks { log, attentions, allegiances, .. } = &self.tasks;
        let plain = command.attribute == Attribute::Simple
            && command.priority == Priority::Normal
            && command.access != Access::Flush;
        let calm = log.is_none() && attentions.is_empty() && allegiances.is_empty();
        let mixed = self.tasks.alone && self.tasks.held > 0;
        let named = name.tag >= self.tasks.tags || self.tasks.names.find(name.initiator, name.tag).is_some();
        plain && calm && !mixed && !named
    }

    /// Why the drive does not take a command, if it does not.
    fn refusal(&mut self, context: &mut Context, command: &Command, name: Name) -> Option<Outcome> {
        let Name { initiator, tag, .. } = name;
        let protocol = self.model.protocol;
        if let Some(refusal) = protocol.refuses(command, tag) {
            return Some(refusal);
        }
        if !protocol.is_tagged() {
            return None;
        }
        if self.tasks.log.is_some() {
            return Some(Outcome::Aborted);
        }
        if let Some(refusal) = self.refused_in_allegiance(command, initiator) {
            return Some(refusal);
        }
        if let Some(attention) = self.tasks.attentions.iter().position(|&other| other == initiator) {
            self.tasks.attentions.swap_remove(attention);
            return Some(Outcome::UnitAttention);
        }
        if command.attribute == Attribute::Aca && !self.tasks.allegiances.contains(&initiator) {
            return Some(Outcome::Invalid);
        }
        let in_use = self.tasks.names.find(initiator, tag).is_some();
        let mixed = self.tasks.held > 0 && (self.tasks.alone || protocol.is_alone(command));
        if !(in_use || mixed) {
            return None;
        }
        if let Protocol::ScsiTcq(_) = protocol {
            // An overlapped command takes all of its initiator's with it, and is an error beside that.
            self.clear(context, |other| other == initiator);
            self.failed(context, &Command { initiator, tag, ..*command });
            // Not before: what is done and not reported is cleared too.
            self.report_if_idle(context);
        } else {
            self.fail_queue(context, tag, None);
        }
        Some(if in_use { Outcome::DuplicateTag } else { Outcome::Aborted })
    }

    /// Nothing in the task set stands before this command any more; older ones that it overlaps may.
    // Part of its callers, as taking up is: this is the way of every command.
    #[inline(always)]
    fn enable(&mut self, context: &mut Context, slot: SlotIndex) {
        let Command { initiator, first, count, access, attribute, priority, .. } = self.flight(slot).command;
        let end = first + count;
        let jumps = attribute == Attribute::HeadOfQueue || attribute == Attribute::Aca;
        let write = access == Access::Write;
        let is_flush = access == Access::Flush;
        if let (Some(overlaps), false) = (&mut self.tasks.overlaps, jumps || is_flush) {
            self.in_flight[slot as usize].is_filed = true;
            if !overlaps.arrives(slot, initiator, (first, end), write) {
                return;
            }
        }
        if let (Protocol::Ncq(ncq), Priority::Isochronous(within)) = (self.model.protocol, priority)
            && ncq.aborts_late(access)
        {
            let serial = self.flight(slot).serial;
            let due = deadline(self.flight(slot).accepted, within);
            self.schedule(context, due.max(context.now), DriveEvent::Deadline(slot, serial));
        }
        self.take_up(context, slot);
    }

    /// A command has ended, in whatever way: what waited for it may begin.
    pub(super) fn leave(&mut self, context: &mut Context, slot: SlotIndex, stage: Stage) {
        let &mut InFlight { ref command, is_filed, .. } = self.flight(slot);
        let Command { initiator, tag, attribute, .. } = *command;
        let protocol = self.model.protocol;
        if protocol.is_tagged() {
            self.tasks.names.clear(initiator, tag);
        }
        self.tasks.held -= 1;
        context.held.drop_one(context.now);
        self.tasks.alone = false;
        self.free.push(slot);
        if stage != Stage::Dormant || is_filed {
            self.tasks.sets.of(initiator).ends(slot, protocol.acts_as(attribute));
        }
        self.unfile(context, slot);
        self.release(context);
    }

    /// What overlaps a command comes after it from now on, so it may be chosen: its media access has begun, or ended where
    /// a cache could come between, or there will be none.
    #[inline(always)]
    pub(super) fn unfile(&mut self, context: &mut Context, slot: SlotIndex) {
        if self.flight(slot).is_filed {
            self.let_go(context, slot);
        }
    }

    /// Those that waited for this command alone may begin.
    #[inline(never)]
    fn let_go(&mut self, context: &mut Context, slot: SlotIndex) {
        self.flight(slot).is_filed = false;
        let mut overlaps = self.tasks.overlaps.take();
        let mut freed = Vec::new();
        if let Some(overlaps) = &mut overlaps {
            overlaps.leaves(slot, |slot| freed.push(slot));
        }
        self.tasks.overlaps = overlaps;
        for slot in freed {
            if self.flight(slot).outcome == Outcome::Done {
                self.take_up(context, slot);
            }
        }
    }

    /// Enables what the task set lets go.
    #[inline]
    pub(super) fn release(&mut self, context: &mut Context) {
        if self.tasks.sets.has_dormant() {
            self.release_dormant(context);
        }
    }

    #[inline(never)]
    fn release_dormant(&mut self, context: &mut Context) {
        for initiator in self.tasks.sets.initiators() {
            while !self.tasks.is_held_up(initiator)
                && let Some(slot) = self.tasks.sets.of(initiator).release()
            {
                self.enable(context, slot);
            }
        }
    }

    /// A command of this initiator has failed: what the protocol does to the others.
    pub(super) fn failed(&mut self, context: &mut Context, command: &Command) {
        match self.model.protocol {
            protocol if protocol.leaves_allegiance(command.initiator) => {
                self.begin_allegiance(command.initiator);
            }
            Protocol::None => {}
            Protocol::ScsiTcq(_) | Protocol::AtaTcq | Protocol::Ncq(_) => {
                self.fail_queue(context, command.tag, Some(command.initiator));
            }
        }
    }

    /// Clears what an error clears. `by` is the initiator whose command failed.
    pub(super) fn fail_queue(&mut self, context: &mut Context, tag: u32, by: Option<u16>) {
        let protocol = self.model.protocol;
        if let Protocol::Ncq(_) = protocol {
            self.tasks.log = Some(tag);
        }
        let clears = protocol.clears();
        if clears == Clears::Nothing {
            return;
        }
        let own = |initiator| by.is_none_or(|by| by == initiator);
        let told = matches!(protocol, Protocol::ScsiTcq(scsi) if scsi.task_aborted);
        let cleared = self.clear(context, |initiator| clears == Clears::All || own(initiator));
        self.report_if_idle(context);
        for initiator in cleared.into_iter().filter(|&initiator| !told && !own(initiator)) {
            if !self.tasks.attentions.contains(&initiator) {
                self.tasks.attentions.push(initiator);
            }
        }
        if clears == Clears::All {
            // What the firmware had still to take up is gone.
            self.firmware_free = self.firmware_free.min(context.now);
        }
    }

    /// Aborts all commands of these initiators. Returns whose commands there were, as often as there were any.
    fn clear(&mut self, context: &mut Context, whose: impl Fn(u16) -> bool) -> Vec<u16> {
        self.unjoin();
        let slots = 0..self.in_flight.len() as SlotIndex;
        let mut cleared = Vec::new();
        // All of them first, so that none begins because another one has ended.
        for slot in slots.clone() {
            let initiator = self.flight(slot).command.initiator;
            if whose(initiator) && self.withdraw(slot, Outcome::Aborted) {
                cleared.push(initiator);
            }
        }
        for slot in slots {
            self.end_withdrawn(context, slot);
        }
        cleared
    }

    /// Ends a command before it is done. Returns whether it was there and not given up before.
    fn give_up(&mut self, context: &mut Context, slot: SlotIndex, outcome: Outcome) -> bool {
        if self.sweep.is_some_and(|sweep| sweep.joined == Some(slot)) {
            self.unjoin();
        }
        let given_up = self.withdraw(slot, outcome);
        self.end_withdrawn(context, slot);
        given_up
    }

    /// A command is to end like this, whatever becomes of it: it leaves the place where it waits.
    fn withdraw(&mut self, slot: SlotIndex, outcome: Outcome) -> bool {
        let InFlight { command, stage, outcome: so_far, .. } = *self.flight(slot);
        let initiator = command.initiator;
        if stage == Stage::Free || !matches!(so_far, Outcome::Done | Outcome::MediaError) {
            return false;
        }
        match stage {
            Stage::Free | Stage::Serving => {}
            Stage::Dormant => self.tasks.sets.of(initiator).forget(slot),
            Stage::Waiting if self.leaves_cache(slot) => {}
            Stage::Waiting => self.take_out(slot),
        }
        self.flight(slot).outcome = outcome;
        true
    }

    /// Ends a command that has left the place where it waited. What the mechanism or the link is at ends when they do.
    fn end_withdrawn(&mut self, context: &mut Context, slot: SlotIndex) {
        let InFlight { stage, outcome, .. } = *self.flight(slot);
        if matches!(stage, Stage::Dormant | Stage::Waiting) && outcome != Outcome::Done {
            self.end(context, slot);
        }
    }

    /// Takes a waiting command out of wherever it waits for the mechanism.
    pub(super) fn take_out(&mut self, slot: SlotIndex) {
        if self.leaves_cache(slot) {
            return;
        }
        self.leave_queue(slot);
    }

    /// Takes a waiting command out of the queue, or out of what stands beside it.
    pub(super) fn leave_queue(&mut self, slot: SlotIndex) {
        if let Some(at) = self.tasks.blocked.iter().position(|&other| other == slot) {
            self.tasks.blocked.remove(at);
            return;
        }
        let Command { attribute, priority, .. } = self.flight(slot).command;
        if attribute == Attribute::HeadOfQueue || attribute == Attribute::Aca {
            self.tasks.urgent.retain(|&other| other != slot);
            return;
        }
        if let Some(at) = self.tasks.interrupted.iter().position(|&other| other == slot) {
            self.tasks.interrupted.remove(at);
            return;
        }
        self.slots.remove(slot);
        match priority {
            Priority::Normal => {}
            Priority::High => self.tasks.high.retain(|&other| other != slot),
            Priority::Isochronous(_) => self.tasks.deadlines.retain(|deadline| deadline.slot != slot),
        }
    }

    /// The host gives a command up (ABORT TASK, the abort subcommand). Succeeds even if there is nothing to abort.
    pub fn abort(&mut self, context: &mut Context, initiator: u16, tag: u32) {
        if let Some(slot) = self.find(initiator, tag) {
            self.give_up(context, slot, Outcome::Aborted);
            self.report_if_idle(context);
        }
    }

    fn find(&self, initiator: u16, tag: u32) -> Option<SlotIndex> {
        if self.model.protocol.is_tagged() {
            return self.tasks.names.find(initiator, tag);
        }
        // Without a queue there is one command at most.
        let InFlight { command, stage, .. } = self.in_flight.first()?;
        let is_named = (command.initiator, command.tag) == (initiator, tag);
        (*stage != Stage::Free && is_named).then_some(0)
    }

    /// Reads the log of a failed queue: the tag that failed. The drive accepts commands again.
    pub fn read_log(&mut self) -> Option<u32> {
        self.tasks.log.take()
    }

    /// A deadline has passed and the drive was told to abort then.
    pub(super) fn on_deadline(&mut self, context: &mut Context, slot: SlotIndex, serial: u32) {
        let InFlight { command, stage, .. } = *self.flight(slot);
        if stage == Stage::Free || self.flight(slot).serial != serial {
            return;
        }
        self.unjoin();
        if self.give_up(context, slot, Outcome::TimedOut) {
            self.fail_queue(context, command.tag, Some(command.initiator));
        }
        self.report_if_idle(context);
    }
}
