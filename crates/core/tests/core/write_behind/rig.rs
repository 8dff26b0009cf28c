//! A memory between a host and a device that serves side by side, each command in a time of its own; and the naive model:
//! the version of every sector, on the device and in memory, by the ids of the writes. Everything that crosses is checked.
use drivelab_core::command::OWN_IDS;
use drivelab_core::data::DataOp;
use drivelab_core::storage::write_behind::params::WriteBehindParams;
use drivelab_core::storage::write_behind::{Answer, Piece, Place, WriteBehind};
use drivelab_core::{Access, Breakdown, Command, Completion, Outcome};
use drivelab_units::{Instant, Lba, Sectors, Span};
use std::collections::{BTreeMap, BTreeSet};

/// What the device does with a command.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Service {
    pub span: Span,
    /// When within that the data are read or written.
    pub effect: Span,
    pub fails: bool,
}

impl Service {
    pub fn takes(span: Span) -> Self {
        Service { span, effect: span, fails: false }
    }
}

/// A command that the device was given.
#[derive(Clone, PartialEq, Debug)]
pub struct Sent {
    pub at: Instant,
    pub done: Option<Instant>,
    pub command: Command,
    /// Of a flush: whose data it carries.
    pub pieces: Vec<Piece>,
    service: Service,
}

/// A version, or the fetch that brings one.
#[derive(Clone, Copy, Debug)]
enum Given {
    Version(u64),
    Fetch(u64),
}

/// What is known of a command from above.
#[derive(Clone, Debug)]
struct Known {
    command: Command,
    at: Instant,
    answered: bool,
    /// A write's place in the order of writes.
    rank: Option<u64>,
    through: bool,
    /// A read's: what memory had at its arrival, by sector.
    memory: Vec<Option<u64>>,
    /// A read's: the versions that it returns.
    content: Vec<u64>,
    /// A read's that is served by lines: where each sector comes from.
    given: Vec<Option<Given>>,
    /// A read's: the rank of the newest write of each sector that was answered before it came. A FLUSH's: of all sectors.
    floor: Vec<Option<u64>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum What {
    Effect(usize),
    Done(usize),
}

/// Sectors of the device.
const CAPACITY: usize = 1 << 10;

/// No version: what was there before all writes, and what a read that fails brings.
const NEVER: u64 = u64::MAX;
const RUBBISH: u64 = NEVER - 1;

pub struct Rig {
    pub cache: WriteBehind,
    params: WriteBehindParams,
    place: Place,
    pub now: Instant,
    arrivals: BTreeMap<(Instant, u64), Command>,
    busy: BTreeMap<(Instant, u64), What>,
    events: u64,
    service: Box<dyn Fn(&Command) -> Service>,
    /// Whether the device does one command at a time; since when it has been free.
    serial: Option<Instant>,
    pub sent: Vec<Sent>,
    pub answers: Vec<Completion>,
    known: BTreeMap<u64, Known>,
    ranks: u64,
    /// By sector.
    disk: Vec<u64>,
    acknowledged: Vec<Option<u64>>,
    waiting: BTreeMap<u64, u64>,
    /// By tag: the flushes that are with the device.
    flying: BTreeMap<u32, Vec<Piece>>,
    /// By id: where a fetch of a line begins, and the versions that it brings.
    fetched: BTreeMap<u64, (usize, Vec<u64>)>,
    /// Those of them that are copies of what a read fetched.
    copies: BTreeSet<u64>,
    /// The buffers that memory has said to need, and the commands of its own that it has said to be over.
    held: BTreeSet<u64>,
    over: BTreeSet<u64>,
    /// So many commands of its own are done.
    own_done: usize,
    pub most_fetching: usize,
    /// How often a write's data have failed, by sector and write.
    tries: BTreeMap<(usize, u64), u8>,
    /// What has failed for the last time and memory has not said that it gives up.
    given_up: BTreeSet<(usize, u64)>,
    /// The most that was dirty.
    pub most_dirty: u64,
}

fn sectors(first: Lba, count: u64) -> std::ops::Range<usize> {
    first.get() as usize..(first.get() + count) as usize
}

impl Rig {
    pub fn new(
        params: &WriteBehindParams,
        place: Place,
        service: impl Fn(&Command) -> Service + 'static,
    ) -> Self {
        let mut cache = WriteBehind::new(params, place);
        cache.bound(Sectors::new(CAPACITY as u64));
        cache.keep_data();
        Rig {
            cache,
            params: *params,
            place,
            now: Instant::ZERO,
            arrivals: BTreeMap::new(),
            busy: BTreeMap::new(),
            events: 0,
            service: Box::new(service),
            serial: None,
            sent: Vec::new(),
            answers: Vec::new(),
            known: BTreeMap::new(),
            ranks: 0,
            disk: vec![NEVER; CAPACITY],
            acknowledged: vec![None; CAPACITY],
            waiting: BTreeMap::new(),
            flying: BTreeMap::new(),
            fetched: BTreeMap::new(),
            copies: BTreeSet::new(),
            held: BTreeSet::new(),
            over: BTreeSet::new(),
            own_done: 0,
            most_fetching: 0,
            tries: BTreeMap::new(),
            given_up: BTreeSet::new(),
            most_dirty: 0,
        }
    }

