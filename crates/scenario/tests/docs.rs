//! The documentation and the schema against the reader: every example is a scenario, every catalogue file conforms.
use drivelab_scenario::{
    NoFiles, Override, Source, catalogue, drive_reference, file_schema, plan, scenario_reference, schema,
};
use serde_json::Value;
use std::path::PathBuf;

const BEGIN: &str =
    "<!-- keys: written by the tests of crates/scenario; UPDATE_DOCS=1 writes them anew -->\n";
const END: &str = "<!-- keys: end -->";

/// The chapters whose examples are scenarios.
const CHAPTERS: [&str; 4] = ["scenario.md", "drives.md", "path.md", "arrays.md"];

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

fn examples(text: &str) -> Vec<&str> {
    text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_references_are_current() {
    for (name, keys) in [("keys-scenario.md", scenario_reference()), ("keys-drive.md", drive_reference())] {
        let text = text(name);
        let (head, rest) = text.split_once(BEGIN).expect("the begin of the keys");
        let (_, tail) = rest.split_once(END).expect("the end of the keys");
        let current = format!("{head}{BEGIN}{keys}\n{END}{tail}");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path(name), &current).unwrap();
        } else {
            assert!(
                current == text,
                "docs/{name} is not current: run `UPDATE_DOCS=1 cargo test -p drivelab-scenario`"
            );
        }
    }
}

#[test]
fn every_example_is_a_scenario_and_conforms() {
    let schema = schema();
    for chapter in CHAPTERS {
        let text = text(chapter);
        assert!(!examples(&text).is_empty(), "{chapter}");
        for example in examples(&text) {
            let source = Source { origin: chapter.to_owned(), text: example.to_owned() };
            let planned = plan(&source, &[], &NoFiles)
                .unwrap_or_else(|problems| panic!("{chapter}:\n{example}\n{problems}"));
            assert!(!planned.points.is_empty());
            let json: Value = toml::from_str(example).unwrap();
            assert_eq!(faults(&schema, &json), Vec::<String>::new(), "{chapter}:\n{example}");
        }
    }
}

#[test]
fn the_overrides_of_the_text_hold_for_the_drives_of_the_catalogue() {
    let text = text("scenario.md");
    for drive in catalogue::entries("drives") {
        let source =
            Source { origin: "a.toml".to_owned(), text: format!("target.drive = \"{}\"", drive.name) };
        let plain = plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
        let queues = plain.points[0].in_force.as_ref().is_some_and(|in_force| in_force.depth > 1);
        for (key, value) in
            [("target.queue.order", "sptf"), ("workload.bs", "4k,64k"), ("target.drive.rpm", "10000rpm")]
        {
            assert!(text.contains(&format!("`--set {key}={value}`")), "{key}");
            // A drive without a queue has no order.
            if key == "target.queue.order" && !queues {
                continue;
            }
            let over = Override { key: key.to_owned(), value: value.to_owned(), origin: key.to_owned() };
            plan(&source, &[over], &NoFiles).unwrap_or_else(|problems| panic!("{}: {problems}", drive.name));
        }
    }
}

#[test]
fn every_file_of_the_catalogue_conforms() {
    for kind in catalogue::KINDS {
        let schema = file_schema(kind);
        let files = catalogue::entries(kind);
        assert!(files.len() >= 3, "{kind}");
        for file in files {
            let json: Value = toml::from_str(file.text).unwrap();
            assert_eq!(faults(&schema, &json), Vec::<String>::new(), "{}", file.path);
        }
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = schema();
    for text in [
        "workload.iodpeth = 1",
        "workload.iodepth = 0",
        "workload.iodepth = []",
        "run.seed = \"x\"",
        "target = 4",
    ] {
        let json: Value = toml::from_str(text).unwrap();
        assert!(!faults(&schema, &json).is_empty(), "{text}");
    }
}

/// The words of JSON Schema that our schemas use, checked plainly.
fn faults(schema: &Value, value: &Value) -> Vec<String> {
    found_by(schema, schema, value)
}

fn is_of(name: &Value, value: &Value) -> bool {
    match name.as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        other => panic!("a type that the check does not know: {other:?}"),
    }
}

/// What a schema, part of `whole`, finds wrong with a value.
fn found_by(whole: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let faults = |schema: &Value, value: &Value| found_by(whole, schema, value);
    let known = [
        "$schema",
        "$defs",
        "$ref",
        "title",
        "description",
        "examples",
        "type",
        "anyOf",
        "enum",
        "minimum",
        "maximum",
        "pattern",
        "items",
        "minItems",
        "properties",
        "additionalProperties",
        "required",
    ];
    for word in schema.as_object().unwrap().keys() {
        assert!(known.contains(&word.as_str()), "a word that the check does not know: {word}");
    }
    let mut found = Vec::new();
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.strip_prefix("#/$defs/").unwrap();
        found.extend(faults(&whole["$defs"][name], value));
    }
    if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
        let tried: Vec<Vec<String>> = options.iter().map(|option| faults(option, value)).collect();
        if !tried.iter().any(Vec::is_empty) {
            found.extend(tried.concat());
        }
    }
    if let Some(right) = schema.get("enum").and_then(Value::as_array)
        && !right.contains(value)
    {
        found.push(format!("{value} is none of {right:?}"));
    }
    let right = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| is_of(name, value)),
        Some(name) => is_of(name, value),
        None => true,
    };
    if !right {
        found.push(format!("{value} is no {}", schema["type"]));
        return found;
    }
    if let Some(number) = value.as_f64() {
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        if bound("minimum").is_some_and(|least| number < least)
            || bound("maximum").is_some_and(|most| number > most)
        {
            found.push(format!("{value} is out of range"));
        }
    }
    if let Some(text) = value.as_str()
        && schema.get("pattern").is_some()
        && !text.trim_end().ends_with('%')
    {
        found.push(format!("{value} is no percentage"));
    }
    if let Some(items) = value.as_array() {
        if (items.len() as u64) < schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) {
            found.push("too few items".to_owned());
        }
        found.extend(
            schema.get("items").into_iter().flat_map(|each| items.iter().flat_map(|item| faults(each, item))),
        );
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        match (schema["properties"].get(key), schema.get("additionalProperties")) {
            (Some(property), _) => {
                found.extend(faults(property, inner).into_iter().map(|fault| format!("{key}: {fault}")));
            }
            (None, Some(Value::Bool(false))) => found.push(format!("unknown key {key}")),
            (None, Some(each)) => found.extend(faults(each, inner)),
            (None, None) => {}
        }
    }
    let required = schema.get("required").filter(|_| value.is_object());
    let required = required.and_then(Value::as_array).into_iter().flatten();
    found.extend(
        required
            .filter_map(Value::as_str)
            .filter(|key| value.get(key).is_none())
            .map(|key| format!("no {key}")),
    );
    found
}
