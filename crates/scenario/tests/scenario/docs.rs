//! The documentation against the reader: every example is a scenario, and the references are those of its keys.
use drivelab_scenario::{NoFiles, Override, Source, catalogue, drive_reference, plan, scenario_reference};
use std::path::PathBuf;

const BEGIN: &str =
    "<!-- keys: written by the tests of crates/scenario; UPDATE_DOCS=1 writes them anew -->\n";
const END: &str = "<!-- keys: end -->";

/// The chapters whose examples are scenarios.
const CHAPTERS: [&str; 4] = ["scenario.md", "drives.md", "path.md", "arrays.md"];

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference")).join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

fn examples(text: &str) -> Vec<&str> {
    text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_references_are_current() {
    for (name, keys) in [("keys-scenario.md", scenario_reference()), ("keys-drive.md", drive_reference())] {
        let text = text(name);
        let (head, rest) = text.split_once(BEGIN).expect("the begin of the keys");
        let (_, tail) = rest.split_once(END).expect("the end of the keys");
        let current = format!("{head}{BEGIN}{keys}\n{END}{tail}");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path(name), &current).unwrap();
        } else {
            assert!(
                current == text,
                "docs/reference/{name} is not current: run `UPDATE_DOCS=1 cargo test -p drivelab-scenario`"
            );
        }
    }
}

#[test]
fn every_example_is_a_scenario() {
    for chapter in CHAPTERS {
        let text = text(chapter);
        assert!(!examples(&text).is_empty(), "{chapter}");
        for example in examples(&text) {
            let source = Source { origin: chapter.to_owned(), text: example.to_owned() };
            let planned = plan(&source, &[], &NoFiles)
                .unwrap_or_else(|problems| panic!("{chapter}:\n{example}\n{problems}"));
            assert!(!planned.points.is_empty());
        }
    }
}

#[test]
fn the_overrides_of_the_text_hold_for_the_drives_of_the_catalogue() {
    let text = text("scenario.md");
    for drive in catalogue::entries("drives") {
        let source =
            Source { origin: "a.toml".to_owned(), text: format!("target.drive = \"{}\"", drive.name) };
        let plain = plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
        let queues = plain.points[0].in_force.as_ref().is_some_and(|in_force| in_force.depth > 1);
        for (key, value) in
            [("target.queue.order", "sptf"), ("workload.bs", "4k,64k"), ("target.drive.rpm", "10000rpm")]
        {
            assert!(text.contains(&format!("`--set {key}={value}`")), "{key}");
            // A drive without a queue has no order; one of flash has neither an order nor an rpm.
            let is_flash = drive.text.contains("\n[flash]\n");
            if key == "target.queue.order" && !queues || is_flash && key != "workload.bs" {
                continue;
            }
            let over = Override { key: key.to_owned(), value: value.to_owned(), origin: key.to_owned() };
            plan(&source, &[over], &NoFiles).unwrap_or_else(|problems| panic!("{}: {problems}", drive.name));
        }
    }
}
