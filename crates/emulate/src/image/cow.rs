//! Copy-on-write over an image that remains unchanged.
use super::Image;
use super::memory::{MemoryImage, PAGE, pieces};
use std::io;

/// Written pages in memory over a read-only image.
pub struct CopyOnWrite<B> {
    base: B,
    over: MemoryImage,
    /// Whether the base image is ignored, because the drive was replaced.
    is_cleared: bool,
}

impl<B: Image> CopyOnWrite<B> {
    pub fn new(base: B) -> Self {
        CopyOnWrite { base, over: MemoryImage::default(), is_cleared: false }
    }
}

impl<B: Image> Image for CopyOnWrite<B> {
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        for (page, _, part) in pieces(at, into.len()) {
            let here = at + part.start as u64;
            let into = &mut into[part];
            if self.is_cleared || self.over.has(page) {
                self.over.read(here, into)?;
            } else {
                self.base.read(here, into)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, at: u64, from: &[u8]) -> io::Result<()> {
        for (page, _, part) in pieces(at, from.len()) {
            if !self.is_cleared && !self.over.has(page) {
                let mut bytes = vec![0; PAGE].into_boxed_slice();
                self.base.read(page * PAGE as u64, &mut bytes)?;
                self.over.put_page(page, bytes);
            }
            self.over.write(at + part.start as u64, &from[part])?;
        }
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.is_cleared = true;
        self.over.clear()
    }

    fn extents(&self) -> io::Result<Vec<(u64, u64)>> {
        let mut all = if self.is_cleared { Vec::new() } else { self.base.extents()? };
        all.extend(self.over.extents()?);
        all.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (first, end) in all {
            match joined.last_mut() {
                Some(last) if first <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((first, end)),
            }
        }
        Ok(joined)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
