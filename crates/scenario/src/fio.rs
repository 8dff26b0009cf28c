//! A workload as a fio job file, for the same test on a real device.
use crate::check::run::Run;
use crate::check::workload::{Job, Listed};
use crate::fio_trace;
use crate::keys::Read;
use crate::raw::workload::{Rw, WorkloadRaw};
use drivelab_core::host::params::{Addressing, Arrivals, Ending, Flushes, JobParams, Marking, PriorityShare};
use drivelab_core::{Access, Priority};
use drivelab_units::Share;
use std::fmt::Write;

/// What is said of a limit of the size of commands, and of I/Os through the page cache.
pub const MAX_SECTORS: &str =
    "; no command larger than (set it in the device's queue/max_sectors_kb)\n; max_sectors_kb";
pub const THROUGH_CACHE: &str = "; through the page cache, where fio's libaio waits for each I/O\ndirect=0";
/// The line above a job that writes.
pub const WRITES: &str = "; writes: destroys what is on DEVICE";

/// The job file; the device is left to the user, since a job that writes destroys its data. The files of a
/// sweep may be concatenated: each but the first waits for the previous one.
pub fn job_file(jobs: &[Job], workload: Option<&WorkloadRaw>, run: &Run, first: bool) -> String {
    let mut out = String::from(
        "; run with: DEVICE=/dev/NAME fio this-file\n[global]\nfilename=${DEVICE}\nioengine=libaio\ndirect=1\n",
    );
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key}={value}");
    };
    line("randseed", run.seed.to_string());
    line("randrepeat", "1".to_owned());
    line("norandommap", "1".to_owned());
    let some_end = jobs.iter().any(|job| job.params.ending.after.is_some());
    if let Some(duration) = run.limit.duration {
        if !some_end {
            line("time_based", "1".to_owned());
        }
        line("runtime", microseconds(duration.as_ns()));
    }
    if !run.warmup.is_zero() {
        line("ramp_time", microseconds(run.warmup.as_ns()));
    }
    let listed = jobs.iter().any(|job| job.listed.is_some());
    if let Some(ios) = run.limit.ios.filter(|_| !listed) {
        line("; over all jobs together; fio counts for each\nnumber_ios", ios.to_string());
    }
    if jobs.iter().any(|job| job.params.ending.ends_all) {
        line("exitall", "1".to_owned());
    }
    line("group_reporting", "1".to_owned());
    let mut waits = !first;
    if let Some(workload) = workload {
        fio_trace::recorded(&mut out, workload, waits);
    }
    for job in jobs {
        out.push('\n');
        if job.listed.is_some_and(|listed| listed.access == Access::Flush) {
            let _ = writeln!(out, "; fio cannot express it: {}, a flush by itself", job.name);
            continue;
        }
        section(&mut out, job, waits);
        ending(&mut out, job.params.ending, some_end && run.limit.duration.is_some());
        waits = false;
    }
    out
}

fn section(out: &mut String, job: &Job, waits: bool) {
    let params = &job.params;
    if params.reads != Share::ALL {
        let _ = writeln!(out, "{WRITES}");
    }
    let _ = writeln!(out, "[{}]\nrw={}", job.name, job.rw.name());
    if waits {
        out.push_str("stonewall\n");
    }
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key}={value}");
    };
    match &params.sizes[..] {
        [one] => line("bs", one.size.bytes().get().to_string()),
        sizes => line("bssplit", split(sizes)),
    }
    if matches!(job.rw, Rw::Mixed | Rw::RandMixed) {
        line("rwmixread", percent(params.reads));
    }
    match params.addressing {
        Addressing::Mixed { random, random_writes } if random == random_writes => {
            line("percentage_random", percent(random));
        }
        Addressing::Mixed { random, random_writes } => {
            line("percentage_random", format!("{},{}", percent(random), percent(random_writes)));
        }
        Addressing::Sequential if job.rw.is_random() => line("percentage_random", "0".to_owned()),
        _ => {}
    }
    if let Some(distribution) = &job.distribution {
        line("random_distribution", distribution.fio());
    }
    if let Some(zones) = params.zones {
        line("zonemode", "zbd".to_owned());
        line("max_open_zones", zones.open_most.to_string());
        if params.reads != Share::NONE {
            line("read_beyond_wp", "1".to_owned());
        }
    }
    if let Flushes::After(writes) = params.flushes {
        line("fsync", writes.to_string());
    }
    line("offset", (params.first.get() * drivelab_units::SECTOR_BYTES).to_string());
    line("size", params.count.bytes().get().to_string());
    line("blockalign", params.align.bytes().get().to_string());
    if let Some(Listed { at, .. }) = job.listed {
        line("number_ios", "1".to_owned());
        line("startdelay", microseconds(at.as_ns()));
    }
    if job.listed.is_none() {
        arrivals(params.arrivals, &mut line);
    }
    if let Some(limit) = params.command_limit {
        line(MAX_SECTORS, (limit.bytes().get() / 1024).to_string());
    }
    if job.copies > 1 {
        line("numjobs", job.copies.to_string());
    }
    queue_attributes(out, params);
}

