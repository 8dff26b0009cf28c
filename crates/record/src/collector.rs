//! The collector: a driver reports to it when I/Os begin and finish, and it keeps what the record needs, in
//! constant memory.
//!
//! The accounts that must agree at its end are in [`crate::accounts`].
use crate::accounts::{Accounts, InSystem, Parts};
use crate::latency::Latencies;
use crate::precision::BatchMeans;
use crate::series::{Bucket, Seen, Series};
use drivelab_core::host::Io;
use drivelab_core::{Access, Outcome};
use drivelab_units::{Instant, Span};

/// Maximum number of latencies that are counted together.
const UNCOUNTED_MAX: usize = 64;

/// Maximum number of pieces of the series of a window, and their initial length.
const PIECES_MAX: usize = 120;
const FIRST_PIECE_NS: u64 = 1_000;

pub struct Collector {
    start: u64,
    system: InSystem,
    /// Of reads and of writes.
    latencies: [Latencies; 2],
    /// The latest latencies not included yet: counted together they cause one cache miss instead of one each.
    uncounted: [Vec<u64>; 2],
    bytes: [u64; 2],
    flushes: Latencies,
    parts: Parts,
    /// I/Os that ended with an error, by outcome, each outcome once.
    errors: Vec<(Outcome, u64)>,
    batches: BatchMeans,
    series: Series,
}

impl Collector {
    /// Collects I/Os that finish after `warmup`.
    pub fn new(warmup: Span) -> Self {
        let start = warmup.as_ns();
        Collector {
            start,
            system: InSystem::new(start),
            latencies: [Latencies::default(), Latencies::default()],
            uncounted: [Vec::with_capacity(UNCOUNTED_MAX), Vec::with_capacity(UNCOUNTED_MAX)],
            bytes: [0; 2],
            flushes: Latencies::default(),
            parts: Parts::default(),
            errors: Vec::new(),
            batches: BatchMeans::new(start),
            series: Series::new(Instant::from_ns(start), PIECES_MAX, FIRST_PIECE_NS),
        }
    }

    /// Before anything happens later than this instant, [`Self::passes`] must be called.
    #[inline]
    pub fn piece_ends_at(&self) -> Instant {
        self.series.ends_at()
    }

    /// Everything before an instant has happened.
    pub fn passes(&mut self, to: Instant) {
        let system = &self.system;
        self.series.passes(to, |at| Seen {
            integral_ns: Some(system.integral_until(at.as_ns())),
            ..Seen::default()
        });
    }

    /// The window in pieces of equal length, once it is closed.
    pub fn into_series(self, end: Instant) -> Vec<Bucket> {
        self.series.close(end, Seen { integral_ns: Some(self.system.integral()), ..Seen::default() })
    }

    /// An I/O entered the system.
    #[inline]
    pub fn began(&mut self, at: Instant) {
        self.system.enter(at.as_ns());
    }

    /// An I/O entered the system earlier than the last one reported: it waited where the driver could not see
    /// it.
    #[cold]
    pub fn began_before(&mut self, at: Instant) {
        self.system.enter_before(at.as_ns());
    }

    /// An I/O left the system, or a FLUSH is done. Returns whether that was in the window, whatever its
    /// outcome.
    #[inline]
    pub fn finished(&mut self, io: &Io) -> bool {
        if io.access == Access::Flush {
            return self.flushed(io);
        }
        let (began, at) = (io.intended.as_ns(), io.finished.as_ns());
        self.system.leave(began, at);
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
        self.parts.add(&io.breakdown, at - began);
        self.batches.finished(at);
        true
    }

    /// Counts the last few latencies of one kind.
    #[inline(never)]
    fn count(&mut self, kind: usize) {
        self.uncounted[kind].drain(..).for_each(|latency| self.latencies[kind].record(latency));
    }

    /// A FLUSH is not an I/O: it never entered the system, and only its time is recorded.
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
        self.parts.check(&io.breakdown, latency.as_ns());
        true
    }

    #[cold]
    fn failed(&mut self, outcome: Outcome) {
        match self.errors.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, count)) => *count += 1,
            None => self.errors.push((outcome, 1)),
        }
    }

    /// Number of I/Os counted so far.
    pub fn ios(&self) -> u64 {
        let uncounted: usize = self.uncounted.iter().map(Vec::len).sum();
        uncounted as u64 + self.latencies.iter().map(Latencies::count).sum::<u64>()
    }

    /// Closes the window at `end` and returns the accounts.
    pub fn close(&mut self, end: Instant) -> Accounts {
        let end = end.as_ns().max(self.start);
        self.passes(Instant::from_ns(end));
        self.system.advance(end);
        (0..self.uncounted.len()).for_each(|kind| self.count(kind));
        Accounts {
            integral_ns: self.system.integral(),
            residence_ns: self.system.residence_until(end),
            latency_ns: self.latencies.iter().map(Latencies::sum_ns).sum(),
            breakdown_ns: self.breakdown_ns().iter().sum(),
            mismatches: self.parts.mismatches(),
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
        self.parts.sums_ns()
    }

    /// I/Os that ended with an error in the window, by outcome, in the order of first occurrence.
    pub fn errors(&self) -> &[(Outcome, u64)] {
        &self.errors
    }

    pub fn relative_error(&self) -> Option<f64> {
        self.batches.relative_error()
    }
}
