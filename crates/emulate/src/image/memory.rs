//! An image in memory; only written pages take space.
use super::Image;
use std::collections::BTreeMap;
use std::io;

/// Bytes of a page. Smaller pages mean less to clear for a small write into an empty area.
pub const PAGE: usize = 16 << 10;

/// Bytes in pages that are allocated when nonzero data are written.
#[derive(Default)]
pub struct MemoryImage {
    pages: BTreeMap<u64, Box<[u8]>>,
}

impl MemoryImage {
    /// Whether a page is allocated.
    pub fn has(&self, page: u64) -> bool {
        self.pages.contains_key(&page)
    }

    /// The allocated pages.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.pages.keys().copied()
    }

    /// Allocates a page with these bytes.
    pub fn put_page(&mut self, page: u64, bytes: Box<[u8]>) {
        self.pages.insert(page, bytes);
    }
}

/// The pages of a range: for each page its number, the offset in the page, and the part of the range.
pub fn pieces(at: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let here = at + done as u64;
        let inside = (here % PAGE as u64) as usize;
        let count = (PAGE - inside).min(length - done);
        let piece = (here / PAGE as u64, inside, done..done + count);
        done += count;
        Some(piece)
    })
}

impl Image for MemoryImage {
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        for (page, inside, part) in pieces(at, into.len()) {
            let into = &mut into[part];
            match self.pages.get(&page) {
                Some(bytes) => into.copy_from_slice(&bytes[inside..inside + into.len()]),
                None => into.fill(0),
            }
        }
        Ok(())
    }

    fn write(&mut self, at: u64, from: &[u8]) -> io::Result<()> {
        for (page, inside, part) in pieces(at, from.len()) {
            let from = &from[part];
            match self.pages.get_mut(&page) {
                Some(bytes) => bytes[inside..inside + from.len()].copy_from_slice(from),
                None if from.iter().all(|byte| *byte == 0) => {}
                None => {
                    let mut bytes = vec![0; PAGE].into_boxed_slice();
                    bytes[inside..inside + from.len()].copy_from_slice(from);
                    self.pages.insert(page, bytes);
                }
            }
        }
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.pages.clear();
        Ok(())
    }

    fn extents(&self) -> io::Result<Vec<(u64, u64)>> {
        let page = PAGE as u64;
        Ok(self.pages.keys().map(|at| (at * page, (at + 1) * page)).collect())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
