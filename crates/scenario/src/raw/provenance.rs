//! What of a drive file was established on this very drive: the marks of its order, of its mean seek time and of its cache's
//! segments.
//!
//! A value without a mark is the author's own and is followed exactly. A value that was measured or fitted on a
//! drive is only inferred for another one whose file is based on that drive's.
use super::drive::DriveRaw;
use super::switch::Switch;
use crate::keys::read::Mark;
use crate::keys::{At, Read};

/// Whether nobody has measured this value on the drive, and no author has set it as their own.
pub fn is_inferred<T>(at: &At<T>) -> bool {
    at.source.mark == Some(Mark::Inferred)
}

/// The drive with the marks of its sections on those values that have none of their own.
pub fn with_marks(mut drive: DriveRaw) -> DriveRaw {
    let queue = drive.queue.as_ref().and_then(|at| at.value.own_source.mark);
    let seek = drive.seek.as_ref().and_then(|at| at.value.own_source.mark);
    let cache = match drive.cache.as_ref().map(|at| &at.value) {
        Some(Switch::On(cache)) => cache.own_source.mark,
        _ => None,
    };
    marks_of(&mut drive, |mark, section| {
        *mark = mark.or(match section {
            Section::Queue => queue,
            Section::Seek => seek,
            Section::Cache => cache,
        });
    });
    drive
}

/// A drive merged over its base: where it is another drive than its base, what was measured there is inferred here.
pub fn over_base(above: DriveRaw, mut below: DriveRaw) -> DriveRaw {
    if is_another(&above, &below) {
        marks_of(&mut below, |mark, _| *mark = mark.map(|_| Mark::Inferred));
    }
    above.over(below)
}

/// The section of a mark.
enum Section {
    Queue,
    Seek,
    Cache,
}

/// Calls `change` with each mark of concern, and its section.
fn marks_of(drive: &mut DriveRaw, change: impl Fn(&mut Option<Mark>, Section)) {
    if let Some(order) = drive.queue.as_mut().and_then(|at| at.value.order.as_mut()) {
        change(&mut order.source.mark, Section::Queue);
    }
    if let Some(average) = drive.seek.as_mut().and_then(|at| at.value.average.as_mut()) {
        change(&mut average.source.mark, Section::Seek);
    }
    if let Some(At { value: Switch::On(cache), .. }) = &mut drive.cache {
        for at in [&mut cache.segments, &mut cache.write_segments].into_iter().flatten() {
            change(&mut at.source.mark, Section::Cache);
        }
    }
}

/// Whether the file above describes another drive than its base: another model, speed, geometry or seek curve.
fn is_another(above: &DriveRaw, below: &DriveRaw) -> bool {
    fn differs<T: Read + Clone>(above: Option<&At<T>>, below: Option<&At<T>>) -> bool {
        let text = |value: &T| {
            let mut text = String::new();
            value.write(&mut text);
            text
        };
        match (above, below) {
            (Some(above), Some(below)) => {
                text(&above.value.clone().over(below.value.clone())) != text(&below.value)
            }
            (above, _) => above.is_some(),
        }
    }
    let model = |drive: &DriveRaw| {
        let identity = drive.identity.as_ref().map(|at| &at.value);
        identity.map_or((None, None), |identity| (identity.maker.clone(), identity.model.clone()))
    };
    let ((maker, name), (base_maker, base_name)) = (model(above), model(below));
    differs(above.rpm.as_ref(), below.rpm.as_ref())
        || differs(above.geometry.as_ref(), below.geometry.as_ref())
        || differs(above.seek.as_ref(), below.seek.as_ref())
        || differs(maker.as_ref(), base_maker.as_ref())
        || differs(name.as_ref(), base_name.as_ref())
}
