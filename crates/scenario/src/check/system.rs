//! The layers between a workload and its drive: controller and I/O scheduler; and the faults of the drive.
use super::assume::Assumed;
use super::cached_writes::CachedWrites;
use super::class::Firmware;
use super::link::bus;
use super::members::ArrayInForce;
use super::protocol::{name, protocol_name};
use super::write_behind::{controller_cache, host_cache};
use crate::check::given;
use crate::check::workload::size;
use crate::keys::{At, Read};
use crate::raw::queue::Depth;
use crate::raw::scenario::TargetRaw;
use crate::raw::switch::Switch;
use crate::raw::system::{ControllerRaw, ElevatorName, ElevatorRaw, FaultsRaw, Interface};
use crate::text::problem::{Log, Place};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, ManagedBy};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::{DriveModel, TIME_MAX};
use drivelab_core::storage::drive::protocol::Protocol;
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_units::{Lba, Sectors, Share, Span, counted};
use std::sync::Arc;

/// Default size of the largest merged request: `max_sectors_kb` of Linux 2.6
/// (Documentation/block/queue-sysfs).
const MERGE: Sectors = Sectors::new(1_024);

/// The protocol in force between host and drive, and how many commands of one initiator it allows there.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct InForce {
    /// All protocols, where the members of an array speak several.
    pub protocol: String,
    /// The depth of each member; where they differ, the smallest.
    pub depth: u32,
    /// Each protocol with its depth, where members differ in either.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_protocol: Vec<MemberProtocol>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayInForce>,
    /// The keys that the drives leave out, and the assumed values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<Assumed>,
    /// For each kind of drive whose class determines how it chooses, or how far its own order may be off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub firmware: Vec<Firmware>,
    /// Whether a drive has two actuators: one of them alone, both as one drive, or members that fail in pairs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub two_actuators: bool,
    /// For each kind of drive that caches writes, under a load of random I/Os alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cached_writes: Vec<CachedWrites>,
}

/// A protocol that members speak, and how many commands each of those members holds at a time.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct MemberProtocol {
    pub protocol: String,
    pub depth: u32,
}

/// The protocol in force at a target; `None` for one that is not a drive.
pub fn in_force(
    target: &TargetParams,
    array: Option<ArrayInForce>,
    assumed: Vec<Assumed>,
    firmware: Vec<Firmware>,
    cached_writes: Vec<CachedWrites>,
) -> Option<InForce> {
    let (models, controller) = match target {
        TargetParams::Server(_) => return None,
        TargetParams::Drive(model) | TargetParams::Wire(model) => {
            (std::slice::from_ref(model), &ControllerParams::PLAIN)
        }
        TargetParams::System(system) => (&system.drives[..], &system.controller),
    };
    let mut spoken: Vec<MemberProtocol> = Vec::new();
    for model in models {
        let one = MemberProtocol { protocol: name(model.protocol), depth: depth(model, controller) };
        if !spoken.contains(&one) {
            spoken.push(one);
        }
    }
    let mut protocols: Vec<&str> = Vec::new();
    for MemberProtocol { protocol, .. } in &spoken {
        if !protocols.contains(&protocol.as_str()) {
            protocols.push(protocol);
        }
    }
    let protocol = protocols.join(" and ");
    let depth = spoken.iter().map(|one| one.depth).min()?;
    let two_actuators = matches!(target, TargetParams::System(system) if !system.housings.is_empty());
    let by_protocol = if spoken.len() > 1 { spoken } else { Vec::new() };
    Some(InForce { protocol, depth, by_protocol, array, assumed, firmware, two_actuators, cached_writes })
}

fn depth(model: &DriveModel, controller: &ControllerParams) -> u32 {
    let drive = model.queue.depth.min(model.protocol.tags());
    controller.depth.map_or(drive, |depth| depth.min(drive))
}

/// The drive, with the layers before it.
pub fn system(raw: &TargetRaw, drive: Arc<DriveModel>, log: &mut Log) -> TargetParams {
    let system = before(raw, vec![drive], None, log);
    let SystemParams { controller, elevator, host_cache, drives, .. } = &system;
    if *controller == ControllerParams::PLAIN && elevator.is_none() && host_cache.is_none() {
        return TargetParams::Drive(Arc::clone(&drives[0]));
    }
    TargetParams::System(system)
}

/// An array, with the layers before it.
pub fn array_system(
    raw: &TargetRaw,
    drives: Vec<Arc<DriveModel>>,
    array: ArrayParams,
    shares_link: bool,
    log: &mut Log,
) -> TargetParams {
    TargetParams::System(SystemParams { shares_link, ..before(raw, drives, Some(array), log) })
}

