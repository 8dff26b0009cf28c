//! "Did you mean": the right names nearest to a wrong one.

/// No name is longer. Comparing a longer one would be expensive, and it is similar to none.
const LENGTH_MAX: usize = 200;

/// The names similar enough to `wrong` to have been meant, the most similar first, at most three.
pub fn nearest<'a>(wrong: &str, right: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if wrong.len() > LENGTH_MAX {
        return Vec::new();
    }
    let wrong = wrong.to_lowercase();
    let mut found: Vec<(u32, &str)> = right
        .into_iter()
        .map(|name| (likeness(&wrong, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= 700)
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    found.dedup_by(|a, b| a.1 == b.1);
    let best = found.first().map_or(0, |(likeness, _)| *likeness);
    found.into_iter().filter(|(likeness, _)| *likeness + 100 >= best).take(3).map(|(_, name)| name).collect()
}

/// The similarity, from 0 for none to 1000 for equal.
fn likeness(a: &str, b: &str) -> u32 {
    let jaro = (strsim::jaro_winkler(a, b) * 1000.0) as u32;
    let typos = strsim::damerau_levenshtein(a, b);
    let part_of = a.len() >= 3 && (b.contains(a) || a.contains(b) && b.len() >= 3);
    match typos {
        0 => 1000,
        // The same letters in another order: readrand.
        _ if a.len() > 3 && sorted(a) == sorted(b) => 990,
        1 if a.len().max(b.len()) > 2 => jaro.max(950),
        2 if a.len().max(b.len()) > 5 => jaro.max(900),
        _ if part_of => jaro.max(800),
        _ => jaro.saturating_sub(100),
    }
}

fn sorted(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().collect();
    letters.sort_unstable();
    letters
}

/// A remedy for a wrong name: the most similar right ones, or all of them if none is similar and they are
/// few.
pub fn remedy(wrong: &str, right: &[&str]) -> String {
    let near: Vec<String> =
        nearest(wrong, right.iter().copied()).iter().map(|name| format!("`{name}`")).collect();
    if near.is_empty() {
        let all: Vec<String> = right.iter().map(|name| format!("`{name}`")).collect();
        format!("known here: {}", all.join(", "))
    } else {
        format!("did you mean {}?", near.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name() {
        let keys = ["rw", "bs", "bssplit", "iodepth", "numjobs", "rwmixread", "thinktime", "rate_iops"];
        for (wrong, right) in [
            ("iodpeth", "iodepth"),
            ("io_depth", "iodepth"),
            ("bsplit", "bssplit"),
            ("think_time", "thinktime"),
            ("NumJobs", "numjobs"),
            ("rate", "rate_iops"),
            ("iopsrate_", "rate_iops"),
        ] {
            assert_eq!(nearest(wrong, keys).first(), Some(&right), "{wrong}");
        }
        assert!(nearest("zzzzzz", keys).is_empty());
    }

    #[test]
    fn without_a_near_name_all_are_listed() {
        assert_eq!(remedy("xyz", &["on", "off"]), "known here: `on`, `off`");
        assert_eq!(remedy("spft", &["sstf", "sptf", "look"]), "did you mean `sptf`?");
    }
}
