//! Page-aligned memory in slots of one size, to which the kernel may write while nobody here can read it.
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ptr::NonNull;

/// An alignment that O_DIRECT accepts on every device.
const ALIGN: usize = 4096;

pub struct Memory {
    start: NonNull<u8>,
    layout: Layout,
    slot_bytes: usize,
}

// SAFETY: the memory is owned by this value alone, and accessed only through `&mut self` or as a raw pointer.
unsafe impl Send for Memory {}

impl Memory {
    /// Zeroed memory for this many slots, each rounded up to a whole number of pages.
    ///
    /// # Errors
    /// When that much memory is not available.
    pub fn new(slots: u32, slot_bytes: u32) -> io::Result<Self> {
        let slot_bytes = (slot_bytes as usize).max(1).next_multiple_of(ALIGN);
        let no_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
        let bytes = slot_bytes.checked_mul(slots.max(1) as usize).ok_or_else(no_memory)?;
        let layout = Layout::from_size_align(bytes, ALIGN).map_err(|_| no_memory())?;
        // SAFETY: the layout is not empty: at least one slot of at least one page.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(no_memory)?;
        Ok(Memory { start, layout, slot_bytes })
    }

    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    pub fn slots(&self) -> usize {
        self.layout.size() / self.slot_bytes
    }

    /// The address of a slot, for the kernel. Panics if there is no such slot.
    pub fn pointer(&self, slot: u32) -> *mut u8 {
        assert!((slot as usize) < self.slots(), "slot {slot} of {}", self.slots());
        // SAFETY: the slot lies within the allocation, as was just checked.
        unsafe { self.start.as_ptr().add(slot as usize * self.slot_bytes) }
    }

    /// A slot's bytes. The caller makes sure that the kernel does not own the slot. Panics if there is no
    /// such slot.
    pub fn bytes_mut(&mut self, slot: u32) -> &mut [u8] {
        let start = self.pointer(slot);
        // SAFETY: zeroed on allocation, within it, and borrowed for as long as `self` is.
        unsafe { std::slice::from_raw_parts_mut(start, self.slot_bytes) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_aligned_apart_and_zeroed() {
        let mut memory = Memory::new(3, 512).unwrap();
        assert_eq!((memory.slots(), memory.slot_bytes()), (3, ALIGN));
        memory.bytes_mut(1).fill(7);
        for slot in [0, 2] {
            assert!(memory.bytes_mut(slot).iter().all(|byte| *byte == 0));
        }
        assert_eq!(memory.pointer(2) as usize % ALIGN, 0);
    }

    #[test]
    #[should_panic(expected = "slot 3 of 3")]
    fn there_is_no_slot_beyond_the_last() {
        let _ = Memory::new(3, 512).unwrap().pointer(3);
    }
}
