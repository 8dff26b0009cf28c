//! What memory does about flushes that its device does not do: it tries again, holds on to the data, and in the end tells.
use super::closed::{HOST, flushed};
use super::rig::{Rig, Service};
use super::{flush, params, read, us, write};
use drivelab_core::storage::write_behind::params::WriteBehindParams;
use drivelab_core::storage::write_behind::{GivenUp, Place};
use drivelab_core::{Access, Command, Outcome};
use drivelab_units::{Lba, Sectors, Span};
use std::cell::Cell;

/// A device that does no write below this address.
fn refusing(below: u64) -> impl Fn(&Command) -> Service {
    move |command| {
        let fails = command.access == Access::Write && command.first.get() < below;
        Service { fails, ..Service::takes(us(100)) }
    }
}

#[test]
fn a_failed_flush_is_tried_again_a_millisecond_later() {
    let failures = Cell::new(2);
    let mut rig = Rig::new(&params(), HOST, move |command| {
        let fails = command.access == Access::Write && failures.replace(failures.get().max(1) - 1) > 0;
        Service { fails, ..Service::takes(us(100)) }
    });
    rig.go(write(0, 0, 8));
    let answer = rig.go(flush(1));
    assert_eq!(answer.breakdown.queue, us(100 + 1_000 + 100 + 1_000 + 100));
    assert_eq!(flushed(&rig), [(0, 8); 3]);
}

#[test]
fn what_failed_goes_again_alone_and_the_data_stay_dirty() {
    let failures = Cell::new(2);
    let params = WriteBehindParams { background: Sectors::ZERO, outstanding: 4, ..params() };
    let mut rig = Rig::new(&params, HOST, move |command| {
        let fails = command.first.get() == 0 && failures.replace(failures.get().max(1) - 1) > 0;
        Service { fails, ..Service::takes(us(100)) }
    });
    rig.go(write(0, 0, 8));
    rig.run_until(rig.now + us(150));
    assert_eq!(rig.cache.failed_flushes(), 1);
    // These would go at once, side by side.
    (1..4).for_each(|id| rig.send(write(id, 100 * id, 8)));
    rig.run_until(rig.now + us(500));
    assert_eq!(rig.cache.dirty(), Sectors::new(32), "nothing goes before what has failed");
    rig.run();
    let at = |first: u64| {
        let of = rig.flushes().filter(move |sent| sent.command.first.get() == first);
        of.map(|sent| (sent.at, sent.done.unwrap())).collect::<Vec<_>>()
    };
    let failed = at(0);
    assert_eq!(failed.len(), 3);
    for first in [100, 200, 300] {
        assert_eq!((at(first).len(), at(first)[0].0), (1, failed[2].1), "{first}");
    }
    assert_eq!((rig.cache.failed_flushes(), rig.cache.poll_given_up()), (2, None));
}

#[test]
fn data_that_never_come_are_given_up_and_the_next_flush_reports_it() {
    let mut rig = Rig::new(&params(), HOST, refusing(50));
    rig.go(write(0, 0, 8));
    rig.go(write(1, 100, 8));
    let answer = rig.go(flush(2));
    assert_eq!(answer.outcome, Outcome::TimedOut);
    // The other one waits until that is settled.
    assert_eq!(answer.breakdown.queue, us(5 * 100 + 4 * 1_000 + 100));
    assert_eq!(rig.cache.dirty(), Sectors::ZERO);
    let (first, count) = (Lba::ZERO, Sectors::new(8));
    let expected = GivenUp { write: 0, first, count, outcome: Outcome::TimedOut };
    assert_eq!((rig.cache.poll_given_up(), rig.cache.poll_given_up()), (Some(expected), None));
    assert_eq!(rig.go(flush(3)).outcome, Outcome::Done, "it is said once");
    assert!(rig.go(read(4, 0, 8)).breakdown.transfer > Span::ZERO, "memory has them no more");
}

#[test]
fn a_flush_that_a_battery_answers_reports_what_was_given_up() {
    let params = WriteBehindParams { battery: true, background: Sectors::ZERO, ..params() };
    let mut rig = Rig::new(&params, Place::Controller, refusing(u64::MAX));
    rig.go(write(0, 0, 8));
    assert_eq!(rig.go(flush(1)).outcome, Outcome::Done, "the data are safe so far");
    rig.run();
    assert_eq!(rig.go(flush(2)).outcome, Outcome::TimedOut);
    assert_eq!(rig.go(flush(3)).outcome, Outcome::Done, "it is said once");
}

#[test]
fn a_memory_that_has_given_up_data_answers_for_nothing_any_more() {
    let params = WriteBehindParams { battery: true, background: Sectors::ZERO, ..params() };
    let mut rig = Rig::new(&params, Place::Controller, refusing(50));
    assert!(!rig.cache.takes_no_writes());
    rig.go(write(0, 0, 8));
    rig.run();
    assert!(rig.cache.takes_no_writes());
    // The device answers for them, as long as it takes.
    assert_eq!(rig.go(write(1, 100, 8)).breakdown.transfer, us(100));
    assert_eq!(rig.go(write(2, 0, 8)).outcome, Outcome::TimedOut);
    assert_eq!(rig.go(flush(3)).outcome, Outcome::TimedOut);
    assert_eq!(rig.go(flush(4)).breakdown.transfer, us(100), "what went through may be in a cache below");
    assert_eq!(rig.cache.dirty(), Sectors::ZERO);
}

#[test]
fn what_waits_for_room_goes_through_once_data_were_given_up() {
    let params = WriteBehindParams { background: Sectors::ZERO, ..params() };
    let mut rig = Rig::new(&params, Place::Controller, refusing(900));
    let limit = params.limit.get();
    rig.send(write(0, 0, limit));
    rig.send(write(1, 950, 8));
    rig.run();
    assert_eq!(rig.unanswered(), Vec::<u64>::new());
    let sent: Vec<u64> = rig.sent.iter().map(|sent| sent.command.id).filter(|&id| id < 10).collect();
    assert_eq!(sent, [1]);
}

/// A write past memory has waited for a flush of the same blocks that failed: what was older never goes behind it.
#[test]
fn a_flush_that_goes_again_does_not_overtake_a_write_that_goes_through() {
    let failures = Cell::new(1);
    let params = WriteBehindParams { background: Sectors::ZERO, ..params() };
    let mut rig = Rig::new(&params, HOST, move |command| {
        let fails = failures.replace(0) > 0;
        let span = if command.direct { us(5_000) } else { us(100) };
        Service { fails, ..Service::takes(span) }
    });
    rig.go(write(0, 0, 8));
    rig.send(Command { direct: true, ..write(1, 0, 8) });
    rig.run();
    assert_eq!(flushed(&rig), [(0, 8)], "what failed was older");
    rig.go(read(2, 0, 8));
    rig.check_newest();
}
