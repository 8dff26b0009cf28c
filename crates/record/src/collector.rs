//! The collector: a driver tells it when I/Os begin and finish, and it keeps what the record needs, in constant memory.
//!
//! Two accounts run side by side and must agree to the nanosecond: the integral of the number in the system over the
//! window, and the residence times of all I/Os clipped to the window. Likewise each I/O's breakdown and its latency.
use crate::latency::Latencies;
use crate::precision::BatchMeans;
use crate::series::{Bucket, Seen, Series};
use drivelab_core::host::Io;
use drivelab_core::{Access, Breakdown, Outcome};
use drivelab_units::{Instant, Span};

/// Short sums hold so many I/Os of at most this latency each: a quarter of an hour, and 2^23 of them, make 2^63 ns.
const RECENT_LATENCY_MAX: u64 = 1 << 40;
const RECENT_IOS_MAX: u32 = 1 << 23;
/// Latencies that are counted together.
const UNCOUNTED_MAX: usize = 64;

/// Most pieces of the series of a window, and their length to begin with.
const PIECES_MAX: usize = 120;
const FIRST_PIECE_NS: u64 = 1_000;

pub struct Collector {
    start: u64,
    /// I/Os that have begun and not finished.
    in_system: u64,
    /// The same number integrated over the window up to `changed`.
    integral: u128,
    changed: u64,
    /// Residence of finished I/Os inside the window.
    residence: u128,
    /// Sum of the begin times (clipped to the window's start) of those still in the system.
    begins: u128,
    /// Of reads and of writes.
    latencies: [Latencies; 2],
    /// Those of the last few that are not among them yet: counted together they wait for memory once, not one by one.
    uncounted: [Vec<u64>; 2],
    bytes: [u64; 2],
    flushes: Latencies,
    breakdown: [u128; 7],
    /// The same of the last few I/Os, in short sums that are quickly added to.
    recent: [u64; 7],
    recent_ios: u32,
    /// I/Os, or FLUSHes, whose breakdown is not their latency.
    mismatches: u64,
    /// I/Os that ended with an error, by outcome, each outcome once.
    errors: Vec<(Outcome, u64)>,
    batches: BatchMeans,
    series: Series,
}

/// The two accounts of a run at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Accounts {
    /// Integral of the number in the system over the window, in nanoseconds.
    pub integral_ns: u128,
    /// Residence times of all I/Os, clipped to the window.
    pub residence_ns: u128,
    /// Latencies of the I/Os that finished in the window.
    pub latency_ns: u128,
    /// Their breakdowns, all parts together.
    pub breakdown_ns: u128,
    /// I/Os and FLUSHes whose own breakdown does not add up to their own latency.
    pub mismatches: u64,
}

impl Accounts {
    /// Whether both pairs agree exactly, the second for each I/O.
    pub fn agree(&self) -> bool {
        self.integral_ns == self.residence_ns && self.latency_ns == self.breakdown_ns && self.mismatches == 0
    }
}

impl Collector {
    /// Collects what finishes after `warmup`.
    pub fn new(warmup: Span) -> Self {
        let start = warmup.as_ns();
        Collector {
            start,
            in_system: 0,
            integral: 0,
            changed: start,
            residence: 0,
            begins: 0,
            latencies: [Latencies::default(), Latencies::default()],
            uncounted: [Vec::with_capacity(UNCOUNTED_MAX), Vec::with_capacity(UNCOUNTED_MAX)],
            bytes: [0; 2],
            flushes: Latencies::default(),
            breakdown: [0; 7],
            recent: [0; 7],
            recent_ios: 0,
            mismatches: 0,
            errors: Vec::new(),
            batches: BatchMeans::new(start),
            series: Series::new(Instant::from_ns(start), PIECES_MAX, FIRST_PIECE_NS),
        }
    }

    #[inline]
    fn advance(&mut self, at: u64) {
        if at > self.changed {
            self.integral += u128::from(self.in_system) * u128::from(at - self.changed);
            self.changed = at;
        }
    }

    /// Before something happens at a later instant than this, [`Self::passes`] is to be told.
    #[inline]
    pub fn piece_ends_at(&self) -> Instant {
        self.series.ends_at()
    }

    /// Everything before an instant has happened.
    pub fn passes(&mut self, to: Instant) {
        let &mut Collector { in_system, integral, changed, .. } = self;
        self.series.passes(to, |at| {
            let since = u128::from(at.as_ns().saturating_sub(changed));
            Seen { integral_ns: Some(integral + u128::from(in_system) * since), ..Seen::default() }
        });
    }

    /// The window in pieces of one length, once it is closed.
    pub fn into_series(self, end: Instant) -> Vec<Bucket> {
        self.series.close(end, Seen { integral_ns: Some(self.integral), ..Seen::default() })
    }

    /// An I/O entered the system.
    #[inline]
    pub fn began(&mut self, at: Instant) {
        let at = at.as_ns();
        self.advance(at);
        self.in_system += 1;
        self.begins += u128::from(at.max(self.start));
    }

