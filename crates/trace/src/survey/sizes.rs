//! Sizes of reads and writes: exact counts while there are few different sizes, powers of two beyond.
use crate::record::{Kind, Record};
use serde::Serialize;
use std::collections::BTreeMap;

/// The most different sizes that are counted exactly.
const EXACT_MAX: usize = 4_096;
/// The number of most common sizes that are listed.
const LISTED: usize = 8;

/// Counts by size of reads and of writes.
#[derive(Default)]
pub struct Sizes {
    reads: Counts,
    writes: Counts,
}

#[derive(Default)]
struct Counts {
    by_size: BTreeMap<u64, u64>,
    count: u64,
    bytes: u128,
    /// Whether there were too many sizes, which are therefore counted by the next power of two.
    is_coarse: bool,
    min: u64,
    max: u64,
}

impl Sizes {
    pub fn take(&mut self, record: &Record) {
        let counts = if record.kind == Kind::Read { &mut self.reads } else { &mut self.writes };
        counts.take(record.length);
    }

    pub fn report(&self) -> Report {
        Report { read: self.reads.report(), write: self.writes.report() }
    }
}

impl Counts {
    fn take(&mut self, size: u64) {
        self.min = if self.count == 0 { size } else { self.min.min(size) };
        self.max = self.max.max(size);
        self.count += 1;
        self.bytes += u128::from(size);
        let size = if self.is_coarse { power(size) } else { size };
        *self.by_size.entry(size).or_default() += 1;
        if self.by_size.len() > EXACT_MAX {
            self.is_coarse = true;
            for (size, count) in std::mem::take(&mut self.by_size) {
                *self.by_size.entry(power(size)).or_default() += count;
            }
        }
    }

    /// The smallest size such that this percentage of requests is not larger.
    fn quantile(&self, percent: u64) -> u64 {
        let rank = u128::from(self.count) * u128::from(percent);
        let mut below = 0u128;
        let at = self.by_size.iter().find(|(_, count)| {
            below += u128::from(**count);
            below * 100 >= rank
        });
        at.map_or(0, |(size, _)| *size).clamp(self.min, self.max)
    }

    fn report(&self) -> Option<OfKind> {
        if self.count == 0 {
            return None;
        }
        let mut common: Vec<Common> =
            self.by_size.iter().map(|(&bytes, &requests)| Common { bytes, requests }).collect();
        common.sort_by_key(|common| (std::cmp::Reverse(common.requests), common.bytes));
        common.truncate(LISTED);
        Some(OfKind {
            min_bytes: self.min,
            mean_bytes: self.bytes as f64 / self.count as f64,
            p50_bytes: self.quantile(50),
            p95_bytes: self.quantile(95),
            max_bytes: self.max,
            exact: !self.is_coarse,
            common,
            histogram: self.histogram(),
        })
    }

    /// The histogram by the next power of two.
    fn histogram(&self) -> Vec<Common> {
        let mut found = BTreeMap::<u64, u64>::new();
        for (&size, &count) in &self.by_size {
            *found.entry(power(size)).or_default() += count;
        }
        found.into_iter().map(|(bytes, requests)| Common { bytes, requests }).collect()
    }
}

fn power(size: u64) -> u64 {
    size.checked_next_power_of_two().unwrap_or(u64::MAX)
}

/// The sizes of a trace.
#[derive(Serialize)]
pub struct Report {
    read: Option<OfKind>,
    write: Option<OfKind>,
}

#[derive(Serialize)]
struct OfKind {
    min_bytes: u64,
    mean_bytes: f64,
    p50_bytes: u64,
    p95_bytes: u64,
    max_bytes: u64,
    /// Whether quantiles and common sizes are exact, or rounded up to powers of two.
    exact: bool,
    common: Vec<Common>,
    histogram: Vec<Common>,
}

#[derive(Serialize)]
struct Common {
    bytes: u64,
    requests: u64,
}
