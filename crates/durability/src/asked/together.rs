//! Keys that do not go together: what is said twice, and what changes nothing with these levels or beside other keys.
use super::Given;
use super::laws::SIMULATED;
use super::question::is_set;
use super::table::LOADS;
use super::typed::get;
use crate::plan::Problem;
use drivelab_core::storage::array::levels::{LevelName, Uses};
use drivelab_units::Given as Ref;
use drivelab_units::key;

/// The ways to say how long a drive lives.
const LIVES: [(&str, &str); 3] =
    [("afr", key!("afr")), ("mttf", key!("mttf")), ("drive_life", key!("drive_life"))];

/// The most that may be missing from a group without loss, of a level where no other key decides; none of a level that
/// loses data with its first failure.
fn bears(level: &str) -> Option<u32> {
    match LevelName::of(level) {
        _ if is_bare(level) => Some(0),
        Some(name) => name.parities().map(u32::from),
        None => None,
    }
}

/// Whether the first failure of a level is a loss.
pub fn is_bare(level: &str) -> bool {
    level == "linear" || LevelName::of(level).is_some_and(|name| !name.uses(Uses::Redundancy))
}

/// The levels that have a key, of keys that not every level has.
fn users(key: &str) -> Vec<&'static str> {
    let named = |has: fn(LevelName) -> bool| LevelName::ALL.into_iter().filter(move |level| has(*level));
    let mut found: Vec<&str> = match key {
        "layout" => vec![LevelName::Raid10.name()],
        "copies" => named(|level| level.uses(Uses::CopyCount)).map(LevelName::name).collect(),
        "groups" => named(LevelName::has_groups).map(LevelName::name).chain(["lrc"]).collect(),
        "parity" => vec!["draid", "lrc"],
        _ => vec!["draid"],
    };
    found.sort_unstable();
    found
}

impl Given {
    fn wrong(&mut self, place: &str, message: impl Into<String>, remedy: impl Into<String>) {
        self.problems.push(Problem::of(place, message, remedy));
    }

    /// Records what does not go together with any of these levels.
    pub(super) fn check_together(&mut self, levels: &[String]) {
        let mut plain: Vec<&str> = levels.iter().filter_map(|level| level.split(':').next()).collect();
        plain.sort_unstable();
        plain.dedup();
        if !levels.is_empty() {
            self.check_users(levels, &plain);
            self.check_serial(&plain);
            self.check_steps(&plain);
        }
        self.check_lives();
        self.check_reads();
        self.check_scrub();
        self.check_load(&plain);
    }

    fn check_users(&mut self, levels: &[String], plain: &[&str]) {
        for key in ["layout", "copies", "groups", "parity", "width", "stripes"] {
            let users = users(key);
            if self.has(key) && !plain.iter().any(|level| users.contains(level)) {
                let message = format!("it changes nothing with {}", levels.join(", "));
                self.wrong(key, message, format!("it is of {}; leave it out", users.join(", ")));
            }
        }
    }

    /// Rebuilds share a rate only where several run at once.
    fn check_serial(&mut self, plain: &[&str]) {
        let is_serial = is_set(&self.raw.serial);
        let alone: Option<Vec<String>> = plain.iter().map(|level| self.never_concurrent(level)).collect();
        if let (true, Some(alone)) = (is_serial, alone) {
            let message =
                format!("it changes nothing with {}: a second failure is the loss", alone.join(", "));
            self.wrong("serial", message, "leave it out");
        }
    }

    /// The level in words if a second failure of its members is always the loss.
    fn never_concurrent(&self, level: &str) -> Option<String> {
        let name = LevelName::of(level);
        let has_groups = name.is_some_and(LevelName::has_groups);
        let is_copied = name.is_some_and(|name| name.uses(Uses::Copies));
        match bears(level) {
            Some(0) => Some(level.to_owned()),
            Some(1) if !has_groups => Some(level.to_owned()),
            Some(1) if get(&self.raw.groups) == Some(1) => Some(format!("{level} of one group")),
            None if is_copied && get(&self.raw.members) == Some(2) => Some(format!("{level} of 2 members")),
            _ => None,
        }
    }

