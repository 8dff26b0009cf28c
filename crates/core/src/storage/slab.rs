//! A table whose places are used again: what is put in stays at its number until it is taken out. Allocates only while
//! more is in it than ever before.
use super::tree::Slot;
use alloc::vec::Vec;

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

    /// Gives a place back. What it holds is left over.
    #[inline]
    pub fn free(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// Every place that was ever needed, free ones too.
    pub fn places(&self) -> impl Iterator<Item = (Slot, &T)> {
        (0..).zip(&self.places)
    }
}
