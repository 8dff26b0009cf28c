//! Every message, as the user sees it. A change of wording shows in `snapshots/`.
use crate::common;
use crate::common::Files;
use drivelab_scenario::Problems;
use std::fmt::Write;

const FILES: Files = Files(&[
    (
        "drives/mine.toml",
        "rpm = \"7200\"
sek = { single = \"1ms\" }
[geometry]
heads = [1, 2]
",
    ),
    ("drives/circle.toml", "base = \"drives/circle.toml\"\n"),
]);

fn problems(text: &str, overrides: &[(&str, &str)]) -> Problems {
    match common::read(text, overrides, &FILES) {
        Ok(plan) => panic!(
            "{text}
is a plan of {} points",
            plan.points.len()
        ),
        Err(problems) => problems,
    }
}

pub fn snapshot(cases: &[(&str, impl AsRef<str>)]) -> String {
    let mut out = String::new();
    for (title, text) in cases {
        let _ = write!(out, "=== {title}\n{}\n\n", problems(text.as_ref(), &[]));
    }
    out
}

const DRIVE: &str = "target.drive = \"wd-4tb-7200\"\n";

fn workload(keys: &str) -> String {
    format!("{DRIVE}[workload]\n{keys}")
}

#[test]
fn texts_that_are_no_scenario() {
    let all = snapshot(&[
        ("nothing", ""),
        ("values without quotes", "target.drive = wd-4tb-7200\n[workload]\nbs = 4k\niodpeth = 4\n"),
        ("no TOML", "target = {\ndrive = wd-4tb-7200\n[workload]\nbs = 4k\n"),
        ("a key twice", "[target]\nnull = {}\n[workload]\nbs = \"4k\"\nbs = \"8k\"\n"),
        ("an unknown section", "[targt]\nnull = {}\n[target]\nnull = {}\n"),
        ("a section that is no table", "target = 4\nworkload = \"fast\"\nrun = true\n"),
        ("a drive that does not exist", "[target]\ndrive = \"wd-4tb-7201\"\n"),
        ("a file that does not exist", "[target]\ndrive = \"drives/other.toml\"\n"),
        ("a file with mistakes", "[target]\ndrive = \"drives/mine.toml\"\n"),
        ("a drive based on itself", "[target]\ndrive = \"drives/circle.toml\"\n"),
        ("two targets", "[target]\nnull = {}\ndrive = \"wd-4tb-7200\"\n"),
        ("no target in the target", "[target]\nwrite_cache = false\n"),
        (
            "keys of a drive without one",
            "[target]\nnull = {}\nqueue = { depth = 4 }\ncache = false\nwrite_cache = true\n",
        ),
        ("the read-ahead of old", "[target]\ndrive = \"wd-4tb-7200\"\nread_ahead = false\n"),
    ]);
    insta::assert_snapshot!(all);
}

#[test]
fn values_that_are_none() {
    let cases: Vec<(&str, String)> = [
        ("unknown keys", "iodpeth = 4\nqueue_depth = 4\ndepth = 32\nzzz = 1\n"),
        (
            "wrong types",
            "bs = true\niodepth = \"4\"\nnumjobs = 1.5\nrw = 4\nthinktime = { a = 1 }\nrate_iops = false\n",
        ),
        ("missing units", "bs = 4096\nthinktime = \"8.5\"\nmax_transfer = 0.5\noffset = 1\n"),
        ("wrong units", "bs = \"4KB\"\nthinktime = \"8msec\"\nblockalign = \"4ms\"\nsize = \"4 sector s\"\n"),
        ("wrong names", "rw = \"random\"\nrate_process = \"poison\"\n"),
        (
            "out of range",
            "iodepth = 0\nnumjobs = -1\nrwmixread = 101\npercentage_random = \"-5%\"\nrate_iops = 0\n",
        ),
        (
            "absurd",
            "bs = \"8GiB\"\nthinktime = \"99999d\"\noffset = \"1000000TB\"\niodepth = 99999999999999999999\n",
        ),
        ("zero and fractions of sectors", "bs = \"0B\"\nmax_transfer = \"1000B\"\n"),
        (
            "a range of fractions of sectors",
            "offset = [\"1000B\", \"1.5kB\", \"100k\"]\nsize = [\"5000B\", \"0.3KiB\"]\n",
        ),
        (
            "bare fractions and odd counts",
            "bs = [4, 0, 0.3]\noffset = [0.5, 0, 10]\nsize = [0, 0.25, \"0B\"]\n",
        ),
        ("bare seconds", "runtime = [60, 0, nan]\nramp_time = [0, 5]\nthinktime = 0.5\n"),
        (
            "beyond the limits",
            "ramp_time = \"10000d\"\nsize = \"2000000TiB\"\nsubmit = { rate = [\"1B/s\", \"0B/s\", 5] }\n",
        ),
        ("a date", "thinktime = 2007-06-24\n"),
        ("splits", "bssplit = \"4k/60:64k/50\"\n[run]\nseed = -4\n"),
        ("splits of nothing", "bssplit = \"4k/x\"\n"),
        ("odd jobs", "job = {}\n"),
        ("a job with a mistake", "[workload.job.a]\niodeph = 4\n[workload.job.b]\nruntime = \"4s\"\n"),
    ]
    .iter()
    .map(|(title, keys)| (*title, workload(keys)))
    .collect();
    let all = snapshot(&cases);
    insta::assert_snapshot!(all);
}

#[test]
fn keys_that_contradict_each_other() {
    let cases: Vec<(&str, String)> = [
        ("two ways of a size", "bs = \"4k\"\nbssplit = \"4k/50:8k/50\"\n"),
        ("open and closed", "iodepth = 4\nrate_iops = 100\n"),
        ("a pause in an open loop", "rate_iops = 100\nthinktime = \"1ms\"\n"),
        ("spaced nothing", "rate_process = \"poisson\"\n"),
        ("random order of a sequence", "rw = \"read\"\npercentage_random = 50\n"),
        ("flushes in an open loop", "rw = \"randwrite\"\nrate_iops = 100\nfsync = 8\n"),
        ("flushes of what only reads", "rw = \"randread\"\nfsync = 8\n"),
        ("a mix of one kind", "rw = \"randwrite\"\nrwmixread = 70\n"),
        ("a key that every job sets", "rw = \"read\"\niodepth = 4\nrwmixread = 70\n[workload.job.a]\nrw = \"randread\"\niodepth = 2\n[workload.job.b]\nrw = \"write\"\nrate_iops = 5\n"),
        ("a mix of a job", "rw = \"randrw\"\nrwmixread = 70\n[workload.job.a]\n[workload.job.b]\nrw = \"write\"\nrwmixread = 20\n"),
        ("an I/O larger than its range", "bs = \"1MiB\"\nsize = \"64KiB\"\n"),
        ("a range behind the end", "offset = \"5TB\"\n"),
        ("a range over the end", "offset = \"90%\"\nsize = \"20%\"\n"),
        ("too much at once", "iodepth = 60000\nnumjobs = 2\n"),
        ("too many jobs", "numjobs = 4096\n[workload.job.a]\n[workload.job.b]\n[workload.job.c]\n[workload.job.d]\n[workload.job.e]\n"),
        ("two names of one thing", "runtime = \"5s\"\nramp_time = \"1s\"\n[run]\nduration = \"4s\"\nwarmup = \"1s\"\n"),
        ("no time", "[run]\nduration = \"0s\"\n"),
    ]
    .iter()
    .map(|(title, keys)| (*title, workload(keys)))
    .collect();
    let all = snapshot(&cases);
    insta::assert_snapshot!(all);
}

#[test]
fn queues_that_cannot_be() {
    let cases: Vec<(&str, String)> = [
        ("a protocol without enough tags", "{ protocol = \"ncq\", depth = 64 }"),
        ("the drive's protocol without enough tags", "{ depth = 64 }"),
        ("ATA tags", "{ protocol = \"ata-tcq\", depth = 33 }"),
        ("no protocol, but a queue", "{ protocol = \"none\", depth = 4, order = \"sptf\" }"),
        ("a handicap without time", "{ order = \"look\", write_handicap = \"1ms\" }"),
        ("an answer nobody waits for", "{ answer_time = \"1ms\" }"),
        ("a wrong order", "{ order = \"spft\", write_handicap = \"1ms\", depth = 0 }"),
        ("a wrong number", "{ age_weight = \"0.1\", considers = 0, age_limit = \"1\" }"),
        ("a weight of nothing", "{ order = \"sptf\", age_weight = 0.3 }"),
        ("knowledge without use", "{ order = \"c-look\", knows = \"distance\" }"),
        ("a weight too large", "{ order = \"aged-sptf\", age_weight = 1001.0 }"),
        ("a window of the oldest alone", "{ order = \"fcfs\", considers = 4, look_time = \"1us\" }"),
        ("reads go first anyway", "{ order = \"read-first-sptf\", write_handicap = \"1ms\" }"),
        ("a margin without angle", "{ order = \"sstf\", write_margin = \"1ms\", knows = \"angle\" }"),
        ("a turn that costs too much", "{ order = \"vscan\", scan_weight = 1.5 }"),
        (
            "keys of other orders",
            "{ age_full = \"1s\", write_deadline = \"1s\", scan_weight = 0.2, pass_limit = 0 }",
        ),
        ("a queue too deep", "{ protocol = \"scsi-tcq\", depth = 65537 }"),
    ]
    .iter()
    .map(|(title, queue)| (*title, format!("[target]\ndrive = \"wd-4tb-7200\"\nqueue = {queue}\n")))
    .chain([
        (
            "a weight over the drive's order",
            "[target]\ndrive = \"samsung-f1-1tb\"\nqueue = { age_weight = 0.3 }\n".to_owned(),
        ),
        (
            "an unknown drive beside it",
            "[target]\ndrive = \"wd-4tb-7201\"\nqueue = { protocol = \"ncq\", depth = 64 }\n".to_owned(),
        ),
    ])
    .collect();
    let all = snapshot(&cases);
    insta::assert_snapshot!(all);
}

/// Targets on a SCSI drive of the catalogue, if they say nothing else.
fn on_scsi(keys: &str) -> String {
    format!("[target]\ndrive = \"seagate-10k-scsi-74gb\"\n{keys}")
}

pub fn on_sata(keys: &str) -> String {
    format!("[target]\ndrive = \"wd-4tb-7200\"\n{keys}")
}

#[test]
fn controllers_and_schedulers_that_cannot_be() {
    let cases: Vec<(&str, String)> = vec![
        ("more than NCQ has", on_sata("controller = { interface = \"ahci\", depth = 64 }\n")),
        (
            "an error handler that sleeps",
            on_scsi("controller = { interface = \"scsi\", recovery = \"5ms\" }\n"),
        ),
        (
            "an error handler of SCSI without a queue",
            on_scsi("queue.protocol = \"none\"\ncontroller = { interface = \"scsi\", recovery = \"5ms\" }\n"),
        ),
        ("more than an initiator has", on_scsi("controller.depth = 300\nqueue.scsi.tags = 256\n")),
        ("a queue behind legacy IDE", on_sata("controller = { interface = \"legacy-ide\", depth = 31 }\n")),
        ("a queue before none", on_sata("queue.protocol = \"none\"\ncontroller.depth = 2\n")),
        (
            "costs and patience",
            on_sata(
                "controller = { issue = \"11s\", completion = \"2\", timeout = \"0s\", retries = 256 }\n",
            ),
        ),
        ("a second try at what never fails", on_sata("controller.retries = 3\n")),
        ("an interface that does not exist", on_sata("controller.interface = \"ide\"\n")),
        ("no such scheduler", on_sata("elevator = \"cfq\"\n")),
        ("neither a name nor a table", on_sata("elevator = false\n")),
        (
            "keys of the other schedulers",
            on_sata("elevator = { order = \"c-look\", fifo_batch = 4, quantum = 2 }\n"),
        ),
        ("keys of no scheduler", on_sata("elevator = { order = \"none\", depth = 4, merge = false }\n")),
        (
            "slices of nothing",
            on_sata(
                "elevator = { order = \"fair\", slice_sync = \"0s\", slice_idle = \"0s\", quantum = 0 }\n",
            ),
        ),
        ("odd merges", on_sata("elevator.merge = [true, \"1000B\", \"2GiB\", 4]\n")),
        (
            "a scheduler without a drive",
            "[target]\nserver.mean = \"5ms\"\nelevator = \"c-look\"\n".to_owned(),
        ),
        (
            "a controller before nothing",
            "[target]\nnull = {}\ncontroller.depth = 2\nfaults.read_errors = 1\n[workload]\nrate_iops = 9\n"
                .to_owned(),
        ),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}

#[test]
fn memories_that_cannot_be() {
    let cases: Vec<(&str, String)> = vec![
        ("no size", on_sata("host_cache = { age = \"5s\" }\ncontroller.cache = { size = \"0B\" }\n")),
        ("too little said", on_sata("host_cache = true\ncontroller.cache = 4\n")),
        (
            "more than there is",
            on_sata("host_cache = { size = \"1MiB\", limit = \"2MiB\", background = \"50%\" }\n"),
        ),
        (
            "handed on from beyond the limit",
            on_sata("host_cache = { size = \"1MiB\", limit = \"10%\", background = \"20%\" }\n"),
        ),
        ("room for nothing", on_sata("controller.cache = { size = \"1MiB\", limit = \"0%\" }\n")),
        (
            "commands that are none",
            on_sata(
                "host_cache = { size = \"1MiB\", request = \"1000B\", outstanding = 0, order = \"lru\", overhead = \"1min\" }\n",
            ),
        ),
        ("a battery for a host", on_sata("host_cache = { size = \"1MiB\", battery = true }\n")),
        ("past no cache", on_sata("[workload]\ndirect = 0\n")),
        ("neither yes nor no", on_sata("host_cache.size = \"1GiB\"\n[workload]\ndirect = 2\n")),
        ("memory without a drive", "target = { null = {}, host_cache = { size = \"1GiB\" } }\n".to_owned()),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}

#[test]
fn buses_that_cannot_be() {
    let cases: Vec<(&str, String)> = vec![
        ("a name that is none", on_sata("bus = \"pci-33\"\n")),
        ("nothing said of it", on_sata("bus = {}\ncontroller = { bus = { full_duplex = true } }\n")),
        ("a number", on_sata("bus = 133\n")),
        (
            "what takes for ever, and carries nothing",
            on_sata("bus = { rate = \"1MB/s\", fixed = \"1min\", burst = \"0B\" }\n"),
        ),
        ("links that are none", on_sata("controller.link = { standard = \"sata-3\", rate = \"1B/s\" }\n")),
        ("a bus of no drive", "target = { null = {}, bus = \"pci-32-33\" }\n".to_owned()),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}

#[test]
fn commands_that_no_protocol_has() {
    let job = |target: String, keys: &str| format!("{target}[workload]\n{keys}\n");
    let two = "[workload.job.a]\n[workload.job.b]\ninitiator = 1";
    let cases: Vec<(&str, String)> = vec![
        ("ordered on NCQ", job(on_sata(""), "attribute = \"ordered\"")),
        ("head of queue on ATA TCQ", job(on_sata("queue.protocol = \"ata-tcq\"\n"), "attribute = \"head-of-queue\"")),
        ("ordered without a queue", job(on_scsi("controller.interface = \"ahci\"\n"), "attribute = \"ordered\"")),
        ("priority on SCSI", job(on_scsi(""), "priority = \"high\"")),
        ("a deadline of nobody", job(on_sata(""), "priority = \"high\"\nicc = \"10ms\"")),
        ("a deadline without one", job(on_sata(""), "priority = \"isochronous\"")),
        ("a deadline at once", job(on_sata(""), "priority = \"isochronous\"\nicc = \"0ms\"")),
        ("a deadline in the past", job(on_sata(""), "priority = \"isochronous\"\nicc = \"-5ms\"")),
        ("two hosts on SATA", job(on_sata(""), two)),
        ("too many hosts", job(on_scsi(""), "initiator = 16")),
        ("who waits, and nobody asks", job(on_sata("elevator = \"deadline\"\n"), "synchronous = false")),
        (
            "a drive's keys without one",
            "[target]\nserver.mean = \"5ms\"\n[workload]\nattribute = \"simple\"\nfua = true\ninitiator = 1\n".to_owned(),
        ),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}

#[test]
fn priorities_and_limits_that_cannot_be() {
    let job = |target: String, keys: &str| format!("{target}[workload]\n{keys}\n");
    let limits = |list: &str| on_sata(&format!("queue.duration_limits.read = {list}\n"));
    let one = "[{ guideline = \"50ms\" }]";
    let cases: Vec<(&str, String)> = vec![
        ("a split without a percentage", job(on_sata(""), "prioritysplit = \"high\"")),
        ("a split above the whole", job(on_sata(""), "prioritysplit = \"high/60:normal/50\"")),
        ("a split twice", job(on_sata(""), "prioritysplit = \"high/6:high/5\"")),
        ("a split of no name", job(on_sata(""), "prioritysplit = \"low/6\"")),
        ("a split that is a number", job(on_sata(""), "prioritysplit = 10")),
        ("a split beside a priority", job(on_sata(""), "priority = \"high\"\nprioritysplit = \"high/5\"")),
        ("a split without its deadline", job(on_sata(""), "prioritysplit = \"isochronous/5\"")),
        ("a deadline of no part", job(on_sata(""), "prioritysplit = \"high/5\"\nicc = \"5ms\"")),
        ("a split on SCSI", job(on_scsi(""), "prioritysplit = \"high/5\"")),
        ("a limit without descriptors", job(on_sata(""), "priority = \"limit-1\"")),
        ("a limit without this descriptor", job(limits(one), "prioritysplit = \"limit-2/5\"")),
        ("a limit of reads for writes", job(limits(one), "rw = \"randrw\"\npriority = \"limit-1\"")),
        (
            "limits of a drive without a queue",
            job(
                on_sata(
                    "controller.interface = \"ata-tcq\"\nqueue.duration_limits.read = [{ guideline = \"50ms\" }]\n",
                ),
                "priority = \"limit-1\"",
            ),
        ),
        ("too many limits", job(limits(&format!("[{}]", ["{}"; 8].join(", "))), "")),
        ("a limit of no time", job(limits("[{ guideline = \"0ms\" }]"), "")),
        ("a policy of no limit", job(limits("[{ active_policy = \"abort\" }]"), "")),
        (
            "a policy that others lack",
            job(limits("[{ inactive = \"5ms\", inactive_policy = \"continue-no-limit\" }]"), ""),
        ),
        (
            "no next limit",
            job(limits("[{ guideline = \"5ms\", guideline_policy = \"continue-next-limit\" }]"), ""),
        ),
        ("a policy that is none", job(limits("[{ guideline = \"5ms\", guideline_policy = \"drop\" }]"), "")),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}

#[test]
fn lists_of_commands_that_cannot_be() {
    let list = |target: String, keys: &str| format!("{target}[workload]\n{keys}\n");
    let cases: Vec<(&str, String)> = vec![
        ("nothing", list(on_sata(""), "commands = []")),
        ("a workload beside it", list(on_sata(""), "commands = [{}]\nbs = \"8k\"\niodepth = 4\njob.a = {}")),
        (
            "commands that are none",
            list(
                on_sata(""),
                "commands = [{ at = 4, rw = \"randread\", offset = \"9TB\", bs = \"1000B\", tag = 3 }, 4]",
            ),
        ),
        (
            "what the protocol lacks",
            list(
                on_sata(""),
                "commands = [\n  { attribute = \"ordered\" },\n  { initiator = 2 },\n  { priority = \"isochronous\" },\n  { icc = \"1ms\" },\n]",
            ),
        ),
        (
            "a flush with what only data have",
            list(
                on_sata(""),
                "commands = [\n  { rw = \"flush\", offset = \"1GB\", bs = \"8k\" },\n  { rw = \"flush\", fua = true, \
                 priority = \"high\" },\n]",
            ),
        ),
        ("a list cut short", list(on_sata(""), "commands = [{}, {}]\nramp_time = \"1s\"\n[run]\nios = 1")),
        (
            "a list that asks something of no drive",
            "[target]\nserver.mean = \"5ms\"\n[workload]\ncommands = [{ attribute = \"ordered\" }]\n"
                .to_owned(),
        ),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}

#[test]
fn servers_that_cannot_be() {
    let all = snapshot(&[
        ("no time", "[target.server]\nservice = \"fixed\"\n"),
        ("zero time", "[target.server]\nmean = \"0s\"\n"),
        (
            "another service's keys",
            "[target.server]\nservice = \"uniform\"\nmost = \"1ms\"\nmean = \"1ms\"\nphases = 4\n",
        ),
        ("upside down", "[target.server]\nservice = \"uniform\"\nleast = \"2ms\"\nmost = \"1ms\"\n"),
        ("no time between its bounds", "[target.server]\nservice = \"uniform\"\nmost = \"0s\"\n"),
        (
            "no time passes",
            "[target]\nnull = {}\n[workload.job.a]\nthinktime = \"1ms\"\n[workload.job.b]\niodepth = 4\n",
        ),
        ("no capacity", "[target.null]\ncapacity = \"0 sectors\"\n"),
    ]);
    insta::assert_snapshot!(all);
}

#[test]
fn drives_that_cannot_be() {
    let lee = "seek = { single = \"1ms\", average = \"8ms\", full = \"16ms\" }\n";
    let zones = "zones = [{ cylinders = 100, sectors_per_track = 500 }]";
    let cases: Vec<(&str, String)> = [
        ("nothing there", String::new()),
        ("half a geometry", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2 }}\n")),
        ("half a data sheet", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, outer_rate = \"80MB/s\" }}\n")),
        ("two forms", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, {zones}, outer_rate = \"80MB/s\" }}\n")),
        ("half a serpentine", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, surface_order = \"serpentine\", {zones} }}\n")),
        ("a serpent in a cylinder", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, cylinders_per_head = 4, {zones} }}\n")),
        ("an empty zone", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, zones = [{{ cylinders = 4 }}] }}\n")),
        ("zones that overlap", format!("rpm = \"7200rpm\"\n{lee}[target.drive.geometry]\nheads = 2\nzones = [\n  {{ cylinders = 9, sectors_per_track = 9 }},\n  {{ first_cylinder = 3, cylinders = 9, sectors_per_track = 9 }},\n]\n")),
        ("no zones", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, zones = [] }}\n")),
        ("more than it holds", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, capacity = \"1TB\", {zones} }}\n")),
        ("a slip beside the drive", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, {zones}, slips = [{{ cylinder = 100, head = 0, sector = 0 }}, {{ head = 1 }}] }}\n")),
        ("spares in two forms", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, zones = [{{ cylinders = 9, sectors_per_track = 9, spares = 1, spare_tracks = 1 }}] }}\n")),
        ("half a range of spares", format!("rpm = \"7200rpm\"\n{lee}[target.drive.geometry]\nheads = 2\nzones = [\n  {{ cylinders = 9, sectors_per_track = 9, spares_per_range = 1 }},\n  {{ cylinders = 9, sectors_per_track = 9, spare_range = 2 }},\n]\n")),
        ("spares that do not fit", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, zones = [{{ cylinders = 9, sectors_per_track = 9, spares_per_track = 9 }}] }}\n")),
        ("nothing but spares", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, zones = [{{ cylinders = 9, sectors_per_track = 9, front = 9, spare_tracks = 17 }}] }}\n")),
        ("heads that do not alternate", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, alternates_by = \"drive\", {zones} }}\n")),
        ("a slip of a whole track and of a part", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, {zones}, slips = [{{ cylinder = 9, head = 1, sector = 4, whole_track = true }}] }}\n")),
        ("a slip over the end of its track", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, {zones}, slips = [{{ cylinder = 9, head = 1, sector = 498, count = 3 }}] }}\n")),
        ("an absurd rate", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, capacity = \"1TB\", outer_rate = \"80GB/s\", inner_to_outer = \"50%\" }}\n")),
        ("radii inside out", format!("rpm = \"7200rpm\"\n{lee}geometry = {{ heads = 2, outer_radius = \"20mm\", inner_radius = \"1.8in\", linear_density = \"813kBPI\", track_density = \"145\" }}\n")),
        ("a spindle that stands", format!("rpm = \"1rpm\"\n{lee}geometry = {{ heads = 2, {zones} }}\n")),
        ("half a curve", format!("rpm = \"7200rpm\"\nseek = {{ single = \"1ms\" }}\ngeometry = {{ heads = 2, {zones} }}\n")),
        ("a curve of one point", format!("rpm = \"7200rpm\"\nseek = {{ table = [[1, \"1ms\"]] }}\ngeometry = {{ heads = 2, {zones} }}\n")),
        ("a curve back and forth", format!("rpm = \"7200rpm\"\nseek = {{ table = [[1, \"1ms\"], [9, \"2ms\"], [3, \"1ms\"]] }}\ngeometry = {{ heads = 2, {zones} }}\n")),
        ("points that are none", format!("rpm = \"7200rpm\"\nseek = {{ table = [[1, \"1\"], 4, [\"1ms\", 9], [1]] }}\ngeometry = {{ heads = 2, {zones} }}\n")),
        ("an impossible curve", format!("rpm = \"7200rpm\"\nseek = {{ single = \"9ms\", average = \"1ms\", full = \"20ms\" }}\ngeometry = {{ heads = 2, {zones} }}\n")),
        ("a cache of no size", format!("rpm = \"7200rpm\"\ncache = {{ read_ahead_when_queued = true }}\nwrite_cache = true\n{lee}geometry = {{ heads = 2, {zones} }}\n")),
        ("facts with mistakes", format!("rpm = {{ value = \"7200rpm\", surce = \"x\", mark = \"guessed\" }}\n{lee}geometry = {{ heads = 2, {zones} }}\n")),
        ("a settling time of a minute", format!("rpm = \"7200rpm\"\nsettle = {{ write_settle = \"-1min\", head_switch = \"-1ms\" }}\n{lee}geometry = {{ heads = 2, {zones} }}\n")),
    ]
    .into_iter()
    .map(|(title, keys)| (title, format!("[target.drive]\n{keys}")))
    .collect();
    let all = snapshot(&cases);
    insta::assert_snapshot!(all);
}

