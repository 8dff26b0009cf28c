//! Deep queues: every policy finds the naive choice there too, and examines about the root of what waits.
use super::super::outward::EXAMINED;
use super::*;
use proptest::test_runner::Config;

/// A fraction of the usual cases: each is large.
fn fewer(part: u32) -> Config {
    let usual = Config::default();
    Config { cases: usual.cases.div_ceil(part), ..usual }
}

proptest! {
    #![proptest_config(fewer(8))]
    #[test]
    fn every_policy_finds_the_least_in_a_deep_queue(
        (curve, cylinders) in curves_and_cylinders(), settle in settles(),
        params in queues_of(250u32..3_000), orders in orders(), seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        for order in orders {
            // Half of them without the limits, which would decide most choices of so long a queue.
            let plain = QueueParams { age_limit: None, pass_limit: None, considers: None, sorts_from: None, ..params.clone() };
            for (params, crowded) in [(&params, false), (&plain, false), (&plain, true)] {
                let mut play = Play::new(&mechanism, QueueParams { order, ..params.clone() }, seed);
                while play.has_room() {
                    let crowd = play.arm.cylinder.saturating_sub(3) + play.below(7) as u32;
                    if crowded { play.arrive_at(crowd.min(cylinders - 1)) } else { play.arrive() }
                }
                play.play(12, Play::check)?;
            }
        }
    }
}

proptest! {
    #![proptest_config(fewer(2))]
    /// By angle, where no access begins in its middle: a table for many with a few in it or some hundreds, all over the drive
    /// or on a part of it, while others come and the bands follow them.
    #[test]
    fn the_walk_by_angle_finds_the_least(
        (curve, cylinders) in curves_and_cylinders(), settle in settles(), params in queues_of(129u32..3_000),
        orders in orders(), count in prop_oneof![1u32..8, 60u32..300], part in 1u64..50, seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        for order in orders {
            let params = QueueParams {
                order, knows: PositionKnowledge::Angle, age_limit: None, pass_limit: None, considers: None, sorts_from: None,
                ..params.clone()
            };
            let mut play = Play::new(&mechanism, params, seed);
            let used = (u64::from(cylinders) / part).max(1);
            for step in 0..2 * count {
                // The second half of them lies elsewhere.
                let from = if step < count { 0 } else { u64::from(cylinders) - used };
                let cylinder = from + play.below(used);
                play.arrive_anywhere(cylinder as u32);
                if step >= count || !play.has_room() {
                    let chosen = play.chosen().unwrap();
                    play.check(chosen)?;
                    play.carry_out(chosen);
                }
            }
        }
    }
}

/// How many entries a choice examines, the mean over some choices from a queue that is kept full with commands for the
/// first so many cylinders.
fn examined(order: Order, depth: u32, mechanism: &Mechanism, cylinders: u32) -> u32 {
    // A queue takes some 3 ms a command.
    let ages = Span::from_ms(20 * u64::from(depth)).as_ns();
    let weight = order.rule().weighs.map_or(0, |weighs| match weighs.unit {
        // One that all share is divided by the depth.
        orders::Unit::Share { .. } if weighs.key == "age_share" => weighs.usual,
        orders::Unit::Share { .. } => 100_000,
        orders::Unit::Time => ages,
    });
    let params = QueueParams {
        order: order.weighing(weight),
        depth,
        knows: PositionKnowledge::Angle,
        ..QueueParams::NONE
    };
    let mut play = Play::new(mechanism, params, u64::from(depth));
    play.arm.cylinder = cylinders / 2;
    let cylinders = u64::from(cylinders);
    while play.has_room() {
        let cylinder = play.below(cylinders) as u32;
        play.arrive_anywhere(cylinder);
    }
    const CHOICES: u32 = 100;
    EXAMINED.set(0);
    for _ in 0..CHOICES {
        let chosen = play.chosen().unwrap();
        play.carry_out(chosen);
        let cylinder = play.below(cylinders) as u32;
        play.arrive_anywhere(cylinder);
    }
    EXAMINED.get() / CHOICES
}

/// A choice examines no more than four times the root of the depth, and so many. Where the credit of age
/// falls with the depth neither way nor age decides alone in a deep queue: eight times.
fn check_growth(cylinders: u32, used: u32, depths: &[u32], more: u32) {
    let [single, average, full] = [600, 8_500, 18_000].map(Span::from_us);
    let mechanism = mechanism(&SeekParams::Lee { single, average, full }, cylinders, SettleParams::default());
    for order in Order::ALL {
        for &depth in depths {
            let key = order.rule().weighs.map_or("", |weighs| weighs.key);
            let times = if key == "age_share" { 8 } else { 4 };
            let found = examined(order, depth, &mechanism, used);
            // Where age counts one walk goes down all of a short queue.
            let is_walked = depth <= 64 && key.starts_with("age_");
            let most = if is_walked { depth } else { times * depth.isqrt() + more };
            println!("{order:?}, {used} of {cylinders} cylinders, depth {depth}: {found} of at most {most}");
            assert!(found <= most, "{order:?} {used}/{cylinders} {depth}: {found} above {most}");
        }
    }
}

#[test]
fn what_a_choice_examines_grows_with_the_root_of_the_depth_at_most() {
    for cylinders in [7_000, 310_000] {
        check_growth(cylinders, cylinders, &[32, 256, 2_048, 16_384, DEPTH_MAX], 0);
    }
}

/// Also where all commands crowd on a few cylinders, or on one.
#[test]
fn a_crowd_on_few_cylinders_is_not_examined_one_by_one() {
    for used in [1, 2, 64, 1_000] {
        check_growth(310_000, used, &[2_048, 16_384, DEPTH_MAX], 200);
    }
}

/// At its maximum age a command costs nothing, and that it goes first is known without a look at the others.
#[test]
fn a_command_of_the_maximum_age_is_served_without_a_search() {
    let curve = SeekParams::Table(vec![(1, Span::from_ms(1)), (9, Span::from_ms(2))]);
    let mechanism = mechanism(&curve, 10, SettleParams::default());
    let params = QueueParams { order: orders::weighted_sptf::USUAL, depth: 2_000, ..QueueParams::NONE };
    let mut play = Play::new(&mechanism, params, 5);
    while play.has_room() {
        play.arrive();
    }
    play.params.order = Order::WeightedSptf(AgeFull::new(Span::from_ns(play.age(&play.waiting[0]))));
    EXAMINED.set(0);
    assert_eq!((play.chosen(), EXAMINED.get()), (Some(0), 0));
}
