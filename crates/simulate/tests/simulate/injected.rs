//! What a scenario lets go wrong with drives at instants of a run, held to what each fault says that it does.
use drivelab_core::Setup;
use drivelab_core::storage::{Cure, Fault, Slowness};
use drivelab_record::Point;
use drivelab_record::injections::InjectionRecord;
use drivelab_scenario::{NoFiles, Source, plan};
use drivelab_simulate::{Control, RunError, run, run_captured};
use drivelab_trace::formats::native::{Entry, InjectedKind, Reader};
use drivelab_units::{Lba, Sectors, Span};
use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

fn setup(text: &str) -> Setup {
    let source = Source { origin: "a.toml".to_owned(), text: text.to_owned() };
    let plan = plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
    plan.points.into_iter().next().expect("a point").setup
}

fn go(text: &str) -> Point {
    checked(text, false).unwrap_or_else(|error| panic!("{error}"))
}

fn checked(text: &str, checks_data: bool) -> Result<Point, RunError> {
    run(&Setup { checks_data, ..setup(text) }, &Control { stop: &AtomicBool::new(false), progress: &|_| () })
}

fn one_drive(faults: &str, rest: &str) -> String {
    format!("[target]\ndrive = \"wd-4tb-7200\"\n{faults}\n{rest}\n")
}

/// Ten reads a second, which never meet: all that is slow about one is its own.
const TEN_A_SECOND: &str =
    "[workload]\nrw = \"randread\"\nbs = \"4k\"\nrate_iops = 10\n[run]\nduration = \"400s\"";

const ONE_AT_A_TIME: &str = "[workload]\nrw = \"randread\"\nbs = \"4k\"\n[run]\nios = 2000";

fn overhead_ms(point: &Point) -> f64 {
    point.breakdown_ns.expect("a simulation knows it").overhead / 1e6
}

fn records(point: &Point) -> &[InjectionRecord] {
    point.injections.as_deref().expect("some were put down")
}

#[test]
fn a_slow_drive_delays_each_command_by_the_injected_time() {
    // A head that does not read on has never begun a switch that a command must wait for.
    let still = "cache.read_ahead = \"none\"";
    let plain = overhead_ms(&go(&one_drive(still, ONE_AT_A_TIME)));
    let faults = format!("{still}\nfaults.slow = [{{ by = \"7ms\" }}]");
    let slow = go(&one_drive(&faults, ONE_AT_A_TIME));
    assert!((overhead_ms(&slow) - plain - 7.0).abs() < 1e-6, "{} after {plain}", overhead_ms(&slow));
    assert_eq!(records(&slow)[0].times, 1);
}

#[test]
fn a_share_of_its_commands_is_slow() {
    let plain = overhead_ms(&go(&one_drive("", ONE_AT_A_TIME)));
    let slow = go(&one_drive("faults.slow = [{ by = \"10ms\", share = \"20%\" }]", ONE_AT_A_TIME));
    // Of 2 000 commands 400 are slow, with a standard deviation of 18.
    let mean = overhead_ms(&slow) - plain;
    assert!((mean - 2.0).abs() < 4.0 * 10.0 * (0.2_f64 * 0.8 / 2_000.0).sqrt(), "{mean}");
}

#[test]
fn it_becomes_slow_evenly_and_stays_so() {
    let plain = overhead_ms(&go(&one_drive("", TEN_A_SECOND)));
    let faults = "faults.slow = [{ at = \"100s\", by = \"8ms\", over = \"200s\" }]";
    let slow = overhead_ms(&go(&one_drive(faults, TEN_A_SECOND))) - plain;
    // Nothing for a quarter of the run, half of it for a half, and all of it for a quarter.
    assert!((slow - (0.5 * 4.0 + 0.25 * 8.0)).abs() < 0.02, "{slow}");
}

#[test]
fn a_drive_at_a_tenth_has_a_tenth_of_its_rate_whatever_the_commands_are() {
    let load = |rw: &str, bs: &str, depth: u32| {
        format!(
            "[workload]\nrw = \"{rw}\"\nbs = \"{bs}\"\niodepth = {depth}\n[run]\nwarmup = \"20s\"\nduration = \"60s\""
        )
    };
    for (rw, bs, depth, keys) in [
        ("randread", "4k", 1, ""),
        ("randread", "4k", 8, ""),
        ("randwrite", "4k", 4, "write_cache = true"),
        ("randwrite", "4k", 1, ""),
        ("read", "64k", 1, ""),
        ("read", "256k", 4, ""),
        ("write", "64k", 2, "write_cache = true"),
    ] {
        let plain = go(&one_drive(keys, &load(rw, bs, depth)));
        let slow =
            go(&one_drive(&format!("{keys}\nfaults.slow = [{{ factor = 10 }}]"), &load(rw, bs, depth)));
        let times = plain.iops / slow.iops;
        assert!(
            (9.4..=10.6).contains(&times),
            "{rw} {bs} at {depth}: {times}, {} after {}",
            slow.iops,
            plain.iops
        );
    }
    // A FLUSH has no sectors.
    let flushed = load("randwrite", "4k", 1).replace("iodepth", "fsync = 1\niodepth");
    let cached = "write_cache = true";
    let plain = go(&one_drive(cached, &flushed));
    let slow = go(&one_drive(&format!("{cached}\nfaults.slow = [{{ factor = 10 }}]"), &flushed));
    assert!((9.4..=10.6).contains(&(plain.iops / slow.iops)), "{} after {}", slow.iops, plain.iops);
    // What ends is over.
    let passing = "faults.slow = [{ factor = 10, lasts = \"1s\" }]";
    let (plain, after) =
        (go(&one_drive("", &load("randread", "4k", 1))), go(&one_drive(passing, &load("randread", "4k", 1))));
    assert!((after.iops / plain.iops - 1.0).abs() < 0.02);
}

