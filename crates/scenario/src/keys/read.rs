//! From a node of the tree to a typed value, with its place and its source.
use super::kind::{Key, Kind};
use crate::text::problem::{Log, Place};
use crate::text::suggest;
use crate::text::tree::{Entry, Node, Value};
use std::fmt::Write;

/// A type that a key can have.
pub trait Read: Sized {
    /// The accepted values, in words for people and for the schema.
    fn kind() -> Kind;

    /// Reads the value, or records why it cannot be read.
    fn read(node: &Node, log: &mut Log) -> Option<Self>;

    /// The value in its canonical form, however it was written: the input of hashes.
    fn write(&self, out: &mut String);

    /// Merges this value over another one of the same key: a section keeps the other's keys that it does not
    /// set itself.
    fn over(self, _below: Self) -> Self {
        self
    }
}

/// How a fact became known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// From the manufacturer's specification.
    Datasheet,
    /// From a measurement of the drive.
    Measured,
    /// Computed, or interpolated between published figures.
    Inferred,
    /// Chosen so that simulated results meet published ones.
    Fitted,
}

/// Where a fact comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Source {
    pub source: Option<String>,
    pub mark: Option<Mark>,
}

impl Source {
    /// Reads the key `source` or `mark` of a table of facts; false for any other key.
    pub fn take(&mut self, entry: &Entry, log: &mut Log) -> bool {
        match entry.key.as_str() {
            "source" => self.source = String::read(&entry.node, log),
            "mark" => self.mark = Mark::read(&entry.node, log),
            _ => return false,
        }
        true
    }
}

/// A value with its place in the text.
#[derive(Clone, Debug)]
pub struct At<T> {
    pub value: T,
    pub place: Place,
    /// The value's own source, not that of its section.
    pub source: Source,
}

impl<T> At<T> {
    pub fn new(value: T, place: Place) -> Self {
        At { value, place, source: Source::default() }
    }
}

/// Reads an entry of a section.
pub fn read_entry<T: Read>(entry: &Entry, facts: bool, log: &mut Log) -> Option<At<T>> {
    let (mut source, mut node) = (Source::default(), &entry.node);
    if facts
        && let Value::Table(table) = &entry.node.value
        && let Some(value) = table.get("value")
    {
        node = value;
        for inner in &table.entries {
            // Beyond the last problem that is kept, looking for the right name is wasted time.
            if inner.key != "value" && !source.take(inner, log) && !log.is_full() {
                let remedy = suggest::remedy(&inner.key, &["value", "source", "mark"]);
                log.fault(inner.key_place, format!("unknown key `{}` beside a value", inner.key), remedy);
            }
        }
    }
    T::read(node, log).map(|value| At { value, place: node.place, source })
}

/// Records a value of the wrong type.
pub fn wrong_type(node: &Node, kind: &Kind, log: &mut Log) {
    let mut remedy = format!("write {}", kind.words());
    if let (Value::List(items), false) = (&node.value, kind.takes_list()) {
        if items.is_empty() && log.has_at(node.place) {
            // An empty sweep, which is reported elsewhere.
            return;
        }
        if items.iter().any(|item| matches!(item.value, Value::List(_))) {
            remedy = "the values of a sweep cannot be lists themselves".to_owned();
        } else {
            remedy = format!("a sweep cannot be written here; {remedy}");
        }
    }
    log.fault(node.place, format!("{} where {} is wanted", node.what(), short(kind)), remedy);
}

fn short(kind: &Kind) -> String {
    match kind {
        Kind::Quantity { what, .. } => (*what).to_owned(),
        Kind::Choice(_) => "one of a few names".to_owned(),
        Kind::List { .. } => "a list".to_owned(),
        Kind::Either(kinds) => kinds.iter().map(short).collect::<Vec<_>>().join(" or "),
        kind => kind.words(),
    }
}

/// Records a key that a section does not have.
pub fn unknown_key(entry: &Entry, keys: &[Key], facts: bool, log: &mut Log) {
    let mut names: Vec<&str> = keys.iter().map(|key| key.name).collect();
    if facts {
        names.extend(["source", "mark"]);
    }
    let remedy =
        crate::raw::elsewhere(&entry.key, &names).unwrap_or_else(|| suggest::remedy(&entry.key, &names));
    log.fault(entry.key_place, format!("unknown key `{}`", entry.key), remedy);
}

impl Read for String {
    fn kind() -> Kind {
        Kind::Text
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        if let Value::Text(text) = &node.value {
            return Some(text.clone());
        }
        wrong_type(node, &Self::kind(), log);
        None
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{self:?}");
    }
}

impl Read for bool {
    fn kind() -> Kind {
        Kind::Flag
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Flag(flag) => return Some(*flag),
            // The words of data sheets and of tools such as hdparm.
            Value::Text(text) if text == "on" => return Some(true),
            Value::Text(text) if text == "off" => return Some(false),
            _ => {}
        }
        wrong_type(node, &Self::kind(), log);
        None
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

/// A table whose keys the author chooses, in the order of the text.
#[derive(Clone, Debug)]
pub struct Names<T>(pub Vec<(String, At<T>)>);

impl<T> Default for Names<T> {
    fn default() -> Self {
        Names(Vec::new())
    }
}

impl<T: Read> Read for Names<T> {
    fn kind() -> Kind {
        Kind::Names { each: Box::new(T::kind()) }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            wrong_type(node, &Self::kind(), log);
            return None;
        };
        let read = |entry: &Entry| Some((entry.key.clone(), read_entry(entry, false, log)?));
        Some(Names(table.entries.iter().filter_map(read).collect()))
    }

    fn write(&self, out: &mut String) {
        out.push('{');
        for (name, at) in &self.0 {
            let _ = write!(out, "{name:?}=");
            at.value.write(out);
            out.push(';');
        }
        out.push('}');
    }
}

/// A list that is not a sweep.
impl<T: Read + Example> Read for Vec<At<T>> {
    fn kind() -> Kind {
        Kind::List { each: Box::new(T::kind()), example: T::EXAMPLE }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::List(items) = &node.value else {
            wrong_type(node, &Self::kind(), log);
            return None;
        };
        if items.len() > T::MOST {
            let message = format!("a list of {}: at most {} are possible", items.len(), T::MOST);
            log.fault(node.place, message, T::TOO_MANY);
            return None;
        }
        let before = log.count();
        let read = |item: &Node| T::read(item, log).map(|value| At::new(value, item.place));
        let list: Vec<At<T>> = items.iter().filter_map(read).collect();
        (log.count() == before).then_some(list)
    }

    fn write(&self, out: &mut String) {
        for at in self {
            at.value.write(out);
            out.push(',');
        }
    }
}

/// An example of a list of these, and its maximum length.
pub trait Example {
    const EXAMPLE: &'static str;
    /// More than anybody writes: each entry takes many times the memory of its text.
    const MOST: usize = 65_536;
    /// The remedy for a longer list.
    const TOO_MANY: &'static str = "shorten the list";
}
