//! What a system knows when it starts after another one was cut off: what its drives have recorded.
use super::System;

impl System {
    /// See [`Array::restore_after`](super::Array::restore_after); shingled drives find their media cache as it was.
    pub fn restore_after(&mut self, before: &System) {
        for (device, before) in self.devices.iter_mut().zip(&before.devices) {
            device.drive.restore_after(&before.drive);
        }
        if let (Some(array), Some(before)) = (&mut self.array, &before.array) {
            array.restore_after(before);
        }
    }
}
