//! Rates: bytes per second, events per second, revolutions per minute, and shares of a whole.
use crate::data::Bytes;
use crate::time::Span;

/// A data rate in bytes per second; never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(u64);

impl Rate {
    /// `None` for a rate of zero.
    pub const fn from_bytes_per_s(rate: u64) -> Option<Self> {
        if rate == 0 { None } else { Some(Rate(rate)) }
    }

    pub const fn bytes_per_s(self) -> u64 {
        self.0
    }

    /// The time that `amount` takes at this rate, rounded up.
    #[inline]
    pub const fn time_for(self, amount: Bytes) -> Span {
        // 64-bit division is several times faster, and nearly every transfer fits.
        match amount.get().checked_mul(1_000_000_000) {
            Some(scaled) => Span::from_ns(scaled.div_ceil(self.0)),
            None => {
                let scaled = amount.get() as u128 * 1_000_000_000;
                Span::from_ns(scaled.div_ceil(self.0 as u128) as u64)
            }
        }
    }
}

/// Events per second in steps of one thousandth; never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frequency(u64);

impl Frequency {
    /// From thousandths of an event per second; `None` for zero.
    pub const fn from_millihertz(millihertz: u64) -> Option<Self> {
        if millihertz == 0 { None } else { Some(Frequency(millihertz)) }
    }

    pub const fn millihertz(self) -> u64 {
        self.0
    }

    /// The mean time between two events, to the nearest nanosecond.
    pub const fn interval(self) -> Span {
        Span::from_ns((1_000_000_000_000 + self.0 / 2) / self.0)
    }
}

/// Revolutions per minute in steps of one thousandth; never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rpm(u64);

impl Rpm {
    /// From thousandths of a revolution per minute; `None` for zero.
    pub const fn from_milli(milli: u64) -> Option<Self> {
        if milli == 0 { None } else { Some(Rpm(milli)) }
    }

    pub const fn milli(self) -> u64 {
        self.0
    }

    /// The time of one revolution, to the nearest nanosecond (an error below 0.06 ppm at 7 200 rpm).
    pub const fn period(self) -> Span {
        Span::from_ns((60_000_000_000_000 + self.0 / 2) / self.0)
    }
}

/// A share of a whole, from none to all, in steps of 2^-32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Share(u64);

impl Share {
    pub const NONE: Share = Share(0);
    pub const ALL: Share = Share(1 << 32);

    /// `numerator / denominator`, or `None` if that is not a share (zero denominator, or above one).
    pub const fn from_ratio(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 || numerator > denominator {
            return None;
        }
        Some(Share((((numerator as u128) << 32) / denominator as u128) as u64))
    }

    /// The share in steps of 2^-32: a uniform 32-bit draw is below this number with this probability.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// This share of `count`, rounded down.
    #[inline(always)]
    pub const fn of(self, count: u64) -> u64 {
        ((count as u128 * self.0 as u128) >> 32) as u64
    }

    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_of_common_spindles() {
        for (rpm, ns) in [(7_200, 8_333_333), (10_000, 6_000_000), (15_000, 4_000_000), (5_400, 11_111_111)] {
            assert_eq!(Rpm::from_milli(rpm * 1_000).unwrap().period(), Span::from_ns(ns));
        }
    }

    #[test]
    fn transfer_time_rounds_up() {
        let rate = Rate::from_bytes_per_s(300_000_000).unwrap();
        assert_eq!(rate.time_for(Bytes::new(4096)), Span::from_ns(13_654));
        assert_eq!(rate.time_for(Bytes::ZERO), Span::ZERO);
    }

    #[test]
    fn shares_are_exact_at_the_ends() {
        assert_eq!(Share::from_ratio(1, 1), Some(Share::ALL));
        assert_eq!(Share::from_ratio(0, 7), Some(Share::NONE));
        assert_eq!(Share::from_ratio(8, 7), None);
        assert_eq!(Share::from_ratio(0, 0), None);
        assert_eq!((Share::ALL.of(u64::MAX), Share::NONE.of(u64::MAX)), (u64::MAX, 0));
        assert_eq!(Share::from_ratio(1, 4).map(|quarter| quarter.of(4_003)), Some(1_000));
    }
}
