//! The placement of blocks: the three forms of a geometry, skews and slipped defects, as zones for the core.
use crate::check::{given, patterns, slips};
use crate::keys::{At, Read};
use crate::raw::drive::{CountedFrom, GeometryRaw, OrderName, SkewRaw, ZoneRaw};
use crate::text::problem::{Log, Place};
use drivelab_core::storage::drive::geometry::{GeometryParams, Spares, SurfaceOrder, ZoneParams};
use drivelab_core::storage::drive::mechanism::SettleParams;
use drivelab_core::storage::drive::seek::{SeekCurve, SeekParams};
use drivelab_units::{Angle, SECTOR_BYTES, Sectors, Share, Span};

/// Both skews of a drive.
#[derive(Clone, Copy, Debug)]
pub struct Skews {
    track: Angle,
    cylinder: Angle,
}

/// Maximum number of cylinders of a drive: ten times that of the densest today; the seek curve has an entry
/// for each.
const CYLINDERS_MAX: u64 = 1 << 22;
const MARGIN: Span = Span::from_us(100);

/// The skews as given, or else the duration of a switch before a write, with a margin.
pub fn skews(raw: Option<&SkewRaw>, period: Span, settle: &SettleParams, seek: &SeekParams) -> Skews {
    let margin = raw.and_then(|raw| given(raw.margin.as_ref())).unwrap_or(MARGIN);
    let head = settle.head_switch;
    let one = SeekCurve::new(seek, 2).map_or(Span::ZERO, |curve| Span::from_ns(u64::from(curve.time(1))));
    let turned = |switch: Span| {
        if switch.is_zero() && margin.is_zero() {
            return Angle::ZERO;
        }
        let write = Span::from_ns(settle.write_settle_ns.max(0) as u64);
        Angle::from_ratio((switch + write + margin).as_ns(), period.as_ns()) + Angle::from_turn_bits(1)
    };
    Skews {
        track: raw.and_then(|raw| given(raw.track.as_ref())).unwrap_or_else(|| turned(head)),
        cylinder: raw.and_then(|raw| given(raw.cylinder.as_ref())).unwrap_or_else(|| turned(head.max(one))),
    }
}

/// The zones, with room for the drive's own `extra` sectors beside its capacity where the zones follow from that; what is
/// missing or invalid is recorded.
pub fn geometry(
    raw: &At<GeometryRaw>,
    skews: Skews,
    period: Span,
    extra: Sectors,
    log: &mut Log,
) -> Option<GeometryParams> {
    let (place, raw) = (raw.place, &raw.value);
    let heads = given(raw.heads.as_ref())?.0 as u32;
    let order = surface_order(raw)?;
    let layout = Layout { heads, order, skews, period };
    let mut zones = match Form::of(raw) {
        Form::Zones => measured(raw.zones.as_ref()?, layout, log),
        Form::Patterns => Vec::new(),
        Form::Densities => from_densities(raw, place, layout, log)?,
        Form::Rates => from_rates(raw, place, layout, extra, log)?,
    };
    let cylinders = zones.last().map_or(0, |zone| u64::from(zone.first_cylinder) + u64::from(zone.cylinders));
    if cylinders > CYLINDERS_MAX {
        let message = format!("{cylinders} cylinders are too many for a drive");
        log.fault(place, message, format!("at most {CYLINDERS_MAX} are possible"));
        return None;
    }
    let patterns = match Form::of(raw) {
        Form::Patterns => Some(patterns::patterns(raw, log)?),
        _ => None,
    };
    let problems = log.count();
    for slip in raw.slips.iter().flat_map(|slips| &slips.value) {
        slips::add(&mut zones, heads, order, slip, log);
    }
    if log.count() > problems {
        return None;
    }
    for zone in &mut zones {
        zone.slips.sort_unstable();
        zone.slips.dedup();
    }
    let capacity = given(raw.capacity.as_ref()).map(|capacity| capacity.0);
    if let Some(at) = raw.capacity.as_ref().filter(|_| capacity == Some(Sectors::ZERO)) {
        log.fault(at.place, "a drive of no capacity", "write a capacity such as \"250GB\", or leave it out");
        return None;
    }
    let capacity = match (&raw.accessible, given(raw.accessible.as_ref())) {
        (Some(at), Some(reached)) => Some(accessible(reached.0, at.place, capacity, log)?),
        _ => capacity,
    };
    Some(GeometryParams { heads, order, zones, patterns, capacity, outer_last: 0 })
}

