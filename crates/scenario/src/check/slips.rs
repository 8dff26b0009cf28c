//! Slipped defects: which slots they occupy in which zone, in the order in which the zone's slots run over
//! its tracks.
use crate::check::given;
use crate::keys::At;
use crate::raw::drive::SlipRaw;
use crate::text::problem::Log;
use drivelab_core::storage::drive::geometry::{SurfaceOrder, ZoneParams};

/// Adds the slots of one entry to their zone, or records that they are not in any zone.
pub fn add(zones: &mut [ZoneParams], heads: u32, order: SurfaceOrder, slip: &At<SlipRaw>, log: &mut Log) {
    let raw = &slip.value;
    let whole = given(raw.whole_track.as_ref()).unwrap_or(false);
    let (Some(cylinder), Some(head)) = (&raw.cylinder, &raw.head) else { return incomplete(slip, log) };
    let (cylinder, head) = (cylinder.value.0 as u32, head.value.0 as u32);
    let zone = zones
        .iter_mut()
        .find(|zone| cylinder.checked_sub(zone.first_cylinder).is_some_and(|inside| inside < zone.cylinders));
    let (first, count) = match (&raw.sector, &zone) {
        (None, Some(zone)) if whole => (0, u64::from(zone.sectors_per_track)),
        (Some(sector), _) => (sector.value.0, given(raw.count.as_ref()).map_or(1, |count| count.0)),
        (None, None) if whole => (0, 1),
        (None, _) => return incomplete(slip, log),
    };
    let Some(zone) = zone.filter(|zone| head < heads && first + count <= u64::from(zone.sectors_per_track))
    else {
        log.fault(
            slip.place,
            "this slot is not on the drive",
            "give a cylinder of a zone, a head and a slot of its tracks",
        );
        return;
    };
    let track = track(zone, heads, order, cylinder - zone.first_cylinder, head);
    let slot = track * u64::from(zone.sectors_per_track) + first;
    zone.slips.extend(slot..slot + count);
}

fn incomplete(slip: &At<SlipRaw>, log: &mut Log) {
    log.fault(
        slip.place,
        "a slip needs its cylinder, head and sector",
        "write { cylinder = 12, head = 1, sector = 88 }",
    );
}

/// The index of a track in its zone's order; `inside` counts cylinders from the zone's first.
fn track(zone: &ZoneParams, heads: u32, order: SurfaceOrder, inside: u32, head: u32) -> u64 {
    let by_cylinder = |step: u32| u64::from(inside) * u64::from(heads) + u64::from(step);
    match order {
        SurfaceOrder::Cylinder => by_cylinder(head),
        SurfaceOrder::Alternating { by_drive } => {
            let counted = inside + if by_drive { zone.first_cylinder } else { 0 };
            by_cylinder(if counted.is_multiple_of(2) { head } else { heads - 1 - head })
        }
        SurfaceOrder::Serpentine { cylinders_per_head } => {
            let group = inside / cylinders_per_head;
            let first = group * cylinders_per_head;
            let width = cylinders_per_head.min(zone.cylinders - first);
            let step = if head.is_multiple_of(2) { inside - first } else { width - 1 - (inside - first) };
            u64::from(first) * u64::from(heads) + u64::from(head) * u64::from(width) + u64::from(step)
        }
    }
}
