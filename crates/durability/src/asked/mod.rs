//! The question as it is asked, in a file, as options or as arguments: its keys, what may stand in them, and what they
//! mean for the array. Everything that is wrong is told at once, each with its key and a remedy.
//!
//! Start reading at the keys, in [`table`]; `typed` and `laws` read their values, `together` refuses what does not go
//! together, `question` makes the description.
mod laws;
mod question;
pub mod table;
mod together;
mod typed;

use crate::law::Law;
use crate::plan::Problem;
use crate::{Description, Settings};
use drivelab_scenario::keys::{Key, Read};
use drivelab_scenario::reference_of;
use drivelab_scenario::text::problem::{Log, Place};
use drivelab_scenario::text::suggest;
use drivelab_scenario::text::tree::{Entry, Node, Table, Value};
use serde::{Deserialize, Serialize};
use table::QuestionRaw;

/// An array, and how its losses are to be found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub array: Description,
    pub settings: Settings,
}

/// What is asked: a question for each level, if nothing is wrong.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Asked {
    pub levels: Vec<String>,
    pub questions: Vec<Question>,
    /// The life of a drive at both ends of the interval of its failure rate; empty without one.
    pub ends: Vec<Law>,
    pub problems: Vec<Problem>,
}

/// All keys in Markdown.
pub fn reference() -> String {
    reference_of(&QuestionRaw::kind())
}

/// Reads what was given for each key; the places of the values have no meaning.
pub fn asked(given: Vec<(String, Value)>) -> Asked {
    let given = Given::read(given);
    question::asked(given)
}

/// A value by the name of its kind, for what is asked with an array of other rooms: `hours`, `share`, `capacity`,
/// `number` or `whole`.
///
/// # Errors
/// What is wrong with it, and the remedy.
pub fn value(kind: &str, text: &str) -> Result<f64, (String, Option<String>)> {
    let mut log = Log::default();
    let part = typed::Part { text, place: log.add(kind, text, false) };
    let found = match kind {
        "hours" => typed::hours(part, &mut log),
        "share" => typed::share(part, &mut log),
        "capacity" => typed::capacity(part, &mut log),
        "whole" => typed::whole(part, &mut log).map(f64::from),
        _ => typed::number(part, &mut log),
    };
    let wrong = log.into_placed().pop().map(|(_, problem)| (problem.message, problem.remedy));
    found.ok_or_else(|| wrong.unwrap_or_default())
}

/// The values of the keys, and what is wrong with each by itself.
struct Given {
    raw: QuestionRaw,
    /// The same, with its default where a key is left out.
    whole: QuestionRaw,
    /// The keys that are set, readable or not.
    names: Vec<String>,
    problems: Vec<Problem>,
}

/// The texts of the keys and of their values, each for itself.
#[derive(Default)]
struct Texts {
    log: Log,
    /// Where what is wrong with each of them would be.
    origins: Vec<Problem>,
}

impl Texts {
    fn place(&mut self, key: &str, item: Option<usize>, is_key: bool, text: &str) -> Place {
        self.origins.push(Problem { item, is_key, ..Problem::of(key, "", "") });
        self.log.add(key, text, false)
    }

    fn node(&mut self, key: &str, item: Option<usize>, value: Value) -> Node {
        let text = match &value {
            Value::Text(text) | Value::Decimal(text) => text.as_str(),
            _ => "",
        };
        let place = self.place(key, item, false, text);
        let Value::List(items) = value else { return Node { place, value } };
        let each = (0..).zip(items).map(|(at, one)| self.node(key, item.or(Some(at)), one.value));
        Node { place, value: Value::List(each.collect()) }
    }

    fn into_problems(self) -> Vec<Problem> {
        let of = |(place, found): (Place, drivelab_scenario::Problem)| {
            let origin = self.origins[place.source as usize].clone();
            let given = Some(found.text).filter(|text| !text.is_empty() && !origin.is_key);
            Problem { given, message: found.message, remedy: found.remedy.unwrap_or_default(), ..origin }
        };
        self.log.into_placed().into_iter().map(of).collect()
    }
}

impl Given {
    fn read(given: Vec<(String, Value)>) -> Self {
        let kind = QuestionRaw::kind();
        let keys = kind.section().map_or(&[][..], |section| &section.keys);
        let mut texts = Texts::default();
        let mut entries = Vec::new();
        for (key, value) in given {
            let key_place = texts.place(&key, None, true, &key);
            if keys.iter().any(|known| known.name == key) {
                let node = texts.node(&key, None, value);
                entries.push(Entry { key, key_place, node });
            } else if !texts.log.is_full() {
                texts.log.fault(key_place, "there is no such key", nearest(&key, keys));
            }
        }
        let names = entries.iter().map(|entry| entry.key.clone()).collect();
        let raw = section_of(entries, &mut texts.log);
        let whole = raw.clone().over(defaults(keys));
        Given { raw, whole, names, problems: texts.into_problems() }
    }

    fn has(&self, key: &str) -> bool {
        self.names.iter().any(|name| name == key)
    }

    /// Whether something is wrong with a key.
    fn is_wrong(&self, key: &str) -> bool {
        self.problems.iter().any(|problem| problem.place == key)
    }
}

fn section_of(entries: Vec<Entry>, log: &mut Log) -> QuestionRaw {
    let node = Node { place: Place::default(), value: Value::Table(Table { entries }) };
    QuestionRaw::read(&node, log).unwrap_or_default()
}

/// The default of each key, as the table has it.
fn defaults(keys: &[Key]) -> QuestionRaw {
    let place = Place::default();
    let entry = |key: &Key| {
        let value = Value::Text(key.default.to_owned());
        Entry { key: key.name.to_owned(), key_place: place, node: Node { place, value } }
    };
    section_of(keys.iter().filter(|key| !key.default.is_empty()).map(entry).collect(), &mut Log::default())
}

fn nearest(key: &str, keys: &[Key]) -> String {
    let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
    match suggest::nearest(key, names.iter().copied()).as_slice() {
        [] => format!("it is one of {}", names.join(", ")),
        near => format!("did you mean {}?", near.join(" or ")),
    }
}
