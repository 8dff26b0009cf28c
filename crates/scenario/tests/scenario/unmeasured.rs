//! Ranges must not vanish: whose order and whose write segments were established on the very drive, by whom, and how far
//! the others may be off.
use crate::common::{Files, read};
use drivelab_scenario::{CachedWrites, Firmware, InForce, NoFiles, catalogue};

fn in_force(text: &str, over: &[(&str, &str)], files: &'static [(&'static str, &'static str)]) -> InForce {
    let plan = read(text, over, &Files(files)).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    plan.points[0].in_force.clone().unwrap()
}

/// Whether what the queue of a drive with these keys gains has a range, and whether its mean seek time has one.
fn ranges(drive: &str, over: &[(&str, &str)]) -> (bool, bool) {
    let found = in_force(&format!("[target.drive]\n{drive}\n"), over, FILES);
    let firmware = found.firmware.first();
    (firmware.is_some_and(|one| one.drives > 0), firmware.is_some_and(|one| one.access_drives > 0))
}

/// Whether what its queue gains has a range.
fn has_range(drive: &str, over: &[(&str, &str)]) -> bool {
    ranges(drive, over).0
}

const FILES: &[(&str, &str)] = &[
    ("named.toml", "base = \"wd-4tb-7200\"\nqueue.order = \"look\"\n"),
    (
        "guessed.toml",
        "base = \"wd-4tb-7200\"\n[queue]\nmark = \"inferred\"\nsource = \"a guess\"\norder = \"look\"\n",
    ),
    (
        "fitted.toml",
        "base = \"wd-4tb-7200\"\nqueue.order = { value = \"look\", mark = \"fitted\", source = \"a sweep\" }\n",
    ),
    ("larger.toml", "base = \"fitted.toml\"\ngeometry.heads = 11\n"),
    ("larger-named.toml", "base = \"larger.toml\"\nqueue.order = \"fcfs\"\n"),
    (
        "sixteen.toml",
        "base = \"wd-ultrastar-dc-hc580-24tb\"\ncache.segments = { value = 16, mark = \"inferred\", source = \"a guess\" }\n",
    ),
    ("larger-still.toml", "base = \"larger.toml\"\ncache.segments = 40\n"),
];

#[test]
fn an_order_has_a_range_unless_it_was_measured_on_this_drive_or_is_its_authors_own() {
    let base = |name: &str| format!("base = \"{name}\"");
    for (drive, over, expected) in [
        (base("samsung-f1-1tb"), &[][..], false),
        (base("seagate-exos-x24-24tb"), &[], true),
        (base("wd-wd6400aaks-00a7b2"), &[], true),
        (base("wd-4tb-7200"), &[], true),
        // What was measured on another drive.
        (base("samsung-f1-1tb"), &[("target.drive.geometry.capacity", "500GB")], true),
        (base("samsung-f1-1tb"), &[("target.drive.geometry.heads", "4")], true),
        (base("samsung-f1-1tb"), &[("target.drive.rpm", "5400rpm")], true),
        (base("samsung-f1-1tb"), &[("target.drive.seek.average", "8ms")], true),
        (base("samsung-f1-1tb"), &[("target.drive.identity.model", "another")], true),
        (base("fitted.toml"), &[], false),
        (base("larger.toml"), &[], true),
        (base("larger-still.toml"), &[], true),
        // The same drive, with other keys or with the same values.
        (base("samsung-f1-1tb"), &[("target.drive.rpm", "7200rpm")], false),
        (base("samsung-f1-1tb"), &[("target.drive.geometry.heads", "6")], false),
        (base("samsung-f1-1tb"), &[("target.drive.cache.segments", "8")], false),
        (base("samsung-f1-1tb"), &[("target.drive.write_cache", "true")], false),
        // Named by an author.
        (base("named.toml"), &[], false),
        (base("larger-named.toml"), &[], false),
        (base("seagate-exos-x24-24tb"), &[("target.queue.order", "sptf")], false),
        (base("seagate-exos-x24-24tb"), &[("target.drive.queue.order", "sptf")], false),
        (base("guessed.toml"), &[], true),
        (base("guessed.toml"), &[("target.drive.queue.order", "look")], false),
    ] {
        assert_eq!(has_range(&drive, over), expected, "{drive} {over:?}");
    }
}

/// Of the catalogue, only the drives of the classes' sweeps have no range, and those that are shingled or of flash, of which none is known.
#[test]
fn drives_of_the_catalogue_without_a_sweep_of_their_own_have_a_range() {
    for entry in catalogue::entries("drives") {
        let found = read(&format!("target.drive = \"{}\"\n", entry.name), &[], &NoFiles).unwrap();
        let found = found.points[0].in_force.clone().unwrap();
        let has_sweep = catalogue::entries("classes")
            .iter()
            .any(|class| class.text.contains(&format!("{} = ", entry.name)));
        let of_another_kind = ["\n[smr]\n", "\n[flash]\n", "\nbase = \"seagate-st8000as0002\"\n"];
        let is_unknown = of_another_kind.iter().any(|section| entry.text.contains(section));
        let expected = found.protocol != "none" && !has_sweep && !is_unknown;
        assert_eq!(found.firmware.iter().any(|one| one.drives > 0), expected, "{}", entry.name);
    }
}

