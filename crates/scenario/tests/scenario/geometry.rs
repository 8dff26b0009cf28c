//! Where the blocks of a drive file lie: each key of a zone against places counted by hand.
use crate::problems::snapshot;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::geometry::Geometry;
use drivelab_scenario::{NoFiles, Source, plan};
use drivelab_units::Lba;

/// A drive of these keys in its geometry: 10 ms a turn.
fn geometry(keys: &str) -> Geometry {
    let text = format!(
        "[target.drive]\nrpm = \"6000rpm\"\nseek = {{ table = [[1, \"1ms\"], [9, \"2ms\"]] }}\n\
         skew = {{ track = \"0.1rev\", cylinder = \"0.2rev\" }}\n[target.drive.geometry]\n{keys}\n"
    );
    let plan = plan(&Source { origin: "test.toml".to_owned(), text }, &[], &NoFiles).unwrap();
    match &plan.points[0].setup.target {
        TargetParams::Drive(model) => model.mechanism.geometry.clone(),
        other => panic!("{other:?}"),
    }
}

/// Cylinder, head, slot, and the angle at which it begins in thousandths of a turn.
fn place(geometry: &Geometry, lba: u64) -> (u32, u32, u32, u64) {
    let slot = geometry.locate(Lba::new(lba));
    let track = geometry.track(slot.zone, slot.track);
    let ns = (track.start + geometry.boundary(slot.zone, slot.sector)).as_ns() % 10_000_000;
    (track.cylinder, track.head, slot.sector, (ns + 5_000) / 10_000)
}

/// Two heads, three cylinders of ten slots a track: 60 slots, with `zone` in the zone and `keys` beside it.
fn small(zone: &str, keys: &str) -> Geometry {
    geometry(&format!("heads = 2\n{keys}\nzones = [{{ cylinders = 3, sectors_per_track = 10, {zone} }}]"))
}

#[test]
fn spares_end_a_track_a_cylinder_a_range_or_the_zone() {
    for (zone, capacity, behind) in [
        // The capacity, and a block with its place behind the first spares.
        ("spares_per_track = 1", 54, (9, (0, 1, 0, 100))),
        ("spares_per_cylinder = 3", 51, (17, (1, 0, 0, 300))),
        ("spares_per_cylinder = 12", 24, (8, (1, 0, 0, 300))),
        ("spares_per_range = 5, spare_range = 2", 55, (35, (2, 0, 0, 600))),
        ("spare_tracks = 2", 40, (39, (1, 1, 9, 300))),
        ("spares = 7", 53, (52, (2, 1, 2, 900))),
    ] {
        let geometry = small(zone, "");
        let (lba, there) = behind;
        assert_eq!(geometry.capacity().get(), capacity, "{zone}");
        assert_eq!(place(&geometry, lba), there, "{zone}");
    }
}

#[test]
fn slips_use_up_the_spares_of_their_stretch() {
    let slips =
        "slips = [{ cylinder = 0, head = 0, sector = 3 }, { cylinder = 1, head = 0, sector = 0, count = 2 }]";
    let plain = small("", slips);
    assert_eq!(plain.capacity().get(), 57);
    assert_eq!([2, 3, 19].map(|lba| place(&plain, lba)), [(0, 0, 2, 200), (0, 0, 4, 400), (1, 0, 2, 500)]);
    let zone = small("spares = 4", slips);
    assert_eq!(zone.capacity().get(), 56, "one spare is left");
    assert_eq!(place(&zone, 55), (2, 1, 8, 500));
    let cylinder = small("spares_per_cylinder = 2", slips);
    assert_eq!(cylinder.capacity().get(), 54);
    assert_eq!([17, 18].map(|lba| place(&cylinder, lba)), [(0, 1, 8, 900), (1, 0, 2, 500)]);
    let track = "slips = [{ cylinder = 0, head = 1, whole_track = true }]";
    let track = small("spare_tracks = 1", track);
    assert_eq!(track.capacity().get(), 50);
    assert_eq!([9, 10, 49].map(|lba| place(&track, lba)), [(0, 0, 9, 900), (1, 0, 0, 300), (2, 1, 9, 600)]);
}

#[test]
fn a_slip_turns_what_lies_behind_its_stretch_where_it_does() {
    let slips = "slips = [{ cylinder = 0, head = 1, sector = 3 }]";
    for (zone, third, fifth) in [
        ("spares_per_track = 1", (1, 0, 0, 300), (2, 0, 0, 600)),
        ("spares_per_track = 1, slips_turn = true", (1, 0, 0, 400), (2, 0, 0, 700)),
        ("spares_per_cylinder = 2, slips_turn = true", (1, 0, 0, 400), (2, 0, 0, 700)),
    ] {
        let geometry = small(zone, slips);
        assert_eq!([18, 36].map(|lba| place(&geometry, lba)), [third, fifth], "{zone}");
    }
}

#[test]
fn a_zone_starts_where_it_says_and_behind_its_front() {
    let two = geometry(
        "heads = 2\nzones = [\n  { cylinders = 2, sectors_per_track = 10 },\n\
         { first_cylinder = 3, cylinders = 2, sectors_per_track = 5, start = \"0.25rev\", front = 6 },\n]",
    );
    assert_eq!(two.capacity().get(), 40 + 14);
    assert_eq!([39, 40, 44].map(|lba| place(&two, lba)), [(1, 1, 9, 300), (3, 1, 1, 550), (4, 0, 0, 550)]);
    let on = geometry(
        "heads = 2\nzones = [{ cylinders = 2, sectors_per_track = 10 }, { cylinders = 2, sectors_per_track = 5 }]",
    );
    assert_eq!(place(&on, 40), (2, 0, 0, 600), "without a start it goes on with a cylinder skew");
}

