//! Recorded response times, and the number of outstanding requests.
use crate::record::{Kind, Record};
use hdrhistogram::Histogram;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The largest recorded value; longer response times count as this: 12 days.
const HIGHEST_NS: u64 = 1 << 50;
/// The most outstanding requests for which the depth is tracked.
const OUTSTANDING_MAX: usize = 1 << 20;

/// Response times of reads, writes and all other requests.
pub struct Responses {
    kinds: [Times; 3],
    residence_ns: u128,
    outstanding: BinaryHeap<Reverse<u64>>,
    depth_max: usize,
    previous_ns: u64,
    /// Whether the depth is tracked: it is only known while times do not go back.
    is_followed: bool,
    /// The earliest arrival and the latest completion.
    first_ns: u64,
    last_end_ns: u64,
}

struct Times {
    histogram: Option<Histogram<u64>>,
    sum: u128,
    count: u64,
    max: u64,
}

impl Default for Responses {
    fn default() -> Self {
        let times = || Times {
            histogram: Histogram::new_with_bounds(1, HIGHEST_NS, 3).ok(),
            sum: 0,
            count: 0,
            max: 0,
        };
        Responses {
            kinds: [times(), times(), times()],
            residence_ns: 0,
            outstanding: BinaryHeap::new(),
            depth_max: 0,
            previous_ns: 0,
            is_followed: true,
            first_ns: u64::MAX,
            last_end_ns: 0,
        }
    }
}

impl Responses {
    pub fn take(&mut self, record: &Record) {
        let Some(response) = record.response_ns else { return };
        let times = &mut self.kinds[match record.kind {
            Kind::Read => 0,
            Kind::Write => 1,
            Kind::Flush | Kind::Discard => 2,
        }];
        times.sum += u128::from(response);
        times.count += 1;
        times.max = times.max.max(response);
        if let Some(histogram) = &mut times.histogram {
            histogram.saturating_record(response.max(1));
        }
        self.residence_ns += u128::from(response);
        self.follow(record.time_ns, response);
    }

    fn follow(&mut self, time_ns: u64, response: u64) {
        self.first_ns = self.first_ns.min(time_ns);
        self.last_end_ns = self.last_end_ns.max(time_ns.saturating_add(response));
        self.is_followed &= time_ns >= self.previous_ns && self.outstanding.len() < OUTSTANDING_MAX;
        self.previous_ns = time_ns;
        if !self.is_followed {
            self.outstanding = BinaryHeap::new();
            return;
        }
        while self.outstanding.peek().is_some_and(|Reverse(end)| *end <= time_ns) {
            self.outstanding.pop();
        }
        self.outstanding.push(Reverse(time_ns.saturating_add(response)));
        self.depth_max = self.depth_max.max(self.outstanding.len());
    }

    /// `None` if the trace has no response times.
    pub fn report(&self) -> Option<Report> {
        let span_ns = self.last_end_ns.saturating_sub(self.first_ns);
        let count: u64 = self.kinds.iter().map(|times| times.count).sum();
        let [read, write, other] = [0, 1, 2].map(|kind| self.kinds[kind].report());
        (count > 0).then(|| Report {
            recorded: count,
            mean_depth: (span_ns > 0).then(|| self.residence_ns as f64 / span_ns as f64),
            max_depth: self.is_followed.then_some(self.depth_max),
            last_completion_ns: self.last_end_ns,
            read,
            write,
            other,
        })
    }
}

impl Times {
    fn report(&self) -> Option<OfKind> {
        let histogram = self.histogram.as_ref()?;
        let at = |quantile: f64| histogram.value_at_quantile(quantile).min(self.max);
        // A quantile needs enough samples for some to lie beyond it.
        let supported = |quantile: f64, least: u64| (self.count >= least).then(|| at(quantile));
        (self.count > 0).then(|| OfKind {
            count: self.count,
            mean_ns: self.sum as f64 / self.count as f64,
            p50_ns: at(0.5),
            p95_ns: supported(0.95, 20),
            p99_ns: supported(0.99, 100),
            max_ns: self.max,
        })
    }
}

/// Response times and queue depth.
#[derive(Serialize)]
pub struct Report {
    recorded: u64,
    /// The total time of all requests in the system over the time from the first arrival to the last completion.
    mean_depth: Option<f64>,
    /// `None` if times go back, or more than a million requests are outstanding.
    max_depth: Option<usize>,
    last_completion_ns: u64,
    read: Option<OfKind>,
    write: Option<OfKind>,
    other: Option<OfKind>,
}

#[derive(Serialize)]
struct OfKind {
    count: u64,
    mean_ns: f64,
    p50_ns: u64,
    p95_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: u64,
}
