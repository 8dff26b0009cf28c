//! Failure biasing: as a repair begins, an event before its end is forced with a chance that is mixed with the natural
//! one, and the weight of the history is divided by the density of the mixture over the natural one.
//!
//! A drive is forced to fail within a window: with the chances p_i of each live drive to fail in it, S their sum and m
//! the number that do fail in what was drawn, picking the drive i with p_i / S, its time within the window and all
//! others naturally has m / S times the natural density. One window ends with the repair that begins; a second one
//! with the first of all repairs that are under way, for a loss takes what is missing now. An event with a common
//! cause is forced in the same way, where each cause is picked alike: of C of them those that come within the window
//! have 1 / (C p_c) each. So where shares a_j are forced, the weight is divided by the sum of a_j times these, plus the
//! share that is natural.
//!
//! The rest are single choices with a chance of their own: a bad batch, a good drive that is pulled, how many drives a
//! common cause takes. Each is drawn with a higher chance, and the weight multiplied by the natural one over it.
use super::{Array, Phase};
use crate::law::uniform;
use drivelab_core::rng::Stream;
use libm::{expm1, log1p, pow};

/// The most histories that are forced in one window; the others weigh as many times more as they are rarer.
const FORCED: f64 = 0.8;
/// The same where losses do not need one repair after the other.
const FORCED_BESIDE_CAUSES: f64 = 0.4;
/// Of what is forced, the share of common causes where there are any.
const OF_CAUSES: f64 = 0.25;
/// Of the failures that are forced the share within the second window.
const OF_SOONEST: f64 = 0.6;
/// The chance that a rare choice is drawn with, in a whole life.
const CHOSEN: f64 = 0.2;

/// Within which a failure of a drive is forced.
#[derive(Clone, Copy)]
struct Window {
    /// Of all histories.
    share: f64,
    end: f64,
    /// Of the chances of all live drives to fail in it.
    sum: f64,
}

