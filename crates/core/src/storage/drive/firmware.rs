//! The firmware's processor: it takes up one command after the other, and what that takes depends on the kind of command,
//! on what the buffer can do for it, and on the command before it.
use super::cache::segment::Cover;
use super::disconnect::Steps;
use super::params::DriveModel;
use crate::command::{Access, Command};
use drivelab_units::{Instant, Lba, Span};

/// What the buffer can do for a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Help {
    /// For a read: what it holds of its blocks.
    pub cover: Cover,
    /// For a write: whether it takes the data and answers for them.
    pub takes: bool,
}

/// How the firmware has taken up a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TakenUp {
    /// When the arm may start, or the answer of the buffer.
    pub ready: Instant,
    /// When its data can flow at the earliest.
    pub data: Instant,
    /// What it takes to call the host before they do: nothing unless the drive has let go of the bus.
    pub call: Span,
    /// What a write still takes behind its data, and behind its media access: to let go of the bus, to take it up again.
    pub last_steps: (Span, Span),
}

/// What the firmware is at.
pub struct Firmware {
    free: Instant,
    /// The kind of the command taken up last, and when that was.
    before: Access,
    taken_up_at: Instant,
    /// Where the last write that was taken up ends.
    write_end: Lba,
}

impl Firmware {
    pub fn new() -> Self {
        Firmware {
            free: Instant::ZERO,
            before: Access::Read,
            taken_up_at: Instant::ZERO,
            write_end: Lba::ZERO,
        }
    }

    /// When it took up a command last.
    #[inline]
    pub fn taken_up_at(&self) -> Instant {
        self.taken_up_at
    }

    /// What it takes to turn to a read that the buffer cannot answer.
    pub fn read_miss(&self, model: &DriveModel) -> Span {
        model.firmware.read_miss.after(self.before)
    }

    /// What it had still to take up is gone.
    pub fn drop_rest(&mut self, now: Instant) {
        self.free = self.free.min(now);
    }

    /// It is at something else for so long before it takes up the next command.
    pub fn stall(&mut self, now: Instant, lasts: Span) {
        self.free = self.free.max(now) + lasts;
    }

    /// It takes up nothing before this instant.
    pub fn stall_until(&mut self, until: Instant) {
        self.free = self.free.max(until);
    }

    /// Takes up a command that has come, or that nothing that must end before it is left of.
    #[inline(always)]
    pub fn take_up(&mut self, model: &DriveModel, command: &Command, help: Help, now: Instant) -> TakenUp {
        let access = command.access;
        let free = now.max(self.free) + model.exchange.bridge;
        let steps = self.steps(model, command, help);
        let (mut ready, mut data) = (free + steps.arm, free + steps.data);
        let needs_media = help.cover != Cover::Hit && !help.takes && access != Access::Flush;
        let mut call = Span::ZERO;
        if needs_media && model.protocol.releases(command) {
            ready += model.exchange.released();
            data += model.exchange.released();
            call = model.exchange.serviced();
        }
        if access == Access::Write {
            self.write_end = command.end();
        }
        (self.before, self.free, self.taken_up_at) = (access, ready, now);
        TakenUp { ready, data, call, last_steps: (steps.release, steps.end) }
    }

    /// What lies between a command's arrival and its arm and data, and behind them.
    #[inline(always)]
    fn steps(&self, model: &DriveModel, command: &Command, help: Help) -> Steps {
        let (firmware, bus, before) = (&model.firmware, &model.disconnect, self.before);
        let access = command.access;
        let overhead = match (access, help.cover) {
            (Access::Flush, _) => firmware.write_hit,
            (Access::Write, _) if help.takes => firmware.write_hit,
            (Access::Write, _) => firmware.write,
            (Access::Read, Cover::Miss | Cover::Partial(_)) => firmware.read_miss,
            (Access::Read, _) => firmware.read_hit,
        };
        let overhead = overhead.after(before);
        let mut steps = Steps { arm: overhead, data: overhead, ..Steps::default() };
        match (access, help.cover) {
            (Access::Write, _) if help.takes => steps.data = overhead + bus.preparation,
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
