//! A recorded trace as the source of a fed host: opened once for each run, request by request in constant
//! memory.
use drivelab_core::host::feed::{FedIo, Pace};
use drivelab_core::host::recording::{Recorded, Recorder, Recording};
use drivelab_trace::check::Problems;
use drivelab_trace::devices::listed;
use drivelab_trace::error::Place;
use drivelab_trace::record::Clock;
use drivelab_trace::shape::{Remap, Shape, Shaped, Shaper};
use drivelab_trace::{Kind, Reader, Record, TraceError};
use drivelab_units::{Given, SECTOR_BYTES, Sectors, Span, key};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How a trace is replayed.
#[derive(Clone, Debug)]
pub struct Replaying {
    pub pace: Pace,
    /// The only device whose requests are replayed; if `None`, the trace may have only one.
    pub device: Option<String>,
    /// Times since the first request are multiplied by this ratio.
    pub scale_time: (u64, u64),
    /// How addresses are mapped to the target; unchanged when `None`.
    pub remap: Option<Remap>,
    /// Whether all requests bypass the host's own cache, or none; as recorded when `None`.
    pub direct: Option<bool>,
    /// Whether invalid requests are left out where possible.
    pub is_lenient: bool,
    /// The target's capacity.
    pub capacity: Sectors,
    /// Whether the target accepts requests of several hosts.
    pub takes_hosts: bool,
}

/// Opens a trace at its beginning.
pub type Open = dyn Fn() -> Result<Reader<'static>, TraceError> + Send + Sync;

/// A trace, and how it is replayed.
pub struct Replayed {
    /// Its name in messages.
    pub name: String,
    pub open: Box<Open>,
    pub params: Replaying,
    met: Arc<TraceProblems>,
}

/// The problems of a trace, from the run that has read most of it.
#[derive(Debug, Default)]
struct TraceProblems(Mutex<(u64, Problems)>);

impl TraceProblems {
    fn add(&self, records: u64, problems: &Problems) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if records >= known.0 {
            *known = (records, problems.clone());
        }
    }
}

impl Replayed {
    pub fn new(name: String, open: Box<Open>, params: Replaying) -> Self {
        Replayed { name, open, params, met: Arc::default() }
    }

    /// The problems in spite of which the runs so far have continued.
    pub fn problems(&self) -> Problems {
        self.met.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

impl fmt::Debug for Replayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.name, self.params)
    }
}

impl Recording for Replayed {
    fn open(&self) -> Result<Box<dyn Recorder>, String> {
        let named = |error: TraceError| format!("{}: {error}", self.name);
        let reader = (self.open)().map_err(named)?;
        let Replaying { device, scale_time, remap, .. } = self.params.clone();
        let device = device.filter(|name| name != ALL_DEVICES);
        let shape = Shape { device, scale_time, remap, ..Shape::default() };
        let shaper = Shaper::new(shape, false).map_err(named)?;
        Ok(Box::new(Stream {
            name: self.name.clone(),
            params: self.params.clone(),
            reader,
            shaper,
            met: Arc::clone(&self.met),
            only: None,
            host: None,
            zero_ns: None,
            before: Ok(0),
            last_ns: 0,
            left_out: 0,
        }))
    }
}

/// In place of a device's name: the requests of all devices, in one address space.
const ALL_DEVICES: &str = "*";

/// A trace that is being read.
struct Stream {
    name: String,
    params: Replaying,
    reader: Reader<'static>,
    shaper: Shaper,
    met: Arc<TraceProblems>,
    /// The device, and the host, of all requests so far.
    only: Option<u32>,
    host: Option<u16>,
    /// The trace's time at instant zero of the run.
    zero_ns: Option<u64>,
    /// When the previous request was complete, for recorded think times; if that is not known, its place.
    before: Result<u64, Place>,
    /// When the previous request begins: none begins earlier, whatever the order of the trace.
    last_ns: u64,
    left_out: u64,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.met.add(self.reader.records(), self.reader.problems());
    }
}

impl Recorder for Stream {
    fn next(&mut self) -> Result<Option<Recorded>, String> {
        loop {
            let found = self.reader.next_request();
            let Some(record) = found.map_err(|error| format!("{}: {error}", self.name))? else {
                return self.is_over();
            };
            if let Some(recorded) = self.take(&record)? {
                return Ok(Some(recorded));
            }
        }
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Stream {
    /// The error message for the last request, with its place.
    fn wrong<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("{}: {}: {what}", self.name, self.reader.place()))
    }

    /// The end of the trace: checks that the device to be replayed occurred.
    fn is_over(&self) -> Result<Option<Recorded>, String> {
        let wanted = self.params.device.as_ref().filter(|name| *name != ALL_DEVICES);
        let Some(device) = wanted.filter(|_| self.only.is_none()) else {
            return Ok(None);
        };
        let devices = self.reader.devices();
        // A trace without device names has the device 0.
        let names = if devices.is_empty() { &["0".to_owned()][..] } else { devices.names() };
        if names.contains(device) {
            return Ok(None);
        }
        Err(format!(
            "{}: the trace has no device \"{device}\"; it has {}; name one of these, as with {}",
            self.name,
            listed(names),
            Given("trace.device", &names[0])
        ))
    }

