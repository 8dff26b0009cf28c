//! Jobs that end before the run, and jobs on a member of a jbod.
use drivelab_core::Limit;
use drivelab_core::host::params::{Ending, JobParams};
use drivelab_scenario::{NoFiles, Plan, Problems, Source, plan};
use drivelab_units::{Sectors, Span};

fn read(target: &str, workload: &str) -> Result<Plan, Problems> {
    let text = format!("target.drive = \"wd-4tb-7200\"\n{target}\n[workload]\n{workload}\n");
    plan(&Source { origin: "a.toml".to_owned(), text }, &[], &NoFiles)
}

fn planned(target: &str, workload: &str) -> Plan {
    read(target, workload).unwrap_or_else(|problems| panic!("{problems}"))
}

fn jobs(target: &str, workload: &str) -> Vec<JobParams> {
    planned(target, workload).points.remove(0).setup.jobs
}

#[test]
fn a_run_ends_with_its_jobs_where_all_of_them_end() {
    let ends = |workload: &str| {
        let setup = planned("", workload).points.remove(0).setup;
        (setup.jobs_end(), setup.limit)
    };
    let none = Limit { duration: None, ios: None, until: None };
    let minute = Limit { duration: Some(Span::from_s(60)), ..none };
    assert_eq!(ends("io_size = \"1GiB\""), (true, none));
    assert_eq!(ends("job.a.io_size = \"1GiB\"\njob.b.bs = \"8KiB\""), (false, minute));
    assert_eq!(ends("io_size = \"1GiB\"\njob.a.bs = \"4KiB\"\njob.b.bs = \"8KiB\""), (true, none));
    assert_eq!(ends("job.a.io_size = \"1GiB\"\njob.a.exitall = true\njob.b.bs = \"8KiB\""), (true, none));
    let limited = Limit { duration: Some(Span::from_s(5)), ..none };
    assert_eq!(ends("io_size = \"1GiB\"\nruntime = \"5s\""), (true, limited));
}

#[test]
fn the_end_of_a_job_is_what_its_keys_say() {
    let all = "rw = \"write\"\nio_size = \"1MiB\"\nend_fsync = 1\nexitall = true";
    let expected = Ending { after: Some(Sectors::new(2_048)), flushes: true, ends_all: true };
    assert_eq!(jobs("", all)[0].ending, expected);
    assert_eq!(jobs("", "rw = \"read\"")[0].ending, Ending::default());
    for (workload, message) in [
        ("io_size = \"0B\"", "`io_size` must be more than zero"),
        ("io_size = \"700B\"", "write a multiple of 512 bytes, such as \"1024B\""),
        ("exitall = true", "`exitall` has no effect without `io_size`"),
        ("rw = \"randread\"\nend_fsync = true", "`end_fsync` has no effect with rw = \"randread\""),
    ] {
        let problems = read("", workload).unwrap_err().to_string();
        assert!(problems.contains(message), "{problems}");
    }
}

#[test]
fn fio_jobs_end_as_the_scenario_says() {
    let fio = |workload: &str| planned("", workload).points.remove(0).fio;
    let ends = fio("rw = \"write\"\nio_size = \"1MiB\"\nend_fsync = true");
    assert!(ends.contains("\nio_size=1048576\nend_fsync=1\n") && !ends.contains("time_based"), "{ends}");
    let one = fio("runtime = \"5s\"\njob.a.io_size = \"1MiB\"\njob.b.bs = \"8KiB\"");
    assert!(one.contains("\nruntime=5s\n") && one.matches("time_based=1").count() == 1, "{one}");
    let all = fio("job.a.io_size = \"1MiB\"\njob.a.exitall = true\njob.b.bs = \"8KiB\"");
    assert!(all.contains("\nexitall=1\n"), "{all}");
}

#[test]
fn offset_and_size_are_those_of_the_member() {
    let jbod = "target.array = { level = \"jbod\", members = 3 }";
    let member = jobs("", "size = \"100%\"")[0].count;
    let on = |keys: &str| {
        let found = jobs(jbod, keys).remove(0);
        (found.first.get(), found.count.get())
    };
    let (member, mebibyte) = (member.get(), 2_048);
    assert_eq!(on("member = 0"), (0, member));
    assert_eq!(on("member = 2"), (2 * member, member));
    assert_eq!(on("member = 1\noffset = \"1MiB\"\nsize = \"2MiB\""), (member + mebibyte, 2 * mebibyte));
    assert_eq!(on("member = 1\nsize = \"50%\""), (member, member / 16 * 8));
    for (target, workload, message) in [
        (jbod, "member = 3", "there is no member 3: they are numbered 0 to 2"),
        ("", "member = 0", "set target.array.level = \"jbod\""),
        ("target.array = { level = \"raid0\", members = 3 }", "member = 0", "this target is none"),
        (jbod, "member = 0\nsize = \"5TB\"", "lower size or offset"),
    ] {
        let problems = read(target, workload).unwrap_err().to_string();
        assert!(problems.contains(message), "{problems}");
    }
}
