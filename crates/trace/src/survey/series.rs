//! The course of a trace over time: at most 512 bins of equal width, which doubles when the trace exceeds them.
use crate::record::{Kind, Record};
use serde::Serialize;
use std::collections::VecDeque;

const BINS_MAX: u64 = 512;
/// The initial width of a bin: 1 ms.
const WIDTH_MIN_NS: u64 = 1_000_000;

/// Bins along the trace's clock.
pub struct Series {
    width_ns: u64,
    /// The index of the first bin: its time divided by the width.
    base: u64,
    bins: VecDeque<Bin>,
}

/// The requests of a bin.
#[derive(Clone, Copy, Default)]
struct Bin {
    reads: u64,
    writes: u64,
    others: u64,
    bytes: u64,
    /// The time that requests spent in the system within the bin.
    residence_ns: u128,
}

impl Default for Series {
    fn default() -> Self {
        Series { width_ns: WIDTH_MIN_NS, base: 0, bins: VecDeque::new() }
    }
}

impl Series {
    pub fn take(&mut self, record: &Record) {
        let bin = self.bin(record.time_ns);
        match record.kind {
            Kind::Read => bin.reads += 1,
            Kind::Write => bin.writes += 1,
            Kind::Flush | Kind::Discard => bin.others += 1,
        }
        if record.kind.is_transfer() {
            bin.bytes = bin.bytes.saturating_add(record.length);
        }
        if let Some(response) = record.response_ns {
            self.add_residence(record.time_ns, record.time_ns.saturating_add(response));
        }
    }

    /// Distributes a request's time in the system over the bins that it overlaps.
    fn add_residence(&mut self, from: u64, until: u64) {
        if until == from {
            return;
        }
        // Creates the bins of both ends first, because either may double the width.
        self.bin(until - 1);
        let mut at = from;
        while at < until {
            let end = (at / self.width_ns).saturating_add(1).saturating_mul(self.width_ns).min(until);
            self.bin(at).residence_ns += u128::from(end - at);
            at = end;
        }
    }

    /// The bin of a time; creates the bins between it and the existing ones.
    fn bin(&mut self, time_ns: u64) -> &mut Bin {
        if self.bins.is_empty() {
            self.base = time_ns / self.width_ns;
            self.bins.push_back(Bin::default());
        }
        loop {
            let number = time_ns / self.width_ns;
            let last = self.base + self.bins.len() as u64 - 1;
            if number.max(last) - number.min(self.base) < BINS_MAX {
                while number < self.base {
                    self.bins.push_front(Bin::default());
                    self.base -= 1;
                }
                let at = (number - self.base) as usize;
                if at >= self.bins.len() {
                    self.bins.resize(at + 1, Bin::default());
                }
                return &mut self.bins[at];
            }
            self.double();
        }
    }

    #[cold]
    fn double(&mut self) {
        let base = self.base / 2;
        let mut halved: VecDeque<Bin> = VecDeque::new();
        for (number, bin) in (self.base..).zip(&self.bins) {
            let at = (number / 2 - base) as usize;
            if at == halved.len() {
                halved.push_back(Bin::default());
            }
            let sum = &mut halved[at];
            sum.reads += bin.reads;
            sum.writes += bin.writes;
            sum.others += bin.others;
            sum.bytes = sum.bytes.saturating_add(bin.bytes);
            sum.residence_ns += bin.residence_ns;
        }
        (self.base, self.bins, self.width_ns) = (base, halved, self.width_ns * 2);
    }

    pub fn report(&self) -> Report {
        let all = |value: fn(&Bin) -> u64| self.bins.iter().map(value).collect();
        let width = self.width_ns as f64;
        Report {
            width_ns: self.width_ns,
            first_ns: self.base.saturating_mul(self.width_ns),
            reads: all(|bin| bin.reads),
            writes: all(|bin| bin.writes),
            others: all(|bin| bin.others),
            bytes: all(|bin| bin.bytes),
            mean_depth: self.bins.iter().map(|bin| bin.residence_ns as f64 / width).collect(),
        }
    }
}

/// A value for each bin; the first begins at `first_ns`.
#[derive(Serialize)]
pub struct Report {
    width_ns: u64,
    first_ns: u64,
    reads: Vec<u64>,
    writes: Vec<u64>,
    others: Vec<u64>,
    bytes: Vec<u64>,
    mean_depth: Vec<f64>,
}
