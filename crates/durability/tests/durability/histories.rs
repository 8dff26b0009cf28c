//! Histories against chains: plain, biased and split, with every cause of a loss.
use crate::{exponential, many, solved};
use drivelab_durability::Method;
use drivelab_durability::description::{Batch, Common, Description, Latent};
use drivelab_durability::law::Law;
use libm::exp;

/// Arrays with a chain, some with everything that a chain can have.
fn grid() -> Vec<(&'static str, Description)> {
    let with = |level: &str, members, mttf, rebuild, change: &dyn Fn(&mut Description)| {
        let mut about = exponential(level, members, mttf, rebuild);
        change(&mut about);
        about
    };
    vec![
        ("single parity", with("raid5", 8, 2e5, 100.0, &|_| {})),
        ("double parity", with("raid6", 8, 1e5, 300.0, &|_| {})),
        ("one by one", with("raid6", 8, 1e5, 300.0, &|a| a.repair.serial = true)),
        ("groups", with("raid50", 8, 2e5, 200.0, &|_| {})),
        ("mirrors", with("raid10", 8, 1e5, 200.0, &|_| {})),
        ("a circle of copies", with("raid10", 5, 1e5, 200.0, &|a| a.layout = Some("far".into()))),
        ("mirrored stripes", with("raid01", 6, 1e5, 200.0, &|_| {})),
        ("a local code", with("lrc", 10, 3e4, 1000.0, &|_| {})),
        (
            "declustered",
            with("draid", 12, 1.2e5, 300.0, &|a| {
                (a.parity, a.width, a.stripes) = (Some(2), Some(6), Some(20.0));
            }),
        ),
        (
            "sectors",
            with("raid5", 8, 2e5, 50.0, &|a| {
                a.latent = Some(Latent { per_byte: Some(8e-15), arrival: None, scrub: None });
            }),
        ),
        (
            "a common cause",
            with("raid6", 6, 2e5, 100.0, &|a| {
                a.common = vec![Common { name: "shelf".into(), mean_hours: 2e5, share: 0.3 }];
            }),
        ),
        ("the wrong drive", with("raid6", 6, 1e5, 100.0, &|a| a.wrong_drive = 0.05)),
        ("a bad batch", with("raid6", 6, 2e5, 200.0, &|a| a.batch = Some(Batch { share: 0.1, factor: 8.0 }))),
        (
            "two spares",
            with("raid6", 6, 3e4, 50.0, &|a| {
                (a.spares, a.repair.replacement) = (Some(2), Some(Law::Exponential { mean_hours: 1500.0 }));
            }),
        ),
        (
            "no spare on the shelf",
            with("raid5", 6, 2e5, 50.0, &|a| {
                (a.spares, a.repair.replacement) = (Some(0), Some(Law::Exponential { mean_hours: 300.0 }));
            }),
        ),
        (
            "three parts of a repair",
            with("raid6", 8, 1e5, 150.0, &|a| {
                a.repair.detection = Some(Law::Exponential { mean_hours: 40.0 });
                a.repair.replacement = Some(Law::Exponential { mean_hours: 90.0 });
            }),
        ),
        (
            "mirrors that wait for a drive",
            with("raid10", 6, 1e5, 50.0, &|a| {
                a.repair.replacement = Some(Law::Exponential { mean_hours: 150.0 });
                a.common = vec![Common { name: "shelf".into(), mean_hours: 1e6, share: 0.2 }];
            }),
        ),
        (
            "slower with two missing",
            with("raid6", 8, 1e5, 200.0, &|a| {
                let mut slow = a.repair.rebuild[0].clone();
                slow.time = Law::Exponential { mean_hours: 500.0 };
                a.repair.rebuild.push(slow);
            }),
        ),
    ]
}

fn held(method: Method, histories: u64, errors: f64) {
    for (name, about) in grid() {
        if method == Method::Splitting && !about.common.is_empty() {
            continue; // refused
        }
        let exact = solved(about.clone(), Method::Chain, 1000);
        let found = solved(about, method, histories);
        assert_eq!(found.method, method, "{name}");
        for (found, exact) in
            [(found.loss_in_a_year, exact.loss_in_a_year), (found.loss_in_life, exact.loss_in_life)]
        {
            let (value, chance) = (found.value.unwrap(), exact.value.unwrap());
            let far = (value - chance) / found.error;
            assert!(far.abs() < errors, "{name}: {value:e} for {chance:e}, {far:.2} standard errors");
            assert!(found.error < 0.25 * chance, "{name}: {found:?} says nothing of {chance:e}");
        }
        let (bytes, lost) = (found.bytes_lost, exact.bytes_lost.value.unwrap());
        assert!(
            (bytes.value.unwrap() - lost).abs() < (errors + 0.5) * bytes.error,
            "{name}: {bytes:?} {lost:e}"
        );
    }
}

