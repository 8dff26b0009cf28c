//! From the keys to the description of an array, one for each level, and the settings of the method.
use super::laws::yearly;
use super::together::is_bare;
use super::typed::get;
use super::{Asked, Given, Question};
use crate::description::{Latent, Rebuild, Repair};
use crate::law::Law;
use crate::plan::Problem;
use crate::{Description, Method, Plan, Settings, check};
use drivelab_scenario::keys::At;
use drivelab_units::key;

/// A time that stands where none is known yet, or none is wanted.
const STAND_IN: Law = Law::Exponential { mean_hours: 1.0 };

pub(super) fn asked(mut given: Given) -> Asked {
    let levels = get(&given.raw.level).unwrap_or_default();
    given.check_missing(&levels);
    given.check_together(&levels);
    let questions: Vec<Question> = levels.iter().map(|level| given.question(level)).collect();
    let mut refused = Vec::new();
    if given.raw.members.is_some() {
        let found = |question: &Question| {
            Plan::check(question.array.clone()).and_then(|plan| check(&plan, &question.settings)).err()
        };
        refused.extend(questions.iter().filter_map(found).flatten());
    }
    // Where a value could not be read, another stands for it here.
    refused.retain(|problem| !given.is_wrong(&problem.place));
    given.problems.extend(refused);
    let is_sound = given.problems.is_empty();
    let ends = get(&given.raw.afr).unwrap_or_default().into_iter().skip(1).map(yearly).collect();
    Asked { levels, questions: if is_sound { questions } else { Vec::new() }, ends, problems: given.problems }
}

/// Whether a flag is set.
pub fn is_set(at: &Option<At<bool>>) -> bool {
    at.as_ref().is_some_and(|at| at.value)
}

impl Given {
    fn check_missing(&mut self, levels: &[String]) {
        let no_steps = get(&self.raw.rebuild).flatten().is_some_and(|steps| steps.is_empty());
        let mut missing = |key: &str, is_empty: bool, remedy: &str| {
            if (is_empty || !self.has(key)) && !self.is_wrong(key) {
                self.problems.push(Problem::of(key, "it is missing", remedy));
            }
        };
        missing("level", levels.is_empty(), "give one, raid6, or several, raid5,raid6");
        missing("members", false, concat!("give a number, ", key!("members", "8")));
        if levels.is_empty() || !levels.iter().all(|level| is_bare(level)) {
            missing(
                "rebuild",
                no_steps,
                "give how long one takes, 20h, by missing members, 20h,35h, or simulated, beside a load",
            );
        }
    }

    /// The question of a level. What is missing or could not be read has been recorded, and has a stand-in here.
    fn question(&self, level: &str) -> Question {
        let (raw, whole) = (&self.raw, &self.whole);
        let (name, layout) =
            level.split_once(':').map_or((level, None), |(name, layout)| (name, Some(layout)));
        let layout = layout.filter(|layout| !layout.is_empty()).map(str::to_owned);
        let array = Description {
            level: name.to_owned(),
            layout: layout.or_else(|| get(&raw.layout)),
            members: get(&raw.members).unwrap_or_default(),
            capacity_bytes: get(&whole.capacity).unwrap_or_default(),
            life_hours: get(&whole.life).unwrap_or_default(),
            drive: self.life_of_a_drive().unwrap_or(STAND_IN),
            repair: self.repair(),
            latent: self.latent(),
            batch: get(&raw.batch),
            common: get(&raw.common).unwrap_or_default(),
            outages: get(&raw.outage).unwrap_or_default(),
            wrong_drive: get(&whole.wrong_drive).unwrap_or_default(),
            copies: get(&raw.copies),
            groups: get(&raw.groups),
            parity: get(&raw.parity),
            width: get(&raw.width),
            spares: get(&raw.spares),
            stripes: get(&raw.stripes),
        };
        let settings = Settings {
            method: whole.method.as_ref().map_or(Method::Auto, |at| at.value),
            seed: get(&whole.seed).unwrap_or_default().into(),
            histories: get(&whole.histories).unwrap_or_default().into(),
            relative: get(&whole.error).unwrap_or_default(),
            every_loss: is_set(&raw.every_loss),
        };
        Question { array, settings }
    }

    fn life_of_a_drive(&self) -> Option<Law> {
        let raw = &self.raw;
        let mean = get(&raw.mttf).map(|mean_hours| Law::Exponential { mean_hours });
        get(&raw.afr).map(|rates| yearly(rates[0])).or(mean).or_else(|| get(&raw.drive_life))
    }

    fn repair(&self) -> Repair {
        let raw = &self.raw;
        let steps = get(&raw.rebuild).flatten().filter(|steps| !steps.is_empty());
        let stand_in = || vec![Rebuild { time: STAND_IN, low_hours: None, high_hours: None }];
        Repair {
            rebuild: steps.unwrap_or_else(stand_in),
            serial: is_set(&raw.serial),
            detection: get(&raw.detection),
            replacement: get(&raw.replacement),
            attended: get(&raw.attended),
        }
    }

    /// Unreadable sectors; a scrub can only find defects that exist before a rebuild reads them, so with one they arise
    /// with the reads of each day.
    fn latent(&self) -> Option<Latent> {
        let rate = get(&self.raw.ure).flatten();
        let mut found = Latent { arrival: get(&self.raw.latent), ..Latent::default() };
        if self.has("latent") || !self.has("scrub") {
            found.per_byte = rate;
        } else if let (Some(rate), Some(reads)) = (rate, get(&self.whole.reads)) {
            let per_hour = rate * reads / 24.0;
            found.arrival = Some(Law::Exponential { mean_hours: 1.0 / per_hour });
        }
        let is_any = found != Latent::default();
        is_any.then(|| Latent { scrub: get(&self.raw.scrub), ..found })
    }
}
