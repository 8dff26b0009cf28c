//! What a page may ask, and what it is answered: errors are values with their place and their remedy.
use drivelab_web::answer;
use serde_json::{Value, json};

fn asked(question: &Value) -> Value {
    serde_json::from_str(&answer(&question.to_string(), &|_| {})).expect("an answer is JSON")
}

/// What a step hands over for the record.
fn entry(step: &Value) -> Value {
    serde_json::from_str(step["entry"].as_str().expect("a result")).expect("JSON")
}

const SWEEP: &str = "name = \"a sweep\"\n[target]\ndrive = \"wd-4tb-7200\"\n[workload]\nrw = \"randread\"\n\
                     bs = \"4KiB\"\niodepth = [1, 4]\n[run]\nios = 40\nseed = 9007199254740993\n";

#[test]
fn a_scenario_with_mistakes_is_answered_with_all_of_them_at_their_places() {
    let text = "[target]\ndrive = \"wd-4tb-720\"\n[workload]\nrw = \"randreed\"\n[run]\nios = 10\n";
    let found = asked(&json!({"ask": "check", "text": text, "origin": "a.toml"}));
    let list = found["problems"]["list"].as_array().expect("a list");
    let places: Vec<_> = list.iter().map(|one| (one["line"].as_u64(), one["column"].as_u64())).collect();
    assert_eq!(places, [(Some(2), Some(9)), (Some(4), Some(6))]);
    assert!(list.iter().all(|one| one["remedy"].is_string()), "{found}");
    let shown = found["problems"]["text"].as_str().expect("text");
    assert!(shown.contains(" --> a.toml:2:9"), "{shown}");
}

#[test]
fn a_check_says_what_would_run_and_keeps_nothing() {
    let found = asked(&json!({"ask": "check", "text": SWEEP}));
    let plan = &found["checked"];
    assert_eq!(plan["name"], "a sweep");
    assert_eq!(plan["axes"], json!([{"workload.iodepth": 1}, {"workload.iodepth": 4}]));
    // A number that a page's arithmetic would round.
    assert_eq!(plan["seed"], "9007199254740993");
    assert!(plan.get("run").is_none());
}

#[test]
fn a_run_goes_step_by_step_and_ends() {
    let run = asked(&json!({"ask": "begin", "text": SWEEP, "log": 5}))["checked"]["run"].clone();
    let first = asked(&json!({"ask": "step", "run": run}))["point"].clone();
    assert_eq!((&first["at"], &first["is_last"]), (&json!(0), &json!(false)));
    assert_eq!(entry(&first)["commands"].as_array().map(Vec::len), Some(5));
    let second = asked(&json!({"ask": "step", "run": run}))["point"].clone();
    assert_eq!(second["is_last"], true);
    assert_ne!(entry(&first)["digest"], entry(&second)["digest"]);
    let beyond = asked(&json!({"ask": "step", "run": run}));
    assert!(beyond["error"].as_str().is_some_and(|why| why.contains("no further point")), "{beyond}");
    assert_eq!(asked(&json!({"ask": "end", "run": run}))["ok"]["points"], 2);
    let gone = asked(&json!({"ask": "step", "run": run}));
    assert_eq!(gone["error"], format!("there is no run {run}"));
}

#[test]
fn two_runs_at_once_do_not_meet() {
    let begin = || asked(&json!({"ask": "begin", "text": SWEEP}))["checked"]["run"].clone();
    let step = |run: &Value| entry(&asked(&json!({"ask": "step", "run": run}))["point"])["digest"].clone();
    let (one, other) = (begin(), begin());
    assert_ne!(one, other);
    let digests = [step(&one), step(&other), step(&one), step(&other)];
    assert_eq!((&digests[0], &digests[2]), (&digests[1], &digests[3]));
}

#[test]
fn a_drive_file_comes_with_the_scenario_or_is_missed() {
    let text = "[target]\ndrive = \"own.toml\"\n[workload]\nrw = \"randread\"\n[run]\nios = 5\n";
    let missed = asked(&json!({"ask": "check", "text": text}));
    assert!(missed["problems"]["text"].as_str().is_some_and(|text| text.contains("no such file")));
    let own = "base = \"wd-4tb-7200\"\nrpm = \"5400rpm\"\n";
    let found = asked(&json!({"ask": "check", "text": text, "files": {"own.toml": own}}));
    assert_eq!(found["checked"]["files"]["own.toml"], own);
}

