//! How a target handles inputs that are neither time nor commands: failures, new drives, background work of
//! the array, power cuts, faults, and aborts by hosts.
//!
//! Scheduled events of a scenario take the same path: an event on the agenda makes the same calls as the
//! input.
use super::call::{Accepted, CallError, Fault, Manage, Slowness, TargetInput};
use super::context::Context;
use super::drive::Drive;
use super::drive::params::TIME_MAX;
use super::outputs::TargetEvent;
use super::{Body, Target};
use crate::data::DataOp;
use drivelab_units::{Instant, Lba, Sectors};

impl Target {
    /// Processes an input at an instant up to which all events have run.
    #[cold]
    pub(super) fn handle_input(&mut self, now: Instant, input: TargetInput) -> Result<Accepted, CallError> {
        if self.is_off {
            return Err(CallError::PowerIsOff);
        }
        self.context.now = now;
        match input {
            TargetInput::Tick => Ok(Accepted::Done),
            TargetInput::Submit(command) => {
                let number = self.submit(now, &command).ok_or_else(|| self.not_taken(&command))?;
                Ok(Accepted::Submitted { number })
            }
            TargetInput::Abort { id } => Ok(self.abort(id)),
            TargetInput::CutPower => {
                self.cut_power();
                Ok(Accepted::Done)
            }
            TargetInput::Manage(manage) => self.manage(manage),
            TargetInput::Inject(fault) => self.inject(fault),
            TargetInput::Fail { drive } => {
                let what = "have a drive fail";
                let (system, context) = self.system_with(drive, what)?;
                if !system.fail(context, drive) {
                    return Err(CallError::DriveHasFailed { drive });
                }
                Ok(Accepted::Done)
            }
            TargetInput::Replace { drive } => {
                let what = "have a drive replaced";
                let (system, context) = self.system_with(drive, what)?;
                system.replace(context, drive).map(|()| Accepted::Done)
            }
            TargetInput::Begin { work } => {
                let Target { body, context, .. } = self;
                let Body::System(system) = body else { return Err(NO_ARRAY) };
                system.begin_work(context, work).map(|()| Accepted::Done)
            }
        }
    }

    /// The system of an existing drive.
    fn system_with(
        &mut self,
        drive: u16,
        what: &'static str,
    ) -> Result<(&mut super::System, &mut Context), CallError> {
        self.check_drive(drive)?;
        let Target { body, context, .. } = self;
        match body {
            Body::System(system) => Ok((system, context)),
            Body::Server(_) | Body::Wire(_) => {
                Err(CallError::Unable { what, needs: "a controller before its drives" })
            }
        }
    }

    fn check_drive(&self, drive: u16) -> Result<(), CallError> {
        let drives = match &self.body {
            Body::Server(_) => 0,
            Body::System(system) => system.drives().count() as u16,
            Body::Wire(_) => 1,
        };
        if drive < drives { Ok(()) } else { Err(CallError::NoSuchDrive { drive, drives }) }
    }

    /// A host aborts a command.
    fn abort(&mut self, id: u64) -> Accepted {
        let Some(number) = self.context.commands.number_of(id) else { return Accepted::NothingThere };
        let Target { body, context, .. } = self;
        match body {
            Body::Server(_) => Accepted::GoesOn,
            Body::System(system) => system.abort(context, number),
            Body::Wire(drive) => {
                let is_there = drive.abort_numbered(context, number);
                context.answer_host();
                if is_there { Accepted::Aborting } else { Accepted::GoesOn }
            }
        }
    }

    /// The power is cut.
    fn cut_power(&mut self) {
        let context = &mut self.context;
        context.agenda.retain(|_| false);
        context.answers.retain(|_| false);
        context.refused.retain(|_| false);
        context.traces.clear();
        context.commands.close();
        context.report_event(TargetEvent::PowerCut { at: context.now });
        self.is_off = true;
    }

    fn manage(&mut self, manage: Manage) -> Result<Accepted, CallError> {
        let Target { body, context, .. } = self;
        let Body::Wire(drive) = body else {
            let needs = "a drive on the wire: a controller does so by itself";
            return Err(CallError::Unable { what: "be asked to manage tasks", needs });
        };
        let mut accepted = Accepted::Done;
        match manage {
            Manage::Abort { initiator, tag } => drive.abort(context, initiator, tag),
            Manage::ClearAllegiance { initiator } => drive.clear_allegiance(context, initiator),
            Manage::ReadLog => accepted = Accepted::Log { failed: drive.read_log() },
        }
        context.answer_host();
        Ok(accepted)
    }

    /// A fault is injected into a drive.
    fn inject(&mut self, fault: Fault) -> Result<Accepted, CallError> {
        self.check_drive(fault.drive())?;
        let Target { body, context, .. } = self;
        match body {
            Body::Server(_) => {}
            Body::Wire(drive) => {
                apply_fault(drive, context, fault)?;
                context.answer_host();
            }
            Body::System(system) => {
                apply_fault(system.working_drive(fault.drive())?, context, fault)?;
                system.settle(context);
            }
        }
        Ok(Accepted::Done)
    }
}

/// Applies a fault to a drive.
fn apply_fault(drive: &mut Drive, context: &mut Context, fault: Fault) -> Result<(), CallError> {
    match fault {
        Fault::MediaError { drive: index, first, count, until } => {
            check_sectors(drive, index, first, count)?;
            drive.make_unreadable(first, count, until);
        }
        Fault::Corrupt { drive: index, first, count } => {
            check_sectors(drive, index, first, count)?;
            context.data_op(DataOp::Corrupt { member: index, first, count });
        }
        Fault::Slow { how: Some(Slowness::Bursts { every, .. }), .. } if every.is_zero() => {
            return Err(CallError::EndlessBursts);
        }
        Fault::Slow { how: Some(how), .. } if how.most() > TIME_MAX => {
            return Err(CallError::TooSlow { by: how.most() });
        }
        Fault::Slow { how, .. } => drive.slow_down(context.now, how),
        Fault::Hang { lasts, .. } => drive.hang(context.now, lasts),
        Fault::LinkReset { .. } => drive.reset_link(context),
        Fault::LyingFlush { lies, .. } => drive.lie_about_flushes(lies),
    }
    Ok(())
}

/// Whether the number of sectors is not zero, and all of them are on the drive.
fn check_sectors(drive: &Drive, index: u16, first: Lba, count: Sectors) -> Result<(), CallError> {
    let end = first.get().checked_add(count.get());
    if count.get() == 0 || end.is_none_or(|end| end > drive.capacity().get()) {
        return Err(CallError::NotOnDrive { drive: index, first, count });
    }
    Ok(())
}

/// Why a target cannot begin background work.
pub(super) const NO_ARRAY: CallError =
    CallError::Unable { what: "go over its members", needs: "an array that has data twice, or parity" };
