//! The members of an array as the next session finds them: which image each drive has, and which slots lack data.
//!
//! A process can be killed at any moment. So the folder of the images learns of a member that has gone missing before
//! anything is answered that this member does not have, and of a rebuilt one when its rebuild has ended. A rebuild
//! ends with a FLUSH of the new drive: its data are on the image then, unless that drive lies about FLUSH, whose data
//! a power cut would take too.
use crate::engine::Engine;
use crate::store::{Store, drives};
use drivelab_data::{Recovery, Resync};

/// Which images the drives of the next session have, and which slots of the array are missing then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Arrangement {
    /// The name of the image of each drive, by the number that the drive will have. Empty without drives.
    pub images: Vec<String>,
    /// The slots without a drive that has all of its data.
    pub missing: Vec<u16>,
    /// The addresses of the array that cannot be read until they are written: the first, and the one after the last.
    pub unreadable: Vec<(u64, u64)>,
}

impl Engine {
    /// Resynchronizes the members of an array before any client is served, because the last session did not end in
    /// order.
    pub(crate) fn recover(&mut self) {
        let (Store::Modelled(modelled), Some(array)) = (&mut self.store, self.model.target.array()) else {
            return;
        };
        let drives = drives(Some(array));
        Resync::all().recover(array.layout(), &drives, modelled.data.media_mut());
    }

    /// The array slots without a drive that has all of its data.
    pub(crate) fn missing(&self) -> Vec<u16> {
        let Some(array) = self.model.target.array() else { return Vec::new() };
        let drives = drives(Some(array));
        (0..).zip(drives).filter(|(_, drive)| drive.is_none()).map(|(slot, _)| slot).collect()
    }

    /// The images and the missing slots as the next session is to find them.
    pub(crate) fn arrangement(&self) -> Arrangement {
        let names = self.store.order();
        let valid = self.model.target.array().map_or_else(Vec::new, |array| drives(Some(array)));
        let order = next_order(&valid, names.len() as u16);
        let images = order.into_iter().map(|drive| names[usize::from(drive)].clone()).collect();
        Arrangement { images, missing: self.missing(), unreadable: self.bad_blocks() }
    }

    /// The addresses of the array that cannot be read until they are written: the first, and the one after the last.
    pub(crate) fn bad_blocks(&self) -> Vec<(u64, u64)> {
        self.model.target.array().map_or_else(Vec::new, |array| array.bad_blocks().iter().collect())
    }

    /// The same, if anything has happened to the members since the last call.
    pub(crate) fn changed_arrangement(&mut self) -> Option<Arrangement> {
        std::mem::take(&mut self.have_members_changed).then(|| self.arrangement())
    }
}

/// The drives whose images the drives of the next session have, by their numbers: a session begins with drive `n` in
/// slot `n`, so a spare that has taken a slot gets the number of that slot. The others keep their numbers where they
/// can.
fn next_order(valid: &[Option<u16>], drives: u16) -> Vec<u16> {
    let mut order = valid.to_vec();
    order.resize(usize::from(drives), None);
    for drive in 0..drives {
        if order[usize::from(drive)].is_none() && !order.contains(&Some(drive)) {
            order[usize::from(drive)] = Some(drive);
        }
    }
    let mut left: Vec<u16> = (0..drives).rev().filter(|drive| !order.contains(&Some(*drive))).collect();
    order.into_iter().filter_map(|drive| drive.or_else(|| left.pop())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spare_that_has_taken_a_slot_has_its_number_next_time() {
        assert_eq!(next_order(&[], 1), [0]);
        assert_eq!(next_order(&[Some(0), Some(1), Some(2)], 3), [0, 1, 2]);
        assert_eq!(
            next_order(&[Some(0), None, Some(2)], 4),
            [0, 1, 2, 3],
            "a missing member keeps its image"
        );
        assert_eq!(next_order(&[Some(0), Some(3), Some(2)], 5), [0, 3, 2, 1, 4], "the last one is a journal");
        assert_eq!(next_order(&[Some(4), None, Some(3)], 5), [4, 1, 3, 0, 2]);
    }
}
