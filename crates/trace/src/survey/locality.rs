//! Locality: how many requests begin where the previous one on the same device ended, and the distances of the
//! others.
use crate::record::Record;
use serde::Serialize;

/// Classes of distances by powers of two, from 1 byte.
const CLASSES: usize = 65;

/// Counts over reads and writes; the previous end is recorded per device.
#[derive(Default)]
pub struct Locality {
    /// Per device: the end of the previous request, and the highest end.
    ends: Vec<Option<(u64, u64)>>,
    sequential: u64,
    jumps: u64,
    backward: u64,
    distance: u128,
    classes: Vec<u64>,
}

impl Locality {
    pub fn take(&mut self, record: &Record) {
        let device = record.device as usize;
        if self.ends.len() <= device {
            self.ends.resize(device + 1, None);
        }
        let end = record.end();
        let Some((previous, highest)) = self.ends[device] else {
            self.ends[device] = Some((end, end));
            return;
        };
        self.ends[device] = Some((end, highest.max(end)));
        if record.offset == previous {
            self.sequential += 1;
            return;
        }
        let distance = record.offset.abs_diff(previous);
        self.jumps += 1;
        self.backward += u64::from(record.offset < previous);
        self.distance += u128::from(distance);
        if self.classes.is_empty() {
            self.classes.resize(CLASSES, 0);
        }
        self.classes[64 - distance.leading_zeros() as usize] += 1;
    }

    /// The highest end of a request on a device.
    pub fn highest(&self, device: usize) -> u64 {
        self.ends.get(device).copied().flatten().map_or(0, |(_, highest)| highest)
    }

    pub fn report(&self) -> Report {
        let followed = self.sequential + self.jumps;
        let share = |count: u64| (followed > 0).then(|| count as f64 / followed as f64);
        let classes = self.classes.iter().enumerate().filter(|(_, count)| **count > 0);
        Report {
            sequential_share: share(self.sequential),
            backward_share: share(self.backward),
            mean_distance_bytes: (self.jumps > 0).then(|| self.distance as f64 / self.jumps as f64),
            distances: classes
                .map(|(class, &requests)| Distance { below_power: class as u32, requests })
                .collect(),
        }
    }
}

/// The sequential share, and the distances of the other requests.
#[derive(Serialize)]
pub struct Report {
    sequential_share: Option<f64>,
    backward_share: Option<f64>,
    /// The mean over requests that are not sequential.
    mean_distance_bytes: Option<f64>,
    distances: Vec<Distance>,
}

/// Distances below a power of two in bytes, and at least half of it.
#[derive(Serialize)]
struct Distance {
    below_power: u32,
    requests: u64,
}
