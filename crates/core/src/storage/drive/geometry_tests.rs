//! The layout held to a slow walk over every slot, and to the exact sector boundary.
use super::geometry::*;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::{Angle, Lba, Sectors, Span};
use proptest::prelude::*;

const PERIOD: Span = Span::from_ns(8_333_333);

fn zone(first_cylinder: u32, cylinders: u32, sectors_per_track: u32, slips: Vec<u64>) -> ZoneParams {
    ZoneParams {
        first_cylinder,
        cylinders,
        sectors_per_track,
        track_skew: Angle::from_ratio(1, 10),
        cylinder_skew: Angle::from_ratio(1, 7),
        slips,
        ..ZoneParams::default()
    }
}

/// A zone without its place: cylinders before it that hold nothing, its own, sectors per track, slips, front, spares,
/// and whether it has a start of its own.
type Shape = (u32, u32, u32, Vec<u64>, u64, Spares, bool);

fn shapes() -> impl Strategy<Value = Shape> {
    let slips = prop::collection::btree_set(0u64..400, 0..9).prop_map(|slips| slips.into_iter().collect());
    let spares = prop_oneof![
        3 => Just(Spares::NONE),
        2 => (0u64..40).prop_map(Spares::Zone),
        3 => (1u32..12, 0u32..30).prop_map(|(tracks, spares)| Spares::Each { tracks, spares }),
    ];
    let front = prop_oneof![Just(0), 0u64..60];
    (0u32..3, 1u32..9, 1u32..12, slips, front, spares, any::<bool>())
}

fn layouts() -> impl Strategy<Value = GeometryParams> {
    let order = prop_oneof![
        Just(SurfaceOrder::Cylinder),
        (1u32..5).prop_map(|cylinders_per_head| SurfaceOrder::Serpentine { cylinders_per_head }),
        any::<bool>().prop_map(|by_drive| SurfaceOrder::Alternating { by_drive }),
    ];
    (1u32..5, order, prop::collection::vec(shapes(), 1..4)).prop_map(|(heads, order, shapes)| {
        let (mut next, mut zones) = (0, Vec::new());
        for (gap, cylinders, sectors, slips, front, spares, starts) in shapes {
            let slots = u64::from(cylinders * heads * sectors);
            let slips: Vec<u64> = slips.into_iter().filter(|&s| s + 1 < slots).collect();
            let start = starts.then_some(Angle::from_ratio(3, 11));
            let plain = ZoneParams { start, ..zone(next + gap, cylinders, sectors, Vec::new()) };
            let full = ZoneParams { slips, front, spares, ..plain.clone() };
            zones.push(if fits(&full, heads) { full } else { plain });
            next += gap + cylinders;
        }
        GeometryParams { heads, order, zones, patterns: None, capacity: None, outer_last: 0 }
    })
}

/// Whether the spares fit, slips among them, and leave something.
fn fits(zone: &ZoneParams, heads: u32) -> bool {
    if let Spares::Each { tracks, spares } = zone.spares {
        let stretch = u64::from(tracks * zone.sectors_per_track);
        let whole = u64::from(zone.cylinders * heads / tracks);
        let slipped =
            |number: u64| zone.slips.iter().filter(|&&slip| slip / stretch == number).count() as u32;
        let overfull = (0..whole).any(|number| slipped(number) > spares);
        if whole == 0 || u64::from(spares) >= stretch || overfull {
            return false;
        }
    }
    !used(zone, heads).is_empty()
}

/// The slots of a zone that hold blocks, found by looking at each.
fn used(zone: &ZoneParams, heads: u32) -> Vec<u64> {
    let per_track = u64::from(zone.sectors_per_track);
    let slots = u64::from(zone.cylinders * heads) * per_track;
    let all: Vec<u64> = (0..slots).collect();
    let (length, spares) = match zone.spares {
        Spares::Zone(spares) => (slots, spares),
        Spares::Each { tracks, spares } => (u64::from(tracks) * per_track, u64::from(spares)),
    };
    let mut used = Vec::new();
    for stretch in all.chunks(length as usize) {
        let good: Vec<u64> = stretch.iter().copied().filter(|slot| !zone.slips.contains(slot)).collect();
        let is_whole = stretch.len() as u64 == length;
        let kept = length.saturating_sub(spares) as usize;
        used.extend(if is_whole { &good[..kept.min(good.len())] } else { &good[..] });
    }
    used.retain(|&slot| slot >= zone.front);
    used
}

