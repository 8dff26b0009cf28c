//! One job: draws the next I/O from the job's own streams.
use super::params::{Addressing, Flushes, JobParams, SubmitCost};
use super::popularity::Popularity;
use super::zone_writes::{ZoneWrite, ZoneWriter};
use crate::command::{Access, Priority};
use crate::rng::Stream;
use alloc::format;
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors, Share, Span};

/// What a job wants to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Draw {
    pub access: Access,
    /// Index of its priority: zero is that of the marking, then those by share.
    pub priority: u8,
    pub first: Lba,
    pub count: Sectors,
    /// Whether its zone is reset before.
    pub resets_zone: bool,
}

/// How far a job has come: what it may still issue, and what it waits for.
pub struct Progress {
    /// Whether the job waits for a FLUSH, and how many I/Os became due meanwhile.
    pub flushing: bool,
    pub held: u32,
    /// Sectors that it may still issue; [`ENDLESS`] where it does not end by itself.
    pub left: u64,
    /// I/Os and FLUSHes that were issued and are not finished.
    pub unfinished: u32,
    /// Whether it has ended.
    pub is_over: bool,
}

pub struct Job {
    pub params: JobParams,
    /// Sizes with cumulative weights, in steps of 2^-32 of the total weight.
    sizes: Vec<(u64, Sectors)>,
    size_stream: Stream,
    access_stream: Stream,
    priority_stream: Stream,
    addresses: Addresses,
    pub arrival_stream: Stream,
    submit_stream: Stream,
    /// Number of writes until the next FLUSH.
    until_flush: u32,
    pub progress: Progress,
    /// I/Os of the burst that have not begun, and those that are not finished.
    pub of_burst: u32,
    pub in_burst: u32,
}

/// What the next address depends on.
struct Addresses {
    stream: Stream,
    /// Places where an I/O of the only size can begin; `None` where there are several sizes.
    places: Option<u64>,
    /// The place of rank 0, when popular places are scattered.
    scattered_from: u64,
    /// Where the next sequential access of each kind begins, relative to the range's start.
    next: [u64; 2],
    /// The write pointers, where it writes zone by zone.
    zones: Option<ZoneWriter>,
}

impl Job {
    /// The streams are named after the job's number: `host/job/<number>/...`.
    pub fn new(params: JobParams, number: usize, seed: u64) -> Self {
        let stream = |what: &str| Stream::named(seed, &format!("host/job/{number}/{what}"));
        let total: u64 = params.sizes.iter().map(|share| u64::from(share.weight)).sum();
        let mut sum = 0;
        let sizes = params
            .sizes
            .iter()
            .map(|share| {
                sum += u64::from(share.weight);
                (((u128::from(sum) << 32) / u128::from(total)) as u64, share.size)
            })
            .collect();
        let one = if let [share] = &params.sizes[..] { Some(params.places(share.size)) } else { None };
        let scattered_from = match &params.popularity {
            Popularity::Uniform => 0,
            Popularity::Table(table, _) => stream("popularity").below(table.places()),
        };
        Job {
            sizes,
            size_stream: stream("size"),
            access_stream: stream("access"),
            priority_stream: stream("priority"),
            addresses: Addresses {
                stream: stream("address"),
                places: one,
                scattered_from,
                next: [0; 2],
                zones: params.zones.map(|zones| ZoneWriter::new(zones, params.count)),
            },
            arrival_stream: stream("arrival"),
            submit_stream: stream("submit"),
            until_flush: writes_per_flush(&params),
            progress: Progress {
                flushing: false,
                held: 0,
                left: params.ending.after.map_or(ENDLESS, Sectors::get),
                unfinished: 0,
                is_over: false,
            },
            of_burst: 0,
            in_burst: 0,
            params,
        }
    }

    /// The next I/O, or the FLUSH that is due before it.
    #[inline]
    pub fn draw(&mut self) -> Draw {
        if self.until_flush == 0 {
            return self.draw_flush();
        }
        let count = self.draw_size();
        let access = self.draw_access();
        let ZoneWrite { offset, resets_zone } = self.draw_offset(access, count);
        if access == Access::Write && self.until_flush != NEVER {
            self.until_flush -= 1;
        }
        let priority = if self.params.priorities.is_empty() { 0 } else { self.draw_priority() };
        Draw { access, priority, first: self.params.first + Sectors::new(offset), count, resets_zone }
    }

