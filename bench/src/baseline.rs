//! The ratios of the last release, in bench/baseline.json: read for comparison, written on request.
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Ratios by the name of their case.
pub struct Baseline(Map<String, Value>);

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("baseline.json")
}

impl Baseline {
    /// The stored ratios; empty when there is no file yet.
    ///
    /// # Errors
    ///
    /// The file exists and cannot be read.
    pub fn read() -> std::io::Result<Self> {
        match std::fs::read_to_string(path()) {
            Ok(text) => Ok(Baseline(serde_json::from_str(&text)?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Baseline(Map::new())),
            Err(error) => Err(error),
        }
    }

    /// By how many percent a ratio exceeds the stored one, if there is one.
    pub fn change(&self, name: &str, ratio: f64) -> Option<f64> {
        let kept = self.0.get(name)?.as_f64()?;
        Some((ratio / kept - 1.0) * 100.0)
    }

    /// Stores a ratio, rounded to two decimals as it is printed.
    pub fn keep(&mut self, name: &str, ratio: f64) {
        self.0.insert(name.to_owned(), Value::from((ratio * 100.0).round() / 100.0));
    }

    /// Rewrites the file. Cases that were not timed keep their stored ratios.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self) -> std::io::Result<()> {
        let text = serde_json::to_string_pretty(&self.0)?;
        std::fs::write(path(), text + "\n")
    }
}
