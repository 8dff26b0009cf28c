//! A tree as TOML that reads the same: one line for each value, with its full key.
//!
//! The lines stand in the order in which the keys were first set, on which the order of axes and jobs depends.
use super::problem::Place;
use super::tree::{Node, Table, Value};
use std::fmt::Write;

/// The document as text.
pub fn written(root: &Table) -> String {
    let mut lines = Vec::new();
    leaves(root, "", &mut lines);
    lines.sort_by_key(|(place, _)| *place);
    lines.into_iter().map(|(_, line)| line).collect()
}

fn leaves(table: &Table, before: &str, lines: &mut Vec<(Place, String)>) {
    for entry in &table.entries {
        let name = key(&entry.key);
        let full = if before.is_empty() { name } else { format!("{before}.{name}") };
        match &entry.node.value {
            Value::Table(inner) if !inner.entries.is_empty() => leaves(inner, &full, lines),
            _ => {
                let mut line = format!("{full} = ");
                value(&entry.node, &mut line);
                line.push('\n');
                lines.push((entry.key_place, line));
            }
        }
    }
}

fn value(node: &Node, out: &mut String) {
    let mut list = |open: char, close: char, items: &mut dyn Iterator<Item = (Option<&str>, &Node)>| {
        out.push(open);
        for (number, (name, item)) in items.enumerate() {
            out.push_str(if number > 0 { ", " } else { "" });
            if let Some(name) = name {
                let _ = write!(out, "{} = ", key(name));
            }
            value(item, out);
        }
        out.push(close);
    };
    match &node.value {
        Value::List(items) => list('[', ']', &mut items.iter().map(|item| (None, item))),
        Value::Table(table) => {
            list('{', '}', &mut table.entries.iter().map(|entry| (Some(entry.key.as_str()), &entry.node)));
        }
        Value::Text(text) => quoted(text, out),
        Value::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Decimal(number) => out.push_str(number),
        Value::Flag(flag) => {
            let _ = write!(out, "{flag}");
        }
        // No key has one: a plan with it is refused.
        Value::Date => out.push_str("\"\""),
    }
}

/// A key, in quotes where TOML needs them.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        return name.to_owned();
    }
    let mut out = String::new();
    quoted(name, &mut out);
    out
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::super::problem::Log;
    use super::super::tree::document;
    use super::*;

    fn json(text: &str) -> serde_json::Value {
        let mut log = Log::default();
        let all = log.add("a.toml", text, true);
        let table = document(text, all, &mut log).unwrap();
        assert_eq!(log.count(), 0, "{text}");
        Node { place: all, value: Value::Table(table) }.to_json()
    }

    fn again(text: &str) -> String {
        let mut log = Log::default();
        let all = log.add("a.toml", text, true);
        written(&document(text, all, &mut log).unwrap())
    }

    #[test]
    fn what_is_written_reads_the_same() {
        let text = "name = \"a \\\"b\\\" \\\\ \\u0007\\u007f \u{e9}\"\n[workload]\nbs = [\"4k\", 512]\nq = 0.10\n\
                    [workload.job.\"my job\"]\n[workload.job.b]\nx = true\n[target]\nnull = {}\n\
                    slow = [{ by = [\"1ms\", \"2ms\"], drive = 1 }, {}]\n[[list]]\na = -3\n";
        assert_eq!(json(&again(text)), json(text));
        assert_eq!(again(&again(text)), again(text));
        assert!(again(text).contains("workload.q = 0.10\n"), "digits as they were written");
    }

    #[test]
    fn lines_stand_in_the_order_of_the_text() {
        let text = "[workload]\nbs = 1\n[target.queue]\ndepth = 2\n[workload.job.a]\nrw = 3\n[target.cache]\nsize = 4\n";
        assert_eq!(
            again(text),
            "workload.bs = 1\ntarget.queue.depth = 2\nworkload.job.a.rw = 3\ntarget.cache.size = 4\n"
        );
    }
}
