//! A table by address of which only the touched pages exist.
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub const PAGE: u64 = 32;

/// Numbers are their own hashes, spread over all bits: keys here are addresses and ids, which nobody forges.
#[derive(Clone, Copy, Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

pub type Map<V> = HashMap<u64, V, BuildHasherDefault<Spread>>;

#[derive(Clone)]
pub struct Sparse<T> {
    pages: Map<Box<[T]>>,
}

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Sparse { pages: Map::default() }
    }
}

/// The addresses of pages, each once, upward.
pub fn addresses(mut pages: Vec<u64>) -> Vec<u64> {
    pages.sort_unstable();
    pages.dedup();
    pages.into_iter().flat_map(|page| page * PAGE..(page + 1) * PAGE).collect()
}

impl<T: Clone + Default> Sparse<T> {
    #[inline]
    pub fn get(&self, at: u64) -> Option<&T> {
        self.pages.get(&(at / PAGE)).map(|page| &page[(at % PAGE) as usize])
    }

    #[inline]
    pub fn get_mut(&mut self, at: u64) -> &mut T {
        let page = self.pages.entry(at / PAGE);
        &mut page.or_insert_with(|| vec![T::default(); PAGE as usize].into())[(at % PAGE) as usize]
    }

    /// Calls `each` with every address of these, page by page.
    pub fn each(&mut self, first: u64, count: u64, mut each: impl FnMut(u64, &mut T)) {
        let (mut at, end) = (first, first + count);
        while at < end {
            let next = (at / PAGE + 1) * PAGE;
            let page = self.pages.entry(at / PAGE);
            let page = page.or_insert_with(|| vec![T::default(); PAGE as usize].into());
            while at < end.min(next) {
                each(at, &mut page[(at % PAGE) as usize]);
                at += 1;
            }
        }
    }

    /// Everything on touched pages, in no order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.pages.values().flat_map(|page| page.iter())
    }

    /// Entries of all touched pages.
    pub fn size(&self) -> u64 {
        self.pages.len() as u64 * PAGE
    }

    /// All of a touched page: the one with these addresses of [`PAGE`] from `PAGE * page` on.
    #[inline]
    pub fn page(&self, page: u64) -> Option<&[T]> {
        self.pages.get(&page).map(|page| &page[..])
    }

    /// The numbers of all touched pages, in no order.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.pages.keys().copied()
    }

    /// The addresses of all touched pages, upward.
    pub fn touched(&self) -> Vec<u64> {
        addresses(self.pages().collect())
    }
}
