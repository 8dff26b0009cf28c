//! What a scenario may say of a protocol and what not: every message, as the user sees it.
use crate::common;
use crate::common::Files;
use std::fmt::Write;

/// The snapshot of scenarios that are wrong, each under its title.
fn snapshot(cases: &[(&str, impl AsRef<str>)]) -> String {
    let mut out = String::new();
    for (title, text) in cases {
        let text = text.as_ref();
        let Err(problems) = common::read(text, &[], &Files(&[])) else { panic!("{text}\nis a plan") };
        let _ = write!(out, "=== {title}\n{problems}\n\n");
    }
    out
}

/// Targets on a SCSI drive of the catalogue.
fn on_scsi(keys: &str) -> String {
    format!("[target]\ndrive = \"seagate-10k-scsi-74gb\"\n{keys}")
}

fn on_sata(keys: &str) -> String {
    format!("[target]\ndrive = \"wd-4tb-7200\"\n{keys}")
}

#[test]
fn protocols_that_cannot_be() {
    let cases: Vec<(&str, String)> = vec![
        ("SCSI options of NCQ", on_sata("queue = { protocol = \"ncq\", scsi = { naca = true } }\n")),
        ("SCSI options over a SATA drive", on_sata("queue.scsi = { tags = 256 }\n")),
        ("NCQ options of SCSI", on_scsi("queue.ncq.out_of_order = false\n")),
        ("nothing to release", on_sata("queue = { release_time = \"1ms\", service_time = \"1ms\" }\n")),
        ("tags that no SCSI has", on_scsi("queue.scsi.tags = [255, 257, 70000, \"256\", -1, true]\n")),
        (
            "wrong words",
            on_scsi("queue.scsi = { reordering = \"none\", on_error = 3, untagged = \"head\" }\n"),
        ),
        ("a queue on a bus that is kept", on_scsi("queue = { depth = 8, scsi = { disconnects = false } }\n")),
        ("a release of a minute", on_scsi("queue = { release_time = \"1min\" }\n")),
        ("nobody to tell of an abort", on_scsi("queue.scsi.tas = true\n")),
        (
            "aborts that do not leave their task set",
            on_scsi("queue.scsi = { tst = \"each\", on_error = \"clear-all\", tas = true }\n"),
        ),
        ("a host that sets what no host sets", on_scsi("queue.scsi.naca_by = [1]\n")),
        ("hosts that do not exist", on_scsi("queue.scsi = { naca = true, naca_by = [16, \"0\"] }\n")),
        ("no host at all", on_scsi("queue.scsi = { naca = true, naca_by = [] }\n")),
        ("task sets of no standard", on_scsi("queue.scsi.tst = \"two\"\n")),
        ("the bits of deadlines of before", on_sata("queue.ncq.deadline_aborts = true\n")),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}
