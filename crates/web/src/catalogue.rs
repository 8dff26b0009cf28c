//! The drives of the catalogue with what a list of them shows.
use drivelab_scenario::catalogue::{base, entries, facts_over, text};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

const KIND: &str = "drives";
/// The facts of a list, by their keys.
const SHOWN: [&str; 6] =
    ["identity.maker", "identity.model", "identity.class", "identity.year", "identity.interface", "rpm"];

/// One drive: the name that a scenario uses, and its facts.
#[derive(Serialize)]
pub struct Entry {
    name: &'static str,
    facts: BTreeMap<String, Value>,
}

/// All drives, by name.
pub fn drives() -> Vec<Entry> {
    let listed = |entry: drivelab_scenario::catalogue::CatalogueFile| {
        let facts = facts_over(KIND, entry.text, &bases(entry.text));
        let shown = facts.into_iter().filter(|fact| SHOWN.contains(&fact.key.as_str()));
        Entry { name: entry.name, facts: shown.map(|fact| (fact.key, fact.value)).collect() }
    };
    entries(KIND).into_iter().map(listed).collect()
}

/// The files on which a drive's file is based, the nearest first.
fn bases(of: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut next = base(of);
    while let Some(name) = next {
        let Some(below) = text(KIND, &name).filter(|_| !found.iter().any(|(known, _)| *known == name)) else {
            break;
        };
        next = base(below);
        found.push((name, below.to_owned()));
    }
    found
}