    /// In front of a device that does one command at a time.
    pub fn serial(
        params: &WriteBehindParams,
        place: Place,
        span: impl Fn(&Command) -> Span + 'static,
    ) -> Self {
        let (serial, sectors) = (Some(Instant::ZERO), 8 * CAPACITY);
        let (disk, acknowledged) = (vec![NEVER; sectors], vec![None; sectors]);
        let mut rig = Rig::new(params, place, move |command| Service::takes(span(command)));
        rig.cache.bound(Sectors::new(sectors as u64));
        Rig { serial, disk, acknowledged, ..rig }
    }

    pub fn arrive(&mut self, at: Instant, command: Command) {
        assert!(self.arrivals.insert((at, command.id), command).is_none());
    }

    /// Sends a command now.
    pub fn send(&mut self, command: Command) {
        self.arrive(self.now, command);
    }

    /// Sends a command and waits for its answer.
    pub fn go(&mut self, command: Command) -> Completion {
        self.send(command);
        self.until_answered(command.id)
    }

    pub fn until_answered(&mut self, id: u64) -> Completion {
        loop {
            if let Some(answer) = self.answers.iter().find(|answer| answer.id == id) {
                return *answer;
            }
            assert!(self.step(), "{id} is answered");
        }
    }

    pub fn run(&mut self) {
        while self.step() {}
    }

    pub fn run_until(&mut self, end: Instant) {
        while self.due().is_some_and(|due| due <= end) {
            self.step();
        }
        self.now = end;
    }

    pub fn due(&self) -> Option<Instant> {
        let (copy, flush) = (self.cache.next_copy(), self.cache.next_flush());
        let (busy, arrival) = (self.busy.first_key_value(), self.arrivals.first_key_value());
        let others = [busy.map(|(&(at, _), _)| at), arrival.map(|(&(at, _), _)| at)];
        [copy, flush].into_iter().chain(others).flatten().min()
    }

    /// Lets the next thing happen.
    pub fn step(&mut self) -> bool {
        let Some(due) = self.due() else { return false };
        assert!(due >= self.now, "nothing is due in the past");
        crate::common::count_step(due);
        self.now = due;
        if let Some((&key, &what)) = self.busy.first_key_value().filter(|((at, _), _)| *at == due) {
            self.busy.remove(&key);
            match what {
                What::Effect(which) => self.effect(which),
                What::Done(which) => self.done(which),
            }
        } else if [self.cache.next_copy(), self.cache.next_flush()].contains(&Some(due)) {
            self.cache.tick(due);
        } else if let Some(((at, _), command)) = self.arrivals.pop_first() {
            self.submit(at, command);
        }
        self.drain();
        self.check();
        true
    }

    /// What the memory must not keep, written out from the rules.
    fn goes_through(&self, command: &Command) -> bool {
        let host = matches!(self.place, Place::Host(_)) && command.direct;
        let given_up = self.cache.takes_no_writes();
        let forced = command.force_unit_access && (given_up || !self.has_battery());
        let WriteBehindParams { limit, write_through, .. } = self.params;
        let large = command.access == Access::Write && (write_through || given_up || command.count > limit);
        command.access != Access::Flush && (host || forced || large)
    }

    fn has_battery(&self) -> bool {
        self.params.battery && !self.params.write_through
    }

