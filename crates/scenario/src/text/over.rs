//! Overrides: `key = value` from the command line, applied to the scenario's tree.
use super::problem::{Log, Place};
use super::tree::{self, Entry, Node, Table, Value};
use crate::keys::Kind;

/// A value for one key, which overrides the scenario's.
#[derive(Clone, Debug)]
pub struct Override {
    /// The full name, such as `target.queue.order`; of an entry of a list `target.faults.slow[0].by`.
    pub key: String,
    /// A TOML value; otherwise a list if it has commas (`1,4,16`), else a text.
    pub value: String,
    /// What the user typed, for messages: `--set target.queue.order=sptf`, or `--iodepth`.
    pub origin: String,
}

/// More parts than any key has.
const DEPTH_MAX: usize = 16;

/// Sets the override's key in a document whose root is of this kind.
pub fn apply(root: &mut Table, kind: &Kind, over: &Override, log: &mut Log) {
    let all = log.add(&over.origin, &format!("{} = {}", over.key, over.value), false);
    let mut start = 0;
    let mut parts = Vec::new();
    for part in over.key.split('.') {
        let place = Place { start, end: start + part.len() as u32, ..all };
        start = place.end + 1;
        if part.trim().is_empty() {
            log.fault(
                Place { end: place.end.max(place.start + 1), ..place },
                "a part of the key is empty",
                "write section.key=value",
            );
            return;
        }
        let (name, entry) = split_entry(part.trim());
        parts.push((name, place));
        parts.extend(entry.map(|entry| (entry, place)));
    }
    if parts.len() > DEPTH_MAX {
        log.fault(
            Place { end: over.key.len() as u32, ..all },
            "no key has so many parts",
            "write section.key=value",
        );
        return;
    }
    let step = |kind: &'_ Kind, part: &str| match entry_number(part) {
        Some(_) => kind.entries().cloned(),
        None => kind.child(part).cloned(),
    };
    let target = parts.iter().try_fold(kind.clone(), |kind, (part, _)| step(&kind, part));
    let target = target.as_ref();
    let shift = over.key.len() + 3;
    let place = Place { start: shift as u32, ..all };
    if let Some(message) = no_value(&over.value, target) {
        let remedy = "write one value, or several with commas between them: 1,4,16";
        log.fault(place, message, remedy);
        return;
    }
    let node = value(&over.value, target, place, log);
    set(root, kind, &parts, &node, log);
}

/// A part of a key, and the entry of a list behind it: `slow[0]` is `slow` and `[0]`.
fn split_entry(part: &str) -> (&str, Option<&str>) {
    match part.find('[').filter(|&at| at > 0 && entry_number(&part[at..]).is_some()) {
        Some(at) => (&part[..at], Some(&part[at..])),
        None => (part, None),
    }
}

/// The number of an entry, where a part of a key is one.
fn entry_number(part: &str) -> Option<usize> {
    part.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

/// The error of a text that was meant as a value or a list of values, and is neither.
fn no_value(text: &str, kind: Option<&Kind>) -> Option<&'static str> {
    let kind = kind?;
    // Names are free text, and some values contain colons.
    let free = |kind: &Kind| {
        matches!(kind, Kind::Text) || matches!(kind, Kind::Quantity { example, .. } if example.contains(':'))
    };
    let text = text.trim();
    if kind.alternatives().iter().any(|kind| matches!(kind, Kind::Text)) && !text.is_empty() {
        return None;
    }
    if text.is_empty() {
        return (!matches!(kind, Kind::Text)).then_some("the value is missing");
    }
    let structured = text.starts_with(['{', '"', '\'']);
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if !structured
        && bare.contains(',')
        && bare.split(',').any(|part| part.trim().is_empty())
        && !text.starts_with('[')
    {
        return Some("a value of the list is missing");
    }
    let counted = |part: &str| part.trim().starts_with(|c: char| c.is_ascii_digit());
    let separated =
        |by: &[char]| bare.contains(by) && bare.split(by).filter(|part| !part.is_empty()).all(counted);
    let other = !structured && !bare.contains(',') && separated(&[':', ';']);
    (other && !kind.alternatives().iter().any(free)).then_some("this is neither a value nor a list")
}

/// The value of an override: TOML, a comma list, or a text.
fn value(text: &str, kind: Option<&Kind>, place: Place, log: &mut Log) -> Node {
    if let Some(node) = tree::value(text, place.source, place.start as usize, log) {
        return node;
    }
    let plain_text = matches!(kind, Some(Kind::Text));
    if !plain_text && text.contains(',') {
        let inner = text.trim();
        let bare = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(inner);
        let mut at = place.start as usize + text.find(bare).unwrap_or(0);
        let mut items = Vec::new();
        for part in bare.split(',') {
            items.push(single(part, place.source, at, log));
            at += part.len() + 1;
        }
        return Node { place, value: Value::List(items) };
    }
    single(text, place.source, place.start as usize, log)
}

fn single(text: &str, source: u32, start: usize, log: &mut Log) -> Node {
    tree::value(text, source, start, log).unwrap_or_else(|| {
        let lead = text.len() - text.trim_start().len();
        let start = (start + lead) as u32;
        let place = Place { source, start, end: start + text.trim().len() as u32 };
        Node { place, value: Value::Text(text.trim().to_owned()) }
    })
}

