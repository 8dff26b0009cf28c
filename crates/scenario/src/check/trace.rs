//! A recorded trace as the workload: the keys allowed beside it, and the recording with which the host is
//! fed.
use crate::check::given;
use crate::check::resolve::Loader;
use crate::check::run::Run;
use crate::check::workload::{Served, size};
use crate::keys::At;
use crate::raw::trace::{PaceName, RemapName, TraceChoice, TraceRaw};
use crate::raw::workload::WorkloadRaw;
use crate::text::problem::{Log, Place};
use drivelab_core::host::feed::{FeedParams, Pace};
use drivelab_core::host::recording::Recording;
use drivelab_core::setup::Fed;
use drivelab_core::storage::drive::protocol::Protocol;
use drivelab_units::{Given, Sectors};
use std::sync::Arc;

/// A trace that a scenario names.
#[derive(Clone, Debug)]
pub struct TraceRequest {
    pub file: String,
    pub format: Option<String>,
    pub columns: Option<String>,
    pub device: Option<String>,
    pub pace: Pace,
    /// The factor of times, in millionths.
    pub scale_time: u64,
    pub remap: RemapRequest,
    pub is_lenient: bool,
    pub is_sorted: bool,
    pub direct: Option<bool>,
    /// The target's capacity.
    pub capacity: Sectors,
    /// Whether the target accepts requests of several hosts.
    pub takes_hosts: bool,
}

/// How its addresses are mapped to the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemapRequest {
    None,
    Wrap,
    /// Scaled from a device of this size; if `None`, from the size that the trace itself gives.
    Scale(Option<Sectors>),
}

/// A trace that was found.
pub struct TraceFound {
    pub recording: Arc<dyn Recording>,
    /// Equal for equal bytes, wherever they are stored.
    pub fingerprint: String,
    /// The seed of the run that it captured.
    pub seed: Option<u64>,
}

/// The keys allowed beside a trace.
const BESIDE: [&str; 8] =
    ["trace", "iodepth", "max_transfer", "direct", "runtime", "ramp_time", "number_ios", "name"];

/// The recording with which the host is fed, and its fingerprint; `None` if it is invalid, or nothing is
/// known of the target.
pub fn fed(
    workload: &WorkloadRaw,
    served: Option<Served<'_>>,
    run: &Run,
    loader: &dyn Loader,
    log: &mut Log,
) -> Option<(Fed, String)> {
    let at = workload.trace.as_ref()?;
    let problems = log.count();
    for (key, place) in workload.set().into_iter().filter(|(key, _)| !BESIDE.contains(key)) {
        let message = format!(
            "`{key}` has no effect beside `trace`, whose requests are replayed as they were recorded"
        );
        log.fault(place, message, "keep one of the two");
    }
    let raw = &at.value.0;
    let pace = pace(raw, workload, log);
    let remap = remap(raw, log);
    let limit = workload.max_transfer.as_ref();
    let command_limit = limit.and_then(|at| size(at.value, at.place, "max_transfer", log));
    let Some(file) = &raw.file else {
        if raw.readable("file") {
            log.fault(at.place, "the trace's `file` is missing", "add file = \"morning.trace\", its path");
        }
        return None;
    };
    let scale_time = given(raw.scale_time.as_ref()).map_or(1_000_000, |factor| factor.0);
    if let Some(at) = raw.scale_time.as_ref().filter(|at| at.value.0 == 0) {
        log.fault(
            at.place,
            "times that are multiplied by zero are none",
            "write a factor such as 0.5, or pace = \"closed\"",
        );
    }
    let served = served?;
    if log.count() > problems {
        return None;
    }
    let request = TraceRequest {
        file: file.value.0.clone(),
        format: given(raw.format.as_ref()).map(|name| name.0),
        columns: given(raw.columns.as_ref()).map(|columns| columns.0),
        device: given(raw.device.as_ref()).map(|name| name.0),
        pace,
        scale_time,
        remap,
        is_lenient: given(raw.lenient.as_ref()).unwrap_or(false),
        is_sorted: given(raw.sort.as_ref()).unwrap_or(false),
        direct: given(workload.direct.as_ref()).map(|direct| direct.0),
        capacity: served.capacity,
        takes_hosts: matches!(served.drive, Some(Protocol::ScsiTcq(_))),
    };
    found(&request, file.place, command_limit, run, loader, log)
}

