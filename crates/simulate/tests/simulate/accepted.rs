//! Whatever the language accepts, runs: random scenarios over the keys of protocols, controllers, I/O schedulers, faults
//! and markings, in the combinations that make the machines wait for each other. What is refused must contradict itself.
use drivelab_core::Setup;
use drivelab_record::CommandRecord;
use drivelab_scenario::{NoFiles, Source, plan};
use drivelab_simulate::{Control, run};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

const PROTOCOLS: [&str; 4] = ["none", "scsi-tcq", "ata-tcq", "ncq"];

/// One of some lines, or none of them.
fn maybe(lines: &[&str]) -> impl Strategy<Value = String> + use<> {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    let none = Just(String::new());
    prop_oneof![none, prop::sample::select(lines)]
}

/// One of some lines that contradict many others, or, more often, none of them.
fn seldom(lines: &[&str]) -> impl Strategy<Value = String> + use<> {
    prop_oneof![4 => Just(String::new()), 1 => maybe(lines)]
}

fn joined(parts: Vec<BoxedStrategy<String>>) -> impl Strategy<Value = String> {
    parts.prop_map(|lines| lines.concat())
}

fn queue() -> impl Strategy<Value = String> {
    let of_protocol = prop::sample::select(PROTOCOLS.to_vec()).prop_flat_map(|protocol| {
        let depth = maybe(&["queue.depth = 1", "queue.depth = 2", "queue.depth = 20"]);
        let depth = if protocol == "none" { Just(String::new()).boxed() } else { depth.boxed() };
        let line = Just(format!("queue.protocol = \"{protocol}\"\n")).boxed();
        let mut parts = vec![line, depth];
        match protocol {
            "scsi-tcq" => parts.extend([
                maybe(&["queue.scsi.tags = 256"]).boxed(),
                maybe(&["queue.scsi.reordering = \"unrestricted\""]).boxed(),
                maybe(&["queue.scsi.on_error = \"clear-all\"", "queue.scsi.on_error = \"clear-nexus\""])
                    .boxed(),
                maybe(&["queue.scsi.untagged = \"ordered\""]).boxed(),
                maybe(&["queue.scsi.naca = true", "queue.scsi.naca = true\nqueue.scsi.naca_by = [0]"])
                    .boxed(),
                maybe(&["queue.scsi.tst = \"each\""]).boxed(),
                maybe(&["queue.scsi.disconnects = false"]).boxed(),
            ]),
            "ncq" => parts.extend([
                maybe(&["queue.ncq.out_of_order = false"]).boxed(),
                maybe(&["queue.ncq.rdnc = true"]).boxed(),
                maybe(&["queue.ncq.wdnc = true"]).boxed(),
            ]),
            _ => {}
        }
        if protocol == "ata-tcq" || protocol == "scsi-tcq" {
            parts.push(maybe(&["queue.release_time = \"50us\"\nqueue.service_time = \"0.2ms\""]).boxed());
        }
        joined(parts)
    });
    let order = maybe(&["queue.order = \"fcfs\"", "queue.coalesces = 3", "queue.age_limit = \"50ms\""]);
    (of_protocol, order).prop_map(|(protocol, order)| protocol + &order)
}

fn before_the_drive() -> impl Strategy<Value = String> {
    joined(vec![
        seldom(&[
            "controller.interface = \"ahci\"",
            "controller.interface = \"legacy-ide\"",
            "controller.interface = \"ata-tcq\"",
            "controller.interface = \"scsi\"",
        ])
        .boxed(),
        seldom(&["controller.depth = 1", "controller.depth = 31"]).boxed(),
        maybe(&["controller.issue = \"0s\"", "controller.issue = \"0.5ms\""]).boxed(),
        maybe(&["controller.completion = \"0s\"", "controller.completion = \"0.1ms\""]).boxed(),
        maybe(&["controller.recovery = \"3ms\""]).boxed(),
        maybe(&["controller.timeout = \"5ms\"", "controller.timeout = \"60ms\""]).boxed(),
        maybe(&[
            "faults.read_errors = \"1%\"",
            "faults = { read_errors = \"20%\", retry_time = \"40ms\" }\ncontroller.retries = 2",
            "faults.bad_sectors = [[\"1GiB\", \"9GiB\"], [\"0B\", \"4KiB\"]]\ncontroller.retries = 1",
        ])
        .boxed(),
        maybe(&[
            "elevator = \"none\"",
            "elevator = \"noop\"",
            "elevator = { order = \"c-look\", depth = 4, merge = false }",
            "elevator = { depth = 2, read_expire = \"9ms\", fifo_batch = 1, writes_starved = 0 }",
            "elevator = { order = \"fair\", slice_sync = \"9ms\", quantum = 1 }",
            "elevator = { order = \"fair\", slice_idle = \"0s\", depth = 40 }",
        ])
        .boxed(),
    ])
}

