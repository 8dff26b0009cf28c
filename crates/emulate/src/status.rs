//! The status of a device as text: the condition of its drives and of its array.
use crate::model::Model;
use drivelab_core::storage::array::members::MemberState;
use drivelab_core::storage::array::report::{Health, SyncKind};
use drivelab_units::{Instant, Span, counted};

/// Longer than any session: a hang of this length or more has no end.
pub(crate) const ENDLESS: Span = Span::from_s(1 << 30);

/// Each condition that differs from sound and idle, after a semicolon.
pub(crate) fn of_device(model: &Model, now: Instant) -> String {
    of_array(model) + &of_drives(model, now)
}

fn of_array(model: &Model) -> String {
    let Some(array) = model.target.array() else {
        let has_failed = !model.failed.is_empty();
        return if has_failed { "; the drive has failed".into() } else { String::new() };
    };
    let rebuilt = || drivelab_record::array::progress(array).unwrap_or(0.0) * 100.0;
    let mut text = match array.health() {
        Health::Healthy => String::new(),
        Health::Degraded => "; the array is degraded".into(),
        Health::Rebuilding => format!("; the array is rebuilding, {:.1} % done", rebuilt()),
        Health::Broken => "; the array refuses writes".into(),
        Health::Failed => "; the array has lost data".into(),
    };
    for (kind, does) in [(SyncKind::Resync, "resynchronised"), (SyncKind::Scrub, "scrubbed")] {
        if let Some(share) = drivelab_record::array::under_way(array, kind)
            && array.health() != Health::Failed
        {
            text += &format!("; the array is being {does}, {:.1} % done", share * 100.0);
        }
    }
    for (slot, member) in array.members().iter() {
        if member.state == MemberState::Missing {
            text += &format!("; member {slot} is missing");
        }
    }
    for drive in model.failed.range(array.members().count()..) {
        let what = if array.is_of_journal(*drive) { "the journal" } else { "the spare" };
        text += &format!("; {what}, drive {drive}, has failed");
    }
    text
}

/// The drives that hang, and those with unreadable sectors.
fn of_drives(model: &Model, now: Instant) -> String {
    let Some(system) = model.target.system() else { return String::new() };
    let (own, mut text) = (model.own(now), String::new());
    let is_gone = |drive| match model.target.array() {
        Some(array) => array.misses(drive),
        None => model.failed.contains(&drive),
    };
    for (member, drive) in (0..).zip(system.drives()) {
        if is_gone(member) {
            continue;
        }
        let (hangs, unreadable) = (drive.hangs_for(own), drive.unreadable_sectors().get());
        if hangs >= ENDLESS {
            text += &format!("; member {member} hangs");
        } else if !hangs.is_zero() {
            text += &format!("; member {member} hangs for another {hangs}");
        }
        if unreadable > 0 {
            text += &format!("; member {member} has {}", counted(unreadable, "unreadable sector"));
        }
    }
    text
}
