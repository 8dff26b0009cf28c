//! The target: a drive, stations of queueing theory, or nothing at all.
use super::assume::{Assumed, Completed, complete};
use super::cached_writes::CachedWrites;
use super::class::Firmware;
use super::drive::{Overrides, model, params};
use super::members::{ArrayInForce, ControllerLevels};
use super::pattern::written_out;
use super::protocol::drive_protocol;
use super::queue::queue;
use super::resolve::{FileCache, Loader};
use super::system::{check_faults, system};
use crate::check::{actuators, flash, given, host_managed, smr};
use crate::keys::{At, Read};
use crate::raw::actuators::DualActuator;
use crate::raw::choice::Choice;
use crate::raw::drive::DriveRaw;
use crate::raw::scenario::{ServerRaw, ServiceName, TargetRaw};
use crate::raw::system::ControllerRaw;
use crate::raw::workload::{PatternRaw, WorkloadRaw};
use crate::text::problem::{Log, Place};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::server::{ServerParams, Service};
use drivelab_units::{Sectors, Span, key};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the points of a plan share: the files that it names, and the models built from them.
pub struct Shared<'a> {
    pub(super) drives: FileCache<'a, DriveRaw>,
    controllers: FileCache<'a, ControllerRaw>,
    patterns: FileCache<'a, PatternRaw>,
    models: BTreeMap<String, Option<Arc<DriveModel>>>,
    cylinders: u64,
    pub loader: &'a dyn Loader,
}

/// Maximum number of table entries of all drives of a plan together: 2 GiB of memory.
const CYLINDERS_MAX: u64 = 1 << 29;

/// What a reader should know of the figures of a shingled drive.
const SHINGLED: &str = "the drive is shingled, and its media cache is empty at the start: random writes and rebuilds become \
     slower by an order of magnitude once it is full, and no range is known of such drives (docs/how-to/shingled.md)";

/// A target, and its canonical text.
pub struct ResolvedTarget {
    pub params: TargetParams,
    pub canonical: String,
    pub array: Option<ArrayInForce>,
    /// The keys that its drives leave out.
    pub assumed: Vec<Assumed>,
    /// For each kind of drive whose class determines how it chooses.
    pub firmware: Vec<Firmware>,
    /// For each kind of drive that caches writes.
    pub cached_writes: Vec<CachedWrites>,
}

impl<'a> Shared<'a> {
    pub fn new(loader: &'a dyn Loader) -> Self {
        Shared {
            drives: FileCache::new(loader),
            controllers: FileCache::new(loader),
            patterns: FileCache::new(loader),
            models: BTreeMap::new(),
            cylinders: 0,
            loader,
        }
    }

    /// The texts of all files that the scenario names, by path.
    pub fn texts(&mut self) -> BTreeMap<String, String> {
        let of = [&mut self.drives.texts, &mut self.controllers.texts, &mut self.patterns.texts];
        of.into_iter().flat_map(std::mem::take).collect()
    }

    /// The workload with its patterns expanded; `None` if one is unknown.
    pub fn workload(&mut self, raw: &At<WorkloadRaw>, log: &mut Log) -> Option<At<WorkloadRaw>> {
        written_out(raw, &mut self.patterns, log)
    }

    /// The described target; `place` is the document's.
    pub fn target(
        &mut self,
        raw: Option<&At<TargetRaw>>,
        place: Place,
        log: &mut Log,
    ) -> Option<ResolvedTarget> {
        let Some(at) = raw else {
            report_missing(place, log);
            return None;
        };
        let raw = &at.value;
        check_kind(raw, at.place, log)?;
        if raw.drive.is_some() || raw.array.is_some() && raw.server.is_none() && raw.null.is_none() {
            let (controller, offer) = self.controller(raw, log).unzip();
            let known = controller.is_some() || raw.controller.is_none();
            let whole = TargetRaw { controller, ..raw.clone() };
            return match &raw.array {
                Some(array) => self.array(&whole, array, &offer.unwrap_or_default(), log),
                // If the array could not be read, what was meant is unknown.
                None => self.drive(&whole, log).filter(|_| raw.readable("array")),
            }
            .filter(|_| known);
        }
        only_for_drives(raw, log);
        server_target(raw, log)
    }

