//! Layouts in patterns, held to a plain expansion track by track.
use super::patterns::{PatternParams, RunParams, Unit};
use super::{Geometry, GeometryError, GeometryParams, SurfaceOrder};
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::{Angle, Lba, Sectors, Span};
use proptest::prelude::*;

const PERIOD: Span = Span::from_us(6_000);
const HEADS: u32 = 4;

fn track(head: u32, sectors_per_track: u32) -> Unit {
    Unit::Track { head, sectors_per_track, first_sector: 0, sectors: sectors_per_track }
}

fn run(unit: Unit, count: u32, cylinder: i32, step: i32, start: u32, skew: u32) -> RunParams {
    let [start, skew] = [start, skew].map(Angle::from_turn_bits);
    RunParams { unit, count, cylinder, step, start, skew }
}

fn geometry(patterns: PatternParams, capacity: Option<u64>) -> Result<Geometry, GeometryError> {
    let params = GeometryParams {
        heads: HEADS,
        order: SurfaceOrder::Cylinder,
        zones: Vec::new(),
        patterns: Some(patterns),
        capacity: capacity.map(Sectors::new),
        outer_last: 0,
    };
    Geometry::new(&params, PERIOD)
}

/// A slot that holds a block: track of the whole, cylinder, head, sector, sectors per track, angle of the track's sector 0.
type Place = (u32, i64, u32, u32, u32, Angle);

/// Every slot of the drive, one after the other.
fn expanded(params: &PatternParams) -> Vec<Place> {
    fn unroll(params: &PatternParams, number: usize, cylinder: i64, angle: Angle, out: &mut Vec<Place>) {
        for run in &params.patterns[number] {
            for instance in 0..run.count {
                let cylinder = cylinder + i64::from(run.cylinder) + i64::from(run.step) * i64::from(instance);
                let angle = angle + run.start + run.skew.times(instance.into());
                match run.unit {
                    Unit::Pattern(below) => unroll(params, below as usize, cylinder, angle, out),
                    Unit::Track { head, sectors_per_track, first_sector, sectors } => {
                        let number = out.last().map_or(0, |last| last.0 + 1);
                        let zero = angle - Angle::from_ratio(first_sector.into(), sectors_per_track.into());
                        let slots = first_sector..first_sector + sectors;
                        out.extend(slots.map(|at| (number, cylinder, head, at, sectors_per_track, zero)));
                    }
                }
            }
        }
    }
    let mut out = Vec::new();
    unroll(params, params.patterns.len() - 1, 0, Angle::ZERO, &mut out);
    out
}

fn tracks() -> impl Strategy<Value = Unit> {
    (0..HEADS, 1u32..9, 0u32..9, 1u32..9).prop_map(|(head, sectors_per_track, first, sectors)| {
        let first_sector = first % sectors_per_track;
        let sectors = sectors.min(sectors_per_track - first_sector);
        Unit::Track { head, sectors_per_track, first_sector, sectors }
    })
}

fn layouts() -> impl Strategy<Value = PatternParams> {
    let repeated = || (1u32..4, 0i32..40, -3i32..4, any::<u32>(), any::<u32>(), any::<prop::sample::Index>());
    let runs = |units: usize| prop::collection::vec((tracks(), repeated()), 1..units);
    let skips = prop::collection::vec((1u64..7, 1u32..5), 0..6);
    (prop::collection::vec(runs(5), 1..5), skips).prop_map(|(patterns, gaps)| {
        let patterns: Vec<Vec<RunParams>> = (0..)
            .zip(patterns)
            .map(|(number, runs)| {
                let one = |(unit, (count, cylinder, step, start, skew, below)): (
                    Unit,
                    (u32, i32, i32, u32, u32, prop::sample::Index),
                )| {
                    let below = below.index(number as usize + 1) as u32;
                    let unit = if below < number { Unit::Pattern(below) } else { unit };
                    // No cylinder below the first: each level goes back by less than it begins farther in.
                    run(unit, count, 20 + cylinder, step, start, skew)
                };
                runs.into_iter().map(one).collect()
            })
            .collect();
        let mut params = PatternParams { patterns, skips: Vec::new() };
        let slots = expanded(&params).len() as u64;
        let mut end = 0;
        for (gap, count) in gaps {
            if end + gap + u64::from(count) < slots {
                params.skips.push((end + gap, count));
                end += gap + u64::from(count);
            }
        }
        params
    })
}

