//! What the oracle lets pass, write by write.
use super::*;
use crate::truth::watched::own;

/// An oracle of something volatile, and what it thinks of a read of sector 5 that finds this.
fn reads(oracle: &mut Oracle, id: u64, found: u64) -> bool {
    oracle.submitted(&own(id, Access::Read, 5, 1));
    oracle.completed(id, Outcome::Done, &[found]).is_ok()
}

fn writes(oracle: &mut Oracle, ids: &[u64]) {
    ids.iter().for_each(|&id| oracle.submitted(&own(id, Access::Write, 5, 1)));
    ids.iter().for_each(|&id| oracle.completed(id, Outcome::Done, &[]).expect("a write is no lie"));
}

#[test]
fn of_writes_at_once_either_is_the_last_until_a_read_has_told() {
    let mut oracle = Oracle::new(true);
    writes(&mut oracle, &[1, 2]);
    assert!(!reads(&mut oracle, 10, BLANK) && !reads(&mut oracle, 11, stamp(1, 6)));
    assert!(reads(&mut oracle, 12, stamp(1, 5)) && reads(&mut oracle, 13, stamp(1, 5)));
    assert!(!reads(&mut oracle, 14, stamp(2, 5)));
}

#[test]
fn a_read_may_see_what_is_overwritten_meanwhile_and_none_that_comes_later() {
    let mut oracle = Oracle::new(true);
    writes(&mut oracle, &[1]);
    oracle.submitted(&own(10, Access::Read, 5, 1));
    writes(&mut oracle, &[2]);
    assert!(oracle.completed(10, Outcome::Done, &[stamp(1, 5)]).is_ok());
    assert!(!reads(&mut oracle, 11, stamp(1, 5)));
}

#[test]
fn a_cut_takes_back_what_no_flush_came_behind() {
    let after_cut = |flushed: bool, found: u64| {
        let mut oracle = Oracle::new(true);
        writes(&mut oracle, &[1]);
        if flushed {
            oracle.submitted(&own(2, Access::Flush, 0, 0));
            assert!(oracle.completed(2, Outcome::Done, &[]).is_ok());
        }
        writes(&mut oracle, &[3]);
        oracle.cut_power();
        reads(&mut oracle, 10, found)
    };
    for flushed in [false, true] {
        assert!(after_cut(flushed, stamp(1, 5)) && after_cut(flushed, stamp(3, 5)));
        assert_eq!(after_cut(flushed, BLANK), !flushed);
    }
}

#[test]
fn what_a_memory_gives_up_may_come_back_or_not_until_somebody_writes_again() {
    let mut oracle = Oracle::new(false);
    [[1], [2]].iter().for_each(|write| writes(&mut oracle, write));
    assert!(!reads(&mut oracle, 10, BLANK) && !reads(&mut oracle, 11, stamp(1, 5)));
    let mut after_cut = oracle.clone();
    // A battery keeps them over the cut, and its controller finds then that it cannot write them.
    after_cut.cut_power();
    after_cut.give_up(5, &[stamp(2, 5)]);
    oracle.give_up(5, &[stamp(2, 5)]);
    for found in [stamp(2, 5), BLANK, stamp(1, 5), stamp(2, 5)] {
        assert!(reads(&mut oracle, 12, found) && reads(&mut after_cut, 12, found));
    }
    assert!(!reads(&mut oracle, 13, stamp(1, 6)));
    writes(&mut oracle, &[3]);
    // Another memory finds that it cannot write what is overwritten by now.
    oracle.give_up(5, &[stamp(2, 5)]);
    for _ in 0..2 {
        assert!([BLANK, stamp(1, 5), stamp(2, 5)].iter().all(|&old| !reads(&mut oracle, 14, old)));
        assert!(reads(&mut oracle, 15, stamp(3, 5)));
        oracle.cut_power();
    }
}

#[test]
fn where_nothing_is_volatile_a_cut_takes_back_what_is_not_answered() {
    let mut oracle = Oracle::new(false);
    writes(&mut oracle, &[1]);
    oracle.submitted(&own(2, Access::Write, 5, 1));
    oracle.cut_power();
    assert!(!reads(&mut oracle, 10, BLANK));
    assert!(reads(&mut oracle, 11, stamp(2, 5)) && reads(&mut oracle, 12, stamp(1, 5)));
    // Everything was read, and this is what was there.
    oracle.settle(5, &[stamp(1, 5)]);
    assert!(!reads(&mut oracle, 13, stamp(2, 5)) && reads(&mut oracle, 14, stamp(1, 5)));
}
