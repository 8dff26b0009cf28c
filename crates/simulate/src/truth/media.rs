//! What the drives hold: for each sector what a read would find, and what would be left after a power cut.
use super::field::BLANK;
use super::sparse::{PAGE, Sparse};

/// One sector of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Sector {
    /// What the drive has accepted last.
    pub accepted: u64,
    /// What is on its media.
    pub persisted: u64,
}

/// All drives, by their numbers.
#[derive(Clone, Default)]
pub struct Media {
    drives: Vec<Sparse<Sector>>,
}

impl Media {
    pub fn new(drives: usize) -> Self {
        Media { drives: vec![Sparse::default(); drives] }
    }

    pub fn accept(&mut self, drive: u16, first: u64, stamps: &[u64]) {
        self.put(drive, first, stamps, |sector, stamp| sector.accepted = stamp);
    }

    pub fn persist(&mut self, drive: u16, first: u64, stamps: &[u64]) {
        self.put(drive, first, stamps, |sector, stamp| sector.persisted = stamp);
    }

    /// Page by page: what is blank leaves an untouched page as it is, because a resync goes over whole drives.
    fn put(&mut self, drive: u16, first: u64, stamps: &[u64], put: impl Fn(&mut Sector, u64)) {
        let drive = &mut self.drives[usize::from(drive)];
        let (mut at, mut rest) = (first, stamps);
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(rest.len().min((PAGE - at % PAGE) as usize));
            if drive.page(at / PAGE).is_some() || part.iter().any(|&stamp| stamp != BLANK) {
                let mut next = part.iter();
                drive.each(at, part.len() as u64, |_, sector| put(sector, *next.next().unwrap_or(&BLANK)));
            }
            (at, rest) = (at + part.len() as u64, behind);
        }
    }

    /// What a read of a drive finds.
    pub fn read(&self, drive: u16, first: u64, count: u64) -> Vec<u64> {
        let (mut at, end) = (first, first + count);
        let mut found = Vec::with_capacity(count as usize);
        while at < end {
            let next = ((at / PAGE + 1) * PAGE).min(end);
            match self.page(drive, at / PAGE) {
                Some(page) => {
                    let part = &page[(at % PAGE) as usize..][..(next - at) as usize];
                    found.extend(part.iter().map(|sector| sector.accepted));
                }
                None => found.resize(found.len() + (next - at) as usize, BLANK),
            }
            at = next;
        }
        found
    }

    #[inline]
    pub fn get(&self, drive: u16, at: u64) -> u64 {
        self.drives[usize::from(drive)].get(at).map_or(BLANK, |sector| sector.accepted)
    }

    #[inline]
    pub fn sector(&self, drive: u16, at: u64) -> Sector {
        self.drives[usize::from(drive)].get(at).copied().unwrap_or_default()
    }

    /// Puts a sector right where it lies, as a recovery does.
    pub fn set(&mut self, drive: u16, at: u64, stamp: u64) {
        *self.drives[usize::from(drive)].get_mut(at) = Sector { accepted: stamp, persisted: stamp };
    }

    /// Sectors that each drive has accepted and not put on its media.
    pub fn dirty(&self) -> Vec<u64> {
        let is_dirty = |sector: &&Sector| sector.accepted != sector.persisted;
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
                sector.accepted = sector.persisted;
            }
        }
    }

    /// The drives get other numbers: number `i` is what had `order[i]`, or a blank one.
    pub fn reorder(&mut self, order: &[Option<u16>]) {
        let old = std::mem::take(&mut self.drives);
        let take =
            |from: &Option<u16>| from.map_or_else(Sparse::default, |from| old[usize::from(from)].clone());
        self.drives = order.iter().map(take).collect();
    }

    /// Sectors of all touched pages.
    pub fn size(&self) -> u64 {
        self.drives.iter().map(Sparse::size).sum()
    }

    /// All sectors of a page of a drive; none where it was never touched.
    pub fn page(&self, drive: u16, page: u64) -> Option<&[Sector]> {
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