fn set(table: &mut Table, kind: &Kind, parts: &[(&str, Place)], node: &Node, log: &mut Log) {
    let Some(&(part, key_place)) = parts.first() else { return };
    let Some(entry) = table.entries.iter_mut().find(|entry| entry.key == part) else {
        let mut new = Node { place: key_place, value: Value::Table(Table::default()) };
        set_inside(&mut new, kind.child(part), &parts[1..], node, log);
        table.entries.push(Entry { key: part.to_owned(), key_place, node: new });
        return;
    };
    set_inside(&mut entry.node, kind.child(part), &parts[1..], node, log);
}

fn set_inside(at: &mut Node, kind: Option<&Kind>, parts: &[(&str, Place)], node: &Node, log: &mut Log) {
    let Some(&(part, place)) = parts.first() else {
        *at = node.clone();
        return;
    };
    let any = Kind::Flag;
    let kind = kind.unwrap_or(&any);
    if let Some(number) = entry_number(part) {
        match (&mut at.value, kind.entries()) {
            (Value::List(entries), Some(each)) if number < entries.len() => {
                set_inside(&mut entries[number], Some(each), &parts[1..], node, log);
            }
            (_, Some(_)) => {
                let count = if let Value::List(entries) = &at.value { entries.len() } else { 0 };
                let message =
                    format!("there is no entry {part} to change: the list has {count}, counted from 0");
                log.fault(place, message, "name one that there is, or set the whole list");
            }
            (_, None) => log.fault(place, "this key has no list of entries", "leave the number out"),
        }
        return;
    }
    match &mut at.value {
        Value::Table(_) => {}
        // Several values of a sweep: each is changed.
        Value::List(items) if !kind.takes_list() => {
            for item in items {
                set_inside(item, Some(kind), parts, node, log);
            }
            return;
        }
        // A name becomes a table based on that name, in which this key is changed.
        Value::Text(_) => {
            let name =
                ["base", "order", "standard", "file"].into_iter().find(|name| kind.child(name).is_some());
            let entry = |name: &str| Entry { key: name.to_owned(), key_place: at.place, node: at.clone() };
            at.value = Value::Table(Table { entries: name.map(entry).into_iter().collect() });
        }
        _ => at.value = Value::Table(Table::default()),
    }
    if let Value::Table(table) = &mut at.value {
        set(table, kind, parts, node, log);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Read;
    use crate::raw::ScenarioRaw;

    fn set_in(text: &str, key: &str, value: &str) -> serde_json::Value {
        let mut log = Log::default();
        let all = log.add("a.toml", text, true);
        let mut table = tree::document(text, all, &mut log).unwrap();
        let over = Override { key: key.to_owned(), value: value.to_owned(), origin: String::new() };
        apply(&mut table, &ScenarioRaw::kind(), &over, &mut log);
        assert_eq!(log.count(), 0);
        Node { place: all, value: Value::Table(table) }.to_json()
    }

    #[test]
    fn values_are_toml_or_lists_or_texts() {
        for (value, expected) in [
            ("4", "4"),
            ("4k", "\"4k\""),
            ("1,4,16", "[1,4,16]"),
            ("4k, 64k", "[\"4k\",\"64k\"]"),
            ("[4k,64k]", "[\"4k\",\"64k\"]"),
            ("[1, 4]", "[1,4]"),
            ("\"4k\"", "\"4k\""),
            ("true", "true"),
            ("8.5ms", "\"8.5ms\""),
        ] {
            assert_eq!(set_in("", "workload.bs", value)["workload"]["bs"].to_string(), expected, "{value}");
        }
        assert_eq!(set_in("", "name", "a, b")["name"], "a, b");
    }

    #[test]
    fn an_entry_of_a_list_is_changed_by_its_number() {
        let text = "[target]\nfaults.slow = [{ by = \"1ms\" }, { by = \"2ms\", drive = 1 }]\n";
        let found = set_in(text, "target.faults.slow[1].by", "7ms,8ms");
        let expected = r#"[{"by":"1ms"},{"by":["7ms","8ms"],"drive":1}]"#;
        assert_eq!(found["target"]["faults"]["slow"].to_string(), expected);
        let wrong = |key: &str| {
            let mut log = Log::default();
            let all = log.add("a.toml", text, true);
            let mut table = tree::document(text, all, &mut log).unwrap();
            let over = Override { key: key.to_owned(), value: "1ms".to_owned(), origin: String::new() };
            apply(&mut table, &ScenarioRaw::kind(), &over, &mut log);
            log.into_problems().unwrap().0[0].message.clone()
        };
        let expected = |part: &str, count: usize| {
            format!("there is no entry {part} to change: the list has {count}, counted from 0")
        };
        assert_eq!(wrong("target.faults.slow[2].by"), expected("[2]", 2));
        assert_eq!(wrong("target.faults.hang[0].lasts"), expected("[0]", 0));
        assert_eq!(wrong("workload.bs[0]"), "this key has no list of entries");
    }

    #[test]
    fn a_key_inside_a_named_drive_makes_a_variant_of_it() {
        let text = "[target]\ndrive = [\"a\", \"b\"]\n";
        let json = set_in(text, "target.drive.seek.average", "8ms");
        assert_eq!(json["target"]["drive"][1]["base"], "b");
        assert_eq!(json["target"]["drive"][0]["seek"]["average"], "8ms");
    }
}
