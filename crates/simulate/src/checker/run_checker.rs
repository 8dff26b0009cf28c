//! The data of a run, checked during the run: passes everything that a [`Witness`] needs to it, in the order
//! in which it happens, and makes the checks at the end of the run.
use super::checked_target::CheckedTarget;
use super::error::{Found, Violation, Wrong};
use super::map::Map;
use super::power;
use super::sector::INITIAL;
use super::sharing;
use super::verdict::Verdict;
use super::witness::Witness;
use crate::run::RunError;
use drivelab_core::command::OWN_IDS;
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::levels::Redundancy;
use drivelab_core::storage::array::report::Health;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::{Fault, Target, TargetParams};
use drivelab_core::{Access, Command, Completion, Outcome, Setup};
use drivelab_data::consistent::{self, without_stale};
use drivelab_data::stamp::{BLANK, stamp, write_of};
use drivelab_data::{Contents, Media, Stamp};
use drivelab_record::data::{Compared, Corrupted, CutRecord, DataRecord};
use drivelab_units::Instant;
use std::borrow::Cow;
use std::sync::Arc;

/// Maximum memory of the check, by its own estimate.
const BYTES_MAX: u64 = 2 << 30;
/// Number of calls between two checks of that.
const WEIGH_EVERY: u64 = 1 << 6;

/// Checks the data of a run.
pub struct RunChecker {
    params: SystemParams,
    witness: Witness,
    outstanding: Map<Command>,
    record: DataRecord,
    /// Members that were not complete at the last check.
    impaired: u16,
    calls: u64,
    most_bytes: u64,
    /// When each write was answered, if a power cut may lose some of them.
    answered: Option<Vec<(u64, Instant)>>,
}

/// Where an address of the target lies: the drive's number and the address on it.
fn place_of(target: &Target, address: u64) -> (u16, u64) {
    let Some(array) = target.array() else { return (0, address) };
    let (drives, media) = (consistent::valid_members(array), Media::<Stamp>::new(0));
    let layout = Some(array.layout());
    let home = Contents::new(layout, &drives, &media).home(address);
    (array.members().get(home.slot).drive, home.at)
}

/// Where a member's copy of an address of the array lies.
fn place_of_copy(target: &Target, slot: u16, address: u64) -> Option<(u16, u64)> {
    let array = target.array()?;
    let spot = array.layout().copies_of(address).into_iter().find(|spot| spot.slot == slot)?;
    Some((array.members().get(slot).drive, spot.at))
}

impl RunChecker {
    /// To be called before anything happens at the target, which must be one whose data can be checked.
    pub fn new(setup: &Setup, target: &mut Target) -> Result<Self, RunError> {
        let params = match &setup.target {
            TargetParams::Server(_) | TargetParams::Wire(_) => return Err(RunError::NoData),
            TargetParams::System(params) => params.clone(),
            TargetParams::Drive(model) => SystemParams::of_drive(Arc::clone(model), ControllerParams::PLAIN),
        };
        if let Some((one, other)) = sharing::stale(&params, setup) {
            return Err(RunError::SharedByCaches { one, other });
        }
        target.keep_data();
        let mut witness = Witness::new(&params, setup.seed);
        witness.may_fail |=
            setup.injections.iter().any(|injection| matches!(injection.fault, Fault::MediaError { .. }));
        if setup.power_cut.is_none() {
            witness = witness.without_cuts();
        }
        let mut checker = RunChecker {
            params,
            witness,
            outstanding: Map::default(),
            record: DataRecord::default(),
            impaired: 0,
            calls: 0,
            most_bytes: BYTES_MAX,
            answered: setup.power_cut.map(|_| Vec::new()),
        };
        checker.check_for_losses(target);
        Ok(checker)
    }

    /// The same with another memory limit.
    pub fn bounded(self, most_bytes: u64) -> Self {
        RunChecker { most_bytes, ..self }
    }

    /// A host has issued a command, which has this number in the target; no output of the target since then
    /// has been observed.
    #[inline]
    pub fn submitted(&mut self, number: u64, command: &Command) {
        let numbered = Command { id: number, ..*command };
        self.witness.submitted(&numbered);
        self.outstanding.insert(command.id, numbered);
    }

