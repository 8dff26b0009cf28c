//! The elevator's definition in plain lists: every rule by looking at everything.
use drivelab_core::storage::elevator::{ElevatorOrder, ElevatorParams};
use drivelab_core::{Access, Attribute, Command};
use drivelab_units::{Instant, Span};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    pub command: Command,
    pub submitted: Instant,
    pub sequence: u64,
}

impl Arrived {
    fn overlaps(&self, other: &Arrived) -> bool {
        let (a, b) = (&self.command, &other.command);
        a.first < b.end() && b.first < a.end() && (a.access == Access::Write || b.access == Access::Write)
    }
}

/// Whose queue a request stands in, for the fair policy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Queue {
    /// Not with the policy: an ordered command, or one that went ahead of all.
    Outside,
    Shared,
    Process(u32),
}

#[derive(Clone, Debug)]
pub struct Request {
    pub members: Vec<Arrived>,
    pub queue: Queue,
    since: Instant,
}

impl Request {
    pub fn first(&self) -> u64 {
        self.members.iter().map(|member| member.command.first.get()).min().unwrap()
    }

    pub fn end(&self) -> u64 {
        self.members.iter().map(|member| member.command.end().get()).max().unwrap()
    }

    pub fn access(&self) -> Access {
        self.members[0].command.access
    }

    fn same_kind(&self, other: &Request) -> bool {
        let kind = |request: &Request| {
            let Command { access, initiator, logical_unit, priority, force_unit_access, .. } =
                request.members[0].command;
            (access, initiator, logical_unit, priority, force_unit_access)
        };
        let simple = |request: &Request| request.members[0].command.attribute == Attribute::Simple;
        self.queue == other.queue && kind(self) == kind(other) && simple(self) && simple(other)
    }
}

/// What the fair policy knows of a queue.
#[derive(Clone, Default, Debug)]
struct Known {
    position: u64,
    out: u32,
    awaited: bool,
    finished: Option<Instant>,
    think_time: Option<u64>,
}

#[derive(Clone, Debug)]
struct Turn {
    queue: Queue,
    end: Instant,
    left: u32,
}

#[derive(Clone, Debug)]
pub struct Model {
    params: ElevatorParams,
    arrivals: u64,
    /// The last of several first.
    ahead: Vec<Arrived>,
    behind: VecDeque<Arrived>,
    /// Oldest first.
    held: Vec<Arrived>,
    /// In order of admission.
    pub admitted: Vec<Request>,
    pub out: BTreeMap<u32, Request>,
    /// C-LOOK, and deadline by access.
    positions: [u64; 2],
    batch: Access,
    left: u32,
    passed: u32,
    known: BTreeMap<Queue, Known>,
    ring: VecDeque<Queue>,
    turn: Option<Turn>,
}

impl Model {
    pub fn new(params: &ElevatorParams) -> Self {
        Model {
            params: *params,
            arrivals: 0,
            ahead: Vec::new(),
            behind: VecDeque::new(),
            held: Vec::new(),
            admitted: Vec::new(),
            out: BTreeMap::new(),
            positions: [0; 2],
            batch: Access::Read,
            left: 0,
            passed: 0,
            known: BTreeMap::new(),
            ring: VecDeque::new(),
            turn: None,
        }
    }

    pub fn waiting(&self) -> usize {
        let members: usize = self.admitted.iter().map(|request| request.members.len()).sum();
        self.ahead.len() + self.behind.len() + self.held.len() + members
    }

    pub fn submit(&mut self, now: Instant, command: Command) {
        self.settle(now);
        let arrived = Arrived { command, submitted: now, sequence: self.arrivals };
        self.arrivals += 1;
        match command.attribute {
            Attribute::HeadOfQueue | Attribute::Aca => self.ahead.push(arrived),
            Attribute::Ordered => self.behind.push_back(arrived),
            _ if self.behind.is_empty() => self.enter(arrived, now),
            _ => self.behind.push_back(arrived),
        }
    }

    /// The request that goes next; the caller files it under its tag.
    pub fn next(&mut self, now: Instant) -> Option<Request> {
        self.settle(now);
        if self.out.len() == self.params.depth as usize {
            return None;
        }
        if let Some(arrived) = self.ahead.pop() {
            return Some(outside(arrived));
        }
        if let Some(place) = self.pick(now) {
            return Some(self.admitted.remove(place));
        }
        let barrier = *self.behind.front()?;
        if !self.admitted.is_empty() || !self.held.is_empty() || self.must_wait(&barrier) {
            return None;
        }
        self.behind.pop_front();
        // What comes after the barrier is free, but must see it as with the device.
        self.out.insert(u32::MAX, outside(barrier));
        while self.behind.front().is_some_and(|next| next.command.attribute != Attribute::Ordered) {
            let arrived = self.behind.pop_front().unwrap();
            self.enter(arrived, now);
        }
        self.out.remove(&u32::MAX)
    }