/// When a job ends; beside others that end by themselves, one that does not is `time_based`.
fn ending(out: &mut String, ending: Ending, others_end: bool) {
    match ending.after {
        Some(after) => {
            let _ = writeln!(out, "io_size={}", after.bytes().get());
        }
        None if others_end => out.push_str("time_based=1\n"),
        None => {}
    }
    if ending.flushes {
        out.push_str("end_fsync=1\n");
    }
}

/// When a job issues its I/Os.
fn arrivals(arrivals: Arrivals, line: &mut dyn FnMut(&str, String)) {
    match arrivals {
        Arrivals::Closed { outstanding, think } => {
            line("iodepth", outstanding.to_string());
            if !think.is_zero() {
                if outstanding > 1 {
                    line(
                        "; here each of the outstanding I/Os thinks by itself; fio stalls the whole job\nthinktime",
                        microseconds(think.as_ns()),
                    );
                } else {
                    line("thinktime", microseconds(think.as_ns()));
                }
            }
        }
        Arrivals::Bursts { outstanding, burst, think } => {
            line("iodepth", outstanding.to_string());
            line("thinktime", microseconds(think.as_ns()));
            line("thinktime_blocks", burst.to_string());
        }
        Arrivals::Poisson { rate } | Arrivals::Fixed { rate } => {
            line("rate_iops", rate.millihertz().div_ceil(1_000).to_string());
            let poisson = matches!(arrivals, Arrivals::Poisson { .. });
            line("rate_process", if poisson { "poisson" } else { "linear" }.to_owned());
            // Deep enough never to delay an arrival.
            line("iodepth", "1024".to_owned());
        }
    }
}

/// The queueing attributes of a job: mostly not available in fio, which a comment then says.
fn queue_attributes(out: &mut String, params: &JobParams) {
    let Marking { attribute, priority, force_unit_access, sync, direct } = params.marking;
    let mut line = |text: &str| {
        let _ = writeln!(out, "{text}");
    };
    if !direct {
        line(THROUGH_CACHE);
    }
    priorities(&params.priorities, &mut line);
    match priority {
        Priority::Normal => {}
        // libata sends I/Os of the real-time class with high priority.
        Priority::High => {
            line("; needs 1 in the device's ncq_prio_enable, and CAP_SYS_ADMIN\nprioclass=1");
        }
        Priority::Limited(index) => line(&format!("{LIMITS}\npriohint={index}")),
        Priority::Isochronous(within) => {
            line(&format!("; fio cannot express it: isochronous, icc={}", microseconds(within.as_ns())));
        }
    }
    if attribute != drivelab_core::Attribute::Simple {
        let mut name = String::new();
        attribute.write(&mut name);
        line(&format!("; fio cannot express it: attribute={name}"));
    }
    if sync {
        line("sync=1");
    }
    if force_unit_access {
        line("; fio cannot express it with libaio: fua=1 (readfua, writefua of ioengine=sg)");
    }
    if params.initiator > 0 {
        line(&format!("; to be run on another host of the same bus: initiator={}", params.initiator));
    }
}

/// Linux passes a hint of an I/O on as the index of its descriptor.
const LIMITS: &str = "; needs the drive's duration limits set and enabled (cdladm), and no I/O scheduler";

/// Priorities by share: fio gives one class and hint to a share of a job's I/Os.
fn priorities(shares: &[PriorityShare], line: &mut dyn FnMut(&str)) {
    match shares {
        [] => {}
        &[PriorityShare { priority: Priority::High, share }] => {
            line("; needs 1 in the device's ncq_prio_enable, and CAP_SYS_ADMIN");
            line(&format!("cmdprio_class=1\ncmdprio_percentage={}", percent(share)));
        }
        &[PriorityShare { priority: Priority::Limited(index), share }] => {
            line(LIMITS);
            line(&format!("cmdprio_class=2\ncmdprio_hint={index}\ncmdprio_percentage={}", percent(share)));
        }
        _ => line("; fio cannot express it in one job: prioritysplit"),
    }
}

fn split(sizes: &[drivelab_core::host::params::SizeShare]) -> String {
    let total: u64 = sizes.iter().map(|share| u64::from(share.weight)).sum();
    let part = |share: &drivelab_core::host::params::SizeShare| {
        format!("{}/{}", share.size.bytes().get(), (u64::from(share.weight) * 100 + total / 2) / total.max(1))
    };
    sizes.iter().map(part).collect::<Vec<_>>().join(":")
}

fn percent(share: Share) -> String {
    ((share.bits() * 100 + (1 << 31)) >> 32).to_string()
}

fn microseconds(ns: u64) -> String {
    if ns.is_multiple_of(1_000_000_000) {
        format!("{}s", ns / 1_000_000_000)
    } else {
        format!("{}us", ns.div_ceil(1_000))
    }
}
