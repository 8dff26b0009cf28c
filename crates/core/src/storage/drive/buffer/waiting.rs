//! The commands that wait for the cache: writes for room, reads for the end of its work, others for data to reach the
//! media. Each kind goes on oldest first, but past what something else holds up.
use super::super::queue::SlotIndex;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A command that waits until data that the cache has accepted are on the media.
#[derive(Clone, Copy)]
struct Barrier {
    slot: SlotIndex,
    /// All accepted before this.
    sequence: u64,
}

/// What a command waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsFor {
    /// Room in the cache.
    Room,
    /// That the arm has done the cache's work.
    Arm,
    /// That what the cache holds is on the media.
    Media,
}

/// The commands that wait for the cache of a drive.
#[derive(Default)]
pub struct Waiting {
    /// Writes that wait for room in the cache, oldest first.
    writers: VecDeque<SlotIndex>,
    /// Reads that the buffer can answer, and that wait until the arm has done the cache's work, oldest first.
    hits: VecDeque<SlotIndex>,
    /// Commands that wait until what the cache holds is on the media, oldest first.
    barriers: Vec<Barrier>,
}

impl Waiting {
    /// Whether no command waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.writers.is_empty() && self.barriers.is_empty() && self.hits.is_empty()
    }

    /// Whether a command waits that only the arm's work for the cache lets go on.
    pub fn presses(&self) -> bool {
        !(self.writers.is_empty() && self.barriers.is_empty())
    }

    /// Whether a write waits for room.
    pub fn has_writers(&self) -> bool {
        !self.writers.is_empty()
    }

    /// A write waits for room.
    pub fn add_writer(&mut self, slot: SlotIndex) {
        self.writers.push_back(slot);
    }

    /// The write that has waited longest for room, of those that nothing else holds up.
    pub fn next_writer(&self, mut is_blocked: impl FnMut(SlotIndex) -> bool) -> Option<SlotIndex> {
        self.writers.iter().copied().find(|&slot| !is_blocked(slot))
    }

    /// A read waits until the arm has done the cache's work.
    pub fn add_hit(&mut self, slot: SlotIndex) {
        self.hits.push_back(slot);
    }

    /// The read that has waited longest for that, of those that nothing else holds up: it waits no longer.
    pub fn take_hit(&mut self, mut is_blocked: impl FnMut(SlotIndex) -> bool) -> Option<SlotIndex> {
        let at = self.hits.iter().position(|&slot| !is_blocked(slot))?;
        self.hits.remove(at)
    }

    /// A command waits until all that was accepted before this sequence is on the media.
    pub fn add_barrier(&mut self, slot: SlotIndex, sequence: u64) {
        self.barriers.push(Barrier { slot, sequence });
    }

    /// Whether a command waits for data to reach the media.
    pub fn has_barriers(&self) -> bool {
        !self.barriers.is_empty()
    }

    /// Whether nobody waits for data to reach the media, or somebody for what was accepted with this sequence.
    pub fn lets_go(&self, sequence: u64) -> bool {
        self.barriers.is_empty() || self.barriers.iter().any(|barrier| sequence < barrier.sequence)
    }

    /// The command that has waited longest for data to reach the media, of those that nothing else holds up, once they
    /// are there: it waits no longer.
    pub fn take_persisted(
        &mut self,
        mut is_blocked: impl FnMut(SlotIndex) -> bool,
        is_persisted: impl FnOnce(u64) -> bool,
    ) -> Option<SlotIndex> {
        let at = self.barriers.iter().position(|barrier| !is_blocked(barrier.slot))?;
        let Barrier { slot, sequence } = self.barriers[at];
        is_persisted(sequence).then(|| {
            self.barriers.remove(at);
            slot
        })
    }

    /// What this command waits for, if it waits here.
    pub fn waits_for(&self, slot: SlotIndex) -> Option<WaitsFor> {
        if self.writers.contains(&slot) {
            return Some(WaitsFor::Room);
        }
        if self.hits.contains(&slot) {
            return Some(WaitsFor::Arm);
        }
        self.barriers.iter().any(|barrier| barrier.slot == slot).then_some(WaitsFor::Media)
    }

    /// A command waits here no longer. Returns whether it did.
    pub fn forget(&mut self, slot: SlotIndex) -> bool {
        // As a rule the one that has waited longest goes first: its place is found at once.
        for queue in [&mut self.writers, &mut self.hits] {
            if let Some(at) = queue.iter().position(|&other| other == slot) {
                queue.remove(at);
                return true;
            }
        }
        let at = self.barriers.iter().position(|barrier| barrier.slot == slot);
        at.map(|at| self.barriers.remove(at)).is_some()
    }
}
