//! What a drive's cache may promise and must keep, on random drives and histories, against a stamp for every sector.
//!
//! The stream of data operations says which write a sector has in the target and on the media. Held to it: a write is
//! done when it is accepted, one past the cache when it is persisted; after a FLUSH all that was answered before is on
//! the media; what a power cut would lose is what was accepted and not persisted, to the sector; no cache is fuller than
//! it is large. All of this also where reads fail, commands are given up, deadlines pass and an allegiance holds.
use crate::common;
use crate::common::scenarios::{caches, drives};
use crate::common::sorted::Target;
use crate::common::{Probe, next_due};
use drivelab_core::data::DataOp;
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::drive::params::{DriveParams, Medium};
use drivelab_core::storage::drive::protocol::{Protocol, ScsiParams};
use drivelab_core::storage::drive::queue::{JoinsUntil, Order};
use drivelab_core::storage::{Manage, TargetInput, TargetParams};
use drivelab_core::trace::Served;
use drivelab_core::{Access, Attribute, Command, Completion, Outcome, Priority};
use drivelab_units::{Instant, Lba, Sectors, Share, Span};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One command, and how long after the one before it comes.
#[derive(Clone, Copy, Debug)]
struct Draft {
    gap: Span,
    access: Access,
    fua: bool,
    place: u64,
    count: u64,
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let access = prop_oneof![
        8 => Just((Access::Write, false)),
        1 => Just((Access::Write, true)),
        6 => Just((Access::Read, false)),
        1 => Just((Access::Read, true)),
        1 => Just((Access::Flush, false)),
    ];
    let gap = prop_oneof![3 => Just(0u64), 3 => 0u64..3_000, 1 => 0u64..200_000].prop_map(Span::from_us);
    // Few places, so that commands meet each other.
    let place = prop_oneof![3 => 0u64..60, 2 => (0u64..6).prop_map(|i| 97 * i), 1 => any::<u64>()];
    let draft = (gap, access, place, 1u64..24).prop_map(|(gap, (access, fua), place, count)| Draft {
        gap,
        access,
        fua,
        place,
        count,
    });
    prop::collection::vec(draft, 1..60)
}

fn cached_drives() -> impl Strategy<Value = DriveParams> {
    (drives(), caches()).prop_map(|(params, cache)| DriveParams {
        cache: Some(cache),
        medium: Medium::Conventional,
        faults: None,
        ..params
    })
}

/// What is known of each sector, and of each write.
#[derive(Default)]
struct Stamps {
    /// The newest write accepted and the newest persisted, as their places in the order of acceptance.
    accepted: BTreeMap<u64, usize>,
    persisted: BTreeMap<u64, usize>,
    /// Write and sector that only the cache has.
    volatile: BTreeSet<(u64, u64)>,
    /// Given up since the last look, each because a newer write comes with it.
    dropped: Vec<(u64, u64)>,
    /// The order in which the target accepted writes, and when each sector of one was accepted.
    order: BTreeMap<(u64, u64), usize>,
    next: usize,
}

fn sectors(first: Lba, count: Sectors) -> impl Iterator<Item = u64> {
    first.get()..first.get() + count.get()
}

impl Stamps {
    fn apply(&mut self, op: DataOp) -> Result<(), TestCaseError> {
        match op {
            DataOp::Accept { write, first, count, .. } => {
                for sector in sectors(first, count) {
                    self.accepted.insert(sector, self.next);
                    self.order.insert((write, sector), self.next);
                    self.volatile.insert((write, sector));
                }
                self.next += 1;
            }
            DataOp::Persist { write, member, first, count } => {
                prop_assert_eq!(member, 0);
                for sector in sectors(first, count) {
                    prop_assert!(self.volatile.remove(&(write, sector)), "persisted what nobody has");
                    let place = self.order[&(write, sector)];
                    let before = self.persisted.insert(sector, place);
                    prop_assert!(before.is_none_or(|before| before < place), "the media went back in time");
                }
            }
            DataOp::Drop { write, first, count, .. } => {
                for sector in sectors(first, count) {
                    prop_assert!(self.volatile.remove(&(write, sector)), "dropped what nobody has");
                    self.dropped.push((write, sector));
                }
            }
            DataOp::Deliver { .. } | DataOp::Begin { .. } | DataOp::Load { .. } | DataOp::Copy { .. } => {}
            other => panic!("{other:?} of a single drive"),
        }
        Ok(())
    }

    fn check_dropped(&mut self) -> Result<(), TestCaseError> {
        for (write, sector) in self.dropped.drain(..) {
            prop_assert!(
                self.accepted[&sector] > self.order[&(write, sector)],
                "dropped without a newer one"
            );
        }
        Ok(())
    }

