//! Power cuts at any instant of a session that was recorded with its data: the state of the device after each cut.
//!
//! The session is a folder with its trace in drivelab's own format (`session.trace`) and the data of its writes
//! (`data`). A replay on the same target runs through the same events, so each cut is made in virtual time, and one
//! session allows any number of cuts. Start reading at [`CrashLog::cut`].
mod data;

pub use data::DataWriter;

use crate::engine::{Device, Engine};
use crate::error::EmulateError;
use crate::ledger::Lost;
use crate::power::check_cut;
use crate::restart::NOT_STARTED;
use crate::session::PowerCut;
use crate::store::{Payload, Store};
use drivelab_core::Command;
use drivelab_core::setup::Injection;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::{Fault, TargetParams};
use drivelab_data::{Bytes, Cell, Contents, cell};
use drivelab_trace::formats::native::{Entry, InjectedKind, Reader};
use drivelab_trace::record::{Kind as Access, Record};
use drivelab_units::{Instant, SECTOR_BYTES, counted};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The name of the trace in the folder of a session.
pub const TRACE: &str = "session.trace";
/// The name of the data file in the folder of a session.
pub const DATA: &str = "data";
/// Sectors per write to the output file; larger writes are no faster.
const RUN_MAX: usize = 2_048;

/// A session that was recorded.
pub struct CrashLog {
    device: Device,
    folder: PathBuf,
    entries: Vec<Entry>,
    /// The data of the write entries, in the same order.
    data: Vec<Vec<Bytes>>,
}

/// The state of the device after a power cut.
pub struct Cut {
    engine: Engine,
    /// The acknowledged data that are lost: the first ranges, and the number of all sectors.
    pub lost: Vec<Lost>,
    pub lost_sectors: u64,
    /// Writes that were in flight.
    pub unanswered_writes: u64,
    /// The sectors that the session has written so far, as ascending ranges.
    written: Vec<(u64, u64)>,
}

impl CrashLog {
    /// Reads a recorded session of a device from its folder.
    ///
    /// # Errors
    /// When a file cannot be read, has another format or belongs to another device; for a target that cannot be cut
    /// because it has no drives; and for a session that had a power cut itself.
    pub fn read(folder: &Path, device: Device) -> Result<Self, EmulateError> {
        let refuse = |why: &str| EmulateError::Option { what: folder.display().to_string(), why: why.into() };
        check(&device.target, None, &[], None)?;
        let trace = folder.join(TRACE);
        let open = |path: PathBuf| move |error| EmulateError::Open { path, error };
        let of_trace = |error: drivelab_trace::TraceError| refuse(&error.to_string());
        let file = File::open(&trace).map_err(open(trace))?;
        let mut reader = Reader::new(file).map_err(of_trace)?;
        let size = Engine::new(device.clone(), Store::in_memory(&device.target), None).capacity().get()
            * SECTOR_BYTES;
        if reader.header().seed != Some(device.seed)
            || reader.header().device_bytes.is_none_or(|bytes| bytes > size)
        {
            return Err(refuse(
                "the session was of another device: name the scenario and the seed that it had",
            ));
        }
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry().map_err(of_trace)? {
            if let Entry::Injected(injected) = &entry
                && matches!(injected.kind, InjectedKind::Fault(Fault::CutPower) | InjectedKind::PowerBack)
            {
                return Err(refuse("its power went while it ran: keep a session without a power cut"));
            }
            entries.push(entry);
        }
        let lengths = entries.iter().filter_map(|entry| match entry {
            Entry::Request(record) if record.kind == Access::Write => Some(record.length),
            _ => None,
        });
        let path = folder.join(DATA);
        let data = data::read(&path, lengths).map_err(open(path))?;
        Ok(CrashLog { device, folder: folder.to_owned(), entries, data })
    }

    /// The completion times of all FLUSH commands.
    pub fn flushes(&self) -> Vec<Instant> {
        let flushed = |entry: &Entry| match entry {
            Entry::Request(Record { kind: Access::Flush, time_ns, response_ns: Some(response), .. }) => {
                Some(Instant::from_ns(time_ns + response))
            }
            _ => None,
        };
        self.entries.iter().filter_map(flushed).collect()
    }

    /// The arrival times of all writes.
    pub fn writes(&self) -> Vec<Instant> {
        let came = |entry: &Entry| match entry {
            Entry::Request(record) if record.kind == Access::Write => Some(Instant::from_ns(record.time_ns)),
            _ => None,
        };
        self.entries.iter().filter_map(came).collect()
    }

