//! Division by a number that is known beforehand: a multiplication by its reciprocal, exact for all 32-bit
//! numbers.
//!
//! Let m = floor((2^64 - 1) / d). Then floor((n + 1) m / 2^64) is floor(n / d) for all n and d of 32 bits: with n = q d +
//! s the product is (q + (s + 1) / d) (2^64 - e) for some e of 1 to d. That is below (q + 1) 2^64, because s + 1 is at
//! most d; and not below q 2^64, because e (q d + 1) is at most 2^64.

#[derive(Clone, Copy, Debug)]
pub struct Reciprocal(u64);

impl Reciprocal {
    /// # Panics
    /// When `divisor` is zero.
    pub fn of(divisor: u32) -> Self {
        Reciprocal(u64::MAX / u64::from(divisor))
    }

    /// `number / divisor`, rounded down.
    #[inline]
    pub fn quotient(self, number: u32) -> u32 {
        (((u128::from(number) + 1) * u128::from(self.0)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Small numbers, those around powers of two, and any others.
    fn numbers() -> impl Strategy<Value = u32> {
        let around = (0u32..32, -2i32..=2).prop_map(|(bit, off)| (1u32 << bit).wrapping_add_signed(off));
        prop_oneof![0u32..3_000, around, any::<u32>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn the_quotient_is_that_of_a_division(number in numbers(), divisor in numbers(), times in numbers()) {
            let divisor = divisor.max(1);
            let reciprocal = Reciprocal::of(divisor);
            // Includes the numbers where the quotient steps up.
            let step = (times % (u32::MAX / divisor).max(1)) * divisor;
            for number in [number, step, step.wrapping_sub(1), step.saturating_add(1), u32::MAX] {
                prop_assert_eq!(reciprocal.quotient(number), number / divisor, "{} / {}", number, divisor);
            }
        }
    }
}