    /// Every sector of this write is on the media, or a newer one is.
    fn is_persisted(&self, command: &Command) -> bool {
        sectors(command.first, command.count).all(|sector| {
            let own = self.order.get(&(command.id, sector));
            own.is_some_and(|own| self.persisted.get(&sector).is_some_and(|there| there >= own))
        })
    }
}

struct Checker {
    target: Target,
    /// Whether commands may fail or be given up, and leave an auto contingent allegiance.
    rough: bool,
    protocol: Protocol,
    /// By whose error there is one, and from when till when.
    allegiances: Vec<(u16, [Instant; 2])>,
    cache: CacheParams,
    stamps: Stamps,
    commands: BTreeMap<u64, Command>,
    /// Writes answered before each FLUSH was sent.
    answered: Vec<u64>,
    before: BTreeMap<u64, usize>,
    done: usize,
}

impl Checker {
    fn new(target: &TargetParams, params: &DriveParams, rough: bool) -> Self {
        let mut target = Target::new(target, 7);
        target.keep_data();
        target.keep_traces();
        let Some(cache) = params.cache else { unreachable!("the drives here have a cache") };
        Checker {
            target,
            rough,
            protocol: params.protocol,
            allegiances: Vec::new(),
            cache,
            stamps: Stamps::default(),
            commands: BTreeMap::new(),
            answered: Vec::new(),
            before: BTreeMap::new(),
            done: 0,
        }
    }

    /// Runs to `now`, event by event.
    fn run(&mut self, now: Instant) -> Result<(), TestCaseError> {
        while let Some(due) = next_due(&self.target).filter(|&due| due <= now) {
            self.target.handle(due, TargetInput::Tick);
            self.process_outputs()?;
        }
        Ok(())
    }

    fn send(&mut self, now: Instant, command: Command) -> Result<(), TestCaseError> {
        self.commands.insert(command.id, command);
        self.before.insert(command.id, self.answered.len());
        self.target.handle(now, TargetInput::Submit(command));
        self.process_outputs()
    }

    fn process_outputs(&mut self) -> Result<(), TestCaseError> {
        while let Some(op) = self.target.poll_data() {
            self.stamps.apply(op)?;
        }
        self.stamps.check_dropped()?;
        while let Some(completion) = self.target.poll_output() {
            self.answer(&completion)?;
        }
        self.check_cache()
    }

    fn answer(&mut self, completion: &Completion) -> Result<(), TestCaseError> {
        let command = self.commands[&completion.id];
        prop_assert!(self.rough || completion.outcome == Outcome::Done);
        prop_assert_eq!(completion.breakdown.total(), completion.completed - completion.submitted);
        self.done += 1;
        let trace =
            std::iter::from_fn(|| self.target.poll_trace()).find(|trace| trace.command.id == command.id);
        if let Some(trace) = trace.filter(|trace| trace.served != Served::Not) {
            // One task set's allegiance says nothing of another's.
            let holds = |&(by, [from, to]): &(u16, [Instant; 2])| {
                let is_its = by == command.initiator || !self.protocol.keeps_sets_apart();
                is_its && from < trace.chosen && trace.chosen < to
            };
            let held = command.attribute != Attribute::Aca && self.allegiances.iter().any(holds);
            prop_assert!(!held, "{trace:?} while {:?}", self.allegiances);
        }
        if completion.outcome == Outcome::MediaError && self.protocol.leaves_allegiance(completion.initiator)
        {
            let period = [completion.completed, Instant::from_ns(u64::MAX)];
            self.allegiances.push((completion.initiator, period));
        }
        if completion.outcome != Outcome::Done {
            return Ok(());
        }
        match command.access {
            Access::Write => {
                let accepted = sectors(command.first, command.count)
                    .all(|sector| self.stamps.order.contains_key(&(command.id, sector)));
                prop_assert!(accepted, "answered and not accepted");
                let through = self.cache.write_back.is_none() || command.force_unit_access;
                prop_assert!(!through || self.stamps.is_persisted(&command), "answered before the media");
                self.answered.push(command.id);
            }
            Access::Flush => {
                for write in &self.answered[..self.before[&command.id]] {
                    prop_assert!(self.stamps.is_persisted(&self.commands[write]), "flushed and volatile");
                }
            }
            Access::Read => {}
        }
        if command.force_unit_access && command.access == Access::Read {
            let served = trace.map(|trace| trace.served);
            prop_assert!(matches!(served, Some(Served::Chosen | Served::Joined)), "FUA from {served:?}");
        }
        Ok(())
    }