    /// Something is corrupted on purpose: errors are counted from now on.
    pub fn corrupted(&mut self) {
        self.witness.corrupted.get_or_insert_default();
    }

    /// Processes a data operation of the target, up to this instant.
    #[inline]
    pub fn observe(&mut self, target: &Target, at: Instant, op: DataOp) -> Result<(), RunError> {
        self.witness.observe(at, op).map_err(|violation| self.run_error(target, &violation))
    }

    /// To be called whenever the target has done anything.
    #[inline]
    pub fn process_outputs(&mut self, target: &Target) -> Result<(), RunError> {
        self.calls += 1;
        if self.calls.is_multiple_of(WEIGH_EVERY) {
            let answered = self.answered.as_ref().map_or(0, Vec::len) * size_of::<(u64, Instant)>();
            if self.witness.bytes() + answered as u64 > self.most_bytes {
                return Err(self.memory_exceeded());
            }
        }
        if target.array().is_some_and(|array| array.members().impaired != self.impaired) {
            self.check_for_losses(target);
        }
        Ok(())
    }

    fn memory_exceeded(&self) -> RunError {
        let DataRecord { writes, sectors_written, .. } = self.record;
        RunError::TooMuchData { mib: self.most_bytes >> 20, writes, sectors_written }
    }

    /// The array may have lost members that it needs.
    pub fn check_for_losses(&mut self, target: &Target) {
        let Some(array) = target.array() else { return };
        self.impaired = array.members().impaired;
        if array.health() == Health::Failed
            || !consistent::can_reconstruct(array.layout(), &consistent::valid_members(array))
        {
            self.witness.oracle.lose();
        }
    }

    /// The target has answered.
    pub fn answered(&mut self, target: &Target, completion: &Completion) -> Result<(), RunError> {
        let Some(command) = self.outstanding.remove(&completion.id) else { return Ok(()) };
        if completion.outcome != Outcome::Done {
            self.witness.refuses_writes = target.refuses_writes();
        }
        let found = self.witness.completed(&command, completion);
        found.map_err(|violation| self.run_error(target, &violation))?;
        if completion.outcome != Outcome::Done {
            return Ok(());
        }
        match command.access {
            Access::Read => {
                self.record.reads += 1;
                self.record.sectors_read += command.count.get();
            }
            Access::Write => {
                self.record.writes += 1;
                self.record.sectors_written += command.count.get();
                self.answered.iter_mut().for_each(|all| all.push((command.id, completion.completed)));
            }
            Access::Flush => {}
        }
        Ok(())
    }

    /// The run is over: commands under way run to completion, and everything written must be present.
    pub fn close(mut self, target: Target, now: Instant) -> Result<DataRecord, RunError> {
        let too_much = self.memory_exceeded();
        let mut record = std::mem::take(&mut self.record);
        let most_bytes = self.most_bytes;
        let mut checked = CheckedTarget::of(self.params, target, self.witness, self.outstanding, now);
        let error =
            |checked: &CheckedTarget, violation| RunError::Violation(describe(checked.target(), &violation));
        if !checked.quiesce(most_bytes).map_err(|violation| error(&checked, violation))? {
            return Err(too_much);
        }
        let mut corrupted = checked.witness().corrupted;
        (record.compared, record.sectors_kept) =
            check_quiesced(&checked, corrupted.as_mut()).map_err(|violation| error(&checked, violation))?;
        record.corrupted = corrupted;
        Ok(record)
    }

    /// The power is cut.
    pub fn cut(mut self, target: Target, now: Instant) -> Result<(DataRecord, CutRecord), RunError> {
        let record = std::mem::take(&mut self.record);
        let answered = self.answered.take().unwrap_or_default();
        let checked = CheckedTarget::of(self.params, target, self.witness, self.outstanding, now);
        let cut =
            power::cut(checked, &answered).map_err(|violation| RunError::Violation(violation.to_string()))?;
        Ok((record, cut))
    }

    fn run_error(&self, target: &Target, violation: &Violation) -> RunError {
        RunError::Violation(describe(target, violation))
    }
}

