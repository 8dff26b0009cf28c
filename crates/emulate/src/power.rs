//! Power cuts, faults, and the orderly end of a session.
use crate::action::{Action, Kind};
use crate::conditions::InForce;
use crate::engine::Engine;
use crate::held::Held;
use crate::ledger::{Cause, Lost};
use crate::open::UNTIMED;
use crate::restart::NOT_STARTED;
use crate::scheduled::DelayedAction;
use crate::session::PowerCut;
use crate::status;
use crate::store::{Payload, Store};
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::levels::Layout;
use drivelab_core::storage::array::members::MemberState;
use drivelab_core::storage::array::report::{Health, SyncKind};
use drivelab_core::storage::drive::params::TIME_MAX;
use drivelab_core::storage::write_behind::Piece;
use drivelab_core::storage::{CallError, Fault, TargetInput, TargetParams};
use drivelab_core::{Access, Machine};
use drivelab_data::Bytes;
use drivelab_record::array::under_way;
use drivelab_trace::formats::native::{Injected, InjectedKind};
use drivelab_units::{Instant, Span, counted};
use std::collections::BTreeMap;

/// The most events at the end of a session: a broken array may delay commands forever.
const END_STEPS_MAX: u32 = 2_000_000;
/// During a rebuild, the number of events between two checks whether all acknowledged data are on the images.
const LOOK_EVERY: u32 = 1_000;
/// The most model time for writing the remaining data at the end of a session.
const END_MAX: Span = Span::from_s(3_600);

/// Ranges of data that a battery has preserved, newer data after older.
type Kept = Vec<(u64, Vec<Bytes>)>;

/// Whether a scrub has something to compare: md skips it where as many members are missing as a row has parities
/// (drivers/md/raid5.c, `raid5_sync_request`).
fn has_redundancy(array: &Array) -> bool {
    let Layout::Rows(rows) = array.layout() else { return true };
    let is_missing = |slot: u64| array.members().get(slot as u16).state == MemberState::Missing;
    let missing =
        |group: u64| (group * rows.members()..(group + 1) * rows.members()).filter(|slot| is_missing(*slot));
    (0..rows.groups()).any(|group| missing(group).count() < usize::from(rows.parities()))
}

/// Checks whether the effects of a power cut on a target are modelled.
///
/// # Errors
/// Why they are not, and a remedy.
pub(crate) fn check_cut(target: &TargetParams) -> Result<(), String> {
    let why = "a power cut of a pool whose drives keep writes in their caches is not modelled: a real pool flushes them \
               with each group of writes; set target.write_cache = false";
    match target {
        TargetParams::System(system) if system.is_pool_with_write_caches() => Err(why.into()),
        _ => Ok(()),
    }
}

impl Engine {
    /// Carries out an action now. Returns the text for the user.
    ///
    /// # Errors
    /// What is wrong with the action, or why the target cannot carry it out, and a remedy.
    pub fn act(&mut self, now: Instant, action: &Action) -> Result<String, String> {
        action.check()?;
        self.run_scheduled(now);
        self.carry_out(now, action)
    }

    /// The same for an action whose turn it is.
    pub(crate) fn carry_out(&mut self, now: Instant, action: &Action) -> Result<String, String> {
        self.advance(now);
        if action.kind == Kind::Status {
            return Ok(self.status(now));
        }
        if self.is_off() {
            return Err("the power is off: wait until it is back".into());
        }
        match action.kind {
            Kind::CutInWrite(_) => {
                check_cut(&self.model.device.target)?;
                self.arm_cut(now, action);
                Ok("the power goes while a write is under way".into())
            }
            Kind::Fault(Fault::CutPower, lasting) => {
                check_cut(&self.model.device.target)?;
                self.note_injected(Injected::new(now, Fault::CutPower));
                self.log.record_action(now, *action);
                Ok(self.cut_power(now, lasting.length().unwrap_or(Span::ZERO)))
            }
            Kind::Start if self.model.is_stopped => Ok(self.start(now, action)),
            _ if self.model.is_stopped => Err(format!("{NOT_STARTED}; the action start starts it")),
            Kind::Fault(fault, _) => self.carry_out_fault(now, action, fault),
            Kind::Start | Kind::Status => Err("the array is started: there is nothing to do".into()),
        }
    }

