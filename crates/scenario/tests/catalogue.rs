//! The catalogue: every drive builds, meets its published figures, and says where each fact comes from.
use drivelab_core::target::drive::mechanism::Arm;
use drivelab_core::target::drive::params::DriveModel;
use drivelab_core::target::{Target, TargetInput, TargetParams};
use drivelab_core::{Access, Attribute, Command, Machine, Priority};
use drivelab_scenario::{NoFiles, Plan, Source, catalogue, plan};
use drivelab_units::{Angle, Instant, Lba, Sectors, parse};
use std::sync::Arc;

fn planned(text: &str) -> Plan {
    let source = Source { origin: "test.toml".to_owned(), text: text.to_owned() };
    plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"))
}

fn model(name: &str) -> Arc<DriveModel> {
    let plan = planned(&format!("[target]\ndrive = \"{name}\""));
    match &plan.points[0].setup.target {
        TargetParams::Drive(model) => Arc::clone(model),
        other => panic!("{name} is {other:?}"),
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
            "adaptec-29160" | "mylex-acceleraid-170" => assert_eq!(depths, (64, 1), "{}", controller.name),
            "intel-ich7r" | "intel-ich9r" => assert_eq!(depths, (1, 32), "{}", controller.name),
            _ => assert_eq!(depths, (1, 1), "{}", controller.name),
        }
    }
}

#[test]
fn capacities_are_the_published_ones() {
    for (name, sectors) in [
        ("samsung-f1-1tb", 1_953_525_168),
        ("seagate-10k-scsi-74gb", 143_374_744),
        ("seagate-cheetah-9lp", 17_783_240),
        ("seagate-st3250620as", 488_397_168),
        ("wd-4tb-7200", 7_725_673_570),
    ] {
        assert_eq!(model(name).capacity().get(), sectors, "{name}");
    }
}

#[test]
fn short_names_of_sources_are_explained_and_used() {
    let of = |kind: &'static str| catalogue::entries(kind).into_iter().map(move |entry| (kind, entry));
    for (kind, file) in catalogue::KINDS.into_iter().flat_map(of) {
        let table: toml::Table = file.text.parse().unwrap();
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
    let command = Command {
        id: 0,
        initiator: 0,
        logical_unit: 0,
        tag: 0,
        attribute: Attribute::Simple,
        priority: Priority::Normal,
        force_unit_access: false,
        direct: false,
        attempt: 0,
        process: 0,
        synchronous: true,
        access,
        first: Lba::new(0),
        count,
    };
    target.handle(Instant::ZERO, TargetInput::Submit(command));
    while let Some(due) = target.poll_timeout() {
        target.handle(due, TargetInput::Tick);
    }
    let transfer = target.poll_output().unwrap().breakdown.transfer;
    count.bytes().get() as f64 / (transfer.as_ns() as f64 / 1e9)
}

#[test]
fn the_outermost_zone_meets_the_published_rate_skews_included() {
    for (name, mib_per_s) in [("seagate-10k-scsi-74gb", 84.8), ("seagate-st3250620as", 78.4)] {
        let published = mib_per_s * 1_048_576.0;
        for access in [Access::Read, Access::Write] {
            let rate = outer_rate(model(name), access);
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

/// The angle that a drive file gives, plain or as a fact.
fn angle(file: &toml::Table, key: &str) -> Angle {
    let value = &file["skew"][key];
    parse::angle(value.get("value").unwrap_or(value).as_str().unwrap()).unwrap()
}

#[test]
fn no_drive_loses_a_revolution_at_a_switch() {
    for drive in catalogue::entries("drives") {
        let model = model(drive.name);
        let (file, first) = (drive.text.parse::<toml::Table>().unwrap(), Arm { cylinder: 0, head: 0 });
        for access in [Access::Read, Access::Write] {
            for (key, cylinder, head) in [("track", 0, 1), ("cylinder", 1, 0)] {
                let switch = model.mechanism.positioning(first, cylinder, head, access);
                let turn = u128::from(angle(&file, key).turn_bits());
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
