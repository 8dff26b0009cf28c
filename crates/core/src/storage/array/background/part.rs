//! The part of a window that a level plans.
use super::job::{SyncJob, Window};
use crate::storage::array::members::Spot;
use crate::storage::array::plan::Plan;

/// The part of a window that is under way.
pub struct WindowPart<'a> {
    pub job: &'a mut SyncJob,
    /// Which of the job's windows it belongs to.
    pub window: usize,
    /// Its range, in the job's numbers.
    pub at: u64,
    pub to: u64,
}

impl WindowPart<'_> {
    pub fn window(&mut self) -> &mut Window {
        &mut self.job.windows[self.window]
    }

    /// From here on the window is processed in small pieces of this size.
    pub fn refine(&mut self, piece: u64) {
        let at = self.at;
        let window = self.window();
        if !window.is_fine {
            window.is_fine = true;
            window.to = at.saturating_add(piece - at % piece).min(window.end);
            self.to = window.to;
        }
    }

    /// Whether a place can be read, as far as this window knows.
    pub fn can_read(&self, plan: &Plan<'_>, spot: Spot, count: u64) -> bool {
        plan.is_right(spot, count) && !self.job.windows[self.window].unreadable.contains(&spot.slot)
    }

    /// Whether a place on a present member could not be read by this window.
    pub fn is_bad(&self, plan: &Plan<'_>, spot: Spot, count: u64) -> bool {
        plan.is_right(spot, count) && !self.can_read(plan, spot, count)
    }

    pub fn has_met_errors(&self) -> bool {
        !self.job.windows[self.window].unreadable.is_empty()
    }

    /// Whether a new member of the job needs the part: its slot, and where the part begins for it.
    pub fn needs(&self, plan: &Plan<'_>, target: usize) -> Option<(u16, u64)> {
        let target = self.job.targets[target];
        let done = plan.members().frontier(target.slot);
        (done < self.to && target.until > self.at).then(|| (target.slot, done.max(self.at)))
    }
}