/// What a host can reach of a drive that reports this capacity.
fn accessible(reached: Sectors, place: Place, capacity: Option<Sectors>, log: &mut Log) -> Option<Sectors> {
    if reached == Sectors::ZERO {
        log.fault(place, "a drive of no capacity", "write a capacity such as \"250GB\", or leave it out");
        return None;
    }
    if let Some(capacity) = capacity.filter(|&capacity| reached > capacity) {
        let message =
            format!("{} bytes, and the drive has {}", reached.bytes().get(), capacity.bytes().get());
        log.fault(place, message, "give at most that, or take a larger drive");
        return None;
    }
    Some(reached)
}

/// The ways to describe the zones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Zones,
    Patterns,
    Densities,
    Rates,
}

impl Form {
    fn of(raw: &GeometryRaw) -> Self {
        if raw.zones.is_some() || !raw.readable("zones") {
            Form::Zones
        } else if raw.patterns.is_some() || !raw.readable("patterns") {
            Form::Patterns
        } else if raw.outer_radius.is_some() || raw.linear_density.is_some() || raw.track_density.is_some() {
            Form::Densities
        } else {
            Form::Rates
        }
    }

    /// The keys that the form needs, each with an example.
    fn needs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Form::Zones | Form::Patterns => &[],
            Form::Densities => &[
                ("outer_radius", "outer_radius = \"46.5mm\""),
                ("inner_radius", "inner_radius = \"20mm\""),
                ("linear_density", "linear_density = \"813kBPI\""),
                ("track_density", "track_density = \"145kTPI\""),
            ],
            Form::Rates => &[
                ("capacity", "capacity = \"250GB\""),
                ("outer_rate", "outer_rate = \"80MB/s\""),
                ("inner_to_outer", "inner_to_outer = \"52%\""),
            ],
        }
    }
}

/// Whether everything that a geometry needs is present; all that is missing is recorded at once.
pub fn is_complete(at: &At<GeometryRaw>, log: &mut Log) -> bool {
    let (place, raw) = (at.place, &at.value);
    let set: Vec<&str> = raw.set().into_iter().map(|(key, _)| key).collect();
    let mut whole = true;
    let mut need = |keys: &[(&'static str, &'static str)], log: &mut Log| {
        for &(name, example) in keys.iter().filter(|(name, _)| !set.contains(name)) {
            whole = false;
            if raw.readable(name) {
                log.fault(place, format!("`geometry.{name}` is missing"), format!("add {example}"));
            }
        }
    };
    need(&[("heads", "heads = 4")], log);
    if given(raw.surface_order.as_ref()) == Some(OrderName::Serpentine) {
        need(&[("cylinders_per_head", "cylinders_per_head = 128")], log);
    }
    let form = Form::of(raw);
    if form == Form::Rates && form.needs().iter().all(|(name, _)| !set.contains(name)) {
        if form.needs().iter().all(|(name, _)| raw.readable(name)) {
            let forms =
                "zones; or patterns; or capacity, outer_rate and inner_to_outer; or radii and densities";
            log.fault(place, "the geometry says nothing about zones", format!("add one of: {forms}"));
        }
        whole = false;
    } else {
        need(form.needs(), log);
    }
    check_order_keys(raw, log);
    for (number, zone) in raw.zones.iter().flat_map(|zones| &zones.value).enumerate() {
        let keys = [
            ("cylinders", "cylinders = 5000", zone.value.cylinders.is_some()),
            ("sectors_per_track", "sectors_per_track = 1200", zone.value.sectors_per_track.is_some()),
        ];
        for (name, example, _) in keys.into_iter().filter(|(.., there)| !there) {
            whole = false;
            if zone.value.readable(name) {
                let message = format!("`{name}` of zone {number} is missing");
                log.fault(zone.place, message, format!("add {example}"));
            }
        }
    }
    whole
}

/// Records keys that belong to another order of the surfaces.
fn check_order_keys(raw: &GeometryRaw, log: &mut Log) {
    let name = given(raw.surface_order.as_ref()).unwrap_or(OrderName::Cylinder);
    let keys = [
        ("cylinders_per_head", raw.cylinders_per_head.as_ref().map(|at| at.place), OrderName::Serpentine),
        ("alternates_by", raw.alternates_by.as_ref().map(|at| at.place), OrderName::Alternating),
    ];
    let of_patterns = raw.surface_order.as_ref().filter(|_| raw.patterns.is_some());
    if let Some(order) = of_patterns {
        log.fault(
            order.place,
            "`surface_order` has no effect with patterns",
            "leave it out: their order is that of the blocks",
        );
    }
    for (key, place, those) in keys {
        let Some(place) = place.filter(|_| name != those && raw.readable("surface_order")) else { continue };
        let message = format!("`{key}` has no effect with surface_order = \"{}\"", spelled(name));
        log.fault(place, message, format!("set surface_order = \"{}\", or leave it out", spelled(those)));
    }
}

