//! Overlapping commands of one initiator keep their order when one of them writes: then the medium ends up,
//! and every read returns, as if the drive had served that initiator in order of arrival. This is what
//! restricted reordering guarantees (queue algorithm modifier 0h, SPC-2 8.3.6: data integrity for each
//! initiator, and nothing between them).
//!
//! All commands that may begin are filed under the stretch of 1 MiB in which they begin; stretches a power of
//! two apart share a bucket. A new command waits for each older one that it conflicts with; when one has
//! begun, the counts of those that waited for it are decremented. Commands are searched for in the stretches
//! in which a conflict can begin: as far back as the longest command seen.
use super::super::queue::SlotIndex;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::Lba;

const NONE: SlotIndex = SlotIndex::MAX;
/// A stretch holds `1 << SHIFT` sectors.
const SHIFT: u32 = 11;

#[derive(Clone, Copy)]
struct TrackedCommand {
    initiator: u16,
    first: Lba,
    end: Lba,
    write: bool,
    /// Number of older commands that it must wait for.
    waits_for: u32,
    /// Number of younger commands that wait for it.
    holds_up: u32,
    sequence: u64,
    /// Neighbours in its bucket.
    before: SlotIndex,
    behind: SlotIndex,
}

/// A free slot: no sectors.
const FREE: TrackedCommand = TrackedCommand {
    initiator: 0,
    first: Lba::ZERO,
    end: Lba::ZERO,
    write: false,
    waits_for: 0,
    holds_up: 0,
    sequence: 0,
    before: NONE,
    behind: NONE,
};

pub struct Conflicts {
    tracked: Vec<TrackedCommand>,
    /// The first command of each bucket; a power of two of buckets.
    places: Vec<SlotIndex>,
    longest: u64,
    writes: u32,
    sequence: u64,
    /// Buffer for the commands that are enabled together.
    ended: Vec<(u64, SlotIndex)>,
}

impl Conflicts {
    /// For `depth` slots.
    pub fn new(depth: usize) -> Self {
        let places = (4 * depth).next_power_of_two().clamp(64, 1 << 16);
        Conflicts {
            tracked: vec![FREE; depth],
            places: vec![NONE; places],
            longest: 0,
            writes: 0,
            sequence: 0,
            ended: Vec::new(),
        }
    }

    /// Whether a command is tracked here.
    #[inline]
    pub fn holds(&self, slot: SlotIndex) -> bool {
        let TrackedCommand { first, end, .. } = self.tracked[slot as usize];
        first < end
    }

    fn place(&self, stretch: u64) -> usize {
        (stretch as usize) & (self.places.len() - 1)
    }

    /// The stretches in which a command that overlaps `first .. end` can begin, each bucket at most once.
    fn stretches(&self, first: Lba, end: Lba) -> core::ops::RangeInclusive<u64> {
        let from = first.get().saturating_sub(self.longest) >> SHIFT;
        let to = (end.get() - 1) >> SHIFT;
        from..=to.min(from + self.places.len() as u64 - 1)
    }

    /// Calls `each` with every tracked command that conflicts with this one.
    fn conflicting(
        &mut self,
        initiator: u16,
        (first, end): (Lba, Lba),
        write: bool,
        mut each: impl FnMut(SlotIndex, &mut TrackedCommand),
    ) {
        for stretch in self.stretches(first, end) {
            let mut next = self.places[self.place(stretch)];
            while next != NONE {
                let (slot, tracked) = (next, &mut self.tracked[next as usize]);
                next = tracked.behind;
                let own = tracked.initiator == initiator;
                if own && (write || tracked.write) && tracked.first < end && first < tracked.end {
                    each(slot, tracked);
                }
            }
        }
    }

    /// Files a command. Returns whether it may begin, because it conflicts with no older one.
    pub fn arrive(&mut self, slot: SlotIndex, initiator: u16, (first, end): (Lba, Lba), write: bool) -> bool {
        let mut waits_for = 0;
        if write || self.writes > 0 {
            self.conflicting(initiator, (first, end), write, |_, older| {
                waits_for += 1;
                older.holds_up += 1;
            });
        }
        let place = self.place(first.get() >> SHIFT);
        let behind = self.places[place];
        let sequence = self.sequence;
        self.tracked[slot as usize] = TrackedCommand {
            initiator,
            first,
            end,
            write,
            waits_for,
            holds_up: 0,
            sequence,
            before: NONE,
            behind,
        };
        if behind != NONE {
            self.tracked[behind as usize].before = slot;
        }
        self.places[place] = slot;
        self.sequence += 1;
        self.longest = self.longest.max((end - first).get());
        self.writes += u32::from(write);
        waits_for == 0
    }

    /// A command has begun, or is given up: calls `enable` with every younger one that now has nothing to
    /// wait for, oldest first.
    pub fn leave(&mut self, slot: SlotIndex, enable: impl FnMut(SlotIndex)) {
        let TrackedCommand { initiator, first, end, write, waits_for, holds_up, sequence, before, behind } =
            core::mem::replace(&mut self.tracked[slot as usize], FREE);
        match before {
            NONE => {
                let place = self.place(first.get() >> SHIFT);
                self.places[place] = behind;
            }
            before => self.tracked[before as usize].behind = behind,
        }
        if behind != NONE {
            self.tracked[behind as usize].before = before;
        }
        self.writes -= u32::from(write);
        if waits_for == 0 && holds_up == 0 {
            return;
        }
        let mut enabled = core::mem::take(&mut self.ended);
        self.conflicting(initiator, (first, end), write, |other, tracked| {
            if tracked.sequence < sequence {
                tracked.holds_up -= 1;
                return;
            }
            tracked.waits_for -= 1;
            if tracked.waits_for == 0 {
                enabled.push((tracked.sequence, other));
            }
        });
        enabled.sort_unstable();
        enabled.drain(..).map(|(_, slot)| slot).for_each(enable);
        self.ended = enabled;
    }
}
