//! The course of a run over time, in a bounded number of pieces of equal length. A run that outgrows them
//! merges them in pairs, so the same run always leaves the same series, however long it is and whoever
//! collects it.
use drivelab_core::host::Io;
use drivelab_core::{Access, Outcome};
use drivelab_units::Instant;
use serde::Serialize;

/// A piece of the run in the record. I/Os count where they finish; the end instant of a piece belongs to it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Bucket {
    pub start_ns: u64,
    pub ios: u64,
    pub bytes: u64,
    pub iops: f64,
    /// Null where nothing finished.
    pub mean_latency_ns: Option<f64>,
    pub max_latency_ns: Option<u64>,
    pub errors: u64,
    /// The progress of rebuilds at its end, as a share; null where none has begun. Only where there is an
    /// array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuilt: Option<Option<f64>>,
    /// The number in the system, averaged over the piece. Left out where it is not tracked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
}

/// What is known at the end of a piece.
#[derive(Clone, Copy, Default)]
pub struct Seen {
    pub rebuilt: Option<Option<f64>>,
    /// The number in the system, integrated since the series began.
    pub integral_ns: Option<u128>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    ios: u64,
    bytes: u64,
    latency_ns: u128,
    most_ns: u64,
    errors: u64,
    seen: Seen,
}

impl Sum {
    fn merge(&mut self, later: &Sum) {
        self.ios += later.ios;
        self.bytes += later.bytes;
        self.latency_ns += later.latency_ns;
        self.most_ns = self.most_ns.max(later.most_ns);
        self.errors += later.errors;
        self.seen = later.seen;
    }
}

pub struct Series {
    start_ns: u64,
    each_ns: u64,
    pieces_max: usize,
    /// The last one is not complete yet.
    sums: Vec<Sum>,
}

impl Series {
    /// Maximum number of pieces, and their initial length.
    pub fn new(start: Instant, pieces_max: usize, each_ns: u64) -> Self {
        Series { start_ns: start.as_ns(), each_ns, pieces_max, sums: vec![Sum::default()] }
    }

    /// Before anything happens later than this instant, [`Self::passes`] must be called.
    #[inline]
    pub fn ends_at(&self) -> Instant {
        Instant::from_ns(self.start_ns + self.sums.len() as u64 * self.each_ns)
    }

    /// Everything before an instant has happened; `seen` gives the values at an instant since the last call.
    pub fn passes(&mut self, to: Instant, seen: impl Fn(Instant) -> Seen) {
        while self.ends_at() < to {
            let at_end = seen(self.ends_at());
            if let Some(last) = self.sums.last_mut() {
                last.seen = at_end;
            }
            if self.sums.len() == self.pieces_max {
                self.halve();
            }
            self.sums.push(Sum { seen: at_end, ..Sum::default() });
        }
    }

    fn halve(&mut self) {
        let pairs = self.sums.chunks(2).map(|pair| {
            let mut sum = pair[0];
            pair[1..].iter().for_each(|later| sum.merge(later));
            sum
        });
        self.sums = pairs.collect();
        self.each_ns *= 2;
    }

    #[inline]
    pub fn finished(&mut self, io: &Io) {
        // Nearly always the last piece, and a division is slow.
        let (finished, last) = (io.finished.as_ns().saturating_sub(self.start_ns), self.sums.len() - 1);
        let into_last = finished.checked_sub(last as u64 * self.each_ns + 1);
        let is_last = into_last.is_some_and(|into| into < self.each_ns);
        let at = if is_last { last } else { (finished.saturating_sub(1) / self.each_ns) as usize };
        let Some(sum) = self.sums.get_mut(at) else { return };
        if io.outcome != Outcome::Done {
            sum.errors += 1;
        } else if io.access != Access::Flush {
            let latency = io.finished.since(io.intended).as_ns();
            sum.ios += 1;
            sum.bytes += io.count.bytes().get();
            sum.latency_ns += u128::from(latency);
            sum.most_ns = sum.most_ns.max(latency);
        }
    }

    /// The pieces of a run that ended now.
    pub fn close(mut self, now: Instant, seen: Seen) -> Vec<Bucket> {
        if let Some(last) = self.sums.last_mut() {
            last.seen = seen;
        }
        let mut before = Some(0);
        let mut buckets = Vec::with_capacity(self.sums.len());
        for (i, sum) in (0..).zip(&self.sums) {
            let start_ns = self.start_ns + i * self.each_ns;
            let length = now.as_ns().saturating_sub(start_ns).min(self.each_ns);
            let any = sum.ios > 0;
            let inside = sum.seen.integral_ns.zip(before).map(|(after, before): (u128, u128)| after - before);
            before = sum.seen.integral_ns;
            buckets.push(Bucket {
                start_ns,
                ios: sum.ios,
                bytes: sum.bytes,
                iops: sum.ios as f64 * 1e9 / length.max(1) as f64,
                mean_latency_ns: any.then(|| sum.latency_ns as f64 / sum.ios as f64),
                max_latency_ns: any.then_some(sum.most_ns),
                errors: sum.errors,
                rebuilt: sum.seen.rebuilt,
                depth: inside.map(|inside| inside as f64 / length.max(1) as f64),
            });
        }
        buckets
    }
}
