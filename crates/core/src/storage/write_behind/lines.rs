//! Reads by lines, for a cache that reads ahead: what memory does not have is fetched in whole lines, a
//! limited number at a time.
//!
//! A read that memory does not have completely is served line by line, upward, one read after the other: what
//! memory has is copied; what a fetch is bringing is waited for; everything else is fetched, once fewer than
//! the permitted number of fetches are under way. Each part is copied when it has arrived, and with the last
//! copy the read is done; so a large read never has more than that number of lines at the device, whatever
//! the device could do. Fetches ahead of streams use the fetches that reads leave free, and only while there
//! is room for their data: unread lines and other clean data are dropped for that, the least recently used
//! first, and data to be flushed never.
//!
//! What memory has of a part when the read gets to it is newer than what a fetch brings, and is used. A read
//! waits for a fetch that was under way before it only for sectors that have not been written since. If a
//! fetch fails, its reads go to the device directly, because the faulty sector may be none of theirs.
use super::WriteBehind;
use super::extents::State;
use super::params::ReadAhead;
use super::streams::Streams;
use super::table::CommandEntry;
use crate::command::{Access, Breakdown, Command, Completion, Outcome};
use crate::storage::tree::Slot;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors};

/// A part of a read that waits for a line, and the next one that waits for the same.
#[derive(Clone, Copy)]
struct ReadPart {
    read: Slot,
    count: Sectors,
    next: Slot,
}

/// The waiting parts. Places are allocated only while more wait than ever before.
#[derive(Default)]
struct ReadParts {
    parts: Vec<ReadPart>,
    free: Vec<Slot>,
}

impl ReadParts {
    fn push(&mut self, chain: Slot, read: Slot, count: Sectors) -> Slot {
        let part = ReadPart { read, count, next: chain };
        if let Some(place) = self.free.pop() {
            self.parts[place as usize] = part;
            return place;
        }
        self.parts.push(part);
        self.parts.len() as Slot - 1
    }

    fn pop(&mut self, chain: &mut Slot) -> Option<(Slot, Sectors)> {
        let place = *chain;
        let &ReadPart { read, count, next } = self.parts.get(place as usize)?;
        *chain = next;
        self.free.push(place);
        Some((read, count))
    }

    fn places(&self) -> usize {
        self.parts.len()
    }
}

/// The work under way for reads by lines.
pub struct Lines {
    /// Reads that are served line by line and have not reached their ends.
    readers: VecDeque<Slot>,
    /// Parts of reads that wait for fetches.
    parts: ReadParts,
    streams: Streams,
    /// Fetches of lines at the device.
    fetching: u32,
    device_end: Lba,
}

impl Lines {
    pub fn new(params: Option<&ReadAhead>) -> Self {
        Lines {
            readers: VecDeque::new(),
            parts: ReadParts::default(),
            streams: Streams::new(params),
            fetching: 0,
            device_end: Lba::new(u64::MAX),
        }
    }

    /// A read arrives: it may continue where another one ended.
    pub fn observe_read(&mut self, first: Lba, end: Lba, params: &ReadAhead) {
        self.streams.observe_read(first, end, self.device_end, params);
    }

    /// A read waits to be served line by line.
    pub fn wait(&mut self, read: Slot) {
        self.readers.push_back(read);
    }

    /// Maximum number of places ever used at once.
    pub fn places(&self) -> usize {
        self.parts.places()
    }

    /// The end of the line that begins here.
    fn end_of(&self, line: Lba, params: &ReadAhead) -> Lba {
        self.device_end.min(Lba::new(line.get().saturating_add(params.unit.get())))
    }
}

/// Where a part of a read comes from.
enum PartSource {
    Memory,
    /// A fetch that is under way.
    Coming(Slot),
    Device,
}

impl WriteBehind {
    /// Sets the end of the device, which no line exceeds.
    pub fn bound(&mut self, capacity: Sectors) {
        self.lines.device_end = Lba::ZERO + capacity;
    }

    /// Number of line fetches at the device.
    pub fn fetching(&self) -> usize {
        self.lines.fetching as usize
    }

    /// Serves reads part by part as far as possible, and fetches ahead with what they leave.
    pub(super) fn fetch(&mut self, now: Instant) {
        let Some(params) = self.params.read_ahead else { return };
        while let Some(&read) = self.lines.readers.front() {
            let entry = self.table.get(read);
            let is_over = entry.failed || entry.cursor >= entry.command.end();
            if is_over {
                self.lines.readers.pop_front();
                self.table.get_mut(read).waits = false;
                self.end_part(now, read, 0);
            } else if !self.next_part(now, read, &params) {
                break;
            }
        }
        while self.lines.fetching < params.outstanding
            && let Some(line) = self.lines.streams.next_line(params.unit.get())
        {
            self.fetch_ahead(now, line, &params);
        }
    }

