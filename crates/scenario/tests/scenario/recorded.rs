//! The text of a plan makes the same plan: what a record holds can be run again.
use crate::common::{self, Files};
use drivelab_scenario::{Loader, NoFiles, Override, Plan, Source, catalogue, plan};
use std::collections::BTreeMap;

/// Files as a record holds them, by path; those of the catalogue among them.
struct Recorded(BTreeMap<String, String>);

impl Loader for Recorded {
    fn load(&self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| "no such file".to_owned())
    }

    fn replaced(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned()
    }
}

/// The plan of a plan's text and files, its overrides given once more.
fn again(first: &Plan, overrides: &[(&str, &str)]) -> Plan {
    let source = Source { origin: "record".to_owned(), text: first.scenario.clone() };
    let over = |(key, value): &(&str, &str)| Override {
        key: (*key).to_owned(),
        value: (*value).to_owned(),
        origin: "record".to_owned(),
    };
    let overrides: Vec<Override> = overrides.iter().map(over).collect();
    plan(&source, &overrides, &Recorded(first.files.clone()))
        .unwrap_or_else(|problems| panic!("{}\n{problems}", first.scenario))
}

fn check(text: &str, overrides: &[(&str, &str)], files: &dyn Loader) -> Plan {
    let first = common::read(text, overrides, files).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    let second = again(&first, overrides);
    assert_eq!((&second.hash, &second.axes, second.seed), (&first.hash, &first.axes, first.seed), "{text}");
    assert_eq!(second.scenario, first.scenario);
    assert_eq!(second.files, first.files);
    assert_eq!(second.skipped, first.skipped);
    for (one, other) in first.points.iter().zip(&second.points) {
        assert_eq!((&one.axes, &one.hash, &one.in_force), (&other.axes, &other.hash, &other.in_force));
        assert_eq!(one.fio, other.fio);
        assert_eq!(format!("{:?}", one.setup.jobs), format!("{:?}", other.setup.jobs));
    }
    first
}

#[test]
fn the_text_of_a_plan_plans_the_same() {
    for entry in catalogue::entries("drives") {
        let text = format!("target.drive = \"{}\"\nworkload.iodepth = [1, 8]\n", entry.name);
        let found = check(&text, &[("run.ios", "7"), ("workload.bs", "64k,4k")], &NoFiles);
        assert_eq!(found.files[&format!("catalogue/drives/{}.toml", entry.name)], entry.text);
    }
    for entry in catalogue::entries("workloads") {
        check(
            &format!("target.drive = \"wd-4tb-7200\"\nworkload.pattern = \"{}\"\n", entry.name),
            &[],
            &NoFiles,
        );
    }
}

#[test]
fn axes_and_jobs_keep_their_order() {
    let text = "[workload]\nbs = [\"4k\", \"8k\"]\n[target.queue]\ndepth = [1, 4]\n[target]\ndrive = \"wd-4tb-7200\"\n\
                faults.slow = [{ by = [\"1ms\", \"2ms\"] }]\n[workload.job.\"b b\"]\nrw = \"read\"\n[workload.job.a]\n\
                numjobs = 2\nrwmixread = 33.5\nrw = \"randrw\"\n";
    let overrides = [("workload.job.b b.rw", "write"), ("run.seed", "3,4"), ("workload.bs", "512B,1k")];
    let found = check(text, &overrides, &NoFiles);
    assert_eq!(found.axes, ["target.queue.depth", "target.faults.slow[0].by", "run.seed", "workload.bs"]);
    let names: Vec<&str> = found.points[0].setup.sections.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["b b", "a"]);
}

#[test]
fn own_files_are_held_with_what_they_are_based_on() {
    let files = Files(&[
        ("mine/fast.toml", "base = \"mine/plain.toml\"\nrpm = \"10000rpm\"\n"),
        ("mine/plain.toml", "base = \"wd-4tb-7200\"\nwrite_cache = true # on\n"),
        ("host.toml", "interface = \"ahci\"\nissue = \"2us\"\n"),
    ]);
    let text = "[target]\ndrive = [\"mine/fast.toml\", \"wd-4tb-7200\"]\ncontroller = \"host.toml\"\n";
    let found = check(text, &[], &files);
    let paths: Vec<&str> = found.files.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        ["catalogue/drives/wd-4tb-7200.toml", "host.toml", "mine/fast.toml", "mine/plain.toml"]
    );
    assert!(found.files["mine/plain.toml"].contains("# on"));
}

#[test]
fn a_recorded_file_stands_before_the_catalogue() {
    let text = "target.drive = \"wd-4tb-7200\"\n";
    let mut first = common::read(text, &[], &NoFiles).unwrap();
    let held = first.files.get_mut("catalogue/drives/wd-4tb-7200.toml").unwrap();
    *held = held.replace("rpm = { value = \"7200rpm\"", "rpm = { value = \"5400rpm\"");
    let second = again(&first, &[]);
    assert_ne!(second.hash, first.hash);
    assert!(second.files["catalogue/drives/wd-4tb-7200.toml"].contains("5400rpm"));
}

#[test]
fn an_option_that_displaces_a_key_still_does() {
    let text = "[target.drive]\nbase = \"wd-4tb-7200\"\nqueue = { depth = 16, order = \"sptf\" }\n";
    check(text, &[("target.drive.queue.protocol", "none")], &NoFiles);
}
