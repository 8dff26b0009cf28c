//! Estimates with their intervals. A run without a loss gives an upper bound instead of zero.
use libm::{exp, log};
use serde::Serialize;

/// The confidence of every interval and bound.
pub const CONFIDENCE: f64 = 0.95;

/// An estimate with its interval. `value` is `None` if no loss was observed, and `high` is then an upper bound; also
/// where an exact value is outside what is given, below `high` (a chance) or above `low` (a time).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub value: Option<f64>,
    pub low: f64,
    pub high: f64,
    /// The standard error; 0 if the value is exact up to rounding.
    pub error: f64,
}

/// Sums over independent samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    pub count: f64,
    pub sum: f64,
    pub squares: f64,
    /// Samples that are above zero.
    pub hits: f64,
    /// Whether any sample is neither zero nor one.
    pub fractions: bool,
}

impl Moments {
    #[inline]
    pub fn take(&mut self, sample: f64) {
        self.count += 1.0;
        if sample != 0.0 {
            self.sum += sample;
            self.squares += sample * sample;
            self.hits += 1.0;
            self.fractions |= sample != 1.0;
        }
    }

    pub fn merge(&mut self, other: &Moments) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        self.hits += other.hits;
        self.fractions |= other.fractions;
    }

    pub fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// The standard error of the mean.
    pub fn error(&self) -> f64 {
        let variance =
            (self.squares - self.sum * self.sum / self.count).max(0.0) / (self.count - 1.0).max(1.0);
        (variance / self.count).sqrt()
    }

    /// The mean with its interval. Counts below 100 have their exact Poisson interval; other samples have Student's
    /// interval, whose degrees of freedom are those of the samples above zero.
    pub fn estimate(&self) -> Estimate {
        if self.hits == 0.0 {
            // All samples are zero: the bound of a probability is 1 - 0.05^(1/n).
            let high = -libm::expm1(log(1.0 - CONFIDENCE) / self.count);
            return Estimate { value: None, low: 0.0, high, error: high };
        }
        let (mean, error) = (self.mean(), self.error());
        if !self.fractions && self.hits < 100.0 {
            let (low, high) = poisson_interval(self.hits as u32);
            let high = (high / self.count).min(1.0);
            return Estimate { value: Some(mean), low: low / self.count, high, error };
        }
        let far = student(self.hits - 1.0) * error;
        Estimate { value: Some(mean), low: (mean - far).max(0.0), high: mean + far, error }
    }
}

impl Estimate {
    /// A value without statistical error.
    pub fn exact(value: f64) -> Self {
        Estimate { value: Some(value), low: value, high: value, error: 0.0 }
    }

    /// A value without statistical error if it is not below `least`; otherwise the bound.
    pub fn exact_from(least: f64, value: f64) -> Self {
        if value >= least {
            return Estimate::exact(value);
        }
        Estimate { value: None, low: 0.0, high: least, error: 0.0 }
    }

    /// A value without statistical error if it is not above `most`; otherwise the bound.
    pub fn exact_to(most: f64, value: f64) -> Self {
        if value <= most {
            return Estimate::exact(value);
        }
        Estimate { value: None, low: most, high: f64::MAX, error: 0.0 }
    }

    /// The larger half-width of the interval divided by the value; infinite without a value.
    pub fn relative(&self) -> f64 {
        match self.value {
            Some(value) if value > 0.0 => (self.high - value).max(value - self.low) / value,
            _ => f64::INFINITY,
        }
    }

    /// The estimate multiplied by a factor.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        Estimate {
            value: self.value.map(|value| value * factor),
            low: self.low * factor,
            high: self.high * factor,
            error: self.error * factor,
        }
    }

    /// The estimate with the smallest interval that contains both.
    #[must_use]
    pub fn over(&self, other: &Estimate) -> Self {
        Estimate { low: self.low.min(other.low), high: self.high.max(other.high), ..*self }
    }
}

/// The 97.5 % point of Student's distribution: Cornish and Fisher's expansion, exact within 0.3 % from 4 degrees on.
pub fn student(freedom: f64) -> f64 {
    const EXACT: [f64; 4] = [12.706, 4.303, 3.182, 2.776];
    if freedom < 1.0 {
        return EXACT[0];
    }
    if freedom <= 4.0 {
        return EXACT[freedom as usize - 1];
    }
    let z = 1.959_964_f64;
    let (z3, z5) = (z * z * z, z * z * z * z * z);
    let second = (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0;
    let third = (3.0 * z5 * z * z + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0;
    z + (z3 + z) / (4.0 * freedom) + second / (freedom * freedom) + third / (freedom * freedom * freedom)
}

/// The exact two-sided 95 % interval of a Poisson mean for a count.
pub fn poisson_interval(count: u32) -> (f64, f64) {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let below = |mean: f64, last: u32| {
        let (mut term, mut sum) = (exp(-mean), 0.0);
        for k in 0..=last {
            sum += term;
            term *= mean / f64::from(k + 1);
        }
        sum
    };
    let low = bisect(|mean| 1.0 - below(mean, count - 1) < tail, f64::from(count));
    let high = bisect(|mean| below(mean, count) > tail, 2.0 * f64::from(count) + 20.0);
    (low, high)
}

/// The largest mean for which a condition holds, by bisection.
fn bisect(holds: impl Fn(f64) -> bool, last: f64) -> f64 {
    let (mut low, mut high) = (0.0, last);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Garwood's interval of a Poisson mean.
        for (count, low, high) in
            [(1, 0.025_318, 5.571_643), (3, 0.618_672, 8.767_273), (10, 4.795_389, 18.390_356)]
        {
            let found = poisson_interval(count);
            assert!((found.0 - low).abs() < 1e-5 && (found.1 - high).abs() < 1e-5, "{found:?}");
        }
        for (freedom, point) in [(1.0, 12.706), (5.0, 2.571), (10.0, 2.228), (30.0, 2.042), (1e6, 1.960)] {
            assert!((student(freedom) / point - 1.0).abs() < 0.004, "{freedom} {}", student(freedom));
        }
    }

    #[test]
    fn nothing_seen_is_a_bound_and_no_zero() {
        let mut none = Moments::default();
        for _ in 0..1000 {
            none.take(0.0);
        }
        let found = none.estimate();
        assert_eq!(found.value, None);
        // 3 / n, nearly.
        assert!((found.high - 0.002_991).abs() < 1e-6, "{found:?}");
    }
}
