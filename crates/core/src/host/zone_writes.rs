//! Writes to the zones of a host-managed drive: each begins at the write pointer of its zone.
//!
//! A sequential job fills one zone after the other. A random one draws a zone and writes at its pointer; it keeps as many
//! zones open as the drive may have, and draws among these while no other may be opened. A zone without room for a write is
//! finished, and reset when it is written again. The job knows the pointers from its own writes: all zones are empty when
//! it begins. Source: fio's `zonemode=zbd` and `max_open_zones`.
use crate::rng::Stream;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::Sectors;

/// How a job writes the zones of its range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZoneWrites {
    /// Sectors of a zone; a job's range consists of whole zones.
    pub size: Sectors,
    /// The most zones that the job keeps open, at least one.
    pub open_most: u32,
}

/// Where a write goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZoneWrite {
    /// The first sector, relative to the start of the range.
    pub offset: u64,
    /// Whether the zone is reset before.
    pub resets_zone: bool,
}

/// The write pointers of a job's zones, as its writes have moved them.
pub struct ZoneWriter {
    params: ZoneWrites,
    /// Sectors from the start of each zone to its pointer.
    pointers: Vec<u64>,
    open: Vec<u32>,
}

impl ZoneWriter {
    /// All zones of a range of this many sectors are empty.
    pub fn new(params: ZoneWrites, range: Sectors) -> Self {
        let zones = (range.get() / params.size.get()) as usize;
        ZoneWriter { params, pointers: vec![0; zones], open: Vec::with_capacity(params.open_most as usize) }
    }

    /// The write of a sequential job behind the one that ended at `from`, or at the start of the next zone.
    pub fn next(&mut self, from: u64, count: Sectors) -> ZoneWrite {
        let size = self.params.size.get();
        let mut zone = (from / size) as usize % self.pointers.len();
        // At the end of a zone `from` is the start of the next one.
        let continues = self.pointers[zone] == from % size && from % size + count.get() <= size;
        if !continues && !from.is_multiple_of(size) {
            zone = (zone + 1) % self.pointers.len();
        }
        let resets_zone = !continues && self.pointers[zone] > 0;
        if resets_zone {
            self.pointers[zone] = 0;
        }
        self.write(zone, count, resets_zone)
    }

    /// The write of a random job, which has drawn this place.
    pub fn random(&mut self, drawn: u64, count: Sectors, stream: &mut Stream) -> ZoneWrite {
        let size = self.params.size.get();
        let drawn = ((drawn / size) as usize).min(self.pointers.len() - 1);
        loop {
            let is_open = self.open.contains(&(drawn as u32));
            let may_open = self.open.len() < self.params.open_most as usize;
            let at =
                if is_open || may_open { None } else { Some(stream.below(self.open.len() as u64) as usize) };
            let zone = at.map_or(drawn, |at| self.open[at] as usize);
            let has_room = self.pointers[zone] + count.get() <= size;
            if has_room || !is_open && at.is_none() {
                if !is_open && at.is_none() {
                    self.open.push(zone as u32);
                }
                if !has_room {
                    self.pointers[zone] = 0;
                }
                return self.write(zone, count, !has_room);
            }
            // The rest of a zone that a write does not fit into stays unwritten.
            self.pointers[zone] = size;
            self.open.retain(|&open| open as usize != zone);
        }
    }

    /// A write at this place has failed: where the drive's pointer is, is not known. The zone is written again after a reset.
    #[cold]
    pub fn leave(&mut self, offset: u64) {
        let zone = (offset / self.params.size.get()) as usize;
        if let Some(pointer) = self.pointers.get_mut(zone) {
            *pointer = self.params.size.get();
        }
        self.open.retain(|&open| open as usize != zone);
    }

    fn write(&mut self, zone: usize, count: Sectors, resets_zone: bool) -> ZoneWrite {
        let offset = zone as u64 * self.params.size.get() + self.pointers[zone];
        self.pointers[zone] += count.get();
        ZoneWrite { offset, resets_zone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Access, Command, Content};
    use crate::storage::drive::zones::{Zones, ZonesParams};
    use drivelab_units::Lba;

    const SIZE: u64 = 100;

    /// Writes of mixed sizes, each checked against the pointers of a drive.
    fn play(
        zones: u64,
        open_most: u32,
        writes: u32,
        mut next: impl FnMut(&mut ZoneWriter, Sectors) -> ZoneWrite,
    ) {
        let range = Sectors::new(SIZE * zones);
        let params = ZonesParams { size: Sectors::new(SIZE), conventional: 0, open_most };
        let mut drive = Zones::new(params, range);
        let mut writer = ZoneWriter::new(ZoneWrites { size: Sectors::new(SIZE), open_most }, range);
        let mut sizes = Stream::named(7, "sizes");
        for _ in 0..writes {
            let count = Sectors::new([8, 16, 32][sizes.below(3) as usize]);
            let ZoneWrite { offset, resets_zone } = next(&mut writer, count);
            let content = if resets_zone { Content::AfterReset } else { Content::Data };
            let command = Command { content, ..Command::new(0, Access::Write, Lba::new(offset), count) };
            assert_eq!(drive.refusal(&command), None, "{offset} + {count:?}, reset {resets_zone}");
            drive.accept(&command);
            assert!(writer.open.len() <= open_most as usize);
        }
    }

    #[test]
    fn a_drive_refuses_no_write_of_a_sequential_job() {
        let mut from = 0;
        play(5, 1, 2_000, |writer, count| {
            let write = writer.next(from, count);
            from = write.offset + count.get();
            write
        });
    }

    #[test]
    fn a_drive_refuses_no_write_of_a_random_job() {
        for open_most in [1, 2, 7, 40] {
            let mut stream = Stream::named(3, "places");
            play(20, open_most, 5_000, |writer, count| {
                let drawn = stream.below(20 * SIZE);
                writer.random(drawn, count, &mut stream)
            });
        }
    }

    #[test]
    fn a_sequential_job_fills_each_zone_before_the_next_and_resets_it_in_the_second_round() {
        let params = ZoneWrites { size: Sectors::new(SIZE), open_most: 1 };
        let mut writer = ZoneWriter::new(params, Sectors::new(2 * SIZE));
        let mut from = 0;
        let found: Vec<(u64, bool)> = (0..9)
            .map(|_| {
                let write = writer.next(from, Sectors::new(32));
                from = write.offset + 32;
                (write.offset, write.resets_zone)
            })
            .collect();
        let offsets = [0, 32, 64, 100, 132, 164, 0, 32, 64];
        let expected: Vec<_> = offsets.iter().enumerate().map(|(at, &offset)| (offset, at == 6)).collect();
        assert_eq!(found, expected);
    }
}
