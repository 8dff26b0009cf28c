//! The keys of a question: what a file of it, the options of its verb and the arguments of its function have in common.
//!
//! Where a doc names another key it does so in backquotes: the help of the options has the option in its place.
use super::laws::{
    arrival, attended, batch, common, corrected, law, levels, outage, per_byte, rates, rebuilds, wait,
};
use super::typed::{capacity, chance, hours, many, number, one, share, time, typed, whole};
use crate::HOURS_PER_YEAR;
use crate::description::{Attended, Batch, Common, Outage, Rebuild};
use crate::law::Law;
use crate::outcome::Method;
use drivelab_scenario::keys::{Kind, Read};
use drivelab_scenario::text::problem::Log;
use drivelab_scenario::text::tree::Node;
use drivelab_scenario::{choices, section};
use std::fmt::Write;
use std::ops::Deref;

section! {
    facts: false,
    /// An array, what fails in it, how it is repaired, and how its losses are found.
    pub struct QuestionRaw {
        /// One level or several: raid5,raid6; also draid and lrc
        level: Levels = "",
        /// Number of drives
        members: Whole = "",
        /// Capacity of a drive
        capacity: OfADrive = "1TB",
        /// A drive of the catalogue, or a path: for its capacity and class
        drive: Name = "",
        /// Layout of raid10: near, far, offset
        layout: Name = "",
        /// Copies of raid01 and raid10
        copies: Whole = "2",
        /// Groups of raid30, raid50, raid60; local groups of lrc
        groups: Whole = "2",
        /// Parities of a stripe of draid; global parities of lrc
        parity: Whole = "2",
        /// Members of a stripe of draid, data and parity
        width: Whole = "",
        /// Stripes of draid on different members
        stripes: Number = "1e6",
        /// Hot spares; each used one is reordered
        spares: Spares = "",
        /// Service life of the array
        life: Service = "5y",
        /// Annual failure rate of a drive
        afr: Afr = "",
        /// Mean time to failure of a drive, in place of `afr`
        mttf: Time = "",
        /// Distribution of a drive's life, in place of `afr`: weibull:1.12:461386h, survival:1y=98%,5y=89%
        drive_life: Life = "",
        /// Share of arrays from a bad batch, and how many times as fast its drives age: 5%:8
        batch: BadBatch = "",
        /// Rate of unreadable sectors per bit or byte read: 1e-15/bit, or none; by default by the drive's class
        ure: Ure = "",
        /// Rate of latent defects of a drive: 1.08e-4/h, or a distribution by name
        latent: Defects = "",
        /// Data read from a drive per day, for `ure` with `scrub`
        reads: Capacity = "270GB",
        /// Common cause of failures (name, mean time, share of drives): shelf:20y:30%; repeatable
        common: Causes = "",
        /// Probability that a good drive is pulled by mistake at a replacement
        wrong_drive: Chance = "0",
        /// Component without which data are unavailable (name, MTTF, MTTR): controller:500000h:8h; repeatable
        outage: Components = "",
        /// Time of a rebuild: 20h, a distribution (fixed:20h), an interval (20h(18h..23h)), simulated;
        /// 20h,35h by the number of missing members
        rebuild: Rebuilds = "",
        /// Time from a failure to its detection
        detection: Wait = "0h",
        /// Time until a new drive arrives, without a spare
        replacement: Wait = "0h",
        /// Attended hours a day x days a week: 8x5
        attended: Attendance = "",
        /// Concurrent rebuilds share the rate of one
        serial: bool = "false",
        /// Period of scrubs, or the distribution of the time from defect to correction
        scrub: Scrub = "",
        /// The host's adapter
        controller: Name = "",
        /// Accesses of the hosts: read, write, rw, randread, randwrite, randrw
        rw: Name = "randrw",
        /// A workload of the catalogue, in place of `rw`, `bs` and `rwmixread`
        pattern: Name = "",
        /// Size of a request
        bs: Load = "4KiB",
        /// Share of reads in a mixed load
        rwmixread: Load = "70",
        /// Requests outstanding
        iodepth: Load = "16",
        /// Requests per second, in place of `iodepth`
        rate_iops: Load = "",
        /// Arrival process: poisson (default) or linear (evenly spaced)
        rate_process: Name = "",
        /// Each write ends on the media (FUA), as with O_SYNC
        sync: bool = "false",
        /// auto, chain, monte-carlo, biasing, splitting
        method: Method = "auto",
        /// Upper limit of the number of histories
        histories: Histories = "1000000",
        /// Stop once half the interval is below this share of the probability
        error: Relative = "5%",
        /// Continue after a loss, and count every loss
        every_loss: bool = "false",
        /// Seed of the random numbers
        seed: Whole = "1",
    }
}

