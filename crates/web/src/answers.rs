//! The questions of a page and their answers.
use crate::catalogue::{Entry, drives};
use crate::facts::{Fact, facts};
use crate::levels::{Level, levels};
use crate::losses::{Losses, Members, Tolerance, Wrong, losses, tolerance};
use crate::runs::{Begun, Run, Scenario, Stepped, ended, stepped};
use crate::stripes;
use drivelab_core::storage::Target;
use drivelab_scenario::{Plan, Problems, schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What a page may ask.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    /// The versions of program, model and record.
    About,
    /// Whether a scenario can be run, and what would run.
    Check(Scenario),
    /// The same, and prepares the run: the answer has its number.
    Begin(Scenario),
    /// Runs the next point of a run.
    Step { run: u64 },
    /// Forgets a run, whether all of its points have been run or not.
    End { run: u64 },
    /// What histograms of a record count: values in ns and how often each came.
    Histograms { texts: Vec<String> },
    /// What the file of a record's drive says, with the files that it is based on.
    Facts { drive: String, files: BTreeMap<String, String> },
    /// The levels of an array.
    Levels,
    /// Where the addresses of a scenario's array lie.
    Stripes(stripes::Asked),
    /// What the target of a scenario's first point is: its capacity in bytes, and what is in force.
    Target(Scenario),
    /// How likely an array loses data, by the keys of a question of `drivelab durability`.
    Losses { keys: Map<String, Value> },
    /// How many members of a level may fail.
    Tolerance(Members),
    /// The drives of the catalogue.
    Drives,
    /// The JSON Schema of a scenario.
    Schema,
}

/// An answer is what was asked for, or why there is none.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Ok(Value),
    /// The point of a run, as JSON that is not read again here.
    Point(Stepped),
    Checked(Begun),
    Drives(Vec<Entry>),
    Histograms(Vec<Vec<(u64, u64)>>),
    Facts(Vec<Fact>),
    Levels(Vec<Level>),
    Stripes(stripes::Map),
    Losses(Vec<Losses>),
    /// All that is wrong with the keys of a question of `drivelab durability`.
    Wrong(Vec<Wrong>),
    Tolerance(Tolerance),
    /// Everything that is wrong with a scenario, and the same as the command line prints it.
    Problems {
        list: Problems,
        text: String,
    },
    /// The question is none, or of no run.
    Error(String),
}

thread_local! {
    /// The runs that were begun, by their numbers.
    static RUNS: RefCell<BTreeMap<u64, Run>> = const { RefCell::new(BTreeMap::new()) };
}

/// Answers one question; `progress` is called from time to time with the share of a step that is done.
pub fn answer(question: &str, progress: &(dyn Fn(f64) + Sync)) -> String {
    let answer = match serde_json::from_str(question) {
        Ok(question) => RUNS.with_borrow_mut(|runs| of(question, runs, progress)),
        Err(error) => Answer::Error(format!("this is no question: {error}")),
    };
    serde_json::to_string(&answer).unwrap_or_else(|error| json!({ "error": error.to_string() }).to_string())
}

fn of(question: Question, runs: &mut BTreeMap<u64, Run>, progress: &(dyn Fn(f64) + Sync)) -> Answer {
    match question {
        Question::About => Answer::Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "model_version": drivelab_core::MODEL_VERSION,
            "record_version": drivelab_record::RECORD_VERSION,
            "generator": drivelab_core::rng::GENERATOR,
        })),
        Question::Check(scenario) => match scenario.plan() {
            Ok(plan) => checked(Begun::of(&plan, None)),
            Err(problems) => refused(problems),
        },
        Question::Begin(scenario) => match scenario.plan() {
            Ok(plan) => begin(plan, scenario.log, runs),
            Err(problems) => refused(problems),
        },
        Question::Step { run } => match stepped(runs, run, progress) {
            Ok(point) => Answer::Point(point),
            Err(why) => Answer::Error(why),
        },
        Question::End { run } => match ended(runs, run) {
            Ok(points) => Answer::Ok(json!({ "points": points })),
            Err(why) => Answer::Error(why),
        },
        Question::Histograms { texts } => counted(&texts),
        Question::Facts { drive, files } => Answer::Facts(facts(&drive, &files)),
        Question::Levels => Answer::Levels(levels()),
        Question::Stripes(asked) => match asked.scenario.plan() {
            Ok(plan) => mapped(&asked, &plan),
            Err(problems) => refused(problems),
        },
        Question::Target(scenario) => match scenario.plan() {
            Ok(plan) => target(&plan),
            Err(problems) => refused(problems),
        },
        Question::Losses { keys } => losses(keys, progress).map_or_else(Answer::Wrong, Answer::Losses),
        Question::Tolerance(asked) => tolerance(&asked).map_or_else(Answer::Error, Answer::Tolerance),
        Question::Drives => Answer::Drives(drives()),
        Question::Schema => Answer::Ok(schema()),
    }
}

fn begin(plan: Plan, log: u64, runs: &mut BTreeMap<u64, Run>) -> Answer {
    let number = runs.last_key_value().map_or(0, |(last, _)| last + 1);
    let begun = Begun::of(&plan, Some(number));
    runs.insert(number, Run::new(plan, log));
    checked(begun)
}

fn checked(begun: Result<Begun, String>) -> Answer {
    begun.map_or_else(Answer::Error, Answer::Checked)
}

fn counted(texts: &[String]) -> Answer {
    let counts = texts.iter().map(|text| {
        if text.is_empty() { Ok(Vec::new()) } else { drivelab_record::counts_of_hdr_base64(text) }
    });
    counts.collect::<Result<_, _>>().map_or_else(Answer::Error, Answer::Histograms)
}

fn mapped(asked: &stripes::Asked, plan: &Plan) -> Answer {
    let setups: Vec<_> = plan.points.iter().map(|point| &point.setup).collect();
    stripes::map(asked, &setups).map_or_else(Answer::Error, Answer::Stripes)
}

fn target(plan: &Plan) -> Answer {
    let Some(point) = plan.points.first() else {
        return Answer::Error("this scenario has no point".to_owned());
    };
    let capacity = Target::new(&point.setup.target, point.setup.seed).capacity().bytes().get();
    Answer::Ok(json!({ "capacity_bytes": capacity, "in_force": point.in_force }))
}

fn refused(list: Problems) -> Answer {
    let text = list.to_string();
    Answer::Problems { list, text }
}
