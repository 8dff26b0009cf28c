//! The target that is served, when its time begins, and which of its drives have failed.
use crate::engine::Device;
use drivelab_core::Machine;
use drivelab_core::storage::array::members::MemberState;
use drivelab_core::storage::array::report::{Progress, Report, ReportKind, SyncKind};
use drivelab_core::storage::{CallError, Fault, Target, TargetEvent, TargetInput};
use drivelab_units::{Instant, Span};
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
    /// The slots of the array that were being rebuilt when it last reported.
    rebuilding: BTreeSet<u16>,
}

/// Work of an array that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EndedWork {
    pub kind: SyncKind,
    /// How long it took; `None` where it was given up.
    pub took: Option<Span>,
    /// The drive that it has made whole.
    pub drive: Option<u16>,
}

impl Model {
    pub fn new(device: Device, began: Instant) -> Self {
        let mut target = Target::new(&device.target, device.seed);
        target.keep_data();
        let (failed, rebuilding) = (BTreeSet::new(), BTreeSet::new());
        Model { device, target, began, off_until: None, is_stopped: false, failed, rebuilding }
    }

    /// Converts session time into the target's time.
    pub fn own(&self, now: Instant) -> Instant {
        if self.is_stopped { Instant::ZERO } else { Instant::ZERO + now.since(self.began) }
    }

    /// Converts the target's time into session time.
    pub fn session(&self, own: Instant) -> Instant {
        self.began + own.since(Instant::ZERO)
    }

    /// Injects a fault into the target.
    ///
    /// # Errors
    /// Why the target refuses it.
    pub fn handle(&mut self, own: Instant, fault: Fault) -> Result<(), CallError> {
        self.target.handle(own, TargetInput::Inject(fault))?;
        if let Fault::Replace { drive } = fault {
            // A new drive that an array keeps as a spare is not reported.
            self.failed.remove(&drive);
        }
        Ok(())
    }

    /// The work that a report of the array says has ended: one entry for each drive that was rebuilt.
    pub fn ended_work(&mut self, report: &Report) -> Vec<EndedWork> {
        let Some(array) = self.target.array() else { return Vec::new() };
        let state = |slot: u16| array.members().get(slot).state;
        self.rebuilding.retain(|slot| state(*slot) != MemberState::Missing);
        let new = array.members().iter();
        self.rebuilding.extend(
            new.filter(|(_, member)| matches!(member.state, MemberState::Rebuilding { .. }))
                .map(|(slot, _)| slot),
        );
        let (ReportKind::Ended(kind) | ReportKind::GivenUp(kind)) = report.what else { return Vec::new() };
        let is_it =
            |job: &Progress| (job.kind, job.group, job.ended) == (kind, report.group, Some(report.at));
        let job = array.progress().filter(is_it).last();
        let took = job.filter(|job| !job.is_given_up).map(|job| report.at.since(job.began));
        let whole: Vec<u16> =
            self.rebuilding.iter().copied().filter(|slot| state(*slot) == MemberState::Whole).collect();
        let work = |drive| EndedWork { kind, took, drive };
        if kind != SyncKind::Rebuild || whole.is_empty() {
            return vec![work(None)];
        }
        self.rebuilding.retain(|slot| !whole.contains(slot));
        whole.into_iter().map(|slot| work(Some(array.members().get(slot).drive))).collect()
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
