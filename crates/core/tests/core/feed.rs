//! A host that is fed: paces, back-pressure, what it refuses, how it is stopped.
use drivelab_core::host::feed::{FED, FedIo, FeedError, FeedParams, Pace, ROOM};
use drivelab_core::host::params::JobError;
use drivelab_core::host::{Host, HostError, HostOutput, Io};
use drivelab_core::{Access, Breakdown, Command, Completion, Machine, Outcome};
use drivelab_units::{Instant, Lba, Sectors, Span};

const SERVICE: Span = Span::from_ms(3);

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

fn io(time: u64, first: u64, count: u64) -> FedIo {
    let command = Command::new(77, Access::Read, Lba::new(first), Sectors::new(count));
    FedIo { time: ms(time), command: Command { process: 5, initiator: 2, ..command } }
}

fn fed(pace: Pace) -> Host {
    Host::fed(FeedParams { pace, command_limit: None }).unwrap()
}

fn completion(command: &Command, sent: Instant, done: Instant) -> Completion {
    let Command { id, initiator, tag, .. } = *command;
    let breakdown = Breakdown { transfer: done - sent, ..Breakdown::default() };
    Completion { id, initiator, tag, outcome: Outcome::Done, submitted: sent, completed: done, breakdown }
}

/// Feeds a host and serves its commands one after the other, each for [`SERVICE`]. Returns when each was sent, and the I/Os
/// as they finished.
fn served(host: &mut Host, ios: &[FedIo]) -> (Vec<(Instant, Command)>, Vec<Io>) {
    let (mut sent, mut finished, mut next) = (Vec::new(), Vec::new(), 0);
    // Commands at the server, with when they came and when each is done.
    let mut queue: Vec<(Command, Instant, Instant)> = Vec::new();
    let mut free = Instant::ZERO;
    while finished.len() < ios.len() {
        while host.room() > 0 && next < ios.len() {
            host.feed(&ios[next]).unwrap();
            next += 1;
        }
        let served = queue.first().map(|&(_, _, done)| done);
        let due = [host.poll_timeout(), served].into_iter().flatten().min().expect("something is due");
        if served == Some(due) {
            let (command, came, done) = queue.remove(0);
            host.take(&completion(&command, came, done)).unwrap();
        } else {
            host.handle(due, drivelab_core::host::HostInput::Tick).unwrap();
        }
        while let Some(output) = host.poll_output() {
            match output {
                HostOutput::Submit { at, command, .. } => {
                    free = free.max(at) + SERVICE;
                    queue.push((command, at, free));
                    sent.push((at, command));
                }
                HostOutput::Finished(io) => finished.push(io),
                HostOutput::Began(_) => {}
            }
        }
    }
    assert!(host.is_idle());
    (sent, finished)
}

#[test]
fn by_time_each_begins_at_its_time_whatever_has_completed() {
    let ios: Vec<FedIo> = (0..5_000).map(|at| io(at, 8 * at, 8)).collect();
    let (sent, finished) = served(&mut fed(Pace::ByTime), &ios);
    for (at, (instant, command)) in (0u64..).zip(&sent) {
        assert_eq!((*instant, command.first.get()), (Instant::ZERO + ms(at), 8 * at));
        assert_eq!((command.id, command.process, command.initiator), (at, 5, 2));
    }
    // A server that takes three times as long as arrivals are apart falls behind by two milliseconds an I/O.
    for (at, io) in (0u64..).zip(&finished) {
        assert_eq!((io.job, io.intended), (FED, Instant::ZERO + ms(at)));
        assert_eq!(io.finished - io.intended, ms(3 + 2 * at));
    }
}

#[test]
fn of_one_instant_they_begin_in_the_order_in_which_they_were_fed() {
    let ios: Vec<FedIo> = [5, 1, 9, 3].map(|first| io(4, first, 1)).to_vec();
    let (sent, _) = served(&mut fed(Pace::ByTime), &ios);
    assert_eq!(sent.iter().map(|(_, command)| command.first.get()).collect::<Vec<_>>(), [5, 1, 9, 3]);
}

#[test]
fn a_time_that_goes_back_begins_at_once_and_counts_from_when_it_was_meant() {
    let (sent, finished) = served(&mut fed(Pace::ByTime), &[io(20, 0, 1), io(10, 1, 1)]);
    assert_eq!(sent[1].0, Instant::ZERO + ms(20));
    assert_eq!((finished[1].intended, finished[1].breakdown.wait), (Instant::ZERO + ms(10), ms(10)));
    assert_eq!(finished[1].breakdown.total(), finished[1].finished - finished[1].intended);
}

#[test]
fn a_depth_is_kept_and_never_passed() {
    let ios: Vec<FedIo> = (0..50).map(|at| io(1_000_000, at, 1)).collect();
    let mut host = fed(Pace::Depth(4));
    assert_eq!(host.depth_asked(), Some(4));
    let (sent, finished) = served(&mut host, &ios);
    for (at, (instant, _)) in sent.iter().enumerate().skip(4) {
        assert_eq!(*instant, finished[at - 4].finished, "the I/O {at} begins as another ends");
    }
    assert!(sent[..4].iter().all(|(at, _)| *at == Instant::ZERO));
}