#[test]
fn caches_that_cannot_be() {
    let cases: Vec<(&str, String)> = [
        ("two ways of a size", "cache = { size = \"8MiB\", segment_size = \"64KiB\" }"),
        ("no whole sectors", "cache = { segment_size = \"1000B\" }"),
        ("no size at all", "cache = { size = \"0B\" }"),
        ("more segments than sectors", "cache = { size = \"8KiB\", segments = 17 }"),
        ("too many segments", "cache = { segments = 4097, segmentation = \"dynamic\" }"),
        ("a size of what has none", "cache = { segmentation = \"adaptive\", segment_size = \"64KiB\" }"),
        ("its one segment for writes", "cache = { segments = 1, separate_writes = true }"),
        ("a limit beyond a segment", "cache = { size = \"8MiB\", segments = 16, read_ahead_limit = \"513KiB\" }"),
        ("a least beyond a segment", "cache = { size = \"8MiB\", segments = 16, read_ahead_least = \"513KiB\" }"),
        ("a least beyond the limit", "cache = { read_ahead_limit = \"4KiB\", read_ahead_least = \"8KiB\" }"),
        (
            "reading on in no way",
            "cache = { read_ahead = \"none\", read_ahead_limit = \"4KiB\", read_ahead_least = \"4KiB\", \
             read_ahead_when_queued = true, read_ahead_when_sequential = true, read_ahead_on_hit = true, \
             covers_front = false, ends_sector = true }",
        ),
        ("nothing beyond the front", "cache = { covers_front = false, covers_within = \"1ms\" }"),
        ("a limit of the track", "cache = { read_ahead = \"next-track\", read_ahead_limit = \"4KiB\" }"),
        (
            "written data that never wait",
            "cache = { write_segments = 1, write_limit = \"4KiB\", destage = \"at-once\", destage_idle = \"1ms\", \
             destage_age = \"1s\", destage_from = 10, destage_run = \"4KiB\", takes_writes_while_busy = false, keeps_written = false }",
        ),
        (
            "what waits for nothing",
            "write_cache = true\ncache = { destage = \"at-once\", destage_idle = \"1ms\", destage_age = \"1s\" }",
        ),
        (
            "more written than cached",
            "write_cache = true\ncache = { size = \"8MiB\", segments = 4, write_segments = 5, write_limit = \"9MiB\" }",
        ),
        (
            "written data that reads never find",
            "write_cache = true\ncache = { segments = 2, separate_writes = true, keeps_written = false }",
        ),
        ("nothing written", "write_cache = true\ncache = { write_limit = \"0B\", destage_run = \"0B\" }"),
        ("a write cache in none", "write_cache = true\ncache = false"),
        ("too little said", "write_cache = \"yes\"\ncache = true"),
        ("a switch that is none", "write_cache = \"yes\"\ncache = { destage = \"at-once\" }"),
        ("a time of nothing", "drive = { base = \"wd-4tb-7200\", firmware.write_hit = \"1ms\" }"),
        ("neither order nor reach", "cache = { destage = \"later\", read_ahead = \"tracks\", send_from = 101 }"),
    ]
    .iter()
    .map(|(title, keys)| match keys.starts_with("drive") {
        true => (*title, format!("[target]\n{keys}\n")),
        false => (*title, on_sata(&format!("{keys}\n"))),
    })
    .collect();
    let all = snapshot(&cases);
    insta::assert_snapshot!(all);
}

