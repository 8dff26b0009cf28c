//! The members of an array: which drive is in which slot, and which of its data are valid.
use alloc::vec::Vec;
use core::ops::Range;

/// A place on a member.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    /// Slot of the member.
    pub slot: u16,
    /// Sector on the member.
    pub at: u64,
}

/// The frontier of a member whose data are all valid.
pub const ALL: u64 = u64::MAX;

/// The state of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberState {
    /// All of its data are valid.
    Whole,
    /// No drive is present.
    Missing,
    /// A drive is present, but its data do not count: another member of its striped set is missing (RAID 01).
    Aside,
    /// A new drive: everything below `done` is valid.
    Rebuilding {
        /// Sectors of the member that are rebuilt, from its start.
        done: u64,
    },
}

/// A slot of an array, with the drive in it.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The number of the drive that is in the slot, or was last.
    pub drive: u16,
    /// Whether its data are valid.
    pub state: MemberState,
    /// Commands that are with the drive.
    pub outstanding: u32,
    /// The end of its last command.
    pub head: u64,
}

/// The slots of an array with their drives, and the spares that are left.
pub struct Members {
    members: Vec<Member>,
    /// Slots that are not [`MemberState::Whole`].
    pub impaired: u16,
    /// By drive: whether it answers writes before they are on its media (a volatile cache).
    forgets: Vec<bool>,
    /// Whether any drive that is or may become a member does so.
    any_forgets: bool,
}

impl Members {
    /// `count` members, followed by spares; `forgets` states for each drive whether it answers writes before
    /// they are on its media.
    pub fn new(count: u16, spares: u16, forgets: Vec<bool>) -> Self {
        let member = |drive| Member { drive, state: MemberState::Whole, outstanding: 0, head: 0 };
        Members {
            members: (0..count).map(member).collect(),
            impaired: 0,
            any_forgets: forgets[..usize::from(count + spares)].contains(&true),
            forgets,
        }
    }

    /// Whether any drive that is or may become a member answers writes before they are on its media.
    pub fn any_volatile(&self) -> bool {
        self.any_forgets
    }

    /// Whether the drive of a slot answers writes before they are on its media.
    pub fn is_volatile(&self, slot: u16) -> bool {
        self.forgets[usize::from(self.get(slot).drive)]
    }

    /// The member in this slot. Panics when there is none.
    #[inline]
    pub fn get(&self, slot: u16) -> &Member {
        &self.members[usize::from(slot)]
    }

    /// The member in this slot, to change. Panics when there is none.
    #[inline]
    pub fn get_mut(&mut self, slot: u16) -> &mut Member {
        &mut self.members[usize::from(slot)]
    }

    /// All members with their slots, in the order of slots.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &Member)> {
        (0..).zip(&self.members)
    }

    /// Number of slots.
    pub fn count(&self) -> u16 {
        self.members.len() as u16
    }

    /// Sets the state of a slot. Panics when there is none.
    pub fn set(&mut self, slot: u16, state: MemberState) {
        let member = &mut self.members[usize::from(slot)];
        self.impaired -= u16::from(member.state != MemberState::Whole);
        member.state = state;
        self.impaired += u16::from(state != MemberState::Whole);
    }

    /// Slots without a drive.
    pub fn missing(&self) -> u16 {
        self.members.iter().filter(|member| member.state == MemberState::Missing).count() as u16
    }

    /// Those of these slots that have a drive stand aside.
    pub fn set_aside(&mut self, slots: Range<u16>) {
        for slot in slots {
            if self.get(slot).state != MemberState::Missing {
                self.set(slot, MemberState::Aside);
            }
        }
    }

    /// The missing slot that a drive belongs to: at the start such a drive is absent.
    pub fn slot_missing(&self, drive: u16) -> Option<u16> {
        let has = |member: &Member| member.drive == drive && member.state == MemberState::Missing;
        self.members.iter().position(has).map(|slot| slot as u16)
    }

    /// The slot that a drive is in.
    pub fn slot_of(&self, drive: u16) -> Option<u16> {
        let has = |member: &Member| member.drive == drive && member.state != MemberState::Missing;
        self.members.iter().position(has).map(|slot| slot as u16)
    }

    /// Whether the member has valid data in the `count` sectors from a spot on.
    #[inline]
    pub fn can_read(&self, spot: Spot, count: u64) -> bool {
        match self.get(spot.slot).state {
            MemberState::Whole => true,
            MemberState::Missing | MemberState::Aside => false,
            MemberState::Rebuilding { done } => spot.at + count <= done,
        }
    }

    /// Whether there is a drive to write to.
    #[inline]
    pub fn can_write(&self, slot: u16) -> bool {
        !matches!(self.get(slot).state, MemberState::Missing | MemberState::Aside)
    }

    /// The place below which a member's data are valid.
    pub fn frontier(&self, slot: u16) -> u64 {
        match self.get(slot).state {
            MemberState::Whole => ALL,
            MemberState::Missing | MemberState::Aside => 0,
            MemberState::Rebuilding { done } => done,
        }
    }

    /// The frontiers of all members, in slot order.
    pub fn frontiers(&self) -> Vec<u64> {
        (0..self.count()).map(|slot| self.frontier(slot)).collect()
    }
}
