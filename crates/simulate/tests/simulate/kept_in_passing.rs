//! Reads from a buffer that keeps what passes the head: it answers what it holds, and nothing else.
use crate::common::try_point;
use drivelab_core::Setup;
use drivelab_core::rng::Stream;
use drivelab_scenario::{NoFiles, Source, plan};

fn checked(text: &str) -> Setup {
    let planned = plan(&Source { origin: "passing.toml".to_owned(), text: text.to_owned() }, &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    let setup = planned.points.into_iter().next().unwrap().setup;
    Setup { checks_data: true, ..setup }
}

/// Random reads in a small range beside a stream through it, so that what was read is often read again.
fn scenario(drive: &str, cache: &str, near: &str) -> String {
    format!(
        "[target.drive]\n{drive}\n[target.cache]\nkeeps_passing = true\n{cache}\n\
         [workload.job.near]\niodepth = 4\nsize = \"{near}\"\n[workload.job.stream]\nrw = \"read\"\nbs = \"32KiB\"\nsize = \"3MiB\"\n\
         [run]\nios = 2000\n"
    )
}

/// A track of 900 sectors that is skewed; the segment has room for a few of them.
#[test]
fn a_segment_shorter_than_a_track_answers_what_it_holds() {
    let drive = "rpm = \"600rpm\"\ngeometry.heads = 4\n\
                 geometry.zones = [{ cylinders = 400, sectors_per_track = 900, track_skew = \"0.15rev\" }]\n\
                 seek.table = [[1, \"1ms\"], [399, \"5ms\"]]\nsettle.read_on_arrival = true";
    for (size, near) in [("16KiB", "256KiB"), ("32KiB", "256KiB"), ("32KiB", "450KiB"), ("64KiB", "450KiB")] {
        let text = scenario(drive, &format!("size = \"{size}\""), near);
        try_point(&checked(&text)).unwrap_or_else(|error| panic!("{size} {near}: {error}"));
    }
}

/// A drawn scenario without the lines that have no meaning beside the others, such as a margin of an order without angles.
fn without_pointless(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    loop {
        let source = Source { origin: "drawn.toml".to_owned(), text: lines.join("\n") };
        let Err(problems) = plan(&source, &[], &NoFiles) else { return source.text + "\n" };
        let mut guilty: Vec<usize> = problems.0.iter().map(|problem| problem.line - 1).collect();
        guilty.sort_unstable();
        guilty.dedup();
        assert!(guilty.iter().all(|&line| lines[line].contains(" = ")), "{problems}\n{}", source.text);
        for &line in guilty.iter().rev() {
            lines.remove(line);
        }
    }
}

/// Skews, spares, segments, how far the head reads on, and where it begins, at random.
fn random_case(seed: u64) -> String {
    let mut dice = Stream::named(seed, "passing/case");
    let mut below = |limit: u64| dice.below(limit);
    let per_track = 60 + below(1_200);
    let spares = match below(3) {
        0 => format!(", spares_per_track = {}", 1 + below(per_track / 2)),
        1 => format!(", spares_per_cylinder = {}, slips_turn = true", below(40)),
        _ => String::new(),
    };
    let surfaces = match below(3) {
        0 => format!(
            "geometry.surface_order = \"serpentine\"\ngeometry.cylinders_per_head = {}\n",
            1 + below(30)
        ),
        1 => "geometry.surface_order = \"alternating\"\n".to_owned(),
        _ => String::new(),
    };
    let drive = format!(
        "rpm = \"{}rpm\"\ngeometry.heads = {}\n{surfaces}\
         geometry.zones = [{{ cylinders = 600, sectors_per_track = {per_track}, track_skew = \"0.{:03}rev\", cylinder_skew = \"0.{:03}rev\"{spares} }}]\n\
         seek.table = [[1, \"0.8ms\"], [599, \"6ms\"]]\nsettle.read_on_arrival = {}",
        [300, 600, 7_200][below(3) as usize],
        2 + below(8),
        below(600),
        below(600),
        below(4) > 0,
    );
    let reach = ["none", "limit", "limit", "track", "cylinder", "next-track"][below(6) as usize];
    let mut cache = format!(
        "size = \"{}KiB\"\nsegments = {}\nsegmentation = \"{}\"\nread_ahead = \"{reach}\"",
        16 + below(700),
        1 + below(5),
        ["fixed", "adaptive"][below(2) as usize],
    );
    for key in ["read_ahead_when_queued", "read_ahead_when_sequential", "read_ahead_on_hit", "ends_sector"] {
        if below(3) == 0 {
            cache += &format!("\n{key} = true");
        }
    }
    let text = scenario(&drive, &cache, ["128KiB", "256KiB", "450KiB", "2MiB"][below(4) as usize]);
    without_pointless(&text)
}

#[test]
fn whatever_passes_a_read_gets_what_was_written_there() {
    let count = std::env::var("DRIVELAB_PASSING").ok().and_then(|count| count.parse().ok()).unwrap_or(150);
    for seed in 1..=count {
        let text = random_case(seed);
        try_point(&checked(&text)).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    }
}
