//! Problems of the requests of a trace whose lines all parse: counted, with the place of the first occurrence.
use crate::error::{Place, TraceError};
use crate::record::{Clock, Record};
use drivelab_units::{SECTOR_BYTES, key};
use std::fmt;

/// The largest transfer of a command in bytes; a larger one has the wrong unit.
pub const LENGTH_MAX: u64 = 1 << 30;
/// The bounds of the mean gap between requests; outside of them times have the wrong unit.
const GAP_MAX_NS: u64 = 3_600 * 1_000_000_000;
const GAP_MIN_NS: u64 = 10;
/// The number of requests from which the mean gap is checked.
const GAPS_MIN: u64 = 1_000;

/// A problem with which a trace can still be read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Problem {
    /// An invalid line, which a lenient reader leaves out.
    Malformed,
    Unsorted,
    TimeUnit,
    NegativeGap,
    ZeroSize,
    OddSize,
    BeyondDevice,
    Length,
    /// The file ends in the middle of a record.
    Truncated,
}

impl Problem {
    pub const ALL: [Problem; 9] = [
        Problem::Malformed,
        Problem::Unsorted,
        Problem::TimeUnit,
        Problem::NegativeGap,
        Problem::ZeroSize,
        Problem::OddSize,
        Problem::BeyondDevice,
        Problem::Length,
        Problem::Truncated,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Problem::Malformed => "malformed",
            Problem::Unsorted => "unsorted",
            Problem::TimeUnit => "time-unit",
            Problem::NegativeGap => "negative-gap",
            Problem::ZeroSize => "zero-size",
            Problem::OddSize => "odd-size",
            Problem::BeyondDevice => "beyond-device",
            Problem::Length => "length",
            Problem::Truncated => "truncated",
        }
    }

    /// The remedy.
    pub const fn remedy(self) -> &'static str {
        match self {
            Problem::Malformed => concat!(key!("trace.lenient", "true"), " leaves such lines out"),
            Problem::Unsorted => concat!(
                key!("trace.sort", "true"),
                " puts the requests in order, ",
                key!("trace.lenient", "true"),
                " takes them as they come"
            ),
            Problem::TimeUnit => concat!(
                "say the unit, which is ns, us, ms, s or 100ns, with ",
                key!("trace.time_unit"),
                ", or go on with ",
                key!("trace.lenient", "true")
            ),
            Problem::NegativeGap => {
                concat!(
                    key!("trace.lenient", "true"),
                    " takes it as zero, or as unknown where it is a response time"
                )
            }
            Problem::ZeroSize => {
                concat!(
                    key!("trace.lenient", "true"),
                    " counts such requests, and leaves them out of what it writes"
                )
            }
            Problem::OddSize => concat!(
                key!("trace.lenient", "true"),
                " goes on; formats of sectors then get all sectors that it touches"
            ),
            Problem::BeyondDevice => concat!(
                key!("trace.lenient", "true"),
                " goes on; `drivelab trace convert` moves the requests onto a device, with ",
                key!("trace.remap")
            ),
            Problem::Length => {
                concat!("check ", key!("trace.format"), ", or go on with ", key!("trace.lenient", "true"))
            }
            Problem::Truncated => concat!(key!("trace.lenient", "true"), " takes what came before"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Problem::Malformed => "not a record",
            Problem::Unsorted => "the time is before that of the request above",
            Problem::TimeUnit => "the times cannot be in this unit",
            Problem::NegativeGap => "a gap or a response time is below zero",
            Problem::ZeroSize => "a read or write of no bytes",
            Problem::OddSize => "offset or length is no multiple of 512 bytes",
            Problem::BeyondDevice => "the request reaches beyond the end of the device",
            Problem::Length => "a read or write of more than 1 GiB",
            Problem::Truncated => "the file ends within a record",
        })
    }
}

/// How often a problem occurred, and where it occurred first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    pub count: u64,
    /// The number of the first line, or of the first record of a binary format.
    pub first: u64,
}

/// The counts of all problems.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    counts: [Count; Problem::ALL.len()],
}

impl Problems {
    pub fn of(&self, problem: Problem) -> Count {
        self.counts[problem as usize]
    }

    /// The problems that occurred, with their counts.
    pub fn met(&self) -> impl Iterator<Item = (Problem, Count)> + '_ {
        Problem::ALL.into_iter().zip(self.counts).filter(|(_, count)| count.count > 0)
    }

    pub fn add(&mut self, problem: Problem, place: Place) {
        let count = &mut self.counts[problem as usize];
        if count.count == 0 {
            count.first = place.number();
        }
        count.count += 1;
    }
}

/// Checks requests.
#[derive(Clone, Debug)]
pub struct Checker {
    is_lenient: bool,
    /// The clock by which the unit of time is checked; `None` if the unit was given.
    clock: Option<Clock>,
    device_bytes: Option<u64>,
    previous_ns: u64,
    first_ns: u64,
    requests: u64,
    pub problems: Problems,
}

impl Checker {
    pub fn new(is_lenient: bool, clock: Option<Clock>, device_bytes: Option<u64>) -> Self {
        let problems = Problems::default();
        Checker { is_lenient, clock, device_bytes, previous_ns: 0, first_ns: 0, requests: 0, problems }
    }

    /// Counts a problem; returns an error unless the reader is lenient.
    #[cold]
    pub fn note(&mut self, problem: Problem, place: Place) -> Result<(), TraceError> {
        self.problems.add(problem, place);
        if self.is_lenient { Ok(()) } else { Err(TraceError::Problem { place, problem }) }
    }

    /// Checks the next request of the stream, except for its order.
    pub fn check(&mut self, record: &Record, place: Place) -> Result<(), TraceError> {
        if record.kind.is_transfer() {
            if record.length == 0 {
                self.note(Problem::ZeroSize, place)?;
            } else if record.length > LENGTH_MAX {
                self.note(Problem::Length, place)?;
            }
        }
        if !(record.offset | record.length).is_multiple_of(SECTOR_BYTES) {
            self.note(Problem::OddSize, place)?;
        }
        if self.device_bytes.is_some_and(|bytes| record.end() > bytes) {
            self.note(Problem::BeyondDevice, place)?;
        }
        if let Some((least, most)) = self.clock.and_then(Clock::plausible_ns)
            && !(least..=most).contains(&record.time_ns)
        {
            self.note(Problem::TimeUnit, place)?;
        }
        Ok(())
    }

    /// Checks the order of the returned requests, and the gaps between them.
    pub fn check_order(&mut self, record: &Record, place: Place) -> Result<(), TraceError> {
        if self.requests == 0 {
            self.first_ns = record.time_ns;
        } else if record.time_ns < self.previous_ns {
            self.note(Problem::Unsorted, place)?;
        }
        self.previous_ns = record.time_ns;
        self.requests += 1;
        if self.clock == Some(Clock::Relative) && self.requests == GAPS_MIN {
            let span = self.previous_ns.saturating_sub(self.first_ns);
            let gap = span / GAPS_MIN;
            // Times in whole seconds may all be equal.
            if gap > GAP_MAX_NS || (span > 0 && gap < GAP_MIN_NS) {
                self.note(Problem::TimeUnit, place)?;
            }
        }
        Ok(())
    }
}
