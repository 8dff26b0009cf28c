//! The reference of all keys in Markdown, generated from the declarations of the reader:
//! `docs/reference/keys-scenario.md`, `docs/reference/keys-drive.md`.
use crate::keys::{Kind, Read, Section};
use crate::raw::ScenarioRaw;
use crate::raw::drive::DriveRaw;
use std::fmt::Write;

/// All keys of a scenario, section by section, except those of the drives in it.
pub fn scenario_reference() -> String {
    let mut out = String::new();
    section(
        &mut out,
        "",
        &ScenarioRaw::kind(),
        &["target.drive", "target.array.drives", "target.array.spare_drive"],
    );
    out
}

/// All keys of a drive file, section by section.
pub fn drive_reference() -> String {
    reference_of(&DriveRaw::kind())
}

/// All keys of a file of this kind, section by section.
pub fn reference_of(kind: &Kind) -> String {
    let mut out = String::new();
    section(&mut out, "", kind, &[]);
    out
}

/// One section and its subsections; `skipped` are described elsewhere.
fn section(out: &mut String, path: &str, kind: &Kind, skipped: &[&str]) {
    let Some(table) = table_of(kind) else { return };
    if !path.is_empty() {
        let _ = write!(out, "\n## `[{path}]`\n");
    }
    let _ = write!(
        out,
        "\n{}\n\n| key | value | left out | meaning |\n|---|---|---|---|\n",
        one_line(&table.doc)
    );
    for key in &table.keys {
        let (words, doc) = (cell(&kind_words(&key.kind)), cell(&one_line(&key.doc)));
        let _ = writeln!(out, "| `{}` | {words} | {} | {doc} |", key.name, cell(key.default));
    }
    for key in &table.keys {
        names(out, key.name, &key.kind);
    }
    for key in &table.keys {
        let below = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        if !skipped.contains(&below.as_str()) {
            match inner(&key.kind) {
                (kind, true) => section(out, &format!("{below}.NAME"), kind, skipped),
                (kind, false) => section(out, &below, kind, skipped),
            }
        }
    }
}

/// The meanings of the names of a choice.
fn names(out: &mut String, key: &str, kind: &Kind) {
    let Kind::Choice(names) = kind else { return };
    let _ = write!(out, "\n`{key}`:\n\n");
    for (name, doc) in names {
        let _ = writeln!(out, "- `{name}`: {doc}");
    }
}

fn table_of(kind: &Kind) -> Option<&Section> {
    match kind {
        Kind::List { each, .. } => each.section(),
        kind => kind.section(),
    }
}

/// The kind of the values under names that the author chooses, and whether there are such names.
fn inner(kind: &Kind) -> (&Kind, bool) {
    match kind {
        Kind::Names { each } => (each, true),
        kind => (kind, false),
    }
}

fn kind_words(kind: &Kind) -> String {
    match kind {
        Kind::Quantity { what, units: "", example } => format!("{what}, `\"{example}\"`"),
        Kind::Quantity { what, units, example } => format!("{what}, `\"{example}\"`; {units}"),
        Kind::Count { least, most } if least == most => format!("`{least}`"),
        Kind::Count { least, most } => format!("{least} to {most}"),
        Kind::Number { least, most } => format!("number, {least} to {most}"),
        Kind::Thousandths { most } => format!("number, 0.001 to {most}"),
        Kind::Percent => "`\"70%\"` or `70`".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Choice(names) => {
            names.iter().map(|(name, _)| format!("`\"{name}\"`")).collect::<Vec<_>>().join(" ")
        }
        Kind::Table(_) => "table".to_owned(),
        Kind::Names { each } => format!("names, each with {}", kind_words(each)),
        Kind::List { example, .. } => format!("list, `{example}`"),
        Kind::Either(kinds) => kinds.iter().map(kind_words).collect::<Vec<_>>().join(", or "),
    }
}

fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
