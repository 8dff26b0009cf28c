//! A file or a block device of this machine: opened, and measured with io_uring, or with threads where that is refused.
use crate::error::MeasureError;
use crate::open::open;
use crate::report::MeasuredPoint;
use crate::run::{Control, IoEngine, MeasureOptions, Reached, check, measure_on, slots_for};
use crate::threads::{THREADS_MAX, Threads};
use crate::uring::Uring;
use drivelab_core::Setup;
use drivelab_core::host::Host;
use std::path::Path;

/// Runs the jobs of a setup on what a path leads to, with this many slots of this many bytes.
pub fn measure_local(
    path: &Path,
    host: Host,
    setup: &Setup,
    options: &MeasureOptions,
    control: &Control<'_>,
    (slots, bytes): (u32, u32),
) -> Result<MeasuredPoint, MeasureError> {
    let opened = open(path, options.may_write, options.direct, options.identity)?;
    let (bytes_there, granularity) = (opened.bytes, u64::from(opened.granularity));
    check(bytes_there, granularity, "past the page cache", path, &setup.jobs)?;
    let mut reached =
        Reached { note: None, is_direct: opened.is_direct, is_direct_refused: opened.is_direct_refused };
    if options.io_engine != IoEngine::Threads {
        let file = opened.file.try_clone().map_err(MeasureError::Port)?;
        match Uring::new(file, slots, bytes, setup.seed) {
            Ok(mut port) => return measure_on(&mut port, host, setup, options, control, reached),
            Err(error) if options.io_engine == IoEngine::Uring => return Err(MeasureError::Refused(error)),
            Err(error) => reached.note = Some(format!("io_uring is refused here: {error}")),
        }
    }
    let slots = match host.depth_asked() {
        Some(depth) => slots_for(depth, THREADS_MAX, " with threads")?,
        None => slots.min(THREADS_MAX),
    };
    let mut port = Threads::new(opened.file, slots, bytes, setup.seed)?;
    measure_on(&mut port, host, setup, options, control, reached)
}
