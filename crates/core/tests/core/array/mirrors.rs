//! Mirrors against the exact mean distances of arms: with k copies, all arms and the target uniform and independent, in
//! strokes. The usual 1 / (2k + 1) treats the distances as independent, but they share the target.
//!
//! Source: D. Bitton, J. Gray, "Disk shadowing", VLDB 1988, for the question; the exact figures are integrals over the
//! unit cube.
use super::rig::array_of;
use crate::common::sorted::Target;
use crate::common::{command, drive, flat_seek, layout, next_due, zone};
use drivelab_core::Access;
use drivelab_core::rng::Stream;
use drivelab_core::storage::TargetInput;
use drivelab_core::storage::array::params::{ArrayParams, Level, ReadChoice};
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_units::{Instant, Span};

const CYLINDERS: u32 = 150;
/// Sectors of a cylinder.
const TRACK: u32 = 20;

/// Mirrored drives of one zone whose seeks take longer by more than a turn for each cylinder: which command ends last
/// tells which arm went farthest.
struct Mirror {
    target: Target,
    now: Instant,
    ids: u64,
    stream: Stream,
}

impl Mirror {
    fn new(members: u16, reads: ReadChoice) -> Self {
        let mut params = drive();
        params.geometry = layout(1, vec![zone(0, CYLINDERS, TRACK)]);
        let seek = |cylinders: u32| (cylinders, Span::from_us(6_500 * u64::from(cylinders)));
        params.seek = SeekParams::Table(vec![seek(1), seek(CYLINDERS)]);
        let array = ArrayParams { reads, synchronised: true, ..ArrayParams::plain(Level::Mirrored, members) };
        let mut target = Target::new(&array_of(array, &params), 1);
        target.keep_traces();
        Mirror { target, now: Instant::ZERO, ids: 0, stream: Stream::named(1, "mirror") }
    }

    /// Commands at random places, all at once; how far the arm of the one that ended last has moved.
    fn go(&mut self, access: Access, commands: u64) -> u32 {
        for _ in 0..commands {
            let at = self.stream.below(u64::from(CYLINDERS * TRACK));
            self.target.handle(self.now, TargetInput::Submit(command(self.ids, access, at, 1)));
            self.ids += 1;
        }
        for _ in 0..commands {
            while self.target.poll_output().is_none() {
                self.now = next_due(&self.target).unwrap();
                self.target.handle(self.now, TargetInput::Tick);
            }
        }
        let last = std::iter::from_fn(|| self.target.poll_trace()).last().unwrap();
        last.cylinder.abs_diff(last.from_cylinder)
    }
}

/// The mean distance in strokes of so many commands, after `place` has been done for each.
fn mean(samples: u32, mut distance: impl FnMut() -> u32) -> f64 {
    let sum: u64 = (0..samples).map(|_| u64::from(distance())).sum();
    sum as f64 / f64::from(samples) / f64::from(CYLINDERS)
}

#[track_caller]
fn is_near(figure: f64, expected: f64, what: &str) {
    assert!((figure - expected).abs() < 0.000_8, "{what}: {figure:.5} against {expected:.5}");
}

/// Nearest of k, and farthest of k: exact, in strokes.
const EXACT: [(u16, f64, f64); 4] = [
    (1, 0.333_333, 0.333_333),
    (2, 0.208_333, 0.458_333),
    (3, 0.150_000, 0.525_000),
    (4, 0.116_667, 0.566_667),
];

#[test]
fn independent_arms_are_as_near_as_theory_says() {
    for (copies, nearest, _) in EXACT.into_iter().skip(1) {
        // As many reads at once as there are drives: each takes an idle one, so all arms are somewhere else. Then all
        // drives are idle, and the nearest is taken.
        let mut mirror = Mirror::new(copies, ReadChoice::LeastQueued);
        let figure = mean(200_000, || {
            mirror.go(Access::Read, copies.into());
            mirror.go(Access::Read, 1)
        });
        is_near(figure, nearest, &format!("read from the nearest of {copies}"));
    }
}

#[test]
fn a_write_waits_for_the_farthest_arm() {
    for (copies, _, farthest) in EXACT.into_iter().skip(1) {
        let mut mirror = Mirror::new(copies, ReadChoice::LeastQueued);
        let figure = mean(200_000, || {
            mirror.go(Access::Read, copies.into());
            mirror.go(Access::Write, 1)
        });
        is_near(figure, farthest, &format!("write to all of {copies}"));
    }
}

/// In a run the arms are neither uniform nor independent: the one that is nearest moves, and a write brings all together.
#[test]
fn in_a_running_mirror_reads_are_nearer_still_and_writes_gain_nothing() {
    let mut mirror = Mirror::new(2, ReadChoice::NearestHead);
    mirror.go(Access::Write, 1);
    is_near(mean(250_000, || mirror.go(Access::Read, 1)), 0.161, "reads of a running mirror");
    is_near(mean(250_000, || mirror.go(Access::Write, 1)), 1.0 / 3.0, "writes of a running mirror");
}

#[test]
fn one_drive_seeks_over_a_third_of_the_stroke_and_turns_taken_change_nothing() {
    for reads in [ReadChoice::First, ReadChoice::RoundRobin] {
        let mut mirror = Mirror::new(2, reads);
        is_near(mean(200_000, || mirror.go(Access::Read, 1)), 1.0 / 3.0, &format!("{reads:?}"));
    }
}

/// One command at a time on drives whose seeks all take as long: the least of k independent angles is T / (k + 1), if all
/// are asked.
#[test]
fn the_first_of_all_copies_waits_for_the_least_angle() {
    for copies in 1..4 {
        let mut params = drive();
        params.seek = flat_seek(Span::from_us(1_000), 1_000);
        let array = ArrayParams {
            reads: ReadChoice::AskAll,
            deviation_ppm: 10_000,
            ..ArrayParams::plain(Level::Mirrored, copies.max(2))
        };
        let array = ArrayParams { missing: if copies == 1 { vec![0] } else { vec![] }, ..array };
        let mut target = Target::new(&array_of(array, &params), 1);
        let (mut now, mut stream, mut total) = (Instant::ZERO, Stream::named(2, "angles"), 0);
        for id in 0..60_000 {
            let at = stream.below(600_000);
            target.handle(now, TargetInput::Submit(command(id, Access::Read, at, 1)));
            let answer = loop {
                if let Some(answer) = target.poll_output() {
                    break answer;
                }
                now = next_due(&target).unwrap();
                target.handle(now, TargetInput::Tick);
            };
            total += (answer.completed - answer.submitted).as_ns();
            // Until the later answers have come too, and a little more.
            now += Span::from_us(20_000 + stream.below(7_000));
            target.handle(now, TargetInput::Tick);
        }
        // What a seek of 1 ms, one sector of 10 us, and the wait between come to, with turns of 6 ms.
        let wait = total as f64 / 60_000.0 / 1e6 - 1.0 - 0.01;
        let expected = 6.0 / (f64::from(copies) + 1.0);
        assert!((wait - expected).abs() < 0.03, "{copies} copies: {wait:.4} ms against {expected:.4} ms");
    }
}