    fn check_cache(&self) -> Result<(), TestCaseError> {
        let Some(drive) = self.target.drive() else { unreachable!("a drive") };
        let lost: BTreeSet<(u64, u64)> = drive
            .volatile()
            .flat_map(|piece| sectors(piece.first, piece.count()).map(move |sector| (piece.write, sector)))
            .collect();
        prop_assert_eq!(&lost, &self.stamps.volatile);
        let Some([(kept, read), (runs, written)]) = drive.cached() else { unreachable!("a cache") };
        prop_assert!(
            read + written <= self.cache.size.get(),
            "{read} and {written} of {:?}",
            self.cache.size
        );
        let segments = self.cache.segments;
        let most = if self.cache.separate_writes { 1 } else { segments };
        prop_assert!(kept + runs.min(most) <= segments, "{kept} and {runs} of {segments} segments");
        if let Some(write_back) = self.cache.write_back {
            prop_assert!(written <= write_back.limit.get());
        }
        Ok(())
    }
}

fn play(params: &DriveParams, drafts: &[Draft]) -> Result<Stamps, TestCaseError> {
    let mut checker = Checker::new(&common::target(params), params, false);
    let capacity = checker.target.capacity().get();
    let several = matches!(params.protocol, Protocol::ScsiTcq(_));
    let mut now = Instant::ZERO;
    for (id, draft) in (0u64..).zip(drafts) {
        now += draft.gap;
        checker.run(now)?;
        let flush = draft.access == Access::Flush;
        let count = if flush { 0 } else { draft.count.min(capacity) };
        let first = if flush { 0 } else { draft.place % (capacity - count + 1) };
        let command = common::command(id, draft.access, first, count);
        let initiator = u16::from(several) * (id % 2) as u16;
        checker.send(now, Command { force_unit_access: draft.fua, initiator, tag: id as u32, ..command })?;
    }
    checker.run(now + Span::from_s(100_000))?;
    prop_assert_eq!(checker.done, drafts.len(), "all answered");
    if params.cache.is_some_and(|cache| cache.write_back.is_some()) {
        prop_assert!(checker.stamps.volatile.is_empty(), "an idle drive takes everything to the media");
    }
    Ok(checker.stamps)
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(500), ..ProptestConfig::default() }
}

/// Under restricted reordering all data are as if the drive had served the commands one after the other.
fn play_in_order(params: &DriveParams, drafts: &[Draft]) -> Result<(), TestCaseError> {
    let model = Arc::new(DriveModel::new(params).expect("the parameters are sound"));
    let mut target = Target::new(&TargetParams::Wire(model), 7);
    target.keep_data();
    let capacity = target.capacity().get();
    // By sector: the newest write sent, accepted and persisted.
    let (mut sent, mut accepted, mut persisted) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut expected: BTreeMap<u64, BTreeMap<u64, Option<u64>>> = BTreeMap::new();
    let mut now = Instant::ZERO;
    let mut process_outputs = |target: &mut Target, expected: &BTreeMap<u64, BTreeMap<u64, Option<u64>>>| {
        while let Some(op) = target.poll_data() {
            match op {
                DataOp::Accept { write, first, count, .. } => {
                    accepted.extend(sectors(first, count).map(|sector| (sector, write)));
                }
                DataOp::Persist { write, first, count, .. } => {
                    persisted.extend(sectors(first, count).map(|sector| (sector, write)));
                }
                DataOp::Deliver { read, first, count, .. } => {
                    for sector in sectors(first, count) {
                        let found = accepted.get(&sector).copied();
                        prop_assert_eq!(found, expected[&read][&sector], "read {}", read);
                    }
                }
                DataOp::Drop { .. } | DataOp::Begin { .. } | DataOp::Load { .. } | DataOp::Copy { .. } => {}
                other => panic!("{other:?} of a single drive"),
            }
        }
        Ok(())
    };
    for (id, draft) in (0u64..).zip(drafts) {
        now += draft.gap;
        while let Some(due) = next_due(&target).filter(|&due| due <= now) {
            target.handle(due, TargetInput::Tick);
            process_outputs(&mut target, &expected)?;
        }
        let flush = draft.access == Access::Flush;
        let count = if flush { 0 } else { draft.count.min(capacity) };
        let first = if flush { 0 } else { draft.place % (capacity - count + 1) };
        let command = common::command(id, draft.access, first, count);
        let blocks = || sectors(command.first, command.count);
        match draft.access {
            Access::Write => sent.extend(blocks().map(|sector| (sector, id))),
            Access::Read => {
                expected.insert(id, blocks().map(|sector| (sector, sent.get(&sector).copied())).collect());
            }
            Access::Flush => {}
        }
        target.handle(now, TargetInput::Submit(Command { force_unit_access: draft.fua, ..command }));
        process_outputs(&mut target, &expected)?;
    }
    while let Some(due) = next_due(&target) {
        target.handle(due, TargetInput::Tick);
        process_outputs(&mut target, &expected)?;
    }
    let answers: Vec<Completion> = std::iter::from_fn(|| target.poll_output()).collect();
    prop_assert!(answers.iter().all(|answer| answer.outcome == Outcome::Done));
    prop_assert_eq!(answers.len(), drafts.len());
    prop_assert_eq!(&persisted, &sent);
    Ok(())
}

