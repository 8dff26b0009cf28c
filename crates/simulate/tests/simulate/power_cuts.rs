//! Data followed beside a run, from scenario to record: nothing else changes, what is wrong is told, and a power cut takes
//! what the settings of the caches say.
use crate::common::sorted::Target;
use drivelab_core::storage::TargetInput;
use drivelab_core::{Access, Attribute, Command, Machine, Priority, Setup};
use drivelab_record::point::Ended;
use drivelab_record::{CutRecord, Point};
use drivelab_scenario::{NoFiles, Source, plan};
use drivelab_simulate::checker::RunChecker;
use drivelab_simulate::{Control, RunError, run};
use drivelab_units::{Instant, Lba, Sectors};
use std::sync::atomic::AtomicBool;

fn setups(text: &str) -> Vec<Setup> {
    let source = Source { origin: "a.toml".to_owned(), text: text.to_owned() };
    let plan = plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
    plan.points.into_iter().map(|point| point.setup).collect()
}

fn go(setup: &Setup) -> Result<Point, RunError> {
    run(setup, &Control { stop: &AtomicBool::new(false), progress: &|_| () })
}

fn cuts(text: &str) -> Vec<CutRecord> {
    let cut = |setup: &Setup| {
        let point = go(setup).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(point.ended, Ended::PowerCut);
        point.power_cut.flatten().expect("the power went")
    };
    setups(text).iter().map(cut).collect()
}

/// Random writes of 4 KiB to one drive, with these keys of the target and of the workload.
fn one_drive(target: &str, workload: &str) -> String {
    format!(
        "[target]\ndrive = \"wd-4tb-7200\"\n{target}\n[workload]\nrw = \"randwrite\"\nsize = \"1GiB\"\n{workload}\n"
    )
}

/// Small writes to RAID 5 of four, without caches, cut at 24 instants.
fn raid5(keys: &str) -> String {
    let instants: Vec<String> = (0..24).map(|at| format!("\"{}us\"", 500_000 + 1_370 * at)).collect();
    format!(
        "[target]\ndrive = \"wd-4tb-7200\"\nwrite_cache = false\nfaults.power_cut = [{}]\n\
         [target.array]\nlevel = \"raid5\"\nmembers = 4\n{keys}\n\
         [workload]\nrw = \"randwrite\"\nsize = \"64MiB\"\niodepth = 8\n",
        instants.join(", ")
    )
}

fn sum(cuts: &[CutRecord], of: impl Fn(&CutRecord) -> u64) -> u64 {
    cuts.iter().map(of).sum()
}

#[test]
fn who_is_watched_does_the_same() {
    let memory = "host_cache = { size = \"64MiB\" }\nelevator = \"deadline\"";
    let mixed = "rwmixread = 50\niodepth = 8\nfsync = 16\n[run]\nios = 1500\nwarmup = \"100ms\"";
    let mixed = mixed.replace("fsync", "percentage_random = 80\nfsync");
    let text = |target: &str| one_drive(target, &mixed).replace("\"randwrite\"", "\"randrw\"");
    let array = |level: &str| text(&format!("array = {{ level = \"{level}\", members = 4 }}"));
    let fails = "faults.fail = [{ drive = 1, at = \"400ms\" }]\narray = { level = \"raid6\", members = 5, spares = 1 }";
    let all = [text(""), text(memory), array("raid5"), array("raid10"), array("raidz2"), text(fails)];
    for text in &all {
        let plain = setups(text).remove(0);
        let alone = go(&plain).unwrap();
        let watched =
            go(&Setup { checks_data: true, ..plain }).unwrap_or_else(|error| panic!("{text}: {error}"));
        let data = watched.data.expect("it was asked for");
        assert_eq!(Point { data: None, ..watched }, alone, "{text}");
        assert!(data.sectors_read > 1_000 && data.sectors_written > 1_000, "{text}: {data:?}");
        assert!(data.sectors_kept.is_some_and(|kept| kept > 1_000), "{text}: {data:?}");
        assert_eq!(data.compared.is_some(), text.contains("array"), "{text}: {data:?}");
    }
}

/// A command of a host.
fn command(id: u64, access: Access, first: u64) -> Command {
    Command {
        id,
        initiator: 0,
        logical_unit: 0,
        tag: id as u32,
        attribute: Attribute::Simple,
        priority: Priority::Normal,
        force_unit_access: false,
        direct: false,
        attempt: 0,
        process: 0,
        synchronous: true,
        access,
        content: drivelab_core::Content::Data,
        first: Lba::new(first),
        count: Sectors::new(8),
    }
}