    /// Carries out an action that is neither a power cut nor a start.
    fn carry_out_fault(&mut self, now: Instant, action: &Action, fault: Fault) -> Result<String, String> {
        let before = self.log.damage.len();
        self.inject(now, action)?;
        self.log.record_action(now, *action);
        self.later.retain(|(_, later)| !later.is_overtaken(action));
        self.plan(now, action);
        let ends = matches!(fault, Fault::Slow { how: None, .. } | Fault::LyingFlush { lies: false, .. });
        match self.conditions.in_force(fault) {
            Some((member, in_force)) if ends && !in_force.is_nothing() => {
                Ok(format!("done; what the scenario has put down for member {member} goes on"))
            }
            _ => {
                let told = self.longer_hang(now, fault).or_else(|| self.not_scrubbed(fault));
                let told = told.unwrap_or_else(|| "done".into());
                Ok(told + &self.damage_since(before))
            }
        }
    }

    /// Starts an array that was not started after a power cut; it accepts no other action.
    fn start(&mut self, now: Instant, action: &Action) -> String {
        self.log.record_action(now, *action);
        self.model.is_stopped = false;
        self.model.began = now;
        "the array is started: data of the missing members may be wrong".into()
    }

    /// The answer to a hang that changes nothing, because the drive already hangs for longer.
    fn longer_hang(&self, now: Instant, fault: Fault) -> Option<String> {
        let Fault::Hang { drive: member, lasts: Some(asked) } = fault else { return None };
        let drive = self.model.target.system()?.drives().nth(member.into())?;
        let left = drive.hangs_for(self.model.own(now));
        let lasts = if left >= status::ENDLESS { "for good".into() } else { format!("for another {left}") };
        (left > asked).then(|| format!("no change: member {member} already hangs {lasts}"))
    }

    /// The answer to a scrub of an array without all of its members.
    fn not_scrubbed(&self, fault: Fault) -> Option<String> {
        let is_scrub = matches!(fault, Fault::Begin { work: SyncKind::Scrub });
        let missing = if is_scrub { self.missing() } else { Vec::new() };
        let names: Vec<String> = missing.iter().map(u16::to_string).collect();
        let (members, are) = if names.len() == 1 { ("member", "is") } else { ("members", "are") };
        (!names.is_empty())
            .then(|| format!("done; {members} {} {are} not complete, and not compared", names.join(", ")))
    }

    /// Injects the fault of an action, unless the condition in force for the member remains the same.
    pub(crate) fn inject(&mut self, now: Instant, action: &Action) -> Result<(), String> {
        let Kind::Fault(fault, _) = action.kind else { return Err("nothing is to be done".into()) };
        if self.is_untimed {
            return Err(UNTIMED.into());
        }
        if let Fault::Fail { drive }
        | Fault::MediaError { drive, .. }
        | Fault::Corrupt { drive, .. }
        | Fault::Hang { drive, .. } = fault
            && self.model.failed.contains(&drive)
        {
            return Err(CallError::DriveHasFailed { drive }.to_string());
        }
        self.check_fault(fault)?;
        let mut conditions = self.conditions.clone();
        conditions.note(now, action);
        match conditions.in_force(fault) {
            None => {
                self.send_fault(now, fault)?;
                if let Fault::Replace { drive } = fault {
                    conditions.forget(drive);
                }
            }
            Some((member, after)) => {
                if after.is_nothing() || Some((member, after)) != self.conditions.in_force(fault) {
                    self.send_condition(now, member, after)?;
                }
            }
        }
        self.conditions = conditions;
        Ok(())
    }

