//! How jobs end before the run does: after their data, with a last FLUSH, and with each other.
use super::Host;
use crate::command::Access;
use drivelab_units::{Instant, Lba, Sectors};

impl Host {
    /// Whether all jobs have ended; a host that is fed has none.
    pub fn is_over(&self) -> bool {
        self.running == 0 && !self.jobs.is_empty()
    }

    /// Whether a job flushes when it ends: a run that ends by its time then goes on until that is done.
    pub fn ends_with_flush(&self) -> bool {
        self.jobs.iter().any(|job| job.params.ending.flushes)
    }

    /// Lets all jobs end at an instant: they issue nothing more, finish what is outstanding, and flush where
    /// they end so.
    #[cold]
    pub fn end_jobs(&mut self, at: Instant) {
        if core::mem::replace(&mut self.is_ending, true) {
            return;
        }
        for number in 0..self.jobs.len() {
            let job = &mut self.jobs[number];
            job.progress.left = 0;
            if job.is_done() {
                self.end_job(number as u32, at);
            }
        }
    }

    /// A job has finished everything that it may issue: it flushes, or has ended.
    #[cold]
    pub(super) fn end_job(&mut self, number: u32, at: Instant) {
        let job = &mut self.jobs[number as usize];
        if job.progress.is_over {
            return;
        }
        if job.owes_flush() {
            job.begin_last_flush();
            let nothing = (Access::Flush, 0, Lba::ZERO, Sectors::ZERO);
            let slot = self.store(number, nothing, 1, (at, at));
            let io = self.outstanding[slot as usize];
            return self.send(slot, &io, 0, at, false);
        }
        job.progress.is_over = true;
        self.running -= 1;
        if job.params.ending.ends_all {
            self.end_jobs(at);
        }
    }
}
