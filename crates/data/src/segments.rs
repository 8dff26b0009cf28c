//! The contents of the segments of drives' buffers: the media as they were when the head read them.
//!
//! Nothing is copied as long as nothing changes. A segment is a stretch of addresses with the drive's present
//! contents, except for sectors that have changed since: for these the old data are kept. For written data
//! that waited in the cache when a sector was read, the segment has nothing of its own: once they are on the
//! media, it has the media's earlier contents. A correct drive never delivers such a sector, because it drops
//! a segment of which anything changes.
use crate::cell::{Cell, Stamp};
use crate::media::Media;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

#[derive(Clone)]
struct Segment<C> {
    first: u64,
    end: u64,
    /// The old contents of sectors that have changed since they were read.
    kept: BTreeMap<u64, C>,
}

impl<C> Segment<C> {
    fn new() -> Self {
        Segment { first: 0, end: 0, kept: BTreeMap::new() }
    }

    /// Extends the segment by these addresses, if they touch it; else it holds only these.
    fn reach(&mut self, first: u64, end: u64, most: u64) {
        let touches = self.first < self.end && first <= self.end && self.first <= end;
        let (from, to) = if touches { (self.first.min(first), self.end.max(end)) } else { (first, end) };
        // The oldest blocks are displaced by newer ones.
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

/// The segments of all drives.
#[derive(Clone)]
pub struct Segments<C = Stamp> {
    /// By drive: the maximum that is kept of a segment, and its segments by place.
    drives: Vec<(u64, Vec<Segment<C>>)>,
}

/// A drive delivers from a segment a sector that it never had: the first one.
pub struct NotHeld(pub u64);

impl<C: Cell> Segments<C> {
    /// For drives whose segments have at most this many sectors.
    pub fn new(most: impl Iterator<Item = u64>) -> Self {
        Segments { drives: most.map(|most| (most, Vec::new())).collect() }
    }

    /// Number of drives.
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

    /// A segment is started anew, with the contents of another one.
    pub fn begin(&mut self, drive: u16, place: u32, joins: Option<u32>) {
        let before = joins.map_or_else(Segment::new, |joined| self.at(drive, joined).1.clone());
        *self.at(drive, place).1 = before;
    }

    /// The head reads for a segment.
    pub fn load(&mut self, drive: u16, place: u32, first: u64, count: u64) {
        let (most, segment) = self.at(drive, place);
        segment.load(first, first + count, most);
    }

    /// A segment gets another one's contents of these sectors.
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

    /// A drive is about to accept data for these sectors: segments keep their old contents.
    pub fn accept(&mut self, drive: u16, first: u64, count: u64, media: &Media<C>) {
        self.keep(drive, first, count, |at| Some(media.get(drive, at)));
    }

    /// Data for these sectors are about to reach the media of a drive.
    pub fn persist(&mut self, drive: u16, first: u64, count: u64, media: &Media<C>) {
        self.keep(drive, first, count, |at| {
            let there = media.sector(drive, at);
            (there.accepted != there.persisted).then_some(there.persisted)
        });
    }

    /// The media contents of these sectors are about to change silently: segments keep what they have read.
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

    /// A new drive has this number.
    pub fn replace(&mut self, drive: u16) {
        self.drives[usize::from(drive)].1.clear();
    }

    /// The power is cut.
    pub fn clear(&mut self) {
        self.drives.iter_mut().for_each(|(_, segments)| segments.clear());
    }

    /// Number of sectors kept because they have changed.
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
        // In the same place as the one that it joins.
        segments.begin(0, 1, Some(1));
        segments.load(0, 1, 17, 5);
        let found = |at| read(&media, &segments, 1, at);
        assert_eq!([found(6), found(15), found(16), found(21)], [Some(106), Some(115), Some(116), Some(121)]);
        segments.load(0, 1, 6, 1);
        assert_eq!(read(&media, &segments, 1, 6), Some(1));
    }
}
