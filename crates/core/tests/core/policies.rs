//! The queue policies as a host sees them: in which order commands come back, and how long one may wait.
use crate::common::trace::{CommandTrace, Until, trace};
use crate::common::{
    Probe, TRACK, TURN, drive, job, ms, outstanding, queue, random_job, response, setup, target, us,
};
use drivelab_core::host::params::{Addressing, JobParams};
use drivelab_core::storage::TargetInput;
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::params::{DriveError, DriveModel, DriveParams};
use drivelab_core::storage::drive::queue::orders::{OwnOrder, Rule};
use drivelab_core::storage::drive::queue::{
    AgeFull, AgeWeight, ChoiceTime, DEPTH_MAX, Entry, JoinsUntil, Order, PositionKnowledge, QueueParams,
    ScanWeight, View,
};
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_core::{Access, Completion, Outcome, Setup};
use drivelab_units::{Instant, Sectors, Share, Span};
use std::collections::BTreeSet;

/// Seek times that grow with the distance: 1 ms and 10 us for each cylinder.
fn growing() -> DriveParams {
    DriveParams { seek: SeekParams::Table(vec![(1, us(1_010)), (1_000, us(11_000))]), ..drive() }
}

/// The cylinders of the reads in the order of their completions. The first one is under way when the others come.
fn served(queue: QueueParams, cylinders: &[u64]) -> Vec<u64> {
    let mut probe = Probe::of(&DriveParams { queue, ..growing() });
    for &cylinder in cylinders {
        probe.send(Access::Read, cylinder * TRACK, 1);
    }
    probe.drain().iter().map(|answer| cylinders[answer.id as usize]).collect()
}

/// From the arm on 500, with commands on both sides, and two on the arm's own cylinder.
const SCENE: [u64; 9] = [500, 620, 90, 510, 500, 490, 980, 100, 500];

#[test]
fn fcfs_serves_in_the_order_of_arrival() {
    assert_eq!(served(queue(16, Order::Fcfs), &SCENE), SCENE);
}

#[test]
fn look_goes_up_to_the_last_command_and_turns_round() {
    let served = served(queue(16, Order::Look), &SCENE);
    assert_eq!(served, [500, 500, 500, 510, 620, 980, 490, 100, 90]);
}

#[test]
fn look_goes_on_downward_once_it_has_turned() {
    // The arm comes down to 300 with commands on both sides: down first, then up.
    let mut probe = Probe::of(&DriveParams { queue: queue(16, Order::Look), ..growing() });
    let cylinders = [700, 300, 280, 320, 100, 900];
    probe.send(Access::Read, 700 * TRACK, 1);
    probe.send(Access::Read, 300 * TRACK, 1);
    let mut order = vec![probe.answer().unwrap().id];
    for cylinder in &cylinders[2..] {
        probe.send(Access::Read, cylinder * TRACK, 1);
    }
    order.extend(probe.drain().iter().map(|answer| answer.id));
    let order: Vec<u64> = order.iter().map(|&id| cylinders[id as usize]).collect();
    assert_eq!(order, [700, 300, 280, 100, 320, 900]);
}

#[test]
fn clook_goes_up_to_the_last_command_and_back_to_the_lowest() {
    let served = served(queue(16, Order::CLook), &SCENE);
    assert_eq!(served, [500, 500, 500, 510, 620, 980, 90, 100, 490]);
}

#[test]
fn vscan_turns_for_what_is_nearer_than_its_weight() {
    let served = |tenths| {
        let weight = ScanWeight::from_ratio(tenths, 10).unwrap();
        served(queue(16, Order::VScan(weight)), &SCENE)
    };
    assert_eq!(served(10), [500, 500, 500, 510, 620, 980, 490, 100, 90]);
    // Turning counts 200 cylinders: from 620 it is 330 back to 490 and 360 on to 980. Then on downward.
    assert_eq!(served(2), [500, 500, 500, 510, 620, 490, 100, 90, 980]);
    // The nearest; 490 and 510 are equally far, and the older one goes first.
    assert_eq!(served(0), [500, 500, 500, 510, 490, 620, 980, 100, 90]);
}

