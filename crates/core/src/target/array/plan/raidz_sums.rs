//! How missing columns of RAID-Z come from parity and the other columns.
//!
//! Parity `k` is the sum of `g(k)^(columns - 1 - c)` times column `c` over all columns of data, with `g` = 1, 2, 4, in the
//! field of 256 elements with the polynomial 0x11d. So many parities as columns are missing give so many equations.
//! Source: OpenZFS, vdev_raidz.c; H. P. Anvin, "The mathematics of RAID-6", 2004.

/// The most columns that can be missing.
const MOST: usize = 3;

/// Which columns are missing, which parities stand in for them, and how.
#[derive(Clone, Copy, Default)]
pub struct Solved {
    missing: [usize; MOST],
    count: usize,
    parities: [usize; MOST],
    known: usize,
    /// By missing column and parity.
    inverse: [[u8; MOST]; MOST],
}

impl Solved {
    /// A column of data is missing. Whether so many can be.
    pub fn wants(&mut self, column: usize) -> bool {
        if self.count == MOST {
            return false;
        }
        self.missing[self.count] = column;
        self.count += 1;
        true
    }

    /// Whether more columns are missing than parities are read.
    pub fn is_short(&self) -> bool {
        self.known < self.count
    }

    /// A parity is read.
    pub fn has(&mut self, parity: usize) {
        self.parities[self.known] = parity;
        self.known += 1;
    }

    /// Whether a column of data comes from its member.
    pub fn has_data(&self, column: usize) -> bool {
        !self.missing[..self.count].contains(&column)
    }

    /// What a column of data is multiplied with in a parity.
    pub fn factor(parity: usize, column: usize, columns: usize) -> u8 {
        let generator = 1 << parity;
        (column + 1..columns).fold(1, |power, _| Self::times(power, generator))
    }

    /// Solves the equations, by Gauss and Jordan.
    pub fn solve(&mut self, columns: usize) {
        let n = self.count;
        let mut matrix = [[0; MOST]; MOST];
        for (row, &parity) in matrix.iter_mut().zip(&self.parities[..n]) {
            for (cell, &column) in row.iter_mut().zip(&self.missing[..n]) {
                *cell = Self::factor(parity, column, columns);
            }
        }
        self.inverse = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
        for at in 0..n {
            let pivot = (at..n).find(|&row| matrix[row][at] != 0).unwrap_or(at);
            matrix.swap(at, pivot);
            self.inverse.swap(at, pivot);
            let by = Self::inverse_of(matrix[at][at]);
            for cell in matrix[at].iter_mut().chain(&mut self.inverse[at]) {
                *cell = Self::times(*cell, by);
            }
            for row in (0..n).filter(|&row| row != at) {
                let by = matrix[row][at];
                for column in 0..n {
                    matrix[row][column] ^= Self::times(matrix[at][column], by);
                    self.inverse[row][column] ^= Self::times(self.inverse[at][column], by);
                }
            }
        }
    }

    /// What a column is multiplied with in the sum that gives a missing one; `columns` of them, `parities` first.
    pub fn share(&self, missing: usize, of: usize, parities: usize, columns: usize) -> u8 {
        let row = self.missing[..self.count].iter().position(|&column| column == missing);
        let Some(row) = row.map(|row| self.inverse[row]) else { return 0 };
        let used = self.parities[..self.known].iter().zip(row);
        if of < parities {
            return used.filter(|&(&parity, _)| parity == of).fold(0, |sum, (_, share)| sum ^ share);
        }
        if !self.has_data(of) {
            return 0;
        }
        used.fold(0, |sum, (&parity, share)| sum ^ Self::times(share, Self::factor(parity, of, columns)))
    }

    /// The product of two elements of the field.
    pub fn times(mut a: u8, mut b: u8) -> u8 {
        let mut product = 0;
        while b != 0 {
            product ^= if b & 1 == 1 { a } else { 0 };
            a = a << 1 ^ if a & 0x80 != 0 { 0x1d } else { 0 };
            b >>= 1;
        }
        product
    }

    /// The element whose product with this one is 1: its 254th power.
    fn inverse_of(a: u8) -> u8 {
        (0..253).fold(a, |power, _| Self::times(power, a))
    }
}
