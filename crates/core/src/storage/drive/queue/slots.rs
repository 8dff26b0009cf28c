//! The slot table of the queue: the waiting entries, in order of arrival and in order of cylinder.
//!
//! All entries are in one list, unless the order keeps reads and writes apart: then each kind has its own
//! [`EntryList`]. Of commands that continue one another only the first is in a list ([`super::runs`]).
use super::buckets::Neighbours;
use super::entry_list::{Cursor, EntryList};
use super::params::QueueParams;
use super::polar::Polar;
use super::row::Row;
use super::runs::{Departure, Runs};
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::Lba;

/// Index of a slot of the queue. Slots are numbered from zero up to the depth.
pub type SlotIndex = u32;

pub(super) const NONE: SlotIndex = SlotIndex::MAX;

/// What the search needs to know of one waiting command.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// The order of arrival, for ties; set by the table.
    pub sequence: u64,
    /// When it arrived, in nanoseconds, as its age counts: earlier, or even later than now, where a guideline says so
    /// ([`Self::age`]). A command that has waited elsewhere may be filed after younger ones.
    pub arrived: u64,
    /// When the firmware has finished its pickup, in nanoseconds.
    pub ready: u64,
    /// Nanoseconds before the arm may start, because the data must arrive first.
    pub lead: u64,
    /// Cylinder of the first sector.
    pub cylinder: u32,
    /// Head of the first sector.
    pub head: u32,
    /// Time into the revolution at which it begins.
    pub start: u32,
    /// The longest possible rotational latency.
    pub longest_wait: u32,
    /// Whether it is a write.
    pub write: bool,
}

/// One slot as a search sees it: its entry, and its neighbours. One cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct SlotEntry {
    pub entry: Entry,
    /// Neighbours in the buckets.
    pub by_cylinder: Neighbours,
}

/// Further data of an entry, and its neighbours in order of arrival.
#[derive(Clone, Copy)]
pub(super) struct Filed {
    /// Its first sector.
    first: Lba,
    /// Services begun before it arrived.
    arrived_at_service: u64,
    pub older: SlotIndex,
    pub younger: SlotIndex,
    /// Whether it arrived before one that was filed before it.
    is_late: bool,
}

const _: () = assert!(size_of::<SlotEntry>() == 64);

const FREE: SlotEntry =
    SlotEntry { entry: Entry::NONE, by_cylinder: Neighbours { below: NONE, above: NONE } };
const UNFILED: Filed =
    Filed { first: Lba::ZERO, arrived_at_service: 0, older: NONE, younger: NONE, is_late: false };

impl Entry {
    /// How long it has waited, in nanoseconds, as the queue weighs it; zero for one that counts as younger than new.
    #[inline(always)]
    pub fn age(&self, now: u64) -> u64 {
        now.saturating_sub(self.arrived)
    }

    /// The entry of a free slot.
    const NONE: Entry = Entry {
        sequence: 0,
        arrived: 0,
        ready: 0,
        lead: 0,
        cylinder: 0,
        head: 0,
        start: 0,
        longest_wait: 0,
        write: false,
    };
}

/// The kind of commands in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Reads, and writes too unless they are kept apart.
    Main,
    /// Writes, where an order keeps them apart.
    Writes,
}

/// The waiting commands of a drive, found by cylinder and by age.
pub struct Slots {
    places: Vec<SlotEntry>,
    filed: Vec<Filed>,
    main: EntryList,
    /// The writes, where they are kept apart.
    writes: Option<EntryList>,
    /// The commands that wait behind others; not where the order never reorders.
    runs: Option<Runs>,
    deep: bool,
    /// Commands that wait, and those of them that may be chosen.
    len: usize,
    candidates: usize,
    sequence: u64,
    services: u64,
    /// The latest arrival filed so far, and the number of waiting entries that arrived before one that was
    /// filed before them.
    latest_arrival: u64,
    late: usize,
    /// The entry chosen ahead, if it still waits.
    planned: SlotIndex,
}

impl Slots {
    /// A table for this queue of a drive with this many cylinders and this period of rotation in nanoseconds.
    pub fn new(params: &QueueParams, cylinders: u32, period: u64) -> Self {
        let list = || EntryList::new(params, cylinders, period);
        Slots {
            places: vec![FREE; params.depth as usize],
            filed: vec![UNFILED; params.depth as usize],
            main: list(),
            writes: params.order.rule().keeps_writes_apart.then(list),
            runs: params.reorders().then(|| Runs::new(params.depth)),
            deep: params.is_deep(),
            len: 0,
            candidates: 0,
            sequence: 0,
            services: 0,
            latest_arrival: 0,
            late: 0,
            planned: NONE,
        }
    }

