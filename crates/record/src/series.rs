//! How a run went over its time, in a fixed number of pieces of one length. A run that outgrows them merges them in pairs,
//! so the same run always leaves the same series, however long it is and whoever looks.
use drivelab_core::host::Io;
use drivelab_core::{Access, Outcome};
use drivelab_units::Instant;
use serde::Serialize;

/// Most pieces, and the length of each to begin with.
const BUCKETS_MAX: usize = 600;
const FIRST_NS: u64 = 1_000_000;

/// A piece of the run as it is written down. I/Os belong where they finish.
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
    /// How far rebuilds were at its end, as a share; null where none has begun.
    pub rebuilt: Option<f64>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    ios: u64,
    bytes: u64,
    latency_ns: u128,
    most_ns: u64,
    errors: u64,
    rebuilt: Option<f64>,
}

impl Sum {
    fn merge(&mut self, later: &Sum) {
        self.ios += later.ios;
        self.bytes += later.bytes;
        self.latency_ns += later.latency_ns;
        self.most_ns = self.most_ns.max(later.most_ns);
        self.errors += later.errors;
        self.rebuilt = later.rebuilt;
    }
}

pub struct Series {
    each_ns: u64,
    sums: Vec<Sum>,
}

impl Default for Series {
    fn default() -> Self {
        Series { each_ns: FIRST_NS, sums: vec![Sum::default()] }
    }
}

impl Series {
    /// Before something happens at a later instant than this, [`Self::passes`] is to be told.
    pub fn ends_at(&self) -> Instant {
        Instant::from_ns(self.sums.len() as u64 * self.each_ns)
    }

    /// Everything before an instant has happened, and rebuilds are so far.
    pub fn passes(&mut self, to: Instant, rebuilt: Option<f64>) {
        while self.ends_at() <= to {
            if let Some(last) = self.sums.last_mut() {
                last.rebuilt = rebuilt;
            }
            if self.sums.len() == BUCKETS_MAX {
                self.halve();
            }
            self.sums.push(Sum { rebuilt, ..Sum::default() });
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
        // Nearly always the last piece, and a division takes long.
        let (finished, last) = (io.finished.as_ns(), self.sums.len() - 1);
        let into_last = finished.checked_sub(last as u64 * self.each_ns);
        let is_last = into_last.is_some_and(|into| into < self.each_ns);
        let at = if is_last { last } else { (finished / self.each_ns) as usize };
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
    pub fn close(mut self, now: Instant, rebuilt: Option<f64>) -> Vec<Bucket> {
        if let Some(last) = self.sums.last_mut() {
            last.rebuilt = rebuilt;
        }
        let each_ns = self.each_ns;
        let bucket = |(i, sum): (u64, &Sum)| {
            let start_ns = i * each_ns;
            let length = now.as_ns().saturating_sub(start_ns).min(each_ns);
            let any = sum.ios > 0;
            Bucket {
                start_ns,
                ios: sum.ios,
                bytes: sum.bytes,
                iops: sum.ios as f64 * 1e9 / length.max(1) as f64,
                mean_latency_ns: any.then(|| sum.latency_ns as f64 / sum.ios as f64),
                max_latency_ns: any.then_some(sum.most_ns),
                errors: sum.errors,
                rebuilt: sum.rebuilt,
            }
        };
        (0..).zip(&self.sums).map(bucket).collect()
    }
}
