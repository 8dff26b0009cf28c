//! Each job of a workload by itself, as fio prints them without `group_reporting`; copies of a job together.
use crate::collector::{Collector, OfJob};
use crate::point::{Direction, LatencySummary};
use serde::{Serialize, Serializer};

/// What one job has done in the window, its copies together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JobRecord {
    /// How many copies of it ran.
    pub numjobs: u32,
    pub iops: f64,
    pub bytes_per_s: f64,
    pub read: Direction,
    pub write: Direction,
    pub latency_ns: LatencySummary,
    /// I/Os that ended with an error.
    pub errors: u64,
}

impl JobRecord {
    fn of(job: &OfJob<'_>, seconds: f64) -> Self {
        let [reads, writes] = job.latencies;
        let mut all = reads.clone();
        all.merge(writes);
        JobRecord {
            numjobs: job.section.copies,
            iops: all.count() as f64 / seconds,
            bytes_per_s: (job.bytes[0] + job.bytes[1]) as f64 / seconds,
            read: Direction::of(reads, job.bytes[0], seconds),
            write: Direction::of(writes, job.bytes[1], seconds),
            latency_ns: (&all).into(),
            errors: job.errors,
        }
    }
}

/// The jobs by their names, in the order of the workload.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Jobs(pub Vec<(String, JobRecord)>);

impl Jobs {
    pub(crate) fn of(collector: &Collector, seconds: f64) -> Self {
        let named = |job: OfJob<'_>| (job.section.name.clone(), JobRecord::of(&job, seconds));
        Jobs(collector.jobs().map(named).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Jobs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, job)| (name, job)))
    }
}
