//! Latent defects by the hour: when a drive has one. Nobody asks before a critical array is rebuilt.
use super::{Array, NEVER};
use crate::law::Law;
use drivelab_core::rng::Stream;

impl Array<'_> {
    pub(super) fn has_defects(&self) -> bool {
        self.plan.about.latent.as_ref().is_some_and(|latent| latent.arrival.is_some())
    }

    /// The next latent defect of a drive that has none at an instant, and when it is corrected.
    pub(super) fn new_defect(&self, from: f64, stream: &mut Stream) -> (f64, f64) {
        let Some(latent) = &self.plan.about.latent else { return (NEVER, NEVER) };
        let Some(arrival) = &latent.arrival else { return (NEVER, NEVER) };
        let at = from + arrival.draw(stream);
        (at, at + latent.scrub.as_ref().map_or(NEVER, |law: &Law| law.draw(stream)))
    }

    /// Whether a drive has a latent defect now; its history is caught up with only when somebody asks.
    pub(super) fn has_defect(&mut self, drive: usize, stream: &mut Stream) -> bool {
        while self.defect[drive].1 <= self.now {
            self.defect[drive] = self.new_defect(self.defect[drive].1, stream);
        }
        self.defect[drive].0 <= self.now
    }
}