/// With nothing under way: the redundancy is consistent, and every sector holds its last write. Returns what
/// was compared, and the number of sectors. Where something was corrupted, errors are counted.
fn check_quiesced(
    checked: &CheckedTarget,
    mut corrupted: Option<&mut Corrupted>,
) -> Result<(Option<Compared>, Option<u64>), Violation> {
    let (witness, target) = (checked.witness(), checked.target());
    let mut compared = None;
    let mut drives = vec![Some(0)];
    if let Some(array) = target.array() {
        drives = consistent::valid_members(array);
        match (witness.check_members(checked.now(), array), &mut corrupted) {
            (Ok(None), _) => return Ok((None, None)),
            (Ok(Some(fit)), _) => {
                let what = redundancy(array);
                compared = what.map(|what| Compared { what, rows: fit.rows, sectors: fit.sectors });
            }
            (Err(_), Some(corrupted)) => corrupted.redundancy_differs = true,
            (Err(violation), None) => return Err(violation),
        }
    }
    let layout = target.array().map(Array::layout);
    let media = target
        .array()
        .map_or(Cow::Borrowed(witness.data.media()), |array| without_stale(array, witness.data.media()));
    let contents = Contents::new(layout, &drives, &media);
    let above = checked.in_memories();
    let mut kept = 0;
    let found = |sector| above.get(&sector).copied().or_else(|| contents.get(sector));
    witness.oracle.judge_all(found, |sector, found, verdict| {
        let (Verdict::Older { lost, .. } | Verdict::Foreign { lost }) = verdict else {
            kept += 1;
            return Ok(());
        };
        if let Some(corrupted) = &mut corrupted {
            corrupted.sectors += 1;
            return Ok(());
        }
        let expected = vec![if lost == INITIAL { BLANK } else { stamp(lost, sector) }];
        let wrong = Wrong::Kept { found: Found { sector, expected, found } };
        Err(witness.violation(checked.now(), wrong))
    })?;
    Ok((compared, Some(kept)))
}

/// The kind of an array's redundancy.
pub(super) fn redundancy(array: &Array) -> Option<&'static str> {
    array.layout().redundancy().map(|redundancy| match redundancy {
        Redundancy::Copies => "copies",
        Redundancy::Parity => "parity",
    })
}

/// The error in words: which drive, where on it, what is there and what should be.
fn describe(target: &Target, violation: &Violation) -> String {
    let ms = violation.at.as_ns() as f64 / 1e6;
    let who = |sector: u64, found: u64| match write_of(found, sector) {
        _ if found == BLANK => "what was there before all writes".to_owned(),
        id if id < OWN_IDS => format!("write {id}"),
        _ => format!("what nobody has written ({found:016x})"),
    };
    let at_place = |found: &Found, (drive, at): (u16, u64)| {
        let &Found { sector, found: there, .. } = found;
        let expected: Vec<String> = found.expected.iter().map(|&stamp| who(sector, stamp)).collect();
        format!(
            "sector {sector} (drive {drive}, its sector {at}): expected {}, found {}",
            expected.join(" or "),
            who(sector, there)
        )
    };
    let read = |found: &Found| at_place(found, place_of(target, found.sector));
    let what = match &violation.wrong {
        Wrong::Read { command, found } => format!("read {command} of {}", read(found)),
        Wrong::Kept { found } => format!("after the run, {}", read(found)),
        Wrong::Copy { slot, found } => {
            let place = place_of_copy(target, *slot, found.sector);
            let place = place.unwrap_or_else(|| place_of(target, found.sector));
            format!("the copy on member {slot} differs, {}", at_place(found, place))
        }
        Wrong::Parity { slot, which, found } => {
            let drive = target.array().map_or(0, |array| array.members().get(*slot).drive);
            let &Found { sector, found: there, .. } = found;
            let expected = found.expected.first().copied().unwrap_or(BLANK);
            format!(
                "parity {which} does not fit its data at sector {sector} of drive {drive}: expected {expected:016x}, \
                 found {there:016x}"
            )
        }
        other => other.to_string(),
    };
    format!("at {ms} ms, seed {}: {what}", violation.seed)
}
