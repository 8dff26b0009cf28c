//! JSON Schema of scenarios and drive files, generated from the declarations of the reader.
//!
//! A section is written under `$defs` in up to two versions: one for scenarios, where a list in place of a
//! value is a sweep, and one for other files. `forms.rs` describes how the forms of one value are
//! distinguished.
mod forms;

use crate::catalogue::declared;
use crate::keys::kind::Key;
use crate::keys::{Kind, Read, Section};
use crate::raw::ScenarioRaw;
use forms::Forms;
use serde_json::{Map, Value, json};

/// The schema of a scenario, for editors that complete and check TOML.
pub fn schema() -> Value {
    document("drivelab scenario", &ScenarioRaw::kind(), true)
}

/// The schema of a drive file.
pub fn drive_schema() -> Value {
    file_schema("drives")
}

/// The schema of the files of one kind of the catalogue.
pub fn file_schema(kind: &str) -> Value {
    let (what, declared) = declared(kind);
    document(&format!("drivelab {what}"), &declared, false)
}

fn document(title: &str, kind: &Kind, sweeps: bool) -> Value {
    let mut defs = Defs::default();
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!(title));
    schema.insert("type".to_owned(), json!("object"));
    if let Some(section) = kind.section() {
        schema.extend(defs.object(section, sweeps));
    }
    schema.insert("$defs".to_owned(), Value::Object(defs.0));
    Value::Object(schema)
}

/// The definitions written so far, by name.
#[derive(Default)]
struct Defs(Map<String, Value>);

impl Defs {
    /// The reference to a section. Its definition does not state a type: the referring schema does.
    fn reference(&mut self, section: &Section, sweeps: bool) -> Value {
        let mut name = kebab(section.name.trim_end_matches("Raw"));
        if sweeps {
            name.push_str("-or-sweep");
        }
        if !self.0.contains_key(&name) {
            let object = Value::Object(self.object(section, sweeps));
            self.0.insert(name.clone(), object);
        }
        json!(format!("#/$defs/{name}"))
    }

    fn object(&mut self, section: &Section, sweeps: bool) -> Map<String, Value> {
        let mut properties = Map::new();
        for key in &section.keys {
            properties.insert(key.name.to_owned(), self.property(key, section.facts, sweeps));
        }
        if section.facts {
            let [source, mark] = self.origin();
            properties.insert("source".to_owned(), source);
            properties.insert("mark".to_owned(), mark);
        }
        let mut object = Map::new();
        object.insert("description".to_owned(), json!(section.doc));
        object.insert("properties".to_owned(), Value::Object(properties));
        object.insert("additionalProperties".to_owned(), json!(false));
        object
    }

    /// One key's value, with a list of such values where that is a sweep, and with its source where it can
    /// have one.
    fn property(&mut self, key: &Key, facts: bool, sweeps: bool) -> Value {
        let single = self.forms(&key.kind, sweeps);
        let mut forms = single.clone();
        // A table carries its source itself.
        if facts && !single.is_table() {
            let [source, mark] = self.origin();
            forms.add_object(json!({
                "properties": { "value": single.render(), "source": source, "mark": mark },
                "required": ["value"],
                "additionalProperties": false,
            }));
        }
        if sweeps && !key.kind.takes_list() && !matches!(key.kind, Kind::Names { .. }) {
            forms.add_array(json!({ "items": single.render(), "minItems": 1 }));
        }
        let mut value = forms.render();
        if let Value::Object(map) = &mut value {
            map.insert("description".to_owned(), json!(description(key)));
        }
        value
    }

    /// The properties that state a value's source: `source` and `mark`.
    fn origin(&mut self) -> [Value; 2] {
        for (name, kind, doc) in [
            ("source", Kind::Text, "Where the value comes from."),
            ("mark", crate::Mark::kind(), "How the value became known."),
        ] {
            if !self.0.contains_key(name) {
                let mut value = self.forms(&kind, false).render();
                value["description"] = json!(format!("{doc}{}", names(&kind)));
                self.0.insert(name.to_owned(), value);
            }
        }
        ["source", "mark"].map(|name| json!({ "$ref": format!("#/$defs/{name}") }))
    }