    /// Whether the device is in a state in which a fault has an effect that is modelled.
    fn check_fault(&self, fault: Fault) -> Result<(), String> {
        if let Fault::LyingFlush { drive, lies: true } = fault
            && !self.keeps_writes(drive)
        {
            return Err(format!("drive {drive} keeps no writes in its cache, and has nothing to lie about"));
        }
        let Some(array) = self.model.target.array() else { return Ok(()) };
        let is_pool = array.layout().record().is_some();
        match (fault, array.health()) {
            (Fault::Corrupt { .. }, _) if is_pool => {
                Err("the checksums with which a pool notices corrupted sectors are not modelled".into())
            }
            (Fault::Begin { work: SyncKind::Scrub }, Health::Failed) => {
                Err("the array has lost data: it has stopped, and is not scrubbed".into())
            }
            (Fault::Begin { work: SyncKind::Rebuild }, Health::Failed) => {
                Err("the array has lost data: it has stopped, and nothing is rebuilt".into())
            }
            (Fault::Begin { work: SyncKind::Scrub }, _) if !has_redundancy(array) => {
                Err("too many members are missing: nothing is left to compare".into())
            }
            (Fault::Begin { work: SyncKind::Scrub }, _) if under_way(array, SyncKind::Scrub).is_some() => {
                Err("a scrub is under way: the next one can begin when it has ended".into())
            }
            (Fault::Replace { drive }, Health::Failed) if array.members().slot_missing(drive).is_some() => {
                Err("the array has lost data: it has stopped, and a new drive is not rebuilt".into())
            }
            (Fault::Replace { drive }, Health::Broken) if array.members().slot_missing(drive).is_some() => {
                Err("the array refuses writes, those of a rebuild too: a new drive is not rebuilt".into())
            }
            _ => Ok(()),
        }
    }

    /// Whether a drive, if it exists, has a write-back cache.
    fn keeps_writes(&self, drive: u16) -> bool {
        let model = match &self.model.device.target {
            TargetParams::Server(_) => None,
            TargetParams::Drive(model) | TargetParams::Wire(model) => Some(model),
            TargetParams::System(system) => system.drives.get(usize::from(drive)),
        };
        model.is_none_or(|model| model.caches_writes())
    }

    /// Sends the target the condition that is in force for a member from now on.
    pub(crate) fn send_condition(
        &mut self,
        now: Instant,
        member: u16,
        in_force: InForce,
    ) -> Result<(), String> {
        let (fault, again) = in_force.next_fault(member, now);
        self.send_fault(now, fault)?;
        if matches!(in_force, InForce::Slow(_)) {
            self.later.retain(|(_, later)| *later != DelayedAction::Step(member));
        }
        if let Some(again) = again {
            self.follow(again, DelayedAction::Step(member));
        }
        Ok(())
    }

    /// Sends a fault to the target, and records it in the trace.
    fn send_fault(&mut self, now: Instant, fault: Fault) -> Result<(), String> {
        let own = self.model.own(now);
        self.model.handle(own, fault).map_err(|error| match error {
            CallError::TooSlow { by } => {
                format!("a firmware cannot be slower by {by}: {TIME_MAX} for each command is the most")
            }
            error => error.to_string(),
        })?;
        self.process_outputs(own);
        self.note_injected(Injected::new(now, fault));
        Ok(())
    }

    /// Restores the lasting conditions of the drives after a power cut.
    fn restore_conditions(&mut self, now: Instant) {
        for member in self.conditions.members() {
            for in_force in [self.conditions.slow(member), self.conditions.lies(member)] {
                if !in_force.is_nothing() {
                    // A drive that was removed has no conditions.
                    let _ = self.send_condition(now, member, in_force);
                }
            }
        }
    }

    fn note_injected(&mut self, injected: Injected) {
        if let Some(capture) = &mut self.capture
            && let Err(error) = capture.injected(injected)
        {
            self.fail(crate::error::EmulateError::Capture(error));
        }
    }

