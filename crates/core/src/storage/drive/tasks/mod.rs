//! The drive's task set: the commands that it holds, which ones it accepts, which may begin, which go before
//! the order of the queue, and how an error affects them.
//!
//! It is independent of platters and buffer: the drive reports to it what arrives, waits and ends, and acts on its
//! answers. The rules of the protocols are in [`super::protocol`]. Start reading at [`Tasks::refusal`] and
//! [`Tasks::begin`].
pub(crate) mod allegiance;
pub(crate) mod flight;
mod limits;
pub(crate) mod precedence;

use super::protocol::conflicts::Conflicts;
use super::protocol::names::{Name, Names};
use super::protocol::task_set::InitiatorSets;
use super::protocol::{Clears, DurationLimits, Protocol};
use super::queue::SlotIndex;
use crate::command::{Access, Attribute, Command, Outcome, Priority};
use allegiance::Allegiances;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use drivelab_units::{Instant, Span};
use flight::{Flights, InFlight, TaskState};
use limits::Limits;
use precedence::{Precedence, is_head_of_queue};

/// Why the drive refuses a command, and how that affects other commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no other effect.
    Only(Outcome),
    /// An error that clears all commands of its initiator, and has all other effects of an error (SCSI).
    Overlapped(Outcome),
    /// An error that fails the queue (ATA).
    Queue(Outcome),
}

/// Where a command that needs the mechanism waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsIn {
    /// Nowhere until an allegiance is cleared.
    Suspended,
    /// Ahead of everything in the queue.
    Ahead,
    InQueue,
}

/// Whether the commands that a drive holds leave room for another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Occupancy {
    /// Commands that may run together, or none.
    Several,
    /// A command that must run alone in the drive.
    OneAlone,
}

/// All commands that the drive holds, as the protocol sees them.
pub struct Tasks {
    protocol: Protocol,
    /// Number of tags that an initiator may use.
    tags: u32,
    flights: Flights,
    sets: InitiatorSets,
    conflicts: Option<Conflicts>,
    names: Names,
    /// Commands held, dormant ones and those in service included.
    held: u32,
    occupancy: Occupancy,
    /// Commands that go before the order of the queue.
    pub ahead: Precedence,
    /// The conditions that keep commands out of the queue.
    pub allegiances: Allegiances,
    /// The duration limits that the hosts have set.
    pub limits: Limits,
    /// The tag that failed, until the host reads the log (NCQ).
    log: Option<u32>,
    /// Initiators with commands that another one's error has cleared.
    attentions: Vec<u16>,
}

impl Index<SlotIndex> for Tasks {
    type Output = InFlight;

    #[inline]
    fn index(&self, slot: SlotIndex) -> &InFlight {
        &self.flights[slot]
    }
}

impl IndexMut<SlotIndex> for Tasks {
    #[inline]
    fn index_mut(&mut self, slot: SlotIndex) -> &mut InFlight {
        &mut self.flights[slot]
    }
}

/// Arrival.
impl Tasks {
    /// The task set of a drive with this protocol, queue depth and duration limits.
    pub fn new(protocol: Protocol, depth: u32, limits: Option<Arc<DurationLimits>>) -> Self {
        Tasks {
            protocol,
            tags: if protocol.is_tagged() { protocol.tags() } else { u32::MAX },
            flights: Flights::new(depth),
            sets: InitiatorSets::new(protocol.keeps_sets_apart()),
            conflicts: protocol.keeps_overlaps().then(|| Conflicts::new(depth as usize)),
            names: Names::default(),
            held: 0,
            occupancy: Occupancy::Several,
            ahead: Precedence::default(),
            allegiances: Allegiances::new(protocol.keeps_sets_apart()),
            limits: Limits::new(limits),
            log: None,
            attentions: Vec::new(),
        }
    }

    /// Why the drive refuses a command under this name, if it does.
    #[inline]
    pub fn refusal(&mut self, command: &Command, name: Name) -> Option<Refusal> {
        if self.is_plain(command, name) { None } else { self.refusal_of_any(command, name) }
    }