#[test]
fn plain_histories_agree_with_the_chain() {
    held(Method::MonteCarlo, 250_000, 3.0);
}

#[test]
fn biased_histories_agree_with_the_chain() {
    held(Method::Biasing, many(120_000), 3.0);
}

#[test]
fn split_histories_agree_with_the_chain() {
    held(Method::Splitting, 120_000, 3.5);
}

#[test]
fn a_rare_loss_is_found_by_biasing_and_by_splitting() {
    let about = exponential("raid6", 8, 8760.0 / 0.015, 10.0);
    let exact = solved(about.clone(), Method::Chain, 1000).loss_in_a_year.value.unwrap();
    assert!((1e-10..1e-8).contains(&exact), "{exact:e}");
    let biased = solved(about.clone(), Method::Biasing, many(200_000)).loss_in_a_year;
    assert!(biased.relative() < 0.1, "{biased:?}");
    assert!((biased.value.unwrap() - exact).abs() < 3.0 * biased.error, "{biased:?} {exact:e}");
    let split = solved(about, Method::Splitting, many(4_000_000)).loss_in_a_year;
    assert!((split.value.unwrap() - exact).abs() < 3.0 * split.error, "{split:?} {exact:e}");
}

#[test]
fn a_mean_time_to_loss_lies_between_its_ends() {
    let about = exponential("raid5", 8, 2e5, 100.0);
    let exact = solved(about.clone(), Method::Chain, 1000).mttdl_years.value.unwrap();
    let found = solved(about, Method::MonteCarlo, 20_000).mttdl_years;
    let value = found.value.unwrap();
    assert!(found.low < value && value < found.high, "{found:?}");
    assert!(found.low < exact && exact < found.high && found.high < 2.0 * found.low, "{found:?} {exact}");
}

#[test]
fn weibull_lives_of_shape_one_are_exponential() {
    let mut about = exponential("raid6", 8, 1e5, 300.0);
    let exact = solved(about.clone(), Method::Chain, 1000).loss_in_a_year.value.unwrap();
    // Shape 1 behind a location, which has no simpler form, and a rebuild whose shape is 1.
    about.drive = Law::Weibull { shape: 1.0, scale_hours: 1e5, location_hours: 1e-9 };
    for method in [Method::MonteCarlo, Method::Biasing] {
        let found = solved(about.clone(), method, many(400_000)).loss_in_a_year;
        assert!((found.value.unwrap() - exact).abs() < 3.0 * found.error, "{found:?} {exact}");
    }
}

#[test]
fn a_fixed_rebuild_of_a_mirror_has_its_closed_form() {
    // No chain: repairs of 100 h exactly. First failure at 2 f, second within the repair; to first order.
    let mut about = exponential("raid1", 2, 1e5, 1.0);
    about.repair.rebuild[0].time = Law::Fixed { hours: 100.0 };
    let rate = 2.0 / 1e5 * (1.0 - exp(-100.0 / 1e5));
    let exact = 1.0 - exp(-rate * (8760.0 - 100.0 / 2.0));
    for method in [Method::MonteCarlo, Method::Biasing] {
        let found = solved(about.clone(), method, 2_000_000).loss_in_a_year;
        let far = (found.value.unwrap() - exact) / found.error;
        assert!(far.abs() < 3.0 && found.relative() < 0.15, "{far} {found:?} {exact}");
    }
}

#[test]
fn latent_defects_by_the_hour_have_their_closed_form() {
    // A mirror whose only loss worth a word is a failure that meets a defect of the other drive: the share of time
    // with a defect is that of an alternating renewal.
    let mut about = exponential("raid1", 2, 1e5, 1e-3);
    about.latent = Some(Latent {
        per_byte: None,
        arrival: Some(Law::Exponential { mean_hours: 900.0 }),
        scrub: Some(Law::Uniform { low_hours: 0.0, high_hours: 200.0 }),
    });
    about.life_hours = 20.0 * 8760.0;
    let exact = 1.0 - exp(-2.0 / 1e5 * (100.0 / 1000.0) * about.life_hours);
    let found = solved(about, Method::MonteCarlo, many(200_000));
    let life = found.loss_in_life;
    // New drives begin without a defect, which takes a share of 1e-2 of the exposure at most.
    assert!((life.value.unwrap() / exact - 1.0).abs() < 0.02, "{life:?} {exact}");
    assert!(found.share_by_sectors.unwrap() > 0.999);
}