    /// The controller, expanded as far as it matters, and the arrays that it keeps.
    fn controller(
        &mut self,
        raw: &TargetRaw,
        log: &mut Log,
    ) -> Option<(At<Choice<ControllerRaw>>, ControllerLevels)> {
        let at = raw.controller.as_ref()?;
        let name = match &at.value {
            Choice::Named(name) => Some(name.clone()),
            Choice::Inline(raw) => raw.base.as_ref().map(|base| base.value.clone()),
        };
        let mut controller = self.controllers.resolve(at, log)?;
        (controller.identity, controller.sources) = (None, None);
        let raid = controller.raid.take().map(|at| at.value.iter().map(|level| level.value).collect());
        let offer = ControllerLevels { name: name.unwrap_or_else(|| "the controller".to_owned()), raid };
        Some((At::new(Choice::Inline(Box::new(controller)), at.place), offer))
    }

    fn drive(&mut self, raw: &TargetRaw, log: &mut Log) -> Option<ResolvedTarget> {
        let choice = raw.drive.as_ref()?;
        let Some(mut drive) = self.drive_of(choice, log) else {
            // The scenario's keys on the queue may still contradict each other.
            if let Some(own) = raw.queue.as_ref().filter(|own| own.value.protocol.is_some()) {
                let (protocol, _) = drive_protocol(Some(own), None, log);
                queue(Some(own), None, protocol, log);
            }
            return None;
        };
        host_managed::check_before(raw, &drive, choice.place, log);
        let Completed { assumed, firmware, cached_writes } = complete(&mut drive, raw, choice.place);
        let canonical = spelling(raw, &drive);
        let (params, capacity) = if actuators::addressed(&drive) == Some(DualActuator::AddressRanges) {
            self.both_actuators(raw, &drive, choice.place, log)?
        } else {
            let model = self.model(raw, &drive, choice.place, log)?;
            let capacity = model.capacity();
            let params = system(raw, model, log);
            (actuators::one_unit(params, &drive, log), capacity)
        };
        check_faults(raw.faults.as_ref(), capacity, log);
        only_for_arrays(raw, log);
        Some(ResolvedTarget {
            params,
            canonical,
            array: None,
            assumed,
            firmware: firmware.into_iter().collect(),
            cached_writes: cached_writes.into_iter().collect(),
        })
    }

    /// The drive that a choice describes, or one of its two actuators.
    pub(super) fn drive_of(&mut self, choice: &At<Choice<DriveRaw>>, log: &mut Log) -> Option<DriveRaw> {
        let drive = self.drives.resolve(choice, log)?;
        actuators::of_one(drive, choice.place, log)
    }

    /// The drive of an array that has this number.
    pub(super) fn member(
        &mut self,
        raw: &TargetRaw,
        drive: &DriveRaw,
        place: Place,
        number: usize,
        log: &mut Log,
    ) -> Option<Arc<DriveModel>> {
        let faults = raw.faults.as_ref().map(|at| At { value: at.value.of_drive(number), ..at.clone() });
        let own = TargetRaw { faults, array: None, ..raw.clone() };
        let model = self.model(&own, drive, place, log)?;
        check_faults(own.faults.as_ref(), model.capacity(), log);
        Some(model)
    }

    /// The model of the drive, behind its controller's interface. What a shingled drive's figures mean is noted.
    pub(super) fn model(
        &mut self,
        raw: &TargetRaw,
        drive: &DriveRaw,
        place: Place,
        log: &mut Log,
    ) -> Option<Arc<DriveModel>> {
        let controller = raw.controller_written_out();
        let interface = controller.and_then(|raw| given(raw.interface.as_ref()));
        let port = controller.and_then(|raw| raw.link.as_ref()).map(|at| &at.value);
        if smr::section(drive.smr.as_ref()).is_some() {
            log.note(SHINGLED.to_owned());
        }
        if host_managed::section(drive.host_managed.as_ref()).is_some() {
            log.note(host_managed::NOTE.to_owned());
        }
        if drive.flash.is_some() {
            log.note(flash::NOTE.to_owned());
        }
        // Faults at an instant of the run are not part of the drive's model.
        let faults = raw.faults.as_ref().map(|at| At { value: at.value.without_instants(), ..at.clone() });
        let before = TargetRaw {
            controller: None,
            bus: None,
            elevator: None,
            host_cache: None,
            faults,
            ..raw.clone()
        };
        let mut key = format!("{interface:?}|");
        port.inspect(|port| port.write(&mut key));
        key.push_str(&spelling(&before, drive));
        if let Some(Some(known)) = self.models.get(&key) {
            return Some(Arc::clone(known));
        }
        let problems = log.count();
        let above = Overrides {
            queue: raw.queue.as_ref(),
            cache: raw.cache.as_ref(),
            write_cache: raw.write_cache.as_ref(),
            clear: raw.readable("cache") && raw.readable("write_cache"),
            interface,
            port,
            faults: raw.faults.as_ref(),
        };
        let built = params(drive, above, place, log)
            .and_then(|params| model(&params, drive, place, log))
            .map(Arc::new);
        if log.count() > problems {
            // Its capacity may still reveal what is wrong with the workload; it is not cached, so that the
            // next point records the same problems.
            return built;
        }
        self.cylinders += built.as_ref().map_or(0, |model| u64::from(model.mechanism.seek.cylinders()));
        if self.cylinders > CYLINDERS_MAX {
            log.fault(place, "the sweep makes too many different drives", "split the scenario");
            return None;
        }
        self.models.insert(key, built.clone());
        built
    }
}