    /// Whether no protocol can object to a command under this name, as is the case for nearly all.
    #[inline]
    fn is_plain(&self, command: &Command, name: Name) -> bool {
        let Tasks { log, attentions, allegiances, .. } = self;
        let plain = command.attribute == Attribute::Simple
            && command.priority == Priority::Normal
            && command.access != Access::Flush;
        let calm = log.is_none() && attentions.is_empty() && allegiances.is_empty();
        let mixed = self.occupancy == Occupancy::OneAlone;
        let named = name.tag >= self.tags || self.names.find(name.initiator, name.tag).is_some();
        plain && calm && !mixed && !named
    }

    #[cold]
    fn refusal_of_any(&mut self, command: &Command, name: Name) -> Option<Refusal> {
        let Name { initiator, tag, .. } = name;
        let protocol = self.protocol;
        if let Some(refusal) = protocol.refuses(command, tag) {
            return Some(Refusal::Only(refusal));
        }
        if !protocol.is_tagged() {
            return None;
        }
        if self.log.is_some() {
            return Some(Refusal::Only(Outcome::Aborted));
        }
        if let Some(refusal) = self.refused_in_allegiance(command, initiator) {
            return Some(Refusal::Only(refusal));
        }
        if let Some(attention) = self.attentions.iter().position(|&other| other == initiator) {
            self.attentions.swap_remove(attention);
            return Some(Refusal::Only(Outcome::UnitAttention));
        }
        if command.attribute == Attribute::Aca && !self.allegiances.holds(initiator) {
            return Some(Refusal::Only(Outcome::Invalid));
        }
        let in_use = self.names.find(initiator, tag).is_some();
        let mixed = self.held > 0 && (self.occupancy == Occupancy::OneAlone || protocol.is_alone(command));
        let outcome = if in_use { Outcome::DuplicateTag } else { Outcome::Aborted };
        let scsi = matches!(protocol, Protocol::ScsiTcq(_));
        let error = if scsi { Refusal::Overlapped(outcome) } else { Refusal::Queue(outcome) };
        (in_use || mixed).then_some(error)
    }

    /// Why an allegiance keeps a command out of its task set, if one does: it is not a recovery command, or
    /// not the only one; for another initiator the answer depends on whether its commands have NACA.
    fn refused_in_allegiance(&self, command: &Command, initiator: u16) -> Option<Outcome> {
        if !self.allegiances.is_active_for(initiator) {
            return None;
        }
        let recovers = command.attribute == Attribute::Aca;
        if !self.allegiances.holds(initiator) {
            let knows = self.protocol.leaves_allegiance(initiator);
            return Some(if knows { Outcome::AcaActive } else { Outcome::Busy });
        }
        let is_apart = self.protocol.keeps_sets_apart();
        let beside = |slot| {
            self.flights.held(slot).is_some_and(|flight| {
                let Command { attribute, initiator: other, .. } = flight.command;
                attribute == Attribute::Aca && (!is_apart || other == initiator)
            })
        };
        (!recovers || self.flights.slots().any(beside)).then_some(Outcome::AcaActive)
    }

    /// Accepts a command that is not refused. Returns its slot, and whether nothing in the task set must end
    /// before it; `None` when the drive's queue is full.
    #[inline]
    pub fn begin(
        &mut self,
        command: &Command,
        name: Name,
        submitted: Instant,
        now: Instant,
    ) -> Option<(SlotIndex, bool)> {
        let protocol = self.protocol;
        let slot = self.flights.begin(command, name, submitted, now)?;
        if protocol.is_tagged() {
            self.names.set(name.initiator, name.tag, slot);
        }
        self.held += 1;
        self.occupancy = if protocol.is_alone(command) { Occupancy::OneAlone } else { Occupancy::Several };
        let attribute = protocol.acts_as(command.attribute);
        Some((slot, self.sets.of(name.initiator).arrive(slot, attribute)))
    }

    /// The task set no longer holds this command back. Returns whether no older command that it overlaps
    /// does.
    #[inline]
    pub fn pass_overlaps(&mut self, slot: SlotIndex) -> bool {
        let Some(conflicts) = &mut self.conflicts else { return true };
        let Command { initiator, first, count, access, attribute, .. } = self.flights[slot].command;
        if is_head_of_queue(attribute) || access == Access::Flush {
            return true;
        }
        conflicts.arrive(slot, initiator, (first, first + count), access == Access::Write)
    }

