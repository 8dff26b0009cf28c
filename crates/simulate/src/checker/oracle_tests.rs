//! What the oracle lets pass, write by write.
use super::*;
use crate::checker::checked_target::own;

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
fn of_concurrent_writes_either_is_the_last_until_a_read_decides() {
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
fn a_read_that_ends_late_constrains_nothing_that_was_written_since_it_began() {
    let mut oracle = Oracle::new(true);
    oracle.submitted(&own(7, Access::Write, 5, 1));
    writes(&mut oracle, &[1]);
    oracle.submitted(&own(10, Access::Read, 5, 1));
    writes(&mut oracle, &[3]);
    assert!(reads(&mut oracle, 11, stamp(3, 5)));
    assert!(oracle.completed(7, Outcome::Done, &[]).is_ok());
    assert!(oracle.completed(10, Outcome::Done, &[stamp(1, 5)]).is_ok());
    assert!(!reads(&mut oracle, 12, stamp(1, 5)));
    assert!(reads(&mut oracle.clone(), 12, stamp(7, 5)));
    assert!(reads(&mut oracle, 13, stamp(3, 5)) && !reads(&mut oracle, 14, stamp(7, 5)));
}

/// The same of a write that was answered after that began: neither it nor what came then is overwritten by what was before.
#[test]
fn what_a_late_read_returns_may_be_overwritten_by_now() {
    let mut oracle = Oracle::new(true);
    [1, 2, 4].iter().for_each(|&id| oracle.submitted(&own(id, Access::Write, 5, 1)));
    [1, 2].iter().for_each(|&id| assert!(oracle.completed(id, Outcome::Done, &[]).is_ok()));
    oracle.submitted(&own(5, Access::Write, 5, 1));
    oracle.submitted(&own(10, Access::Read, 5, 1));
    [4, 5].iter().for_each(|&id| assert!(oracle.completed(id, Outcome::Done, &[]).is_ok()));
    assert!(oracle.completed(10, Outcome::Done, &[stamp(1, 5)]).is_ok());
    assert!(!reads(&mut oracle.clone(), 11, stamp(1, 5)) && !reads(&mut oracle.clone(), 11, stamp(2, 5)));
    assert!(reads(&mut oracle.clone(), 11, stamp(4, 5)) && reads(&mut oracle, 11, stamp(5, 5)));
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

/// What was answered while a FLUSH was under way came too late for it.
#[test]
fn a_flush_keeps_what_was_answered_before_it_began() {
    let mut oracle = Oracle::new(true);
    writes(&mut oracle, &[1]);
    oracle.submitted(&own(2, Access::Flush, 0, 0));
    writes(&mut oracle, &[3]);
    assert!(oracle.completed(2, Outcome::Done, &[]).is_ok());
    oracle.cut_power();
    assert!(!reads(&mut oracle.clone(), 10, BLANK));
    assert!(reads(&mut oracle.clone(), 11, stamp(1, 5)) && reads(&mut oracle, 12, stamp(3, 5)));
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

/// A battery has kept what a write that was not answered lies under: given up, it leaves that.
#[test]
fn under_what_is_given_up_there_may_be_a_write_that_was_never_answered() {
    let mut oracle = Oracle::new(false);
    oracle.submitted(&own(2, Access::Write, 5, 1));
    writes(&mut oracle, &[1]);
    oracle.cut_power();
    oracle.settle(5, &[stamp(1, 5)]);
    assert!(!reads(&mut oracle.clone(), 10, stamp(2, 5)));
    oracle.give_up(5, &[stamp(1, 5)]);
    assert!(reads(&mut oracle, 11, stamp(2, 5)) && !reads(&mut oracle, 12, stamp(2, 6)));
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

/// What a command costs: looks at stretches of sectors and at writes.
fn cost(oracle: &Oracle, before: u64, commands: u64) -> u64 {
    (oracle.steps() - before).div_ceil(commands)
}

/// An open loop that the target cannot keep up with, over one range: so many commands are under way at once, and each
/// answer finds all others there.
#[test]
fn what_a_command_costs_does_not_grow_with_those_under_way() {
    let of = |waiting: u64| {
        let mut oracle = Oracle::new(false).without_cuts();
        let is_read = |id: u64| id.is_multiple_of(3);
        let begins = |oracle: &mut Oracle, id: u64| {
            let access = if is_read(id) { Access::Read } else { Access::Write };
            oracle.submitted(&own(id, access, 0, 8));
        };
        (0..waiting).for_each(|id| begins(&mut oracle, id));
        let mut last = None;
        for id in 0..2 * waiting {
            let found = |at| last.map_or(BLANK, |write| stamp(write, at));
            let found: Vec<u64> = if is_read(id) { (0..8).map(found).collect() } else { Vec::new() };
            oracle.completed(id, Outcome::Done, &found).expect("the last write that was answered");
            last = if is_read(id) { last } else { Some(id) };
            begins(&mut oracle, id + waiting);
        }
        cost(&oracle, 0, 2 * waiting)
    };
    let (few, many) = (of(50), of(5_000));
    assert!(many <= 2 * few && many < 12, "{few} looks a command, then {many}");
}

/// I/Os that are cut into commands of one sector each: as many are under way, and each is a stretch of its own.
#[test]
fn commands_of_one_sector_cost_one_look_each() {
    let mut oracle = Oracle::new(true).without_cuts();
    for round in 0..4 {
        let id = |sector: u64| round * 2_048 + sector;
        (0..2_048).for_each(|at| oracle.submitted(&own(id(at), Access::Write, at, 1)));
        (0..2_048).for_each(|at| oracle.completed(id(at), Outcome::Done, &[]).expect("a write"));
    }
    assert!(cost(&oracle, 0, 4 * 2_048) <= 4, "{}", oracle.steps());
    // One large write makes one stretch of them again, and a read of all is one look at that.
    oracle.submitted(&own(1 << 20, Access::Write, 0, 2_048));
    oracle.completed(1 << 20, Outcome::Done, &[]).expect("a write");
    let before = oracle.steps();
    oracle.submitted(&own(1 << 21, Access::Read, 0, 2_048));
    let found: Vec<u64> = (0..2_048).map(|at| stamp(1 << 20, at)).collect();
    oracle.completed(1 << 21, Outcome::Done, &found).expect("what was written");
    assert!(cost(&oracle, before, 1) <= 3);
}

/// Over one range any number of writes takes no more memory than some, where no cut can bring them back.
#[test]
fn writes_that_nobody_can_find_are_forgotten() {
    let mut oracle = Oracle::new(true).without_cuts();
    for id in 0..100_000 {
        oracle.submitted(&own(id, Access::Write, id % 64, 8));
        oracle.completed(id, Outcome::Done, &[]).expect("a write");
    }
    assert!(oracle.bytes() < 1 << 20, "{} bytes", oracle.bytes());
    assert!(cost(&oracle, 0, 100_000) < 40, "{}", oracle.steps());
}

/// What one host has in a cache of its own the FLUSH of another one does not make durable.
#[test]
fn a_flush_is_that_of_its_host() {
    for (apart, expected) in [(false, false), (true, true)] {
        let mut oracle = Oracle::new(true);
        if apart {
            oracle = oracle.with_host_caches();
        }
        writes(&mut oracle, &[1]);
        oracle.submitted(&Command { initiator: 1, ..own(2, Access::Flush, 0, 0) });
        oracle.completed(2, Outcome::Done, &[]).expect("a flush");
        oracle.cut_power();
        assert_eq!(reads(&mut oracle, 10, BLANK), expected);
    }
}
