//! A value that can be switched off with `false`.
use crate::keys::{Kind, Read};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};

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
                    Kind::Table(_) => "write a table such as { size = \"1MiB\" }, or false".to_owned(),
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
