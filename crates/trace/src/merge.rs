//! Merges several traces by time; a single trace has the same interface.
use crate::error::{Place, TraceError};
use crate::formats::native::Injected;
use crate::reader::Reader;
use crate::record::{Clock, Record};
use drivelab_units::key;

/// The most traces that can be merged.
pub const TRACES_MAX: usize = 1_024;

/// How the times of several traces are aligned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// The traces share one clock.
    Clock,
    /// The traces all begin at the same time.
    Start,
}

/// Several traces as one stream.
pub struct Merge<'a> {
    traces: Vec<Trace<'a>>,
    align: Align,
    clock: Clock,
    /// The index in the merged device table, by trace and device index.
    places: Vec<Vec<Option<u32>>>,
    names: Vec<String>,
    is_single: bool,
    is_begun: bool,
    /// The trace of the last request or error.
    current: usize,
}

struct Trace<'a> {
    reader: Reader<'a>,
    first_ns: Option<u64>,
    next: Option<(Place, Record)>,
}

impl<'a> Merge<'a> {
    /// Returns an error if the clocks cannot be compared.
    pub fn new(readers: Vec<Reader<'a>>, align: Align) -> Result<Self, TraceError> {
        let option = |text: String| Err(TraceError::Option(text));
        if readers.is_empty() || readers.len() > TRACES_MAX {
            return option(format!("give 1 to {TRACES_MAX} traces"));
        }
        let own = readers[0].clock();
        if align == Align::Clock && readers.iter().any(|reader| reader.clock() != own) {
            let (clock, start) = (key!("trace.merge", "clock"), key!("trace.merge", "start"));
            return option(format!(
                "{clock}: the traces count time from different moments; {start} begins them at once"
            ));
        }
        let is_single = readers.len() == 1;
        let clock = if align == Align::Start && !is_single { Clock::Relative } else { own };
        let places = vec![Vec::new(); readers.len()];
        let trace = |reader| Trace { reader, first_ns: None, next: None };
        let traces = readers.into_iter().map(trace).collect();
        Ok(Merge { traces, align, clock, places, names: Vec::new(), is_single, is_begun: false, current: 0 })
    }

    fn advance(&mut self, at: usize) -> Result<(), TraceError> {
        let (align, is_single) = (self.align, self.is_single);
        self.current = at;
        let trace = &mut self.traces[at];
        trace.next = trace.reader.next_request()?.map(|mut record| {
            let first_ns = *trace.first_ns.get_or_insert(record.time_ns);
            if align == Align::Start && !is_single {
                record.time_ns = record.time_ns.saturating_sub(first_ns);
            }
            (trace.reader.place(), record)
        });
        Ok(())
    }

    /// The next request; its device is an index in the merged table.
    pub fn next_request(&mut self) -> Result<Option<(Place, Record)>, TraceError> {
        if !self.is_begun {
            self.is_begun = true;
            for at in 0..self.traces.len() {
                self.advance(at)?;
            }
        }
        let waiting = self.traces.iter().enumerate();
        let first =
            waiting.filter_map(|(at, trace)| trace.next.as_ref().map(|(_, next)| (next.time_ns, at))).min();
        let Some((_, at)) = first else { return Ok(None) };
        let Some((place, mut record)) = self.traces[at].next else { return Ok(None) };
        record.device = self.device(at, record.device);
        self.advance(at)?;
        Ok(Some((place, record)))
    }

    fn device(&mut self, trace: usize, device: u32) -> u32 {
        let places = &mut self.places[trace];
        let at = device as usize;
        if places.len() <= at {
            places.resize(at + 1, None);
        }
        if let Some(place) = places[at] {
            return place;
        }
        let place = self.names.len() as u32;
        places[at] = Some(place);
        let name = self.traces[trace].reader.devices().name(device);
        // Devices of different traces are different, even if their names are the same.
        self.names.push(if self.is_single { name.to_owned() } else { format!("{}:{name}", trace + 1) });
        place
    }

    /// Removes the next injected fault of a single trace; the faults of several traces are dropped, because their
    /// drives cannot be distinguished.
    pub fn take_injected(&mut self) -> Option<Injected> {
        match &mut self.traces[..] {
            [trace] => trace.reader.take_injected(),
            _ => None,
        }
    }

    /// Ends the stream.
    pub fn end(&mut self) {
        self.is_begun = true;
        self.traces.iter_mut().for_each(|trace| trace.next = None);
    }

    /// The name of a device of the merged table.
    pub fn name(&self, device: u32) -> &str {
        self.names.get(device as usize).map_or("0", String::as_str)
    }

    /// The names of the merged table: the devices of the requests so far.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The index of the trace of the last request or error.
    pub fn current(&self) -> usize {
        self.current
    }

    pub fn clock(&self) -> Clock {
        self.clock
    }

    pub fn readers(&self) -> impl Iterator<Item = &Reader<'a>> {
        self.traces.iter().map(|trace| &trace.reader)
    }
}
