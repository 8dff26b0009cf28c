//! How late replies were sent, and how much of that the machine itself caused.
//!
//! The lateness of a reply is the time from its due instant until the transport has accepted it. A gap is a time in
//! which this thread did not run although it should have: between two readings of the clock with nothing between
//! them, or a sleep that ended late. Replies that were due before a gap ended and were sent after it are left out of
//! a second histogram.
use drivelab_record::latency::Latencies;
use drivelab_units::{Instant, Span};
use serde::Serialize;
use std::time::Duration;

/// The shortest gap.
pub const GAP: Duration = Duration::from_micros(50);

/// The statistics of a latency histogram.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    pub n: u64,
    pub mean: Option<f64>,
    pub p50: Option<u64>,
    pub p90: Option<u64>,
    pub p99: Option<u64>,
    pub p99_9: Option<u64>,
    pub max: Option<u64>,
    /// The whole histogram, as HdrHistogram V2 in base64.
    pub hdr: String,
}

impl From<&Latencies> for Figures {
    fn from(of: &Latencies) -> Self {
        Figures {
            n: of.count(),
            mean: of.mean_ns(),
            p50: of.percentile_ns(50_000),
            p90: of.percentile_ns(90_000),
            p99: of.percentile_ns(99_000),
            p99_9: of.percentile_ns(99_900),
            max: of.most_ns(),
            hdr: of.to_hdr_base64(),
        }
    }
}

/// Gaps in which this thread did not run.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub struct Gaps {
    pub count: u64,
    pub total_ns: u64,
    pub max_ns: u64,
}

/// The lateness of the replies of a session.
#[derive(Default)]
pub struct Lateness {
    all: Latencies,
    outside_gaps: Latencies,
    gaps: Gaps,
    /// When the last gap began and ended, by the model's clock.
    last_gap: Option<(Instant, Instant)>,
}

/// The lateness in the record of a session.
#[derive(Clone, Debug, Serialize)]
pub struct LatenessRecord {
    pub lateness_ns: Figures,
    pub lateness_outside_gaps_ns: Figures,
    pub gaps: Gaps,
    /// The lateness that 99 of 100 replies may have at most.
    pub budget_ns: u64,
    /// Whether more than 1 of 100 replies was later.
    pub is_over_budget: bool,
}

impl Lateness {
    /// Records a gap of this length that ends now.
    pub fn gap(&mut self, now: Instant, length: Span) {
        let ns = length.as_ns();
        self.gaps.count += 1;
        self.gaps.total_ns += ns;
        self.gaps.max_ns = self.gaps.max_ns.max(ns);
        let began = Instant::from_ns(now.as_ns().saturating_sub(ns));
        self.last_gap = Some((began, now));
    }

    /// Records a reply that was sent.
    pub fn answered(&mut self, due: Instant, now: Instant, late: Span) {
        self.all.record(late.as_ns());
        let is_in_gap = self.last_gap.is_some_and(|(_, ended)| due <= ended && now >= ended);
        if !is_in_gap {
            self.outside_gaps.record(late.as_ns());
        }
    }

    /// How late the replies were so far.
    pub fn so_far(&self) -> &Latencies {
        &self.all
    }

    /// The lateness for the record.
    pub fn record(&self, budget: Span) -> LatenessRecord {
        let budget_ns = budget.as_ns();
        LatenessRecord {
            lateness_ns: (&self.all).into(),
            lateness_outside_gaps_ns: (&self.outside_gaps).into(),
            gaps: self.gaps,
            budget_ns,
            is_over_budget: self.all.percentile_ns(99_000).is_some_and(|late| late > budget_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_ns(us * 1_000)
    }

    #[test]
    fn what_a_gap_delays_is_counted_separately() {
        let mut lateness = Lateness::default();
        lateness.answered(at(10), at(20), Span::from_us(10));
        lateness.gap(at(400), Span::from_us(300));
        lateness.answered(at(200), at(401), Span::from_us(201));
        lateness.answered(at(450), at(455), Span::from_us(5));
        let record = lateness.record(Span::from_us(500));
        assert_eq!((record.lateness_ns.n, record.lateness_ns.max), (3, Some(201_000)));
        assert_eq!(
            (record.lateness_outside_gaps_ns.n, record.lateness_outside_gaps_ns.max),
            (2, Some(10_000))
        );
        assert_eq!((record.gaps.count, record.gaps.max_ns), (1, 300_000));
    }

    #[test]
    fn a_budget_is_for_99_of_100() {
        let mut lateness = Lateness::default();
        (0..10_000).for_each(|place| {
            let late = if place % 50 == 0 { 900 } else { 20 };
            lateness.answered(at(0), at(late), Span::from_us(late));
        });
        assert!(lateness.record(Span::from_us(500)).is_over_budget);
        assert!(!lateness.record(Span::from_us(1_000)).is_over_budget);
    }
}
