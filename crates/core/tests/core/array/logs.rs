//! Logs that are full and caches that forget: nothing is overwritten that is needed, what waits for room goes on, and what
//! must be on the media before something else is.
use super::rig::{array_on, forgetting};
use crate::common::sorted::Target;
use crate::common::{TRACK, command, drive, flat_seek, layout, ms, next_due, us, zone};
use drivelab_core::data::{DataOp, Word};
use drivelab_core::storage::TargetInput;
use drivelab_core::storage::array::Logged;
use drivelab_core::storage::array::params::{
    ArrayParams, ConsistencyPolicy, Failure, GivesWay, Level, Rotation, SyncParams, When,
};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::{Access, Completion, Outcome};
use drivelab_units::{Instant, Sectors, Span};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A drive of so many tracks, with or without a cache that forgets.
fn small(tracks: u32, forgets: bool) -> DriveParams {
    let geometry = layout(1, vec![zone(0, tracks, TRACK as u32)]);
    let cache = forgets.then(|| forgetting(400, ms(5)));
    DriveParams { geometry, seek: flat_seek(us(500), tracks), cache, ..drive() }
}

fn raid5(consistency_policy: ConsistencyPolicy, rotation: Rotation) -> ArrayParams {
    let level = Level::Parity { parities: 1, rotation, groups: 1 };
    ArrayParams { consistency_policy, unit: Sectors::new(32), ..ArrayParams::plain(level, 4) }
}

/// An entry of a log, and how often the places that it is for had been written when it came there.
struct Lying {
    entry: Logged,
    written: Vec<usize>,
}

/// What is known of the members' media while a target runs.
struct Ledger {
    target: Target,
    now: Instant,
    answers: Vec<Completion>,
    /// By drive and place: the commands that have written there, and how many of them are on the media or overwritten
    /// there.
    accepted: HashMap<(u16, u64), Vec<u64>>,
    persisted: HashMap<(u16, u64), usize>,
    /// By place of a log: the entry that lies there.
    entries: HashMap<(u16, u64), Rc<Lying>>,
    /// Entries that are on their way to their log, by the command that brings them.
    announced: HashMap<u64, Vec<Logged>>,
    journal: Option<u16>,
    overwritten: u64,
}

impl Ledger {
    fn new(params: ArrayParams, drives: &[DriveParams]) -> Self {
        let journal =
            (params.consistency_policy == ConsistencyPolicy::Journal).then_some(drives.len() as u16 - 1);
        let mut target = Target::new(&array_on(params, drives), 1);
        target.keep_data();
        Ledger {
            target,
            now: Instant::ZERO,
            answers: Vec::new(),
            accepted: HashMap::new(),
            persisted: HashMap::new(),
            entries: HashMap::new(),
            announced: HashMap::new(),
            journal,
            overwritten: 0,
        }
    }

    fn drive_of(&self, slot: u16) -> u16 {
        if slot == 4 { self.journal.unwrap_or(slot) } else { slot }
    }

    /// Whether what an entry is for, or something newer, is on the media.
    fn is_safe(&self, lying: &Lying) -> bool {
        let persisted = |at| self.persisted.get(&(lying.entry.of.slot, at)).copied().unwrap_or(0);
        (lying.entry.of.at..).zip(&lying.written).all(|(at, &written)| persisted(at) > written)
    }

    fn lying(&self, entry: Logged) -> Rc<Lying> {
        let places = (entry.of.at..entry.of.at + entry.count).map(|at| (entry.of.slot, at));
        let written = places.map(|place| self.accepted.get(&place).map_or(0, Vec::len)).collect();
        Rc::new(Lying { entry, written })
    }

    fn collect_outputs(&mut self) {
        while let Some(op) = self.target.poll_data() {
            match op {
                DataOp::AddWord { word: Word::Logged(entry), .. } => {
                    self.announced.entry(entry.op).or_default().push(entry);
                }
                DataOp::Accept { write, member, first, count } => {
                    for at in first.get()..(first + count).get() {
                        // A log entry that goes must not be needed any more.
                        if let Some(old) = self.entries.remove(&(member, at)) {
                            self.overwritten += 1;
                            assert!(
                                self.is_safe(&old),
                                "{:?} was needed, and is overwritten at {at}",
                                old.entry
                            );
                        }
                        self.accepted.entry((member, at)).or_default().push(write);
                    }
                    for entry in self.announced.remove(&write).into_iter().flatten() {
                        let drive = self.drive_of(entry.log.slot);
                        let places = entry.log.at..entry.log.at + entry.count;
                        let lying = self.lying(entry);
                        self.entries.extend(places.map(|at| ((drive, at), Rc::clone(&lying))));
                    }
                }
                DataOp::Persist { write, member, first, count } => {
                    for at in first.get()..(first + count).get() {
                        let all = &self.accepted[&(member, at)];
                        let which = all.iter().rposition(|&id| id == write).expect("it was accepted before");
                        let persisted = self.persisted.entry((member, at)).or_default();
                        *persisted = (*persisted).max(which + 1);
                    }
                }
                _ => {}
            }
        }
        self.answers.extend(std::iter::from_fn(|| self.target.poll_output()));
    }

