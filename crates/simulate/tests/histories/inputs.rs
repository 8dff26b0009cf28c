//! What a history is told beside plain commands: writes of zeroes and discards, slow drives, drives that hang, links that
//! are reset. Drawn apart from the rest, so that the same seed plays the same commands with and without them.
//!
//! To the witness a write of zeroes is a version like any other, which tells one from another where zeroes would not.
use super::setups::{Dice, Draft};
use drivelab_core::storage::{CallError, Fault, Slowness};
use drivelab_core::{Access, Content};
use drivelab_simulate::checker::{CheckedTarget, Violation, Wrong};
use drivelab_units::{Share, Span};

/// What a history does beside its commands.
pub struct Inputs {
    dice: Dice,
    /// Whether its writes have any content, and whether its drives ail.
    has_contents: bool,
    ails: bool,
    /// What was drawn.
    pub zeroed: u64,
    pub faults: u64,
}

impl Inputs {
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed, "inputs");
        let (has_contents, ails) = (dice.one_in(2), dice.one_in(2));
        Inputs { dice, has_contents, ails, zeroed: 0, faults: 0 }
    }

    /// Some of the writes bring no data.
    pub fn draw_contents(&mut self, drafts: &mut [Draft]) {
        let writes = drafts.iter_mut().filter(|draft| draft.command.access == Access::Write);
        for draft in writes.filter(|_| self.has_contents) {
            draft.command.content =
                self.dice.of(&[Content::Data, Content::Data, Content::Zeroes, Content::Discarded]);
            self.zeroed += u64::from(draft.command.content != Content::Data);
        }
    }

    /// Now and then a drive ails, or is well again.
    pub fn inject(&mut self, watched: &mut CheckedTarget) -> Result<(), Violation> {
        if !self.ails || !self.dice.one_in(6) {
            return Ok(());
        }
        let drives = watched.target().system().map_or(1, |system| system.drives().count()) as u64;
        let drive = self.dice.below(drives) as u16;
        let time = |dice: &mut Dice| Span::from_us(dice.of(&[0, 50, 700, 5_000, 30_000]));
        let by = time(&mut self.dice);
        let how = match self.dice.below(4) {
            0 => None,
            1 => Some(Slowness::Constant(by)),
            2 => Some(Slowness::Ramp { by, over: time(&mut self.dice) }),
            _ => Some(Slowness::Some { by, share: Share::from_ratio(1, 3).unwrap_or(Share::ALL) }),
        };
        let fault = match self.dice.below(4) {
            0 => Fault::Hang { drive, lasts: Some(time(&mut self.dice)) },
            1 => Fault::LinkReset { drive },
            _ => Fault::Slow { drive, how },
        };
        self.faults += 1;
        match watched.inject(fault) {
            // It has failed for good, or the array has given it up.
            Err(Violation { wrong: Wrong::Refused(CallError::DriveHasFailed { .. }), .. }) => Ok(()),
            other => other,
        }
    }
}
