//! The contract of the two machines: superfluous and missing ticks change nothing, answers carry their due instants,
//! every command is answered once, and one seed gives one run.
use crate::common;
use crate::common::scenarios::setups;
use crate::common::sorted::Target;
use crate::common::trace::{CommandTrace, Until, trace};
use crate::common::{Probe, drive, job, outstanding, poisson, random_job, setup, stations, target};
use drivelab_core::host::params::{JobParams, SizeShare};
use drivelab_core::host::{Host, HostInput, HostOutput};
use drivelab_core::storage::{self, TargetInput, TargetOutput};
use drivelab_core::{Access, Command, Completion, Machine, Setup};
use drivelab_units::{Instant, Sectors, Share, Span};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Replays the log of commands into a fresh target that is woken only now and then; returns what it answers.
fn replay(setup: &Setup, log: &CommandTrace, wake: impl Fn(usize) -> bool) -> (Vec<Completion>, u64) {
    let mut target = Target::new(&setup.target, setup.seed);
    let mut answers = Vec::new();
    for (i, &(at, command)) in log.commands.iter().enumerate() {
        target.handle(at, TargetInput::Submit(command));
        if wake(i) {
            answers.extend(std::iter::from_fn(|| target.poll_output()));
        }
    }
    target.handle(log.end + Span::from_s(1_000_000), TargetInput::Tick);
    answers.extend(std::iter::from_fn(|| target.poll_output()));
    (answers, target.digest().value())
}

/// Runs a target up to an instant, and takes its outputs at each instant that leaves any; returns the instant.
fn run_on(
    target: &mut storage::Target,
    mut now: Instant,
    until: Instant,
    outputs: &mut Vec<TargetOutput>,
) -> Instant {
    loop {
        now = target.run_to_output(now, until).unwrap();
        let new = outputs.len();
        outputs.extend(std::iter::from_fn(|| target.poll_output()));
        let all_now = outputs[new..].iter().filter_map(|output| output.completed());
        assert!(all_now.into_iter().all(|completion| completion.completed == now), "at {now:?}");
        if target.poll_timeout().is_none_or(|due| due > until) {
            target.pass_to(until).unwrap();
            return until;
        }
    }
}

proptest! {
    #[test]
    fn superfluous_ticks_change_nothing(setup in setups(), ticks in 1u64..5) {
        let plain = trace(&setup, Until::Finished(120), 0);
        let ticked = trace(&setup, Until::Finished(120), ticks);
        prop_assert_eq!(plain.digest, ticked.digest);
        prop_assert_eq!(plain, ticked);
    }

    #[test]
    fn late_and_missing_ticks_change_nothing(setup in setups(), seldom in 1usize..50) {
        let log = trace(&setup, Until::Finished(120), 0);
        for wake in [1, seldom, usize::MAX] {
            let (answers, digest) = replay(&setup, &log, |i| (i + 1).is_multiple_of(wake));
            prop_assert_eq!(digest, log.digest);
            prop_assert_eq!(&answers, &log.completions);
        }
    }

    /// From one instant with an output to the next is the same as one late tick.
    #[test]
    fn a_target_that_runs_on_gives_the_same_outputs_one_instant_at_a_time(setup in setups()) {
        let log = trace(&setup, Until::Finished(120), 0);
        let end = log.end + Span::from_s(1_000);
        let fresh = || storage::Target::new(&setup.target, setup.seed);
        let (mut late, mut stepped) = (fresh(), fresh());
        let (mut now, mut outputs) = (Instant::ZERO, Vec::new());
        for &(at, command) in &log.commands {
            now = run_on(&mut stepped, now, at, &mut outputs);
            late.take(at, &command).unwrap();
            stepped.take(at, &command).unwrap();
        }
        run_on(&mut stepped, now, end, &mut outputs);
        late.pass_to(end).unwrap();
        prop_assert_eq!(std::iter::from_fn(|| late.poll_output()).collect::<Vec<_>>(), outputs);
        prop_assert_eq!(late.digest(), stepped.digest());
    }

    #[test]
    fn every_command_is_answered_once_and_in_order(setup in setups()) {
        let trace = trace(&setup, Until::Finished(120), 0);
        let sent: BTreeSet<u64> = trace.commands.iter().map(|(_, command)| command.id).collect();
        let answered: BTreeSet<u64> = trace.completions.iter().map(|completion| completion.id).collect();
        prop_assert_eq!(sent.len(), trace.commands.len(), "every command has its own number");
        prop_assert_eq!(trace.completions.len(), trace.commands.len(), "as many answers as commands");
        prop_assert_eq!(sent, answered);
        prop_assert!(trace.completions.is_sorted_by_key(|completion| completion.completed));
        for completion in &trace.completions {
            prop_assert_eq!(completion.breakdown.total(), completion.completed - completion.submitted);
        }
    }

    #[test]
    fn a_tag_is_used_by_one_command_at_a_time(setup in setups()) {
        let mut used = BTreeSet::new();
        for (taken, tag) in trace(&setup, Until::Finished(120), 0).tags {
            let changed = if taken { used.insert(tag) } else { used.remove(&tag) };
            prop_assert!(changed, "tag {tag}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_run(setup in setups()) {
        prop_assert_eq!(trace(&setup, Until::Finished(120), 0), trace(&setup, Until::Finished(120), 0));
    }
}

/// Everything that a host without answers sends up to the end, ticked every so often.
fn sent(setup: &Setup, end: Instant, every: Option<Span>) -> Vec<(Instant, Command)> {
    let mut host = Host::new(&setup.jobs, setup.seed).unwrap();
    let (mut now, mut sent) = (Instant::ZERO, Vec::new());
    while now < end {
        let next = match every {
            Some(every) => now + every,
            None => host.poll_timeout().unwrap_or(end),
        };
        now = next.min(end);
        host.handle(now, HostInput::Tick).unwrap();
        sent.extend(std::iter::from_fn(|| host.poll_output()).filter_map(|output| match output {
            HostOutput::Submit { at, command, .. } => Some((at, command)),
            HostOutput::Began(_) | HostOutput::Finished(_) => None,
        }));
    }
    sent
}

proptest! {
    #[test]
    fn a_host_that_is_woken_late_sends_at_the_due_instants(setup in setups(), every in 1u64..400) {
        let end = Instant::ZERO + Span::from_ms(500);
        let on_time = sent(&setup, end, None);
        prop_assert_eq!(sent(&setup, end, Some(Span::from_ms(every))), on_time);
    }
}

/// Random commands to a drive, eight at a time.
fn random_on_drive(seed: u64) -> Setup {
    let target = target(&drive());
    let job = JobParams { arrivals: outstanding(8), ..random_job(&target, seed, 8) };
    Setup { seed, ..setup(target, job, 100) }
}

#[test]
fn another_seed_gives_another_digest() {
    let digests: BTreeSet<u64> =
        (1..=50).map(|seed| trace(&random_on_drive(seed), Until::Finished(50), 0).digest).collect();
    assert_eq!(digests.len(), 50);
}

/// The draws of a job: what it asks for, in its order.
fn draws(setup: &Setup, job: u32) -> Vec<Command> {
    let commands = trace(setup, Until::Finished(200), 0).commands;
    let mut own: Vec<Command> =
        commands.iter().map(|(_, command)| *command).filter(|command| command.process == job).collect();
    own.truncate(60);
    // Number and tag follow the order of issue over all jobs.
    own.iter_mut().for_each(|command| (command.id, command.tag) = (0, 0));
    own
}

#[test]
fn another_job_shifts_no_draw_of_the_first() {
    let alone = random_on_drive(3);
    let mut both = alone.clone();
    both.jobs.push(JobParams {
        process: 1,
        reads: Share::from_ratio(1, 2).unwrap(),
        ..alone.jobs[0].clone()
    });
    assert_eq!(draws(&alone, 0), draws(&both, 0));
    let places =
        |setup: &Setup, job| draws(setup, job).iter().map(|command| command.first).collect::<Vec<_>>();
    assert_ne!(places(&both, 0), places(&both, 1), "two jobs do not draw the same");
}

#[test]
fn another_mix_of_accesses_shifts_no_address() {
    let reads = random_on_drive(3);
    let mut mixed = reads.clone();
    mixed.jobs[0].reads = Share::from_ratio(1, 2).unwrap();
    let (reads, mixed) = (draws(&reads, 0), draws(&mixed, 0));
    assert!(reads.iter().map(|command| command.first).eq(mixed.iter().map(|command| command.first)));
    assert_ne!(reads, mixed);
}

/// The correlation of two series.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (mean_a, mean_b) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let product =
        |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum() };
    let square = |x: &[f64], mean: f64| -> f64 { x.iter().map(|x| (x - mean) * (x - mean)).sum() };
    product(a, b) / (square(a, mean_a) * square(b, mean_b)).sqrt()
}

