//! One fuzzer under libFuzzer: the one that DRIVELAB_FUZZ_TARGET names. `tools/fuzz.py` builds and runs it.
#![no_main]
use drivelab_fuzz::{Run, TARGETS};
use std::sync::OnceLock;

fn chosen() -> Run {
    let name = std::env::var("DRIVELAB_FUZZ_TARGET").unwrap_or_default();
    let names = || TARGETS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("DRIVELAB_FUZZ_TARGET is one of {}", names())).1
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    static CHOSEN: OnceLock<Run> = OnceLock::new();
    CHOSEN.get_or_init(chosen)(bytes);
});