#[test]
fn bursts_come_and_go_and_what_lasts_ends() {
    let plain = overhead_ms(&go(&one_drive("", TEN_A_SECOND)));
    let bursts = "faults.slow = [{ at = \"100s\", by = \"8ms\", every = \"10s\", lasts = \"4s\" }]";
    let point = go(&one_drive(bursts, TEN_A_SECOND));
    let slow = overhead_ms(&point) - plain;
    assert!((slow - 0.75 * 0.4 * 8.0).abs() < 0.02, "{slow}");
    assert_eq!(
        records(&point)[0].times,
        30,
        "from 100 s to 390 s: that of 400 s would begin as the run ends"
    );
    let once = "faults.slow = [{ at = \"100s\", by = \"8ms\", lasts = \"100s\" }]";
    let slow = overhead_ms(&go(&one_drive(once, TEN_A_SECOND))) - plain;
    assert!((slow - 0.25 * 8.0).abs() < 0.02, "{slow}");
}

#[test]
fn a_drive_that_hangs_answers_nothing_and_then_goes_on() {
    let rest = "[workload]\nrw = \"randread\"\nbs = \"4k\"\niodepth = 8\n[run]\nduration = \"60s\"";
    let plain = go(&one_drive("", rest));
    let hung = go(&one_drive("faults.hang = [{ at = \"10s\", lasts = \"20s\" }]", rest));
    assert_eq!(hung.errors, 0);
    let share = hung.iops / plain.iops;
    assert!((share - 40.0 / 60.0).abs() < 0.02, "{share}");
    let longest = hung.latency_ns.max.expect("reads were answered") as f64 / 1e9;
    assert!((20.0..20.7).contains(&longest), "{longest}");
}

#[test]
fn what_cannot_be_read_any_more_can_be_read_once_it_is_written() {
    let reads = "[workload]\nrw = \"read\"\nbs = \"64k\"\nsize = \"64MiB\"\n[run]\nios = 4096";
    let media = "faults.media = [{ at = \"100ms\", offset = \"1MiB\", size = \"128k\" }]";
    let passes = f64::from(4_096 / 1_024);
    let failed = go(&one_drive(media, reads)).errors;
    // Two requests of each pass.
    assert!(failed > 0 && failed as f64 <= 2.0 * passes, "{failed}");
    // Each of them takes the time that the drive goes on trying.
    let unreadable = "faults.media = [{ offset = \"1MiB\", size = \"128k\" }]\n";
    let (at_once, late) = (
        go(&one_drive(unreadable, reads)),
        go(&one_drive(&format!("{unreadable}faults.retry_time = \"500ms\""), reads)),
    );
    assert_eq!((at_once.errors, late.errors), (8, 8));
    let longer = (late.window_ns - at_once.window_ns) as f64 / 1e9;
    assert!((longer - 8.0 * 0.5).abs() < 8.0 * 0.01, "{longer}");
    let mixed = "[workload]\nrw = \"randrw\"\nbs = \"4k\"\nsize = \"1MiB\"\n[run]\nios = 20000";
    let healed =
        checked(&one_drive("faults.media = [{ at = \"1s\", size = \"1MiB\" }]", mixed), true).unwrap();
    // Of 256 places, each is read in vain until it is written for the first time: once on an average.
    assert!((128..512).contains(&healed.errors), "{}", healed.errors);
}

