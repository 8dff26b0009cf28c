//! A user's own drive files: all that is wrong told at once, chains of them, what they leave out, and sizes that nothing
//! has.
use crate::common::{Files, read};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_scenario::{Loader, NoFiles, Plan, Problems, catalogue};
use std::fmt::Write;
use std::sync::Arc;

/// A drive of a data sheet, as somebody writes it who knows nothing of queues and caches.
const SHEET: &str = "rpm = \"7200rpm\"\n\
    geometry = { heads = 4, capacity = \"500GB\", outer_rate = \"100MB/s\", inner_to_outer = \"50%\" }\n\
    seek.single = \"0.8ms\"\nseek.average = \"8.5ms\"\nseek.full = \"18ms\"\n";

/// The times that a data sheet leaves out.
const TIMES: &str = "firmware = { read_hit = \"0.1ms\", read_miss = \"0.2ms\", write = \"0.2ms\" }\n\
    settle = { head_switch = \"0.8ms\", write_settle = \"0.5ms\" }\nskew = { margin = \"0.1ms\" }\n\
    seek.form = \"lee\"\n";

/// One drive file, whatever it is called.
struct Own(String);

impl Loader for Own {
    fn load(&self, _path: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

fn with(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Problems> {
    read("target.drive = \"own.toml\"\n", overrides, &Own(text.to_owned()))
}

fn planned(text: &str, overrides: &[(&str, &str)]) -> Plan {
    with(text, overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

fn problems(text: &str) -> Problems {
    with(text, &[]).err().unwrap_or_else(|| panic!("{text}\ncan run"))
}

fn model(plan: &Plan, point: usize) -> Arc<DriveModel> {
    match &plan.points[point].setup.target {
        TargetParams::Drive(model) => Arc::clone(model),
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_that_is_missing_or_impossible_is_reported_at_once() {
    let mut out = String::new();
    for (title, text) in [
        ("nothing but a name", "identity.model = \"X\"\n"),
        ("half of each section", "geometry = { capacity = \"500GB\" }\nseek = { average = \"8.5ms\" }\n"),
        (
            "zones without sizes",
            "geometry = { surface_order = \"serpentine\", zones = [{ cylinders = 4 }, { sectors_per_track = 9 }, {}] }\n",
        ),
        ("densities", "rpm = \"7200rpm\"\ngeometry = { heads = 4, track_density = \"145kTPI\" }\n"),
        ("an interface unknown", "link = { standard = \"sata-3gb\" }\n"),
    ] {
        let _ = write!(out, "=== {title}\n{}\n\n", problems(text));
    }
    insta::assert_snapshot!(out);
}

fn curve(single: &str, average: &str, full: &str) -> String {
    let seek = format!("seek = {{ single = \"{single}\", average = \"{average}\", full = \"{full}\" }}\n");
    SHEET.split_inclusive('\n').take(2).collect::<String>() + &seek
}

#[test]
fn a_seek_curve_that_no_arm_has_is_refused() {
    let mut out = String::new();
    for (single, average, full) in
        [("20ms", "8.5ms", "18ms"), ("1ms", "40ms", "17ms"), ("2ms", "5ms", "30ms"), ("1ms", "9ms", "10ms")]
    {
        let _ = write!(out, "=== {single} {average} {full}\n{}\n\n", problems(&curve(single, average, full)));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn seek_times_of_data_sheets_are_taken() {
    // Single, average and full of data sheets; the last has them all alike.
    for (single, average, full) in [
        ("0.6ms", "4.7ms", "10.5ms"),
        ("0.2ms", "3.5ms", "7.4ms"),
        ("2ms", "8.9ms", "21ms"),
        ("0.8ms", "8.5ms", "15ms"),
        ("1ms", "12ms", "22ms"),
        ("5ms", "5ms", "5ms"),
    ] {
        planned(&curve(single, average, full), &[]);
    }
    // In a sweep, what cannot be is left out.
    let plan = planned(SHEET, &[("target.drive.seek.average", "8ms,40ms")]);
    assert_eq!((plan.points.len(), plan.skipped.len()), (1, 1));
}

/// Of a drive with these lines more: the protocol in force and its depth, whether there is a cache and a write cache.
fn in_force(more: &str) -> (String, u32, bool, bool) {
    let plan = planned(&format!("{SHEET}{more}\n"), &[]);
    let found = plan.points[0].in_force.clone().unwrap();
    let cache = model(&plan, 0).cache;
    (found.protocol, found.depth, cache.is_some(), cache.is_some_and(|cache| cache.write_back.is_some()))
}

#[test]
fn what_an_interface_implies_holds_where_the_file_says_nothing() {
    let of = |protocol: &str, depth, write_cache| (protocol.to_owned(), depth, true, write_cache);
    for (standard, expected) in [
        ("ata-133", of("none", 1, true)),
        ("sata-150", of("none", 1, true)),
        ("sata-300", of("ncq", 32, true)),
        ("sata-600", of("ncq", 32, true)),
        ("scsi-ultra320", of("scsi-tcq", 64, false)),
        ("sas-12", of("scsi-tcq", 64, false)),
    ] {
        assert_eq!(in_force(&format!("link.standard = \"{standard}\"")), expected, "{standard}");
    }
    assert_eq!(in_force("identity.interface = \"SATA 3Gb/s\""), of("ncq", 32, true));
    // With the rate of the link, unless the file has one.
    let rate = |more: &str| {
        let plan = planned(&format!("{SHEET}{more}\n"), &[]);
        model(&plan, 0).link.rate.map(drivelab_units::Rate::bytes_per_s)
    };
    assert_eq!(rate("identity.interface = \"SATA 3Gb/s\""), Some(300_000_000));
    assert_eq!(rate("identity.interface = \"SATA 3Gb/s\"\nlink.rate = \"250MB/s\""), Some(250_000_000));
    assert_eq!(rate("identity.interface = \"SATA\""), None);
    // The link's standard goes before the words of the identity.
    let both = "identity.interface = \"SATA 6Gb/s\"\nlink.standard = \"sas-6\"";
    assert_eq!(in_force(both), of("scsi-tcq", 64, false));
    assert_eq!(in_force("identity.interface = \"USB 3.0\""), ("none".to_owned(), 1, false, false));
    assert_eq!(in_force(""), ("none".to_owned(), 1, false, false));
}

fn assumed(plan: &Plan) -> Vec<&str> {
    plan.points[0].in_force.as_ref().unwrap().assumed.iter().map(|one| one.key).collect()
}

#[test]
fn what_is_stated_is_not_assumed() {
    let sata = format!("{SHEET}{TIMES}link.standard = \"sata-300\"\n");
    let keys = |text: &str, over: &[(&str, &str)]| {
        assumed(&planned(text, over)).into_iter().map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(keys(&sata, &[]), ["queue.protocol", "cache", "write_cache", "firmware.class"]);
    let queue = format!("{sata}queue.protocol = \"none\"\n");
    assert_eq!(keys(&queue, &[]), ["cache", "write_cache"]);
    assert_eq!(
        keys(&format!("{sata}cache = false\n"), &[("target.drive.firmware.class", "mobile")]),
        ["queue.protocol"]
    );
    let over = [("target.queue.protocol", "none"), ("target.write_cache", "false")];
    assert_eq!(keys(&sata, &over), ["cache"]);
    let no_cache = [("target.cache", "false")];
    assert_eq!(keys(&format!("{SHEET}{TIMES}"), &no_cache), ["queue.protocol"]);
    // Also where a scenario takes away what is assumed.
    let plan = planned(&sata, &[("target.queue.depth", "8,64")]);
    assert_eq!((plan.points.len(), plan.skipped.len()), (1, 1), "NCQ has 32 tags");
}

/// Each time that a data sheet leaves out is its class's, is reported, and is as if it had been written.
#[test]
fn times_that_a_file_leaves_out_are_those_of_its_class() {
    const SUPPLIED: [&str; 9] = [
        "firmware.read_hit",
        "firmware.read_miss",
        "firmware.write",
        "firmware.write_hit",
        "settle.write_settle",
        "seek.form",
        "seek.longer_settle",
        "skew.margin",
        "settle.head_switch",
    ];
    let sheet = format!(
        "{SHEET}cache = {{ size = \"16MiB\", segments = 16 }}\nqueue = {{ protocol = \"ncq\", order = \"sptf\" }}\n"
    );
    let text = |write_cache: bool| format!("{sheet}write_cache = {write_cache}\n");
    let all: Vec<&str> = std::iter::once("firmware.class").chain(SUPPLIED).collect();
    let plan = planned(&text(true), &[]);
    assert_eq!(assumed(&plan), all);
    let uncached = planned(&text(false), &[]);
    assert_eq!(
        assumed(&uncached),
        all.iter().copied().filter(|key| *key != "firmware.write_hit").collect::<Vec<_>>()
    );
    // As if they had been written.
    let mut written = text(true);
    for one in &plan.points[0].in_force.as_ref().unwrap().assumed {
        let _ = writeln!(written, "{} = {}", one.key, one.value);
    }
    assert_eq!(planned(&written, &[]).hash, plan.hash);
    // Each by itself, where the file has the others.
    for key in SUPPLIED {
        let others: String = written
            .lines()
            .filter(|line| !line.starts_with(&format!("{key} =")))
            .map(|line| format!("{line}\n"))
            .collect();
        let expected = if key == "firmware.write_hit" { vec![] } else { vec![key] };
        let found = planned(&others, &[]);
        assert_eq!(assumed(&found), expected, "{others}");
        assert!(key == "firmware.write_hit" || found.hash == plan.hash, "{key}");
    }
    // No burst reaches the link's rate any more; a textbook's drive has none of them.
    assert!(!model(&plan, 0).firmware.read_hit.after_read.is_zero());
    let ideal = planned(&format!("{}firmware.class = \"ideal\"\n", text(true)), &[]);
    assert!(assumed(&ideal).is_empty() && model(&ideal, 0).firmware.read_hit.after_read.is_zero());
}

#[test]
fn a_head_switch_that_is_left_out_takes_as_long_as_a_seek_over_one_cylinder() {
    for (seek, expected) in [
        ("seek = { single = \"0.8ms\", average = \"8.5ms\", full = \"18ms\" }", 800_000),
        ("seek = { table = [[1, \"0.7ms\"], [400000, \"15ms\"]] }", 700_000),
        ("seek = { a = \"0.5ms\", b = \"0.1ms\", limit = 400, c = \"3ms\", e = \"0.1ms\" }", 600_000),
        ("seek = { table = [[2, \"0.7ms\"], [400000, \"15ms\"]] }", 0),
    ] {
        let text = SHEET.split_inclusive('\n').take(2).collect::<String>() + seek + "\n";
        assert_eq!(model(&planned(&text, &[]), 0).mechanism.settle.head_switch.as_ns(), expected, "{seek}");
    }
}

/// What a cache is described by does not take away what is implied of the rest.
#[test]
fn a_cache_of_which_a_part_is_given_keeps_what_is_implied_of_the_rest() {
    let of = |keys: &str, over: &[(&str, &str)]| {
        let plan = planned(&format!("{SHEET}{TIMES}link.standard = \"sata-300\"\n{keys}\n"), over);
        let cache = model(&plan, 0).cache.unwrap();
        let reported: Vec<String> = assumed(&plan)
            .into_iter()
            .filter(|key| key.starts_with("cache"))
            .map(ToOwned::to_owned)
            .collect();
        (cache.size.bytes().get() >> 20, cache.segments, reported.join(" "))
    };
    let is = |mib: u64, segments: u32, reported: &str| (mib, segments, reported.to_owned());
    assert_eq!(of("", &[]), is(16, 16, "cache"));
    assert_eq!(of("cache.size = \"512MiB\"", &[]), is(512, 16, "cache.segments"));
    assert_eq!(of("", &[("target.cache.size", "512MiB")]), is(512, 16, "cache.segments"));
    assert_eq!(of("cache.size = \"64MiB\"", &[("target.cache.segments", "128")]), is(64, 128, ""));
    assert_eq!(of("cache.segments = 128", &[]), is(16, 128, "cache.size"));
    assert_eq!(of("cache.segment_size = \"1MiB\"", &[]), is(16, 16, "cache.segments"));
    assert_eq!(of("cache.hits_while_busy = false", &[]), is(16, 16, "cache.size cache.segments"));
    // So many that what is read ahead fits into one, and that writes have theirs.
    assert_eq!(
        of("cache = { size = \"8MiB\", read_ahead_limit = \"2MiB\" }", &[]),
        is(8, 4, "cache.segments")
    );
    assert_eq!(of("cache = { size = \"8MiB\", write_segments = 40 }", &[]), is(8, 40, "cache.segments"));
    let adaptive = "cache = { size = \"8MiB\", read_ahead_limit = \"4MiB\", segmentation = \"adaptive\" }";
    assert_eq!(of(adaptive, &[]), is(8, 16, "cache.segments"));
    assert_eq!(of("cache.size = \"2KiB\"", &[]), is(0, 4, "cache.segments"));
    assert_eq!(of("", &[("target.cache", "false"), ("target.cache", "{ size = \"4MiB\" }")]).1, 16);
}

#[test]
fn the_assumed_and_the_written_drive_mean_the_same() {
    let written = "link.standard = \"sata-300\"\nqueue.protocol = \"ncq\"\nwrite_cache = true\n\
                   cache = { size = \"16MiB\", segments = 16 }\n";
    let [assumed, written] = ["identity.interface = \"x\"\nlink.standard = \"sata-300\"\n", written]
        .map(|more| planned(&format!("{SHEET}{more}"), &[]).hash);
    assert_eq!(assumed, written);
}

#[test]
fn each_assumption_says_why() {
    let why = |more: &str| {
        let plan = planned(&format!("{SHEET}{more}"), &[]);
        serde_json::to_string(&plan.points[0].in_force.as_ref().unwrap().assumed).unwrap()
    };
    insta::assert_snapshot!(
        [
            why("link.standard = \"sata-300\"\n"),
            why("identity.interface = \"SAS, 12 Gbit/s\"\nwrite_cache = false\n"),
            why("identity.interface = \"USB 3.0\"\n"),
            why("")
        ]
        .join("\n")
    );
}

#[test]
fn the_drives_of_the_catalogue_state_all_of_it() {
    for drive in catalogue::entries("drives") {
        // No array has host-managed members.
        let is_host_managed = drive.text.contains("\n[host_managed]\n");
        for array in
            ["", "array = { level = \"raid1\", members = 2 }\n"].iter().take(2 - usize::from(is_host_managed))
        {
            let text = format!("[target]\ndrive = \"{}\"\n{array}", drive.name);
            let plan = read(&text, &[], &NoFiles).unwrap();
            let in_force = plan.points[0].in_force.as_ref().unwrap();
            assert!(in_force.assumed.is_empty(), "{}: {:?}", drive.name, in_force.assumed);
        }
    }
}

#[test]
fn members_of_an_array_are_completed_too() {
    let array = [("target.array.level", "raid1"), ("target.array.members", "2")];
    let plan = planned(&format!("{SHEET}{TIMES}link.standard = \"sata-300\"\n"), &array);
    let found = plan.points[0].in_force.clone().unwrap();
    assert_eq!((found.protocol.as_str(), found.depth, found.assumed.len()), ("ncq", 32, 4));
}

/// Drive files 1.toml, 2.toml .. of which each changes the next one; the last is whole, or changes the one named here.
struct Chain(usize, Option<&'static str>);

impl Loader for Chain {
    fn load(&self, path: &str) -> Result<String, String> {
        let number: usize = path.trim_end_matches(".toml").parse().map_err(|_| "no such file".to_owned())?;
        Ok(match self.1 {
            _ if number < self.0 => {
                format!("base = \"{}.toml\"\nrpm = \"{}rpm\"\n", number + 1, 5_000 + number)
            }
            Some(base) => format!("base = \"{base}\"\n"),
            None => SHEET.to_owned(),
        })
    }
}

#[test]
fn a_chain_of_bases_may_be_long_and_no_circle() {
    let text = "target.drive = \"1.toml\"\n";
    for length in [1, 8, 9, 32] {
        let plan = read(text, &[], &Chain(length, None)).unwrap_or_else(|problems| panic!("{problems}"));
        let rpm = if length == 1 { 7_200 } else { 5_001 };
        assert_eq!(model(&plan, 0).period.as_ns(), 60_000_000_000 / rpm, "{length}");
    }
    let mut out = String::new();
    for chain in
        [Chain(33, None), Chain(1, Some("1.toml")), Chain(3, Some("2.toml")), Chain(40, Some("1.toml"))]
    {
        let _ = write!(out, "{}\n\n", read(text, &[], &chain).unwrap_err());
    }
    insta::assert_snapshot!(out);
}

#[test]
fn more_zones_than_any_drive_has_are_refused_before_they_are_read() {
    let zones = |count: usize| {
        let list = "{ cylinders = 1, sectors_per_track = 500 },\n".repeat(count);
        format!(
            "rpm = \"7200rpm\"\nseek = {{ table = [[1, \"1ms\"], [16384, \"9ms\"]] }}\ngeometry = {{ heads = 2, zones = [\n{list}] }}\n"
        )
    };
    planned(&zones(16_384), &[]);
    insta::assert_snapshot!(problems(&zones(300_000)));
}

#[test]
fn a_text_of_any_length_is_shortened_in_a_message() {
    let long = "x".repeat(2_000_000);
    let name = format!("target.drive = \"{long}\"\n");
    let cases = [
        name,
        format!("target.drive = \"wd-4tb-7200\"\nworkload.{long} = 4\n"),
        format!("target.drive = \"wd-4tb-7200\"\nworkload.rw = \"{long}\"\n"),
        format!("target.drive = \"wd-4tb-7200\"\nworkload.bs = \"{long}\"\n"),
        format!("target.drive = \"{long}.toml\"\n"),
    ];
    for text in cases {
        let problems = read(&text, &[], &Files(&[])).unwrap_err();
        let shown = problems.to_string();
        assert!(shown.len() < 4_000, "{} bytes", shown.len());
        assert!(serde_json::to_string(&problems).unwrap().len() < 8_000);
    }
    let over = [("workload.bs", long.as_str())];
    assert!(read("target.drive = \"wd-4tb-7200\"\n", &over, &NoFiles).unwrap_err().to_string().len() < 5_000);
}

/// The class of firmware that is found for a drive with these lines more, and why where the file does not name it.
fn class_of(more: &str, overrides: &[(&str, &str)]) -> (Option<&'static str>, Option<String>) {
    let plan = planned(&format!("{SHEET}{more}\n"), overrides);
    let found = plan.points[0].in_force.clone().unwrap();
    let because = found.assumed.into_iter().find(|one| one.key == "firmware.class").map(|one| one.because);
    (found.firmware.first().map(|one| one.class), because)
}

#[test]
fn the_class_follows_from_the_facts_unless_it_is_named() {
    let mut out = String::new();
    for more in [
        "link.standard = \"sata-300\"",
        "link.standard = \"sata-600\"\nidentity.year = 2014",
        "link.standard = \"sata-600\"\nidentity.year = 2015",
        "link.standard = \"scsi-ultra320\"",
        "link.standard = \"sas-12\"\nidentity.year = 2018",
        "link.standard = \"sata-300\"\nfirmware.class = \"mobile\"",
        "link.standard = \"sata-300\"\nfirmware.class = \"ideal\"",
        "link.standard = \"sata-150\"",
        "link.standard = \"sata-300\"\nqueue.order = \"sptf\"",
        "link.standard = \"sata-300\"\nidentity.form_factor = \"2.5in\"",
        "link.standard = \"sata-600\"\nidentity = { form_factor = \"2.5in\", year = 2016 }",
        "link.standard = \"sata-600\"\nidentity = { form_factor = \"3.5in\", year = 2016 }",
        "link.standard = \"sas-6\"\nidentity = { form_factor = \"2.5in\", year = 2016 }",
    ] {
        let (class, because) = class_of(more, &[]);
        let _ = writeln!(out, "{}: {class:?} {because:?}", more.replace('\n', ", "));
    }
    let _ = writeln!(
        out,
        "15 000 rpm: {:?}",
        class_of("link.standard = \"sas-6\"", &[("target.drive.rpm", "15000rpm")])
    );
    let slow = [("target.drive.rpm", "5400rpm"), ("target.drive.geometry.heads", "2")];
    let _ = writeln!(out, "5 400 rpm: {:?}", class_of("link.standard = \"sata-300\"", &slow));
    let wide: Vec<_> = slow.into_iter().chain([("target.drive.identity.form_factor", "3.5in")]).collect();
    let _ = writeln!(out, "5 400 rpm, 3.5 inch: {:?}", class_of("link.standard = \"sata-300\"", &wide));
    let large = [("target.drive.geometry.capacity", "8TB")];
    let _ = writeln!(out, "8 TB: {:?}", class_of("link.standard = \"sata-600\"", &large));
    insta::assert_snapshot!(out);
}

/// What a class supplies is as if it had been written, and an order that is set anywhere is obeyed exactly.
#[test]
fn a_class_means_what_it_supplies_and_gives_way_to_any_order() {
    let sata = "link.standard = \"sata-300\"\n";
    let written = "queue = { protocol = \"ncq\", order = \"share-aged-sptf\", age_share = 0.05, seek_margin = 0.4, \
                   chooses = \"one-ahead\" }\n";
    let [by_class, by_hand] = ["firmware.class = \"sata-desktop\"\n", written]
        .map(|more| planned(&format!("{SHEET}{sata}{more}"), &[]));
    assert_eq!(format!("{:?}", model(&by_class, 0).queue), format!("{:?}", model(&by_hand, 0).queue));
    // A key of the file stays.
    let own = planned(&format!("{SHEET}{sata}queue.seek_margin = 0.25\n"), &[]);
    assert_eq!(Some(model(&own, 0).queue.seek_margin), drivelab_units::Share::from_ratio(1, 4));
    assert!(
        own.points[0].in_force.as_ref().unwrap().firmware[0]
            .supplied
            .iter()
            .all(|(key, _)| key != "queue.seek_margin")
    );
    let exact = planned(&format!("{SHEET}{sata}"), &[("target.queue.order", "sptf")]);
    let queue = &model(&exact, 0).queue;
    assert!(queue.seek_margin.is_none());
    let range_of = |plan: &Plan| plan.points[0].in_force.as_ref().unwrap().firmware[0].range.clone();
    // Its data sheet's mean seek has a range all the same, at every depth the same.
    assert_eq!(range_of(&exact).len(), 1);
    assert_eq!(range_of(&exact)[0], range_of(&by_class)[0]);
    // No range where the load is a stream; that of the seek alone where the drive has no queue.
    let stream = planned(&format!("{SHEET}{sata}"), &[("workload.rw", "read")]);
    assert!(stream.points[0].in_force.as_ref().unwrap().firmware[0].range.is_empty());
    let none = planned(&format!("{SHEET}{sata}"), &[("target.queue.protocol", "none")]);
    assert_eq!(range_of(&none), range_of(&exact));
    assert!(none.points[0].in_force.as_ref().unwrap().firmware[0].supplied.is_empty());
}
