//! A target in virtual time, checked by a witness.
use super::error::{Violation, Wrong};
use super::map::Map;
use super::oracle::Oracle;
use super::witness::Witness;
use crate::run::HORIZON;
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::params::ArrayParams;
use drivelab_core::storage::array::report::{Health, Report, ReportKind};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::{Piece, WriteBehind};
use drivelab_core::storage::{Fault, Target, TargetEvent, TargetInput, TargetOutput, TargetParams};
use drivelab_core::{Access, Command, Completion, Machine, Outcome};
use drivelab_data::{Recovery, consistent};
use drivelab_units::{Instant, Lba, Sectors};
use std::collections::{HashMap, VecDeque};

/// A filter between a target and its witness: it may change or drop a data operation. For tests of the
/// witness.
pub type Tap = Box<dyn FnMut(DataOp) -> Option<DataOp>>;

/// The ids of the checker's own commands begin here: beyond those of any job.
const CHECKER_IDS: u64 = 1 << 48;
/// Sectors of one such read.
const AT_ONCE: u64 = 256;

pub struct CheckedTarget {
    params: SystemParams,
    seed: u64,
    target: Target,
    witness: Witness,
    now: Instant,
    tap: Option<Tap>,
    /// The host's commands that are not answered, and the answers that it has not taken.
    outstanding: HashMap<u64, Command>,
    answers: VecDeque<(Completion, Vec<u64>)>,
    next_own_id: u64,
    /// Number of addresses of each host, where each has its own range.
    apart: u64,
}

impl CheckedTarget {
    pub fn new(params: &SystemParams, seed: u64) -> Self {
        Self::with(params, seed, Witness::new(params, seed))
    }

    fn with(params: &SystemParams, seed: u64, witness: Witness) -> Self {
        let mut target = Target::new(&TargetParams::System(params.clone()), seed);
        target.keep_data();
        let mut checked = CheckedTarget {
            params: params.clone(),
            seed,
            target,
            witness,
            now: Instant::ZERO,
            tap: None,
            outstanding: HashMap::new(),
            answers: VecDeque::new(),
            next_own_id: CHECKER_IDS,
            apart: u64::MAX,
        };
        checked.check_for_losses();
        checked
    }

    /// A target whose data a witness has observed from the beginning until now.
    pub fn of(
        params: SystemParams,
        target: Target,
        witness: Witness,
        outstanding: Map<Command>,
        now: Instant,
    ) -> Self {
        let outstanding = outstanding.into_iter().collect();
        let (tap, answers, next_own_id, seed) = (None, VecDeque::new(), CHECKER_IDS, witness.seed());
        let apart = u64::MAX;
        CheckedTarget { params, seed, target, witness, now, tap, outstanding, answers, next_own_id, apart }
    }

    /// Continues until nothing is under way that could leave members inconsistent: a host's command, or a
    /// memory's flush. The array's background work need not end for that. For an array that has lost members
    /// that it needs there is nothing left to compare, and its memories may retry flushes for a long time.
    /// Returns whether that took no more than this memory.
    pub fn quiesce(&mut self, most_bytes: u64) -> Result<bool, Violation> {
        // A run ends with the last answer that it counts; others of the same instant are queued after it.
        self.process_outputs()?;
        self.answers.clear();
        while !self.has_lost()
            && (self.outstanding() > 0 || self.memories().any(|memory| memory.flushing() > 0))
        {
            if self.witness.bytes() > most_bytes {
                return Ok(false);
            }
            if !self.advance()? {
                let commands = self.outstanding();
                return Err(self.witness.violation(self.now, Wrong::Unanswered { commands }));
            }
            self.answers.clear();
        }
        Ok(true)
    }

    /// The memories above the array, those of hosts first.
    pub fn memories(&self) -> impl Iterator<Item = &WriteBehind> {
        let hosts = (0..).map_while(|initiator| self.target.host_cache(initiator));
        hosts.chain(self.target.controller_cache())
    }

    /// The data in memories that no drive has, by sector.
    pub fn in_memories(&self) -> Map<u64> {
        let mut all = Map::default();
        // Data nearer to the host are newer.
        let memories: Vec<&WriteBehind> = self.memories().collect();
        for piece in memories.iter().rev().flat_map(|memory| memory.unwritten()) {
            let (first, count) = (piece.first.get(), piece.count.get());
            let stamps = self.witness.data.peek(piece.write, first, count).unwrap_or_default();
            all.extend((first..).zip(stamps));
        }
        all
    }

    /// Each host has this many addresses for itself, the first host the lowest: no other host asks for data
    /// in its cache.
    pub fn keep_apart(&mut self, addresses: u64) {
        self.apart = addresses;
    }

    pub fn tap(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }

