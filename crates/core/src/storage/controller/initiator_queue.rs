//! One initiator's commands at its controller: those that wait, in order, and those at the drive, by tag.
use super::super::drive::protocol::Protocol;
use crate::command::{Attribute, Breakdown, Command, Completion, Outcome};
use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};
use drivelab_units::{Instant, Span};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Flowing,
    /// The drive's queue was full.
    Full,
    /// The host's error handler is running: nothing is sent.
    Recovering,
    /// There is an auto contingent allegiance: only recovery commands are sent.
    Allegiance,
    /// The drive has failed for good.
    Failed,
}

/// Who has given up a command that is at the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AbandonedBy {
    Nobody,
    /// It has been there longer than the timeout.
    Timeout,
    Host,
}

/// A command held by the controller.
#[derive(Clone, Copy)]
pub struct HeldCommand {
    /// As the host sent it, with the host's own tag.
    pub command: Command,
    pub submitted: Instant,
    /// Number of the command in the queue: a resent command goes before later ones.
    order: u64,
    /// Generation of the tag: counts all uses of tags in the queue.
    pub serial: u32,
    /// How often it has failed. Clearing by another command's error does not count.
    pub tries: u8,
    pub given_up: AbandonedBy,
    /// Whether it still has its tag.
    is_out: bool,
    /// Whether it has come back from the drive, and is among [`InitiatorQueue::returned`].
    is_back: bool,
}

impl HeldCommand {
    /// A command that has just arrived.
    fn new(command: &Command, submitted: Instant, order: u64) -> Self {
        let (serial, tries, given_up) = (0, 0, AbandonedBy::Nobody);
        HeldCommand {
            command: *command,
            submitted,
            order,
            serial,
            tries,
            given_up,
            is_out: false,
            is_back: false,
        }
    }

    /// The completion that the host gets for a command that nothing accepts.
    pub fn ended_at_once(command: &Command, now: Instant, outcome: Outcome) -> Completion {
        HeldCommand::new(command, now, 0).ended(now, outcome, Breakdown::default())
    }

    /// The completion for the host.
    pub fn ended(&self, completed: Instant, outcome: Outcome, breakdown: Breakdown) -> Completion {
        let Command { id, initiator, tag, .. } = self.command;
        Completion { id, initiator, tag, outcome, submitted: self.submitted, completed, breakdown }
    }

    /// Turns the drive's answer into the completion for the host: the host's own processing time counts as
    /// overhead.
    #[inline]
    pub fn address(&self, answer: &mut Completion, now: Instant, issue: Span) {
        let Command { id, initiator, tag, .. } = self.command;
        (answer.id, answer.initiator, answer.tag) = (id, initiator, tag);
        answer.submitted = self.submitted;
        let issue = issue.min(answer.breakdown.wait);
        answer.breakdown.wait = Span::from_ns(answer.breakdown.wait.as_ns() - issue.as_ns());
        answer.breakdown.overhead += issue + (now - answer.completed);
        answer.completed = now;
    }
}

/// A command that came back; the first to arrive sorts highest.
struct Returned(HeldCommand);

impl PartialEq for Returned {
    fn eq(&self, other: &Self) -> bool {
        self.0.order == other.0.order
    }
}
impl Eq for Returned {}
impl PartialOrd for Returned {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Returned {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.order.cmp(&self.0.order)
    }
}

/// Whether a command must be alone at the drive, where others carry tags.
#[inline]
pub fn is_alone(command: &Command, protocol: Protocol) -> bool {
    command.attribute == Attribute::Untagged && protocol.is_tagged() || protocol.is_alone(command)
}

pub struct InitiatorQueue {
    /// Commands that have not been sent, in order of arrival.
    waiting: VecDeque<HeldCommand>,
    /// Commands that came back: each of them arrived before all that have not been sent.
    back: BinaryHeap<Returned>,
    /// By tag; the entry of a free tag is stale.
    sent: Vec<HeldCommand>,
    /// The drive's answers that the host is about to process, with their tags.
    pub answers: Vec<(u32, Completion)>,
    /// Tags that are free, the next one last.
    pub free: Vec<u32>,
    pub outstanding: u32,
    /// Whether the command at the drive must be alone there.
    pub alone: bool,
    pub state: State,
    /// Whether an event is scheduled that lets it continue.
    pub wakes: bool,
    /// When the error handler has finished with the last error.
    pub recovered: Instant,
    /// The commands that came back and have not reached the drive again, oldest first: those that wait, and
    /// those under way to it. One under way may have younger ones ahead of it.
    returned: BinaryHeap<Reverse<u64>>,
    orders: u64,
    serials: u32,
}

impl InitiatorQueue {
    pub fn new(depth: u32) -> Self {
        InitiatorQueue {
            waiting: VecDeque::with_capacity(64),
            back: BinaryHeap::new(),
            sent: Vec::new(),
            answers: Vec::new(),
            free: (0..depth).rev().collect(),
            outstanding: 0,
            alone: false,
            state: State::Flowing,
            wakes: false,
            recovered: Instant::ZERO,
            returned: BinaryHeap::new(),
            orders: 0,
            serials: 0,
        }
    }

    /// A command arrives at the queue and must wait.
    pub fn enqueue(&mut self, command: &Command, submitted: Instant) {
        self.orders += 1;
        self.waiting.push_back(HeldCommand::new(command, submitted, self.orders));
    }