    /// Cuts the power now, for `off_for`. Commands in flight are never answered; each drive retains the contents of
    /// its media; the array restores consistency between its members according to its consistency policy; then a
    /// controller writes the data that its battery has preserved. Returns the losses as text.
    fn cut_power(&mut self, now: Instant, off_for: Span) -> String {
        let own = self.model.own(now);
        let (is_idle, is_dirty) = (self.orders.is_empty(), self.is_dirty(now));
        self.armed = None;
        self.later.retain(|(_, later)| !matches!(later, DelayedAction::Cut(_)));
        let unanswered: Kept = self
            .orders
            .values()
            .filter_map(|order| match &order.payload {
                Some(Payload::Sectors(cells)) => Some((order.at, cells.clone())),
                _ => None,
            })
            .collect();
        let (kept, memory) = (self.kept_by_battery(), self.in_memory());
        let had_failed = self.model.target.array().is_some_and(|array| array.health() == Health::Failed);
        let _ = self.model.target.handle(own, TargetInput::Inject(Fault::CutPower));
        // What was answered before the cut still goes out.
        self.orders.clear();
        if let Some(capture) = &mut self.capture
            && let Err(error) = capture.give_up()
        {
            self.fail(crate::error::EmulateError::Capture(error));
        }
        self.losses.suspicion = None;
        self.restart(is_dirty, now + off_for);
        // A controller writes these data before any client is served, which takes time.
        let mut until = Instant::ZERO;
        for (first, cells) in &kept {
            let payload = Payload::Sectors(cells.clone());
            let Some((_, done)) = self.execute(until, Access::Write, *first, Some(&payload)) else { break };
            until = done;
        }
        self.model.off_until = Some(self.model.began + until.since(Instant::ZERO));
        self.note_injected(Injected { time_ns: self.model.began.as_ns(), kind: InjectedKind::PowerBack });
        self.restore_conditions(self.model.began + until.since(Instant::ZERO));
        let by_sector: BTreeMap<u64, Bytes> =
            kept.iter().flat_map(|(first, cells)| (*first..).zip(cells.iter().cloned())).collect();
        let lost = self.lost_in_cut(&by_sector, &memory, &unanswered);
        self.losses.suspicion = None;
        lost.iter().for_each(|lost| self.losses.so_far.add(lost.lba, lost.lba + lost.sectors));
        let lost_sectors: u64 = lost.iter().map(|lost| lost.sectors).sum();
        let (stretches, unanswered_writes) = (lost.len() as u64, unanswered.len() as u64);
        let kept_by_battery_sectors = by_sector.len() as u64;
        self.log.record_power_cut(PowerCut {
            at_ns: now.as_ns(),
            back_at_ns: None,
            lost,
            lost_sectors,
            unanswered_writes,
            kept_by_battery_sectors,
            is_started: !self.model.is_stopped,
        });
        let by_members = if had_failed { ", those of the failed members among them" } else { "" };
        let told = format!(
            "{} lost, in {}{by_members}; {} not answered",
            counted(lost_sectors, "answered sector"),
            counted(stretches, "stretch"),
            counted(unanswered_writes, "write")
        );
        told + &self.remarks_on_cut(is_idle)
    }

    /// What else a person should know of a power cut.
    fn remarks_on_cut(&self, is_idle: bool) -> String {
        let mut told = String::new();
        if is_idle {
            told += "; no request was under way (during_write waits for a write)";
        }
        if self.model.is_stopped {
            told += &format!(
                "; {NOT_STARTED}; the action start starts it, and so does the next session with \
                              target.array.start_dirty_degraded = true"
            );
        }
        told
    }