/// The layers before these drives, or before the array that they form.
fn before(
    raw: &TargetRaw,
    drives: Vec<Arc<DriveModel>>,
    mut array: Option<ArrayParams>,
    log: &mut Log,
) -> SystemParams {
    let fails = raw.faults.as_ref().is_some_and(|at| at.value.fails_reads());
    let own = raw.controller_written_out();
    let bus = bus(own.and_then(|raw| raw.bus.as_ref()), raw.bus.as_ref(), log);
    // The drives that receive commands while nothing fails; spares replace others.
    let journal =
        u16::from(array.as_ref().is_some_and(|array| array.consistency_policy == ConsistencyPolicy::Journal));
    let working = array.as_ref().map_or(1, |array| u32::from(array.members + journal));
    let behind_controller = array.as_ref().is_some_and(|array| array.managed_by == ManagedBy::Controller);
    let most = |controller: &ControllerParams, count: u32| {
        let each = drives.iter().map(|drive| depth(drive, controller)).max().unwrap_or(1);
        each.saturating_mul(count)
    };
    // To its host an array is one drive: the controller's depth for a drive is its depth for the array.
    let kept = array.as_mut().filter(|_| behind_controller).zip(own).map(|(array, raw)| {
        array.depth = array.depth.or(given(raw.depth.as_ref()).map(|depth| depth.0 as u32));
        ControllerRaw { depth: None, ..raw.clone() }
    });
    let controller = match kept.as_ref().or(own) {
        Some(raw) => {
            let plain = ControllerParams { bus, ..controller(raw, drives[0].protocol, fails, working, log) };
            let cache = controller_cache(raw.cache.as_ref(), most(&plain, working), &plain, log);
            ControllerParams { cache, ..plain }
        }
        None => ControllerParams { bus, ..ControllerParams::PLAIN },
    };
    if let Some(array) = &mut array {
        array.refusal = array.refusal.max(controller.issue + controller.completion);
    }
    // Before one drive, as many commands as it holds; before an array, as many as all members hold.
    let holds = most(&controller, if behind_controller { working } else { 1 });
    let at_once = array.as_ref().filter(|_| behind_controller).and_then(|array| array.depth);
    let holds = at_once.map_or(holds, |depth| holds.min(depth));
    let elevator = raw.elevator.as_ref().and_then(|at| elevator(&at.value.0, holds, log));
    let host_cache = host_cache(raw.host_cache.as_ref(), log);
    SystemParams { drives, controller, elevator, host_cache, array, shares_link: false, housings: Vec::new() }
}

/// The cost of a command for the host: to send it, and to accept its completion. Inferred: one access to a
/// register of a controller takes about a microsecond (an ATA bus cycle of mode 0 takes 0.6 us), and this
/// many are needed. AHCI 1.3, 5.5: PxSACT and PxCI; PxIS and the two again. ATA/ATAPI-5, 9.10 (DMA): device,
/// features, count, three of the address and the command, and the bus master's start; two status registers
/// and the bus master's stop; twice for SERVICE.
fn costs(interface: Interface) -> [Span; 2] {
    match interface {
        Interface::Ahci | Interface::Scsi | Interface::Nvme => [1, 2],
        Interface::LegacyIde => [8, 3],
        Interface::AtaTcq => [8, 6],
    }
    .map(Span::from_us)
}

/// The controller of this many drives.
fn controller(
    raw: &ControllerRaw,
    protocol: Protocol,
    fails: bool,
    drives: u32,
    log: &mut Log,
) -> ControllerParams {
    let interface = given(raw.interface.as_ref());
    let [issue, completion] = interface.map_or([Span::ZERO; 2], costs);
    // The depth in a controller's file is a limit for any drive behind it.
    let beyond =
        |depth: &&At<Depth>| depth.value.0 > protocol.tags().into() && !log.is_of_a_named_file(depth.place);
    if let Some(depth) = raw.depth.as_ref().filter(beyond) {
        check_depth(depth, interface, protocol, log);
    }
    if let Some(retries) = raw.retries.as_ref().filter(|retries| retries.value.0 > 0) {
        if fails {
            log.has_effect(retries.place);
        } else if !log.is_of_a_named_file(retries.place) {
            let mut message = "`retries` has no effect: nothing here makes a read fail".to_owned();
            if raw.timeout.is_some() {
                message += ", and a command that `timeout` aborts is not retried";
            }
            log.no_effect(retries.place, message, "add target.faults, or leave it out".to_owned());
        }
    }
    if let Some(timeout) = raw.timeout.as_ref().filter(|timeout| timeout.value.is_zero()) {
        log.fault(timeout.place, "no command is done in no time", "write a timeout such as \"30s\"");
    }
    let wakes = wakes_error_handler(protocol, interface);
    if let Some(recovery) = raw.recovery.as_ref().filter(|recovery| !recovery.value.is_zero()) {
        if wakes {
            log.has_effect(recovery.place);
        } else if !log.is_of_a_named_file(recovery.place) {
            let message =
                "`recovery` has no effect: SCSI's sense data come with the status, so no error handler wakes";
            let remedy = match protocol {
                Protocol::None => "leave it out",
                _ => "set queue.scsi.naca = true, or leave it out",
            };
            log.no_effect(recovery.place, message.to_owned(), remedy.to_owned());
        }
    }
    let depth = raw.depth.as_ref().map(|depth| depth.value.0 as u32);
    // The total is divided evenly among the members, with at least one command each.
    let share = raw.total_depth.as_ref().map(|total| (total.value.0 as u32 / drives).max(1));
    ControllerParams {
        depth: depth.into_iter().chain(share).min(),
        issue: bounded(raw.issue.as_ref(), "issue", issue, log),
        completion: bounded(raw.completion.as_ref(), "completion", completion, log),
        retries: given(raw.retries.as_ref()).map_or(0, |retries| retries.0 as u8),
        recovery: bounded(raw.recovery.as_ref().filter(|_| wakes), "recovery", Span::ZERO, log),
        timeout: given(raw.timeout.as_ref()),
        bus: None,
        cache: None,
    }
}

