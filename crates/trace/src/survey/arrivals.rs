//! Arrival times: the gaps between requests, and how bursty they are.
//!
//! The coefficient of variation of the gaps is 1 for a Poisson process and 0 for an even one. The index of dispersion is the
//! variance of the requests in a second over their mean; it is 1 for a Poisson process, and grows with bursts.
use serde::Serialize;

const WINDOW_NS: u64 = 1_000_000_000;

/// Sums over gaps and seconds.
#[derive(Default)]
pub struct Arrivals {
    count: u64,
    first_ns: u64,
    previous_ns: u64,
    gaps: f64,
    gap_squares: f64,
    window: u64,
    in_window: u64,
    window_squares: f64,
    peak: u64,
}

impl Arrivals {
    /// Counts the next request; a time that goes back is replaced by the previous time.
    pub fn take(&mut self, time_ns: u64) {
        if self.count == 0 {
            (self.first_ns, self.previous_ns) = (time_ns, time_ns);
        }
        let gap = time_ns.saturating_sub(self.previous_ns) as f64;
        self.gaps += gap;
        self.gap_squares += gap * gap;
        self.previous_ns = self.previous_ns.max(time_ns);
        let window = (self.previous_ns - self.first_ns) / WINDOW_NS;
        if window != self.window {
            self.close();
            self.window = window;
        }
        self.in_window += 1;
        self.count += 1;
    }

    fn close(&mut self) {
        self.peak = self.peak.max(self.in_window);
        self.window_squares += (self.in_window as f64) * (self.in_window as f64);
        self.in_window = 0;
    }

    pub fn report(&self) -> Report {
        let span_ns = self.previous_ns - self.first_ns;
        let (gaps, windows) = (self.count.saturating_sub(1) as f64, self.window as f64 + 1.0);
        let squares = self.window_squares + (self.in_window as f64) * (self.in_window as f64);
        let mean_gap = if gaps > 0.0 { self.gaps / gaps } else { 0.0 };
        let variance =
            if gaps > 0.0 { (self.gap_squares / gaps - mean_gap * mean_gap).max(0.0) } else { 0.0 };
        let per_window = self.count as f64 / windows;
        // A variance needs at least two seconds.
        let dispersion =
            (self.window > 0).then(|| (squares / windows - per_window * per_window) / per_window);
        Report {
            span_ns,
            requests_per_s: (span_ns > 0).then(|| self.count as f64 * 1e9 / span_ns as f64),
            peak_requests_in_1s: self.peak.max(self.in_window),
            mean_gap_ns: mean_gap,
            gap_variation: (mean_gap > 0.0).then(|| variance.sqrt() / mean_gap),
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