    /// The next part of a read. Returns whether it could be handled.
    fn next_part(&mut self, now: Instant, read: Slot, params: &ReadAhead) -> bool {
        let (at, end) = (self.table.get(read).cursor, self.table.get(read).command.end());
        let line = line_of(at, params);
        let part_end = end.min(Lba::new(line.get().saturating_add(params.unit.get())));
        let count = part_end - at;
        let fetch = match self.source(at, part_end) {
            PartSource::Memory => {
                self.use_memory(at, part_end);
                self.give(read, at, part_end, None);
                self.copy_part(now, read, count);
                None
            }
            PartSource::Coming(fetch) => Some(fetch),
            PartSource::Device if self.lines.fetching == params.outstanding => return false,
            PartSource::Device => {
                let fetch = self.line(now, line, params, true);
                let end = self.table.get(fetch).command.end();
                self.reserve(fetch, line, end);
                self.send(fetch);
                Some(fetch)
            }
        };
        if let Some(fetch) = fetch {
            self.give(read, at, part_end, Some(self.table.get(fetch).command.id));
            self.table.get_mut(fetch).waiting =
                self.lines.parts.push(self.table.get(fetch).waiting, read, count);
        }
        let entry = self.table.get_mut(read);
        entry.parts += 1;
        entry.cursor = part_end;
        true
    }

    /// The source of these sectors.
    fn source(&self, first: Lba, end: Lba) -> PartSource {
        let (mut at, mut coming) = (first, None);
        for slot in self.extents.touching(first, end) {
            let extent = self.extents.get(slot);
            let other = |fetch: Slot| coming.is_some_and(|known| known != fetch);
            match extent.state {
                _ if extent.first > at => return PartSource::Device,
                State::Coming(fetch) if other(fetch) => return PartSource::Device,
                State::Coming(fetch) => coming = Some(fetch),
                _ => {}
            }
            at = extent.end;
        }
        match coming {
            _ if at < end => PartSource::Device,
            Some(fetch) => PartSource::Coming(fetch),
            None => PartSource::Memory,
        }
    }

    /// Fetches a line that no read waits for yet, if any of it is missing and there is room for it.
    fn fetch_ahead(&mut self, now: Instant, line: Lba, params: &ReadAhead) {
        let end = self.lines.end_of(line, params);
        if line >= end || self.extents.hole(line, end).is_none() {
            return;
        }
        let fetch = self.line(now, line, params, false);
        self.reserve(fetch, line, end);
        if self.table.get(fetch).fills {
            return self.send(fetch);
        }
        self.lines.fetching -= 1;
        self.table.free(fetch);
    }

    /// Starts the fetch of a line.
    fn line(&mut self, now: Instant, line: Lba, params: &ReadAhead, synchronous: bool) -> Slot {
        let end = self.lines.end_of(line, params);
        let own = self.own_command(Access::Read, line);
        let command = Command { synchronous, force_unit_access: false, count: end - line, ..own };
        self.lines.fetching += 1;
        self.table.add(CommandEntry::new(&command, now))
    }

    fn copy_part(&mut self, now: Instant, read: Slot, count: Sectors) {
        self.table.get_mut(read).copy = self.memory.copy(now, read, count);
    }

    /// The device has answered the fetch of a line.
    pub(super) fn line_came(&mut self, now: Instant, fetch: Slot, completion: &Completion) {
        let done = completion.outcome == Outcome::Done;
        self.lines.fetching -= 1;
        self.fill(fetch, done);
        let mut waiting = self.table.get(fetch).waiting;
        while let Some((read, count)) = self.lines.parts.pop(&mut waiting) {
            let entry = self.table.get_mut(read);
            if !done {
                entry.failed = true;
                self.end_part(now, read, 1);
                continue;
            }
            // The breakdown of the line that arrives last is the read's own, unless its fetch was under way
            // before.
            entry.way = Breakdown::default();
            if completion.submitted >= entry.submitted {
                entry.way = completion.breakdown;
                entry.way.queue += completion.submitted - entry.submitted;
            }
            self.copy_part(now, read, count);
        }
        self.table.free(fetch);
        self.end_own(completion.id);
    }

    /// This many parts of a read are done; with the last of them the read is, or it goes to the device after
    /// all.
    pub(super) fn end_part(&mut self, now: Instant, read: Slot, parts: u32) {
        let entry = self.table.get_mut(read);
        entry.parts -= parts;
        if entry.parts > 0 || entry.waits {
            return;
        }
        if entry.failed {
            self.forget(read);
            self.remember(read);
            return self.send(read);
        }
        self.answer_from_memory(now, read);
    }
}

/// The beginning of the line that has this sector.
fn line_of(at: Lba, params: &ReadAhead) -> Lba {
    Lba::new(at.get() - at.get() % params.unit.get())
}