#[test]
fn heads_alternate_by_the_cylinders_of_the_zone_or_of_the_drive() {
    let heads = |keys: &str| {
        let geometry = geometry(&format!(
            "heads = 3\nsurface_order = \"alternating\"\n{keys}\n\
             zones = [{{ first_cylinder = 1, cylinders = 2, sectors_per_track = 10 }}]\n\
             slips = [{{ cylinder = 2, head = 2, sector = 0 }}]"
        ));
        [0, 10, 20, 30, 40, 50].map(|lba| place(&geometry, lba)).map(|(_, head, sector, _)| (head, sector))
    };
    assert_eq!(heads(""), [(0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1)]);
    assert_eq!(heads("alternates_by = \"drive\""), [(2, 0), (1, 0), (0, 0), (0, 0), (1, 0), (2, 1)]);
}

#[test]
fn patterns_say_where_each_track_lies() {
    // Two cylinders there under one head and back under the other, which has fewer sectors; three times.
    let keys = r#"
heads = 2
skips = [[3, 2]]
[[target.drive.geometry.patterns]]
runs = [
    { head = 0, sectors_per_track = 10, count = 2, skew = "0.1rev" },
    { head = 1, sectors_per_track = 8, first_sector = 2, sectors = 5, count = 2, cylinder = 1, back = true, start = "0.5rev" },
]
[[target.drive.geometry.patterns]]
runs = [{ pattern = 0, count = 3, step = 2, skew = "0.25rev" }]
"#;
    let found = geometry(keys);
    assert_eq!((found.capacity().get(), found.cylinders()), (3 * 30 - 2, 6));
    assert_eq!(place(&found, 2), (0, 0, 2, 200));
    assert_eq!(place(&found, 3), (0, 0, 5, 500));
    assert_eq!(place(&found, 8), (1, 0, 0, 100));
    // Slots of the other head begin with its third sector, half a turn on.
    assert_eq!(place(&found, 18), (1, 1, 2, 500));
    assert_eq!(place(&found, 23), (0, 1, 2, 500));
    assert_eq!(place(&found, 28), (2, 0, 0, 250));
    assert_eq!(place(&found, 87), (4, 1, 6, 500));
}

#[test]
fn impossible_patterns_are_reported_at_their_keys() {
    let refused = |keys: &str| {
        let text = format!(
            "[target.drive]\nrpm = \"6000rpm\"\nseek = {{ table = [[1, \"1ms\"], [9, \"2ms\"]] }}\n\
             [target.drive.geometry]\nheads = 2\n{keys}\n"
        );
        plan(&Source { origin: "test.toml".to_owned(), text }, &[], &NoFiles).unwrap_err().to_string()
    };
    for (keys, message) in [
        ("patterns = [{ runs = [{ pattern = 0 }] }]", "pattern 0 does not stand before pattern 0"),
        (
            "patterns = [{ runs = [{ count = 3 }] }]",
            "a run repeats a track or a pattern, and this one says neither",
        ),
        (
            "patterns = [{ runs = [{ head = 0 }] }]",
            "a run repeats a track or a pattern, and this one says neither",
        ),
        ("patterns = [{}]", "`runs` of pattern 0 is missing"),
        ("patterns = [{ runs = [] }]", "pattern 0 cannot be"),
        ("patterns = []", "a drive needs at least one zone"),
        ("patterns = [{ runs = [{ head = 2, sectors_per_track = 9 }] }]", "pattern 0 cannot be"),
        (
            "patterns = [{ runs = [{ head = 0, sectors_per_track = 9, count = 2, back = true }] }]",
            "pattern 0 cannot be",
        ),
        (
            "patterns = [{ runs = [{ head = 0, sectors_per_track = 9 }] }]\nskips = [[8, 2]]",
            "skip 0 is not behind",
        ),
        (
            "patterns = [{ runs = [{ head = 0, sectors_per_track = 9 }] }]\nskips = [[8]]",
            "a skip has two values",
        ),
        (
            "patterns = [{ runs = [{ head = 0, sectors_per_track = 9 }] }]\nsurface_order = \"cylinder\"",
            "`surface_order` has no effect with patterns",
        ),
        ("patterns = [{ runs = [{ pattern = 0, head = 1 }] }]", "head"),
    ] {
        let refusal = refused(keys);
        assert!(refusal.contains(message), "{keys}: {refusal}");
    }
}

#[test]
fn physical_sectors_that_cannot_be() {
    let with = |keys: &str, more: &str| {
        format!("[target.drive]\nbase = \"seagate-exos-x24-24tb\"\ngeometry = {{ {keys} }}\n{more}")
    };
    insta::assert_snapshot!(snapshot(&[
        ("three blocks", with("physical_sector = \"1536B\"", "")),
        ("half a block", with("physical_sector = \"4100B\"", "")),
        ("too large", with("physical_sector = \"128KiB\"", "")),
        ("none", with("physical_sector = \"0B\"", "")),
        ("shingled", with("physical_sector = \"4KiB\"", "smr = {}\n")),
    ]));
}
