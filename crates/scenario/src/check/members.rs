//! The drives of an array, who keeps it, and the limits of the controller.
use super::actuators;
use super::array::{ArrayContext, check_level, params};
use super::array_faults::Bears;
use super::assume::{Assumed, Completed, complete};
use super::cached_writes::CachedWrites;
use super::class::Firmware;
use super::host_managed;
use super::target::{ResolvedTarget, Shared, drive_spelling, spelling};
use crate::check::given;
use crate::keys::numbers::Count;
use crate::keys::{At, Read};
use crate::raw::array::ArrayRaw;
use crate::raw::choice::Choice;
use crate::raw::drive::DriveRaw;
use crate::raw::link::Standard;
use crate::raw::scenario::TargetRaw;
use crate::raw::switch::Switch;
use crate::raw::system::{ControllerRaw, FaultsRaw, Interface};
use crate::text::problem::{Log, Place};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::levels::{Layout, LevelName};
use drivelab_core::storage::array::params::{ArrayParams, ManagedBy};
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::drive::protocol::Protocol;
use drivelab_units::{Sectors, counted, key};
use std::fmt::Write;
use std::sync::Arc;

/// The name of a controller, and the levels that its file says it keeps.
#[derive(Clone, Debug, Default)]
pub struct ControllerLevels {
    pub name: String,
    pub raid: Option<Vec<LevelName>>,
}

/// The resulting array.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct ArrayInForce {
    pub level: String,
    pub members: u16,
    #[serde(skip_serializing_if = "is_zero")]
    pub spares: u16,
    pub kept_by: String,
    /// The capacity for a host.
    pub capacity_bytes: u64,
    /// How much of each member the array uses; of the largest, where each is used completely.
    pub member_bytes: u64,
    /// How much it uses of the member of which it uses least, where that is less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest_member_bytes: Option<u64>,
    /// The record size of a RAID-Z pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_bytes: Option<u64>,
    /// How many failures it tolerates whichever members fail, and how many in the best case.
    pub bears: usize,
    pub bears_at_best: usize,
}

fn is_zero(count: &u16) -> bool {
    *count == 0
}

/// The different drives of an array, and which of them is at each position: members first, then spares and
/// journal.
struct Drives {
    kinds: Vec<(DriveRaw, Place)>,
    which: Vec<usize>,
    assumed: Vec<Assumed>,
    firmware: Vec<Firmware>,
    cached_writes: Vec<CachedWrites>,
}

impl Drives {
    fn new(kinds: Vec<(DriveRaw, Place)>, which: Vec<usize>) -> Self {
        Drives { kinds, which, assumed: Vec::new(), firmware: Vec::new(), cached_writes: Vec::new() }
    }

    /// Completes each drive by what its interface and its class imply.
    fn complete(&mut self, raw: &TargetRaw) {
        for (drive, place) in &mut self.kinds {
            let Completed { assumed, firmware, cached_writes } = complete(drive, raw, *place);
            add_new(&mut self.assumed, assumed);
            add_new(&mut self.firmware, firmware);
            add_new(&mut self.cached_writes, cached_writes);
        }
    }
}

fn add_new<T: PartialEq>(to: &mut Vec<T>, found: impl IntoIterator<Item = T>) {
    for one in found {
        if !to.contains(&one) {
            to.push(one);
        }
    }
}

