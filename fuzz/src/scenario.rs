//! The text of scenarios and of drive files: a plan, or problems that say where.
use drivelab_scenario::{Loader, NoFiles, Source, plan};

/// A scenario. Whatever is refused is refused with a reason.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = Source { origin: "fuzz.toml".into(), text: text.into() };
    if let Err(problems) = plan(&source, &[], &NoFiles) {
        assert!(!problems.to_string().is_empty());
    }
}

/// Returns the same drive file, whatever name is asked for.
struct One(String);

impl Loader for One {
    fn load(&self, _path: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

/// A drive file that a valid scenario names.
pub fn drive_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let asks = "[target]\ndrive = \"fuzz.toml\"\n[workload]\nrw = \"randread\"\nbs = \"4KiB\"\n[run]\nduration = \"1s\"\n";
    let source = Source { origin: "asks.toml".into(), text: asks.into() };
    if let Err(problems) = plan(&source, &[], &One(text.into())) {
        assert!(!problems.to_string().is_empty());
    }
}
