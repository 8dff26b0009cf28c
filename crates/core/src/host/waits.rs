//! What a closed-loop job does between its I/Os: it waits for a FLUSH, or thinks between two bursts.
use super::params::Arrivals;
use super::{Host, HostEvent};
use drivelab_units::Instant;

impl Host {
    /// A FLUSH for which its job has waited is done: the job at once issues everything that became due
    /// meanwhile, and the I/O before which the FLUSH was due.
    #[cold]
    pub(super) fn flush_done(&mut self, job: u32, finished: Instant) {
        let source = &mut self.jobs[job as usize];
        source.progress.flushing = false;
        for _ in 0..=core::mem::take(&mut source.progress.held) {
            self.issue(job, finished, finished, true);
        }
    }

    /// A job's next burst begins: as many of its I/Os as may be outstanding.
    #[cold]
    pub(super) fn begin_burst(&mut self, job: u32, at: Instant) {
        let source = &mut self.jobs[job as usize];
        let Arrivals::Bursts { outstanding, burst, .. } = source.params.arrivals else { return };
        let first = outstanding.min(burst);
        (source.of_burst, source.in_burst) = (burst - first, first);
        for _ in 0..first {
            self.issue(job, at, at, true);
        }
    }

    /// An I/O of a burst is finished: the next one begins, or after the last the job thinks.
    #[cold]
    pub(super) fn go_on_in_burst(&mut self, job: u32, finished: Instant) {
        let source = &mut self.jobs[job as usize];
        let Arrivals::Bursts { think, .. } = source.params.arrivals else { return };
        if source.of_burst > 0 {
            source.of_burst -= 1;
            self.issue(job, finished, finished, true);
            return;
        }
        source.in_burst -= 1;
        if source.in_burst == 0 {
            self.agenda.schedule(finished + think, 0, HostEvent::Burst { job });
        }
    }
}