    /// An I/O entered the system earlier than what was told last: it waited where the driver could not see it.
    #[cold]
    pub fn began_before(&mut self, at: Instant) {
        let clipped = at.as_ns().max(self.start);
        self.advance(at.as_ns());
        self.integral += u128::from(self.changed.saturating_sub(clipped));
        self.in_system += 1;
        self.begins += u128::from(clipped);
    }

    /// An I/O left the system, or a FLUSH is done. Returns whether it did in the window, in whatever way it ended.
    #[inline]
    pub fn finished(&mut self, io: &Io) -> bool {
        if io.access == Access::Flush {
            return self.flushed(io);
        }
        let (began, at) = (io.intended.as_ns(), io.finished.as_ns());
        self.advance(at);
        self.in_system -= 1;
        let clipped = began.max(self.start);
        self.begins -= u128::from(clipped);
        self.residence += u128::from(at.saturating_sub(clipped));
        if at <= self.start {
            return false;
        }
        self.series.finished(io);
        if io.outcome != Outcome::Done {
            self.failed(io.outcome);
            return true;
        }
        let kind = usize::from(io.access == Access::Write);
        let uncounted = &mut self.uncounted[kind];
        uncounted.push(at - began);
        if uncounted.len() == UNCOUNTED_MAX {
            self.count(kind);
        }
        self.bytes[kind] += io.count.bytes().get();
        self.add_breakdown(&io.breakdown, at - began);
        self.batches.finished(at);
        true
    }

    /// Adds where an I/O's time went.
    #[inline]
    fn add_breakdown(&mut self, breakdown: &Breakdown, latency: u64) {
        let is_whole = breakdown.total().as_ns() == latency;
        self.mismatches += u64::from(!is_whole);
        if !is_whole || latency > RECENT_LATENCY_MAX || self.recent_ios == RECENT_IOS_MAX {
            return self.add_to_all(breakdown);
        }
        self.recent_ios += 1;
        for (sum, part) in self.recent.iter_mut().zip(breakdown.parts()) {
            // So many parts that are none above the latency's bound do not overflow.
            *sum = sum.wrapping_add(part.as_ns());
        }
    }

    /// Counts the last few latencies of one kind.
    #[inline(never)]
    fn count(&mut self, kind: usize) {
        self.uncounted[kind].drain(..).for_each(|latency| self.latencies[kind].record(latency));
    }

    #[cold]
    fn add_to_all(&mut self, breakdown: &Breakdown) {
        self.breakdown = self.breakdown_ns();
        (self.recent, self.recent_ios) = ([0; 7], 0);
        for (sum, part) in self.breakdown.iter_mut().zip(breakdown.parts()) {
            *sum += u128::from(part.as_ns());
        }
    }

    /// A FLUSH is no I/O: it never entered the system, and only its time is of interest.
    #[cold]
    fn flushed(&mut self, io: &Io) -> bool {
        if io.finished.as_ns() <= self.start {
            return false;
        }
        if io.outcome != Outcome::Done {
            self.failed(io.outcome);
            return true;
        }
        let latency = io.finished - io.intended;
        self.flushes.record(latency.as_ns());
        self.mismatches += u64::from(io.breakdown.total() != latency);
        true
    }

    #[cold]
    fn failed(&mut self, outcome: Outcome) {
        match self.errors.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, count)) => *count += 1,
            None => self.errors.push((outcome, 1)),
        }
    }

    /// I/Os that count so far.
    pub fn ios(&self) -> u64 {
        let uncounted: usize = self.uncounted.iter().map(Vec::len).sum();
        uncounted as u64 + self.latencies.iter().map(Latencies::count).sum::<u64>()
    }

    /// Closes the window at `end` and returns the accounts.
    pub fn close(&mut self, end: Instant) -> Accounts {
        let end = end.as_ns().max(self.start);
        self.passes(Instant::from_ns(end));
        self.advance(end);
        (0..self.uncounted.len()).for_each(|kind| self.count(kind));
        let still_inside = u128::from(self.in_system) * u128::from(end) - self.begins;
        Accounts {
            integral_ns: self.integral,
            residence_ns: self.residence + still_inside,
            latency_ns: self.latencies.iter().map(Latencies::sum_ns).sum(),
            breakdown_ns: self.breakdown_ns().iter().sum(),
            mismatches: self.mismatches,
        }
    }

    /// Of all I/Os once the window is closed.
    pub fn latencies(&self, access: Access) -> &Latencies {
        match access {
            Access::Read => &self.latencies[0],
            Access::Write => &self.latencies[1],
            Access::Flush => &self.flushes,
        }
    }

    /// Data read or written; a FLUSH has none.
    pub fn bytes(&self, access: Access) -> u64 {
        match access {
            Access::Read => self.bytes[0],
            Access::Write => self.bytes[1],
            Access::Flush => 0,
        }
    }

    /// Sums of the parts of the breakdown in nanoseconds, in the order of `Breakdown::PARTS`.
    pub fn breakdown_ns(&self) -> [u128; 7] {
        core::array::from_fn(|part| self.breakdown[part] + u128::from(self.recent[part]))
    }

    /// I/Os that ended with an error in the window, by outcome, in the order of their first.
    pub fn errors(&self) -> &[(Outcome, u64)] {
        &self.errors
    }

    pub fn relative_error(&self) -> Option<f64> {
        self.batches.relative_error()
    }
}