    fn send(&mut self, id: u64, access: Access, first: u64, count: u64) {
        self.target.handle(self.now, TargetInput::Submit(command(id, access, first, count)));
        self.collect_outputs();
    }

    fn wait(&mut self, span: Span) {
        self.now += span;
        while let Some(due) = next_due(&self.target).filter(|&due| due <= self.now) {
            self.target.handle(due, TargetInput::Tick);
            self.collect_outputs();
        }
    }

    fn drain(&mut self) {
        while let Some(due) = next_due(&self.target) {
            self.now = self.now.max(due);
            self.target.handle(due, TargetInput::Tick);
            self.collect_outputs();
        }
    }
}

/// Five drives, of which the last is a journal with room for a few records.
fn journalled(tracks: u32, forgets: bool) -> (ArrayParams, Vec<DriveParams>) {
    let mut journal = small(2, false);
    journal.geometry.capacity = Some(Sectors::new(200));
    let drives = (0..4).map(|_| small(tracks, forgets)).chain([journal]).collect();
    (raid5(ConsistencyPolicy::Journal, Rotation::LeftSymmetric), drives)
}

#[test]
fn what_waits_for_room_in_a_journal_waits_in_the_queue() {
    let (params, drives) = journalled(10, false);
    let alone = {
        let mut ledger = Ledger::new(params.clone(), &drives);
        ledger.send(0, Access::Write, 0, 96);
        ledger.drain();
        ledger.answers[0]
    };
    let mut ledger = Ledger::new(params, &drives);
    // A whole row takes 8 sectors and 128; the journal has 192 behind its superblock. They do not touch each other.
    (0..6).for_each(|i| ledger.send(i, Access::Write, 96 * i, 96));
    ledger.drain();
    let done: Vec<u64> = ledger.answers.iter().map(|answer| answer.id).collect();
    assert_eq!(done, [0, 1, 2, 3, 4, 5], "one after the other, as they came");
    for (earlier, later) in ledger.answers.iter().zip(&ledger.answers[1..]) {
        // It has its room when the one before it has been done and the superblock says so.
        let waited = later.breakdown.queue;
        assert!(waited > earlier.completed - later.submitted, "{waited:?}");
        assert_eq!(later.breakdown.total(), later.completed - later.submitted);
    }
    assert_eq!(ledger.answers[0].breakdown, alone.breakdown, "the first has found room");
    assert!(ledger.overwritten > 200);
}

#[test]
fn a_large_write_is_cut_to_what_its_log_can_hold() {
    let (params, drives) = journalled(20, true);
    let mut ledger = Ledger::new(params, &drives);
    ledger.send(0, Access::Write, 5, 96 * 20);
    ledger.drain();
    assert_eq!(ledger.answers[0].outcome, Outcome::Done);
    assert!(ledger.overwritten > 1_500);
    // A stripe unit of which a partial parity log cannot hold the sum.
    let params = ArrayParams {
        unit: Sectors::new(3_000),
        ..raid5(ConsistencyPolicy::PartialParityLog, Rotation::Last)
    };
    let drives: Vec<_> = (0..4).map(|_| small(20, true)).collect();
    let mut ledger = Ledger::new(params, &drives);
    ledger.send(0, Access::Write, 5, 2_990);
    ledger.send(1, Access::Write, 2_000, 2_000);
    ledger.drain();
    assert!(ledger.answers.iter().all(|answer| answer.outcome == Outcome::Done));
    assert!(ledger.overwritten > 1_000);
}

#[test]
fn a_journal_that_cannot_hold_a_row_is_refused() {
    let (params, drives) = journalled(10, false);
    let capacities = |journal| [6_000, 6_000, 6_000, 6_000, journal].map(Sectors::new);
    assert!(params.check(&capacities(144)).is_ok());
    assert!(params.check(&capacities(143)).unwrap_err().to_string().contains("144 sectors"));
    drop(drives);
}