/// The mean seek time has one unless it was measured or fitted on the drive, or the curve is a table of measured points.
#[test]
fn a_mean_seek_time_has_a_range_unless_it_was_established_on_this_drive() {
    let base = |name: &str| format!("base = \"{name}\"");
    let sheet = "rpm = \"7200rpm\"\ngeometry = { heads = 4, capacity = \"500GB\", outer_rate = \"100MB/s\", inner_to_outer = \"50%\" }\n\
                 seek = { single = \"0.8ms\", average = \"8.5ms\", full = \"18ms\" }\n";
    for (drive, over, expected) in [
        (sheet.to_owned(), &[][..], true),
        (sheet.to_owned(), &[("target.queue.order", "sptf"), ("target.queue.protocol", "ncq")], true),
        (sheet.to_owned(), &[("target.drive.firmware.class", "ideal")], false),
        (base("hgst-c15k600"), &[], true),
        (base("wd-wd6400aaks-00a7b2"), &[], true),
        (base("wd-wd6400aaks-00a7b0"), &[], false),
        (base("wd-4tb-7200"), &[], false),
        (base("samsung-f1-1tb"), &[], false),
        (base("samsung-f1-1tb"), &[("target.drive.geometry.capacity", "500GB")], true),
        (base("samsung-f1-1tb"), &[("target.drive.seek.average", "8ms")], true),
    ] {
        assert_eq!(ranges(&drive, over).1, expected, "{drive} {over:?}");
    }
}

#[test]
fn an_order_that_is_not_the_classs_has_a_wider_range() {
    let of = |name: &str| -> Firmware {
        in_force(&format!("target.drive = \"{name}\"\n"), &[], &[]).firmware.remove(0)
    };
    // The mean seek of both was measured.
    let (own, class) = (of("wd-wd6400aaks-00a7b0"), of("wd-4tb-7200"));
    assert_eq!(own.class, class.class);
    assert!(own.supplied.is_empty() && !class.supplied.is_empty());
    for (own, class) in own.range.iter().zip(&class.range) {
        assert!(own.depth == class.depth && own.low <= class.low && own.high >= class.high);
    }
    assert!(own.range.last().unwrap().low < class.range.last().unwrap().low);
}

#[test]
fn a_load_has_a_range_unless_it_is_a_stream() {
    for (keys, expected) in [
        ("rw = \"randread\"", true),
        ("rw = \"randread\"\npercentage_random = 60", true),
        ("rw = \"read\"", false),
    ] {
        let found = in_force(&format!("target.drive = \"wd-4tb-7200\"\n[workload]\n{keys}\n"), &[], &[]);
        assert_eq!(found.firmware.iter().any(|one| !one.range.is_empty()), expected, "{keys}");
    }
}

#[test]
fn every_member_of_an_array_counts() {
    let text = "[target.array]\nlevel = \"raid0\"\ndrives = [\"samsung-f1-1tb\", { base = \"samsung-f1-1tb\", geometry.heads = 4 }, \
                \"hgst-c15k600\"]\n";
    let classes: Vec<&str> = in_force(text, &[], &[]).firmware.iter().map(|one| one.class).collect();
    assert_eq!(classes, ["sata-desktop", "scsi"]);
}

/// Cached random writes of a drive with these keys.
fn writes(drive: &str, over: &[(&str, &str)]) -> Vec<CachedWrites> {
    let text = format!("target.drive = {{ base = \"{drive}\" }}\nworkload.rw = \"randwrite\"\n");
    let cached = [("target.write_cache", "true")];
    in_force(&text, &[&cached[..], over].concat(), FILES).cached_writes
}

#[test]
fn write_segments_that_nobody_measured_have_a_range_that_holds_all_that_are_known() {
    let one = |drive, over: &[(&str, &str)]| writes(drive, over).remove(0);
    let exact = |found: CachedWrites| found.low == 1.0 && found.high == 1.0;
    // Measured, and the number of segments that hold written data.
    assert_eq!(one("wd-4tb-7200", &[]).segments, 11);
    assert!(exact(one("wd-4tb-7200", &[])) && exact(one("seagate-exos-x24-24tb", &[])));
    // Guessed, assumed, or another drive's.
    let other = one("seagate-exos-x24-24tb", &[("target.drive.geometry.heads", "18")]);
    assert!((other.segments, other.high) == (2304, 1.0) && other.low < 0.3, "{other:?}");
    for (drive, segments) in [("wd-ultrastar-dc-hc580-24tb", 256), ("wd-wd2500", 11), ("hgst-c15k600", 256)] {
        let found = one(drive, &[]);
        assert!(found.segments == segments && found.low < found.high, "{drive}: {found:?}");
    }
    // From the usual number to that of the Exos X24 the rate of its model rises from 170 to 551 or more.
    let usual = one("sixteen.toml", &[]);
    assert!(usual.segments == 16 && usual.high > 551.0 / 170.1 && usual.low < 1.0, "{usual:?}");
    // An author's own number is followed exactly, in a file as in a scenario.
    assert!(exact(one("larger-still.toml", &[("target.cache.write_segments", "8")])));
    assert!(exact(one("wd-ultrastar-dc-hc580-24tb", &[("target.cache.segments", "128")])));
}

#[test]
fn writes_that_no_cache_holds_have_no_such_range() {
    let drive = "wd-ultrastar-dc-hc580-24tb";
    assert!(writes(drive, &[("target.write_cache", "false")]).is_empty());
    assert!(writes(drive, &[("target.cache", "false"), ("target.write_cache", "false")]).is_empty());
    assert!(writes(drive, &[("workload.fsync", "1")]).is_empty());
    assert!(writes(drive, &[("workload.fua", "true")]).is_empty());
    assert!(writes(drive, &[("workload.rw", "write")]).is_empty());
    assert_eq!(writes(drive, &[("workload.fsync", "32")]).len(), 1);
}
