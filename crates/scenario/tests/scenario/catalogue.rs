//! The catalogue: every drive builds, meets its published figures, and says where each fact comes from.
use drivelab_core::storage::drive::mechanism::Arm;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::{Target, TargetOutput, TargetParams};
use drivelab_core::{Access, Command, Machine};
use drivelab_scenario::{NoFiles, Plan, Source, catalogue, plan};
use drivelab_units::{Angle, Instant, Lba, Sectors, parse};
use std::sync::Arc;

fn planned(text: &str) -> Plan {
    let source = Source { origin: "test.toml".to_owned(), text: text.to_owned() };
    plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"))
}

fn table(text: &str) -> toml::Table {
    text.parse().unwrap()
}

fn model(name: &str) -> Arc<DriveModel> {
    model_with(name, "")
}

fn model_with(name: &str, keys: &str) -> Arc<DriveModel> {
    let plan = planned(&format!("[target]\ndrive = \"{name}\"\n{keys}"));
    match &plan.points[0].setup.target {
        TargetParams::Drive(model) => Arc::clone(model),
        // One of the two actuators behind one address range.
        TargetParams::System(system) => Arc::clone(&system.drives[0]),
        TargetParams::Server(_) | TargetParams::Wire(_) => panic!("{name} is no drive"),
    }
}

#[test]
fn every_drive_builds() {
    let drives = catalogue::entries("drives");
    assert!(drives.len() >= 3);
    for drive in drives {
        assert!(model(drive.name).capacity().get() > 0, "{}", drive.name);
    }
}

#[test]
fn every_fact_has_its_mark_and_its_source() {
    for (kind, least) in catalogue::KINDS.into_iter().zip([10, 4, 1]) {
        for entry in catalogue::entries(kind) {
            let facts = catalogue::facts(kind, entry.text);
            // A file that changes another has what it changes.
            let least = if table(entry.text).contains_key("base") { 1 } else { least };
            assert!(facts.len() > least, "{}", entry.path);
            for fact in facts {
                let whole =
                    fact.mark.is_some() && fact.source.as_ref().is_some_and(|source| source.len() > 1);
                assert!(whole, "{}: {} has no mark or no source", entry.path, fact.key);
            }
        }
    }
}

#[test]
fn every_controller_serves_a_drive_that_speaks_its_protocol() {
    let controllers = catalogue::entries("controllers");
    assert!(controllers.len() >= 7);
    for controller in controllers {
        let text =
            |drive: &str| format!("[target]\ndrive = \"{drive}\"\ncontroller = \"{}\"\n", controller.name);
        let in_force = |drive| planned(&text(drive)).points[0].in_force.clone().unwrap();
        let [scsi, sata] = ["seagate-10k-scsi-74gb", "wd-4tb-7200"].map(in_force);
        let depths = (scsi.depth, sata.depth);
        match controller.name {
            "adaptec-aha-29160" => assert_eq!(depths, (64, 1), "{}", controller.name),
            "mylex-acceleraid-170" => assert_eq!(depths, (7, 1), "{}", controller.name),
            name if name.starts_with("intel-") || name.starts_with("nvidia-") => {
                assert_eq!(depths, (1, 32), "{}", controller.name);
            }
            name if name.starts_with("promise-") => assert_eq!(depths, (1, 1), "{}", controller.name),
            // Today's adapters speak with each drive as the drive does.
            _ => assert_eq!(depths, (64, 32), "{}", controller.name),
        }
    }
}

#[test]
fn capacities_are_the_published_ones() {
    for (name, sectors) in [
        ("hgst-c15k600", 1_172_123_568),
        ("maxtor-maxline-iii", 586_114_704),
        ("samsung-f1-1tb", 1_953_525_168),
        ("samsung-sp2504c", 488_397_168),
        ("seagate-10k-scsi-74gb", 143_374_744),
        ("seagate-barracuda-7200-8", 781_422_768),
        ("seagate-cheetah-10k6-73gb", 143_374_744),
        ("seagate-cheetah-9lp", 17_783_240),
        ("seagate-exos-10e2400", 4_688_430_768),
        ("seagate-exos-x24-24tb", 46_875_541_504),
        ("seagate-st3250620as", 488_397_168),
        ("wd-4tb-7200", 7_725_673_570),
        ("wd-ultrastar-dc-hc580-24tb", 46_875_541_504),
        ("wd-wd2500", 488_397_168),
        ("wd-wd360gd", 72_303_840),
        ("wd-wd6400aaks-00a7b0", 1_250_263_728),
        ("wd-wd6400aaks-00a7b2", 1_250_263_728),
        ("wd-wd6400aaks-65a7b0", 1_250_263_728),
        ("wd-wd740gd-00fla0", 145_226_112),
        ("wd-wd740gd-00fla1", 145_226_112),
    ] {
        assert_eq!(model(name).capacity().get(), sectors, "{name}");
    }
}

