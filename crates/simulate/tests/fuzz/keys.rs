//! Every key that a scenario may have, from its JSON Schema, and random values for it.
use drivelab_core::rng::Stream;
use drivelab_scenario::{catalogue, schema};
use serde_json::Value;
use std::sync::LazyLock;

/// Draws from a named stream.
pub struct Dice(Stream);

impl Dice {
    pub fn new(seed: u64, name: &str) -> Self {
        Dice(Stream::named(seed, name))
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    /// From `least` to `most`, small numbers as likely as large ones.
    pub fn spread(&mut self, least: u64, most: u64) -> u64 {
        let span = most - least;
        if span == 0 {
            return least;
        }
        let bits = self.below(u64::from(span.ilog2()) + 2) as u32;
        let reach = 1u64.checked_shl(bits).unwrap_or(u64::MAX).min(span);
        least + self.below(reach.saturating_add(1))
    }
}

/// A key with its full name, and the forms that its value may have.
pub struct Key {
    pub path: String,
    forms: Vec<Value>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(schema);
/// All keys that take a value of their own, in the order of the schema.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut found = Vec::new();
    walk(&SCHEMA, &mut Vec::new(), &mut found);
    found
});

/// The schema that a reference names, or the schema itself.
fn resolved(schema: &'static Value) -> &'static Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(name) => resolved(SCHEMA.pointer(&name[1..]).expect("a schema that exists")),
        None => schema,
    }
}

/// The forms of a value, with references and alternatives followed to their ends.
fn alternatives(schema: &'static Value) -> Vec<&'static Value> {
    let schema = resolved(schema);
    match schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
        Some(forms) if forms.iter().any(|form| form.get("const").is_none()) => {
            forms.iter().flat_map(alternatives).collect()
        }
        _ => vec![schema],
    }
}

/// Whether a form is the list that sweeps a key, `{ value, source, mark }`, or a table with keys of its own.
fn is_no_value(form: &Value, forms: usize) -> bool {
    let sweep = form["type"] == "array" && form.get("minItems").is_some() && forms > 1;
    let table = form["type"] == "object";
    sweep || table
}

fn walk(schema: &'static Value, path: &mut Vec<String>, found: &mut Vec<Key>) {
    let forms = alternatives(schema);
    for form in &forms {
        if let Some(keys) = form.get("properties").and_then(Value::as_object) {
            if keys.contains_key("value") && keys.contains_key("mark") {
                continue;
            }
            for (key, value) in keys {
                path.push(key.clone());
                walk(value, path, found);
                path.pop();
            }
        } else if let Some(each) = form.get("additionalProperties").filter(|each| each.is_object()) {
            path.push("a".to_owned());
            walk(each, path, found);
            path.pop();
        }
    }
    let values: Vec<Value> =
        forms.iter().filter(|form| !is_no_value(form, forms.len())).map(|form| (*form).clone()).collect();
    let is_people_s = path.iter().any(|part| part == "identity" || part == "sources");
    let is_source = path.last().is_some_and(|part| part == "source" || part == "mark");
    if !values.is_empty() && !path.is_empty() && !is_people_s && !is_source {
        found.push(Key { path: path.join("."), forms: values });
    }
}

impl Key {
    /// A value in TOML, plausible more often than not.
    pub fn value(&self, dice: &mut Dice) -> String {
        let name = self.path.rsplit('.').next().unwrap_or("");
        let form = dice.below(self.forms.len() as u64) as usize;
        value(&self.forms[form], name, dice)
    }
}

/// What the schema's bounds leave open: sizes and counts that make short runs.
fn hinted(name: &str, dice: &mut Dice) -> Option<String> {
    let texts: &[&str] = match name {
        "bs" | "blockalign" => &["512B", "4KiB", "4KiB", "7KiB", "64KiB", "256KiB", "1MiB"],
        "bssplit" => &["4k/60:64k/40", "512B/50:8k/50", "4k:64k"],
        "stripe_unit" => &["4KiB", "16KiB", "64KiB", "256KiB", "12KiB"],
        "max_transfer" | "largest_request" => &["4KiB", "64KiB", "128KiB", "1MiB"],
        "missing" => return Some(format!("[{}]", dice.below(4))),
        "size" | "offset" => &["1MiB", "10%", "50%", "3MB", "64KiB", "100%"],
        "read_errors" => &["1%", "10%", "50%"],
        "timeout" => &["20ms", "100ms", "1s", "7s"],
        "window" => &["64KiB", "1MiB"],
        "power_cut" => &["50ms", "500ms", "3s", "never"],
        "capacity" => &["20MB", "300MB", "1GB"],
        "at" | "resync_at" | "scrub_at" | "replaced_after" => &["0ms", "10ms", "300ms", "2s"],
        _ => return None,
    };
    Some(format!("\"{}\"", dice.of(texts)))
}

