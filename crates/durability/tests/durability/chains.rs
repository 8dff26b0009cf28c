//! Chains against closed forms, published values and tiny cases counted out.
use crate::{exponential, solved};
use drivelab_durability::Method;
use drivelab_durability::description::{Latent, Outage};
use drivelab_durability::law::Law;
use drivelab_durability::outcome::LEAST;
use libm::expm1;

const YEAR: f64 = 8760.0;

#[test]
fn the_chains_published_with_prism() {
    // Disk failure rate 0.05 a year; repair within a week, a day, an hour; survival of a year in percent.
    let weeks = [YEAR / 52.142_857_143, YEAR / 365.0, 1.0];
    let mirror = [99.990_621_733_745_36, 99.998_634_458_951_6, 99.999_942_929_883_53];
    let parity = [99.943_953_218_352, 99.991_811_504_386_29, 99.999_657_587_606_26];
    for (level, members, published) in [("raid1", 2, mirror), ("raid5", 4, parity)] {
        for (hours, survival) in weeks.iter().zip(published) {
            let found = solved(exponential(level, members, YEAR / 0.05, *hours), Method::Chain, 1000);
            let ours = 100.0 * (1.0 - found.loss_in_a_year.value.unwrap());
            // The published rate of a week's repair has twelve digits.
            assert!((ours - survival).abs() < 1e-11, "{level} {hours}: {ours} {survival}");
        }
    }
    let alone = solved(exponential("raid0", 1, YEAR / 0.05, 1.0), Method::Chain, 1000);
    assert!((alone.loss_in_a_year.value.unwrap() + expm1(-0.05)).abs() < 1e-16);
}

#[test]
fn mean_times_to_data_loss() {
    // Eight drives of 500 000 h: repair hours; years of single parity, double with repairs side by side, one by one.
    let rows = [
        (6.0, 84_952.231, 2.359_671e9, 1.179_878e9),
        (12.0, 42_483.760, 5.899_956_2e8, 2.950_190_6e8),
        (24.0, 21_249.524, 1.475_378_5e8, 7.377_955_6e7),
        (100.0, 5_111.505_2, 8_512_405.2, 4_258_763.1),
    ];
    for (hours, single, parallel, serial) in rows {
        for (level, alone, published) in
            [("raid5", false, single), ("raid6", false, parallel), ("raid6", true, serial)]
        {
            let mut about = exponential(level, 8, 5e5, hours);
            about.repair.serial = alone;
            let found = solved(about, Method::Chain, 1000).mttdl_years.value.unwrap();
            assert!((found / published - 1.0).abs() < 4e-7, "{level} {hours} {found} {published}");
        }
    }
}

#[test]
fn without_repair_a_chain_counts_sets() {
    // A repair that never comes: each drive is gone with its own chance, and the sets that lose data can be counted.
    let p = -expm1(-1.0 / 20.0);
    let q = 1.0 - p;
    let cases: [(&str, u32, f64); 5] = [
        ("raid0", 3, 1.0 - q * q * q),
        ("raid5", 4, 1.0 - q * q * q * q - 4.0 * p * q * q * q),
        ("raid10", 4, 1.0 - (1.0 - p * p) * (1.0 - p * p)),
        ("raid01", 4, (1.0 - q * q) * (1.0 - q * q)),
        // Three in a circle: any two of them are neighbours.
        ("raid10", 3, 3.0 * p * p * q + p * p * p),
    ];
    for (level, members, counted) in cases {
        let mut about = exponential(level, members, 20.0 * YEAR, 1.0);
        about.life_hours = 1000.0 * YEAR;
        about.repair.rebuild[0].time = drivelab_durability::law::Law::Exponential { mean_hours: 8e6 };
        let found = solved(about, Method::Chain, 1000).loss_in_a_year.value.unwrap();
        assert!((found / counted - 1.0).abs() < 0.002, "{level} {members}: {found} {counted}");
    }
}