    fn submit(&mut self, at: Instant, command: Command) {
        let (first, end) = (command.first, command.end());
        let through = self.goes_through(&command);
        let mut rank = None;
        if through && command.access == Access::Write {
            rank = Some(self.ranks);
            self.ranks += 1;
        }
        let mut memory = vec![None; command.count.get() as usize];
        for piece in self.cache.held_pieces(first, end) {
            assert!(piece.first >= first && piece.first + piece.count <= end);
            for sector in sectors(piece.first, piece.count.get()) {
                let kept = self.version(piece.write, sector);
                assert!(memory[sector - first.get() as usize].replace(kept).is_none(), "one version each");
            }
        }
        let floor = match command.access {
            Access::Read => self.acknowledged[sectors(first, command.count.get())].to_vec(),
            Access::Flush => self.acknowledged.clone(),
            Access::Write => Vec::new(),
        };
        let content = vec![NEVER; memory.len()];
        let given = vec![None; memory.len()];
        let known = Known { command, at, answered: false, rank, through, memory, content, given, floor };
        assert!(self.known.insert(command.id, known).is_none());
        self.cache.submit(at, &command);
    }

    /// The version of a sector in the data that a command has fetched to memory.
    fn version(&self, command: u64, sector: usize) -> u64 {
        if let Some((first, content)) = self.fetched.get(&command) {
            return content[sector - first];
        }
        match self.known.get(&command) {
            Some(known) if known.command.access == Access::Write => command,
            Some(known) => known.content[sector - known.command.first.get() as usize],
            None => panic!("memory has data of {command} that nobody sent"),
        }
    }

    /// Part of a read comes from data in memory, or will come from a fetch; or nothing of it does.
    fn data_op(&mut self, op: DataOp) {
        match op {
            // Whose data a flush carries is told by `carries`.
            DataOp::Mix { into, .. } if into >= OWN_IDS => {}
            DataOp::Mix { into, at, from, from_at, count, factor: 1 } if at == from_at => {
                for sector in sectors(at, count.get()) {
                    let under_way = from >= OWN_IDS && !self.copies.contains(&from) && self.unfinished(from);
                    let given = if under_way {
                        Given::Fetch(from)
                    } else {
                        Given::Version(self.version(from, sector))
                    };
                    let known = self.known.get_mut(&into).expect("somebody sent it");
                    let place = &mut known.given[sector - known.command.first.get() as usize];
                    assert!(place.replace(given).is_none(), "one version each");
                }
            }
            DataOp::Forget { id, first, count } => {
                let known = self.known.get_mut(&id).expect("somebody sent it");
                let begin = (first - known.command.first).get() as usize;
                known.given[begin..begin + count.get() as usize].fill(None);
            }
            DataOp::Keep { kept, read, first, count } => {
                let copy = sectors(first, count.get()).map(|sector| self.version(read, sector)).collect();
                self.copies.insert(kept);
                self.fetched.insert(kept, (first.get() as usize, copy));
            }
            DataOp::GiveUp { write, first, count } => {
                for sector in sectors(first, count.get()) {
                    assert!(
                        self.given_up.remove(&(sector, write)),
                        "sector {sector} of {write} has not failed"
                    );
                }
            }
            DataOp::Hold { id } => assert!(self.held.insert(id), "{id} is held already"),
            DataOp::Release { id } => assert!(self.held.remove(&id), "{id} is not held"),
            DataOp::Over { id } => assert!(self.over.insert(id), "{id} is over already"),
            other => panic!("{other:?}"),
        }
    }

    /// Memory holds the buffers that it has data of, or is to get: those that it tells of, and of reads under way what
    /// they are to bring or are to be given. Commands of its own are over when they are done.
    fn check_holds(&self) {
        assert_eq!(
            self.over.len(),
            self.own_done + self.copies.len(),
            "own commands and copies that are over"
        );
        // It takes long, and what is held too long is held for ever.
        if !self.events.is_multiple_of(16) {
            return;
        }
        let all = self.cache.held_pieces(Lba::ZERO, Lba::new(u64::MAX)).chain(self.cache.unwritten());
        let needed: BTreeSet<u64> = all.map(|piece| piece.write).collect();
        assert!(self.held.is_superset(&needed), "{:?} of {needed:?} are held", self.held);
        let is_quiet = self.busy.is_empty() && self.unanswered().is_empty();
        assert!(!is_quiet || self.held == needed, "{:?} are held, and {needed:?} needed", self.held);
    }

