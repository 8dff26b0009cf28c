//! What a read could not get from one member and got from the others is written back to that member, whose
//! drive then reallocates the sectors.
//!
//! The host gets its answer after that, as with md's mirrors, which repair before they read again, and with
//! OpenZFS, whose read waits for the writes that it has caused; md's levels with parity answer as soon as the
//! data are computed. All sectors of the failed command at that place are written back; md determines the bad
//! sectors page by page, and reads each again once it is written. Stripe requests that repair hold their
//! blocks exclusively, or a newer write could come between what they read and what they write. Sources: the
//! Linux kernel, drivers/md/raid1.c and raid10.c (`fix_read_error`), raid5.c (`R5_ReWrite`); OpenZFS,
//! vdev_mirror.c and vdev_raidz.c ("self-healing").
use super::Plan;
use crate::command::Access;
use crate::storage::array::members::Spot;
use crate::storage::array::stripe_request::Phase;
use crate::storage::array::unreadable::UnreadableList;

impl Plan<'_> {
    /// Adds a write-back of what could not be read. Returns its id.
    pub fn repair(&mut self, spot: Spot, count: u64) -> u64 {
        let id = self.add_to(Phase::Write, (Access::Write, true), spot, count);
        let (_, place) = self.state.planning.last[usize::from(spot.slot)][Phase::Write as usize];
        self.state.ops.get_mut(place).repairs += count as u32;
        id
    }

    /// The first unreadable stretch of a list that is in these sectors of a member, and the rest of the list.
    pub fn first_unreadable(
        &self,
        unreadable: UnreadableList,
        spot: Spot,
        count: u64,
    ) -> Option<(u64, u64, UnreadableList)> {
        self.state.defects.unreadable.first(unreadable, spot, count)
    }

    /// The same for a member that is present.
    pub fn bad_of(
        &self,
        unreadable: UnreadableList,
        spot: Spot,
        count: u64,
    ) -> Option<(u64, u64, UnreadableList)> {
        self.first_unreadable(unreadable, spot, count).filter(|_| self.state.members.can_read(spot, count))
    }
}
