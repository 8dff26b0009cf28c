//! Flushes in a workload: fio's `fsync`, and a flush among listed commands.
use drivelab_core::host::feed::FedIo;
use drivelab_core::host::params::Flushes;
use drivelab_core::{Access, Limit};
use drivelab_scenario::{NoFiles, Plan, Source, plan};
use drivelab_units::Span;

fn planned(workload: &str) -> Plan {
    let text = format!("target.drive = \"wd-4tb-7200\"\n[workload]\n{workload}\n");
    let source = Source { origin: "a.toml".to_owned(), text };
    plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"))
}

fn flushes(workload: &str) -> Vec<Flushes> {
    let points = planned(workload).points;
    points.iter().flat_map(|point| point.setup.jobs.iter().map(|job| job.flushes)).collect()
}

#[test]
fn fsync_requests_a_flush_after_so_many_writes() {
    let after = Flushes::After;
    assert_eq!(flushes("rw = \"randwrite\"\nfsync = [0, 1, 32]"), [Flushes::Never, after(1), after(32)]);
    assert_eq!(flushes("rw = \"randwrite\""), [Flushes::Never]);
    let jobs = "rw = \"randrw\"\nfsync = 8\n[workload.job.a]\n[workload.job.b]\nfsync = 2\n[workload.job.c]\nfsync = 0";
    assert_eq!(flushes(jobs), [after(8), after(2), Flushes::Never]);
    // An open loop waits for nothing, so it takes no flush over.
    let open = "rw = \"randwrite\"\nfsync = 8\n[workload.job.a]\n[workload.job.b]\nrate_iops = 50";
    assert_eq!(flushes(open), [after(8), Flushes::Never]);
}

#[test]
fn a_listed_flush_names_no_block_and_counts_as_a_command() {
    let plan = planned("commands = [{ rw = \"write\" }, { at = \"9ms\", rw = \"flush\" }, { at = \"9ms\" }]");
    let setup = &plan.points[0].setup;
    let [write, flush, read] = &setup.fed.as_ref().unwrap().ios[..] else { panic!("three commands") };
    let asks = |io: &FedIo| (io.time, io.command.access, io.command.count.get());
    assert_eq!(asks(write), (Span::ZERO, Access::Write, 8));
    assert_eq!(asks(flush), (Span::from_ms(9), Access::Flush, 0));
    assert_eq!(asks(read), (Span::from_ms(9), Access::Read, 8));
    assert_eq!(setup.limit, Limit { duration: None, ios: Some(3), until: None });
}

#[test]
fn fio_jobs_have_flushes_as_far_as_fio_supports_them() {
    let fio =
        |workload: &str| planned(workload).points.iter().map(|point| point.fio.clone()).collect::<Vec<_>>();
    let [never, often] = &fio("rw = \"randwrite\"\nfsync = [0, 4]")[..] else { panic!("two points") };
    assert!(!never.contains("fsync") && often.contains("\nfsync=4\n"), "{often}");
    let listed = &fio("commands = [{ rw = \"flush\" }, { rw = \"write\" }]")[0];
    assert!(listed.contains("; fio cannot express it: command1, a flush by itself\n"), "{listed}");
    assert!(listed.contains("[command2]\nrw=write\n") && !listed.contains("[command1]"), "{listed}");
}

#[test]
fn the_jobs_of_a_later_point_wait_although_the_first_is_a_flush() {
    let plan = planned("commands = [{ rw = \"flush\" }, { rw = \"write\" }]\n[run]\nseed = [1, 2]");
    let waiting: Vec<usize> =
        plan.points.iter().map(|point| point.fio.matches("stonewall").count()).collect();
    assert_eq!(waiting, [0, 1]);
}

#[test]
fn sync_is_of_jobs_that_write() {
    let text = "rw = \"randrw\"\nsync = 1\n[workload.job.a]\n[workload.job.b]\nrw = \"read\"\nsync = false";
    let plan = planned(text);
    let marked: Vec<bool> = plan.points[0].setup.jobs.iter().map(|job| job.marking.sync).collect();
    assert_eq!(marked, [true, false]);
    assert_eq!(plan.points[0].fio.matches("sync=1\n").count(), 1, "{}", plan.points[0].fio);
    let source = Source {
        origin: "a.toml".to_owned(),
        text: "target.drive = \"wd-4tb-7200\"\nworkload.rw = \"randread\"\nworkload.sync = true\n".to_owned(),
    };
    let problems = drivelab_scenario::plan(&source, &[], &NoFiles).unwrap_err().to_string();
    assert!(problems.contains("`sync` has no effect with rw = \"randread\""), "{problems}");
}