    /// Whether a fetch is with the device, or about to be.
    fn unfinished(&self, fetch: u64) -> bool {
        self.sent.iter().rev().find(|sent| sent.command.id == fetch).is_none_or(|sent| sent.done.is_none())
    }

    /// Takes what the memory has to say.
    fn drain(&mut self) {
        while let Some(op) = self.cache.poll_data() {
            self.data_op(op);
        }
        assert!(self.given_up.is_empty(), "given up in silence: {:?}", self.given_up);
        while let Some(Answer { completion, in_memory }) = self.cache.poll_answer() {
            let went_below = self.sent.iter().any(|sent| sent.command.id == completion.id);
            assert_eq!(in_memory, (!went_below).then(|| self.known[&completion.id].command));
            self.answered(&completion);
        }
        while let Some(command) = self.cache.poll_below() {
            self.goes(&command);
            self.given(command);
        }
        self.check_holds();
    }

    /// A write that waited for room goes through, once memory has given up data.
    fn goes(&mut self, command: &Command) {
        let waited = |known: &&mut Known| !known.through && known.command.access == Access::Write;
        let Some(known) = self.known.get_mut(&command.id).filter(waited) else { return };
        assert!(self.cache.takes_no_writes());
        (known.through, known.rank) = (true, Some(self.ranks));
        self.ranks += 1;
    }

    /// The host hears of a command.
    fn answered(&mut self, answer: &Completion) {
        let known = self.known.get_mut(&answer.id).expect("somebody sent it");
        assert!(!std::mem::replace(&mut known.answered, true), "{} is answered once", answer.id);
        let Command { tag, initiator, first, count, access, .. } = known.command;
        assert_eq!((answer.tag, answer.initiator, answer.submitted), (tag, initiator, known.at));
        assert_eq!(answer.completed, self.now);
        assert_eq!(answer.breakdown.total(), answer.completed - answer.submitted);
        self.answers.push(*answer);
        if answer.outcome != Outcome::Done {
            return;
        }
        let (through, range) = (known.through, sectors(first, count.get()));
        match access {
            Access::Write => {
                let rank = known.rank.get_or_insert_with(|| {
                    self.ranks += 1;
                    self.ranks - 1
                });
                let rank = *rank;
                for sector in range {
                    self.acknowledged[sector] = self.acknowledged[sector].max(Some(rank));
                    if !through {
                        self.waiting.insert(sector as u64, answer.id);
                    }
                }
            }
            Access::Read => self.check_read(answer.id),
            Access::Flush if self.has_battery() => {}
            Access::Flush => self.check_flush(answer.id),
        }
    }

    fn rank(&self, version: u64) -> Option<u64> {
        if version == NEVER { None } else { Some(self.known[&version].rank.expect("memory has taken it")) }
    }

    /// A read returns the newest version that was answered before it came, or a newer one.
    fn check_read(&mut self, id: u64) {
        let known = &self.known[&id];
        let from_memory = !self.sent.iter().any(|sent| sent.command.id == id);
        let mut content = known.content.clone();
        for (i, version) in content.iter_mut().enumerate() {
            // What the device brings, with what memory had of it, the rig has reckoned by itself.
            if let Some(given) = known.given[i].filter(|_| from_memory && !known.through) {
                *version = match given {
                    Given::Version(version) => version,
                    Given::Fetch(fetch) => self.version(fetch, known.command.first.get() as usize + i),
                };
            } else if from_memory {
                assert!(!known.through);
                *version = known.memory[i].expect("memory has all that it answers");
            } else if let Some(kept) = known.memory[i].filter(|_| !known.through) {
                *version = kept;
            }
            let rank = self.rank(*version);
            assert!(rank >= known.floor[i], "sector {i} of {:?}: {version} is too old", known.command);
        }
        self.known.get_mut(&id).expect("somebody sent it").content = content;
    }

    /// When a FLUSH is answered, the device has all that was answered before it came.
    fn check_flush(&self, id: u64) {
        let known = &self.known[&id];
        assert!(self.sent.iter().any(|sent| sent.command.id == id), "it went on to the device");
        for (sector, &floor) in known.floor.iter().enumerate() {
            assert!(self.rank(self.disk[sector]) >= floor, "sector {sector} at FLUSH {id}");
        }
    }

