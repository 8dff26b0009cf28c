//! The queue held to its naive definition: every policy against the plain search over all entries, on random queues
//! and on measured seek curves.
mod bounds;
mod deep;
mod play;
mod starvation;
mod table;

use super::super::mechanism::SettleParams;
use super::super::seek::SeekParams;
use super::super::spindle::Spindle;
use super::*;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors, Share, Span};
use play::{HEADS, LEAD_MAX, PERIOD, Play, READY_MAX, Waiting, mechanism};
use proptest::option;
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::{env, format, fs, println, string::String, vec};

fn spans(most_us: u64) -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::ZERO), (0..=most_us).prop_map(Span::from_us)]
}

/// Curves of any shape over so many cylinders, falling stretches included.
fn curves(cylinders: u32) -> impl Strategy<Value = SeekParams> {
    prop::collection::btree_map(1..cylinders, 50u64..12_000, 1..12).prop_map(move |points| {
        let mut points: Vec<_> =
            points.into_iter().map(|(distance, us)| (distance, Span::from_us(us))).collect();
        points.push((cylinders, Span::from_us(9_000)));
        SeekParams::Table(points)
    })
}

fn settles() -> impl Strategy<Value = SettleParams> {
    (spans(1_500), -3_000_000i64..1_500_000).prop_map(|(head_switch, write_settle_ns)| SettleParams {
        head_switch,
        write_settle_ns,
        ..SettleParams::default()
    })
}

/// Every order, with any value of what it weighs: nothing, a little or much.
pub fn orders() -> impl Strategy<Value = [Order; Order::ALL.len()]> {
    any::<[u64; Order::ALL.len()]>().prop_map(|drawn| {
        core::array::from_fn(|number| {
            let (order, drawn) = (Order::ALL[number], drawn[number]);
            let Some(weighs) = order.rule().weighs else { return order };
            let most = match weighs.unit {
                orders::Unit::Share { most } => most * 1_000_000,
                orders::Unit::Time => 200_000_000,
            };
            let most = [most, most.min(8_000_000), 100_000][(drawn % 3) as usize];
            order.weighing(if drawn % 16 == 0 { 0 } else { drawn / 16 % (most + 1) })
        })
    })
}

/// Queues with all keys but the order and what that weighs; the depth apart.
fn queues_of(depth: impl Strategy<Value = u32>) -> impl Strategy<Value = QueueParams> {
    let limits = (
        (option::weighted(0.3, 1u32..20), option::weighted(0.2, 1u32..20)),
        option::weighted(0.3, spans(60_000)),
        option::weighted(0.3, 0u32..100),
    );
    (depth, any::<bool>(), limits, spans(4_000), [spans(2_000), spans(2_000)], 0u64..1_000).prop_map(
        |(
            depth,
            angle,
            (windows, age_limit, pass_limit),
            write_handicap,
            [write_margin, read_margin],
            grows,
        )| {
            let (considers, sorts_from) = windows;
            QueueParams {
                depth,
                knows: if angle { PositionKnowledge::Angle } else { PositionKnowledge::Distance },
                considers,
                sorts_from,
                age_limit,
                pass_limit,
                write_handicap,
                write_margin,
                read_margin,
                seek_margin: Share::from_ratio(grows.saturating_sub(500), 1_000).unwrap(),
                ..QueueParams::NONE
            }
        },
    )
}

fn queues() -> impl Strategy<Value = QueueParams> {
    queues_of(prop_oneof![3 => 1u32..80, 1 => 80u32..300])
}

/// A drive with few cylinders, some thousands, or more than there are buckets.
fn curves_and_cylinders() -> impl Strategy<Value = (SeekParams, u32)> {
    prop_oneof![2u32..40, 40u32..4_000, 4_000u32..40_000]
        .prop_flat_map(|cylinders| (curves(cylinders), Just(cylinders)))
}

