//! What is refused, each with its place and remedy.
use crate::{exponential, settings};
use drivelab_durability::asked::asked;
use drivelab_durability::description::Common;
use drivelab_durability::law::Law;
use drivelab_durability::{Method, Plan, solve};
use drivelab_scenario::text::problem::Place;
use drivelab_scenario::text::tree::{Node, Value};
use drivelab_units::InFile;

/// What is told of a raid5 of eight drives, with these keys in place of its own.
fn told(changes: &[(&str, &str)]) -> String {
    let own = [("level", "raid5"), ("members", "8"), ("mttf", "500000h"), ("rebuild", "20h")];
    let kept = own.iter().filter(|(key, _)| changes.iter().all(|(other, _)| other != key));
    let given = kept.chain(changes).map(|(key, text)| ((*key).to_owned(), Value::Text((*text).to_owned())));
    let found = asked(given.collect());
    assert_eq!(found.questions.is_empty(), !found.problems.is_empty());
    found.problems.iter().map(|problem| format!("  {}\n", InFile(&problem.to_string()))).collect()
}

#[test]
fn everything_that_is_wrong_is_reported_at_once() {
    let wrong: [(&str, &[(&str, &str)]); 16] = [
        ("no level", &[("level", "raid7")]),
        ("no members", &[("members", "0")]),
        ("too few", &[("level", "raid6"), ("members", "3")]),
        ("groups of two sizes", &[("level", "raid50"), ("members", "7")]),
        ("a layout of another level", &[("layout", "far")]),
        ("chances above one", &[("wrong_drive", "1.5"), ("common", "x:0h:-10%")]),
        ("a rebuild longer than the life", &[("rebuild", "fixed:1e6h")]),
        ("a detection longer than the life", &[("detection", "fixed:1e6h")]),
        ("an interval without its mean", &[("rebuild", "20h(0h..1h)")]),
        ("a shape", &[("mttf", "0h"), ("detection", "weibull:-1:0h:-2h")]),
        ("survival that rises", &[("detection", "survival:1h=90%,2h=95%")]),
        ("twice the same", &[("ure", "2/byte"), ("latent", "1e-4/h"), ("afr", "1%")]),
        ("a week of nine days", &[("attended", "25x9")]),
        ("stripes wider than the array", &[("level", "draid"), ("width", "20")]),
        ("a code of odd groups", &[("level", "lrc"), ("members", "7")]),
        ("no life", &[("life", "0y"), ("serial", "perhaps"), ("lifes", "1"), ("method", "guess")]),
    ];
    let mut listing = String::new();
    for (name, changes) in wrong {
        let found = told(changes);
        assert!(!found.is_empty(), "{name}");
        listing += &format!("{name}\n{found}");
    }
    insta::assert_snapshot!(listing);
}

#[test]
fn what_was_typed_is_told_with_its_item() {
    let each =
        ["20h", "30h(a..40h)"].map(|text| Node { place: Place::default(), value: Value::Text(text.into()) });
    let found =
        asked(vec![("rebuild".into(), Value::List(each.into())), ("membres".into(), Value::Flag(true))]);
    let wrong: Vec<_> =
        found.problems[..2].iter().map(|one| (one.place.as_str(), one.item, one.is_key)).collect();
    assert_eq!(wrong, [("rebuild", Some(1), false), ("membres", None, true)]);
    assert_eq!(found.problems[0].given.as_deref(), Some("a"));
    assert_eq!(found.problems[1].remedy, "did you mean members?");
}

#[test]
fn texts_mean_numbers() {
    let of = |key: &str, text: &str| {
        let own = [("level", "raid6"), ("members", "8"), ("rebuild", "20h"), ("afr", "2%")];
        let changed = [(key, text)];
        let kept = own.iter().filter(|(other, _)| *other != key && (key, *other) != ("drive_life", "afr"));
        let given = kept.chain(&changed).map(|(key, text)| ((*key).into(), Value::Text((*text).into())));
        let found = asked(given.collect());
        assert_eq!(found.problems, [], "{text}");
        found.questions[0].array.clone()
    };
    let law = Law::Weibull { shape: 1.12, scale_hours: 461_386.0, location_hours: 0.0 };
    assert_eq!(of("drive_life", "weibull:1.12:461386h").drive, law);
    let law = Law::Survival { points: vec![(8760.0, 0.98), (43_800.0, 0.89)] };
    assert_eq!(of("drive_life", "survival:1y=98%,5y=0.89").drive, law);
    assert_eq!(of("capacity", "16TiB").capacity_bytes, 16.0 * 1_099_511_627_776.0);
    assert_eq!(of("ure", "1e-15/bit").latent.and_then(|latent| latent.per_byte), Some(8e-15));
    let step = &of("rebuild", "20h(18h..23h), fixed:1d").repair.rebuild[0];
    assert_eq!((step.time.mean(), step.low_hours, step.high_hours), (20.0, Some(18.0), Some(23.0)));
}

#[test]
fn a_method_that_the_array_does_not_allow_says_why() {
    let mut about = exponential("raid5", 8, 1e5, 20.0);
    about.repair.rebuild[0].time = Law::Fixed { hours: 20.0 };
    let plan = Plan::check(about).unwrap();
    let problems = solve(&plan, &settings(Method::Chain, 1000)).unwrap_err();
    assert_eq!(
        InFile(&problems[0].to_string()).to_string(),
        "method: there is no chain: the rebuild is not exponential: give method = \"auto\", or exponential times"
    );
    let plan = Plan::check(exponential("raid0", 2, 1e5, 20.0)).unwrap();
    assert!(
        solve(&plan, &settings(Method::Splitting, 1000)).unwrap_err()[0].message.contains("first failure")
    );
    let mut about = exponential("raid6", 8, 1e5, 20.0);
    about.common = vec![Common { name: "shelf".into(), mean_hours: 1e5, share: 0.1 }];
    let problems = solve(&Plan::check(about).unwrap(), &settings(Method::Splitting, 1000)).unwrap_err();
    assert_eq!(
        InFile(&problems[0].to_string()).to_string(),
        "method: a common cause takes several drives at once, past the stages of splitting: give method = \"biasing\""
    );
}

#[test]
fn without_a_loss_there_is_a_bound() {
    let about = exponential("raidz3", 8, 1e9, 1.0);
    let plan = Plan::check(about).unwrap();
    let found = solve(&plan, &settings(Method::MonteCarlo, 10_000)).unwrap();
    assert_eq!(found.loss_in_a_year.value, None);
    assert!(found.loss_in_a_year.high > 2e-4 && found.loss_in_a_year.high < 3e-4, "{found:?}");
}