/// Records that there is no target; `place` is the document's.
fn report_missing(place: Place, log: &mut Log) {
    let remedy = match log.document_is_file() {
        false => concat!(
            "name a drive, such as ",
            key!("target.drive", "wd-4tb-7200"),
            ", or give a scenario's file; `drivelab catalogue` lists the drives"
        ),
        true => "add a section [target] with drive = \"wd-4tb-7200\", or another drive",
    };
    log.fault(place, "the scenario has no target", remedy);
}

/// Records a target that is none of drive, server and null, or more than one of them.
fn check_kind(raw: &TargetRaw, place: Place, log: &mut Log) -> Option<()> {
    let listed = raw.array.as_ref().and_then(|at| at.value.drives.as_ref()).map(|at| at.place);
    let kinds = [
        ("drive", raw.drive.as_ref().map(|at| at.place).or(listed)),
        ("server", raw.server.as_ref().map(|at| at.place)),
        ("null", raw.null.as_ref().map(|at| at.place)),
    ];
    let named: Vec<_> = kinds.iter().filter_map(|(name, place)| place.map(|place| (*name, place))).collect();
    match named[..] {
        [] if raw.array.is_some() => {}
        [] if ["drive", "server", "null", "array"].iter().all(|name| raw.readable(name)) => {
            let remedy = "add drive = \"name\", server = { mean = \"10ms\" } or null = {}";
            log.fault(place, "the target is neither a drive nor a server nor null", remedy);
            return None;
        }
        [_, (second, place), ..] => {
            let message = format!("a target is one thing: `{second}` contradicts `{}`", named[0].0);
            log.fault(place, message, "keep one of drive, server and null");
            return None;
        }
        _ => {}
    }
    Some(())
}

/// The target without a drive: a server, or null.
fn server_target(raw: &TargetRaw, log: &mut Log) -> Option<ResolvedTarget> {
    let server = raw.server.as_ref().and_then(|at| at.value.capacity.as_ref());
    let null = raw.null.as_ref().and_then(|at| at.value.capacity.as_ref());
    if let Some(empty) = server.or(null).filter(|capacity| capacity.value.0 == Sectors::ZERO) {
        log.fault(empty.place, "a target of no capacity", "write a capacity such as \"1TB\"");
        return None;
    }
    let mut canonical = String::new();
    let params = if let Some(null) = &raw.null {
        null.value.write(&mut canonical);
        let capacity = given(null.value.capacity.as_ref()).map_or(CAPACITY, |capacity| capacity.0);
        ServerParams { capacity, service: None, stations: 1 }
    } else {
        let server = raw.server.as_ref()?;
        server.value.write(&mut canonical);
        server_params(server, log)?
    };
    Some(ResolvedTarget {
        params: TargetParams::Server(params),
        canonical,
        array: None,
        assumed: Vec::new(),
        firmware: Vec::new(),
        cached_writes: Vec::new(),
    })
}

/// A drive's canonical text: its name does not matter.
pub(super) fn drive_spelling(drive: &DriveRaw) -> String {
    let mut drive = drive.clone();
    (drive.identity, drive.sources, drive.base) = (None, None, None);
    let mut text = String::new();
    drive.write(&mut text);
    text
}

/// The same, with the scenario's keys for it.
pub(super) fn spelling(raw: &TargetRaw, drive: &DriveRaw) -> String {
    let mut text = drive_spelling(drive);
    let mut above = raw.clone();
    above.drive = None;
    text.push('|');
    above.write(&mut text);
    text
}

