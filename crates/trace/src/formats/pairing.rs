//! Builds requests from events: a request begins with its Q, and its C gives the response time.
//!
//! If no Q was recorded, it begins with its D. A C completes the request with the same first byte and length; failing
//! that, all requests that lie within it (merged requests), and its part of a larger one (a split request). Requests
//! are returned in the order of their beginning, when they are complete or when so many later ones have begun that
//! they are considered lost; so memory is bounded. Completions without a request belong to requests that began before
//! the trace.
use super::events::{Action, Event};
use crate::error::Place;
use crate::record::{Attributes, Kind, Record};
use std::collections::{BTreeSet, VecDeque};

/// The most requests that may have begun after an incomplete one.
const WINDOW: usize = 1 << 14;

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

impl Pairing {
    /// Processes the next event.
    pub fn take(&mut self, event: &Event, place: Place) {
        match event.action {
            Action::Queue => self.begin(event, place),
            Action::Issue if !self.has_open(event) => self.begin(event, place),
            Action::Issue => {}
            Action::Complete => self.complete(event),
        }
    }

    /// The next request that is complete or considered lost; with `is_over` every remaining request.
    pub fn next(&mut self, is_over: bool) -> Option<(Place, Record)> {
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
        let Event { time_ns, device, kind, offset, length, .. } = *event;
        let mut record = Record::new(time_ns, device, kind, offset, length);
        record.attributes = Attributes {
            process: event.process,
            synchronous: event.synchronous,
            force_unit_access: event.force_unit_access,
            ..Attributes::DEFAULT
        };
        let number = self.first + self.waiting.len() as u64;
        self.open.insert((device, class(kind), offset, number));
        self.longest = self.longest.max(length);
        self.waiting.push_back(Begun { place, record, left: length, is_done: false });
    }

    /// Whether an incomplete request overlaps an event.
    fn has_open(&self, event: &Event) -> bool {
        let Event { device, kind, offset, length, .. } = *event;
        let end = offset.saturating_add(length.max(1));
        let from = offset.saturating_sub(self.longest);
        let mut candidates = self.open.range((device, class(kind), from, 0)..(device, class(kind), end, 0));
        candidates.any(|&(_, _, begin, number)| {
            begin >= offset || begin + self.waiting[(number - self.first) as usize].record.length > offset
        })
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
