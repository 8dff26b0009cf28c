//! Shortens texts of any length for messages: a file can contain a name of ten million characters.
use drivelab_units::key::{BEGIN, END};

/// Number of characters at the beginning and at the end of a message or remedy that are kept.
const HEAD: usize = 500;
const TAIL: usize = 300;
/// Number of characters of a line, and of the text in it, that are kept on either side of the start of the
/// problem.
const AROUND: usize = 500;

/// The text, with its middle omitted if it is long. A message names its subject first and the reason last.
pub fn shortened(text: String) -> String {
    // A text of few bytes has few characters.
    if text.len() <= HEAD + TAIL {
        return text;
    }
    let Some((head, _)) = text.char_indices().nth(HEAD) else { return text };
    let Some((tail, _)) = text.char_indices().rev().nth(TAIL - 1).filter(|(tail, _)| *tail > head) else {
        return text;
    };
    let (head, tail) = around_references(&text, head, tail);
    let left_out = text[head..tail].chars().count();
    format!("{} [.. {left_out} more characters ..] {}", &text[..head], &text[tail..])
}

/// The same places, moved so that neither cuts a reference to a key in two.
fn around_references(text: &str, head: usize, tail: usize) -> (usize, usize) {
    let cut = text[..head].rfind(BEGIN).filter(|at| !text[*at..head].contains(END));
    let rest = &text[tail..];
    let ends = rest.find(END).filter(|at| !rest[..*at].contains(BEGIN));
    (cut.unwrap_or(head), ends.map_or(tail, |at| tail + at + END.len_utf8()))
}

/// The beginning of a possibly long text.
pub fn begin(text: &str) -> &str {
    text.char_indices().nth(AROUND).map_or(text, |(end, _)| &text[..end])
}

/// The part of a line around the byte `at`, and where it begins.
pub fn around(line: &str, at: usize) -> (&str, usize) {
    let start = line[..at].char_indices().rev().nth(AROUND - 1).map_or(0, |(start, _)| start);
    let end = line[at..].char_indices().nth(AROUND).map_or(line.len(), |(end, _)| at + end);
    (&line[start..end], start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_units::Given;

    #[test]
    fn only_the_middle_of_a_long_text_is_left_out() {
        assert_eq!(shortened("ß".repeat(700)), "ß".repeat(700));
        let short = shortened(format!("unknown key `{}` here", "ß".repeat(10_000_000)));
        assert!(short.len() < 2_000 && short.starts_with("unknown key `ßß") && short.ends_with("ß` here"));
        assert!(short.contains("[.. 9999219 more characters ..]"));
    }

    #[test]
    fn a_reference_to_a_key_is_kept_whole_or_left_out() {
        let (early, late) = (Given("bs", "y".repeat(600)), Given("rw", "z".repeat(600)));
        let short = shortened(format!("{early} and {late}: wrong"));
        assert_eq!(short, " [.. 1215 more characters ..] : wrong");
        let kept = shortened(format!("{}: {}", Given("bs", "4k"), "x".repeat(2_000)));
        assert!(kept.starts_with(&Given("bs", "4k").to_string()), "{kept}");
    }

    #[test]
    fn of_a_long_line_the_part_around_a_place_is_kept() {
        assert_eq!(around("short", 2), ("short", 0));
        let line = format!("{}x{}", "ß".repeat(9_000), "y".repeat(9_000));
        let (part, start) = around(&line, 18_000);
        assert_eq!((part.len(), start), (1_000 + 500, 17_000));
        assert_eq!(begin(&line).chars().count(), 500);
    }
}