    /// The request's commands, oldest first.
    pub fn completed(&mut self, now: Instant, tag: u32) -> Vec<Arrived> {
        self.settle(now);
        let mut request = self.out.remove(&tag).unwrap();
        if request.queue != Queue::Outside && self.params.order == ElevatorOrder::Fair {
            let known = self.known.entry(request.queue).or_default();
            known.out -= 1;
            known.finished = Some(now);
        }
        for arrived in std::mem::take(&mut self.held) {
            if self.must_wait(&arrived) {
                self.held.push(arrived);
            } else {
                self.admit(arrived, now);
            }
        }
        request.members.sort_by_key(|member| member.sequence);
        request.members
    }

    /// The first instant after now at which a request may go although nothing comes and nothing is done.
    pub fn may_go_at(&self, now: Instant) -> Option<Instant> {
        let turn = self.turn.as_ref()?;
        let idle = self.known[&turn.queue].finished.map(|finished| finished + self.params.fair.slice_idle);
        let mut instants: Vec<Instant> = [Some(turn.end), idle].into_iter().flatten().collect();
        instants.sort_unstable();
        instants.into_iter().find(|&at| at > now && self.clone().next(at).is_some())
    }

    fn must_wait(&self, arrived: &Arrived) -> bool {
        let requests = self.out.values().chain(&self.admitted).flat_map(|request| &request.members);
        let older = |other: &&Arrived| other.sequence < arrived.sequence;
        requests.chain(&self.held).chain(&self.ahead).filter(older).any(|other| other.overlaps(arrived))
    }

    fn enter(&mut self, arrived: Arrived, now: Instant) {
        if self.must_wait(&arrived) {
            self.held.push(arrived);
        } else {
            self.admit(arrived, now);
        }
    }

    fn admit(&mut self, arrived: Arrived, now: Instant) {
        let Command { access, synchronous, process, .. } = arrived.command;
        let queue = match self.params.order {
            ElevatorOrder::Fair if access == Access::Read || synchronous => Queue::Process(process),
            _ => Queue::Shared,
        };
        let new = Request { members: vec![arrived], queue, since: now };
        if let Some(below) = self.neighbour_below(&new) {
            self.admitted[below].members.push(arrived);
            if let Some(above) = self.neighbour_above(&self.admitted[below]) {
                let (first, second) = (below.min(above), below.max(above));
                let other = self.admitted.remove(second);
                self.admitted[first].members.extend(other.members);
            }
        } else if let Some(above) = self.neighbour_above(&new) {
            self.admitted[above].members.push(arrived);
        } else {
            self.join_ring(queue, now);
            self.admitted.push(new);
        }
    }

    fn fits(&self, one: &Request, other: &Request) -> bool {
        let together = one.end() - one.first() + other.end() - other.first();
        self.params.merge_limit.is_some_and(|limit| together <= limit.get())
    }

    fn neighbour_below(&self, new: &Request) -> Option<usize> {
        let below = |&place: &usize| {
            let other = &self.admitted[place];
            other.same_kind(new) && other.first() < new.first()
        };
        let nearest = |&place: &usize| (self.admitted[place].first(), place);
        let place = (0..self.admitted.len()).filter(below).max_by_key(nearest)?;
        let other = &self.admitted[place];
        (other.end() == new.first() && self.fits(other, new)).then_some(place)
    }

    fn neighbour_above(&self, new: &Request) -> Option<usize> {
        let above = |&place: &usize| {
            let other = &self.admitted[place];
            other.same_kind(new) && other.first() >= new.end()
        };
        let nearest = |&place: &usize| (self.admitted[place].first(), place);
        let place = (0..self.admitted.len()).filter(above).min_by_key(nearest)?;
        let other = &self.admitted[place];
        (other.first() == new.end() && self.fits(other, new)).then_some(place)
    }

    /// The place of the request that goes next; the policy's state is then that after it went.
    fn pick(&mut self, now: Instant) -> Option<usize> {
        match self.params.order {
            ElevatorOrder::Noop => (!self.admitted.is_empty()).then_some(0),
            ElevatorOrder::CLook => {
                let place = self.sweep(self.positions[0], |_| true)?;
                self.positions[0] = self.admitted[place].end();
                Some(place)
            }
            ElevatorOrder::Deadline => self.pick_by_deadline(now),
            ElevatorOrder::Fair => self.pick_fairly(now),
        }
    }

