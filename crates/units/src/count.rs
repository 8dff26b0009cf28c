//! A count with its noun, for messages: `1 sector`, `2 sectors`.
use core::fmt;

/// A count with its noun; made by [`counted`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    count: u64,
    noun: &'static str,
}

/// `noun` is the singular; its plural is regular.
pub fn counted(count: u64, noun: &'static str) -> Counted {
    Counted { count, noun }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, noun } = *self;
        if count == 1 {
            return write!(f, "1 {noun}");
        }
        let hisses = ["ch", "sh", "s", "x"].iter().any(|end| noun.ends_with(end));
        match noun.strip_suffix('y') {
            Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => write!(f, "{count} {stem}ies"),
            _ if hisses => write!(f, "{count} {noun}es"),
            _ => write!(f, "{count} {noun}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::counted;
    use std::string::ToString;

    #[test]
    fn one_of_a_thing_is_no_plural() {
        let texts = [
            (1, "drive"),
            (0, "drive"),
            (2, "drive"),
            (2, "stretch"),
            (1, "history"),
            (3, "history"),
            (2, "day"),
        ]
        .map(|(count, noun)| counted(count, noun).to_string());
        let expected =
            ["1 drive", "0 drives", "2 drives", "2 stretches", "1 history", "3 histories", "2 days"];
        assert_eq!(texts, expected);
    }
}