fn surface_order(raw: &GeometryRaw) -> Option<SurfaceOrder> {
    match given(raw.surface_order.as_ref()).unwrap_or(OrderName::Cylinder) {
        OrderName::Cylinder => Some(SurfaceOrder::Cylinder),
        OrderName::Alternating => {
            let by_drive = given(raw.alternates_by.as_ref()) == Some(CountedFrom::Drive);
            Some(SurfaceOrder::Alternating { by_drive })
        }
        OrderName::Serpentine => {
            let each = given(raw.cylinders_per_head.as_ref())?;
            Some(SurfaceOrder::Serpentine { cylinders_per_head: each.0 as u32 })
        }
    }
}

fn spelled(name: OrderName) -> String {
    let mut text = String::new();
    name.write(&mut text);
    text
}

fn measured(zones: &At<Vec<At<ZoneRaw>>>, layout: Layout, log: &mut Log) -> Vec<ZoneParams> {
    let mut next = 0;
    let mut laid = Vec::new();
    for zone in &zones.value {
        let (place, zone) = (zone.place, &zone.value);
        let first = given(zone.first_cylinder.as_ref()).map_or(next, |first| first.0);
        let cylinders = given(zone.cylinders.as_ref()).map_or(0, |count| count.0);
        let sectors = given(zone.sectors_per_track.as_ref()).map_or(0, |count| count.0);
        next = (first + cylinders).min(u64::from(u32::MAX) / 2);
        laid.push(ZoneParams {
            first_cylinder: first.min(u64::from(u32::MAX) / 2) as u32,
            cylinders: cylinders as u32,
            sectors_per_track: sectors as u32,
            start: given(zone.start.as_ref()),
            track_skew: given(zone.track_skew.as_ref()).unwrap_or(layout.skews.track),
            cylinder_skew: given(zone.cylinder_skew.as_ref()).unwrap_or(layout.skews.cylinder),
            front: given(zone.front.as_ref()).map_or(0, |count| count.0),
            slips: Vec::new(),
            spares: spares(zone, place, layout.heads, log),
            slips_turn: given(zone.slips_turn.as_ref()).unwrap_or(false),
        });
    }
    laid
}

/// The spares of a zone, in whichever form they are given.
fn spares(zone: &ZoneRaw, place: Place, heads: u32, log: &mut Log) -> Spares {
    if let Some(spares) = &zone.spares_per_track {
        return Spares::Each { tracks: 1, spares: spares.value.0 as u32 };
    }
    if let Some(spares) = &zone.spares_per_cylinder {
        return Spares::Each { tracks: heads, spares: spares.value.0 as u32 };
    }
    match (&zone.spares_per_range, &zone.spare_range) {
        (Some(spares), Some(range)) => {
            let tracks = (range.value.0 as u32).saturating_mul(heads);
            return Spares::Each { tracks, spares: spares.value.0 as u32 };
        }
        (Some(_), None) if zone.readable("spare_range") => {
            let message = "`spares_per_range` does not say how many cylinders a range has";
            log.fault(place, message, "add spare_range = 6");
        }
        (None, Some(range)) if zone.readable("spares_per_range") => {
            let message = "`spare_range` has no effect without spares";
            log.fault(range.place, message, "add spares_per_range, or leave it out");
        }
        _ => {}
    }
    if let Some(tracks) = &zone.spare_tracks {
        let each = given(zone.sectors_per_track.as_ref()).map_or(0, |count| count.0);
        return Spares::Zone(tracks.value.0 * each);
    }
    Spares::Zone(given(zone.spares.as_ref()).map_or(0, |count| count.0))
}

#[derive(Clone, Copy)]
struct Layout {
    heads: u32,
    order: SurfaceOrder,
    skews: Skews,
    period: Span,
}

impl Layout {
    fn zone(&self, first_cylinder: u64, cylinders: u64, sectors_per_track: u64) -> ZoneParams {
        ZoneParams {
            first_cylinder: first_cylinder as u32,
            cylinders: cylinders as u32,
            sectors_per_track: sectors_per_track as u32,
            track_skew: self.skews.track,
            cylinder_skew: self.skews.cylinder,
            ..ZoneParams::default()
        }
    }