#[test]
fn sweeps_that_cannot_be() {
    let hundred: Vec<String> = (1..=100).map(|i| i.to_string()).collect();
    let hundred = hundred.join(", ");
    let grid = format!(
        "run.seed = [{hundred}]\nworkload.iodepth = [{hundred}]\nworkload.numjobs = [{hundred}]\n{DRIVE}"
    );
    let all = snapshot(&[
        ("empty", "[target]\nnull = {}\n[workload]\niodepth = []\nbs = []\n"),
        ("a list in a list", "[target]\nnull = {}\n[workload]\niodepth = [1, [2, 3]]\n"),
        (
            "one bad value",
            "[target]\nnull = {}\n[workload]\niodepth = [1, 0, \"x\"]\nbs = [\"4k\", \"5q\"]\n",
        ),
        ("values that contradict", "[target]\ndrive = \"wd-4tb-7200\"\nqueue = { depth = [64, 128] }\n"),
        (
            "a contradiction at every point",
            "[target]\nnull = {}\n[workload]\nbs = [\"3m\", \"1m\"]\nsize = [\"8k\", \"16k\"]\n",
        ),
        ("too large", &grid),
        (
            "a list where none can be",
            "name = [\"a\", \"b\"]\n[target]\nnull = {}\n[workload.job]\na = [{}, {}]\nb = [1, 2]\n",
        ),
    ]);
    insta::assert_snapshot!(all);
}

