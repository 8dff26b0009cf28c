//! The description of an array, its failures and its repairs as given: plain numbers, not yet checked.
//! [`Plan::check`](crate::Plan::check) turns it into a plan or reports all its errors.
use crate::law::Law;
use serde::{Deserialize, Serialize};

/// An array over its life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// `raid0` to `raidz3` as in the array of a scenario; `draid` and `lrc` only for durability.
    pub level: String,
    /// The layout of the copies of RAID 10: near, far or offset.
    #[serde(default)]
    pub layout: Option<String>,
    pub members: u32,
    pub capacity_bytes: f64,
    pub life_hours: f64,
    /// The lifetime of a drive.
    pub drive: Law,
    pub repair: Repair,
    /// Unreadable sectors.
    #[serde(default)]
    pub latent: Option<Latent>,
    /// Arrays whose drives are all from a bad batch.
    #[serde(default)]
    pub batch: Option<Batch>,
    /// Common causes of drive failures.
    #[serde(default)]
    pub common: Vec<Common>,
    /// Outages, which make data unavailable without losing them.
    #[serde(default)]
    pub outages: Vec<Outage>,
    /// The probability that, when a failed drive is replaced, a good one of its group is pulled, which then must be
    /// rebuilt as well.
    #[serde(default)]
    pub wrong_drive: f64,
    /// The number of copies of RAID 01 and RAID 10; 2 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
    /// The number of groups of RAID 30, 50, 60; of local groups of a local-reconstruction code; 2 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    /// Members that hold parity: per stripe of declustered parity, or the global parities of a local-reconstruction
    /// code; 2 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity: Option<u32>,
    /// Members per stripe of declustered parity, data and parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Hot spares of the whole array, each of which is reordered when it is used; without them every repair waits for
    /// its own new drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spares: Option<u32>,
    /// The number of stripes (row groups of different drives) of declustered parity; a million if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripes: Option<f64>,
}

/// A share of the arrays is built from drives that age faster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The share of all arrays.
    pub share: f64,
    /// The factor by which their drives age faster.
    pub factor: f64,
}

/// Unreadable sectors: with a probability per byte read, or as latent defects that exist until a scrub.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latent {
    /// Unreadable sectors per byte read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_byte: Option<f64>,
    /// The time from the last correction (or a new drive) to the next latent defect of a drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Law>,
    /// The time from a latent defect until a scrub corrects it; without it only a new drive does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<Law>,
}

/// The times from a failure until the new drive has its data: detection, then replacement, then rebuild.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repair {
    /// The rebuild with one member of the group missing, two, ...; the last entry applies to more.
    pub rebuild: Vec<Rebuild>,
    /// Whether all rebuilds of the array share the rate of one.
    #[serde(default)]
    pub serial: bool,
    /// The time until the failure is noticed; at once if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detection: Option<Law>,
    /// The time until a new drive is delivered, if there is no spare; at once if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Law>,
    /// The hours in which drives can be replaced; always if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<Attended>,
}

impl Repair {
    pub fn detection(&self) -> &Law {
        self.detection.as_ref().unwrap_or(&AT_ONCE)
    }

    pub fn replacement(&self) -> &Law {
        self.replacement.as_ref().unwrap_or(&AT_ONCE)
    }
}

static AT_ONCE: Law = Law::Fixed { hours: 0.0 };

/// The rebuild time in one state of the array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rebuild {
    pub time: Law,
    /// The interval of the mean if it was measured or simulated: probabilities are then also given over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_hours: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_hours: Option<f64>,
}

/// Attended hours, from the beginning of each of the first days of a week.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attended {
    pub hours_per_day: f64,
    pub days_per_week: u32,
}

/// A common cause that may take several drives at once: a shelf's power supply, a surge, a human error, heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Common {
    pub name: String,
    /// Mean time between events, which occur at a constant rate.
    pub mean_hours: f64,
    /// The probability of each drive to fail in an event.
    pub share: f64,
}

/// A component without which no data can be read and whose failure loses none: a controller, an enclosure, power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    pub name: String,
    pub mttf_hours: f64,
    pub mttr_hours: f64,
}
