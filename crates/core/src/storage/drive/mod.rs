//! One drive: protocol, queue, firmware, read-ahead buffer, mechanism and link, as a box in a target.
//!
//! A command passes through: arrival (a tag is taken), enabling (nothing that must end before it is
//! unfinished), pickup by the firmware, dispatch (it is chosen and the arm starts), media end, completion.
//! Reads that the buffer covers skip the queue and the arm.
//!
//! The state is in four parts that are independent of each other: [`tasks`] (which commands there are, and
//! which may begin), [`buffer`] (what the cache does, and which commands wait for it), [`mechanics`] (arm,
//! platter, and their queue), [`port`] (when data and answers cross the link); [`firmware`] picks commands
//! up. [`Drive`] takes each command from one to the next: [`arrival`] until it waits somewhere and from its
//! end on, [`service`] what the arm does for commands, [`passing`] what buffer and passing head do for them,
//! [`destaging`] the path of written data; on a shingled drive [`shingled`] knows where sectors lie, and `shingling`
//! does what that needs. The dies of a flash drive are in `flash`, and `flashing` does what they need in place of `service`
//! and `passing`. Start reading at [`Drive::submit`].
mod arrival;
mod buffer;
pub mod cache;
mod destaging;
pub mod disconnect;
pub mod faults;
mod firmware;
pub mod flash;
mod flashing;
pub mod geometry;
#[cfg(test)]
mod geometry_tests;
mod injected;
mod mechanics;
pub mod mechanism;
mod medium;
pub mod params;
mod passing;
mod port;
pub mod protocol;
pub mod queue;
mod refusing;
pub mod scatter;
pub mod seek;
mod service;
pub mod shingled;
mod shingling;
pub mod spindle;
mod tasks;
#[cfg(test)]
mod tests;
pub mod zones;

use super::context::Context;
use super::events::Event;
use alloc::boxed::Box;
use alloc::sync::Arc;
use buffer::Buffer;
use cache::dirty::DirtyPiece;
use drivelab_units::{Instant, Sectors};
use firmware::Firmware;
use flash::Flash;
use injected::Injected;
use mechanics::Mechanics;
pub use mechanics::Turns;
use params::DriveModel;
use port::Port;
use protocol::Protocol;
use queue::SlotIndex;
use shingled::Shingled;
use tasks::Tasks;
use zones::Zones;

/// What happens inside a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveEvent {
    /// The last sector of the mechanism's current access has passed the head.
    MediaEnd(SlotIndex),
    /// The completion reaches the host.
    Complete(SlotIndex),
    /// The drive looks for something to do.
    Choose,
    /// The destaging under way is complete.
    Destaged,
    /// The deadline of the command in this slot; the serial number distinguishes it from earlier commands
    /// there.
    Deadline(SlotIndex, u32),
}

impl DriveEvent {
    /// The order of events at one instant: what ends before what begins.
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
    /// Where the sectors of a shingled drive lie; `None` on any other.
    shingled: Option<Box<Shingled>>,
    /// The dies of a flash drive, which has them in place of arm and platter.
    flash: Option<Box<Flash>>,
    /// The write pointers of a host-managed drive.
    zones: Option<Box<Zones>>,
    /// Faults injected while it runs.
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
            tasks: Tasks::new(model.protocol, model.queue.depth, model.duration_limits.clone()),
            firmware: Firmware::new(),
            buffer: Buffer::new(index, &model),
            mechanics: Mechanics::new(Arc::clone(&model), index, other, seed),
            port: Port::new(index, Arc::clone(&model)),
            shingled: model.shingled().map(Box::new),
            flash: model.flash(index, seed).map(Box::new),
            zones: model.zones().map(Box::new),
            model,
            injected: Injected::new(index, seed),
        }
    }

    /// Its index in the target.
    pub fn index(&self) -> u16 {
        self.index
    }

    /// The model that it is built from.
    pub fn model(&self) -> &DriveModel {
        &self.model
    }

    /// The same, shared, to build another drive from.
    pub fn shared_model(&self) -> Arc<DriveModel> {
        Arc::clone(&self.model)
    }

    /// Number of commands that it has accepted and not answered.
    pub fn commands_held(&self) -> u32 {
        self.tasks.held()
    }

    /// Sectors that the host can address.
    pub fn capacity(&self) -> Sectors {
        self.model.capacity()
    }

    /// The protocol in force.
    pub fn protocol(&self) -> Protocol {
        self.model.protocol
    }

    /// Maximum number of commands that it holds.
    pub fn depth(&self) -> u32 {
        self.model.queue.depth
    }

    /// Reads the log of a failed queue: the tag that failed. The drive accepts commands again.
    pub fn read_log(&mut self) -> Option<u32> {
        self.tasks.read_log()
    }

    /// The turns that were lost since the start to the scatter of the arm's movements and to parts of physical sectors.
    pub fn turns(&self) -> Turns {
        self.mechanics.turns()
    }

    /// Everything that a power loss at this moment would lose: what the cache has accepted and is not on the
    /// media.
    pub fn volatile(&self) -> impl Iterator<Item = DirtyPiece> + '_ {
        let on_no_die = self.flash.iter().flat_map(|flash| flash.volatile());
        self.buffer.volatile().chain(on_no_die)
    }

    /// Segments and sectors of the cache that are in use, for reads and for writes.
    pub fn cached(&self) -> Option<[(u32, u64); 2]> {
        let written = |flash: &Flash| [(0, 0), flash.writes.taken()];
        self.buffer.used().or_else(|| self.flash.as_deref().map(written))
    }

    /// What a shingled drive's media cache holds.
    pub fn shingled(&self) -> Option<&Shingled> {
        self.shingled.as_deref()
    }

    /// The write pointers of a host-managed drive.
    pub fn zones(&self) -> Option<&Zones> {
        self.zones.as_deref()
    }

    /// After a power cut: the media hold what they held.
    pub fn restore_after(&mut self, before: &Drive) {
        if let (Some(shingled), Some(before)) = (&mut self.shingled, &before.shingled) {
            shingled.restore_after(before);
        }
        if let (Some(flash), Some(before)) = (&mut self.flash, &before.flash) {
            flash.restore_after(before);
        }
    }

    /// Carries out what is due now.
    #[inline(always)]
    pub fn on_event(&mut self, context: &mut Context, event: DriveEvent) {
        match event {
            DriveEvent::MediaEnd(slot) if self.flash.is_some() => self.end_of_dies(context, slot),
            DriveEvent::MediaEnd(slot) => self.on_media_end(context, slot),
            DriveEvent::Complete(slot) => self.on_complete(context, slot),
            DriveEvent::Choose => self.on_choose(context),
            DriveEvent::Destaged => self.on_destaged(context),
            DriveEvent::Deadline(slot, serial) => self.on_deadline(context, slot, serial),
        }
    }

    #[inline(never)]
    fn on_choose(&mut self, context: &mut Context) {
        self.mechanics.choice_made(context.now);
        self.choose(context);
    }

    #[inline]
    fn schedule(&self, context: &mut Context, due: Instant, event: DriveEvent) {
        context.agenda.schedule(due, event.class(), Event::Drive(self.index, event));
    }

    /// The drive is to choose at this instant, unless it does so earlier.
    fn choose_at(&mut self, context: &mut Context, at: Instant) {
        if self.mechanics.choose_at(context.now, at) {
            self.schedule(context, at, DriveEvent::Choose);
        }
    }
}
