//! The room as others use it: chains against closed forms and published values, histories against chains.
mod chains;
mod docs;
mod errors;
mod histories;
mod properties;
mod sets;

use drivelab_durability::description::{Description, Rebuild, Repair};
use drivelab_durability::law::Law;
use drivelab_durability::{Method, Outcome, Plan, Settings, solve};

/// Histories of a test: a third of `count`, all of them with `DRIVELAB_THOROUGH` (`make fuzz`).
pub fn many(count: u64) -> u64 {
    if std::env::var_os("DRIVELAB_THOROUGH").is_some() { count } else { count / 3 }
}

/// Exponential drives and repairs.
pub fn exponential(level: &str, members: u32, mttf: f64, rebuild: f64) -> Description {
    Description {
        level: level.into(),
        layout: None,
        members,
        capacity_bytes: 16e12,
        life_hours: 10.0 * 8760.0,
        drive: Law::Exponential { mean_hours: mttf },
        repair: Repair {
            rebuild: vec![Rebuild {
                time: Law::Exponential { mean_hours: rebuild },
                low_hours: None,
                high_hours: None,
            }],
            serial: false,
            detection: None,
            replacement: None,
            attended: None,
        },
        latent: None,
        batch: None,
        common: vec![],
        outages: vec![],
        wrong_drive: 0.0,
        copies: None,
        groups: None,
        parity: None,
        width: None,
        spares: None,
        stripes: None,
    }
}

pub fn settings(method: Method, histories: u64) -> Settings {
    Settings { method, seed: 1, histories, relative: 1e-9, every_loss: false }
}

pub fn solved(about: Description, method: Method, histories: u64) -> Outcome {
    let plan = Plan::check(about).unwrap_or_else(|problems| panic!("{problems:?}"));
    solve(&plan, &settings(method, histories)).unwrap_or_else(|problems| panic!("{problems:?}"))
}
