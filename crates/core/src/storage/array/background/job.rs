//! One going over the members: its windows, in order, and how far it is.
use super::super::levels::Stretch;
use super::super::report::SyncKind;
use super::pace::Pace;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::Instant;

/// A slot that a rebuild writes to.
#[derive(Clone, Copy)]
pub struct Target {
    pub slot: u16,
    /// What lies from here on, in the job's numbers, cannot be had: too many others are missing.
    pub until: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum JobStage {
    Sweeping,
    /// All is written; the members put it on their media.
    Flushing,
    Ended,
    GivenUp,
}

/// A stretch that is gone over at once, in the job's numbers: sectors of the members, addresses of the array, or places for
/// records.
pub struct Window {
    pub first: u64,
    pub end: u64,
    /// What of it is gone over.
    pub count: u64,
    /// The part that is under way: all of it, unless something in it could not be read.
    pub at: u64,
    pub to: u64,
    /// It is gone over in small pieces, to learn which sectors cannot be read.
    pub is_fine: bool,
    /// A stripe request is needed for the part.
    pub waits: bool,
    pub is_done: bool,
    /// The part cannot be done like this: something in it could not be read, or worse.
    pub is_bad: bool,
    /// Slots on which this piece cannot be read.
    pub avoids: Vec<u16>,
    /// How often it has gone wrong in another way.
    pub tries: u8,
}

impl Window {
    pub fn new(Stretch { first, end, count }: Stretch) -> Self {
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
            avoids: Vec::new(),
            tries: 0,
        }
    }
}

/// What has been gone over, and when.
pub struct Done {
    /// Before the run.
    pub before: u64,
    /// In the run, all sweeps together.
    pub swept: u64,
    pub began: Instant,
    pub ended: Option<Instant>,
}

pub struct Job {
    pub kind: SyncKind,
    pub group: u16,
    pub stage: JobStage,
    pub targets: Vec<Target>,
    /// Goes on where it begins anew; stripe requests of older sweeps are none of its own.
    pub sweep: u32,
    /// Where the first window begins, where the next one does, and where all end.
    pub begin: u64,
    pub next: u64,
    pub end: u64,
    pub step: u64,
    /// Those that are under way, or wait for one before them.
    pub windows: VecDeque<Window>,
    /// The number of the first of them.
    pub number: u64,
    pub done: Done,
    pub pace: Pace,
    /// Whether something could not be gone over: it timed out again and again.
    pub has_skipped: bool,
}

impl Job {
    pub fn new(
        kind: SyncKind,
        group: u16,
        step: u64,
        (begin, end): (u64, u64),
        (now, asked): (Instant, u64),
    ) -> Self {
        Job {
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
            pace: Pace::beginning(now, asked),
            has_skipped: false,
        }
    }

    /// Whether there is nothing to go over.
    pub fn is_empty(&self) -> bool {
        self.begin >= self.end
    }

    pub fn is_over(&self) -> bool {
        matches!(self.stage, JobStage::Ended | JobStage::GivenUp)
    }

    /// It begins again; what is under way does not count.
    pub fn begin_anew(&mut self) {
        self.number += self.windows.len() as u64;
        self.windows.clear();
        self.sweep += 1;
        (self.next, self.stage) = (self.begin, JobStage::Sweeping);
    }
}

/// Which window a stripe request is for.
#[derive(Clone, Copy, Default)]
pub struct Ticket {
    pub job: usize,
    pub sweep: u32,
    pub number: u64,
}
