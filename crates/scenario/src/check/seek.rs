//! The seek curve: which of its forms is given, what is missing in it, and figures that are impossible for an
//! arm.
use crate::check::given;
use crate::keys::At;
use crate::raw::drive::{SeekForm, SeekRaw};
use crate::text::problem::Log;
use drivelab_core::storage::drive::seek::{SeekCurve, SeekParams};
use drivelab_units::{Share, Span};

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
        let sheet = Sheet { single, average, full };
        if !sheet.ascends(log) {
            return None;
        }
        let form = given(raw.form.as_ref());
        let is_lee = form.map_or(raw.longer_settle.is_none(), |form| form == SeekForm::Lee);
        return if is_lee { sheet.lee(raw.longer_settle.as_ref(), log) } else { sheet.root_line(raw, log) };
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

/// The three figures of a data sheet.
struct Sheet<'a> {
    single: &'a At<Span>,
    average: &'a At<Span>,
    full: &'a At<Span>,
}

impl Sheet<'_> {
    /// Whether an arm can have them.
    fn ascends(&self, log: &mut Log) -> bool {
        let remedy = "over one cylinder a seek takes least, from the first to the last most: correct single, average or full";
        for (less, more, names) in [
            (self.single, self.average, ["single", "average"]),
            (self.average, self.full, ["average", "full"]),
        ] {
            if less.value > more.value {
                let [less_name, more_name] = names;
                let message = format!(
                    "no arm has this seek curve: `{less_name}` of {} is longer than `{more_name}` of {}",
                    less.value, more.value
                );
                log.contradiction(less.place, message, remedy);
                return false;
            }
        }
        true
    }

    /// Single, average and full in milliseconds.
    fn in_ms(&self) -> (f64, f64, f64) {
        let ms = |at: &At<Span>| at.value.as_ns() as f64 / 1e6;
        (ms(self.single), ms(self.average), ms(self.full))
    }

    fn lee(&self, longer_settle: Option<&At<Share>>, log: &mut Log) -> Option<SeekParams> {
        if let Some(at) = longer_settle {
            let message = "`longer_settle` has no effect on a curve of the form \"lee\"".to_owned();
            log.no_effect(at.place, message, "set form = \"root-line\", or leave it out".to_owned());
        }
        // The curve at the share x of all cylinders is s + a sqrt(x) + b x. Its only extremum is where sqrt(x) =
        // -a / 2b, and it is a^2 / 4b below s there; above, with a negative b.
        let (s, m, f) = self.in_ms();
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
                log.contradiction(self.average.place, message, remedy);
                return None;
            }
        }
        let (single, average, full) = (self.single.value, self.average.value, self.full.value);
        Some(SeekParams::Lee { single, average, full })
    }

    fn root_line(&self, raw: &SeekRaw, log: &mut Log) -> Option<SeekParams> {
        let longer_settle = given(raw.longer_settle.as_ref()).unwrap_or(Share::NONE);
        let (single, average, full) = (self.single.value, self.average.value, self.full.value);
        let params = SeekParams::RootLine { single, average, full, longer_settle };
        if SeekCurve::new(&params, 2).is_ok() {
            return Some(params);
        }
        // The mean beyond the settling lies between that of a line and that of a root, as shares of the full stroke.
        let (s, _, f) = self.in_ms();
        let longer = longer_settle.bits() as f64 / Share::ALL.bits() as f64;
        let least = s + (f - s) / (3.0 - 2.0 * longer);
        let most = s + (f - s) * 8.0 / (15.0 - 7.0 * longer);
        let message = "no root and line run through these three figures".to_owned();
        let remedy = format!(
            "an average from {least:.3}ms to {most:.3}ms fits this single and full; or set form = \"lee\", or write the \
             curve as a table"
        );
        log.contradiction(self.average.place, message, remedy);
        None
    }
}

/// The form that a class supplies to a seek curve of which a file has three times, if a curve of it runs through them.
pub fn takes_form(raw: &SeekRaw, form: &SeekRaw) -> bool {
    let (Some(single), Some(average), Some(full)) = (&raw.single, &raw.average, &raw.full) else {
        return false;
    };
    let longer_settle = raw.longer_settle.as_ref().or(form.longer_settle.as_ref());
    let longer_settle = given(longer_settle).unwrap_or(Share::NONE);
    let (single, average, full) = (single.value, average.value, full.value);
    let is_lee = given(form.form.as_ref()) != Some(SeekForm::RootLine);
    is_lee || SeekCurve::new(&SeekParams::RootLine { single, average, full, longer_settle }, 2).is_ok()
}