/// A zone's tracks as (cylinder, head), in the order in which blocks run over them, in plain words.
fn tracks(zone: &ZoneParams, heads: u32, order: SurfaceOrder) -> Vec<(u32, u32)> {
    let mut tracks = Vec::new();
    match order {
        SurfaceOrder::Cylinder => {
            for cylinder in 0..zone.cylinders {
                tracks.extend((0..heads).map(|head| (cylinder, head)));
            }
        }
        SurfaceOrder::Alternating { by_drive } => {
            for cylinder in 0..zone.cylinders {
                let mut down: Vec<u32> = (0..heads).collect();
                let number = if by_drive { zone.first_cylinder + cylinder } else { cylinder };
                if number % 2 == 1 {
                    down.reverse();
                }
                tracks.extend(down.into_iter().map(|head| (cylinder, head)));
            }
        }
        SurfaceOrder::Serpentine { cylinders_per_head } => {
            let mut first = 0;
            while first < zone.cylinders {
                let end = (first + cylinders_per_head).min(zone.cylinders);
                for head in 0..heads {
                    let mut cylinders: Vec<u32> = (first..end).collect();
                    if head % 2 == 1 {
                        cylinders.reverse();
                    }
                    tracks.extend(cylinders.into_iter().map(|cylinder| (cylinder, head)));
                }
                first = end;
            }
        }
    }
    tracks
}

#[derive(Clone, Copy)]
struct Block {
    slot: SectorSlot,
    cylinder: u32,
    head: u32,
}

/// Every block, in order.
fn walk(params: &GeometryParams) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (number, zone) in (0..).zip(&params.zones) {
        let tracks = tracks(zone, params.heads, params.order);
        for slot in used(zone, params.heads) {
            let per_track = u64::from(zone.sectors_per_track);
            let slot = SectorSlot {
                zone: number,
                track: (slot / per_track) as u32,
                sector: (slot % per_track) as u32,
            };
            let (cylinder, head) = tracks[slot.track as usize];
            blocks.push(Block { slot, cylinder: zone.first_cylinder + cylinder, head });
        }
    }
    blocks
}

proptest! {
    #[test]
    fn every_block_lies_where_a_slow_walk_finds_it(params in layouts()) {
        let geometry = Geometry::new(&params, PERIOD).unwrap();
        let blocks = walk(&params);
        prop_assert_eq!(geometry.capacity(), Sectors::new(blocks.len() as u64));
        for (lba, block) in blocks.iter().enumerate() {
            let slot = geometry.locate(Lba::new(lba as u64));
            let track = geometry.track(slot.zone, slot.track);
            prop_assert_eq!(slot, block.slot, "block {}", lba);
            prop_assert_eq!((track.cylinder, track.head), (block.cylinder, block.head), "block {}", lba);
        }
    }

    #[test]
    fn behind_a_track_comes_the_next_one_that_holds_a_block(params in layouts()) {
        let geometry = Geometry::new(&params, PERIOD).unwrap();
        let blocks = walk(&params);
        for (lba, block) in blocks.iter().enumerate() {
            let SectorSlot { zone, track, .. } = block.slot;
            let is_on_it = |block: &Block| (block.slot.zone, block.slot.track) == (zone, track);
            let next = lba + blocks[lba..].iter().take_while(|&block| is_on_it(block)).count();
            prop_assert_eq!(geometry.lba_after_track(zone, track), Lba::new(next as u64));
            prop_assert_eq!(geometry.track_end(zone, track), blocks[next - 1].slot.sector + 1);
            prop_assert_eq!(geometry.next_slot(zone, track), blocks.get(next).map(|block| block.slot));
        }
    }

    #[test]
    fn each_switch_turns_by_its_skew(params in layouts()) {
        let geometry = Geometry::new(&params, PERIOD).unwrap();
        let turn = PERIOD.as_ns() as i64;
        for (number, zone) in (0u32..).zip(&params.zones) {
            let tracks = tracks(zone, params.heads, params.order);
            let start = |track: u32| geometry.track(number, track).start.as_ns() as i64;
            for (track, pair) in (1u32..).zip(tracks.windows(2)) {
                let (before, there) = (pair[0], pair[1]);
                let skew = if before.0 == there.0 { turn / 10 } else { turn / 7 };
                let turned = (start(track) - start(track - 1)).rem_euclid(turn);
                prop_assert!((turned - skew).abs() <= 2, "{before:?} {there:?}: turned {turned}, skew {skew}");
            }
            let begins = match (zone.start, number) {
                (Some(angle), _) => angle.at_period(PERIOD).as_ns() as i64,
                (None, 0) => 0,
                (None, _) => {
                    let before = &params.zones[number as usize - 1];
                    let last = before.cylinders * params.heads - 1;
                    geometry.track(number - 1, last).start.as_ns() as i64 + turn / 7
                }
            };
            prop_assert!((start(0) - begins).rem_euclid(turn) <= 2, "zone {number}");
        }
    }

    /// A drive on which each slip moved the skew behind its stretch: by one slot for each.
    #[test]
    fn slips_turn_what_lies_behind_their_stretch(params in layouts()) {
        let turned = |slips_turn| {
            let zones = params.zones.iter().map(|zone| ZoneParams { slips_turn, ..zone.clone() }).collect();
            Geometry::new(&GeometryParams { zones, ..params.clone() }, PERIOD).unwrap()
        };
        let (without, with) = (turned(false), turned(true));
        for (number, zone) in (0u32..).zip(&params.zones) {
            let tracks = zone.cylinders * params.heads;
            let (length, whole) = match zone.spares {
                Spares::Zone(_) => (tracks, 1),
                Spares::Each { tracks: each, .. } => (each, tracks / each),
            };
            for track in 0..tracks {
                let first = u64::from((track / length).min(whole) * length * zone.sectors_per_track);
                let before = zone.slips.iter().filter(|&&slip| slip < first).count() as i64;
                let start = |geometry: &Geometry| geometry.track(number, track).start.as_ns() as i64;
                let turn = PERIOD.as_ns() as i64;
                let expected = start(&without) + before * turn / i64::from(zone.sectors_per_track);
                let off = (start(&with) - expected + turn / 2).rem_euclid(turn) - turn / 2;
                let slack = 3 + i64::from(zone.start.is_none() && number > 0);
                prop_assert!(off.abs() <= slack, "zone {number}, track {track}: off by {off} ns");
            }
        }
    }

    #[test]
    fn a_boundary_is_the_exact_floor(sectors in 1u32..=0xffff, period in 2_000_000u64..250_000_000, at in 0u32..=0xffff) {
        let params = GeometryParams {
            heads: 1, order: SurfaceOrder::Cylinder, zones: vec![zone(0, 1, sectors, Vec::new())], patterns: None, capacity: None,
            outer_last: 0,
        };
        let geometry = Geometry::new(&params, Span::from_ns(period)).unwrap();
        let at = at % (sectors + 1);
        prop_assert_eq!(geometry.boundary(0, at).as_ns(), u64::from(at) * period / u64::from(sectors));
    }
}

