//! Latent defects that arrive over time. Whether a drive has one is drawn only when a critical array is rebuilt.
use super::{Array, NEVER, Phase};
use crate::law::Law;
use drivelab_core::rng::Stream;

/// The number of draws of the defects for a biased history, which represents many: a loss is counted with the share
/// of draws with a defect, and the history continues with one of the draws without.
const DRAWS: u64 = 8;

impl Array<'_> {
    /// The probability that the reads of the rebuild of a critical cell meet a defect, and the mean number of defects
    /// if they do.
    pub(super) fn rebuild_defects(&mut self, cell: usize, stream: &mut Stream) -> (f64, f64) {
        let plan = self.plan;
        let is_read = |drive: &usize| {
            self.phase[*drive] == Phase::Live
                && plan.arrangement.is_exposed(cell, usize::from(plan.cell_of[*drive]))
        };
        let read: Vec<usize> = (0..self.next.len()).filter(is_read).collect();
        let draws = if self.way.biased { DRAWS } else { 1 };
        let before = self.defect.clone();
        let mut goes_on = None;
        let (mut clean, mut defects) = (0u64, 0u64);
        for _ in 0..draws {
            self.defect.clone_from(&before);
            let found = read.iter().filter(|&&drive| self.has_defect(drive, stream)).count() as u64;
            defects += found;
            if found == 0 {
                clean += 1;
                if stream.below(clean) == 0 {
                    goes_on = Some(self.defect.clone());
                }
            }
        }
        if let Some(without) = goes_on {
            self.defect = without;
        }
        let lost = draws - clean;
        (lost as f64 / draws as f64, defects as f64 / lost.max(1) as f64)
    }

    /// The time of the next latent defect of a drive without one at `from`, and the time of its correction.
    fn new_defect(&self, from: f64, stream: &mut Stream) -> (f64, f64) {
        let Some(latent) = &self.plan.about.latent else { return (NEVER, NEVER) };
        let Some(arrival) = &latent.arrival else { return (NEVER, NEVER) };
        let at = from + arrival.draw(stream);
        (at, at + latent.scrub.as_ref().map_or(NEVER, |law: &Law| law.draw(stream)))
    }

    /// Whether a drive has a latent defect now; its defects up to now are drawn only at this call.
    fn has_defect(&mut self, drive: usize, stream: &mut Stream) -> bool {
        while self.defect[drive].1 <= self.now {
            self.defect[drive] = self.new_defect(self.defect[drive].1, stream);
        }
        self.defect[drive].0 <= self.now
    }
}
