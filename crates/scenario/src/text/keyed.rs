//! A TOML file that is no scenario, and what another room finds wrong with it: told as that of a scenario, at its place.
use super::problem::{Log, Place, Problems};
use super::tree::{Node, Table, Value, document};

/// A file that could be read.
pub struct KeyedFile {
    log: Log,
    all: Place,
    table: Table,
}

/// One thing that is wrong with it.
#[derive(Clone, Debug)]
pub struct KeyedProblem {
    /// The key on the file's first level; the whole file where it has none such.
    pub key: String,
    /// Which item of its list.
    pub item: Option<usize>,
    /// The key itself, not its value.
    pub is_key: bool,
    /// What was typed in an option of this name in place of the file's value.
    pub typed: Option<(String, String)>,
    pub message: String,
    pub remedy: Option<String>,
}

impl KeyedFile {
    /// Reads a text.
    ///
    /// # Errors
    /// Everything in it that is no TOML.
    pub fn read(origin: &str, text: &str) -> Result<Self, Problems> {
        let mut log = Log::default();
        let all = log.add(origin, text, true);
        let table = document(text, all, &mut log).unwrap_or_default();
        if log.count() == 0 {
            return Ok(KeyedFile { log, all, table });
        }
        Err(log.into_problems().unwrap_or(Problems(Vec::new())))
    }

    /// Its values by their keys.
    pub fn values(&self) -> serde_json::Value {
        let value = Value::Table(self.table.clone());
        Node { place: self.all, value }.to_json()
    }

    /// The problems with their places, in the order of the file, those of options behind them. None without any.
    pub fn into_problems(mut self, found: Vec<KeyedProblem>) -> Option<Problems> {
        for one in found {
            let place = match &one.typed {
                Some((option, value)) => self.log.add(option, value, false),
                None => self.place(&one),
            };
            self.log.error(place, one.message, one.remedy);
        }
        self.log.into_problems()
    }

    fn place(&self, found: &KeyedProblem) -> Place {
        let Some(entry) = self.table.entries.iter().find(|entry| entry.key == found.key) else {
            return Place { end: 0, ..self.all };
        };
        if found.is_key {
            return entry.key_place;
        }
        match (&entry.node.value, found.item) {
            (Value::List(items), Some(item)) if item < items.len() => items[item].place,
            _ => entry.node.place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "level = \"raid5\"\nrebuild = [\"30h\", \"45\"]\nmembers = 3\n";

    fn found(key: &str, item: Option<usize>) -> KeyedProblem {
        let message = format!("{key} is wrong");
        KeyedProblem {
            key: key.into(),
            item,
            is_key: false,
            typed: None,
            message,
            remedy: Some("change it".into()),
        }
    }

    #[test]
    fn problems_stand_at_their_values_in_the_order_of_the_file() {
        let file = KeyedFile::read("shelf.toml", TEXT).unwrap();
        assert_eq!(file.values()["rebuild"][1], "45");
        let typed = Some(("--afr".to_owned(), "2".to_owned()));
        let wrong = vec![
            found("members", None),
            KeyedProblem { typed, ..found("afr", None) },
            found("rebuild", Some(1)),
            KeyedProblem { is_key: true, ..found("level", None) },
            found("absent", None),
        ];
        let problems = file.into_problems(wrong).unwrap();
        let places: Vec<_> = problems.0.iter().map(|one| (one.line, one.column, one.text.as_str())).collect();
        assert_eq!(places, [(1, 1, ""), (1, 1, "level"), (2, 19, "\"45\""), (3, 11, "3"), (1, 1, "2")]);
        assert_eq!(problems.0[4].origin, "--afr");
        assert!(problems.to_string().contains(" --> shelf.toml:2:19\n"), "{problems}");
    }

    #[test]
    fn a_text_that_is_no_toml_is_reported_at_its_place() {
        let problems = KeyedFile::read("shelf.toml", "level = raid5\nlevel = 3\n").err().unwrap();
        assert_eq!(problems.0[0].line, 1);
        assert!(KeyedFile::read("shelf.toml", TEXT).unwrap().into_problems(Vec::new()).is_none());
    }
}