#[test]
fn an_unreadable_sector_loses_a_critical_group() {
    // Without a second failure worth a word: a group of eight is lost with its first failure, if the seven drives
    // that are left cannot be read: n lambda h.
    let mut about = exponential("raid5", 8, 1e9, 1e-8);
    about.latent = Some(Latent { per_byte: Some(1e-15), arrival: None, scrub: None });
    let h = -expm1(-7.0 * 16e12 * 1e-15);
    let exact = -expm1(-8.0 * h * YEAR / 1e9);
    let found = solved(about, Method::Chain, 1000);
    assert!((found.loss_in_a_year.value.unwrap() / exact - 1.0).abs() < 1e-9);
    assert!(found.share_by_sectors.unwrap() > 0.999_999);
    assert!(
        (found.bytes_lost.value.unwrap() / found.loss_in_life.value.unwrap() / (4096.0 * 0.112 / h) - 1.0)
            .abs()
            < 1e-3
    );
}

#[test]
fn groups_are_lost_like_groups_that_stand_alone() {
    let one = solved(exponential("raid6", 6, 1e5, 50.0), Method::Chain, 1000).loss_in_a_year.value.unwrap();
    let two = solved(exponential("raid60", 12, 1e5, 50.0), Method::Chain, 1000).loss_in_a_year.value.unwrap();
    assert!((two / (1.0 - (1.0 - one) * (1.0 - one)) - 1.0).abs() < 1e-8, "{one:e} {two:e}");
}

#[test]
fn a_repair_of_two_parts_has_its_closed_form() {
    // A mirror: failures at 2f, then the second drive outlives the parts of a repair with a/(a+f) each, so that T0 =
    // 1/(2f) + T1 and T1 = 1/(a+f) + a/(a+f) (1/(b+f) + b/(b+f) T0).
    let (f, a, b) = (1e-5, 1.0 / 48.0, 1.0 / 20.0);
    let mut about = exponential("raid1", 2, 1.0 / f, 1.0 / b);
    about.repair.replacement = Some(drivelab_durability::law::Law::Exponential { mean_hours: 1.0 / a });
    let ahead = 1.0 / (2.0 * f) + 1.0 / (a + f) + a / (a + f) / (b + f);
    let exact = ahead / (1.0 - a / (a + f) * b / (b + f)) / YEAR;
    let found = solved(about, Method::Chain, 1000).mttdl_years.value.unwrap();
    assert!((found / exact - 1.0).abs() < 1e-9, "{found} {exact}");
}

#[test]
fn a_drive_that_stands_alone_takes_its_own_data_with_it() {
    // The first of eight fails within t with 1 - exp(-8 t/m). Of a JBOD what it held is gone, of a stripe everything.
    let exact = -expm1(-8.0 * 10.0 * YEAR / 5e5);
    for method in [Method::Chain, Method::MonteCarlo] {
        for (level, drives) in [("jbod", 1.0), ("linear", 1.0), ("raid0", 8.0)] {
            let found = solved(exponential(level, 8, 5e5, 24.0), method, 1 << 18);
            assert!((found.loss_in_life.value.unwrap() / exact - 1.0).abs() < 0.01, "{level}");
            let bytes = found.bytes_lost.value.unwrap() / found.loss_in_life.value.unwrap();
            assert!((bytes / (drives * 16e12) - 1.0).abs() < 1e-6, "{level} {bytes}");
            assert!((found.usable_bytes - 8.0 * 16e12).abs() < 1.0, "{level}");
            assert_eq!(found.bears_worst, 0, "{level}");
        }
    }
}

#[test]
fn figures_of_what_is_not_described_are_absent() {
    let mut about = exponential("raid5", 8, 5e5, 24.0);
    let found = solved(about.clone(), Method::Chain, 1000);
    assert_eq!((found.unavailability, found.share_by_sectors), (None, None));
    about.latent = Some(Latent { per_byte: Some(0.0), arrival: None, scrub: None });
    about.outages = vec![Outage { name: "controller".into(), mttf_hours: 1e5, mttr_hours: 1.0 }];
    let found = solved(about, Method::Chain, 1000);
    assert_eq!(found.share_by_sectors, Some(0.0));
    assert!((found.unavailability.unwrap() * 100_001.0 - 1.0).abs() < 1e-9);
}

