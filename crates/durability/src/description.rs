//! What an array is, what fails in it and how it is repaired, as it is handed over: plain numbers, not yet checked.
//! [`Plan::check`](crate::Plan::check) makes a plan of it or says everything that is wrong.
use crate::law::Law;
use serde::{Deserialize, Serialize};

/// An array over its life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// `raid0` to `raidz3` as the array of a scenario has them; `draid` and `lrc` for durability alone.
    pub level: String,
    pub members: u32,
    /// How the copies of RAID 10 lie: near, far or offset.
    #[serde(default)]
    pub layout: Option<String>,
    /// Copies of RAID 01 and RAID 10.
    #[serde(default = "two")]
    pub copies: u32,
    /// Groups of RAID 30, 50, 60; local groups of a local-reconstruction code.
    #[serde(default = "two")]
    pub groups: u32,
    /// Members that hold parity: of each stripe of declustered parity, or the global ones of a
    /// local-reconstruction code.
    #[serde(default = "two")]
    pub parity: u32,
    /// Members of each stripe of declustered parity, data and parity.
    #[serde(default)]
    pub width: Option<u32>,
    /// Stripes (row groups of different drives) of declustered parity.
    #[serde(default = "many")]
    pub stripes: f64,
    pub capacity_bytes: f64,
    pub life_hours: f64,
    /// How long a drive lives.
    pub drive: Law,
    /// Arrays whose drives all come from a bad batch.
    #[serde(default)]
    pub batch: Option<Batch>,
    /// Sectors that cannot be read.
    #[serde(default)]
    pub latent: Option<Latent>,
    pub repair: Repair,
    /// Hot spares of the whole array, each of which is ordered anew when it is used; without them every repair waits
    /// for its own new drive.
    #[serde(default)]
    pub spares: Option<u32>,
    /// The chance that, when a failed drive is to be replaced, a good one of its group is pulled, which then has to
    /// be rebuilt as well.
    #[serde(default)]
    pub wrong_drive: f64,
    /// What makes drives fail together.
    #[serde(default)]
    pub common: Vec<Common>,
    /// What makes data unavailable without losing them.
    #[serde(default)]
    pub outages: Vec<Outage>,
}

/// A share of arrays is built of drives that age faster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Of all arrays.
    pub share: f64,
    /// How many times as fast their drives age.
    pub factor: f64,
}

/// Sectors that cannot be read: met by chance on each byte read, or there since a time until a scrub.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latent {
    /// Unreadable sectors for each byte read.
    #[serde(default)]
    pub per_byte: Option<f64>,
    /// From the last correction (or a new drive) until the next latent defect of a drive.
    #[serde(default)]
    pub arrival: Option<Law>,
    /// From a latent defect until a scrub corrects it; without it nothing does but a new drive.
    #[serde(default)]
    pub scrub: Option<Law>,
}

/// From a failure until the new drive has its data: detection, then replacement, then rebuild.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repair {
    #[serde(default = "at_once")]
    pub detection: Law,
    /// Until a new drive is there, where no spare is.
    #[serde(default = "at_once")]
    pub replacement: Law,
    /// With one member of the group missing, two, ...; the last holds for more.
    pub rebuild: Vec<Rebuild>,
    /// Whether all rebuilds of the array share the pace of one.
    #[serde(default)]
    pub serial: bool,
    /// When somebody is there to replace a drive; always without it.
    #[serde(default)]
    pub attended: Option<Attended>,
}

/// How long a rebuild takes in one state of the array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rebuild {
    pub time: Law,
    /// An interval of the mean, where it was measured or simulated: the chances are then given over it.
    #[serde(default)]
    pub low_hours: Option<f64>,
    #[serde(default)]
    pub high_hours: Option<f64>,
}

/// A person's hours, from the beginning of each of the first days of a week.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attended {
    pub hours_per_day: f64,
    pub days_per_week: u32,
}

/// An event that may take several drives at once: a shelf's power supply, a surge, a person, heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Common {
    pub name: String,
    /// Mean time between events, which come at a constant rate.
    pub mean_hours: f64,
    /// The chance of each drive to fail in one.
    pub share: f64,
}

/// A part without which nothing can be read, and which loses nothing: a controller, an enclosure, power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    pub name: String,
    pub mttf_hours: f64,
    pub mttr_hours: f64,
}

fn two() -> u32 {
    2
}

fn many() -> f64 {
    1e6
}

fn at_once() -> Law {
    Law::Fixed { hours: 0.0 }
}
