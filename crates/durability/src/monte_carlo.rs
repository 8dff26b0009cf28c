//! Many histories of an array, plain or biased, on all cores: chunks with a stream each, so that the result does not
//! depend on how many cores there are. It grows in doublings until its interval is narrow enough.
use crate::array::{Array, Tally, Way};
use crate::estimate::Moments;
use crate::plan::Plan;
use drivelab_core::rng::Stream;
use rayon::prelude::*;

/// Histories that share a stream.
pub const CHUNK: u64 = 4096;

/// Sums over histories.
#[derive(Clone, Copy, Debug, Default)]
pub struct Histories {
    pub year: Moments,
    pub life: Moments,
    pub losses: Moments,
    pub bytes: Moments,
    pub all: Tally,
}

impl Histories {
    /// Counts one more history.
    pub fn take(&mut self, one: &Tally) {
        self.year.take(one.year);
        self.life.take(one.life);
        self.losses.take(one.losses);
        self.bytes.take(one.bytes);
        self.all.add(one, 1.0);
    }

    fn merge(&mut self, other: &Histories) {
        self.year.merge(&other.year);
        self.life.merge(&other.life);
        self.losses.merge(&other.losses);
        self.bytes.merge(&other.bytes);
        self.all.add(&other.all, 1.0);
    }

    /// How many there are.
    pub fn count(&self) -> f64 {
        self.life.count
    }
}

/// Histories of a plan.
pub struct Sampler<'p> {
    plan: &'p Plan,
    way: Way,
    seed: u64,
    name: &'static str,
    chunks: u64,
    pub found: Histories,
}

impl<'p> Sampler<'p> {
    pub fn new(plan: &'p Plan, way: Way, seed: u64) -> Self {
        let name = if way.biased { "biased" } else { "plain" };
        Sampler { plan, way, seed, name, chunks: 0, found: Histories::default() }
    }

    /// Runs on until there are so many histories.
    pub fn reach(&mut self, histories: u64) {
        let last = histories.div_ceil(CHUNK);
        let chunks: Vec<Histories> =
            (self.chunks..last).into_par_iter().map(|chunk| self.chunk(chunk)).collect();
        for chunk in &chunks {
            self.found.merge(chunk);
        }
        self.chunks = self.chunks.max(last);
    }

    /// Runs on until half the interval of the chance within a year and within the life is below `relative` of
    /// them, or there are `most` histories.
    pub fn until(&mut self, relative: f64, most: u64) {
        let mut histories = (16 * CHUNK).min(most);
        loop {
            self.reach(histories);
            let narrow = [&self.found.year, &self.found.life]
                .iter()
                .all(|sums| sums.estimate().relative() <= relative);
            if narrow || histories >= most {
                return;
            }
            histories = (2 * histories).min(most);
        }
    }

    fn chunk(&self, chunk: u64) -> Histories {
        let mut stream = Stream::named(self.seed, &format!("durability/{}/{chunk}", self.name));
        let mut array = Array::new(self.plan, self.way);
        let mut found = Histories::default();
        for _ in 0..CHUNK {
            let mut tally = Tally::default();
            array.begin(&mut stream);
            array.run(u32::MAX, &mut tally, &mut stream);
            found.take(&tally);
        }
        found
    }
}
