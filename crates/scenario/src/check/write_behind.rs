//! Write caches before a device: that of a host and that of a controller, with the defaults of each.
use super::layered::{Layered, unless_displaced};
use super::system::bounded;
use super::workload::size;
use crate::check::given;
use crate::keys::At;
use crate::raw::amounts::Part;
use crate::raw::switch::Switch;
use crate::raw::write_behind::{ReadAheadRaw, WriteBehindRaw};
use crate::text::problem::{Log, Place};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::write_behind::params::{FlushOrder, ReadAhead, WriteBehindParams};
use drivelab_units::{Rate, Sectors, Span};

/// The defaults of one of the two caches.
struct Defaults {
    /// In percent of its size.
    limit: u64,
    background: u64,
    age: Option<Span>,
    outstanding: u32,
    keeps_reads: bool,
    line: Sectors,
    window: Sectors,
    rate: Option<Rate>,
    overhead: Span,
}

/// The rate of a copy in memory, and the duration of a system call. Inferred: the order of magnitude of
/// machines since 2005; with zero times a closed loop would never advance in time.
const COPY: u64 = 2_000_000_000;
const SYSTEM_CALL: Span = Span::from_us(5);

/// 512 KiB: `max_sectors_kb` of Linux 2.6 (Documentation/block/queue-sysfs).
const REQUEST: Sectors = Sectors::new(1_024);

/// A host reads ahead in pages, up to this window: `VM_MAX_READAHEAD` of Linux 2.6, `read_ahead_kb` of
/// Documentation/block/queue-sysfs. A controller reads ahead in stripe units of the usual size; inferred.
const PAGE: Sectors = Sectors::new(8);
const HOST_WINDOW: Sectors = Sectors::new(256);
const LINE: Sectors = Sectors::new(128);
const LINES: u64 = 4;

/// After the second sequential read, as Dell documents it for its PERC controllers ("adaptive read-ahead");
/// inferred for others.
const STREAM: u32 = 2;
const STREAMS: u32 = 32;

/// The cache of a host. Defaults as in Linux: `dirty_ratio`, `dirty_background_ratio` and
/// `dirty_expire_centisecs` of Documentation/admin-guide/sysctl/vm, `nr_requests` of
/// Documentation/block/queue-sysfs.
pub fn host_cache(at: Option<&At<Switch<WriteBehindRaw>>>, log: &mut Log) -> Option<WriteBehindParams> {
    let age = Some(Span::from_s(30));
    let (rate, overhead) = (Rate::from_bytes_per_s(COPY), SYSTEM_CALL);
    let usual = Defaults {
        limit: 20,
        background: 10,
        age,
        outstanding: 128,
        keeps_reads: true,
        line: PAGE,
        window: HOST_WINDOW,
        rate,
        overhead,
    };
    let (raw, place) = section_if_on(at)?;
    if let Some(battery) = raw.battery.as_ref().filter(|battery| battery.value) {
        let message = "only the cache of a controller has a battery";
        log.fault(battery.place, message, "leave it out, or write it under target.controller.cache");
    }
    write_behind(raw, place, &usual, log)
}

/// The cache of a controller that keeps up to `depth` commands with the drive.
pub fn controller_cache(
    at: Option<&At<Switch<WriteBehindRaw>>>,
    depth: u32,
    controller: &ControllerParams,
    log: &mut Log,
) -> Option<WriteBehindParams> {
    // The cost of a command, and the data's transfer over the bus, whether or not a drive is behind it.
    let overhead = (controller.issue + controller.completion).max(SYSTEM_CALL);
    let rate = controller.bus.and_then(|bus| bus.rate).or(Rate::from_bytes_per_s(COPY));
    let outstanding = depth.min(WriteBehindParams::OUTSTANDING_MAX);
    let usual = Defaults {
        limit: 100,
        background: 0,
        age: None,
        outstanding,
        keeps_reads: false,
        line: LINE,
        window: Sectors::ZERO,
        rate,
        overhead,
    };
    let (raw, place) = section_if_on(at)?;
    write_behind(raw, place, &usual, log)
}

fn section_if_on(at: Option<&At<Switch<WriteBehindRaw>>>) -> Option<(&WriteBehindRaw, Place)> {
    match at {
        Some(At { value: Switch::On(raw), place, .. }) => Some((raw, *place)),
        _ => None,
    }
}

