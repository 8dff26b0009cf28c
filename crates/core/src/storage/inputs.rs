//! How a target handles inputs that are neither time nor commands: failures, new drives, background work of
//! the array, power cuts, faults, and aborts by hosts.
//!
//! Scheduled events of a scenario take the same path: an event on the agenda makes the same calls as the
//! input.
use super::call::{Accepted, CallError, Manage, TargetInput};
use super::context::Context;
use super::drive::Drive;
use super::drive::params::TIME_MAX;
use super::fault::{Fault, Slowness};
use super::outputs::TargetEvent;
use super::{Body, Target};
use crate::data::DataOp;
use drivelab_units::{Instant, Lba, Sectors, Span};

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
            TargetInput::Manage(manage) => self.manage(manage),
            TargetInput::Inject(fault) => self.inject(fault),
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

    /// A fault is injected.
    fn inject(&mut self, fault: Fault) -> Result<Accepted, CallError> {
        if let Body::System(system) = &self.body
            && system.is_one_drive()
            && fault != Fault::CutPower
        {
            let needs = "a drive with one actuator, or members of an array";
            return Err(CallError::Unable { what: "have faults", needs });
        }
        match fault {
            Fault::MediaError { drive, first, count, until } => {
                check_sectors(self.working_drive(drive)?, drive, first, count)?;
                self.on_drive(drive, &|of, _| of.make_unreadable(first, count, until))?;
            }
            Fault::Corrupt { drive, first, count } => {
                check_sectors(self.working_drive(drive)?, drive, first, count)?;
                let op = DataOp::Corrupt { member: drive, first, count };
                self.on_drive(drive, &|_, context| context.data_op(op))?;
            }
            Fault::Slow { drive, how } => {
                self.working_drive(drive)?;
                if let Some(by) = how.map(Slowness::most).filter(|by| *by > TIME_MAX) {
                    return Err(CallError::TooSlow { by });
                }
                self.on_drive(drive, &|of, context| of.slow_down(context.now, how))?;
            }
            Fault::Hang { drive, lasts } => {
                let lasts = lasts.unwrap_or(Span::from_ns(u64::MAX));
                self.on_drive(drive, &|of, context| of.hang(context.now, lasts))?;
            }
            Fault::LinkReset { drive } => self.on_drive(drive, &|of, context| of.reset_link(context))?,
            Fault::LyingFlush { drive, lies } => self.on_drive(drive, &|of, _| of.lie_about_flushes(lies))?,
            Fault::Fail { drive } => {
                let (system, context) = self.system_with(drive, "have a drive fail")?;
                if !system.fail(context, drive) {
                    return Err(CallError::DriveHasFailed { drive });
                }
            }
            Fault::Replace { drive } => {
                let (system, context) = self.system_with(drive, "have a drive replaced")?;
                system.replace(context, drive)?;
            }
            Fault::CutPower => self.cut_power(),
            Fault::Begin { work } => {
                let Target { body, context, .. } = self;
                let Body::System(system) = body else { return Err(NO_ARRAY) };
                system.begin_work(context, work)?;
            }
        }
        Ok(Accepted::Done)
    }

    /// A drive that has not failed.
    fn working_drive(&mut self, drive: u16) -> Result<&mut Drive, CallError> {
        self.check_drive(drive)?;
        match &mut self.body {
            Body::System(system) => system.working_drive(drive),
            Body::Wire(drive) => Ok(drive),
            Body::Server(_) => Err(CallError::NoSuchDrive { drive, drives: 0 }),
        }
    }

    /// Applies a fault to a drive that has not failed.
    fn on_drive(&mut self, drive: u16, apply: &dyn Fn(&mut Drive, &mut Context)) -> Result<(), CallError> {
        self.check_drive(drive)?;
        let Target { body, context, .. } = self;
        match body {
            Body::Server(_) => return Err(CallError::NoSuchDrive { drive, drives: 0 }),
            Body::Wire(drive) => {
                apply(drive, context);
                context.answer_host();
            }
            Body::System(system) => {
                apply(system.working_drive(drive)?, context);
                system.settle(context);
            }
        }
        Ok(())
    }
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