/// Whether an error wakes the host's error handler: every ATA error does; a SCSI error only where a host sets
/// NACA, which needs a queue.
fn wakes_error_handler(protocol: Protocol, interface: Option<Interface>) -> bool {
    match protocol {
        Protocol::None => interface != Some(Interface::Scsi),
        Protocol::AtaTcq | Protocol::Ncq(_) => true,
        Protocol::Nvme => false,
        Protocol::ScsiTcq(scsi) => scsi.naca.is_set(),
    }
}

/// The controller's depth exceeds the number of tags of the protocol.
fn check_depth(depth: &At<Depth>, interface: Option<Interface>, protocol: Protocol, log: &mut Log) {
    let (requested, tags) = (depth.value.0, protocol.tags());
    let spelled = interface.map(|interface| {
        let mut name = String::new();
        interface.write(&mut name);
        name
    });
    let (message, remedy) = match (protocol, spelled) {
        (Protocol::None, Some(interface)) => (
            format!(
                "a controller depth of {requested}: {interface} and this drive share no queueing, one command at a time"
            ),
            "set depth to 1, or interface to one that speaks the drive's protocol".to_owned(),
        ),
        (Protocol::None, None) => (
            format!("a controller depth of {requested}: this drive holds one command"),
            "set depth to 1, or queue.protocol to ncq, ata-tcq or scsi-tcq".to_owned(),
        ),
        (Protocol::ScsiTcq(_), _) => (
            format!(
                "a controller depth of {requested}: an initiator has {} here",
                counted(tags.into(), "tag")
            ),
            "set queue.scsi.tags = 65536, or a smaller depth".to_owned(),
        ),
        _ => (
            format!(
                "a controller depth of {requested}: {} has {}",
                protocol_name(protocol),
                counted(tags.into(), "tag")
            ),
            format!("set depth to {tags} or less"),
        ),
    };
    log.contradiction(depth.place, message, remedy);
}

/// A time that is added for each command, limited to what the core allows.
pub fn bounded(at: Option<&At<Span>>, key: &str, default: Span, log: &mut Log) -> Span {
    let Some(at) = at else { return default };
    if at.value > TIME_MAX {
        log.fault(at.place, format!("`{key}` is too long"), format!("write a time up to \"{TIME_MAX}\""));
    }
    at.value.min(TIME_MAX)
}

/// The I/O scheduler before a drive that holds this many commands, if there is one.
fn elevator(raw: &ElevatorRaw, holds: u32, log: &mut Log) -> Option<ElevatorParams> {
    let name = given(raw.order.as_ref()).unwrap_or(ElevatorName::Of(ElevatorOrder::Deadline));
    check_elevator_keys(raw, name, log);
    let ElevatorName::Of(order) = name else { return None };
    let merge_limit = match &raw.merge {
        None => Some(MERGE),
        Some(at) => match at.value {
            Switch::Off => None,
            Switch::On(bytes) => size(bytes, at.place, "merge", log),
        },
    };
    let count = |at: Option<u64>, default: u32| at.map_or(default, |count| count as u32);
    let span = |at: &Option<At<Span>>, default| given(at.as_ref()).unwrap_or(default);
    let (deadline, fair) = (DeadlineParams::DEFAULT, FairParams::DEFAULT);
    Some(ElevatorParams {
        order,
        depth: count(given(raw.depth.as_ref()).map(|depth| depth.0), holds),
        merge_limit,
        deadline: DeadlineParams {
            read_expire: span(&raw.read_expire, deadline.read_expire),
            write_expire: span(&raw.write_expire, deadline.write_expire),
            fifo_batch: count(given(raw.fifo_batch.as_ref()).map(|n| n.0), deadline.fifo_batch),
            writes_starved: count(given(raw.writes_starved.as_ref()).map(|n| n.0), deadline.writes_starved),
        },
        fair: FairParams {
            slice_sync: span(&raw.slice_sync, fair.slice_sync),
            slice_async: span(&raw.slice_async, fair.slice_async),
            slice_idle: span(&raw.slice_idle, fair.slice_idle),
            quantum: count(given(raw.quantum.as_ref()).map(|n| n.0), fair.quantum),
        },
    })
}

