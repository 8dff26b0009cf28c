//! Jobs that stop to think after a number of I/Os: when bursts begin, how deep they are, and that a FLUSH is none of them.
use crate::common::job;
use drivelab_core::host::params::{Arrivals, Flushes, JobError, JobParams};
use drivelab_core::host::{Host, HostInput, HostOutput};
use drivelab_core::{Access, Breakdown, Command, Completion, Machine, Outcome};
use drivelab_units::{Instant, Share, Span};
use proptest::prelude::*;

const SERVICE: Span = Span::from_ms(3);

fn bursts(outstanding: u32, burst: u32, think_ms: u64) -> JobParams {
    JobParams { arrivals: Arrivals::Bursts { outstanding, burst, think: Span::from_ms(think_ms) }, ..job() }
}

/// When each command is sent and done, with one server that takes [`SERVICE`] for each; a FLUSH takes no time.
fn served(job: JobParams, count: usize) -> Vec<(Access, u64, u64)> {
    let mut host = Host::new(&[job], 1).unwrap();
    let (mut queue, mut done) = (Vec::<(Command, Instant, Instant)>::new(), Vec::new());
    let mut free = Instant::ZERO;
    while done.len() < count {
        let served = queue.first().map(|&(_, _, at)| at);
        let due = [host.poll_timeout(), served].into_iter().flatten().min().unwrap();
        if served == Some(due) {
            let (command, sent, completed) = queue.remove(0);
            done.push((command.access, sent.as_ns() / 1_000_000, completed.as_ns() / 1_000_000));
            let Command { id, initiator, tag, .. } = command;
            let breakdown = Breakdown { transfer: completed - sent, ..Breakdown::default() };
            let (submitted, outcome) = (sent, Outcome::Done);
            host.take(&Completion { id, initiator, tag, outcome, submitted, completed, breakdown }).unwrap();
        } else {
            host.handle(due, HostInput::Tick).unwrap();
        }
        while let Some(output) = host.poll_output() {
            if let HostOutput::Submit { at, command, .. } = output {
                let service = if command.access == Access::Flush { Span::ZERO } else { SERVICE };
                free = free.max(at) + service;
                queue.push((command, at, free));
            }
        }
    }
    done
}

#[test]
fn a_burst_goes_on_as_its_ios_finish_and_the_next_begins_a_pause_after_the_last() {
    let sent: Vec<u64> = served(bursts(2, 3, 10), 6).into_iter().map(|(_, sent, _)| sent).collect();
    // Two at once, the third as the first is done at 3 ms; all are done at 9 ms, and the job thinks for 10.
    assert_eq!(sent, [0, 0, 3, 19, 19, 22]);
    // More outstanding than a burst has I/Os: the burst at once.
    let sent: Vec<u64> = served(bursts(8, 2, 1), 4).into_iter().map(|(_, sent, _)| sent).collect();
    assert_eq!(sent, [0, 0, 7, 7]);
    assert_eq!(Host::new(&[bursts(8, 2, 1)], 1).unwrap().depth_asked(), Some(2));
}

#[test]
fn a_flush_is_none_of_a_burst() {
    let job = JobParams { reads: Share::NONE, flushes: Flushes::After(2), ..bursts(1, 3, 10) };
    let done = served(job, 12);
    let writes: Vec<u64> =
        done.iter().filter(|(access, ..)| *access == Access::Write).map(|&(_, sent, _)| sent).collect();
    assert_eq!(writes, [0, 3, 6, 19, 22, 25, 38, 41]);
    assert_eq!(done.iter().filter(|(access, ..)| *access == Access::Flush).count(), 4);
}

#[test]
fn a_burst_of_none_is_refused() {
    assert_eq!(Host::new(&[bursts(1, 0, 1)], 1).err(), Some(JobError::ZeroOutstanding { job: 0 }));
    assert_eq!(Host::new(&[bursts(0, 1, 1)], 1).err(), Some(JobError::ZeroOutstanding { job: 0 }));
}

proptest! {
    #[test]
    fn every_burst_has_its_number_and_its_pause(outstanding in 1u32..6, burst in 1u32..9, think in 1u64..50) {
        let done = served(bursts(outstanding, burst, think), 3 * burst as usize);
        let mut before = None;
        for one in done.chunks(burst as usize) {
            let began = one.iter().map(|&(_, sent, _)| sent).min().unwrap();
            prop_assert_eq!(began, before.map_or(0, |ended: u64| ended + think));
            // Of those under way when one is sent there are never more than asked for.
            for &(_, at, _) in one {
                let deep = one.iter().filter(|&&(_, sent, ended)| sent <= at && ended > at).count();
                prop_assert!(deep <= outstanding as usize);
            }
            before = one.iter().map(|&(_, _, ended)| ended).max();
        }
    }
}
