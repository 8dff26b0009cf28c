//! An item that can be given by its name in the catalogue, by a path, or as a table in the scenario.
use super::drive::DriveRaw;
use super::provenance;
use super::system::ControllerRaw;
use super::workload::PatternRaw;
use crate::keys::{At, Kind, Read};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};

/// A kind of item that has a folder in the catalogue.
pub trait CatalogueItem: Read + Clone {
    /// The noun for one item, for messages.
    const WHAT: &'static str;
    /// Its folder in the catalogue.
    const FOLDER: &'static str;
    /// An existing one, as an example in messages.
    const EXAMPLE: &'static str;

    /// Removes and returns the name of its base.
    fn take_base(&mut self) -> Option<At<String>>;

    /// This item with what its sections say of their values written beside each value that needs it.
    fn with_own_marks(self) -> Self {
        self
    }

    /// This item merged over its base.
    fn over_base(self, below: Self) -> Self {
        self.over(below)
    }

    /// Whether a name is a path. Names of the catalogue have no slash, unless its folder has folders.
    fn is_path(name: &str) -> bool {
        name.contains(['/', '\\']) || name.ends_with(".toml")
    }
}

impl CatalogueItem for DriveRaw {
    const WHAT: &'static str = "drive";
    const FOLDER: &'static str = "drives";
    const EXAMPLE: &'static str = "wd-4tb-7200";

    fn take_base(&mut self) -> Option<At<String>> {
        self.base.take()
    }

    fn with_own_marks(self) -> Self {
        provenance::with_marks(self)
    }

    fn over_base(self, below: Self) -> Self {
        provenance::over_base(self, below)
    }
}

impl CatalogueItem for ControllerRaw {
    const WHAT: &'static str = "controller";
    const FOLDER: &'static str = "controllers";
    const EXAMPLE: &'static str = "promise-sata150-tx4";

    fn take_base(&mut self) -> Option<At<String>> {
        self.base.take()
    }
}

impl CatalogueItem for PatternRaw {
    const WHAT: &'static str = "pattern";
    const FOLDER: &'static str = "workloads";
    const EXAMPLE: &'static str = "iometer/file-server";

    fn take_base(&mut self) -> Option<At<String>> {
        self.pattern.take().map(|at| At { value: at.value.0, place: at.place, source: at.source })
    }

    fn is_path(name: &str) -> bool {
        name.ends_with(".toml")
    }
}

/// An item by name or path, or as a table.
#[derive(Clone, Debug)]
pub enum Choice<T> {
    Named(String),
    Inline(Box<T>),
}

impl<T: CatalogueItem> Read for Choice<T> {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Text, T::kind()])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Text(name) => Some(Choice::Named(name.clone())),
            Value::Integer(_) | Value::Decimal(_) | Value::Flag(_) | Value::Date => {
                let (what, example) = (T::WHAT, T::EXAMPLE);
                let message = format!("{} where a {what} is wanted", node.what());
                let remedy = format!(
                    "write the name of a {what} of the catalogue such as \"{example}\", the path of a {what} \
                     file, or a table"
                );
                log.fault(node.place, message, remedy);
                None
            }
            _ => T::read(node, log).map(|thing| Choice::Inline(Box::new(thing))),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Choice::Named(name) => out.push_str(name),
            Choice::Inline(thing) => thing.write(out),
        }
    }
}

/// The name of an item, where a list is a sweep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name(pub String);

impl Read for Name {
    fn kind() -> Kind {
        // Not a plain text, whose commas would be part of it.
        Kind::Either(vec![Kind::Text])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        String::read(node, log).map(Name)
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}