#[test]
fn a_rare_cause_that_takes_many_drives_is_found_by_biasing() {
    // Triple parity that single failures lose once in 1e14 years; a surge in 11,000 years takes 2 % of the drives.
    let mut about = exponential("raidz3", 8, 1e6, 10.0);
    about.common = vec![Common { name: "surge".into(), mean_hours: 1e8, share: 0.02 }];
    let exact = solved(about.clone(), Method::Chain, 1000).loss_in_a_year.value.unwrap();
    assert!(exact > 1e-10, "{exact:e}");
    let found = solved(about, Method::Biasing, many(400_000)).loss_in_a_year;
    assert!((found.value.unwrap() / exact - 1.0).abs() < 0.15, "{found:?} {exact:e}");
}

#[test]
fn a_rare_batch_and_a_rare_mistake_are_found_by_biasing() {
    let mut batch = exponential("raid6", 8, 1e6, 10.0);
    batch.batch = Some(Batch { share: 1e-4, factor: 30.0 });
    let mut mistake = exponential("raid6", 8, 1e6, 10.0);
    mistake.wrong_drive = 1e-3;
    for about in [batch, mistake] {
        let exact = solved(about.clone(), Method::Chain, 1000).loss_in_a_year.value.unwrap();
        let found = solved(about, Method::Biasing, many(400_000)).loss_in_a_year;
        assert!((found.value.unwrap() - exact).abs() < 3.0 * found.error, "{found:?} {exact:e}");
        assert!(found.relative() < 0.1, "{found:?}");
    }
}

#[test]
fn what_splitting_does_not_reach_is_found_by_biasing() {
    // Six copies: 5e-32 a year.
    let about = exponential("raid1", 6, 1e6, 1.0);
    let exact = solved(about.clone(), Method::Chain, 1000).loss_in_a_year.value.unwrap();
    let found = solved(about, Method::Splitting, many(400_000));
    assert_eq!((found.method, found.instead_of), (Method::Biasing, Some(Method::Splitting)));
    let value = found.loss_in_a_year.value.unwrap();
    assert!(exact < 1e-30 && value > exact / 4.0 && value < exact * 4.0, "{value:e} {exact:e}");
}

#[test]
fn of_many_copies_without_a_chain_splitting_answers_where_few_biased_histories_carry_the_figure() {
    // Eight copies: 1e-13 a year. The law is exponential in all but name.
    let mut about = exponential("raid1", 8, 24_560.0, 300.0);
    about.life_hours = 2.0 * 8760.0;
    let exact = solved(about.clone(), Method::Chain, 1000).loss_in_a_year.value.unwrap();
    about.drive = Law::Weibull { shape: 1.000_001, scale_hours: 24_560.0, location_hours: 0.0 };
    let biased = solved(about.clone(), Method::Biasing, 100_000).loss_in_a_year;
    let found = solved(about.clone(), Method::Auto, 100_000);
    assert_eq!((found.method, found.instead_of), (Method::Splitting, Some(Method::Biasing)));
    let year = found.loss_in_a_year;
    assert!(year.low <= exact && exact <= year.high, "{year:?} {exact:e}");
    assert!(year.relative() < 0.7 && year.relative() < biased.relative(), "{year:?} {biased:?}");
    // A common cause goes past the stages.
    about.common = vec![Common { name: "shelf".into(), mean_hours: 1e9, share: 1e-6 }];
    assert_eq!(solved(about, Method::Auto, 50_000).method, Method::Biasing);
}

#[test]
fn defects_that_are_drawn_several_times_are_as_likely_as_drawn_once() {
    // Double parity: two missing drives, then a defect of one of the others; losses frequent enough for both ways.
    let mut about = exponential("raid6", 6, 1e5, 300.0);
    about.latent = Some(Latent {
        per_byte: None,
        arrival: Some(Law::Exponential { mean_hours: 4000.0 }),
        scrub: Some(Law::Weibull { shape: 3.0, scale_hours: 168.0, location_hours: 6.0 }),
    });
    let [once, often] =
        [Method::MonteCarlo, Method::Biasing].map(|method| solved(about.clone(), method, many(400_000)));
    for (one, other) in [
        (once.loss_in_a_year, often.loss_in_a_year),
        (once.loss_in_life, often.loss_in_life),
        (once.bytes_lost, often.bytes_lost),
    ] {
        let far = (one.value.unwrap() - other.value.unwrap()) / libm::hypot(one.error, other.error);
        assert!(far.abs() < 3.5, "{far:.2}: {one:?} {other:?}");
    }
}
