//! Failure biasing: as a repair begins, a failure of another drive before its end is forced with a chance that is
//! mixed with the natural one, and the weight of the history is multiplied by the ratio of the two. With the chances
//! p_i of each live drive to fail in the window, S their sum and m the number that do fail in what was drawn, picking
//! the drive i with p_i / S, its time within the window and all others naturally has m / S times the natural
//! density; so where a share `a` is forced, the ratio is 1 / (a m / S + 1 - a).
use super::{Array, Phase};
use crate::law::uniform;
use drivelab_core::rng::Stream;

impl Array<'_> {
    /// Forces another failure before the end of the repair that begins now.
    pub(super) fn bias(&mut self, drive: usize, stream: &mut Stream) {
        let about = &self.plan.about;
        let end = if self.phase[drive] == Phase::Waiting {
            self.now + about.repair.replacement.mean() + self.plan.rebuild_mean(1)
        } else {
            self.next[drive]
        };
        let failures = self.next.len() as f64 * about.drive.hazard(self.way.life.max(1.0)).min(1e6);
        let first = self.all_missing == 1;
        self.force(end.min(self.way.life), failures, !first, stream);
    }

    /// Draws the lives of all live drives anew; a share of the histories has one of them end before `end`.
    ///
    /// The share falls with how many such windows a life has, `windows`, or those of them that come about in another
    /// one (`deep`): forced each time, the weights would run away.
    pub(super) fn force(&mut self, end: f64, windows: f64, deep: bool, stream: &mut Stream) {
        self.redraw(stream);
        let law = &self.plan.about.drive;
        let ages = |born: f64, at: f64| (at - born) * self.ageing;
        let chance_of = |drive: usize| match self.phase[drive] {
            Phase::Live => law.chance(ages(self.born[drive], self.now), ages(self.born[drive], end)),
            _ => 0.0,
        };
        let sum: f64 = (0..self.next.len()).map(chance_of).sum();
        if sum <= 0.0 || sum >= 0.5 {
            return;
        }
        let share = (1.0 / (1.0 + windows * if deep { sum } else { 1.0 })).min(0.8);
        let forced = uniform(stream) < share;
        if forced {
            let mut at = uniform(stream) * sum;
            let mut drive = 0;
            for one in 0..self.next.len() {
                let chance = chance_of(one);
                if chance > 0.0 {
                    drive = one;
                    at -= chance;
                    if at <= 0.0 {
                        break;
                    }
                }
            }
            let born = self.born[drive];
            let age = law.draw_between(ages(born, self.now), ages(born, end), chance_of(drive), stream);
            self.next[drive] = born + age / self.ageing;
        }
        let live = |drive: &usize| self.phase[*drive] == Phase::Live && self.next[*drive] <= end;
        let failing = (0..self.next.len()).filter(live).count().max(usize::from(forced));
        self.weight /= share * failing as f64 / sum + 1.0 - share;
    }
}
