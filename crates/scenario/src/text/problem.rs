//! Problems of a text and their places: each with its line, its column and a remedy, all of them at once.
use super::shorten::{around, begin, shortened};
use drivelab_units::InFile;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// A range of bytes in one of the sources of a [`Log`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place {
    pub source: u32,
    pub start: u32,
    pub end: u32,
}

/// One problem.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problem {
    /// The file, or the command-line option, that the text came from.
    pub origin: String,
    /// Counted from 1; in a command-line option always 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// The offending text; its beginning, if it is long.
    pub text: String,
    /// The line that contains it; the part around it, if that is long.
    pub line_text: String,
    pub message: String,
    /// What to write instead, if that is known.
    pub remedy: Option<String>,
    /// Whether line and column are meaningful to the reader.
    #[serde(skip)]
    in_file: bool,
    /// Number of characters of the line before `line_text`.
    #[serde(skip)]
    left_out: usize,
}

/// All problems of a scenario; never empty.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problems(pub Vec<Problem>);

/// How much of a line is shown before the offending text.
const SHOWN_BEFORE: usize = 60;
const SHOWN: usize = 110;

impl Problem {
    /// The part of the line to show, and the number of its characters before the offending text.
    fn window(&self) -> (String, usize) {
        let line = self.line_text.replace('\t', " ");
        let (length, before) = (line.chars().count(), self.column - 1 - self.left_out);
        if length <= SHOWN {
            return (line, before);
        }
        let start = before.saturating_sub(SHOWN_BEFORE);
        let shown: String = line.chars().skip(start).take(SHOWN).collect();
        let head = if start + self.left_out > 0 { "..." } else { "" };
        let tail = if start + SHOWN < length { "..." } else { "" };
        (format!("{head}{shown}{tail}"), before - start + head.len())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = if self.in_file { self.line.to_string() } else { String::new() };
        let margin = " ".repeat(number.len());
        writeln!(f, "error: {}", self.message)?;
        if self.in_file {
            writeln!(f, "{margin}--> {}:{}:{}", self.origin, self.line, self.column)?;
        } else {
            writeln!(f, "{margin}--> {}", self.origin.replace('\n', " "))?;
        }
        writeln!(f, "{margin} |")?;
        let (shown, before) = self.window();
        writeln!(f, "{number} | {shown}")?;
        let left = shown.chars().count().saturating_sub(before);
        let carets = self.text.lines().next().unwrap_or("").chars().count().clamp(1, left.max(1));
        write!(f, "{margin} | {}{}", " ".repeat(before), "^".repeat(carets))?;
        if let Some(remedy) = &self.remedy {
            write!(f, "\n{margin} = help: {remedy}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.0 {
            write!(f, "{problem}\n\n")?;
        }
        match self.0.len() {
            1 => write!(f, "1 problem"),
            count => write!(f, "{count} problems"),
        }
    }
}

impl std::error::Error for Problems {}

struct Text {
    origin: String,
    text: String,
    in_file: bool,
}

/// More problems than anybody reads; the rest are dropped.
const PROBLEMS_MAX: usize = 100;

/// Collects texts and their problems.
#[derive(Default)]
pub struct Log {
    texts: Vec<Text>,
    problems: Vec<(Place, Problem)>,
    seen: BTreeSet<(Place, String)>,
    useless: Vec<(Place, String, String)>,
    useful: BTreeSet<Place>,
    contradictions: Vec<Contradiction>,
    notes: Vec<String>,
    /// Whether the target is served to clients until somebody ends it.
    pub is_served: bool,
    /// Whether the current point replays a trace, which may contain the faults of a captured session.
    pub is_replayed: bool,
}

/// Two values that are each valid and contradict each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contradiction {
    place: Place,
    pub message: String,
    remedy: String,
}

impl Log {
    /// Adds a text; returns the place of all of it.
    pub fn add(&mut self, origin: &str, text: &str, in_file: bool) -> Place {
        let source = self.texts.len() as u32;
        self.texts.push(Text { origin: origin.to_owned(), text: text.to_owned(), in_file });
        Place { source, start: 0, end: text.len() as u32 }
    }

