//! How close shortest positioning comes to the best of all orders: the total service time of a queue of random reads,
//! against every permutation.
#![allow(clippy::print_stdout, reason = "what a test measured is worth reading")]

use crate::common::{drive, layout, queue, us, zone};
use drivelab_core::Access;
use drivelab_core::rng::Stream;
use drivelab_core::storage::drive::geometry::ZoneParams;
use drivelab_core::storage::drive::mechanism::{Arm, Landing, SettleParams};
use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
use drivelab_core::storage::drive::queue::{Entry, Order, Slots, View, choose};
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_core::storage::drive::spindle::Spindle;
use drivelab_units::{Angle, Instant, Lba, Sectors, Span};
use std::fmt::Write as _;
use std::path::Path;

/// A drive of 2004: 10 000 rpm, four heads, 0.6 ms from track to track, 4.7 ms on average, 10.5 ms over all.
fn model() -> DriveModel {
    let zone = ZoneParams {
        track_skew: Angle::from_ratio(1, 8),
        cylinder_skew: Angle::from_ratio(1, 6),
        ..zone(0, 50_000, 500)
    };
    let settle = SettleParams { head_switch: us(700), ..SettleParams::default() };
    let seek = SeekParams::Lee { single: us(600), average: us(4_700), full: us(10_500) };
    let params = DriveParams {
        geometry: layout(4, vec![zone]),
        seek,
        settle,
        queue: queue(64, Order::Sptf),
        ..drive()
    };
    DriveModel::new(&params).unwrap()
}

/// A queue of random reads of 8 sectors, and the arm and the instant that it meets.
struct Scene<'a> {
    model: &'a DriveModel,
    spindle: Spindle,
    reads: Vec<(Lba, Landing)>,
    arm: Arm,
    now: Instant,
}

impl<'a> Scene<'a> {
    fn random(model: &'a DriveModel, stream: &mut Stream, length: usize) -> Self {
        let spindle = Spindle::new(model.period, Span::ZERO);
        let mut read = || {
            let first = Lba::new(8 * stream.below(model.capacity().get() / 8));
            (first, model.mechanism.landing(first, Sectors::new(8), Access::Read, &spindle))
        };
        let reads = (0..length).map(|_| read()).collect();
        let cylinders = u64::from(model.mechanism.geometry.cylinders());
        let arm = Arm { cylinder: stream.below(cylinders) as u32, head: stream.below(4) as u32 };
        let now = Instant::from_ns(stream.below(model.period.as_ns()));
        Scene { model, spindle, reads, arm, now }
    }

    /// When a read is done that the arm starts for now, and where it is then.
    fn carry_out(&self, read: usize, now: Instant, arm: Arm) -> (Instant, Arm) {
        let (first, landing) = &self.reads[read];
        let last = Lba::new(first.get() + 7);
        let passage = self.model.mechanism.pass(&self.spindle, now, arm, landing, last, Access::Read);
        (passage.end, passage.arm)
    }

    /// The service time of all reads in the order that the drive chooses.
    fn chosen(&self, order: Order) -> u64 {
        let mechanism = &self.model.mechanism;
        let params = &queue(64, order);
        let mut slots = Slots::new(params, mechanism.geometry.cylinders(), self.spindle.period());
        for (slot, (first, landing)) in (0..).zip(&self.reads) {
            let Landing { cylinder, head, start, longest_wait, .. } = *landing;
            let entry = Entry { cylinder, head, start, longest_wait, ..Entry::default() };
            slots.insert(slot, entry, (*first, Lba::new(first.get() + 8)));
        }
        let (mut now, mut arm) = (self.now, self.arm);
        let (turned, period, upward) = (|at| self.spindle.turned(at), self.spindle.period(), true);
        loop {
            let (at, turned, waiting) = (now.as_ns(), turned(now), slots.len() as u64);
            let view = View { mechanism, params, arm, upward, now: at, turned, period, waiting };
            let Some(slot) = choose(&slots, &view) else { break };
            slots.remove(slot);
            (now, arm) = self.carry_out(slot as usize, now, arm);
        }
        (now - self.now).as_ns()
    }

    /// The least service time of all orders. A start that is already late is left: later is never better.
    fn best(&self) -> u64 {
        let mut order: Vec<usize> = (0..self.reads.len()).collect();
        let mut best = Instant::from_ns(u64::MAX);
        self.try_all(&mut order, 0, self.now, self.arm, &mut best);
        (best - self.now).as_ns()
    }