    /// Where limits have been exceeded by `now`, their policies apply.
    pub fn pass_limits(&mut self, now: Instant) {
        if let Some(limits) = self.limits.descriptors() {
            self.ahead.pass_limits(now, limits);
        }
    }

    /// The slot of the command with this number.
    pub fn numbered(&self, number: u64) -> Option<SlotIndex> {
        let is_it = |slot: &SlotIndex| self.flights.held(*slot).is_some_and(|held| held.command.id == number);
        self.flights.slots().find(is_it)
    }

    /// The slot of the command with this name, if the drive holds it.
    pub fn find(&self, initiator: u16, tag: u32) -> Option<SlotIndex> {
        if self.protocol.is_tagged() {
            return self.names.find(initiator, tag);
        }
        // Without a queue there is at most one command.
        let InFlight { command, .. } = self.flights.held(0)?;
        ((command.initiator, command.tag) == (initiator, tag)).then_some(0)
    }

    /// All slots that have ever been used.
    pub fn slots(&self) -> core::ops::Range<SlotIndex> {
        self.flights.slots()
    }
}

/// Waiting.
impl Tasks {
    /// Whether any command goes before the policy's choice.
    #[inline]
    pub fn is_pressed(&self) -> bool {
        !(self.ahead.is_empty() && self.allegiances.is_empty())
    }

    /// Whether an allegiance keeps the command in this slot waiting.
    #[inline]
    pub fn is_blocked(&self, slot: SlotIndex) -> bool {
        self.allegiances.blocks(&self.flights[slot].command)
    }

    /// Whether the buffer may answer this command before all waiting ones.
    #[inline]
    pub fn may_go_at_once(&self, command: &Command) -> bool {
        !self.allegiances.blocks(command) && (is_head_of_queue(command.attribute) || !self.ahead.has_urgent())
    }

    /// Whether a command waits that the mechanism may serve, given whether some wait in the queue.
    #[inline]
    pub fn needs_mechanism(&self, queued: bool) -> bool {
        let waits = queued || self.ahead.has_interrupted();
        waits && !self.allegiances.stops_queue() || self.ahead.has_urgent() && self.urgent().is_some()
    }

    /// The command that goes next whatever waits in the queue: the last HEAD OF QUEUE command, or during an
    /// allegiance the last recovery command; then one that was to be next when it was interrupted.
    #[cold]
    pub fn first_in_line(&self) -> Option<SlotIndex> {
        self.urgent().or_else(|| self.ahead.interrupted())
    }

    #[cold]
    fn urgent(&self) -> Option<SlotIndex> {
        self.ahead.urgent().find(|&slot| !self.is_blocked(slot))
    }

    /// Where a command waits that needs the mechanism. One that is kept out of the queue is stored for later.
    #[inline]
    pub fn place_waiting(&mut self, slot: SlotIndex) -> WaitsIn {
        let flight = &mut self.flights[slot];
        flight.state = TaskState::Waiting;
        if self.allegiances.blocks(&flight.command) && !self.allegiances.stops_queue() {
            self.allegiances.suspend(slot);
            return WaitsIn::Suspended;
        }
        if is_head_of_queue(flight.command.attribute) { WaitsIn::Ahead } else { WaitsIn::InQueue }
    }

    /// A command has been queued for the mechanism; it takes at most `longest` from its choice until it is
    /// reported to the host.
    #[inline]
    pub fn add_ahead(&mut self, slot: SlotIndex, longest: impl FnOnce(&InFlight) -> Span) {
        let flight = &self.flights[slot];
        let limits = self.limits.descriptors();
        self.ahead.add(slot, &flight.command, flight.accepted, limits, || longest(flight));
    }

    /// A waiting command leaves. Returns whether it waited in the queue of the mechanism.
    pub fn leave_queue(&mut self, slot: SlotIndex) -> bool {
        !self.allegiances.forget(slot) && self.ahead.forget(slot, &self.flights[slot].command)
    }

