//! Failure biasing: when a repair begins, an event before its end is forced with a probability that is mixed with the
//! natural one, and the weight of the history is divided by the ratio of the mixture's density to the natural one.
//!
//! A drive is forced to fail within a window: let p_i be the probability of live drive i to fail in it, S their sum
//! and m the number of drives that fail in it in the draw. Picking drive i with p_i / S, drawing its time within the
//! window and all others naturally, has m / S times the natural density. One window ends with the repair that begins;
//! a second one with the first of all repairs in progress, because a loss needs the drives that are missing now. An
//! event of a common cause is forced in the same way, with each cause equally likely: of C causes, each that occurs
//! within the window contributes 1 / (C p_c). So if shares a_j are forced, the weight is divided by the sum of a_j
//! times these terms, plus the natural share.
//!
//! The rest are single choices with a probability of their own: a bad batch, a good drive that is pulled by mistake,
//! the number of drives that a common cause takes. Each is drawn with a higher probability, and the weight is
//! multiplied by the ratio of the natural one to it.
use super::{Array, Phase};
use crate::law::uniform;
use drivelab_core::rng::Stream;
use libm::{expm1, log1p, pow};

/// The largest share of histories that are forced in one window; the weight of the others increases accordingly.
const FORCED: f64 = 0.8;
/// The same if there are common causes, which can cause a loss without overlapping repairs.
const FORCED_BESIDE_CAUSES: f64 = 0.4;
/// The share of common causes in the forced events, if there are any.
const OF_CAUSES: f64 = 0.25;
/// The share of the second window in the forced failures.
const OF_SOONEST: f64 = 0.6;
/// The probability with which a rare choice is drawn over a whole life.
const CHOSEN: f64 = 0.2;

/// A window in which a failure of a drive is forced.
#[derive(Clone, Copy)]
struct Window {
    /// The share of all histories.
    share: f64,
    end: f64,
    /// The sum of the failure probabilities of all live drives in the window.
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
            self.now + about.repair.replacement().mean() + self.plan.rebuild_mean(1)
        } else {
            self.next[drive]
        };
        let failures = self.failures();
        let first = self.all_missing == 1;
        self.force(end.min(self.way.life), failures, !first, stream);
    }

    /// The approximate number of failures in a life.
    fn failures(&self) -> f64 {
        let aged = self.way.life.max(1.0) * self.ageing.max(1.0);
        self.next.len() as f64 * self.plan.about.drive.hazard(aged).min(1e6)
    }

    /// Draws the lives of all live drives and the common causes anew; in a share of the histories one of them is
    /// forced before `end`.
    ///
    /// The share decreases with the number of such windows in a life, `windows`, or of those that occur within
    /// another one (`deep`): with forcing every time, the weights would diverge.
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

    /// The windows: until the end of the repair that begins now, and, if others are in progress, until the end of the
    /// first of all.
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

    /// The age of a drive at an instant, including the ageing factor.
    fn age(&self, drive: usize, at: f64) -> f64 {
        (at - self.born[drive]) * self.ageing
    }

    /// The probability that a drive fails between now and `end`.
    fn chance_until(&self, drive: usize, end: f64) -> f64 {
        match self.phase[drive] {
            Phase::Live => self.plan.about.drive.chance(self.age(drive, self.now), self.age(drive, end)),
            _ => 0.0,
        }
    }

    fn sum_until(&self, end: f64) -> f64 {
        (0..self.next.len()).map(|drive| self.chance_until(drive, end)).sum()
    }

    /// The number of live drives that fail until `end`.
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
        // Keeps the time within the window despite rounding.
        self.next[drive] = (self.born[drive] + age / self.ageing).min(window.end);
    }

    /// Draws the next event of each common cause anew, and returns the probability of each to occur before `end`.
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

    /// The time of the next event of a cause, given that it occurs in a window where its probability is `chance`.
    fn cause_within(&self, which: usize, chance: f64, stream: &mut Stream) -> f64 {
        self.now - self.plan.about.common[which].mean_hours * log1p(-uniform(stream) * chance)
    }

    /// Draws whether an event with this probability occurs: more often than natural if it is rare.
    pub(super) fn chosen(&mut self, chance: f64, times: f64, stream: &mut Stream) -> bool {
        if !self.way.biased || chance == 0.0 {
            return chance > 0.0 && uniform(stream) < chance;
        }
        let drawn = chance.max(CHOSEN / (1.0 + times));
        let happens = uniform(stream) < drawn;
        self.weight *= if happens { chance / drawn } else { (1.0 - chance) / (1.0 - drawn) };
        happens
    }

    /// The same for a mistake that any replacement may make.
    pub(super) fn mistaken(&mut self, chance: f64, stream: &mut Stream) -> bool {
        let times = if self.way.biased { self.failures() } else { 0.0 };
        self.chosen(chance, times, stream)
    }

    /// The drives that an event of a common cause takes.
    pub(super) fn failed_drives(&mut self, which: usize, stream: &mut Stream) -> Vec<usize> {
        let common = &self.plan.about.common[which];
        let live: Vec<usize> =
            (0..self.next.len()).filter(|&drive| self.phase[drive] == Phase::Live).collect();
        // The share that takes as many drives as a loss needs.
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
