//! The sections and keys of a scenario and of a drive file as typed, each declared once.
//!
//! These declarations are the file format. The meaning of a value for the machines is not defined here.
pub mod actuators;
pub mod amounts;
pub mod array;
pub mod cache;
pub mod choice;
pub mod class;
pub mod commands;
pub mod disconnect;
pub mod distribution;
pub mod drive;
pub mod drive_faults;
pub mod duration;
pub mod flash;
pub mod host_managed;
pub mod identity;
pub mod link;
pub mod patterns;
pub mod protocol;
pub mod provenance;
pub mod queue;
pub mod scatter;
pub mod scenario;
pub mod smr;
pub mod switch;
pub mod system;
pub mod trace;
pub mod workload;
pub mod write_behind;

use crate::keys::Read;
use crate::text::suggest;
pub use scenario::ScenarioRaw;

/// Aliases: names that other tools, or this one elsewhere, use for a key with another name here.
const ALIASES: [(&str, &str); 32] = [
    ("outstanding", "`iodepth`"),
    ("queue_depth", "`iodepth` in [workload], `queue.depth` in [target]"),
    ("qd", "`iodepth` in [workload], `queue.depth` in [target]"),
    ("threads", "`numjobs`"),
    ("block_size", "`bs`"),
    ("blocksize", "`bs`"),
    ("readwrite", "`rw`"),
    ("scheduler", "`queue.order`"),
    ("policy", "`order`"),
    ("randseed", "`run.seed`"),
    ("filename", "nothing: the target is `target.drive`"),
    ("loops", "`run.ios` or `run.duration`"),
    ("disk", "`drive`"),
    ("disks", "`members`"),
    ("devices", "`members`"),
    ("raid_devices", "`members`"),
    ("chunk", "`stripe_unit`"),
    ("chunk_size", "`stripe_unit`"),
    ("stripe_size", "`stripe_unit`, the part of it that lies on one member"),
    ("hot_spares", "`spares`"),
    ("iosched", "`elevator`"),
    ("ioscheduler", "`elevator`"),
    ("qerr", "`on_error`"),
    ("prio", "`priority`"),
    ("cmdprio_percentage", "`prioritysplit`"),
    ("priority_split", "`prioritysplit`"),
    ("duration_limit", "`priority = \"limit-1\"` in [workload], `queue.duration_limits` in [target]"),
    ("write_back", "`write_cache` of the target, or of the drive's file"),
    ("read_ahead", "`cache`, with `read_ahead` and `read_ahead_limit` in it"),
    ("wce", "`write_cache` of the target, or of the drive's file"),
    ("cache_size", "`cache.size`"),
    ("tag", "nothing: the controller gives each command a tag that is free among the outstanding ones"),
];

/// Keys of other tools that this model does not support, or supports elsewhere: the reason and the remedy. `known` are
/// the names that may stand there.
pub fn not_modelled(name: &str, known: &[&str]) -> Option<(String, String)> {
    if matches!(name, "flush" | "sync" | "fsync") && known.contains(&"randrw") {
        let message = format!("\"{name}\" is no kind of I/O: a job reads, writes, or does both");
        let remedy = "set fsync, a flush after so many writes of a job, or list the commands: \
                      workload.commands = [{ rw = \"flush\" }]";
        return Some((message, remedy.to_owned()));
    }
    matches!(name, "trim" | "randtrim" | "trimwrite" | "randtrimwrite" | "discard" | "unmap").then(|| {
        let message = format!(
            "\"{name}\" asks for discards, which are not modelled: no drive here has a TRIM or UNMAP command yet"
        );
        (message, "leave the trims out: read, write, randread, randwrite, rw or randrw".to_owned())
    })
}

/// Why two keys of different forms exclude each other, and the remedy.
pub fn contradiction(first: &str, second: &str) -> (&'static str, &'static str) {
    let open = |key: &str| matches!(key, "rate_iops" | "rate_process");
    let slow = |key: &str| matches!(key, "over" | "share" | "every" | "factor");
    if slow(first) && slow(second) {
        let why = "a drive is slow in one way at a time: more and more, for a share of its commands, in bursts, or by a factor";
        (why, "")
    } else if open(first) || open(second) {
        let why =
            "an open loop issues at its rate whatever has completed, a closed one waits for completions";
        (why, ": `rate_iops` alone for an open loop, `iodepth` and `thinktime` for a closed one")
    } else {
        ("they are two ways of saying the same thing", "")
    }
}

/// The remedy for a key that has another name or place here; `None` for a typo.
pub fn elsewhere(key: &str, here: &[&str]) -> Option<String> {
    if let Some((_, right)) = ALIASES.iter().find(|(alias, _)| *alias == key) {
        return Some(format!("here it is {right}"));
    }
    if !suggest::nearest(key, here.iter().copied()).is_empty() {
        return None;
    }
    let paths = ScenarioRaw::kind().paths();
    let same_name = paths.iter().find(|path| path.rsplit('.').next() == Some(key));
    let path = same_name?;
    if path == key {
        return Some(format!("`{key}` is a key of a whole scenario: leave it out here"));
    }
    Some(format!("`{key}` belongs elsewhere: `{path}`"))
}
