//! RAID 3, 4, 5 and 6, and RAID 30, 50 and 60: rows of stripe units with parity in each.
//!
//! With several groups the rows go round over the groups: the array's row `r` is row `r / groups` of group `r % groups`,
//! and the groups' members lie one behind the other.
//!
//! Parity lies on `parities` neighbouring members from member `pd` of the group on. *left*: `pd` goes down by one with
//! each row, from the last member on; *right*: it goes up from the first one. *symmetric*: data begin behind the parity
//! and go round; *asymmetric*: they begin on the first member that has no parity. Source: the Linux kernel,
//! drivers/md/raid5.c, and mdadm, restripe.c (`geo_map`).
use super::super::params::Rotation;
use super::{Held, Spot};

/// Part of a stripe unit of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The so many-th row of the array, and the so many-th data unit in it.
    pub row: u64,
    pub column: u32,
    /// Where in the stripe unit it begins.
    pub offset: u64,
    pub count: u64,
}

pub struct Rows {
    /// Of each group.
    members: u64,
    groups: u64,
    parities: u64,
    rotation: Rotation,
    unit: u64,
    /// Of the array, those of all groups.
    rows: u64,
}

impl Rows {
    pub fn new(members: u64, groups: u64, parities: u8, rotation: Rotation, unit: u64, least: u64) -> Self {
        let members = members / groups;
        Rows { members, groups, parities: parities.into(), rotation, unit, rows: least / unit * groups }
    }

    /// Units of one sector, parity on the last member.
    pub fn interleaved(members: u64, groups: u64, least: u64) -> Self {
        Self::new(members, groups, 1, Rotation::Last, 1, least)
    }

    pub fn capacity(&self) -> u64 {
        self.rows * self.row_data()
    }

    /// Data units in a row.
    pub fn columns(&self) -> u32 {
        (self.members - self.parities) as u32
    }

    pub fn parities(&self) -> u8 {
        self.parities as u8
    }

    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// Members of a group.
    pub fn members(&self) -> u64 {
        self.members
    }

    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Rows of the array.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Sectors of data in a row.
    pub fn row_data(&self) -> u64 {
        (self.members - self.parities) * self.unit
    }

    /// Sectors of each member that the array uses.
    pub fn used(&self) -> u64 {
        self.rows / self.groups * self.unit
    }

    /// The part of a stripe unit that begins at an address and ends with the unit, or before `end`.
    #[inline]
    pub fn cell(&self, at: u64, end: u64) -> Cell {
        let (chunk, offset) = (at / self.unit, at % self.unit);
        let columns = self.members - self.parities;
        let (row, column) = (chunk / columns, (chunk % columns) as u32);
        Cell { row, column, offset, count: (end - at).min(self.unit - offset) }
    }

    /// The first member of the row's group, and the row's first parity member in it.
    #[inline]
    fn parity_member(&self, row: u64) -> (u64, u64) {
        let (group, inside) =
            if self.groups == 1 { (0, row) } else { (row % self.groups, row / self.groups) };
        let n = self.members;
        let first = match self.rotation {
            Rotation::LeftSymmetric | Rotation::LeftAsymmetric => n - 1 - inside % n,
            Rotation::RightSymmetric | Rotation::RightAsymmetric => inside % n,
            Rotation::First => 0,
            Rotation::Last => n - self.parities,
        };
        (group * n, first)
    }

    /// The slot of a data unit.
    #[inline]
    pub fn data(&self, row: u64, column: u32) -> u16 {
        let (base, first) = self.parity_member(row);
        let (n, p, column) = (self.members, self.parities, u64::from(column));
        let member = match self.rotation {
            Rotation::LeftSymmetric | Rotation::RightSymmetric => {
                let member = first + p + column;
                if member >= n { member % n } else { member }
            }
            // Parity that runs over the last member goes on at the first.
            _ if first + p > n => column + (first + p - n),
            _ => column + if column >= first { p } else { 0 },
        };
        (base + member) as u16
    }

    /// The slot of a parity unit.
    #[inline]
    pub fn parity(&self, row: u64, which: u8) -> u16 {
        let (base, first) = self.parity_member(row);
        let member = first + u64::from(which);
        (base + if member >= self.members { member - self.members } else { member }) as u16
    }

    /// Where on its member a row begins.
    #[inline]
    pub fn at(&self, row: u64) -> u64 {
        (if self.groups == 1 { row } else { row / self.groups }) * self.unit
    }

    /// What lies at a place, and how many sectors of its stripe unit go on from there.
    pub fn held(&self, spot: Spot) -> (Held, u64) {
        let (group, member) = (u64::from(spot.slot) / self.members, u64::from(spot.slot) % self.members);
        let (inside, offset) = (spot.at / self.unit, spot.at % self.unit);
        let (row, left) = (inside * self.groups + group, self.unit - offset);
        if row >= self.rows {
            return (Held::Nothing, left);
        }
        let (_, first) = self.parity_member(row);
        let which = (member + self.members - first) % self.members;
        if which < self.parities {
            return (Held::Parity { which: which as u8 }, left);
        }
        let column = (0..self.columns()).find(|&column| self.data(row, column) == spot.slot);
        let column = u64::from(column.unwrap_or(0));
        (Held::Data { first: row * self.row_data() + column * self.unit + offset, copy: 0 }, left)
    }
}
