//! The buffer alone: who waits for it, when it wants the arm, whose turn it is, and what it would lose.
use super::{model, params};
use crate::command::{Access, Command};
use crate::storage::context::Context;
use crate::storage::drive::buffer::waiting::{Waiting, WaitsFor};
use crate::storage::drive::buffer::{Buffer, DestageUrgency};
use crate::storage::drive::cache::dirty::DirtyPiece;
use crate::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
use crate::storage::drive::mechanics::Mechanics;
use crate::storage::drive::params::DriveParams;
use crate::storage::link::Wires;
use alloc::sync::Arc;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors, Span};
use proptest::prelude::*;

proptest! {
    #[test]
    fn who_waits_goes_on_oldest_first_past_what_is_blocked(
        steps in prop::collection::vec((0u32..12, 0usize..7), 1..80),
    ) {
        let mut waiting = Waiting::default();
        let mut naive: Vec<(u32, WaitsFor)> = Vec::new();
        let kinds = [WaitsFor::Room, WaitsFor::Arm, WaitsFor::Media];
        for (slot, step) in steps {
            let known = naive.iter().position(|&(other, _)| other == slot);
            let first = |naive: &[(u32, WaitsFor)], kind| {
                naive.iter().position(|&(other, of)| of == kind && other >= slot)
            };
            // Every command below `slot` is blocked.
            match step {
                0..3 if known.is_none() => {
                    match kinds[step] {
                        WaitsFor::Room => waiting.add_writer(slot),
                        WaitsFor::Arm => waiting.add_hit(slot),
                        WaitsFor::Media => waiting.add_barrier(slot, u64::from(slot)),
                    }
                    naive.push((slot, kinds[step]));
                }
                3 => {
                    prop_assert_eq!(waiting.waits_for(slot), known.map(|at| naive[at].1));
                    prop_assert_eq!(waiting.forget(slot), known.is_some());
                    known.map(|at| naive.remove(at));
                }
                4 => {
                    let at = first(&naive, WaitsFor::Arm);
                    let taken = waiting.take_hit(|other| other < slot);
                    prop_assert_eq!(taken, at.map(|at| naive.remove(at).0));
                }
                5 => {
                    // What was accepted before the sixth is on the media.
                    let at = first(&naive, WaitsFor::Media).filter(|&at| naive[at].0 < 6);
                    let taken = waiting.take_persisted(|other| other < slot, |sequence| sequence < 6);
                    prop_assert_eq!(taken, at.map(|at| naive.remove(at).0));
                }
                _ => {
                    let next = waiting.next_writer(|other| other < slot);
                    prop_assert_eq!(next, first(&naive, WaitsFor::Room).map(|at| naive[at].0));
                }
            }
            prop_assert_eq!(waiting.is_empty(), naive.is_empty());
            prop_assert_eq!(waiting.presses(), naive.iter().any(|&(_, kind)| kind != WaitsFor::Arm));
        }
    }
}

const ROOM: u64 = 64;

fn written(destage: Destage, age: Option<Span>) -> DriveParams {
    let write_back = WriteBackParams {
        limit: Sectors::new(ROOM),
        segments: 8,
        destage,
        idle: Span::from_ms(5),
        age,
        press_from: Sectors::new(48),
        run: Sectors::new(32),
        while_busy: false,
    };
    let cache = CacheParams {
        segments: 16,
        fixed: false,
        write_back: Some(write_back),
        ..CacheParams::reading_on(Sectors::new(128))
    };
    DriveParams { cache: Some(cache), ..params(8) }
}

struct Rig {
    buffer: Buffer,
    mechanics: Mechanics,
    context: Context,
}

impl Rig {
    fn new(params: &DriveParams) -> Self {
        let model = Arc::new(model(params));
        let buffer = Buffer::new(0, &model);
        let context = Context::new(Wires::of_drive(&params.link, None));
        Rig { buffer, mechanics: Mechanics::new(model, 0, 0, 1), context }
    }

    fn accept(&mut self, write: u64, first: u64, count: u64, at: Instant) {
        let (first, end) = (Lba::new(first), Lba::new(first + count));
        let (since, from, coming, there) = (at, at, at, at);
        let piece = DirtyPiece { first, end, write, sequence: 0, since, from, coming, there };
        self.buffer.accept(&mut self.context, piece, self.mechanics.motion());
    }

