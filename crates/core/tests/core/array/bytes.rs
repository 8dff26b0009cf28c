//! A target whose data operations are carried out on real bytes, one for each sector: what comes back is what was
//! written, or the array has read, written or computed something wrong.
use super::field;
use crate::common::{command, next_due};
use drivelab_core::data::DataOp;
use drivelab_core::storage::{Target, TargetInput, TargetParams};
use drivelab_core::{Access, Machine, Outcome};
use drivelab_units::Instant;
use std::collections::HashMap;

/// A target whose data operations are carried out on real bytes, one for each sector.
pub struct Bytes {
    pub target: Target,
    pub now: Instant,
    ids: u64,
    /// By member and sector.
    pub media: HashMap<(u16, u64), u8>,
    /// By command and address: what it carries.
    buffers: HashMap<(u64, u64), u8>,
    mixes: Vec<DataOp>,
    /// Commands to members so far, with their sectors.
    pub reads: Vec<(u16, u64, u64)>,
    pub writes: Vec<(u16, u64, u64)>,
}

impl Bytes {
    pub fn new(params: &TargetParams) -> Self {
        let mut target = Target::new(params, 1);
        target.keep_data();
        let (media, buffers) = (HashMap::new(), HashMap::new());
        let (mixes, reads, writes) = (Vec::new(), Vec::new(), Vec::new());
        Bytes { target, now: Instant::ZERO, ids: 0, media, buffers, mixes, reads, writes }
    }

    /// The same data in the hands of another target of the same shape.
    pub fn moved_to(self, params: &TargetParams) -> Self {
        let mut moved = Self::new(params);
        moved.target.come_up_after(&self.target);
        Bytes { media: self.media, ids: self.ids, ..moved }
    }

    /// What a command carries at an address.
    fn value(&self, id: u64, at: u64) -> u8 {
        let given = self.buffers.get(&(id, at)).copied().unwrap_or(0);
        self.mixes.iter().fold(given, |sum, op| match *op {
            DataOp::Mix { into, at: begin, from, from_at, count, factor }
                if into == id && (begin.get()..begin.get() + count.get()).contains(&at) =>
            {
                sum ^ field::product(factor, self.value(from, from_at.get() + at - begin.get()))
            }
            _ => sum,
        })
    }

    fn carry_out(&mut self) {
        while let Some(op) = self.target.poll_data() {
            match op {
                DataOp::Mix { .. } => self.mixes.push(op),
                DataOp::Forget { id, .. } => {
                    self.mixes.retain(|mix| !matches!(mix, DataOp::Mix { into, .. } if *into == id));
                }
                DataOp::Deliver { read, member, first, count, .. } => {
                    self.reads.push((member, first.get(), count.get()));
                    for at in first.get()..first.get() + count.get() {
                        let byte = self.media.get(&(member, at)).copied().unwrap_or(0);
                        self.buffers.insert((read, at), byte);
                    }
                }
                DataOp::Accept { write, member, first, count } => {
                    self.writes.push((member, first.get(), count.get()));
                    for at in first.get()..first.get() + count.get() {
                        let byte = self.value(write, at);
                        self.media.insert((member, at), byte);
                    }
                }
                _ => {}
            }
        }
    }

    pub fn go(&mut self, access: Access, first: u64, data: &[u8]) -> (Outcome, Vec<u8>) {
        let id = self.ids;
        self.ids += 1;
        self.mixes.clear();
        self.buffers.clear();
        self.reads.clear();
        self.writes.clear();
        let (count, addresses) = (data.len() as u64, first..first + data.len() as u64);
        if access == Access::Write {
            self.buffers.extend(addresses.clone().zip(data).map(|(at, &byte)| ((id, at), byte)));
        }
        self.target.handle(self.now, TargetInput::Submit(command(id, access, first, count)));
        let answer = loop {
            self.carry_out();
            if let Some(answer) = self.target.poll_output() {
                break answer;
            }
            let due = next_due(&self.target).unwrap();
            self.target.handle(due, TargetInput::Tick);
            self.now = due;
        };
        (answer.outcome, addresses.map(|at| self.value(id, at)).collect())
    }

    /// Lets everything happen that is still to come.
    pub fn settle(&mut self) {
        while let Some(due) = next_due(&self.target) {
            self.target.handle(due, TargetInput::Tick);
            self.now = due;
            self.carry_out();
        }
    }

    pub fn write(&mut self, first: u64, data: &[u8]) {
        assert_eq!(self.go(Access::Write, first, data).0, Outcome::Done);
    }

    pub fn read(&mut self, first: u64, count: usize) -> Vec<u8> {
        let (outcome, data) = self.go(Access::Read, first, &vec![0; count]);
        assert_eq!(outcome, Outcome::Done);
        data
    }
}

/// Bytes that tell one place from another.
pub fn bytes(seed: usize, count: usize) -> Vec<u8> {
    (0..count).map(|at| (((at + 1) * (seed + 3) * 151) >> 3) as u8).collect()
}

/// All sets of up to `most` of so many members.
pub fn sets(members: u16, most: u32) -> Vec<Vec<u16>> {
    let chosen = |bits: u32| (0..members).filter(|slot| bits >> slot & 1 == 1).collect();
    (0_u32..1 << members).filter(|bits| bits.count_ones() <= most).map(chosen).collect()
}