    /// The I/O of a request; `None` where it is not replayed.
    fn take(&mut self, record: &Record) -> Result<Option<Recorded>, String> {
        let shaped = match self.shaper.take(record, self.reader.devices().name(record.device)) {
            Shaped::Kept(shaped) => shaped,
            Shaped::LeftOut if self.params.is_lenient => return Ok(None),
            Shaped::LeftOut if record.length == 0 => {
                return self.wrong(concat!(
                    "a read or write of no bytes; ",
                    key!("trace.lenient", "true"),
                    " leaves such requests out"
                ));
            }
            Shaped::LeftOut => return self.wrong("the request is larger than the target"),
            Shaped::Dropped | Shaped::Over => return Ok(None),
        };
        self.check_device(record)?;
        let zero_ns = self.zero(record);
        let time_ns = self.time(record, &shaped, zero_ns)?;
        if shaped.kind == Kind::Discard {
            self.left_out += 1;
            return Ok(None);
        }
        let Some(mut io) = Record { time_ns, ..shaped }.fed(0) else { return Ok(None) };
        self.check(&io)?;
        if let Some(direct) = self.params.direct {
            io.command.direct = direct;
        }
        Ok(Some(Recorded { io, response: record.response_ns.map(Span::from_ns) }))
    }

    /// A target has one address space, so requests of two devices would overlap: only on request they do.
    fn check_device(&mut self, record: &Record) -> Result<(), String> {
        let only = *self.only.get_or_insert(record.device);
        if only == record.device || self.params.device.as_deref() == Some(ALL_DEVICES) {
            return Ok(());
        }
        let devices = self.reader.devices();
        let (one, other) = (devices.name(only), devices.name(record.device));
        self.wrong(&format!(
            "the trace has several devices, \"{one}\" and \"{other}\" among them, and the target has one address space; \
             name the one that is replayed, as with {}, or take all on one with {}",
            Given("trace.device", one),
            Given("trace.device", ALL_DEVICES)
        ))
    }

    /// Instant zero of the run: for a capture that of the captured run, for all others their first request.
    fn zero(&mut self, record: &Record) -> u64 {
        let first_ns = if self.is_capture() { 0 } else { record.time_ns };
        *self.zero_ns.get_or_insert(first_ns)
    }

    fn is_capture(&self) -> bool {
        self.reader.clock() == Clock::Relative
            && self.reader.header().is_some_and(|header| header.seed.is_some())
    }

    /// When the request begins, according to the pace.
    fn time(&mut self, record: &Record, shaped: &Record, zero_ns: u64) -> Result<u64, String> {
        if self.params.pace != Pace::AfterPrevious {
            let first = self.zero_ns.unwrap_or(zero_ns);
            self.last_ns = self.last_ns.max(shaped.time_ns.saturating_sub(first).min(TIME_MAX_NS));
            return Ok(self.last_ns);
        }
        let before_ns = self.before.map_err(|place| {
            format!(
                "{}: {place}: the request has no response time, so that nobody knows how long its host thought before \
                 the next; take {} or {}",
                self.name,
                key!("trace.pace", "open"),
                key!("trace.pace", "closed")
            )
        })?;
        let since = record.time_ns.saturating_sub(zero_ns);
        let think = since.saturating_sub(before_ns);
        self.before = match record.response_ns {
            Some(response_ns) => Ok(since.saturating_add(response_ns)),
            // What the end of a captured run has met under way was complete after all that was issued.
            None if self.is_capture() => Ok(u64::MAX),
            None => Err(self.reader.place()),
        };
        let (times, by) = self.params.scale_time;
        let scaled = u128::from(think) * u128::from(times) / u128::from(by);
        Ok(u64::try_from(scaled).unwrap_or(u64::MAX).min(TIME_MAX_NS))
    }

    fn check(&mut self, io: &FedIo) -> Result<(), String> {
        let end = io.command.first.get().saturating_add(io.command.count.get());
        let capacity = self.params.capacity.get();
        if end > capacity {
            return self.wrong(&format!(
                "the request ends at byte {}, and the target has {}; {} or {} moves the requests onto \
                 it",
                u128::from(end) * u128::from(SECTOR_BYTES),
                u128::from(capacity) * u128::from(SECTOR_BYTES),
                key!("trace.remap", "wrap"),
                key!("trace.remap", "scale"),
            ));
        }
        let initiator = io.command.initiator;
        let host = *self.host.get_or_insert(initiator);
        if initiator >= HOSTS_MAX || (initiator != host && !self.params.takes_hosts) {
            return self.wrong(&format!(
                "a request of host {initiator} after one of host {host}: the target knows one host; take a drive and a \
                 controller that share scsi-tcq"
            ));
        }
        Ok(())
    }
}

/// Upper bound of a run's length; times up to here can be added without overflow.
const TIME_MAX_NS: u64 = 1 << 62;
/// Hosts on one bus, as many as a scenario may have.
const HOSTS_MAX: u16 = 16;
