//! How missing columns of RAID-Z are computed from parity and the other columns.
//!
//! Parity `k` is the sum of `g(k)^(columns - 1 - c)` times column `c` over all columns of data, with `g` = 1,
//! 2, 4, in the field of 256 elements. As many parities as columns are missing give as many equations.
//! Source: OpenZFS, vdev_raidz.c.
use super::super::gf;

/// Which columns are missing, which parities stand in for them, and how.
#[derive(Clone, Copy, Default)]
pub struct Solved {
    missing: [usize; gf::MOST],
    count: usize,
    parities: [u8; gf::MOST],
    known: usize,
    /// By missing column and parity.
    inverse: [[u8; gf::MOST]; gf::MOST],
}

impl Solved {
    /// Adds a missing column of data. Returns whether that many can be computed.
    pub fn add_missing(&mut self, column: usize) -> bool {
        if self.count == gf::MOST {
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

    /// Adds a parity that is read.
    pub fn add_parity(&mut self, parity: usize) {
        self.parities[self.known] = parity as u8;
        self.known += 1;
    }

    /// Whether a column of data is read from its member.
    pub fn has_data(&self, column: usize) -> bool {
        !self.missing[..self.count].contains(&column)
    }

    /// The factor of a column of data in a parity.
    pub fn factor(parity: usize, column: usize, columns: usize) -> u8 {
        gf::factor(parity as u8, (columns - 1 - column) as u32)
    }

    /// Solves the equations, once enough parities are read.
    pub fn solve(&mut self, columns: usize) {
        let indices = self.missing.map(|column| (columns - 1 - column.min(columns - 1)) as u32);
        self.inverse = gf::solve(&indices[..self.count], &self.parities[..self.known]);
    }

    /// The factor of a column in the sum that gives a missing one; `columns` of them, `parities` first.
    pub fn share(&self, missing: usize, of: usize, parities: usize, columns: usize) -> u8 {
        let row = self.missing[..self.count].iter().position(|&column| column == missing);
        let Some(row) = row.map(|row| self.inverse[row]) else { return 0 };
        let used = self.parities[..self.known].iter().map(|&parity| usize::from(parity)).zip(row);
        if of < parities {
            return used.filter(|&(parity, _)| parity == of).fold(0, |sum, (_, share)| sum ^ share);
        }
        if !self.has_data(of) {
            return 0;
        }
        used.fold(0, |sum, (parity, share)| sum ^ gf::mul(share, Self::factor(parity, of, columns)))
    }
}