    /// Number of waiting commands.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Number of waiting commands that may be chosen: each run counts as one.
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// The command of the same run that this one waits behind.
    pub fn before(&self, slot: SlotIndex) -> Option<SlotIndex> {
        self.runs.as_ref()?.before(slot)
    }

    /// Whether no command waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry in this slot, which must hold one.
    #[inline]
    pub fn entry(&self, slot: SlotIndex) -> &Entry {
        &self.places[slot as usize].entry
    }

    /// The first sector of a waiting command.
    #[inline]
    pub fn first(&self, slot: SlotIndex) -> Lba {
        self.filed[slot as usize].first
    }

    /// Services that had begun when it arrived.
    #[inline]
    pub fn arrived_at_service(&self, slot: SlotIndex) -> u64 {
        self.filed[slot as usize].arrived_at_service
    }

    /// Files an arrival of the sectors `first .. end`. The slot must be free; the fields that the table sets are
    /// set here.
    // Inlined, so that the entry is built in place.
    #[inline(always)]
    pub fn insert(&mut self, slot: SlotIndex, entry: Entry, (first, end): (Lba, Lba)) {
        self.places[slot as usize].entry = Entry { sequence: self.sequence, ..entry };
        self.filed[slot as usize].first = first;
        let is_late = entry.arrived < self.latest_arrival;
        self.filed[slot as usize].is_late = is_late;
        self.late += usize::from(is_late);
        self.latest_arrival = self.latest_arrival.max(entry.arrived);
        self.sequence += 1;
        self.len += 1;
        self.file(slot, (first, end), entry.cylinder, entry.write);
    }

    /// Puts an entry into its list, unless it waits behind another one.
    #[inline(never)]
    fn file(&mut self, slot: SlotIndex, sectors: (Lba, Lba), cylinder: u32, write: bool) {
        self.filed[slot as usize].arrived_at_service = self.services;
        if let Some(runs) = &mut self.runs
            && runs.insert(slot, sectors, write)
        {
            return;
        }
        self.candidates += 1;
        let list = match &mut self.writes {
            Some(writes) if write => writes,
            _ => &mut self.main,
        };
        list.insert(&mut self.places, &mut self.filed, slot, cylinder);
    }

    /// Allocates slots up to this one.
    pub fn reach(&mut self, slot: SlotIndex) {
        while self.places.len() <= slot as usize {
            self.places.push(FREE);
            self.filed.push(UNFILED);
        }
        self.runs.iter_mut().for_each(|runs| runs.reach(slot));
        for list in core::iter::once(&mut self.main).chain(&mut self.writes) {
            list.reach(slot);
        }
    }

    /// The entry chosen ahead, if it still waits.
    #[inline]
    pub fn planned(&self) -> Option<SlotIndex> {
        some(self.planned)
    }

    /// Sets the entry chosen ahead; `None` cancels the choice.
    #[inline]
    pub fn plan(&mut self, next: Option<SlotIndex>) {
        self.planned = next.unwrap_or(NONE);
    }

    /// Removes an entry.
    pub fn remove(&mut self, slot: SlotIndex) {
        if self.planned == slot {
            self.planned = NONE;
        }
        self.late -= usize::from(self.filed[slot as usize].is_late);
        self.len -= 1;
        let alone = Departure { was_candidate: true, next: None };
        let Departure { was_candidate, next } = self.runs.as_mut().map_or(alone, |runs| runs.remove(slot));
        let list = match &mut self.writes {
            Some(writes) if self.places[slot as usize].entry.write => writes,
            _ => &mut self.main,
        };
        let mut older = NONE;
        if was_candidate {
            older = self.filed[slot as usize].older;
            list.remove(&mut self.places, &mut self.filed, slot);
            self.candidates -= 1;
        }
        if let Some(next) = next {
            list.insert_by_age(&mut self.places, &mut self.filed, next, older);
            self.candidates += 1;
        }
    }

