//! The read-ahead of a flash drive: a read that continues the one before it, and that finds no page, fetches more of them.
use super::params::{FlashParams, READ_AHEAD_PAGES_MAX};
use super::placement::{Page, Placement};
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba};

/// Streams of reads that are followed: a choice of the model, as the pages that are kept for them.
const STREAMS: usize = 8;
const KEPT_PAGES: usize = 2 * READ_AHEAD_PAGES_MAX as usize;

/// A page that was read for a stream, and when it has left its die.
#[derive(Clone, Copy)]
struct KeptPage {
    number: u64,
    there: Instant,
}

const NO_PAGE: KeptPage = KeptPage { number: u64::MAX, there: Instant::ZERO };

/// The streams of a drive, and the pages that it keeps for them.
pub struct ReadAhead {
    /// Where the streams end that are followed, and which is replaced next.
    ends: [Lba; STREAMS],
    next_end: usize,
    /// By number; none where the drive does not read ahead.
    kept: Vec<KeptPage>,
}

impl ReadAhead {
    pub fn new(params: &FlashParams) -> Self {
        let kept = if params.read_ahead.get() > 0 { KEPT_PAGES } else { 0 };
        ReadAhead { ends: [Lba::new(u64::MAX); STREAMS], next_end: 0, kept: vec![NO_PAGE; kept] }
    }

    /// Whether the drive never reads ahead.
    #[inline]
    pub fn is_off(&self) -> bool {
        self.kept.is_empty()
    }

    /// A read begins: whether it continues one of the streams.
    pub fn continues(&mut self, first: Lba, end: Lba) -> bool {
        let stream = self.ends.iter().position(|&known| known == first);
        let at = stream.unwrap_or(self.next_end);
        self.ends[at] = end;
        if stream.is_none() {
            self.next_end = (self.next_end + 1) % STREAMS;
        }
        stream.is_some()
    }

    /// When this page has left, or will have left, its die; `None` if it is not kept.
    #[inline]
    pub fn there(&self, page: Page) -> Option<Instant> {
        let kept = self.kept.get(place(page))?;
        (kept.number == page.number).then_some(kept.there)
    }

    /// A page is read for a stream.
    pub fn keep(&mut self, page: Page, there: Instant) {
        self.kept[place(page)] = KeptPage { number: page.number, there };
    }

    /// Pages that hold some of these sectors are not kept any more.
    pub fn forget(&mut self, placement: Placement, first: Lba, end: Lba) {
        if self.is_off() {
            return;
        }
        placement.pages(first, end, |page| {
            let kept = &mut self.kept[place(page)];
            if kept.number == page.number {
                *kept = NO_PAGE;
            }
        });
    }
}

#[inline]
fn place(page: Page) -> usize {
    page.number as usize & (KEPT_PAGES - 1)
}