/// The commands of members in the order in which they were carried out: a FLUSH is seen by what it persists.
fn order(params: ArrayParams, writes: &[(u64, u64)]) -> Vec<(u64, u16, u64, bool)> {
    let drives: Vec<_> = (0..params.members).map(|_| small(12, true)).collect();
    let mut target = Target::new(&array_on(params, &drives), 1);
    target.keep_data();
    let mut seen = Vec::new();
    let mut now = Instant::ZERO;
    let mut next = writes.iter().enumerate();
    loop {
        for op in std::iter::from_fn(|| target.poll_data()) {
            match op {
                DataOp::Accept { member, first, .. } => seen.push((now.as_ns(), member, first.get(), false)),
                DataOp::Persist { member, first, .. } => seen.push((now.as_ns(), member, first.get(), true)),
                _ => {}
            }
        }
        while target.poll_output().is_some() {}
        if let Some((id, &(first, count))) = next.next() {
            target.handle(now, TargetInput::Submit(command(id as u64, Access::Write, first, count)));
            continue;
        }
        let Some(due) = next_due(&target) else { return seen };
        now = due;
        target.handle(due, TargetInput::Tick);
    }
}

#[test]
fn bits_are_on_the_media_before_the_data_and_go_after_them() {
    let consistency_policy = ConsistencyPolicy::Bitmap { region: Sectors::new(64), clears_after: ms(1) };
    let seen = order(raid5(consistency_policy, Rotation::Last), &[(0, 8)]);
    // Granules of 8 sectors: the superblock's, then one of bits; then the data.
    let when = |member, is_bit: bool, is_persisted| -> Vec<u64> {
        let all = seen.iter().filter(|&&(_, of, first, persisted)| {
            of == member && (first < 16) == is_bit && persisted == is_persisted
        });
        all.map(|&(at, ..)| at).collect()
    };
    for member in 0..4 {
        let bits = when(member, true, true);
        assert_eq!(bits.len(), 2, "set, and cleared");
        for written in [0, 3] {
            let (taken, there) = (when(written, false, false), when(written, false, true));
            assert_eq!((taken.len(), there.len()), (1, 1));
            assert!(bits[0] <= taken[0], "the bit of {member} before the data of {written}");
            assert!(
                there[0] <= bits[1],
                "the bit of {member} goes when the data of {written} are on the media"
            );
        }
    }
}

#[test]
fn a_unit_of_a_partial_parity_log_ends_with_a_flush_of_what_it_has_written() {
    // Both rows have their parity on the last member, and share its log.
    let seen = order(raid5(ConsistencyPolicy::PartialParityLog, Rotation::Last), &[(0, 8), (96, 8)]);
    let logged = |at: u64| at < 2_048;
    let log: Vec<u64> = seen
        .iter()
        .filter(|&&(_, _, first, persisted)| logged(first) && persisted)
        .map(|&(at, ..)| at)
        .collect();
    assert_eq!(log.len(), 2);
    let there = |member: u16| -> Vec<u64> {
        let all =
            seen.iter().filter(|&&(_, of, first, persisted)| of == member && !logged(first) && persisted);
        all.map(|&(at, ..)| at).collect()
    };
    // Data of the first write, and its parity, are on the media before the second sum is logged.
    assert!(there(0)[0] <= log[1] && there(3)[0] <= log[1], "{seen:?}");
    let taken = seen.iter().filter(|&&(_, _, first, persisted)| !logged(first) && !persisted);
    let data: Vec<u64> = taken.map(|&(at, ..)| at).collect();
    assert!(log[0] <= data[0] && log[1] <= data[2]);
}

/// What comes of these writes, sent at once, when the data operations are kept or not.
fn answered(params: &ArrayParams, drives: &[DriveParams], keeps: bool) -> Vec<Completion> {
    let mut target = Target::new(&array_on(params.clone(), drives), 1);
    if keeps {
        target.keep_data();
    }
    for (id, (first, count)) in
        (0..).zip([(0, 96), (3, 1), (100, 30), (200, 90), (500, 300), (20, 7), (900, 96)])
    {
        target.handle(Instant::ZERO, TargetInput::Submit(command(id, Access::Write, first, count)));
    }
    let mut answers = Vec::new();
    loop {
        while target.poll_data().is_some() {}
        answers.extend(std::iter::from_fn(|| target.poll_output()));
        let Some(due) = next_due(&target) else { return answers };
        target.handle(due, TargetInput::Tick);
    }
}

#[test]
fn a_journal_is_written_alike_whether_data_are_kept_or_not() {
    let (params, drives) = journalled(10, false);
    for most in [8, 12, 20, 40, 100, 2_048] {
        let params = ArrayParams { request: Sectors::new(most), ..params.clone() };
        let answers = answered(&params, &drives, false);
        assert_eq!(answers.len(), 7);
        assert_eq!(answers, answered(&params, &drives, true), "requests of {most} sectors");
    }
}

