//! Many runs in parallel; their results arrive in the order of the input, whichever finishes first.
use crate::run::{Control, RunError, run};
use drivelab_core::Setup;
use drivelab_record::Point;
use rayon::ThreadPoolBuilder;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// Runs all setups on `workers` threads (at least one, at most one each) and passes each result to `done` in
/// input order, on the caller's thread, as soon as all before it are available.
///
/// `progress(index, share)` is called by the workers. When `stop` is set, running setups end as interrupted
/// and no further one starts.
pub fn run_many(
    setups: &[Setup],
    workers: usize,
    stop: &AtomicBool,
    progress: impl Fn(usize, f64) + Sync,
    mut done: impl FnMut(usize, Result<Point, RunError>),
) {
    let (sender, results) = mpsc::channel();
    let Ok(pool) = ThreadPoolBuilder::new().num_threads(workers.min(setups.len()).max(1)).build() else {
        // No threads are available: one after the other.
        for (index, setup) in setups.iter().enumerate() {
            done(index, guarded(setup, &Control { stop, progress: &|share| progress(index, share) }));
        }
        return;
    };
    let progress = &progress;
    pool.in_place_scope_fifo(|scope| {
        for (index, setup) in setups.iter().enumerate() {
            let sender = sender.clone();
            scope.spawn_fifo(move |_| {
                let result = if stop.load(Ordering::Relaxed) {
                    Err(RunError::Interrupted)
                } else {
                    guarded(setup, &Control { stop, progress: &|share| progress(index, share) })
                };
                // The receiver outlives the scope.
                let _ = sender.send((index, result));
            });
        }
        drop(sender);
        let (mut waiting, mut next) = (BTreeMap::new(), 0);
        for (index, result) in results {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&next) {
                done(next, result);
                next += 1;
            }
        }
    });
}

/// A run whose panic, a defect of ours, fails only this run and not the others of the sweep.
fn guarded(setup: &Setup, control: &Control<'_>) -> Result<Point, RunError> {
    catch_unwind(AssertUnwindSafe(|| run(setup, control))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        Err(RunError::Defect(text.unwrap_or_else(|| "a panic without words".to_owned())))
    })
}
