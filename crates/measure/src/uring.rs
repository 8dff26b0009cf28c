//! The port of io_uring.
use crate::error::MeasureError;
use crate::port::{Port, fill};
use drivelab_ring::{Done, Request, Ring};
use std::fs::File;
use std::io;
use std::time::Duration;

pub struct Uring {
    ring: Ring,
    slots: u32,
}

impl Uring {
    /// Where io_uring is refused, the error says why.
    pub fn new(file: File, slots: u32, slot_bytes: u32, seed: u64) -> io::Result<Self> {
        let mut ring = Ring::new(file, slots, slot_bytes)?;
        for slot in 0..slots {
            if let Some(buffer) = ring.buffer_mut(slot) {
                fill(buffer, seed ^ u64::from(slot + 1));
            }
        }
        Ok(Uring { ring, slots })
    }
}

impl Port for Uring {
    fn slots(&self) -> u32 {
        self.slots
    }

    #[inline]
    fn push(&mut self, request: &Request) -> Result<(), MeasureError> {
        self.ring.push(request).map_err(MeasureError::Port)
    }

    #[inline]
    fn submit(&mut self) -> Result<(), MeasureError> {
        self.ring.submit().map_err(MeasureError::Port)
    }

    #[inline]
    fn wait(&mut self, most: Duration) -> Result<(), MeasureError> {
        self.ring.wait(most).map_err(MeasureError::Port)
    }

    #[inline]
    fn reap(&mut self, done: &mut Vec<Done>) {
        self.ring.reap(done);
    }

    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn has_registered_buffers(&self) -> bool {
        self.ring.has_registered_buffers()
    }
}
