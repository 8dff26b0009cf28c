//! References to keys inside messages. A key is an option of the command line, an argument of a function, or a key of a
//! file: which of them it is, the room that writes the message does not know. What shows the message replaces the
//! reference with the key as its reader gives it.
use core::fmt::{self, Display, Write as _};

/// Begins a reference.
pub const BEGIN: char = '\u{e}';
/// Separates the name of the key from its value.
pub const VALUE: char = '\u{1f}';
/// Ends a reference.
pub const END: char = '\u{f}';

/// The reference to a key, as a literal text: by its name, such as `lenient`, or by its path in a scenario, such as
/// `workload.bs`; with a value where the reader is to write one. Keys of a trace are `trace.format` and so on.
#[macro_export]
macro_rules! key {
    ($name:literal) => {
        concat!("\u{e}", $name, "\u{f}")
    };
    ($name:literal, $value:literal) => {
        concat!("\u{e}", $name, "\u{1f}", $value, "\u{f}")
    };
}

/// The reference to a key with a value that is not known before the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given<'a, V>(pub &'a str, pub V);

impl<V: Display> Display for Given<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGIN}{}{VALUE}{}{END}", self.0, self.1)
    }
}

/// A message with its references as keys of a TOML file: `workload.bs`, or `workload.bs = "4k"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InFile<'a>(pub &'a str);

impl Display for InFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((before, after)) = rest.split_once(BEGIN) {
            f.write_str(before)?;
            let Some((reference, after)) = after.split_once(END) else {
                f.write_char(BEGIN)?;
                rest = after;
                continue;
            };
            match reference.split_once(VALUE) {
                None => f.write_str(path(reference))?,
                Some((name, value)) if is_bare(value) => write!(f, "{} = {value}", path(name))?,
                Some((name, value)) => write!(f, "{} = {value:?}", path(name))?,
            }
            rest = after;
        }
        f.write_str(rest)
    }
}

/// A key of a trace in a scenario stands in the table `workload.trace`.
fn path(name: &str) -> &str {
    name.strip_prefix("trace.").unwrap_or(name)
}

/// Whether TOML has the value without quotation marks.
fn is_bare(value: &str) -> bool {
    matches!(value, "true" | "false" | "..") || value.starts_with('[') || value.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, Given, InFile};
    use std::format;
    use std::string::ToString;

    #[test]
    fn a_file_has_keys_with_their_values() {
        let text = format!(
            "give {} or {}, {} and {}",
            key!("method", "chain"),
            Given("parity", 2),
            key!("lenient", "true"),
            key!("workload.bs")
        );
        let shown = InFile(&text).to_string();
        assert_eq!(shown, "give method = \"chain\" or parity = 2, lenient = true and workload.bs");
    }

    #[test]
    fn what_is_no_reference_stays() {
        let lone = format!("a{BEGIN}b");
        assert_eq!(InFile(&lone).to_string(), lone);
        assert_eq!(InFile("plain --text").to_string(), "plain --text");
        assert_eq!(InFile("").to_string(), "");
    }
}
