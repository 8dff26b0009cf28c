//! The protocol: the one that the drive speaks, with its options, and the one in force behind a controller.
use crate::check::given;
use crate::check::layered::{Layered, decider, pick, unless_displaced};
use crate::check::system::bounded;
use crate::keys::section::lay_over;
use crate::keys::{At, Read};
use crate::raw::protocol::{NcqRaw, Protocol as Named, ScsiRaw};
use crate::raw::queue::QueueRaw;
use crate::raw::system::Interface;
use crate::text::problem::{Log, Place};
use drivelab_core::storage::drive::protocol::{
    ExchangeParams, Naca, NcqParams, Protocol, QueueErrors, ScsiParams, TaskSets,
};
use drivelab_core::storage::drive::queue::{DEPTH_MAX, Order, QueueParams};
use drivelab_units::Span;

/// The protocol that a drive speaks, where the scenario's key overrides the drive file's, and the cost of its
/// exchanges.
pub fn drive_protocol(
    above: Option<&At<QueueRaw>>,
    below: Option<&At<QueueRaw>>,
    log: &mut Log,
) -> (Protocol, ExchangeParams) {
    let empty = QueueRaw::default();
    let (above, below) = (above.map_or(&empty, |at| &at.value), below.map_or(&empty, |at| &at.value));
    let named = pick(above.protocol.as_ref(), below.protocol.as_ref());
    let name = named.as_ref().map_or(Named::None, |named| named.at.value);
    let options = Options { named, name, clear: above.readable("protocol") && below.readable("protocol") };
    let calls = name == Named::ScsiTcq || name == Named::AtaTcq;
    let [release, service] = [
        ("release_time", &above.release_time, &below.release_time),
        ("service_time", &above.service_time, &below.service_time),
    ]
    .map(|(key, above, below)| {
        let places = [above, below].map(|at| at.as_ref().map(|at| (key, at.place)));
        options.check(places, calls, "scsi-tcq or ata-tcq", log);
        let given = above.as_ref().or(below.as_ref()).filter(|_| calls);
        bounded(given, key, Span::ZERO, log)
    });
    for (name, owner) in [("scsi", Named::ScsiTcq), ("ncq", Named::Ncq)] {
        let places = [above, below].map(|raw| raw.set().into_iter().find(|(key, _)| *key == name));
        options.check(places, options.name == owner, spelled(owner), log);
    }
    let protocol = match name {
        Named::None => Protocol::None,
        Named::ScsiTcq => Protocol::ScsiTcq(scsi(above, below, log)),
        Named::AtaTcq => Protocol::AtaTcq,
        Named::Ncq => Protocol::Ncq(ncq(above, below)),
        Named::Nvme => Protocol::Nvme,
    };
    (protocol, ExchangeParams { release, service, bridge: Span::ZERO })
}

struct Options {
    named: Option<Layered<Named>>,
    name: Named,
    /// Whether the protocol could be read.
    clear: bool,
}

impl Options {
    /// A key that only some protocols have, in the scenario and in the drive file.
    fn check(&self, places: [Option<(&str, Place)>; 2], counts: bool, those: &str, log: &mut Log) {
        for (above, (key, place)) in [true, false].into_iter().zip(places).filter_map(|(a, p)| Some((a, p?)))
        {
            let layered = Some(Layered { at: At::new((), place), above });
            if counts {
                log.has_effect(place);
            } else if self.clear && unless_displaced(layered, &[decider(self.named.as_ref())], log).is_some()
            {
                let message = format!("`{key}` has no effect with protocol = \"{}\"", spelled(self.name));
                log.no_effect(place, message, format!("set protocol to {those}, or leave {key} out"));
            }
        }
    }
}

/// The name of a protocol.
fn spelled(named: Named) -> &'static str {
    match named {
        Named::None => "none",
        Named::ScsiTcq => "scsi-tcq",
        Named::AtaTcq => "ata-tcq",
        Named::Ncq => "ncq",
        Named::Nvme => "nvme",
    }
}

/// The SCSI options in force; the scenario's override the drive file's.
fn scsi(above: &QueueRaw, below: &QueueRaw, log: &mut Log) -> ScsiParams {
    let usual = ScsiParams::USUAL;
    let Some(at) = lay_over(above.scsi.clone(), below.scsi.clone()) else { return usual };
    let raw: ScsiRaw = at.value;
    let on_error = given(raw.on_error.as_ref()).unwrap_or(usual.on_error);
    let task_sets = given(raw.tst.as_ref()).unwrap_or(usual.task_sets);
    ScsiParams {
        tags: given(raw.tags.as_ref()).map_or(usual.tags, |tags| tags.0),
        reordering: given(raw.reordering.as_ref()).unwrap_or(usual.reordering),
        task_sets,
        on_error,
        task_aborted: tas(&raw, on_error, task_sets, log),
        untagged: given(raw.untagged.as_ref()).unwrap_or(usual.untagged),
        naca: naca(&raw, log),
        disconnects: given(raw.disconnects.as_ref()).unwrap_or(usual.disconnects),
    }
}