    /// Whether the scenario, which is the first text, is a file or text of the caller, and not options or arguments.
    pub fn document_is_file(&self) -> bool {
        self.texts.first().is_some_and(|text| text.in_file)
    }

    /// The name of the option, if a place is in an option and not in a file.
    pub fn option(&self, place: Place) -> Option<&str> {
        self.texts.get(place.source as usize).filter(|text| !text.in_file).map(|text| text.origin.as_str())
    }

    /// Records what a reader should know although nothing is wrong; the same note only once.
    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns the notes and removes them.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Records a problem; the same one at the same place only once.
    pub fn error(&mut self, place: Place, message: impl Into<String>, remedy: Option<String>) {
        if self.is_full() {
            return;
        }
        let as_asked = |text: String| shortened(self.as_asked(place, text));
        let (message, remedy) = (as_asked(message.into()), remedy.map(as_asked));
        if !self.seen.insert((place, message.clone())) || self.is_of_another_value(place, &message) {
            return;
        }
        let problem = self.problem(place, message, remedy);
        self.problems.push((place, problem));
    }

    /// A message about a place: in a file its keys are those of the file. For an option or an argument they stay
    /// references, for the caller knows its names.
    fn as_asked(&self, place: Place, text: String) -> String {
        let in_file = self.texts.get(place.source as usize).is_some_and(|text| text.in_file);
        if in_file { InFile(&text).to_string() } else { text }
    }

    /// Whether an earlier value in the same list of an option has the same problem: one message is enough.
    fn is_of_another_value(&self, place: Place, message: &str) -> bool {
        let Some(text) = self.texts.get(place.source as usize).filter(|text| !text.in_file) else {
            return false;
        };
        self.problems.iter().any(|(other, problem)| {
            let between = text.text.get(other.end as usize..place.start as usize);
            // With a `=` between them they belong to two keys.
            other.source == place.source
                && problem.message == message
                && between.is_some_and(|between| between.contains(',') && !between.contains('='))
        })
    }

    /// An error whose remedy is known.
    pub fn fault(&mut self, place: Place, message: impl Into<String>, remedy: impl Into<String>) {
        self.error(place, message, Some(remedy.into()));
    }

    /// Records a contradiction between values of the current point: a problem if every point of the sweep has
    /// one.
    pub fn contradiction(&mut self, place: Place, message: impl Into<String>, remedy: impl Into<String>) {
        let message = shortened(message.into());
        let found = Contradiction { place, message, remedy: remedy.into() };
        if !self.contradictions.contains(&found) {
            self.contradictions.push(found);
        }
    }

    /// Returns the contradictions of the current point and removes them.
    pub fn take_contradictions(&mut self) -> Vec<Contradiction> {
        std::mem::take(&mut self.contradictions)
    }

    /// No point is possible: the contradictions become problems.
    pub fn promote_contradictions(&mut self, contradictions: Vec<Contradiction>) {
        for Contradiction { place, message, remedy } in contradictions {
            self.fault(place, message, remedy);
        }
    }

    /// Records a value without effect at a point of a sweep: a problem if it has no effect at any point.
    pub fn no_effect(&mut self, place: Place, message: String, remedy: String) {
        if !self.useless.iter().any(|(known, _, _)| *known == place) {
            self.useless.push((place, message, remedy));
        }
    }

    /// Records that a value has an effect at a point of a sweep.
    pub fn has_effect(&mut self, place: Place) {
        self.useful.insert(place);
    }

    /// After all points: values that had no effect at any of them become problems.
    pub fn settle(&mut self) {
        for (place, message, remedy) in std::mem::take(&mut self.useless) {
            if !self.useful.contains(&place) {
                self.fault(place, message, remedy);
            }
        }
    }