/// Two writes of the same sectors and a read, of which the so many-th data operation is kept from whoever follows.
fn swallowed(which: usize) -> Result<(), RunError> {
    let setup =
        setups("[target]\ndrive = \"wd-4tb-7200\"\narray = { level = \"raid0\", members = 2 }\n").remove(0);
    let mut target = Target::new(&setup.target, setup.seed);
    let mut followed = RunChecker::new(&setup, &mut target).expect("a target with data");
    let (mut seen, mut now) = (0, Instant::ZERO);
    for (id, access) in [(0, Access::Write), (1, Access::Write), (2, Access::Read)] {
        let command = command(id, access, 128);
        followed.submitted(id, &command);
        target.handle(now, TargetInput::Submit(command));
        loop {
            while let Some(op) = target.poll_data() {
                followed.observe(&target, now, op)?;
            }
            followed.process_outputs(&target)?;
            if let Some(completion) = target.poll_output() {
                followed.answered(&target, &completion)?;
                break;
            }
            now = target.poll_timeout().expect("it is under way");
            // The operation is gone before anybody looks.
            target.handle(now, TargetInput::Tick);
            seen += 1;
            if seen == which {
                while target.poll_data().is_some() {}
            }
        }
    }
    Ok(())
}

#[test]
fn a_read_of_older_data_is_reported_with_its_place() {
    assert_eq!(swallowed(usize::MAX), Ok(()));
    let messages: Vec<String> =
        (1..200).filter_map(|which| Some(swallowed(which).err()?.to_string())).collect();
    let expected = "sector 128 (drive 1, its sector 0): expected write 1, found write 0";
    assert!(messages.iter().any(|message| message.contains(expected)), "{messages:#?}");
    assert!(
        messages.iter().all(|message| message.starts_with("the data of the run are wrong, at ")),
        "{messages:#?}"
    );
}

/// Two writes of the same sectors to copies that lie far apart, and what has happened in the so many-th step is
/// kept from whoever follows.
fn unequal_copies(which: usize) -> Result<(), RunError> {
    let array = "[target.array]\nlevel = \"raid10\"\nlayout = \"far\"\nmembers = 3\n";
    let setup = setups(&format!("[target]\ndrive = \"wd-4tb-7200\"\nwrite_cache = false\n{array}")).remove(0);
    let mut target = Target::new(&setup.target, setup.seed);
    let mut followed = RunChecker::new(&setup, &mut target).expect("a target with data");
    let (mut seen, mut now) = (0, Instant::ZERO);
    for id in [0, 1] {
        let command = command(id, Access::Write, 128);
        followed.submitted(id, &command);
        target.handle(now, TargetInput::Submit(command));
        loop {
            while let Some(op) = target.poll_data() {
                followed.observe(&target, now, op)?;
            }
            followed.process_outputs(&target)?;
            if let Some(completion) = target.poll_output() {
                followed.answered(&target, &completion)?;
                break;
            }
            now = target.poll_timeout().expect("it is under way");
            target.handle(now, TargetInput::Tick);
            seen += 1;
            if seen == which {
                while target.poll_data().is_some() {}
            }
        }
    }
    followed.close(target.into_inner(), now).map(|_| ())
}

#[test]
fn a_copy_that_differs_is_reported_with_its_own_place() {
    assert_eq!(unequal_copies(usize::MAX), Ok(()));
    let messages: Vec<String> =
        (1..200).filter_map(|at| Some(unequal_copies(at).err()?.to_string())).collect();
    // The first copy lies on drive 1, at its beginning; the other on the second half of the next.
    let place = "the copy on member 2 differs, sector 128 (drive 2, its sector 3862836736): ";
    assert!(messages.iter().any(|message| message.contains(place)), "{messages:#?}");
    assert!(messages.iter().all(|message| !message.contains("drive 1, ")), "{messages:#?}");
}

