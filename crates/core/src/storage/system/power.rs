//! What a system knows when it starts after another one was cut off: what its array's members have recorded.
use super::System;

impl System {
    /// See [`Array::restore_after`](super::Array::restore_after).
    pub fn restore_after(&mut self, before: &System) {
        if let (Some(array), Some(before)) = (&mut self.array, &before.array) {
            array.restore_after(before);
        }
    }
}
