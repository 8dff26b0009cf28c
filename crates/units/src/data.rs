//! Amounts of data and block addresses. A sector is the drive's addressable block, 512 bytes unless the drive says so.
use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// Bytes in the sector that block addresses count.
pub const SECTOR_BYTES: u64 = 512;

macro_rules! count {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(u64);

        impl $name {
            pub const ZERO: $name = $name(0);

            pub const fn new(count: u64) -> Self {
                $name(count)
            }

            pub const fn get(self) -> u64 {
                self.0
            }
        }
    };
}

count! {
    /// An amount of data in bytes.
    Bytes
}
count! {
    /// A count of sectors.
    Sectors
}
count! {
    /// A logical block address: the index of a sector.
    Lba
}

impl Bytes {
    /// Whole sectors in this many bytes, or `None` when it is not a multiple of a sector.
    pub const fn sectors(self) -> Option<Sectors> {
        if self.0.is_multiple_of(SECTOR_BYTES) { Some(Sectors(self.0 / SECTOR_BYTES)) } else { None }
    }
}

impl Sectors {
    pub const fn bytes(self) -> Bytes {
        Bytes(self.0 * SECTOR_BYTES)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Add<Sectors> for Lba {
    type Output = Lba;
    fn add(self, count: Sectors) -> Lba {
        Lba(self.0 + count.0)
    }
}

impl Sub for Lba {
    type Output = Sectors;
    fn sub(self, first: Lba) -> Sectors {
        Sectors(self.0 - first.0)
    }
}

impl fmt::Display for Bytes {
    /// Prints the exact amount in the largest binary unit that divides it, else in bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
            if self.0 != 0 && self.0.is_multiple_of(1 << shift) {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn bytes_print_exactly() {
        for (count, text) in [(0, "0B"), (512, "512B"), (4096, "4KiB"), (1 << 20, "1MiB"), (1000, "1000B")] {
            assert_eq!(Bytes::new(count).to_string(), text);
        }
    }

    #[test]
    fn only_whole_sectors_are_sectors() {
        assert_eq!(Bytes::new(4096).sectors(), Some(Sectors::new(8)));
        assert_eq!(Bytes::new(4095).sectors(), None);
        assert_eq!(Sectors::new(8).bytes(), Bytes::new(4096));
    }
}
