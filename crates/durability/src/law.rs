//! Distributions of times in hours, drawn by inversion of the cumulative hazard, so that a time can be drawn on the
//! condition that it is above an age, or between two ages.
use drivelab_core::rng::Stream;
use libm::{exp, expm1, log, log1p, pow, tgamma};
use serde::{Deserialize, Serialize};

/// The distribution of a time. All times are in hours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Law {
    /// Constant hazard.
    Exponential { mean_hours: f64 },
    /// Three parameters: no event before `location_hours`, then a decreasing (`shape` < 1) or increasing (> 1)
    /// hazard.
    Weibull {
        shape: f64,
        scale_hours: f64,
        #[serde(default)]
        location_hours: f64,
    },
    /// A constant time.
    Fixed { hours: f64 },
    /// Uniform between two times, such as the remaining time of a periodic scrub of a whole drive.
    Uniform { low_hours: f64, high_hours: f64 },
    /// A survival table: (age in hours, share that still works); constant hazard between its rows, and after the last
    /// row that of the last interval.
    Survival { points: Vec<(f64, f64)> },
}

/// A uniform random number between zero and one, both exclusive.
#[inline]
pub fn uniform(stream: &mut Stream) -> f64 {
    ((stream.bits() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
}

impl Law {
    /// The same law in its simplest form: a Weibull law of shape 1 without location is exponential.
    pub fn simplest(self) -> Self {
        match self {
            Law::Weibull { shape, scale_hours, location_hours } if shape == 1.0 && location_hours == 0.0 => {
                Law::Exponential { mean_hours: scale_hours }
            }
            Law::Uniform { low_hours, high_hours } if low_hours == high_hours => {
                Law::Fixed { hours: low_hours }
            }
            other => other,
        }
    }

    /// The mean of an exponential law; `None` for other laws.
    pub fn exponential(&self) -> Option<f64> {
        match self {
            Law::Exponential { mean_hours } => Some(*mean_hours),
            _ => None,
        }
    }

    /// Whether the time is always zero.
    pub fn is_zero(&self) -> bool {
        matches!(self, Law::Fixed { hours } if *hours == 0.0)
    }

    /// The mean in hours.
    pub fn mean(&self) -> f64 {
        match self {
            Law::Exponential { mean_hours } => *mean_hours,
            Law::Weibull { shape, scale_hours, location_hours } => {
                location_hours + scale_hours * tgamma(1.0 + 1.0 / shape)
            }
            Law::Fixed { hours } => *hours,
            Law::Uniform { low_hours, high_hours } => 0.5 * (low_hours + high_hours),
            Law::Survival { points } => survival_mean(points),
        }
    }

    /// The law with all times multiplied by a factor.
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Law::Exponential { mean_hours } => Law::Exponential { mean_hours: mean_hours * factor },
            Law::Weibull { shape, scale_hours, location_hours } => Law::Weibull {
                shape: *shape,
                scale_hours: scale_hours * factor,
                location_hours: location_hours * factor,
            },
            Law::Fixed { hours } => Law::Fixed { hours: hours * factor },
            Law::Uniform { low_hours, high_hours } => {
                Law::Uniform { low_hours: low_hours * factor, high_hours: high_hours * factor }
            }
            Law::Survival { points } => {
                Law::Survival { points: points.iter().map(|(age, share)| (age * factor, *share)).collect() }
            }
        }
    }

    /// The cumulative hazard up to an age: minus the logarithm of the share that survives to it.
    pub fn hazard(&self, age: f64) -> f64 {
        match self {
            Law::Exponential { mean_hours } => age / mean_hours,
            Law::Weibull { shape, scale_hours, location_hours } => {
                if age <= *location_hours {
                    0.0
                } else {
                    pow((age - location_hours) / scale_hours, *shape)
                }
            }
            Law::Fixed { hours } => {
                if age < *hours {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
            Law::Uniform { low_hours, high_hours } => {
                -log1p(-((age - low_hours) / (high_hours - low_hours)).clamp(0.0, 1.0))
            }
            Law::Survival { points } => {
                let (from, to) = bracket(points, |point| point.0 < age);
                hazard_of(from) + (age - from.0) * slope(from, to)
            }
        }
    }

    /// The age with this cumulative hazard.
    pub fn age(&self, hazard: f64) -> f64 {
        match self {
            Law::Exponential { mean_hours } => hazard * mean_hours,
            Law::Weibull { shape, scale_hours, location_hours } => {
                location_hours + scale_hours * pow(hazard, 1.0 / shape)
            }
            Law::Fixed { hours } => *hours,
            Law::Uniform { low_hours, high_hours } => low_hours - (high_hours - low_hours) * expm1(-hazard),
            Law::Survival { points } => {
                let (from, to) = bracket(points, |point| hazard_of(*point) < hazard);
                let slope = slope(from, to);
                if slope > 0.0 { from.0 + (hazard - hazard_of(from)) / slope } else { f64::INFINITY }
            }
        }
    }

    /// Draws a time.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Law::Fixed { hours } => *hours,
            _ => self.age(-log(uniform(stream))),
        }
    }

    /// Draws the age at the end of a time, on the condition that it is above `age`; infinite if it is above `last`.
    #[inline]
    pub fn draw_after(&self, age: f64, last: f64, stream: &mut Stream) -> f64 {
        let before = self.hazard(age);
        let drawn = uniform(stream);
        // Avoids the logarithm for the many draws beyond `last`.
        if drawn < exp(before - self.hazard(last)) {
            return f64::INFINITY;
        }
        self.age(before - log(drawn)).max(age)
    }

    /// The probability of an end between two ages, on the condition that the first was reached.
    pub fn chance(&self, from: f64, to: f64) -> f64 {
        -expm1(self.hazard(from) - self.hazard(to))
    }

    /// Draws an end between two ages; `chance` is its probability.
    pub fn draw_between(&self, from: f64, to: f64, chance: f64, stream: &mut Stream) -> f64 {
        let drawn = uniform(stream);
        self.age(self.hazard(from) - log1p(-drawn * chance)).clamp(from, to)
    }
}