    /// All instants at which events occur, in order.
    ///
    /// # Errors
    /// When the replay differs from the session: replies come at other instants.
    pub fn instants(&self) -> Result<Vec<Instant>, EmulateError> {
        let mut replay = Replay::new(self);
        let mut instants = BTreeSet::new();
        while let Some(at) = replay.next_at() {
            while let Some(due) = replay.engine.next_due().filter(|due| *due < at) {
                instants.insert(due);
                replay.pass_to(due)?;
            }
            instants.insert(at);
            replay.feed()?;
        }
        // Commands that are still in flight were never answered in the session, except those that were aborted at its
        // end.
        while replay.engine.is_busy()
            && let Some(due) = replay.engine.next_due()
        {
            instants.insert(due);
            replay.pass_to(due)?;
        }
        replay.compare()?;
        Ok(instants.into_iter().collect())
    }

    /// Cuts the power at an instant, after all events that are due then. Afterwards the array has applied its
    /// consistency policy, and data preserved by a battery are written; then a member fails, if `dies` names one.
    ///
    /// # Errors
    /// When the replay differs from the session, and for a member that does not exist.
    pub fn cut(&self, at: Instant, dies: Option<u16>) -> Result<Cut, EmulateError> {
        check(&self.device.target, None, &[], dies)?;
        let mut replay = Replay::new(self);
        while replay.next_at().is_some_and(|next| next <= at) {
            replay.feed()?;
        }
        replay.pass_to(at)?;
        replay.compare()?;
        let Replay { mut engine, written, .. } = replay;
        let act = |engine: &mut Engine, at: Instant, fault: Fault| {
            engine.act(at, &fault.into()).map_err(|why| EmulateError::Option { what: "the cut".into(), why })
        };
        act(&mut engine, at, Fault::CutPower)?;
        if engine.model.is_stopped {
            return Err(EmulateError::Option {
                what: format!("the cut at {}", at.since(Instant::ZERO)),
                why: format!(
                    "{NOT_STARTED}; set target.array.start_dirty_degraded = true to see what is left"
                ),
            });
        }
        let back = engine.next_due().filter(|_| engine.is_off()).unwrap_or(at).max(at);
        engine.run(back)?;
        if let Some(drive) = dies {
            act(&mut engine, back, Fault::Fail { drive })?;
        }
        let Some(cut) = engine.log.power_cuts.pop() else {
            return Err(EmulateError::Defect("a power cut was not told of".into()));
        };
        let PowerCut { lost, lost_sectors, unanswered_writes, .. } = cut;
        Ok(Cut { engine, lost, lost_sectors, unanswered_writes, written })
    }
}

impl Cut {
    /// Writes the data that a read of each address would now return into a new sparse file of this many bytes.
    /// Returns the number of sectors that cannot be reconstructed; they are zeros in the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn lay_out(&self, path: &Path, bytes: u64) -> io::Result<u64> {
        let file = File::create(path)?;
        file.set_len(bytes)?;
        let Store::Modelled(modelled) = &self.engine.store else { return Ok(0) };
        let array = self.engine.model.target.array();
        let drives = crate::store::drives(array);
        let contents = Contents::new(array.map(Array::layout), &drives, modelled.data.media());
        let mut gone = 0;
        let mut run = Vec::with_capacity(RUN_MAX * cell::SECTOR);
        for &(first, end) in &self.written {
            let mut begin = first;
            let put = |begin: u64, run: &mut Vec<u8>| {
                let done = if run.is_empty() { Ok(()) } else { file.write_all_at(run, begin * SECTOR_BYTES) };
                run.clear();
                done
            };
            for at in first..end {
                let is_bad = array.is_some_and(|array| array.bad_blocks().touch(at, at + 1));
                let found = contents.get(at).filter(|_| !is_bad);
                gone += u64::from(found.is_none());
                match found.filter(|found| !found.is_blank()) {
                    Some(found) if run.len() < RUN_MAX * cell::SECTOR => {
                        run.extend_from_slice(found.as_bytes());
                    }
                    Some(found) => {
                        put(begin, &mut run)?;
                        begin = at;
                        run.extend_from_slice(found.as_bytes());
                    }
                    None => {
                        put(begin, &mut run)?;
                        begin = at + 1;
                    }
                }
            }
            put(begin, &mut run)?;
        }
        Ok(gone)
    }
}

/// Checks whether the power of a target can be cut, and whether the member can fail afterwards.
///
/// # Errors
/// For a target without drives, for one whose power cuts are not modelled, for a scenario with a power cut or
/// corruption of its own, and for a member that does not exist.
pub fn check(
    target: &TargetParams,
    power_cut: Option<Instant>,
    injections: &[Injection],
    dies: Option<u16>,
) -> Result<(), EmulateError> {
    let refuse = |what: String, why: String| Err(EmulateError::Option { what, why });
    if injections.iter().any(|injection| matches!(injection.fault, Fault::Corrupt { .. })) {
        let why = "what a cut loses could not be told from what was corrupted: leave it out";
        return refuse("target.faults.corrupt".into(), why.into());
    }
    if power_cut.is_some() {
        let why = "a campaign cuts the power itself: leave it out";
        return refuse("target.faults.power_cut".into(), why.into());
    }
    let TargetParams::System(system) = target else {
        let why = "it is a station, which keeps all that it answers: give it drives";
        return refuse("the target".into(), why.into());
    };
    if let Err(why) = check_cut(target) {
        return refuse("the target".into(), why);
    }
    match dies {
        Some(member) if system.array.is_none() => refuse(
            format!("member {member}"),
            "the target is one drive and has no members: give it an array".into(),
        ),
        Some(member) if usize::from(member) >= system.drives.len() => refuse(
            format!("member {member}"),
            format!("the target has {}, counted from 0", counted(system.drives.len() as u64, "drive")),
        ),
        _ => Ok(()),
    }
}

