//! How likely an array loses data, for the page as for `drivelab durability`: the same keys, the same solver.
use drivelab_durability::asked::asked;
use drivelab_durability::law::Law;
use drivelab_durability::monte_carlo::{CHUNK, ChunkRunner, Histories, Job, Workers, chunks};
use drivelab_durability::{Outcome, Plan, Problem, Shape, solve_with};
use drivelab_scenario::text::problem::Place;
use drivelab_scenario::text::tree::{Node, Value};
use drivelab_units::InFile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The losses of a level.
#[derive(Serialize)]
pub struct Losses {
    #[serde(flatten)]
    outcome: Outcome,
    /// The least and the most of the chance in a year over the interval of the failure rate; `None` if it has none.
    loss_in_a_year_over_failures: Option<Ends>,
}

#[derive(Serialize)]
struct Ends {
    low: f64,
    high: f64,
}

/// What is wrong with a key, for a form: the key, what of its value is wrong, why, and what would be right.
#[derive(Serialize)]
pub struct Wrong {
    key: String,
    given: Option<String>,
    message: String,
    remedy: String,
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Self {
        let shown = |text: &str| InFile(text).to_string();
        let (message, remedy) = (shown(&problem.message), shown(&problem.remedy));
        Wrong { key: problem.place, given: problem.given, message, remedy }
    }
}

/// The losses of each level of a question, by the keys of a file of `drivelab durability`.
///
/// # Errors
/// All that is wrong with the question.
pub fn losses(keys: Map<String, Json>, progress: &(dyn Fn(f64) + Sync)) -> Result<Vec<Losses>, Vec<Wrong>> {
    let found = asked(keys.into_iter().map(|(key, given)| (key, value(given))).collect());
    if !found.problems.is_empty() {
        return Err(found.problems.into_iter().map(Wrong::from).collect());
    }
    let of_level = |question: drivelab_durability::asked::Question| {
        let histories = question.settings.histories.div_ceil(CHUNK);
        let runner = Here { progress, chunks: histories, done: AtomicU64::new(0) };
        let workers = Workers { runner: Some(&runner), stop: &AtomicBool::new(false) };
        let solved = |drive: Option<&Law>| {
            let mut array = question.array.clone();
            array.drive = drive.unwrap_or(&array.drive).clone();
            Plan::check(array).and_then(|plan| solve_with(&plan, &question.settings, workers))
        };
        let outcome = solved(None)?;
        let mut over: Option<Ends> = None;
        for end in &found.ends {
            let year = solved(Some(end))?.loss_in_a_year;
            let whole =
                over.unwrap_or(Ends { low: outcome.loss_in_a_year.low, high: outcome.loss_in_a_year.high });
            over = Some(Ends { low: whole.low.min(year.low), high: whole.high.max(year.high) });
        }
        Ok(Losses { outcome, loss_in_a_year_over_failures: over })
    };
    let solved: Result<_, Vec<Problem>> = found.questions.clone().into_iter().map(of_level).collect();
    solved.map_err(|problems| problems.into_iter().map(Wrong::from).collect())
}

/// A value of a form or of a link, as the reader of keys takes it; anything else is no value of a key.
fn value(given: Json) -> Value {
    match given {
        Json::Bool(flag) => Value::Flag(flag),
        Json::String(text) => Value::Text(text),
        Json::Number(number) => Value::Decimal(number.to_string()),
        Json::Array(items) => {
            let node = |one| Node { place: Place::default(), value: value(one) };
            Value::List(items.into_iter().map(node).collect())
        }
        Json::Null | Json::Object(_) => Value::Date,
    }
}

/// Histories, one chunk after the other, so that the share of them that is done is known between chunks.
struct Here<'a> {
    progress: &'a (dyn Fn(f64) + Sync),
    /// The most chunks that one method runs.
    chunks: u64,
    done: AtomicU64,
}

impl ChunkRunner for Here<'_> {
    fn run(&self, job: &Job, from: u64, to: u64) -> Option<Vec<Histories>> {
        let plan = Plan::check(job.array.clone()).ok()?;
        let mut found = Vec::new();
        for one in from..to {
            found.extend(chunks(&plan, job.way, job.seed, one, one + 1));
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)((done as f64 / self.chunks.max(1) as f64).min(1.0));
        }
        Some(found)
    }
}

/// Members that may make a level.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Members {
    level: String,
    members: u32,
    copies: u32,
    groups: u32,
    #[serde(default)]
    layout: Option<String>,
}

/// How many members of a level may fail: whichever they are, and in the best case; or what the members lack.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tolerance {
    Lacks(String),
    Bears { worst: usize, best: usize },
}

/// How many failures a level tolerates.
///
/// # Errors
/// What is wrong with the level.
pub fn tolerance(asked: &Members) -> Result<Tolerance, String> {
    let shape = Shape {
        level: &asked.level,
        members: asked.members,
        layout: asked.layout.as_deref(),
        copies: asked.copies,
        groups: asked.groups,
        parity: 2,
        width: None,
        stripes: 1e6,
    };
    if let Some(lacking) = shape.lacking() {
        return Ok(Tolerance::Lacks(lacking));
    }
    let arrangement = shape.arrangement().map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(|one| InFile(&one.to_string()).to_string()).collect();
        lines.join("\n")
    })?;
    let sets = drivelab_durability::FailedSets::of(&arrangement);
    Ok(Tolerance::Bears { worst: sets.bears_worst(), best: sets.bears_best() })
}
