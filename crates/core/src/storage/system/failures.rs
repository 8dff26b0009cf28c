//! Drives that have failed for good, or were given up by the array; and new ones in their place.
use super::{ReplacementParams, System};
use crate::data::DataOp;
use crate::storage::array::params::ArrayParams;
use crate::storage::array::report::SyncKind;
use crate::storage::call::CallError;
use crate::storage::context::Context;
use crate::storage::device::Device;
use crate::storage::drive::Drive;
use crate::storage::events::{Before, Event};
use crate::storage::inputs::NO_ARRAY;
use crate::storage::outputs::TargetEvent;
use drivelab_units::Share;

impl System {
    /// A drive fails for good, with the others of its housing: it no longer answers, and the array does without it.
    /// Without an array its commands fail with it, and so does every later one. Returns whether it had not failed
    /// before.
    #[cold]
    pub fn fail(&mut self, context: &mut Context, drive: u16) -> bool {
        if !self.fail_alone(context, drive) {
            return false;
        }
        for other in 0..self.devices.len() as u16 {
            if other != drive && self.replacement.housing(other) == self.replacement.housing(drive) {
                self.fail_alone(context, other);
            }
        }
        true
    }

    fn fail_alone(&mut self, context: &mut Context, drive: u16) -> bool {
        if !self.forget(context, drive) {
            return false;
        }
        match &mut self.array {
            Some(array) => {
                array.fail(context, drive);
                self.pump_array(context);
            }
            None => {
                context.report_event(TargetEvent::DriveFailed { at: context.now, drive });
                self.devices[usize::from(drive)].controller.drive_failed(context);
            }
        }
        self.settle(context);
        true
    }

    /// Ignores a drive from now on. Returns whether it was not ignored before.
    #[cold]
    fn forget(&mut self, context: &mut Context, drive: u16) -> bool {
        context.answers.retain(|(from, _)| *from != drive);
        context.refused.retain(|(from, _)| *from != drive);
        context.traces.retain(|(of, _)| *of != drive);
        let is_new = !core::mem::replace(&mut self.dead[usize::from(drive)], true);
        if is_new {
            // It ends none of its commands any more.
            let held = self.devices[usize::from(drive)].drive.commands_held();
            context.in_drives.drop(context.now, held);
        }
        is_new
    }

    /// Drops the drives that the array has given up.
    #[inline]
    pub(super) fn forget_given_up(&mut self, context: &mut Context) {
        while let Some(drive) = self.array.as_mut().and_then(|array| array.next_given_up()) {
            self.forget(context, drive);
        }
    }

    /// Whether it is two actuators of one drive, whose faults are not modelled.
    pub fn is_one_drive(&self) -> bool {
        self.is_one_drive
    }

    /// A drive that has not failed.
    ///
    /// # Errors
    /// When it has.
    pub fn working_drive(&mut self, drive: u16) -> Result<&mut Drive, CallError> {
        if self.dead[usize::from(drive)] {
            return Err(CallError::DriveHasFailed { drive });
        }
        Ok(&mut self.devices[usize::from(drive)].drive)
    }

    /// A new, empty drive of the same model takes the place of one that has failed, and of the others of its housing that
    /// have. An array puts it into the
    /// slot of the failed one, or keeps it as a spare where it cannot use it there.
    ///
    /// # Errors
    /// When that drive has not failed, or is an array's journal.
    #[cold]
    pub fn replace(&mut self, context: &mut Context, drive: u16) -> Result<(), CallError> {
        self.replace_alone(context, drive)?;
        // The others of its housing have failed with it, or have been given up.
        for other in 0..self.devices.len() as u16 {
            if other != drive && self.replacement.housing(other) == self.replacement.housing(drive) {
                match self.replace_alone(context, other) {
                    Ok(()) | Err(CallError::DriveIsThere { .. } | CallError::Unable { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn replace_alone(&mut self, context: &mut Context, drive: u16) -> Result<(), CallError> {
        let at = usize::from(drive);
        let is_missing =
            self.array.as_ref().is_some_and(|array| array.members().slot_missing(drive).is_some());
        if !self.dead[at] && !is_missing {
            return Err(CallError::DriveIsThere { drive });
        }
        if self.array.as_ref().is_some_and(|array| array.params().is_of_journal(drive)) {
            let what = "have the drive of its journal replaced";
            return Err(CallError::Unable { what, needs: "an array that is assembled anew" });
        }
        // Events of the old drive must not act on the new one.
        context.agenda.retain(|event| match *event {
            Event::Drive(of, _) | Event::Controller(of, _) => of != drive,
            Event::Elevator(Before::Drive(of)) => of != drive,
            _ => true,
        });
        let ReplacementParams { seed, controller, before_drive, .. } = &self.replacement;
        let params = self.array.as_ref().map(|array| array.params());
        let housing = self.replacement.housing(drive);
        let new = self.devices[at].drive.new_drive(params, housing, *seed);
        self.devices[at] = Device::new(new, controller, before_drive.as_ref());
        self.dead[at] = false;
        match &mut self.array {
            Some(array) => {
                array.insert_drive(context, drive);
                self.pump_array(context);
            }
            None => {
                context.report_event(TargetEvent::DriveReplaced { at: context.now, drive });
                context.data_op(DataOp::Replace { member: drive });
            }
        }
        self.settle(context);
        Ok(())
    }

    /// See [`Target::skip_rebuilds`](crate::storage::Target::skip_rebuilds).
    pub fn skip_rebuilds(&mut self, share: Share) {
        self.array.iter_mut().for_each(|array| array.skip_rebuilds(share));
    }

    /// The array begins background work.
    ///
    /// # Errors
    /// Without a redundant array, and when there is nothing to rebuild.
    #[cold]
    pub fn begin_work(&mut self, context: &mut Context, work: SyncKind) -> Result<(), CallError> {
        let Some(array) = self.array.as_mut().filter(|array| array.layout().is_redundant()) else {
            return Err(NO_ARRAY);
        };
        match work {
            SyncKind::Rebuild if !array.rebuild_now(context) => return Err(CallError::NothingToRebuild),
            SyncKind::Rebuild => {}
            SyncKind::Resync | SyncKind::Scrub => array.begin_work(context, work),
        }
        self.pump_array(context);
        self.settle(context);
        Ok(())
    }
}

impl ReplacementParams {
    fn housing(&self, drive: u16) -> u16 {
        self.housings.get(usize::from(drive)).copied().unwrap_or(drive)
    }
}

impl Drive {
    /// A new drive of the same model under the same number, on the spindle of the drive `housing`.
    fn new_drive(&self, array: Option<&ArrayParams>, housing: u16, seed: u64) -> Drive {
        // Its own model has the period that was drawn for it.
        let turns_as = if array.is_some_and(|array| array.synchronised) { 0 } else { housing };
        Drive::turning_as(self.shared_model(), self.index(), turns_as, seed)
    }
}
