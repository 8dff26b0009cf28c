//! How long a command can wait, over random histories: what each limit and each order promises holds at every choice.
//!
//! The histories have commands that join or meet the head without having waited, ties, and crowds on one cylinder.
use super::*;

/// A few cylinders, so that the bounds in cylinders are within reach, or some thousands.
fn places() -> impl Strategy<Value = (SeekParams, u32)> {
    prop_oneof![2u32..40, 40u32..4_000].prop_flat_map(|cylinders| (curves(cylinders), Just(cylinders)))
}

/// Nobody goes before an older command of which this holds.
fn only_older_before(
    play: &Play<'_>,
    chosen: usize,
    holds: impl Fn(&Waiting) -> bool,
) -> Result<(), TestCaseError> {
    let passed = play.waiting[..chosen].iter().find(|older| holds(older));
    prop_assert!(passed.is_none(), "{:?} went before {passed:?}", play.waiting[chosen]);
    Ok(())
}

/// The longest that positioning can take, by the queue's reckoning: what the firmware still needs, data before the arm,
/// the longest movement, a turn, a write's margin and handicap.
fn longest_positioning(mechanism: &Mechanism, params: &QueueParams) -> u64 {
    let longest_seek = (0..mechanism.geometry.cylinders()).map(|d| mechanism.seek.time(d)).max().unwrap();
    let movement = u64::from(longest_seek).max(mechanism.settle.head_switch.as_ns());
    let settle = mechanism.settle.write_settle_ns.max(0) as u64;
    let write = params.write_margin.as_ns() + params.write_handicap.as_ns();
    let guard = params.seek_margin.of(movement + settle);
    READY_MAX + LEAD_MAX + movement + settle + PERIOD + write + guard
}