    /// An error of this initiator begins an allegiance. Returns the commands that must leave the queue for
    /// it, oldest first: those that wait for the mechanism and are not recovery commands. `elsewhere` returns
    /// which commands wait for something else.
    pub fn begin_allegiance(
        &mut self,
        initiator: u16,
        elsewhere: impl Fn(SlotIndex) -> bool,
    ) -> Vec<SlotIndex> {
        if !self.allegiances.begin(initiator) {
            return Vec::new();
        }
        let is_held_back = |slot: &SlotIndex| {
            let InFlight { command, state, .. } = &self.flights[*slot];
            let own = command.initiator == initiator && *state == TaskState::Waiting;
            let kept_out = self.allegiances.is_suspended(*slot) || elsewhere(*slot);
            own && command.attribute != Attribute::Aca && !kept_out
        };
        let mut own: Vec<SlotIndex> = self.flights.slots().filter(is_held_back).collect();
        own.sort_unstable_by_key(|&slot| {
            let InFlight { accepted, serial, .. } = self.flights[slot];
            (accepted, serial)
        });
        own
    }
}

/// End.
impl Tasks {
    /// Fixes how a command will end, whatever happens to it. Returns the state that it was in; `None` when it
    /// was not present, or given up before.
    pub fn give_up(&mut self, slot: SlotIndex, outcome: Outcome) -> Option<TaskState> {
        let flight = &mut self.flights[slot];
        let state = flight.state;
        if state == TaskState::Free || !matches!(flight.outcome, Outcome::Done | Outcome::MediaError) {
            return None;
        }
        flight.outcome = outcome;
        if state == TaskState::Dormant {
            let initiator = flight.command.initiator;
            self.sets.of(initiator).forget(slot);
        }
        Some(state)
    }

    /// Number of commands held.
    pub fn held(&self) -> u32 {
        self.held
    }

    /// A command has ended, in whatever way: its slot and its name become free. `state` is the state that it
    /// was in.
    #[inline]
    pub fn end(&mut self, slot: SlotIndex, state: TaskState) {
        let Command { initiator, tag, attribute, .. } = self.flights[slot].command;
        if self.protocol.is_tagged() {
            self.names.clear(initiator, tag);
        }
        self.held -= 1;
        self.occupancy = Occupancy::Several;
        self.flights.end(slot);
        if state != TaskState::Dormant || self.is_filed(slot) {
            self.sets.of(initiator).end(slot, self.protocol.acts_as(attribute));
        }
    }

    /// Whether others may wait for this command because they overlap it.
    #[inline]
    pub fn is_filed(&self, slot: SlotIndex) -> bool {
        self.conflicts.as_ref().is_some_and(|conflicts| conflicts.holds(slot))
    }

    /// Releases the overlapping commands that waited for this one. Returns those that waited for it alone,
    /// oldest first.
    pub fn unfile(&mut self, slot: SlotIndex) -> Vec<SlotIndex> {
        let mut freed = Vec::new();
        if let Some(conflicts) = &mut self.conflicts {
            conflicts.leave(slot, |slot| freed.push(slot));
        }
        freed
    }

    /// Whether any command is dormant.
    #[inline]
    pub fn has_dormant(&self) -> bool {
        self.sets.has_dormant()
    }

    /// One initiator of each task set that has existed.
    pub fn initiators(&self) -> core::ops::RangeInclusive<u16> {
        self.sets.initiators()
    }

    /// The next dormant command of this initiator's task set that nothing holds back any more.
    pub fn release(&mut self, initiator: u16) -> Option<SlotIndex> {
        if self.allegiances.is_active_for(initiator) { None } else { self.sets.of(initiator).release() }
    }

    /// The queue fails with this tag. Returns which other commands that clears.
    pub fn queue_fails(&mut self, tag: u32) -> Clears {
        if let Protocol::Ncq(_) = self.protocol {
            self.log = Some(tag);
        }
        self.protocol.clears()
    }

    /// Commands of these initiators were cleared by an error of another one: their next command gets a UNIT
    /// ATTENTION, unless the cleared commands themselves have reported it.
    pub fn set_unit_attention(&mut self, cleared: impl Iterator<Item = u16>) {
        if matches!(self.protocol, Protocol::ScsiTcq(scsi) if scsi.task_aborted) {
            return;
        }
        for initiator in cleared {
            if !self.attentions.contains(&initiator) {
                self.attentions.push(initiator);
            }
        }
    }

    /// Reads the log of a failed queue: the tag that failed. Commands are accepted again.
    pub fn read_log(&mut self) -> Option<u32> {
        self.log.take()
    }
}
