//! Drive-managed shingled recording: the parameters of its translation, and the room of the media cache.
use super::system::bounded;
use crate::check::given;
use crate::keys::At;
use crate::keys::quantities::Extent;
use crate::raw::smr::{Extents, SmrRaw};
use crate::raw::switch::Switch;
use crate::text::problem::{Log, Place};
use drivelab_core::storage::drive::geometry::GeometryParams;
use drivelab_core::storage::drive::shingled::params::{ShingledError, ShingledParams};
use drivelab_units::{Sectors, Span};

/// The section, where the drive is shingled.
pub fn section(at: Option<&At<Switch<SmrRaw>>>) -> Option<&SmrRaw> {
    match &at?.value {
        Switch::Off => None,
        Switch::On(raw) => Some(raw),
    }
}

/// The parameters; the defaults are those of the drive that is fitted.
pub fn params(raw: &SmrRaw, log: &mut Log) -> ShingledParams {
    let size =
        |at: &Option<At<Extent>>, usual: u64| given(at.as_ref()).map_or(Sectors::new(usual), |size| size.0);
    let count = |at: &Option<At<Extents>>, usual| given(at.as_ref()).map_or(usual, |count| count.0 as u32);
    ShingledParams {
        band: size(&raw.band, 30 << 11),
        cache: size(&raw.cache, 32 << 21),
        map_entries: count(&raw.map_entries, 183_000),
        append_extents: count(&raw.append_extents, 64),
        append_most: size(&raw.append_most, 4 << 11),
        append_overhead: size(&raw.append_overhead, 1_600),
        merged_extents: count(&raw.merged_extents, 144),
        slice: bounded(raw.slice.as_ref(), "slice", Span::from_ms(100), log),
        idle: bounded(raw.idle.as_ref(), "idle", Span::from_s(1), log),
    }
}

/// Lays the media cache at the outer edge: its blocks come behind all others.
pub fn make_room(geometry: &mut GeometryParams, cache: Sectors) {
    let mut missing = cache.get();
    for zone in &geometry.zones {
        let a_cylinder = u64::from(zone.sectors_per_track) * u64::from(geometry.heads);
        let needed = missing.div_ceil(a_cylinder.max(1)).min(u64::from(zone.cylinders));
        missing = missing.saturating_sub(needed * a_cylinder);
        if needed > 0 {
            geometry.outer_last = zone.first_cylinder + needed as u32;
        }
    }
}

/// The place of an error, and its remedy.
pub fn problem(error: ShingledError, at: Option<&At<Switch<SmrRaw>>>, place: Place) -> (Place, &'static str) {
    let place = at.map_or(place, |at| at.place);
    let raw = section(at);
    let key = |key: Option<Place>, remedy| (key.unwrap_or(place), remedy);
    match error {
        ShingledError::Band => {
            key(raw.and_then(|raw| raw.band.as_ref()).map(|at| at.place), "correct smr.band")
        }
        ShingledError::Cache => key(
            raw.and_then(|raw| raw.cache.as_ref()).map(|at| at.place),
            "correct smr.cache, or the capacity",
        ),
        ShingledError::Append => {
            let named = raw
                .and_then(|raw| raw.append_overhead.as_ref().or(raw.append_most.as_ref()))
                .map(|at| at.place);
            key(named, "lower smr.append_most or append_overhead, or raise smr.cache")
        }
        ShingledError::Slice => {
            key(raw.and_then(|raw| raw.slice.as_ref()).map(|at| at.place), "write a time such as \"100ms\"")
        }
        ShingledError::Extents => (place, "correct smr.map_entries, append_extents and merged_extents"),
    }
}
