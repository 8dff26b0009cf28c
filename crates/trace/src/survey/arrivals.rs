//! Arrival times: the gaps between requests, and how bursty they are.
//!
//! The coefficient of variation of the gaps is 1 for a Poisson process and 0 for an even one. The index of dispersion is the
//! variance of the requests in a second over their mean; it is 1 for a Poisson process, and grows with bursts.
use serde::Serialize;
use std::collections::BTreeMap;

const WINDOW_NS: i128 = 1_000_000_000;
/// The seconds that a time which goes back may still be counted in, those with requests alone; more are closed from the
/// earliest on, so that memory stays bounded.
const WINDOWS_OPEN: usize = 65_536;

/// Sums over gaps and seconds.
#[derive(Default)]
pub struct Arrivals {
    count: u64,
    /// The time of the first request: seconds are counted from it.
    origin_ns: u64,
    least_ns: u64,
    most_ns: u64,
    gap_squares: f64,
    windows: Windows,
}

/// The requests of each second, by its number from the first request on; those before it are negative.
#[derive(Default)]
struct Windows {
    /// The second of the last request, and its requests so far.
    number: i128,
    count: u64,
    /// Those of the other seconds.
    open: BTreeMap<i128, u64>,
    closed_squares: f64,
    closed_peak: u64,
}

impl Windows {
    fn take(&mut self, number: i128) {
        if number != self.number {
            self.open.insert(self.number, self.count);
            self.count = self.open.remove(&number).unwrap_or(0);
            self.number = number;
            if self.open.len() > WINDOWS_OPEN
                && let Some((_, count)) = self.open.pop_first()
            {
                self.closed_squares += (count as f64) * (count as f64);
                self.closed_peak = self.closed_peak.max(count);
            }
        }
        self.count += 1;
    }

    fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.open.values().copied().chain([self.count])
    }

    fn squares(&self) -> f64 {
        self.closed_squares + self.counts().map(|count| (count as f64) * (count as f64)).sum::<f64>()
    }

    fn peak(&self) -> u64 {
        self.counts().fold(self.closed_peak, u64::max)
    }
}

impl Arrivals {
    /// Counts the next request. A time that goes back has no gap before it.
    pub fn take(&mut self, time_ns: u64) {
        if self.count == 0 {
            (self.origin_ns, self.least_ns, self.most_ns) = (time_ns, time_ns, time_ns);
        }
        let gap = time_ns.saturating_sub(self.most_ns) as f64;
        self.gap_squares += gap * gap;
        self.most_ns = self.most_ns.max(time_ns);
        self.least_ns = self.least_ns.min(time_ns);
        self.windows.take(self.window(time_ns));
        self.count += 1;
    }

    fn window(&self, time_ns: u64) -> i128 {
        (i128::from(time_ns) - i128::from(self.origin_ns)).div_euclid(WINDOW_NS)
    }

    pub fn report(&self) -> Report {
        let span_ns = self.most_ns - self.least_ns;
        let windows = (self.window(self.most_ns) - self.window(self.least_ns) + 1) as f64;
        let gaps = self.count.saturating_sub(1) as f64;
        let mean_gap = if gaps > 0.0 { span_ns as f64 / gaps } else { 0.0 };
        let variance =
            if gaps > 0.0 { (self.gap_squares / gaps - mean_gap * mean_gap).max(0.0) } else { 0.0 };
        // Where the first request is not the earliest, the gaps that were met are not those of the trace.
        let is_known = self.least_ns == self.origin_ns && mean_gap > 0.0;
        let per_window = self.count as f64 / windows;
        // A variance needs at least two seconds.
        let dispersion = (windows > 1.0)
            .then(|| (self.windows.squares() / windows - per_window * per_window) / per_window);
        Report {
            span_ns,
            requests_per_s: (span_ns > 0).then(|| self.count as f64 * 1e9 / span_ns as f64),
            peak_requests_in_1s: self.windows.peak(),
            mean_gap_ns: mean_gap,
            gap_variation: is_known.then(|| variance.sqrt() / mean_gap),
            dispersion_1s: dispersion,
        }
    }
}

/// Arrival rates and burstiness.
#[derive(Serialize)]
pub struct Report {
    span_ns: u64,
    requests_per_s: Option<f64>,
    peak_requests_in_1s: u64,
    mean_gap_ns: f64,
    gap_variation: Option<f64>,
    dispersion_1s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::{Arrivals, Report, WINDOWS_OPEN};

    const S: u64 = 1_000_000_000;

    fn report(times: impl IntoIterator<Item = u64>) -> Report {
        let mut arrivals = Arrivals::default();
        times.into_iter().for_each(|time| arrivals.take(time));
        arrivals.report()
    }

    /// In whatever order the times come, all that does not depend on it is that of the sorted trace.
    #[test]
    fn the_order_of_the_requests_does_not_count() {
        let times = [0, S / 2, S, 3 * S, 3 * S + 1, 3 * S + 2, 5 * S];
        let sorted = report(times);
        assert_eq!((sorted.span_ns, sorted.peak_requests_in_1s), (5 * S, 3));
        for (first, variation) in [(2, false), (6, false), (0, true)] {
            let mut order = times.to_vec();
            order.swap(1, 4);
            let one = order.remove(first);
            order.insert(0, one);
            let found = report(order);
            assert_eq!((found.span_ns, found.peak_requests_in_1s), (5 * S, 3));
            assert_eq!(found.requests_per_s, sorted.requests_per_s);
            assert_eq!(found.mean_gap_ns.to_bits(), sorted.mean_gap_ns.to_bits());
            assert_eq!(found.dispersion_1s, sorted.dispersion_1s);
            assert_eq!(found.gap_variation.is_some(), variation);
        }
    }

    /// More seconds than are open: a sorted trace has the same figures, and memory stays bounded.
    #[test]
    fn closed_seconds_count() {
        let seconds = WINDOWS_OPEN as u64 + 1_000;
        let found = report((0..seconds).flat_map(|second| [second * S, second * S + 7]).chain([0]));
        assert_eq!(found.peak_requests_in_1s, 2);
        assert!(found.dispersion_1s.unwrap().abs() < 1e-3);
    }
}