#[test]
fn the_catalogue_lists_its_drives_with_inherited_facts() {
    let found = asked(&json!({"ask": "drives"}));
    let drives = found["drives"].as_array().expect("a list");
    assert_eq!(drives.len(), drivelab_scenario::catalogue::entries("drives").len());
    for one in drives {
        let is_flash = one["facts"]["identity.class"].as_str().is_some_and(|class| class.contains("TLC"));
        assert!(one["facts"]["rpm"].is_string() != is_flash, "{one}");
    }
}

#[test]
fn the_levels_run_with_the_fewest_members_that_they_say() {
    let found = asked(&json!({"ask": "levels"}));
    let levels = found["levels"].as_array().expect("a list");
    assert_eq!(levels.len(), 15);
    for one in levels {
        let (name, least) =
            (one["name"].as_str().expect("a name"), one["least_members"].as_u64().expect("a number"));
        let text = |members: u64| {
            let unit = if one["stripe_unit"] == true { "stripe_unit = \"64KiB\"" } else { "" };
            let spares = if one["redundancy"] == true { "scrub_at = \"1s\"" } else { "" };
            let hole = if one["write_hole"] == true { "write_hole = \"open\"" } else { "" };
            format!(
                "[target]\ndrive = \"wd-4tb-7200\"\n[target.array]\nlevel = \"{name}\"\nmembers = {members}\n\
                 {unit}\n{spares}\n{hole}\n[workload]\nrw = \"randread\"\n[run]\nios = 1\n"
            )
        };
        let found = asked(&json!({"ask": "check", "text": text(least)}));
        assert!(found["checked"].is_object(), "{name}: {found}");
        if least > 1 {
            let found = asked(&json!({"ask": "check", "text": text(least - 1)}));
            assert!(found["problems"].is_object(), "{name}: {found}");
        }
    }
}

#[test]
fn the_histograms_of_a_run_count_its_ios() {
    let run = asked(&json!({"ask": "begin", "text": SWEEP}))["checked"]["run"].clone();
    let step = asked(&json!({"ask": "step", "run": run}))["point"].clone();
    let found = asked(&json!({"ask": "histograms", "texts": [entry(&step)["read"]["histogram"], ""]}));
    let counts = found["histograms"][0].as_array().expect("pairs");
    assert_eq!(counts.iter().map(|pair| pair[1].as_u64().expect("a count")).sum::<u64>(), 40);
    assert_eq!(found["histograms"][1], json!([]));
    assert!(asked(&json!({"ask": "histograms", "texts": ["x"]}))["error"].is_string());
}

#[test]
fn the_facts_of_a_drive_are_those_of_its_file_over_its_base() {
    let files = json!({"a.toml": "base = \"b\"\nrpm = \"5400rpm\"\n", "catalogue/drives/b.toml": "rpm = \"7200rpm\"\nwrite_cache = true\n"});
    let found = asked(&json!({"ask": "facts", "drive": "a.toml", "files": files}));
    let facts = found["facts"].as_array().expect("a list");
    let value = |key: &str| facts.iter().find(|one| one["key"] == key).map(|one| one["value"].clone());
    assert_eq!((value("rpm"), value("write_cache")), (Some(json!("5400rpm")), Some(json!(true))));
    assert_eq!(asked(&json!({"ask": "facts", "drive": "c", "files": {}}))["facts"], json!([]));
}

#[test]
fn the_schema_is_that_of_the_scenario() {
    assert_eq!(asked(&json!({"ask": "schema"}))["ok"], drivelab_scenario::schema());
}

#[test]
fn what_is_no_question_is_refused_with_the_reason() {
    for question in [json!({"ask": "stop"}), json!([]), json!({"ask": "check", "text": "", "more": 1})] {
        let found = asked(&question);
        assert!(found["error"].as_str().is_some_and(|why| why.starts_with("this is no question")), "{found}");
    }
}