#[test]
fn short_names_of_sources_are_explained_and_used() {
    let of = |kind: &'static str| catalogue::entries(kind).into_iter().map(move |entry| (kind, entry));
    for (kind, file) in catalogue::KINDS.into_iter().flat_map(of) {
        let table = table(file.text);
        let explained: Vec<&String> = table["sources"].as_table().unwrap().keys().collect();
        let facts = catalogue::facts(kind, file.text);
        let sources: Vec<String> = facts.into_iter().filter_map(|fact| fact.source).collect();
        for source in &sources {
            let first = source.split(':').next().unwrap();
            let short = first.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
            assert!(!short || explained.iter().any(|name| *name == first), "{}: {source}", file.path);
        }
        for name in explained {
            assert!(
                sources.iter().any(|source| source.starts_with(name.as_str())),
                "{}: {name} is unused",
                file.path
            );
        }
    }
}

/// Bytes per second of the media in one long access from the first block on.
fn outer_rate(model: Arc<DriveModel>, access: Access) -> f64 {
    let mut target = Target::new(&TargetParams::Drive(model), 1);
    let count = Sectors::new(1 << 18);
    let command = Command::new(0, access, Lba::new(0), count);
    target.take(Instant::ZERO, &command).unwrap();
    while let Some(due) = target.poll_timeout() {
        target.pass_to(due).unwrap();
    }
    let answer = target.poll_output().and_then(TargetOutput::completed);
    let transfer = answer.unwrap().breakdown.transfer;
    count.bytes().get() as f64 / (transfer.as_ns() as f64 / 1e9)
}

#[test]
fn the_outermost_zone_meets_the_published_rate_skews_included() {
    for (name, mb_per_s) in [
        ("seagate-10k-scsi-74gb", 84.8 * 1.048_576),
        ("seagate-barracuda-7200-8", 65.0),
        ("seagate-cheetah-10k6-73gb", 69.0),
        ("seagate-exos-10e2400", 266.0),
        ("seagate-exos-x24-24tb", 285.0),
        ("seagate-st3250620as", 78.4 * 1.048_576),
        ("wd-ultrastar-dc-hc580-24tb", 298.0),
        ("wd-wd360gd", 55.0),
        ("wd-wd740gd-00fla0", 72.0),
    ] {
        let published = mb_per_s * 1e6;
        for access in [Access::Read, Access::Write] {
            let rate = outer_rate(model_with(name, "write_cache = false"), access);
            assert!(
                (rate / published - 1.0).abs() < 2e-3,
                "{name}: {access:?} at {rate} instead of {published}"
            );
        }
    }
}

#[test]
fn the_4_tb_drive_meets_its_published_mean_seek() {
    // 7.45 ms over random pairs of cylinders, by the full curve of 1792 points; ours has thirteen of them.
    let mean = model("wd-4tb-7200").mechanism.seek.mean_of_random_pairs() / 1e6;
    assert!((mean / 7.45 - 1.0).abs() < 0.05, "{mean}");
}

/// The angle that a drive file gives, plain or as a fact, if it does not leave it to the times of a switch.
fn angle(file: &toml::Table, key: &str) -> Option<Angle> {
    let value = file.get("skew")?.get(key)?;
    Some(parse::angle(value.get("value").unwrap_or(value).as_str().unwrap()).unwrap())
}

#[test]
fn no_drive_loses_a_revolution_at_a_switch() {
    for drive in catalogue::entries("drives") {
        let model = model(drive.name);
        let (file, first) = (table(drive.text), Arm { cylinder: 0, head: 0 });
        for access in [Access::Read, Access::Write] {
            for (key, cylinder, head) in [("track", 0, 1), ("cylinder", 1, 0)] {
                let Some(angle) = angle(&file, key) else { continue };
                let switch = model.mechanism.positioning(first, cylinder, head, access);
                let turn = u128::from(angle.turn_bits());
                let skew = (turn * u128::from(model.period.as_ns())) >> 32;
                assert!(
                    skew >= u128::from(switch),
                    "{}: {key}: {skew} ns for {switch} ns, {access:?}",
                    drive.name
                );
            }
        }
    }
}

/// Mean seeks in milliseconds as data sheets have them, for reads and for writes.
#[test]
fn mean_seeks_are_those_of_the_data_sheets() {
    for (name, read, write) in [
        ("hgst-c15k600", 2.9, 3.1),
        ("seagate-barracuda-7200-8", 8.0, 9.0),
        ("seagate-cheetah-10k6-73gb", 4.7, 5.3),
        ("seagate-exos-10e2400", 3.8, 4.4),
        ("wd-ultrastar-dc-hc580-24tb", 7.4, 8.2),
        ("wd-wd740gd-00fla0", 4.5, 5.9),
    ] {
        let model = model(name);
        let mean = model.mechanism.seek.mean_of_random_pairs() / 1e6;
        assert!((mean / read - 1.0).abs() < 0.01, "{name}: {mean} instead of {read}");
        let far = Arm { cylinder: model.mechanism.geometry.cylinders() / 3, head: 0 };
        let [to_read, to_write] =
            [Access::Read, Access::Write].map(|access| model.mechanism.positioning(far, 0, 0, access) as f64);
        let settle = (to_write - to_read) / 1e6;
        assert!((settle - (write - read)).abs() < 1e-6, "{name}: writes take {settle} ms more");
    }
}
