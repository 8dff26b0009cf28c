//! Points and lengths of time, both an integer count of nanoseconds.
use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A point of time: nanoseconds since the start of the run. Whether that is virtual or real time is decided
/// by the driver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Instant(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span(u64);

impl Instant {
    pub const ZERO: Instant = Instant(0);

    pub const fn from_ns(ns: u64) -> Self {
        Instant(ns)
    }

    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`; zero when `earlier` is the later of the two.
    pub const fn since(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    pub const ZERO: Span = Span(0);

    pub const fn from_ns(ns: u64) -> Self {
        Span(ns)
    }

    pub const fn from_us(us: u64) -> Self {
        Span(us * 1_000)
    }

    pub const fn from_ms(ms: u64) -> Self {
        Span(ms * 1_000_000)
    }

    pub const fn from_s(s: u64) -> Self {
        Span(s * 1_000_000_000)
    }

    pub const fn as_ns(self) -> u64 {
        self.0
    }

    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Span> for Instant {
    type Output = Instant;
    fn add(self, span: Span) -> Instant {
        Instant(self.0 + span.0)
    }
}

impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub for Instant {
    type Output = Span;
    /// The time between two instants. `self` must not be the earlier one.
    fn sub(self, earlier: Instant) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl fmt::Display for Span {
    /// Prints the span exactly in the largest unit that needs at most three decimals, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0..=999 => return write!(f, "{}ns", self.0),
            1_000..=999_999 => (1_000, "us"),
            1_000_000..=999_999_999 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        let (whole, thousandths) = (self.0 / unit, self.0 % unit / (unit / 1_000));
        if thousandths == 0 {
            return write!(f, "{whole}{name}");
        }
        let (mut digits, mut rest) = (3, thousandths);
        while rest.is_multiple_of(10) {
            rest /= 10;
            digits -= 1;
        }
        write!(f, "{whole}.{rest:0digits$}{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn spans_print_in_the_unit_a_person_expects() {
        for (ns, text) in [
            (0, "0ns"),
            (999, "999ns"),
            (1_500, "1.5us"),
            (8_500_000, "8.5ms"),
            (8_333_333, "8.333ms"),
            (8_050_000, "8.05ms"),
            (10_000_000_000, "10s"),
        ] {
            assert_eq!(Span::from_ns(ns).to_string(), text);
        }
    }

    #[test]
    fn since_saturates_and_minus_does_not() {
        let (a, b) = (Instant::from_ns(5), Instant::from_ns(9));
        assert_eq!(b - a, Span::from_ns(4));
        assert_eq!(a.since(b), Span::ZERO);
        assert!(std::panic::catch_unwind(|| a - b).is_err());
    }
}