proptest! {
    #[test]
    fn every_policy_finds_what_looking_at_all_entries_finds(
        (curve, cylinders) in curves_and_cylinders(), settle in settles(), params in queues(), orders in orders(),
        seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        for order in orders {
            Play::new(&mechanism, QueueParams { order, ..params.clone() }, seed).play(60, Play::check)?;
        }
    }

    /// A read that has waited for its sectors to be destaged is filed after younger commands, with its whole age.
    #[test]
    fn every_policy_finds_the_least_although_some_are_filed_late(
        (curve, cylinders) in curves_and_cylinders(), settle in settles(), params in queues(), orders in orders(),
        seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        for order in orders {
            let mut play = Play::new(&mechanism, QueueParams { order, ..params.clone() }, seed);
            play.some_late = true;
            play.play(60, Play::check)?;
        }
    }

    /// The cost of shortest positioning is what the mechanism then takes, from the choice to the first sector.
    #[test]
    fn positioning_is_what_the_mechanism_takes(
        (curve, cylinders) in curves_and_cylinders(), settle in settles(), arrival in any::<[bool; 2]>(),
        places in any::<[u32; 3]>(), count in 1u64..200, now in 0u64..1 << 40, wait in 0u64..900_000, write: bool,
    ) {
        let settle = SettleParams { read_on_arrival: arrival[0], write_on_arrival: arrival[1], ..settle };
        let mechanism = mechanism(&curve, cylinders, settle);
        let capacity = mechanism.geometry.capacity().get();
        let count = count.min(capacity);
        let first = Lba::new(u64::from(places[0]) % (capacity - count + 1));
        let access = if write { Access::Write } else { Access::Read };
        let spindle = Spindle::new(Span::from_ns(PERIOD), Span::from_ns(12_345));
        let landing = mechanism.landing(first, Sectors::new(count), access, &spindle);
        let arm = Arm { cylinder: places[1] % cylinders, head: places[2] % HEADS };
        let params = QueueParams { order: Order::Sptf, knows: PositionKnowledge::Angle, ..QueueParams::NONE };
        let at = Instant::from_ns(now);
        let (mechanism, params, upward) = (&mechanism, &params, true);
        let view = View { mechanism, params, arm, upward, now, turned: spindle.turned(at), period: PERIOD, waiting: 0 };
        let entry = Entry {
            arrived: now,
            ready: now + wait,
            cylinder: landing.cylinder,
            head: landing.head,
            start: landing.start,
            longest_wait: landing.longest_wait,
            write,
            ..Entry::default()
        };
        let last = Lba::new(first.get() + count - 1);
        let passage = mechanism.pass(&spindle, at + Span::from_ns(wait), arm, &landing, last, access);
        prop_assert_eq!(view.positioning(&entry), wait + (passage.seek + passage.rotation).as_ns());
        let distance = arm.cylinder.abs_diff(landing.cylinder);
        prop_assert!(view.floor_beyond(distance) <= passage.seek.as_ns());
    }

    /// A write with less to spare than its margin is reckoned to come a turn later, unless it lies on this cylinder or the
    /// next; reads have no margin here.
    #[test]
    fn a_write_that_could_be_late_is_planned_for_the_next_turn(
        margin in 0u64..3_000_000, cylinder in 0u32..100, start in 0u64..PERIOD, turned in 0u64..PERIOD, write: bool,
    ) {
        let (plain, planned, spare) = with_margin(margin, cylinder, start, turned, write);
        let late = write && cylinder > 1 && spare < margin;
        prop_assert_eq!(planned, if late { plain + PERIOD } else { plain });
    }

    /// A guard as a share of the seek is that time for this seek, for reads and writes.
    #[test]
    fn a_share_of_the_seek_is_a_margin_of_that_time(
        thousandths in 0u64..=1_000, cylinder in 0u32..100, start in 0u64..PERIOD, turned in 0u64..PERIOD, write: bool,
    ) {
        let entry = entry_at(cylinder, start, write);
        let seek_margin = Share::from_ratio(thousandths, 1_000).unwrap();
        let (by_share, seek) = planned(&QueueParams { seek_margin, ..QueueParams::NONE }, &entry, turned);
        let time = Span::from_ns(seek_margin.of(seek));
        let fixed = QueueParams { read_margin: time, write_margin: time, ..QueueParams::NONE };
        prop_assert_eq!(by_share, planned(&fixed, &entry, turned).0);
    }
}

/// Positioning from cylinder 0 without a margin and with this one, and the rotation left in the former.
fn with_margin(margin: u64, cylinder: u32, start: u64, turned: u64, write: bool) -> (u64, u64, u64) {
    let entry = entry_at(cylinder, start, write);
    let (plain, seek) = planned(&QueueParams::NONE, &entry, turned);
    let write_margin = Span::from_ns(margin);
    (plain, planned(&QueueParams { write_margin, ..QueueParams::NONE }, &entry, turned).0, plain - seek)
}