/// What else may happen at the wire beside each command.
#[derive(Clone, Copy, Debug)]
struct Extra {
    attribute: usize,
    priority: Priority,
    /// Gives up the command that came so many before.
    abort: Option<u64>,
    /// The host looks into what has failed.
    recovers: bool,
}

fn extras() -> impl Strategy<Value = Extra> {
    let within = (1u64..100_000).prop_map(|us| Priority::Isochronous(Span::from_us(us)));
    let priority = prop_oneof![3 => Just(Priority::Normal), 1 => Just(Priority::High), 1 => within];
    (0usize..12, priority, prop::option::weighted(0.2, 0u64..9), any::<bool>())
        .prop_map(|(attribute, priority, abort, recovers)| Extra { attribute, priority, abort, recovers })
}

fn recover(checker: &mut Checker, now: Instant) -> Result<(), TestCaseError> {
    checker.allegiances.iter_mut().for_each(|(_, [_, to])| *to = now.min(*to));
    for initiator in 0..2 {
        checker.target.handle(now, TargetInput::Manage(Manage::ClearAllegiance { initiator }));
        checker.process_outputs()?;
    }
    checker.target.handle(now, TargetInput::Manage(Manage::ReadLog));
    checker.process_outputs()
}

fn play_roughly(params: &DriveParams, steps: &[(Draft, Extra)]) -> Result<(), TestCaseError> {
    let model = Arc::new(DriveModel::new(params).expect("sound"));
    let mut checker = Checker::new(&TargetParams::Wire(model), params, true);
    let capacity = checker.target.capacity().get();
    let several = matches!(params.protocol, Protocol::ScsiTcq(_));
    let ncq = matches!(params.protocol, Protocol::Ncq(_));
    let tags = params.protocol.tags();
    let mut now = Instant::ZERO;
    for (id, (draft, extra)) in (0u64..).zip(steps) {
        now += draft.gap;
        checker.run(now)?;
        if extra.recovers {
            recover(&mut checker, now)?;
        }
        if let Some(back) = extra.abort
            && let Some(before) = id.checked_sub(back + 1)
        {
            let initiator = u16::from(several) * (before % 2) as u16;
            let tag = before as u32 % tags;
            checker.target.handle(now, TargetInput::Manage(Manage::Abort { initiator, tag }));
            checker.process_outputs()?;
        }
        let flush = draft.access == Access::Flush;
        let count = if flush { 0 } else { draft.count.min(capacity) };
        let first = if flush { 0 } else { draft.place % (capacity - count + 1) };
        let command = common::command(id, draft.access, first, count);
        let initiator = u16::from(several) * (id % 2) as u16;
        let attribute = match extra.attribute {
            0 if several => Attribute::Ordered,
            1 if several => Attribute::HeadOfQueue,
            2 if several => Attribute::Aca,
            3 => Attribute::Untagged,
            _ => Attribute::Simple,
        };
        let priority = if ncq { extra.priority } else { Priority::Normal };
        let attribute = if flush && !several { Attribute::Untagged } else { attribute };
        let tag = id as u32 % tags;
        checker.send(
            now,
            Command { force_unit_access: draft.fua, initiator, tag, attribute, priority, ..command },
        )?;
    }
    for _ in 0..10 {
        now += Span::from_s(10_000);
        checker.run(now)?;
        recover(&mut checker, now)?;
    }
    checker.run(now + Span::from_s(100_000))?;
    prop_assert_eq!(checker.done, steps.len(), "all answered");
    if params.cache.is_some_and(|cache| cache.write_back.is_some()) {
        prop_assert!(checker.stamps.volatile.is_empty(), "an idle drive takes everything to the media");
    }
    Ok(())
}

