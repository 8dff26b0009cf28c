//! What a drive's cache may promise and must keep, on random drives and histories, against a stamp for every sector.
//!
//! The stream of data operations says which write a sector has in the target and on the media. Held to it: a write is
//! done when it is accepted, one past the cache when it is persisted; after a FLUSH all that was answered before is on
//! the media; what a power cut would lose is what was accepted and not persisted, to the sector; no cache is fuller than
//! it is large.
mod common;

use common::scenarios::{caches, drives};
use drivelab_core::data::DataOp;
use drivelab_core::life::Served;
use drivelab_core::target::drive::cache::params::CacheParams;
use drivelab_core::target::drive::params::DriveParams;
use drivelab_core::target::drive::protocol::Protocol;
use drivelab_core::target::{Target, TargetInput};
use drivelab_core::{Access, Command, Completion, Machine, Outcome};
use drivelab_units::{Instant, Lba, Sectors, Span};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

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
            DataOp::Accept { write, first, count } => {
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
            DataOp::Drop { write, first, count } => {
                for sector in sectors(first, count) {
                    prop_assert!(self.volatile.remove(&(write, sector)), "dropped what nobody has");
                    let newer = self.accepted[&sector] > self.order[&(write, sector)];
                    prop_assert!(newer || self.next > 0, "dropped without a newer one");
                }
            }
            DataOp::Deliver { .. } => {}
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
    cache: CacheParams,
    stamps: Stamps,
    commands: BTreeMap<u64, Command>,
    /// Writes answered before each FLUSH was sent.
    answered: Vec<u64>,
    before: BTreeMap<u64, usize>,
    done: usize,
}

impl Checker {
    fn new(params: &DriveParams) -> Self {
        let mut target = Target::new(&common::target(params), 7);
        target.keep_data();
        target.keep_lives();
        let Some(cache) = params.cache else { unreachable!("the drives here have a cache") };
        Checker {
            target,
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
        while let Some(due) = self.target.poll_timeout().filter(|&due| due <= now) {
            self.target.handle(due, TargetInput::Tick);
            self.look()?;
        }
        Ok(())
    }

    fn send(&mut self, now: Instant, command: Command) -> Result<(), TestCaseError> {
        self.commands.insert(command.id, command);
        self.before.insert(command.id, self.answered.len());
        self.target.handle(now, TargetInput::Submit(command));
        self.look()
    }

    fn look(&mut self) -> Result<(), TestCaseError> {
        while let Some(op) = self.target.poll_data() {
            self.stamps.apply(op)?;
        }
        while let Some(completion) = self.target.poll_output() {
            self.answer(&completion)?;
        }
        self.check_cache()
    }

    fn answer(&mut self, completion: &Completion) -> Result<(), TestCaseError> {
        let command = self.commands[&completion.id];
        prop_assert_eq!(completion.outcome, Outcome::Done);
        prop_assert_eq!(completion.breakdown.total(), completion.completed - completion.submitted);
        self.done += 1;
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
        let life = std::iter::from_fn(|| self.target.poll_life()).find(|life| life.command.id == command.id);
        if command.force_unit_access && command.access == Access::Read {
            let served = life.map(|life| life.served);
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
    let mut checker = Checker::new(params);
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
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(500), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_cache_keeps_its_promises(params in cached_drives(), drafts in drafts()) {
        play(&params, &drafts)?;
    }
}
