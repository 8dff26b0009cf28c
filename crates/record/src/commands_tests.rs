//! The log against traces made by hand.
use super::*;
use drivelab_core::{Command, Content};
use drivelab_units::{Lba, Sectors};

const MS: u64 = 1_000_000;

/// A command that arrived at `accepted` and was the `rank`th to be served; it completes at `completed`.
fn trace(id: u64, accepted: u64, rank: u64, completed: u64) -> CommandTrace {
    let at = |ms: u64| Instant::from_ns(ms * MS);
    let command = Command {
        id,
        initiator: 3,
        logical_unit: 0,
        tag: id as u32,
        attribute: Attribute::HeadOfQueue,
        priority: Priority::Isochronous(Span::from_ms(40)),
        force_unit_access: false,
        direct: false,
        attempt: 0,
        process: 1,
        synchronous: true,
        access: Access::Write,
        content: Content::Data,
        first: Lba::new(800 * id),
        count: Sectors::new(8),
    };
    CommandTrace {
        command,
        outcome: Outcome::Done,
        served: Served::Chosen,
        carried_by: id,
        submitted: at(accepted),
        accepted: at(accepted),
        chosen: at(accepted + 1),
        begun: at(accepted + 2),
        ended: at(accepted + 3),
        completed: at(completed),
        from_cylinder: 5,
        cylinder: 7,
        to_cylinder: 9,
        rank,
        member: None,
    }
}

fn completion(trace: &CommandTrace) -> Completion {
    let Command { id, initiator, tag, .. } = trace.command;
    let breakdown = Breakdown { seek: Span::from_ms(id), ..Breakdown::default() };
    let (outcome, submitted, completed) = (trace.outcome, trace.submitted, trace.completed);
    Completion { id, initiator, tag, outcome, submitted, completed, breakdown }
}

fn logged(warmup_ms: u64, room: u64, traces: &[CommandTrace]) -> Vec<CommandRecord> {
    let mut log = CommandLog::new(Span::from_ms(warmup_ms), room);
    for trace in traces {
        log.add_trace(*trace);
    }
    for trace in traces {
        log.completed(&completion(trace));
    }
    log.records()
}

#[test]
fn a_record_holds_what_the_command_was_and_lived_through() {
    let record = &logged(0, 1, &[trace(4, 10, 2, 20)])[0];
    assert_eq!((record.id, record.initiator, record.tag, record.process), (4, 3, 4, 1));
    assert_eq!((record.attribute, record.priority), ("head-of-queue", "isochronous"));
    assert_eq!((record.access, record.first_sector, record.sectors), ("write", 3200, 8));
    assert_eq!((record.outcome, record.served, record.carried_by), ("done", "chosen", 4));
    assert_eq!(record.deadline_ns, Some(40 * MS));
    let stamps = [record.accepted_ns, record.chosen_ns.unwrap(), record.begun_ns.unwrap()];
    assert_eq!(stamps, [10 * MS, 11 * MS, 12 * MS]);
    assert_eq!((record.ended_ns, record.completed_ns), (Some(13 * MS), 20 * MS));
    let cylinders = (record.from_cylinder, record.first_cylinder, record.to_cylinder);
    assert_eq!(cylinders, (Some(5), Some(7), Some(9)));
    assert_eq!(record.breakdown_ns.unwrap().seek, 4 * MS);
}

#[test]
fn the_log_takes_the_first_that_complete_after_the_warm_up_and_lists_them_by_arrival() {
    let traces = [trace(0, 0, 0, 10), trace(3, 2, 1, 11), trace(1, 1, 2, 12), trace(2, 1, 3, 13)];
    let ids = |warmup, room| logged(warmup, room, &traces).iter().map(|record| record.id).collect::<Vec<_>>();
    assert_eq!(ids(0, 9), [0, 1, 2, 3]);
    // What completes as the warm-up ends is still part of it.
    assert_eq!(ids(10, 9), [1, 2, 3]);
    assert_eq!(ids(10, 2), [1, 3]);
}

#[test]
fn distances_are_service_less_arrival() {
    let traces = [trace(2, 2, 10, 10), trace(0, 0, 11, 11), trace(1, 1, 12, 12)];
    let records = logged(0, 9, &traces);
    let distances: Vec<_> = records.iter().map(|record| record.reorder_distance.unwrap()).collect();
    assert_eq!(distances, [1, 1, -2]);
    assert_eq!(records[2].overtook_ids, Some(vec![0, 1]));
    assert_eq!(records[0].overtaken_by_ids, Some(vec![2]));
    assert_eq!(records[2].rank, Some(10));
}

