//! The collector: a driver reports to it when I/Os begin and finish, and it keeps what the record needs, in
//! constant memory.
//!
//! The accounts that must agree at its end are in [`crate::accounts`].
use crate::accounts::{Accounts, InSystem, Parts};
use crate::latency::Latencies;
use crate::precision::BatchMeans;
use crate::priorities::Priorities;
use crate::series::{Bucket, Seen, Series};
use drivelab_core::host::Io;
use drivelab_core::{Access, Outcome, Section};
use drivelab_units::{Instant, Span};

/// Maximum number of latencies that are counted together.
const UNCOUNTED_MAX: usize = 64;

/// Maximum number of pieces of the series of a window, and their initial length.
const PIECES_MAX: usize = 120;
const FIRST_PIECE_NS: u64 = 1_000;

/// Maximum number of jobs with figures of their own: each has two histograms of 300 KB.
pub const SECTIONS_MAX: usize = 64;

/// What is kept of the reads, or of the writes, of one job or of all.
struct Tally {
    latencies: Latencies,
    /// The latest latencies not included yet: counted together they cause one cache miss instead of one each.
    uncounted: Vec<u64>,
    bytes: u64,
    /// I/Os that ended with an error.
    errors: u64,
}

impl Tally {
    fn new() -> Self {
        let uncounted = Vec::with_capacity(UNCOUNTED_MAX);
        Tally { latencies: Latencies::default(), uncounted, bytes: 0, errors: 0 }
    }

    /// Counts the last few latencies.
    #[inline(never)]
    fn count(&mut self) {
        self.uncounted.drain(..).for_each(|latency| self.latencies.record(latency));
    }
}

/// What one job has done, its copies together.
pub struct OfJob<'a> {
    pub section: &'a Section,
    /// Of reads, then of writes.
    pub latencies: [&'a Latencies; 2],
    pub bytes: [u64; 2],
    pub errors: u64,
}

pub struct Collector {
    start: u64,
    system: InSystem,
    /// The jobs that have tallies of their own: none where there is one job, whose figures are those of all.
    sections: Vec<Section>,
    /// Reads and writes of each section in turn; of all I/Os where there are no sections.
    tallies: Vec<Tally>,
    /// The place of each job's reads among the tallies; the first for a job that is not listed.
    places: Vec<u32>,
    /// Reads and writes of all sections together, once the window is closed.
    all: Option<[Latencies; 2]>,
    flushes: Latencies,
    parts: Parts,
    /// I/Os that ended with an error, by outcome, each outcome once.
    errors: Vec<(Outcome, u64)>,
    batches: BatchMeans,
    series: Series,
    /// By priority, where there are several.
    pub(crate) priorities: Option<Priorities>,
}

impl Collector {
    /// Collects I/Os that finish after `warmup`, and where there are several sections (but at most
    /// [`SECTIONS_MAX`]) those of each by themselves too.
    pub fn new(warmup: Span, sections: &[Section]) -> Self {
        let start = warmup.as_ns();
        let priorities = Priorities::of(sections);
        let sections = if (2..=SECTIONS_MAX).contains(&sections.len()) { sections } else { &[] };
        let copies = (0..).zip(sections).map(|(at, section)| (2 * at, section.copies as usize));
        Collector {
            start,
            system: InSystem::new(start),
            sections: sections.to_vec(),
            tallies: (0..2 * sections.len().max(1)).map(|_| Tally::new()).collect(),
            places: copies.flat_map(|(place, copies)| std::iter::repeat_n(place, copies)).collect(),
            all: None,
            flushes: Latencies::default(),
            parts: Parts::default(),
            errors: Vec::new(),
            batches: BatchMeans::new(start),
            series: Series::new(Instant::from_ns(start), PIECES_MAX, FIRST_PIECE_NS),
            priorities,
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
        if let Some(priorities) = &mut self.priorities {
            priorities.finished(io);
        }
        let place = self.places.get(io.job as usize).copied().unwrap_or(0) as usize;
        let tally = &mut self.tallies[place + usize::from(io.access == Access::Write)];
        if io.outcome != Outcome::Done {
            tally.errors += 1;
            self.failed(io.outcome);
            return true;
        }
        tally.uncounted.push(at - began);
        if tally.uncounted.len() == UNCOUNTED_MAX {
            tally.count();
        }
        tally.bytes += io.count.bytes().get();
        self.parts.add(&io.breakdown, at - began);
        self.batches.finished(at);
        true
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
        let counted = |tally: &Tally| tally.latencies.count() + tally.uncounted.len() as u64;
        self.tallies.iter().map(counted).sum()
    }

    /// Closes the window at `end` and returns the accounts.
    pub fn close(&mut self, end: Instant) -> Accounts {
        let end = end.as_ns().max(self.start);
        self.passes(Instant::from_ns(end));
        self.system.advance(end);
        self.tallies.iter_mut().for_each(Tally::count);
        self.all = (self.tallies.len() > 2).then(|| [self.merged(0), self.merged(1)]);
        Accounts {
            integral_ns: self.system.integral(),
            residence_ns: self.system.residence_until(end),
            latency_ns: self.tallies.iter().map(|tally| tally.latencies.sum_ns()).sum(),
            breakdown_ns: self.breakdown_ns().iter().sum(),
            mismatches: self.parts.mismatches(),
        }
    }

    /// The latencies of all sections' reads (0) or writes (1).
    fn merged(&self, kind: usize) -> Latencies {
        let mut all = Latencies::default();
        let own = self.tallies.iter().skip(kind).step_by(2).map(|tally| &tally.latencies);
        own.filter(|latencies| latencies.count() > 0).for_each(|latencies| all.merge(latencies));
        all
    }

    /// Of all I/Os once the window is closed.
    pub fn latencies(&self, access: Access) -> &Latencies {
        let kind = match access {
            Access::Read => 0,
            Access::Write => 1,
            Access::Flush => return &self.flushes,
        };
        self.all.as_ref().map_or(&self.tallies[kind].latencies, |all| &all[kind])
    }

    /// Each job by itself, in the order of the workload, once the window is closed; nothing where there is one
    /// job, or more than have figures of their own.
    pub fn jobs(&self) -> impl Iterator<Item = OfJob<'_>> {
        self.sections.iter().zip(self.tallies.chunks_exact(2)).map(|(section, own)| OfJob {
            section,
            latencies: [&own[0].latencies, &own[1].latencies],
            bytes: [own[0].bytes, own[1].bytes],
            errors: own[0].errors + own[1].errors,
        })
    }

    /// Data read or written; a FLUSH has none.
    pub fn bytes(&self, access: Access) -> u64 {
        let kind = match access {
            Access::Read => 0,
            Access::Write => 1,
            Access::Flush => return 0,
        };
        self.tallies.iter().skip(kind).step_by(2).map(|tally| tally.bytes).sum()
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
