//! What keeps a power cut from leaving parity that does not match its data: a journal, or a log of partial
//! parity. This file has what is common to both; [`journal`](super::journal) and
//! [`partial_parity`](super::partial_parity) say what each writes.
//!
//! A log is a [ring](super::ring). A stripe request takes its room in the log when it is planned, and is
//! planned again later where there is none: while it waits it holds nothing but its blocks, and those that
//! have room need none of these, so the oldest of them always ends. The wait counts as queue time in its
//! breakdown. The oldest waits at the front; younger ones may pass it where they use another log, but only a
//! limited number of times.
//!
//! Log writes are on the media when they are answered (force unit access). What a log records is on its
//! sectors ([`Word`](crate::data::Word)), and nowhere else.
mod journal;
mod logged;
mod partial_parity;
mod ring;
mod room;
mod unit;

use super::members::Spot;
use super::params::{ArrayParams, ConsistencyPolicy};
use super::reserved;
use crate::command::Outcome;
use crate::storage::tree::{NONE, Slot};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
pub use logged::Logged;
use ring::{RecordState, Ring};
use unit::Unit;

/// How often a stripe request that waits for room may be passed by a younger one.
const PASSED_MOST: u8 = 16;

/// A write that is to be logged.
pub struct LogWrite {
    pub op: u64,
    pub spot: Spot,
    pub count: u64,
}

/// A stripe request that waits for room.
struct WaitingRequest {
    stripe_request: Slot,
    /// The log that had no room.
    ring: u16,
    /// How often a younger one has passed it and got room.
    passed: u8,
}

/// The drive of a journal.
struct Journal {
    drive: Option<u16>,
    is_lost: bool,
    /// Whether a reclaim is under way.
    reclaims: bool,
}

/// The numbers of records.
#[derive(Default)]
struct RecordNumbers {
    /// By stripe request: the number of its record, or zero.
    records: Vec<u64>,
    /// The number of the newest record.
    newest: u64,
}

/// What the stripe request that is being planned writes to a log.
pub struct Draft {
    /// Number of sectors that it writes; where data operations are kept, also which ones.
    pub sectors: u64,
    pub log_writes: Vec<LogWrite>,
    /// The commands that write them to the journal: id, place, and number of sectors.
    pub body: Vec<(u64, u64, u64)>,
    /// By member: the command and the place of the words that describe the record.
    pub described: Vec<(u64, u64)>,
    /// The log that lacks room for it.
    short: Option<u16>,
}

/// Stripe requests that wait for room.
struct WaitQueue {
    waiting: VecDeque<WaitingRequest>,
    /// The one that is being examined.
    scanned: Slot,
    /// Whether a scan of them is under way, the number of the scan, and whether another one must follow.
    is_scanning: bool,
    scans: u64,
    again: bool,
    /// Whether a record has been given up since the last scan.
    has_given_up: bool,
}

pub struct Logs {
    journal: Journal,
    /// The journal alone, or the partial parity log of each member.
    pub(crate) rings: Vec<Ring>,
    /// By partial parity log.
    pub(crate) units: Vec<Unit>,
    numbers: RecordNumbers,
    pub(crate) draft: Draft,
    queue: WaitQueue,
}

impl Logs {
    pub fn new(params: &ArrayParams, capacities: &[u64]) -> Self {
        let ArrayParams { members, spares, .. } = *params;
        let drive = members + spares;
        let journal = (params.consistency_policy == ConsistencyPolicy::Journal).then_some(drive);
        let rings = match params.consistency_policy {
            ConsistencyPolicy::Journal => {
                let capacity = capacities.get(usize::from(drive)).copied().unwrap_or(0);
                let super_block = reserved::granule(params);
                alloc::vec![Ring::new(super_block, capacity.saturating_sub(super_block))]
            }
            ConsistencyPolicy::PartialParityLog => {
                // A multiple of the granule, so that the end of the ring splits none.
                let granule = reserved::granule(params);
                let capacity = reserved::PARTIAL_PARITY_LOG / granule * granule;
                (0..members).map(|_| Ring::new(0, capacity)).collect()
            }
            ConsistencyPolicy::None | ConsistencyPolicy::Bitmap { .. } => Vec::new(),
        };
        Logs {
            journal: Journal { drive: journal, is_lost: false, reclaims: false },
            units: (0..members).map(|_| Default::default()).collect(),
            rings,
            numbers: RecordNumbers::default(),
            draft: Draft {
                sectors: 0,
                log_writes: Vec::new(),
                body: Vec::new(),
                described: alloc::vec![(0, 0); usize::from(members)],
                short: None,
            },
            queue: WaitQueue {
                waiting: VecDeque::new(),
                scanned: NONE,
                is_scanning: false,
                scans: 0,
                again: false,
                has_given_up: false,
            },
        }
    }

    /// The drive of the journal has failed.
    pub fn lose(&mut self) {
        self.journal.is_lost = true;
    }

