//! Ports: a port takes requests by slot and returns their results.
use crate::error::MeasureError;
use drivelab_ring::{Done, Request};
use std::time::Duration;

/// A path to a device. Each slot has its own buffer and one request at a time.
pub trait Port {
    /// Maximum number of outstanding requests.
    fn slots(&self) -> u32;

    /// Queues one request; it is sent with the next [`Self::submit`].
    fn push(&mut self, request: &Request) -> Result<(), MeasureError>;

    /// Submits the pushed requests to the device.
    fn submit(&mut self) -> Result<(), MeasureError>;

    /// Waits until a request has completed, for at most this long.
    fn wait(&mut self, most: Duration) -> Result<(), MeasureError>;

    /// Appends completions to `done`, which has room for all slots.
    fn reap(&mut self, done: &mut Vec<Done>);

    /// Its name in the record.
    fn name(&self) -> &'static str;

    /// Whether the buffers are registered with the kernel.
    fn has_registered_buffers(&self) -> bool {
        false
    }

    /// Why it no longer serves requests, if it is known.
    fn lost(&self) -> Option<String> {
        None
    }
}

/// Fills a buffer with data that no device can compress and that no two slots share.
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