fn entry_at(cylinder: u32, start: u64, write: bool) -> Entry {
    Entry { cylinder, start: start as u32, longest_wait: PERIOD as u32, write, ..Entry::default() }
}

/// Positioning from cylinder 0 by a drive that knows the angle, and the seek in it.
fn planned(params: &QueueParams, entry: &Entry, turned: u64) -> (u64, u64) {
    let curve = SeekParams::Table(vec![(1, Span::from_ms(1)), (99, Span::from_ms(4))]);
    let mechanism = &mechanism(&curve, 100, SettleParams::default());
    let params = &QueueParams { knows: PositionKnowledge::Angle, ..params.clone() };
    let (arm, period) = (Arm::default(), PERIOD);
    let view = View { mechanism, params, arm, upward: true, now: 0, turned, period, waiting: 0 };
    (view.positioning(entry), view.seek(entry))
}

#[test]
fn nothing_is_chosen_from_an_empty_queue() {
    let curve = SeekParams::Table(vec![(1, Span::from_ms(1)), (9, Span::from_ms(2))]);
    let mechanism = mechanism(&curve, 10, SettleParams::default());
    for order in Order::ALL {
        let play = Play::new(&mechanism, QueueParams { order, depth: 1, ..QueueParams::NONE }, 1);
        assert_eq!(play.chosen(), None);
    }
}

/// The points of a measured curve: lines `distance, milliseconds, ...` behind an optional title.
fn read_curve(text: &str) -> Vec<(u32, Span)> {
    let point = |line: &str| {
        let mut fields = line.split(',').map(str::trim);
        let distance: u32 = fields.next()?.parse().ok()?;
        let ms: f64 = fields.next()?.parse().ok()?;
        Some((distance, Span::from_ns((ms * 1e6).round() as u64)))
    };
    text.lines().filter_map(point).collect()
}

fn curve_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            curve_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "seek" || extension == "seeks") {
            found.push(path);
        }
    }
}

/// The folder of measurements that are not part of the repository; `None`, with a message, where it is absent.
fn reference() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference");
    let folder = env::var_os("DRIVELAB_REFERENCE").map_or_else(beside, PathBuf::from).join("disksim");
    if !folder.is_dir() {
        println!("skipped 1 test: no reference data (set DRIVELAB_REFERENCE)");
        return None;
    }
    Some(folder)
}

#[test]
fn every_policy_finds_the_least_on_every_measured_curve() {
    let Some(folder) = reference() else { return };
    let mut files = Vec::new();
    curve_files(&folder, &mut files);
    assert!(files.len() >= 9, "{files:?}");
    let mut falling = 0;
    for file in &files {
        let points = read_curve(&fs::read_to_string(file).unwrap());
        let name: String = format!("{}", file.file_name().unwrap().display());
        assert!(points.len() > 50, "{name}: {} points", points.len());
        falling += u32::from(!points.is_sorted_by_key(|(_, time)| *time));
        let cylinders = points[points.len() - 1].0 + 1;
        let mut choices = 0;
        for settle in [300_000, -600_000] {
            let settle = SettleParams {
                head_switch: Span::from_us(900),
                write_settle_ns: settle,
                ..SettleParams::default()
            };
            let mechanism = mechanism(&SeekParams::Table(points.clone()), cylinders, settle);
            for (seed, order) in Order::ALL.into_iter().enumerate() {
                let order = if order.rule().name == "aged-sptf" { order.weighing(50_000) } else { order };
                let params =
                    QueueParams { order, depth: 64, knows: PositionKnowledge::Angle, ..QueueParams::NONE };
                let check = |play: &Play<'_>, chosen| {
                    choices += u32::from(play.waiting.len() > 1);
                    play.check(chosen)
                };
                Play::new(&mechanism, params, seed as u64).play(400, check).unwrap();
            }
        }
        assert!(choices > 4_000, "{name}: {choices}");
        println!("{name}: {} points, {cylinders} cylinders, {choices} choices", points.len());
    }
    assert!(falling > 0, "some measured curves fall");
}
