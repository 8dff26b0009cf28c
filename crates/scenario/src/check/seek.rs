//! The seek curve: which of its forms is given, what is missing in it, and figures that are impossible for an
//! arm.
use crate::check::given;
use crate::keys::At;
use crate::raw::drive::SeekRaw;
use crate::text::problem::Log;
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_units::Span;

/// The curve; what is missing or invalid is recorded.
pub fn seek(at: &At<SeekRaw>, log: &mut Log) -> Option<SeekParams> {
    let raw = &at.value;
    if let Some(table) = &raw.table {
        return Some(SeekParams::Table(
            table.value.iter().map(|at| (at.value.distance, at.value.time)).collect(),
        ));
    }
    if !raw.unreadable.is_empty() {
        return None;
    }
    if let (Some(single), Some(average), Some(full)) = (&raw.single, &raw.average, &raw.full) {
        return lee(single, average, full, log);
    }
    if let (Some(b), Some(limit), Some(c)) = (&raw.b, &raw.limit, &raw.c) {
        let span = |at: Option<&At<Span>>| given(at).unwrap_or(Span::ZERO);
        let (a, e) = (span(raw.a.as_ref()), span(raw.e.as_ref()));
        return Some(SeekParams::ThreePart { a, b: b.value, limit: limit.value.0 as u32, c: c.value, e });
    }
    incomplete(at, log);
    None
}

fn incomplete(at: &At<SeekRaw>, log: &mut Log) {
    let forms = "table; or single, average and full; or b, limit and c (with a and e)";
    let set: Vec<&str> = at.value.set().into_iter().map(|(key, _)| key).collect();
    for form in [["single", "average", "full"], ["b", "limit", "c"]] {
        let lacking: Vec<&str> = form.into_iter().filter(|key| !set.contains(key)).collect();
        if lacking.len() < form.len() {
            let message = format!("the seek curve is incomplete: it lacks `{}`", lacking.join("` and `"));
            log.fault(at.place, message, format!("give all keys of one form: {forms}"));
            return;
        }
    }
    log.fault(at.place, "the seek curve is incomplete", format!("give all keys of one form: {forms}"));
}

/// How far Lee's curve may fall below `single`, or rise above `full`, as a share of either: data sheets
/// round.
const ROUNDING: f64 = 0.05;

/// The three figures of a data sheet, if an arm can have them.
fn lee(single: &At<Span>, average: &At<Span>, full: &At<Span>, log: &mut Log) -> Option<SeekParams> {
    let remedy = "over one cylinder a seek takes least, from the first to the last most: correct single, average or full";
    for (less, more, names) in
        [(single, average, ["single", "average"]), (average, full, ["average", "full"])]
    {
        if less.value > more.value {
            let [less_name, more_name] = names;
            let message = format!(
                "no arm has this seek curve: `{less_name}` of {} is longer than `{more_name}` of {}",
                less.value, more.value
            );
            log.contradiction(less.place, message, remedy);
            return None;
        }
    }
    // The curve at the share x of all cylinders is s + a sqrt(x) + b x. Its only extremum is where sqrt(x) =
    // -a / 2b, and it is a^2 / 4b below s there; above, with a negative b.
    let ms = |at: &At<Span>| at.value.as_ns() as f64 / 1e6;
    let (s, m, f) = (ms(single), ms(average), ms(full));
    let a = (-10.0 * s + 15.0 * m - 5.0 * f) / 3.0;
    let b = (7.0 * s - 15.0 * m + 8.0 * f) / 3.0;
    let root = -a / (2.0 * b);
    if root > 0.0 && root < 1.0 {
        let turn = s - a * a / (4.0 * b);
        let (least, most) = ((2.0 * s + f) / 3.0, (4.0 * s + 11.0 * f) / 15.0);
        let wrong = if turn < s * (1.0 - ROUNDING) {
            Some("a longer seek would take less than `single`")
        } else if turn > f * (1.0 + ROUNDING) {
            Some("a shorter seek would take more than `full`")
        } else {
            None
        };
        if let Some(wrong) = wrong {
            let message = format!("no smooth curve runs through these three figures: {wrong}");
            let remedy = format!(
                "an average from {least:.3}ms to {most:.3}ms fits this single and full; or write the curve as a table"
            );
            log.contradiction(average.place, message, remedy);
            return None;
        }
    }
    let (single, average, full) = (single.value, average.value, full.value);
    Some(SeekParams::Lee { single, average, full })
}
