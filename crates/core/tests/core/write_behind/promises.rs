//! What holds whatever the parameters, on random histories and in front of a device that reorders and fails. Most of it
//! is asserted by the rig at every step: reads return the newest version that was answered before they came, a FLUSH is
//! answered when the device has what it covers, no more is dirty than the limit, no two writes of the same sectors are with
//! the device at once, what a power cut would lose is known exactly, and every breakdown adds up.
use super::rig::{Rig, Service};
use super::{flush, params};
use drivelab_core::rng::{Stream, keyed};
use drivelab_core::storage::write_behind::Place;
use drivelab_core::storage::write_behind::params::{FlushOrder, ReadAhead, WriteBehindParams};
use drivelab_core::{Access, Command, Completion};
use drivelab_units::{Instant, Lba, Rate, Sectors, Span};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Small, so that room is short and everything meets everything.
fn caches() -> impl Strategy<Value = (WriteBehindParams, Place)> {
    let sizes = (8u64..120).prop_flat_map(|size| (Just(size), 4..=size)).prop_flat_map(|(size, limit)| {
        (Just(size), Just(limit), prop_oneof![Just(0), Just(limit), 0..=limit])
    });
    let age = prop::option::of((0u64..400).prop_map(Span::from_ns));
    let order = prop_oneof![Just(FlushOrder::Address), Just(FlushOrder::Age)];
    // From a sector in a nanosecond to one in twenty.
    let rate = prop::option::of((1u64..20).prop_map(|ns| 512_000_000_000 / ns));
    let speed = (rate, (0u64..9).prop_map(Span::from_ns));
    let place = prop_oneof![Just(Place::Host(0)), Just(Place::Controller)];
    let wait = prop_oneof![Just(0), 1u64..200].prop_map(Span::from_ns);
    let flushing = (1u64..40, 1u32..5, prop::option::of(2u64..24), wait);
    let read_ahead = prop::option::weighted(0.6, (1u64..20, 0u64..50, 1u32..4, 1u32..4, 1u32..4));
    let reading = (prop::bool::weighted(0.1), read_ahead);
    (sizes, age, order, flushing, speed, any::<[bool; 3]>(), reading, place).prop_map(
        |((size, limit, background), age, order, flushing, (rate, overhead), is, reading, place)| {
            let ((request, outstanding, stripe, stripe_wait), (write_through, read_ahead)) =
                (flushing, reading);
            let lines = |(unit, window, outstanding, after, streams)| ReadAhead {
                unit: Sectors::new(size.min(unit)),
                window: Sectors::new(size.min(window)),
                outstanding,
                after,
                streams,
            };
            let params = WriteBehindParams {
                size: Sectors::new(size),
                limit: Sectors::new(limit),
                background: Sectors::new(background),
                age,
                order,
                request: Sectors::new(request),
                outstanding,
                rate: rate.and_then(Rate::from_bytes_per_s),
                overhead,
                battery: is[0],
                force_unit_access: is[1],
                keeps_reads: is[2],
                stripe: stripe.map(Sectors::new),
                stripe_wait,
                write_through,
                read_ahead: read_ahead.map(lines),
            };
            (params, place)
        },
    )
}

fn commands() -> impl Strategy<Value = Command> {
    let access = prop_oneof![8 => Just(Access::Write), 6 => Just(Access::Read), 1 => Just(Access::Flush)];
    let marked = || prop::bool::weighted(0.06);
    (access, 0u64..60, 1u64..14, marked(), marked()).prop_map(
        |(access, first, count, direct, force_unit_access)| {
            let names = access != Access::Flush;
            let (first, count) =
                if names { (Lba::new(first), Sectors::new(count)) } else { (Lba::ZERO, Sectors::ZERO) };
            Command { access, first, count, direct, force_unit_access, ..flush(0) }
        },
    )
}

/// Commands and the nanoseconds between them.
fn histories() -> impl Strategy<Value = Vec<(Instant, Command)>> {
    let gap = prop_oneof![2 => Just(0u64), 2 => 1u64..9, 2 => 9u64..90, 1 => 90u64..900];
    prop::collection::vec((gap, commands()), 1..160).prop_map(|steps| {
        let mut now = Instant::ZERO;
        let arrival = |(id, (gap, command)): (u64, (u64, Command))| {
            now += Span::from_ns(gap);
            (now, Command { id, tag: id as u32, ..command })
        };
        (0..).zip(steps).map(arrival).collect()
    })
}

