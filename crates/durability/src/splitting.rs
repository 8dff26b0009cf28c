//! Multilevel splitting with fixed effort: a stage runs histories until one more member is missing than in any
//! earlier stage, and the next stage continues from copies of those. The product of the shares that complete each
//! stage is an unbiased estimate of the probability of a loss (Garvels and Kroese, 1998). Replicates are independent
//! and give the interval.
use crate::array::{Array, HistoryOptions, Stop, Tally};
use crate::monte_carlo::Histories;
use crate::plan::Plan;
use drivelab_core::rng::Stream;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of independent replicates.
pub const REPLICATES: u64 = 32;

/// Runs all replicates, each with `effort` histories per stage. Every sample of the sums is one replicate.
/// When `stop` is set, no further history begins, and what is returned is of no use.
pub fn split(plan: &Plan, way: HistoryOptions, effort: u64, seed: u64, stop: &AtomicBool) -> Histories {
    let replicates: Vec<Tally> =
        (0..REPLICATES).into_par_iter().map(|one| replicate(plan, way, effort, (seed, one), stop)).collect();
    let mut found = Histories::default();
    for tally in &replicates {
        found.take(tally);
    }
    found
}

fn replicate(
    plan: &Plan,
    way: HistoryOptions,
    effort: u64,
    (seed, one): (u64, u64),
    stop: &AtomicBool,
) -> Tally {
    let mut stream = Stream::named(seed, &format!("durability/splitting/{one}"));
    let mut sum = Tally::default();
    let mut share = 1.0;
    let mut entries: Vec<Array<'_>> = Vec::new();
    let mut array = Array::new(plan, way);
    for stage in 0..plan.arrangement.depth_of_loss() {
        if stage > 0 && entries.is_empty() {
            break;
        }
        // The last stage ends with the loss itself.
        let last = stage + 1 == plan.arrangement.depth_of_loss();
        let depth = if last { u32::MAX } else { stage + 1 };
        let mut arrived = Vec::new();
        let mut tally = Tally::default();
        for history in 0..effort {
            if stop.load(Ordering::Relaxed) {
                return sum;
            }
            if stage == 0 {
                array.begin(&mut stream);
            } else {
                array.clone_from(&entries[(history % entries.len() as u64) as usize]);
                array.redraw(&mut stream);
            }
            if array.run(depth, &mut tally, &mut stream) == Stop::Depth {
                arrived.push(array.clone());
            }
        }
        sum.add(&tally, share / effort as f64);
        share *= arrived.len() as f64 / effort as f64;
        entries = arrived;
    }
    sum
}
