//! Fair by process: the processes have the device in turn, for a time slice each.
//!
//! Each process has a queue for its reads and for its synchronous writes. All other writes share one queue.
//! Queues with requests take turns. A turn begins with the first request dispatched and lasts `slice_sync`,
//! or `slice_async` for the shared queue; requests at the device when it ends are completed. Within its queue
//! a turn goes upward by address from where the queue's last turn ended, then again from the lowest. While
//! others wait, a process has at most `quantum` requests at the device; a queue that still has that many
//! there when its turn comes keeps its place and lets the next go first.
//!
//! A turn ends early when the queue is empty and no further request is expected. One is expected of a process
//! while the last request dispatched is synchronous and the process is known to issue again soon: then the
//! turn lasts until its requests are done, and from there `slice_idle` longer. Soon means that its think
//! time, from the end of its last request to the next one, is at most `slice_idle` on average; the latest
//! counts for an eighth, none for more than twice `slice_idle`, and a process without any is given the
//! chance. The idle device costs less than the two seeks to another process's data and back.
//!
//! With `slice_idle = 0` turns are counted: `quantum` requests each, whatever is at the device, and the
//! device is never idled. This suits a device so fast, or so parallel, that its time cannot be attributed to
//! processes.
//!
//! Source: the Linux kernel, Documentation/block/cfq-iosched.rst; the limit that applies only while others
//! wait, and the averages, are those of its source code. Left out: priorities and groups, slices cut to a
//! target latency, shared turns for processes that seek a lot, the jump of synchronous requests over an
//! asynchronous slice, and short backward seeks.
use super::Policy;
use super::params::FairParams;
use super::requests::{NONE, Slot, Table};
use super::sorted::{Sorted, Sweep};
use crate::command::{Access, Command};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::{Instant, Span};

/// Index of a queue, numbered in the order in which they were first used.
type QueueIndex = u32;

/// The queue of all asynchronous writes.
const SHARED: QueueIndex = 0;

/// The weight of a process's latest think time in its average.
const THINK_WEIGHT: u64 = 8;

struct Queue {
    sweep: Sweep,
    /// Its requests at the device.
    out: u32,
    /// Whether the last request dispatched is synchronous.
    awaited: bool,
    /// When the last of its requests was completed.
    finished: Option<Instant>,
    /// Nanoseconds.
    think_time: Option<u64>,
}

#[derive(Clone, Copy)]
struct Turn {
    queue: QueueIndex,
    end: Instant,
    /// Requests left; unused when turns are limited by time.
    left: u32,
}

pub(super) struct Fair {
    params: FairParams,
    sorted: Sorted,
    queues: Vec<Queue>,
    /// Each process's queue, by process.
    processes: Vec<(u32, QueueIndex)>,
    /// The queues with requests that wait for their turn.
    ring: VecDeque<QueueIndex>,
    turn: Option<Turn>,
}

impl Queue {
    const NEW: Queue = Queue { sweep: Sweep::NEW, out: 0, awaited: false, finished: None, think_time: None };

    /// A request arrives at an empty queue: updates the process's think time.
    fn update_think_time(&mut self, now: Instant, limit: Span) {
        let Some(finished) = self.finished else { return };
        let latest = now.since(finished).as_ns().min(limit.as_ns());
        self.think_time = Some(match self.think_time {
            None => latest,
            Some(average) => average - average / THINK_WEIGHT + latest / THINK_WEIGHT,
        });
    }
}

impl Fair {
    pub fn new(params: &FairParams) -> Self {
        assert!(params.quantum > 0, "a process may have at least one request with the device");
        Fair {
            params: *params,
            sorted: Sorted::new(),
            queues: Vec::from([Queue::NEW]),
            processes: Vec::new(),
            ring: VecDeque::new(),
            turn: None,
        }
    }

    fn counts(&self) -> bool {
        self.params.slice_idle.is_zero()
    }

    fn queue(&self, queue: QueueIndex) -> &Queue {
        &self.queues[queue as usize]
    }

    /// Until when the device is idled for an empty queue; `None` if further requests are expected once its
    /// present ones are done.
    fn idles_until(&self, turn: &Turn) -> Option<Instant> {
        let queue = self.queue(turn.queue);
        let soon = queue.think_time.is_none_or(|average| average <= self.params.slice_idle.as_ns());
        match queue.finished {
            _ if !queue.awaited || !soon => Some(Instant::ZERO),
            Some(finished) if queue.out == 0 => Some(finished + self.params.slice_idle),
            _ => None,
        }
    }

