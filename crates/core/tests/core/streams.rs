//! A stream of reads beside other commands, on a drive that stays with streams: for how long, and for which ones.
use crate::common::*;
use drivelab_core::Access::{Read, Write};
use drivelab_core::storage::TargetInput;
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::queue::{ChoiceTime, JoinsUntil, Order, QueueParams};
use drivelab_core::{Access, Command, Completion};
use drivelab_units::{Instant, Sectors, Span};
use proptest::prelude::*;

/// Sectors of a read of the stream.
const SIZE: u64 = 64;
/// Reads after which a stream is recognized.
const RECOGNIZED: u64 = 16;
/// Far from every stream here.
const FAR: u64 = 500_000;
/// An upper bound of the time to read ahead 1 000 sectors: 10 ms, and two changes of the track, each a seek and a turn.
const READ_AHEAD: Span = ms(10 + 2 * 7);
/// An upper bound of an access: a seek, two turns, a read of the stream, and a change of the track in it.
const LONGEST: Span = ms(1 + 12 + 1 + 7);

/// A drive that reads ahead 1 000 sectors, and stays with streams for this long.
fn staying(limit: Option<Span>, mut queue: QueueParams) -> DriveParams {
    queue.stream_limit = limit;
    DriveParams { queue, cache: Some(CacheParams::reading_on(Sectors::new(1_000))), ..drive() }
}

/// Another command of 8 sectors beside the stream.
#[derive(Clone, Copy, Debug)]
struct Other {
    at: Span,
    access: Access,
    first: u64,
}

fn read(at: Span, first: u64) -> Other {
    Other { at, access: Read, first }
}

/// The stream's host: it keeps `outstanding` reads in the drive until it has sent `most`.
struct Stream {
    outstanding: u64,
    most: u64,
}

/// The ends of the stream's reads, and the completions of the others in the order of their ends; their ids are their
/// positions.
fn play(params: &DriveParams, stream: &Stream, others: &[Other]) -> (Vec<Instant>, Vec<Completion>) {
    let mut target = sorted::Target::new(&target(params), 1);
    let (mut ends, mut beside) = (Vec::new(), Vec::new());
    let mut sent = 0;
    let mut go_on = |target: &mut sorted::Target, now| {
        if sent < stream.most {
            target.submit(now, command(others.len() as u64 + sent, Read, SIZE * sent, SIZE));
            sent += 1;
        }
    };
    (0..stream.outstanding).for_each(|_| go_on(&mut target, Instant::ZERO));
    let mut to_come = (0..).zip(others).peekable();
    loop {
        while let Some(done) = target.poll_output() {
            if done.id < others.len() as u64 {
                beside.push(done);
            } else {
                ends.push(done.completed);
                go_on(&mut target, done.completed);
            }
        }
        let due = next_due(&target);
        let arrives = to_come.peek().map(|(_, other)| Instant::ZERO + other.at);
        match (due, arrives) {
            (_, Some(at)) if due.is_none_or(|due| at <= due) => {
                let (id, other) = to_come.next().expect("it was seen");
                target.submit(at, command(id, other.access, other.first, 8));
            }
            (Some(due), _) => {
                target.handle(due, TargetInput::Tick);
            }
            (None, _) => return (ends, beside),
        }
    }
}

fn waited(completion: &Completion) -> Span {
    Span::from_ns(response(completion))
}

#[test]
fn a_stream_keeps_a_read_waiting_until_its_limit_and_loses_nothing_meanwhile() {
    let (limit, at) = (ms(150), ms(100));
    let choices =
        [ChoiceTime::AtMediaEnd, ChoiceTime::AfterAnswer, ChoiceTime::OneAhead, ChoiceTime::AtCompletion];
    for chooses in choices {
        for joins_reads in [JoinsUntil::Never, JoinsUntil::UntilEnd] {
            for outstanding in [1, 2, 4] {
                let case = (chooses, joins_reads, outstanding);
                let queue = QueueParams { chooses, joins_reads, ..queue(8, Order::Sptf) };
                let params = staying(Some(limit), queue);
                let stream = Stream { outstanding, most: 600 };
                let (mut alone, _) = play(&params, &stream, &[]);
                let (mut beside, random) = play(&params, &stream, &[read(at, FAR)]);
                let waited = waited(&random[0]);
                assert!(waited >= limit && waited <= limit + LONGEST + LONGEST, "{case:?}: {waited:?}");
                let undisturbed = |end: &Instant| *end < Instant::ZERO + at + limit;
                alone.retain(undisturbed);
                beside.retain(undisturbed);
                assert!(
                    alone.len() as u64 > RECOGNIZED && alone == beside,
                    "{case:?}: {alone:?}, {beside:?}"
                );
            }
        }
    }
}

#[test]
fn a_stream_is_recognized_after_sixteen_reads_and_kept_for_as_long_as_the_drive_reads_ahead() {
    let waits = |most, limit| {
        let params = staying(limit, queue(8, Order::Sptf));
        let (ends, _) = play(&params, &Stream { outstanding: 1, most }, &[]);
        let at = *ends.last().expect("a stream") - Instant::ZERO;
        let (_, random) = play(&params, &Stream { outstanding: 1, most }, &[read(at, FAR)]);
        waited(&random[0])
    };
    let limit = Some(ms(1_000));
    assert_eq!(waits(RECOGNIZED - 1, limit), waits(RECOGNIZED - 1, None));
    let (stays, leaves) = (waits(RECOGNIZED, limit), waits(RECOGNIZED, None));
    assert!(leaves <= LONGEST && stays >= leaves + ms(5) && stays <= READ_AHEAD + LONGEST, "{stays:?}");
    // The limit ends it earlier.
    let short = waits(RECOGNIZED, Some(ms(3)));
    assert!(short >= ms(3) && short <= ms(3) + LONGEST && short < stays, "{short:?}");
}