#[test]
fn bits_that_came_due_while_a_member_was_missing_go_when_it_is_back() {
    let consistency_policy = ConsistencyPolicy::Bitmap { region: Sectors::new(64), clears_after: ms(1) };
    let failures = vec![Failure { drive: 1, when: When::Commands(1) }];
    // Too fast a rebuild would be over first.
    let params = raid5(consistency_policy, Rotation::LeftSymmetric);
    let sync = SyncParams { gives_way: GivesWay::ByWaiting, ..params.sync };
    let params = ArrayParams { spares: 1, failures, sync, ..params };
    let mut ledger = Ledger::new(params, &(0..5).map(|_| small(10, false)).collect::<Vec<_>>());
    let marked = |ledger: &Ledger| ledger.target.system().unwrap().array().unwrap().marked().count();
    ledger.wait(ms(1));
    ledger.send(0, Access::Write, 0, 8);
    ledger.send(1, Access::Write, 3_000, 8);
    while ledger.answers.len() < 2 {
        ledger.wait(ms(1));
    }
    ledger.wait(ms(3));
    assert!(ledger.target.system().unwrap().array().unwrap().members().impaired > 0);
    assert_eq!(marked(&ledger), 2, "due, and kept");
    ledger.drain();
    let array = ledger.target.system().unwrap().array().unwrap();
    assert_eq!(array.members().impaired, 0);
    assert_eq!(marked(&ledger), 0);
}

#[test]
fn reads_that_end_pass_nobody_who_waits_for_room() {
    let rotation = Rotation::LeftAsymmetric;
    let params =
        ArrayParams { unit: Sectors::new(512), ..raid5(ConsistencyPolicy::PartialParityLog, rotation) };
    let mut ledger = Ledger::new(params, &(0..4).map(|_| small(60, false)).collect::<Vec<_>>());
    (0..40).for_each(|id| ledger.send(id, Access::Read, 10 + id, 1));
    // Each takes a quarter of the log of the last member: the fifth waits.
    let row = 3 * 512;
    (0..5).for_each(|i| ledger.send(40 + i, Access::Write, 4 * row * i, 500));
    let logs = |ledger: &Ledger, slot: u16| {
        ledger.announced.values().flatten().filter(|entry| entry.of.slot == slot).count()
    };
    // In two bands each.
    assert_eq!(logs(&ledger, 3), 8);
    while ledger.answers.len() < 40 {
        ledger.wait(us(100));
    }
    assert!(ledger.answers.iter().all(|answer| answer.id < 40), "the writes are still under way");
    // The log of another member has room.
    ledger.send(45, Access::Write, row, 8);
    assert_eq!(logs(&ledger, 2), 1);
    ledger.drain();
    assert_eq!(ledger.answers.len(), 46);
}

proptest! {
    /// Whatever is written at once, every command is answered, and no entry is overwritten that anything depends on.
    #[test]
    fn nothing_that_is_needed_is_overwritten_and_nothing_waits_for_ever(
        is_journal in any::<bool>(),
        forgets in any::<bool>(),
        fixed in any::<bool>(),
        commands in proptest::collection::vec((0u8..8, 0u64..1_500, 1u64..300, 0u64..6), 1..60),
    ) {
        let (params, drives) = if is_journal {
            journalled(10, forgets)
        } else {
            let rotation = if fixed { Rotation::Last } else { Rotation::LeftAsymmetric };
            // Sums as large as a quarter of the log.
            let params = ArrayParams { unit: Sectors::new(512), ..raid5(ConsistencyPolicy::PartialParityLog, rotation) };
            (params, (0..4).map(|_| small(14, forgets)).collect())
        };
        let mut ledger = Ledger::new(params, &drives);
        let capacity = ledger.target.capacity().get();
        let sent = commands.len();
        for (id, (what, first, count, wait)) in (0..).zip(commands) {
            let first = first.min(capacity - count);
            match what {
                0 => ledger.send(id, Access::Read, first, count),
                1 => ledger.send(id, Access::Flush, 0, 0),
                _ => ledger.send(id, Access::Write, first, count),
            }
            ledger.wait(ms(wait));
        }
        ledger.drain();
        let ids: HashSet<u64> = ledger.answers.iter().map(|answer| answer.id).collect();
        prop_assert_eq!((ledger.answers.len(), ids.len()), (sent, sent));
        for answer in &ledger.answers {
            prop_assert_eq!(answer.outcome, Outcome::Done);
            prop_assert_eq!(answer.breakdown.total(), answer.completed - answer.submitted);
        }
    }
}
