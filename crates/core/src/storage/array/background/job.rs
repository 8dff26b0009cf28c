//! One pass over the members: its windows, in order, and its progress.
use super::super::report::SyncKind;
use super::pace::SyncPace;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::Instant;

/// A slot that a rebuild writes to.
#[derive(Clone, Copy)]
pub struct RebuildTarget {
    pub slot: u16,
    /// From here on, in the job's numbers, the slot cannot be rebuilt: too many other members are missing.
    pub until: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum JobStage {
    Sweeping,
    /// All windows are written; the members flush their caches.
    Flushing,
    Ended,
    GivenUp,
}

/// What a window of background work covers, in the numbers of its job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowRange {
    /// First block.
    pub first: u64,
    /// The block after the last.
    pub end: u64,
    /// How many of them are processed; the others are skipped.
    pub count: u64,
}

/// A stretch that is processed in one go, in the job's numbers: sectors of the members, addresses of the
/// array, or record places.
pub struct Window {
    pub first: u64,
    pub end: u64,
    /// How much of it counts as progress.
    pub count: u64,
    /// The part that is under way: the whole window, unless something in it could not be read.
    pub at: u64,
    pub to: u64,
    /// It is processed in small pieces, to find out which sectors cannot be read.
    pub is_fine: bool,
    /// The part waits for a stripe request.
    pub waits: bool,
    pub is_done: bool,
    /// The part has failed: something in it could not be read, or another error.
    pub is_bad: bool,
    /// Slots from which this piece cannot be read.
    pub unreadable: Vec<u16>,
    /// How often it has failed with any other error.
    pub tries: u8,
}

impl Window {
    pub fn new(WindowRange { first, end, count }: WindowRange) -> Self {
        Window {
            first,
            end,
            count,
            at: first,
            to: end,
            is_fine: false,
            waits: true,
            is_done: false,
            is_bad: false,
            unreadable: Vec::new(),
            tries: 0,
        }
    }
}

/// How much has been processed, and when.
pub struct Done {
    /// Processed before the run.
    pub before: u64,
    /// Processed during the run, all sweeps together.
    pub swept: u64,
    pub began: Instant,
    pub ended: Option<Instant>,
}

pub struct SyncJob {
    pub kind: SyncKind,
    pub group: u16,
    pub stage: JobStage,
    pub targets: Vec<RebuildTarget>,
    /// Incremented when the job starts over; stripe requests of older sweeps no longer belong to it.
    pub sweep: u32,
    /// The start of the first window, the start of the next one, and the end of the last.
    pub begin: u64,
    pub next: u64,
    pub end: u64,
    pub step: u64,
    /// Windows that are under way, or done but behind one that is not.
    pub windows: VecDeque<Window>,
    /// The number of the first of these windows.
    pub number: u64,
    pub done: Done,
    pub pace: SyncPace,
    /// Whether a stretch was skipped, because it timed out again and again.
    pub has_skipped: bool,
}

impl SyncJob {
    pub fn new(
        kind: SyncKind,
        group: u16,
        step: u64,
        (begin, end): (u64, u64),
        (now, requested): (Instant, u64),
    ) -> Self {
        SyncJob {
            kind,
            group,
            stage: JobStage::Sweeping,
            targets: Vec::new(),
            sweep: 0,
            begin,
            next: begin,
            end,
            step,
            windows: VecDeque::new(),
            number: 0,
            done: Done { before: 0, swept: 0, began: now, ended: None },
            pace: SyncPace::beginning(now, requested),
            has_skipped: false,
        }
    }

    /// Whether there is nothing to process.
    pub fn is_empty(&self) -> bool {
        self.begin >= self.end
    }

    pub fn is_over(&self) -> bool {
        matches!(self.stage, JobStage::Ended | JobStage::GivenUp)
    }

    /// None of its new members can be rebuilt from here on.
    pub(crate) fn stop_at(&mut self, first: u64) {
        for target in &mut self.targets {
            target.until = target.until.min(first);
        }
    }

    /// The job starts over; windows that are under way no longer count.
    pub fn begin_anew(&mut self) {
        self.number += self.windows.len() as u64;
        self.windows.clear();
        self.sweep += 1;
        (self.next, self.stage) = (self.begin, JobStage::Sweeping);
    }
}

/// Which window a stripe request is for.
#[derive(Clone, Copy, Default)]
pub struct WindowRef {
    pub job: usize,
    pub sweep: u32,
    pub number: u64,
}
