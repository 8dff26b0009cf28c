//! What the segments of drives' buffers hold: the media as they were when the head read them.
//!
//! Nothing is copied as long as nothing changes. A segment is a stretch of addresses that holds what the drive holds now,
//! but for the sectors that have changed since: their data of then are kept. Of written data that waited over a sector as
//! it was read the segment has nothing of its own: once they are on the media, it has what the media had before. A drive
//! that is right never delivers such a sector, because it gives up a segment of which anything changes.
use crate::cell::{Cell, Stamp};
use crate::media::Media;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

#[derive(Clone)]
struct Segment<C> {
    first: u64,
    end: u64,
    /// What has changed since it was read, as it was.
    kept: BTreeMap<u64, C>,
}

impl<C> Segment<C> {
    fn new() -> Self {
        Segment { first: 0, end: 0, kept: BTreeMap::new() }
    }

    /// Has these addresses too, if they lie at what it has; else these alone.
    fn reach(&mut self, first: u64, end: u64, most: u64) {
        let touches = self.first < self.end && first <= self.end && self.first <= end;
        let (from, to) = if touches { (self.first.min(first), self.end.max(end)) } else { (first, end) };
        // The oldest blocks have made room for those in front.
        (self.first, self.end) = (from.max(to.saturating_sub(most)), to);
        if self.kept.first_key_value().is_some_and(|(&at, _)| at < self.first) {
            self.kept = self.kept.split_off(&self.first);
        }
    }

    fn load(&mut self, first: u64, end: u64, most: u64) {
        self.reach(first, end, most);
        if !self.kept.is_empty() {
            let behind = self.kept.split_off(&end);
            self.kept.split_off(&first);
            self.kept.extend(behind);
        }
    }
}

/// Those of all drives.
#[derive(Clone)]
pub struct Segments<C = Stamp> {
    /// By drive: the most that is kept of a segment, and by place what it holds.
    drives: Vec<(u64, Vec<Segment<C>>)>,
}

/// A drive delivers from a segment what was never there: the first such sector.
pub struct NotHeld(pub u64);

impl<C: Cell> Segments<C> {
    /// For drives whose segments have no more sectors than these.
    pub fn new(most: impl Iterator<Item = u64>) -> Self {
        Segments { drives: most.map(|most| (most, Vec::new())).collect() }
    }

    /// How many drives there are.
    pub fn drives(&self) -> usize {
        self.drives.len()
    }

    fn at(&mut self, drive: u16, place: u32) -> (u64, &mut Segment<C>) {
        let (most, all) = &mut self.drives[usize::from(drive)];
        let place = place as usize;
        if all.len() <= place {
            all.resize_with(place + 1, Segment::new);
        }
        (*most, &mut all[place])
    }

    /// A segment is begun anew, with all that another one has.
    pub fn begin(&mut self, drive: u16, place: u32, joins: Option<u32>) {
        let before = joins.map_or_else(Segment::new, |joined| self.at(drive, joined).1.clone());
        *self.at(drive, place).1 = before;
    }

    /// The head reads for a segment.
    pub fn load(&mut self, drive: u16, place: u32, first: u64, count: u64) {
        let (most, segment) = self.at(drive, place);
        segment.load(first, first + count, most);
    }

    /// A segment gets what another one has of these sectors.
    pub fn copy(&mut self, drive: u16, place: u32, from: u32, first: u64, count: u64) {
        let end = first + count;
        let kept = self.at(drive, from).1.kept.range(first..end);
        let had: Vec<(u64, C)> = kept.map(|(&at, cell)| (at, cell.clone())).collect();
        let (most, segment) = self.at(drive, place);
        segment.load(first, end, most);
        segment.kept.extend(had);
    }

    /// What a drive delivers from a segment.
    pub fn read(
        &self,
        drive: u16,
        place: u32,
        first: u64,
        count: u64,
        media: &Media<C>,
    ) -> Result<Vec<C>, NotHeld> {
        let end = first + count;
        let segment = self.drives[usize::from(drive)].1.get(place as usize).ok_or(NotHeld(first))?;
        if first < segment.first || end > segment.end {
            return Err(NotHeld(if first < segment.first { first } else { segment.end.max(first) }));
        }
        let mut cells = media.read(drive, first, count);
        for (&at, cell) in segment.kept.range(first..end) {
            cells[(at - first) as usize] = cell.clone();
        }
        Ok(cells)
    }

    /// A drive is about to accept something for these sectors: segments keep what they have of them.
    pub fn accept(&mut self, drive: u16, first: u64, count: u64, media: &Media<C>) {
        self.keep(drive, first, count, |at| Some(media.get(drive, at)));
    }

