//! The commands that wait for the cache: writes for room, reads for the end of destaging, others for data to
//! reach the media. Each kind proceeds oldest first, but may pass commands that something else holds up.
use super::super::queue::SlotIndex;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A command that waits until data that the cache has accepted are on the media.
#[derive(Clone, Copy)]
struct Barrier {
    slot: SlotIndex,
    /// Waits for everything accepted before this sequence number.
    sequence: u64,
}

/// What a command waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsFor {
    /// Room in the cache.
    Room,
    /// The end of the destaging under way.
    Arm,
    /// The data in the cache to be on the media.
    Media,
}

/// The commands that wait for the cache of a drive.
#[derive(Default)]
pub struct Waiting {
    /// Writes that wait for room in the cache, oldest first.
    writers: VecDeque<SlotIndex>,
    /// Reads that hit, and that wait until the arm has finished destaging, oldest first.
    hits: VecDeque<SlotIndex>,
    /// Commands that wait until the data in the cache are on the media, oldest first.
    barriers: Vec<Barrier>,
}

impl Waiting {
    /// Whether no command waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.writers.is_empty() && self.barriers.is_empty() && self.hits.is_empty()
    }

    /// Whether a command waits that can only proceed after destaging.
    pub fn presses(&self) -> bool {
        !(self.writers.is_empty() && self.barriers.is_empty())
    }

    /// Whether a write waits for room.
    pub fn has_writers(&self) -> bool {
        !self.writers.is_empty()
    }

    /// A write starts to wait for room.
    pub fn add_writer(&mut self, slot: SlotIndex) {
        self.writers.push_back(slot);
    }

    /// The oldest write that waits for room, among those that nothing else holds up.
    pub fn next_writer(&self, mut is_blocked: impl FnMut(SlotIndex) -> bool) -> Option<SlotIndex> {
        self.writers.iter().copied().find(|&slot| !is_blocked(slot))
    }

    /// A read starts to wait for the end of destaging.
    pub fn add_hit(&mut self, slot: SlotIndex) {
        self.hits.push_back(slot);
    }

    /// Removes the oldest read that waits for that, among those that nothing else holds up.
    pub fn take_hit(&mut self, mut is_blocked: impl FnMut(SlotIndex) -> bool) -> Option<SlotIndex> {
        let at = self.hits.iter().position(|&slot| !is_blocked(slot))?;
        self.hits.remove(at)
    }

    /// A command starts to wait until everything accepted before this sequence number is on the media.
    pub fn add_barrier(&mut self, slot: SlotIndex, sequence: u64) {
        self.barriers.push(Barrier { slot, sequence });
    }

    /// Whether a command waits for data to reach the media.
    pub fn has_barriers(&self) -> bool {
        !self.barriers.is_empty()
    }

    /// Whether a piece with this sequence number may go to the media: no barrier waits, or one waits for it.
    pub fn may_destage(&self, sequence: u64) -> bool {
        self.barriers.is_empty() || self.barriers.iter().any(|barrier| sequence < barrier.sequence)
    }

    /// Removes the oldest command whose data have reached the media, among those that nothing else holds up.
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

    /// What this command waits for, if it waits for the cache.
    pub fn waits_for(&self, slot: SlotIndex) -> Option<WaitsFor> {
        if self.writers.contains(&slot) {
            return Some(WaitsFor::Room);
        }
        if self.hits.contains(&slot) {
            return Some(WaitsFor::Arm);
        }
        self.barriers.iter().any(|barrier| barrier.slot == slot).then_some(WaitsFor::Media)
    }

    /// A command no longer waits here. Returns whether it did.
    pub fn forget(&mut self, slot: SlotIndex) -> bool {
        // As a rule the oldest goes first, so the search is short.
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