    fn volatile(&self) -> Vec<(u64, u64, u64)> {
        let all = self.buffer.volatile();
        all.map(|piece| (piece.write, piece.first.get(), piece.count().get())).collect()
    }
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

#[test]
fn the_cache_presses_when_it_fills_when_data_are_old_and_when_a_command_waits() {
    let mut rig = Rig::new(&written(Destage::WhenIdle, Some(Span::from_ms(20))));
    assert_eq!(rig.buffer.destage_urgency(at(1), at(1)), DestageUrgency::None);
    rig.accept(1, 100, 8, at(1));
    // Idle from 5 ms behind the last work, and pressing from an age of 20 ms.
    assert_eq!(rig.buffer.destage_urgency(at(1), at(1)), DestageUrgency::Later(at(6)));
    assert_eq!(rig.buffer.destage_urgency(at(6), at(1)), DestageUrgency::Idle);
    assert_eq!(rig.buffer.destage_urgency(at(18), at(18)), DestageUrgency::Later(at(21)));
    assert_eq!(rig.buffer.destage_urgency(at(21), at(21)), DestageUrgency::Press);
    assert!(rig.buffer.presses(at(21), at(21)) && !rig.buffer.presses(at(6), at(1)));
    let flush = Command::new(9, Access::Flush, Lba::ZERO, Sectors::ZERO);
    assert!(rig.buffer.queue_behind_barrier(3, &flush) && rig.buffer.is_waiting(3));
    assert_eq!(rig.buffer.destage_urgency(at(2), at(2)), DestageUrgency::Press);
    assert!(rig.buffer.leave(3) && !rig.buffer.leave(3));
    assert_eq!(rig.buffer.destage_urgency(at(2), at(2)), DestageUrgency::Later(at(7)));
    rig.accept(2, 200, 40, at(2));
    assert_eq!(rig.buffer.destage_urgency(at(2), at(2)), DestageUrgency::Press, "48 sectors");
    assert!(!rig.buffer.admits(Lba::new(1_000), Sectors::new(17), false), "no room");
    assert!(!rig.buffer.admits(Lba::new(1_000), Sectors::new(16), true), "the arm works");
    assert!(rig.buffer.admits(Lba::new(240), Sectors::new(16), true), "it goes on behind what waits");
}

#[test]
fn host_and_cache_have_the_arm_in_turn_and_oldest_and_nearest_too() {
    let mut rig = Rig::new(&written(Destage::AtOnce, Some(Span::ZERO)));
    let far = 30_000;
    for (write, first) in [(1, far), (2, 0), (3, far + 600)] {
        rig.accept(write, first, 8, at(1));
    }
    assert_eq!(rig.volatile(), [(1, far, 8), (2, 0, 8), (3, far + 600, 8)]);
    assert!(!rig.buffer.has_turn(), "the host comes first");
    // All are old enough: the oldest, then the nearest to the arm, then the oldest.
    for first in [far, 0, far + 600] {
        rig.buffer.give_arm_to_host();
        assert!(rig.buffer.has_turn());
        let piece = rig.buffer.next_piece(at(2), rig.mechanics.view(at(2))).unwrap();
        let launched = rig.buffer.launch(piece, Lba::new(u64::MAX), at(2), false).unwrap();
        assert_eq!((launched.first.get(), (launched.end - launched.first).get()), (first, 8));
        assert!(!rig.buffer.has_turn());
        rig.buffer.land(&mut rig.context);
    }
    assert_eq!(rig.volatile(), []);
    assert_eq!(rig.buffer.used().unwrap()[1], (0, 0));
}

#[test]
fn a_barrier_is_passed_when_all_that_came_before_it_is_on_the_media() {
    let mut rig = Rig::new(&written(Destage::AtOnce, None));
    let flush = Command::new(9, Access::Flush, Lba::ZERO, Sectors::ZERO);
    assert!(!rig.buffer.queue_behind_barrier(5, &flush), "there is nothing to wait for");
    rig.accept(1, 100, 8, at(1));
    assert!(rig.buffer.queue_behind_barrier(5, &flush));
    rig.accept(2, 40_000, 8, at(1));
    assert_eq!(rig.buffer.take_persisted(|_| false), None);
    let piece = rig.buffer.next_piece(at(2), rig.mechanics.view(at(2))).unwrap();
    assert_eq!(rig.buffer.launch(piece, Lba::new(u64::MAX), at(2), true).unwrap().first, Lba::new(100));
    assert_eq!(rig.buffer.take_persisted(|_| false), None, "still under the head");
    rig.buffer.land(&mut rig.context);
    assert_eq!(rig.buffer.take_persisted(|slot| slot == 5), None, "something else holds it up");
    assert_eq!(rig.buffer.take_persisted(|_| false), Some(5));
    // The cache was idle: it goes on emptying itself.
    assert_eq!(rig.volatile(), [(2, 40_000, 8)]);
}
