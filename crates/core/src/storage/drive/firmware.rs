//! The firmware's processor: it picks up one command at a time; how long that takes depends on the kind of
//! command, on whether the buffer can serve it, and on the command before it.
use super::cache::segment::Cover;
use super::disconnect::Steps;
use super::params::DriveModel;
use super::queue::SlotIndex;
use crate::command::{Access, Command};
use drivelab_units::{Instant, Lba, Span};

/// What the buffer can do for a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferAnswer {
    /// For a read: which of its sectors are in the buffer.
    pub cover: Cover,
    /// For a write: whether the cache accepts the data and completes it.
    pub takes: bool,
    /// For a read: whether it continues one that the drive has not answered yet. Its access needs no preparation of its
    /// own, so it costs no more than a read that the buffer answers.
    pub continues: bool,
}

/// The firmware's pickup of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PickedUp {
    /// When the arm may start, or the buffer answer.
    pub ready: Instant,
    /// When its data can flow at the earliest.
    pub data: Instant,
    /// The reselection before them: zero unless the drive has disconnected.
    pub call: Span,
    /// Remaining steps of a write after its data, and after its media access: disconnection, and reselection.
    pub last_steps: (Span, Span),
}

/// State of the firmware's processor.
pub struct Firmware {
    free: Instant,
    /// The kind of the command picked up last, and when that was.
    before: Access,
    taken_up_at: Instant,
    /// The end of the last write that was picked up.
    write_end: Lba,
    /// The slot and the serial of the last read that was picked up.
    last_read: Option<(SlotIndex, u32)>,
    /// Its end.
    read_end: Lba,
}

impl Firmware {
    pub fn new() -> Self {
        Firmware {
            free: Instant::ZERO,
            before: Access::Read,
            taken_up_at: Instant::ZERO,
            write_end: Lba::ZERO,
            last_read: None,
            read_end: Lba::ZERO,
        }
    }

    /// The last read that was picked up, as its slot and serial, if a read that begins here continues it.
    #[inline]
    pub fn continued_by(&self, first: Lba) -> Option<(SlotIndex, u32)> {
        self.last_read.filter(|_| first == self.read_end)
    }

    /// A read was picked up.
    #[inline]
    pub fn note_read(&mut self, slot: SlotIndex, serial: u32, end: Lba) {
        (self.last_read, self.read_end) = (Some((slot, serial)), end);
    }

    /// When it last picked up a command.
    #[inline]
    pub fn picked_up_at(&self) -> Instant {
        self.taken_up_at
    }

    /// The overhead of a read that the buffer cannot answer.
    pub fn read_miss(&self, model: &DriveModel) -> Span {
        model.firmware.read_miss.after(self.before)
    }

    /// The remaining pickups are dropped.
    pub fn drop_rest(&mut self, now: Instant) {
        self.free = self.free.min(now);
    }

    /// The processor is busy with something else for `lasts` before it picks up the next command.
    pub fn stall(&mut self, now: Instant, lasts: Span) {
        self.free = self.free.max(now) + lasts;
    }

    /// It picks up nothing before this instant.
    pub fn stall_until(&mut self, until: Instant) {
        self.free = self.free.max(until);
    }

    /// Picks up a command that has arrived, or that no longer has to wait for others.
    #[inline(always)]
    pub fn pick_up(
        &mut self,
        model: &DriveModel,
        command: &Command,
        buffer_answer: BufferAnswer,
        now: Instant,
    ) -> PickedUp {
        let access = command.access;
        let free = now.max(self.free) + model.exchange.bridge;
        let steps = self.steps(model, command, buffer_answer);
        let (mut ready, mut data) = (free + steps.arm, free + steps.data);
        let needs_media =
            buffer_answer.cover != Cover::Hit && !buffer_answer.takes && access != Access::Flush;
        let mut call = Span::ZERO;
        if needs_media && model.protocol.releases(command, buffer_answer.continues) {
            ready += model.exchange.released();
            data += model.exchange.released();
            call = model.exchange.serviced();
        }
        if access == Access::Write {
            self.write_end = command.end();
        }
        (self.before, self.free, self.taken_up_at) = (access, ready, now);
        PickedUp { ready, data, call, last_steps: (steps.release, steps.end) }
    }

    /// The delays between a command's arrival and its arm movement and data, and after them.
    #[inline(always)]
    fn steps(&self, model: &DriveModel, command: &Command, buffer_answer: BufferAnswer) -> Steps {
        let (firmware, bus, before) = (&model.firmware, &model.disconnect, self.before);
        let access = command.access;
        let overhead = match (access, buffer_answer.cover) {
            (Access::Flush, _) => firmware.write_hit,
            (Access::Write, _) if buffer_answer.takes => firmware.write_hit,
            (Access::Write, _) => firmware.write,
            (Access::Read, Cover::Miss | Cover::Partial(_)) if !buffer_answer.continues => firmware.read_miss,
            (Access::Read, _) => firmware.read_hit,
        };
        let overhead = overhead.after(before);
        let mut steps = Steps { arm: overhead, data: overhead, ..Steps::default() };
        match (access, buffer_answer.cover) {
            (Access::Write, _) if buffer_answer.takes => steps.data = overhead + bus.preparation,
            (Access::Write, _) => {
                let written = (before == Access::Write).then_some(self.write_end);
                steps = bus.write(command, overhead, written);
            }
            (Access::Read, Cover::Miss) => steps.data = overhead + bus.after_command(before),
            (Access::Read, Cover::Partial(_)) => {
                steps.data = firmware.read_hit.after(before) + bus.preparation;
            }
            (Access::Read, _) => steps.arm = overhead + bus.preparation,
            (Access::Flush, _) => {}
        }
        steps
    }
}