    /// The device gets a command.
    fn given(&mut self, command: Command) {
        let mut pieces = Vec::new();
        if command.id >= OWN_IDS && command.access == Access::Read {
            self.check_line(&command);
        } else if command.id >= OWN_IDS {
            pieces = self.cache.carries(command.tag).collect();
            self.check_pieces(&command, &pieces);
            self.flying.insert(command.tag, pieces.clone());
        } else {
            let known = &self.known[&command.id].command;
            let forced =
                self.params.battery && self.params.force_unit_access && known.access == Access::Write;
            let force_unit_access = known.force_unit_access || forced;
            assert_eq!(Command { tag: known.tag, ..command }, Command { force_unit_access, ..*known });
        }
        if command.access == Access::Write {
            let under_way = |sent: &&Sent| sent.done.is_none() && sent.command.access == Access::Write;
            for other in self.sent.iter().filter(under_way) {
                let apart = other.command.first >= command.end() || command.first >= other.command.end();
                assert!(apart, "{:?} and {command:?} write the same", other.command);
            }
        }
        let service = (self.service)(&command);
        let begins = self.serial.map_or(self.now, |free| free.max(self.now));
        if let Some(free) = &mut self.serial {
            *free = begins + service.span;
        }
        let which = self.sent.len();
        self.sent.push(Sent { at: self.now, done: None, command, pieces, service });
        for (after, what) in [(service.effect, What::Effect(which)), (service.span, What::Done(which))] {
            self.busy.insert((begins + after, self.events), what);
            self.events += 1;
        }
    }

    /// A fetch is of one line, or of what there is of the last one.
    fn check_line(&mut self, command: &Command) {
        let lines = self.params.read_ahead.expect("only who reads by lines fetches any");
        let (first, unit, capacity) = (command.first.get(), lines.unit.get(), self.disk.len() as u64);
        assert_eq!((first % unit, command.end().get()), (0, capacity.min(first + unit)));
        let under_way = |sent: &&Sent| {
            sent.done.is_none() && sent.command.id >= OWN_IDS && sent.command.access == Access::Read
        };
        let fetching = 1 + self.sent.iter().filter(under_way).count();
        assert!(fetching <= lines.outstanding as usize);
        self.most_fetching = self.most_fetching.max(fetching);
        let nothing = vec![RUBBISH; command.count.get() as usize];
        assert!(self.fetched.insert(command.id, (first as usize, nothing)).is_none());
    }

    /// A flush of part of a row lies in one row, and any other is made of whole rows.
    fn check_rows(&self, command: &Command, stripe: u64) {
        let (first, end, request) = (command.first.get(), command.end().get(), self.params.request.get());
        let in_one = first / stripe == (end - 1) / stripe;
        let is_whole = first.is_multiple_of(stripe) && end.is_multiple_of(stripe);
        assert!(in_one || is_whole && end - first <= request, "{first} to {end}, rows of {stripe}");
    }

    /// A flush carries what waits, piece by piece without a gap.
    fn check_pieces(&mut self, command: &Command, pieces: &[Piece]) {
        match self.params.stripe {
            None => assert!(command.count <= self.params.request),
            Some(stripe) => self.check_rows(command, stripe.get()),
        }
        assert!(!pieces.is_empty());
        assert_eq!(command.force_unit_access, self.params.force_unit_access);
        let mut at = command.first;
        for piece in pieces {
            assert_eq!(piece.first, at);
            at = piece.first + piece.count;
            for sector in sectors(piece.first, piece.count.get()) {
                assert_eq!(self.waiting.remove(&(sector as u64)), Some(piece.write));
            }
        }
        assert_eq!(at, command.end());
    }

    /// The device reads or writes a command's data.
    fn effect(&mut self, which: usize) {
        let Sent { command, pieces, service, .. } = &self.sent[which];
        match command.access {
            Access::Read => {
                let range = sectors(command.first, command.count.get());
                if let Some((_, content)) = self.fetched.get_mut(&command.id) {
                    if !service.fails {
                        content.copy_from_slice(&self.disk[range]);
                    }
                    return;
                }
                let known = self.known.get_mut(&command.id).expect("somebody sent it");
                if service.fails {
                    known.content.fill(RUBBISH);
                } else {
                    known.content.copy_from_slice(&self.disk[range]);
                }
            }
            // One that fails may have come half the way.
            Access::Write if service.fails && command.first.get() % 2 == 0 => {}
            Access::Write if pieces.is_empty() => {
                self.disk[sectors(command.first, command.count.get())].fill(command.id);
            }
            Access::Write => {
                for piece in pieces {
                    self.disk[sectors(piece.first, piece.count.get())].fill(piece.write);
                }
            }
            Access::Flush => {}
        }
    }

