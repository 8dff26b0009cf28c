//! A trace as a job of fio, which replays its own log format.
use crate::check::given;
use crate::fio::{MAX_SECTORS, THROUGH_CACHE, WRITES};
use crate::raw::trace::{PaceName, RemapName, TraceRaw};
use crate::raw::workload::WorkloadRaw;
use std::fmt::Write;

/// The job of a workload's trace, with the command that writes its log above it; nothing where there is no trace.
/// Whether the trace writes is not known here.
pub fn recorded(out: &mut String, workload: &WorkloadRaw, waits: bool) {
    let Some(raw) = workload.trace.as_ref().map(|at| &at.value.0) else { return };
    let Some(file) = &raw.file else { return };
    let _ = writeln!(
        out,
        "\n; drivelab trace convert {}{} --to iolog3 -o trace.iolog",
        word(&file.value.0),
        options(raw)
    );
    if given(raw.remap.as_ref()).is_some_and(|remap| remap != RemapName::None) {
        out.push_str("; SIZE is that of DEVICE\n");
    }
    let _ =
        writeln!(out, "{WRITES}\n[trace]{}\nread_iolog=trace.iolog", if waits { "\nstonewall" } else { "" });
    match given(raw.pace.as_ref()).unwrap_or(PaceName::Open) {
        PaceName::Open => {}
        PaceName::Closed => {
            let depth = given(workload.iodepth.as_ref()).map_or(1, |depth| depth.0);
            let _ = writeln!(out, "replay_no_stall=1\niodepth={depth}");
        }
        PaceName::Think => {
            out.push_str("; fio cannot express it: pace=think; requests begin at their recorded times\n");
        }
    }
    scaled(out, raw);
    if let Some(limit) = given(workload.max_transfer.as_ref()) {
        let _ = writeln!(out, "{MAX_SECTORS}={}", limit.get() / 1024);
    }
    if given(workload.direct.as_ref()).is_some_and(|direct| !direct.0) {
        let _ = writeln!(out, "{THROUGH_CACHE}");
    }
}

/// What of the replay `trace convert` does.
fn options(raw: &TraceRaw) -> String {
    let mut out = String::new();
    if let Some(format) = given(raw.format.as_ref()) {
        let _ = write!(out, " --format {}", word(&format.0));
    }
    if let Some(columns) = given(raw.columns.as_ref()) {
        let _ = write!(out, " --columns {}", word(&columns.0));
    }
    if given(raw.lenient.as_ref()).unwrap_or(false) {
        out.push_str(" --lenient");
    }
    if given(raw.sort.as_ref()).unwrap_or(false) {
        out.push_str(" --sort");
    }
    if let Some(device) = given(raw.device.as_ref()) {
        let _ = write!(out, " --device {}", word(&device.0));
    }
    match given(raw.remap.as_ref()).unwrap_or(RemapName::None) {
        RemapName::None => {}
        RemapName::Wrap => out.push_str(" --remap wrap --capacity SIZE"),
        RemapName::Scale => {
            out.push_str(" --remap scale --capacity SIZE");
            if let Some(of) = given(raw.of.as_ref()) {
                let _ = write!(out, " --of {}B", of.0.bytes().get());
            }
        }
    }
    out
}

/// fio takes the rate in whole percent, and `scale_time` is the inverse.
fn scaled(out: &mut String, raw: &TraceRaw) {
    let is_closed = given(raw.pace.as_ref()) == Some(PaceName::Closed);
    let Some(factor) = given(raw.scale_time.as_ref()).filter(|factor| !is_closed && factor.0 > 0) else {
        return;
    };
    let percent = (100_000_000 + factor.0 / 2) / factor.0;
    let times = factor.0 as f64 / 1e6;
    if percent * factor.0 != 100_000_000 {
        let _ =
            writeln!(out, "; fio cannot express it: scale_time={times}, but in whole percent of the rate");
    }
    if percent > 0 && percent != 100 {
        let _ = writeln!(out, "replay_time_scale={percent}");
    }
}

/// A word of a shell.
fn word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:,=@%".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