impl Array<'_> {
    /// Forces another failure before the end of the repair that begins now.
    pub(super) fn bias(&mut self, drive: usize, stream: &mut Stream) {
        if !self.way.biased || self.all_missing == 0 {
            return;
        }
        let about = &self.plan.about;
        let end = if self.phase[drive] == Phase::Waiting {
            self.now + about.repair.replacement.mean() + self.plan.rebuild_mean(1)
        } else {
            self.next[drive]
        };
        let failures = self.failures();
        let first = self.all_missing == 1;
        self.force(end.min(self.way.life), failures, !first, stream);
    }

    /// Failures in a life, about.
    fn failures(&self) -> f64 {
        let aged = self.way.life.max(1.0) * self.ageing.max(1.0);
        self.next.len() as f64 * self.plan.about.drive.hazard(aged).min(1e6)
    }

    /// Draws the lives of all live drives and the common causes anew; a share of the histories has one of them
    /// before `end`.
    ///
    /// The share falls with how many such windows a life has, `windows`, or those of them that come about in another
    /// one (`deep`): forced each time, the weights would run away.
    pub(super) fn force(&mut self, end: f64, windows: f64, deep: bool, stream: &mut Stream) {
        self.redraw(stream);
        let own = self.sum_until(end);
        let causes = self.redraw_causes(end, stream);
        let most = if causes.is_empty() { FORCED } else { FORCED_BESIDE_CAUSES };
        let share = (1.0 / (1.0 + windows * if deep { own } else { 1.0 })).min(most);
        let of_causes = if causes.is_empty() { 0.0 } else { OF_CAUSES * share };
        let of_drives = if own > 0.0 && own < 0.5 { share - of_causes } else { 0.0 };
        let found = self.windows(end, own, of_drives, deep);
        let mut drawn = uniform(stream) - of_causes;
        if drawn < 0.0 {
            let (which, chance) = causes[stream.below(causes.len() as u64) as usize];
            self.stores.common[which] = self.cause_within(which, chance, stream);
        } else {
            let mut picked = None;
            for window in &found {
                if drawn < window.share && picked.is_none() {
                    picked = Some(window);
                }
                drawn -= window.share;
            }
            if let Some(window) = picked {
                self.fail_within(window, stream);
            }
        }
        let mut density = 1.0 - of_causes - found.iter().map(|window| window.share).sum::<f64>();
        for window in &found {
            density += window.share * self.failing_until(window.end) as f64 / window.sum;
        }
        for &(which, chance) in &causes {
            if self.stores.common[which] <= end {
                density += of_causes / (causes.len() as f64 * chance);
            }
        }
        self.weight /= density;
    }

    /// Until the repair that begins now ends, and, where others are under way, until the first of all ends.
    fn windows(&self, end: f64, sum: f64, share: f64, deep: bool) -> Vec<Window> {
        if share == 0.0 {
            return Vec::new();
        }
        let own = Window { share, end, sum };
        let returns = (0..self.next.len()).filter(|&drive| self.phase[drive] == Phase::Rebuilding);
        let soonest = returns.map(|drive| self.next[drive]).fold(end, f64::min);
        let near = self.sum_until(soonest);
        if !deep || soonest >= end || near <= 0.0 {
            return vec![own];
        }
        let part = OF_SOONEST * share;
        vec![Window { share: part, end: soonest, sum: near }, Window { share: share - part, ..own }]
    }

    /// The age of a drive at an instant.
    fn age(&self, drive: usize, at: f64) -> f64 {
        (at - self.born[drive]) * self.ageing
    }

    /// The chance of a drive to fail from now until `end`.
    fn chance_until(&self, drive: usize, end: f64) -> f64 {
        match self.phase[drive] {
            Phase::Live => self.plan.about.drive.chance(self.age(drive, self.now), self.age(drive, end)),
            _ => 0.0,
        }
    }

    fn sum_until(&self, end: f64) -> f64 {
        (0..self.next.len()).map(|drive| self.chance_until(drive, end)).sum()
    }

    /// How many live drives fail until then.
    fn failing_until(&self, end: f64) -> usize {
        let fails = |drive: &usize| self.phase[*drive] == Phase::Live && self.next[*drive] <= end;
        (0..self.next.len()).filter(fails).count()
    }

    fn fail_within(&mut self, window: &Window, stream: &mut Stream) {
        let mut at = uniform(stream) * window.sum;
        let mut drive = 0;
        for one in 0..self.next.len() {
            let chance = self.chance_until(one, window.end);
            if chance > 0.0 {
                drive = one;
                at -= chance;
                if at <= 0.0 {
                    break;
                }
            }
        }
        let chance = self.chance_until(drive, window.end);
        let (from, to) = (self.age(drive, self.now), self.age(drive, window.end));
        let age = self.plan.about.drive.draw_between(from, to, chance, stream);
        // Within the window, whatever rounding says.
        self.next[drive] = (self.born[drive] + age / self.ageing).min(window.end);
    }

    /// Draws the next event of each common cause anew, and gives the chance of each to come until `end`.
    fn redraw_causes(&mut self, end: f64, stream: &mut Stream) -> Vec<(usize, f64)> {
        let now = self.now;
        let mut found = Vec::new();
        for (which, common) in self.plan.about.common.iter().enumerate() {
            self.stores.common[which] = now - common.mean_hours * libm::log(uniform(stream));
            let chance = -expm1((now - end) / common.mean_hours);
            if chance > 0.0 && common.share > 0.0 {
                found.push((which, chance));
            }
        }
        found
    }

    /// The next event of a cause, before the end of a window in which it comes with this chance.
    fn cause_within(&self, which: usize, chance: f64, stream: &mut Stream) -> f64 {
        self.now - self.plan.about.common[which].mean_hours * log1p(-uniform(stream) * chance)
    }

    /// Whether something with this chance happens: drawn more often where it is rare.
    pub(super) fn chosen(&mut self, chance: f64, times: f64, stream: &mut Stream) -> bool {
        if !self.way.biased || chance == 0.0 {
            return chance > 0.0 && uniform(stream) < chance;
        }
        let drawn = chance.max(CHOSEN / (1.0 + times));
        let happens = uniform(stream) < drawn;
        self.weight *= if happens { chance / drawn } else { (1.0 - chance) / (1.0 - drawn) };
        happens
    }

    /// The same of a mistake that any replacement may make.
    pub(super) fn mistaken(&mut self, chance: f64, stream: &mut Stream) -> bool {
        let times = if self.way.biased { self.failures() } else { 0.0 };
        self.chosen(chance, times, stream)
    }

    /// The drives that an event with a common cause takes.
    pub(super) fn struck(&mut self, which: usize, stream: &mut Stream) -> Vec<usize> {
        let common = &self.plan.about.common[which];
        let live: Vec<usize> =
            (0..self.next.len()).filter(|&drive| self.phase[drive] == Phase::Live).collect();
        // As many as it takes to lose data.
        let more = f64::from(self.plan.arrangement.depth_of_loss()) / self.next.len() as f64;
        let more = more.min(0.9);
        if !self.way.biased || common.share >= more || common.share == 0.0 {
            return live.into_iter().filter(|_| uniform(stream) < common.share).collect();
        }
        let forced = 0.5 / (1.0 + self.way.life / common.mean_hours);
        let share = if uniform(stream) < forced { more } else { common.share };
        let count = live.len();
        let found: Vec<usize> = live.into_iter().filter(|_| uniform(stream) < share).collect();
        let spared = (count - found.len()) as f64;
        let ratio =
            pow(more / common.share, found.len() as f64) * pow((1.0 - more) / (1.0 - common.share), spared);
        self.weight /= forced * ratio + 1.0 - forced;
        found
    }
}
