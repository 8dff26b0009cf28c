//! What a system knows when it starts after another one was cut off: what its array's members have recorded.
use super::System;

impl System {
    /// See [`Array::come_up_after`](super::Array::come_up_after).
    pub fn come_up_after(&mut self, before: &System) {
        if let (Some(array), Some(before)) = (&mut self.array, &before.array) {
            array.come_up_after(before);
        }
    }
}