impl Shared<'_> {
    /// An array of drives, with everything between it and the host.
    pub(super) fn array(
        &mut self,
        raw: &TargetRaw,
        at: &At<ArrayRaw>,
        offer: &ControllerLevels,
        log: &mut Log,
    ) -> Option<ResolvedTarget> {
        let (array, place) = (&at.value, at.place);
        if array.level.is_none() && array.readable("level") {
            log.fault(place, "an array of no level", "add level = \"raid5\", or another one");
        }
        let drives = self.drives_of(raw, array, place, log);
        let (level, (mut drives, members)) = (array.level.as_ref()?, drives?);
        let managed_by = managed_by(array, level, offer, raw, log);
        let faults = raw.faults.as_ref().map(|at| &at.value);
        let known = ArrayContext { raw: array, place, level: level.value, managed_by, members, faults };
        self.add_spares(&known, &mut drives, log)?;
        drives.complete(raw);
        check_ports(raw, &known, offer, log);
        let models = self.models_of(raw, &known, &drives, log);
        let params = params(&known, log);
        let (models, params) = (models?, params?);
        let capacities: Vec<Sectors> = models.iter().map(|model| model.capacity()).collect();
        if !check_level(&known, &params, &capacities, log) {
            return None;
        }
        let canonical = canonical(raw, &known, &drives);
        let kinds: Vec<DriveRaw> = drives.kinds.iter().map(|(drive, _)| drive.clone()).collect();
        let housings = actuators::housings(&known, &kinds, &drives.which, log)?;
        let in_force = in_force(&known, &params, &capacities);
        let shares_link = shares_link(raw, &drives.kinds[0].0, models[0].protocol);
        let mut params = super::system::array_system(raw, models, params, shares_link, log);
        if let TargetParams::System(system) = &mut params {
            system.housings = housings;
        }
        Some(ResolvedTarget {
            params,
            canonical,
            array: in_force,
            assumed: drives.assumed,
            firmware: drives.firmware,
            cached_writes: drives.cached_writes,
        })
    }

    /// The drives of the members.
    fn drives_of(
        &mut self,
        raw: &TargetRaw,
        array: &ArrayRaw,
        place: Place,
        log: &mut Log,
    ) -> Option<(Drives, u16)> {
        if let (Some(_), Some(drive)) = (&array.drives, &raw.drive) {
            let message = "`target.drive` contradicts `target.array.drives`, which names every member";
            log.fault(drive.place, message, "keep `drives`, or `target.drive` with `members`");
            return None;
        }
        if let Some(listed) = &array.drives {
            let most = usize::from(ArrayParams::MEMBERS_MAX);
            if listed.value.is_empty() || listed.value.len() > most {
                let count = listed.value.len();
                log.fault(
                    listed.place,
                    format!("an array of {}", counted(count as u64, "member")),
                    format!("name 1 to {most} drives"),
                );
                return None;
            }
            let found = |at: &At<Choice<DriveRaw>>| (self.drive_of(at, log), at.place);
            let found: Vec<(Option<DriveRaw>, Place)> = listed.value.iter().map(found).collect();
            let kinds: Vec<(DriveRaw, Place)> =
                found.into_iter().map(|(drive, place)| Some((drive?, place))).collect::<Option<_>>()?;
            let members = kinds.len() as u16;
            return Some((Drives::new(kinds, (0..usize::from(members)).collect()), members));
        }
        let unread = !array.readable("drives") || !raw.readable("drive") || !array.readable("members");
        let members = array.members.as_ref().map(|members| members.value.0 as u16);
        if raw.drive.is_none() && !unread {
            let remedy = match log.document_is_file() {
                false => concat!("name the members' drive: ", key!("target.drive", "wd-4tb-7200")),
                true => "add target.drive = \"wd-4tb-7200\", or drives = [..] in place of it and of members",
            };
            log.fault(place, "an array of no drives", remedy);
        } else if members.is_none() && !unread {
            log.fault(place, "an array of how many members?", "add members = 4, or another number");
        }
        let choice = raw.drive.as_ref()?;
        let drive = self.drive_of(choice, log);
        let (drive, members) = (drive?, members?);
        let which = vec![0; usize::from(members)];
        Some((Drives::new(vec![(drive, choice.place)], which), members))
    }

    /// Adds spares and the journal's drive after the members.
    fn add_spares(&mut self, known: &ArrayContext<'_>, drives: &mut Drives, log: &mut Log) -> Option<()> {
        let more = known.drives() - drives.which.len();
        let kind = match &known.raw.spare_drive {
            Some(choice) => {
                let drive = self.drive_of(choice, log)?;
                drives.kinds.push((drive, choice.place));
                drives.kinds.len() - 1
            }
            None => 0,
        };
        drives.which.extend(std::iter::repeat_n(kind, more));
        Some(())
    }

    /// The models of all drives: one for all of a kind, except those with their own faults.
    fn models_of(
        &mut self,
        raw: &TargetRaw,
        known: &ArrayContext<'_>,
        drives: &Drives,
        log: &mut Log,
    ) -> Option<Vec<Arc<DriveModel>>> {
        check_numbers(known, log);
        for (drive, place) in &drives.kinds {
            host_managed::refuse_as_member(drive, *place, log);
        }
        let mut built: Vec<Option<Arc<DriveModel>>> = vec![None; drives.kinds.len()];
        let mut models = Vec::with_capacity(drives.which.len());
        for (number, &kind) in drives.which.iter().enumerate() {
            let own = has_own_faults(known.faults, number);
            if let Some(model) = built[kind].as_ref().filter(|_| !own) {
                models.push(Some(Arc::clone(model)));
                continue;
            }
            let (drive, place) = &drives.kinds[kind];
            let model = self.member(raw, drive, *place, number, log);
            if !own {
                built[kind].clone_from(&model);
            }
            models.push(model);
        }
        models.into_iter().collect()
    }
}