/// Each command takes a time of its own, and one in sixteen fails, the same place once.
fn device(seed: u64) -> impl Fn(&Command) -> Service {
    let failures = RefCell::new(BTreeMap::<Lba, u8>::new());
    move |command| {
        let drawn = keyed(seed, command.id ^ command.first.get() << 20);
        let span = 1 + drawn % 60;
        let effect = Span::from_ns((drawn >> 16) % (span + 1));
        let mut fails = command.access != Access::Flush && (drawn >> 32).is_multiple_of(16);
        if fails {
            let mut failures = failures.borrow_mut();
            let before = failures.entry(command.first).or_default();
            *before += 1;
            fails = *before < 2;
        }
        Service { span: Span::from_ns(span), effect, fails }
    }
}

/// Everything that the host hears, and what the device was given.
fn run(
    (params, place): &(WriteBehindParams, Place),
    history: &[(Instant, Command)],
    seed: u64,
    mut curious: Option<Stream>,
) -> Rig {
    let mut rig = Rig::new(params, *place, device(seed));
    for &(at, command) in history {
        rig.arrive(at, command);
    }
    while let Some(due) = rig.due() {
        if let Some(stream) = &mut curious {
            let between = due.since(rig.now).as_ns();
            if between > 0 {
                rig.now += Span::from_ns(stream.below(between));
                rig.cache.tick(rig.now);
            }
        }
        rig.step();
    }
    rig
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_is_old(cache in caches(), history in histories(), seed in any::<u64>()) {
        let mut rig = run(&cache, &history, seed, None);
        prop_assert_eq!(rig.unanswered(), Vec::<u64>::new());
        // What nobody waits for may wait for ever; a FLUSH gets it to the device, unless a battery keeps it.
        let id = history.len() as u64;
        rig.go(flush(id));
        rig.run();
        if !cache.0.battery || cache.0.write_through {
            prop_assert_eq!(rig.cache.dirty(), Sectors::ZERO);
            rig.check_newest();
        }
    }

    #[test]
    fn superfluous_ticks_change_nothing(cache in caches(), history in histories(), seed in any::<u64>()) {
        let plain = run(&cache, &history, seed, None);
        let curious = run(&cache, &history, seed, Some(Stream::named(seed, "test/curious")));
        prop_assert_eq!(plain.answers, curious.answers);
        prop_assert_eq!(plain.sent, curious.sent);
    }

    #[test]
    fn data_go_when_they_are_old(cache in caches(), history in histories(), seed in any::<u64>(), age in 1u64..300) {
        let params = WriteBehindParams { age: Some(Span::from_ns(age)), ..cache.0 };
        let rig = run(&(params, cache.1), &history, seed, None);
        prop_assert_eq!(rig.cache.dirty(), Sectors::ZERO);
        rig.check_newest();
    }

    #[test]
    fn writes_are_taken_in_the_order_in_which_they_came(cache in caches(), history in histories(), seed in any::<u64>()) {
        let rig = run(&cache, &history, seed, None);
        let through: Vec<u64> = rig.sent.iter().map(|sent| sent.command.id).collect();
        let is_taken = |answer: &&Completion| {
            let command = history[answer.id as usize].1;
            command.access == Access::Write && !through.contains(&answer.id)
        };
        prop_assert!(rig.answers.iter().filter(is_taken).map(|answer| answer.id).is_sorted());
    }
}

#[test]
fn the_rig_reaches_every_part() {
    // A history that fills the memory, waits, rewrites what is on its way, and goes through.
    let tight = WriteBehindParams {
        size: Sectors::new(40),
        limit: Sectors::new(32),
        background: Sectors::new(16),
        request: Sectors::new(8),
        outstanding: 2,
        // The device is what the others wait for.
        rate: None,
        keeps_reads: true,
        ..params()
    };
    let (mut stream, mut history) = (Stream::named(7, "test/history"), Vec::new());
    for id in 0..3_000 {
        let first = Lba::new(stream.below(60));
        let access = if stream.below(3) == 0 { Access::Read } else { Access::Write };
        let (direct, count) = (stream.below(16) == 0, Sectors::new(1 + stream.below(12)));
        let at = Instant::from_ns(20 * id + stream.below(20));
        history.push((at, Command { id, tag: id as u32, access, first, count, direct, ..flush(0) }));
    }
    let rig = run(&(tight, Place::Host(0)), &history, 7, None);
    assert!(rig.unanswered().is_empty());
    let flushes = rig.flushes().count();
    let mixed = rig.flushes().filter(|sent| sent.pieces.len() > 1).count();
    let from_memory = rig.answers.len() - (rig.sent.len() - flushes);
    let waited = rig.answers.iter().filter(|answer| answer.breakdown.queue > Span::from_ns(100)).count();
    assert!(flushes > 300 && mixed > 100 && from_memory > 500 && waited > 300 && rig.most_dirty == 32);
}
