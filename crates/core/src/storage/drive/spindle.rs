//! The spindle: the angle of the platter under the head at an instant.
use core::hint::select_unpredictable;
use drivelab_units::{Instant, Span};

/// A platter that rotates once per period, from a seeded phase.
#[derive(Clone, Copy, Debug)]
pub struct Spindle {
    period: u64,
    /// Time into its revolution at instant zero.
    phase: u64,
    /// floor(2^64 / period): each computation of the angle is a multiplication instead of a division.
    reciprocal: u64,
}

impl Spindle {
    /// # Panics
    /// When `period` is below two nanoseconds.
    pub fn new(period: Span, phase: Span) -> Self {
        let period = period.as_ns();
        assert!(period > 1, "a revolution takes time");
        let reciprocal = ((1u128 << 64) / u128::from(period)) as u64;
        Spindle { period, phase: phase.as_ns() % period, reciprocal }
    }

    /// Nanoseconds of one revolution.
    #[inline]
    pub fn period(&self) -> u64 {
        self.period
    }

    /// Nanoseconds since slot 0 of an unskewed track passed the head: (t + phase) mod T.
    #[inline]
    pub fn turned(&self, at: Instant) -> u64 {
        let t = at.as_ns() + self.phase;
        let quotient = ((u128::from(t) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = t - quotient * self.period;
        // The rounded-down reciprocal leaves the quotient at most one short.
        if rest >= self.period { rest - self.period } else { rest }
    }

    /// From `at` until the platter has turned to `target` (below one period).
    #[inline]
    pub fn until(&self, at: Instant, target: u64) -> u64 {
        let turned = self.turned(at);
        // Which case it is is unpredictable: no branch.
        target + select_unpredictable(target < turned, self.period, 0) - turned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_angle_is_the_exact_remainder(period in 2u64..1 << 33, phase in 0u64..1 << 40, t in 0u64..1 << 62) {
            let spindle = Spindle::new(Span::from_ns(period), Span::from_ns(phase));
            prop_assert_eq!(spindle.turned(Instant::from_ns(t)), (t + phase % period) % period);
        }

        #[test]
        fn waiting_ends_at_the_target(period in 2u64..1 << 33, phase in 0u64..1 << 33, t in 0u64..1 << 50, target in 0u64..1 << 33) {
            let spindle = Spindle::new(Span::from_ns(period), Span::from_ns(phase));
            let target = target % period;
            let wait = spindle.until(Instant::from_ns(t), target);
            prop_assert!(wait < period);
            prop_assert_eq!(spindle.turned(Instant::from_ns(t + wait)), target);
        }
    }
}