    /// A write of the job has failed.
    #[cold]
    pub fn write_failed(&mut self, first: Lba) {
        if let Some(zones) = &mut self.addresses.zones {
            zones.leave((first - self.params.first).get());
        }
    }

    #[cold]
    fn draw_flush(&mut self) -> Draw {
        self.until_flush = writes_per_flush(&self.params);
        self.progress.flushing = matches!(self.params.flushes, Flushes::After(_));
        let (first, count) = (Lba::ZERO, Sectors::ZERO);
        Draw { access: Access::Flush, priority: 0, first, count, resets_zone: false }
    }

    /// Whether it issues nothing more, and nothing of it is outstanding.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.progress.left == 0 && self.progress.unfinished == 0
    }

    /// Takes an I/O from what the job may still issue.
    #[inline]
    pub fn count_issued(&mut self, count: Sectors) {
        self.progress.unfinished += 1;
        if self.progress.left != ENDLESS {
            self.progress.left = self.progress.left.saturating_sub(count.get());
        }
    }

    /// Whether the job still has to flush before it ends: it has written since its last FLUSH.
    pub fn owes_flush(&self) -> bool {
        let has_written = match self.params.flushes {
            Flushes::Never => self.params.reads != Share::ALL,
            Flushes::After(writes) => self.until_flush != writes,
        };
        self.params.ending.flushes && has_written
    }

    /// Begins the FLUSH with which the job ends.
    pub fn begin_last_flush(&mut self) {
        self.params.ending.flushes = false;
        self.progress.flushing = true;
        self.progress.unfinished += 1;
    }

    /// The host's processing time for an I/O of this size before its first command is sent.
    #[inline]
    pub fn draw_submit(&mut self, count: Sectors) -> Span {
        let SubmitCost { fixed, rate, spread } = self.params.submit;
        let Some(rate) = rate else { return fixed };
        let mean = rate.time_for(count.bytes()).as_ns();
        let swing = ((u128::from(mean) * u128::from(spread.bits())) >> 32) as u64;
        fixed + Span::from_ns(mean - swing + self.submit_stream.below(2 * swing + 1))
    }

    #[inline]
    fn draw_size(&mut self) -> Sectors {
        if let [(_, only)] = self.sizes[..] {
            return only;
        }
        let at = self.size_stream.bits() >> 32;
        let found = self.sizes.iter().find(|(up_to, _)| at < *up_to);
        found.map_or(self.sizes[self.sizes.len() - 1].1, |(_, size)| *size)
    }

    #[inline]
    fn draw_access(&mut self) -> Access {
        let read = match self.params.reads {
            Share::ALL => true,
            Share::NONE => false,
            share => self.access_stream.chance(share.bits()),
        };
        if read { Access::Read } else { Access::Write }
    }

    fn draw_priority(&mut self) -> u8 {
        let mut at = self.priority_stream.bits() >> 32;
        for (index, one) in (1..).zip(&self.params.priorities) {
            if at < one.share.bits() {
                return index;
            }
            at -= one.share.bits();
        }
        0
    }

    /// The priority with this index.
    #[inline]
    pub fn priority(&self, index: u8) -> Priority {
        match index {
            0 => self.params.marking.priority,
            index => self.params.priorities[usize::from(index) - 1].priority,
        }
    }

    #[inline]
    fn draw_offset(&mut self, access: Access, count: Sectors) -> ZoneWrite {
        let (at, params) = (&mut self.addresses, &self.params);
        let range = params.count.get();
        let random = match params.addressing {
            Addressing::Sequential => false,
            Addressing::Random => true,
            Addressing::Mixed { random, random_writes } => {
                let share = if access == Access::Write { random_writes } else { random };
                at.stream.chance(share.bits())
            }
        };
        let own = &mut at.next[usize::from(access == Access::Write)];
        let offset = if random {
            let places = at.places.unwrap_or_else(|| params.places(count));
            let place = match &params.popularity {
                Popularity::Uniform => at.stream.below(places),
                Popularity::Table(table, spread) => {
                    let rank = table.draw(&mut at.stream);
                    // The table has the places of the smallest size; a larger one has fewer.
                    table.place(rank, *spread, at.scattered_from).min(places - 1)
                }
            };
            place * params.align.get()
        } else if *own + count.get() <= range {
            *own
        } else {
            0
        };
        let write = match &mut at.zones {
            Some(zones) if access == Access::Write && random => zones.random(offset, count, &mut at.stream),
            Some(zones) if access == Access::Write => zones.next(*own, count),
            _ => ZoneWrite { offset, resets_zone: false },
        };
        *own = write.offset + count.get();
        write
    }
}