    fn forms(&mut self, kind: &Kind, sweeps: bool) -> Forms {
        let mut forms = Forms::default();
        for kind in kind.alternatives() {
            match kind {
                Kind::Quantity { example, .. } => forms.add_text(&[example]),
                Kind::Text => forms.add_text(&[]),
                Kind::Choice(names) => forms.add_names(names.iter().map(|(name, _)| *name)),
                Kind::Count { least, most } => forms.add_number("integer", *least, *most),
                Kind::Number { least, most } => forms.add_number("number", *least, *most),
                Kind::Thousandths { most } => forms.add_thousandths(*most),
                Kind::Percent => {
                    forms.add_number("number", 0, 100);
                    forms.add_percentage();
                }
                Kind::Flag => forms.add_flag(),
                Kind::Table(section) => {
                    let reference = self.reference(section, sweeps);
                    forms.add_table(json!({ "$ref": reference }));
                }
                Kind::Names { each } => {
                    let each = self.forms(each, sweeps).render();
                    forms.add_table(json!({ "additionalProperties": each }));
                }
                Kind::List { each, .. } => {
                    let each = self.forms(each, false).render();
                    forms.add_array(json!({ "items": each }));
                }
                Kind::Either(_) => {}
            }
        }
        forms
    }
}

/// The description that an editor shows for a key.
fn description(key: &Key) -> String {
    let mut text = key.doc.replace('\n', " ");
    for kind in key.kind.alternatives() {
        if let Kind::Quantity { what, units, example } = kind {
            text.push_str(&format!(" Write {what} such as \"{example}\"; units: {units}."));
        } else if let Kind::List { example, .. } = kind {
            text.push_str(&format!(" A list such as {example}."));
        }
    }
    if !key.default.is_empty() {
        text.push_str(&format!(" Default: {}.", key.default));
    }
    text.push_str(&names(&key.kind));
    text
}

/// The meanings of the names of a choice, one per line.
fn names(kind: &Kind) -> String {
    let choices = kind.alternatives().iter().filter_map(|kind| match kind {
        Kind::Choice(names) => Some(names),
        _ => None,
    });
    choices.flatten().map(|(name, doc)| format!("\n- `{name}`: {doc}")).collect()
}

/// A type's name in kebab case, as the files are named.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for (place, c) in name.char_indices() {
        if c.is_ascii_uppercase() && place > 0 {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_sweep_in_a_scenario_only() {
        let schema = schema();
        let depth = &schema["$defs"]["workload-or-sweep"]["properties"]["iodepth"];
        assert_eq!(depth["type"], json!(["integer", "array"]));
        assert_eq!((&depth["maximum"], &depth["items"]["maximum"]), (&json!(65_536), &json!(65_536)));
        let drive = drive_schema();
        let rpm = &drive["properties"]["rpm"];
        assert_eq!((&rpm["type"], &rpm["required"]), (&json!(["string", "object"]), &json!(["value"])));
    }

    #[test]
    fn no_two_sections_share_a_name() {
        fn walk<'a>(kind: &'a Kind, found: &mut Vec<(&'a str, &'a str)>) {
            for kind in kind.alternatives() {
                match kind {
                    Kind::Table(section) => {
                        found.push((section.name, &section.doc));
                        section.keys.iter().for_each(|key| walk(&key.kind, found));
                    }
                    Kind::Names { each } | Kind::List { each, .. } => walk(each, found),
                    _ => {}
                }
            }
        }
        let kind = ScenarioRaw::kind();
        let mut found = Vec::new();
        walk(&kind, &mut found);
        found.sort_unstable();
        found.dedup();
        assert!(found.windows(2).all(|two| two[0].0 != two[1].0), "{found:?}");
    }

    #[test]
    fn it_is_small_enough_for_an_editor() {
        for schema in [schema(), drive_schema()] {
            let size = serde_json::to_string_pretty(&schema).unwrap().len();
            assert!(size < 600_000, "{size} bytes");
        }
    }
}
