//! Patterns: workloads of the catalogue, whose keys a scenario overrides with its own.
use super::resolve::FileCache;
use crate::keys::At;
use crate::keys::Read;
use crate::raw::choice::Name;
use crate::raw::workload::{JobRaw, PatternRaw, WorkloadRaw};
use crate::text::problem::Log;

/// A workload with its patterns, its own and those of its jobs, expanded; `None` if one is unknown.
pub fn written_out(
    raw: &At<WorkloadRaw>,
    patterns: &mut FileCache<'_, PatternRaw>,
    log: &mut Log,
) -> Option<At<WorkloadRaw>> {
    let At { value: mut workload, place, source } = raw.clone();
    // Beside a list of commands or a trace, the pattern is one of the keys without effect.
    if workload.commands.is_some() || workload.trace.is_some() {
        return Some(raw.clone());
    }
    let mut clear = workload.readable("pattern");
    let mut laid_under = |name: Option<At<Name>>, log: &mut Log| {
        let found = name.map(|name| patterns.named(&name.value.0, name.place, log));
        clear &= !matches!(found, Some(None));
        found.flatten()
    };
    let below = laid_under(workload.pattern.take(), log);
    for (_, job) in workload.job.iter_mut().flat_map(|jobs| &mut jobs.value.0) {
        if let Some(pattern) = laid_under(job.value.pattern.take(), log) {
            job.value = std::mem::take(&mut job.value).over(JobRaw::from(pattern));
        }
    }
    let readable = |job: &JobRaw| job.readable("pattern");
    let all = workload.job.iter().flat_map(|jobs| &jobs.value.0).all(|(_, job)| readable(&job.value));
    if let Some(pattern) = below {
        workload = workload.over(WorkloadRaw::from(pattern));
    }
    (clear && all).then_some(At { value: workload, place, source })
}
