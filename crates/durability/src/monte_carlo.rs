//! Many histories of an array, plain or biased, on all cores or wherever the caller runs them: in chunks with a
//! random stream each, so that the result does not depend on where. Their number is doubled until the interval is
//! narrow enough.
use crate::array::{Array, HistoryOptions, Tally};
use crate::description::Description;
use crate::estimate::Moments;
use crate::plan::Plan;
use drivelab_core::rng::Stream;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

/// Histories per chunk, which share a random stream.
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
    /// Adds a history.
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

    /// The number of histories.
    pub fn count(&self) -> f64 {
        self.life.count
    }

    /// The exact bits of all sums, for passing them between processes.
    pub fn bits(&self) -> Vec<u64> {
        let moments = [&self.year, &self.life, &self.losses, &self.bytes];
        let sums = moments
            .iter()
            .flat_map(|one| [one.count, one.sum, one.squares, one.hits, f64::from(u8::from(one.fractions))]);
        let all = &self.all;
        let tally = [all.year, all.life, all.by_sectors, all.losses, all.bytes, all.hours];
        sums.chain(tally).map(f64::to_bits).collect()
    }

    /// The sums from the result of [`Self::bits`]; `None` if their number does not match.
    pub fn of_bits(bits: &[u64]) -> Option<Self> {
        let values: Vec<f64> = bits.iter().copied().map(f64::from_bits).collect();
        let [sums @ .., year, life, by_sectors, losses, bytes, hours] = &values[..] else { return None };
        let moments = |sums: &[f64]| match *sums {
            [count, sum, squares, hits, fractions] => {
                Some(Moments { count, sum, squares, hits, fractions: fractions != 0.0 })
            }
            _ => None,
        };
        let [one, two, three, four] =
            sums.chunks(5).map(moments).collect::<Option<Vec<_>>>()?.try_into().ok()?;
        let all = Tally {
            year: *year,
            life: *life,
            by_sectors: *by_sectors,
            losses: *losses,
            bytes: *bytes,
            hours: *hours,
        };
        Some(Histories { year: one, life: two, losses: three, bytes: four, all })
    }
}

/// A description of histories that any process can run: the array, the options, and the seed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub array: Description,
    pub way: HistoryOptions,
    pub seed: u64,
}

/// Runs chunks of histories elsewhere than on the threads of this process.
pub trait ChunkRunner: Sync {
    /// The chunks of this range of indexes, in order; `None` if they could not be run, which ends the run.
    fn run(&self, job: &Job, from: u64, to: u64) -> Option<Vec<Histories>>;
}

/// Where histories run, and whether they are to stop.
#[derive(Clone, Copy)]
pub struct Workers<'a> {
    /// Runs chunks elsewhere than on the threads of this process.
    pub runner: Option<&'a dyn ChunkRunner>,
    /// When set, no further history begins, and what was found is of no use.
    pub stop: &'a AtomicBool,
}

impl Workers<'_> {
    /// Whether no further history is to begin.
    pub fn are_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs the chunks of a job in this range of indexes, one after the other.
pub fn chunks(plan: &Plan, way: HistoryOptions, seed: u64, from: u64, to: u64) -> Vec<Histories> {
    (from..to).map(|one| chunk(plan, way, seed, one, &AtomicBool::new(false))).collect()
}

fn chunk(plan: &Plan, way: HistoryOptions, seed: u64, one: u64, stop: &AtomicBool) -> Histories {
    let name = if way.biased { "biased" } else { "plain" };
    let mut stream = Stream::named(seed, &format!("durability/{name}/{one}"));
    let mut array = Array::new(plan, way);
    let mut found = Histories::default();
    for _ in 0..CHUNK {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let mut tally = Tally::default();
        array.begin(&mut stream);
        array.run(u32::MAX, &mut tally, &mut stream);
        found.take(&tally);
    }
    found
}

/// Samples histories of a plan.
pub struct Sampler<'p> {
    plan: &'p Plan,
    way: HistoryOptions,
    seed: u64,
    workers: Workers<'p>,
    chunks: u64,
    /// Whether running histories elsewhere has failed, or all are to stop.
    stopped: bool,
    pub found: Histories,
}

impl<'p> Sampler<'p> {
    pub fn new(plan: &'p Plan, way: HistoryOptions, seed: u64, workers: Workers<'p>) -> Self {
        Sampler { plan, way, seed, workers, chunks: 0, stopped: false, found: Histories::default() }
    }

    /// Continues until there are `histories` histories.
    pub fn reach(&mut self, histories: u64) {
        let (from, last) = (self.chunks, histories.div_ceil(CHUNK));
        if last <= from || self.stopped {
            return;
        }
        let chunks = if let Some(runner) = self.workers.runner {
            let job = Job { array: self.plan.about.clone(), way: self.way, seed: self.seed };
            runner.run(&job, from, last)
        } else {
            let one = |at| chunk(self.plan, self.way, self.seed, at, self.workers.stop);
            Some((from..last).into_par_iter().map(one).collect::<Vec<_>>())
        };
        let Some(chunks) = chunks.filter(|_| !self.workers.are_stopped()) else {
            self.stopped = true;
            return;
        };
        for chunk in &chunks {
            self.found.merge(chunk);
        }
        self.chunks = last;
    }

    /// Continues until half the interval of the probabilities within a year and within the life is below `relative`
    /// of them, or there are `most` histories.
    pub fn until(&mut self, relative: f64, most: u64) {
        let mut histories = (16 * CHUNK).min(most);
        loop {
            self.reach(histories);
            let narrow = [&self.found.year, &self.found.life]
                .iter()
                .all(|sums| sums.estimate().relative() <= relative);
            if narrow || histories >= most || self.stopped {
                return;
            }
            histories = (2 * histories).min(most);
        }
    }
}
