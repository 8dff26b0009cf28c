//! A drive's cache in plain words, for a drive that is left alone long enough after each command: the head has then read as
//! far as it was to, and stands there.
//!
//! - A read leaves a segment: what it asked for, what lay before it in the buffer already, and what the head read on
//!   behind.
//! - A read finds all its blocks in one segment, or in data that wait for the media and from there on in one: a hit. A
//!   segment holds the last blocks of what it has seen, as many as fit.
//! - The segment that was used longest ago makes room, for another one and for written data.
//! - A write takes every segment away that has a block of it. Written data may stay as a segment once they have landed.
use super::dirty;
use drivelab_core::storage::drive::cache::params::{CacheParams, Reach, WriteBackParams};
use drivelab_core::trace::Served;
use drivelab_units::Sectors;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Segment {
    start: u64,
    end: u64,
    /// Whether the head waits behind it for its next block.
    head: bool,
}

/// What one segment does for a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Nothing,
    All,
    /// What lies before this block.
    Until(u64),
    /// All, once the head goes on.
    Coming,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    params: CacheParams,
    track: u64,
    /// The one that was used longest ago first.
    segments: Vec<Segment>,
    /// Whether the head waits behind blocks that are not kept any more.
    lost_head: bool,
    /// Written data that the media do not have.
    pub written: dirty::Model,
    /// Segments and blocks that reads may have now.
    most: usize,
    room: u64,
}

impl Model {
    pub fn new(params: &CacheParams, track: u64) -> Self {
        let mut model = Model {
            params: *params,
            track,
            segments: Vec::new(),
            lost_head: false,
            written: dirty::Model::default(),
            most: 0,
            room: 0,
        };
        model.share();
        model
    }

    /// Sectors of a segment where all are of one size, and the most that one can have.
    fn size(&self) -> u64 {
        let all = self.params.size.get();
        if self.params.fixed { all / u64::from(self.params.segments) } else { all }
    }

    fn window(&self) -> u64 {
        self.size().min(self.room)
    }

    fn blocks(&self) -> u64 {
        self.segments.iter().map(|segment| (segment.end - segment.start).min(self.size())).sum()
    }

    /// Segments and sectors in use for reads and for writes.
    pub fn held(&self) -> [(u32, u64); 2] {
        [(self.segments.len() as u32, self.blocks().min(self.room)), self.written.taken()]
    }

    /// What written data may have.
    pub fn for_writes(&self) -> Option<WriteBackParams> {
        let params = self.params.write_back?;
        if !self.params.separate_writes {
            return Some(params);
        }
        let one = Sectors::new(self.params.size.get() / u64::from(self.params.segments));
        Some(WriteBackParams { limit: params.limit.min(one), segments: 1, ..params })
    }

