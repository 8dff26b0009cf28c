//! The contents of the drives: for each sector what a read would find, and what would be left after a power
//! cut.
use crate::cell::{Cell, Stamp};
use crate::platter::{Backed, Platter, Waiting};
use crate::sparse::{PAGE, Sparse, addresses};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// The id for contents that nobody has written: no command has it.
const CORRUPT: u64 = u64::MAX;

/// One sector of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Sector<C = Stamp> {
    /// The data last accepted by the drive.
    pub accepted: C,
    /// The data on its media.
    pub persisted: C,
}

/// Where the sectors of a drive are stored.
#[derive(Clone)]
enum Backing<C> {
    Here(Sparse<Sector<C>>),
    Elsewhere(Backed<C>),
}

/// All drives, by number. A clone shares the platters of those that have one.
#[derive(Clone)]
pub struct Media<C = Stamp> {
    drives: Vec<Backing<C>>,
}

impl<C> Default for Media<C> {
    fn default() -> Self {
        Media { drives: Vec::new() }
    }
}

impl<C: Cell> Media<C> {
    /// For this many empty drives.
    pub fn new(drives: usize) -> Self {
        Media { drives: vec![Backing::Here(Sparse::default()); drives] }
    }

    /// For these drives, each with the contents of its platter.
    pub fn on(platters: Vec<Arc<dyn Platter<C>>>) -> Self {
        let backed = |platter| Backing::Elsewhere(Backed { platter, waiting: Waiting::default() });
        Media { drives: platters.into_iter().map(backed).collect() }
    }

    fn backing(&self, drive: u16) -> &Backing<C> {
        &self.drives[usize::from(drive)]
    }

    /// A drive accepts data: reads find them from now on.
    pub fn accept(&mut self, drive: u16, first: u64, cells: &[C]) {
        match &mut self.drives[usize::from(drive)] {
            Backing::Here(pages) => put(pages, first, cells, |sector, cell| sector.accepted = cell),
            Backing::Elsewhere(backed) => backed.waiting.put(first, cells),
        }
    }

    /// Data reach the media of a drive.
    pub fn persist(&mut self, drive: u16, first: u64, cells: &[C]) {
        match &mut self.drives[usize::from(drive)] {
            Backing::Here(pages) => put(pages, first, cells, |sector, cell| sector.persisted = cell),
            Backing::Elsewhere(backed) => backed.persist(first, cells),
        }
    }

    /// The media contents of a drive change silently. For a sector whose newer data wait in the cache the
    /// change is not visible before they are on the media.
    ///
    /// ```
    /// use drivelab_data::{Bytes, Media};
    ///
    /// let mut media: Media<Bytes> = Media::new(1);
    /// let (old, new) = (Bytes::from([1; 512]), Bytes::from([2; 512]));
    /// media.accept(0, 40, &[old.clone(), old.clone()]);
    /// media.persist(0, 40, &[old.clone(), old.clone()]);
    /// media.accept(0, 41, &[new.clone()]);
    /// media.corrupt(0, 40, 2);
    /// assert_ne!(media.read(0, 40, 1), [old.clone()]);
    /// // Newer data lie over the second one.
    /// assert_eq!(media.read(0, 41, 1), [new]);
    /// assert_ne!(media.image(0, 41, 1), [old]);
    /// ```
    pub fn corrupt(&mut self, drive: u16, first: u64, count: u64) {
        match &mut self.drives[usize::from(drive)] {
            Backing::Here(pages) => pages.each(first, count, |at, sector| {
                let waits = sector.accepted != sector.persisted;
                sector.persisted.add(&C::version(CORRUPT, at), 1);
                if !waits {
                    sector.accepted = sector.persisted.clone();
                }
            }),
            Backing::Elsewhere(backed) => {
                for at in first..first + count {
                    let mut cell = backed.persisted(at);
                    cell.add(&C::version(CORRUPT, at), 1);
                    backed.platter.write(at, &[cell]);
                }
            }
        }
    }

