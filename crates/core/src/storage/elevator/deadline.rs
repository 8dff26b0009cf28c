//! Batches of one access by address, with an age limit for each request.
//!
//! Reads and writes are kept apart, each by address and by age. A batch goes upward through one of the two;
//! it ends after `fifo_batch` requests, or when nothing is left above. The next batch is of reads, unless
//! writes wait that `writes_starved` batches of reads have already passed. It begins with the oldest request
//! of its access if that one has expired (`read_expire`, `write_expire`, counted from when the scheduler got
//! it), else where the last batch of that access ended, wrapping to the lowest. So deadlines count between
//! batches only, and a write's does not end the preference for reads. An expired oldest write goes after at
//! most `(writes_starved + 1) fifo_batch - 1` others, an expired oldest read after at most `2 fifo_batch - 1`
//! (unless `writes_starved` is 0: then writes always go first).
//! Source: the Linux kernel, Documentation/block/deadline-iosched.rst. That each access keeps its position
//! during batches of the other is as in the kernel's mq-deadline; its predecessor did not keep it.
use super::Policy;
use super::fifo::Fifos;
use super::params::DeadlineParams;
use super::requests::{Slot, Table};
use super::sorted::{Sorted, Sweep};
use crate::command::Access;
use drivelab_units::Instant;

pub(super) struct Deadline {
    params: DeadlineParams,
    sorted: Sorted,
    /// By access, as the lists of `fifos`.
    sweeps: [Sweep; 2],
    fifos: Fifos<2>,
    /// The access of the present batch, and how many requests it may still have.
    batch: Access,
    left: u32,
    /// Batches of reads that have passed waiting writes.
    passed: u32,
}

impl Deadline {
    pub fn new(params: &DeadlineParams) -> Self {
        assert!(params.fifo_batch > 0, "a batch has at least one request");
        Deadline {
            params: *params,
            sorted: Sorted::new(),
            sweeps: [Sweep::NEW; 2],
            fifos: Fifos::new(),
            batch: Access::Read,
            left: 0,
            passed: 0,
        }
    }

    /// The next request of the present batch.
    fn go_on(&self) -> Option<Slot> {
        if self.left == 0 {
            return None;
        }
        self.sweeps[self.batch as usize].upward(&self.sorted)
    }

    /// The first request of a new batch.
    fn begin(&mut self, table: &Table, now: Instant) -> Option<Slot> {
        let access = self.choose_access()?;
        let oldest = self.fifos.oldest(access as usize)?;
        let expire = match access {
            Access::Read => self.params.read_expire,
            Access::Write | Access::Flush => self.params.write_expire,
        };
        (self.batch, self.left) = (access, self.params.fifo_batch);
        if now >= table.request(oldest).since + expire {
            return Some(oldest);
        }
        self.sweeps[access as usize].next(&self.sorted)
    }

    fn choose_access(&mut self) -> Option<Access> {
        let waits = |access: Access| self.fifos.oldest(access as usize).is_some();
        match (waits(Access::Read), waits(Access::Write)) {
            (false, false) => None,
            (true, false) => Some(Access::Read),
            (true, true) if self.passed < self.params.writes_starved => {
                self.passed += 1;
                Some(Access::Read)
            }
            (_, true) => {
                self.passed = 0;
                Some(Access::Write)
            }
        }
    }
}

impl Policy for Deadline {
    fn insert(&mut self, table: &Table, slot: Slot, _: Instant) {
        let access = table.request(slot).access as usize;
        self.sweeps[access].insert(&mut self.sorted, table, slot);
        self.fifos.push(access, slot);
    }

    fn remove(&mut self, table: &Table, slot: Slot) {
        let access = table.request(slot).access as usize;
        self.sweeps[access].remove(&mut self.sorted, slot);
        self.fifos.remove(access, slot);
    }

    fn moved(&mut self, table: &Table, slot: Slot) {
        let sweep = &mut self.sweeps[table.request(slot).access as usize];
        sweep.remove(&mut self.sorted, slot);
        sweep.insert(&mut self.sorted, table, slot);
    }

    fn pick(&mut self, table: &Table, now: Instant) -> Option<Slot> {
        let slot = self.go_on().or_else(|| self.begin(table, now))?;
        let access = self.batch as usize;
        self.sweeps[access].take(&mut self.sorted, table, slot);
        self.fifos.remove(access, slot);
        self.left -= 1;
        Some(slot)
    }
}
