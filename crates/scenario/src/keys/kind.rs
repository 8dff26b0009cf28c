//! The description of a value's type: what a reader accepts, for the schema, the reference and the sweeps.

/// The type of a key's value.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number with its unit, as text.
    Quantity {
        what: &'static str,
        units: &'static str,
        example: &'static str,
    },
    /// A whole number without a unit, within these bounds.
    Count {
        least: u64,
        most: u64,
    },
    /// A number with a fraction, within these bounds.
    Number {
        least: u64,
        most: u64,
    },
    /// A number from a thousandth on, in thousandths, up to this one.
    Thousandths {
        most: u64,
    },
    /// A percentage.
    Percent,
    Flag,
    Text,
    /// One of these names, each with what it means.
    Choice(Vec<(&'static str, &'static str)>),
    Table(Section),
    /// A table whose keys are names that the author chooses.
    Names {
        each: Box<Kind>,
    },
    /// A list that is not a sweep.
    List {
        each: Box<Kind>,
        example: &'static str,
    },
    Either(Vec<Kind>),
}

/// A table with known keys.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name in the schema.
    pub name: &'static str,
    pub doc: String,
    /// Whether values may carry their source: `{ value, source, mark }`.
    pub facts: bool,
    pub keys: Vec<Key>,
    /// Groups of forms: the keys of one form exclude those of the others in its group.
    pub exclusive: &'static [super::section::Forms],
}

/// One key of a section.
#[derive(Clone, Debug)]
pub struct Key {
    pub name: &'static str,
    pub doc: String,
    /// The value that holds when the key is left out; empty if there is none.
    pub default: &'static str,
    pub kind: Kind,
}

impl Kind {
    /// The alternatives; one for most kinds.
    pub fn alternatives(&self) -> &[Kind] {
        match self {
            Kind::Either(kinds) => kinds,
            kind => std::slice::from_ref(kind),
        }
    }

    /// The section of this kind, if it may be a table.
    pub fn section(&self) -> Option<&Section> {
        self.alternatives().iter().find_map(|kind| match kind {
            Kind::Table(section) => Some(section),
            _ => None,
        })
    }

    /// The kind of the value under `name`, if this may be a table.
    pub fn child(&self, name: &str) -> Option<&Kind> {
        self.alternatives().iter().find_map(|kind| match kind {
            Kind::Table(section) => section.keys.iter().find(|key| key.name == name).map(|key| &key.kind),
            Kind::Names { each } => Some(each),
            _ => None,
        })
    }

    /// Whether a list is a value of this kind, not a sweep.
    pub fn takes_list(&self) -> bool {
        self.alternatives().iter().any(|kind| matches!(kind, Kind::List { .. }))
    }

    /// The kind of the entries of a list that is no sweep.
    pub fn entries(&self) -> Option<&Kind> {
        self.alternatives().iter().find_map(|kind| match kind {
            Kind::List { each, .. } => Some(&**each),
            _ => None,
        })
    }

    /// The type in words: what a message says was expected.
    pub fn words(&self) -> String {
        match self {
            Kind::Quantity { what, example, .. } => format!("{what} such as \"{example}\""),
            Kind::Count { least, most } if least == most => least.to_string(),
            Kind::Count { least, most } => format!("a whole number from {least} to {most}"),
            Kind::Number { least, most } => format!("a number from {least} to {most}"),
            Kind::Thousandths { most } => format!("a number from 0.001 to {most}"),
            Kind::Percent => "a percentage such as \"70%\" or 70".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Text => "a text in quotes".to_owned(),
            Kind::Choice(names) => {
                let names: Vec<String> = names.iter().map(|(name, _)| format!("\"{name}\"")).collect();
                format!("one of {}", names.join(", "))
            }
            Kind::Table(_) | Kind::Names { .. } => "a table".to_owned(),
            Kind::List { example, .. } => format!("a list such as {example}"),
            Kind::Either(kinds) => {
                let words: Vec<String> = kinds.iter().map(Kind::words).collect();
                words.join(", or ")
            }
        }
    }

    /// Every key below this kind with its full name, in order.
    pub fn paths(&self) -> Vec<String> {
        fn walk(kind: &Kind, prefix: &str, found: &mut Vec<String>) {
            for kind in kind.alternatives() {
                match kind {
                    Kind::Table(section) => {
                        for key in &section.keys {
                            let path = if prefix.is_empty() {
                                key.name.to_owned()
                            } else {
                                format!("{prefix}.{}", key.name)
                            };
                            found.push(path.clone());
                            walk(&key.kind, &path, found);
                        }
                    }
                    Kind::Names { each } => walk(each, &format!("{prefix}.NAME"), found),
                    _ => {}
                }
            }
        }
        let mut found = Vec::new();
        walk(self, "", &mut found);
        found
    }
}
