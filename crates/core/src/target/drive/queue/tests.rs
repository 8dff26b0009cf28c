//! The queue held to its naive definition: every policy against the plain search over all entries, on random queues
//! and on measured seek curves; the slot table against a list.
use super::super::geometry::{Geometry, GeometryParams, SurfaceOrder, ZoneParams};
use super::super::mechanism::{Arm, Mechanism, SettleParams};
use super::super::seek::{SeekCurve, SeekParams};
use super::super::spindle::Spindle;
use super::*;
use crate::rng::Stream;
use alloc::vec::Vec;
use drivelab_units::{Angle, Instant, Lba, Sectors, Span};
use proptest::option;
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::{env, format, fs, println, string::String, vec};

const PERIOD: u64 = 6_000_000;
const HEADS: u32 = 3;

/// Three heads, one zone of 50 sectors a track.
fn mechanism(curve: &SeekParams, cylinders: u32, settle: SettleParams) -> Mechanism {
    let zone = ZoneParams {
        first_cylinder: 0,
        cylinders,
        sectors_per_track: 50,
        track_skew: Angle::from_ratio(1, 10),
        cylinder_skew: Angle::from_ratio(1, 7),
        slips: Vec::new(),
    };
    let order = SurfaceOrder::Cylinder;
    let params = GeometryParams { heads: HEADS, order, zones: vec![zone], capacity: None };
    let geometry = Geometry::new(&params, Span::from_ns(PERIOD)).unwrap();
    Mechanism { geometry, seek: SeekCurve::new(curve, cylinders).unwrap(), settle }
}

/// What the naive definition says: the age limit, then the window, then the least cost by looking at each.
fn naive(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let oldest = slots.by_age().next()?;
    let age = view.now - slots.entry(oldest).arrived;
    if view.params.age_limit.is_some_and(|limit| age >= limit.as_ns()) {
        return Some(oldest);
    }
    let window = view.params.considers.map_or(usize::MAX, |window| window as usize);
    choose::least(slots.by_age().take(window), slots, view)
}

/// A queue in use: commands come and go at random, the arm moves to each choice, and every choice is the naive one.
struct Play<'a> {
    mechanism: &'a Mechanism,
    params: QueueParams,
    stream: Stream,
    slots: Slots,
    free: Vec<SlotIndex>,
    arm: Arm,
    upward: bool,
    now: u64,
}

