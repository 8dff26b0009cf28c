//! A flash drive from its sections. What only a disk has is a mistake of the author.
use super::drive::{Overrides, firmware};
use super::duration::duration_limits;
use super::link::link;
use super::protocol::{drive_protocol, in_force};
use super::queue::queue;
use super::system::{bounded, faults};
use crate::check::given;
use crate::keys::At;
use crate::keys::quantities::Extent;
use crate::raw::drive::{DriveRaw, GeometryRaw};
use crate::raw::flash::{FlashRaw, PageTimes};
use crate::raw::switch::Switch;
use crate::text::problem::{Log, Place};
use drivelab_core::storage::drive::flash::params::{FlashError, FlashParams, ReadTimes, SlcParams};
use drivelab_core::storage::drive::params::{DriveParams, FirmwareParams, LinkParams, Overhead};
use drivelab_core::storage::drive::protocol::{ExchangeParams, Protocol};
use drivelab_core::storage::drive::queue::QueueParams;
use drivelab_units::{Sectors, Span};

/// What a reader should know of the figures of a flash drive.
pub const NOTE: &str = "the drive is of flash, in a model of first order: its cells are new, and the collection of garbage, \
     which slows random writes down once a drive has been filled, is not in it (docs/how-to/flash.md)";

/// The sections that a flash drive has; all others are a disk's.
const SECTIONS: [&str; 9] =
    ["base", "identity", "sources", "geometry", "firmware", "link", "queue", "flash", "write_cache"];
/// The keys of the queue that count where no arm is to be moved.
const QUEUE: [&str; 7] =
    ["protocol", "depth", "scsi", "ncq", "release_time", "service_time", "duration_limits"];
/// What a read of one die, or a program, gives without a key: the block of file systems and databases.
const PAGE: Sectors = Sectors::new(8);
const IDLE: Span = Span::from_ms(10);

/// The parameters of a flash drive; `place` is where the scenario names it.
pub fn params(
    raw: &DriveRaw,
    flash: &At<FlashRaw>,
    above: Overrides<'_>,
    place: Place,
    log: &mut Log,
) -> Option<DriveParams> {
    let problems = log.count();
    refuse_what_turns(raw, &above, log);
    let capacity = raw.geometry.as_ref().and_then(|at| capacity(&at.value, log));
    if capacity.is_none() && raw.readable("geometry") && log.count() == problems {
        log.fault(place, "the drive has no capacity", "add geometry = { capacity = \"512GB\" }");
    }
    let dies = dies(flash, raw, &above, log);
    let firmware = raw.firmware.as_ref().map_or_else(FirmwareParams::default, |at| firmware(&at.value));
    let takes_time = |begin: Overhead, end: Span| !begin.after_read.is_zero() || !end.is_zero();
    let FirmwareParams { read_hit, write_hit, read_completion, write_completion, .. } = firmware;
    if !takes_time(read_hit, read_completion) || !takes_time(write_hit, write_completion) {
        let message = "the firmware takes no time: what needs no die would end when it begins";
        let remedy = "add firmware = { read_completion = \"8us\", write_completion = \"8us\" }";
        log.fault(raw.firmware.as_ref().map_or(place, |at| at.place), message, remedy);
    }
    let (protocol, exchange) = drive_protocol(above.queue, raw.queue.as_ref(), log);
    let own = queue(above.queue, raw.queue.as_ref(), protocol, log);
    let (protocol, own) = in_force(protocol, own, above.interface);
    let duration_limits = duration_limits(above.queue, raw.queue.as_ref(), protocol, log);
    let faults = above.faults.and_then(|at| faults(at, log));
    let bridge = raw.link.as_ref().and_then(|at| at.value.bridge.as_ref());
    let exchange = ExchangeParams { bridge: bounded(bridge, "bridge", Span::ZERO, log), ..exchange };
    let plain = DriveParams::flash(capacity?, dies?);
    let link = link(raw.link.as_ref().map(|at| &at.value), above.port, log);
    Some(DriveParams {
        firmware,
        link: LinkParams {
            write_data: plain.link.write_data,
            full_duplex: protocol == Protocol::Nvme,
            ..link
        },
        queue: QueueParams { depth: own.depth, ..QueueParams::NONE },
        protocol,
        duration_limits,
        exchange,
        faults,
        ..plain
    })
}

/// Records what only a disk has.
fn refuse_what_turns(raw: &DriveRaw, above: &Overrides<'_>, log: &mut Log) {
    for (key, place) in raw.set().into_iter().filter(|(key, _)| !SECTIONS.contains(key)) {
        log.fault(place, format!("a flash drive has no `{key}`"), "leave it out, or leave out `flash`");
    }
    if let Some(at) = raw.firmware.as_ref().and_then(|at| at.value.class.as_ref()) {
        log.fault(at.place, "a flash drive belongs to no class of disks", "leave `class` out");
    }
    if let Some(At { value: Switch::On(_), place, .. }) = above.cache {
        let remedy = "set the buffer in the drive's file: flash.buffer";
        let message = "`cache` has no effect: it is a disk's, and a flash drive has its `flash.buffer`";
        log.no_effect(*place, message.to_owned(), remedy.to_owned());
    }
    for at in [above.queue, raw.queue.as_ref()].into_iter().flatten() {
        for (key, place) in at.value.set().into_iter().filter(|(key, _)| !QUEUE.contains(key)) {
            let message = format!("`{key}` has no effect: the dies of a flash drive work side by side");
            log.no_effect(place, message, format!("leave {key} out"));
        }
    }
}

