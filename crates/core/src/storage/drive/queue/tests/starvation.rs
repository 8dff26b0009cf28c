//! Commands that starve: each order that promises nothing is shown to keep one waiting for ever, so that the tests of the
//! bounds can tell; and each limit ends it.
use super::*;

const CYLINDERS: u32 = 1_000;
const PATIENCE: u32 = 5_000;

fn thousand_cylinders() -> Mechanism {
    let table = vec![(1, Span::from_us(1_010)), (1_000, Span::from_ms(41))];
    mechanism(&SeekParams::Table(table), CYLINDERS, SettleParams::default())
}

fn in_order(order: Order) -> QueueParams {
    QueueParams { order, depth: 8, knows: PositionKnowledge::Angle, ..QueueParams::NONE }
}

/// How many services a command for `far` waits through with the arm first on `from`, while two others are kept waiting,
/// each for the cylinder that `next` names; `None` when it still waits at the end.
fn waits(params: QueueParams, from: u32, far: u32, mut next: impl FnMut(&Play<'_>) -> u32) -> Option<u32> {
    let mechanism = thousand_cylinders();
    let mut play = Play::new(&mechanism, params, 7);
    play.arm = Arm { cylinder: from, head: 0 };
    play.arrive_at(far);
    for service in 0..PATIENCE {
        while play.waiting.len() < 3 {
            let cylinder = next(&play);
            play.arrive_at(cylinder);
        }
        let chosen = play.chosen().unwrap();
        if play.waiting[chosen].entry.sequence == 0 {
            return Some(service);
        }
        play.carry_out(chosen);
    }
    None
}

/// Commands close to the arm, on either side of the middle.
fn close(play: &Play<'_>) -> u32 {
    500 + (play.services % 20) as u32
}

#[test]
fn the_shortest_seek_and_the_shortest_positioning_starve_a_far_command() {
    for order in [Order::Sstf, Order::Sptf] {
        assert_eq!(waits(in_order(order), 500, 999, close), None, "{order:?}");
        let limited = QueueParams { age_limit: Some(Span::from_ms(100)), ..in_order(order) };
        assert!(waits(limited, 500, 999, close).is_some(), "{order:?} with an age limit");
        let limited = QueueParams { pass_limit: Some(40), ..in_order(order) };
        assert_eq!(waits(limited, 500, 999, close), Some(40), "{order:?} with a pass limit");
    }
    // A credit for age of nothing is none; any other ends it.
    assert_eq!(waits(in_order(Order::AgedSptf(AgeWeight::NONE)), 500, 999, close), None);
    let weight = AgeWeight::from_ratio(1, 100).unwrap();
    assert!(waits(in_order(Order::AgedSptf(weight)), 500, 999, close).is_some());
    assert!(waits(in_order(orders::weighted_sptf::USUAL), 500, 999, close).is_some());
}

#[test]
fn arrivals_for_the_arms_own_cylinder_hold_every_sweep() {
    for order in [Order::Look, Order::CLook, Order::VScan(ScanWeight::default())] {
        let here = |play: &Play<'_>| play.arm.cylinder;
        assert_eq!(waits(in_order(order), 500, 501, here), None, "{order:?}");
        let limited = QueueParams { pass_limit: Some(9), ..in_order(order) };
        assert_eq!(waits(limited, 500, 501, here), Some(9), "{order:?}");
    }
}

#[test]
fn vscan_starves_what_lies_beyond_its_weight_unless_it_is_look() {
    let weighted = |tenths| in_order(Order::VScan(ScanWeight::from_ratio(tenths, 10).unwrap()));
    // Never on the arm's own cylinder: 10 cylinders to this side and that of the middle, always where the arm is not.
    let beside = |play: &Play<'_>| if play.arm.cylinder == 490 { 510 } else { 490 };
    assert_eq!(waits(weighted(2), 500, 999, beside), None);
    assert!(waits(weighted(10), 500, 999, beside).is_some());
    // Within 200 cylinders the arm does not turn before it is there.
    assert!(waits(weighted(2), 500, 699, beside).is_some());
}

#[test]
fn overdue_writes_starve_a_read_without_a_limit() {
    let mechanism = thousand_cylinders();
    let waits = |pass_limit| {
        let params = QueueParams { pass_limit, ..in_order(Order::ReadFirstSptf(Span::ZERO)) };
        let mut play = Play::new(&mechanism, params, 3);
        play.arrive_as(500, false);
        for service in 0..PATIENCE {
            while play.waiting.len() < 3 {
                play.arrive_as(500, true);
            }
            let chosen = play.chosen().unwrap();
            if !play.waiting[chosen].entry.write {
                return Some(service);
            }
            play.carry_out(chosen);
        }
        None
    };
    assert_eq!(waits(None), None);
    assert_eq!(waits(Some(5)), Some(5));
}
