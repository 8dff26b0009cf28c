//! What a drive's file says, with the files that it is based on: the facts that a record does not set and has all the same.
use drivelab_scenario::catalogue::{base, facts_over};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

const KIND: &str = "drives";

/// One fact of a drive.
#[derive(Serialize)]
pub struct Fact {
    key: String,
    value: Value,
}

/// The facts of a drive of these files: those of a record, by their paths. None of a drive that is not among them.
pub fn facts(name: &str, files: &BTreeMap<String, String>) -> Vec<Fact> {
    let mut chain: Vec<(String, String)> = Vec::new();
    let mut next = Some(name.to_owned());
    while let Some(name) = next.filter(|name| !chain.iter().any(|(known, _)| known == name)) {
        let Some(text) = files.get(&format!("catalogue/drives/{name}.toml")).or_else(|| files.get(&name))
        else {
            break;
        };
        next = base(text);
        chain.push((name, text.clone()));
    }
    let Some(((_, own), below)) = chain.split_first() else { return Vec::new() };
    let found = facts_over(KIND, own, below).into_iter();
    found.map(|fact| Fact { key: fact.key, value: fact.value }).collect()
}