/// Records keys that the order does not use, and time slices of zero.
fn check_elevator_keys(raw: &ElevatorRaw, name: ElevatorName, log: &mut Log) {
    let counted = raw.slice_idle.as_ref().is_some_and(|idle| idle.value.is_zero());
    let of = |order| name == ElevatorName::Of(order);
    for (key, place) in raw.set() {
        let (counts, those) = match key {
            "read_expire" | "write_expire" | "fifo_batch" | "writes_starved" => {
                (of(ElevatorOrder::Deadline), "deadline")
            }
            "slice_idle" | "quantum" => (of(ElevatorOrder::Fair), "fair"),
            "slice_sync" | "slice_async" => (of(ElevatorOrder::Fair) && !counted, "fair"),
            "order" => continue,
            _ => (name != ElevatorName::None, "noop, deadline, c-look or fair"),
        };
        if counts {
            log.has_effect(place);
        } else if raw.readable("order") && raw.readable("slice_idle") {
            no_effect(raw, key, place, those, counted && of(ElevatorOrder::Fair), log);
        }
    }
    for slice in [&raw.slice_sync, &raw.slice_async].into_iter().flatten().filter(|at| at.value.is_zero()) {
        log.fault(slice.place, "a slice of no time", "write a time such as \"100ms\"");
    }
}

fn no_effect(raw: &ElevatorRaw, key: &str, place: Place, those: &str, counted: bool, log: &mut Log) {
    if counted {
        let message =
            format!("`{key}` has no effect with slice_idle = \"0s\": turns are counted in requests");
        log.no_effect(place, message, format!("raise slice_idle, or leave {key} out"));
        return;
    }
    let mut order = String::new();
    given(raw.order.as_ref()).unwrap_or(ElevatorName::Of(ElevatorOrder::Deadline)).write(&mut order);
    let message = format!("`{key}` has no effect with order = \"{order}\"");
    log.no_effect(place, message, format!("set order to {those}, or leave {key} out"));
}

/// The faults of the media; `None` if nothing ever fails.
pub fn faults(at: &At<FaultsRaw>, log: &mut Log) -> Option<FaultParams> {
    let raw = &at.value;
    let read_errors = given(raw.read_errors.as_ref()).unwrap_or(Share::NONE);
    let mut unreadable = Vec::new();
    for stretch in raw.bad_sectors.iter().flat_map(|list| &list.value) {
        let (first, count) = (stretch.value.first.0, stretch.value.count.0);
        if count == Sectors::ZERO {
            log.fault(stretch.place, "nothing is unreadable here", "write how much: [\"1GiB\", \"4KiB\"]");
        }
        unreadable.push((Lba::new(first.get()), count));
    }
    let sound = read_errors == Share::NONE && unreadable.is_empty() && raw.media.is_none();
    let retries = bounded(raw.retry_time.as_ref(), "retry_time", Span::ZERO, log);
    if let Some(time) = &raw.retry_time
        && raw.readable("read_errors")
        && raw.readable("bad_sectors")
        && raw.readable("media")
    {
        if sound {
            let remedy = "add read_errors, bad_sectors or media, or leave it out".to_owned();
            log.no_effect(time.place, "`retry_time` has no effect: no read ever fails".to_owned(), remedy);
        } else {
            log.has_effect(time.place);
        }
    }
    (!sound).then_some(FaultParams { read_errors, unreadable, retries })
}

/// Unreadable ranges must lie on the drive.
pub fn check_faults(raw: Option<&At<FaultsRaw>>, capacity: Sectors, log: &mut Log) {
    let list = raw.and_then(|at| at.value.bad_sectors.as_ref());
    for stretch in list.into_iter().flat_map(|list| &list.value) {
        let (first, count) = (stretch.value.first.0.get(), stretch.value.count.0.get());
        if first + count > capacity.get() {
            let end = first + count;
            let message = format!("unreadable up to sector {end}, behind the drive's {}", capacity.get());
            log.contradiction(stretch.place, message, "give a stretch of the drive");
        }
    }
}
