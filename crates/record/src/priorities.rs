//! The I/Os of each priority by themselves, where a workload sends several.
use crate::commands::priority;
use crate::latency::Latencies;
use crate::point::LatencySummary;
use drivelab_core::host::Io;
use drivelab_core::{Outcome, Priority, Section};
use serde::{Serialize, Serializer};

/// What was counted of one priority.
#[derive(Default)]
struct Tally {
    latencies: Latencies,
    bytes: u64,
    errors: u64,
}

/// Counts I/Os by priority.
pub(crate) struct Priorities {
    /// Those that the jobs send, each once, in the order of the workload.
    sent: Vec<(Priority, Tally)>,
    /// For each job: for each of its priorities, its index in `sent`.
    places: Vec<Vec<u8>>,
}

impl Priorities {
    /// `None` where all I/Os have the same priority.
    pub fn of(sections: &[Section]) -> Option<Self> {
        let mut sent: Vec<Priority> = Vec::new();
        for &one in sections.iter().flat_map(|section| &section.priorities) {
            if !sent.contains(&one) {
                sent.push(one);
            }
        }
        // A record with hundreds of priorities tells nothing; listed deadlines can be as many.
        if !(2..=usize::from(u8::MAX)).contains(&sent.len()) {
            return None;
        }
        let place = |one: &Priority| sent.iter().position(|other| other == one).unwrap_or(0) as u8;
        let own = |section: &Section| section.priorities.iter().map(place).collect::<Vec<u8>>();
        let copies = sections.iter().map(|section| (own(section), section.copies as usize));
        let places = copies.flat_map(|(own, copies)| std::iter::repeat_n(own, copies)).collect();
        Some(Priorities { sent: sent.into_iter().map(|one| (one, Tally::default())).collect(), places })
    }

    /// Counts an I/O that finished in the window.
    pub fn finished(&mut self, io: &Io) {
        let own = self.places.get(io.job as usize).and_then(|own| own.get(usize::from(io.priority)));
        let Some((_, tally)) = own.and_then(|&at| self.sent.get_mut(usize::from(at))) else { return };
        if io.outcome == Outcome::Done {
            tally.latencies.record((io.finished - io.intended).as_ns());
            tally.bytes += io.count.bytes().get();
        } else {
            tally.errors += 1;
        }
    }

    pub fn records(&self, seconds: f64) -> ByPriority {
        ByPriority(
            self.sent.iter().map(|(one, tally)| (name(*one), PriorityRecord::of(tally, seconds))).collect(),
        )
    }
}

/// A priority as a scenario spells it, with its time to the deadline where it has one.
fn name(one: Priority) -> String {
    match priority(one) {
        (name, None) => name.to_owned(),
        (name, Some(icc)) if icc.as_ns().is_multiple_of(1_000_000) => {
            format!("{name}-{}ms", icc.as_ns() / 1_000_000)
        }
        (name, Some(icc)) => format!("{name}-{}us", icc.as_ns() as f64 / 1e3),
    }
}

/// The priorities by their names, in the order of the workload.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ByPriority(pub Vec<(String, PriorityRecord)>);

impl ByPriority {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for ByPriority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, one)| (name, one)))
    }
}

/// What the I/Os of one priority have done in the window.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PriorityRecord {
    pub ios: u64,
    pub iops: f64,
    pub bytes_per_s: f64,
    pub latency_ns: LatencySummary,
    /// HdrHistogram V2, deflated, base64.
    pub histogram: String,
    /// I/Os that ended with an error, or without data because a limit was exceeded.
    pub errors: u64,
}

impl PriorityRecord {
    fn of(tally: &Tally, seconds: f64) -> Self {
        PriorityRecord {
            ios: tally.latencies.count(),
            iops: tally.latencies.count() as f64 / seconds,
            bytes_per_s: tally.bytes as f64 / seconds,
            latency_ns: (&tally.latencies).into(),
            histogram: tally.latencies.to_hdr_base64(),
            errors: tally.errors,
        }
    }
}