    /// The acknowledged data that a power cut has taken, with the causes. `kept` is what a battery has preserved, `memory`
    /// what was in the controller's memory.
    fn lost_in_cut(
        &mut self,
        kept: &BTreeMap<u64, Bytes>,
        memory: &BTreeMap<u64, Bytes>,
        unanswered: &Kept,
    ) -> Vec<Lost> {
        let Store::Modelled(modelled) = &mut self.store else { return Vec::new() };
        let held = Held::new(self.model.target.array(), modelled.data.media());
        let is_unanswered = |at: u64, found: &Bytes| {
            let at = |first: &u64| at.checked_sub(*first).map(|place| place as usize);
            unanswered.iter().any(|(first, cells)| at(first).and_then(|at| cells.get(at)) == Some(found))
        };
        let found = |at: u64| kept.get(&at).map_or_else(|| held.found(at), |cell| vec![Some(cell.clone())]);
        let cause = |at: u64, found: Option<&Bytes>| match found {
            None => Cause::MissingMembers,
            Some(_) if memory.contains_key(&at) => Cause::ControllerMemory,
            Some(_) if held.is_computed(at) => Cause::WriteHole,
            Some(_) => Cause::DriveCache,
        };
        let lost = modelled.ledger.lost(found, is_unanswered, cause);
        modelled.ledger.settle(found);
        lost
    }

    /// The data that a controller's battery has preserved.
    fn kept_by_battery(&self) -> Kept {
        let TargetParams::System(system) = &self.model.device.target else { return Vec::new() };
        let has_battery = system.controller.cache.is_some_and(|cache| cache.battery);
        let (Store::Modelled(modelled), Some(cache), true) =
            (&self.store, self.model.target.controller_cache(), has_battery)
        else {
            return Vec::new();
        };
        let contents_of = |piece: Piece| {
            let (first, count) = (piece.first.get(), piece.count.get());
            let cells = modelled.data.peek(piece.write, first, count).ok()?;
            Some((first, cells))
        };
        cache.unwritten().filter_map(contents_of).collect()
    }

    /// Ends the session in order: commands in flight complete, and acknowledged data are written to the images.
    /// Returns the number of sectors for which that failed.
    pub fn close(&mut self, now: Instant) -> u64 {
        self.advance(now);
        let mut own = self.model.own(now.max(self.model.off_until.unwrap_or(now)));
        let limit = own + END_MAX;
        let TargetParams::System(system) = &self.model.device.target else {
            return self.store.close(&self.model.target);
        };
        for drive in 0..system.drives.len() as u16 {
            // A failed drive refuses the input.
            let _ = self.model.handle(own, Fault::LyingFlush { drive, lies: false });
        }
        self.process_outputs(own);
        let mut steps = 0_u32;
        while !self.orders.is_empty() && steps < END_STEPS_MAX {
            let Some(due) = self.model.target.poll_timeout().filter(|due| *due <= limit) else { break };
            own = due;
            let session = self.model.began + own.since(Instant::ZERO);
            self.advance(session);
            steps += 1;
        }
        // A failed target does not answer: its images remain as they are.
        let _ = self.execute(own, Access::Flush, 0, None);
        let is_rebuilt = !self.missing().is_empty();
        steps = steps.next_multiple_of(LOOK_EVERY);
        while self.has_waiting() && steps < END_STEPS_MAX {
            // Data of a rebuild may wait forever; they are lost with the incomplete member.
            if is_rebuilt && steps.is_multiple_of(LOOK_EVERY) && self.store.unsaved(&self.model.target) == 0 {
                break;
            }
            let Some(due) = self.model.target.poll_timeout().filter(|due| *due <= limit) else { break };
            let _ = self.model.target.pass_to(due);
            self.process_outputs(due);
            steps += 1;
        }
        self.store.close(&self.model.target)
    }

    /// Whether a working drive has data only in its cache.
    fn has_waiting(&self) -> bool {
        let Store::Modelled(modelled) = &self.store else { return false };
        let media = modelled.data.media();
        (0..media.drives() as u16)
            .any(|drive| media.waiting(drive).is_some_and(|waiting| !waiting.is_empty()))
    }
}