    /// Whether the entries of each list are in order of arrival, and not only in the order in which they were
    /// filed.
    #[inline]
    pub fn is_by_arrival(&self) -> bool {
        self.late == 0
    }

    /// The mechanism begins a service, whether or not its command waited here.
    pub fn begin_service(&mut self) {
        self.services += 1;
    }

    /// Services begun so far.
    pub fn services(&self) -> u64 {
        self.services
    }

    /// The list of a command of this kind.
    pub fn kind(&self, write: bool) -> Kind {
        if write && self.writes.is_some() { Kind::Writes } else { Kind::Main }
    }

    #[inline]
    fn list(&self, kind: Kind) -> &EntryList {
        match &self.writes {
            Some(writes) if kind == Kind::Writes => writes,
            _ => &self.main,
        }
    }

    /// Whether the queue is so deep that cylinders may be crowded.
    #[inline]
    pub fn is_deep(&self) -> bool {
        self.deep
    }

    /// The entries of this kind by angle and cylinder, in a deep queue whose order counts rotation.
    #[inline]
    pub fn polar(&self, kind: Kind) -> Option<&Polar> {
        self.list(kind).polar()
    }

    /// The oldest entry.
    #[inline]
    pub fn oldest(&self) -> Option<SlotIndex> {
        self.older(self.main.oldest(), self.oldest_write())
    }

    /// The oldest of this kind.
    #[inline]
    pub fn oldest_of(&self, kind: Kind) -> Option<SlotIndex> {
        self.list(kind).oldest()
    }

    fn oldest_write(&self) -> Option<SlotIndex> {
        self.writes.as_ref().and_then(EntryList::oldest)
    }

    /// The older of two entries, or the only one.
    #[inline]
    fn older(&self, a: Option<SlotIndex>, b: Option<SlotIndex>) -> Option<SlotIndex> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if self.entry(a).sequence < self.entry(b).sequence { a } else { b }),
            (a, b) => a.or(b),
        }
    }

    /// The next younger entry of the same list.
    #[inline]
    pub fn younger(&self, slot: SlotIndex) -> Option<SlotIndex> {
        some(self.filed[slot as usize].younger)
    }

    /// All entries, oldest first.
    pub fn by_age(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        let (mut one, mut other) = (self.main.oldest(), self.oldest_write());
        core::iter::from_fn(move || {
            let next = self.older(one, other)?;
            let list = if one == Some(next) { &mut one } else { &mut other };
            *list = self.younger(next);
            Some(next)
        })
    }

    /// The entries of this kind in order of cylinder, in a shallow queue.
    #[inline]
    pub fn row(&self, kind: Kind) -> Option<&Row> {
        self.list(kind).row()
    }

    /// The oldest entry of this kind on the lowest cylinder at or above this one.
    #[inline]
    pub fn at_or_above(&self, kind: Kind, cylinder: u32) -> Option<SlotIndex> {
        self.slot_at(self.row(kind), self.first_from(kind, cylinder))
    }

    /// The position of that entry.
    #[inline]
    pub fn first_from(&self, kind: Kind, cylinder: u32) -> Cursor {
        self.list(kind).at_or_above(cylinder)
    }

    /// The position of the entry of this kind on the highest cylinder below this one, the youngest of
    /// several.
    #[inline]
    pub fn last_below(&self, kind: Kind, cylinder: u32) -> Cursor {
        self.list(kind).below(&self.places, cylinder)
    }

    /// The next position upward or downward, in order of cylinder and then of arrival; in the row, or in the
    /// buckets.
    #[inline]
    pub fn next(&self, row: Option<&Row>, at: Cursor, upward: bool) -> Cursor {
        if row.is_some() {
            at.beside(upward)
        } else {
            self.places[at.slot() as usize].by_cylinder.next(upward)
        }
    }

    /// The entry at a position; none beyond either end.
    #[inline]
    pub fn slot_at(&self, row: Option<&Row>, at: Cursor) -> Option<SlotIndex> {
        some(row.map_or(at.slot(), |row| row.slot(at.item())))
    }

    /// The entry of this kind on the highest cylinder, the youngest of several.
    #[inline]
    pub fn highest(&self, kind: Kind) -> Option<SlotIndex> {
        self.slot_at(self.row(kind), self.list(kind).highest())
    }
}

#[inline]
pub(super) fn some(slot: SlotIndex) -> Option<SlotIndex> {
    (slot != NONE).then_some(slot)
}
