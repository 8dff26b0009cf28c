//! A run in steps: a scenario is planned, then one point after the other is simulated and handed over.
use drivelab_core::Setup;
use drivelab_record::Point;
use drivelab_scenario::{InForce, Loader, Plan, Problems, Source, plan};
use drivelab_simulate::{Control, run};
use drivelab_units::InFile;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// A scenario, and what it names.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    text: String,
    /// What messages call it.
    #[serde(default = "unnamed")]
    origin: String,
    /// Drive files by their paths in the scenario; those of the catalogue, as a record has them, replace its own.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// The commands of each point that are logged, from the end of the warm-up on.
    #[serde(default)]
    pub log: u64,
}

fn unnamed() -> String {
    "scenario".to_owned()
}

impl Scenario {
    /// Everything that it runs, or everything that is wrong with it.
    pub fn plan(&self) -> Result<Plan, Problems> {
        let source = Source { origin: self.origin.clone(), text: self.text.clone() };
        plan(&source, &[], &Files(&self.files))
    }
}

/// The files that came with a scenario: a page has no folder.
struct Files<'a>(&'a BTreeMap<String, String>);

impl Loader for Files<'_> {
    fn load(&self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| "no such file came with the scenario".to_owned())
    }

    fn replaced(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned()
    }
}

/// What is known of a run before it runs. Numbers that a page could not hold exactly are text.
#[derive(serde::Serialize)]
pub struct Begun {
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<u64>,
    name: String,
    seed: String,
    scenario_hash: String,
    axes: Vec<Place>,
    /// The impossible points of the grid: the record's entry, as text.
    skipped: String,
    fio: Vec<String>,
    scenario: String,
    files: BTreeMap<String, String>,
    traces: BTreeMap<String, String>,
    notes: Vec<String>,
}

#[derive(serde::Serialize)]
struct Skipped {
    axes: Place,
    reason: String,
}

impl Begun {
    pub fn of(plan: &Plan, run: Option<u64>) -> Result<Self, String> {
        let skipped = plan.skipped.iter();
        let skipped =
            skipped.map(|one| Skipped { axes: Place(one.axes.clone()), reason: one.reason.clone() });
        Ok(Begun {
            run,
            name: plan.name.clone(),
            seed: plan.seed.to_string(),
            scenario_hash: plan.hash.clone(),
            axes: plan.points.iter().map(|point| Place(point.axes.clone())).collect(),
            skipped: text_of(&skipped.collect::<Vec<_>>())?,
            fio: plan.points.iter().map(|point| point.fio.clone()).collect(),
            scenario: plan.scenario.clone(),
            files: plan.files.clone(),
            traces: plan.traces.clone(),
            notes: plan.notes.clone(),
        })
    }
}

/// A position in the sweep, its axes in their order.
struct Place(Vec<(String, Value)>);

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// A plan, and how far it has been run.
pub struct Run {
    plan: Plan,
    log: u64,
    next: usize,
}

impl Run {
    pub fn new(plan: Plan, log: u64) -> Self {
        Run { plan, log, next: 0 }
    }
}

/// The outcome of one point.
#[derive(serde::Serialize)]
pub struct Stepped {
    /// Its index in the plan, and whether it is the last.
    at: usize,
    is_last: bool,
    /// Its entry in the record, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
    /// Why it has no result: its entry among the record's failures, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// A point in a record.
#[derive(serde::Serialize)]
struct Entry<'a> {
    axes: Place,
    in_force: &'a Option<InForce>,
    #[serde(flatten)]
    point: Point,
}

/// A point without a result in a record.
#[derive(serde::Serialize)]
struct Failure {
    axes: Place,
    message: String,
}

/// JSON that a page puts into a record as it is: its own numbers would be other ones.
fn text_of(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

fn no_run(number: u64) -> String {
    format!("there is no run {number}")
}

/// Runs the next point of a run.
pub fn stepped(
    runs: &mut BTreeMap<u64, Run>,
    number: u64,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Stepped, String> {
    let begun = runs.get_mut(&number).ok_or_else(|| no_run(number))?;
    let at = begun.next;
    let point = begun.plan.points.get(at).ok_or_else(|| format!("run {number} has no further point"))?;
    begun.next += 1;
    let setup = Setup { traces: point.setup.traces.max(begun.log), ..point.setup.clone() };
    let outcome = run(&setup, &Control { stop: &AtomicBool::new(false), progress });
    let axes = Place(point.axes.clone());
    let (entry, failure) = match outcome {
        Ok(found) => (Some(text_of(&Entry { axes, in_force: &point.in_force, point: found })?), None),
        Err(error) => {
            let message = InFile(&error.to_string()).to_string();
            (None, Some(text_of(&Failure { axes, message })?))
        }
    };
    Ok(Stepped { at, is_last: begun.next == begun.plan.points.len(), entry, failure })
}

/// Forgets a run, and tells how many of its points were run.
pub fn ended(runs: &mut BTreeMap<u64, Run>, number: u64) -> Result<usize, String> {
    runs.remove(&number).map(|run| run.next).ok_or_else(|| no_run(number))
}
