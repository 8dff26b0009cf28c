//! A target whose data operations are carried out on a stamp of eight bytes for each sector; all commands of the members
//! are written down, and what is on them is held to sums that are done here byte by byte.
use super::field::product;
use super::rig::array;
use crate::common::sorted::Target;
use crate::common::{command, next_due};
use drivelab_core::data::{DataOp, Word};
use drivelab_core::storage::array::levels::{Copied, Layout, RaidZ, Rows};
use drivelab_core::storage::array::members::MemberState;
use drivelab_core::storage::array::params::ArrayParams;
use drivelab_core::storage::array::report::Report;
use drivelab_core::storage::array::{Array, Logged};
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Completion};
use drivelab_data::Executor;
use drivelab_data::stamp::stamp;
use drivelab_units::{Instant, Lba, Sectors, Span};
use std::collections::BTreeMap;

pub type Stamp = [u8; 8];

pub fn scaled(stamp: Stamp, factor: u8) -> Stamp {
    stamp.map(|byte| product(byte, factor))
}

pub fn added(a: Stamp, b: Stamp) -> Stamp {
    std::array::from_fn(|at| a[at] ^ b[at])
}

/// A command of a member, as its data showed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    pub id: u64,
    pub drive: u16,
    pub access: Access,
    pub first: u64,
    pub count: u64,
}

/// An array with stamps in place of data.
pub struct Stamped {
    target: Target,
    pub now: Instant,
    next_id: u64,
    data: Executor,
    /// What each address of the array should hold.
    pub model: BTreeMap<u64, Stamp>,
    pub seen: Vec<Seen>,
    /// What logs were told to hold.
    pub logged: Vec<Logged>,
}

impl Stamped {
    pub fn new(params: ArrayParams) -> Self {
        Self::of(&array(params))
    }

    pub fn of(target: &TargetParams) -> Self {
        let TargetParams::System(system) = target else { panic!("an array is a system") };
        let data = Executor::of_system(system);
        let mut target = Target::new(target, 1);
        target.keep_data();
        Stamped {
            target,
            now: Instant::ZERO,
            next_id: 1,
            data,
            model: BTreeMap::new(),
            seen: Vec::new(),
            logged: Vec::new(),
        }
    }

    /// The same data in the hands of another target of the same shape.
    pub fn moved_to(self, target: &TargetParams) -> Self {
        let mut moved = Self::of(target);
        moved.target.restore_after(&self.target);
        *moved.data.media_mut() = self.data.media().clone();
        let Stamped { model, next_id, .. } = self;
        Stamped { model, next_id, ..moved }
    }

    pub fn array(&self) -> &Array {
        self.target.system().and_then(|system| system.array()).expect("there is an array")
    }

    pub fn rows(&self) -> &Rows {
        let Layout::Rows(rows) = self.array().layout() else { panic!("a level with parity") };
        rows
    }

    pub fn wait(&mut self, span: Span) {
        self.now += span;
        self.target.handle(self.now, TargetInput::Tick);
        self.execute();
    }

    /// Lets time pass until then, if it has not.
    pub fn wait_until(&mut self, due: Instant) {
        if due > self.now {
            self.wait(due.since(self.now));
        }
    }

    /// What a command of a host brings for an address.
    fn fetched(id: u64, at: u64) -> Stamp {
        stamp(id, at).to_le_bytes()
    }