/// Whether cleared commands of other initiators end with TASK ABORTED; this needs an error that clears any.
fn tas(raw: &ScsiRaw, on_error: QueueErrors, task_sets: TaskSets, log: &mut Log) -> bool {
    let Some(tas) = raw.tas.as_ref().filter(|tas| tas.value) else { return false };
    if on_error == QueueErrors::ClearAll && task_sets == TaskSets::One {
        log.has_effect(tas.place);
    } else if raw.readable("on_error") && raw.readable("tst") && !log.is_of_a_named_file(tas.place) {
        let message = "`tas` has no effect: an error clears no other initiator's commands here";
        let remedy = "set on_error = \"clear-all\" and tst = \"one\", or leave tas out";
        log.no_effect(tas.place, message.to_owned(), remedy.to_owned());
    }
    true
}

/// The hosts that set NACA.
fn naca(raw: &ScsiRaw, log: &mut Log) -> Naca {
    let sets = given(raw.naca.as_ref()).unwrap_or(false);
    let Some(by) = &raw.naca_by else { return if sets { Naca::ALL } else { Naca::NOBODY } };
    if !sets {
        if raw.readable("naca") && !log.is_of_a_named_file(by.place) {
            let message = "`naca_by` has no effect: no host sets NACA".to_owned();
            log.no_effect(by.place, message, "set naca = true, or leave naca_by out".to_owned());
        }
        return Naca::NOBODY;
    }
    log.has_effect(by.place);
    if by.value.is_empty() {
        log.fault(by.place, "no host is named", "name one, as in naca_by = [0], or set naca = false");
    }
    Naca::by(by.value.iter().map(|host| host.value.0 as u16))
}

fn ncq(above: &QueueRaw, below: &QueueRaw) -> NcqParams {
    let usual = NcqParams::USUAL;
    let Some(at) = lay_over(above.ncq.clone(), below.ncq.clone()) else { return usual };
    let raw: NcqRaw = at.value;
    NcqParams {
        out_of_order: given(raw.out_of_order.as_ref()).unwrap_or(usual.out_of_order),
        rdnc: given(raw.rdnc.as_ref()).unwrap_or(usual.rdnc),
        wdnc: given(raw.wdnc.as_ref()).unwrap_or(usual.wdnc),
    }
}

/// Whether a controller of this interface speaks the drive's protocol.
fn shares(interface: Interface, protocol: Protocol) -> bool {
    match protocol {
        Protocol::None => false,
        Protocol::ScsiTcq(_) => interface == Interface::Scsi,
        Protocol::AtaTcq => interface == Interface::AtaTcq,
        Protocol::Ncq(_) => interface == Interface::Ahci,
        Protocol::Nvme => interface == Interface::Nvme,
    }
}

/// The protocol and queue in force behind a controller: the drive's own, or one command at a time.
pub fn in_force(
    protocol: Protocol,
    queue: QueueParams,
    interface: Option<Interface>,
) -> (Protocol, QueueParams) {
    if interface.is_none_or(|interface| shares(interface, protocol)) {
        return (protocol, queue);
    }
    // The parameters of an order have no meaning where there is no choice.
    let QueueParams {
        chooses, answer_time, joins_reads, joins_writes, age_limit, pass_limit, coalesces, ..
    } = queue;
    let waits = QueueParams { chooses, answer_time, joins_reads, joins_writes, ..QueueParams::NONE };
    (Protocol::None, QueueParams { age_limit, pass_limit, coalesces, order: Order::Fcfs, ..waits })
}

/// Its usual name.
pub fn protocol_name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::None => "a protocol without a queue",
        Protocol::ScsiTcq(_) => "SCSI",
        Protocol::AtaTcq => "ATA TCQ",
        Protocol::Ncq(_) => "NCQ",
        Protocol::Nvme => "NVMe",
    }
}

/// The name of the protocol in force, as a scenario spells it.
pub fn name(protocol: Protocol) -> String {
    let named = match protocol {
        Protocol::None => Named::None,
        Protocol::ScsiTcq(_) => Named::ScsiTcq,
        Protocol::AtaTcq => Named::AtaTcq,
        Protocol::Ncq(_) => Named::Ncq,
        Protocol::Nvme => Named::Nvme,
    };
    let mut name = String::new();
    named.write(&mut name);
    name
}

/// How many commands a drive can hold under this protocol.
pub fn depth_max(protocol: Protocol) -> u32 {
    match protocol {
        Protocol::ScsiTcq(ScsiParams { disconnects: false, .. }) => 1,
        Protocol::ScsiTcq(_) => DEPTH_MAX,
        protocol => protocol.depth_max(),
    }
}