fn job() -> impl Strategy<Value = String> {
    joined(vec![
        maybe(&["rw = \"randwrite\"", "rw = \"randrw\"", "rw = \"read\"", "rw = \"write\""]).boxed(),
        maybe(&["bs = \"64KiB\"\nmax_transfer = \"16KiB\"", "bs = \"512B\""]).boxed(),
        maybe(&["size = \"64KiB\"", "size = \"11GiB\""]).boxed(),
        maybe(&["iodepth = 5", "rate_iops = 150", "iodepth = 40", "thinktime = \"2ms\""]).boxed(),
        maybe(&["numjobs = 3", "submit.fixed = \"20us\""]).boxed(),
        seldom(&["attribute = \"ordered\"", "attribute = \"head-of-queue\"", "attribute = \"untagged\""])
            .boxed(),
        seldom(&["priority = \"high\"", "priority = \"isochronous\"\nicc = \"15ms\""]).boxed(),
        maybe(&["fua = true"]).boxed(),
        seldom(&["initiator = 1", "initiator = 15"]).boxed(),
    ])
}

/// A command of a list.
fn command() -> impl Strategy<Value = String> {
    let place = (0u32..30, prop::sample::select(vec!["read", "write"]), 0u32..70, 1u32..300).prop_map(
        |(at, rw, offset, count)| {
            format!(
                "at = \"{at}ms\", rw = \"{rw}\", offset = \"{offset}GB\", bs = \"{}B\"",
                u64::from(count) * 512
            )
        },
    );
    let attribute = seldom(&[
        ", attribute = \"ordered\"",
        ", attribute = \"head-of-queue\"",
        ", attribute = \"untagged\"",
        ", priority = \"high\"",
        ", priority = \"isochronous\", icc = \"8ms\"",
    ]);
    (place, attribute, seldom(&[", initiator = 3"])).prop_map(|(place, attribute, initiator)| {
        format!("{{ {place}{}{} }}", attribute.trim_end(), initiator.trim_end())
    })
}

