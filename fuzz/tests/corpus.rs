//! Every file of the corpus goes through its fuzzer: what was found once stays found.
use drivelab_fuzz::TARGETS;
use drivelab_trace::Format;
use std::path::Path;

#[test]
fn the_corpus_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, run) in TARGETS {
        let folder = corpus.join(name);
        let files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(!files.is_empty(), "{} has files", folder.display());
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            let passed = std::panic::catch_unwind(|| run(&bytes));
            assert!(passed.is_ok(), "{name} panics with {}", file.display());
        }
    }
}

#[test]
fn every_format_of_traces_has_its_fuzzer() {
    let fuzzers: Vec<_> = TARGETS.iter().filter_map(|(name, _)| name.strip_prefix("trace-")).collect();
    assert_eq!(fuzzers, Format::ALL.map(Format::name));
}
