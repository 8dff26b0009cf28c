//! A table by address in which only touched pages exist.
use crate::map::Map;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// Addresses of a page.
pub const PAGE: u64 = 32;

/// A table by address. Untouched pages take no memory.
#[derive(Clone)]
pub struct Sparse<T> {
    pages: Map<Box<[T]>>,
}

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Sparse { pages: Map::default() }
    }
}

/// The addresses in these pages, each once, upward.
pub fn addresses(mut pages: Vec<u64>) -> Vec<u64> {
    pages.sort_unstable();
    pages.dedup();
    pages.into_iter().flat_map(|page| page * PAGE..(page + 1) * PAGE).collect()
}

impl<T: Clone + Default> Sparse<T> {
    /// The entry of an address, if its page was ever touched.
    #[inline]
    pub fn get(&self, at: u64) -> Option<&T> {
        self.pages.get(at / PAGE).map(|page| &page[(at % PAGE) as usize])
    }

    /// The entry of an address; touches its page.
    #[inline]
    pub fn get_mut(&mut self, at: u64) -> &mut T {
        &mut self.page_mut(at / PAGE)[(at % PAGE) as usize]
    }

    fn page_mut(&mut self, page: u64) -> &mut [T] {
        self.pages.get_or_insert_with(page, || vec![T::default(); PAGE as usize].into())
    }

    /// Calls `each` with every one of these addresses, page by page.
    pub fn each(&mut self, first: u64, count: u64, mut each: impl FnMut(u64, &mut T)) {
        let (mut at, end) = (first, first + count);
        while at < end {
            let next = (at / PAGE + 1) * PAGE;
            let page = self.page_mut(at / PAGE);
            while at < end.min(next) {
                each(at, &mut page[(at % PAGE) as usize]);
                at += 1;
            }
        }
    }

    /// All entries on touched pages, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.pages.values().flat_map(|page| page.iter())
    }

    /// Number of entries on all touched pages.
    pub fn size(&self) -> u64 {
        self.pages.len() as u64 * PAGE
    }

    /// All of a touched page: [`PAGE`] addresses from `PAGE * page` on.
    #[inline]
    pub fn page(&self, page: u64) -> Option<&[T]> {
        self.pages.get(page).map(|page| &page[..])
    }

    /// The numbers of all touched pages, in no particular order.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.pages.keys()
    }

    /// The addresses of all touched pages, upward.
    pub fn touched(&self) -> Vec<u64> {
        addresses(self.pages().collect())
    }
}
