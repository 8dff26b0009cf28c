//! The catalogue: every drive builds, meets its published figures, and says where each fact comes from.
use drivelab_core::target::TargetParams;
use drivelab_core::target::drive::params::DriveModel;
use drivelab_scenario::{NoFiles, Plan, Source, catalogue, plan};
use std::sync::Arc;

fn planned(text: &str) -> Plan {
    let source = Source { origin: "test.toml".to_owned(), text: text.to_owned() };
    plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"))
}

fn model(name: &str) -> Arc<DriveModel> {
    let plan = planned(&format!("[target]\ndrive = \"{name}\""));
    match &plan.points[0].setup.target {
        TargetParams::Drive(model) => Arc::clone(model),
        TargetParams::Server(_) => panic!("{name} is a drive"),
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
    for drive in catalogue::entries("drives") {
        let facts = catalogue::facts(drive.text);
        assert!(facts.len() > 10, "{}", drive.path);
        for fact in facts {
            let whole = fact.mark.is_some() && fact.source.as_ref().is_some_and(|source| source.len() > 1);
            assert!(whole, "{}: {} has no mark or no source", drive.path, fact.key);
        }
    }
}

#[test]
fn capacities_are_the_published_ones() {
    for (name, sectors) in [
        ("seagate-10k-scsi-74gb", 143_374_744),
        ("seagate-st3250620as", 488_397_168),
        ("wd-4tb-7200", 7_725_673_570),
    ] {
        assert_eq!(model(name).capacity().get(), sectors, "{name}");
    }
}
