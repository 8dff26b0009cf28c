//! When a job ends before the run does: after its data, with a last FLUSH, and with the others.
use crate::check::given;
use crate::keys::Read;
use crate::keys::numbers::Fio;
use crate::raw::workload::{JobRaw, WorkloadRaw};
use crate::text::problem::Log;
use drivelab_core::host::params::Ending;
use drivelab_units::{SECTOR_BYTES, Sectors};

/// The end of a job.
pub fn ending(raw: &JobRaw, log: &mut Log) -> Ending {
    let is_on = |at: Option<Fio>| matches!(at, Some(Fio(true)));
    let after = raw.io_size.as_ref().and_then(|at| {
        let bytes = at.value.get();
        if bytes == 0 {
            log.fault(at.place, "`io_size` must be more than zero", "write an amount such as \"1GiB\"");
        } else if !bytes.is_multiple_of(SECTOR_BYTES) {
            let near = bytes.next_multiple_of(SECTOR_BYTES);
            let message = format!("`io_size` of {bytes} bytes is no whole number of sectors");
            log.fault(at.place, message, format!("write a multiple of 512 bytes, such as \"{near}B\""));
        }
        Some(Sectors::new(bytes / SECTOR_BYTES)).filter(|sectors| *sectors > Sectors::ZERO)
    });
    if let Some(at) = raw.exitall.as_ref().filter(|at| at.value.0 && raw.io_size.is_none()) {
        let message = "`exitall` has no effect without `io_size`: the job ends only with the run";
        if raw.readable("io_size") {
            log.fault(at.place, message, "add io_size = \"1GiB\", or leave it out");
        }
    }
    Ending {
        after,
        flushes: is_on(given(raw.end_fsync.as_ref())),
        ends_all: is_on(given(raw.exitall.as_ref())),
    }
}

/// Whether the run ends because its jobs do.
pub fn jobs_end(workload: &WorkloadRaw) -> bool {
    let of_all = workload.inherited();
    let jobs: Vec<JobRaw> = match &workload.job {
        Some(named) => named.value.0.iter().map(|(_, at)| at.value.clone().over(of_all.clone())).collect(),
        None => vec![of_all],
    };
    let ends = |job: &JobRaw| job.io_size.is_some();
    let is_last = |job: &JobRaw| ends(job) && given(job.exitall.as_ref()).is_some_and(|fio: Fio| fio.0);
    jobs.iter().all(ends) || jobs.iter().any(is_last)
}
