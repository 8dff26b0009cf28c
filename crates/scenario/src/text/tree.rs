//! A TOML text as a tree in which every key and every value has its place.
use super::problem::{Log, Place};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[derive(Clone, Debug)]
pub struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub enum Value {
    Text(String),
    Integer(i128),
    /// A number with a fraction or an exponent, as it was written.
    Decimal(String),
    Flag(bool),
    /// Dates and times of day: no key has one.
    Date,
    List(Vec<Node>),
    Table(Table),
}

/// Entries in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub key: String,
    pub key_place: Place,
    pub node: Node,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
    }
}

impl Node {
    /// The type of the value, in words for a message.
    pub fn what(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Decimal(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The value as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Text(text) => Json::from(text.as_str()),
            Value::Integer(number) => i64::try_from(*number).map_or(Json::Null, Json::from),
            Value::Decimal(text) => text.parse::<f64>().map_or(Json::Null, Json::from),
            Value::Flag(flag) => Json::from(*flag),
            Value::Date => Json::Null,
            Value::List(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Table(table) => {
                Json::Object(table.entries.iter().map(|e| (e.key.clone(), e.node.to_json())).collect())
            }
        }
    }

    /// Number of values in this one, itself included.
    pub fn size(&self) -> usize {
        1 + match &self.value {
            Value::List(items) => items.iter().map(Node::size).sum(),
            Value::Table(table) => table.entries.iter().map(|entry| entry.node.size()).sum(),
            _ => 0,
        }
    }
}

/// A longer text is not a scenario (places are 32-bit).
const TEXT_MAX: usize = 64 << 20;

/// Parses a whole document that `log` holds at `all`; what does not parse is recorded and left out.
///
/// Returns `None` if the structure of the text is so broken that further messages would only follow from the
/// first.
pub fn document(text: &str, all: Place, log: &mut Log) -> Option<Table> {
    if text.len() > TEXT_MAX {
        log.fault(Place { end: 1, ..all }, "the text is too long", "a scenario has at most 64 MiB");
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        let place = Place { start: span.start as u32, end: span.end as u32, ..all };
        log.error(
            place,
            format!("this is not TOML: {}", error.message()),
            syntax_remedy(error.message(), text.get(span).unwrap_or_default()),
        );
    }
    let whole = errors.iter().all(|error| syntax_remedy(error.message(), "").is_some());
    whole.then(|| build_table(table.get_ref(), all.source, 0, log))
}

/// Parses `text` as one TOML value; `None` if it is not one. `shift` is added to its places.
pub fn value(text: &str, source: u32, shift: usize, log: &mut Log) -> Option<Node> {
    let lead = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return None;
    }
    let parsed = DeValue::parse(trimmed).ok()?;
    Some(build(&parsed, source, (shift + lead) as u32, log))
}

/// The remedy for an error that leaves the structure intact.
fn syntax_remedy(message: &str, text: &str) -> Option<String> {
    if message.contains("must be quoted") {
        Some(format!("put quotes around it: \"{}\"", text.trim().replace('"', "")))
    } else if message.contains("duplicate key") {
        Some("keep one of the two; for a sweep write a list: iodepth = [1, 4, 16]".to_owned())
    } else {
        None
    }
}

fn build_table(table: &DeTable<'_>, source: u32, shift: u32, log: &mut Log) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, node)| {
            let span = key.span();
            let key_place = Place { source, start: span.start as u32 + shift, end: span.end as u32 + shift };
            Entry {
                key: key.get_ref().clone().into_owned(),
                key_place,
                node: build(node, source, shift, log),
            }
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_place);
    Table { entries }
}

fn build(node: &Spanned<DeValue<'_>>, source: u32, shift: u32, log: &mut Log) -> Node {
    let span = node.span();
    let place = Place { source, start: span.start as u32 + shift, end: span.end as u32 + shift };
    let value = match node.get_ref() {
        DeValue::String(text) => Value::Text(text.clone().into_owned()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            Err(_) => {
                log.error(place, "this number is too large", None);
                Value::Integer(0)
            }
        },
        DeValue::Float(number) => Value::Decimal(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| build(item, source, shift, log)).collect())
        }
        DeValue::Table(table) => Value::Table(build_table(table, source, shift, log)),
    };
    Node { place, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_point_at_keys_and_values() {
        let text = "[workload]\nbs = \"4k\"\niodepth = [1, 4]\n";
        let mut log = Log::default();
        let all = log.add("a.toml", text, true);
        let table = document(text, all, &mut log).unwrap();
        let Value::Table(workload) = &table.get("workload").unwrap().value else { panic!() };
        let keys: Vec<&str> = workload.entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["bs", "iodepth"], "in the order of the text");
        let at = |place: Place| &text[place.start as usize..place.end as usize];
        assert_eq!(at(workload.entries[0].key_place), "bs");
        assert_eq!(at(workload.entries[0].node.place), "\"4k\"");
        assert_eq!(at(workload.entries[1].node.place), "[1, 4]");
        assert_eq!(log.count(), 0);
    }

    #[test]
    fn all_syntax_errors_are_found_and_the_rest_is_kept() {
        let text = "a = 4k\nb = 2\nc = 64k\nd = 3\n";
        let mut log = Log::default();
        let all = log.add("a.toml", text, true);
        let table = document(text, all, &mut log).unwrap();
        assert!(matches!(table.get("d").unwrap().value, Value::Integer(3)));
        let lines: Vec<usize> = log.into_problems().unwrap().0.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [1, 3]);
    }

    #[test]
    fn a_broken_structure_is_not_read_on() {
        let text = "a = {\nb = \"x\nc = 3\n";
        let mut log = Log::default();
        let all = log.add("a.toml", text, true);
        assert!(document(text, all, &mut log).is_none());
        assert!(log.count() > 0);
    }
}
