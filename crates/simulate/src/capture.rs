//! Capturing a run: every command that the host sends to the target, as a trace in our own format.
//!
//! Commands are written to the trace in the order in which they were sent, each with its response time; so
//! one is held back until it is answered, and those after it with it. A replay on the same target with the
//! same seed is the same run.
use drivelab_core::storage::array::report::{Report, ReportKind};
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::{Cure, Fault, TargetEvent, TargetParams};
use drivelab_core::{Access, Command, Completion};
use drivelab_trace::formats::native::{Header, Injected, NativeWriter};
use drivelab_trace::record::{Attributes, Clock};
use drivelab_trace::writer::{FormatWriter, RequestContext};
use drivelab_trace::{Kind, Record, TraceError, error::Place};
use drivelab_units::{Instant, SECTOR_BYTES, Sectors};
use std::collections::{HashMap, VecDeque};
use std::io::Write;

/// Maximum number of commands held back behind one that is not answered; that one is then written without its
/// response time.
const HELD_MAX: usize = 1 << 20;

enum Held {
    /// The record, and whether the command is answered.
    Command(Record, bool),
    Injected(Injected),
}

/// A trace that is written during the run.
pub struct Capture<W: Write = Box<dyn Write + Send>> {
    out: W,
    writer: NativeWriter,
    held: VecDeque<Held>,
    /// Number of entries that have left `held`.
    gone: u64,
    /// By the id of an unanswered command: its number among all entries.
    under_way: HashMap<u64, u64>,
    written: u64,
}

impl<W: Write> Capture<W> {
    /// Begins a trace of a run with this seed on a target of this capacity.
    pub fn new(out: W, seed: u64, capacity: Sectors) -> Self {
        let (seed, device_bytes) = (Some(seed), Some(capacity.bytes().get()));
        let remark = format!("captured by drivelab, model {}", drivelab_core::MODEL_VERSION);
        let header = Header { seed, device_bytes, remark, ..Header::plain(Clock::Relative) };
        let (writer, held, under_way) = (NativeWriter::new(header), VecDeque::new(), HashMap::new());
        Capture { out, writer, held, gone: 0, under_way, written: 0 }
    }

    /// Records faults that exist from the start, or occur at the end, and that no output reports.
    pub(crate) fn unreadable(&mut self, target: &TargetParams) {
        let drives: Vec<&DriveModel> = match target {
            TargetParams::Server(_) => return,
            TargetParams::Drive(model) | TargetParams::Wire(model) => vec![model],
            TargetParams::System(system) => system.drives.iter().map(|model| &**model).collect(),
        };
        for (drive, model) in (0..).zip(drives) {
            for &(first, count) in model.faults.iter().flat_map(|faults| &faults.unreadable) {
                let fault = Fault::MediaError { drive, first, count, until: Cure::Written };
                self.record_injection(Instant::ZERO, fault);
            }
        }
    }

    /// Commands in the trace so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    pub(crate) fn submitted(&mut self, at: Instant, command: &Command) -> Result<(), TraceError> {
        self.under_way.insert(command.id, self.gone + self.held.len() as u64);
        self.held.push_back(Held::Command(record(at, command), false));
        if self.held.len() > HELD_MAX { self.release(1) } else { Ok(()) }
    }

    pub(crate) fn answered(&mut self, completion: &Completion) -> Result<(), TraceError> {
        // A command that was released unanswered is written already.
        let number = self.under_way.remove(&completion.id);
        let place = number.and_then(|number| number.checked_sub(self.gone));
        if let Some(Held::Command(record, is_answered)) =
            place.and_then(|place| self.held.get_mut(place as usize))
        {
            record.response_ns = Some((completion.completed - completion.submitted).as_ns());
            *is_answered = true;
        }
        self.release(0)
    }

    /// The target was changed from outside.
    pub(crate) fn record_event(&mut self, what: &TargetEvent) {
        let (at, fault) = match *what {
            TargetEvent::DriveFailed { at, drive } => (at, Fault::Fail { drive }),
            TargetEvent::DriveReplaced { at, drive } => (at, Fault::Replace { drive }),
            TargetEvent::PowerCut { at } => (at, Fault::CutPower),
            TargetEvent::Array(Report { at, what: ReportKind::Failed { drive, .. }, .. }) => {
                (at, Fault::Fail { drive })
            }
            TargetEvent::Array(_) | TargetEvent::GivenUp { .. } => return,
        };
        self.record_injection(at, fault);
    }

    /// A fault was injected.
    pub(crate) fn record_injection(&mut self, at: Instant, fault: Fault) {
        self.held.push_back(Held::Injected(Injected::new(at, fault)));
    }

    /// Writes the answered entries at the front, and up to `in_any_case` unanswered ones as well.
    fn release(&mut self, in_any_case: usize) -> Result<(), TraceError> {
        let mut forced = in_any_case;
        while let Some(front) = self.held.front() {
            match front {
                Held::Command(_, false) if forced == 0 => return Ok(()),
                Held::Command(record, is_answered) => {
                    forced = forced.saturating_sub(usize::from(!is_answered));
                    let context = RequestContext {
                        device: "0",
                        clock: Clock::Relative,
                        place: Place::Record(self.written + 1),
                    };
                    self.writer.write(&mut self.out, record, &context)?;
                    self.written += 1;
                }
                Held::Injected(injected) => self.writer.inject(&mut self.out, *injected)?,
            }
            self.held.pop_front();
            self.gone += 1;
        }
        Ok(())
    }

    /// The run is over: unanswered commands have no response time.
    pub fn finish(mut self) -> Result<W, TraceError> {
        self.release(usize::MAX)?;
        self.writer.end(&mut self.out)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn record(at: Instant, command: &Command) -> Record {
    let Command { id, initiator, logical_unit, tag, attribute, priority, force_unit_access, .. } = *command;
    let Command { direct, attempt, process, synchronous, access, first, count, .. } = *command;
    let kind = match access {
        Access::Read => Kind::Read,
        Access::Write => Kind::Write,
        Access::Flush => Kind::Flush,
    };
    let attributes = Attributes {
        id,
        cookie: 0,
        initiator,
        logical_unit,
        tag,
        attribute,
        priority,
        force_unit_access,
        direct,
        attempt,
        process,
        synchronous,
    };
    let (offset, length) = (first.get() * SECTOR_BYTES, count.bytes().get());
    Record { attributes, ..Record::new(at.as_ns(), 0, kind, offset, length) }
}