#[test]
fn a_command_that_was_never_served_has_no_place_in_the_order() {
    let refused = CommandTrace { served: Served::Not, outcome: Outcome::Full, ..trace(0, 0, 5, 1) };
    let records = logged(0, 9, &[refused, trace(1, 1, 5, 10)]);
    assert_eq!((records[0].outcome, records[0].served), ("full", "not"));
    let nothing = [records[0].chosen_ns, records[0].begun_ns, records[0].ended_ns, records[0].service_rank];
    assert_eq!(nothing, [None; 4]);
    assert_eq!((records[0].overtaken_by, records[0].from_cylinder), (None, None));
    assert_eq!((records[1].service_rank, records[1].reorder_distance), (Some(0), Some(-1)));
}

#[test]
fn an_attempt_that_failed_stands_beside_the_one_that_the_host_heard_of() {
    let (first, other) = (trace(0, 0, 1, 10), trace(1, 1, 2, 11));
    let first = CommandTrace { outcome: Outcome::MediaError, ..first };
    let again = CommandTrace { command: Command { attempt: 1, ..first.command }, ..trace(0, 5, 3, 12) };
    let mut log = CommandLog::new(Span::ZERO, 9);
    for trace in [first, other, again] {
        log.add_trace(trace);
        if trace != first {
            log.completed(&completion(&trace));
        }
    }
    let listed: Vec<_> =
        log.records().into_iter().map(|r| (r.id, r.attempt, r.breakdown_ns.is_some())).collect();
    assert_eq!(listed, [(0, 0, false), (1, 0, true), (0, 1, true)]);
}

#[test]
fn what_a_cache_has_issued_is_logged_although_no_host_hears_of_it() {
    let mut log = CommandLog::new(Span::from_ms(5), 9);
    for trace in [trace(OWN_IDS, 0, 1, 5), trace(OWN_IDS + 1, 1, 2, 6)] {
        log.add_trace(trace);
    }
    let record = &log.records()[0];
    assert_eq!((record.id, record.completed_ns, record.breakdown_ns), (OWN_IDS + 1, 6 * MS, None));
    assert_eq!((record.outcome, record.rank), ("done", Some(2)));
}

#[test]
fn what_memory_has_answered_has_no_place_in_the_order_of_the_drive() {
    let trace = trace(0, 1, 2, 10);
    let remembered = CommandTrace::in_memory(&trace.command, &completion(&trace));
    let record = &logged(0, 9, &[remembered])[0];
    assert_eq!((record.outcome, record.served, record.rank), ("done", "memory", None));
    assert_eq!((record.submitted_ns, record.accepted_ns, record.completed_ns), (MS, MS, 10 * MS));
    assert_eq!((record.chosen_ns, record.from_cylinder, record.service_rank), (None, None, None));
    assert_eq!(record.breakdown_ns, Some(Parts::from(completion(&trace).breakdown)));
}

#[test]
fn a_command_completes_when_its_host_hears_of_it() {
    let trace = trace(0, 0, 0, 10);
    let mut log = CommandLog::new(Span::ZERO, 9);
    log.add_trace(trace);
    log.completed(&Completion { completed: Instant::from_ns(12 * MS), ..completion(&trace) });
    assert_eq!(log.records()[0].completed_ns, 12 * MS);
}

#[test]
fn a_command_was_handed_over_when_its_host_did_so() {
    let trace = trace(0, 5, 0, 10);
    let mut log = CommandLog::new(Span::ZERO, 9);
    log.add_trace(trace);
    log.completed(&Completion { submitted: Instant::from_ns(2 * MS), ..completion(&trace) });
    let record = &log.records()[0];
    assert_eq!((record.submitted_ns, record.accepted_ns), (2 * MS, 5 * MS));
}

#[test]
fn a_command_that_was_given_up_has_no_stamps_beyond() {
    let trace =
        CommandTrace { outcome: Outcome::Aborted, completed: Instant::from_ns(2 * MS), ..trace(0, 0, 0, 2) };
    let record = &logged(0, 9, &[trace])[0];
    assert_eq!((record.chosen_ns, record.begun_ns, record.ended_ns), (Some(MS), Some(2 * MS), None));
}

#[test]
fn a_long_log_counts_without_naming() {
    let traces: Vec<CommandTrace> = (0..=NAMED_MAX as u64).map(|id| trace(id, id, 1000 - id, 100)).collect();
    let records = logged(0, 1000, &traces);
    assert_eq!((records[0].overtaken_by, records[0].overtaken_by_ids.is_some()), (Some(64), false));
    assert!(logged(0, 64, &traces)[0].overtaken_by_ids.is_some());
}
