//! Jobs that end before the run does: after their data, with a last FLUSH, and with each other.
use crate::common::{job, outstanding};
use drivelab_core::host::params::{Arrivals, Ending, Flushes, JobParams};
use drivelab_core::host::{Host, HostInput, HostOutput};
use drivelab_core::{Access, Breakdown, Completion, Machine, Outcome};
use drivelab_units::{Frequency, Instant, Sectors, Share, Span};

const SERVICE: Span = Span::from_ms(1);

fn after(sectors: u64) -> Ending {
    Ending { after: Some(Sectors::new(sectors)), ..Ending::default() }
}

/// The commands of each job until all have ended, and when the last of them was done; each takes [`SERVICE`].
/// The jobs are told to end at `told_ms`.
fn served(jobs: &[JobParams], told_ms: Option<u64>) -> (Vec<Vec<Access>>, u64) {
    let mut host = Host::new(jobs, 1).unwrap();
    let (mut under_way, mut issued) = (Vec::new(), vec![Vec::new(); jobs.len()]);
    let mut told = told_ms.map(|ms| Instant::ZERO + Span::from_ms(ms));
    let mut now = Instant::ZERO;
    while !host.is_over() {
        let done = under_way.first().map(|&(_, at): &(Completion, Instant)| at);
        now = [host.poll_timeout(), done, told].into_iter().flatten().min().expect("a job has not ended");
        if told == Some(now) {
            told = None;
            host.end_jobs(now);
        } else if done == Some(now) {
            let (completion, _) = under_way.remove(0);
            host.take(&completion).unwrap();
        } else {
            host.handle(now, HostInput::Tick).unwrap();
        }
        while let Some(output) = host.poll_output() {
            let HostOutput::Submit { at, command, .. } = output else { continue };
            issued[command.process as usize].push(command.access);
            let completed = at + SERVICE;
            let breakdown = Breakdown { transfer: SERVICE, ..Breakdown::default() };
            let (id, initiator, tag, outcome) = (command.id, command.initiator, command.tag, Outcome::Done);
            under_way.push((
                Completion { id, initiator, tag, outcome, submitted: at, completed, breakdown },
                completed,
            ));
        }
    }
    (issued, now.as_ns() / SERVICE.as_ns())
}

fn counts(issued: &[Vec<Access>]) -> Vec<usize> {
    issued.iter().map(Vec::len).collect()
}

#[test]
fn each_job_issues_its_data_and_no_more() {
    // Eight sectors an I/O: three of them, five, and a part of a second one, which is issued whole.
    let jobs = [(24, 1), (40, 2), (9, 4)].map(|(sectors, depth)| JobParams {
        ending: after(sectors),
        arrivals: outstanding(depth),
        ..job()
    });
    let jobs: Vec<JobParams> = (0..).zip(jobs).map(|(process, job)| JobParams { process, ..job }).collect();
    assert_eq!(
        served(&jobs, None),
        (vec![vec![Access::Read; 3], vec![Access::Read; 5], vec![Access::Read; 2]], 3)
    );
}

#[test]
fn an_open_loop_ends_after_its_data_too() {
    let rate = Frequency::from_millihertz(100_000).unwrap();
    let open = JobParams { ending: after(32), arrivals: Arrivals::Fixed { rate }, ..job() };
    let (issued, ended) = served(&[open], None);
    // Every 10 ms, and the last takes one more.
    assert_eq!((counts(&issued), ended), (vec![4], 41));
}

#[test]
fn a_burst_is_cut_short_where_the_data_end() {
    let arrivals = Arrivals::Bursts { outstanding: 2, burst: 4, think: Span::from_ms(5) };
    let bursts = JobParams { ending: after(8 * 6), arrivals, ..job() };
    // Four in 2 ms, a pause, and two at once.
    assert_eq!(served(&[bursts], None), (vec![vec![Access::Read; 6]], 8));
}

#[test]
fn the_last_flush_is_the_end_unless_nothing_was_written_since_one() {
    let flushes = Ending { flushes: true, ..after(32) };
    let writes = JobParams { ending: flushes, reads: Share::NONE, ..job() };
    let every = |count| JobParams { flushes: Flushes::After(count), ..writes.clone() };
    let of = |job: JobParams| served(&[job], None).0.remove(0);
    let (write, flush) = (Access::Write, Access::Flush);
    assert_eq!(of(writes.clone()), [write, write, write, write, flush]);
    assert_eq!(of(every(3)), [write, write, write, flush, write, flush]);
    assert_eq!(of(every(4)), [write, write, write, write, flush]);
    assert_eq!(of(JobParams { reads: Share::ALL, ..writes }), [Access::Read; 4]);
}

#[test]
fn the_first_job_that_ends_lets_the_others_finish_what_they_have_issued() {
    let short = JobParams { ending: Ending { ends_all: true, ..after(24) }, ..job() };
    let flushes = Ending { flushes: true, ..Ending::default() };
    let long =
        JobParams { process: 1, arrivals: outstanding(2), ending: flushes, reads: Share::NONE, ..job() };
    let (issued, ended) = served(&[short, long], None);
    assert_eq!(issued[0], [Access::Read; 3]);
    assert_eq!((issued[1].iter().filter(|access| **access == Access::Write).count(), ended), (6, 4));
    assert_eq!(issued[1].last(), Some(&Access::Flush));
}

#[test]
fn jobs_that_are_told_to_end_finish_and_flush() {
    let flushes = Ending { flushes: true, ..Ending::default() };
    let writer = JobParams { ending: flushes, reads: Share::NONE, ..job() };
    let reader = JobParams { process: 1, ..job() };
    let host = Host::new(&[writer.clone(), reader.clone()], 1).unwrap();
    assert!(host.ends_with_flush() && !host.is_over());
    let (issued, ended) = served(&[writer, reader], Some(10));
    assert_eq!((counts(&issued), ended), (vec![10 + 1, 10], 11));
}
