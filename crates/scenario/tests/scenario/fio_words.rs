//! fio's words as people type them: what is meant by them, what is refused and with which remedy, what is only noted.
use crate::common;
use crate::common::Files;
use drivelab_core::host::popularity::{Popularity, Spread};
use drivelab_scenario::{NoFiles, Override, Plan, Problems, Source, plan};
use drivelab_units::InFile;
use std::fmt::Write;

const DRIVE: &str = "[target]\ndrive = \"wd-4tb-7200\"\n[workload]\n";

fn read(keys: &str) -> Result<Plan, Problems> {
    common::read(&format!("{DRIVE}{keys}\n"), &[], &Files(&[]))
}

/// From options or arguments alone, with no file.
fn without_file(origin: &str, options: &[(&str, &str, &str)]) -> Result<Plan, Problems> {
    let over = |(origin, key, value): &(&str, &str, &str)| Override {
        key: (*key).to_owned(),
        value: (*value).to_owned(),
        origin: (*origin).to_owned(),
    };
    let source = Source { origin: origin.to_owned(), text: String::new() };
    plan(&source, &options.iter().map(over).collect::<Vec<_>>(), &NoFiles)
}

#[test]
fn what_is_meant_is_the_remedy() {
    let mut out = String::new();
    for (name, key, value) in [
        ("--runtime", "run.duration", "60m"),
        ("--runtime", "run.duration", "60sec"),
        ("--ramp-time", "run.warmup", "5"),
        ("--thinktime", "workload.thinktime", "5"),
        ("--thinktime", "workload.thinktime", "5usec"),
        ("--bs", "workload.bs", "513"),
        ("--bs", "workload.bs", "4"),
        ("--offset", "workload.offset", "100"),
        ("--offset", "workload.offset", "1000000"),
        ("--size", "workload.size", "1"),
        ("--rw", "workload.rw", "readrand"),
        ("--rw", "workload.rw", "writerand"),
        ("--rw", "workload.rw", "randtrim"),
        ("--rw", "workload.rw", "trim"),
        ("--time-based", "workload.time_based", "0"),
        ("--set", "target.drive.geometry.capacity", "0B"),
    ] {
        let drive = ("--drive", "target.drive", "wd-4tb-7200");
        let problems = without_file("command line", &[drive, (name, key, value)]).unwrap_err();
        let _ = write!(out, "=== {name} {value}\n{problems}\n\n");
    }
    insta::assert_snapshot!(out);
}

#[test]
fn without_a_drive_the_remedy_speaks_the_callers_language() {
    let mut out = String::new();
    for origin in ["command line", "arguments", "a.toml"] {
        let _ = write!(out, "=== {origin}\n{}\n\n", without_file(origin, &[]).unwrap_err());
        let level = [("--level", "target.array.level", "raid5"), ("--members", "target.array.members", "4")];
        let _ = write!(out, "=== {origin}, an array\n{}\n\n", without_file(origin, &level).unwrap_err());
    }
    // An option or an argument stays a reference, for the caller knows its names.
    let out = InFile(&out).to_string();
    insta::assert_snapshot!(out);
}

#[test]
fn distributions_that_cannot_be() {
    let mut out = String::new();
    for value in [
        "zipf",
        "zipf:0",
        "zipf:11",
        "zipf:x",
        "zipf:1.2:0.5:3",
        "zipf:1.2:2",
        "pareto:1",
        "normal:0",
        "normal:101",
        "zif:1.2",
        "random:1",
        "zoned",
        "zoned:60/10",
        "zoned:60/10:40/80",
        "zoned:60/x:40/90",
        "zoned:60/0:40/100",
        "zoned_abs:60/1q:40/",
        "zoned_abs:60/5TB:40/",
    ] {
        let problems = read(&format!("random_distribution = \"{value}\"")).unwrap_err();
        let _ = write!(out, "=== {value}\n{problems}\n\n");
    }
    let _ = write!(out, "=== a number\n{}\n\n", read("random_distribution = 1.2").unwrap_err());
    let _ = write!(
        out,
        "=== beside a sequence\n{}\n\n",
        read("rw = \"read\"\nrandom_distribution = \"zipf:1.2\"").unwrap_err()
    );
    insta::assert_snapshot!(out);
}

#[test]
fn a_distribution_knows_the_places_of_the_range() {
    let popularity = |keys: &str| read(keys).unwrap().points[0].setup.jobs[0].popularity.clone();
    let places = |keys: &str| match popularity(keys) {
        Popularity::Table(table, spread) => (table.places(), spread),
        Popularity::Uniform => panic!("uniform"),
    };
    assert_eq!(places("random_distribution = \"zipf:1.2\"\nsize = \"40KiB\""), (10, Spread::Scattered));
    assert_eq!(
        places("random_distribution = \"zipf:1.2:0.5\"\nsize = \"40KiB\"\nblockalign = \"512B\""),
        (73, Spread::From(36))
    );
    // Several sizes: the places of the smallest.
    assert_eq!(
        places("random_distribution = \"normal:5\"\nsize = \"40KiB\"\nbssplit = \"4k/50:8k/50\""),
        (10, Spread::From(0))
    );
    assert_eq!(popularity("random_distribution = \"random\""), Popularity::Uniform);
}

#[test]
fn copies_share_a_table_and_the_job_file_says_what_it_was() {
    let plan = read("random_distribution = [\"zipf:1.20\", \"zoned:60/10:/\"]\nnumjobs = 3").unwrap();
    assert_eq!(plan.points.len(), 2);
    for (point, line) in plan.points.iter().zip(["zipf:1.2", "zoned:60/10:40/90"]) {
        assert!(point.fio.contains(&format!("\nrandom_distribution={line}\n")), "{}", point.fio);
        let tables: Vec<_> = point
            .setup
            .jobs
            .iter()
            .map(|job| match &job.popularity {
                Popularity::Table(table, _) => std::sync::Arc::as_ptr(table),
                Popularity::Uniform => panic!("uniform"),
            })
            .collect();
        assert!(tables.iter().all(|table| *table == tables[0]));
    }
    assert!(!read("").unwrap().points[0].fio.contains("random_distribution"));
}

#[test]
fn words_without_meaning_are_noted_and_change_nothing() {
    let plain = read("").unwrap();
    let noted = read("ioengine = \"libaio\"\ntime_based = true").unwrap();
    assert_eq!((&plain.hash, plain.notes.len()), (&noted.hash, 0));
    assert_eq!(
        noted.notes,
        [
            "workload.ioengine changes nothing: the host is simulated, and sends I/Os by no engine",
            "workload.time_based changes nothing: every run goes on for its time, from the start of a range again",
        ]
    );
    let words = [
        ("--drive", "target.drive", "wd-4tb-7200"),
        ("--ioengine", "workload.ioengine", "libaio"),
        ("--time_based", "workload.time_based", "1"),
    ];
    let planned = without_file("command line", &words).unwrap();
    assert_eq!(planned.hash, without_file("command line", &words[..1]).unwrap().hash);
    let noted = planned.notes;
    assert!(
        noted[0].starts_with("--ioengine changes") && noted[1].starts_with("--time_based changes"),
        "{noted:?}"
    );
}
