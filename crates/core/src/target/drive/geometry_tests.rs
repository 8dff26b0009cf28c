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
    }
}

fn layouts() -> impl Strategy<Value = GeometryParams> {
    let order = prop_oneof![
        Just(SurfaceOrder::Cylinder),
        (1u32..5).prop_map(|cylinders_per_head| SurfaceOrder::Serpentine { cylinders_per_head }),
    ];
    let shape = prop::collection::vec(
        (0u32..3, 1u32..9, 1u32..12, prop::collection::btree_set(0u64..400, 0..9)),
        1..4,
    );
    (1u32..5, order, shape).prop_map(|(heads, order, shape)| {
        let (mut next, mut zones) = (0, Vec::new());
        for (gap, cylinders, sectors, slips) in shape {
            let slots = u64::from(cylinders * heads * sectors);
            let slips: Vec<u64> = slips.into_iter().filter(|&s| s + 1 < slots).collect();
            zones.push(zone(next + gap, cylinders, sectors, slips));
            next += gap + cylinders;
        }
        GeometryParams { heads, order, zones, capacity: None }
    })
}

/// Every block's (cylinder, head, sector) by walking the zones slot by slot, in plain words.
fn walk(params: &GeometryParams) -> Vec<(u32, u32, u32)> {
    let mut blocks = Vec::new();
    for zone in &params.zones {
        let mut tracks = Vec::new();
        match params.order {
            SurfaceOrder::Cylinder => {
                for cylinder in 0..zone.cylinders {
                    tracks.extend((0..params.heads).map(|head| (cylinder, head)));
                }
            }
            SurfaceOrder::Serpentine { cylinders_per_head } => {
                let mut first = 0;
                while first < zone.cylinders {
                    let end = (first + cylinders_per_head).min(zone.cylinders);
                    for head in 0..params.heads {
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
        let mut slot = 0;
        for (cylinder, head) in tracks {
            for sector in 0..zone.sectors_per_track {
                if !zone.slips.contains(&slot) {
                    blocks.push((zone.first_cylinder + cylinder, head, sector));
                }
                slot += 1;
            }
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
        for (lba, &(cylinder, head, sector)) in blocks.iter().enumerate() {
            let slot = geometry.locate(Lba::new(lba as u64));
            let track = geometry.track(slot.zone, slot.track);
            prop_assert_eq!((track.cylinder, track.head, slot.sector), (cylinder, head, sector), "block {}", lba);
        }
    }

    #[test]
    fn each_switch_turns_by_its_skew(params in layouts()) {
        let geometry = Geometry::new(&params, PERIOD).unwrap();
        let turn = PERIOD.as_ns() as i64;
        let mut here = (0, 0);
        while let Some(next) = geometry.next_track(here.0, here.1) {
            let (a, b) = (geometry.track(here.0, here.1), geometry.track(next.0, next.1));
            let head_switch = here.0 == next.0 && a.head != b.head && b.head != 0;
            let skew = if head_switch { turn / 10 } else { turn / 7 };
            let turned = (b.start.as_ns() as i64 - a.start.as_ns() as i64).rem_euclid(turn);
            prop_assert!((turned - skew).abs() <= 2, "{here:?} {a:?} {b:?}: turned {turned}, skew {skew}");
            here = next;
        }
    }

    #[test]
    fn a_boundary_is_the_exact_floor(sectors in 1u32..=0xffff, period in 2_000_000u64..250_000_000, at in 0u32..=0xffff) {
        let params = GeometryParams {
            heads: 1, order: SurfaceOrder::Cylinder, zones: vec![zone(0, 1, sectors, Vec::new())], capacity: None,
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
        let params = GeometryParams { heads: 2, order, zones, capacity: capacity.map(Sectors::new) };
        Geometry::new(&params, PERIOD).map(|_| ()).unwrap_err()
    };
    assert_eq!(build(vec![], None), GeometryError::NoZones);
    assert_eq!(build(vec![zone(0, 0, 4, vec![])], None), GeometryError::EmptyZone { zone: 0 });
    let overlap = vec![zone(0, 4, 4, vec![]), zone(3, 4, 4, vec![])];
    assert_eq!(build(overlap, None), GeometryError::ZonesOverlap { zone: 1 });
    assert_eq!(build(vec![zone(0, 1, 4, vec![3, 2])], None), GeometryError::BadSlip { zone: 0 });
    assert_eq!(build(vec![zone(0, 1, 4, vec![8])], None), GeometryError::BadSlip { zone: 0 });
    assert_eq!(build(vec![zone(0, 1, 0x10000, vec![])], None), GeometryError::ZoneTooLarge { zone: 0 });
    let held = build(vec![zone(0, 1, 4, vec![])], Some(9));
    assert_eq!(held, GeometryError::CapacityTooLarge { capacity: 9, held: 8 });
}
