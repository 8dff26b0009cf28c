//! Drives with two actuators as typed: what is halved, how the two form a drive, which members are on the same drive, and
//! every message about them.
use crate::common::read;
use crate::problems::snapshot;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{Level, ManagedBy};
use drivelab_core::storage::system::SystemParams;
use drivelab_scenario::{NoFiles, Plan};
use drivelab_units::{Lba, Sectors};

const BASE: &str = "base = \"seagate-exos-x24-24tb\"\n";

fn drive(how: &str, keys: &str) -> String {
    format!(
        "[target.drive]\n{BASE}dual_actuator = \"{how}\"\ngeometry = {{ heads = 20, capacity = \"2000000 sectors\" }}\n{keys}"
    )
}

fn planned(text: &str, overrides: &[(&str, &str)]) -> Plan {
    read(text, overrides, &NoFiles).unwrap_or_else(|problems| panic!("{problems}"))
}

fn system(plan: &Plan) -> SystemParams {
    match &plan.points[0].setup.target {
        TargetParams::System(system) => system.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_logical_unit_has_half_of_the_drive() {
    let plan = planned(&drive("logical-units", ""), &[]);
    let alone = system(&plan);
    assert!(alone.array.is_none() && alone.housings == [0], "the other unit is idle");
    let unit = &alone.drives[0];
    assert_eq!(unit.capacity().get(), 1_000_000);
    let whole = planned(&drive("no", ""), &[]);
    let TargetParams::Drive(whole) = &whole.points[0].setup.target else { panic!("one actuator") };
    assert_eq!(whole.capacity().get(), 2_000_000);
    // Half of the heads over the same cylinders, and half of the cache with segments of the same size.
    let cylinders = [unit, whole].map(|drive| drive.mechanism.seek.cylinders());
    assert_eq!(cylinders[0], cylinders[1]);
    let [half, all] = [unit, whole].map(|drive| drive.cache.unwrap());
    assert_eq!(half.size.get() * 2, all.size.get());
    assert_eq!(plan.notes.len(), 1);
    assert!(plan.notes[0].contains("figures of one unit"), "{:?}", plan.notes);
}

#[test]
fn two_address_ranges_are_one_drive_with_one_queue() {
    let plan = planned(&drive("address-ranges", ""), &[]);
    let system = system(&plan);
    let array = system.array.as_ref().unwrap();
    assert_eq!(
        (&array.level, array.managed_by, array.depth),
        (&Level::Linear, ManagedBy::Controller, Some(32))
    );
    assert!(array.synchronised && system.shares_link && system.is_one_drive());
    assert!(array.request >= system.capacity(), "commands of any size stay whole");
    assert_eq!(system.capacity().get(), 2_000_000);
    assert!(plan.points[0].in_force.as_ref().unwrap().array.is_none(), "it is no array to its host");
    let shallow = planned(&drive("address-ranges", ""), &[("target.queue.depth", "4")]);
    let TargetParams::System(shallow) = &shallow.points[0].setup.target else { panic!() };
    assert_eq!(shallow.array.as_ref().unwrap().depth, Some(4));
    let capped = planned(&drive("address-ranges", ""), &[("target.controller.depth", "8")]);
    let TargetParams::System(capped) = &capped.points[0].setup.target else { panic!() };
    assert_eq!(capped.array.as_ref().unwrap().depth, Some(8));
}

#[test]
fn an_unreadable_range_is_in_the_half_that_has_it() {
    let text =
        drive("address-ranges", "[target.faults]\nbad_sectors = [[\"999996 sectors\", \"8 sectors\"]]\n");
    let system = system(&planned(&text, &[]));
    let ranges = system.drives.iter().map(|drive| drive.faults.as_ref().unwrap().unreadable.clone());
    let ranges: Vec<Vec<(Lba, Sectors)>> = ranges.collect();
    let range = |first, count| vec![(Lba::new(first), Sectors::new(count))];
    assert_eq!(ranges, [range(999_996, 4), range(0, 4)]);
}

#[test]
fn members_are_actuators_and_half_of_the_array_apart() {
    let array = |keys: &str| format!("{}[target.array]\n{keys}", drive("logical-units", ""));
    let plan = planned(&array("level = \"raid5\"\nmembers = 8\n"), &[]);
    assert_eq!(system(&plan).housings, [0, 1, 2, 3, 0, 1, 2, 3]);
    assert!(plan.notes[0].contains("the drive of members 0 and 4 loses data"), "{:?}", plan.notes);
    let plan = planned(&array("level = \"raid6\"\nmembers = 6\nmissing = [0]\nspares = 4\n"), &[]);
    assert_eq!(system(&plan).housings, [0, 1, 2, 0, 1, 2, 6, 6, 8, 8]);
    // One is missing already, and the loss of a whole drive would be the second and the third.
    let note = &plan.notes[0];
    assert!(note.contains("losing the drive of members 1 and 4 loses data"), "{note}");
    assert!(note.contains("member 0 is missing and member 3 is there"), "{note}");
    let plan = planned(&array("level = \"raid6\"\nmembers = 6\nwrite_hole = \"journal\"\n"), &[]);
    assert_eq!(system(&plan).housings, [0, 1, 2, 0, 1, 2, 6]);
    assert!(plan.notes[0].contains("the loss of any one drive"), "{:?}", plan.notes);
    let plan = planned(&array("level = \"raid50\"\nmembers = 8\n"), &[]);
    assert!(plan.notes[0].contains("bears the loss of any one drive"), "{:?}", plan.notes);
    // Members that are listed one by one, beside drives with one actuator.
    let dual = "{ base = \"seagate-exos-2x14-14tb\" }";
    let single = "\"seagate-exos-x16-16tb\"";
    let text = format!("[target.array]\nlevel = \"jbod\"\ndrives = [{dual}, {single}, {dual}]\n");
    assert_eq!(system(&planned(&text, &[])).housings, [0, 1, 0]);
}

#[test]
fn drives_with_two_actuators_that_cannot_be() {
    let ranges = |keys: &str| drive("address-ranges", keys);
    insta::assert_snapshot!(snapshot(&[
        ("an odd number of heads", ranges("").replace("heads = 20", "heads = 9")),
        ("an odd capacity", ranges("").replace("2000000", "2000001")),
        ("shingled", ranges("smr = {}\n")),
        (
            "flash",
            "[target.drive]\nbase = \"samsung-mzvlb256\"\ndual_actuator = \"logical-units\"\n".to_owned()
        ),
        (
            "an odd number of members",
            format!("{}[target.array]\nlevel = \"raid0\"\nmembers = 3\n", drive("logical-units", ""))
        ),
        (
            "a fault at an instant of one drive that is two",
            ranges("[target.faults]\nhang = [{ at = \"1s\", lasts = \"1s\" }]\n")
        ),
        (
            "an odd number of spares",
            format!(
                "{}[target.array]\nlevel = \"raid6\"\nmembers = 4\nspares = 1\nmissing = [0]\n",
                drive("logical-units", "")
            )
        ),
        (
            "a drive that fails twice",
            format!(
                "{}[target.array]\nlevel = \"raid6\"\nmembers = 4\n[target.faults]\nfail = [{{ drive = 1, at = \"1s\" }}, {{ drive = 3, at = \"2s\" }}]\n",
                drive("logical-units", "")
            )
        ),
        ("one head", ranges("").replace("heads = 20", "heads = 1")),
        ("half of a physical sector", ranges("").replace("2000000 sectors", "2000008 sectors")),
        ("a word that is none", drive("both", "")),
        ("a geometry of tracks one by one", ranges("").replace("heads = 20", "heads = 20, slips = []")),
    ]));
}
