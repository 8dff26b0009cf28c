//! Tables over all records or all places of a pool, kept in pages that are allocated on the first change, so
//! that a large pool costs little memory.
use alloc::vec;
use alloc::vec::Vec;

/// Entries of one page.
pub const PAGE: u64 = 64;

/// A table in pages; one that is not allocated yet is `None`.
#[derive(Clone)]
pub struct Pages<T> {
    /// The index of each page plus one; zero where there is none, which costs no memory before it is touched.
    index: Vec<u32>,
    pages: Vec<T>,
}

impl<T> Pages<T> {
    /// A table of `count` entries.
    pub fn new(count: u64) -> Self {
        Pages { index: vec![0; count.div_ceil(PAGE) as usize], pages: Vec::new() }
    }

    #[inline]
    pub fn get(&self, page: u64) -> Option<&T> {
        self.index[page as usize].checked_sub(1).map(|at| &self.pages[at as usize])
    }

    pub fn get_or_make(&mut self, page: u64, make: impl FnOnce() -> T) -> &mut T {
        let at = &mut self.index[page as usize];
        if *at == 0 {
            self.pages.push(make());
            *at = self.pages.len() as u32;
        }
        &mut self.pages[*at as usize - 1]
    }

    /// Whether each page has been allocated, from the first on.
    pub fn made(&self) -> impl Iterator<Item = bool> {
        self.index.iter().map(|&at| at > 0)
    }
}

/// A table of numbers; an entry without a page is its own index.
pub type Numbers = Pages<[u32; PAGE as usize]>;

impl Numbers {
    #[inline]
    pub fn number(&self, of: u64) -> u64 {
        self.get(of / PAGE).map_or(of, |page| page[(of % PAGE) as usize].into())
    }

    pub fn set_number(&mut self, of: u64, number: u64) {
        let (page, inside) = (of / PAGE, (of % PAGE) as usize);
        let identity = || core::array::from_fn(|inside| (page * PAGE) as u32 + inside as u32);
        self.get_or_make(page, identity)[inside] = number as u32;
    }
}
