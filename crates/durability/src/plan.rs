//! A checked array: all errors of a description are reported at once, each with its place and remedy.
use crate::arrangement::{Arrangement, Rule};
use crate::description::{Description, Rebuild};
use crate::law::Law;
use crate::shape::Shape;
use serde::Serialize;
use std::fmt;

/// The most members of an array, which limits the time of a run.
pub const MEMBERS_MAX: u32 = 1024;

/// An error of a description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The key of the description.
    pub place: String,
    /// Which item of its list.
    pub item: Option<usize>,
    /// The key itself, not its value.
    pub is_key: bool,
    /// What of its value is wrong, as it was typed.
    pub given: Option<String>,
    pub message: String,
    /// Empty where the message says it.
    pub remedy: String,
}

impl Problem {
    /// A problem of a key's whole value.
    pub fn of(place: &str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (place, message, remedy) = (place.to_owned(), message.into(), remedy.into());
        Problem { place, item: None, is_key: false, given: None, message, remedy }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.message, self.remedy)
    }
}

/// A consistent array that can be run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub about: Description,
    pub arrangement: Arrangement,
    /// The cell of each member.
    pub cell_of: Vec<u16>,
    /// The mean hours of a rebuild with one member missing, two, ...
    pub rebuild_means: Vec<f64>,
}

impl Plan {
    /// Checks a description.
    ///
    /// # Errors
    /// All errors of the description.
    pub fn check(about: Description) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems(Vec::new());
        let arrangement = Shape::of(&about).arranged(&mut problems);
        checked_repair(&about, &mut problems);
        let Some(arrangement) = arrangement else { return Err(problems.0) };
        if !problems.0.is_empty() {
            return Err(problems.0);
        }
        let cells = (0u16..).zip(&arrangement.cells);
        let cell_of = cells.flat_map(|(cell, &size)| (0..size).map(move |_| cell)).collect();
        let about = simplified(about);
        let rebuild_means = about.repair.rebuild.iter().map(|step| step.time.mean()).collect();
        Ok(Plan { about, arrangement, cell_of, rebuild_means })
    }

    /// The usable capacity in bytes.
    pub fn usable_bytes(&self) -> f64 {
        let members = f64::from(self.arrangement.members());
        let cells = &self.arrangement.cells;
        let drives = match self.arrangement.rule {
            Rule::Bears(bears) => cells.iter().map(|size| f64::from(size - bears)).sum(),
            Rule::EveryCell => f64::from(cells[0]),
            Rule::Arc(_) => members / f64::from(Shape::of(&self.about).copies),
            Rule::Local { .. } => self.arrangement.at_stake_drives(0),
            Rule::Declustered { width, bears, .. } => members * f64::from(width - bears) / f64::from(width),
        };
        drives * self.about.capacity_bytes
    }

    /// The rebuild time of a group with this number of missing members.
    pub fn rebuild(&self, missing: u32) -> &Law {
        let steps = &self.about.repair.rebuild;
        &steps[(missing.max(1) as usize).min(steps.len()) - 1].time
    }

    /// The mean of this rebuild time in hours.
    pub fn rebuild_mean(&self, missing: u32) -> f64 {
        self.rebuild_means[(missing.max(1) as usize).min(self.rebuild_means.len()) - 1]
    }

    /// The same array with rebuild times at one end of their intervals; `None` if there is no interval.
    pub fn at_end(&self, end: impl Fn(&Rebuild) -> Option<f64>) -> Option<Self> {
        let mut other = self.clone();
        let mut differs = false;
        for step in &mut other.about.repair.rebuild {
            if let Some(hours) = end(step) {
                step.time = step.time.scaled(hours / step.time.mean());
                // Rounding may leave the new mean outside of the interval, which is no longer needed.
                (step.low_hours, step.high_hours) = (None, None);
                differs = true;
            }
        }
        other.rebuild_means = other.about.repair.rebuild.iter().map(|step| step.time.mean()).collect();
        differs.then_some(other)
    }
}

/// Simplifies the laws, so that a chain is found if there is one.
fn simplified(mut about: Description) -> Description {
    about.drive = about.drive.simplest();
    about.repair.detection = about.repair.detection.map(Law::simplest);
    about.repair.replacement = about.repair.replacement.map(Law::simplest);
    for step in &mut about.repair.rebuild {
        step.time = step.time.clone().simplest();
    }
    about
}

pub(crate) struct Problems(pub(crate) Vec<Problem>);

impl Problems {
    pub(crate) fn hold(&mut self, holds: bool, place: &str, message: impl Into<String>, remedy: &str) {
        if !holds {
            self.0.push(Problem::of(place, message, remedy));
        }
    }
}

fn checked_repair(about: &Description, problems: &mut Problems) {
    let repair = &about.repair;
    let longest = repair.rebuild.iter().map(|step| step.time.mean()).fold(0.0, f64::max);
    let parts = [
        ("detection", repair.detection().mean()),
        ("replacement", repair.replacement().mean()),
        ("rebuild", longest),
    ];
    let whole = parts.iter().map(|(_, hours)| hours).sum::<f64>();
    let most = parts.iter().max_by(|one, other| one.1.total_cmp(&other.1)).map_or("rebuild", |part| part.0);
    let message = format!("a repair of {whole} h is longer than the life of {} h", about.life_hours);
    problems.hold(
        whole <= about.life_hours,
        most,
        message,
        &format!("give a shorter {most} or a longer life"),
    );
}