fn found(
    request: &TraceRequest,
    place: Place,
    command_limit: Option<Sectors>,
    run: &Run,
    loader: &dyn Loader,
    log: &mut Log,
) -> Option<(Fed, String)> {
    let TraceFound { recording, fingerprint, seed } = match loader.trace(request) {
        Ok(found) => found,
        Err(why) => {
            let remedy =
                "`drivelab trace info` says what is in a trace; its path is seen from the scenario's folder";
            log.fault(place, format!("the trace \"{}\" cannot be replayed: {why}", request.file), remedy);
            return None;
        }
    };
    if let Some(seed) = seed.filter(|seed| *seed != run.seed) {
        log.note(format!(
            "{} was captured from a run with seed {seed}, and this one has {}: platters begin at other angles; {} begins \
             with the same",
            request.file,
            run.seed,
            Given("run.seed", seed)
        ));
    }
    let params = FeedParams { pace: request.pace, command_limit };
    Some((Fed { params, ios: Arc::new([]), recording: Some(recording) }, fingerprint))
}

fn pace(raw: &TraceRaw, workload: &WorkloadRaw, log: &mut Log) -> Pace {
    let pace = given(raw.pace.as_ref()).unwrap_or(PaceName::Open);
    if let Some(depth) = workload.iodepth.as_ref() {
        if pace == PaceName::Closed {
            log.has_effect(depth.place);
        } else {
            let message = "`iodepth` has no effect beside a trace whose requests begin at their times";
            log.no_effect(
                depth.place,
                message.to_owned(),
                "set workload.trace.pace to closed, or leave it out".to_owned(),
            );
        }
    }
    if let Some(factor) = raw.scale_time.as_ref() {
        if pace == PaceName::Closed {
            let message = "`scale_time` has no effect beside pace = \"closed\", where times do not count";
            let remedy = "leave it out, or set workload.trace.pace to open or think";
            log.no_effect(factor.place, message.to_owned(), remedy.to_owned());
        } else {
            log.has_effect(factor.place);
        }
    }
    match pace {
        PaceName::Open => Pace::ByTime,
        PaceName::Closed => Pace::Depth(given(workload.iodepth.as_ref()).map_or(1, |depth| depth.0 as u32)),
        PaceName::Think => Pace::AfterPrevious,
    }
}

fn remap(raw: &TraceRaw, log: &mut Log) -> RemapRequest {
    let remap = given(raw.remap.as_ref()).unwrap_or(RemapName::None);
    if let Some(of) = raw.of.as_ref() {
        if remap == RemapName::Scale {
            log.has_effect(of.place);
        } else {
            let message = "`of` has no effect without remap = \"scale\"".to_owned();
            log.no_effect(of.place, message, "set remap to scale, or leave it out".to_owned());
        }
        if of.value.0 == Sectors::ZERO {
            log.fault(of.place, "a device of no size was not recorded", "write its size such as \"500GB\"");
        }
    }
    match remap {
        RemapName::None => RemapRequest::None,
        RemapName::Wrap => RemapRequest::Wrap,
        RemapName::Scale => RemapRequest::Scale(given(raw.of.as_ref()).map(|of| of.0)),
    }
}

/// Puts the trace's fingerprint in place of its path; returns both.
pub fn by_fingerprint(workload: &mut WorkloadRaw, fingerprint: &str) -> Option<(String, String)> {
    let At { value: TraceChoice(raw), .. } = workload.trace.as_mut()?;
    let file = std::mem::replace(&mut raw.file.as_mut()?.value.0, fingerprint.to_owned());
    Some((file, fingerprint.to_owned()))
}
