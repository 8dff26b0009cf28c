//! A power cut keeps exactly what was persisted, and an array's own recovery makes of bytes what it makes of stamps.
use crate::common::ms;
use crate::play::Play;
use crate::setups::{self, Dice};
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, Level, Rotation};
use drivelab_data::consistent::{compare, valid_members};
use drivelab_data::{Bytes, Cell};
use drivelab_units::Sectors;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

fn busy(play: &mut Play, seed: u64, commands: u64) {
    let mut dice = Dice::new(seed, "cuts");
    let capacity = play.target.capacity().get();
    for draft in setups::drafts(&mut dice, capacity, 1, commands, 0) {
        play.run_until(play.now + draft.gap);
        play.submit(&draft.command);
    }
    let rest = ms(dice.below(20));
    play.run_until(play.now + rest);
}

#[test]
fn a_cut_keeps_exactly_what_was_persisted() {
    let (mut kept, mut lost) = (0, 0);
    for (seed, drive) in (0..70).zip(setups::WITH_BUFFERS.into_iter().cycle()) {
        let mut play = Play::new(&setups::alone(drive), seed);
        // By sector: the write whose data came to the media last.
        let model: Rc<RefCell<BTreeMap<u64, u64>>> = Rc::default();
        let persisted = Rc::clone(&model);
        play.ear = Box::new(move |op| {
            if let DataOp::Persist { write, first, count, .. } = op {
                let sectors = first.get()..(first + count).get();
                persisted.borrow_mut().extend(sectors.map(|sector| (sector, write)));
            }
        });
        busy(&mut play, seed, 50);
        let image = |play: &Play| play.bytes.media().image(0, 0, play.target.capacity().get());
        let (before, dirty) = (image(&play), play.bytes.media().dirty()[0]);
        let after = play.cut(&[]);
        assert_eq!(image(&after), before);
        for (sector, found) in (0..).zip(&before) {
            let write = model.borrow().get(&sector).copied();
            let expected = write.map_or_else(Bytes::default, |write| Bytes::version(write, sector));
            assert_eq!(
                (found, &after.bytes.media().get(0, sector)),
                (&expected, &expected),
                "sector {sector}"
            );
            kept += u64::from(write.is_some());
        }
        lost += dirty;
    }
    assert!(kept > 1_000 && lost > 100, "{kept} kept, {lost} lost");
}

/// Cut at random: both come to the same (`Play::cut` compares), members fit each other, and what the host reads are whole
/// sectors of some write.
#[test]
fn each_policy_makes_good_what_a_cut_leaves() {
    let region = Sectors::new(32);
    let policies = [
        ConsistencyPolicy::None,
        ConsistencyPolicy::Bitmap { region, clears_after: ms(5) },
        ConsistencyPolicy::Journal,
        ConsistencyPolicy::PartialParityLog,
    ];
    let (mut unfit, mut read) = ([0; 4], 0);
    for (which, consistency_policy) in policies.into_iter().enumerate() {
        for seed in 0..12 {
            let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
            let array = ArrayParams { consistency_policy, ..ArrayParams::plain(level, 4) };
            let params = if seed % 2 == 0 { setups::reordering(array) } else { setups::forgetful(array) };
            let mut play = Play::new(&params, seed);
            busy(&mut play, seed, 25);
            let mut left = play.bytes.media().clone();
            left.cut_power();
            let array = play.array();
            unfit[which] += compare(array.layout(), &valid_members(array), &left).mismatched.len();
            let mut after = play.cut(&[]);
            let array = after.array();
            let fit = compare(array.layout(), &valid_members(array), after.bytes.media());
            assert_eq!(fit.mismatched, [], "{consistency_policy:?}, seed {seed}");
            let capacity = after.target.capacity().get();
            for (sector, found) in (0..).zip(after.read(0, capacity)) {
                let write = drivelab_data::stamp::write_of(found.head(), sector);
                assert!(found.is_blank() || found == Bytes::version(write, sector), "sector {sector}");
                read += u64::from(!found.is_blank());
            }
            after.run_out();
            after.compare();
        }
    }
    assert!(unfit.iter().all(|&unfit| unfit > 0) && read > 1_000, "{unfit:?} rows, {read} sectors");
}