proptest! {
    #[test]
    fn blocks_lie_where_the_plain_expansion_has_them(params in layouts()) {
        let mut slots = expanded(&params);
        let tracks = slots.last().unwrap().0 + 1;
        let cylinders = slots.iter().map(|slot| slot.1).max().unwrap() + 1;
        let mut at = 0u64;
        slots.retain(|_| {
            at += 1;
            !params.skips.iter().any(|&(first, count)| (first..first + u64::from(count)).contains(&(at - 1)))
        });
        let geometry = geometry(params, None).unwrap();
        prop_assert_eq!(geometry.capacity().get(), slots.len() as u64);
        prop_assert_eq!(i64::from(geometry.cylinders()), cylinders);
        for (block, &(track, cylinder, head, sector, per_track, angle)) in (0..).zip(&slots) {
            let slot = geometry.locate(Lba::new(block));
            prop_assert_eq!((slot.track, slot.sector), (track, sector));
            prop_assert_eq!(geometry.sectors_per_track(slot.zone), per_track);
            let found = geometry.track(slot.zone, slot.track);
            prop_assert_eq!((i64::from(found.cylinder), found.head), (cylinder, head));
            prop_assert_eq!(found.start, angle.at_period(PERIOD));
            let of_track = || (0u64..).zip(&slots).filter(|(_, other)| other.0 == track);
            let (first, last) = (of_track().next().unwrap().0, of_track().last().unwrap());
            prop_assert_eq!(geometry.track_range(Lba::new(block)), (Lba::new(first), Lba::new(last.0 + 1)));
            prop_assert_eq!(geometry.track_end(slot.zone, slot.track), last.1.3 + 1);
            prop_assert_eq!(geometry.lba_after_track(slot.zone, slot.track), Lba::new(last.0 + 1));
            let next = geometry.next_slot(slot.zone, slot.track).map(|next| (next.track, next.sector));
            prop_assert_eq!(next, slots.get(last.0 as usize + 1).map(|next| (next.0, next.3)));
        }
        prop_assert!(slots.iter().all(|slot| slot.0 < tracks));
    }
}

#[test]
fn a_serpentine_of_two_heads_with_tracks_of_their_own() {
    let there = vec![run(track(0, 4), 2, 1, -1, 0, 1 << 30), run(track(1, 2), 2, 0, 1, 7 << 10, 0)];
    let patterns = vec![there, vec![run(Unit::Pattern(0), 2, 0, 2, 0, 1 << 31)]];
    let geometry = geometry(PatternParams { patterns, skips: vec![(4, 1)] }, Some(22)).unwrap();
    let place = |block| {
        let slot = geometry.locate(Lba::new(block));
        let track = geometry.track(slot.zone, slot.track);
        (track.cylinder, track.head, slot.sector, track.start.as_ns())
    };
    // Slot 4, the first of the second track, holds no block.
    assert_eq!(
        [0, 3, 4, 6].map(place),
        [(1, 0, 0, 0), (1, 0, 3, 0), (0, 0, 1, 1_500_000), (0, 0, 3, 1_500_000)]
    );
    assert_eq!([7, 9].map(place), [(0, 1, 0, 10), (1, 1, 0, 10)]);
    // The second instance begins two cylinders on, half a turn later.
    assert_eq!([11, 21].map(place), [(3, 0, 0, 3_000_000), (3, 1, 0, 3_000_010)]);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |patterns: Vec<Vec<RunParams>>, skips: Vec<(u64, u32)>| {
        geometry(PatternParams { patterns, skips }, None).map(|_| ()).unwrap_err()
    };
    let one = |run| refused(vec![vec![run]], vec![]);
    let bad = GeometryError::BadPattern { pattern: 0 };
    assert_eq!(refused(vec![], vec![]), GeometryError::NoZones);
    assert_eq!(refused(vec![vec![]], vec![]), bad);
    assert_eq!(one(run(track(HEADS, 4), 1, 0, 1, 0, 0)), bad);
    assert_eq!(one(run(track(0, 0), 1, 0, 1, 0, 0)), bad);
    assert_eq!(one(run(track(0, 65_536), 1, 0, 1, 0, 0)), bad);
    assert_eq!(one(run(track(0, 4), 0, 0, 1, 0, 0)), bad);
    assert_eq!(one(run(track(0, 4), 2, 0, -1, 0, 0)), bad);
    assert_eq!(one(run(track(0, 4), 2, 1 << 22, 1, 0, 0)), bad);
    assert_eq!(one(run(Unit::Pattern(0), 1, 0, 1, 0, 0)), bad);
    let partly = Unit::Track { head: 0, sectors_per_track: 4, first_sector: 2, sectors: 3 };
    assert_eq!(one(run(partly, 1, 0, 1, 0, 0)), bad);
    let mut deep = vec![vec![run(track(0, 1), 1, 0, 0, 0, 0)]];
    deep.extend((0..40).map(|below| vec![run(Unit::Pattern(below), 1, 0, 0, 0, 0)]));
    assert_eq!(refused(deep, vec![]), GeometryError::BadPattern { pattern: 32 });
    let many = (0..12).map(|below| vec![run(Unit::Pattern(below), 1 << 20, 0, 0, 0, 0)]);
    let mut many: Vec<Vec<RunParams>> = many.collect();
    many.insert(0, vec![run(track(0, 1), 1, 0, 0, 0, 0)]);
    assert_eq!(refused(many, vec![]), GeometryError::BadPattern { pattern: 2 });
    let ten = || vec![vec![run(track(0, 10), 1, 0, 0, 0, 0)]];
    assert_eq!(refused(ten(), vec![(3, 2), (4, 1)]), GeometryError::BadSkip { skip: 1 });
    assert_eq!(refused(ten(), vec![(3, 0)]), GeometryError::BadSkip { skip: 0 });
    assert_eq!(refused(ten(), vec![(8, 3)]), GeometryError::BadSkip { skip: 0 });
    assert!(geometry(PatternParams { patterns: ten(), skips: vec![(3, 2), (5, 5)] }, Some(4)).is_err());
    assert!(geometry(PatternParams { patterns: ten(), skips: vec![(3, 2), (5, 5)] }, Some(3)).is_ok());
}
