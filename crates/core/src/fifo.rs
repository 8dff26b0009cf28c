//! A first-in, first-out queue for items that are put in and taken out within one instant: it is nearly
//! always empty, so it need not be a ring.
use alloc::vec::Vec;

pub struct Fifo<T> {
    items: Vec<T>,
    /// The next item to be removed; all before it are gone.
    next: usize,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Fifo { items: Vec::new(), next: 0 }
    }
}

/// Maximum number of removed items that may still occupy room while others wait.
const GONE_MAX: usize = 64;

impl<T> Fifo<T> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    #[inline]
    pub fn push_back(&mut self, item: T) {
        self.items.push(item);
    }

    /// The next item to be removed; it stays in place until [`Self::drop_front`].
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.items.get(self.next)
    }

    /// Number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len() - self.next
    }

    /// All items, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items[self.next..].iter()
    }

    /// The item that was put in last.
    pub fn back(&self) -> Option<&T> {
        self.items.last()
    }

    /// Removes the front.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn drop_front(&mut self) {
        assert!(self.next < self.items.len(), "something is in it");
        self.next += 1;
        if self.next == self.items.len() {
            self.items.clear();
            self.next = 0;
        } else if self.next > GONE_MAX {
            self.make_room();
        }
    }

    /// Frees the room of removed items once they are the majority, so that each item is moved at most once.
    #[cold]
    fn make_room(&mut self) {
        if self.next > self.items.len() / 2 {
            self.items.drain(..self.next);
            self.next = 0;
        }
    }

    /// Keeps only the items for which this holds.
    pub fn retain(&mut self, holds: impl FnMut(&T) -> bool) {
        self.items.drain(..self.next);
        self.next = 0;
        self.items.retain(holds);
    }
}

impl<T: Copy> Fifo<T> {
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.drop_front();
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_fifo_is_a_deque(steps in prop::collection::vec(0u32..100, 0..600), takes in 1u32..100) {
            let (mut fifo, mut deque) = (Fifo::default(), VecDeque::new());
            for (item, step) in steps.into_iter().enumerate() {
                match step {
                    0 => {
                        fifo.retain(|item| item % 3 > 0);
                        deque.retain(|item| item % 3 > 0);
                    }
                    step if step < takes => prop_assert_eq!(fifo.pop_front(), deque.pop_front()),
                    _ => {
                        fifo.push_back(item);
                        deque.push_back(item);
                    }
                }
                prop_assert_eq!((fifo.front(), fifo.is_empty()), (deque.front(), deque.is_empty()));
            }
            while let Some(item) = deque.pop_front() {
                prop_assert_eq!(fifo.pop_front(), Some(item));
            }
            prop_assert!(fifo.pop_front().is_none());
        }
    }
}