#[test]
fn a_drive_loses_what_its_cache_had_not_destaged() {
    let through = cuts(&one_drive("write_cache = false\nfaults.power_cut = \"2s\"", "iodepth = 4"));
    assert_eq!((through[0].lost.sectors, through[0].dirty.drive_cache_bytes), (0, 0));
    assert_eq!((through[0].lost_since_ns, through[0].in_flight.commands), (None, 4));
    let back =
        cuts(&one_drive("write_cache = true\nfaults.power_cut = [\"1s\", \"2s\", \"3s\"]", "iodepth = 4"));
    for cut in &back {
        assert!(cut.lost.commands > 4 && cut.lost_since_ns > Some(0), "{cut:?}");
        assert_eq!(cut.lost.bytes, 512 * cut.lost.sectors);
        assert_eq!(cut.lost_from.drive_cache_sectors, cut.lost.sectors);
        assert!(cut.lost.bytes <= cut.dirty.drive_cache_bytes, "{cut:?}");
        assert_eq!(cut.dirty.by_drive_bytes, [cut.dirty.drive_cache_bytes]);
        assert_eq!(cut.lost_although_flushed_sectors, 0);
        let ranges: u64 = cut.ranges.iter().map(|range| range.sectors).sum();
        assert!(cut.ranges_in_all > 64 || ranges == cut.lost.sectors, "{cut:?}");
        assert!(
            cut.ranges.windows(2).all(|pair| pair[0].first_sector + pair[0].sectors < pair[1].first_sector)
        );
    }
}

#[test]
fn a_flush_bounds_what_is_lost_and_fua_leaves_nothing() {
    let lost = |workload: &str| {
        let target = "write_cache = true\nfaults.power_cut = [\"1s\", \"1.5s\", \"2s\", \"2.5s\", \"3s\"]";
        let cuts = cuts(&one_drive(target, workload));
        assert_eq!(sum(&cuts, |cut| cut.lost_although_flushed_sectors), 0);
        cuts.iter().map(|cut| cut.lost.commands).max().unwrap()
    };
    let (never, every_8) = (lost(""), lost("fsync = 8"));
    assert!(never > 8 && (1..=8).contains(&every_8), "{never} and {every_8}");
    // Of a write and its flush the write may have been answered.
    assert!(lost("fsync = 1") <= 1);
    assert_eq!(lost("fua = true"), 0);
}

#[test]
fn memory_loses_what_it_has_unless_a_battery_keeps_it() {
    let cut = |memory: &str| {
        let target = format!("write_cache = false\nfaults.power_cut = \"1s\"\n{memory}");
        cuts(&one_drive(&target, "rate_iops = 400")).remove(0)
    };
    let host = cut("host_cache = { size = \"64MiB\" }");
    assert!(host.lost.sectors > 1_000, "{host:?}");
    assert_eq!(host.lost_from.host_memory_sectors, host.lost.sectors);
    assert_eq!(host.dirty.host_memory_bytes, host.lost.bytes);
    assert_eq!(host.lost_although_flushed_sectors, 0, "answers of such a memory promise nothing: {host:?}");
    let memory = "controller.cache = { size = \"64MiB\", background = \"100%\", limit = \"100%\" }";
    let without = cut(memory);
    assert_eq!(without.lost_from.controller_memory_sectors, without.lost.sectors);
    assert!(without.lost.sectors > 1_000 && without.kept_by_battery_sectors == 0, "{without:?}");
    assert_eq!(without.lost_although_flushed_sectors, 0, "{without:?}");
    let with = cut(&memory.replace("size", "battery = true, size"));
    assert_eq!((with.lost.sectors, with.dirty.controller_memory_bytes), (0, 0));
    assert_eq!(with.kept_by_battery_sectors * 512, without.dirty.controller_memory_bytes);
}

/// One drive that destages nothing in so short a time, and writes by hand.
fn by_hand(commands: &str) -> CutRecord {
    let text = format!(
        "[target]\ndrive = \"wd-4tb-7200\"\nwrite_cache = true\ncache.destage_idle = \"10s\"\n\
         faults.power_cut = \"500ms\"\n[workload]\ncommands = [{commands}]\n"
    );
    cuts(&text).remove(0)
}

#[test]
fn what_is_lost_is_counted_by_hand() {
    let write = |at: &str, sectors: u64, ms: u64| {
        format!("{{ rw = \"write\", offset = \"{at}\", bs = \"{}B\", at = \"{ms}ms\" }}", 512 * sectors)
    };
    let flush = "{ rw = \"flush\", at = \"20ms\" }";
    // The first is flushed, and overwritten in part; the third lies behind it; the last lies apart.
    let all = [
        write("0B", 8, 0),
        flush.to_owned(),
        write("2KiB", 4, 100),
        write("4KiB", 8, 110),
        write("1MiB", 2, 120),
    ];
    let cut = by_hand(&all.join(", "));
    assert_eq!((cut.lost.commands, cut.lost.sectors, cut.lost.commands_in_part), (3, 14, 0));
    let ranges: Vec<(u64, u64)> =
        cut.ranges.iter().map(|range| (range.first_sector, range.sectors)).collect();
    assert_eq!((ranges, cut.ranges_in_all), (vec![(4, 12), (2_048, 2)], 2));
    assert_eq!(cut.lost_although_flushed_sectors, 0);
    assert!(cut.lost_since_ns.is_some_and(|since| (390_000_000..400_000_000).contains(&since)), "{cut:?}");
}