#[test]
fn what_a_job_draws_is_independent_of_what_else_it_draws() {
    let size = |size, weight| SizeShare { size: Sectors::new(size), weight };
    let half = Share::from_ratio(1, 2).unwrap();
    let job =
        JobParams { reads: half, sizes: vec![size(8, 1), size(16, 1)], arrivals: poisson(500), ..job() };
    let both = Setup {
        jobs: vec![job.clone(), JobParams { process: 1, ..job }],
        ..setup(stations(None, 0), common::job(), 0)
    };
    let commands = trace(&both, Until::Finished(10_000), 0).commands;
    let series = |process| -> Vec<Vec<f64>> {
        let own = || commands.iter().filter(move |(_, command)| command.process == process).take(4_000);
        let mut before = Instant::ZERO;
        vec![
            own().map(|(at, _)| (*at - std::mem::replace(&mut before, *at)).as_ns() as f64).collect(),
            own().map(|(_, command)| f64::from(u8::from(command.access == Access::Read))).collect(),
            own().map(|(_, command)| command.count.get() as f64).collect(),
            own().map(|(_, command)| command.first.get() as f64).collect(),
        ]
    };
    let all = [series(0), series(1)].concat();
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate().take(i) {
            // Four standard errors of no correlation; the sizes leave their mark on the last addresses alone.
            let found = correlation(a, b);
            assert!(found.abs() < 4.0 / 4_000.0_f64.sqrt(), "series {i} and {j}: {found}");
        }
    }
}

#[test]
fn the_workload_does_not_turn_the_platter() {
    // The same command at the same instant waits the same time, whatever jobs there are; another seed turns the platter.
    let wait = |seed| Probe::new(&target(&drive()), seed).read(5 * common::TRACK, 1).breakdown.rotation;
    assert_eq!(wait(1), wait(1));
    assert_ne!(wait(1), wait(2));
}

#[test]
fn a_host_refuses_time_that_goes_back() {
    let mut host = Host::new(&[job()], 1).unwrap();
    host.handle(Instant::from_ns(2), HostInput::Tick).unwrap();
    let error = host.handle(Instant::from_ns(1), HostInput::Tick).unwrap_err();
    assert_eq!(error.to_string(), "time went back: 1 ns is given after 2 ns");
    host.handle(Instant::from_ns(2), HostInput::Tick).unwrap();
}
