//! A recorded trace as the workload.
use crate::keys::numbers::Decimal;
use crate::keys::quantities::Extent;
use crate::keys::read::wrong_type;
use crate::keys::{At, Kind, Read, choices, section};
use crate::raw::choice::Name;
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};

/// When the requests of a trace are issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaceName {
    Open,
    Closed,
    Think,
}

choices!(PaceName {
    "open" => PaceName::Open, "at their recorded times, whatever has finished";
    "closed" => PaceName::Closed, "in their order, `iodepth` outstanding; their times do not count";
    "think" => PaceName::Think, "one after the other, each its recorded think time after the one before has finished";
});

/// How addresses are mapped to the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemapName {
    None,
    Wrap,
    Scale,
}

choices!(RemapName {
    "none" => RemapName::None, "they stay, and a request beyond the target's end is an error";
    "wrap" => RemapName::Wrap, "modulo the target's size: lengths, distances and runs stay, reuse grows";
    "scale" => RemapName::Scale, "in proportion of the target's size to `of`: shares of the stroke stay, runs are lost";
});

/// The name of a device in a trace, which may be a number, or have a comma in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceName(pub String);

impl Read for DeviceName {
    fn kind() -> Kind {
        Kind::Text
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Integer(number) => Some(DeviceName(number.to_string())),
            Value::Decimal(number) => Some(DeviceName(number.clone())),
            _ => String::read(node, log).map(DeviceName),
        }
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

/// A description of columns, whose commas do not make it several values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnsText(pub String);

impl Read for ColumnsText {
    fn kind() -> Kind {
        Kind::Text
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        String::read(node, log).map(ColumnsText)
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

/// A factor for times, in millionths.
pub type Factor = Decimal<0, 1_000_000>;

section! {
    facts: false,
    /// A recorded trace; its path alone may be given in place of the table. See docs/how-to/traces.md.
    pub struct TraceRaw {
        /// Its path, relative to the scenario's folder; of blktrace the folder of its files.
        file: Name = "",
        /// Its format, by a name of `drivelab trace`.
        format: Name = "found by its first lines",
        /// The columns of a text in none of these formats, in the words of `drivelab trace --columns`.
        columns: ColumnsText = "those of its format",
        /// The only device whose requests are replayed, as the trace names it; `"*"` for those of all devices, at their
        /// own addresses on the one target.
        device: DeviceName = "the one that it has",
        /// When its requests are issued.
        pace: PaceName = "open",
        /// Recorded times and think times are multiplied by this: 0.5 is twice the speed.
        scale_time: Factor = "1",
        /// How its addresses are mapped to the target.
        remap: RemapName = "none",
        /// With `scale`: the size of the device that was recorded.
        of: Extent = "",
        /// Whether problems of the trace are counted and skipped, in place of an error.
        lenient: bool = "false",
        /// Whether its requests are sorted by time, as far as they are out of order by fewer than 131,072 requests.
        sort: bool = "false",
    }
}

/// A trace as a table, or by its path alone.
#[derive(Clone, Debug)]
pub struct TraceChoice(pub TraceRaw);

impl Read for TraceChoice {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Text, TraceRaw::kind()])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match node.value {
            Value::Text(_) => {
                let file = Name::read(node, log).map(|name| At::new(name, node.place))?;
                Some(TraceChoice(TraceRaw { file: Some(file), ..TraceRaw::default() }))
            }
            Value::Table(_) => TraceRaw::read(node, log).map(TraceChoice),
            _ => {
                wrong_type(node, &Self::kind(), log);
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}