#[test]
fn bad_layouts_are_refused_by_name() {
    let build = |zones: Vec<ZoneParams>, capacity: Option<u64>| {
        let order = SurfaceOrder::Cylinder;
        let params = GeometryParams {
            heads: 2,
            order,
            zones,
            patterns: None,
            capacity: capacity.map(Sectors::new),
            outer_last: 0,
        };
        Geometry::new(&params, PERIOD).map(|_| ()).unwrap_err()
    };
    assert_eq!(build(vec![], None), GeometryError::NoZones);
    assert_eq!(build(vec![zone(0, 0, 4, vec![])], None), GeometryError::EmptyZone { zone: 0 });
    let overlap = vec![zone(0, 4, 4, vec![]), zone(3, 4, 4, vec![])];
    assert_eq!(build(overlap, None), GeometryError::ZonesOverlap { zone: 1 });
    assert_eq!(build(vec![zone(0, 1, 4, vec![3, 2])], None), GeometryError::BadSlip { zone: 0 });
    assert_eq!(build(vec![zone(0, 1, 4, vec![8])], None), GeometryError::BadSlip { zone: 0 });
    assert_eq!(build(vec![zone(0, 1, 2, vec![0, 1, 2, 3])], None), GeometryError::NoBlocks { zone: 0 });
    let front = |front| vec![ZoneParams { front, ..zone(0, 1, 4, vec![]) }];
    assert_eq!(build(front(8), None), GeometryError::NoBlocks { zone: 0 });
    let spare = |spares, slips| vec![zone(0, 1, 4, vec![]), ZoneParams { spares, ..zone(1, 2, 4, slips) }];
    let bad = GeometryError::BadSpares { zone: 1 };
    assert_eq!(build(spare(Spares::Each { tracks: 1, spares: 4 }, vec![]), None), bad);
    assert_eq!(build(spare(Spares::Each { tracks: 5, spares: 1 }, vec![]), None), bad);
    assert_eq!(build(spare(Spares::Each { tracks: 0, spares: 0 }, vec![]), None), bad);
    assert_eq!(build(spare(Spares::Each { tracks: 2, spares: 1 }, vec![8, 15]), None), bad);
    assert_eq!(build(spare(Spares::Zone(16), vec![]), None), GeometryError::NoBlocks { zone: 1 });
    assert_eq!(build(spare(Spares::Zone(u64::MAX), vec![]), None), GeometryError::NoBlocks { zone: 1 });
    assert_eq!(build(vec![zone(0, 1, 0x10000, vec![])], None), GeometryError::ZoneTooLarge { zone: 0 });
    let held = build(vec![zone(0, 1, 4, vec![])], Some(9));
    assert_eq!(held, GeometryError::CapacityTooLarge { capacity: 9, held: 8 });
}