fn hazard_of(point: (f64, f64)) -> f64 {
    -log(point.1)
}

fn slope(from: (f64, f64), to: (f64, f64)) -> f64 {
    (hazard_of(to) - hazard_of(from)) / (to.0 - from.0)
}

/// The two rows around a value: the last row for which `before` holds and the next one; beyond the end the last two
/// rows.
fn bracket(points: &[(f64, f64)], before: impl Fn(&(f64, f64)) -> bool) -> ((f64, f64), (f64, f64)) {
    let next = points.partition_point(before).min(points.len() - 1);
    let from = if next == 0 { (0.0, 1.0) } else { points[next - 1] };
    (from, points[next])
}

fn survival_mean(points: &[(f64, f64)]) -> f64 {
    let mut from = (0.0, 1.0);
    let (mut sum, mut last) = (0.0, 0.0);
    for &to in points {
        last = slope(from, to);
        sum += if last > 0.0 { (from.1 - to.1) / last } else { (to.0 - from.0) * from.1 };
        from = to;
    }
    sum + if last > 0.0 { from.1 / last } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws() -> Vec<Law> {
        vec![
            Law::Exponential { mean_hours: 5e5 },
            Law::Weibull { shape: 1.12, scale_hours: 461_386.0, location_hours: 0.0 },
            Law::Weibull { shape: 2.0, scale_hours: 12.0, location_hours: 6.0 },
            Law::Survival { points: vec![(8760.0, 0.97), (17_520.0, 0.96), (43_800.0, 0.85)] },
            Law::Uniform { low_hours: 2.0, high_hours: 9.0 },
        ]
    }

    #[test]
    fn the_age_at_a_hazard_inverts_the_hazard() {
        for law in laws() {
            for hazard in [1e-6, 0.01, 0.05, 0.7, 3.0] {
                let back = law.hazard(law.age(hazard));
                assert!((back / hazard - 1.0).abs() < 1e-6, "{law:?} {hazard} {back}");
            }
        }
    }

    #[test]
    fn draws_have_the_mean_of_their_law() {
        for law in laws() {
            let mut stream = Stream::named(3, "mean");
            let n = 200_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..n {
                let x = law.draw(&mut stream);
                sum += x;
                squares += x * x;
            }
            let mean = sum / f64::from(n);
            let error = ((squares / f64::from(n) - mean * mean) / f64::from(n)).sqrt();
            assert!((mean - law.mean()).abs() < 4.0 * error, "{law:?}: {mean} {} {error}", law.mean());
        }
    }

    #[test]
    fn what_is_drawn_under_a_condition_keeps_to_it() {
        for law in laws() {
            let mut stream = Stream::named(4, "condition");
            let (from, to) = (law.age(0.2), law.age(0.4));
            let chance = law.chance(from, to);
            assert!((chance - (1.0 - exp(-0.2))).abs() < 1e-9, "{law:?} {chance}");
            let hits = (0..100_000).filter(|_| law.draw_after(from, to, &mut stream) <= to).count();
            assert!((hits as f64 - 1e5 * chance).abs() < 4.0 * (1e5 * chance * (1.0 - chance)).sqrt());
            for _ in 0..1000 {
                let age = law.draw_between(from, to, chance, &mut stream);
                assert!((from..=to).contains(&age), "{law:?} {age}");
            }
        }
    }
}