/// Plans a scenario and runs it, or finds known contradictions in it.
fn plan_and_run(text: &str) -> Result<(), TestCaseError> {
    let source = Source { origin: "a.toml".to_owned(), text: text.to_owned() };
    match plan(&source, &[], &NoFiles) {
        Ok(plan) => {
            let stop = AtomicBool::new(false);
            let control = Control { stop: &stop, progress: &|_| () };
            let ran = run(&plan.points[0].setup, &control);
            prop_assert!(ran.is_ok(), "{}\n{}", text, ran.unwrap_err());
        }
        Err(problems) => {
            let known = [
                "no attribute",
                "no priorities",
                "knows one host",
                "a controller depth of",
                "a depth of",
                "order of arrival",
                "`recovery` has no effect",
            ];
            for problem in &problems.0 {
                let expected = known.iter().any(|known| problem.message.contains(known));
                prop_assert!(expected, "{}\n{}", text, problem);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(384))]

    #[test]
    fn what_is_accepted_runs(
        queue in queue(), before in before_the_drive(), first in job(), second in job(), seed in 1u32..1_000,
    ) {
        let text = format!(
            "[target]\ndrive = \"seagate-10k-scsi-74gb\"\n{queue}{before}[workload.job.a]\n{first}[workload.job.b]\n\
             {second}[run]\nduration = \"1s\"\nios = 300\nseed = {seed}\n"
        );
        plan_and_run(&text)?;
    }

    #[test]
    fn every_command_of_a_list_that_is_accepted_ends(
        queue in queue(), before in before_the_drive(), list in prop::collection::vec(command(), 1..24),
    ) {
        let list = list.join(",\n");
        let text = format!(
            "[target]\ndrive = \"seagate-10k-scsi-74gb\"\n{queue}{before}[workload]\ncommands = [\n{list}\n]\n"
        );
        plan_and_run(&text)?;
    }
}

/// A command that is given up while it waits is the last of a round: the drive reports what it has held back.
#[test]
fn a_round_ends_when_what_was_left_of_it_is_given_up() {
    let text = "[target]\ndrive = \"seagate-10k-scsi-74gb\"\nqueue = { protocol = \"ncq\", coalesces = 3 }\n\
                controller = { issue = \"0.5ms\", timeout = \"5ms\" }\n[workload.job.a]\nattribute = \"untagged\"\n\
                [workload.job.b]\nbs = \"64KiB\"\nmax_transfer = \"16KiB\"\nsize = \"64KiB\"\n[run]\nios = 300\nseed = 29\n";
    let source = Source { origin: "a.toml".to_owned(), text: text.to_owned() };
    let plan = plan(&source, &[], &NoFiles).unwrap();
    let stop = AtomicBool::new(false);
    let point = run(&plan.points[0].setup, &Control { stop: &stop, progress: &|_| () }).unwrap();
    assert!(point.errors > 0);
}

/// The commands of a scenario as the log has them, in order of completion.
fn listed(text: &str) -> Vec<CommandRecord> {
    let source = Source { origin: "a.toml".to_owned(), text: text.to_owned() };
    let plan = plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
    let setup = Setup { traces: 100, ..plan.points[0].setup.clone() };
    let stop = AtomicBool::new(false);
    let mut commands =
        run(&setup, &Control { stop: &stop, progress: &|_| () }).unwrap().log.unwrap().commands;
    commands.sort_by_key(|command| command.completed_ns);
    commands
}

/// The first is in service when the others come: simple ones before the ordered one, head of queue next, the last first.
#[test]
fn listed_commands_are_issued_at_their_times_and_obey_their_attributes() {
    let commands = listed(
        "[target]\ndrive = \"seagate-10k-scsi-74gb\"\ncache = false\n[workload]\ncommands = [\n\
         { at = \"0ms\", offset = \"40GB\" },\n{ at = \"0.5ms\", offset = \"20GB\", attribute = \"ordered\", rw = \"write\" },\n\
         { at = \"0.6ms\", offset = \"41GB\" },\n{ at = \"0.7ms\", offset = \"1GB\", attribute = \"head-of-queue\" },\n\
         { at = \"0.8ms\", offset = \"70GB\", attribute = \"head-of-queue\" },\n]\n",
    );
    let order: Vec<(u64, u64)> =
        commands.iter().map(|command| (command.submitted_ns / 100_000, command.id)).collect();
    assert_eq!(order, [(0, 0), (8, 4), (7, 3), (5, 1), (6, 2)]);
}

/// One deadline that can be met and one that cannot: with aborts the second takes the rest with it, and the host sends
/// those again.
#[test]
fn a_deadline_that_passes_ends_its_command_where_the_drive_enforces_deadlines() {
    let text = |aborts: bool| {
        format!(
            "[target]\ndrive = \"wd-4tb-7200\"\nqueue.ncq.rdnc = {aborts}\n[workload]\ncommands = [\n\
             {{ offset = \"1TB\" }},\n{{ offset = \"3TB\", priority = \"isochronous\", icc = \"1s\" }},\n\
             {{ offset = \"2TB\", priority = \"isochronous\", icc = \"1us\" }},\n]\n"
        )
    };
    let outcomes = |text: &str| {
        let mut ends: Vec<(u64, &str)> =
            listed(text).iter().map(|command| (command.id, command.outcome)).collect();
        ends.sort_unstable();
        ends
    };
    assert_eq!(outcomes(&text(false)), [(0, "done"), (1, "done"), (2, "done")]);
    let aborted = outcomes(&text(true));
    assert!(aborted.contains(&(2, "timed-out")), "{aborted:?}");
    assert!([0, 1].iter().all(|id| aborted.contains(&(*id, "done"))), "{aborted:?}");
}

/// The write is answered for at once and the flush when it is on the media; the record has them apart.
#[test]
fn a_listed_flush_waits_for_what_the_cache_has_taken() {
    let text = |cached: bool| {
        format!(
            "[target]\ndrive = \"wd-4tb-7200\"\nwrite_cache = {cached}\n[workload]\ncommands = [\n\
             {{ rw = \"write\", offset = \"2TB\" }},\n{{ at = \"40ms\", rw = \"flush\" }},\n]\n"
        )
    };
    let [write, flush] = &listed(&text(true))[..] else { panic!("two commands") };
    assert_eq!((write.access, write.served), ("write", "buffered"));
    assert_eq!(
        (flush.access, flush.sectors, flush.first_sector, flush.first_cylinder),
        ("flush", 0, 0, None)
    );
    let taken = |command: &CommandRecord| command.completed_ns - command.submitted_ns;
    assert!(taken(write) < 1_000_000 && taken(flush) > 1_000_000, "{} {}", taken(write), taken(flush));
    let [write, flush] = &listed(&text(false))[..] else { panic!("two commands") };
    assert!(taken(write) > 1_000_000 && taken(flush) < 1_000_000, "{} {}", taken(write), taken(flush));
}

#[test]
fn flushes_are_in_no_figure_but_their_own() {
    let point = |fsync: u32| {
        let text = format!(
            "[target]\ndrive = \"wd-4tb-7200\"\nwrite_cache = true\n\
             cache = {{ size = \"64MiB\", segments = 4096, write_segments = 4096 }}\n[workload]\nrw = \"randwrite\"\nfsync = {fsync}\n\
             [run]\nios = 400\n"
        );
        let source = Source { origin: "a.toml".to_owned(), text };
        let plan = plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
        let stop = AtomicBool::new(false);
        run(&plan.points[0].setup, &Control { stop: &stop, progress: &|_| () }).unwrap()
    };
    let [never, seldom, often] = [0, 10, 1].map(point);
    for (point, flushes) in [(&never, 0), (&seldom, 39), (&often, 399)] {
        assert_eq!((point.write.ios, point.latency_ns.n, point.read.ios), (400, 400, 0));
        assert_eq!(point.flush.count, flushes);
        // Little's law is about I/Os alone: one at a time, and none while a flush is under way.
        let busy = point.write.latency_ns.mean.unwrap() * 400.0;
        let flushing = point.flush.latency_ns.mean.unwrap_or(0.0) * flushes as f64;
        let window = point.window_ns as f64;
        assert!((busy + flushing - window).abs() < 1e-6 * window, "{busy} {flushing} {window}");
        assert!((point.depth.achieved - busy / window).abs() < 1e-9);
    }
    // Without a flush nothing reaches the media; ten at a time are sorted before they go.
    let rates = [never, seldom, often].map(|point| point.iops);
    assert!(rates[0] > 10.0 * rates[1] && rates[1] > 1.2 * rates[2], "{rates:?}");
}

/// Long sequential reads from a drive whose media and link are faster.
#[test]
fn no_drive_reads_faster_than_the_bus_of_its_host() {
    let rate = |keys: &str| {
        let text = format!(
            "[target]\ndrive = \"seagate-exos-x24-24tb\"\n{keys}\n[workload]\nrw = \"read\"\nbs = \"1MiB\"\niodepth = 4\n\
             [run]\nios = 400\n"
        );
        let source = Source { origin: "a.toml".to_owned(), text };
        let plan = plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
        let stop = AtomicBool::new(false);
        run(&plan.points[0].setup, &Control { stop: &stop, progress: &|_| () }).unwrap().bytes_per_s / 1e6
    };
    let (own, pci, wide) = (rate(""), rate("bus = \"pci-32-33\""), rate("bus = \"pcie-3x8\""));
    assert!(own > 200.0 && (wide / own - 1.0).abs() < 0.01, "{own} {wide}");
    assert!(pci <= 126.0 && pci > 124.0, "{pci}");
}