static OWN_SPTF: Rule = Rule::own("own-sptf", "positioning time", |entry: &Entry, view: &View<'_>| {
    view.positioning(entry) as i64
});
static OWN_LAST: Rule =
    Rule::own("own-last", "last come, first served", |entry: &Entry, _: &View<'_>| -(entry.sequence as i64));

#[test]
fn an_order_of_ones_own_is_its_cost() {
    // The same cost as that of an order of the core: the same choices, to the nanosecond.
    let played = |order, depth| {
        let queue = QueueParams { knows: PositionKnowledge::Angle, ..queue(depth, order) };
        let target = target(&DriveParams { queue, ..growing() });
        let job = JobParams { arrivals: outstanding(depth), ..random_job(&target, 1, 8) };
        trace(&setup(target, job, 1_000), Until::Finished(1_000), 0)
    };
    for depth in [2, 32] {
        let (own, known) = (played(Order::Own(OwnOrder::new(&OWN_SPTF)), depth), played(Order::Sptf, depth));
        assert_eq!(own.completions, known.completions);
    }
    let last = Order::Own(OwnOrder::new(&OWN_LAST));
    assert_eq!(served(queue(16, last), &SCENE), [500, 500, 100, 980, 490, 500, 510, 90, 620]);
    // What holds for every order holds for it: from an age on nothing is overtaken.
    let in_turn = QueueParams { age_limit: Some(Span::from_ns(1)), ..queue(16, last) };
    assert_eq!(served(in_turn, &SCENE), SCENE);
    assert_eq!(last, Order::Own(OwnOrder::new(&OWN_LAST)));
    assert_ne!(last, Order::Own(OwnOrder::new(&OWN_SPTF)));
}

/// What comes while the arm is under way can be chosen at the end of the media transfer, but not by a drive that has chosen
/// by then; and what such a drive has chosen may go away, or be overtaken by what is overdue.
#[test]
fn a_drive_that_chooses_one_ahead_keeps_to_its_choice() {
    let order = |chooses, age_limit| {
        let queue = QueueParams { chooses, age_limit, ..queue(16, Order::Sstf) };
        let mut probe = Probe::of(&DriveParams { queue, ..growing() });
        for cylinder in [500, 900, 700, 950] {
            probe.send(Access::Read, cylinder * TRACK, 1);
        }
        let first = probe.answer().unwrap().id;
        // The arm is on its way to 700, the nearest; this one will be nearer than all others then.
        probe.send(Access::Read, 710 * TRACK, 1);
        [first].into_iter().chain(probe.drain().iter().map(|answer| answer.id)).collect::<Vec<u64>>()
    };
    assert_eq!(order(ChoiceTime::AtMediaEnd, None), [0, 2, 4, 1, 3]);
    assert_eq!(order(ChoiceTime::OneAhead, None), [0, 2, 1, 3, 4]);
    // From the limit on the oldest goes, whatever was chosen before.
    assert_eq!(order(ChoiceTime::OneAhead, Some(Span::ZERO)), [0, 1, 2, 3, 4]);
}

#[test]
fn what_was_chosen_ahead_may_be_aborted() {
    let queue = QueueParams { chooses: ChoiceTime::OneAhead, ..queue(16, Order::Sstf) };
    let mut probe = Probe::of(&DriveParams { queue, ..growing() });
    for cylinder in [500, 900, 700, 100] {
        probe.send(Access::Read, cylinder * TRACK, 1);
    }
    assert_eq!(probe.answer().unwrap().id, 0);
    // 900 is chosen for after 700.
    let now = probe.now;
    probe.target().handle(now, TargetInput::Abort { id: 1 });
    let served: Vec<u64> = probe
        .drain()
        .iter()
        .filter(|answer| answer.outcome == Outcome::Done)
        .map(|answer| answer.id)
        .collect();
    assert_eq!(served, [2, 3]);
}

#[test]
fn reads_go_first_and_a_write_past_its_deadline_before_them() {
    let order = |deadline| {
        let knows = PositionKnowledge::Distance;
        let queue = QueueParams { knows, ..queue(16, Order::ReadFirstSptf(deadline)) };
        let mut probe = Probe::of(&DriveParams { queue, ..growing() });
        // Under way; then writes far and near, and reads farther out than both.
        probe.send(Access::Read, 500 * TRACK, 1);
        probe.send(Access::Write, 400 * TRACK, 1);
        probe.send(Access::Write, 510 * TRACK, 1);
        probe.send(Access::Read, 900 * TRACK, 1);
        probe.send(Access::Read, 700 * TRACK, 1);
        probe.drain().iter().map(|answer| answer.id).collect::<Vec<u64>>()
    };
    // Reads by positioning, then writes by positioning from where the last read leaves the arm.
    assert_eq!(order(ms(1_000)), [0, 4, 3, 2, 1]);
    // Overdue at once: in order of arrival, before the reads.
    assert_eq!(order(Span::ZERO), [0, 1, 2, 4, 3]);
}

#[test]
fn without_a_credit_the_aged_order_is_sptf() {
    let completions = |queue| busy(queue, 3_000).completions;
    for knows in [PositionKnowledge::Distance, PositionKnowledge::Angle] {
        let known = |order| QueueParams { knows, write_handicap: us(500), ..queue(16, order) };
        assert_eq!(completions(known(Order::AgedSptf(AgeWeight::NONE))), completions(known(Order::Sptf)));
    }
}

#[test]
fn the_weighted_order_leads_from_fcfs_to_sptf() {
    let run = |full| busy(queue(16, Order::WeightedSptf(AgeFull::new(full))), 5_000);
    let longest = |trace: &CommandTrace| trace.completions.iter().map(response).max().unwrap();
    assert_eq!(run(Span::ZERO).completions, busy(queue(16, Order::Fcfs), 5_000).completions);
    let (short, long, sptf) = (run(ms(100)), run(Span::from_s(100)), busy(queue(16, Order::Sptf), 5_000));
    assert!(short.end > long.end && longest(&short) < longest(&long), "fairer and slower");
    // With hardly any age the choices are those of shortest positioning, but for rounding.
    assert!(long.end.as_ns().abs_diff(sptf.end.as_ns()) < sptf.end.as_ns() / 100);
}

/// The most services that begin between a command's arrival at the drive and its own.
fn most_passed(queue: &QueueParams, joins: JoinsUntil) -> u64 {
    let queue = QueueParams { joins_reads: joins, ..queue.clone() };
    let target = target(&DriveParams { queue: queue.clone(), ..growing() });
    let random = JobParams { arrivals: outstanding(queue.depth - 2), ..random_job(&target, 1, 8) };
    let sequential = JobParams {
        addressing: Addressing::Sequential,
        arrivals: outstanding(2),
        ..random_job(&target, 1, 8)
    };
    let setup = Setup { jobs: vec![random, sequential], ..setup(target, job(), 0) };
    let completions = trace(&setup, Until::Finished(6_000), 0).completions;
    let accepted = |answer: &Completion| answer.submitted + answer.breakdown.wait;
    // Nothing here takes time but the mechanism: the arm starts when the queue is over.
    let mut begun: Vec<Instant> =
        completions.iter().map(|answer| accepted(answer) + answer.breakdown.queue).collect();
    let chosen = begun.clone();
    begun.sort_unstable();
    let until = |instant| begun.partition_point(|&at| at <= instant) as u64;
    // The one that began at the instant of an arrival was there before it, and a command does not pass itself.
    let passed = completions
        .iter()
        .zip(&chosen)
        .map(|(answer, &chosen)| until(chosen) - 1 - until(accepted(answer)).min(until(chosen) - 1));
    passed.max().unwrap()
}

#[test]
fn no_more_than_the_pass_limit_and_the_queue_go_before_a_command() {
    let (depth, limit) = (16, 24);
    for joins in [JoinsUntil::Never, JoinsUntil::UntilEnd] {
        for order in Order::ALL {
            let passed = most_passed(&QueueParams { pass_limit: Some(limit), ..queue(depth, order) }, joins);
            assert!(passed < u64::from(limit + depth), "{order:?} {joins:?}: {passed}");
        }
        // The bound is not idle.
        for order in [Order::Sstf, Order::Sptf] {
            assert!(most_passed(&queue(depth, order), joins) > 2 * u64::from(limit + depth), "{order:?}");
        }
    }
}

#[test]
fn a_queue_of_65536_commands_serves_them_all() {
    // Those under way at the end are answered too.
    let served = busy(queue(DEPTH_MAX, Order::Sptf), 70_000).completions;
    let ids: BTreeSet<u64> = served.iter().map(|answer| answer.id).collect();
    assert_eq!([served.len(), ids.len()], [70_000 + DEPTH_MAX as usize; 2]);
    let deeper = DriveParams { queue: queue(DEPTH_MAX + 1, Order::Sptf), ..growing() };
    let error = DriveModel::new(&deeper).unwrap_err();
    assert_eq!(error.to_string(), "the queue must hold 1 to 65536 commands");
    let look_time = us(200);
    let slow = DriveParams { queue: QueueParams { look_time, ..queue(DEPTH_MAX, Order::Sptf) }, ..growing() };
    assert_eq!(DriveModel::new(&slow).unwrap_err(), DriveError::Overlong);
}

#[test]
fn sstf_goes_to_the_nearest() {
    // 490 and 510 are equally far: the older one goes first.
    let served = served(queue(16, Order::Sstf), &SCENE);
    assert_eq!(served, [500, 500, 500, 510, 490, 620, 980, 100, 90]);
}

#[test]
fn sptf_goes_to_what_passes_first() {
    // On the arm's own cylinder the angle decides, not the order of arrival.
    let mut probe = Probe::of(&DriveParams { queue: queue(16, Order::Sptf), ..growing() });
    let sectors = [0, 500, 100, 300, 200, 400];
    for sector in sectors {
        probe.send(Access::Read, 500 * TRACK + sector, 1);
    }
    let served: Vec<u64> = probe.drain().iter().map(|answer| sectors[answer.id as usize]).collect();
    assert_eq!(served, [0, 100, 200, 300, 400, 500]);
}

#[test]
fn a_write_handicap_lets_reads_go_first_up_to_its_length() {
    let order = |handicap| {
        let queue = QueueParams { write_handicap: handicap, ..queue(16, Order::Sptf) };
        let mut probe = Probe::of(&DriveParams { queue, ..growing() });
        probe.read(500 * TRACK, 1);
        // Under way at sector 0; then a write at 100 and reads 1 ms and 3 ms behind it.
        probe.send(Access::Read, 500 * TRACK, 1);
        probe.send(Access::Write, 500 * TRACK + 100, 1);
        probe.send(Access::Read, 500 * TRACK + 200, 1);
        probe.send(Access::Read, 500 * TRACK + 400, 1);
        probe.drain().iter().map(|answer| answer.id).filter(|&id| id > 1).collect::<Vec<u64>>()
    };
    assert_eq!(order(Span::ZERO), [2, 3, 4]);
    assert_eq!(order(us(900)), [2, 3, 4]);
    // Passed over once, the write is nearly a turn away.
    assert_eq!(order(us(1_100)), [3, 4, 2]);
}

/// So many commands at once, random reads and writes.
fn busy(queue: QueueParams, ios: usize) -> CommandTrace {
    let depth = queue.depth;
    let params = DriveParams { queue, ..growing() };
    let target = target(&params);
    let reads = Share::from_ratio(2, 3).unwrap();
    let job = JobParams { reads, arrivals: outstanding(depth), ..random_job(&target, 1, 8) };
    trace(&setup(target, job, 0), Until::Finished(ios), 0)
}

#[test]
fn a_drive_that_examines_one_command_serves_in_order_of_arrival() {
    let fcfs = busy(queue(16, Order::Fcfs), 2_000);
    for order in Order::ALL {
        let one = busy(QueueParams { considers: Some(1), ..queue(16, order) }, 2_000);
        assert_eq!(one.completions, fcfs.completions, "{order:?}");
        // A window as wide as the queue leaves nothing out.
        let all = busy(QueueParams { considers: Some(16), ..queue(16, order) }, 2_000);
        assert_eq!(all.completions, busy(queue(16, order), 2_000).completions, "{order:?}");
    }
}

#[test]
fn a_drive_that_sorts_from_more_than_ever_wait_serves_as_they_come() {
    let fcfs = busy(queue(16, Order::Fcfs), 2_000);
    for order in Order::ALL {
        let few = busy(QueueParams { sorts_from: Some(17), ..queue(16, order) }, 2_000);
        assert_eq!(few.completions, fcfs.completions, "{order:?}");
        // One alone has nothing to be sorted with.
        let all = busy(QueueParams { sorts_from: Some(2), ..queue(16, order) }, 2_000);
        assert_eq!(all.completions, busy(queue(16, order), 2_000).completions, "{order:?}");
        // In between it does neither.
        let some = busy(QueueParams { sorts_from: Some(12), ..queue(16, order) }, 2_000);
        assert!(order == Order::Fcfs || some.completions != fcfs.completions, "{order:?}");
    }
}

#[test]
fn no_command_waits_longer_than_the_age_limit_and_a_queue_of_worst_services() {
    let (depth, limit) = (24, ms(40));
    // The longest seek, a turn and the transfer.
    let worst = 11_000_000 + TURN + 8 * TURN / TRACK;
    let bound = limit.as_ns() + u64::from(depth) * worst;
    let longest = |age_limit, chooses, order| {
        let queue = QueueParams { age_limit, chooses, ..queue(depth, order) };
        busy(queue, 12_000).completions.iter().map(response).max().unwrap()
    };
    for order in Order::ALL {
        for chooses in [ChoiceTime::AtMediaEnd, ChoiceTime::AfterAnswer, ChoiceTime::OneAhead] {
            let found = longest(Some(limit), chooses, order);
            assert!(found <= bound, "{order:?}: {found} over {bound}");
        }
    }
    // The bound is not idle: without a limit the far commands wait longer.
    assert!(longest(None, ChoiceTime::AtMediaEnd, Order::Sstf) > bound);
    assert!(longest(None, ChoiceTime::AtMediaEnd, Order::Sptf) > bound);
}

/// The longest that a random read takes beside sequential ones, under an age limit of 40 ms.
fn longest_beside_a_sequence(
    chooses: ChoiceTime,
    joins_reads: JoinsUntil,
    streams: u32,
    when_queued: bool,
) -> u64 {
    let sptf = QueueParams { age_limit: Some(ms(40)), ..queue(8, Order::Sptf) };
    longest_beside(QueueParams { chooses, answer_time: us(200), joins_reads, ..sptf }, streams, when_queued)
}

fn longest_beside(queue: QueueParams, streams: u32, when_queued: bool) -> u64 {
    longest_beside_reads_of(64, queue, streams, Some(when_queued))
}

fn longest_beside_reads_of(sectors: u64, queue: QueueParams, streams: u32, when_queued: Option<bool>) -> u64 {
    let size = Sectors::new(2_000);
    let read_ahead = when_queued.map(|when_queued| CacheParams::reading_on(size).when(when_queued, false));
    let target = target(&DriveParams { queue, cache: read_ahead, ..growing() });
    let random = random_job(&target, 1, 8);
    let sequential = JobParams {
        addressing: Addressing::Sequential,
        arrivals: outstanding(streams),
        ..random_job(&target, 1, sectors)
    };
    let both = Setup { jobs: vec![random, sequential], ..setup(target, job(), 0) };
    let end = Instant::ZERO + Span::from_s(4);
    let trace = trace(&both, Until::Instant(end), 0);
    let finished = trace.ios.iter().filter(|io| io.job == 0).map(|io| io.finished);
    let instants: Vec<Instant> = [Instant::ZERO].into_iter().chain(finished).chain([end]).collect();
    // One at a time: from each end to the next, and to the end of the run for one that never came back.
    instants.windows(2).map(|pair| (pair[1] - pair[0]).as_ns()).max().unwrap()
}

#[test]
fn the_age_limit_holds_beside_a_sequence() {
    for chooses in [ChoiceTime::AtMediaEnd, ChoiceTime::AfterAnswer] {
        for streams in [1, 4] {
            let longest = longest_beside_a_sequence(chooses, JoinsUntil::Never, streams, false);
            assert!(longest < 200_000_000, "{chooses:?} {streams}: {longest}");
        }
    }
}

#[test]
fn a_stream_of_reads_that_join_lets_others_through_without_an_age_limit() {
    // First come, first served, but for the joins: 32 of them, and then the random read's turn.
    let fcfs = QueueParams { joins_reads: JoinsUntil::UntilEnd, ..queue(8, Order::Fcfs) };
    let longest = longest_beside(fcfs, 4, false);
    assert!(longest < 400_000_000, "{longest}");
}

#[test]
fn the_age_limit_holds_beside_reads_that_join() {
    for joins_reads in [JoinsUntil::BeforeStart, JoinsUntil::UntilEnd] {
        // A track each, and no buffer: a sweep of them alone would take far longer than the limit.
        let longest = |age_limit| {
            let queue = QueueParams { joins_reads, age_limit, ..queue(8, Order::Fcfs) };
            longest_beside_reads_of(TRACK, queue, 4, None)
        };
        let (limited, unlimited) = (longest(Some(ms(40))), longest(None));
        assert!(limited < 100_000_000 && unlimited > 180_000_000, "{joins_reads:?}: {limited} {unlimited}");
    }
}

#[test]
fn the_age_limit_holds_beside_reads_that_meet_the_head() {
    assert!(longest_beside_a_sequence(ChoiceTime::AfterAnswer, JoinsUntil::Never, 1, true) < 200_000_000);
}

#[test]
fn a_stream_of_reads_that_meet_the_head_lets_others_through_without_an_age_limit() {
    let chooses = ChoiceTime::AfterAnswer;
    let longest =
        longest_beside(QueueParams { chooses, answer_time: us(200), ..queue(8, Order::Fcfs) }, 1, true);
    assert!(longest < 400_000_000, "{longest}");
}

#[test]
fn the_weight_of_age_leads_from_sptf_to_fcfs() {
    let run = |numerator, denominator| {
        let weight = AgeWeight::from_ratio(numerator, denominator).unwrap();
        let trace = busy(queue(16, Order::AgedSptf(weight)), 5_000);
        let longest = trace.completions.iter().map(response).max().unwrap();
        (trace, longest)
    };
    let (none, starved) = run(0, 1);
    assert_eq!(none.completions, busy(queue(16, Order::Sptf), 5_000).completions);
    let (some, longest) = run(1, 2);
    assert!(longest < starved && some.end > none.end, "fairer and slower");
    // A thousand times a command's age outweighs any way, but for commands that came within 20 us of each other.
    let (all, _) = run(1_000, 1);
    assert!(all.end > some.end);
    let ids: Vec<u64> = all.completions.iter().map(|answer| answer.id).collect();
    assert!(ids[100..].is_sorted(), "first come, first served");
}
