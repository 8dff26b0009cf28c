//! Whole scenarios at random: every section of a scenario and of a drive file, arrays, faults, several jobs and
//! initiators, with logs and checks of data. Each is planned and run, and what holds of every run is held.
//!
//! A failure prints its seed and the smallest scenario that still fails. `DRIVELAB_FUZZ=<count>` plays so many,
//! `DRIVELAB_FUZZ_FROM=<seed>` begins there.
#![allow(clippy::print_stdout, reason = "what was played, for whoever asks for it")]
mod draft;
mod hold;
mod keys;
mod ledger;
mod metamorphic;
mod watchdog;

use crate::draft::{Draft, draft};
use crate::hold::{hold, smallest};
use crate::keys::{Dice, KEYS};
use std::collections::BTreeMap;
use watchdog::Watchdog;

const SCENARIOS: u64 = 200;
/// Failures of one campaign that are made small and shown.
const SHOWN: usize = 5;

fn numbered(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What a campaign has seen.
#[derive(Default)]
struct Tally {
    scenarios: u64,
    runs: u64,
    /// Keys by how many scenarios had them.
    keys: BTreeMap<String, u64>,
    /// Of each failure its seed, the fault and the smallest scenario.
    faults: Vec<String>,
}

/// Plays every `step`th seed of a range.
fn campaign(from: u64, until: u64, step: usize) -> Tally {
    let mut tally = Tally::default();
    let watchdog = Watchdog::start();
    for seed in (from..until).step_by(step) {
        let mut dice = Dice::new(seed, "scenario");
        watchdog.watch(seed, "still being drawn");
        let Some((draft, _)) = draft(&mut dice) else { continue };
        watchdog.watch(seed, &draft.text());
        tally.scenarios += 1;
        for line in draft.scenario.iter().chain(&draft.drive).filter(|line| !line.fixed) {
            *tally.keys.entry(line.key().to_owned()).or_default() += 1;
        }
        match hold(&draft) {
            Ok(runs) => tally.runs += runs,
            Err(fault) => {
                let describe =
                    if tally.faults.len() < SHOWN { describe(&draft, &fault) } else { clipped(&fault) };
                // At once: a campaign of hours may be ended before its end.
                println!("seed {seed}: {describe}");
                tally.faults.push(format!("seed {seed}: {describe}"));
            }
        }
    }
    tally
}

/// Two threads, each with every second seed.
fn played(from: u64, count: u64) -> Tally {
    let threads: Vec<_> =
        (0..2).map(|at| std::thread::spawn(move || campaign(from + at, from + count, 2))).collect();
    let mut all = Tally::default();
    for thread in threads {
        let part = thread.join().expect("a campaign catches what panics in it");
        all.scenarios += part.scenarios;
        all.runs += part.runs;
        part.keys.into_iter().for_each(|(key, count)| *all.keys.entry(key).or_default() += count);
        all.faults.extend(part.faults);
    }
    all
}

/// A fault with the smallest scenario that still has it.
fn describe(draft: &Draft, fault: &str) -> String {
    let small = smallest(draft, fault);
    let fault = hold(&small).err().unwrap_or_else(|| fault.to_owned());
    format!("{}\n{}", clipped(&fault), small.text())
}

fn clipped(text: &str) -> String {
    text.chars().take(1_200).collect()
}

#[test]
fn what_holds_of_every_run_holds_of_random_scenarios() {
    let (from, count) =
        (numbered("DRIVELAB_FUZZ_FROM").unwrap_or(1), numbered("DRIVELAB_FUZZ").unwrap_or(SCENARIOS));
    let tally = played(from, count);
    let Tally { scenarios, runs, keys, faults } = &tally;
    println!(
        "{scenarios} scenarios, {runs} runs, {} of {} keys, seeds {from} to {}",
        keys.len(),
        KEYS.len(),
        from + count - 1
    );
    if count >= 20_000 {
        let absent: Vec<&str> = KEYS
            .iter()
            .map(|key| key.path.trim_start_matches("target.drive."))
            .filter(|key| !keys.contains_key(*key))
            .collect();
        println!("in none of them: {}", absent.join(", "));
    }
    assert!(faults.is_empty(), "{} failures\n\n{}", faults.len(), faults.join("\n\n"));
    assert!(*scenarios >= count * 9 / 10, "only {scenarios} of {count} drafts could be planned");
}
