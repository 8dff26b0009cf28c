//! The chance of loss that a page asks for is that of the solver, and what is wrong is told by its key.
use drivelab_durability::asked::asked as keys_of;
use drivelab_durability::{Plan, solve};
use drivelab_scenario::text::tree::Value as Typed;
use drivelab_web::answer;
use serde_json::{Value, json};
use std::sync::Mutex;

fn asked(question: &Value) -> Value {
    serde_json::from_str(&answer(&question.to_string(), &|_| {})).expect("an answer is JSON")
}

const KEYS: [(&str, &str); 6] = [
    ("level", "raid6"),
    ("members", "8"),
    ("capacity", "16TB"),
    ("afr", "1.5%"),
    ("ure", "1e-15/bit"),
    ("rebuild", "30h(28h..33h)"),
];

fn losses(keys: &Value) -> Value {
    asked(&json!({"ask": "losses", "keys": keys}))
}

#[test]
fn losses_are_those_of_the_solver_to_the_bit() {
    let found = losses(&json!({"level": "raid6", "members": 8, "capacity": "16TB", "afr": "1.5%",
                               "ure": "1e-15/bit", "rebuild": "30h(28h..33h)"}));
    let typed = KEYS.map(|(key, text)| (key.to_owned(), Typed::Text(text.to_owned())));
    let question = keys_of(typed.to_vec()).questions.remove(0);
    let own = solve(&Plan::check(question.array).expect("an array"), &question.settings).expect("an outcome");
    let one = &found["losses"][0];
    assert_eq!(one["loss_in_a_year"]["value"].as_f64(), own.loss_in_a_year.value, "{found}");
    let over = own.loss_in_a_year_over_rebuilds.expect("an interval");
    assert_eq!(one["loss_in_a_year_over_rebuilds"]["high"].as_f64(), Some(over.high));
    assert_eq!(one["share_by_sectors"].as_f64(), own.share_by_sectors);
    assert_eq!(one["method"], "chain");
    assert!(one["loss_in_a_year_over_failures"].is_null());
}

#[test]
fn histories_are_the_same_in_chunks_and_tell_how_far_they_are() {
    let told = Mutex::new(Vec::new());
    let question = json!({"ask": "losses", "keys": {"level": "raid5", "members": 4, "capacity": "4TB",
        "mttf": "20000h", "rebuild": "fixed:200h", "ure": "none", "histories": 20000}});
    let text = answer(&question.to_string(), &|share| told.lock().expect("no panic").push(share));
    let found: Value = serde_json::from_str(&text).expect("JSON");
    let typed = [("level", "raid5"), ("members", "4"), ("capacity", "4TB"), ("mttf", "20000h")];
    let more = [("rebuild", "fixed:200h"), ("ure", "none"), ("histories", "20000")];
    let typed =
        typed.iter().chain(&more).map(|(key, text)| ((*key).to_owned(), Typed::Text((*text).to_owned())));
    let question = keys_of(typed.collect()).questions.remove(0);
    let own = solve(&Plan::check(question.array).expect("an array"), &question.settings).expect("an outcome");
    assert_eq!(found["losses"][0]["loss_in_a_year"]["value"].as_f64(), own.loss_in_a_year.value, "{found}");
    assert_ne!(found["losses"][0]["method"], "chain");
    let told = told.into_inner().expect("no panic");
    assert!(told.len() > 1 && told.iter().all(|share| (0.0..=1.0).contains(share)), "{told:?}");
}

#[test]
fn an_interval_of_the_failure_rate_has_its_ends() {
    let found = losses(&json!({"level": "raid5,raid6", "members": 6, "capacity": "4TB",
                               "afr": "1.5%(1%..2%)", "rebuild": "20h"}));
    let one = &found["losses"][1];
    let (low, high) =
        (&one["loss_in_a_year_over_failures"]["low"], &one["loss_in_a_year_over_failures"]["high"]);
    let value = one["loss_in_a_year"]["value"].as_f64().expect("a chance");
    assert!(low.as_f64().is_some_and(|low| low < value) && high.as_f64().is_some_and(|high| high > value));
}

#[test]
fn all_that_is_wrong_is_told_by_its_key_with_a_remedy() {
    let found =
        losses(&json!({"level": "raid6", "members": 8, "afr": "1.5", "scrub": "often", "rebuild": "20h",
                               "shelves": {}}));
    let wrong = found["wrong"].as_array().expect("a list");
    let keys: Vec<_> = wrong.iter().filter_map(|one| one["key"].as_str()).collect();
    for key in ["afr", "scrub", "shelves"] {
        assert!(keys.contains(&key), "{found}");
    }
    let afr = wrong.iter().find(|one| one["key"] == "afr").expect("it is wrong");
    assert_eq!(afr["given"], "1.5");
    assert!(afr["remedy"].as_str().is_some_and(|remedy| remedy.starts_with("such as 1.5%")), "{found}");
}

#[test]
fn a_level_says_how_many_members_may_fail_or_what_it_lacks() {
    let tolerance = |level: &str, members: u32| {
        asked(&json!({"ask": "tolerance", "level": level, "members": members, "copies": 2, "groups": 2}))
    };
    assert_eq!(tolerance("raid10", 6)["tolerance"]["bears"], json!({"worst": 1, "best": 3}));
    assert_eq!(tolerance("raid6", 3)["tolerance"]["lacks"], "4 members or more");
    assert!(tolerance("raid7", 8)["error"].as_str().is_some_and(|why| why.contains("raid7")));
}

#[test]
fn the_target_of_a_scenario_has_its_capacity() {
    let text = "[target]\ndrive = \"wd-4tb-7200\"\n[target.array]\nlevel = \"raid5\"\nmembers = 4\n\
                [workload]\nrw = \"randread\"\nbs = \"4KiB\"\n[run]\nios = 1\n";
    let found = asked(&json!({"ask": "target", "text": text}))["ok"].clone();
    assert_eq!(found["capacity_bytes"], found["in_force"]["array"]["capacity_bytes"], "{found}");
    let refused = asked(&json!({"ask": "target", "text": text.replace("4KiB", "4")}));
    assert!(refused["problems"]["list"].as_array().is_some_and(|list| !list.is_empty()), "{refused}");
}
