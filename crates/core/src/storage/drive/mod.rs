//! One drive: protocol, queue, firmware, read-ahead buffer, mechanism and link, as a box in a target.
//!
//! A command passes through: arrival (a tag is taken), enabling (nothing that must end before it is left), taking up by the
//! firmware, dispatch (it is chosen and the arm starts), media end, completion. Reads that the buffer covers skip the
//! queue and the arm.
//!
//! The state is in four parts that know nothing of each other but what they are told: [`tasks`] (which commands there are,
//! and which may begin), [`buffer`] (what the cache does, and who waits for it), [`mechanics`] (arm, platter, the queue
//! for them), [`port`] (when data and answers cross the link); [`firmware`] takes commands up. [`Drive`] carries each
//! command from one to the next: [`arrival`] until it waits somewhere and from its end on, [`service`] what the arm
//! does for commands, [`passing`] what buffer and passing head do for them, [`destaging`] the way of written data. Start reading at [`Drive::submit`].
mod arrival;
mod buffer;
pub mod cache;
mod destaging;
pub mod disconnect;
pub mod faults;
mod firmware;
pub mod geometry;
#[cfg(test)]
mod geometry_tests;
mod injected;
mod mechanics;
pub mod mechanism;
pub mod params;
mod passing;
mod port;
pub mod protocol;
pub mod queue;
pub mod scatter;
pub mod seek;
mod service;
pub mod spindle;
mod tasks;
#[cfg(test)]
mod tests;

use super::context::{Context, Event};
use alloc::sync::Arc;
use buffer::Buffer;
use cache::dirty::DirtyPiece;
use drivelab_units::{Instant, Sectors};
use firmware::Firmware;
use injected::Injected;
use mechanics::Mechanics;
pub use mechanics::Turns;
use params::DriveModel;
use port::Port;
use protocol::Protocol;
use queue::SlotIndex;
use tasks::Tasks;

/// What happens inside a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveEvent {
    /// The data in the mechanism's hands have all passed the head.
    MediaEnd(SlotIndex),
    /// The host sees the completion.
    Complete(SlotIndex),
    /// It is time to look for something to do.
    Choose,
    /// What the cache has sent to the media is there.
    Destaged,
    /// The deadline has come of the command that took this slot when the drive had taken so many.
    Deadline(SlotIndex, u32),
}

impl DriveEvent {
    /// Which of several events at one instant runs first: what ends before what begins.
    pub fn class(self) -> u8 {
        match self {
            DriveEvent::MediaEnd(_) | DriveEvent::Destaged => 0,
            DriveEvent::Complete(_) => 1,
            DriveEvent::Choose => 2,
            DriveEvent::Deadline(..) => 3,
        }
    }
}

/// A drive in a target.
pub struct Drive {
    index: u16,
    model: Arc<DriveModel>,
    tasks: Tasks,
    firmware: Firmware,
    buffer: Buffer,
    mechanics: Mechanics,
    port: Port,
    /// What is wrong with it since somebody said so.
    injected: Injected,
}

impl Drive {
    /// A drive whose platter starts at an angle drawn from the stream `drive/<index>/rotation`.
    pub fn new(model: Arc<DriveModel>, index: u16, seed: u64) -> Self {
        Drive::turning_as(model, index, index, seed)
    }

    /// A drive whose platter turns with that of another one of the same period.
    pub fn turning_as(model: Arc<DriveModel>, index: u16, other: u16, seed: u64) -> Self {
        Drive {
            index,
            tasks: Tasks::new(model.protocol, model.queue.depth),
            firmware: Firmware::new(),
            buffer: Buffer::new(index, &model),
            mechanics: Mechanics::new(Arc::clone(&model), index, other, seed),
            port: Port::new(index, Arc::clone(&model)),
            model,
            injected: Injected::new(index, seed),
        }
    }

    /// Which of the target's drives.
    pub fn index(&self) -> u16 {
        self.index
    }

    /// What it is built from.
    pub fn model(&self) -> &DriveModel {
        &self.model
    }

    /// The same, to build another one from.
    pub fn shared_model(&self) -> Arc<DriveModel> {
        Arc::clone(&self.model)
    }

    /// Sectors that the host can address.
    pub fn capacity(&self) -> Sectors {
        self.model.capacity()
    }

    /// The protocol in force.
    pub fn protocol(&self) -> Protocol {
        self.model.protocol
    }

    /// Commands that it holds at once.
    pub fn depth(&self) -> u32 {
        self.model.queue.depth
    }

    /// Reads the log of a failed queue: the tag that failed. The drive accepts commands again.
    pub fn read_log(&mut self) -> Option<u32> {
        self.tasks.read_log()
    }

    /// What the arm's scatter has cost since the start: nothing where it has none.
    pub fn turns(&self) -> Turns {
        self.mechanics.turns()
    }

    /// All that would be lost if power failed now: what the cache has accepted and the media do not have.
    pub fn volatile(&self) -> impl Iterator<Item = DirtyPiece> + '_ {
        self.buffer.volatile()
    }

    /// Segments and sectors of the cache that are in use, for reads and for writes.
    pub fn cached(&self) -> Option<[(u32, u64); 2]> {
        self.buffer.used()
    }

    /// Carries out what is due now.
    #[inline(always)]
    pub fn on_event(&mut self, context: &mut Context, event: DriveEvent) {
        match event {
            DriveEvent::MediaEnd(slot) => self.on_media_end(context, slot),
            DriveEvent::Complete(slot) => self.on_complete(context, slot),
            DriveEvent::Choose => self.on_choose(context),
            DriveEvent::Destaged => self.on_destaged(context),
            DriveEvent::Deadline(slot, serial) => self.on_deadline(context, slot, serial),
        }
    }

    #[inline(never)]
    fn on_choose(&mut self, context: &mut Context) {
        self.mechanics.looks(context.now);
        self.choose(context);
    }

    #[inline]
    fn schedule(&self, context: &mut Context, due: Instant, event: DriveEvent) {
        context.agenda.schedule(due, event.class(), Event::Drive(self.index, event));
    }

    /// The drive looks again at this instant, unless it does earlier.
    fn choose_at(&mut self, context: &mut Context, at: Instant) {
        if self.mechanics.choose_at(context.now, at) {
            self.schedule(context, at, DriveEvent::Choose);
        }
    }
}