#[test]
fn after_the_previous_one_the_recorded_pause_is_kept() {
    let ios: Vec<FedIo> = [2, 0, 7].map(|pause| io(pause, 0, 1)).to_vec();
    let (sent, _) = served(&mut fed(Pace::AfterPrevious), &ios);
    let at: Vec<u64> = sent.iter().map(|(at, _)| at.as_ns() / 1_000_000).collect();
    assert_eq!(at, [2, 5, 15]);
}

#[test]
fn a_large_one_goes_out_in_pieces_and_ends_with_the_last() {
    let params = FeedParams { pace: Pace::Depth(1), command_limit: Some(Sectors::new(10)) };
    let (sent, finished) = served(&mut Host::fed(params).unwrap(), &[io(0, 100, 25)]);
    let pieces: Vec<(u64, u64)> = sent.iter().map(|(_, c)| (c.first.get(), c.count.get())).collect();
    assert_eq!(pieces, [(100, 10), (110, 10), (120, 5)]);
    let tags: Vec<u32> = sent.iter().map(|(_, command)| command.tag).collect();
    assert_eq!(tags.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    assert_eq!((finished[0].count, finished[0].finished), (Sectors::new(25), Instant::ZERO + ms(9)));
}

#[test]
fn what_is_not_taken_says_why() {
    let mut host = fed(Pace::Depth(1));
    let flush =
        FedIo { time: Span::ZERO, command: Command::new(0, Access::Flush, Lba::ZERO, Sectors::new(1)) };
    assert_eq!(host.feed(&io(0, 0, 0)), Err(FeedError::Length));
    assert_eq!(host.feed(&flush), Err(FeedError::Length));
    for at in 0..ROOM {
        assert_eq!((host.room(), host.feed(&io(0, at as u64, 1))), (ROOM - at, Ok(())));
    }
    assert_eq!((host.room(), host.feed(&io(0, 0, 1))), (0, Err(FeedError::Full)));
    host.stop();
    assert_eq!((host.room(), host.feed(&io(0, 0, 1))), (0, Err(FeedError::Stopped)));
    let params = FeedParams { pace: Pace::ByTime, command_limit: Some(Sectors::new(1)) };
    assert_eq!(Host::fed(params).unwrap().feed(&io(0, 0, 1 << 20)), Err(FeedError::TooManyParts));
    let none = |pace, limit| Host::fed(FeedParams { pace, command_limit: limit }).err();
    assert_eq!(none(Pace::Depth(0), None), Some(JobError::ZeroOutstanding { job: 0 }));
    assert_eq!(none(Pace::ByTime, Some(Sectors::ZERO)), Some(JobError::ZeroSize { job: 0 }));
}

#[test]
fn a_completion_that_answers_nothing_is_an_error_and_changes_nothing() {
    let mut host = fed(Pace::ByTime);
    host.feed(&io(1, 0, 1)).unwrap();
    host.handle(Instant::ZERO + ms(1), drivelab_core::host::HostInput::Tick).unwrap();
    let Some(HostOutput::Submit { at, command, .. }) = host.poll_output() else { panic!("it begins") };
    let later = at + ms(1);
    let other = Command { tag: command.tag + 1, ..command };
    assert_eq!(host.take(&completion(&other, at, later)), Err(HostError::UnknownTag { tag: other.tag }));
    let early = Completion { submitted: Instant::ZERO, ..completion(&command, at, later) };
    let before = HostError::BeforeSubmission { tag: command.tag, sent: at, completed: later };
    assert_eq!(host.take(&early), Err(before));
    let went_back = HostError::TimeWentBack { now: at, was: later };
    assert_eq!(host.take(&completion(&command, at, at)), Err(went_back));
    assert!(!host.is_idle());
    assert_eq!(host.take(&completion(&command, at, later + ms(1))), Ok(()));
    assert_eq!(
        host.take(&completion(&command, at, later + ms(1))),
        Err(HostError::UnknownTag { tag: command.tag }),
        "once is enough"
    );
}

#[test]
fn a_host_that_is_stopped_ends_what_is_outstanding_and_begins_nothing() {
    let mut host = fed(Pace::Depth(2));
    (0..9).for_each(|at| host.feed(&io(0, at, 1)).unwrap());
    host.handle(Instant::ZERO, drivelab_core::host::HostInput::Tick).unwrap();
    let sent: Vec<Command> =
        core::iter::from_fn(|| host.poll_output()).filter_map(|output| output.command().copied()).collect();
    assert_eq!(sent.len(), 2);
    host.stop();
    for command in &sent {
        host.take(&completion(command, Instant::ZERO, Instant::from_ns(5))).unwrap();
    }
    let ended: Vec<HostOutput> = core::iter::from_fn(|| host.poll_output()).collect();
    assert!(ended.iter().all(|output| matches!(output, HostOutput::Finished(_))) && ended.len() == 2);
    assert_eq!((host.poll_timeout(), host.is_idle()), (None, true));
}
