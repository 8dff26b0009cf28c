//! The times that data sheets leave out, as drives of the class have them: the firmware's overheads, the settling
//! of a write, the switch between heads, the room in the skews, and the form of the seek curve.
use crate::check::assume::Assumed;
use crate::check::class::DriveClass;
use crate::check::given;
use crate::check::seek::takes_form;
use crate::keys::At;
use crate::raw::drive::{DriveRaw, SeekForm, SeekRaw};
use crate::text::problem::Place;
use drivelab_units::Span;
use serde_json::json;

/// Supplies each of these times that the drive leaves out, that of a cached write if the drive caches writes; a
/// drive of the class `ideal` has none of them.
pub fn supply(
    drive: &mut DriveRaw,
    class: &DriveClass,
    caches_writes: bool,
    place: Place,
    assumed: &mut Vec<Assumed>,
) {
    let Some(file) = class.file() else { return };
    let because = format!(
        "data sheets leave them out: as drives of the class {}, a head switch as long as a seek over one cylinder",
        class.name()
    );
    let mut assume = |key: &'static str, value| {
        assumed.push(Assumed { key, value, because: because.clone() });
    };
    macro_rules! fill {
        ($section:ident: $($key:ident),*) => {{
            let from = file.raw.$section.as_ref().map(|at| &at.value);
            if let Some(from) = from.filter(|_| drive.readable(stringify!($section))) {
                let below = &mut drive.$section.get_or_insert_with(|| At::new(Default::default(), place)).value;
                $( if let Some(at) = from.$key.as_ref()
                    && below.$key.is_none()
                    && below.readable(stringify!($key))
                {
                    below.$key = Some(At::new(at.value.clone(), place));
                    let key = concat!(stringify!($section), ".", stringify!($key));
                    assume(key, file.value(key).unwrap_or_default());
                } )*
            }
        }};
    }
    let firmware = drive.firmware.as_ref().map(|at| &at.value);
    let has_write = firmware.is_some_and(|raw| raw.write.is_some() || !raw.readable("write"));
    fill!(firmware: read_hit, read_miss, write);
    if caches_writes && !has_write {
        fill!(firmware: write_hit);
    }
    fill!(settle: write_settle);
    if let (Some(below), Some(form)) = (&drive.seek, &file.raw.seek)
        && given(below.value.form.as_ref()) != Some(SeekForm::Lee)
        && below.value.unreadable.is_empty()
        && takes_form(&below.value, &form.value)
    {
        fill!(seek: form, longer_settle);
    }
    let has_skew = drive.skew.as_ref().is_some_and(|at| !at.value.set().is_empty());
    if !has_skew && drive.skew.as_ref().is_none_or(|at| at.value.unreadable.is_empty()) {
        fill!(skew: margin);
    }
    if let Some(single) = supply_head_switch(drive, place) {
        assumed.push(Assumed { key: "settle.head_switch", value: json!(single.to_string()), because });
    }
}

/// A switch between heads takes as long as a seek over one cylinder: returns that time where it was left out.
fn supply_head_switch(drive: &mut DriveRaw, place: Place) -> Option<Span> {
    let single = drive.seek.as_ref().and_then(|at| over_one_cylinder(&at.value))?;
    if !drive.readable("settle") {
        return None;
    }
    let settle = &mut drive.settle.get_or_insert_with(|| At::new(Default::default(), place)).value;
    if settle.head_switch.is_some() || !settle.readable("head_switch") {
        return None;
    }
    settle.head_switch = Some(At::new(single, place));
    Some(single)
}

/// The seek time over one cylinder, where a form of the curve has it.
fn over_one_cylinder(seek: &SeekRaw) -> Option<Span> {
    if let Some(table) = &seek.table {
        return table.value.first().filter(|at| at.value.distance == 1).map(|at| at.value.time);
    }
    let parts = || {
        let (a, b) = (seek.a.as_ref().map_or(0, |at| at.value.as_ns()), seek.b.as_ref()?.value.as_ns());
        a.checked_add(b).map(Span::from_ns)
    };
    seek.single.as_ref().map(|at| at.value).or_else(parts)
}