    pub fn send(&mut self, access: Access, first: u64, count: u64) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        if access == Access::Write {
            self.data.write(id, Lba::new(first), Sectors::new(count));
            for at in first..first + count {
                self.model.insert(at, Self::fetched(id, at));
            }
        }
        self.target.handle(self.now, TargetInput::Submit(command(id, access, first, count)));
        self.execute();
        id
    }

    /// What was told of the array.
    pub fn reports(&mut self) -> Vec<Report> {
        std::iter::from_fn(|| self.target.poll_report()).collect()
    }

    /// The answers that have come.
    pub fn answers(&mut self) -> Vec<Completion> {
        std::iter::from_fn(|| self.target.poll_output()).collect()
    }

    /// All answers that are still to come.
    pub fn drain(&mut self) -> Vec<Completion> {
        let mut all = Vec::new();
        loop {
            while let Some(completion) = self.target.poll_output() {
                self.now = self.now.max(completion.completed);
                all.push(completion);
            }
            let Some(due) = next_due(&self.target) else { return all };
            self.now = self.now.max(due);
            self.target.handle(due, TargetInput::Tick);
            self.execute();
        }
    }

    pub fn go(&mut self, access: Access, first: u64, count: u64) -> Completion {
        self.seen.clear();
        self.send(access, first, count);
        let answers = self.drain();
        assert_eq!(answers.len(), 1);
        answers[0]
    }

    /// Reads and compares with what was written.
    pub fn check_read(&mut self, first: u64, count: u64) {
        let answer = self.go(Access::Read, first, count);
        assert_eq!(answer.outcome, drivelab_core::Outcome::Done);
        self.compare(answer.id, first, count);
    }

    pub fn compare(&self, id: u64, first: u64, count: u64) {
        for at in first..first + count {
            let expected = self.model.get(&at).copied().unwrap_or_default();
            assert_eq!(self.value(id, at), expected, "address {at} of {first}+{count}");
        }
    }

    pub fn on_media(&self, drive: u16, at: u64) -> Stamp {
        self.data.media().get(drive, at).to_le_bytes()
    }

    /// What a command's buffer holds of an address.
    fn value(&self, id: u64, at: u64) -> Stamp {
        let found = self.data.peek(id, at, 1).expect("the target does not contradict itself");
        found[0].to_le_bytes()
    }

    fn see(&mut self, seen: Seen) {
        match self.seen.iter_mut().find(|known| known.id == seen.id && known.drive == seen.drive) {
            Some(known) => {
                let end = (known.first + known.count).max(seen.first + seen.count);
                known.first = known.first.min(seen.first);
                known.count = end - known.first;
            }
            None => self.seen.push(seen),
        }
    }

    fn execute(&mut self) {
        while let Some(op) = self.target.poll_data() {
            let seen = match op {
                DataOp::Accept { write: id, member: drive, first, count } => {
                    Some((id, drive, Access::Write, first, count))
                }
                DataOp::Deliver { read: id, member: drive, first, count, .. } => {
                    Some((id, drive, Access::Read, first, count))
                }
                DataOp::AddWord { word: Word::Logged(entry), .. } => {
                    self.logged.push(entry);
                    None
                }
                _ => None,
            };
            if let Some((id, drive, access, first, count)) = seen {
                self.see(Seen { id, drive, access, first: first.get(), count: count.get() });
            }
            self.data.apply(self.now, op).expect("the target does not contradict itself");
        }
    }

    /// What a member that is whole has at a place.
    fn on_member(&self, slot: u16, at: u64) -> Option<Stamp> {
        let member = self.array().members().get(slot);
        (member.state == MemberState::Whole).then(|| self.on_media(member.drive, at))
    }

    /// All that was ever written is as the model has it, on all members that are whole, with its parity.
    pub fn check_media(&self) {
        match self.array().layout() {
            Layout::Rows(_) => self.check_rows(),
            Layout::Copied(copied) => self.check_copies(copied),
            Layout::RaidZ(pool) => self.check_records(pool),
            Layout::Linear(_) => panic!("a level with parity or copies"),
        }
    }

    /// By Horner's rule over the columns, as vdev_raidz_generate_parity_pqr has it, of all records that there are.
    fn check_records(&self, pool: &RaidZ) {
        let map = pool.map();
        let parities = usize::from(map.parities());
        for record in 0..pool.records() {
            let place = pool.place(record);
            let columns: Vec<_> = (0..map.columns()).map(|index| pool.column(place, index)).collect();
            for offset in 0..columns[0].count {
                let mut sums = [[0; 8]; 3];
                for (index, column) in columns.iter().enumerate().skip(parities) {
                    let address = record * pool.record() + map.begins(index) + offset;
                    let is_there = offset < column.count;
                    let stamp =
                        is_there.then(|| self.model.get(&address).copied()).flatten().unwrap_or_default();
                    if let Some(held) = self.on_member(column.slot, column.at + offset).filter(|_| is_there) {
                        assert_eq!(
                            held, stamp,
                            "record {record} at {place}, column {index}, offset {offset}"
                        );
                    }
                    for (sum, generator) in sums.iter_mut().zip([1, 2, 4]) {
                        *sum = added(scaled(*sum, generator), stamp);
                    }
                }
                for (which, (column, sum)) in columns.iter().zip(sums).take(parities).enumerate() {
                    if let Some(held) = self.on_member(column.slot, column.at + offset) {
                        assert_eq!(held, sum, "record {record} at {place}, parity {which}, offset {offset}");
                    }
                }
            }
        }
    }

    fn check_copies(&self, copied: &Copied) {
        for (&address, &stamp) in &self.model {
            let piece = copied.piece(address, address + 1);
            for copy in 0..copied.copies() {
                let spot = copied.spot(&piece, copy);
                let is_right = self.on_member(spot.slot, spot.at).is_none_or(|held| held == stamp);
                assert!(is_right, "address {address}, copy {copy}");
            }
        }
    }

    fn check_rows(&self) {
        let rows = *self.rows();
        let places: std::collections::BTreeSet<(u64, u64)> =
            self.model.keys().map(|&at| rows.cell(at, at + 1)).map(|cell| (cell.row, cell.offset)).collect();
        for (row, offset) in places {
            let mut parities = [[0; 8]; 3];
            let at = rows.at(row) + offset;
            for column in 0..rows.columns() {
                let address = row * rows.row_data() + u64::from(column) * rows.unit() + offset;
                let stamp = self.model.get(&address).copied().unwrap_or_default();
                let slot = rows.data(row, column);
                if let Some(held) = self.on_member(slot, at) {
                    assert_eq!(held, stamp, "row {row}, column {column}, offset {offset}");
                }
                let index = rows.index_of(&rows.row(row), column);
                for (which, parity) in parities.iter_mut().enumerate() {
                    let factor = (0..which as u32 * index).fold(1, |power, _| product(power, 2));
                    *parity = added(*parity, scaled(stamp, factor));
                }
            }
            for which in 0..rows.parities() {
                let slot = rows.parity(row, which);
                if let Some(held) = self.on_member(slot, at) {
                    let parity = parities[usize::from(which)];
                    assert_eq!(held, parity, "row {row}, parity {which}, offset {offset}");
                }
            }
        }
    }

    /// Puts wrong data on the media of all parity, or of all copies but the first, of what was written. Returns how many
    /// sectors.
    pub fn spoil(&mut self) -> u64 {
        let mut wrong = std::collections::BTreeSet::new();
        for &address in self.model.keys() {
            match self.array().layout() {
                Layout::Rows(rows) => {
                    let cell = rows.cell(address, address + 1);
                    let at = rows.at(cell.row) + cell.offset;
                    wrong.extend((0..rows.parities()).map(|which| (rows.parity(cell.row, which), at)));
                }
                Layout::Copied(copied) => {
                    let piece = copied.piece(address, address + 1);
                    let spots = (1..copied.copies()).map(|copy| copied.spot(&piece, copy));
                    wrong.extend(spots.map(|spot| (spot.slot, spot.at)));
                }
                Layout::Linear(_) | Layout::RaidZ(_) => {}
            }
        }
        for &(drive, at) in &wrong {
            self.data.media_mut().set(drive, at, u64::from_le_bytes([0x5a; 8]));
        }
        wrong.len() as u64
    }

    /// How many commands of a kind the drives had for the last host's, and their sectors.
    pub fn count(&self, access: Access) -> (usize, u64) {
        let seen = self.seen.iter().filter(|seen| seen.access == access);
        seen.fold((0, 0), |(commands, sectors), seen| (commands + 1, sectors + seen.count))
    }
}