/// What a host can address.
fn capacity(raw: &GeometryRaw, log: &mut Log) -> Option<Sectors> {
    for (key, place) in raw.set().into_iter().filter(|(key, _)| !["capacity", "accessible"].contains(key)) {
        let message = format!("a flash drive has no `{key}`: its geometry is a capacity");
        log.fault(place, message, "leave it out");
    }
    let whole = raw.capacity.as_ref()?;
    let reached = raw.accessible.as_ref().unwrap_or(whole);
    if reached.value.0 > whole.value.0 {
        log.fault(reached.place, "more than the drive has", "give at most its capacity");
    }
    Some(reached.value.0.min(whole.value.0))
}

/// The dies, and what stands before them.
fn dies(at: &At<FlashRaw>, drive: &DriveRaw, above: &Overrides<'_>, log: &mut Log) -> Option<FlashParams> {
    let raw = &at.value;
    let mut need = |key: &'static str, is_there: bool, example: &str| {
        if !is_there && raw.readable(key) {
            log.fault(at.place, format!("a flash drive needs `{key}`"), format!("add {example}"));
        }
    };
    need("dies", raw.dies.is_some(), "dies = 32");
    need("read", raw.read.is_some(), "read = \"60us\"");
    need("program", raw.program.is_some(), "program = \"700us\"");
    if raw.slc.is_some() {
        need("slc_program", raw.slc_program.is_some(), "slc_program = \"200us\"");
    }
    if let Some(time) = raw.slc_program.as_ref().filter(|_| raw.slc.is_none() && raw.readable("slc")) {
        let message = "`slc_program` has no effect without `slc`".to_owned();
        log.no_effect(time.place, message, "add slc = \"10GB\", or leave it out".to_owned());
    }
    let size = |at: &Option<At<Extent>>, usual| given(at.as_ref()).map_or(usual, |size| size.0);
    let dies = given(raw.dies.as_ref())?.0 as u32;
    let page = size(&raw.page, PAGE);
    let program_size = size(&raw.program_size, page);
    let two_of_each = Sectors::new(program_size.get().saturating_mul(2 * u64::from(dies)));
    let slc = match (&raw.slc, &raw.slc_program) {
        (Some(size), Some(_)) => Some(SlcParams {
            size: size.value.0,
            program: bounded(raw.slc_program.as_ref(), "slc_program", Span::ZERO, log),
        }),
        _ => None,
    };
    let writes = above.write_cache.or(drive.write_cache.as_ref());
    Some(FlashParams {
        dies,
        page,
        stripe: size(&raw.stripe, page),
        read: read_times(raw.read.as_ref(), log)?,
        read_ahead: size(&raw.read_ahead, Sectors::ZERO),
        program_size,
        program: raw.program.as_ref().map(|at| bounded(Some(at), "program", Span::ZERO, log))?,
        slc,
        buffer: size(&raw.buffer, two_of_each),
        answers_early: given(writes).unwrap_or(true),
        is_protected: given(raw.protected.as_ref()).unwrap_or(false),
        flush: bounded(raw.flush.as_ref(), "flush", Span::ZERO, log),
        idle: bounded(raw.idle.as_ref(), "idle", IDLE, log),
    })
}

/// The times of the kinds of pages.
fn read_times(at: Option<&At<PageTimes>>, log: &mut Log) -> Option<ReadTimes> {
    let at = at?;
    for &time in at.value.0.times() {
        bounded(Some(&At::new(time, at.place)), "read", Span::ZERO, log);
    }
    Some(at.value.0)
}

/// The place of an error, and its remedy.
pub fn problem(error: FlashError, at: Option<&At<FlashRaw>>, place: Place) -> (Place, &'static str) {
    let section = at.map_or(place, |at| at.place);
    let raw = at.map(|at| &at.value);
    let of = |key: Option<Place>, remedy| (key.unwrap_or(section), remedy);
    match error {
        FlashError::Dies => {
            of(raw.and_then(|raw| raw.dies.as_ref()).map(|at| at.place), "correct flash.dies")
        }
        FlashError::Page => {
            let set = raw.and_then(|raw| raw.stripe.as_ref().or(raw.page.as_ref()));
            of(set.map(|at| at.place), "correct flash.page and flash.stripe")
        }
        FlashError::ReadAhead => {
            let set = raw.and_then(|raw| raw.read_ahead.as_ref()).map(|at| at.place);
            of(set, "lower flash.read_ahead")
        }
        FlashError::Program => {
            let set = raw.and_then(|raw| raw.program.as_ref()).map(|at| at.place);
            of(set, "correct flash.program, flash.slc_program and flash.program_size")
        }
        FlashError::Buffer => {
            let set = raw.and_then(|raw| raw.buffer.as_ref()).map(|at| at.place);
            of(set, "raise flash.buffer, or lower flash.program_size")
        }
        FlashError::Protocol => (section, "set queue.scsi.naca = false"),
    }
}
