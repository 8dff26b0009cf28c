//! RAID-Z: each record is laid out over the members separately, with its own parity, wherever the pool has
//! room for it.
//!
//! A pool is numbered sector by sector across its members: sector `b` lies on member `b % n`, in its row `b /
//! n`. A record of `s` sectors on `n` members with `p` parities takes `s + p * ceil(s / (n - p))` consecutive
//! ones, in *columns*: the first `p` hold parity, the others data, one column per member. Where the data do
//! not fill whole rows the first columns have one sector more than the others. The space taken is rounded up
//! to a multiple of `p + 1`, so that no gap is left that is too small for the smallest record. With single
//! parity the first two columns change places in every other MiB of the pool: otherwise a pool of equal
//! records could have all its parity on some members.
//! Source: OpenZFS, vdev_raidz.c, `vdev_raidz_map_alloc`.
use crate::storage::array::members::Spot;

/// A record's share of one member.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Column {
    /// Slot of the member.
    pub slot: u16,
    /// In sectors of 512 bytes.
    pub at: u64,
    /// Sectors of 512 bytes.
    pub count: u64,
}

impl Column {
    /// Where the column begins.
    pub fn spot(&self) -> Spot {
        Spot { slot: self.slot, at: self.at }
    }
}

/// How records of one size lie on the members.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    members: u64,
    parities: u64,
    /// The sector of the pool, as a power of two of 512 bytes: OpenZFS's ashift minus 9.
    shift: u32,
    /// Rows that all columns have.
    whole: u64,
    /// Columns with one row more, the parity columns among them.
    longer: u64,
    /// Columns that are not empty.
    columns: u64,
    /// Sectors of the pool with data and parity, and those taken with padding.
    total: u64,
    taken: u64,
}

impl Map {
    /// Maximum number of members of a pool.
    pub const COLUMNS_MAX: usize = u8::MAX as usize;

    /// A map for records of `record` sectors of 512 bytes; `sector` is the pool's sector in the same unit.
    pub fn new(members: u64, parities: u8, record: u64, sector: u64) -> Self {
        let (p, shift) = (u64::from(parities), sector.trailing_zeros());
        let sectors = record >> shift;
        let (whole, rest) = (sectors / (members - p), sectors % (members - p));
        let longer = if rest == 0 { 0 } else { rest + p };
        let total = sectors + p * (whole + u64::from(rest > 0));
        let columns = if whole == 0 { longer } else { members };
        let taken = total.next_multiple_of(p + 1);
        Map { members, parities: p, shift, whole, longer, columns, total, taken }
    }

    /// Members of the pool.
    pub fn members(&self) -> u64 {
        self.members
    }

    /// The sector of the pool, in sectors of 512 bytes.
    pub fn sector(&self) -> u64 {
        1 << self.shift
    }

    /// Parities, 1 to 3.
    pub fn parities(&self) -> u8 {
        self.parities as u8
    }

    /// Columns of parity and of data.
    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Sectors of the pool that hold data or parity.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Sectors of the pool that a record takes, padding included.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// A column of the record that begins at a sector of the pool.
    #[inline]
    pub fn column(&self, begin: u64, column: usize) -> Column {
        let sector = begin + self.swapped(begin, column as u64);
        let rows = self.whole + u64::from((column as u64) < self.longer);
        let (slot, row) = ((sector % self.members) as u16, sector / self.members);
        Column { slot, at: row << self.shift, count: rows << self.shift }
    }

    /// The padding sectors behind the record that begins at a sector of the pool.
    pub fn padding(&self, begin: u64) -> impl Iterator<Item = Spot> + use<> {
        let (members, shift) = (self.members, self.shift);
        (begin + self.total..begin + self.taken)
            .map(move |sector| Spot { slot: (sector % members) as u16, at: (sector / members) << shift })
    }

    /// The distance of a column from the first of its record, and equally the column at that distance. With
    /// single parity the first two columns change places in every other MiB.
    #[inline]
    fn swapped(&self, begin: u64, column: u64) -> u64 {
        let swaps = self.parities == 1 && begin << (self.shift + 9) & 1 << 20 != 0;
        if swaps && column < 2 { 1 - column } else { column }
    }

    /// The column on a member of the record that begins at a sector of the pool.
    #[inline]
    pub fn column_on(&self, begin: u64, slot: u16) -> Option<usize> {
        let behind = (u64::from(slot) + self.members - begin % self.members) % self.members;
        (behind < self.columns).then(|| self.swapped(begin, behind) as usize)
    }

    /// The offset in the record at which a data column begins.
    #[inline]
    pub fn begins(&self, column: usize) -> u64 {
        let before = column as u64 - self.parities;
        let longer = self.longer.saturating_sub(self.parities).min(before);
        (before * self.whole + longer) << self.shift
    }
}
