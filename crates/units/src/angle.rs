//! Angles of the platter as a 32-bit share of one revolution, so that rotation past the index wraps by
//! itself.
use crate::time::Span;
use core::ops::{Add, AddAssign, Sub};

/// A share of one revolution in steps of 2^-32 (two picoseconds at 7 200 rpm). Sums wrap as a platter does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Angle(u32);

impl Angle {
    pub const ZERO: Angle = Angle(0);

    pub const fn from_turn_bits(bits: u32) -> Self {
        Angle(bits)
    }

    /// `numerator / denominator` of a revolution, rounded to the nearest step; whole revolutions are dropped.
    ///
    /// # Panics
    /// When `denominator` is zero.
    pub const fn from_ratio(numerator: u64, denominator: u64) -> Self {
        let rest = (numerator % denominator) as u128;
        Angle((((rest << 32) + denominator as u128 / 2) / denominator as u128) as u32)
    }

    pub const fn turn_bits(self) -> u32 {
        self.0
    }

    /// The time in which a platter with this period rotates by this angle, rounded down.
    pub const fn at_period(self, period: Span) -> Span {
        Span::from_ns(((self.0 as u128 * period.as_ns() as u128) >> 32) as u64)
    }

    /// This angle multiplied by `count`, modulo one revolution.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Angle(self.0.wrapping_mul(count as u32))
    }
}

impl Add for Angle {
    type Output = Angle;
    fn add(self, other: Angle) -> Angle {
        Angle(self.0.wrapping_add(other.0))
    }
}

impl AddAssign for Angle {
    fn add_assign(&mut self, other: Angle) {
        *self = *self + other;
    }
}

impl Sub for Angle {
    type Output = Angle;
    fn sub(self, other: Angle) -> Angle {
        Angle(self.0.wrapping_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_wrap_as_a_platter_does() {
        let third = Angle::from_ratio(1, 3);
        assert_eq!(Angle::from_ratio(4, 3), third);
        assert_eq!(Angle::from_ratio(3, 4) + Angle::from_ratio(1, 2), Angle::from_ratio(1, 4));
        assert_eq!(Angle::from_ratio(1, 4) - Angle::from_ratio(1, 2), Angle::from_ratio(3, 4));
        assert_eq!(Angle::from_ratio(1, 8).times(10), Angle::from_ratio(1, 4));
    }

    #[test]
    fn a_quarter_turn_takes_a_quarter_period() {
        assert_eq!(Angle::from_ratio(1, 4).at_period(Span::from_ms(6)), Span::from_us(1_500));
    }
}
