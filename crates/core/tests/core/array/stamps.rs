//! A naive executor of data operations: a stamp of eight bytes stands for each sector, sums are done byte by byte, and all
//! commands of the members are written down.
use super::field::product;
use super::rig::array;
use crate::common::{command, next_due};
use drivelab_core::data::{DataOp, Word};
use drivelab_core::storage::array::levels::{Copied, Layout, RaidZ, Rows};
use drivelab_core::storage::array::members::MemberState;
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy};
use drivelab_core::storage::array::report::Report;
use drivelab_core::storage::array::{Array, Logged};
use drivelab_core::storage::{Target, TargetInput, TargetParams};
use drivelab_core::{Access, Completion, Machine};
use drivelab_units::{Instant, Lba, Sectors, Span};
use std::collections::{BTreeMap, HashMap};

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

#[derive(Clone, Copy)]
struct Part {
    at: u64,
    from: u64,
    from_at: u64,
    count: u64,
    factor: u8,
}

/// An array with stamps in place of data.
pub struct Stamped {
    target: Target,
    /// The drive of the journal.
    journal: Option<u16>,
    pub now: Instant,
    next_id: u64,
    /// By drive and address.
    pub media: HashMap<(u16, u64), Stamp>,
    /// By command and address: what was read.
    delivered: HashMap<(u64, u64), Stamp>,
    parts: HashMap<u64, Vec<Part>>,
    writes: HashMap<u64, (u64, u64)>,
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
        let has_journal =
            system.array.as_ref().is_some_and(|array| array.consistency_policy == ConsistencyPolicy::Journal);
        let journal = has_journal.then(|| system.drives.len() as u16 - 1);
        let mut target = Target::new(target, 1);
        target.keep_data();
        Stamped {
            target,
            journal,
            now: Instant::ZERO,
            next_id: 1,
            media: HashMap::new(),
            delivered: HashMap::new(),
            parts: HashMap::new(),
            writes: HashMap::new(),
            model: BTreeMap::new(),
            seen: Vec::new(),
            logged: Vec::new(),
        }
    }

    /// The same data in the hands of another target of the same shape.
    pub fn moved_to(self, target: &TargetParams) -> Self {
        let mut moved = Self::of(target);
        moved.target.come_up_after(&self.target);
        let Stamped { media, model, next_id, .. } = self;
        Stamped { media, model, next_id, ..moved }
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
        (id.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ at.wrapping_mul(0xd134_2543_de82_ef95) | 1).to_le_bytes()
    }

    pub fn send(&mut self, access: Access, first: u64, count: u64) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        if access == Access::Write {
            self.writes.insert(id, (first, first + count));
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
        self.media.get(&(drive, at)).copied().unwrap_or_default()
    }

    /// What a command's buffer holds of an address.
    fn value(&self, id: u64, at: u64) -> Stamp {
        self.buffer(id, at).unwrap_or_else(|| panic!("nobody says where address {at} of {id} comes from"))
    }

    fn buffer(&self, id: u64, at: u64) -> Option<Stamp> {
        if let Some(&(first, end)) = self.writes.get(&id) {
            assert!((first..end).contains(&at), "the host's write {id} has no address {at}");
            return Some(Self::fetched(id, at));
        }
        if let Some(&stamp) = self.delivered.get(&(id, at)) {
            return Some(stamp);
        }
        let parts = self.parts.get(&id).map(Vec::as_slice).unwrap_or_default();
        let here: Vec<_> =
            parts.iter().filter(|part| (part.at..part.at + part.count).contains(&at)).collect();
        (!here.is_empty()).then(|| {
            here.iter().fold([0; 8], |sum, part| {
                added(sum, scaled(self.value(part.from, part.from_at + (at - part.at)), part.factor))
            })
        })
    }

    /// Whether something may be written at a place that nobody will ever ask for.
    fn is_idle(&self, drive: u16, at: u64) -> bool {
        self.is_log(drive, at) || self.is_left_over(drive, at)
    }

    /// Whether a place is left over behind a record, or on a drive that has failed meanwhile.
    fn is_left_over(&self, drive: u16, at: u64) -> bool {
        let Layout::RaidZ(pool) = self.array().layout() else { return false };
        let Some(slot) = self.array().members().slot_of(drive) else { return true };
        let map = pool.map();
        let sector = at / map.sector() * map.members() + u64::from(slot);
        sector % map.taken() >= map.total()
    }

    fn is_log(&self, drive: u16, at: u64) -> bool {
        let start = match self.array().layout() {
            Layout::Rows(rows) => rows.start(),
            Layout::Copied(copied) => copied.start(),
            Layout::Linear(_) | Layout::RaidZ(_) => 0,
        };
        Some(drive) == self.journal || at < start
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
            match op {
                DataOp::Accept { write, member, first, count } => {
                    let (first, count) = (first.get(), count.get());
                    self.see(Seen { id: write, drive: member, access: Access::Write, first, count });
                    for at in first..first + count {
                        // A log's own words have no stamp.
                        let stamp = match self.is_idle(member, at) {
                            true => self.buffer(write, at).unwrap_or_default(),
                            false => self.value(write, at),
                        };
                        self.media.insert((member, at), stamp);
                    }
                }
                DataOp::Deliver { read, member, first, count, .. } => {
                    let (first, count) = (first.get(), count.get());
                    self.see(Seen { id: read, drive: member, access: Access::Read, first, count });
                    for at in first..first + count {
                        self.delivered.insert((read, at), self.on_media(member, at));
                    }
                }
                DataOp::Mix { into, at, from, from_at, count, factor } => {
                    let (at, from_at, count) = (at.get(), from_at.get(), count.get());
                    self.parts.entry(into).or_default().push(Part { at, from, from_at, count, factor });
                }
                DataOp::Forget { id, first, count } => {
                    let (first, end): (Lba, Lba) = (first, first + Sectors::new(count.get()));
                    let inside = |part: &Part| part.at >= first.get() && part.at + part.count <= end.get();
                    self.parts.entry(id).or_default().retain(|part| !inside(part));
                }
                DataOp::Tell { word: Word::Logged(entry), .. } => self.logged.push(entry),
                DataOp::Replace { member } => self.media.retain(|&(drive, _), _| drive != member),
                _ => {}
            }
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
        for &place in &wrong {
            self.media.insert(place, [0x5a; 8]);
        }
        wrong.len() as u64
    }

    /// How many commands of a kind the drives had for the last host's, and their sectors.
    pub fn count(&self, access: Access) -> (usize, u64) {
        let seen = self.seen.iter().filter(|seen| seen.access == access);
        seen.fold((0, 0), |(commands, sectors), seen| (commands + 1, sectors + seen.count))
    }
}
