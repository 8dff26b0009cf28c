//! The field of 256 elements that the second and third parity are computed in: bytes as polynomials over bits, modulo
//! x^8 + x^4 + x^3 + x^2 + 1 (0x11d), with the generator 2. Addition is exclusive or.
//!
//! A row's parities are `P = sum D_i`, `Q = sum 2^i D_i` and `R = sum 4^i D_i`, with the indices `i` of
//! [`Rows::index_of`](super::Rows::index_of). Any three of its units can be computed from the others while there
//! are at most 255 data units. Source: H. P. Anvin, The mathematics of RAID-6, 2004, as in the Linux kernel, lib/raid6.

/// Powers of the generator, two periods.
const POWERS: [u8; 510] = powers();
const LOGS: [u8; 256] = logs();

const fn powers() -> [u8; 510] {
    let mut table = [0; 510];
    let (mut power, mut at) = (1u16, 0);
    while at < 510 {
        table[at] = power as u8;
        power <<= 1;
        if power & 0x100 != 0 {
            power ^= 0x11d;
        }
        at += 1;
    }
    table
}

const fn logs() -> [u8; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 255 {
        table[POWERS[at] as usize] = at as u8;
        at += 1;
    }
    table
}

/// The product in the field.
#[inline]
pub fn mul(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    POWERS[usize::from(LOGS[usize::from(a)]) + usize::from(LOGS[usize::from(b)])]
}

/// The multiplicative inverse of `a`, which is not 0.
pub fn inverse(a: u8) -> u8 {
    POWERS[255 - usize::from(LOGS[usize::from(a)])]
}

/// The factor of a data unit in a parity: `2^(which * index)`.
pub fn factor(which: u8, index: u32) -> u8 {
    POWERS[usize::from(which) * (index as usize % 255) % 255]
}

/// The most units of a row that can be reconstructed.
pub const MOST: usize = 3;

/// The matrix that gives missing data units from as many parities: missing unit i is the sum over j of
/// `solved[i][j]` times parity j of those given, after the readable data units' share of that parity has been
/// subtracted.
pub fn solve(missing: &[u32], parities: &[u8]) -> [[u8; MOST]; MOST] {
    let count = missing.len();
    let mut left = [[0; MOST]; MOST];
    let mut right = [[0; MOST]; MOST];
    for (line, &which) in parities[..count].iter().enumerate() {
        right[line][line] = 1;
        for (cell, &index) in left[line].iter_mut().zip(missing) {
            *cell = factor(which, index);
        }
    }
    // Gauss-Jordan elimination. Every square submatrix is invertible, so there is always a pivot.
    for at in 0..count {
        let pivot = (at..count).find(|&line| left[line][at] != 0).unwrap_or(at);
        left.swap(at, pivot);
        right.swap(at, pivot);
        let scale = inverse(left[at][at]);
        for side in [&mut left, &mut right] {
            side[at].iter_mut().for_each(|cell| *cell = mul(*cell, scale));
        }
        for line in (0..count).filter(|&line| line != at) {
            let times = left[line][at];
            for side in [&mut left, &mut right] {
                let from = side[at];
                side[line].iter_mut().zip(from).for_each(|(cell, from)| *cell ^= mul(times, from));
            }
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplication by its definition.
    fn plain(a: u8, b: u8) -> u8 {
        let (mut sum, mut term) = (0u16, u16::from(a));
        for bit in 0..8 {
            if b >> bit & 1 == 1 {
                sum ^= term;
            }
            term <<= 1;
            if term & 0x100 != 0 {
                term ^= 0x11d;
            }
        }
        sum as u8
    }

    #[test]
    fn tables_multiply_and_divide() {
        for a in 0..=255 {
            for b in 0..=255 {
                assert_eq!(mul(a, b), plain(a, b), "{a} {b}");
            }
            if a != 0 {
                assert_eq!(mul(a, inverse(a)), 1, "{a}");
            }
        }
        // Every element but 0 is a power of the generator.
        let mut seen = [false; 256];
        POWERS[..255].iter().for_each(|&power| seen[usize::from(power)] = true);
        assert_eq!(seen.iter().filter(|&&seen| seen).count(), 255);
    }

    #[test]
    fn any_units_up_to_the_parities_can_be_computed() {
        const COLUMNS: u32 = 255;
        let data: [u8; COLUMNS as usize] = core::array::from_fn(|at| (at * 73 + 5) as u8);
        let sum = |which: u8, skip: &[u32]| {
            (0..COLUMNS)
                .filter(|index| !skip.contains(index))
                .fold(0, |sum, index| sum ^ mul(factor(which, index), data[index as usize]))
        };
        let check = |missing: &[u32], parities: &[u8]| {
            let solved = solve(missing, parities);
            for (&index, factors) in missing.iter().zip(solved) {
                let computed = parities.iter().zip(factors).fold(0, |value, (&which, factor)| {
                    value ^ mul(factor, sum(which, &[]) ^ sum(which, missing))
                });
                assert_eq!(computed, data[index as usize], "{missing:?} of {parities:?}");
            }
        };
        for a in 0..COLUMNS {
            for which in 0..3 {
                check(&[a], &[which]);
            }
        }
        for (a, b) in [(0, 1), (0, 254), (7, 92), (84, 169), (85, 170), (253, 254)] {
            for parities in [[0, 1], [0, 2], [1, 2]] {
                check(&[a, b], &parities);
            }
            for c in [2, 100, 200, 252] {
                check(&[a, b, c], &[0, 1, 2]);
            }
        }
    }
}
