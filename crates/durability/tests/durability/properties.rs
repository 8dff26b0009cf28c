//! What holds for every array.
use crate::{exponential, solved};
use drivelab_durability::Method;
use drivelab_durability::law::Law;
use proptest::prelude::*;

fn chance(about: drivelab_durability::Description) -> f64 {
    solved(about, Method::Chain, 1000).loss_in_a_year.value.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn more_spares_are_never_worse(spares in 0u32..4, members in 4u32..10, delivery in 10.0..2000.0f64) {
        let with = |spares| {
            let mut about = exponential("raid6", members, 1e5, 20.0);
            about.spares = Some(spares);
            about.repair.replacement = Some(Law::Exponential { mean_hours: delivery });
            chance(about)
        };
        prop_assert!(with(spares + 1) <= with(spares) * (1.0 + 1e-12));
    }

    #[test]
    fn losses_grow_with_failures_repairs_and_members(
        level in prop::sample::select(vec!["raid0", "raid1", "raid5", "raid6", "raidz3", "raid10", "raid01"]),
        half in 3u32..6, mttf in 1e4..1e7f64, rebuild in 0.1..200.0f64,
    ) {
        let base = chance(exponential(level, 2 * half, mttf, rebuild));
        prop_assert!((0.0..=1.0).contains(&base) && base > 0.0);
        prop_assert!(chance(exponential(level, 2 * half, 0.9 * mttf, rebuild)) > base);
        if level != "raid0" {
            prop_assert!(chance(exponential(level, 2 * half, mttf, 1.1 * rebuild)) > base);
        }
        if level != "raid1" {
            prop_assert!(chance(exponential(level, 2 * half + 2, mttf, rebuild)) > base);
        }
    }

    #[test]
    fn a_seed_is_repeated_to_the_bit(seed in 0u64..1000) {
        let plan = drivelab_durability::Plan::check(exponential("raid5", 4, 1e5, 100.0)).unwrap();
        let settings = drivelab_durability::Settings { seed, ..crate::settings(Method::MonteCarlo, 5000) };
        let twice = [0, 1].map(|_| drivelab_durability::solve(&plan, &settings).unwrap().loss_in_life);
        prop_assert_eq!(twice[0], twice[1]);
    }
}
