//! RAID 3, 4, 5 and 6, and RAID 30, 50 and 60: rows of stripe units with parity in each.
//!
//! With several groups the rows are distributed over the groups in turn: the array's row `r` is row `r /
//! groups` of group `r % groups`, and the groups' members are numbered consecutively. Units of RAID 3 and 30
//! are single sectors; there a group has as many consecutive rows as a stripe unit has sectors before the
//! next group's turn, so that small commands stay in one group.
//!
//! Parity lies on `parities` adjacent members from member `pd` of the group on. *left*: `pd` decreases by one
//! with each row, starting at the last member; *right*: it increases, starting at the first. *symmetric*:
//! data begin behind the parity and wrap around; *asymmetric*: they begin on the first member without parity.
//! Source: the Linux kernel, drivers/md/raid5.c, and mdadm, restripe.c (`geo_map`).
//!
//! For the sums of RAID 6 data units have *indices*: md counts them from the member after the last parity
//! member on, wrapping around (`raid6_d0`, `raid6_idx_to_slot`). Where data begin behind the parity the index
//! is the column; in asymmetric layouts it is not.
mod bad;
mod band;
mod interleaved;
mod level;
mod logged;
mod losses;
mod made;
mod read;
mod repair;
mod windows;
mod write;

use crate::storage::array::levels::raid_level::SectorRole;
use crate::storage::array::members::Spot;
use crate::storage::array::params::Rotation;

/// A part of a data unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Index of the row in the array, and of the data unit in the row.
    pub row: u64,
    pub column: u32,
    /// Its offset in the stripe unit.
    pub offset: u64,
    pub count: u64,
}

/// A row on its members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The first member of its group.
    base: u64,
    /// Its first parity member in the group.
    first: u64,
    /// Where on its members it begins.
    pub at: u64,
}

/// The layout of RAID 3, 4, 5, 6 and their nested forms: rows of stripe units, and in each its parity. All sizes in
/// sectors.
#[derive(Clone, Copy)]
pub struct Rows {
    /// Of each group.
    members: u64,
    groups: u64,
    parities: u64,
    /// Data units in a row, and their sectors.
    columns: u64,
    row_data: u64,
    rotation: Rotation,
    unit: u64,
    /// Consecutive rows of a group before the next group's turn.
    turn: u64,
    /// Whether every command uses all members of a group.
    is_interleaved: bool,
    /// Rows of the array, over all groups.
    rows: u64,
    /// Where on each member the first row begins.
    start: u64,
}

impl Rows {
    /// Lays out `groups` equal groups over all `members`, of which the smallest has `least` sectors, in stripe units
    /// of `unit`.
    pub fn new(members: u64, groups: u64, parities: u8, rotation: Rotation, unit: u64, least: u64) -> Self {
        let members = members / groups;
        let rows = least / unit * groups;
        let parities = parities.into();
        let columns = members - parities;
        let (row_data, turn, is_interleaved, start) = (columns * unit, 1, false, 0);
        Rows {
            members,
            groups,
            parities,
            columns,
            row_data,
            rotation,
            unit,
            turn,
            is_interleaved,
            rows,
            start,
        }
    }

    /// Units of one sector, parity on the last member; a group's turn is `turn` rows.
    pub fn interleaved(members: u64, groups: u64, turn: u64, least: u64) -> Self {
        let turn = if groups == 1 { 1 } else { turn };
        let rows = Self::new(members, groups, 1, Rotation::Last, 1, least);
        Rows { turn, is_interleaved: true, rows: least / turn * turn * groups, ..rows }
    }

    /// The same layout behind the first `start` sectors of each member, which are left out.
    pub fn behind(self, start: u64) -> Self {
        Rows { start, ..self }
    }

    /// Sectors that hosts can address.
    pub fn capacity(&self) -> u64 {
        self.rows * self.row_data()
    }

    /// Data units in a row.
    #[inline]
    pub fn columns(&self) -> u32 {
        self.columns as u32
    }

    /// Parities of each row, 1 to 3.
    pub fn parities(&self) -> u8 {
        self.parities as u8
    }

    /// Groups of members, each with parity of its own.
    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// Members of a group.
    pub fn members(&self) -> u64 {
        self.members
    }

    /// Sectors of a stripe unit.
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Rows of the array.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Sectors of data in a row.
    #[inline]
    pub fn row_data(&self) -> u64 {
        self.row_data
    }

    /// Sectors of each member that the array uses.
    pub fn used(&self) -> u64 {
        self.start + self.rows / self.groups * self.unit
    }

    /// Whether every command uses all members of a group (RAID 3, 30).
    pub fn is_interleaved(&self) -> bool {
        self.is_interleaved
    }

