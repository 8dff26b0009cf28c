//! What the tests of scenarios share: a scenario read with overrides, and files that are texts.
#![allow(dead_code, reason = "each test program uses its part")]
use drivelab_scenario::{Loader, Override, Plan, Problems, Source, plan};

/// Files by path, each with its text.
pub struct Files(pub &'static [(&'static str, &'static str)]);

impl Loader for Files {
    fn load(&self, path: &str) -> Result<String, String> {
        let found = self.0.iter().find(|(known, _)| *known == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "no such file".to_owned())
    }
}

/// What a scenario comes to, its keys set as on the command line, beside files.
pub fn read(text: &str, overrides: &[(&str, &str)], files: &dyn Loader) -> Result<Plan, Problems> {
    let source = Source { origin: "a.toml".to_owned(), text: text.to_owned() };
    let over = |(key, value): &(&str, &str)| Override {
        key: (*key).to_owned(),
        value: (*value).to_owned(),
        origin: format!("--set {key}={value}"),
    };
    plan(&source, &overrides.iter().map(over).collect::<Vec<_>>(), files)
}