/// The budget of a job that does not end by itself.
pub const ENDLESS: u64 = u64::MAX;
/// More writes than any job makes before its next FLUSH.
const NEVER: u32 = u32::MAX;

fn writes_per_flush(params: &JobParams) -> u32 {
    match params.flushes {
        Flushes::Never => NEVER,
        Flushes::After(writes) => writes,
    }
}

#[cfg(test)]
mod tests {
    use super::super::params::{Arrivals, Ending, Marking, SizeShare};
    use super::*;
    use alloc::vec;

    fn job(addressing: Addressing, sizes: Vec<SizeShare>, reads: Share) -> Job {
        let params = JobParams {
            initiator: 0,
            logical_unit: 0,
            process: 0,
            synchronous: true,
            marking: Marking::default(),
            priorities: Vec::new(),
            reads,
            flushes: Flushes::Never,
            addressing,
            popularity: Popularity::Uniform,
            sizes,
            first: Lba::new(1_000),
            count: Sectors::new(100),
            align: Sectors::new(8),
            zones: None,
            command_limit: None,
            arrivals: Arrivals::Closed { outstanding: 1, think: Span::ZERO },
            submit: SubmitCost::NONE,
            ending: Ending::default(),
        };
        Job::new(params, 0, 1)
    }

    fn one_size() -> Vec<SizeShare> {
        vec![SizeShare { size: Sectors::new(8), weight: 1 }]
    }

    #[test]
    fn a_sequential_job_walks_its_range_and_begins_again() {
        let mut job = job(Addressing::Sequential, one_size(), Share::ALL);
        let firsts: Vec<u64> = (0..14).map(|_| job.draw().first.get()).collect();
        let expected: Vec<u64> = (0..12).chain(0..2).map(|i| 1_000 + 8 * i).collect();
        assert_eq!(firsts, expected);
    }

    #[test]
    fn a_random_job_reaches_every_aligned_place_and_no_other() {
        let mut job = job(Addressing::Random, one_size(), Share::ALL);
        let mut seen = [0u32; 12];
        for _ in 0..12_000 {
            let offset = job.draw().first.get() - 1_000;
            assert!(offset.is_multiple_of(8) && offset + 8 <= 100);
            seen[(offset / 8) as usize] += 1;
        }
        // Four standard errors of 1 000.
        assert!(seen.iter().all(|n| n.abs_diff(1_000) < 122), "{seen:?}");
    }

    #[test]
    fn reads_and_writes_have_each_their_share_of_random_places() {
        let mixed = Addressing::Mixed { random: Share::ALL, random_writes: Share::NONE };
        let mut job = job(mixed, one_size(), Share::from_ratio(1, 2).unwrap());
        let (reads, writes): (Vec<Draw>, Vec<Draw>) =
            (0..2_000).map(|_| job.draw()).partition(|draw| draw.access == Access::Read);
        let walks = |draws: &[Draw]| {
            let follows =
                |pair: &&[Draw]| pair[1].first.get() == 1_000 + (pair[0].first.get() - 1_000 + 8) % 96;
            draws.windows(2).filter(follows).count()
        };
        assert_eq!(walks(&writes), writes.len() - 1);
        // By chance one in twelve; four standard errors.
        assert!(walks(&reads).abs_diff(reads.len() / 12) < 36, "{} of {}", walks(&reads), reads.len());
    }

    #[test]
    fn sizes_and_accesses_come_in_their_shares() {
        let sizes = vec![
            SizeShare { size: Sectors::new(8), weight: 60 },
            SizeShare { size: Sectors::new(16), weight: 40 },
        ];
        let mut job = job(Addressing::Random, sizes, Share::from_ratio(7, 10).unwrap());
        let draws: Vec<Draw> = (0..10_000).map(|_| job.draw()).collect();
        let small = draws.iter().filter(|d| d.count == Sectors::new(8)).count();
        let reads = draws.iter().filter(|d| d.access == Access::Read).count();
        // Four standard errors.
        assert!(small.abs_diff(6_000) < 196 && reads.abs_diff(7_000) < 184, "{small} {reads}");
    }
}
