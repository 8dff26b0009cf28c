//! Scenarios at random, as the fuzzer draws them, asked for as a page asks: each run has the digest of the native run.
//!
//! With `DRIVELAB_PAGE_CASES` the scenarios are written there too, for the test of the page in a browser.
#[path = "../../simulate/tests/fuzz/draft.rs"]
#[allow(dead_code, reason = "of the fuzzer's drafts only the drawing is of use here")]
mod draft;
#[path = "../../simulate/tests/fuzz/keys.rs"]
#[allow(dead_code, reason = "of the fuzzer's keys only the drawing is of use here")]
mod keys;

use draft::draft;
use drivelab_simulate::{Control, run};
use drivelab_web::answer;
use keys::Dice;
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

/// Scenarios that run to their end.
const CASES: usize = 50;
/// Only a person who asks for another draw gets one.
const SEED: u64 = 1;

fn asked(question: &Value) -> Value {
    serde_json::from_str(&answer(&question.to_string(), &|_| {})).expect("an answer is JSON")
}

/// Text and drive file of a draft, as [`draft::Draft::text`] joins them.
fn parts(text: &str) -> (String, Option<String>) {
    match text.split_once("\n# own.toml\n") {
        Some((scenario, drive)) => (scenario.to_owned(), Some(drive.to_owned())),
        None => (text.to_owned(), None),
    }
}

/// Every point's digest, or the message of its failure.
fn native(plan: &drivelab_scenario::Plan) -> Vec<Result<String, String>> {
    let stop = AtomicBool::new(false);
    let outcome = |point: &drivelab_scenario::Point| {
        let found = run(&point.setup, &Control { stop: &stop, progress: &|_| {} });
        found.map(|point| point.digest).map_err(|error| error.to_string())
    };
    plan.points.iter().map(outcome).collect()
}

fn as_a_page_asks(scenario: &Value) -> Vec<Result<String, String>> {
    let mut question = scenario.clone();
    question["ask"] = "begin".into();
    let run = asked(&question)["checked"]["run"].clone();
    let mut found = Vec::new();
    loop {
        let step = asked(&json!({"ask": "step", "run": run}))["point"].clone();
        let read = |value: &Value| serde_json::from_str::<Value>(value.as_str()?).ok();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let failed = || read(&step["failure"]).map(|failure| text(&failure["message"]));
        found.push(
            read(&step["entry"])
                .map(|entry| text(&entry["digest"]))
                .ok_or_else(|| failed().unwrap_or_default()),
        );
        if step["is_last"] == true {
            asked(&json!({"ask": "end", "run": run}));
            return found;
        }
    }
}

#[test]
fn random_scenarios_have_the_digests_of_native_runs() {
    let mut cases = Vec::new();
    for number in 0.. {
        let mut dice = Dice::new(SEED.wrapping_add(number), "scenario");
        let Some((drawn, plan)) = draft(&mut dice) else { continue };
        let expected = native(&plan);
        if expected.iter().any(Result::is_err) {
            continue;
        }
        let (text, drive) = parts(&drawn.text());
        let mut scenario = json!({"text": text, "origin": "fuzz.toml"});
        if let Some(drive) = drive {
            scenario["files"] = json!({"own.toml": drive});
        }
        assert_eq!(as_a_page_asks(&scenario), expected, "{}", drawn.text());
        cases.push(scenario);
        if cases.len() == CASES {
            break;
        }
    }
    if let Ok(path) = std::env::var("DRIVELAB_PAGE_CASES") {
        std::fs::write(path, Value::from(cases).to_string()).expect("the file can be written");
    }
}
