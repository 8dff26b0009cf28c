//! A ledger of random scenarios: what each comes to, as one number, so that two versions of drivelab can be compared where
//! nothing is meant to change. `tools/unchanged.py` writes it with both and says which scenarios differ. Each line says
//! which draft it is of: where the schema has other keys, a seed draws another scenario.
use crate::draft::draft;
use crate::hold::try_run;
use crate::keys::Dice;
use crate::numbered;
use drivelab_core::Setup;
use std::fmt::Write;
use std::sync::Mutex;

/// Points of one scenario that are run.
const POINTS: usize = 2;

/// FNV-1a: the same in every version of Rust.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// What a run of the draft with this hash comes to: its digest, the hash of its record, and that of its record with log
/// and checks.
fn line(seed: u64, at: usize, draft: u64, setup: &Setup) -> String {
    let watched = Setup { traces: 40, checks_data: true, ..setup.clone() };
    let outcome = |setup: &Setup| match try_run(setup) {
        Ok(point) => {
            let record = serde_json::to_string(&point).expect("a record is JSON");
            format!("{} {:016x}", point.digest, hash(&record))
        }
        Err(error) => format!("{error} -").replace('\n', " "),
    };
    format!("{seed} {at} draft={draft:016x} {} | {}", outcome(setup), outcome(&watched))
}

#[test]
#[ignore = "writes what tools/unchanged.py compares: DRIVELAB_LEDGER=<file>, DRIVELAB_FUZZ=<count>"]
fn ledger() {
    let path = std::env::var("DRIVELAB_LEDGER").expect("DRIVELAB_LEDGER names the file to be written");
    let count = numbered("DRIVELAB_FUZZ").unwrap_or(1_000);
    let next = Mutex::new(1..=count);
    let mut lines: Vec<(u64, String)> = std::thread::scope(|scope| {
        let work = || {
            let mut lines = Vec::new();
            while let Some(seed) = next.lock().ok().and_then(|mut seeds| seeds.next()) {
                let Some((draft, _)) = draft(&mut Dice::new(seed, "scenario")) else { continue };
                let Ok(plan) = draft.plan() else { continue };
                let drawn = hash(&draft.text());
                for (at, point) in plan.points.iter().take(POINTS).enumerate() {
                    lines.push((seed, line(seed, at, drawn, &point.setup)));
                }
            }
            lines
        };
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no run panics")).collect()
    });
    lines.sort();
    let mut text = String::new();
    lines.iter().for_each(|(_, line)| writeln!(text, "{line}").expect("a string takes all"));
    std::fs::write(&path, text).expect("the ledger can be written");
}
