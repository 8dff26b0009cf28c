//! What must end before what, by the words of the standards: the definition that the task set is held to.
use super::wire::{Run, is_begun, overlap};
use drivelab_core::storage::drive::protocol::{Protocol, QueueErrors, Reordering, ScsiParams, TaskSets};
use drivelab_core::trace::{CommandTrace, Served};
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

/// Whether two commands are in one task set.
pub fn share_a_set(scsi: &ScsiParams, one: &Command, other: &Command) -> bool {
    scsi.task_sets == TaskSets::One || one.initiator == other.initiator
}

/// Whether an error of this initiator clears that command (QERR and TST).
pub fn is_cleared_by(scsi: &ScsiParams, by: u16, command: &Command) -> bool {
    let own = command.initiator == by;
    match scsi.on_error {
        QueueErrors::Continue => false,
        QueueErrors::ClearAll => own || scsi.task_sets == TaskSets::One,
        QueueErrors::ClearNexus => own,
    }
}

/// Whether task attributes put an older command before a younger one.
pub fn fenced_by_attribute(scsi: &ScsiParams, older: &Command, younger: &Command) -> bool {
    if !share_a_set(scsi, older, younger) {
        return false;
    }
    let (older, younger) = (acts_as(scsi, older), acts_as(scsi, younger));
    !jumps(younger) && (younger == Attribute::Ordered || older == Attribute::Ordered || jumps(older))
}

/// Whether two commands of one initiator would leave or find something else if they changed places.
pub fn conflict(one: &Command, other: &Command) -> bool {
    let writes = one.access == Access::Write || other.access == Access::Write;
    one.initiator == other.initiator && overlap(one, other) && writes
}

/// Whether the medium must be through with the older one before the younger one begins.
pub fn kept_apart(scsi: &ScsiParams, older: &Command, younger: &Command) -> bool {
    let keeps = scsi.reordering == Reordering::Restricted;
    let simple = !jumps(acts_as(scsi, older)) && !jumps(acts_as(scsi, younger));
    keeps && simple && conflict(older, younger)
}

/// Whether a command that the drive holds stands before a younger one: by its attribute until it has ended, by what it
/// overlaps until the drive has chosen it.
pub fn stands_before(run: &Run, scsi: &ScsiParams, at: Instant, older: &Command, younger: &Command) -> bool {
    let trace = &run.traces[&older.id];
    let chosen = is_begun(trace) && trace.chosen <= at;
    let apart = kept_apart(scsi, older, younger) && !chosen;
    older.id < younger.id && (fenced_by_attribute(scsi, older, younger) || apart)
}

/// When a command is through with the medium; one that the buffer answers is when it is chosen.
pub fn over(trace: &CommandTrace) -> Instant {
    match trace.served {
        Served::Buffered => trace.chosen,
        _ if is_begun(trace) => trace.ended,
        _ => trace.completed,
    }
}

pub fn scsi_of(protocol: Protocol) -> ScsiParams {
    match protocol {
        Protocol::ScsiTcq(scsi) => scsi,
        _ => unreachable!("these drives speak SCSI"),
    }
}

/// All that the drive has taken before this one, oldest first.
pub fn older<'a>(run: &'a Run, trace: &CommandTrace) -> impl Iterator<Item = &'a CommandTrace> {
    run.traces.range(..trace.command.id).map(|(_, trace)| trace)
}

/// When nothing that must end before this command was left.
pub fn enabled(run: &Run, scsi: &ScsiParams, trace: &CommandTrace) -> Instant {
    let before = older(run, trace).filter_map(|older| {
        if fenced_by_attribute(scsi, &older.command, &trace.command) {
            return Some(older.completed);
        }
        // From its choice on, the older one is first.
        let first = if is_begun(older) { older.chosen } else { older.completed };
        kept_apart(scsi, &older.command, &trace.command).then_some(first)
    });
    before.fold(trace.accepted, Instant::max)
}
