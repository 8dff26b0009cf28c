//! Builds requests from events: a request begins with its Q, and its C gives the response time.
//!
//! If no Q was recorded, it begins with its D. A C completes the request with the same first byte and length; failing
//! that, all requests that lie within it (merged requests), and its part of a larger one (a split request). Requests
//! are returned in the order of their beginning, when they are complete or when so many later ones have begun that
//! they are considered lost; so memory is bounded. Completions without a request belong to requests that began before
//! the trace. If a trace has nothing but completions, each is a request without a response time.
use super::events::{Action, Event};
use crate::error::Place;
use crate::lines::Fault;
use crate::record::{Attributes, Kind, Record};
use std::collections::{BTreeSet, VecDeque};

/// The most requests that may have begun after an incomplete one, and the number of completions after which a trace
/// without a beginning has nothing but completions.
const WINDOW: usize = 1 << 14;
const LATE: Fault = Fault::Layout(
    "a request begins here, behind more than 16,384 completions of requests whose beginnings are not in the trace",
);
const COMPLETIONS: &str = "the trace has only completions: the time of a request is that of its completion, and no \
                           response time is known";

/// The requests that have begun and were not returned yet.
#[derive(Default)]
pub struct Pairing {
    waiting: VecDeque<Begun>,
    /// The number of the first waiting request.
    first: u64,
    /// The incomplete requests: device, class, first byte, number.
    open: BTreeSet<(u32, u8, u64, u64)>,
    /// The length of the longest request so far in bytes, which bounds the search to lower addresses.
    longest: u64,
    /// Whether a request has begun.
    has_begun: bool,
    /// Completions before the first beginning.
    completions: VecDeque<(Place, Record)>,
    /// Whether the trace has only completions.
    is_completions: bool,
}

struct Begun {
    place: Place,
    record: Record,
    /// Bytes that have not completed.
    left: u64,
    is_done: bool,
}

/// The class of a request: an event completes only requests of its own kind.
const fn class(kind: Kind) -> u8 {
    kind as u8
}

/// The request of an event.
fn record_of(event: &Event) -> Record {
    let Event { time_ns, device, kind, offset, length, .. } = *event;
    let attributes = Attributes {
        process: event.process,
        synchronous: event.synchronous,
        force_unit_access: event.force_unit_access,
        ..Attributes::DEFAULT
    };
    Record { attributes, ..Record::new(time_ns, device, kind, offset, length) }
}

impl Pairing {
    /// Processes the next event.
    pub fn take(&mut self, event: &Event, place: Place) -> Result<(), Fault> {
        match event.action {
            Action::Complete if !self.has_begun => {
                self.completions.push_back((place, record_of(event)));
                self.is_completions |= self.completions.len() > WINDOW;
                return Ok(());
            }
            Action::Complete => {
                self.complete(event);
                return Ok(());
            }
            _ if self.is_completions => return Err(LATE),
            Action::Queue | Action::Insert => self.begin(event, place),
            Action::Issue if !self.has_open(event) => self.begin(event, place),
            Action::Issue => {}
            Action::Start => self.start(event, place),
        }
        self.has_begun = true;
        self.completions.clear();
        Ok(())
    }

    /// What a survey says of the requests.
    pub fn remark(&self) -> Option<&'static str> {
        self.is_completions.then_some(COMPLETIONS)
    }

    /// The next request that is complete or considered lost; with `is_over` every remaining request.
    pub fn next(&mut self, is_over: bool) -> Option<(Place, Record)> {
        if !self.has_begun {
            self.is_completions |= is_over && !self.completions.is_empty();
            return if self.is_completions { self.completions.pop_front() } else { None };
        }
        let first = self.waiting.front()?;
        if !(first.is_done || is_over || self.waiting.len() > WINDOW) {
            return None;
        }
        let first = self.waiting.pop_front()?;
        if !first.is_done {
            self.close(&first.record, self.first);
        }
        self.first += 1;
        Some((first.place, first.record))
    }

    fn begin(&mut self, event: &Event, place: Place) {
        let record = record_of(event);
        let Record { device, kind, offset, length, .. } = record;
        let number = self.first + self.waiting.len() as u64;
        self.open.insert((device, class(kind), offset, number));
        self.longest = self.longest.max(length);
        self.waiting.push_back(Begun { place, record, left: length, is_done: false });
    }

    /// The issue of a request that may have grown since it was inserted.
    fn start(&mut self, event: &Event, place: Place) {
        let Some((begin, number)) = self.open_at(event) else { return self.begin(event, place) };
        let Event { device, kind, offset, length, .. } = *event;
        let begun = &mut self.waiting[(number - self.first) as usize];
        if begun.record.offset < offset || begun.record.end() > offset.saturating_add(length) {
            return;
        }
        (begun.record.offset, begun.record.length, begun.left) = (offset, length, length);
        self.open.remove(&(device, class(kind), begin, number));
        self.open.insert((device, class(kind), offset, number));
        self.longest = self.longest.max(length);
    }

    /// Whether an incomplete request overlaps an event.
    fn has_open(&self, event: &Event) -> bool {
        self.open_at(event).is_some()
    }

    /// The first byte and the number of an incomplete request that overlaps an event.
    fn open_at(&self, event: &Event) -> Option<(u64, u64)> {
        let Event { device, kind, offset, length, .. } = *event;
        let end = offset.saturating_add(length.max(1));
        let from = offset.saturating_sub(self.longest);
        let mut candidates = self.open.range((device, class(kind), from, 0)..(device, class(kind), end, 0));
        let found = candidates.find(|&&(_, _, begin, number)| {
            begin >= offset || begin + self.waiting[(number - self.first) as usize].record.length > offset
        });
        found.map(|&(_, _, begin, number)| (begin, number))
    }

    fn complete(&mut self, event: &Event) {
        let Event { device, kind, offset, length, .. } = *event;
        let key = (device, class(kind), offset);
        let mut at_offset = self.open.range((key.0, key.1, key.2, 0)..=(key.0, key.1, key.2, u64::MAX));
        let is_same = |number: &u64| self.waiting[(number - self.first) as usize].record.length == length;
        let same = at_offset.find(|(.., number)| is_same(number)).map(|&(.., number)| number);
        if let Some(number) = same {
            self.finish(number, event.time_ns);
            return;
        }
        if length == 0 {
            return;
        }
        let (end, from) = (offset.saturating_add(length), offset.saturating_sub(self.longest));
        let touched = self.open.range((device, class(kind), from, 0)..(device, class(kind), end, 0));
        let touched: Vec<u64> = touched.map(|&(.., number)| number).collect();
        for number in touched {
            let begun = &mut self.waiting[(number - self.first) as usize];
            let (begin, behind) = (begun.record.offset.max(offset), begun.record.end().min(end));
            begun.left = begun.left.saturating_sub(behind.saturating_sub(begin));
            if begun.left == 0 && begun.record.length > 0 {
                self.finish(number, event.time_ns);
            }
        }
    }

    fn finish(&mut self, number: u64, time_ns: u64) {
        let begun = &mut self.waiting[(number - self.first) as usize];
        begun.is_done = true;
        begun.record.response_ns = time_ns.checked_sub(begun.record.time_ns);
        let record = begun.record;
        self.close(&record, number);
    }

    fn close(&mut self, record: &Record, number: u64) {
        self.open.remove(&(record.device, class(record.kind), record.offset, number));
    }
}