    /// What a read of a drive finds.
    pub fn read(&self, drive: u16, first: u64, count: u64) -> Vec<C> {
        match self.backing(drive) {
            Backing::Here(pages) => gather(pages, first, count, |sector| sector.accepted.clone()),
            Backing::Elsewhere(backed) => backed.read(first, count),
        }
    }

    /// The media contents of a drive: what a power cut leaves, and what an image of it has.
    ///
    /// ```
    /// use drivelab_data::{Bytes, Media};
    ///
    /// let mut media: Media<Bytes> = Media::new(1);
    /// let (old, new) = (Bytes::from([1; 512]), Bytes::from([2; 512]));
    /// media.accept(0, 40, &[old.clone()]);
    /// media.persist(0, 40, &[old.clone()]);
    /// media.accept(0, 40, &[new.clone()]);
    /// assert_eq!(media.read(0, 40, 1), [new]);
    /// assert_eq!(media.image(0, 40, 2), [old, Bytes::default()]);
    /// ```
    pub fn image(&self, drive: u16, first: u64, count: u64) -> Vec<C> {
        match self.backing(drive) {
            Backing::Here(pages) => gather(pages, first, count, |sector| sector.persisted.clone()),
            Backing::Elsewhere(backed) => backed.platter.read(first, count),
        }
    }

    /// What a read finds in a sector.
    #[inline]
    pub fn get(&self, drive: u16, at: u64) -> C {
        match self.backing(drive) {
            Backing::Here(pages) => pages.get(at).map_or_else(C::default, |sector| sector.accepted.clone()),
            Backing::Elsewhere(backed) => backed.accepted(at),
        }
    }

    /// The accepted and the persisted data of a sector.
    #[inline]
    pub fn sector(&self, drive: u16, at: u64) -> Sector<C> {
        match self.backing(drive) {
            Backing::Here(pages) => pages.get(at).cloned().unwrap_or_default(),
            Backing::Elsewhere(backed) => {
                Sector { accepted: backed.accepted(at), persisted: backed.persisted(at) }
            }
        }
    }

    /// Repairs a sector in place, as a recovery does.
    pub fn set(&mut self, drive: u16, at: u64, cell: C) {
        match &mut self.drives[usize::from(drive)] {
            Backing::Here(pages) => {
                *pages.get_mut(at) = Sector { accepted: cell.clone(), persisted: cell };
            }
            Backing::Elsewhere(backed) => {
                let cell = [cell];
                backed.waiting.put(at, &cell);
                backed.persist(at, &cell);
            }
        }
    }

    /// Number of sectors that each drive has accepted and not put on its media.
    pub fn dirty(&self) -> Vec<u64> {
        let is_dirty = |sector: &&Sector<C>| sector.accepted != sector.persisted;
        let of = |drive: &Backing<C>| match drive {
            Backing::Here(pages) => pages.all().filter(is_dirty).count() as u64,
            Backing::Elsewhere(backed) => {
                let waiting = backed.waiting.iter();
                waiting.filter(|&(at, cell)| *cell != backed.persisted(at)).count() as u64
            }
        };
        self.drives.iter().map(of).collect()
    }

    /// A new, empty drive has this number.
    pub fn replace(&mut self, drive: u16) {
        match &mut self.drives[usize::from(drive)] {
            Backing::Here(pages) => *pages = Sparse::default(),
            Backing::Elsewhere(backed) => {
                backed.platter.clear();
                backed.waiting = Waiting::default();
            }
        }
    }

    /// The power is cut: data that are not on the media are lost.
    pub fn cut_power(&mut self) {
        for drive in &mut self.drives {
            match drive {
                Backing::Here(pages) => {
                    for at in pages.touched() {
                        let sector = pages.get_mut(at);
                        sector.accepted = sector.persisted.clone();
                    }
                }
                Backing::Elsewhere(backed) => backed.waiting = Waiting::default(),
            }
        }
    }

