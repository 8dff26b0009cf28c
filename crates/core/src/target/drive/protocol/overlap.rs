//! Overlapping commands keep their order when one of them writes: then the medium ends up, and every read returns, as
//! if the drive had served them in order of arrival. What restricted reordering promises (queue algorithm modifier 0h).
//!
//! All enabled commands are filed under the part of the drive in which they begin. A newcomer waits for each older one
//! that it conflicts with; when one ends, those that waited for it are counted down. Commands are looked up in the parts
//! that a conflict can begin in: as far back as the longest command seen.
use super::super::queue::SlotIndex;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::Lba;

const NONE: SlotIndex = SlotIndex::MAX;
/// Parts of the drive.
const PARTS: usize = 1 << 12;

#[derive(Clone, Copy)]
struct Filed {
    first: Lba,
    end: Lba,
    write: bool,
    /// Older commands that it must wait for.
    waits_for: u32,
    /// Younger commands that wait for it.
    holds_up: u32,
    sequence: u64,
    /// Neighbours in its part.
    before: SlotIndex,
    behind: SlotIndex,
}

const FREE: Filed = Filed {
    first: Lba::ZERO,
    end: Lba::ZERO,
    write: false,
    waits_for: 0,
    holds_up: 0,
    sequence: 0,
    before: NONE,
    behind: NONE,
};

pub struct Overlaps {
    filed: Vec<Filed>,
    parts: Vec<SlotIndex>,
    /// A part holds `1 << shift` sectors.
    shift: u32,
    longest: u64,
    writes: u32,
    sequence: u64,
}

impl Overlaps {
    /// For so many slots of a drive of so many sectors.
    pub fn new(depth: usize, capacity: u64) -> Self {
        let mut shift = 0;
        while capacity >> shift >= PARTS as u64 {
            shift += 1;
        }
        Overlaps {
            filed: vec![FREE; depth],
            parts: vec![NONE; PARTS],
            shift,
            longest: 0,
            writes: 0,
            sequence: 0,
        }
    }

    fn part(&self, lba: u64) -> usize {
        (lba >> self.shift) as usize
    }

    /// Files a command; whether it may begin, because it conflicts with no older one.
    pub fn arrives(&mut self, slot: SlotIndex, first: Lba, end: Lba, write: bool) -> bool {
        let mut waits_for = 0;
        if write || self.writes > 0 {
            let mut next = self.first_from(first, end);
            while let Some(older) = next {
                next = self.next(older, end);
                if self.conflicts(older, first, end, write) {
                    waits_for += 1;
                    self.filed[older as usize].holds_up += 1;
                }
            }
        }
        let part = self.part(first.get());
        let behind = self.parts[part];
        let sequence = self.sequence;
        self.filed[slot as usize] =
            Filed { first, end, write, waits_for, holds_up: 0, sequence, before: NONE, behind };
        if behind != NONE {
            self.filed[behind as usize].before = slot;
        }
        self.parts[part] = slot;
        self.sequence += 1;
        self.longest = self.longest.max((end - first).get());
        self.writes += u32::from(write);
        waits_for == 0
    }

    /// A command has ended: calls `enable` with every younger one that now waits for nothing, oldest first.
    pub fn ends(&mut self, slot: SlotIndex, mut enable: impl FnMut(SlotIndex)) {
        let Filed { first, end, write, holds_up, sequence, before, behind, .. } = self.filed[slot as usize];
        match before {
            NONE => {
                let part = self.part(first.get());
                self.parts[part] = behind;
            }
            before => self.filed[before as usize].behind = behind,
        }
        if behind != NONE {
            self.filed[behind as usize].before = before;
        }
        self.writes -= u32::from(write);
        if holds_up == 0 {
            return;
        }
        let mut enabled = Vec::new();
        let mut next = self.first_from(first, end);
        while let Some(other) = next {
            next = self.next(other, end);
            let younger = self.filed[other as usize].sequence > sequence;
            if younger && self.conflicts(other, first, end, write) {
                let filed = &mut self.filed[other as usize];
                filed.waits_for -= 1;
                if filed.waits_for == 0 {
                    enabled.push((filed.sequence, other));
                }
            }
        }
        enabled.sort_unstable();
        enabled.into_iter().for_each(|(_, slot)| enable(slot));
    }

    /// A command is given up: those that wait for it are counted down, and so are those that hold it up.
    pub fn gives_up(&mut self, slot: SlotIndex, enable: impl FnMut(SlotIndex)) {
        let Filed { first, end, write, waits_for, sequence, .. } = self.filed[slot as usize];
        if waits_for > 0 {
            let mut next = self.first_from(first, end);
            while let Some(other) = next {
                next = self.next(other, end);
                let older = self.filed[other as usize].sequence < sequence;
                if older && self.conflicts(other, first, end, write) {
                    self.filed[other as usize].holds_up -= 1;
                }
            }
        }
        self.ends(slot, enable);
    }

    /// Whether a command still waits for an older one.
    pub fn is_held_up(&self, slot: SlotIndex) -> bool {
        self.filed[slot as usize].waits_for > 0
    }

    #[inline]
    fn conflicts(&self, other: SlotIndex, first: Lba, end: Lba, write: bool) -> bool {
        let other = &self.filed[other as usize];
        (write || other.write) && other.first < end && first < other.end
    }

    /// The first command in the parts in which one that overlaps `first .. end` can begin.
    fn first_from(&self, first: Lba, end: Lba) -> Option<SlotIndex> {
        self.head_from(self.part(first.get().saturating_sub(self.longest)), self.part(end.get()))
    }

    /// The command after this one, in its part or in a later one that begins before `end`.
    fn next(&self, slot: SlotIndex, end: Lba) -> Option<SlotIndex> {
        let Filed { first, behind, .. } = self.filed[slot as usize];
        if behind != NONE {
            return Some(behind);
        }
        self.head_from(self.part(first.get()) + 1, self.part(end.get()))
    }

    fn head_from(&self, part: usize, last: usize) -> Option<SlotIndex> {
        let parts = self.parts.get(part..=last.min(self.parts.len() - 1))?;
        parts.iter().copied().find(|&slot| slot != NONE)
    }
}
