//! What the drives hold: for each sector what a read would find, and what would be left after a power cut.
use crate::cell::{Cell, Stamp};
use crate::sparse::{PAGE, Sparse};
use alloc::vec;
use alloc::vec::Vec;

/// Stands for the write of what nobody has written: no command has this id.
const CORRUPT: u64 = u64::MAX;

/// One sector of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Sector<C = Stamp> {
    /// What the drive has accepted last.
    pub accepted: C,
    /// What is on its media.
    pub persisted: C,
}

/// All drives, by their numbers.
#[derive(Clone)]
pub struct Media<C = Stamp> {
    drives: Vec<Sparse<Sector<C>>>,
}

impl<C> Default for Media<C> {
    fn default() -> Self {
        Media { drives: Vec::new() }
    }
}

impl<C: Cell> Media<C> {
    /// Of so many drives with nothing on them.
    pub fn new(drives: usize) -> Self {
        Media { drives: vec![Sparse::default(); drives] }
    }

    /// A drive takes data: reads find them from now on.
    pub fn accept(&mut self, drive: u16, first: u64, cells: &[C]) {
        self.put(drive, first, cells, |sector, cell| sector.accepted = cell);
    }

    /// Data come to the media of a drive.
    pub fn persist(&mut self, drive: u16, first: u64, cells: &[C]) {
        self.put(drive, first, cells, |sector, cell| sector.persisted = cell);
    }

    /// What is on the media of a drive changes, and nobody is told. Of a sector whose newer data wait in the cache nothing is
    /// found before they are on the media.
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
        self.drives[usize::from(drive)].each(first, count, |at, sector| {
            let waits = sector.accepted != sector.persisted;
            sector.persisted.add(&C::version(CORRUPT, at), 1);
            if !waits {
                sector.accepted = sector.persisted.clone();
            }
        });
    }

    /// Page by page: what is blank leaves an untouched page as it is, because a resync goes over whole drives.
    fn put(&mut self, drive: u16, first: u64, cells: &[C], put: impl Fn(&mut Sector<C>, C)) {
        let drive = &mut self.drives[usize::from(drive)];
        let (mut at, mut rest) = (first, cells);
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(rest.len().min((PAGE - at % PAGE) as usize));
            if drive.page(at / PAGE).is_some() || part.iter().any(|cell| !cell.is_blank()) {
                let mut next = part.iter();
                drive.each(at, part.len() as u64, |_, sector| {
                    put(sector, next.next().cloned().unwrap_or_default());
                });
            }
            (at, rest) = (at + part.len() as u64, behind);
        }
    }

    /// What a read of a drive finds.
    pub fn read(&self, drive: u16, first: u64, count: u64) -> Vec<C> {
        self.gather(drive, first, count, |sector| sector.accepted.clone())
    }

    /// What is on the media of a drive: what a power cut leaves, and what an image of it has.
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
        self.gather(drive, first, count, |sector| sector.persisted.clone())
    }

    fn gather(&self, drive: u16, first: u64, count: u64, of: impl Fn(&Sector<C>) -> C) -> Vec<C> {
        let (mut at, end) = (first, first + count);
        let mut found = Vec::with_capacity(count as usize);
        while at < end {
            let next = ((at / PAGE + 1) * PAGE).min(end);
            match self.page(drive, at / PAGE) {
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

    /// What a read finds in a sector.
    #[inline]
    pub fn get(&self, drive: u16, at: u64) -> C {
        self.drives[usize::from(drive)].get(at).map_or_else(C::default, |sector| sector.accepted.clone())
    }

    /// All that there is of a sector.
    #[inline]
    pub fn sector(&self, drive: u16, at: u64) -> Sector<C> {
        self.drives[usize::from(drive)].get(at).cloned().unwrap_or_default()
    }

    /// Puts a sector right where it lies, as a recovery does.
    pub fn set(&mut self, drive: u16, at: u64, cell: C) {
        *self.drives[usize::from(drive)].get_mut(at) = Sector { accepted: cell.clone(), persisted: cell };
    }

    /// Sectors that each drive has accepted and not put on its media.
    pub fn dirty(&self) -> Vec<u64> {
        let is_dirty = |sector: &&Sector<C>| sector.accepted != sector.persisted;
        self.drives.iter().map(|drive| drive.all().filter(is_dirty).count() as u64).collect()
    }

    /// Another drive has this number, with nothing on it.
    pub fn replace(&mut self, drive: u16) {
        self.drives[usize::from(drive)] = Sparse::default();
    }

    /// The power goes: what is not on the media is gone.
    pub fn cut_power(&mut self) {
        for drive in &mut self.drives {
            for at in drive.touched() {
                let sector = drive.get_mut(at);
                sector.accepted = sector.persisted.clone();
            }
        }
    }

    /// The drives get other numbers: number `i` is what had `order[i]`, or a blank one.
    pub fn reorder(&mut self, order: &[Option<u16>]) {
        let old = core::mem::take(&mut self.drives);
        let take =
            |from: &Option<u16>| from.map_or_else(Sparse::default, |from| old[usize::from(from)].clone());
        self.drives = order.iter().map(take).collect();
    }

    /// How many drives there are.
    pub fn drives(&self) -> usize {
        self.drives.len()
    }

    /// Sectors of all touched pages.
    pub fn size(&self) -> u64 {
        self.drives.iter().map(Sparse::size).sum()
    }

    /// All sectors of a page of a drive; none where it was never touched.
    pub fn page(&self, drive: u16, page: u64) -> Option<&[Sector<C>]> {
        self.drives[usize::from(drive)].page(page)
    }

    /// The numbers of a drive's touched pages.
    pub fn pages(&self, drive: u16) -> impl Iterator<Item = u64> {
        self.drives[usize::from(drive)].pages()
    }

    /// Sectors of a drive that may hold something, upward.
    pub fn touched(&self, drive: u16) -> Vec<u64> {
        self.drives[usize::from(drive)].touched()
    }
}
