//! Both machines run by hand, with everything that crossed the wire written down.
use super::next_due;
use super::sorted::Target;
use drivelab_core::host::{Host, HostInput, HostOutput, Io};
use drivelab_core::rng::Stream;
use drivelab_core::storage::TargetInput;
use drivelab_core::{Command, Completion, Machine, Setup};
use drivelab_units::{Instant, Span};

/// Everything that crossed the wire in a run, and what the host said of it.
#[derive(Default, PartialEq, Debug)]
pub struct CommandTrace {
    pub commands: Vec<(Instant, Command)>,
    pub completions: Vec<Completion>,
    /// When I/Os entered the system.
    pub begins: Vec<Instant>,
    pub ios: Vec<Io>,
    /// Tags in the order in which they were taken (true) and given back.
    pub tags: Vec<(bool, u32)>,
    /// Before what is under way at the end is answered.
    pub digest_at_end: u64,
    pub digest: u64,
    pub end: Instant,
}

/// When a trace ends; what is under way then is still answered.
#[derive(Clone, Copy)]
pub enum Until {
    Finished(usize),
    /// Before the first event behind this instant.
    Instant(Instant),
}

/// Runs both machines with up to `ticks` superfluous calls between any two events.
pub fn trace(setup: &Setup, until: Until, ticks: u64) -> CommandTrace {
    let (mut host, mut target) =
        (Host::new(&setup.jobs, setup.seed).unwrap(), Target::new(&setup.target, setup.seed));
    let mut stream = Stream::named(setup.seed, "test/ticks");
    let (mut trace, mut now) = (CommandTrace::default(), Instant::ZERO);
    let mut wakes = 0u32;
    loop {
        wakes += 1;
        assert!(
            wakes < 1 << 20,
            "a run of a few hundred I/Os comes to its end; {} are finished",
            trace.ios.len()
        );
        let due = [next_due(&target), next_due(&host)].into_iter().flatten().min();
        let due = due.expect("commands are under way, so something is due");
        match until {
            Until::Finished(ios) if trace.ios.len() >= ios => break,
            Until::Instant(end) if due > end => break,
            _ => {}
        }
        for _ in 0..stream.below(ticks + 1) {
            let left = due.since(now).as_ns();
            now += Span::from_ns(stream.below(left + 1));
            target.handle(now, TargetInput::Tick);
            host.handle(now, HostInput::Tick).unwrap();
            exchange(&mut host, &mut target, &mut trace, now);
        }
        now = due;
        target.handle(now, TargetInput::Tick);
        host.handle(now, HostInput::Tick).unwrap();
        exchange(&mut host, &mut target, &mut trace, now);
    }
    trace.end = now;
    trace.digest_at_end = target.digest().value();
    while let Some(due) = next_due(&target) {
        target.handle(due, TargetInput::Tick);
        trace.completions.extend(std::iter::from_fn(|| target.poll_output()));
    }
    trace.digest = target.digest().value();
    trace
}

/// Hands everything that either machine has to say to the other.
fn exchange(host: &mut Host, target: &mut Target, trace: &mut CommandTrace, now: Instant) {
    loop {
        while let Some(output) = host.poll_output() {
            match output {
                HostOutput::Submit { at, begins, command } => {
                    trace.begins.extend(begins.then_some(at));
                    trace.commands.push((at, command));
                    trace.tags.push((true, command.tag));
                    target.handle(at, TargetInput::Submit(command));
                }
                HostOutput::Finished(io) => trace.ios.push(io),
                HostOutput::Began(at) => trace.begins.push(at),
            }
        }
        let Some(completion) = target.poll_output() else {
            if next_due(host) != Some(now) {
                break;
            }
            // Software that takes no time: its command is due at once.
            host.handle(now, HostInput::Tick).unwrap();
            continue;
        };
        assert_eq!(
            completion.completed, now,
            "with every due instant visited, an answer is due when it comes"
        );
        trace.completions.push(completion);
        trace.tags.push((false, completion.tag));
        host.handle(completion.completed, HostInput::Completed(completion)).unwrap();
    }
    let ahead = |due: Option<Instant>| due.is_none_or(|due| due > now);
    assert!(ahead(next_due(target)) && ahead(next_due(host)), "what is due has run");
}
