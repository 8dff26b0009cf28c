//! The field of 256 elements by its definition, to hold the array's sums against.

/// The product of two polynomials over bits, modulo x^8 + x^4 + x^3 + x^2 + 1.
pub fn product(a: u8, b: u8) -> u8 {
    let bits = (0..8).filter(|bit| b >> bit & 1 == 1);
    let whole = bits.fold(0_u16, |sum, bit| sum ^ u16::from(a) << bit);
    let reduced = (8..16)
        .rev()
        .fold(whole, |rest, bit| if rest >> bit & 1 == 1 { rest ^ 0x11d << (bit - 8) } else { rest });
    reduced as u8
}
