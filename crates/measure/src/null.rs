//! No device: every request is done as soon as it is submitted. What remains is the cost of the engine
//! itself.
use crate::error::MeasureError;
use crate::port::Port;
use drivelab_ring::{Done, Request};
use std::time::Duration;

pub struct Null {
    slots: u32,
    pushed: Vec<Done>,
    done: Vec<Done>,
}

impl Null {
    pub fn new(slots: u32) -> Self {
        let room = slots as usize;
        Null { slots, pushed: Vec::with_capacity(room), done: Vec::with_capacity(room) }
    }
}

impl Port for Null {
    fn slots(&self) -> u32 {
        self.slots
    }

    #[inline]
    fn push(&mut self, request: &Request) -> Result<(), MeasureError> {
        self.pushed.push(Done { slot: request.slot, result: request.bytes as i32 });
        Ok(())
    }

    #[inline]
    fn submit(&mut self) -> Result<(), MeasureError> {
        self.done.append(&mut self.pushed);
        Ok(())
    }

    fn wait(&mut self, most: Duration) -> Result<(), MeasureError> {
        if self.done.is_empty() {
            std::thread::sleep(most);
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, done: &mut Vec<Done>) {
        done.append(&mut self.done);
    }

    fn name(&self) -> &'static str {
        "null"
    }
}