    /// No rebuild begins with more missing members than a group bears.
    fn check_steps(&mut self, plain: &[&str]) {
        let Some(steps) = get(&self.raw.rebuild).flatten() else { return };
        let count = steps.len();
        let most = plain.iter().map(|level| bears(level).map_or(count, |bears| bears as usize)).max();
        let most = most.unwrap_or(count).max(1);
        if count > most {
            let names = plain.join(", ");
            let message =
                format!("{count} times, and no group of {names} is rebuilt with more than {most} missing");
            let problem = Problem::of("rebuild", message, format!("give {most}"));
            self.problems.push(Problem { item: Some(most), ..problem });
        }
    }

    fn check_lives(&mut self) {
        let given: Vec<_> = LIVES.into_iter().filter(|(key, _)| self.has(key)).collect();
        let remedy = concat!(
            "give one of ",
            key!("afr", "1.5%"),
            ", ",
            key!("mttf", "500000h"),
            " and ",
            key!("drive_life", "LAW")
        );
        match given[..] {
            [] => self.wrong("", "nothing says how often a drive fails", remedy),
            [_] => {}
            [(_, first), .., (last, _)] => self.wrong(last, format!("it says the same as {first}"), remedy),
        }
    }

    fn check_reads(&mut self) {
        let is_none = get(&self.raw.ure).is_some_and(|ure| ure.is_none());
        if !self.has("reads") || self.has("scrub") && !is_none && !self.has("latent") {
            return;
        }
        let (what, remedy) = if self.has("latent") {
            (concat!("beside ", key!("latent"), ", which is such a rate"), "leave it out")
        } else if is_none {
            (concat!("with ", key!("ure", "none")), "leave it out")
        } else {
            let remedy = concat!(
                "it makes a rate by the hour of ",
                key!("ure"),
                " for ",
                key!("scrub"),
                ": give ",
                key!("scrub", "1w"),
                ", or leave it out"
            );
            (concat!("without ", key!("scrub")), remedy)
        };
        self.wrong("reads", format!("it changes nothing {what}"), remedy);
    }

    /// Defects are given once, and a scrub finds some.
    fn check_scrub(&mut self) {
        let ure = get(&self.raw.ure);
        if self.has("latent") {
            if ure.flatten().is_some() {
                let message = "the same sectors are given for each byte read and by the hour";
                self.wrong("latent", message, concat!("give ", key!("ure"), " or ", key!("latent")));
            }
            return;
        }
        let has_defects = match (ure, get(&self.whole.reads)) {
            (Some(ure), Some(reads)) => ure.is_some_and(|rate| rate * reads / 24.0 > 0.0),
            _ => self.has("ure"),
        };
        if self.has("scrub") && !has_defects {
            let ure = key!("ure");
            let message =
                format!("it corrects nothing where {ure} is none, or {ure} or {} zero", key!("reads"));
            self.wrong("scrub", message, "leave it out");
        }
    }

    /// The load beside a simulated rebuild, and its drive.
    fn check_load(&mut self, plain: &[&str]) {
        let is_drive = self.has("drive");
        if is_drive && self.has("capacity") {
            let message = concat!("it changes nothing with ", key!("drive"), ", whose capacity counts");
            self.wrong("capacity", message, "leave it out");
        }
        if get(&self.raw.rebuild).is_none_or(|steps| steps.is_some()) {
            let is_asked = |key: &&str| self.has(key) && (*key != "sync" || is_set(&self.raw.sync));
            let idle: Vec<&str> = LOADS.into_iter().filter(is_asked).collect();
            for key in idle {
                let message = format!("it changes nothing without {}", Ref("rebuild", SIMULATED));
                self.wrong(key, message, "add it, or leave this out");
            }
            return;
        }
        let mut wrong = |message: String, remedy: &str| {
            let given = Some(SIMULATED.to_owned());
            self.problems.push(Problem { given, ..Problem::of("rebuild", message, remedy) });
        };
        if !is_drive {
            let remedy = concat!("give ", key!("drive", "NAME"), ", of the catalogue or a path");
            wrong("no drive is named".to_owned(), remedy);
        }
        for level in plain {
            if LevelName::of(level).is_none() {
                let message = format!("{level} is known to durability alone, and cannot be simulated");
                wrong(message, concat!("give its hours: ", key!("rebuild", "20h")));
            }
        }
    }
}