    /// Whether this command may be sent now; `alone` tells whether it must be alone at the drive.
    #[inline]
    pub fn may_send(&self, command: &Command, alone: bool) -> bool {
        let recovers = command.attribute == Attribute::Aca;
        let open = self.state == State::Flowing || self.state == State::Allegiance && recovers;
        open && (self.outstanding == 0 || !(self.alone || alone))
    }

    /// Gives a waiting command a tag, if one is free.
    #[inline]
    pub fn send(&mut self, held: &HeldCommand, alone: bool) -> Option<u32> {
        let tag = self.tag_for(alone)?;
        if self.sent.len() <= tag as usize {
            // Tags are first used in the order of their numbers.
            self.sent.push(*held);
        }
        self.sent[tag as usize] =
            HeldCommand { serial: self.serials, given_up: AbandonedBy::Nobody, is_out: true, ..*held };
        Some(tag)
    }

    /// Gives a command that has just arrived a tag, if one is free. Written field by field in place: nearly
    /// every command takes this path.
    #[inline]
    pub fn send_new(&mut self, command: &Command, submitted: Instant, alone: bool) -> Option<u32> {
        let tag = self.tag_for(alone)?;
        self.orders += 1;
        let (order, serial) = (self.orders, self.serials);
        if self.sent.len() <= tag as usize {
            self.sent.push(HeldCommand::new(command, submitted, order));
        }
        let place = &mut self.sent[tag as usize];
        place.command = *command;
        (place.submitted, place.order, place.serial) = (submitted, order, serial);
        (place.tries, place.given_up, place.is_out, place.is_back) = (0, AbandonedBy::Nobody, true, false);
        Some(tag)
    }

    #[inline]
    fn tag_for(&mut self, alone: bool) -> Option<u32> {
        let tag = self.free.pop()?;
        self.alone = alone;
        self.outstanding += 1;
        self.serials = self.serials.wrapping_add(1);
        Some(tag)
    }

    #[inline]
    pub fn sent(&mut self, tag: u32) -> &mut HeldCommand {
        &mut self.sent[tag as usize]
    }

    /// Whether the command that got this tag in this generation still has it.
    pub fn is_sent(&self, tag: u32, serial: u32) -> bool {
        let HeldCommand { serial: own, is_out, .. } = self.sent[tag as usize];
        is_out && own == serial
    }

    /// The tag of the command with this number, if it has one.
    pub fn tag_of(&self, number: u64) -> Option<u32> {
        let is_it = |held: &HeldCommand| held.is_out && held.command.id == number;
        self.sent.iter().position(is_it).map(|tag| tag as u32)
    }

    /// Removes the waiting command with this number.
    pub fn take_waiting(&mut self, number: u64) -> Option<HeldCommand> {
        let held = self.take_all_waiting(|held| held.command.id == number).pop()?;
        Some(held)
    }

    /// Removes waiting commands, oldest first.
    pub fn take_all_waiting(&mut self, mut is_meant: impl FnMut(&HeldCommand) -> bool) -> Vec<HeldCommand> {
        let all =
            core::mem::take(&mut self.back).into_iter().map(|back| back.0).chain(self.waiting.drain(..));
        let (mut meant, rest): (Vec<HeldCommand>, Vec<HeldCommand>) = all.partition(&mut is_meant);
        for held in rest {
            if held.is_back { self.back.push(Returned(held)) } else { self.waiting.push_back(held) }
        }
        meant.sort_unstable_by_key(|held| held.order);
        meant.iter().for_each(|held| self.forget_return(held));
        meant
    }

    /// Removes all commands that have a tag, oldest first.
    pub fn take_all_sent(&mut self) -> Vec<HeldCommand> {
        let out: Vec<u32> =
            (0..).zip(&self.sent).filter(|(_, held)| held.is_out).map(|(tag, _)| tag).collect();
        let mut all: Vec<HeldCommand> = out.into_iter().map(|tag| *self.take(tag)).collect();
        all.sort_unstable_by_key(|held| held.order);
        all.iter().for_each(|held| self.forget_return(held));
        self.answers.clear();
        all
    }

    /// A command that has come back and will not be resent no longer counts for [`Self::pass_returned`].
    pub fn forget_return(&mut self, held: &HeldCommand) {
        if held.is_back {
            self.returned.retain(|&Reverse(order)| order != held.order);
        }
    }

    /// Takes a command off its tag, which becomes free.
    #[inline]
    pub fn take(&mut self, tag: u32) -> &mut HeldCommand {
        self.outstanding -= 1;
        self.alone = false;
        self.free.push(tag);
        let held = &mut self.sent[tag as usize];
        held.is_out = false;
        held
    }

    /// A command reaches the drive: returns whether it has passed an older one that has come back.
    #[inline]
    pub fn pass_returned(&mut self, tag: u32) -> bool {
        let Some(&Reverse(oldest)) = self.returned.peek() else { return false };
        let held = &mut self.sent[tag as usize];
        if oldest == held.order {
            held.is_back = false;
            self.returned.pop();
        }
        oldest < held.order
    }

    /// A command waits again, ahead of all that arrived after it.
    pub fn put_back(&mut self, held: HeldCommand) {
        if !held.is_back {
            self.returned.push(Reverse(held.order));
        }
        self.back.push(Returned(HeldCommand { is_back: true, ..held }));
    }

    /// The command that is sent next.
    #[inline]
    pub fn first(&self) -> Option<&HeldCommand> {
        self.back.peek().map(|back| &back.0).or_else(|| self.waiting.front())
    }

    pub fn pop_first(&mut self) {
        if self.back.pop().is_none() {
            self.waiting.pop_front();
        }
    }
}
