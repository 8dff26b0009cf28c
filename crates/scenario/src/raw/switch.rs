//! Values that can be disabled: with `false`, or by the names "none" and "never".
use crate::keys::{Kind, Read, Section};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_units::Span;

/// A table with the first of its keys.
fn table_example(section: &Section) -> String {
    match section.keys.first() {
        // A cache, whose size has no default.
        Some(key) if key.name != "size" => {
            format!("a table such as {{ {} = \"{}\" }}", key.name, key.default)
        }
        _ => "a table such as { size = \"1MiB\" }".to_owned(),
    }
}

/// A section or a value, or `false` in its place.
#[derive(Clone, Debug)]
pub enum Switch<T> {
    Off,
    On(T),
}

impl<T: Read> Read for Switch<T> {
    fn kind() -> Kind {
        Kind::Either(vec![T::kind(), Kind::Flag])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match node.value {
            Value::Flag(false) => Some(Switch::Off),
            Value::Flag(true) => {
                let remedy = match T::kind() {
                    Kind::Table(section) => format!("write {}, or false", table_example(&section)),
                    kind => format!("write {}, or false", kind.words()),
                };
                log.fault(node.place, "true says too little here", remedy);
                None
            }
            _ => T::read(node, log).map(Switch::On),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Switch::Off => out.push_str("off"),
            Switch::On(value) => value.write(out),
        }
    }

    fn over(self, below: Self) -> Self {
        match (self, below) {
            (Switch::On(above), Switch::On(below)) => Switch::On(above.over(below)),
            (above, _) => above,
        }
    }
}

/// An instant, or "never", so that a sweep can have both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrNever(pub Option<Span>);

impl Read for OrNever {
    fn kind() -> Kind {
        Kind::Either(vec![Span::kind(), Kind::Choice(vec![("never", "it does not happen")])])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "never" => Some(OrNever(None)),
            Value::Text(text) if !text.contains(|c: char| c.is_ascii_digit()) => {
                log.fault(node.place, "not a time", "write a time such as \"10s\", or \"never\"");
                None
            }
            _ => Span::read(node, log).map(|at| OrNever(Some(at))),
        }
    }

    fn write(&self, out: &mut String) {
        match &self.0 {
            Some(at) => at.write(out),
            None => out.push_str("never"),
        }
    }
}

/// A value, or "none" for no such bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrNone<T>(pub Option<T>);

impl<T: Read> Read for OrNone<T> {
    fn kind() -> Kind {
        Kind::Either(vec![T::kind(), Kind::Choice(vec![("none", "no such bound")])])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "none" => Some(OrNone(None)),
            _ => T::read(node, log).map(|value| OrNone(Some(value))),
        }
    }

    fn write(&self, out: &mut String) {
        match &self.0 {
            Some(value) => value.write(out),
            None => out.push_str("none"),
        }
    }
}
