//! What requests go through: a port takes them by slots and hands out how they ended.
use crate::error::MeasureError;
use drivelab_ring::{Done, Request};
use std::time::Duration;

/// One way to a device. Each slot has a buffer of its own and one request at a time.
pub trait Port {
    /// Requests that it takes at once.
    fn slots(&self) -> u32;

    /// Puts one request in; it goes on its way with the next [`Self::submit`].
    fn push(&mut self, request: &Request) -> Result<(), MeasureError>;

    /// Hands what was pushed to the device.
    fn submit(&mut self) -> Result<(), MeasureError>;

    /// Waits until something is done, and no longer than this.
    fn wait(&mut self, most: Duration) -> Result<(), MeasureError>;

    /// What is done goes to `done`, which has room for all slots.
    fn reap(&mut self, done: &mut Vec<Done>);

    /// What it is called in the record.
    fn name(&self) -> &'static str;

    /// Whether the kernel knows its buffers beforehand.
    fn has_registered_buffers(&self) -> bool {
        false
    }

    /// Why it serves nothing any more, where it knows.
    fn lost(&self) -> Option<String> {
        None
    }
}

/// Fills a buffer with what no device can compress, and no two slots share.
pub fn fill(buffer: &mut [u8], seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for chunk in buffer.chunks_mut(8) {
        // Marsaglia's xorshift64.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
    }
}