/// Whether an unreadable range is given for this drive alone.
fn has_own_faults(faults: Option<&FaultsRaw>, number: usize) -> bool {
    let stretches = faults.and_then(|faults| faults.bad_sectors.as_ref());
    let mut named =
        stretches.into_iter().flat_map(|list| &list.value).filter_map(|at| at.value.drive.as_ref());
    named.any(|drive| usize::from(drive.value) == number)
}

/// Unreadable ranges must be on existing drives.
fn check_numbers(known: &ArrayContext<'_>, log: &mut Log) {
    let stretches = known.faults.and_then(|faults| faults.bad_sectors.as_ref());
    for drive in stretches.into_iter().flat_map(|list| &list.value).filter_map(|at| at.value.drive.as_ref()) {
        let last = known.drives() - 1;
        if usize::from(drive.value) > last {
            let message =
                format!("unreadable on drive {}, and the array's last one is drive {last}", drive.value);
            log.contradiction(drive.place, message, "name one that there is");
        }
    }
}

/// Who keeps the array: the one that is named, or the controller if its file says that it keeps arrays.
fn managed_by(
    array: &ArrayRaw,
    level: &At<LevelName>,
    offer: &ControllerLevels,
    raw: &TargetRaw,
    log: &mut Log,
) -> ManagedBy {
    let names_levels = offer.raid.as_ref().is_some_and(|levels| !levels.is_empty());
    let default = if names_levels { ManagedBy::Controller } else { ManagedBy::Host };
    let managed_by = given(array.kept_by.as_ref()).unwrap_or(default);
    let place = array.kept_by.as_ref().map_or(level.place, |at| at.place);
    if let (ManagedBy::Controller, Some(levels)) = (managed_by, &offer.raid)
        && !levels.contains(&level.value)
    {
        let (name, level) = (&offer.name, level.value.name());
        let message = if levels.is_empty() {
            format!("{name} keeps no arrays")
        } else {
            let levels: Vec<&str> = levels.iter().map(|level| level.name()).collect();
            format!("{name} keeps no {level}: it keeps {}", levels.join(", "))
        };
        log.contradiction(
            place,
            message,
            "let the host keep it (kept_by = \"host\"), or take another controller",
        );
    }
    let memory = raw.controller_written_out().and_then(|controller| controller.cache.as_ref());
    if let (ManagedBy::Host, Some(At { value: Switch::On(_), place: memory, .. })) = (managed_by, memory) {
        let message = "the host keeps the array, and the memory of a controller stands before one that the controller keeps";
        let place = if log.is_of_a_named_file(*memory) { place } else { *memory };
        log.contradiction(place, message, "set kept_by = \"controller\", or controller.cache to false");
    }
    managed_by
}

