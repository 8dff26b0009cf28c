//! The memories before a drive, from scenario to record: what they hide, and what a flush brings back.
use drivelab_record::Point;
use drivelab_scenario::{NoFiles, Source, plan};
use drivelab_simulate::{Control, run};
use std::sync::atomic::AtomicBool;

/// Random writes of 4 KiB, 400 of them; `keys` is about the target, `workload` about the writes.
fn writes(keys: &str, workload: &str) -> Point {
    let text = format!(
        "[target]\ndrive = \"wd-4tb-7200\"\nwrite_cache = false\n{keys}\n[workload]\nrw = \"randwrite\"\n{workload}\n\
         [run]\nios = 400\n"
    );
    let source = Source { origin: "a.toml".to_owned(), text };
    let plan = plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
    let stop = AtomicBool::new(false);
    run(&plan.points[0].setup, &Control { stop: &stop, progress: &|_| () }).unwrap()
}

const MEMORIES: [&str; 2] = [
    "host_cache = { size = \"1GiB\", overhead = \"10us\", background = \"50%\", limit = \"50%\" }",
    "controller.cache = { size = \"1GiB\", overhead = \"10us\", background = \"50%\", limit = \"50%\" }",
];

fn longest_ms(point: &Point) -> f64 {
    point.write.latency_ns.max.unwrap() as f64 / 1e6
}

#[test]
fn writes_wait_for_the_media_only_where_no_memory_takes_them() {
    let bare = writes("", "");
    assert!(longest_ms(&bare) > 10.0, "{}", longest_ms(&bare));
    for keys in MEMORIES {
        let taken = writes(keys, "");
        assert!(longest_ms(&taken) < 0.1, "{keys}: {} ms", longest_ms(&taken));
    }
    // Past the host's cache is where they were without it; past that of a controller nothing leads.
    let past = writes(MEMORIES[0], "direct = 1");
    assert!((past.iops / bare.iops - 1.0).abs() < 1e-9, "{} {}", past.iops, bare.iops);
    assert!(longest_ms(&writes(MEMORIES[1], "")) < 0.1);
}

#[test]
fn a_flush_waits_for_memory_unless_a_battery_keeps_it() {
    for keys in MEMORIES {
        let flushed = writes(keys, "fsync = 20");
        assert_eq!(flushed.flush.count, 19, "{keys}");
        assert!(flushed.flush.latency_ns.min.unwrap() > 20_000_000, "{keys}: {:?}", flushed.flush.latency_ns);
        assert!(longest_ms(&flushed) < 0.1, "{keys}");
    }
    let kept = writes(&MEMORIES[1].replace("overhead", "battery = true, overhead"), "fsync = 20");
    assert!(kept.flush.latency_ns.max.unwrap() < 100_000, "{:?}", kept.flush.latency_ns);
}

/// Through both memories and an I/O scheduler, with the drive's own cache on.
#[test]
fn memories_in_a_row_have_accounts_that_agree() {
    let keys = format!("{}\n{}\nelevator = \"deadline\"", MEMORIES[0], MEMORIES[1]);
    for workload in
        ["fsync = 7\niodepth = 4", "bssplit = \"4k/50:1m/50\"\niodepth = 8\nnumjobs = 2", "direct = 1"]
    {
        let point = writes(&keys, workload);
        assert_eq!(point.write.ios, 400, "{workload}");
    }
}