#[test]
fn overrides_that_cannot_be() {
    let mut out = String::new();
    for over in [
        ("iodepth", "4"),
        ("workload.iodpeth", "4"),
        ("workload.iodepth", "1,x,0"),
        ("workload.bs", "4096"),
        ("target.queue.order", "spft"),
        ("target.drive.seek.averge", "8ms"),
        ("target.drive.seek.average", "8"),
        ("workload..bs", "4k"),
        ("", "4k"),
        ("workload.iodepth", "1,2,"),
        ("workload.iodepth", "1:4"),
        ("workload.bs", "4k;8k"),
        ("workload.bs", ""),
        ("target.drive", "5"),
        ("workload.bs", "\"4k\"\nrun.seed = 4"),
        ("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r", "1"),
        ("target.drive.seek", "4"),
    ] {
        let text = "[target]\ndrive = \"seagate-st3250620as\"\n";
        let _ = write!(out, "=== {} = {}\n{}\n\n", over.0, over.1, problems(text, &[over]));
    }
    insta::assert_snapshot!(out);
}

/// An array of four 4 TB drives, and what is said of it beside.
pub fn array(keys: &str, beside: &str) -> String {
    on_sata(&format!("{beside}[target.array]\n{keys}\n"))
}

#[test]
fn arrays_that_cannot_be() {
    let cases: Vec<(&str, String)> = vec![
        ("nothing said", array("", "")),
        ("a level that is none", array("level = \"raid7\"\nmembers = 0\n", "")),
        ("words of others", array("level = \"raid5\"\ndisks = 4\nchunk_size = \"64k\"\n", "")),
        ("no drives", "[target.array]\nlevel = \"raid0\"\nmembers = 2\n".to_owned()),
        ("drives in two places", array("level = \"raid0\"\ndrives = [\"wd-wd360gd\"]\n", "")),
        (
            "drives in two ways",
            "target.array = { level = \"raid0\", members = 2, drives = [\"wd-wd360gd\", \"wd-nothing\"] }\n".to_owned(),
        ),
        ("a list of none", "target.array = { level = \"raid0\", drives = [] }\n".to_owned()),
        (
            "an array of no drives",
            "[target]\nnull = {}\narray = { level = \"raid0\", members = 2 }\n".to_owned(),
        ),
        ("too few for RAID 5", array("level = \"raid5\"\nmembers = 2\n", "")),
        ("too few for RAID 6 at all", array("level = \"raid6\"\nmembers = [2, 3]\n", "")),
        ("too few in each group", array("level = \"raid50\"\nmembers = 8\ngroups = 4\n", "")),
        ("groups that do not come out", array("level = \"raid60\"\nmembers = 9\n", "")),
        ("sets that do not come out", array("level = \"raid01\"\nmembers = 5\n", "")),
        ("one mirror", array("level = \"raid1\"\nmembers = 1\n", "")),
        (
            "more regions than a bitmap can have",
            array("level = \"raid5\"\nmembers = 4\nwrite_hole = \"bitmap\"\nbitmap_region = \"512B\"\n", ""),
        ),
        ("more copies than members", array("level = \"raid10\"\nmembers = 3\ncopies = 4\n", "")),
        (
            "stripe units that are none",
            array("level = \"raid0\"\nmembers = 2\nstripe_unit = [\"1000B\", \"0B\", \"2GiB\", 64]\n", ""),
        ),
        ("half a granule", array("level = \"raid5\"\nmembers = 4\nstripe_unit = \"6KiB\"\n", "")),
        ("a granule larger than its unit", array("level = \"raid5\"\nmembers = 4\nparity_granule = \"128KiB\"\n", "")),
        (
            "more than a member",
            "[target.drive]\nbase = \"wd-4tb-7200\"\ngeometry.capacity = \"1MB\"\n[target.array]\nlevel = \"raid0\"\nmembers = 2\nstripe_unit = \"16MiB\"\n".to_owned(),
        ),
        ("a rotation of copies", array("level = \"raid10\"\nmembers = 4\nlayout = \"left-symmetric\"\n", "")),
        ("a rotation of what stands", array("level = \"raid4\"\nmembers = 4\nlayout = \"left-symmetric\"\n", "")),
        ("copies of parity", array("level = \"raid6\"\nmembers = 4\nlayout = \"far\"\n", "")),
        ("a journal of copies", array("level = \"raid10\"\nmembers = 4\nwrite_hole = \"journal\"\n", "")),
        ("a log of one parity for two", array("level = \"raid6\"\nmembers = 4\nwrite_hole = \"ppl\"\n", "")),
        (
            "a pace that cannot be",
            array("level = \"raid5\"\nmembers = 4\nscrub_at = \"1s\"\nrebuild = { floor = \"9MB/s\", ceiling = \"1MB/s\", request = \"1000B\", idle_after = \"1s\" }\n", ""),
        ),
        (
            "spindles that are no spindles",
            array("level = \"raid0\"\nmembers = 2\nspindle_deviation = \"11%\"\nsplit_reads = true\n", ""),
        ),
        ("an empty pool", array("level = \"raidz1\"\nmembers = 4\nfill = \"0%\"\n", "")),
        (
            "records of part of a sector",
            array(
                "level = \"raidz2\"\nmembers = 5\nparity_granule = [\"4KiB\", \"1536B\"]\nrecord_size = \"6KiB\"\n",
                "",
            ),
        ),
        (
            "records larger than a command",
            array("level = \"raidz1\"\nmembers = 4\nlargest_request = \"64KiB\"\n", ""),
        ),
        (
            "a queue beyond the array",
            array("level = \"raid0\"\nmembers = 2\n[workload]\nattribute = \"ordered\"\npriority = \"high\"\n", ""),
        ),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}

#[test]
fn keys_of_arrays_that_change_nothing() {
    let cases: Vec<(&str, String)> = vec![
        (
            "what stripes and parity have",
            array(
                "level = \"raid1\"\nmembers = 2\nstripe_unit = \"64k\"\ngroups = 2\nlayout = \"near\"\npartial_writes = \"cheaper\"\nparity_rate = \"none\"\nparity_granule = \"4k\"\n",
                "",
            ),
        ),
        (
            "what copies have",
            array(
                "level = \"raid5\"\nmembers = 4\ncopies = 2\nread_choice = \"first\"\nsplit_reads = { from = \"1MiB\" }\n",
                "",
            ),
        ),
        (
            "what is rebuilt",
            array(
                "level = \"raid0\"\nmembers = 4\nspares = 1\nreplaced_after = \"1s\"\nscrub_at = \"1s\"\nresync_at = \"1s\"\nrebuild = {}\nwrite_hole = \"bitmap\"\n",
                "",
            ),
        ),
        (
            "what waits for a failure",
            array(
                "level = \"raid5\"\nmembers = 4\nspares = 1\nspare_drive = \"wd-4tb-7200\"\nreplaced_after = \"1s\"\nrebuild = {}\nrebuilding = true\n",
                "",
            ),
        ),
        (
            "how far a rebuild has come that does not begin with the run",
            array("level = \"raid5\"\nmembers = 4\nmissing = [0]\nrebuilt = \"30%\"\n", ""),
        ),
        (
            "a spare drive of no spare",
            array("level = \"raid5\"\nmembers = 4\nspare_drive = \"wd-4tb-7200\"\n", ""),
        ),
        (
            "a bitmap that is none",
            array(
                "level = \"raid5\"\nmembers = 4\nbitmap_region = \"1MiB\"\nbitmap_clears_after = \"1s\"\nrecord_size = \"64k\"\nfill = 50\n",
                "",
            ),
        ),
        ("spindles as one", array("level = \"raid3\"\nmembers = 4\nspindle_deviation = \"1%\"\n", "")),
        (
            "a share of what",
            array("level = \"raidz1\"\nmembers = 4\nfill = 0.8\n", "faults.read_errors = 0.001\n"),
        ),
        ("a pool in doubt", array("level = \"raidz1\"\nmembers = 4\nresync_at = \"1s\"\n", "")),
        ("a run until nothing", array("level = \"raid5\"\nmembers = 4\n[run]\nuntil = \"rebuilt\"\n", "")),
        ("a run until no array", on_sata("[run]\nuntil = \"rebuild\"\n")),
        (
            "after the end",
            array(
                "level = \"raid1\"\nmembers = 2\nscrub_at = \"61s\"\n[run]\nduration = [\"1s\", \"60s\"]\n",
                "faults.fail = [{ drive = 0, at = \"60s\" }]\n",
            ),
        ),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn arrays_whose_drives_cannot_be() {
    let raid5 = "level = \"raid5\"\nmembers = 4\n";
    let cases: Vec<(&str, String)> = vec![
        (
            "failures of one drive",
            on_sata(
                "faults = { fail = [{ drive = 0, at = \"1s\" }], bad_sectors = [[\"0B\", \"4k\", 1]] }\n",
            ),
        ),
        (
            "failures that are none",
            array(
                raid5,
                "faults.fail = [{ at = \"1s\" }, { drive = 0 }, { drive = 1, at = \"1s\", after = 4 }, { drive = -1, at = \"1s\" }]\n",
            ),
        ),
        ("failures at no time", array(raid5, "faults.fail = [{ at = \"1s\" }, { drive = 0 }, {}]\n")),
        (
            "drives that there are not",
            array(
                raid5,
                "faults = { fail = [{ drive = 4, at = \"1s\" }], bad_sectors = [[\"0B\", \"4k\", 4]] }\n",
            ),
        ),
        ("twice", array(raid5, "faults.fail = [{ drive = 1, at = \"1s\" }, { drive = 1, after = 9 }]\n")),
        (
            "what is missing anyway",
            array(
                "level = \"raid6\"\nmembers = 4\nmissing = [1, 1, 4]\n",
                "faults.fail = [{ drive = 1, at = \"1s\" }]\n",
            ),
        ),
        ("more missing than RAID 5 bears", array("level = \"raid5\"\nmembers = 4\nmissing = [0, 2]\n", "")),
        ("a pair missing", array("level = \"raid10\"\nmembers = 4\nmissing = [2, 3]\n", "")),
        ("one missing of what bears none", array("level = \"raid0\"\nmembers = 4\nmissing = [2]\n", "")),
        (
            "a spare that is too small",
            array(
                "level = \"raid5\"\nmembers = 4\nspares = 1\nspare_drive = \"wd-wd360gd\"\n",
                "faults.fail = [{ drive = 0, at = \"1s\" }]\n",
            ),
        ),
        (
            "too few ports",
            array("level = \"raid10\"\nmembers = 6\n", "controller = \"promise-fasttrak-s150-tx4\"\n"),
        ),
        (
            "a port for each, none for the spare and the journal",
            array(
                "level = \"raid5\"\nmembers = 4\nspares = 1\nwrite_hole = \"journal\"\nkept_by = \"host\"\nmissing = [0]\n",
                "controller = \"promise-sata150-tx4\"\n",
            ),
        ),
        (
            "a controller of no arrays",
            array(
                "level = \"raid0\"\nmembers = 4\nkept_by = \"controller\"\n",
                "controller = \"promise-sata150-tx4\"\n",
            ),
        ),
        (
            "a controller of other arrays",
            array("level = [\"raid6\", \"raid4\"]\nmembers = 4\n", "controller = \"intel-ich9r\"\n"),
        ),
        (
            "memory on the wrong side",
            array(
                "level = \"raid0\"\nmembers = 4\n",
                "controller = { interface = \"ahci\", cache = { size = \"1MiB\" } }\n",
            ),
        ),
        (
            "memory of a card that keeps it not",
            array(
                "level = \"raid5\"\nmembers = 4\nkept_by = \"host\"\n",
                "controller = \"broadcom-megaraid-9560-8i\"\n",
            ),
        ),
        (
            "a drive of the list that does not exist",
            "target.array = { level = \"raid0\", drives = [\"wd-wd360gd\", { base = \"wd-wd361gd\" }] }\n"
                .to_owned(),
        ),
    ];
    insta::assert_snapshot!(snapshot(&cases));
}
