//! Random systems under random commands: stamps and bytes are the same data, and what a read delivers are the bytes that a
//! write has brought, all 512 of each sector, however many members have gone meanwhile.
use crate::common::ms;
use crate::play::Play;
use crate::setups::{self, Dice};
use drivelab_core::storage::array::params::ConsistencyPolicy;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::{Access, Outcome};
use drivelab_data::stamp::write_of;
use drivelab_data::{Bytes, Cell};

const SEEDS: u64 = 150;

fn play(params: &SystemParams, seed: u64, dice: &mut Dice) -> Play {
    let mut play = Play::new(params, seed);
    let capacity = play.target.capacity().get();
    for draft in setups::drafts(dice, capacity, 1, 60, 0) {
        play.run_until(play.now + draft.gap);
        play.submit(&draft.command);
    }
    play
}

/// Whether a memory keeps what it has for later reads.
fn keeps(params: &SystemParams) -> bool {
    let memories = [params.host_cache, params.controller.cache];
    memories.iter().flatten().any(|memory| memory.keeps_reads || memory.read_ahead.is_some())
}

/// Whether records of logs may be on the media.
fn logs(params: &SystemParams) -> bool {
    let policy = params.array.as_ref().map(|array| array.consistency_policy);
    policy.is_some_and(|policy| policy != ConsistencyPolicy::None)
}

#[test]
fn stamps_and_bytes_are_the_same_data() {
    let (mut fetched, mut emptied, mut degraded) = (0, 0, 0);
    for seed in 0..SEEDS {
        let mut dice = Dice::new(seed, "agree");
        let params = setups::system(&mut dice, ms(60));
        let mut play = play(&params, seed, &mut dice);
        play.run_out();
        play.go(Access::Flush, 0, 0);
        play.run_out();
        play.compare();
        fetched += whole_sectors(&mut play);
        // What was repaired on the way may wait in caches.
        play.go(Access::Flush, 0, 0);
        play.run_out();
        degraded +=
            u64::from(params.array.is_some_and(|array| array.missing.len() + array.failures.len() > 0));
        let (stamps, params) = (&mut play.stamps, &play.params);
        stamps.settle();
        // Of a write that a drive has not answered in time it may yet carry something out, and one that has failed keeps
        // what it has.
        let has_late = params.controller.timeout.is_some();
        let has_failed = params.array.as_ref().is_some_and(|array| !array.failures.is_empty());
        if !(keeps(params) || logs(params) || has_late || has_failed) {
            let left: Vec<u64> = stamps.buffers().ids().collect();
            assert!(left.is_empty(), "seed {seed}: {left:?} are never given up");
            emptied += 1;
        }
    }
    assert!(
        fetched > 100 * SEEDS && emptied > SEEDS / 6 && degraded > SEEDS / 5,
        "{fetched} {emptied} {degraded}"
    );
}

/// Reads everything, and compares each sector with what its write has brought there: which one its first bytes tell.
/// Returns how many sectors were written by anybody.
fn whole_sectors(play: &mut Play) -> u64 {
    let (capacity, mut written) = (play.target.capacity().get(), 0);
    for first in (0..capacity).step_by(256) {
        let answer = play.go(Access::Read, first, 256.min(capacity - first));
        if answer.completion.outcome != Outcome::Done {
            continue;
        }
        for (sector, bytes) in (first..).zip(&answer.found) {
            let write = write_of(bytes.head(), sector);
            if bytes.is_blank() || write > 1 << 50 {
                // What an array that has lost too much delivers is nobody's.
                continue;
            }
            assert_eq!(*bytes, Bytes::version(write, sector), "sector {sector} of write {write}");
            written += 1;
        }
    }
    written
}