    /// These sectors are about to come to the media of a drive.
    pub fn persist(&mut self, drive: u16, first: u64, count: u64, media: &Media<C>) {
        self.keep(drive, first, count, |at| {
            let there = media.sector(drive, at);
            (there.accepted != there.persisted).then_some(there.persisted)
        });
    }

    /// What is on the media of a drive in these sectors is about to change: segments keep what they have read of it.
    pub fn corrupt(&mut self, drive: u16, first: u64, count: u64, media: &Media<C>) {
        self.keep(drive, first, count, |at| {
            let there = media.sector(drive, at);
            (there.accepted == there.persisted).then_some(there.accepted)
        });
    }

    fn keep(&mut self, drive: u16, first: u64, count: u64, had: impl Fn(u64) -> Option<C>) {
        for segment in &mut self.drives[usize::from(drive)].1 {
            for at in first.max(segment.first)..(first + count).min(segment.end) {
                if let Some(had) = had(at) {
                    segment.kept.entry(at).or_insert(had);
                }
            }
        }
    }

    /// Another drive has this number.
    pub fn replace(&mut self, drive: u16) {
        self.drives[usize::from(drive)].1.clear();
    }

    /// The power goes.
    pub fn clear(&mut self) {
        self.drives.iter_mut().for_each(|(_, segments)| segments.clear());
    }

    /// Sectors that are kept of what has changed.
    pub fn kept(&self) -> u64 {
        self.drives.iter().flat_map(|(_, segments)| segments).map(|segment| segment.kept.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive with stamps 100, 101, .. on its media, and a segment that has read 10 of them from sector 5 on.
    fn loaded() -> (Media, Segments) {
        let (mut media, mut segments) = (Media::new(1), Segments::new([64].into_iter()));
        let stamps: Vec<u64> = (100..150).collect();
        media.accept(0, 0, &stamps);
        media.persist(0, 0, &stamps);
        segments.begin(0, 1, None);
        segments.load(0, 1, 5, 10);
        (media, segments)
    }

    fn write(media: &mut Media, segments: &mut Segments, at: u64, stamp: u64) {
        segments.accept(0, at, 1, media);
        media.accept(0, at, &[stamp]);
    }

    fn land(media: &mut Media, segments: &mut Segments, at: u64, stamp: u64) {
        segments.persist(0, at, 1, media);
        media.persist(0, at, &[stamp]);
    }

    fn read(media: &Media, segments: &Segments, place: u32, at: u64) -> Option<u64> {
        segments.read(0, place, at, 1, media).ok().map(|stamps| stamps[0])
    }

    #[test]
    fn a_segment_keeps_what_it_has_read_and_nothing_else() {
        let (mut media, mut segments) = loaded();
        write(&mut media, &mut segments, 6, 1);
        let found = |place, at| read(&media, &segments, place, at);
        assert_eq!([found(1, 5), found(1, 6), found(1, 14)], [Some(105), Some(106), Some(114)]);
        assert_eq!([found(1, 4), found(1, 15), found(0, 5), found(2, 5)], [None; 4]);
    }

    #[test]
    fn written_data_lie_over_a_segment_that_is_read_under_them_until_they_are_on_the_media() {
        let (mut media, mut segments) = loaded();
        write(&mut media, &mut segments, 6, 1);
        segments.begin(0, 0, None);
        segments.load(0, 0, 5, 10);
        assert_eq!(read(&media, &segments, 0, 6), Some(1));
        land(&mut media, &mut segments, 6, 1);
        assert_eq!([read(&media, &segments, 0, 6), read(&media, &segments, 1, 6)], [Some(106); 2]);
    }

    #[test]
    fn what_is_joined_stays_as_old_as_it_was() {
        let (mut media, mut segments) = loaded();
        write(&mut media, &mut segments, 6, 1);
        land(&mut media, &mut segments, 6, 1);
        segments.begin(0, 2, None);
        segments.load(0, 2, 14, 4);
        write(&mut media, &mut segments, 16, 2);
        segments.copy(0, 1, 2, 15, 2);
        // In the very place of the one that it joins.
        segments.begin(0, 1, Some(1));
        segments.load(0, 1, 17, 5);
        let found = |at| read(&media, &segments, 1, at);
        assert_eq!([found(6), found(15), found(16), found(21)], [Some(106), Some(115), Some(116), Some(121)]);
        segments.load(0, 1, 6, 1);
        assert_eq!(read(&media, &segments, 1, 6), Some(1));
    }
}
