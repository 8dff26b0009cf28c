//! A checked array: all errors of a description are reported at once, each with its place and remedy.
use crate::arrangement::{Arrangement, Rule};
use crate::description::{Description, Rebuild};
use crate::law::Law;
use crate::shape::Shape;
use drivelab_units::key;
use serde::Serialize;
use std::fmt;

/// The most members of an array, which limits the time of a run.
pub const MEMBERS_MAX: u32 = 1024;

/// An error of a description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The key of the description.
    pub place: String,
    pub message: String,
    pub remedy: String,
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
        checked_times(&about, &mut problems);
        checked_causes(&about, &mut problems);
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
            Rule::Arc(_) => members / f64::from(self.about.copies),
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
    about.repair.detection = about.repair.detection.simplest();
    about.repair.replacement = about.repair.replacement.simplest();
    for step in &mut about.repair.rebuild {
        step.time = step.time.clone().simplest();
    }
    about
}

pub(crate) struct Problems(pub(crate) Vec<Problem>);

impl Problems {
    pub(crate) fn hold(&mut self, holds: bool, place: &str, message: impl Into<String>, remedy: &str) {
        if !holds {
            let (place, remedy) = (place.to_owned(), remedy.to_owned());
            self.0.push(Problem { place, message: message.into(), remedy });
        }
    }

    fn positive(&mut self, value: f64, place: &str, remedy: &str) {
        self.hold(value.is_finite() && value > 0.0, place, format!("{value} is not above zero"), remedy);
    }

    fn share(&mut self, value: f64, place: &str) {
        let remedy = "give a chance between 0 and 1, or a percentage: 2%";
        self.hold((0.0..=1.0).contains(&value), place, format!("{value} is no chance"), remedy);
    }

    fn law(&mut self, law: &Law, place: &str, zero: bool) {
        let remedy = "give a time such as 20h, or weibull:1.12:461386h";
        match law {
            Law::Exponential { mean_hours } => self.positive(*mean_hours, place, remedy),
            Law::Weibull { shape, scale_hours, location_hours } => {
                self.positive(
                    *shape,
                    place,
                    "the shape of a Weibull law is above zero, 1 for constant hazard",
                );
                self.positive(*scale_hours, place, remedy);
                let fits = location_hours.is_finite() && *location_hours >= 0.0;
                self.hold(fits, place, format!("a location of {location_hours} h"), "it is 0h or later");
                let steep = *shape >= 0.05 && *shape <= 1000.0;
                self.hold(
                    steep || *shape <= 0.0,
                    place,
                    format!("a shape of {shape}"),
                    "it lies between 0.05 and 1000",
                );
            }
            Law::Fixed { hours } => {
                let fits = hours.is_finite() && (*hours > 0.0 || zero && *hours == 0.0);
                self.hold(fits, place, format!("{hours} h is no time"), remedy);
            }
            Law::Uniform { low_hours, high_hours } => {
                let fits = *low_hours >= 0.0
                    && high_hours.is_finite()
                    && low_hours <= high_hours
                    && *high_hours > 0.0;
                let message = format!("{low_hours} h to {high_hours} h is no span");
                self.hold(fits, place, message, "give the shorter time first: uniform:0h:336h");
            }
            Law::Survival { points } => self.survival(points, place),
        }
    }

    fn survival(&mut self, points: &[(f64, f64)], place: &str) {
        self.hold(
            !points.is_empty(),
            place,
            "a survival table without rows",
            "give (age, share that survives)",
        );
        let mut before = (0.0, 1.0);
        for &(age, share) in points {
            let fits = age.is_finite() && age > before.0 && share > 0.0 && share <= before.1;
            let message = format!("after ({} h, {}) comes ({age} h, {share})", before.0, before.1);
            self.hold(fits, place, message, "ages rise, and shares fall from 1 and stay above 0");
            before = (age, share);
        }
    }
}