    /// The tracks of one period of the pattern of switches, and the nanoseconds to pass over them.
    fn cycle(&self) -> (u128, u128) {
        let heads = u128::from(self.heads);
        let tracks = match self.order {
            SurfaceOrder::Cylinder | SurfaceOrder::Alternating { .. } => heads,
            SurfaceOrder::Serpentine { cylinders_per_head } => heads * u128::from(cylinders_per_head),
        };
        let ns = |angle: Angle| u128::from(angle.at_period(self.period).as_ns());
        let switches = (heads - 1) * ns(self.skews.track) + (tracks - (heads - 1)) * ns(self.skews.cylinder);
        (tracks, tracks * u128::from(self.period.as_ns()) + switches)
    }
}

/// Zones of equal width. The outermost has the rate of a long sequential transfer, skews included, the
/// innermost the given share of its sectors, and together they hold the capacity.
fn from_rates(
    raw: &GeometryRaw,
    place: Place,
    layout: Layout,
    extra: Sectors,
    log: &mut Log,
) -> Option<Vec<ZoneParams>> {
    let capacity = given(raw.capacity.as_ref())?.0.get() + extra.get();
    let (rate, ratio) = (given(raw.outer_rate.as_ref())?, given(raw.inner_to_outer.as_ref())?);
    let (tracks, ns) = layout.cycle();
    let per_track = u128::from(SECTOR_BYTES) * tracks * 1_000_000_000;
    let outer = ((u128::from(rate.bytes_per_s()) * ns + per_track / 2) / per_track) as u64;
    let inner = ((u128::from(outer) * u128::from(ratio.bits())) >> 32) as u64;
    let place = raw.outer_rate.as_ref().map_or(place, |rate| rate.place);
    if inner == 0 || outer > 65_535 {
        let message = format!("this rate needs {outer} to {inner} sectors per track");
        log.fault(place, message, "1 to 65535 are possible: correct outer_rate, inner_to_outer or rpm");
        return None;
    }
    let count = given(raw.zone_count.as_ref()).map_or(16, |count| count.0);
    let sectors: Vec<u64> = (0..count).map(|i| outer - (outer - inner) * i / (count - 1).max(1)).collect();
    let a_cylinder: u64 = sectors.iter().sum::<u64>() * u64::from(layout.heads);
    let each = capacity.div_ceil(a_cylinder).max(1);
    if each * count > CYLINDERS_MAX {
        let message = format!("this capacity needs {} cylinders", each * count);
        log.fault(
            place,
            message,
            format!("at most {CYLINDERS_MAX} are possible: correct heads, capacity or outer_rate"),
        );
        return None;
    }
    Some((0..).zip(sectors).map(|(i, sectors)| layout.zone(i * each, each, sectors)).collect())
}

/// Zones of equal width from radii and densities: each zone is written at the linear density of its inner edge.
fn from_densities(raw: &GeometryRaw, place: Place, layout: Layout, log: &mut Log) -> Option<Vec<ZoneParams>> {
    let (outer, inner) = (given(raw.outer_radius.as_ref()), given(raw.inner_radius.as_ref()));
    let (linear, tracks) = (given(raw.linear_density.as_ref()), given(raw.track_density.as_ref()));
    let (outer, inner, linear, tracks) = (outer?.0, inner?.0, linear?.0, tracks?.0);
    if inner >= outer {
        log.fault(
            place,
            "the inner radius is not smaller than the outer one",
            "exchange inner_radius and outer_radius",
        );
        return None;
    }
    const INCH: f64 = 25_400.0;
    let count = given(raw.zone_count.as_ref()).map_or(16, |count| count.0);
    let cylinders = (outer - inner) as f64 / INCH * tracks as f64;
    if cylinders > CYLINDERS_MAX as f64 || cylinders < count as f64 {
        let message = format!("these radii and track density make {cylinders:.0} cylinders");
        log.fault(place, message, format!("{count} to {CYLINDERS_MAX} are possible"));
        return None;
    }
    let each = (cylinders as u64).div_ceil(count);
    let share =
        given(raw.format_efficiency.as_ref()).unwrap_or(Share::ALL).bits() as f64 / Share::ALL.bits() as f64;
    let mut zones = Vec::new();
    for i in 0..count {
        let radius = outer as f64 - (outer - inner) as f64 * (i + 1) as f64 / count as f64;
        let bits = 2.0 * core::f64::consts::PI * radius / INCH * linear as f64 * share;
        let sectors = (bits / (8 * SECTOR_BYTES) as f64) as u64;
        if !(1..=65_535).contains(&sectors) {
            let message = format!("these radii and linear density make {sectors} sectors on a track");
            log.fault(place, message, "1 to 65535 are possible");
            return None;
        }
        zones.push(layout.zone(i * each, each, sectors));
    }
    Some(zones)
}
