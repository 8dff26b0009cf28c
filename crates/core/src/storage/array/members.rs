//! The members of an array: which drive has which slot, and what of it is right.
use super::levels::Spot;
use alloc::vec::Vec;

/// What the drive in a slot is good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberState {
    /// All of its data are right.
    Whole,
    /// There is no drive.
    Missing,
    /// There is a drive, and nothing on it counts: its striped set misses another one (RAID 01).
    Aside,
    /// A new drive: what lies below `done` is right.
    Rebuilding {
        /// Sectors of the member that are rebuilt, from its start.
        done: u64,
    },
}

/// A slot of an array, with the drive in it.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The number of the drive that has the slot, or had it last.
    pub drive: u16,
    /// Whether its data count.
    pub state: MemberState,
    /// Commands that are with the drive.
    pub outstanding: u32,
    /// Where its last command ends.
    pub head: u64,
}

/// The slots of an array with their drives, and the spares that are left.
pub struct Members {
    members: Vec<Member>,
    /// Slots that are not whole.
    pub impaired: u16,
    /// By drive: whether it answers writes that are not on its media.
    forgets: Vec<bool>,
    /// Whether any drive does that is or may become a member.
    any_forgets: bool,
}

impl Members {
    /// So many, and spares behind them; `forgets` says of all drives whether they answer writes that are not on their media.
    pub fn new(count: u16, spares: u16, forgets: Vec<bool>) -> Self {
        let member = |drive| Member { drive, state: MemberState::Whole, outstanding: 0, head: 0 };
        Members {
            members: (0..count).map(member).collect(),
            impaired: 0,
            any_forgets: forgets[..usize::from(count + spares)].contains(&true),
            forgets,
        }
    }

    /// Whether any drive that is or may become a member answers writes that are not on its media.
    pub fn any_forgets(&self) -> bool {
        self.any_forgets
    }

    /// Whether the drive of a slot answers writes that are not on its media.
    pub fn forgets(&self, slot: u16) -> bool {
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

    /// The slot that a drive has.
    pub fn slot_of(&self, drive: u16) -> Option<u16> {
        let has = |member: &Member| member.drive == drive && member.state != MemberState::Missing;
        self.members.iter().position(has).map(|slot| slot as u16)
    }

    /// Whether so many sectors from a spot on can be read there.
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

    /// Below which place a member can be read.
    pub fn frontier(&self, slot: u16) -> u64 {
        match self.get(slot).state {
            MemberState::Whole => super::levels::ALL,
            MemberState::Missing | MemberState::Aside => 0,
            MemberState::Rebuilding { done } => done,
        }
    }

    /// The same of all, in the order of their slots.
    pub fn frontiers(&self) -> Vec<u64> {
        (0..self.count()).map(|slot| self.frontier(slot)).collect()
    }
}