    /// Reads have what written data leave, or all but one segment where one is kept for writes.
    fn share(&mut self) {
        let (runs, sectors) = self.written.taken();
        let (all, size) = (self.params.segments, self.params.size.get());
        if self.params.separate_writes {
            (self.most, self.room) = (all as usize - 1, size - size / u64::from(all));
        } else {
            (self.most, self.room) = (all.saturating_sub(runs) as usize, size - sectors);
        }
        while self.segments.len() > self.most
            || self.blocks() > self.room && self.segments.len() > usize::from(self.room > 0)
        {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        self.lost_head |= self.segments.remove(0).head;
    }

    /// Where the head stops that reads on behind `end`.
    fn limit(&self, start: u64, end: u64) -> u64 {
        let far = end + self.params.read_ahead.limit.get();
        let track_end = |block: u64| (block / self.track + 1) * self.track;
        match self.params.read_ahead.reach {
            Reach::Nothing => end,
            Reach::Limit => far,
            // One head: a track is a cylinder.
            Reach::Track | Reach::Cylinder => far.min(track_end(end - 1)),
            Reach::NextTrack if start < end / self.track * self.track => track_end(end) + self.track,
            Reach::NextTrack => track_end(end),
        }
    }

    fn ask(&self, segment: &Segment, first: u64, end: u64) -> Found {
        let at_head = first == segment.end && segment.head && self.params.read_ahead.covers_front;
        let inside = segment.start <= first && first < segment.end;
        if !(inside || at_head) || segment.end > first + self.window() {
            return Found::Nothing;
        }
        match end <= segment.end {
            true => Found::All,
            false if segment.head => Found::Coming,
            false => Found::Until(segment.end),
        }
    }

    /// What may become of a read: how it is served, and the cache after it. More than one where several segments have all.
    pub fn read(&self, first: u64, end: u64) -> Vec<(Served, Model)> {
        let waits = |at: &u64| self.written.waiting.contains_key(at) && !self.params.separate_writes;
        let from = (first..end).find(|at| !waits(at)).unwrap_or(end);
        if from == end {
            return vec![(Served::Buffered, self.clone())];
        }
        let found: Vec<_> = self.segments.iter().map(|segment| self.ask(segment, from, end)).collect();
        let places = |what| (0..found.len()).filter(|&at| found[at] == what).collect::<Vec<_>>();
        if found.contains(&Found::All) {
            return places(Found::All).into_iter().map(|at| (Served::Buffered, self.hit(at, end))).collect();
        }
        if found.contains(&Found::Coming) {
            return places(Found::Coming).into_iter().map(|at| (Served::Met, self.met(at, end))).collect();
        }
        let parts = found.iter().filter_map(|found| match *found {
            Found::Until(block) => Some(block),
            _ => None,
        });
        vec![(Served::Chosen, self.fetched(first, parts.max().unwrap_or(from), end))]
    }

    /// A read that must come from the media does so, whatever the buffer has.
    pub fn read_forced(&self, first: u64, end: u64) -> Model {
        self.fetched(first, first, end)
    }

    /// A segment has answered a read. The head reads on behind it if it was there, or if it is to and has nothing to do.
    fn hit(&self, at: usize, end: u64) -> Model {
        let mut model = self.clone();
        let mut segment = model.segments.remove(at);
        let limit = self.limit(segment.start, end).max(segment.end);
        let idle = !self.lost_head && self.segments.iter().all(|segment| !segment.head);
        let starts = self.params.read_ahead.on_hit && idle && limit > segment.end;
        if segment.head || starts && self.params.read_ahead.reach != Reach::Nothing {
            segment = Segment { end: limit, head: true, ..segment };
        }
        model.segments.push(segment);
        model
    }

    fn met(&self, at: usize, end: u64) -> Model {
        let mut model = self.clone();
        let segment = model.segments.remove(at);
        let limit = self.limit(segment.start, end).max(end).max(segment.end);
        model.segments.push(Segment { end: limit, ..segment });
        model
    }

    /// The arm is needed elsewhere.
    pub fn leave(&mut self) {
        self.segments.iter_mut().for_each(|segment| segment.head = false);
        self.lost_head = false;
    }

    /// The media have given what lies behind `sought`: one segment with what lay before the read.
    fn fetched(&self, first: u64, sought: u64, end: u64) -> Model {
        let mut model = self.clone();
        model.leave();
        let mut start = first;
        if sought > first && first > 0 {
            let before = |segment: &Segment| {
                segment.start < first && model.ask(segment, first - 1, first) == Found::All
            };
            let (joined, kept): (Vec<Segment>, Vec<Segment>) =
                model.segments.iter().copied().partition(before);
            start = joined.iter().map(|segment| segment.start).min().unwrap_or(first);
            model.segments = kept;
        }
        let end = model.limit(start, end);
        model.place(Segment { start, end, head: true });
        model.lost_head = false;
        model
    }

    fn place(&mut self, segment: Segment) {
        if self.most == 0 || self.room == 0 {
            return;
        }
        while self.segments.len() >= self.most {
            self.drop_oldest();
        }
        self.segments.push(segment);
        while self.blocks() > self.room && self.segments.len() > 1 {
            self.drop_oldest();
        }
    }

    /// No segment may have a block of these.
    fn forget(&mut self, first: u64, end: u64) {
        let has = |segment: &Segment| segment.start < end && first < segment.end;
        self.lost_head |= self.segments.iter().any(|segment| has(segment) && segment.head);
        self.segments.retain(|segment| !has(segment));
    }

    /// The cache takes a write.
    pub fn take(&mut self, write: u64, first: u64, end: u64) {
        self.forget(first, end);
        let sector = dirty::Sector { write, sequence: write, there: 0 };
        self.written.waiting.extend((first..end).map(|at| (at, sector)));
        self.share();
    }

    /// A write goes past the cache.
    pub fn pass(&mut self, first: u64, end: u64) {
        self.leave();
        self.forget(first, end);
        self.written.waiting.retain(|at, _| !(first..end).contains(at));
        // Without written data the room for reads never changes.
        if self.params.write_back.is_some() {
            self.share();
        }
    }

    /// The arm has taken what waited from this block on to the media. Returns up to where that should be.
    pub fn destage(&mut self, first: u64) -> u64 {
        let run = self.for_writes().expect("written data").run.get();
        let end = self.written.launched(first, run, 0);
        self.leave();
        self.written.flying = self.written.take(first, end);
        self.share();
        self.written.flying.clear();
        self.forget(first, end);
        if self.params.keeps_written && !self.params.separate_writes {
            self.place(Segment { start: first, end, head: false });
        }
        self.share();
        end
    }
}