/// The replay of a session.
struct Replay<'a> {
    log: &'a CrashLog,
    engine: Engine,
    /// The indexes of the next entry and of the next write's data.
    next: usize,
    next_data: usize,
    written: Vec<(u64, u64)>,
    /// Replies that came at another instant than in the session.
    differing: u64,
}

impl<'a> Replay<'a> {
    fn new(log: &'a CrashLog) -> Self {
        let engine = Engine::new(log.device.clone(), Store::in_memory(&log.device.target), None);
        Replay { log, engine, next: 0, next_data: 0, written: Vec::new(), differing: 0 }
    }

    /// The time of the next entry.
    fn next_at(&self) -> Option<Instant> {
        self.log.entries[self.next..].iter().find_map(at_of)
    }

    /// Replays the next entry.
    fn feed(&mut self) -> Result<(), EmulateError> {
        let Some(entry) = self.log.entries.get(self.next) else { return Ok(()) };
        self.next += 1;
        let Some(at) = at_of(entry) else { return Ok(()) };
        self.pass_to(at)?;
        match entry {
            Entry::Request(record) => {
                let Some(fed) = record.fed(0) else { return Ok(()) };
                let command: Command = fed.command;
                let mut payload = None;
                if record.kind == Access::Write {
                    payload = Some(Payload::Sectors(self.log.data[self.next_data].clone()));
                    self.next_data += 1;
                    let first = command.first.get();
                    note(&mut self.written, first, first + command.count.get());
                }
                self.engine.replay_command(at, &command, self.next as u64 - 1, payload);
            }
            Entry::Injected(injected) => {
                if let InjectedKind::Fault(fault) = injected.kind {
                    self.engine.replay_fault(at, fault);
                }
            }
            Entry::Device(_) => {}
        }
        self.compare_replies();
        Ok(())
    }

    fn pass_to(&mut self, at: Instant) -> Result<(), EmulateError> {
        self.engine.run(at)?;
        self.compare_replies();
        Ok(())
    }

    /// Counts replies that came at other instants than in the session.
    fn compare_replies(&mut self) {
        for reply in self.engine.take_replies() {
            let place = reply.request_id.cookie as usize;
            let Some(Entry::Request(record)) = self.log.entries.get(place) else { continue };
            let then = record.response_ns.map(|response| Instant::from_ns(record.time_ns + response));
            self.differing += u64::from(then.is_some() && then != reply.due);
        }
    }

    fn compare(&self) -> Result<(), EmulateError> {
        if self.differing == 0 {
            return Ok(());
        }
        Err(EmulateError::Option {
            what: self.log.folder.display().to_string(),
            why: format!(
                "{} at other instants than in the session: keep it again with this version and scenario",
                if self.differing == 1 {
                    "1 answer comes".into()
                } else {
                    format!("{} answers come", self.differing)
                }
            ),
        })
    }
}

fn at_of(entry: &Entry) -> Option<Instant> {
    match entry {
        Entry::Request(record) => Some(Instant::from_ns(record.time_ns)),
        Entry::Injected(injected) => Some(Instant::from_ns(injected.time_ns)),
        Entry::Device(_) => None,
    }
}

/// Adds a range to sorted, disjoint ranges, and merges it with those that it touches.
fn note(ranges: &mut Vec<(u64, u64)>, first: u64, end: u64) {
    let from = ranges.partition_point(|&(_, behind)| behind < first);
    let to = ranges.partition_point(|&(begin, _)| begin <= end);
    let (mut low, mut high) = (first, end);
    if from < to {
        low = low.min(ranges[from].0);
        high = high.max(ranges[to - 1].1);
    }
    ranges.splice(from..to, [(low, high)]);
}

#[cfg(test)]
mod tests {
    use super::note;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_those_of_a_bitmap(all in prop::collection::vec((0_u64..64, 1_u64..12), 1..40)) {
            let (mut ranges, mut bitmap) = (Vec::new(), [false; 80]);
            for (first, count) in all {
                note(&mut ranges, first, first + count);
                bitmap[first as usize..(first + count) as usize].fill(true);
            }
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ranges:?}");
            let found: Vec<bool> = (0..80).map(|at| ranges.iter().any(|&(a, b)| a <= at && at < b)).collect();
            prop_assert_eq!(found, bitmap.to_vec());
        }
    }
}
