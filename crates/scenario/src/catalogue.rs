//! The catalogue: drives and other files that come with the program, each fact with its source.
use crate::keys::kind::{Kind, Section};
use crate::keys::read::{Mark, Read};
use crate::keys::section::displaced_by;
use crate::raw::choice::CatalogueItem;
use crate::raw::class::{Class, ClassRaw};
use crate::raw::drive::DriveRaw;
use crate::raw::system::ControllerRaw;
use crate::raw::workload::PatternRaw;
use crate::text::problem::Log;
use crate::text::tree::{Node, Value, document};
use include_dir::{Dir, include_dir};

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../catalogue");

/// One file of the catalogue.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct CatalogueFile {
    /// The file's name without its extension, with its subfolder if it is in one: the name that a scenario
    /// uses.
    pub name: &'static str,
    /// Its path in the repository.
    pub path: &'static str,
    pub text: &'static str,
}

/// The TOML files of one kind (`drives`, `controllers`, `workloads`, `experiments`), by name.
pub fn entries(kind: &str) -> Vec<CatalogueFile> {
    let mut found = Vec::new();
    if let Some(folder) = FILES.get_dir(kind) {
        gather(folder, kind, &mut found);
    }
    found.sort_by_key(|entry| entry.name);
    found
}

fn gather(folder: &Dir<'static>, kind: &str, found: &mut Vec<CatalogueFile>) {
    for file in folder.files() {
        let Some(path) = file.path().to_str() else { continue };
        let name = path.strip_prefix(kind).and_then(|name| name.strip_prefix('/'));
        if let (Some(name), Some(text)) =
            (name.and_then(|name| name.strip_suffix(".toml")), file.contents_utf8())
        {
            found.push(CatalogueFile { name, path, text });
        }
    }
    folder.dirs().for_each(|inner| gather(inner, kind, found));
}

/// The text of a file of one kind.
pub fn text(kind: &str, name: &str) -> Option<&'static str> {
    entries(kind).into_iter().find(|entry| entry.name == name).map(|entry| entry.text)
}

/// A fact of a file, with its source.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Fact {
    /// The key's full name.
    pub key: String,
    pub value: serde_json::Value,
    pub mark: Option<Mark>,
    pub source: Option<String>,
    /// The base file that states it, where it is not in the file itself.
    pub base: Option<String>,
}

/// The kinds whose files contain facts.
pub const KINDS: [&str; 3] = [DriveRaw::FOLDER, ControllerRaw::FOLDER, PatternRaw::FOLDER];

/// The word for one thing of a kind, such as `drive`, and the description of its file's contents.
pub(crate) fn declared(kind: &str) -> (&'static str, Kind) {
    match kind {
        ControllerRaw::FOLDER => (ControllerRaw::WHAT, ControllerRaw::kind()),
        PatternRaw::FOLDER => (PatternRaw::WHAT, PatternRaw::kind()),
        Class::FOLDER => ("class", ClassRaw::kind()),
        _ => (DriveRaw::WHAT, DriveRaw::kind()),
    }
}

/// All facts of a file of one kind in the order of its text; the source is `None` where there is none.
pub fn facts(kind: &str, text: &str) -> Vec<Fact> {
    let mut log = Log::default();
    let all = log.add("", text, true);
    let table = document(text, all, &mut log).unwrap_or_default();
    let root = Node { place: all, value: Value::Table(table) };
    let mut found = Vec::new();
    if let Some(section) = declared(kind).1.section() {
        collect(&root, section, "", &mut found, &mut log);
    }
    found
}

/// The name of the file on which this one is based, from its key `base` (of a pattern: `pattern`).
pub fn base(text: &str) -> Option<String> {
    let mut log = Log::default();
    let all = log.add("", text, true);
    let table = document(text, all, &mut log)?;
    let named = |key: &str| match &table.get(key)?.value {
        Value::Text(name) => Some(name.clone()),
        Value::Table(fact) => match &fact.get("value")?.value {
            Value::Text(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    };
    named("base").or_else(|| named("pattern"))
}

/// The facts of a file of one kind, followed by those that it inherits from the files on which it is based,
/// the nearest first: each base by its name and its text.
pub fn facts_over(kind: &str, text: &str, bases: &[(String, String)]) -> Vec<Fact> {
    let mut found = facts(kind, text);
    let Kind::Table(whole) = declared(kind).1 else { return found };
    for (name, below) in bases {
        let above: Vec<String> = found.iter().map(|fact| fact.key.clone()).collect();
        let taken = facts(kind, below).into_iter().filter(|fact| is_taken_over(&fact.key, &above, &whole));
        found.extend(taken.map(|fact| Fact { base: Some(name.clone()), ..fact }));
    }
    found
}

/// Whether a file with the facts `above` inherits this fact from its base.
fn is_taken_over(key: &str, above: &[String], whole: &Section) -> bool {
    let (mut section, mut prefix) = (Some(whole), String::new());
    for name in key.split('.') {
        let set: Vec<&str> =
            above.iter().filter_map(|other| other.strip_prefix(&prefix)?.split('.').next()).collect();
        if section.is_some_and(|section| displaced_by(&set, section.exclusive).contains(&name)) {
            return false;
        }
        prefix.push_str(name);
        if above.contains(&prefix) {
            return false;
        }
        prefix.push('.');
        let keys = section.map_or(&[][..], |section| &section.keys);
        section = keys.iter().find(|key| key.name == name).and_then(|key| key.kind.section());
    }
    // A table in the file above replaces a plain value of the base.
    !above.iter().any(|other| other.starts_with(&prefix))
}

/// Keys of a file that are not facts about its subject.
const NO_FACTS: [&str; 5] = ["base", "pattern", "sources", "source", "mark"];

fn collect(node: &Node, section: &Section, prefix: &str, found: &mut Vec<Fact>, log: &mut Log) {
    let Value::Table(table) = &node.value else { return };
    let text = |node: Option<&Node>| match node.map(|node| &node.value) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let mut mark = |node: Option<&Node>| node.and_then(|node| Mark::read(node, log));
    let (own_source, own_mark) = (text(table.get("source")), mark(table.get("mark")));
    let mut inner = Vec::new();
    for entry in &table.entries {
        let name = entry.key.as_str();
        if NO_FACTS.contains(&name) {
            continue;
        }
        let key = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        let (mut value, mut source, mut how) = (&entry.node, own_source.clone(), own_mark);
        if let Value::Table(fact) = &entry.node.value
            && let Some(inside) = fact.get("value")
        {
            value = inside;
            source = text(fact.get("source")).or(source);
            how = mark(fact.get("mark")).or(how);
        } else if let Some(section) =
            section.keys.iter().find(|key| key.name == name).and_then(|key| key.kind.section())
            && section.facts
        {
            inner.push((key, &entry.node, section));
            continue;
        }
        found.push(Fact { key, value: value.to_json(), mark: how, source, base: None });
    }
    for (key, node, section) in inner {
        collect(node, section, &key, found, log);
    }
}
