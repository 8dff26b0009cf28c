//! Whatever the text, the answer is a plan or a list of problems that point into it; what is read means what was said.
use crate::common;
use drivelab_core::host::params::{Addressing, Arrivals};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::queue::orders::Rule;
use drivelab_core::storage::drive::queue::{AgeFull, AgeWeight, Order, ScanWeight};
use drivelab_core::{Attribute, Limit, Priority};
use drivelab_scenario::{
    Loader, NoFiles, Plan, Problems, Source, catalogue, drive_reference, plan, scenario_reference, schema,
};
use drivelab_units::{Sectors, Share, Span};
use proptest::prelude::*;

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Problems> {
    common::read(text, overrides, &Catalogue)
}

/// Files that are the drives of the catalogue.
struct Catalogue;

impl Loader for Catalogue {
    fn load(&self, path: &str) -> Result<String, String> {
        let name = path.trim_end_matches(".toml");
        catalogue::text("drives", name).map(str::to_owned).ok_or_else(|| "no such file".to_owned())
    }
}

fn planned(text: &str) -> Plan {
    read(text, &[]).unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

const VALID: [&str; 6] = [
    "name = \"x\"\n[target]\ndrive = \"seagate-10k-scsi-74gb\"\nqueue = { order = [\"fcfs\", \"sptf\"], depth = 4 }\n\
     [workload]\nrw = \"randrw\"\nbs = \"16k\"\niodepth = [1, 4]\nrwmixread = 70\n[run]\nwarmup = \"1s\"\nseed = 3\n",
    "target.null = {}\n[workload]\nbssplit = \"4k/60:64k/40\"\nrate_iops = \"120/s\"\nrate_process = \"poisson\"\n\
     [workload.job.a]\nsize = \"10%\"\n[workload.job.b]\noffset = \"90%\"\niodepth = 2\nthinktime = \"1ms\"\nnumjobs = 3\n",
    "[target.drive]\nrpm = \"7200rpm\"\nseek = { table = [[1, \"1ms\"], [90, \"4ms\"]] }\n[target.drive.geometry]\n\
     heads = 3\nsurface_order = \"serpentine\"\ncylinders_per_head = 8\nzones = [{ cylinders = 50, sectors_per_track = \
     90 }, { cylinders = 50, sectors_per_track = 80 }]\nslips = [{ cylinder = 3, head = 1, sector = 7 }]\n\
     [target.drive.firmware]\nread_miss = { after_read = \"0.2ms\", after_write = \"0.3ms\" }\n[workload]\nbs = \"512B\"\n",
    "[target.drive]\nbase = \"wd-4tb-7200\"\n[target.drive.geometry]\nouter_radius = \"46mm\"\ninner_radius = \"22mm\"\n\
     linear_density = \"900kBPI\"\ntrack_density = \"150kTPI\"\nformat_efficiency = \"80%\"\ncapacity = \"100GB\"\n",
    "[target]\ndrive = \"seagate-10k-scsi-74gb\"\nqueue = { release_time = \"10us\", scsi = { tags = 256, on_error = \
     \"clear-all\", naca = true } }\ncontroller = { interface = \"scsi\", depth = 8, retries = 2, timeout = \"1s\" }\n\
     elevator = { order = \"fair\", merge = \"64KiB\", slice_idle = \"4ms\" }\nfaults = { read_errors = \"1%\", \
     bad_sectors = [[\"1GiB\", \"4KiB\"]], retry_time = \"9ms\" }\n[workload]\nattribute = \"ordered\"\n\
     [workload.job.a]\nsynchronous = false\n[workload.job.b]\ninitiator = 1\nfua = true\n",
    "[target]\ndrive = \"wd-4tb-7200\"\nqueue.ncq = { out_of_order = false }\nelevator = \"c-look\"\n[workload]\n\
     commands = [{ at = \"1ms\", rw = \"write\", offset = \"1GiB\", bs = \"4k\" }, { priority = \"isochronous\", icc = \
     \"9ms\" }]\n",
];

/// A problem points at a place of its text, and prints.
fn check(problems: &Problems) -> Result<(), TestCaseError> {
    prop_assert!(!problems.0.is_empty());
    for problem in &problems.0 {
        prop_assert!(problem.line >= 1 && problem.column >= 1);
        prop_assert!(!problem.message.is_empty());
        prop_assert!(!problem.to_string().is_empty());
        prop_assert!(!problem.message.contains("no reason is known"), "{}", problem);
    }
    Ok(())
}

/// Pieces that scenarios are made of, so that nonsense gets far.
fn piece() -> impl Strategy<Value = String> {
    let words = "target workload run drive queue depth order geometry zones heads seek table settle server null name \
                 base cache segments read_ahead write_cache size bs iodepth rw offset job a numjobs capacity value mark rpm [ ] { } [[ ]] = . , \
                 \" ' # true false 0 1 -1 4096 1e999 nan inf 18446744073709551616 1979-05-27 \"4k\" \"8.5\" \"0ms\" \
                 \"100%\" \"999999999TB\" \"wd-4tb-7200\" \"x.toml\" \"ncq\" \"7200rpm\" \"0rpm\" \"1ns\"";
    let words: Vec<String> =
        words.split_whitespace().map(str::to_owned).chain([" ", "\n", "\n"].map(String::from)).collect();
    prop::sample::select(words)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}", key in "[a-z.]{0,20}", value in ".{0,20}") {
        if let Err(problems) = read(&text, &[(&key, &value)]) {
            check(&problems)?;
        }
    }

    #[test]
    fn no_heap_of_pieces_makes_it_panic(pieces in prop::collection::vec(piece(), 0..60)) {
        for glue in ["", " "] {
            if let Err(problems) = read(&pieces.join(glue), &[]) {
                check(&problems)?;
            }
        }
    }

    #[test]
    fn no_mutation_makes_it_panic(
        which in 0..VALID.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, piece()), 1..6),
    ) {
        let mut text: Vec<char> = VALID[which].chars().collect();
        for (at, cut, piece) in edits {
            let at = at.index(text.len());
            let end = (at + cut).min(text.len());
            text.splice(at..end, piece.chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(problems) = read(&text, &[]) {
            check(&problems)?;
        }
    }

    #[test]
    fn any_value_of_any_key_is_taken_or_refused(which in 0..VALID.len(), path in prop::sample::select(paths()), value in piece()) {
        if let Err(problems) = read(VALID[which], &[(&path, &value)]) {
            check(&problems)?;
        }
    }

    #[test]
    fn what_is_suggested_for_a_bare_number_passes(
        key in prop::sample::select(vec![
            "run.duration", "run.warmup", "workload.runtime", "workload.thinktime", "workload.bs", "workload.offset",
            "workload.size", "workload.max_transfer", "workload.blockalign", "target.drive.link.rate", "target.drive.rpm",
        ]),
        value in prop_oneof![
            (0u32..100_000).prop_map(|number| number.to_string()),
            (0u32..1_000).prop_map(|number| format!("{}.{:02}", number / 100, number % 100)),
            prop::sample::select(vec!["nan".to_owned(), "inf".to_owned(), "512".to_owned(), "1e3".to_owned()]),
        ],
    ) {
        let base = "target.drive = \"wd-4tb-7200\"\n";
        let problems = read(base, &[(key, &value)]).unwrap_err();
        let remedy = problems.0[0].remedy.clone().unwrap_or_default();
        let suggested = remedy.split('"').nth(1).unwrap_or_default().to_owned();
        // An example or a bound may have nothing to do with an I/O's range, but it is a value.
        let fits = key != "workload.size" || !remedy.contains("known units");
        if let Err(problems) = read(base, &[(key, &suggested)]) {
            prop_assert!(!fits, "{} {}: {}\n{}", key, value, remedy, problems);
        }
    }

    #[test]
    fn numbers_of_any_size_build_a_drive_or_are_refused(
        heads in 1u64..=255, cylinders in 1u64..=5_000_000, sectors in 1u64..=70_000, first in 0u64..=5_000_000,
        rpm in 1u64..=400_000, single in 0u64..=2_000_000_000, head_switch in 0u64..=40_000_000,
    ) {
        let text = format!(
            "[target.drive]\nrpm = \"{rpm}rpm\"\nseek = {{ table = [[1, \"{single}ns\"], [9, \"1ms\"]] }}\n\
             settle = {{ head_switch = \"{head_switch}ns\" }}\ngeometry = {{ heads = {heads}, zones = [{{ first_cylinder = {first}, \
             cylinders = {cylinders}, sectors_per_track = {sectors} }}] }}\n[workload]\nbs = \"512B\"\n"
        );
        if let Err(problems) = read(&text, &[]) {
            check(&problems)?;
        }
    }

    #[test]
    fn a_data_sheet_builds_a_drive_of_that_capacity(
        heads in 1u64..=20, mb_per_s in 20u64..=300, percent in 40u64..=100, gb in 10u64..=2_000, zones in 1u64..=60,
    ) {
        let text = format!(
            "[target.drive]\nrpm = \"7200rpm\"\nseek = {{ single = \"1ms\", average = \"8ms\", full = \"16ms\" }}\n\
             geometry = {{ heads = {heads}, capacity = \"{gb}GB\", outer_rate = \"{mb_per_s}MB/s\", inner_to_outer = \"{percent}%\", \
             zone_count = {zones} }}\n"
        );
        match read(&text, &[]) {
            Ok(plan) => {
                let TargetParams::Drive(model) = &plan.points[0].setup.target else { panic!() };
                prop_assert_eq!(model.capacity(), Sectors::new(gb * 1_000_000_000 / 512));
                let geometry = &model.mechanism.geometry;
                let inner = f64::from(geometry.sectors_per_track(geometry.zones() - 1));
                let outer = f64::from(geometry.sectors_per_track(0));
                if zones > 1 {
                    prop_assert!((inner / outer - percent as f64 / 100.0).abs() < 0.01);
                }
            }
            // Too many cylinders for few slow heads, or a zone of more than 2^32 slots.
            Err(problems) => check(&problems)?,
        }
    }
}

/// Every key of a scenario, from its schema.
fn paths() -> Vec<String> {
    fn walk(whole: &serde_json::Value, schema: &serde_json::Value, path: &str, found: &mut Vec<String>) {
        if let Some(name) = schema.get("$ref").and_then(serde_json::Value::as_str) {
            walk(whole, whole.pointer(&name[1..]).unwrap(), path, found);
        }
        for key in ["anyOf", "oneOf"] {
            for inner in schema.get(key).and_then(serde_json::Value::as_array).into_iter().flatten() {
                walk(whole, inner, path, found);
            }
        }
        for (name, inner) in
            schema.get("properties").and_then(serde_json::Value::as_object).into_iter().flatten()
        {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            found.push(path.clone());
            walk(whole, inner, &path, found);
        }
    }
    let mut found = Vec::new();
    let whole = schema();
    walk(&whole, &whole, "", &mut found);
    found.sort();
    found.dedup();
    found
}

#[test]
fn every_key_is_described() {
    assert!(paths().len() > 100);
    let reference = scenario_reference() + &drive_reference();
    for path in paths() {
        let key = path.rsplit('.').next().unwrap();
        let known = ["value", "source", "mark"].contains(&key) || reference.contains(&format!("`{key}`"));
        assert!(known, "{path}");
    }
}

#[test]
fn what_is_mutated_is_a_plan_by_itself() {
    VALID.iter().for_each(|text| assert!(!planned(text).points.is_empty()));
}

#[test]
fn a_controller_costs_what_its_interface_does_unless_it_says_otherwise() {
    let controller = |keys: &str| {
        let text = format!("[target]\ndrive = \"wd-4tb-7200\"\nelevator = \"noop\"\ncontroller = {keys}\n");
        match &planned(&text).points[0].setup.target {
            TargetParams::System(system) => (system.controller, system.elevator.map_or(0, |host| host.depth)),
            other => panic!("{other:?}"),
        }
    };
    let plain = ControllerParams::PLAIN;
    let costs = |issue, completion| {
        let (issue, completion) = (Span::from_us(issue), Span::from_us(completion));
        ControllerParams { issue, completion, ..plain }
    };
    assert_eq!(controller("{}"), (plain, 32));
    assert_eq!(controller("{ interface = \"ahci\" }"), (costs(1, 2), 32));
    assert_eq!(controller("{ interface = \"legacy-ide\" }"), (costs(8, 3), 1));
    let own = ControllerParams { depth: Some(4), ..costs(8, 0) };
    assert_eq!(controller("{ issue = \"8us\", depth = 4 }"), (own, 4));
    let patient = ControllerParams { recovery: Span::from_ms(5), timeout: Some(Span::from_s(30)), ..plain };
    assert_eq!(controller("{ recovery = \"5ms\", timeout = \"30s\" }"), (patient, 32));
}

/// What costs nothing and orders nothing is the drive by itself, to the digest.
#[test]
fn a_plain_controller_is_none() {
    let target = |keys: &str| {
        let text = format!("[target]\ndrive = \"wd-4tb-7200\"\n{keys}\n");
        matches!(planned(&text).points[0].setup.target, TargetParams::Drive(_))
    };
    assert!(target("controller = {}\nelevator = \"none\"") && target("controller.retries = 0"));
    assert!(!target("controller.depth = 32") && !target("elevator = {}"));
}

#[test]
fn a_job_asks_of_the_queue_what_it_says_and_its_copies_are_processes() {
    let plan = planned(VALID[4]);
    let jobs = &plan.points[0].setup.jobs;
    assert!(jobs.iter().all(|job| job.marking.attribute == Attribute::Ordered));
    assert_eq!(jobs.iter().map(|job| job.initiator).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(jobs.iter().map(|job| job.synchronous).collect::<Vec<_>>(), [false, true]);
    assert_eq!(jobs.iter().map(|job| job.marking.force_unit_access).collect::<Vec<_>>(), [false, true]);
    insta::assert_snapshot!(plan.points[0].fio);
    let listed = planned(VALID[5]);
    // The host is fed in the order of the times.
    let ios = &listed.points[0].setup.fed.as_ref().unwrap().ios;
    assert_eq!(ios.iter().map(|io| io.time).collect::<Vec<_>>(), [Span::ZERO, Span::from_ms(1)]);
    assert_eq!(ios[0].command.priority, Priority::Isochronous(Span::from_ms(9)));
    assert_eq!(listed.points[0].setup.limit, Limit { duration: None, ios: Some(2), until: None });
    insta::assert_snapshot!(listed.points[0].fio);
}

#[test]
fn the_same_meaning_has_the_same_hash() {
    let hash = |text: &str| planned(text).hash;
    let base = "[target]\ndrive = \"wd-4tb-7200\"\n[workload]\nbs = \"4k\"\n";
    assert_eq!(
        hash(base),
        hash("name = \"y\"\nworkload.bs = \"4096B\"\ntarget.drive = \"wd-4tb-7200\" # z\n")
    );
    assert_eq!(hash(base), hash("workload.bs = \"4KiB\"\ntarget.drive = { base = \"wd-4tb-7200\" }\n"));
    assert_eq!(hash(base), hash("workload.bs = \"4KiB\"\ntarget.drive = \"wd-4tb-7200.toml\"\n"));
    let others = [
        "[target]\ndrive = \"wd-4tb-7200\"\n[workload]\nbs = \"8k\"\n",
        "[target]\ndrive = \"seagate-st3250620as\"\n[workload]\nbs = \"4k\"\n",
        "[target]\ndrive = { base = \"wd-4tb-7200\", rpm = \"7201rpm\" }\n[workload]\nbs = \"4k\"\n",
        "[target]\ndrive = \"wd-4tb-7200\"\n[workload]\nbs = \"4k\"\n[run]\nseed = 2\n",
        "[target]\ndrive = \"wd-4tb-7200\"\n[workload]\nbs = [\"4k\"]\n",
    ];
    for other in others {
        assert_ne!(hash(base), hash(other), "{other}");
    }
}

#[test]
fn an_override_means_what_the_text_would() {
    let base = "[target]\ndrive = \"wd-4tb-7200\"\n";
    let over = [("workload.iodepth", "1,4"), ("target.queue.order", "look"), ("target.drive.rpm", "5400rpm")];
    let overridden = read(base, &over).unwrap();
    let written = "workload.iodepth = [1, 4]\ntarget.queue.order = \"look\"\n[target.drive]\nbase = \"wd-4tb-7200\"\n\
                   rpm = \"5400rpm\"\n";
    assert_eq!(overridden.hash, planned(written).hash);
    assert_eq!(overridden.axes, ["workload.iodepth"]);
    let values: Vec<String> = overridden.points.iter().map(|point| point.axes[0].1.to_string()).collect();
    assert_eq!(values, ["1", "4"]);
}

#[test]
fn a_scenario_means_what_it_says() {
    let plan = planned(VALID[0]);
    assert_eq!((plan.name.as_str(), plan.points.len(), plan.seed), ("x", 4, 3));
    let point = &plan.points[3];
    let (setup, job) = (&point.setup, &point.setup.jobs[0]);
    assert_eq!((setup.warmup, setup.limit.duration), (Span::from_s(1), Some(Span::from_s(60))));
    assert_eq!(job.sizes[0].size, Sectors::new(32));
    assert_eq!(job.addressing, Addressing::Random);
    assert_eq!(job.arrivals, Arrivals::Closed { outstanding: 4, think: Span::ZERO });
    assert_eq!(Some(job.reads), Share::from_ratio(7, 10));
    let TargetParams::Drive(model) = &setup.target else { panic!() };
    assert_eq!(model.queue.depth, 4);
    insta::assert_snapshot!(point.fio);
}

#[test]
fn jobs_inherit_and_run_as_processes_of_their_own() {
    let plan = planned(VALID[1]);
    let jobs = &plan.points[0].setup.jobs;
    let processes: Vec<u32> = jobs.iter().map(|job| job.process).collect();
    assert_eq!(processes, [0, 1, 2, 3]);
    assert!(matches!(jobs[0].arrivals, Arrivals::Poisson { .. }));
    // A job that sets its own depth leaves the inherited rate.
    assert!(matches!(jobs[1].arrivals, Arrivals::Closed { outstanding: 2, .. }));
    assert!(jobs.iter().all(|job| job.sizes.len() == 2 && job.align == Sectors::new(8)));
    insta::assert_snapshot!(plan.points[0].fio);
}

#[test]
fn the_fio_jobs_of_a_sweep_run_one_after_the_other() {
    let plan = planned(VALID[0]);
    let waiting: Vec<usize> =
        plan.points.iter().map(|point| point.fio.matches("stonewall").count()).collect();
    assert_eq!(waiting, [0, 1, 1, 1]);
    // The jobs of one point run at once.
    let text = VALID[1].replace("iodepth = 2", "iodepth = [2, 4]");
    assert_eq!(planned(&text).points[1].fio.matches("stonewall").count(), 1);
}

#[test]
fn the_scenario_gives_way_to_nothing_of_the_drive() {
    let depth = |text: &str| match &planned(text).points[0].setup.target {
        TargetParams::Drive(model) => (model.queue.depth, model.cache.is_some()),
        _ => panic!(),
    };
    assert_eq!(depth("target.drive = \"wd-4tb-7200\""), (32, true));
    let off = "[target]\ndrive = \"wd-4tb-7200\"\nqueue.protocol = \"none\"\ncache = false\n";
    assert_eq!(depth(off), (1, false));
}

#[test]
fn an_order_that_ages_has_a_weight_and_displaces_what_the_others_need() {
    let queue = |drive: &str, queue: &str| {
        let text = format!("[target]\ndrive = \"{drive}\"\nqueue = {queue}\n");
        match &planned(&text).points[0].setup.target {
            TargetParams::Drive(model) => model.queue.clone(),
            _ => panic!(),
        }
    };
    let weight = |thousandths| AgeWeight::from_ratio(thousandths, 1_000).unwrap();
    let aged = "{ order = \"aged-sptf\" }";
    assert_eq!(queue("samsung-f1-1tb", aged).order, Order::AgedSptf(weight(6)));
    assert_eq!(queue("seagate-st3250620as", aged).order, Order::AgedSptf(weight(710)));
    // The drive's own weight and knowledge, under an order that needs neither.
    let order = "{ order = \"look\" }";
    assert_eq!(queue("seagate-st3250620as", order).order, Order::Look);
    assert_eq!(queue("seagate-st3250620as", "{ protocol = \"none\" }").order, Order::Fcfs);
    // The same from a drive laid over it, and from the command line over a scenario.
    planned("[target.drive]\nbase = \"seagate-10k-scsi-74gb\"\nqueue = { order = \"look\" }\n");
    let scenario = "[target]\ndrive = \"wd-4tb-7200\"\nqueue = { order = \"sptf\", knows = \"distance\" }\n";
    assert!(read(scenario, &[("target.queue.order", "fcfs")]).is_ok());
    assert!(read(scenario, &[("target.queue.age_weight", "0.2")]).is_err());
    // What counts at one point of a sweep counts.
    assert!(
        read(scenario, &[("target.queue.order", "fcfs,aged-sptf"), ("target.queue.age_weight", "0.2")])
            .is_ok()
    );
    let orders = ("target.queue.order", "look,sptf");
    assert!(read(scenario, &[orders, ("target.queue.write_handicap", "1ms")]).is_ok());
    assert!(
        read(scenario, &[("target.queue.order", "look"), ("target.queue.write_handicap", "1ms")]).is_err()
    );
    let chooses = ("target.queue.chooses", "at-media-end,after-answer");
    assert!(read(scenario, &[chooses, ("target.queue.answer_time", "1ms")]).is_ok());
    let mixed = [("workload.rw", "randread,randrw"), ("workload.rwmixread", "70")];
    assert!(read(scenario, &mixed).is_ok());
    assert!(read(scenario, &[("workload.rw", "randread"), mixed[1]]).is_err());
}

/// Every key that counts with some orders only: accepted beside those, refused beside the others.
#[test]
fn each_order_takes_the_keys_that_count_with_it() {
    let names = |holds: &dyn Fn(&Rule) -> bool| {
        let rules = Order::ALL.into_iter().map(Order::rule).filter(|rule| holds(rule));
        rules.map(|rule| rule.name).collect::<Vec<&str>>()
    };
    let (rotational, timed) = (names(&|rule| rule.counts_rotation), names(&Rule::costs_time));
    let (all, chooses) = (names(&|_| true), names(&|rule| rule.name != "fcfs"));
    let weighing = |key| names(&|rule| rule.weighs.is_some_and(|weighs| weighs.key == key));
    // What is known of the orders that there have been for long.
    let has = |names: &[&str], known: &[&str]| known.iter().all(|name| names.contains(name));
    assert!(has(&rotational, &["sptf", "aged-sptf", "weighted-sptf", "read-first-sptf"]));
    assert!(has(&timed, &["sstf", "sptf", "aged-sptf", "weighted-sptf"]));
    assert!(has(&weighing("age_weight"), &["aged-sptf"]));
    let keys: [(&str, &str, &[&str]); 16] = [
        ("knows", "distance", &rotational),
        ("write_margin", "1ms", &rotational),
        ("read_margin", "1ms", &rotational),
        ("seek_margin", "0.25", &rotational),
        ("age_share", "0.3", &weighing("age_share")),
        ("write_handicap", "1ms", &timed),
        ("considers", "5", &chooses),
        ("sorts_from", "5", &chooses),
        ("look_time", "1us", &chooses),
        ("age_weight", "0.3", &weighing("age_weight")),
        ("age_full", "2s", &weighing("age_full")),
        ("write_deadline", "2s", &weighing("write_deadline")),
        ("scan_weight", "0.5", &weighing("scan_weight")),
        ("age_limit", "2s", &all),
        ("pass_limit", "5", &all),
        ("depth", "65536", &all),
    ];
    for (key, value, orders) in keys {
        for order in &all {
            let scenario = format!(
                "[target]\ndrive = \"wd-4tb-7200\"\nqueue = {{ protocol = \"scsi-tcq\", order = \"{order}\" }}\n"
            );
            let read = read(&scenario, &[(&format!("target.queue.{key}"), value)]);
            assert_eq!(read.is_ok(), orders.contains(order), "{key} beside {order}");
        }
    }
}

#[test]
fn what_an_order_weighs_has_its_recommended_value_by_default() {
    let queue = |queue: &str| {
        let text = format!("[target]\ndrive = \"samsung-f1-1tb\"\nqueue = {queue}\n");
        match &planned(&text).points[0].setup.target {
            TargetParams::Drive(model) => model.queue.clone(),
            _ => panic!(),
        }
    };
    let order = |text: &str| queue(text).order;
    assert_eq!(order("{ order = \"vscan\" }"), Order::VScan(ScanWeight::from_ratio(1, 5).unwrap()));
    let Order::VScan(whole) = order("{ order = \"vscan\", scan_weight = 1 }") else { panic!() };
    assert_eq!(whole.of(1_234), 1_234);
    assert_eq!(order("{ order = \"read-first-sptf\" }"), Order::ReadFirstSptf(Span::from_s(5)));
    assert_eq!(order("{ order = \"weighted-sptf\" }"), Order::WeightedSptf(AgeFull::new(Span::from_s(1))));
    let firmware = queue(
        "{ order = \"aged-sptf\", age_weight = 0, considers = 9, look_time = \"3us\", pass_limit = 7 }",
    );
    assert_eq!((firmware.order, firmware.pass_limit), (Order::AgedSptf(AgeWeight::NONE), Some(7)));
    assert_eq!(
        [firmware.examination_time(4), firmware.examination_time(9), firmware.examination_time(40)],
        [12, 27, 27].map(Span::from_us)
    );
}

#[test]
fn a_loader_without_files_refuses_them() {
    let source = Source { origin: "a.toml".to_owned(), text: "target.drive = \"./a.toml\"".to_owned() };
    let problems = plan(&source, &[], &NoFiles).unwrap_err();
    assert!(problems.to_string().contains("files cannot be read here"));
}