#[test]
fn a_drive_that_can_hold_no_further_command_waits_for_none() {
    let at = ms(100);
    let waits = |depth, limit| {
        let (_, random) = play(
            &staying(limit, queue(depth, Order::Sptf)),
            &Stream { outstanding: 1, most: 600 },
            &[read(at, FAR)],
        );
        waited(&random[0])
    };
    assert!(waits(2, Some(ms(150))) >= ms(150), "there is room for the stream's next read");
    let (_, alone) =
        play(&staying(None, queue(1, Order::Fcfs)), &Stream { outstanding: 0, most: 0 }, &[read(at, FAR)]);
    let mut probe = Probe::of(&staying(Some(ms(150)), queue(1, Order::Fcfs)));
    (0..100).for_each(|step| {
        probe.read(SIZE * step, SIZE);
    });
    let single = probe.read(FAR, 8);
    assert!(
        waited(&single) <= LONGEST,
        "{:?} after a stream, {:?} alone",
        waited(&single),
        waited(&alone[0])
    );
}

/// Reads with FUA go to the media, whatever the buffer has.
#[test]
fn a_stream_that_the_buffer_may_not_answer_is_not_kept_waiting_for_itself() {
    let ends = |limit| {
        let mut probe = Probe::of(&staying(limit, queue(8, Order::Sptf)));
        let reads = (0..100).map(|step| {
            let read = command(step, Read, SIZE * step, SIZE);
            let now = probe.now;
            probe.target().submit(now, Command { force_unit_access: true, ..read });
            probe.answer().expect("a command alone is answered").completed
        });
        reads.collect::<Vec<_>>()
    };
    assert_eq!(ends(Some(ms(150))), ends(None));
}

#[test]
fn when_the_stream_must_yield_the_oldest_command_goes_first_and_after_it_the_order_decides() {
    let params = staying(Some(ms(150)), queue(8, Order::Sptf));
    let others = [read(ms(100), 599_000), read(ms(110), 30_000), read(ms(120), 31_000)];
    let (_, beside) = play(&params, &Stream { outstanding: 1, most: 2_000 }, &others);
    assert_eq!(beside[0].id, 0, "the farthest one, but the oldest");
    assert!(beside.iter().all(|done| waited(done) <= ms(150) + LONGEST + LONGEST + LONGEST));
}

#[test]
fn writes_wait_as_reads_do() {
    let params = staying(Some(ms(150)), queue(8, Order::Sptf));
    let write = Other { at: ms(100), access: Write, first: FAR };
    let (_, beside) = play(&params, &Stream { outstanding: 1, most: 600 }, &[write]);
    assert!(waited(&beside[0]) >= ms(150) && waited(&beside[0]) <= ms(150) + LONGEST + LONGEST);
}

proptest! {
    /// In order of arrival a stream alone holds others up, and that is bounded.
    #[test]
    fn no_command_waits_longer_than_the_limit_and_those_before_it(
        limit in 1u64..60, outstanding in 0u64..5,
        others in prop::collection::vec((0u64..300, any::<bool>(), 20u64..70_000), 1..12),
        chooses in prop::sample::select(vec![ChoiceTime::AtMediaEnd, ChoiceTime::AfterAnswer, ChoiceTime::OneAhead]),
        joins_reads in prop::sample::select(vec![JoinsUntil::Never, JoinsUntil::UntilEnd]),
    ) {
        let mut others: Vec<Other> = others
            .into_iter()
            .map(|(at, write, place)| Other { at: ms(at), access: if write { Write } else { Read }, first: 8 * place })
            .collect();
        others.sort_by_key(|other| other.at);
        let queue = QueueParams { chooses, joins_reads, ..queue(32, Order::Fcfs) };
        let (_, beside) = play(&staying(Some(ms(limit)), queue), &Stream { outstanding, most: 300 }, &others);
        prop_assert_eq!(beside.len(), others.len());
        let most = ms(limit) + Span::from_ns(LONGEST.as_ns() * (others.len() as u64 + outstanding + 2));
        for done in &beside {
            prop_assert!(waited(done) <= most, "{:?}", done);
        }
    }

    /// Where nothing is sequential the limit changes nothing.
    #[test]
    fn random_commands_are_served_as_without_a_limit(
        others in prop::collection::vec((0u64..100, any::<bool>(), 0u64..70_000), 1..40),
        order in prop::sample::select(Order::ALL.to_vec()),
    ) {
        let mut others: Vec<Other> = others
            .into_iter()
            .map(|(at, write, place)| Other { at: ms(at), access: if write { Write } else { Read }, first: 8 * place })
            .collect();
        others.sort_by_key(|other| other.at);
        let served = |limit| {
            let (_, beside) = play(&staying(limit, queue(64, order)), &Stream { outstanding: 0, most: 0 }, &others);
            beside.into_iter().map(|done| (done.id, done.completed)).collect::<Vec<_>>()
        };
        prop_assert_eq!(served(Some(ms(10))), served(None));
    }
}