typed! {
    Levels(Vec<String>): "names of levels", "commas between several, or a list", "raid5,raid6", levels(());
    Whole(u32): "a whole number", "", "8", one(whole);
    Number(f64): "a number", "", "1e6", one(number);
    Name(String): "a name", "", "NAME", one(|part, _| Some(part.text.to_owned()));
    Load(String): "a text or a number", "", "16", one(|part, _| Some(part.text.to_owned()));
    OfADrive(f64): "a capacity", "MB, GB, TB (1000), MiB, GiB, TiB (1024)", "16TB", one(capacity),
        |bytes| bytes > 0.0 => "a capacity is above zero here", "such as 16TB";
    Capacity(f64): "a capacity", "MB, GB, TB (1000), MiB, GiB, TiB (1024)", "270GB", one(capacity);
    Spares(u32): "0 to 64", "", "1", one(whole), |count| count <= 64 => "too many spares", "give 64 at most";
    Service(f64): "1 to 1000 years", "h, d, w, y", "5y", one(hours),
        |hours| (1.0..=1000.0).contains(&(hours / HOURS_PER_YEAR)) => "an array is used for 1 to 1000 years", "such as 5y";
    Time(f64): "a time", "h, d, w, y", "500000h", one(time);
    Afr(Vec<f64>): "a chance", "% with its interval, or FILE.csv:MODEL for a table of counts", "1.5%(1.2%..1.9%)", one(rates);
    Life(Law): "a law of a time", "a mean, or fixed, weibull, uniform, survival", "weibull:1.12:461386h", one(law);
    Wait(Law): "a law of a time", "as `drive_life`, or zero", "fixed:20h", one(wait);
    Rebuilds(Option<Vec<Rebuild>>): "laws of a time", "as `drive_life`, with the interval of the mean; a list", "20h(18h..23h)", rebuilds(());
    Ure(Option<f64>): "a rate", "/bit, /byte, or none", "1e-15/bit", one(per_byte);
    Defects(Law): "a rate", "/h, /y, or a law with its name", "1.08e-4/h", one(arrival);
    Scrub(Law): "a time", "a period, or a law with its name", "2w", one(corrected);
    BadBatch(Batch): "a share and a factor", "", "5%:8", one(batch);
    Attendance(Attended): "hours and days", "", "8x5", one(attended);
    Causes(Vec<Common>): "a name, a time and a share", "or a list of them", "shelf:20y:30%", many(common);
    Components(Vec<Outage>): "a name and two times", "or a list of them", "controller:500000h:8h", many(outage);
    Chance(f64): "a chance", "%, or a number from 0 to 1", "1.5%", one(chance);
    Histories(u32): "a whole number from 1000", "", "1000000", one(whole),
        |count| count >= 1000 => "too few histories", "give 1000 or more";
    Relative(f64): "a share", "%, or a number below 1", "5%", one(share),
        |share| share > 0.0 && share < 1.0 => "it is no relative error", "give a share between 0 and 1: 5%";
}

choices!(Method {
    "auto" => Method::Auto, "the chain where it applies, otherwise histories: plain ones, or biased ones where losses are rare";
    "chain" => Method::Chain, "a chain of states, which is exact, where all times are exponential";
    "monte-carlo" => Method::MonteCarlo, "histories, event by event";
    "biasing" => Method::Biasing, "histories with rare events forced, and weights that correct for it";
    "splitting" => Method::Splitting, "histories in stages, one for each missing member";
});

/// The load beside a simulated rebuild.
pub const LOADS: [&str; 9] =
    ["controller", "rw", "pattern", "bs", "iodepth", "rwmixread", "rate_iops", "rate_process", "sync"];