/// With bad sectors and errors by chance.
fn rough_drives() -> impl Strategy<Value = DriveParams> {
    (drives(), caches(), prop::option::of(0u64..30)).prop_map(|(params, cache, percent)| {
        let faults = percent.map(|percent| FaultParams {
            read_errors: Share::from_ratio(percent, 100).unwrap(),
            unreadable: vec![(Lba::new(20), Sectors::new(3))],
            retries: Span::from_us(500),
        });
        DriveParams { cache: Some(cache), faults, ..params }
    })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn restricted_reordering_holds_for_the_cache_too(params in cached_drives(), drafts in drafts()) {
        let mut params = params;
        params.protocol = Protocol::ScsiTcq(ScsiParams::USUAL);
        params.queue.depth = 64;
        play_in_order(&params, &drafts)?;
    }

    #[test]
    fn the_cache_keeps_its_promises_whatever_fails(
        params in rough_drives(), drafts in drafts(), extras in prop::collection::vec(extras(), 60),
    ) {
        let steps: Vec<_> = drafts.into_iter().zip(extras).collect();
        play_roughly(&params, &steps)?;
    }

    #[test]
    fn the_cache_keeps_its_promises(params in cached_drives(), drafts in drafts()) {
        play(&params, &drafts)?;
    }
}

/// A stream that the arm need never leave, and a FLUSH beside it: how long that takes, at so many reads at once.
fn flush_beside_a_stream(outstanding: u64, least: u64) -> Span {
    let write_back = WriteBackParams {
        limit: Sectors::new(100),
        segments: 4,
        destage: Destage::WhenIdle,
        idle: Span::from_s(1),
        age: None,
        press_from: Sectors::new(100),
        run: Sectors::new(100),
        while_busy: true,
    };
    let mut cache = CacheParams { segments: 4, ..CacheParams::reading_on(Sectors::new(2_000)) };
    (cache.write_back, cache.read_ahead.least) = (Some(write_back), Sectors::new(least));
    let mut queue = common::queue(8, Order::Fcfs);
    queue.joins_reads = JoinsUntil::UntilEnd;
    let params = DriveParams { cache: Some(cache), queue, ..common::drive() };
    let mut probe = Probe::of(&params);
    probe.write(50_000, 8);
    let mut next = 0;
    let mut read = |probe: &mut Probe| {
        next += 8;
        probe.send(Access::Read, next - 8, 8)
    };
    for _ in 0..outstanding {
        read(&mut probe);
    }
    for _ in 0..100 {
        probe.answer();
        read(&mut probe);
    }
    let (submitted, flush) = (probe.now, probe.send(Access::Flush, 0, 0));
    for _ in 0..3_000 {
        if probe.answer().is_some_and(|answer| answer.id == flush) {
            return probe.now - submitted;
        }
        read(&mut probe);
    }
    panic!("the stream keeps the arm for ever");
}

#[test]
fn a_stream_does_not_keep_the_arm_from_what_a_flush_waits_for() {
    for (outstanding, least) in [(1, 0), (1, 64), (2, 0), (4, 0), (4, 64)] {
        // A few dozen reads of a few sectors each, and an access.
        assert!(flush_beside_a_stream(outstanding, least) < Span::from_ms(100), "{outstanding}, {least}");
    }
}

/// Writes past a cache cut what it holds in pieces, more of them than it tells apart.
#[test]
fn what_goes_past_the_cache_may_cut_its_data_into_any_number_of_pieces() {
    let size = Sectors::new(100_000);
    let write_back = WriteBackParams {
        limit: size,
        segments: 1,
        destage: Destage::WhenIdle,
        idle: Span::from_s(100_000),
        age: None,
        press_from: size,
        run: size,
        while_busy: true,
    };
    let cache = CacheParams { size, write_back: Some(write_back), ..CacheParams::reading_on(size) };
    let params = DriveParams { cache: Some(cache), ..common::drive() };
    let mut target = Target::new(&common::target(&params), 7);
    let (mut now, mut id) = (Instant::ZERO, 0);
    let mut write = |first: u64, count: u64, force_unit_access: bool| {
        let command = common::command(id, Access::Write, first, count);
        target.handle(now, TargetInput::Submit(Command { force_unit_access, ..command }));
        id += 1;
        now += Span::from_ms(50);
        target.handle(now, TargetInput::Tick);
        assert!(target.poll_output().is_some_and(|answer| answer.outcome == Outcome::Done));
    };
    (0..16_382).for_each(|i| write(3 * i, 3, false));
    (0..20).for_each(|i| write(3 * i + 1, 1, true));
}