/// The array must not have more drives than the controller has ports.
fn check_ports(raw: &TargetRaw, known: &ArrayContext<'_>, offer: &ControllerLevels, log: &mut Log) {
    let ports = raw.controller_written_out().and_then(|controller| given(controller.ports.as_ref()));
    let drives = known.drives();
    if let Some(ports) = ports.filter(|ports| drives as u64 > ports.0) {
        let mut of = vec![counted(known.members.into(), "member").to_string()];
        if known.spares() > 0 {
            of.push(counted(known.spares().into(), "spare").to_string());
        }
        if known.has_journal() {
            of.push("the journal".to_owned());
        }
        let (ports, drives) = (counted(ports.0, "port"), counted(drives as u64, "drive"));
        let message = format!("{} has {ports}, and the array {drives}: {}", offer.name, of.join(", "));
        log.contradiction(known.members_place(), message, "take fewer drives, or another controller");
    }
}

/// Whether all drives are on one bus: given by the standard of the ports, or of the drives; without either,
/// the drives of a SCSI adapter are.
fn shares_link(raw: &TargetRaw, drive: &DriveRaw, protocol: Protocol) -> bool {
    let controller: Option<&ControllerRaw> = raw.controller_written_out();
    let port = controller.and_then(|raw| raw.link.as_ref()).and_then(|at| given(at.value.standard.as_ref()));
    let own = drive.link.as_ref().and_then(|at| given(at.value.standard.as_ref()));
    match port.or(own) {
        Some(standard) => matches!(standard, Standard::Ultra160 | Standard::Ultra320),
        None => {
            let adapter = controller.and_then(|raw| given(raw.interface.as_ref())) == Some(Interface::Scsi);
            adapter && matches!(protocol, Protocol::ScsiTcq(_))
        }
    }
}

/// The canonical text of an array: equal members are counted, others listed, and it states who keeps the
/// array.
fn canonical(raw: &TargetRaw, known: &ArrayContext<'_>, drives: &Drives) -> String {
    let texts: Vec<String> = drives.kinds.iter().map(|(drive, _)| drive_spelling(drive)).collect();
    let (members, more) = drives.which.split_at(usize::from(known.members));
    let array = ArrayRaw {
        members: Some(At::new(Count(members.len() as u64), known.place)),
        drives: None,
        spare_drive: None,
        kept_by: Some(At::new(known.managed_by, known.place)),
        ..known.raw.clone()
    };
    let above = TargetRaw { array: Some(At::new(array, known.place)), ..raw.clone() };
    let mut text = spelling(&above, &drives.kinds[0].0);
    // Further members, and another spare, only if they differ from the first.
    if members.iter().any(|&kind| texts[kind] != texts[0]) {
        let all: Vec<&str> = members.iter().map(|&kind| texts[kind].as_str()).collect();
        let _ = write!(text, "|members={}", all.join(","));
    }
    if let Some(spare) = more.first().map(|&kind| &texts[kind]).filter(|spare| **spare != texts[0]) {
        let _ = write!(text, "|spare={spare}");
    }
    text
}

fn in_force(known: &ArrayContext<'_>, params: &ArrayParams, capacities: &[Sectors]) -> Option<ArrayInForce> {
    let layout = Layout::new(params, capacities).ok()?;
    let members = &capacities[..usize::from(known.members)];
    let (record, least) = (layout.record(), members.iter().min().copied());
    // A pool uses all of its smallest member.
    let used = least.filter(|_| record.is_some()).unwrap_or_else(|| layout.used());
    let least = least.filter(|&least| least < used);
    let mut kept_by = String::new();
    known.managed_by.write(&mut kept_by);
    let [bears, bears_at_best] = Bears::of(known).counts();
    Some(ArrayInForce {
        level: known.level.name().to_owned(),
        members: known.members,
        spares: known.spares(),
        kept_by,
        capacity_bytes: layout.capacity().bytes().get(),
        member_bytes: used.bytes().get(),
        smallest_member_bytes: least.map(|least| least.bytes().get()),
        record_bytes: record.map(|record| record.bytes().get()),
        bears,
        bears_at_best,
    })
}