/// Hosts whose ranges lie side by side share nothing; with one sector more of the first they do.
#[test]
fn caches_hide_nothing_where_ranges_lie_side_by_side() {
    let text = one_drive("host_cache = { size = \"64MiB\" }", "numjobs = 2\n[run]\nios = 10");
    for (more, shared) in [(0, None), (1, Some(RunError::SharedByCaches { one: 0, other: 1 }))] {
        let mut setup = setups(&text).remove(0);
        let size = setup.jobs[0].count;
        setup.jobs[1].initiator = 1;
        setup.jobs[1].first = setup.jobs[0].first + size;
        setup.jobs[0].count = Sectors::new(size.get() + more);
        let mut target = Target::new(&setup.target, setup.seed);
        assert_eq!(RunChecker::new(&setup, &mut target).err(), shared);
    }
}

#[test]
fn the_write_hole_is_there_and_each_cure_leaves_what_it_says() {
    let unfit = |cut: &CutRecord| cut.array.unwrap().rows_unfit;
    let after = |cut: &CutRecord| cut.array.unwrap().rows_unfit_after_recovery;
    let in_cut = |cut: &CutRecord| cut.array.unwrap().wrong_with_member_lost_in_cut_sectors;
    let later = |cut: &CutRecord| cut.array.unwrap().wrong_with_member_lost_later_sectors;
    let of = |keys: &str| {
        let cuts = cuts(&raid5(keys));
        assert_eq!(sum(&cuts, |cut| cut.lost.sectors), 0, "{keys}");
        assert!(sum(&cuts, unfit) > 0, "{keys}");
        [sum(&cuts, unfit), sum(&cuts, after), sum(&cuts, in_cut), sum(&cuts, later)]
    };
    let [unfit_open, after, in_cut, later] = of("");
    assert_eq!((after, later), (unfit_open, in_cut));
    assert!(in_cut > 0);
    let [_, after, in_cut, later] = of("write_hole = \"bitmap\"");
    assert!(in_cut > 0 && (after, later) == (0, 0), "{after} {in_cut} {later}");
    assert_eq!(of("write_hole = \"journal\"\nspare_drive = \"wd-4tb-7200\"")[1..], [0, 0, 0]);
    assert_eq!(of("write_hole = \"ppl\"")[1..], [0, 0, 0]);
}

#[test]
fn mirrors_differ_where_a_write_was_under_way() {
    let text = raid5("").replace("raid5", "raid10");
    let cuts = cuts(&text);
    let array = |cut: &CutRecord| cut.array.unwrap();
    assert!(sum(&cuts, |cut| array(cut).rows_unfit) > 0);
    // Either copy may be read: what was under way is there or not.
    assert_eq!(sum(&cuts, |cut| array(cut).wrong_with_member_lost_later_sectors), 0);
    assert!(cuts.iter().all(|cut| array(cut).what == "copies" && cut.lost.sectors == 0));
}

#[test]
fn a_run_that_is_over_before_the_power_goes_says_so() {
    let text = one_drive("faults.power_cut = \"2s\"", "[run]\nios = 10");
    let point = go(&setups(&text)[0]).unwrap();
    assert_eq!((point.ended, &point.power_cut), (Ended::Ios, &Some(None)));
    assert!(point.data.is_some());
}

/// A scrub whose requests are larger than the drive's buffer: the head comes to one of them as it reads on, and its first
/// blocks have made room for the last by the time that it ends.
#[test]
fn a_read_larger_than_the_buffer_that_the_head_meets_is_right() {
    let text = "[target.drive]\nrpm = \"7200rpm\"\n\
        geometry = { heads = 2, capacity = \"40MB\", outer_rate = \"9MB/s\", inner_to_outer = \"60%\" }\n\
        seek = { single = \"0.9ms\", average = \"5ms\", full = \"9ms\" }\ncache.size = \"64KiB\"\n\
        [target.array]\nlevel = \"raid01\"\nmembers = 6\nscrub_at = \"10ms\"\n[run]\nios = 60\nseed = 636\n";
    for setup in setups(text) {
        let point = go(&Setup { checks_data: true, ..setup }).unwrap_or_else(|error| panic!("{error}"));
        assert!(point.data.is_some());
    }
}
