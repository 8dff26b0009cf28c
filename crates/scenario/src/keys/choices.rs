//! `choices!`: names for the values of an enum, with what each means.

macro_rules! choices {
    ($type:ty { $( $name:literal => $value:expr, $doc:literal; )+ }) => {
        impl $crate::keys::Read for $type {
            fn kind() -> $crate::keys::Kind {
                $crate::keys::Kind::Choice(vec![$( ($name, $doc) ),+])
            }

            fn read(node: &$crate::text::tree::Node, log: &mut $crate::text::problem::Log) -> Option<Self> {
                let $crate::text::tree::Value::Text(text) = &node.value else {
                    $crate::keys::read::wrong_type(node, &Self::kind(), log);
                    return None;
                };
                match text.as_str() {
                    $( $name => return Some($value), )+
                    _ => {}
                }
                let names = [$( $name ),+];
                let (message, remedy) = $crate::raw::not_modelled(text, &names).unwrap_or_else(|| {
                    (format!("\"{text}\" is not known here"), $crate::text::suggest::remedy(text, &names))
                });
                log.fault(node.place, message, remedy);
                None
            }

            fn write(&self, out: &mut String) {
                $( if *self == $value { out.push_str($name); return; } )+
            }
        }
    };
}
pub(crate) use choices;

use super::read::Mark;

choices!(Mark {
    "datasheet" => Mark::Datasheet, "from the maker's specification";
    "measured" => Mark::Measured, "from a measurement of the drive or of another one of its kind";
    "inferred" => Mark::Inferred, "by arithmetic, or read between published figures";
    "fitted" => Mark::Fitted, "chosen so that simulated results meet published ones";
});
