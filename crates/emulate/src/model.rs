//! The target that is served, when its time begins, and which of its drives have failed.
use crate::engine::Device;
use drivelab_core::Machine;
use drivelab_core::storage::array::report::{Report, ReportKind};
use drivelab_core::storage::{CallError, Target, TargetEvent, TargetInput};
use drivelab_units::Instant;
use std::collections::BTreeSet;

/// The target, and the instant of the session clock at which its time begins.
pub(crate) struct Model {
    pub device: Device,
    pub target: Target,
    pub began: Instant,
    /// The instant until which the power is off.
    pub off_until: Option<Instant>,
    /// Whether the array was not started after a power cut, because it is dirty and degraded. Its time stands still.
    pub is_stopped: bool,
    /// The drives that have failed for good, and have not been replaced. A power cut does not heal them.
    pub failed: BTreeSet<u16>,
}

impl Model {
    pub fn new(device: Device, began: Instant) -> Self {
        let mut target = Target::new(&device.target, device.seed);
        target.keep_data();
        Model { device, target, began, off_until: None, is_stopped: false, failed: BTreeSet::new() }
    }

    /// Converts session time into the target's time.
    pub fn own(&self, now: Instant) -> Instant {
        if self.is_stopped { Instant::ZERO } else { Instant::ZERO + now.since(self.began) }
    }

    /// Converts the target's time into session time.
    pub fn session(&self, own: Instant) -> Instant {
        self.began + own.since(Instant::ZERO)
    }

    /// Passes an input that is neither time nor a command to the target.
    ///
    /// # Errors
    /// Why the target refuses it.
    pub fn handle(&mut self, own: Instant, input: TargetInput) -> Result<(), CallError> {
        let replaced = if let TargetInput::Replace { drive } = input { Some(drive) } else { None };
        self.target.handle(own, input)?;
        // A new drive that an array keeps as a spare is not reported.
        replaced.map(|drive| self.failed.remove(&drive));
        Ok(())
    }

    /// Notes which drives have failed. Returns whether an event is news: a target that starts after a power cut
    /// reports again who had failed before.
    pub fn notes(&mut self, what: &TargetEvent) -> bool {
        match *what {
            TargetEvent::DriveFailed { drive, .. } => self.failed.insert(drive),
            TargetEvent::DriveReplaced { drive, .. } => {
                self.failed.remove(&drive);
                true
            }
            TargetEvent::Array(Report { what, .. }) => match what {
                ReportKind::Failed { drive, .. }
                | ReportKind::SpareFailed { drive }
                | ReportKind::JournalFailed { drive } => self.failed.insert(drive),
                ReportKind::Replaced { drive, .. } => {
                    self.failed.remove(&drive);
                    true
                }
                _ => true,
            },
            _ => true,
        }
    }
}
