//! Power cut and restart: an array comes up with the media contents of its members, and repairs them by its
//! consistency policy before it serves any command.
use crate::cell::Cell;
use crate::consistent::{valid_members, without_stale};
use crate::executor::Executor;
use crate::recovery::{Cut, Recovery};
use alloc::vec::Vec;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::params::ConsistencyPolicy;

impl<C: Cell> Executor<C> {
    /// Cuts the power of an array and repairs its members. `array` is its state when the power was cut,
    /// `missing` names the members that are found missing now. Afterwards the drives are numbered by slots:
    /// each has the number of the slot whose member it is; a journal is the last one, as before. Returns the
    /// slots that have no drive: the array that is started next must be given them as missing, see
    /// [`ArrayParams::missing`](drivelab_core::storage::array::params::ArrayParams::missing), and
    /// [`Target::restore_after`](drivelab_core::storage::Target::restore_after).
    pub fn cut_power_of_array(
        &mut self,
        array: &Array,
        consistency_policy: ConsistencyPolicy,
        missing: &[u16],
        recovery: &mut dyn Recovery<C>,
    ) -> Vec<u16> {
        let buffers = self.cut_power();
        // The record of stale sectors is on the members; these sectors are copied before anything else.
        *self.media_mut() = without_stale(array, self.media()).into_owned();
        let all = self.media().drives();
        let last = all as u16 - 1;
        let media = self.media();
        recovery.collect(&Cut { array, consistency_policy, last, missing, buffers: &buffers, media });
        let mut drives = valid_members(array);
        missing.iter().for_each(|&slot| drives[usize::from(slot)] = None);
        let mut order = drives.clone();
        order.resize(all, None);
        if consistency_policy == ConsistencyPolicy::Journal {
            order[usize::from(last)] = Some(last);
        }
        self.media_mut().reorder(&order);
        let slots: Vec<Option<u16>> = (0..).zip(&drives).map(|(slot, drive)| drive.map(|_| slot)).collect();
        recovery.recover(array.layout(), &slots, self.media_mut());
        (0..).zip(&drives).filter(|(_, drive)| drive.is_none()).map(|(slot, _)| slot).collect()
    }
}
