//! The representation of a sector's data: a version stamp, or its bytes.
use crate::stamp::{stamp, times};
use alloc::sync::Arc;
use core::fmt;
use drivelab_core::storage::array::levels::gf;

/// Bytes of a sector.
pub const SECTOR: usize = 512;

/// A checker's cell: eight bytes that identify their write. See [`crate::stamp`].
pub type Stamp = u64;

/// The data of one sector. The default is the contents of a sector that was never written; it is the zero of
/// addition.
///
/// Sums are those of RAID: addition is exclusive or, multiplication that of the field of 256 elements, byte by byte
/// ([`gf`]).
pub trait Cell: Clone + PartialEq + Default + fmt::Debug {
    /// Memory of one cell, in bytes.
    const SIZE: u64;

    /// What a write without given data puts into a sector: different for any two writes and any two sectors.
    /// The sectors of an array's metadata use it as well; their words are stored separately.
    fn version(write: u64, sector: u64) -> Self;

    /// The first eight bytes, little endian.
    fn head(&self) -> u64;

    /// Whether it equals a sector that was never written.
    fn is_blank(&self) -> bool;

    /// Adds another one, multiplied by a factor.
    fn add(&mut self, other: &Self, factor: u8);

    /// This cell multiplied by a factor.
    #[must_use]
    fn times(&self, factor: u8) -> Self {
        let mut product = Self::default();
        product.add(self, factor);
        product
    }
}

impl Cell for Stamp {
    const SIZE: u64 = 8;

    #[inline]
    fn version(write: u64, sector: u64) -> Self {
        stamp(write, sector)
    }

    #[inline]
    fn head(&self) -> u64 {
        *self
    }

    #[inline]
    fn is_blank(&self) -> bool {
        *self == 0
    }

    #[inline]
    fn add(&mut self, other: &Self, factor: u8) {
        *self ^= times(*other, factor);
    }
}

/// An emulator's cell: the 512 bytes of a sector. A clone shares them, and a sector of zeros allocates none.
///
/// ```
/// use drivelab_data::{Bytes, Cell};
///
/// let (a, b) = (Bytes::from([0x80; 512]), Bytes::from([0x01; 512]));
/// let mut sum = a.clone();
/// sum.add(&b, 1);
/// assert_eq!(sum.as_bytes(), &[0x81; 512]);
/// // The field of RAID 6: 2 times 0x80 is 0x1d.
/// assert_eq!(a.times(2).as_bytes(), &[0x1d; 512]);
/// ```
#[derive(Clone, Default)]
pub struct Bytes(Option<Arc<[u8; SECTOR]>>);

const ZEROS: [u8; SECTOR] = [0; SECTOR];

impl Bytes {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; SECTOR] {
        self.0.as_deref().unwrap_or(&ZEROS)
    }
}

impl From<[u8; SECTOR]> for Bytes {
    fn from(bytes: [u8; SECTOR]) -> Self {
        Bytes((bytes != ZEROS).then(|| Arc::new(bytes)))
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) if Arc::ptr_eq(one, two) => true,
            (None, None) => true,
            _ => self.as_bytes() == other.as_bytes(),
        }
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}..", self.head())
    }
}

impl Cell for Bytes {
    const SIZE: u64 = (SECTOR + size_of::<Option<Arc<[u8; SECTOR]>>>()) as u64;

    fn version(write: u64, sector: u64) -> Self {
        let mut bytes = ZEROS;
        for (index, part) in (0..).zip(bytes.chunks_exact_mut(8)) {
            // Each eight bytes are a stamp of their own; the first are the sector's.
            let salt = if index == 0 { 0 } else { stamp(index, sector) };
            part.copy_from_slice(&(stamp(write, sector) ^ salt).to_le_bytes());
        }
        Bytes(Some(Arc::new(bytes)))
    }

    fn head(&self) -> u64 {
        let bytes = self.as_bytes();
        u64::from_le_bytes(core::array::from_fn(|at| bytes[at]))
    }

    fn is_blank(&self) -> bool {
        self.0.is_none() || self.as_bytes() == &ZEROS
    }

    fn add(&mut self, other: &Self, factor: u8) {
        let Some(added) = other.0.as_deref().filter(|_| factor != 0) else { return };
        let Some(sum) = &mut self.0 else {
            self.0 = if factor == 1 { other.0.clone() } else { Some(Arc::new(scaled(added, factor))) };
            return;
        };
        let sum = Arc::make_mut(sum);
        if factor == 1 {
            sum.iter_mut().zip(added).for_each(|(sum, byte)| *sum ^= byte);
        } else {
            sum.iter_mut().zip(scaled(added, factor)).for_each(|(sum, byte)| *sum ^= byte);
        }
    }
}

/// Each byte multiplied by a factor, from the products of its halves.
fn scaled(bytes: &[u8; SECTOR], factor: u8) -> [u8; SECTOR] {
    let low: [u8; 16] = core::array::from_fn(|half| gf::mul(half as u8, factor));
    let high: [u8; 16] = core::array::from_fn(|half| gf::mul((half as u8) << 4, factor));
    bytes.map(|byte| low[usize::from(byte & 15)] ^ high[usize::from(byte >> 4)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn bytes_and_stamps_have_the_same_sums() {
        for factor in [0, 1, 2, 29, 142, 255] {
            let (mut bytes, mut stamp) = (Bytes::version(1, 5), Stamp::version(1, 5));
            bytes.add(&Bytes::version(2, 9), factor);
            stamp.add(&Stamp::version(2, 9), factor);
            assert_eq!(bytes.head(), stamp);
            let (one, other) = (Bytes::version(1, 5), Bytes::version(2, 9));
            let pairs = one.as_bytes().iter().zip(other.as_bytes());
            let plain: std::vec::Vec<u8> = pairs.map(|(a, b)| a ^ gf::mul(*b, factor)).collect();
            assert_eq!(bytes.as_bytes()[..], plain[..]);
        }
        let mut sum = Bytes::version(1, 5);
        sum.add(&Bytes::version(1, 5), 1);
        assert!(sum.is_blank() && sum == Bytes::default() && sum.head() == 0);
    }

    #[test]
    fn a_copy_keeps_what_it_has_when_the_other_changes() {
        let first = Bytes::version(3, 4);
        let mut other = first.clone();
        other.add(&Bytes::version(5, 6), 1);
        assert_eq!(first, Bytes::version(3, 4));
        assert_ne!(first, other);
    }

    #[test]
    fn no_two_writes_or_sectors_have_the_same_bytes() {
        let all = (0..40).flat_map(|write| (0..40).map(move |sector| Bytes::version(write, sector)));
        let parts: BTreeSet<std::vec::Vec<u8>> = all.map(|bytes| bytes.as_bytes().to_vec()).collect();
        assert_eq!(parts.len(), 1_600);
        assert!(parts.iter().all(|bytes| bytes.chunks(8).collect::<BTreeSet<_>>().len() == 64));
    }
}
