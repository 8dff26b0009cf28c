//! Flash drives as typed: what follows from their keys, and every message about them.
use crate::common::read;
use crate::problems::snapshot;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::flash::params::FlashParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::drive::protocol::Protocol;
use drivelab_scenario::{NoFiles, Plan};
use drivelab_units::{Sectors, Span};
use std::sync::Arc;

const FIRMWARE: &str = "firmware = { read_completion = \"8us\", write_completion = \"8us\" }\n";
const DIES: &str = "flash = { dies = 8, read = \"60us\", program = \"700us\" }\n";

fn drive(keys: &str) -> String {
    format!("[target.drive]\ngeometry.capacity = \"512GB\"\n{keys}")
}

fn planned(text: &str, overrides: &[(&str, &str)]) -> Plan {
    read(text, overrides, &NoFiles).unwrap_or_else(|problems| panic!("{problems}"))
}

fn model(plan: &Plan, point: usize) -> Arc<DriveModel> {
    match &plan.points[point].setup.target {
        TargetParams::Drive(model) => Arc::clone(model),
        other => panic!("{other:?}"),
    }
}

fn flash(plan: &Plan) -> FlashParams {
    *model(plan, 0).medium.flash().expect("a flash drive")
}

#[test]
fn what_a_flash_drive_leaves_out_is_derived() {
    let plan = planned(&drive(&format!("{FIRMWARE}{DIES}identity.interface = \"NVMe\"\n")), &[]);
    let dies = flash(&plan);
    let eight = Sectors::new(8);
    assert_eq!((dies.page, dies.stripe, dies.program_size), (eight, eight, eight));
    // Two programs of each die.
    assert_eq!(dies.buffer, Sectors::new(2 * 8 * 8));
    assert!(dies.answers_early && !dies.is_protected && dies.slc.is_none());
    assert_eq!((dies.read_ahead, dies.flush, dies.idle), (Sectors::ZERO, Span::ZERO, Span::from_ms(10)));
    let model = model(&plan, 0);
    assert_eq!((model.protocol, model.queue.depth, model.link.full_duplex), (Protocol::Nvme, 1_024, true));
    assert_eq!(model.capacity(), Sectors::new(1_000_000_000));
    assert!(plan.points[0].in_force.as_ref().unwrap().firmware.is_empty(), "no class, and no range");
}

#[test]
fn the_scenario_overrides_what_the_drive_says() {
    let text = drive(&format!("{FIRMWARE}{DIES}identity.interface = \"SATA 6Gb/s\"\n"));
    let plan = planned(&text, &[("target.write_cache", "false"), ("target.queue.depth", "4")]);
    assert!(!flash(&plan).answers_early);
    assert_eq!(model(&plan, 0).queue.depth, 4);
    let kinds = planned(&text, &[("target.drive.flash.read", "[\"40us\", \"60us\", \"90us\"]")]);
    assert_eq!(flash(&kinds).read.times(), [40, 60, 90].map(Span::from_us));
}

#[test]
fn flash_drives_that_cannot_be() {
    let case = |keys: &str| drive(&format!("{FIRMWARE}{keys}"));
    let with = |keys: &str| case(&format!("{DIES}{keys}"));
    insta::assert_snapshot!(snapshot(&[
        ("nothing of its dies", case("flash = {}\n")),
        ("no time for what needs no die", drive(DIES)),
        ("no capacity", format!("[target.drive]\n{FIRMWARE}{DIES}")),
        (
            "a disk's sections",
            with("rpm = \"7200rpm\"\nseek = { single = \"1ms\", average = \"8ms\", full = \"18ms\" }\n")
        ),
        ("a disk's geometry", with("geometry.heads = 4\n")),
        ("a disk's cache", format!("{}[target]\ncache = {{ size = \"8MiB\" }}\n", with(""))),
        ("an order", with("queue = { protocol = \"nvme\", order = \"sptf\" }\n")),
        ("a class", with("firmware.class = \"ideal\"\n").replace(FIRMWARE, "")),
        (
            "a page of no stripes",
            with("").replace("dies = 8", "dies = 8, page = \"16KiB\", stripe = \"12KiB\"")
        ),
        (
            "more stripes than dies",
            with("").replace("dies = 8", "dies = 3, page = \"16KiB\", stripe = \"4KiB\"")
        ),
        (
            "a buffer below a program",
            with("").replace("dies = 8", "dies = 8, program_size = \"1MiB\", buffer = \"64KiB\"")
        ),
        ("a read-ahead beyond what is kept", with("").replace("dies = 8", "dies = 8, read_ahead = \"1GiB\"")),
        ("a read that takes too long", with("").replace("\"60us\"", "\"20s\"")),
        ("a bus that it does not leave", with("disconnect = { reselection = \"1us\" }\n")),
        (
            "five kinds of pages",
            with("").replace("\"60us\"", "[\"1us\", \"2us\", \"3us\", \"4us\", \"5us\"]")
        ),
        ("a number in place of a time", with("").replace("\"60us\"", "60")),
        ("a fast part without its time", with("").replace("dies = 8", "dies = 8, slc = \"10GB\"")),
        ("its time without a fast part", with("").replace("dies = 8", "dies = 8, slc_program = \"200us\"")),
        ("allegiances", with("queue = { protocol = \"scsi-tcq\", scsi = { naca = true } }\n")),
        ("more than there are names", with("queue = { protocol = \"nvme\", depth = 65537 }\n")),
    ]));
}