    /// When the turn ends if nothing arrives and nothing is completed.
    fn end_of(&self, turn: &Turn) -> Instant {
        let queue = self.queue(turn.queue);
        match (self.counts(), queue.sweep.is_empty()) {
            (true, false) if turn.left > 0 => Instant::from_ns(u64::MAX),
            (true, _) => Instant::ZERO,
            (false, false) => turn.end,
            (false, true) => self.idles_until(turn).map_or(turn.end, |until| until.min(turn.end)),
        }
    }

    /// The next queue in the ring that may begins its turn.
    fn begin(&mut self, now: Instant) -> Option<Turn> {
        let alone = self.ring.len() == 1;
        let may_go =
            |&queue: &QueueIndex| self.counts() || alone || self.queue(queue).out < self.params.quantum;
        let place = self.ring.iter().position(may_go)?;
        let queue = self.ring.remove(place)?;
        let slice = if queue == SHARED { self.params.slice_async } else { self.params.slice_sync };
        Some(Turn { queue, end: now + slice, left: self.params.quantum })
    }
}

impl Policy for Fair {
    fn queue_of(&mut self, command: &Command) -> u32 {
        if command.access == Access::Write && !command.synchronous {
            return SHARED;
        }
        let place = self.processes.binary_search_by_key(&command.process, |&(process, _)| process);
        match place {
            Ok(place) => self.processes[place].1,
            Err(place) => {
                let queue = self.queues.len() as QueueIndex;
                self.queues.push(Queue::NEW);
                self.processes.insert(place, (command.process, queue));
                queue
            }
        }
    }

    fn insert(&mut self, table: &Table, slot: Slot, now: Instant) {
        let index = table.request(slot).queue;
        let queue = &mut self.queues[index as usize];
        if queue.sweep.is_empty() {
            if queue.out == 0 {
                queue.update_think_time(now, self.params.slice_idle + self.params.slice_idle);
            }
            if self.turn.is_none_or(|turn| turn.queue != index) {
                self.ring.push_back(index);
            }
        }
        queue.sweep.insert(&mut self.sorted, table, slot);
    }

    fn remove(&mut self, table: &Table, slot: Slot) {
        let queue = &mut self.queues[table.request(slot).queue as usize];
        queue.sweep.remove(&mut self.sorted, slot);
        // Only a merge removes a request, and the one that it was merged into is of the same queue.
        debug_assert!(!queue.sweep.is_empty());
    }

    fn moved(&mut self, table: &Table, slot: Slot) {
        let queue = &mut self.queues[table.request(slot).queue as usize];
        queue.sweep.remove(&mut self.sorted, slot);
        queue.sweep.insert(&mut self.sorted, table, slot);
    }

    fn settle(&mut self, now: Instant) {
        let Some(turn) = self.turn else { return };
        if now >= self.end_of(&turn) {
            self.turn = None;
            if !self.queue(turn.queue).sweep.is_empty() {
                self.ring.push_back(turn.queue);
            }
        }
    }

    fn pick(&mut self, table: &Table, now: Instant) -> Option<Slot> {
        if self.turn.is_none() {
            self.turn = self.begin(now);
        }
        let (counts, others) = (self.counts(), !self.ring.is_empty());
        let turn = self.turn.as_mut()?;
        let queue = &mut self.queues[turn.queue as usize];
        if !counts && others && queue.out >= self.params.quantum {
            return None;
        }
        let slot = queue.sweep.next(&self.sorted)?;
        queue.sweep.take(&mut self.sorted, table, slot);
        queue.out += 1;
        queue.awaited = table.request(slot).synchronous;
        turn.left = turn.left.saturating_sub(1);
        Some(slot)
    }

    fn completed(&mut self, queue: u32, now: Instant) {
        debug_assert_ne!(queue, NONE);
        let queue = &mut self.queues[queue as usize];
        queue.out -= 1;
        queue.finished = Some(now);
    }

    fn wake(&self) -> Option<Instant> {
        if self.counts() || self.ring.is_empty() {
            return None;
        }
        self.turn.map(|turn| self.end_of(&turn))
    }
}
