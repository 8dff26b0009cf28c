//! A target whose data operations are carried out on real bytes, each sector full of one: what comes back is what was
//! written, or the array has read, written or computed something wrong.
use crate::common::sorted::Target;
use crate::common::{command, next_due};
use drivelab_core::data::DataOp;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Outcome};
use drivelab_data::{Executor, SECTOR};
use drivelab_units::Instant;

type Sector = drivelab_data::Bytes;

/// A target whose data operations are carried out on real bytes, each sector full of one.
pub struct Bytes {
    pub target: Target,
    pub now: Instant,
    ids: u64,
    data: Executor<Sector>,
    /// Commands to members so far, with their sectors.
    pub reads: Vec<(u16, u64, u64)>,
    pub writes: Vec<(u16, u64, u64)>,
}

fn sector(byte: u8) -> Sector {
    Sector::from([byte; SECTOR])
}

fn byte(sector: &Sector) -> u8 {
    let first = sector.as_bytes()[0];
    assert_eq!(sector.as_bytes(), &[first; SECTOR]);
    first
}

impl Bytes {
    pub fn new(params: &TargetParams) -> Self {
        let TargetParams::System(system) = params else { panic!("an array is a system") };
        let mut target = Target::new(params, 1);
        target.keep_data();
        let (data, reads, writes) = (Executor::of_system(system), Vec::new(), Vec::new());
        Bytes { target, now: Instant::ZERO, ids: 0, data, reads, writes }
    }

    /// The same data in the hands of another target of the same shape.
    pub fn moved_to(self, params: &TargetParams) -> Self {
        let mut moved = Self::new(params);
        moved.target.restore_after(&self.target);
        *moved.data.media_mut() = self.data.media().clone();
        Bytes { ids: self.ids, ..moved }
    }

    /// Everything that the members have, by member and sector.
    pub fn all(&self) -> Vec<(u16, u64, u8)> {
        let media = self.data.media();
        let places = (0..media.drives() as u16)
            .flat_map(|drive| media.touched(drive).into_iter().map(move |at| (drive, at)));
        places.map(|(drive, at)| (drive, at, self.on(drive, at))).filter(|(_, _, byte)| *byte != 0).collect()
    }

    /// What a member has at a place.
    pub fn on(&self, drive: u16, at: u64) -> u8 {
        byte(&self.data.media().get(drive, at))
    }

    /// Puts something at a place of a member.
    pub fn put(&mut self, drive: u16, at: u64, byte: u8) {
        self.data.media_mut().set(drive, at, sector(byte));
    }

    fn carry_out(&mut self) {
        while let Some(op) = self.target.poll_data() {
            match op {
                DataOp::Deliver { member, first, count, .. } => {
                    self.reads.push((member, first.get(), count.get()));
                }
                DataOp::Accept { member, first, count, .. } => {
                    self.writes.push((member, first.get(), count.get()));
                }
                _ => {}
            }
            self.data.apply(self.now, op).expect("the target does not contradict itself");
        }
    }

    pub fn go(&mut self, access: Access, first: u64, data: &[u8]) -> (Outcome, Vec<u8>) {
        let id = self.ids;
        self.ids += 1;
        self.reads.clear();
        self.writes.clear();
        let count = data.len() as u64;
        if access == Access::Write {
            let cells: Vec<Sector> = data.iter().map(|&byte| sector(byte)).collect();
            self.data.write_data(id, first, &cells);
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
        let found = self.data.peek(id, first, count).expect("the target does not contradict itself");
        (answer.outcome, found.iter().map(byte).collect())
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