    /// Whether the text at `later` could be meant to change the one at `earlier`: an option changes a
    /// scenario, and both change a drive file. The first text is the scenario.
    pub fn changes(&self, later: Place, earlier: Place) -> bool {
        let is_option =
            |place: Place| self.texts.get(place.source as usize).is_some_and(|text| !text.in_file);
        if later.source == earlier.source || is_option(earlier) {
            return false;
        }
        is_option(later) || earlier.source > 0
    }

    /// Whether a place is in a file that the scenario names, and not in the scenario itself or an option.
    pub fn is_of_a_named_file(&self, place: Place) -> bool {
        place.source > 0 && self.texts.get(place.source as usize).is_some_and(|text| text.in_file)
    }

    /// Whether a problem is recorded at exactly this place.
    pub fn has_at(&self, place: Place) -> bool {
        self.problems.iter().any(|(at, _)| *at == place)
    }

    /// Number of problems so far, including contradictions of the current point.
    pub fn count(&self) -> usize {
        self.problems.len() + self.contradictions.len()
    }

    /// Whether further problems are dropped; then no remedy needs to be looked for.
    pub fn is_full(&self) -> bool {
        self.problems.len() >= PROBLEMS_MAX
    }

    /// The problems in the order of the texts; `None` if there are none.
    pub fn into_problems(self) -> Option<Problems> {
        let problems: Vec<Problem> = self.into_placed().into_iter().map(|(_, problem)| problem).collect();
        if problems.is_empty() { None } else { Some(Problems(problems)) }
    }

    /// The problems in the order of the texts, with their places.
    pub fn into_placed(mut self) -> Vec<(Place, Problem)> {
        self.problems.sort_by_key(|(place, _)| *place);
        self.problems
    }

    fn problem(&self, place: Place, message: String, remedy: Option<String>) -> Problem {
        let Some(source) = self.texts.get(place.source as usize) else {
            let text = String::new();
            let (origin, line_text) = (text.clone(), text.clone());
            let (in_file, left_out) = (false, 0);
            return Problem {
                origin,
                line: 1,
                column: 1,
                text,
                line_text,
                message,
                remedy,
                in_file,
                left_out,
            };
        };
        let all = source.text.as_str();
        let start = floor_boundary(all, place.start as usize);
        let end = floor_boundary(all, place.end as usize).max(start);
        let line_start = all[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = all[start..].find('\n').map_or(all.len(), |at| start + at);
        let line = all[line_start..line_end].trim_end_matches('\r');
        let (line_text, shown_from) = around(line, (start - line_start).min(line.len()));
        Problem {
            origin: shortened(source.origin.clone()),
            line: all[..start].matches('\n').count() + 1,
            column: all[line_start..start].chars().count() + 1,
            text: begin(&all[start..end]).to_owned(),
            line_text: line_text.to_owned(),
            message,
            remedy,
            in_file: source.in_file,
            left_out: line[..shown_from].chars().count(),
        }
    }
}

/// The nearest position at or before `at` where a character begins.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_shows_its_line_and_a_caret_under_the_text() {
        let mut log = Log::default();
        let all = log.add("a.toml", "x = 1\nbß = \"8.5\"\n", true);
        let place = Place { start: 12, end: 17, ..all };
        log.fault(place, "the unit is missing", "write \"8.5ms\"");
        log.fault(place, "the unit is missing", "write \"8.5ms\"");
        let problems = log.into_problems().unwrap();
        let expected = "error: the unit is missing\n --> a.toml:2:6\n  |\n2 | bß = \"8.5\"\n  |      ^^^^^\n  = help: \
                        write \"8.5ms\"\n\n1 problem";
        assert_eq!(problems.to_string(), expected);
    }

    #[test]
    fn places_outside_the_text_are_harmless() {
        let mut log = Log::default();
        log.add("a.toml", "ß", true);
        log.error(Place { source: 0, start: 1, end: 99 }, "one", None);
        log.error(Place { source: 7, start: 1, end: 99 }, "two", None);
        assert_eq!(log.into_problems().unwrap().0.len(), 2);
    }
}
