//! A target in virtual time, its operations carried out on both kinds of cells, which must agree everywhere.
use crate::common::sorted::Target;
use crate::common::{STEPS_MAX, command};
use crate::disc::Disc;
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Command, Completion, Machine, Outcome};
use drivelab_data::{Bytes, Cell, Executor, PolicyRecovery, Stamp};
use drivelab_units::{Instant, Span};
use std::collections::BTreeMap;

/// What a read has fetched.
pub struct Answer {
    pub completion: Completion,
    pub found: Vec<Bytes>,
}

pub struct Play {
    pub params: SystemParams,
    pub target: Target,
    pub now: Instant,
    pub stamps: Executor<Stamp>,
    pub bytes: Executor<Bytes>,
    outstanding: BTreeMap<u64, Command>,
    pub answers: Vec<Answer>,
    ids: u64,
    /// Hears every operation.
    pub ear: Box<dyn FnMut(DataOp)>,
}

pub fn heads(cells: &[Bytes]) -> Vec<u64> {
    cells.iter().map(Cell::head).collect()
}

impl Play {
    pub fn new(params: &SystemParams, seed: u64) -> Self {
        let mut target = Target::new(&TargetParams::System(params.clone()), seed);
        target.keep_data();
        let bytes = Executor::of_system(params);
        // Every other one keeps its bytes elsewhere.
        let bytes = if seed.is_multiple_of(2) {
            bytes
        } else {
            bytes.on_platters(Disc::for_each(params.drives.len()))
        };
        Play {
            params: params.clone(),
            target,
            now: Instant::ZERO,
            stamps: Executor::of_system(params),
            bytes,
            outstanding: BTreeMap::new(),
            answers: Vec::new(),
            ids: 1 << 40,
            ear: Box::new(|_| ()),
        }
    }

    pub fn array(&self) -> &Array {
        self.target.system().and_then(|system| system.array()).expect("there is an array")
    }

    pub fn submit(&mut self, command: &Command) {
        if command.access == Access::Write {
            self.stamps.write(command.id, command.first, command.count);
            // Data that are handed over, and data that follow from the command.
            if command.id.is_multiple_of(2) {
                self.bytes.write(command.id, command.first, command.count);
            } else {
                let sectors = command.first.get()..command.end().get();
                let data: Vec<Bytes> = sectors.map(|sector| Bytes::version(command.id, sector)).collect();
                self.bytes.write_data(command.id, command.first.get(), &data);
            }
        }
        self.outstanding.insert(command.id, *command);
        self.target.handle(self.now, TargetInput::Submit(*command));
        self.process_outputs();
    }

    /// What has happened since the last look.
    fn process_outputs(&mut self) {
        while let Some(op) = self.target.poll_data() {
            (self.ear)(op);
            self.stamps.apply(self.now, op).expect("the target is right");
            self.bytes.apply(self.now, op).expect("the target is right");
        }
        while self.target.poll_report().is_some() {}
        while let Some(completion) = self.target.poll_output() {
            let Some(command) = self.outstanding.remove(&completion.id) else { continue };
            let stamps = self.stamps.answered(&command, &completion).expect("the target is right");
            let found = self.bytes.answered(&command, &completion).expect("the target is right");
            assert_eq!(heads(&found), stamps, "{command:?}");
            self.answers.push(Answer { completion, found });
        }
    }

    /// Whatever is due next happens.
    pub fn advance(&mut self) -> bool {
        let Some(due) = self.target.poll_timeout().filter(|&due| due < Instant::ZERO + Span::from_s(3_600))
        else {
            return false;
        };
        self.now = self.now.max(due);
        self.target.handle(self.now, TargetInput::Tick);
        self.process_outputs();
        true
    }

    pub fn run_until(&mut self, now: Instant) {
        while self.target.poll_timeout().is_some_and(|due| due <= now) {
            self.advance();
        }
        self.now = self.now.max(now);
    }

    pub fn run_out(&mut self) {
        for _ in 0..STEPS_MAX {
            if !self.advance() {
                return;
            }
        }
        panic!("it goes on for ever");
    }

    /// Sends a command and waits for its answer.
    pub fn go(&mut self, access: Access, first: u64, count: u64) -> Answer {
        let id = self.ids;
        self.ids += 1;
        self.submit(&Command { direct: true, ..command(id, access, first, count) });
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer.completion.id == id) {
                return self.answers.swap_remove(at);
            }
            assert!(self.advance(), "{access:?} is answered");
        }
    }

    pub fn read(&mut self, first: u64, count: u64) -> Vec<Bytes> {
        let answer = self.go(Access::Read, first, count);
        assert_eq!(answer.completion.outcome, Outcome::Done);
        answer.found
    }

    /// Both have the same on all drives, accepted and on the media, and the same buffers.
    pub fn compare(&self) {
        let (stamps, bytes) = (self.stamps.media(), self.bytes.media());
        for drive in 0..stamps.drives() as u16 {
            let mut touched = stamps.touched(drive);
            if bytes.platter(drive).is_none() {
                assert_eq!(touched, bytes.touched(drive));
            }
            touched.extend(bytes.touched(drive));
            for at in touched {
                let (stamp, bytes) = (stamps.sector(drive, at), bytes.sector(drive, at));
                assert_eq!(stamp.accepted, bytes.accepted.head(), "sector {at} of drive {drive}");
                assert_eq!(stamp.persisted, bytes.persisted.head(), "sector {at} of drive {drive}");
            }
        }
        let sorted = |ids: &mut dyn Iterator<Item = u64>| {
            let mut ids: Vec<u64> = ids.collect();
            ids.sort_unstable();
            ids
        };
        let kept = [sorted(&mut self.stamps.buffers().ids()), sorted(&mut self.bytes.buffers().ids())];
        assert_eq!(kept[0], kept[1]);
    }

    /// The power goes and comes back, without these members.
    pub fn cut(self, missing: &[u16]) -> Play {
        let Play { mut params, target, mut stamps, mut bytes, now, ids, .. } = self;
        match (target.system().and_then(|system| system.array()), &mut params.array) {
            (Some(array), Some(of_array)) => {
                let policy = of_array.consistency_policy;
                let (mut one, mut other) = (PolicyRecovery::default(), PolicyRecovery::default());
                of_array.missing = stamps.cut_power_of_array(array, policy, missing, &mut one);
                let gone = bytes.cut_power_of_array(array, policy, missing, &mut other);
                assert_eq!(of_array.missing, gone);
                assert_eq!((one.entries(), one.regions()), (other.entries(), other.regions()));
                of_array.failures.clear();
            }
            _ => _ = (stamps.cut_power(), bytes.cut_power()),
        }
        let mut after = Play { now, ids, ..Play::new(&params, 1) };
        after.target.restore_after(&target);
        (after.stamps, after.bytes) = (stamps, bytes);
        after.compare();
        after
    }
}