    pub fn array_params(&self) -> Option<&ArrayParams> {
        self.params.array.as_ref()
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Moves out what hosts know of each sector.
    pub(super) fn take_oracle(&mut self) -> Oracle {
        self.witness.oracle.taken()
    }

    pub fn now(&self) -> Instant {
        self.now
    }

    /// Commands that are not answered.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// When the next event is due, if any.
    fn next_due(&self) -> Option<Instant> {
        self.target.poll_timeout()
    }

    /// Runs everything that is due by then.
    pub fn run_until(&mut self, now: Instant) -> Result<(), Violation> {
        while let Some(due) = self.next_due().filter(|&due| due <= now) {
            self.step(due)?;
        }
        self.now = self.now.max(now);
        Ok(())
    }

    /// Runs whatever is due next. Returns whether there was anything.
    pub fn advance(&mut self) -> Result<bool, Violation> {
        let Some(due) = self.next_due().filter(|&due| due < HORIZON) else { return Ok(false) };
        self.step(due)?;
        Ok(true)
    }

    /// Runs until nothing more can happen without another command.
    pub fn run_out(&mut self) -> Result<(), Violation> {
        while self.advance()? {}
        match self.outstanding() {
            0 => Ok(()),
            commands => Err(self.witness.violation(self.now, Wrong::Unanswered { commands })),
        }
    }

    fn step(&mut self, due: Instant) -> Result<(), Violation> {
        self.now = self.now.max(due);
        let passed = self.target.pass_to(self.now);
        passed.map_err(|error| self.witness.violation(self.now, Wrong::Refused(error)))?;
        self.process_outputs()
    }

    /// A host issues a command now.
    pub fn submit(&mut self, command: &Command) -> Result<(), Violation> {
        let number = self.take(command)?;
        self.witness.submitted(&Command { id: number, ..*command });
        self.process_outputs()
    }

    /// A fault is injected into a drive.
    ///
    /// # Errors
    /// When the target rejects it, or when what it then does is wrong.
    pub fn inject(&mut self, fault: Fault) -> Result<(), Violation> {
        let result = self.target.handle(self.now, TargetInput::Inject(fault));
        result.map_err(|error| self.witness.violation(self.now, Wrong::Refused(error)))?;
        self.process_outputs()
    }

    /// Submits a command to the target. Returns its number there.
    fn take(&mut self, command: &Command) -> Result<u64, Violation> {
        let taken = self.target.take(self.now, command);
        let number = taken.map_err(|error| self.witness.violation(self.now, Wrong::Refused(error)))?;
        self.outstanding.insert(command.id, Command { id: number, ..*command });
        Ok(number)
    }

    /// The next answer that the host has not taken, and the data of a read.
    pub fn poll_answer(&mut self) -> Option<(Completion, Vec<u64>)> {
        self.answers.pop_front()
    }

    /// Processes the outputs since the last call.
    fn process_outputs(&mut self) -> Result<(), Violation> {
        self.witness.refuses_writes = self.target.refuses_writes();
        while let Some(output) = self.target.poll_output() {
            match output {
                TargetOutput::Data(op) => {
                    let op = match &mut self.tap {
                        Some(tap) => tap(op),
                        None => Some(op),
                    };
                    if let Some(op) = op {
                        self.witness.observe(self.now, op)?;
                    }
                }
                TargetOutput::Event(TargetEvent::Array(Report {
                    what: ReportKind::Failed { .. }, ..
                })) => {
                    self.check_for_losses();
                }
                TargetOutput::Completed(completion) => {
                    let Some(command) = self.outstanding.remove(&completion.id) else { continue };
                    let found = self.witness.completed(&command, &completion)?;
                    self.answers.push_back((completion, found));
                }
                TargetOutput::Event(_) | TargetOutput::Trace(_) => {}
            }
        }
        Ok(())
    }

    /// The array may have lost members that it needs: from then on unflushed data may be gone.
    fn check_for_losses(&mut self) {
        let Some(array) = self.array() else { return };
        if array.health() == Health::Failed
            || !consistent::can_reconstruct(array.layout(), &consistent::valid_members(array))
        {
            self.witness.oracle.lose();
        }
    }

    /// Whether the array has lost members that it needs, and no rebuild has restored them.
    fn has_lost(&self) -> bool {
        let bears =
            |array: &Array| consistent::can_reconstruct(array.layout(), &consistent::valid_members(array));
        self.witness.oracle.is_lost() && self.array().is_some_and(|array| !bears(array))
    }

    fn array(&self) -> Option<&Array> {
        self.target.system()?.array()
    }

    /// Whether every member of the array is complete.
    pub fn is_whole(&self) -> bool {
        self.array().is_none_or(|array| consistent::valid_members(array).iter().all(Option::is_some))
    }

    /// With nothing under way: checks that the members of the array are consistent.
    pub fn check_members(&self) -> Result<(), Violation> {
        self.array().map_or(Ok(()), |array| self.witness.check_members(self.now, array).map(|_| ()))
    }

    /// Runs until nothing more happens, then reads back everything that was ever written, and checks the
    /// members.
    pub fn read_back(&mut self) -> Result<(), Violation> {
        self.run_out()?;
        self.check_members()?;
        let written = self.witness.oracle.written();
        let mut next = written.iter().copied().peekable();
        while let Some(first) = next.next() {
            let capacity = self.target.capacity().get();
            let end =
                (first + AT_ONCE).min(capacity).min((first / self.apart + 1).saturating_mul(self.apart));
            while next.next_if(|&sector| sector < end).is_some() {}
            let (outcome, found) = self.go(Access::Read, first, end - first)?;
            if outcome == Outcome::Done {
                self.witness.oracle.settle(first, &found);
            }
        }
        self.run_out()?;
        self.check_members()
    }

    /// Issues a command of the checker, which bypasses the host's cache, and waits for its answer.
    pub fn go(&mut self, access: Access, first: u64, count: u64) -> Result<(Outcome, Vec<u64>), Violation> {
        let initiator = (first / self.apart) as u16;
        let command = Command { initiator, ..own(self.next_own_id, access, first, count) };
        self.next_own_id += 1;
        self.submit(&command)?;
        self.answer_to(command.id)
    }

    fn answer_to(&mut self, id: u64) -> Result<(Outcome, Vec<u64>), Violation> {
        loop {
            let at = self.answers.iter().position(|(completion, _)| completion.id == id);
            if let Some((completion, found)) = at.and_then(|at| self.answers.remove(at)) {
                return Ok((completion.outcome, found));
            }
            if !self.advance()? {
                return Err(self.witness.violation(self.now, Wrong::Unanswered { commands: 1 }));
            }
        }
    }

    /// The power is cut now and comes back: the target restarts with the media contents of its drives, and
    /// without the members in `missing`, whose loss is only found now. Recovery comes before everything else;
    /// then a controller whose battery has kept data writes them.
    pub fn cut_power(
        mut self,
        missing: &[u16],
        recovery: &mut dyn Recovery,
    ) -> Result<CheckedTarget, Violation> {
        let kept = self.kept_by_battery()?;
        let cut = self.target.handle(self.now, TargetInput::Inject(Fault::CutPower));
        cut.map_err(|error| self.witness.violation(self.now, Wrong::Refused(error)))?;
        let CheckedTarget { mut params, seed, target, mut witness, next_own_id, apart, tap, .. } = self;
        witness.oracle.cut_power();
        match (target.system().and_then(|system| system.array()), &mut params.array) {
            (Some(array), Some(of_array)) => {
                let consistency_policy = of_array.consistency_policy;
                of_array.missing =
                    witness.data.cut_power_of_array(array, consistency_policy, missing, recovery);
                of_array.failures.clear();
            }
            _ => _ = witness.data.cut_power(),
        }
        let mut after = CheckedTarget { next_own_id, apart, tap, ..Self::with(&params, seed, witness) };
        after.target.restore_after(&target);
        drop(target);
        for (first, stamps) in kept {
            after.write_kept(first, &stamps)?;
        }
        Ok(after)
    }

    /// What a controller's battery has kept: addresses and stamps, newer ones later.
    fn kept_by_battery(&mut self) -> Result<Vec<(u64, Vec<u64>)>, Violation> {
        if self.params.controller.cache.is_none_or(|cache| !cache.battery) {
            return Ok(Vec::new());
        }
        let Some(cache) = self.target.controller_cache() else { return Ok(Vec::new()) };
        let contents_of = |piece: Piece| {
            let (id, first, count) = (piece.write, piece.first.get(), piece.count.get());
            let stamps = self.witness.data.peek(id, first, count);
            stamps.map(|stamps| (first, stamps)).map_err(|fault| self.witness.contradicts(self.now, fault))
        };
        cache.unwritten().map(contents_of).collect()
    }

    /// Writes what a battery has kept: no host is involved. What the array refuses is given up.
    fn write_kept(&mut self, first: u64, stamps: &[u64]) -> Result<(), Violation> {
        let command = own(self.next_own_id, Access::Write, first, stamps.len() as u64);
        self.next_own_id += 1;
        let number = self.take(&command)?;
        self.witness.data.write_data(number, first, stamps);
        self.process_outputs()?;
        let (outcome, _) = self.answer_to(command.id)?;
        if outcome != Outcome::Done {
            self.witness.oracle.give_up(first, stamps);
        }
        Ok(())
    }
}

/// A command that no job has issued.
pub(super) fn own(id: u64, access: Access, first: u64, count: u64) -> Command {
    Command { direct: true, ..Command::new(id, access, Lba::new(first), Sectors::new(count)) }
}