proptest! {
    #[test]
    fn from_the_age_limit_on_only_older_commands_go_before(
        (curve, cylinders) in places(), settle in settles(), params in queues(), limit in spans(90_000),
        seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        for order in Order::ALL {
            let params = QueueParams { order, age_limit: Some(limit), ..params.clone() };
            Play::new(&mechanism, params, seed).play(80, |play, chosen| {
                only_older_before(play, chosen, |older| play.age(older) >= limit.as_ns())
            })?;
        }
    }

    /// At most p services and the rest of the queue begin between a command's arrival and its own service.
    #[test]
    fn no_more_than_the_pass_limit_and_the_queue_begin_before_a_command(
        (curve, cylinders) in places(), settle in settles(), params in queues(), limit in 0u32..60,
        seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        for order in Order::ALL {
            let params = QueueParams { order, pass_limit: Some(limit), age_limit: None, ..params.clone() };
            let most = u64::from(limit + params.depth - 1);
            Play::new(&mechanism, params, seed).play(120, |play, chosen| {
                let passed = play.services - play.waiting[chosen].services;
                prop_assert!(passed <= most, "{passed} services before {:?}", play.waiting[chosen]);
                let full = |older: &Waiting| play.services - older.services >= limit.into();
                only_older_before(play, chosen, full)
            })?;
        }
    }

    /// No command goes before one that is older by more than (P + 1 ns) / w, and so none at all that came after that age.
    #[test]
    fn the_weight_of_age_bounds_how_much_younger_a_command_may_be_that_goes_first(
        (curve, cylinders) in places(), settle in settles(), params in queues(), numerator in 1u64..200,
        seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        let age_weight = AgeWeight::from_ratio(numerator, 20).unwrap();
        let longest = longest_positioning(&mechanism, &params);
        let bound = (u128::from(longest) + 1) * 20 / u128::from(numerator) + 1;
        {
            let order = Order::AgedSptf(age_weight);
            let params = QueueParams { order, age_limit: None, pass_limit: None, ..params.clone() };
            Play::new(&mechanism, params, seed).play(120, |play, chosen| {
                let arrived = play.waiting[chosen].entry.arrived;
                // The weight is kept in steps of 2^-16.
                let too_late = |older: &Waiting| {
                    u128::from(arrived - older.entry.arrived) > bound + bound / 3_000
                };
                only_older_before(play, chosen, too_late)
            })?;
        }
    }

    /// The same of a share c divided among n of at most d: (P + 1 ns) d / c.
    #[test]
    fn the_share_of_age_bounds_how_much_younger_a_command_may_be_that_goes_first(
        (curve, cylinders) in places(), settle in settles(), params in queues(), numerator in 1u64..200,
        seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        let order = Order::ShareAgedSptf(AgeWeight::from_ratio(numerator, 20).unwrap());
        let longest = longest_positioning(&mechanism, &params);
        let bound = (u128::from(longest) + 1) * 20 * u128::from(params.depth) / u128::from(numerator) + 1;
        let params = QueueParams { order, age_limit: None, pass_limit: None, ..params };
        Play::new(&mechanism, params, seed).play(120, |play, chosen| {
            let arrived = play.waiting[chosen].entry.arrived;
            let too_late =
                |older: &Waiting| u128::from(arrived - older.entry.arrived) > bound + bound / 3_000;
            only_older_before(play, chosen, too_late)
        })?;
    }

    #[test]
    fn from_the_full_age_on_only_older_commands_go_before_in_the_weighted_order(
        (curve, cylinders) in places(), settle in settles(), params in queues(), full in spans(200_000),
        seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        let order = Order::WeightedSptf(AgeFull::new(full));
        let params = QueueParams { order, age_limit: None, pass_limit: None, ..params };
        Play::new(&mechanism, params, seed).play(150, |play, chosen| {
            only_older_before(play, chosen, |older| play.age(older) >= full.as_ns())
        })?;
    }

    /// Past its deadline a write waits for older writes alone; before that, a read that waits goes before every write.
    #[test]
    fn reads_go_first_until_a_write_is_past_its_deadline(
        (curve, cylinders) in places(), settle in settles(), params in queues(), deadline in spans(200_000),
        seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        let order = Order::ReadFirstSptf(deadline);
        let params =
            QueueParams { order, age_limit: None, pass_limit: None, considers: None, sorts_from: None, ..params };
        Play::new(&mechanism, params, seed).play(150, |play, chosen| {
            let overdue =
                |waiting: &Waiting| waiting.entry.write && play.age(waiting) >= deadline.as_ns();
            let goes = &play.waiting[chosen];
            match play.waiting.iter().position(overdue) {
                Some(first) => prop_assert_eq!(chosen, first, "an overdue write waits"),
                None if goes.entry.write => prop_assert!(play.waiting.iter().all(|other| other.entry.write)),
                None => {}
            }
            Ok(())
        })?;
    }

    /// The arm comes to every command after at most 2 (C - 1) changes of cylinder under LOOK, C - 1 under C-LOOK, whatever
    /// arrives. It can be held on its way only by arrivals for the cylinder where it stands.
    #[test]
    fn the_sweeps_come_to_every_cylinder(
        (curve, cylinders) in (2u32..40).prop_flat_map(|cylinders| (curves(cylinders), Just(cylinders))),
        settle in settles(), depth in 2u32..40, seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        let stroke = u64::from(cylinders) - 1;
        for (order, most) in [(Order::Look, 2 * stroke), (Order::CLook, stroke)] {
            let params = QueueParams { order, depth, ..QueueParams::NONE };
            Play::new(&mechanism, params, seed).play(300, |play, chosen| {
                let moves = |waiting: &Waiting| play.moves - waiting.moves;
                let late = play.waiting.iter().find(|waiting| moves(waiting) > most);
                prop_assert!(late.is_none(), "{order:?}: {late:?}");
                // The move to the chosen one counts.
                let goes = &play.waiting[chosen];
                let moved = moves(goes) + u64::from(goes.entry.cylinder != play.arm.cylinder);
                prop_assert!(moved <= most, "{order:?}: {moved} moves before {goes:?}");
                Ok(())
            })?;
        }
    }

    /// Where nothing arrives for the cylinder on which the arm stands, services are bounded as well: on each cylinder at
    /// most those go first that waited there as the arm came.
    #[test]
    fn the_sweeps_bound_services_unless_commands_come_for_the_arms_own_cylinder(
        (curve, cylinders) in (2u32..20).prop_flat_map(|cylinders| (curves(cylinders), Just(cylinders))),
        depth in 2u32..12, seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, SettleParams::default());
        let stroke = u64::from(cylinders) - 1;
        for (order, moves) in [(Order::Look, 2 * stroke), (Order::CLook, stroke)] {
            let mut play = Play::new(&mechanism, QueueParams { order, depth, ..QueueParams::NONE }, seed);
            let most = (moves + 1) * u64::from(depth - 1);
            for _ in 0..300 {
                while play.has_room() {
                    let elsewhere = play.arm.cylinder + 1 + play.below(stroke) as u32;
                    play.arrive_at(elsewhere % cylinders);
                }
                let chosen = play.chosen().unwrap();
                let passed = play.services - play.waiting[chosen].services;
                prop_assert!(passed <= most, "{order:?}: {passed} before {:?}", play.waiting[chosen]);
                play.carry_out(chosen);
            }
        }
    }

    /// VSCAN(R): with a command before it within R times all cylinders the arm does not turn round, and goes no farther.
    #[test]
    fn vscan_does_not_turn_before_what_lies_within_its_weight(
        (curve, cylinders) in places(), settle in settles(), depth in 2u32..60, tenths in 1u64..=10,
        seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        let scan_weight = ScanWeight::from_ratio(tenths, 10).unwrap();
        let reach = i64::from(scan_weight.of(cylinders));
        let params = QueueParams { order: Order::VScan(scan_weight), depth, ..QueueParams::NONE };
        Play::new(&mechanism, params, seed).play(200, |play, chosen| {
            let before = |waiting: &Waiting| {
                let up = i64::from(waiting.entry.cylinder) - i64::from(play.arm.cylinder);
                if play.upward { up } else { -up }
            };
            let nearest = play.waiting.iter().map(before).filter(|ahead| (0..=reach).contains(ahead)).min();
            if let Some(nearest) = nearest {
                prop_assert_eq!(before(&play.waiting[chosen]), nearest);
            }
            Ok(())
        })?;
    }

    /// The ends of the continuum: R = 1 is LOOK at every choice, R = 0 goes to the least distance.
    #[test]
    fn vscan_leads_from_the_least_distance_to_look(
        (curve, cylinders) in places(), settle in settles(), depth in 2u32..60, seed in any::<u64>(),
    ) {
        let mechanism = mechanism(&curve, cylinders, settle);
        let weight = |ones| ScanWeight::from_ratio(ones, 1).unwrap();
        let params =
            |ones| QueueParams { order: Order::VScan(weight(ones)), depth, ..QueueParams::NONE };
        Play::new(&mechanism, params(1), seed).play(150, |play, chosen| {
            let view = play.view();
            let look = play.waiting.iter().enumerate().min_by_key(|&(i, waiting)| {
                (orders::look::cost(&waiting.entry, &view), i)
            });
            prop_assert_eq!(look.map(|(index, _)| index), Some(chosen));
            Ok(())
        })?;
        Play::new(&mechanism, params(0), seed).play(150, |play, chosen| {
            let distance = |waiting: &Waiting| waiting.entry.cylinder.abs_diff(play.arm.cylinder);
            let least = play.waiting.iter().map(distance).min();
            prop_assert_eq!(Some(distance(&play.waiting[chosen])), least);
            Ok(())
        })?;
    }

    /// The share that age takes off, against exact division.
    #[test]
    fn scaling_by_age_is_a_division(full in 1u64..1 << 50, age in 0u64..1 << 50, time in 0u64..1 << 34) {
        let scaled = AgeFull::new(Span::from_ns(full)).scale(time, age);
        let exact = u128::from(time) * u128::from(full.saturating_sub(age)) / u128::from(full);
        let error = exact.abs_diff(u128::from(scaled));
        let rounding = (u128::from(time) * (2 + u128::from(full >> 32))) >> 32;
        prop_assert!(error <= 1 + rounding, "{scaled} for {exact}");
        prop_assert!(age < full || scaled == 0);
    }
}