    /// The device is done with a command.
    fn done(&mut self, which: usize) {
        self.sent[which].done = Some(self.now);
        let Sent { at, command, service, .. } = self.sent[which].clone();
        self.own_done += usize::from(command.id >= OWN_IDS);
        let Command { id, initiator, tag, first, count, access, .. } = command;
        if let Some(pieces) = self.flying.remove(&tag).filter(|_| id >= OWN_IDS && access == Access::Write) {
            for piece in pieces.iter().filter(|_| service.fails) {
                for sector in sectors(piece.first, piece.count.get()) {
                    self.failed(sector, piece.write);
                }
            }
        } else if access == Access::Write && !service.fails {
            let rank = self.known[&id].rank;
            for sector in sectors(first, count.get()) {
                let older =
                    self.waiting.get(&(sector as u64)).is_some_and(|&old| self.known[&old].rank < rank);
                if older {
                    self.waiting.remove(&(sector as u64));
                }
            }
        }
        let outcome = if service.fails { Outcome::TimedOut } else { Outcome::Done };
        let breakdown = Breakdown { transfer: self.now - at, ..Breakdown::default() };
        let (submitted, completed) = (at, self.now);
        let completion = Completion { id, initiator, tag, outcome, submitted, completed, breakdown };
        self.cache.completed(self.now, &completion);
    }

    /// A sector of a flush that has failed goes again, unless it is newer by now, or has failed five times.
    fn failed(&mut self, sector: usize, write: u64) {
        if self.waiting.contains_key(&(sector as u64)) {
            return;
        }
        let tries = self.tries.entry((sector, write)).or_default();
        *tries += 1;
        if *tries < 5 {
            self.waiting.insert(sector as u64, write);
        } else {
            self.acknowledged[sector] = None;
            self.given_up.insert((sector, write));
        }
    }

    /// What a power cut would lose is what was taken and is not on the device; it is never more than the limit.
    fn check(&mut self) {
        let sent: u64 = self.flying.values().flatten().map(|piece| piece.count.get()).sum();
        let dirty = self.waiting.len() as u64 + sent;
        assert_eq!(self.cache.dirty().get(), dirty);
        assert!(dirty <= self.params.limit.get(), "{dirty} are dirty");
        assert!(self.cache.used() <= self.params.size, "{:?} are used", self.cache.used());
        assert!(self.cache.flushing() <= self.params.outstanding as usize);
        self.most_dirty = self.most_dirty.max(dirty);
        let mut expected: Vec<(u64, u64)> = self.waiting.iter().map(|(&sector, &id)| (sector, id)).collect();
        let single = |piece: &Piece| {
            let (write, first) = (piece.write, piece.first.get());
            (first..first + piece.count.get()).map(move |sector| (sector, write))
        };
        expected.extend(self.flying.values().flatten().flat_map(single));
        let mut found: Vec<(u64, u64)> = self.cache.volatile().flat_map(|piece| single(&piece)).collect();
        if self.has_battery() {
            expected.clear();
        }
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    /// The commands that have not been answered.
    pub fn unanswered(&self) -> Vec<u64> {
        self.known.iter().filter(|(_, known)| !known.answered).map(|(&id, _)| id).collect()
    }

    /// The device has, and a read would return, the newest version of every sector.
    pub fn check_newest(&self) {
        for (sector, &rank) in self.acknowledged.iter().enumerate() {
            assert!(self.rank(self.disk[sector]) >= rank, "sector {sector}");
        }
    }

    /// Commands of the box's own that the device was given.
    pub fn flushes(&self) -> impl Iterator<Item = &Sent> {
        self.own(Access::Write)
    }

    /// Lines that the device was asked for.
    pub fn fetches(&self) -> impl Iterator<Item = &Sent> {
        self.own(Access::Read)
    }

    fn own(&self, access: Access) -> impl Iterator<Item = &Sent> {
        self.sent.iter().filter(move |sent| sent.command.id >= OWN_IDS && sent.command.access == access)
    }
}
