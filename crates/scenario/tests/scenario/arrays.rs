//! Arrays: what their keys come to, what of them is swept, and what changes the hash of a scenario.
use crate::common;
use drivelab_core::Limit;
use drivelab_core::setup::{Sampling, Until};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{
    ArrayParams, ConsistencyPolicy, Copies, Failure, GivesWay, Level, ManagedBy, ParityParams, PartialWrites,
    ReadChoice, Rotation, Scheduled, SplitReads, SyncParams, When,
};
use drivelab_core::storage::array::report::SyncKind;
use drivelab_core::storage::system::SystemParams;
use drivelab_scenario::{NoFiles, Plan, Problems, Source, plan, plan_served};
use drivelab_units::{Instant, Rate, Sectors, Share, Span};
use std::collections::BTreeSet;
use std::sync::Arc;

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Problems> {
    common::read(text, overrides, &NoFiles)
}

const DRIVE: &str = "target.drive = \"wd-wd740gd-00fla0\"\n";

#[test]
fn what_faults_at_run_time_begin_has_keys_with_an_effect() {
    let text = format!(
        "[target]\n{}[target.array]\nlevel = \"raid5\"\nmembers = 4\nspares = 1\nreplaced_after = \"3s\"\n\
         scrub_at = \"9h\"\nrebuild = {{ ceiling = \"9MB/s\" }}\n",
        DRIVE.replace("target.", "")
    );
    let source = Source { origin: "a.toml".into(), text };
    let problems = plan(&source, &[], &NoFiles).expect_err("a run has an end, and no faults");
    let message = problems.to_string();
    for key in ["spares", "replaced_after", "scrub_at"] {
        assert!(message.contains(&format!("`{key}` has no effect")), "{message}");
    }
    let served = plan_served(&source, &[], &NoFiles).expect("they begin when somebody asks for it");
    let system = systems(&served)[0];
    assert_eq!(system.array.as_ref().and_then(|array| array.sync.ceiling), Rate::from_bytes_per_s(9_000_000));
}

