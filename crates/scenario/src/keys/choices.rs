//! `choices!`: names for the values of an enum, with what each means.

#[macro_export]
macro_rules! choices {
    ($type:ty { $( $name:literal => $value:expr, $doc:literal; )+ }) => {
        impl $crate::keys::Read for $type {
            fn kind() -> $crate::keys::Kind {
                $crate::keys::Kind::Choice(vec![$( ($name, $doc) ),+])
            }

            fn read(node: &$crate::text::tree::Node, log: &mut $crate::text::problem::Log) -> Option<Self> {
                let kind = <Self as $crate::keys::Read>::kind();
                $crate::keys::choices::read(node, &[$( ($name, $value) ),+], &kind, log)
            }

            fn write(&self, out: &mut String) {
                $( if *self == $value { out.push_str($name); return; } )+
            }
        }
    };
}
pub use choices;

use super::kind::Kind;
use super::read::{Mark, wrong_type};
use crate::raw::not_modelled;
use crate::text::problem::Log;
use crate::text::suggest;
use crate::text::tree::{Node, Value};

/// The value of this name; an unknown name is recorded.
pub fn read<T: Copy>(node: &Node, known: &[(&str, T)], kind: &Kind, log: &mut Log) -> Option<T> {
    let Value::Text(text) = &node.value else {
        wrong_type(node, kind, log);
        return None;
    };
    if let Some((_, value)) = known.iter().find(|(name, _)| name == text) {
        return Some(*value);
    }
    if log.is_full() {
        return None;
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let (message, remedy) = not_modelled(text, &names)
        .unwrap_or_else(|| (format!("\"{text}\" is not known here"), suggest::remedy(text, &names)));
    log.fault(node.place, message, remedy);
    None
}

choices!(Mark {
    "datasheet" => Mark::Datasheet, "from the maker's specification";
    "measured" => Mark::Measured, "from a measurement of the drive or of another one of its kind";
    "inferred" => Mark::Inferred, "by arithmetic, or read between published figures";
    "fitted" => Mark::Fitted, "chosen so that simulated results meet published ones";
});