fn checked_times(about: &Description, problems: &mut Problems) {
    problems.positive(about.capacity_bytes, "capacity", "give what a drive holds: 16TB");
    problems.positive(about.life_hours, "life", "give the years that the array is used: 5y");
    let years = about.life_hours / crate::HOURS_PER_YEAR;
    let fits = (1.0..=1000.0).contains(&years) || years.is_nan() || years <= 0.0;
    let found = if years < 1e9 { format!("{years:.3} years") } else { format!("{years:.3e} years") };
    problems.hold(fits, "life", found, "give 1y at least and 1000y at most");
    problems.law(&about.drive, "drive", false);
    let repair = &about.repair;
    problems.law(&repair.detection, "detection", true);
    problems.law(&repair.replacement, "replacement", true);
    problems.hold(!repair.rebuild.is_empty(), "rebuild", "it is missing", "give how long one takes: 20h");
    for step in &repair.rebuild {
        problems.law(&step.time, "rebuild", false);
        checked_interval(step, problems);
    }
    let longest = repair.rebuild.iter().map(|step| step.time.mean()).fold(0.0, f64::max);
    let parts = [
        ("detection", repair.detection.mean()),
        ("replacement", repair.replacement.mean()),
        ("rebuild", longest),
    ];
    let whole = parts.iter().map(|(_, hours)| hours).sum::<f64>();
    let most = parts.iter().max_by(|one, other| one.1.total_cmp(&other.1)).map_or("rebuild", |part| part.0);
    let message = format!("a repair of {whole} h is longer than the life of {} h", about.life_hours);
    problems.hold(
        whole.is_nan() || whole <= about.life_hours || about.life_hours <= 0.0,
        most,
        message,
        &format!("give a shorter {most} or a longer life"),
    );
    if let Some(attended) = &repair.attended {
        let fits = attended.hours_per_day > 0.0 && attended.hours_per_day <= 24.0;
        problems.hold(
            fits,
            "attended",
            format!("{} hours a day", attended.hours_per_day),
            "give 24 at most and above 0",
        );
        let fits = (1..=7).contains(&attended.days_per_week);
        problems.hold(fits, "attended", format!("{} days a week", attended.days_per_week), "give 1 to 7");
    }
}

fn checked_interval(step: &Rebuild, problems: &mut Problems) {
    let mean = step.time.mean();
    let low = step.low_hours.unwrap_or(mean);
    let high = step.high_hours.unwrap_or(mean);
    let message = format!("the interval {low} h to {high} h does not hold the mean of {mean} h");
    let fits = low > 0.0 && low <= mean && mean <= high && high.is_finite();
    let is_time = mean.is_finite() && mean > 0.0;
    problems.hold(fits || !is_time, "rebuild", message, "give the low end first, then the high one");
}

fn checked_causes(about: &Description, problems: &mut Problems) {
    problems.share(about.wrong_drive, "wrong-drive");
    if let Some(batch) = &about.batch {
        problems.share(batch.share, "batch");
        problems.positive(batch.factor, "batch", "give how many times as fast the drives age: 5");
    }
    if let Some(spares) = about.spares {
        problems.hold(spares <= 64, "spares", format!("{spares} spares"), "give 64 at most");
    }
    for common in &about.common {
        problems.share(common.share, "common");
        problems.positive(common.mean_hours, "common", "give the mean time between events: 20y");
    }
    for outage in &about.outages {
        problems.positive(outage.mttf_hours, "outage", "give the mean time between failures: 500000h");
        let fits = outage.mttr_hours.is_finite() && outage.mttr_hours >= 0.0;
        problems.hold(
            fits,
            "outage",
            format!("a repair of {} h", outage.mttr_hours),
            "give its mean time: 8h",
        );
    }
    let Some(latent) = &about.latent else { return };
    if let Some(rate) = latent.per_byte {
        let fits = (0.0..=1.0).contains(&rate);
        problems.hold(
            fits,
            "ure",
            format!("{rate} for each byte is no chance"),
            "give a rate such as 1e-15/bit",
        );
    }
    let both = latent.per_byte.is_some() && latent.arrival.is_some();
    problems.hold(
        !both,
        "latent",
        "the same sectors are given for each byte read and by the hour",
        concat!("give ", key!("ure"), " or ", key!("latent")),
    );
    let alone = latent.scrub.is_some() && latent.arrival.is_none();
    problems.hold(
        !alone,
        "scrub",
        "it corrects nothing without latent defects by the hour",
        concat!("give ", key!("ure"), " or ", key!("latent"), " as well"),
    );
    for (law, place) in [(&latent.arrival, "latent"), (&latent.scrub, "scrub")] {
        if let Some(law) = law {
            problems.law(law, place, false);
        }
    }
}
