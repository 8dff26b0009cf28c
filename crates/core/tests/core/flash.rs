//! A flash drive: how long dies, buffer and map take, and what a power cut loses.
use crate::common::*;
use drivelab_core::Access::{Flush, Read, Write};
use drivelab_core::data::DataOp;
use drivelab_core::storage::drive::flash::params::{FlashError, FlashParams, ReadTimes, SlcParams};
use drivelab_core::storage::drive::params::{
    DriveError, DriveModel, DriveParams, FirmwareParams, LinkParams, Medium,
};
use drivelab_core::storage::drive::protocol::{Naca, Protocol, ScsiParams};
use drivelab_core::storage::drive::queue::QueueParams;
use drivelab_core::storage::{Target, TargetInput};
use drivelab_core::{Access, Command, Machine, Outcome};
use drivelab_units::{Instant, Lba, Rate, Sectors, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;

const CAPACITY: u64 = 1 << 20;
/// Of a host's answer; so that hits take time.
const ANSWER: Span = Span::from_us(5);
const READ: Span = Span::from_us(60);
const PROGRAM: Span = Span::from_us(700);
const FLUSH: Span = Span::from_us(400);

/// Four dies with pages of 4 KiB, and programs of 32 KiB.
fn dies() -> FlashParams {
    FlashParams {
        dies: 4,
        page: Sectors::new(8),
        stripe: Sectors::new(8),
        read: ReadTimes::new(&[READ]).unwrap(),
        read_ahead: Sectors::ZERO,
        program_size: Sectors::new(64),
        program: PROGRAM,
        slc: None,
        buffer: Sectors::new(512),
        answers_early: true,
        is_protected: false,
        flush: FLUSH,
        idle: ms(10),
    }
}

fn flash(dies: FlashParams) -> DriveParams {
    DriveParams {
        firmware: FirmwareParams {
            read_completion: ANSWER,
            write_completion: ANSWER,
            ..FirmwareParams::default()
        },
        protocol: Protocol::Nvme,
        queue: QueueParams { depth: 256, ..QueueParams::NONE },
        ..DriveParams::flash(Sectors::new(CAPACITY), dies)
    }
}

/// A host, and what it sees.
struct Rig {
    target: Target,
    now: Instant,
    next: u64,
    ended: BTreeMap<u64, Instant>,
    ops: Vec<DataOp>,
}

impl Rig {
    fn new(dies: FlashParams) -> Self {
        Rig::of(&flash(dies))
    }

    fn of(drive: &DriveParams) -> Self {
        let mut target = Target::new(&target(drive), 1);
        target.keep_data();
        Rig { target, now: Instant::ZERO, next: 0, ended: BTreeMap::new(), ops: Vec::new() }
    }

    fn submit(&mut self, command: Command) -> u64 {
        self.target.handle(self.now, TargetInput::Submit(command)).unwrap();
        self.next += 1;
        self.collect();
        command.id
    }

    fn begin(&mut self, access: Access, first: u64, count: u64) -> u64 {
        self.submit(command(self.next, access, first, count))
    }

    fn collect(&mut self) {
        while let Some(output) = self.target.poll_output() {
            if let Some(done) = output.completed() {
                assert_eq!(done.outcome, Outcome::Done);
                assert_eq!(done.breakdown.total(), done.completed - done.submitted);
                self.ended.insert(done.id, done.completed);
            }
            self.ops.extend(output.data());
        }
    }

    fn step(&mut self) -> bool {
        let Some(due) = self.target.poll_timeout() else { return false };
        self.now = due;
        self.target.handle(due, TargetInput::Tick).unwrap();
        self.collect();
        true
    }

    /// Until this command has ended: how long after `from` that was.
    fn wait_for(&mut self, id: u64, from: Instant) -> Span {
        while !self.ended.contains_key(&id) {
            assert!(self.step(), "{id} never ends");
        }
        self.ended[&id] - from
    }

    fn run(&mut self, access: Access, first: u64, count: u64) -> Span {
        let from = self.now;
        let id = self.begin(access, first, count);
        self.wait_for(id, from)
    }

    fn rest(&mut self) {
        while self.step() {}
    }

    fn pass(&mut self, span: Span) {
        let until = self.now + span;
        while self.target.poll_timeout().is_some_and(|due| due <= until) {
            self.step();
        }
        self.now = until;
        self.target.handle(until, TargetInput::Tick).unwrap();
    }

    fn volatile(&self) -> Vec<(u64, u64, u64)> {
        let pieces = self.target.drive().unwrap().volatile();
        let mut all: Vec<_> = pieces.map(|piece| (piece.write, piece.first.get(), piece.end.get())).collect();
        all.sort_unstable();
        all
    }
}

#[test]
fn a_read_takes_its_die_and_the_answer() {
    let mut rig = Rig::new(dies());
    assert_eq!(rig.run(Read, 0, 8), READ + ANSWER);
    assert_eq!(rig.run(Read, 4_096, 1), READ + ANSWER);
    // Two pages on two dies, or on one after the other.
    let both = rig.run(Read, 800, 16);
    assert!(both == READ + ANSWER || both == READ + READ + ANSWER);
}

#[test]
fn one_die_serves_one_read_after_the_other() {
    let mut rig = Rig::new(FlashParams { dies: 1, ..dies() });
    let all: Vec<u64> = (0..50).map(|number| rig.begin(Read, 1_000 * number, 8)).collect();
    for (number, id) in (1..).zip(all) {
        let all_before = Span::from_ns(READ.as_ns() * number);
        assert_eq!(rig.wait_for(id, Instant::ZERO), all_before + ANSWER);
    }
}

/// With so many reads that all dies always work, the dies decide.
#[test]
fn dies_work_side_by_side() {
    for count in [1, 3, 10, 64] {
        let mut rig = Rig::new(FlashParams { dies: count, ..dies() });
        for number in 0..200 {
            rig.begin(Read, (number * 7_919 % 1_000) * 1_000, 8);
        }
        let mut ended = 0;
        while ended < 20_000 {
            let before = rig.ended.len();
            assert!(rig.step());
            for _ in before..rig.ended.len() {
                let number = rig.next;
                rig.begin(Read, (number * 7_919 % 130_000) * 8, 8);
                ended += 1;
            }
        }
        let ideal = f64::from(count) * 1e9 / READ.as_ns() as f64;
        let rate = 20_000.0 * 1e9 / rig.now.as_ns() as f64;
        // A closed network of single servers, chosen at random: 200 of N + dies - 1 (exponential ones; these vary less).
        // And the first answer comes late.
        let least = 0.999 * 200.0 / (200.0 + f64::from(count) - 1.0);
        assert!((least..1.001).contains(&(rate / ideal)), "{count} dies: {rate} of {ideal}");
    }
}

/// A stretch of four stripes lies on four dies.
#[test]
fn stripes_of_a_stretch_lie_on_different_dies() {
    let striped = FlashParams { page: Sectors::new(32), stripe: Sectors::new(8), dies: 7, ..dies() };
    let mut rig = Rig::new(striped);
    for stretch in 0..100 {
        assert_eq!(rig.run(Read, stretch * 128, 32), READ + ANSWER);
        // All 16 stripes of it are on four pages.
        assert_eq!(rig.run(Read, stretch * 128, 128), READ + ANSWER);
    }
}

#[test]
fn kinds_of_pages_are_equally_frequent() {
    let times = [us(40), us(60), us(90)];
    let mut rig = Rig::new(FlashParams { read: ReadTimes::new(&times).unwrap(), ..dies() });
    let mut seen = [0; 3];
    for page in 0..6_000 {
        let took = rig.run(Read, page * 8, 8);
        seen[times.iter().position(|&time| took == time + ANSWER).expect("one of the three")] += 1;
        assert_eq!(rig.run(Read, page * 8, 8), took, "a page keeps its kind");
    }
    assert!(seen.iter().all(|count| (1_850..2_150).contains(count)), "{seen:?}");
}

#[test]
fn a_write_is_answered_from_the_buffer_until_that_is_full() {
    let mut rig = Rig::new(dies());
    for number in 0..8 {
        assert_eq!(rig.run(Write, number * 1_000, 64), ANSWER);
    }
    // Four programs take a half of what there is; the others wait for those.
    let from = rig.now;
    let ids: Vec<u64> = (8..408).map(|number| rig.begin(Write, number * 64, 64)).collect();
    let took = rig.wait_for(*ids.last().unwrap(), from);
    // 400 programs on four dies.
    let all = PROGRAM.as_ns() * 100;
    assert!((all * 97 / 100..all * 101 / 100).contains(&took.as_ns()), "{took}");
}

#[test]
fn less_than_a_program_waits_for_more() {
    let mut rig = Rig::new(dies());
    rig.run(Write, 0, 8);
    assert_eq!(rig.volatile(), [(0, 0, 8)]);
    rig.pass(ms(10));
    assert_eq!(rig.volatile().len(), 1, "its program is under way");
    rig.pass(PROGRAM);
    assert_eq!(rig.volatile(), []);
}

#[test]
fn flush_waits_for_the_programs_and_saves_the_map() {
    let mut rig = Rig::new(dies());
    assert_eq!(rig.run(Flush, 0, 0), ANSWER);
    rig.run(Write, 0, 8);
    assert_eq!(rig.run(Flush, 0, 0), PROGRAM + FLUSH + ANSWER);
    assert_eq!(rig.volatile(), []);
    assert_eq!(rig.run(Flush, 0, 0), ANSWER);
    // Twice as much as four dies program at once.
    for number in 0..8 {
        rig.run(Write, 10_000 * number, 64);
    }
    let took = rig.run(Flush, 0, 0);
    assert!(took <= PROGRAM + PROGRAM + FLUSH + ANSWER && took > PROGRAM + FLUSH, "{took}");
}

/// The map is saved once for all that wait for it, and again for what came to a die later.
#[test]
fn no_flush_goes_without_the_map() {
    let mut rig = Rig::new(dies());
    rig.run(Write, 0, 8);
    let from = rig.now;
    let two = [rig.begin(Flush, 0, 0), rig.begin(Flush, 0, 0)];
    rig.run(Write, 800, 8);
    for id in two {
        assert_eq!(rig.wait_for(id, from), PROGRAM + FLUSH + ANSWER);
    }
    rig.pass(ms(20));
    assert_eq!(rig.volatile(), []);
    assert_eq!(rig.run(Flush, 0, 0), FLUSH + ANSWER);
    assert_eq!(rig.run(Flush, 0, 0), ANSWER);
}

fn read_from_media(rig: &mut Rig, first: u64, count: u64) -> u64 {
    rig.submit(Command { force_unit_access: true, ..command(rig.next, Read, first, count) })
}

/// Neither what was read ahead nor what came into the buffer while it waited.
#[test]
fn a_read_with_fua_is_of_the_dies() {
    let mut rig = Rig::new(FlashParams { read_ahead: Sectors::new(128), dies: 64, ..dies() });
    for number in 0..4 {
        rig.run(Read, number * 8, 8);
    }
    let (from, id) = (rig.now, read_from_media(&mut rig, 24, 8));
    assert!(rig.wait_for(id, from) >= READ + ANSWER);
    // On one die the newer data come after the older ones.
    let mut rig = Rig::new(FlashParams { dies: 1, ..dies() });
    rig.run(Write, 0, 64);
    let (from, id) = (rig.now, read_from_media(&mut rig, 0, 8));
    rig.run(Write, 0, 8);
    let took = rig.wait_for(id, from);
    assert_eq!(rig.volatile(), [], "the newer data too are on a die");
    assert!(took >= PROGRAM + PROGRAM, "{took}");
}

/// On a link with both directions a read could otherwise overtake the data that it asks for.
#[test]
fn a_read_waits_for_data_that_are_on_their_way() {
    let rate = Rate::from_bytes_per_s(100_000_000);
    let plain = flash(dies());
    let drive = DriveParams { link: LinkParams { rate, full_duplex: true, ..plain.link }, ..plain };
    let mut rig = Rig::of(&drive);
    let write = rig.begin(Write, 0, 400);
    let read = rig.begin(Read, 0, 8);
    let written = rig.wait_for(write, Instant::ZERO);
    assert!(rig.wait_for(read, Instant::ZERO) >= written, "400 sectors take 2 ms");
}

#[test]
fn a_protected_buffer_loses_nothing_and_need_not_be_flushed() {
    let mut rig = Rig::new(FlashParams { is_protected: true, flush: Span::ZERO, ..dies() });
    rig.run(Write, 0, 8);
    assert_eq!(rig.volatile(), []);
    assert_eq!(rig.run(Flush, 0, 0), ANSWER);
    let fua = Command { force_unit_access: true, ..command(rig.next, Write, 64, 8) };
    let (from, id) = (rig.now, rig.submit(fua));
    assert_eq!(rig.wait_for(id, from), ANSWER);
    assert!(rig.ops.iter().any(|op| matches!(op, DataOp::Persist { write: 0, .. })));
}

#[test]
fn what_must_be_on_a_die_takes_a_program() {
    let mut rig = Rig::new(dies());
    let fua = Command { force_unit_access: true, ..command(rig.next, Write, 64, 8) };
    let id = rig.submit(fua);
    assert_eq!(rig.wait_for(id, Instant::ZERO), PROGRAM + ANSWER);
    assert_eq!(rig.volatile(), []);
    let mut rig = Rig::new(FlashParams { answers_early: false, ..dies() });
    assert_eq!(rig.run(Write, 0, 8), PROGRAM + ANSWER);
    // A read with FUA finds what waits only once it is on a die.
    let mut rig = Rig::new(dies());
    rig.run(Write, 0, 8);
    assert_eq!(rig.run(Read, 0, 8), ANSWER, "from the buffer");
    let fua = Command { force_unit_access: true, ..command(rig.next, Read, 0, 8) };
    let (from, id) = (rig.now, rig.submit(fua));
    assert_eq!(rig.wait_for(id, from), PROGRAM + READ + ANSWER);
}

#[test]
fn the_fast_part_fills_and_empties_while_the_drive_is_idle() {
    let slc = SlcParams { size: Sectors::new(64 * 400), program: us(200) };
    let mut rig = Rig::new(FlashParams { slc: Some(slc), ..dies() });
    let rate = |rig: &mut Rig, count: u64| {
        let from = rig.now;
        let ids: Vec<u64> = (0..count).map(|number| rig.begin(Write, number * 64, 64)).collect();
        rig.wait_for(*ids.last().unwrap(), from).as_ns() / count
    };
    let (fast, slow) = (200_000 / 4, PROGRAM.as_ns() / 4);
    let near = |found: u64, expected: u64| {
        assert!(found.abs_diff(expected) * 20 < expected, "{found}, not {expected}");
    };
    near(rate(&mut rig, 390), fast);
    rate(&mut rig, 100);
    near(rate(&mut rig, 200), slow);
    // As long as the dies take for all of it.
    rig.pass(Span::from_ns(PROGRAM.as_ns() * 101));
    near(rate(&mut rig, 390), fast);
}

#[test]
fn a_stream_waits_for_a_die_only_where_nothing_was_read_ahead() {
    let mut rig = Rig::new(FlashParams { read_ahead: Sectors::new(128), dies: 64, ..dies() });
    let took: Vec<Span> = (0..160).map(|number| rig.run(Read, number * 8, 8)).collect();
    let waits: Vec<usize> = (0..160).filter(|&number| took[number] >= READ).collect();
    // The first two of a stream tell it; from then on one of 16.
    assert_eq!(waits[..3], [0, 1, 17]);
    assert!(waits[1..].windows(2).all(|two| two[1] - two[0] == 16), "{waits:?}");
    // What is written is not read from what was kept.
    rig.run(Write, 160 * 8, 8);
    rig.run(Flush, 0, 0);
    assert!(rig.run(Read, 160 * 8, 8) >= READ);
}

#[test]
fn a_flash_drive_is_checked() {
    let error = |dies: FlashParams| DriveModel::new(&flash(dies)).unwrap_err();
    let sectors = Sectors::new;
    for (dies, expected) in [
        (FlashParams { dies: 0, ..dies() }, FlashError::Dies),
        (FlashParams { page: sectors(12), ..dies() }, FlashError::Page),
        (FlashParams { page: sectors(64), ..dies() }, FlashError::Page),
        (FlashParams { stripe: Sectors::ZERO, ..dies() }, FlashError::Page),
        (FlashParams { read_ahead: sectors(8 * 513), ..dies() }, FlashError::ReadAhead),
        (FlashParams { program: Span::ZERO, ..dies() }, FlashError::Program),
        (FlashParams { program_size: Sectors::ZERO, ..dies() }, FlashError::Program),
        (FlashParams { buffer: sectors(63), ..dies() }, FlashError::Buffer),
    ] {
        assert_eq!(error(dies), DriveError::Flash(expected), "{expected}");
    }
    let naca = Protocol::ScsiTcq(ScsiParams { naca: Naca::ALL, ..ScsiParams::USUAL });
    for changed in [
        DriveParams { protocol: naca, ..flash(dies()) },
        DriveParams { queue: QueueParams { coalesces: Some(2), ..QueueParams::NONE }, ..flash(dies()) },
    ] {
        assert_eq!(DriveModel::new(&changed).unwrap_err(), DriveError::Flash(FlashError::Protocol));
    }
    let overlong = FlashParams { flush: Span::from_s(11), ..dies() };
    assert_eq!(error(overlong), DriveError::Overlong);
    assert!(DriveModel::new(&flash(dies())).unwrap().medium == Medium::Flash(dies()));
}

/// A capacity as a data sheet states it is the drive's, beyond that of one zone too.
#[test]
fn any_capacity_will_do() {
    for capacity in [1, 500_118_192, 4_294_967_296, 60_000_000_000] {
        let params = DriveParams::flash(Sectors::new(capacity), dies());
        assert_eq!(DriveModel::new(&params).unwrap().capacity(), Sectors::new(capacity));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever is asked: every command is answered; what is volatile is exactly what was accepted and neither persisted nor
    /// dropped, sector by sector; and after a FLUSH nothing is that was accepted before it.
    #[test]
    fn the_volatile_set_is_what_the_data_operations_leave(
        steps in prop::collection::vec((0..5u8, 0..120u64, 1..90u64, 0..900u64, any::<bool>()), 1..150),
        count in 1..5u32,
        answers_early in any::<bool>(),
        is_protected in any::<bool>(),
        program in 1..70u64,
    ) {
        let params = FlashParams {
            dies: count,
            answers_early,
            is_protected,
            program_size: Sectors::new(program),
            buffer: Sectors::new(128),
            read_ahead: Sectors::new(32),
            idle: us(500),
            ..dies()
        };
        let mut rig = Rig::new(params);
        let mut flushes: Vec<(u64, Vec<(u64, u64)>)> = Vec::new();
        for (kind, first, count, gap, fua) in steps {
            rig.pass(us(gap));
            let access = match kind { 0 => Read, 1 => Flush, _ => Write };
            let count = if access == Flush { 0 } else { count };
            let before: Vec<(u64, u64)> = rig.left().into_iter().map(|(sector, write)| (write, sector)).collect();
            let id = rig.submit(Command {
                force_unit_access: fua && access != Flush,
                ..command(rig.next, access, if access == Flush { 0 } else { first }, count)
            });
            if access == Flush {
                flushes.push((id, before));
            }
            prop_assert_eq!(rig.volatile_by_sector(), rig.left_or_none(is_protected));
            flushes.retain(|(id, before)| {
                let ended = rig.ended.contains_key(id);
                assert!(!ended || rig.none_of(before), "a FLUSH has ended too early");
                !ended
            });
        }
        rig.rest();
        prop_assert_eq!(rig.ended.len() as u64, rig.next);
        prop_assert_eq!(rig.volatile(), vec![]);
        prop_assert_eq!(rig.left(), BTreeMap::new());
    }
}

impl Rig {
    /// The writes that were accepted and neither persisted nor dropped, newest by sector. Several versions of a sector may be
    /// on their way; the last one accepted is the one that counts.
    fn left(&self) -> BTreeMap<u64, u64> {
        let mut left: BTreeMap<(u64, u64), ()> = BTreeMap::new();
        let each = |first: Lba, count: Sectors| first.get()..first.get() + count.get();
        for op in &self.ops {
            match *op {
                DataOp::Accept { write, first, count, .. } => {
                    left.extend(each(first, count).map(|sector| ((sector, write), ())));
                }
                DataOp::Persist { write, first, count, .. } | DataOp::Drop { write, first, count, .. } => {
                    for sector in each(first, count) {
                        assert!(left.remove(&(sector, write)).is_some(), "{op:?} of what is not there");
                    }
                }
                _ => {}
            }
        }
        left.into_keys().collect()
    }

    fn left_or_none(&self, is_protected: bool) -> BTreeMap<u64, u64> {
        let left = self.left();
        assert!(!is_protected || left.is_empty());
        left
    }

    fn volatile_by_sector(&self) -> BTreeMap<u64, u64> {
        let mut pieces = self.volatile();
        // A newer write has a higher number here.
        pieces.sort_unstable();
        pieces
            .iter()
            .flat_map(|&(write, first, end)| (first..end).map(move |sector| (sector, write)))
            .collect()
    }

    fn none_of(&self, before: &[(u64, u64)]) -> bool {
        let pieces = self.volatile();
        before.iter().all(|&(write, sector)| {
            !pieces.iter().any(|&(of, first, end)| of == write && (first..end).contains(&sector))
        })
    }
}

#[test]
fn every_die_is_used_again() {
    let mut rig = Rig::new(FlashParams { answers_early: false, is_protected: true, ..dies() });
    for number in 0..40 {
        let fua = Command { force_unit_access: true, ..command(rig.next, Write, number % 25, 1) };
        let (from, id) = (rig.now, rig.submit(fua));
        assert_eq!(rig.wait_for(id, from), PROGRAM + ANSWER, "{number}");
        rig.run(Read, number % 20, 1);
    }
}
