//! What must end before what, by the words of the standards: the definition that the task set is held to.
use super::wire::{Run, overlap};
use drivelab_core::life::Life;
use drivelab_core::target::drive::protocol::{Protocol, Reordering, ScsiParams};
use drivelab_core::{Access, Attribute, Command};
use drivelab_units::Instant;

/// What a command without a tag counts as is the drive's choice.
pub fn acts_as(scsi: &ScsiParams, command: &Command) -> Attribute {
    match command.attribute {
        Attribute::Untagged => scsi.untagged.acts_as(),
        attribute => attribute,
    }
}

pub fn jumps(attribute: Attribute) -> bool {
    matches!(attribute, Attribute::HeadOfQueue | Attribute::Aca)
}

/// Whether task attributes put an older command before a younger one.
pub fn fenced_by_attribute(scsi: &ScsiParams, older: &Command, younger: &Command) -> bool {
    let (older, younger) = (acts_as(scsi, older), acts_as(scsi, younger));
    !jumps(younger) && (younger == Attribute::Ordered || older == Attribute::Ordered || jumps(older))
}

/// Whether two commands would leave or find something else if they changed places.
pub fn conflict(one: &Command, other: &Command) -> bool {
    overlap(one, other) && (one.access == Access::Write || other.access == Access::Write)
}

/// Whether the older one must end before the younger one begins.
pub fn fenced(scsi: &ScsiParams, older: &Command, younger: &Command) -> bool {
    let keeps = scsi.reordering == Reordering::Restricted;
    let simple = !jumps(acts_as(scsi, older)) && !jumps(acts_as(scsi, younger));
    fenced_by_attribute(scsi, older, younger) || keeps && simple && conflict(older, younger)
}

pub fn scsi_of(protocol: Protocol) -> ScsiParams {
    match protocol {
        Protocol::ScsiTcq(scsi) => scsi,
        _ => unreachable!("these drives speak SCSI"),
    }
}

/// All that the drive has taken before this one, oldest first.
pub fn older<'a>(run: &'a Run, life: &Life) -> impl Iterator<Item = &'a Life> {
    run.lives.range(..life.command.id).map(|(_, life)| life)
}

/// When nothing that must end before this command was left.
pub fn enabled(run: &Run, scsi: &ScsiParams, life: &Life) -> Instant {
    let before = older(run, life).filter(|older| fenced(scsi, &older.command, &life.command));
    before.map(|older| older.completed).fold(life.accepted, Instant::max)
}
