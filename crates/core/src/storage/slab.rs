//! A table with reusable places: an item stays at its number until it is removed. Allocates only while it
//! holds more than ever before.
use super::tree::Slot;
use alloc::vec::Vec;

#[derive(Clone)]
pub struct Slab<T> {
    places: Vec<T>,
    free: Vec<Slot>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    #[inline]
    pub fn add(&mut self, value: T) -> Slot {
        if let Some(slot) = self.free.pop() {
            self.places[slot as usize] = value;
            return slot;
        }
        self.places.push(value);
        self.places.len() as Slot - 1
    }

    #[inline]
    pub fn get(&self, slot: Slot) -> &T {
        &self.places[slot as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, slot: Slot) -> &mut T {
        &mut self.places[slot as usize]
    }

    /// Frees a place. Its contents become stale.
    #[inline]
    pub fn free(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// The number of places ever used, including free ones.
    pub fn size(&self) -> usize {
        self.places.len()
    }

    /// Every place ever used, including free ones.
    pub fn places(&self) -> impl Iterator<Item = (Slot, &T)> {
        (0..).zip(&self.places)
    }
}