    /// Renumbers the drives: number `i` is the one that had `order[i]`, or a blank one. Blank ones take the
    /// platters of drives that no longer have a number.
    pub fn reorder(&mut self, order: &[Option<u16>]) {
        let old = core::mem::take(&mut self.drives);
        let is_left = |drive: &u16| !order.contains(&Some(*drive));
        let mut left = (0..old.len() as u16).filter(is_left);
        let take = |from: &Option<u16>| match from {
            Some(from) => old[usize::from(*from)].clone(),
            None => match left.next().map(|drive| old[usize::from(drive)].clone()) {
                Some(Backing::Elsewhere(backed)) => {
                    backed.platter.clear();
                    Backing::Elsewhere(Backed { waiting: Waiting::default(), ..backed })
                }
                _ => Backing::Here(Sparse::default()),
            },
        };
        self.drives = order.iter().map(take).collect();
    }

    /// Number of drives.
    pub fn drives(&self) -> usize {
        self.drives.len()
    }

    /// Number of sectors that take memory: those of all touched pages, and those that wait for a platter.
    pub fn size(&self) -> u64 {
        let of = |drive: &Backing<C>| match drive {
            Backing::Here(pages) => pages.size(),
            Backing::Elsewhere(backed) => backed.waiting.len(),
        };
        self.drives.iter().map(of).sum()
    }

    /// All sectors of a page of a drive; `None` for an untouched page, and for a drive with a platter.
    pub fn page(&self, drive: u16, page: u64) -> Option<&[Sector<C>]> {
        match self.backing(drive) {
            Backing::Here(pages) => pages.page(page),
            Backing::Elsewhere(_) => None,
        }
    }

    /// The platter of a drive that has one.
    pub fn platter(&self, drive: u16) -> Option<&Arc<dyn Platter<C>>> {
        match self.backing(drive) {
            Backing::Here(_) => None,
            Backing::Elsewhere(backed) => Some(&backed.platter),
        }
    }

    /// The data that wait for a drive's platter: accepted and not written there yet. `None` for a drive
    /// without one.
    pub fn waiting(&self, drive: u16) -> Option<&Waiting<C>> {
        match self.backing(drive) {
            Backing::Here(_) => None,
            Backing::Elsewhere(backed) => Some(&backed.waiting),
        }
    }

    /// The numbers of a drive's touched pages, in any order.
    pub fn pages(&self, drive: u16) -> Vec<u64> {
        match self.backing(drive) {
            Backing::Here(pages) => pages.pages().collect(),
            Backing::Elsewhere(backed) => backed.pages(),
        }
    }

    /// Sectors of a drive that may hold something, upward.
    pub fn touched(&self, drive: u16) -> Vec<u64> {
        addresses(self.pages(drive))
    }
}

/// Page by page: blank cells leave an untouched page as it is, because a resync processes whole drives.
fn put<C: Cell>(pages: &mut Sparse<Sector<C>>, first: u64, cells: &[C], put: impl Fn(&mut Sector<C>, C)) {
    let (mut at, mut rest) = (first, cells);
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(rest.len().min((PAGE - at % PAGE) as usize));
        if pages.page(at / PAGE).is_some() || part.iter().any(|cell| !cell.is_blank()) {
            let mut next = part.iter();
            pages.each(at, part.len() as u64, |_, sector| {
                put(sector, next.next().cloned().unwrap_or_default());
            });
        }
        (at, rest) = (at + part.len() as u64, behind);
    }
}

fn gather<C: Cell>(
    pages: &Sparse<Sector<C>>,
    first: u64,
    count: u64,
    of: impl Fn(&Sector<C>) -> C,
) -> Vec<C> {
    let (mut at, end) = (first, first + count);
    let mut found = Vec::with_capacity(count as usize);
    while at < end {
        let next = ((at / PAGE + 1) * PAGE).min(end);
        match pages.page(at / PAGE) {
            Some(page) => {
                let part = &page[(at % PAGE) as usize..][..(next - at) as usize];
                found.extend(part.iter().map(&of));
            }
            None => found.resize(found.len() + (next - at) as usize, C::default()),
        }
        at = next;
    }
    found
}