/// Counts that decide how long a run takes: beyond these it is slow, and nothing new.
fn counted(name: &str, dice: &mut Dice) -> Option<u64> {
    match name {
        "numjobs" => Some(dice.spread(1, 4)),
        "iodepth" | "outstanding" => {
            Some(if dice.one_in(8) { dice.spread(1, 1_000) } else { dice.spread(1, 64) })
        }
        "members" => Some(2 + dice.below(7)),
        "spares" | "groups" | "copies" => Some(1 + dice.below(3)),
        "stations" => Some(dice.spread(1, 16)),
        _ => None,
    }
}

fn value(form: &Value, name: &str, dice: &mut Dice) -> String {
    if let Some(count) = counted(name, dice) {
        return count.to_string();
    }
    if !dice.one_in(8)
        && let Some(hinted) = hinted(name, dice)
    {
        return hinted;
    }
    let choices = form.get("oneOf").or_else(|| form.get("anyOf")).and_then(Value::as_array);
    if let Some(names) = choices.filter(|names| names[0].get("const").is_some()) {
        return names[dice.below(names.len() as u64) as usize]["const"].to_string();
    }
    if let Some(names) = form.get("enum").and_then(Value::as_array) {
        return dice.of(names).to_string();
    }
    if let Some(forms) = choices {
        let form = dice.below(forms.len() as u64) as usize;
        return value(resolved_copy(&forms[form]), name, dice);
    }
    if let Some(only) = form.get("const") {
        return only.to_string();
    }
    match form["type"].as_str() {
        Some("boolean") => dice.one_in(2).to_string(),
        Some("integer") => {
            let bound = |name: &str, other| form.get(name).and_then(Value::as_u64).unwrap_or(other);
            dice.spread(bound("minimum", 0), bound("maximum", u64::from(u32::MAX))).to_string()
        }
        Some("number") => {
            let bound = |name: &str, other| form.get(name).and_then(Value::as_f64).unwrap_or(other);
            let (least, most) = (bound("minimum", 0.0), bound("maximum", 1e6));
            format!("{:?}", least + (most - least) * dice.below(1_001) as f64 / 1_000.0)
        }
        Some("string") => string(form, name, dice),
        Some("array") => {
            let items = resolved_copy(&form["items"]);
            let count = form.get("minItems").and_then(Value::as_u64).unwrap_or(0).max(1) + dice.below(2);
            let list: Vec<String> = (0..count).map(|_| value(items, name, dice)).collect();
            format!("[{}]", list.join(", "))
        }
        Some("object") => table(form, dice),
        _ => "true".to_owned(),
    }
}

/// A reference inside a value: its schema is found in the whole.
fn resolved_copy(form: &Value) -> &Value {
    match form.get("$ref").and_then(Value::as_str) {
        Some(name) => SCHEMA.pointer(&name[1..]).expect("a schema that exists"),
        None => form,
    }
}

/// A table within a list: about half of its keys.
fn table(form: &Value, dice: &mut Dice) -> String {
    let required: Vec<&str> = form
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let keys = form["properties"].as_object().into_iter().flatten();
    let taken: Vec<String> = keys
        .filter(|(key, _)| required.contains(&key.as_str()) || dice.one_in(2))
        .map(|(key, form)| (key, resolved_copy(form)))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|(key, form)| format!("{key} = {}", value(form, key, dice)))
        .collect();
    format!("{{ {} }}", taken.join(", "))
}

/// A quantity near its example, or a name that exists.
fn string(form: &Value, name: &str, dice: &mut Dice) -> String {
    let named = match name {
        "drive" | "spare_drive" | "base" | "drives" | "journal" => Some("drives"),
        "controller" => Some("controllers"),
        "pattern" => Some("workloads"),
        _ => None,
    };
    if let Some(kind) = named {
        let entries = catalogue::entries(kind);
        return format!("\"{}\"", dice.of(&entries).name);
    }
    let example = form.get("examples").and_then(|examples| examples[0].as_str()).unwrap_or("x");
    let digits = example.find(|at: char| !at.is_ascii_digit() && at != '.').unwrap_or(example.len());
    let Ok(number) = example[..digits].parse::<f64>() else { return format!("\"{example}\"") };
    let factor = *dice.of(&[0.0, 0.01, 0.1, 0.5, 1.0, 1.0, 2.0, 4.0, 10.0]);
    format!("\"{}{}\"", number * factor, &example[digits..])
}