#[test]
fn what_no_double_holds_is_a_bound() {
    // With 62 members 6e-284 is still a value, and the mean time is its inverse but for the days until repairs are
    // under way; of 66 the mean time of 5e301 years is none, and of 128 nothing is.
    let mttf = -YEAR / libm::log1p(-0.01);
    let found = [62, 66, 128, 256].map(|n| solved(exponential("raid1", n, mttf, 20.0), Method::Auto, 1000));
    let value = found[0].loss_in_a_year.value.unwrap() * found[0].mttdl_years.value.unwrap();
    assert!((value - 1.0).abs() < 0.02, "{:?}", found[0]);
    for one in &found[1..] {
        assert_eq!(one.method, Method::Chain);
        for chance in [one.loss_in_a_year, one.loss_in_life, one.losses_in_life] {
            assert_eq!((chance.value, chance.low, chance.high), (None, 0.0, LEAST));
        }
        assert_eq!((one.mttdl_years.value, one.mttdl_years.low), (None, 1.0 / LEAST));
        assert_eq!((one.bytes_lost.value, one.nines, one.share_by_sectors), (None, None, None));
        assert!(one.bytes_lost.high > 0.0 && one.bytes_lost.high < 1e-270);
    }
}

#[test]
fn a_mirror_of_as_many_as_there_may_be_has_its_chain() {
    // From k missing to k + 1 on average in T_k = (1 + r k T_(k-1)) / (f (n - k)); the mean time is their sum. Once
    // repairs are under way, losses come at its inverse.
    let (f, r) = (1.0 / 1000.0, 1.0 / 2000.0);
    let (mut step, mut hours) = (0.0, 0.0);
    for k in 0..1024 {
        step = (1.0 + r * f64::from(k) * step) / (f * f64::from(1024 - k));
        hours += step;
    }
    let found = solved(exponential("raid1", 1024, 1.0 / f, 1.0 / r), Method::Auto, 1000);
    assert_eq!(found.method, Method::Chain);
    let years = found.mttdl_years.value.unwrap();
    assert!((years / (hours / YEAR) - 1.0).abs() < 1e-9, "{years:e} {:e}", hours / YEAR);
    let nine = found.loss_in_life.value.unwrap() - found.loss_in_a_year.value.unwrap();
    assert!((nine * years / 9.0 - 1.0).abs() < 1e-3, "{nine:e} {years:e}");
}

#[test]
fn a_group_takes_its_data_with_it_and_no_parity() {
    for (level, data) in [("raid0", 8.0), ("raid5", 7.0), ("raid6", 6.0), ("raidz3", 5.0), ("raid1", 1.0)] {
        let found = solved(exponential(level, 8, 2e4, 300.0), Method::Chain, 1000);
        let bytes = found.bytes_lost.value.unwrap() / found.loss_in_life.value.unwrap();
        assert!((bytes / (data * 16e12) - 1.0).abs() < 1e-6, "{level} {bytes}");
    }
}

#[test]
fn the_textbooks_repair_waits_for_a_delivery_only_without_a_spare() {
    for (spares, repair) in [(None, 90.0), (Some(0), 90.0), (Some(1), 30.0)] {
        let mut about = exponential("raid5", 8, 2e5, 30.0);
        about.spares = spares;
        about.repair.replacement = Some(Law::Exponential { mean_hours: 60.0 });
        let found = solved(about, Method::Chain, 1000).textbook.unwrap();
        assert!((found.approximate_hours * 56.0 * repair / 4e10 - 1.0).abs() < 1e-9, "{spares:?} {found:?}");
    }
}