    /// The lowest at or above the position, or the lowest of all.
    fn sweep(&self, position: u64, of: impl Fn(&Request) -> bool) -> Option<usize> {
        let places = (0..self.admitted.len()).filter(|&place| of(&self.admitted[place]));
        places.min_by_key(|&place| {
            let first = self.admitted[place].first();
            (first < position, first, place)
        })
    }

    fn pick_by_deadline(&mut self, now: Instant) -> Option<usize> {
        let oldest = |access| self.admitted.iter().position(|request| request.access() == access);
        let on = self.sweep(self.positions[self.batch as usize], |request| request.access() == self.batch);
        let on = on.filter(|&place| self.admitted[place].first() >= self.positions[self.batch as usize]);
        let place = if let Some(place) = on.filter(|_| self.left > 0) {
            place
        } else {
            let (reads, writes) = (oldest(Access::Read), oldest(Access::Write));
            let deadline = self.params.deadline;
            let write = writes.is_some() && (reads.is_none() || self.passed >= deadline.writes_starved);
            let (access, head) = if write { (Access::Write, writes?) } else { (Access::Read, reads?) };
            self.passed = if write { 0 } else { self.passed + u32::from(writes.is_some()) };
            (self.batch, self.left) = (access, deadline.fifo_batch);
            let expire = if write { deadline.write_expire } else { deadline.read_expire };
            let expired = now.since(self.admitted[head].since) >= expire;
            let position = self.positions[access as usize];
            if expired { head } else { self.sweep(position, |request| request.access() == access)? }
        };
        self.left -= 1;
        self.positions[self.batch as usize] = self.admitted[place].end();
        Some(place)
    }

    fn has_requests(&self, queue: Queue) -> bool {
        self.admitted.iter().any(|request| request.queue == queue)
    }

    fn counts(&self) -> bool {
        self.params.fair.slice_idle == Span::ZERO
    }

    fn join_ring(&mut self, queue: Queue, now: Instant) {
        if self.params.order != ElevatorOrder::Fair || self.has_requests(queue) {
            return;
        }
        let known = self.known.entry(queue).or_default();
        if let Some(finished) = known.finished.filter(|_| known.out == 0) {
            let latest = now.since(finished).as_ns().min(2 * self.params.fair.slice_idle.as_ns());
            let average = |average: u64| average - average / 8 + latest / 8;
            known.think_time = Some(known.think_time.map_or(latest, average));
        }
        if self.turn.as_ref().is_none_or(|turn| turn.queue != queue) {
            self.ring.push_back(queue);
        }
    }

    fn settle(&mut self, now: Instant) {
        let Some(turn) = &self.turn else { return };
        let (queue, known, fair) = (turn.queue, &self.known[&turn.queue], &self.params.fair);
        let empty = !self.has_requests(queue);
        let over = if self.counts() {
            empty || turn.left == 0
        } else {
            let soon = known.think_time.is_none_or(|average| average <= fair.slice_idle.as_ns());
            let expects = known.awaited && soon;
            let idled =
                known.out == 0 && known.finished.is_some_and(|finished| now >= finished + fair.slice_idle);
            now >= turn.end || empty && (!expects || idled)
        };
        if over {
            self.turn = None;
            if !empty {
                self.ring.push_back(queue);
            }
        }
    }

    fn pick_fairly(&mut self, now: Instant) -> Option<usize> {
        let fair = self.params.fair;
        let (counts, quantum) = (self.counts(), fair.quantum);
        if self.turn.is_none() {
            let alone = self.ring.len() == 1;
            let known = &self.known;
            let place = self.ring.iter().position(|queue| counts || alone || known[queue].out < quantum)?;
            let queue = self.ring.remove(place)?;
            let slice = if queue == Queue::Shared { fair.slice_async } else { fair.slice_sync };
            self.turn = Some(Turn { queue, end: now + slice, left: quantum });
        }
        let queue = self.turn.as_ref()?.queue;
        if !counts && !self.ring.is_empty() && self.known[&queue].out >= quantum {
            return None;
        }
        let place = self.sweep(self.known[&queue].position, |request| request.queue == queue)?;
        let request = &self.admitted[place];
        let known = self.known.get_mut(&queue)?;
        known.position = request.end();
        known.out += 1;
        known.awaited = request.members.iter().any(|member| member.command.synchronous);
        self.turn.as_mut()?.left -= u32::from(counts);
        Some(place)
    }
}

fn outside(arrived: Arrived) -> Request {
    Request { members: vec![arrived], queue: Queue::Outside, since: arrived.submitted }
}
