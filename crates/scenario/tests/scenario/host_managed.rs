//! Host-managed drives as typed: zones, the range and the zones of jobs, and every message about them.
use crate::common::read;
use crate::problems::snapshot;
use drivelab_core::host::zone_writes::ZoneWrites;
use drivelab_core::storage::TargetParams;
use drivelab_scenario::{NoFiles, Plan};
use drivelab_units::{Lba, Sectors};

/// 1 GB in zones of 16 MiB, of which the last one is not whole: 59 zones and 9.7 MB.
const ZONES: &str = "host_managed = { zone = \"16MiB\", conventional = 3, open = 12 }";

fn scenario(keys: &str, workload: &str) -> String {
    format!(
        "[target.drive]\nbase = \"seagate-exos-x24-24tb\"\ngeometry = {{ heads = 2, capacity = \"1953125 sectors\" }}\n{keys}\n\
         [workload]\nrw = \"write\"\n{workload}\n"
    )
}

fn planned(text: &str) -> Plan {
    read(text, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_job_writes_the_whole_zones_behind_the_conventional_ones() {
    let plan = planned(&scenario(ZONES, "zonemode = \"zbd\""));
    let setup = &plan.points[0].setup;
    let TargetParams::Drive(drive) = &setup.target else { panic!("one drive") };
    let zones = drive.medium.zones().unwrap();
    assert_eq!((zones.size.get(), zones.conventional, zones.open_most), (32_768, 3, 12));
    let job = &setup.jobs[0];
    assert_eq!((job.first, job.count), (Lba::new(3 * 32_768), Sectors::new(56 * 32_768)));
    assert_eq!(job.zones, Some(ZoneWrites { size: Sectors::new(32_768), open_most: 12 }));
    assert!(plan.notes.iter().any(|note| note.contains("host-managed")), "{:?}", plan.notes);
}

#[test]
fn a_range_and_a_limit_of_ones_own_are_kept() {
    let keys = "zonemode = \"zbd\"\nmax_open_zones = 5\noffset = \"64MiB\"\nsize = \"160MiB\"";
    let plan = planned(&scenario(ZONES, keys).replace("\"write\"", "\"randwrite\""));
    let job = &plan.points[0].setup.jobs[0];
    assert_eq!((job.first, job.count), (Lba::new(131_072), Sectors::new(327_680)));
    assert_eq!(job.zones.unwrap().open_most, 5);
    let all = planned(&scenario(ZONES, "zonemode = \"zbd\"\noffset = \"64MiB\"\nsize = \"100%\""));
    assert_eq!(all.points[0].setup.jobs[0].count, Sectors::new(55 * 32_768));
}

#[test]
fn conventional_zones_and_reads_need_no_mode() {
    let plan = planned(&scenario(ZONES, "size = \"48MiB\""));
    assert_eq!(plan.points[0].setup.jobs[0].zones, None);
    let reads = planned(&scenario(ZONES, "").replace("\"write\"", "\"randread\""));
    let job = &reads.points[0].setup.jobs[0];
    assert_eq!((job.zones, job.count), (None, Sectors::new(1_953_125)));
    let zoned = planned(&scenario(ZONES, "zonemode = \"zbd\"").replace("\"write\"", "\"randread\""));
    assert_eq!(zoned.points[0].setup.jobs[0].zones, None, "a job that only reads keeps no pointers");
}

#[test]
fn the_job_file_of_fio_has_the_mode() {
    let plan = planned(
        &scenario(ZONES, "zonemode = \"zbd\"\nmax_open_zones = 7").replace("\"write\"", "\"randwrite\""),
    );
    let file = &plan.points[0].fio;
    assert!(file.contains("\nzonemode=zbd\nmax_open_zones=7\n"), "{file}");
}

#[test]
fn host_managed_drives_and_their_jobs_that_cannot_be() {
    let zbd = |keys: &str| scenario(ZONES, &format!("zonemode = \"zbd\"\n{keys}"));
    let of = |keys: &str| scenario(keys, "zonemode = \"zbd\"");
    insta::assert_snapshot!(snapshot(&[
        ("writes anywhere", scenario(ZONES, "")),
        ("no such drive", scenario("", "zonemode = \"zbd\"")),
        ("open zones without the mode", scenario(ZONES, "size = \"48MiB\"\nmax_open_zones = 2")),
        ("more open than the drive", zbd("max_open_zones = 13").replace("\"write\"", "\"randwrite\"")),
        ("an offset within a zone", zbd("offset = \"100MiB\"")),
        ("a range that ends within a zone", zbd("offset = \"64MiB\"\nsize = \"20MiB\"")),
        ("a range of conventional zones", zbd("offset = \"16MiB\"\nsize = \"48MiB\"")),
        ("a range behind the last whole zone", zbd("offset = \"944MiB\"")),
        ("an I/O larger than a zone", zbd("bs = \"32MiB\"")),
        ("two copies", zbd("numjobs = 2")),
        ("two jobs", zbd("[workload.job.a]\n[workload.job.b]")),
        ("another attribute", zbd("attribute = \"head-of-queue\"")),
        ("a time for each byte", zbd("submit = { rate = \"1GB/s\" }")),
        ("partly random", zbd("percentage_random = \"50%\"").replace("\"write\"", "\"randwrite\"")),
        ("open zones of a sequential job", zbd("max_open_zones = 2")),
        (
            "more open than the drive, of two jobs",
            zbd(
                "[workload.job.a]\nrw = \"randwrite\"\nsize = \"160MiB\"\n[workload.job.b]\nrw = \"randwrite\"\noffset = \"320MiB\""
            )
        ),
        ("a zone of nothing", of("host_managed = { zone = \"0B\" }")),
        ("a zone larger than the drive", of("host_managed = { zone = \"2GB\" }")),
        ("too many zones", of("host_managed = { zone = \"512B\" }").replace("1953125", "8000000")),
        ("only conventional zones", of("host_managed = { zone = \"16MiB\", conventional = 60 }")),
        ("none open", of("host_managed = { zone = \"16MiB\", open = 0 }")),
        ("shingled in two ways", of("smr = {}\nhost_managed = {}")),
        (
            "two actuators",
            of("dual_actuator = \"logical-units\"\nhost_managed = {}").replace("1953125", "2000000")
        ),
        ("a member", format!("{}[target.array]\nlevel = \"raid1\"\nmembers = 2\n", zbd(""))),
        ("a host cache", format!("{}[target.host_cache]\nsize = \"1GiB\"\n", zbd(""))),
        ("flash", "[target.drive]\nbase = \"samsung-mzvlb256\"\nhost_managed = {}\n".to_owned()),
    ]));
}
