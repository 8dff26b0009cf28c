//! A whole run of a setup under the eyes of a witness.
use super::error::Untruth;
use super::watched::Watched;
use crate::run::{Control, HORIZON};
use drivelab_core::host::params::JobError;
use drivelab_core::host::{Host, HostInput, HostOutput};
use drivelab_core::target::TargetParams;
use drivelab_core::target::controller::params::ControllerParams;
use drivelab_core::target::system::SystemParams;
use drivelab_core::{Machine, Setup};
use drivelab_units::Instant;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use thiserror::Error;

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CheckError {
    #[error("interrupted")]
    Interrupted,
    #[error("the workload cannot run: {0}")]
    Workload(#[from] JobError),
    #[error("a station holds no data that could be checked; describe a drive or an array")]
    NoData,
    #[error("the run has no end: set a duration or a number of I/Os")]
    Endless,
    #[error("the target does not tell the truth about its data: {0}")]
    Untruth(#[from] Untruth),
}

/// What was checked, and found to be right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checked {
    /// I/Os that the hosts finished.
    pub ios: u64,
    pub ended: Instant,
}

/// Runs a setup to its end, holds every read to what was written, and then reads everything back.
pub fn check(setup: &Setup, control: &Control<'_>) -> Result<Checked, CheckError> {
    let params = match &setup.target {
        TargetParams::Server(_) => return Err(CheckError::NoData),
        TargetParams::System(params) => params.clone(),
        TargetParams::Drive(model) | TargetParams::Wire(model) => {
            SystemParams::of_drive(Arc::clone(model), ControllerParams::PLAIN)
        }
    };
    if setup.limit.duration.is_none() && setup.limit.ios.is_none() {
        return Err(CheckError::Endless);
    }
    let mut host = Host::new(&setup.jobs, setup.seed)?;
    let mut watched = Watched::new(&params, setup.seed);
    let end = setup.limit.duration.map_or(HORIZON, |duration| Instant::ZERO + setup.warmup + duration);
    let (mut ios, most) = (0, setup.limit.ios.unwrap_or(u64::MAX));
    while ios < most
        && let Some(due) =
            watched.next_due().into_iter().chain(host.poll_timeout()).min().filter(|&due| due <= end)
    {
        if control.stop.load(Ordering::Relaxed) {
            return Err(CheckError::Interrupted);
        }
        watched.run_until(due)?;
        if host.poll_timeout().is_some_and(|due| due <= watched.now()) {
            host.handle(watched.now(), HostInput::Tick);
        }
        ios += exchange(&mut host, &mut watched)?;
    }
    watched.read_back()?;
    Ok(Checked { ios, ended: watched.now() })
}

/// Everything that the two machines have to say to each other now. Returns how many I/Os are finished.
fn exchange(host: &mut Host, watched: &mut Watched) -> Result<u64, Untruth> {
    let mut finished = 0;
    loop {
        while let Some(output) = host.poll_output() {
            match output {
                HostOutput::Submit { at, command, .. } => {
                    watched.run_until(at)?;
                    watched.submit(&command)?;
                }
                HostOutput::Finished(_) => finished += 1,
                HostOutput::Began(_) => {}
            }
        }
        let Some((completion, _)) = watched.poll_answer() else { return Ok(finished) };
        host.handle(watched.now().max(completion.completed), HostInput::Completed(completion));
    }
}