    /// Whether the journal's drive has failed.
    pub fn is_lost(&self) -> bool {
        self.journal.is_lost
    }

    /// The drive of the journal, while there is one.
    #[inline]
    pub fn drive(&self) -> Option<u16> {
        self.journal.drive.filter(|_| !self.journal.is_lost)
    }

    /// Whether the array has a journal, even if its drive has failed.
    #[inline]
    pub(crate) fn is_journal(&self) -> bool {
        self.journal.drive.is_some()
    }

    /// Whether the array has a log.
    #[inline]
    pub fn is_kept(&self) -> bool {
        !self.rings.is_empty()
    }

    /// The number of the next record.
    pub(crate) fn next(&self) -> u64 {
        self.numbers.newest + 1
    }

    /// The number of a stripe request's record; the first call assigns it.
    pub(crate) fn record(&mut self, stripe_request: Slot) -> u64 {
        let at = stripe_request as usize;
        if self.numbers.records.len() <= at {
            self.numbers.records.resize(at + 1, 0);
        }
        if self.numbers.records[at] == 0 {
            self.numbers.newest += 1;
            self.numbers.records[at] = self.numbers.newest;
        }
        self.numbers.records[at]
    }

    /// Begins a plan that may write.
    #[inline]
    pub(crate) fn begin_draft(&mut self) -> Result<(), Outcome> {
        self.draft.sectors = 0;
        self.draft.log_writes.clear();
        if self.journal.is_lost { Err(Outcome::Failed) } else { Ok(()) }
    }

    /// Whether a stripe request must queue behind those that wait for room.
    pub(crate) fn must_queue(&self, slot: Slot) -> bool {
        self.queue.scanned != slot && self.is_held()
    }

    /// There is not enough room for the stripe request that is being planned.
    pub(crate) fn run_short(&mut self, ring: u16) {
        self.draft.short = Some(ring);
    }

    /// A stripe request no longer has a record. Returns the number that it had.
    #[inline]
    pub fn leave(&mut self, stripe_request: Slot) -> Option<u64> {
        let number = core::mem::take(self.numbers.records.get_mut(stripe_request as usize)?);
        (number != 0).then_some(number)
    }

    /// A stripe request will not write the data that its record covers.
    pub fn give_up(&mut self, stripe_request: Slot) {
        self.draft.short = None;
        if let Some(number) = self.leave(stripe_request) {
            self.free(number);
            self.queue.has_given_up = true;
        }
    }

    /// A stripe request has got room for its record, if it has one: older ones that wait have been passed.
    fn count_as_passed(&mut self, stripe_request: Slot) {
        if self.numbers.records.get(stripe_request as usize).is_some_and(|&number| number != 0) {
            for older in
                self.queue.waiting.iter_mut().take_while(|waiting| waiting.stripe_request != stripe_request)
            {
                older.passed = older.passed.saturating_add(1);
            }
        }
    }

    /// Whether the oldest waiting stripe request may no longer be passed. It has been passed most often of
    /// all.
    fn is_held(&self) -> bool {
        self.queue.waiting.front().is_some_and(|first| self.is_journal() || first.passed >= PASSED_MOST)
    }

    pub(crate) fn has_waiting(&self) -> bool {
        !self.queue.waiting.is_empty()
    }

    /// Whether a scan of the waiting stripe requests is under way: what they log then goes into one unit.
    pub(crate) fn is_joining(&self) -> bool {
        self.queue.is_scanning
    }

    fn free(&mut self, number: u64) {
        let is_journal = self.is_journal();
        for ring in &mut self.rings {
            if ring.set(number, RecordState::Free) && !is_journal {
                ring.advance();
            }
        }
    }

    /// Whether the current unit of a log may take one more record; `any_volatile` says whether members have a
    /// volatile cache.
    pub(crate) fn may_join(&self, ring: u16, any_volatile: bool) -> bool {
        if self.is_journal() || !any_volatile {
            return true;
        }
        let (ring, unit) = (&self.rings[usize::from(ring)], &self.units[usize::from(ring)]);
        let is_open = ring.is_empty() || self.is_joining() && unit.began == self.queue.scans;
        !unit.is_flushing && is_open
    }

    /// A record joins the current unit of a log, or begins one: notes the members that it writes to.
    pub(crate) fn join_unit(&mut self, ring: u16, members: impl Iterator<Item = u16>, begins: bool) {
        let unit = &mut self.units[usize::from(ring)];
        if begins {
            unit.began = self.queue.scans;
            unit.written.clear();
        }
        for slot in members {
            if !unit.written.contains(&slot) {
                unit.written.push(slot);
            }
        }
    }

    /// The members have the data of a unit on their media.
    pub(crate) fn free_unit(&mut self, which: u16) {
        let next = self.next();
        self.units[usize::from(which)].is_flushing = false;
        self.rings[usize::from(which)].free_below(next);
    }
}
