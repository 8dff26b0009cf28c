//! Host-managed drives in whole runs: whatever stands before the drive, it refuses no write of a job that follows its
//! zones, and every other one.
use crate::common::point;
use drivelab_core::Setup;
use drivelab_scenario::{NoFiles, Source, plan};

fn setups(text: &str) -> Vec<Setup> {
    let source = Source { origin: "test.toml".to_owned(), text: text.to_owned() };
    let planned = plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
    planned.points.into_iter().map(|point| point.setup).collect()
}

const DRIVE: &str = "drive = { base = \"wd-ultrastar-dc-hc650-20tb\", geometry = { heads = 2, capacity = \"2000000 sectors\" }, host_managed = { zone = \"1MiB\", conventional = 2, open = 6 } }";

#[test]
fn a_drive_refuses_no_write_of_a_job_that_follows_its_zones() {
    let elevators = [
        "",
        "elevator = \"noop\"",
        "elevator = \"deadline\"",
        "elevator = \"c-look\"",
        "elevator = \"fair\"",
    ];
    for elevator in elevators {
        for workload in [
            // Several rounds over the range, so that every zone is reset.
            "rw = [\"write\", \"randwrite\"]\nbs = \"64KiB\"\niodepth = 8\nsize = \"20MiB\"",
            "rw = [\"rw\", \"randrw\"]\nbssplit = \"4k/50:24k/30:136k/20\"\niodepth = 20\nsize = \"20MiB\"",
            "rw = \"randwrite\"\nbs = \"40KiB\"\niodepth = 16\nmax_transfer = \"16KiB\"\nfsync = 20\nsize = \"12MiB\"",
            "rw = \"randwrite\"\nbs = \"16KiB\"\niodepth = 4\nsize = \"9MiB\"\nmax_open_zones = 2",
        ] {
            let text = format!(
                "[target]\n{DRIVE}\n{elevator}\n[workload]\nzonemode = \"zbd\"\n{workload}\n[run]\nios = 3000\n"
            );
            for setup in setups(&text) {
                let point = point(&setup);
                assert_eq!(point.errors, 0, "{text}");
                assert!(point.read.ios + point.write.ios >= 3_000);
            }
        }
    }
}

#[test]
fn a_write_that_is_not_at_the_pointer_of_its_zone_is_refused_and_changes_nothing() {
    // Zone 2 is the first one that is written in order.
    let text = format!(
        "[target]\n{DRIVE}\n[workload]\ncommands = [\n\
         {{ at = \"0ms\", rw = \"write\", offset = \"2MiB\" }},\n\
         {{ at = \"10ms\", rw = \"write\", offset = \"2MiB\" }},\n\
         {{ at = \"20ms\", rw = \"write\", offset = \"2056KiB\" }},\n\
         {{ at = \"30ms\", rw = \"write\", offset = \"2052KiB\", bs = \"1020KiB\" }},\n\
         {{ at = \"40ms\", rw = \"write\", offset = \"3068KiB\", bs = \"8KiB\" }},\n\
         {{ at = \"50ms\", rw = \"write\", offset = \"64KiB\" }},\n\
         {{ at = \"60ms\", rw = \"read\", offset = \"5MiB\" }},\n\
         ]\n"
    );
    let setup = setups(&text).remove(0);
    let point = point(&setup);
    let log = point.errors_by_outcome.clone();
    assert_eq!((point.errors, log.get("unaligned-write").copied()), (3, Some(3)), "{log:?}");
}

#[test]
fn a_command_that_is_refused_at_the_first_instant_is_counted() {
    let commands = "[{ rw = \"write\", offset = \"2056KiB\" }, { rw = \"write\", offset = \"2MiB\" }]";
    let point = point(&setups(&format!("[target]\n{DRIVE}\n[workload]\ncommands = {commands}\n")).remove(0));
    assert_eq!((point.errors, point.write.ios), (1, 1));
}

#[test]
fn a_job_leaves_a_zone_in_which_a_write_has_failed() {
    // A reset of the link takes writes that the drive has accepted: their retries find the pointer behind them.
    let text = format!(
        "[target]\n{DRIVE}\nfaults = {{ reset = [{{ at = \"100ms\" }}] }}\n[workload]\nzonemode = \"zbd\"\n\
         rw = [\"write\", \"randwrite\"]\nbs = \"64KiB\"\niodepth = 8\nsize = \"20MiB\"\n[run]\nduration = \"5s\"\n"
    );
    for setup in setups(&text) {
        let point = point(&setup);
        assert!(
            (1..=16).contains(&point.errors) && point.write.ios > 1_000,
            "{} of {}",
            point.errors,
            point.write.ios
        );
    }
}