    fn try_all(&self, order: &mut [usize], done: usize, now: Instant, arm: Arm, best: &mut Instant) {
        if now >= *best {
            return;
        }
        if done == order.len() {
            *best = now;
        }
        for next in done..order.len() {
            order.swap(done, next);
            let (end, there) = self.carry_out(order[done], now, arm);
            self.try_all(order, done + 1, end, there, best);
            order.swap(done, next);
        }
    }
}

/// By how much an order's service time exceeds the best, over many queues.
struct Excess {
    /// As shares, ascending.
    shares: Vec<f64>,
}

impl Excess {
    fn measure(model: &DriveModel, order: Order, length: usize, queues: usize) -> Self {
        let mut stream = Stream::named(length as u64, "test/sptf");
        let mut share = || {
            let scene = Scene::random(model, &mut stream, length);
            let (chosen, best) = (scene.chosen(order), scene.best());
            assert!(chosen >= best, "{length} reads: {chosen} is better than the best, {best}");
            chosen as f64 / best as f64 - 1.0
        };
        let mut shares: Vec<f64> = (0..queues).map(|_| share()).collect();
        shares.sort_by(f64::total_cmp);
        Excess { shares }
    }

    fn mean(&self) -> f64 {
        self.shares.iter().sum::<f64>() / self.shares.len() as f64
    }

    fn at(&self, percent: usize) -> f64 {
        self.shares[(self.shares.len() - 1) * percent / 100]
    }

    /// The share of queues that are served in the best order.
    fn best(&self) -> f64 {
        self.shares.iter().filter(|&&share| share == 0.0).count() as f64 / self.shares.len() as f64
    }
}

#[test]
fn one_read_has_one_order_and_no_order_beats_the_best() {
    let model = model();
    for order in Order::ALL {
        assert!(Excess::measure(&model, order, 1, 50).at(100) == 0.0);
        for length in 2..=5 {
            Excess::measure(&model, order, length, 60);
        }
    }
}

#[test]
fn shortest_positioning_is_near_the_best_and_the_order_of_arrival_is_not() {
    let model = model();
    let [sptf, fcfs] = [Order::Sptf, Order::Fcfs].map(|order| Excess::measure(&model, order, 5, 300).mean());
    println!("five reads: SPTF {:.1} % over the best, FCFS {:.1} %", sptf * 100.0, fcfs * 100.0);
    assert!((0.02..0.15).contains(&sptf) && fcfs > 0.4, "{sptf} {fcfs}");
}

/// Writes docs/studies/sptf-optimality.md.
#[test]
#[ignore = "makes a document: cargo test --release -p drivelab-core --test core sptf_optimality:: -- --ignored"]
fn document() {
    const QUEUES: usize = 4_000;
    let (model, mut text) = (model(), String::from(HEAD));
    for length in 2..=8 {
        let excess = Excess::measure(&model, Order::Sptf, length, QUEUES);
        let [mean, median, p95, most, best] =
            [excess.mean(), excess.at(50), excess.at(95), excess.at(100), excess.best()]
                .map(|share| share * 100.0);
        let [sstf, clook, fcfs] = [Order::Sstf, Order::CLook, Order::Fcfs]
            .map(|order| Excess::measure(&model, order, length, QUEUES / 10).mean() * 100.0);
        writeln!(
            text,
            "| {length} | {mean:.1} | {median:.1} | {p95:.1} | {most:.1} | {best:.0} | {sstf:.0} | {clook:.0} | {fcfs:.0} |"
        )
        .unwrap();
    }
    text.push_str(FOOT);
    print!("{text}");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/studies");
    std::fs::create_dir_all(&docs).unwrap();
    std::fs::write(docs.join("sptf-optimality.md"), text).unwrap();
}

const HEAD: &str = "\
# How good is shortest positioning time first?

*For the reader who asks how much better than shortest positioning time an order could be.*

A queue holds n random 4 KiB reads, and no more arrive. SPTF always serves the read whose first sector can be under the
head soonest. The best of all n! orders, found by trying them all, may take less time in total; the table shows by how
much SPTF exceeds it, in percent of the best, over 4 000 queues of each length. The last columns are the mean excess of
other policies, over 400 queues.

| reads | SPTF: mean | median | 95 % | most | served best, % | SSTF | C-LOOK | FCFS |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";

const FOOT: &str = "
The drive: 10 000 rpm, four heads, 50 000 cylinders of one zone, seeks of 0.6 ms (track to track), 4.7 ms (average) and
10.5 ms (full stroke) by Lee's form, 0.7 ms for a head switch. Made by

    cargo test --release -p drivelab-core --test core sptf_optimality:: -- --ignored
";