#[test]
fn corrupted_sectors_are_not_reported_to_hosts_and_the_check_counts_them() {
    let mixed = "[workload]\nrw = \"randrw\"\nbs = \"4k\"\nsize = \"1MiB\"\n[run]\nios = 20000";
    let corrupt = "faults.corrupt = [{ at = \"1s\", size = \"1MiB\" }]";
    let one = checked(&one_drive(corrupt, mixed), true).unwrap();
    assert_eq!(one.errors, 0);
    let found = one.data.and_then(|data| data.corrupted).expect("it was corrupted");
    assert!((100..512).contains(&found.reads), "{found:?}");
    assert!(
        found.first_read_at_ns.is_some_and(|at| (1_000_000_000..1_300_000_000).contains(&at)),
        "{found:?}"
    );
    // All of it is written again by then.
    assert_eq!((found.sectors, found.redundancy_differs), (0, false));
    // Too late to be written again, and on one of four members.
    let late = "faults.corrupt = [{ drive = 1, at = \"59900ms\", size = \"1MiB\" }]\narray = { level = \"raid5\", members = 4 }";
    let timed = mixed.replace("ios = 20000", "duration = \"60s\"");
    let array = checked(&one_drive(late, &timed), true).unwrap();
    let found = array.data.and_then(|data| data.corrupted).expect("it was corrupted");
    assert!(found.redundancy_differs && found.sectors > 0, "{found:?}");
    // Reads that are under way as the run ends are counted too.
    let reads = "[workload]\nrw = \"randread\"\nbs = \"64k\"\nsize = \"100MiB\"\niodepth = 16\n[run]\nduration = \"5s\"";
    let all = "faults.corrupt = [{ at = \"2s\", size = \"100MiB\" }]";
    assert!(checked(&one_drive(all, reads), true).unwrap().data.and_then(|data| data.corrupted).is_some());
    // Nothing is compared without the check, and nothing changes.
    let bare = go(&one_drive(corrupt, mixed));
    assert_eq!(bare.digest, one.digest);
}

#[test]
fn a_lying_drive_loses_what_it_has_flushed() {
    let rest = "[workload]\nrw = \"randwrite\"\nbs = \"4k\"\nfsync = 1\nsize = \"1GiB\"";
    let cut = |lies: &str| {
        let faults = format!("write_cache = true\nfaults.power_cut = \"5s\"\n{lies}");
        go(&one_drive(&faults, rest))
            .power_cut
            .flatten()
            .expect("the power went")
            .lost_although_flushed_sectors
    };
    assert_eq!(cut(""), 0);
    assert!(cut("faults.lie = [{ at = \"1s\" }]") > 8);
    // Honest again, and everything is on the media by then.
    assert_eq!(cut("faults.lie = [{ at = \"1s\", lasts = \"1s\" }]"), 0);
}

#[test]
fn a_reset_link_sends_again_what_was_not_answered() {
    let rest = "[workload]\nrw = \"randread\"\nbs = \"4k\"\niodepth = 32\n[run]\nios = 4000";
    let plain = go(&one_drive("", rest));
    let reset = go(&one_drive("faults.reset = [{ at = \"1s\" }, { at = \"2s\" }]", rest));
    assert_ne!(reset.digest, plain.digest);
    assert_eq!((reset.errors, reset.read.ios), (0, plain.read.ios));
    assert!(records(&reset).iter().all(|record| record.times == 1 && record.refused.is_none()));
}

#[test]
fn what_the_run_does_not_reach_changes_nothing_and_what_a_dead_drive_does_not_take_is_reported() {
    let array = "array = { level = \"raid6\", members = 5 }";
    let late = format!("faults.slow = [{{ drive = 2, at = \"1h\", by = \"1s\" }}]\n{array}");
    let (plain, late) = (go(&one_drive(array, ONE_AT_A_TIME)), go(&one_drive(&late, ONE_AT_A_TIME)));
    assert_eq!(late.digest, plain.digest);
    assert_eq!(records(&late)[0].times, 0);
    let dead = format!(
        "faults.fail = [{{ drive = 1, at = \"1s\" }}]\nfaults.hang = [{{ drive = 1, at = \"2s\", lasts = \"1s\" }}]\n{array}"
    );
    let dead = go(&one_drive(&dead, ONE_AT_A_TIME));
    assert_eq!(records(&dead)[0].times, 0);
    assert_eq!(records(&dead)[0].refused.as_deref(), Some("drive 1 has failed before"));
}

#[test]
fn a_trace_of_the_run_has_them() {
    let rest = "[workload]\nrw = \"randread\"\nbs = \"4k\"\n[run]\nios = 500";
    let faults = "faults.slow = [{ at = \"1s\", by = \"3ms\", every = \"500ms\", lasts = \"200ms\" }]\n\
                  faults.media = [{ at = \"2s\", offset = \"1MiB\", size = \"4KiB\" }]";
    let out = Shared::default();
    let control = Control { stop: &AtomicBool::new(false), progress: &|_| () };
    run_captured(&setup(&one_drive(faults, rest)), &control, Some(Box::new(out.clone()))).unwrap();
    let bytes = out.0.lock().unwrap().clone();
    let mut reader = Reader::new(bytes.as_slice()).unwrap();
    let mut found = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        if let Entry::Injected(injected) = entry {
            found.push((injected.time_ns / 1_000_000, injected.kind));
        }
    }
    let slow = |at, how| (at, InjectedKind::Fault(Fault::Slow { drive: 0, how }));
    let by = Some(Slowness::Constant(Span::from_ms(3)));
    assert_eq!(found[..3], [slow(1_000, by), slow(1_200, None), slow(1_500, by)]);
    let (first, count) = (Lba::new(2_048), Sectors::new(8));
    let media = Fault::MediaError { drive: 0, first, count, until: Cure::Written };
    assert!(found.contains(&(2_000, InjectedKind::Fault(media))), "{found:?}");
}

/// What was written, for whoever has another hold of it.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