/// Records keys that need an array.
fn only_for_arrays(raw: &TargetRaw, log: &mut Log) {
    let Some(At { value: faults, .. }) = &raw.faults else { return };
    let remedy = "add an array, such as array = { level = \"raid1\", members = 2 }, or leave it out";
    if let Some(fail) = &faults.fail {
        log.fault(fail.place, "`fail` is of the drives of an array; this target has one drive", remedy);
    }
    for stretch in faults.bad_sectors.iter().flat_map(|list| &list.value) {
        if let Some(drive) = &stretch.value.drive {
            log.fault(
                drive.place,
                "only drives of an array have a number; this target has one drive",
                remedy,
            );
        }
    }
}

const CAPACITY: Sectors = Sectors::new(1_000_000_000_000 / 512);

fn only_for_drives(raw: &TargetRaw, log: &mut Log) {
    let keys = [
        ("queue", raw.queue.as_ref().map(|at| at.place)),
        ("cache", raw.cache.as_ref().map(|at| at.place)),
        ("write_cache", raw.write_cache.as_ref().map(|at| at.place)),
        ("bus", raw.bus.as_ref().map(|at| at.place)),
        ("controller", raw.controller.as_ref().map(|at| at.place)),
        ("elevator", raw.elevator.as_ref().map(|at| at.place)),
        ("host_cache", raw.host_cache.as_ref().map(|at| at.place)),
        ("faults", raw.faults.as_ref().map(|at| at.place)),
        ("array", raw.array.as_ref().map(|at| at.place)),
    ];
    for (name, place) in keys {
        if let Some(place) = place {
            log.fault(place, format!("`{name}` needs a drive; this target has none"), "leave it out");
        }
    }
}

fn server_params(at: &At<ServerRaw>, log: &mut Log) -> Option<ServerParams> {
    let raw = &at.value;
    let name = given(raw.service.as_ref()).unwrap_or(ServiceName::Exponential);
    let mut need = |key: &'static str, value: Option<&At<Span>>| {
        if value.is_none() && raw.readable(key) {
            log.fault(at.place, format!("this service needs `{key}`"), format!("add {key} = \"10ms\""));
        }
        given(value)
    };
    let service = match name {
        ServiceName::Fixed => Service::Fixed(need("mean", raw.mean.as_ref())?),
        ServiceName::Exponential => Service::Exponential { mean: need("mean", raw.mean.as_ref())? },
        ServiceName::Erlang => {
            let phases = given(raw.phases.as_ref()).map_or(2, |phases| phases.0 as u32);
            Service::Erlang { mean: need("mean", raw.mean.as_ref())?, phases }
        }
        ServiceName::Uniform => {
            let most = need("most", raw.most.as_ref())?;
            let least = given(raw.least.as_ref()).unwrap_or(Span::ZERO);
            if most.is_zero() {
                let place = raw.most.as_ref().map_or(at.place, |most| most.place);
                log.fault(place, "a service of no time", "write a time such as \"10ms\", or use null = {}");
                return None;
            }
            if least > most {
                log.fault(at.place, "`least` is longer than `most`", "exchange the two");
                return None;
            }
            Service::Uniform { least, most }
        }
    };
    check_service_keys(raw, name, log);
    let stations = given(raw.stations.as_ref()).map_or(1, |stations| stations.0 as u16);
    let capacity = given(raw.capacity.as_ref()).map_or(CAPACITY, |capacity| capacity.0);
    Some(ServerParams { capacity, service: Some(service), stations })
}

/// Keys that the named service does not use are a mistake of the author.
fn check_service_keys(raw: &ServerRaw, name: ServiceName, log: &mut Log) {
    let used: &[&str] = match name {
        ServiceName::Fixed | ServiceName::Exponential => &["mean"],
        ServiceName::Erlang => &["mean", "phases"],
        ServiceName::Uniform => &["least", "most"],
    };
    for (key, place) in raw.set() {
        if ["mean", "least", "most", "phases"].contains(&key)
            && !used.contains(&key)
            && raw.readable("service")
        {
            log.fault(
                place,
                format!("this service has no `{key}`"),
                format!("it has {}", used.join(" and ")),
            );
        }
        if key == "mean" && raw.mean.as_ref().is_some_and(|mean| mean.value.is_zero()) {
            log.fault(place, "a service of no time", "write a time such as \"10ms\", or use null = {}");
        }
    }
}