/// An array of Raptors; what else is said of the target goes before its keys.
fn planned(keys: &str, target: &str) -> Plan {
    let text = format!("[target]\ndrive = \"wd-wd740gd-00fla0\"\n{target}\n[target.array]\n{keys}\n");
    read(&text, &[]).unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

fn systems(plan: &Plan) -> Vec<&SystemParams> {
    plan.points
        .iter()
        .map(|point| match &point.setup.target {
            TargetParams::System(system) => system,
            other => panic!("no array: {other:?}"),
        })
        .collect()
}

fn array(keys: &str, target: &str) -> ArrayParams {
    systems(&planned(keys, target))[0].array.clone().unwrap()
}

fn level(keys: &str) -> Level {
    array(keys, "").level
}

#[test]
fn levels_have_their_usual_names_and_defaults() {
    let rows = |parities, rotation, groups| Level::Parity { parities, rotation, groups };
    let near = |copies| Level::StripedMirrors { copies, layout: Copies::Near };
    for (keys, expected) in [
        ("level = \"jbod\"", Level::Linear),
        ("level = \"raid0\"", Level::Striped),
        ("level = \"raid1\"", Level::Mirrored),
        ("level = \"raid01\"", Level::MirroredStripes { copies: 2 }),
        ("level = \"raid10\"", near(2)),
        ("level = \"raid10\"\ncopies = 3", near(3)),
        ("level = \"raid10\"\nlayout = \"far\"", Level::StripedMirrors { copies: 2, layout: Copies::Far }),
        ("level = \"raid3\"", Level::Interleaved { groups: 1 }),
        ("level = \"raid30\"", Level::Interleaved { groups: 2 }),
        ("level = \"raid4\"", rows(1, Rotation::Last, 1)),
        ("level = \"raid4\"\nlayout = \"parity-first\"", rows(1, Rotation::First, 1)),
        ("level = \"raid5\"", rows(1, Rotation::LeftSymmetric, 1)),
        ("level = \"raid5\"\nlayout = \"right-asymmetric\"", rows(1, Rotation::RightAsymmetric, 1)),
        ("level = \"raid6\"", rows(2, Rotation::LeftSymmetric, 1)),
        ("level = \"raid50\"\ngroups = 3", rows(1, Rotation::LeftSymmetric, 3)),
        ("level = \"raid60\"", rows(2, Rotation::LeftSymmetric, 2)),
    ] {
        assert_eq!(level(&format!("{keys}\nmembers = 12")), expected, "{keys}");
    }
}

#[test]
fn an_array_without_further_keys_has_the_defaults_of_linux() {
    let found = array("level = \"raid5\"\nmembers = 4", "");
    let raid5 = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    let plain = ArrayParams::plain(raid5, 4);
    // Two ways that read as much: Linux takes the data that are not written.
    let partial = PartialWrites::Cheaper { prefers_old: false };
    let expected =
        ArrayParams { deviation_ppm: 100, parity: ParityParams { partial, ..plain.parity }, ..plain };
    assert_eq!(found, expected);
    assert!(!array("level = \"raid1\"\nmembers = 2", "").synchronised);
    assert!(array("level = \"raid3\"\nmembers = 3", "").synchronised);
    assert!(!array("level = \"raid3\"\nmembers = 3\nsynchronised = false", "").synchronised);
}

#[test]
fn every_key_of_an_array_arrives() {
    let text = "level = \"raid6\"\nmembers = 5\nstripe_unit = \"256k\"\nlayout = \"parity-last\"\nkept_by = \"controller\"\n\
                partial_writes = \"reconstruct-write\"\nparity_rate = \"1GB/s\"\nparity_granule = \"16KiB\"\n\
                write_hole = \"bitmap\"\nbitmap_region = \"1MiB\"\nbitmap_clears_after = \"2s\"\n\
                largest_request = \"1MiB\"\ndepth = 99\nspares = 2\nreplaced_after = \"3s\"\nmissing = [3]\nrebuilding = true\nrebuilt = \"25%\"\n\
                start_dirty_degraded = true\n\
                scrub_at = \"4s\"\nresync_at = \"5s\"\nspindle_deviation = \"0.02%\"\n\
                rebuild = { floor = \"none\", ceiling = \"9MB/s\", request = \"64k\", outstanding = 3, gives_way = \"waiting\", \
                idle_after = \"1s\" }\n";
    let fail = "faults.fail = [{ drive = 1, at = \"6s\" }, { drive = 6, after = 70 }]";
    let expected = ArrayParams {
        level: Level::Parity { parities: 2, rotation: Rotation::Last, groups: 1 },
        managed_by: ManagedBy::Controller,
        members: 5,
        spares: 2,
        replaced_after: Span::from_s(3),
        unit: Sectors::new(512),
        depth: Some(99),
        refusal: Span::from_us(10),
        reads: ReadChoice::NearestHead,
        split: None,
        parity: ParityParams {
            rate: Rate::from_bytes_per_s(1_000_000_000),
            partial: PartialWrites::Rest,
            granule: Sectors::new(32),
        },
        consistency_policy: ConsistencyPolicy::Bitmap {
            region: Sectors::new(2_048),
            clears_after: Span::from_s(2),
        },
        request: Sectors::new(2_048),
        sync: SyncParams {
            floor: None,
            ceiling: Rate::from_bytes_per_s(9_000_000),
            request: Sectors::new(128),
            outstanding: 3,
            gives_way: GivesWay::ByWaiting,
            idle_after: Span::from_s(1),
        },
        deviation_ppm: 200,
        synchronised: false,
        failures: vec![
            Failure { drive: 1, when: When::At(Instant::ZERO + Span::from_s(6)) },
            Failure { drive: 6, when: When::Commands(70) },
        ],
        start_dirty_degraded: true,
        missing: vec![3],
        rebuilding: true,
        rebuilt: Share::from_ratio(1, 4).unwrap(),
        scheduled: vec![
            Scheduled { kind: SyncKind::Scrub, at: Instant::ZERO + Span::from_s(4) },
            Scheduled { kind: SyncKind::Resync, at: Instant::ZERO + Span::from_s(5) },
        ],
        bad_blocks: Vec::new(),
    };
    assert_eq!(array(text, fail), expected);
    let copies = array(
        "level = \"raid1\"\nmembers = 2\nread_choice = \"ask-all\"\nsplit_reads = { from = \"1MiB\", unit = \"64KiB\" }",
        "",
    );
    assert_eq!(copies.reads, ReadChoice::AskAll);
    assert_eq!(copies.split, Some(SplitReads { from: Sectors::new(2_048), unit: Sectors::new(128) }));
}

#[test]
fn lists_sweep_but_those_of_drives() {
    let all =
        planned("level = [\"raid0\", \"raid5\"]\nmembers = [2, 4, 8]\nstripe_unit = [\"64k\", \"1m\"]", "");
    assert_eq!((all.points.len(), all.skipped.len()), (10, 2));
    assert!(all.skipped.iter().all(|skipped| skipped.reason == "raid5 needs at least 3 members, not 2"));
    let one = planned("level = \"raid6\"\nmembers = 5\nmissing = [0, 4]", "");
    assert_eq!((one.points.len(), systems(&one)[0].array.as_ref().unwrap().missing.clone()), (1, vec![0, 4]));
    let drives = "drives = [\"wd-wd360gd\", \"wd-wd740gd-00fla0\"]";
    let text = format!("[target.array]\nlevel = [\"jbod\", \"raid0\"]\n{drives}\n");
    assert_eq!(read(&text, &[]).unwrap().points.len(), 2);
    let swept =
        read(DRIVE, &[("target.array.level", "raid0,raid1"), ("target.array.members", "2,4")]).unwrap();
    assert_eq!(swept.axes, ["target.array.level", "target.array.members"]);
    let switched = planned("level = \"raid1\"\nmembers = 2\nsplit_reads = [false, { from = \"1MiB\" }]", "");
    assert_eq!(switched.points.len(), 2);
}

#[test]
fn a_key_that_one_level_of_a_sweep_has_is_no_mistake_for_the_others() {
    let plan = planned(
        "level = [\"raid1\", \"raid10\", \"raid5\"]\nmembers = 4\ncopies = 2\nparity_rate = \"1GB/s\"",
        "",
    );
    assert_eq!(plan.points.len(), 3);
}

#[test]
fn unequal_members_are_what_the_list_names_and_the_array_uses_the_least_of_each() {
    let of = |level: &str| {
        let text = format!(
            "target.array = {{ level = \"{level}\", drives = [\"wd-wd360gd\", \"wd-wd740gd-00fla0\"] }}\n"
        );
        read(&text, &[]).unwrap_or_else(|problems| panic!("{problems}"))
    };
    let (small, large) = (72_303_840, 145_226_112);
    let stripes = of("raid0");
    let system = systems(&stripes)[0];
    let capacities: Vec<u64> = system.drives.iter().map(|drive| drive.capacity().get()).collect();
    assert_eq!(capacities, [small, large]);
    // Whole stripe units of 128 sectors.
    assert_eq!(system.capacity().get(), small / 128 * 128 * 2);
    assert_eq!(systems(&of("raid1"))[0].capacity().get(), small);
    assert_eq!(systems(&of("jbod"))[0].capacity().get(), small + large);
    let in_force = stripes.points[0].in_force.clone().unwrap();
    assert_eq!((in_force.protocol.as_str(), in_force.depth), ("none and ata-tcq", 1));
}

#[test]
fn spares_and_the_journal_follow_the_members() {
    let fail = "faults.fail = [{ drive = 0, at = \"1s\" }]";
    let keys =
        "level = \"raid5\"\nmembers = 3\nspares = 1\nwrite_hole = \"journal\"\nspare_drive = \"wd-4tb-7200\"";
    let plan = planned(keys, fail);
    let capacities: Vec<u64> = systems(&plan)[0].drives.iter().map(|drive| drive.capacity().get()).collect();
    let (raptor, large) = (145_226_112, 7_725_673_570);
    assert_eq!(capacities, [raptor, raptor, raptor, large, large]);
}

#[test]
fn members_share_their_model_but_where_one_has_bad_sectors_of_its_own() {
    let bad = "faults = { bad_sectors = [[\"1GiB\", \"4KiB\"], [\"2GiB\", \"4KiB\", 2]] }";
    let plan = planned("level = \"raid5\"\nmembers = 4", bad);
    let drives = &systems(&plan)[0].drives;
    let same = |a: usize, b: usize| Arc::ptr_eq(&drives[a], &drives[b]);
    assert_eq!((same(0, 1), same(0, 2), same(0, 3)), (true, false, true));
    let unreadable = |drive: usize| drives[drive].faults.as_ref().unwrap().unreadable.len();
    assert_eq!((unreadable(1), unreadable(2)), (1, 2));
}

#[test]
fn the_hash_changes_with_every_key_and_a_drive_alone_has_its_own() {
    let base = "level = \"raid5\"\nmembers = 4\n";
    let mut hashes = BTreeSet::new();
    let mut add = |plan: &Plan, what: &str| assert!(hashes.insert(plan.hash.clone()), "{what}");
    add(&read(DRIVE, &[]).unwrap(), "the drive alone");
    add(&planned(base, ""), "an array");
    for keys in [
        "stripe_unit = \"128k\"",
        "layout = \"left-asymmetric\"",
        "kept_by = \"controller\"",
        "depth = 64",
        "partial_writes = \"read-modify-write\"",
        "parity_rate = \"1GB/s\"",
        "parity_granule = \"8k\"",
        "write_hole = \"ppl\"",
        "write_hole = \"bitmap\"",
        "write_hole = \"bitmap\"\nbitmap_region = \"1m\"",
        "write_hole = \"bitmap\"\nbitmap_clears_after = \"1s\"",
        "write_hole = \"journal\"",
        "write_hole = \"journal\"\nspare_drive = \"wd-4tb-7200\"",
        "largest_request = \"1m\"",
        "missing = [0]",
        "missing = [1]",
        "missing = [0]\nrebuilding = true",
        "missing = [0]\nspares = 1",
        "missing = [0]\nspares = 1\nreplaced_after = \"1s\"",
        "missing = [0]\nspares = 1\nrebuild.floor = \"none\"",
        "missing = [0]\nspares = 1\nrebuild.ceiling = \"none\"",
        "missing = [0]\nspares = 1\nrebuild.outstanding = 2",
        "scrub_at = \"1s\"",
        "resync_at = \"1s\"",
        "spindle_deviation = \"0%\"",
        "synchronised = true",
    ] {
        add(&planned(&format!("{base}{keys}\n"), ""), keys);
    }
    for other in [
        "level = \"raid4\"\nmembers = 4",
        "level = \"raid5\"\nmembers = 5",
        "level = \"raid10\"\nmembers = 4",
    ] {
        add(&planned(other, ""), other);
    }
    for keys in [
        "copies = 3",
        "layout = \"far\"",
        "read_choice = \"first\"",
        "split_reads.from = \"1m\"",
        "split_reads.unit = \"1m\"",
    ] {
        add(&planned(&format!("level = \"raid10\"\nmembers = 4\n{keys}"), ""), keys);
    }
    for fail in ["{ drive = 0, at = \"1s\" }", "{ drive = 0, after = 1 }", "{ drive = 1, after = 1 }"] {
        add(&planned(base, &format!("faults.fail = [{fail}]")), fail);
    }
    add(&planned("level = \"raid50\"\nmembers = 9\ngroups = 3", ""), "groups");
}

#[test]
fn the_same_array_has_the_same_hash_however_it_is_written() {
    let counted = planned("level = \"raid0\"\nmembers = 2", "");
    let raptor = "\"wd-wd740gd-00fla0\"";
    let listed =
        format!("target.array = {{ level = \"raid0\", drives = [{raptor}, {{ base = {raptor} }}] }}\n");
    assert_eq!(read(&listed, &[]).unwrap().hash, counted.hash);
    let unlike = format!("target.array = {{ level = \"raid0\", drives = [{raptor}, \"wd-wd360gd\"] }}\n");
    let turned = format!("target.array = {{ level = \"raid0\", drives = [\"wd-wd360gd\", {raptor}] }}\n");
    assert_ne!(read(&unlike, &[]).unwrap().hash, counted.hash);
    assert_ne!(read(&unlike, &[]).unwrap().hash, read(&turned, &[]).unwrap().hash);
    let named = planned("level = \"raid0\"\nmembers = 2\nkept_by = \"host\"", "");
    assert_eq!(named.hash, counted.hash);
}

/// Who keeps a RAID of two members behind a controller, whether its drives share a link, and the depth of each.
fn behind(controller: &str, drive: &str, keys: &str) -> (ManagedBy, bool, u32) {
    let text = format!(
        "[target]\ndrive = \"{drive}\"\ncontroller = {controller}\n[target.array]\nmembers = 2\n{keys}\n"
    );
    let plan = read(&text, &[]).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    let system = systems(&plan)[0];
    let depth = plan.points[0].in_force.as_ref().unwrap().depth;
    (system.array.as_ref().unwrap().managed_by, system.shares_link, depth)
}

#[test]
fn a_controller_that_says_so_keeps_the_array_and_scsi_drives_share_a_bus() {
    let (raptor, cheetah) = ("wd-wd740gd-00fla0", "seagate-10k-scsi-74gb");
    let raid0 = "level = \"raid0\"";
    let (host, controller) = (ManagedBy::Host, ManagedBy::Controller);
    assert_eq!(behind("\"promise-sata150-tx4\"", raptor, raid0), (host, false, 1));
    assert_eq!(behind("\"promise-fasttrak-tx4200\"", raptor, raid0), (controller, false, 32));
    assert_eq!(
        behind("\"promise-fasttrak-tx4200\"", raptor, "level = \"raid0\"\nkept_by = \"host\""),
        (host, false, 32)
    );
    assert_eq!(behind("\"mylex-acceleraid-170\"", cheetah, raid0), (controller, true, 64));
    assert_eq!(behind("\"adaptec-aha-29160\"", cheetah, raid0), (host, true, 64));
    assert_eq!(behind("\"broadcom-9500-8i\"", cheetah, raid0), (host, false, 64));
    assert_eq!(behind("{ interface = \"scsi\" }", cheetah, raid0), (host, true, 64));
    assert_eq!(behind("{ interface = \"scsi\" }", "hgst-c15k600", raid0), (host, false, 128));
    assert_eq!(behind("{ interface = \"ahci\" }", "wd-4tb-7200", raid0), (host, false, 32));
}

#[test]
fn a_controllers_depth_is_that_of_the_array_it_keeps() {
    let of = |keys: &str| {
        let text = format!(
            "[target]\ndrive = \"wd-4tb-7200\"\n[target.controller]\ninterface = \"ahci\"\ndepth = 7\n\
             [target.array]\nlevel = \"raid0\"\nmembers = 2\n{keys}\n"
        );
        let plan = read(&text, &[]).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
        let system = systems(&plan)[0];
        (system.array.as_ref().unwrap().depth, system.controller.depth)
    };
    assert_eq!(of("kept_by = \"controller\""), (Some(7), None));
    assert_eq!(of("kept_by = \"controller\"\ndepth = 9"), (Some(9), None));
    assert_eq!(of("kept_by = \"host\""), (None, Some(7)));
}

#[test]
fn all_members_together_have_no_more_than_the_controllers_total_depth() {
    let depth = |total: u32, keys: &str| {
        let controller = format!("{{ interface = \"ahci\", total_depth = {total} }}");
        behind(&controller, "wd-4tb-7200", keys).2
    };
    assert_eq!(depth(32, "level = \"raid0\""), 16);
    assert_eq!(depth(24, "level = \"raid1\"\nspares = 1\nmissing = [0]"), 12);
    assert_eq!(depth(1, "level = \"raid0\""), 1);
    let journal = "level = \"raid5\"\nwrite_hole = \"journal\"\nmembers = 3";
    let text = format!(
        "[target]\ndrive = \"wd-4tb-7200\"\ncontroller = {{ total_depth = 32 }}\n[target.array]\n{journal}\n"
    );
    assert_eq!(read(&text, &[]).unwrap().points[0].in_force.as_ref().unwrap().depth, 8);
}

#[test]
fn a_scheduler_holds_what_is_behind_it() {
    let depth = |kept_by: &str| {
        let plan = planned(
            &format!("level = \"raid0\"\nmembers = 4\nkept_by = \"{kept_by}\""),
            "elevator = \"c-look\"",
        );
        systems(&plan)[0].elevator.unwrap().depth
    };
    assert_eq!((depth("host"), depth("controller")), (32, 128));
}

#[test]
fn what_is_in_force_says_what_the_array_is_and_bears() {
    let of = |keys: &str| {
        let in_force = planned(keys, "").points[0].in_force.clone().unwrap();
        serde_json::to_value(in_force).unwrap()
    };
    let member = 145_226_112u64 / 128 * 128 * 512;
    let found = of("level = \"raid10\"\nmembers = 4");
    assert_eq!(
        found["array"],
        serde_json::json!({
            "level": "raid10", "members": 4, "kept_by": "host", "capacity_bytes": 2 * member, "member_bytes": member,
            "bears": 1, "bears_at_best": 2,
        })
    );
    let spared = of("level = \"raid6\"\nmembers = 6\nspares = 1\nmissing = [0]");
    assert_eq!((&spared["array"]["spares"], &spared["array"]["bears"]), (&1.into(), &2.into()));
    let alone = read(DRIVE, &[]).unwrap().points[0].in_force.clone().unwrap();
    assert_eq!((alone.protocol.as_str(), alone.depth, alone.array.is_some()), ("ata-tcq", 32, false));
}

#[test]
fn what_a_level_of_a_sweep_has_no_use_for_is_not_required_of_it() {
    let fail = "faults.fail = [{ drive = 0, at = \"1s\" }]";
    let keys =
        "level = [\"raid0\", \"raid5\"]\nmembers = 4\nspares = 1\nwrite_hole = \"bitmap\"\nscrub_at = \"2s\"";
    let plan = planned(keys, fail);
    let arrays: Vec<(u16, bool, usize, usize)> = systems(&plan)
        .into_iter()
        .map(|system| {
            let array = system.array.as_ref().unwrap();
            (
                array.spares,
                array.consistency_policy == ConsistencyPolicy::None,
                array.scheduled.len(),
                system.drives.len(),
            )
        })
        .collect();
    assert_eq!(arrays, [(0, true, 0, 4), (1, false, 1, 5)]);
    let copies = planned("level = [\"raid0\", \"raid1\"]\nmembers = 2\nsplit_reads.from = \"1MiB\"", "");
    let split: Vec<bool> =
        systems(&copies).into_iter().map(|system| system.array.as_ref().unwrap().split.is_some()).collect();
    assert_eq!(split, [false, true]);
}

#[test]
fn the_power_may_go() {
    let at = |cut: &str, run: &str| {
        let plan =
            planned(&format!("level = \"raid5\"\nmembers = 4\n{run}"), &format!("faults.power_cut = {cut}"));
        let setup = plan.points[0].setup.clone();
        (setup.power_cut, setup.limit, plan.points.len(), plan.skipped.len())
    };
    let of_ms = |ms: u64| Some(Instant::from_ns(ms * 1_000_000));
    assert_eq!(at("\"90s\"", ""), (of_ms(90_000), Limit::default(), 1, 0));
    let ios = Limit { ios: Some(7), ..Limit::default() };
    assert_eq!(at("\"12s\"", "[run]\nios = 7"), (of_ms(12_000), ios, 1, 0));
    // A list waits for the cut; a cut before anything is measured is none.
    let listed = "[workload]\ncommands = [{ rw = \"write\" }]";
    assert_eq!(at("\"12s\"", listed), (of_ms(12_000), Limit::default(), 1, 0));
    let warm = "[run]\nwarmup = \"2s\"\nduration = \"10s\"";
    let limit = Limit { duration: Some(Span::from_s(10)), ..Limit::default() };
    assert_eq!(at("[\"1s\", \"3s\"]", warm), (of_ms(3_000), limit, 1, 1));
    // Beside runs that it ends stands one that it never ends, as long as without it.
    let limit = Limit { duration: Some(Span::from_s(60)), ..Limit::default() };
    assert_eq!(at("[\"never\", \"1s\"]", ""), (None, limit, 2, 0));
    // Drives are the same whenever the power goes, and the scenario is not.
    let plan = planned("level = \"raid5\"\nmembers = 4", "faults.power_cut = [\"1s\", \"3s\"]");
    let drives: Vec<_> = systems(&plan).into_iter().map(|system| Arc::clone(&system.drives[0])).collect();
    assert!(Arc::ptr_eq(&drives[0], &drives[1]));
    assert_ne!(plan.points[0].hash, plan.points[1].hash);
}

#[test]
fn a_run_may_end_with_the_rebuild() {
    let limit = |run: &str| {
        let plan = planned(
            &format!("level = \"raid5\"\nmembers = 4\nmissing = [0]\nrebuilding = true\n[run]\n{run}"),
            "",
        );
        plan.points[0].setup.limit
    };
    let until = Some(Until::Rebuilt);
    assert_eq!(limit("until = \"rebuilt\""), Limit { until, ..Limit::default() });
    let sampled = |places, s| Some(Until::Sampled(Sampling { places, stay: Span::from_s(s) }));
    assert_eq!(limit("until = \"sampled\"").until, sampled(16, 10));
    assert_eq!(limit("until = \"sampled\"\nplaces = 4\nstay = \"60s\"").until, sampled(4, 60));
    let both = Limit { duration: Some(Span::from_s(9)), ios: Some(7), until };
    assert_eq!(limit("until = \"rebuilt\"\nduration = \"9s\"\nios = 7"), both);
    let spare = "level = [\"raid0\", \"raid1\"]\nmembers = 2\nspares = 1\n[run]\nuntil = \"rebuilt\"";
    let plan = planned(spare, "faults.fail = [{ drive = 1, at = \"1s\" }]");
    assert_eq!((plan.points.len(), plan.skipped.len()), (1, 1));
}