fn write_behind(
    raw: &WriteBehindRaw,
    place: Place,
    usual: &Defaults,
    log: &mut Log,
) -> Option<WriteBehindParams> {
    let problems = log.count();
    if raw.size.is_none() && raw.readable("size") {
        log.fault(place, "the cache has no size", "add size = \"256MiB\", or set it to false");
    }
    let at = raw.size.as_ref()?;
    let (all, by) = (at.value.0, at.place);
    if all == Sectors::ZERO {
        log.fault(by, "a cache of no size", "write a size such as \"256MiB\", or set it to false");
        return None;
    }
    let limit = level(raw.limit.as_ref(), "limit", usual.limit, (all, all, "the cache", by), log);
    let by = raw.limit.as_ref().map_or(by, |limit| limit.place);
    let background = (all, limit, "the limit", by);
    let background = level(raw.background.as_ref(), "background", usual.background, background, log);
    if let Some(none) = raw.limit.as_ref().filter(|_| limit == Sectors::ZERO) {
        log.fault(none.place, "`limit` must be more than zero", "write a part such as \"20%\", or \"64MiB\"");
    }
    let request = raw.request.as_ref().map_or(Some(REQUEST), |at| size(at.value, at.place, "request", log));
    let overhead = bounded(raw.overhead.as_ref(), "overhead", usual.overhead, log);
    let params = WriteBehindParams {
        size: all,
        limit,
        background,
        age: given(raw.age.as_ref()).or(usual.age),
        order: given(raw.order.as_ref()).unwrap_or(FlushOrder::Address),
        request: request?,
        outstanding: given(raw.outstanding.as_ref()).map_or(usual.outstanding, |count| count.0 as u32),
        rate: given(raw.rate.as_ref()).or(usual.rate),
        overhead,
        battery: given(raw.battery.as_ref()).unwrap_or(false),
        force_unit_access: given(raw.force_unit_access.as_ref()).unwrap_or(false),
        keeps_reads: given(raw.keeps_reads.as_ref()).unwrap_or(usual.keeps_reads),
        // Set by the array, if it has rows.
        stripe: None,
        stripe_wait: bounded(raw.stripe_wait.as_ref(), "stripe_wait", WriteBehindParams::STRIPE_WAIT, log),
        write_through: given(raw.write_through.as_ref()).unwrap_or(false),
        read_ahead: match &raw.read_ahead {
            Some(At { value: Switch::On(lines), .. }) => read_ahead(lines, usual, (all, at.place), log),
            _ => None,
        },
    };

    (log.count() == problems).then_some(params)
}

/// Read-ahead in units: a unit and the window must fit into the memory.
fn read_ahead(
    raw: &ReadAheadRaw,
    usual: &Defaults,
    (all, by): (Sectors, Place),
    log: &mut Log,
) -> Option<ReadAhead> {
    let within = (all, by);
    let unit = match &raw.unit {
        None => usual.line.min(all),
        Some(at) => fitting(size(at.value, at.place, "unit", log)?, at, "unit", within, log),
    };
    let default = if usual.window > Sectors::ZERO { usual.window } else { Sectors::new(LINES * unit.get()) };
    let window = match &raw.window {
        None => default.min(all),
        Some(at) => fitting(at.value.0, at, "window", within, log),
    };
    let lines = (window.get() / unit.get()).clamp(1, WriteBehindParams::OUTSTANDING_MAX.into()) as u32;
    Some(ReadAhead {
        unit,
        window,
        outstanding: given(raw.outstanding.as_ref()).map_or(lines, |count| count.0 as u32),
        after: given(raw.after.as_ref()).map_or(STREAM, |count| count.0 as u32),
        streams: given(raw.streams.as_ref()).map_or(STREAMS, |count| count.0 as u32),
    })
}

/// A size that must fit into the memory; a value of a file is reduced if the scenario made the memory
/// smaller.
fn fitting<T: Clone>(
    requested: Sectors,
    at: &At<T>,
    name: &str,
    (all, by): (Sectors, Place),
    log: &mut Log,
) -> Sectors {
    let own = Layered { at: at.clone(), above: false };
    if requested > all && unless_displaced(Some(own), &[Some((false, by))], log).is_some() {
        let message = format!("`{name}` of {} is more than the cache, {}", requested.bytes(), all.bytes());
        log.contradiction(at.place, message, format!("lower {name}, or enlarge the cache"));
    }
    requested.min(all)
}

/// A limit on dirty data: a part of the size, and no more than `most`; a value of a file is dropped if the
/// scenario made that smaller.
fn level(
    at: Option<&At<Part>>,
    name: &str,
    percent: u64,
    (all, most, whose, by): (Sectors, Sectors, &str, Place),
    log: &mut Log,
) -> Sectors {
    let default = Sectors::new((all.get() * percent).div_ceil(100)).min(most);
    let Some(at) = at else { return default };
    let requested = match at.value {
        Part::Extent(extent) => extent.0,
        Part::Share(share) => Sectors::new(((u128::from(all.get()) * u128::from(share.bits())) >> 32) as u64),
    };
    if requested <= most {
        return requested;
    }
    let own = Layered { at: at.clone(), above: false };
    if unless_displaced(Some(own), &[Some((false, by))], log).is_some() {
        let message = format!("`{name}` of {} is more than {whose}, {}", requested.bytes(), most.bytes());
        log.contradiction(at.place, message, format!("lower {name}, or enlarge {whose}"));
        return most;
    }
    default
}
