//! Copies of which all are asked for a read, with sectors that cannot be read, timeouts, and members that fail while what
//! the others could not give is being written back.
use crate::setups::{self, Dice};
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::params::{ArrayParams, Failure, Level, ReadChoice, When};
use drivelab_core::storage::system::SystemParams;
use drivelab_simulate::checker::{CheckedTarget, Violation};
use drivelab_units::{Instant, Span};

const HISTORIES: u64 = 3_000;
/// Sectors of the array that are used.
const PART: u64 = 200;

fn system(dice: &mut Dice) -> SystemParams {
    let spared = dice.below(3) as u16;
    let mut fails =
        |drive| Failure { drive, when: When::At(Instant::ZERO + Span::from_us(dice.below(60_000))) };
    let failures = (0..3).filter(|&drive| drive != spared).map(&mut fails).collect();
    let plain = ArrayParams::plain(Level::Mirrored, 3);
    let params = ArrayParams { reads: ReadChoice::AskAll, spares: 1, failures, ..plain };
    let mut system = setups::bare(params);
    system.drives = (0..4).map(|_| setups::spotted(dice, PART)).collect();
    if dice.one_in(2) {
        system.controller.timeout = Some(Span::from_ms(dice.of(&[30, 40, 60])));
    }
    system
}

fn play(seed: u64) -> Result<u64, Violation> {
    let mut dice = Dice::new(seed, "asks all");
    let params = system(&mut dice);
    let mut watched = CheckedTarget::new(&params, seed);
    let drafts = setups::drafts(&mut dice, PART, 1, 30, 0);
    crate::issue(&mut watched, &drafts)?;
    watched.read_back()?;
    Ok(watched.target().system().and_then(|system| system.array()).map_or(0, Array::repaired))
}

#[test]
fn what_copies_cannot_give_is_written_back_although_members_fail() {
    let mut repaired = 0;
    for seed in 0..HISTORIES {
        repaired += play(seed).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    assert!(repaired > HISTORIES, "{repaired} sectors were written back");
}