    /// Consecutive rows of a group before the next group's turn.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// The part of a stripe unit that begins at an address and ends with the unit, or before `end`.
    #[inline]
    pub fn cell(&self, at: u64, end: u64) -> Cell {
        let (chunk, offset) = (at / self.unit, at % self.unit);
        let (row, column) = (chunk / self.columns, (chunk % self.columns) as u32);
        Cell { row, column, offset, count: (end - at).min(self.unit - offset) }
    }

    /// The group of a row, and the row's index in the group.
    #[inline]
    fn inside(&self, row: u64) -> (u64, u64) {
        match (self.groups, self.turn) {
            (1, _) => (0, row),
            (groups, 1) => (row % groups, row / groups),
            (groups, turn) => {
                let turns = row / turn;
                (turns % groups, turns / groups * turn + row % turn)
            }
        }
    }

    /// The first parity member of the row with this index in its group.
    #[inline]
    fn first_parity(&self, inside: u64) -> u64 {
        let n = self.members;
        match self.rotation {
            Rotation::LeftSymmetric | Rotation::LeftAsymmetric => n - 1 - inside % n,
            Rotation::RightSymmetric | Rotation::RightAsymmetric => inside % n,
            Rotation::First => 0,
            Rotation::Last => n - self.parities,
        }
    }

    /// The row of this number, counted over all groups.
    #[inline]
    pub fn row(&self, row: u64) -> Row {
        let (group, inside) = self.inside(row);
        let first = self.first_parity(inside);
        Row { base: group * self.members, first, at: self.start + inside * self.unit }
    }

    /// The slot of a data unit of a row.
    #[inline]
    pub fn data_of(&self, row: &Row, column: u32) -> u16 {
        let Row { base, first, .. } = *row;
        let (n, p, column) = (self.members, self.parities, u64::from(column));
        let member = match self.rotation {
            Rotation::LeftSymmetric | Rotation::RightSymmetric => {
                let mut member = first + p + column;
                while member >= n {
                    member -= n;
                }
                member
            }
            // Parity that runs past the last member continues at the first.
            _ if first + p > n => column + (first + p - n),
            _ => column + if column >= first { p } else { 0 },
        };
        (base + member) as u16
    }

    /// The slot of a parity unit of a row.
    #[inline]
    pub fn parity_of(&self, row: &Row, which: u8) -> u16 {
        let member = row.first + u64::from(which);
        (row.base + if member >= self.members { member - self.members } else { member }) as u16
    }

    /// The index of a data unit in the sums of RAID 6.
    pub fn index_of(&self, row: &Row, column: u32) -> u32 {
        let member = u64::from(self.data_of(row, column)) - row.base;
        ((member + 2 * self.members - row.first - self.parities) % self.members) as u32
    }

    /// The slot of a data unit.
    pub fn data(&self, row: u64, column: u32) -> u16 {
        self.data_of(&self.row(row), column)
    }

    /// The slot of a parity unit.
    pub fn parity(&self, row: u64, which: u8) -> u16 {
        self.parity_of(&self.row(row), which)
    }

    /// Where on its member a row begins.
    pub fn at(&self, row: u64) -> u64 {
        self.row(row).at
    }

    /// The row of the array at a place of a group's members, at or behind `start`.
    #[inline]
    pub fn row_at(&self, group: u64, at: u64) -> u64 {
        let inside = (at - self.start) / self.unit;
        (inside / self.turn * self.groups + group) * self.turn + inside % self.turn
    }

    /// Where on each member the first row begins.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// What a place holds, and how many sectors of its stripe unit follow from there.
    pub fn held(&self, spot: Spot) -> (SectorRole, u64) {
        let Some(at) = spot.at.checked_sub(self.start) else {
            return (SectorRole::Nothing, self.start - spot.at);
        };
        let (group, member) = (u64::from(spot.slot) / self.members, u64::from(spot.slot) % self.members);
        let (inside, offset) = (at / self.unit, at % self.unit);
        let row = self.row_at(group, spot.at);
        let left = self.unit - offset;
        if row >= self.rows {
            return (SectorRole::Nothing, left);
        }
        let first = self.first_parity(inside);
        let which = (member + self.members - first) % self.members;
        if which < self.parities {
            return (SectorRole::Parity { which: which as u8 }, left);
        }
        let column = (0..self.columns()).find(|&column| self.data(row, column) == spot.slot);
        let column = u64::from(column.unwrap_or(0));
        (SectorRole::Data { first: row * self.row_data() + column * self.unit + offset, copy: 0 }, left)
    }
}
