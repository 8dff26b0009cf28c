//! What a scenario names: controllers and patterns by name, by path and written out, and what is laid over what.
use crate::common;
use crate::common::Files;
use drivelab_core::host::params::{Addressing, JobParams};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::link::params::BusParams;
use drivelab_scenario::{Plan, Problems, catalogue};
use drivelab_units::{Rate, Sectors, Share, Span, parse};
use std::sync::Arc;

const CARD: &str = "base = \"intel-ich9r\"\ndepth = 24\ntotal_depth = 16\nretries = 3\nrecovery = \"2ms\"\n\
                    issue = { value = \"5us\", mark = \"measured\", source = \"a bench\" }\n";
const MIXED: &str =
    "title = \"twice\"\npattern = \"iometer/workstation\"\niodepth = 8\nbssplit = \"8k/50:16k/50\"\n";

const FILES: Files = Files(&[
    ("cards/mine.toml", CARD),
    ("mixed.toml", MIXED),
    (
        "circle.toml",
        "pattern = \"circle.toml\"
",
    ),
    (
        "odd.toml",
        "rw = \"randread\"
rwmixread = 50
",
    ),
]);

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Problems> {
    common::read(text, overrides, &FILES)
}

fn planned(text: &str, overrides: &[(&str, &str)]) -> Plan {
    read(text, overrides).unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

fn on_drive(keys: &str) -> String {
    format!("[target]\ndrive = \"wd-4tb-7200\"\n{keys}\n")
}

fn systems(text: &str, overrides: &[(&str, &str)]) -> Vec<(Arc<DriveModel>, ControllerParams)> {
    let of = |target: &TargetParams| match target {
        TargetParams::System(system) => (Arc::clone(&system.drives[0]), system.controller),
        TargetParams::Drive(model) => (Arc::clone(model), ControllerParams::PLAIN),
        _ => panic!("the target is a drive"),
    };
    planned(text, overrides).points.iter().map(|point| of(&point.setup.target)).collect()
}

/// The job of a workload on the catalogue's drive.
fn job(workload: &str) -> JobParams {
    planned(&format!("target.drive = \"wd-4tb-7200\"\n[workload]\n{workload}\n"), &[]).points[0].setup.jobs[0]
        .clone()
}

fn percent(percent: u64) -> Share {
    parse::share(&format!("{percent}%")).unwrap()
}

fn sizes(job: &JobParams) -> Vec<(u64, u32)> {
    job.sizes.iter().map(|share| (share.size.get(), share.weight)).collect()
}

/// In thousandths of a sector.
fn mean(job: &JobParams) -> u64 {
    let total: u64 = job.sizes.iter().map(|share| u64::from(share.weight)).sum();
    job.sizes.iter().map(|share| share.size.get() * u64::from(share.weight) * 1_000).sum::<u64>() / total
}

#[test]
fn a_controller_is_the_same_by_name_and_written_out() {
    let named = "controller = \"intel-ich9r\"";
    let table = "controller = { interface = \"ahci\", ports = 6, link = { standard = \"sata-300\" } }";
    let based = "controller = { base = \"intel-ich9r\", identity = { model = \"mine\" } }";
    let hash = |keys: &str| planned(&on_drive(keys), &[]).hash;
    assert_eq!(hash(named), hash(table));
    assert_eq!(hash(named), hash(based));
    assert_ne!(hash(named), hash("controller = \"intel-ich7r\""));
    let swept = planned(&on_drive(""), &[("target.controller", "intel-ich9r,promise-sata150-tx4")]);
    let depths: Vec<u32> = swept.points.iter().map(|point| point.in_force.as_ref().unwrap().depth).collect();
    assert_eq!(depths, [32, 1]);
}

#[test]
fn a_key_beside_a_controllers_name_changes_a_copy_of_it() {
    let mine = on_drive("controller = \"cards/mine.toml\"");
    let (_, controller) = systems(&mine, &[])[0];
    assert_eq!((controller.issue, controller.completion), (Span::from_us(5), Span::from_us(2)));
    assert_eq!((controller.depth, controller.retries), (Some(16), 3));
    assert_eq!(controller.recovery, Span::from_ms(2));
    let (_, controller) = systems(&mine, &[("target.controller.issue", "9us")])[0];
    assert_eq!((controller.issue, controller.depth), (Span::from_us(9), Some(16)));
    let over = on_drive("controller = { base = \"cards/mine.toml\", total_depth = 20 }");
    assert_eq!(systems(&over, &[])[0].1.depth, Some(20));
}

#[test]
fn what_a_controllers_file_bounds_need_not_bind() {
    // Its depth is more than a drive behind another interface can tell apart, and nothing fails that it would retry.
    let other = on_drive("controller = { base = \"cards/mine.toml\", interface = \"legacy-ide\" }");
    assert_eq!(planned(&other, &[]).points[0].in_force.as_ref().unwrap().depth, 1);
    let own = on_drive("controller = { interface = \"legacy-ide\", depth = 24, retries = 3 }");
    assert!(read(&own, &[]).is_err());
}

#[test]
fn a_drive_and_its_port_agree_on_the_slower_rate() {
    let mb = |mb: u64| Rate::from_bytes_per_s(mb * 1_000_000);
    let rate = |keys: &str| systems(&on_drive(keys), &[])[0].0.link.rate;
    let own = rate("");
    assert!(own > mb(150));
    assert_eq!(rate("controller = \"promise-sata150-tx4\""), mb(150));
    assert_eq!(rate("controller.link.standard = \"sata-600\""), own);
    assert_eq!(rate("controller.link = { standard = \"sata-150\", rate = \"130MB/s\" }"), mb(130));
    assert_eq!(rate("controller = { base = \"promise-sata150-tx4\", link.rate = \"137MB/s\" }"), mb(137));
    // A standard of the scenario goes before the rate of the card that it changes.
    let text = on_drive("controller = \"promise-sata150-tx4\"");
    let [slow, fast] = &systems(&text, &[("target.controller.link.standard", "ata-66,ata-133")])[..] else {
        panic!("two points")
    };
    assert_eq!(
        (slow.0.link.rate, fast.0.link.rate),
        (Rate::from_bytes_per_s(66_666_667), Rate::from_bytes_per_s(133_333_333))
    );
}

#[test]
fn every_standard_of_links_has_its_rate() {
    let expected = [
        ("ata-66", 67),
        ("ata-100", 100),
        ("ata-133", 133),
        ("sata-150", 150),
        ("sata-300", 300),
        ("sata-600", 600),
        ("scsi-ultra160", 160),
        ("scsi-ultra320", 320),
        ("sas-3", 300),
        ("sas-6", 600),
        ("sas-12", 1_200),
    ];
    for (standard, mb_per_s) in expected {
        // The drive's own file gives a rate; the scenario's standard takes its place.
        let text = on_drive("")
            .replace("\"wd-4tb-7200\"", "{ base = \"wd-4tb-7200\", link.standard = \"STANDARD\" }");
        let rate = systems(&text.replace("STANDARD", standard), &[])[0].0.link.rate.unwrap();
        assert_eq!((rate.bytes_per_s() + 500_000) / 1_000_000, mb_per_s, "{standard}");
    }
    let both = "{ base = \"wd-4tb-7200\", link = { standard = \"sata-600\", rate = \"550MB/s\" } }";
    let text = on_drive("").replace("\"wd-4tb-7200\"", both);
    assert_eq!(systems(&text, &[])[0].0.link.rate, Rate::from_bytes_per_s(550_000_000));
}

/// The bus in force, with its rate in MB/s.
fn bus(keys: &str) -> (Option<u64>, BusParams) {
    let bus = systems(&on_drive(keys), &[])[0].1.bus.unwrap_or(BusParams::shared(None));
    (bus.rate.map(|rate| (rate.bytes_per_s() + 500_000) / 1_000_000), bus)
}

#[test]
fn every_standard_of_buses_has_its_rate() {
    let expected = [
        ("pci-32-33", 126, false),
        ("pci-32-66", 252, false),
        ("pci-64-66", 504, false),
        ("pcie-1x1", 216, true),
        ("pcie-2x4", 1_730, true),
        ("pcie-3x8", 6_812, true),
    ];
    for (standard, mb_per_s, full_duplex) in expected {
        let plain = BusParams { full_duplex, ..BusParams::shared(None) };
        for keys in
            [format!("bus = \"{standard}\""), format!("controller.bus = {{ standard = \"{standard}\" }}")]
        {
            let (rate, bus) = bus(&keys);
            assert_eq!((rate, BusParams { rate: None, ..bus }), (Some(mb_per_s), plain), "{keys}");
        }
    }
    assert_eq!(bus("").0, None);
}

#[test]
fn of_a_card_and_its_slot_the_slower_is_in_force() {
    assert_eq!(bus("controller = \"promise-sata150-tx4\"").0, Some(252));
    assert_eq!(bus("controller = \"promise-sata150-tx4\"\nbus = \"pci-32-33\"").0, Some(126));
    assert_eq!(bus("controller = \"promise-sata150-tx4\"\nbus = \"pci-64-66\"").0, Some(252));
    assert_eq!(bus("controller = { base = \"promise-sata150-tx4\", bus = \"pci-32-33\" }").0, Some(126));
    let text = on_drive("controller = \"promise-sata150-tx4\"");
    let swept = [("target.bus.rate", "100MB/s,300MB/s"), ("target.bus.standard", "pci-32-33,pcie-1x1")];
    let rates: Vec<u64> = systems(&text, &swept)
        .iter()
        .map(|(_, controller)| controller.bus.unwrap().rate.unwrap().bytes_per_s() / 1_000_000)
        .collect();
    assert_eq!(rates, [100, 100, 252, 252]);
}

#[test]
fn every_key_of_a_bus_arrives() {
    let keys =
        "bus = { rate = \"90MB/s\", fixed = \"2us\", burst = \"64KiB\", full_duplex = true, holds = true }";
    let expected = BusParams {
        rate: Rate::from_bytes_per_s(90_000_000),
        write_rate: None,
        fixed: Span::from_us(2),
        burst: Some(Sectors::new(128)),
        full_duplex: true,
        holds: true,
    };
    assert_eq!(bus(keys).1, expected);
}

#[test]
fn the_patterns_have_the_published_shares_and_means() {
    let server = job("pattern = \"iometer/file-server\"");
    assert_eq!(sizes(&server), [(1, 10), (2, 5), (4, 5), (8, 60), (16, 2), (32, 4), (64, 4), (128, 10)]);
    assert_eq!(
        (mean(&server), server.addressing, server.align),
        (22_160, Addressing::Random, Sectors::new(1))
    );
    assert_eq!(server.reads, percent(80));
    // Twice every size: 22.16 KiB instead of 22.16 sectors.
    let larger = job("pattern = \"iometer/file-server-22k\"");
    assert_eq!((mean(&larger), larger.reads), (2 * 22_160, server.reads));
    let web = job("pattern = \"iometer/web-server\"");
    assert_eq!((mean(&web), web.reads), (31_320, Share::ALL));
    let database = job("pattern = \"iometer/database\"");
    assert_eq!((mean(&database), database.reads), (16_000, percent(67)));
    let station = job("pattern = \"iometer/workstation\"");
    let random = percent(80);
    assert_eq!(
        (mean(&station), station.addressing),
        (16_000, Addressing::Mixed { random, random_writes: random })
    );
}

#[test]
fn a_pattern_is_the_same_by_name_and_written_out() {
    let hash = |workload: &str| {
        planned(&format!("target.drive = \"wd-4tb-7200\"\n[workload]\n{workload}\n"), &[]).hash
    };
    let named = hash("pattern = \"iometer/database\"\niodepth = 4");
    assert_eq!(named, hash("rw = \"randrw\"\nrwmixread = 67\nbs = \"8k\"\niodepth = 4"));
    assert_ne!(named, hash("pattern = \"iometer/database\"\niodepth = 4\nbs = \"16k\""));
    let file = hash("pattern = \"mixed.toml\"");
    let written =
        "rw = \"randrw\"\nrwmixread = 80\npercentage_random = 80\nbssplit = \"8k/50:16k/50\"\niodepth = 8";
    assert_eq!(file, hash(written));
}

#[test]
fn keys_beside_a_pattern_go_before_it() {
    let small = job("pattern = \"iometer/file-server\"\nbs = \"4k\"");
    assert_eq!(sizes(&small), [(8, 1)]);
    // What the pattern says of a mix gives way where there is none.
    let reads = job("pattern = \"iometer/file-server\"\nrw = \"randread\"");
    assert_eq!((reads.reads, mean(&reads)), (Share::ALL, 22_160));
    let sequential = job("pattern = \"iometer/workstation\"\nrw = \"read\"");
    assert_eq!(sequential.addressing, Addressing::Sequential);
}

#[test]
fn jobs_have_patterns_of_their_own_over_the_workloads() {
    let text = "target.drive = \"wd-4tb-7200\"\n[workload]\npattern = \"iometer/web-server\"\nbs = \"64k\"\n\
                iodepth = 4\n[workload.job.a]\n[workload.job.b]\npattern = \"iometer/database\"\niodepth = 2\n\
                [workload.job.c]\npattern = \"iometer/file-server\"\nrw = \"randwrite\"\n";
    let jobs = &planned(text, &[]).points[0].setup.jobs;
    assert_eq!((mean(&jobs[0]), jobs[0].reads), (128_000, Share::ALL));
    assert_eq!((mean(&jobs[1]), jobs[1].reads), (16_000, percent(67)));
    assert_eq!((mean(&jobs[2]), jobs[2].reads), (22_160, Share::NONE));
}

#[test]
fn a_list_of_patterns_is_a_sweep() {
    let all: Vec<&str> = catalogue::entries("workloads").iter().map(|entry| entry.name).collect();
    assert!(all.len() >= 5 && all.contains(&"iometer/file-server"));
    let swept =
        planned("target.null = {}\nworkload.rate_iops = 100", &[("workload.pattern", &all.join(","))]);
    assert_eq!(swept.points.len(), all.len());
    assert_eq!(swept.points[1].axes[0].1, all[1]);
}

#[test]
fn names_that_are_unknown_are_reported() {
    let errors = |text: &str| {
        let problems = read(text, &[]).unwrap_err().0;
        problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>()
    };
    let workload = |keys: &str| errors(&format!("target.drive = \"wd-4tb-7200\"\n[workload]\n{keys}\n"));
    // Nothing is said of keys that may be right beside the pattern that was meant.
    let unknown =
        workload("pattern = \"iometer/fileserver\"\nrwmixread = 50\n[workload.job.a]\npattern = \"x.toml\"");
    assert_eq!(
        unknown,
        [
            "the catalogue has no pattern \"iometer/fileserver\"",
            "cannot read the pattern file \"x.toml\": no such file"
        ]
    );
    assert_eq!(workload("pattern = \"circle.toml\""), ["the pattern \"circle.toml\" is based on itself"]);
    assert_eq!(workload("pattern = \"odd.toml\""), ["`rwmixread` has no effect with rw = \"randread\""]);
    assert_eq!(workload("pattern = 4\nrwmixread = 50"), ["a whole number where a text in quotes is wanted"]);
    let beside = workload("pattern = \"iometer/database\"\ncommands = [{}]");
    assert_eq!(beside, ["`pattern` has no effect beside `commands`"]);
    assert_eq!(
        errors(&on_drive("controller = \"intel-ich8r\"")),
        ["the catalogue has no controller \"intel-ich8r\""]
    );
    assert_eq!(errors(&on_drive("controller = 4")), ["a whole number where a controller is wanted"]);
    assert_eq!(
        errors("target = { null = {}, controller = \"intel-ich9r\" }"),
        ["`controller` needs a drive; this target has none"]
    );
}

#[test]
fn writes_may_have_a_rate_of_their_own() {
    let mb = |mb: u64| Rate::from_bytes_per_s(mb * 1_000_000);
    let rates = |keys: &str, read: &str, write: &str| {
        let overrides = [("target.drive.link.rate", read), ("target.drive.link.write_rate", write)];
        let link = systems(&on_drive(keys), &overrides)[0].0.link;
        (link.rate, link.write_rate)
    };
    assert_eq!(rates("", "90MB/s", "60MB/s"), (mb(90), mb(60)));
    // What is the same as for reads is no rate of its own, and a slower port holds for both.
    assert_eq!(rates("", "90MB/s", "90MB/s"), (mb(90), None));
    let port = "controller.link = { standard = \"sata-150\", rate = \"70MB/s\" }";
    assert_eq!(rates(port, "90MB/s", "60MB/s"), (mb(70), mb(60)));
    assert_eq!(rates(port, "90MB/s", "80MB/s"), (mb(70), None));
}