impl<'a> Play<'a> {
    fn new(mechanism: &'a Mechanism, params: QueueParams, seed: u64) -> Self {
        let cylinders = mechanism.geometry.cylinders();
        Play {
            mechanism,
            stream: Stream::named(seed, "test/queue"),
            slots: Slots::new(&params, cylinders),
            free: (0..params.depth).collect(),
            arm: Arm { cylinder: cylinders / 2, head: 0 },
            upward: true,
            now: 1 << 40,
            params,
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.stream.below(limit)
    }

    /// A cylinder: anywhere, near the arm, or at one of few places, so that ties and full buckets are common.
    fn cylinder(&mut self) -> u32 {
        let cylinders = self.mechanism.geometry.cylinders();
        let anywhere = self.below(cylinders.into()) as u32;
        match self.below(4) {
            0 => (self.arm.cylinder + self.below(20) as u32).min(cylinders - 1),
            1 => self.arm.cylinder.saturating_sub(self.below(20) as u32),
            2 => anywhere / 500 * 500,
            _ => anywhere,
        }
    }

    fn arrive(&mut self) {
        let at = self.below(self.free.len() as u64) as usize;
        let slot = self.free.swap_remove(at);
        let steps = self.below(3);
        let longest_wait = if self.below(3) == 0 { self.below(PERIOD + 1) } else { PERIOD };
        let entry = Entry {
            arrived: self.now,
            ready: self.now + self.below(2) * self.below(400_000),
            first: Lba::ZERO,
            cylinder: self.cylinder(),
            head: self.below(HEADS.into()) as u32,
            // Coarse, so that equal costs happen.
            start: (self.below(12) * 500_000) as u32,
            longest_wait: longest_wait as u32,
            lead: self.below(2) * self.below(3) * 300_000,
            write: self.below(3) == 0,
            ..Entry::default()
        };
        self.slots.insert(slot, entry);
        self.now += steps * self.below(2_000_000);
    }

    /// Chooses, checks, and carries the choice out. Returns whether it was worth checking.
    fn serve(&mut self) -> Result<bool, TestCaseError> {
        let view = View {
            mechanism: self.mechanism,
            params: &self.params,
            arm: self.arm,
            upward: self.upward,
            now: self.now,
            turned: self.now % PERIOD,
            period: PERIOD,
        };
        let (found, expected) = (choose(&self.slots, &view), naive(&self.slots, &view));
        let cost = |slot: Option<SlotIndex>| slot.map(|slot| choose::cost(self.slots.entry(slot), &view));
        prop_assert_eq!(found, expected, "costs {:?} {:?}, arm {:?}", cost(found), cost(expected), self.arm);
        let Some(slot) = found else { return Ok(false) };
        let Entry { cylinder, head, .. } = *self.slots.entry(slot);
        self.upward = look::upward_after(view.arm.cylinder, cylinder, self.upward);
        let choices = self.slots.len();
        self.slots.remove(slot);
        self.free.push(slot);
        self.arm = Arm { cylinder, head };
        self.now += self.below(12_000_000);
        Ok(choices > 1)
    }

    /// Plays so many steps; returns how many real choices were checked.
    fn play(mut self, steps: u32) -> Result<u32, TestCaseError> {
        let mut choices = 0;
        for _ in 0..steps {
            let fill = self.below(8) as usize;
            for _ in 0..fill.min(self.free.len()) {
                self.arrive();
            }
            choices += u32::from(self.serve()?);
        }
        Ok(choices)
    }
}

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

fn queues() -> impl Strategy<Value = QueueParams> {
    let limits = (option::weighted(0.3, 1u32..20), option::weighted(0.3, spans(60_000)));
    let weight = (0u64..8, 1u64..4).prop_map(|(credit, age)| AgeWeight::from_ratio(credit, age).unwrap());
    (1u32..80, any::<bool>(), limits, spans(4_000), spans(2_000), weight).prop_map(
        |(depth, angle, (considers, age_limit), write_handicap, write_margin, age_weight)| QueueParams {
            depth,
            knows: if angle { Knows::Angle } else { Knows::Distance },
            considers,
            age_limit,
            write_handicap,
            write_margin,
            age_weight,
            ..QueueParams::NONE
        },
    )
}

/// A drive with few cylinders, some thousands, or more than there are buckets.
fn curves_and_cylinders() -> impl Strategy<Value = (SeekParams, u32)> {
    prop_oneof![2u32..40, 40u32..4_000, 4_000u32..40_000]
        .prop_flat_map(|cylinders| (curves(cylinders), Just(cylinders)))
}

proptest! {
    #[test]
    fn every_policy_finds_what_looking_at_all_entries_finds(
        (curve, cylinders) in curves_and_cylinders(), settle in settles(), params in queues(), seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        for order in Order::ALL {
            Play::new(&mechanism, QueueParams { order, ..params.clone() }, seed).play(60)?;
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
        let params = QueueParams { order: Order::Sptf, knows: Knows::Angle, ..QueueParams::NONE };
        let at = Instant::from_ns(now);
        let (mechanism, params, upward) = (&mechanism, &params, true);
        let view = View { mechanism, params, arm, upward, now, turned: spindle.turned(at), period: PERIOD };
        let entry = Entry {
            arrived: now,
            ready: now + wait,
            first,
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

    /// A write with less to spare than its margin is reckoned to come a turn later; reads have no margin.
    #[test]
    fn a_write_that_could_be_late_is_planned_for_the_next_turn(
        margin in 0u64..3_000_000, cylinder in 0u32..100, start in 0u64..PERIOD, turned in 0u64..PERIOD, write: bool,
    ) {
        let (plain, planned, spare) = with_margin(margin, cylinder, start, turned, write);
        prop_assert_eq!(planned, if write && spare < margin { plain + PERIOD } else { plain });
    }

    #[test]
    fn the_slot_table_is_a_list(cylinders in 1u32..20_000, steps in prop::collection::vec(any::<(bool, u16, u32)>(), 1..200)) {
        const DEPTH: u32 = 24;
        let params = QueueParams { depth: DEPTH, ..QueueParams::NONE };
        let (mut slots, mut list) = (Slots::new(&params, cylinders), Vec::<(SlotIndex, u32)>::new());
        for (insert, which, cylinder) in steps {
            let free: Vec<SlotIndex> =
                (0..DEPTH).filter(|slot| list.iter().all(|(taken, _)| taken != slot)).collect();
            if (insert || list.is_empty()) && !free.is_empty() {
                let (slot, cylinder) = (free[usize::from(which) % free.len()], cylinder % cylinders);
                slots.insert(slot, Entry { cylinder, ..Entry::default() });
                list.push((slot, cylinder));
            } else {
                let (slot, _) = list.remove(usize::from(which) % list.len());
                slots.remove(slot);
            }
            check_table(&slots, &list, cylinders)?;
        }
    }
}

/// Positioning from cylinder 0 without a margin and with this one, and the rotation left in the former.
fn with_margin(margin: u64, cylinder: u32, start: u64, turned: u64, write: bool) -> (u64, u64, u64) {
    let curve = SeekParams::Table(vec![(1, Span::from_ms(1)), (99, Span::from_ms(4))]);
    let mechanism = &mechanism(&curve, 100, SettleParams::default());
    let longest_wait = PERIOD as u32;
    let entry = Entry { cylinder, start: start as u32, longest_wait, write, ..Entry::default() };
    let reckon = |write_margin| {
        let params = &QueueParams { knows: Knows::Angle, write_margin, ..QueueParams::NONE };
        let view =
            View { mechanism, params, arm: Arm::default(), upward: true, now: 0, turned, period: PERIOD };
        (view.positioning(&entry), view.positioning(&entry) - view.seek(&entry))
    };
    let (plain, spare) = reckon(Span::ZERO);
    (plain, reckon(Span::from_ns(margin)).0, spare)
}

/// Everything that the table tells about itself, against the list of what is in it, oldest first.
fn check_table(slots: &Slots, list: &[(SlotIndex, u32)], cylinders: u32) -> Result<(), TestCaseError> {
    prop_assert_eq!((slots.len(), slots.is_empty()), (list.len(), list.is_empty()));
    prop_assert_eq!(slots.oldest(), list.first().map(|(slot, _)| *slot));
    let ages: Vec<(SlotIndex, u32)> = slots.by_age().map(|slot| (slot, slots.entry(slot).cylinder)).collect();
    prop_assert_eq!(&ages[..], list);
    prop_assert!(slots.by_age().map(|slot| slots.entry(slot).sequence).is_sorted());
    let mut upward = list.to_vec();
    // Stable: entries of one cylinder stay in order of arrival.
    upward.sort_by_key(|&(_, cylinder)| cylinder);
    let slot_of = |entry: Option<&(SlotIndex, u32)>| entry.map(|(slot, _)| *slot);
    prop_assert_eq!(slots.highest(Kind::Main), slot_of(upward.last()));
    for (i, &(slot, _)) in upward.iter().enumerate() {
        prop_assert_eq!(slots.above(slot), slot_of(upward.get(i + 1)));
        prop_assert_eq!(slots.below(slot), slot_of(i.checked_sub(1).and_then(|i| upward.get(i))));
    }
    let places =
        [0, cylinders / 3, cylinders - 1].into_iter().chain(list.iter().map(|&(_, cylinder)| cylinder));
    for from in places {
        let expected = upward.iter().find(|&&(_, cylinder)| cylinder >= from);
        prop_assert_eq!(slots.at_or_above(Kind::Main, from), slot_of(expected));
    }
    Ok(())
}

/// Counts around which the width of a bucket changes, each with its last cylinder.
#[test]
fn the_last_cylinder_has_a_bucket() {
    for cylinders in [1, 4_096, 4_097, 8_192, 8_193, 16_387, 65_551, (1 << 22) - 1, 1 << 22] {
        let mut slots = Slots::new(&QueueParams { depth: 2, ..QueueParams::NONE }, cylinders);
        slots.insert(0, Entry { cylinder: cylinders - 1, ..Entry::default() });
        slots.insert(1, Entry { cylinder: 0, ..Entry::default() });
        // On a drive of one cylinder the order of arrival decides.
        let (lowest, highest) = if cylinders == 1 { (0, 1) } else { (1, 0) };
        assert_eq!(
            (slots.at_or_above(Kind::Main, 0), slots.highest(Kind::Main)),
            (Some(lowest), Some(highest))
        );
        slots.remove(0);
        assert_eq!(slots.highest(Kind::Main), Some(1));
    }
}

#[test]
fn nothing_is_chosen_from_an_empty_queue() {
    let curve = SeekParams::Table(vec![(1, Span::from_ms(1)), (9, Span::from_ms(2))]);
    let mechanism = mechanism(&curve, 10, SettleParams::default());
    for order in Order::ALL {
        let mut play = Play::new(&mechanism, QueueParams { order, depth: 1, ..QueueParams::NONE }, 1);
        assert!(!play.serve().unwrap());
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

/// The folder of measurements that are not part of the repository; `None`, said aloud, where it is absent.
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
                let age_weight = AgeWeight::from_ratio(1, 20).unwrap();
                let params =
                    QueueParams { order, depth: 64, knows: Knows::Angle, age_weight, ..QueueParams::NONE };
                choices += Play::new(&mechanism, params, seed as u64).play(400).unwrap();
            }
        }
        assert!(choices > 4_000, "{name}: {choices}");
        println!("{name}: {} points, {cylinders} cylinders, {choices} choices", points.len());
    }
    assert!(falling > 0, "some measured curves fall");
}
