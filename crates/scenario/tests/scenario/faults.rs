//! Problems of `target.faults`: reads that fail, drives that do things at an instant, and the power.
use crate::problems::{array, on_sata, snapshot};

#[test]
fn faults_that_cannot_be() {
    let cases: Vec<(&str, String)> = vec![
        ("more than all", on_sata("faults = { read_errors = \"101%\" }\n")),
        (
            "bad sectors that are none",
            on_sata("faults.bad_sectors = [[\"1GiB\"], [\"1GiB\", \"0B\"], [1, \"4KiB\"], 4]\n"),
        ),
        ("beyond the drive", on_sata("faults.bad_sectors = [[\"3TB\", \"4KiB\"], [\"4TB\", \"4KiB\"]]\n")),
        ("patience without errors", on_sata("faults.retry_time = \"1s\"\n")),
        ("too much patience", on_sata("faults = { read_errors = \"1%\", retry_time = \"1min\" }\n")),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}

#[test]
fn power_cuts_that_cannot_be() {
    let raid5 = "level = \"raid5\"\nmembers = 4\n";
    let cached = "level = \"raidz1\"\nmembers = 4\n";
    let cases: Vec<(&str, String)> = vec![
        ("at no time", on_sata("faults.power_cut = \"0s\"\n")),
        ("not measured", on_sata("faults.power_cut = [\"1s\", \"5s\"]\n[run]\nwarmup = \"5s\"\n")),
        ("after the end", on_sata("faults.power_cut = \"60s\"\n[run]\nduration = \"60s\"\n")),
        ("without a unit", on_sata("faults.power_cut = 12\n")),
        ("now and nevr", on_sata("faults.power_cut = [\"nevr\", \"1s\"]\n")),
        ("never, and as numbers", on_sata("faults.power_cut = [\"never\", 1, 2]\n")),
        (
            "what is put down for later",
            array(
                &format!("{raid5}scrub_at = \"9s\"\n"),
                "faults = { power_cut = \"8s\", fail = [{ drive = 0, at = \"8001ms\" }] }\n",
            ),
        ),
        ("a pool on drives that forget", array(cached, "write_cache = true\nfaults.power_cut = \"1s\"\n")),
        ("of a station", "[target]\nnull = {}\nfaults.power_cut = \"1s\"\n".to_owned()),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(title, text)| (*title, text.as_str())).collect();
    insta::assert_snapshot!(snapshot(&cases));
}

#[test]
fn faults_at_an_instant_that_cannot_be() {
    let raid5 = "level = \"raid5\"\nmembers = 4\nspares = 1\n";
    let slow = |keys: &str| on_sata(&format!("faults.slow = [{{ {keys} }}]\n"));
    let cases: Vec<(&str, String)> = vec![
        ("by nothing", slow("at = \"1s\"")),
        ("by no time, and by too much", on_sata("faults.slow = [{ by = \"0s\" }, { by = \"400d\" }]\n")),
        ("two ways at once", slow("by = \"1s\", over = \"1s\", share = \"10%\"")),
        ("bursts without a length", slow("by = \"1s\", every = \"1s\"")),
        ("bursts that never end", slow("by = \"1s\", every = \"1s\", lasts = \"1s\"")),
        ("for no time", slow("by = \"1s\", lasts = \"0s\"")),
        ("hangs", on_sata("faults.hang = [{ at = \"1s\" }, { lasts = \"0s\" }]\n")),
        (
            "sectors that there are not",
            on_sata(
                "faults.media = [{ offset = \"5TB\" }, { size = \"0B\" }]\nfaults.corrupt = [{ size = \"5TB\" }]\n",
            ),
        ),
        ("slow in no time", slow("by = \"1s\", over = \"0s\"")),
        ("slow for no command", slow("by = \"1s\", share = \"0%\"")),
        ("parts of sectors", on_sata("faults.media = [{ offset = \"100B\" }, { size = \"100B\" }]\n")),
        (
            "lies about nothing",
            on_sata("write_cache = false\nfaults.lie = [{ at = \"1s\", lasts = \"0s\" }]\n"),
        ),
        ("another drive", on_sata("faults.reset = [{ drive = 1 }]\n")),
        (
            "drives that the array has, and one that it has not",
            array(raid5, "faults.reset = [{ drive = 4 }, { drive = 5 }]\n"),
        ),
        (
            "after the end",
            on_sata("faults.slow = [{ at = \"60s\", by = \"1s\" }]\n[run]\nduration = \"60s\"\n"),
        ),
        (
            "after the power",
            on_sata("faults = { power_cut = \"8s\", hang = [{ at = \"8001ms\", lasts = \"1s\" }] }\n"),
        ),
        (
            "corrupted and cut",
            on_sata("write_cache = true\nfaults = { power_cut = \"8s\", corrupt = [{ at = \"1s\" }] }\n"),
        ),
        (
            "corrupted, and with checksums",
            array("level = \"raidz1\"\nmembers = 4\n", "faults.corrupt = [{ at = \"1s\" }]\n"),
        ),
        (
            "slow twice at a time",
            on_sata(
                "faults.slow = [{ by = \"7ms\" }, { at = \"1s\", by = \"50ms\", lasts = \"2s\" }]\n\
                 faults.lie = [{ at = \"0s\", lasts = \"2s\" }, { at = \"1s\" }, { at = \"9s\" }]\nwrite_cache = true\n",
            ),
        ),
        (
            "missing",
            array(
                "level = \"raid6\"\nmembers = 5\nmissing = [1]\n",
                "faults.hang = [{ drive = 1, lasts = \"1s\" }]\n",
            ),
        ),
        ("of a station", "[target]\nnull = {}\nfaults.hang = [{ lasts = \"1s\" }]\n".to_owned()),
        (
            "words of others",
            on_sata("faults.slow = [{ start = \"1s\", delay = \"1ms\" }]\nfaults.dead = []\n"),
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(title, text)| (*title, text.as_str())).collect();
    insta::assert_snapshot!(snapshot(&cases));
}
