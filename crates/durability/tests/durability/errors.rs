//! What is refused, each with its place and remedy.
use crate::{exponential, settings};
use drivelab_durability::description::{Attended, Common, Description, Latent};
use drivelab_durability::law::Law;
use drivelab_durability::{Method, Plan, solve};
use drivelab_units::InFile;

type Change = &'static dyn Fn(&mut Description);

#[test]
fn everything_that_is_wrong_is_reported_at_once() {
    let wrong: Vec<(&str, Change)> = vec![
        ("no level", &|a| a.level = "raid7".into()),
        ("no members", &|a| a.members = 0),
        ("too few", &|a| (a.level, a.members) = ("raid6".into(), 3)),
        ("groups of two sizes", &|a| (a.level, a.members) = ("raid50".into(), 7)),
        ("a layout of another level", &|a| a.layout = Some("far".into())),
        ("chances above one", &|a| {
            a.wrong_drive = 1.5;
            a.common = vec![Common { name: "x".into(), mean_hours: 0.0, share: -0.1 }];
        }),
        ("a rebuild longer than the life", &|a| a.repair.rebuild[0].time = Law::Fixed { hours: 1e6 }),
        ("a detection longer than the life", &|a| a.repair.detection = Law::Fixed { hours: 1e6 }),
        ("no rebuild", &|a| a.repair.rebuild.clear()),
        ("an interval without its mean", &|a| a.repair.rebuild[0].high_hours = Some(1.0)),
        ("a shape", &|a| a.drive = Law::Weibull { shape: -1.0, scale_hours: 0.0, location_hours: -2.0 }),
        ("survival that rises", &|a| a.drive = Law::Survival { points: vec![(1.0, 0.9), (2.0, 0.95)] }),
        ("twice the same", &|a| {
            let arrival = Some(Law::Exponential { mean_hours: 1e4 });
            a.latent = Some(Latent { per_byte: Some(2.0), arrival, scrub: None });
        }),
        ("a week of nine days", &|a| {
            a.repair.attended = Some(Attended { hours_per_day: 25.0, days_per_week: 9 });
        }),
        ("stripes wider than the array", &|a| (a.level, a.width) = ("draid".into(), Some(20))),
        ("no width", &|a| a.level = "draid".into()),
        ("a code of odd groups", &|a| (a.level, a.members) = ("lrc".into(), 7)),
        ("no life", &|a| a.life_hours = 0.0),
    ];
    let mut listing = String::new();
    for (name, change) in wrong {
        let mut about = exponential("raid5", 8, 1e5, 20.0);
        change(&mut about);
        let problems = Plan::check(about).expect_err(name);
        listing += &format!("{name}\n");
        for problem in problems {
            listing += &format!("  {}\n", InFile(&problem.to_string()));
        }
    }
    insta::assert_snapshot!(listing);
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
