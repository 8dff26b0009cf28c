//! JSON Schema of scenarios and drive files, written from the same declarations as the reader.
use crate::catalogue::declared;
use crate::keys::{Kind, Read, Section};
use crate::raw::ScenarioRaw;
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
    let mut schema = of(kind, sweeps);
    if let Value::Object(map) = &mut schema {
        map.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        map.insert("title".to_owned(), json!(title));
    }
    schema
}

fn of(kind: &Kind, sweeps: bool) -> Value {
    match kind {
        Kind::Quantity { what, units, example } => {
            json!({ "type": "string", "description": format!("{what}; units: {units}"), "examples": [example] })
        }
        Kind::Count { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Number { least, most } => json!({ "type": "number", "minimum": least, "maximum": most }),
        Kind::Percent => json!({ "anyOf": [
            { "type": "number", "minimum": 0, "maximum": 100 },
            { "type": "string", "pattern": r"^\s*[0-9._]+\s*%\s*$", "examples": ["70%"] },
        ] }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Choice(names) => {
            let one = |(name, doc): &(&str, &str)| json!({ "const": name, "description": doc });
            json!({ "oneOf": names.iter().map(one).collect::<Vec<_>>() })
        }
        Kind::Table(section) => table(section, sweeps),
        Kind::Names { each } => json!({ "type": "object", "additionalProperties": of(each, sweeps) }),
        Kind::List { each, .. } => json!({ "type": "array", "items": of(each, false) }),
        Kind::Either(kinds) => {
            json!({ "anyOf": kinds.iter().map(|kind| of(kind, sweeps)).collect::<Vec<_>>() })
        }
    }
}

fn table(section: &Section, sweeps: bool) -> Value {
    let mut properties = Map::new();
    for key in &section.keys {
        let single = of(&key.kind, sweeps);
        let mut forms = vec![single.clone()];
        if section.facts {
            forms.push(fact(&single));
        }
        if sweeps && !key.kind.takes_list() && !matches!(key.kind, Kind::Names { .. }) {
            forms.push(json!({ "type": "array", "items": single, "minItems": 1 }));
        }
        let mut value = if forms.len() == 1 { single } else { json!({ "anyOf": forms }) };
        if let Value::Object(map) = &mut value {
            map.insert("description".to_owned(), json!(description(&key.doc, key.default)));
        }
        properties.insert(key.name.to_owned(), value);
    }
    if section.facts {
        properties.insert("source".to_owned(), json!({ "type": "string" }));
        properties.insert("mark".to_owned(), mark());
    }
    json!({
        "type": "object",
        "description": section.doc,
        "properties": properties,
        "additionalProperties": false,
    })
}

/// A value with where it comes from.
fn fact(value: &Value) -> Value {
    json!({
        "type": "object",
        "properties": { "value": value, "source": { "type": "string" }, "mark": mark() },
        "required": ["value"],
        "additionalProperties": false,
    })
}

fn mark() -> Value {
    of(&crate::Mark::kind(), false)
}

fn description(doc: &str, default: &str) -> String {
    if default.is_empty() { doc.to_owned() } else { format!("{doc} Default: {default}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_sweep_in_a_scenario_only() {
        let depth = &schema()["properties"]["workload"]["anyOf"][0]["properties"]["iodepth"];
        assert_eq!(depth["anyOf"][0]["maximum"], 65_536);
        assert_eq!(depth["anyOf"][1]["type"], "array");
        let rpm = &drive_schema()["properties"]["rpm"]["anyOf"];
        assert_eq!(rpm[1]["required"][0], "value");
        assert_eq!(rpm.as_array().map(Vec::len), Some(2));
    }
}
