//! When a device is steady: the rates of the last rounds lie close together and show no trend.
//!
//! The criterion of SNIA's performance test specification (PTS 2.0.2, section 9.1): over five rounds no rate
//! deviates from their mean by more than 10 % (the range is within 20 % of it), and the best straight-line
//! fit through them rises or falls by at most 10 % of it.
use drivelab_units::{Instant, Span};
use serde::Serialize;

pub const ROUNDS: usize = 5;
const RANGE_MAX: f64 = 0.2;
const SLOPE_MAX: f64 = 0.1;

/// The wait for a steady device before the window begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steady {
    /// The length of a round.
    pub round: Span,
    /// Maximum number of rounds; the window begins after them in any case.
    pub rounds_max: u32,
}

/// The result of the wait.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SteadyRecord {
    pub criterion: &'static str,
    pub reached: bool,
    pub round_ns: u64,
    /// The I/Os per second of each round.
    pub rounds_iops: Vec<f64>,
}

/// The rounds so far.
pub struct Rounds {
    options: Steady,
    ends: Instant,
    ios: u64,
    rates: Vec<f64>,
}

impl Rounds {
    /// The first round begins at `start`.
    pub fn new(options: Steady, start: Instant) -> Self {
        Rounds {
            options,
            ends: start + options.round,
            ios: 0,
            rates: Vec::with_capacity(options.rounds_max as usize),
        }
    }

    #[inline]
    pub fn finished(&mut self) {
        self.ios += 1;
    }

    /// Whether the window may begin.
    #[inline]
    pub fn passes(&mut self, now: Instant) -> bool {
        if now < self.ends {
            return false;
        }
        let length = (self.options.round + now.since(self.ends)).as_ns().max(1);
        self.rates.push(self.ios as f64 * 1e9 / length as f64);
        (self.ios, self.ends) = (0, now + self.options.round);
        is_steady(&self.rates) || self.rates.len() >= self.options.rounds_max as usize
    }

    pub fn record(&self) -> SteadyRecord {
        SteadyRecord {
            criterion: "five rounds within 20 % of their mean, and their trend within 10 % of it (SNIA PTS)",
            reached: is_steady(&self.rates),
            round_ns: self.options.round.as_ns(),
            rounds_iops: self.rates.clone(),
        }
    }
}

fn is_steady(rates: &[f64]) -> bool {
    let Some(last) = rates.last_chunk::<ROUNDS>() else { return false };
    let count = ROUNDS as f64;
    let mean = last.iter().sum::<f64>() / count;
    let (least, most) =
        last.iter().fold((f64::MAX, f64::MIN), |(least, most), &rate| (least.min(rate), most.max(rate)));
    let middle = (count - 1.0) / 2.0;
    let squares: f64 = (0..ROUNDS).map(|x| (x as f64 - middle) * (x as f64 - middle)).sum();
    let slope = last.iter().enumerate().map(|(x, rate)| (x as f64 - middle) * rate).sum::<f64>() / squares;
    mean > 0.0 && most - least <= RANGE_MAX * mean && (slope * (count - 1.0)).abs() <= SLOPE_MAX * mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_is_close_together_and_without_a_trend() {
        assert!(is_steady(&[900.0, 100.0, 101.0, 99.0, 100.0, 100.0]));
        assert!(!is_steady(&[100.0, 100.0, 100.0, 100.0]), "too few rounds");
        assert!(!is_steady(&[100.0, 100.0, 125.0, 100.0, 100.0]), "a range of 25 %");
        assert!(!is_steady(&[94.0, 97.0, 100.0, 103.0, 106.0]), "a trend of 12 %");
        assert!(!is_steady(&[0.0; 5]), "nothing at all");
    }

    #[test]
    fn a_drive_that_never_settles_is_measured_after_the_last_round_and_the_record_says_so() {
        let options = Steady { round: Span::from_ms(1), rounds_max: 6 };
        let mut rounds = Rounds::new(options, Instant::ZERO);
        let mut at = Instant::ZERO;
        for round in 1..=6u64 {
            (0..round * 10).for_each(|_| rounds.finished());
            assert!(!rounds.passes(at + Span::from_us(999)));
            at += Span::from_ms(1);
            assert_eq!(rounds.passes(at), round == 6);
        }
        let record = rounds.record();
        assert!(!record.reached);
        assert_eq!(record.rounds_iops[5], 60_000.0);
    }
}
