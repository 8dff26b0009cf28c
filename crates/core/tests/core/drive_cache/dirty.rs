//! Written data that wait, held to one entry a sector: who has each block, what a launch takes along, how much room is
//! left, what is volatile and what a FLUSH still waits for.
use drivelab_core::storage::drive::cache::dirty::{Dirty, DirtyPiece};
use drivelab_core::storage::drive::cache::params::WriteBackParams;
use drivelab_core::storage::drive::queue::{Entry, Slots};
use drivelab_units::{Instant, Lba, Sectors};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A sector of a write: which write it is of, when that was accepted, and when its data are there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sector {
    pub write: u64,
    pub sequence: u64,
    pub there: u64,
}

/// One entry a sector, and nothing else.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Model {
    pub waiting: BTreeMap<u64, Sector>,
    pub flying: BTreeMap<u64, Sector>,
    accepted: u64,
}

impl Model {
    /// Takes these blocks out of what waits.
    pub fn take(&mut self, first: u64, end: u64) -> BTreeMap<u64, Sector> {
        let mut taken = self.waiting.split_off(&first);
        self.waiting.append(&mut taken.split_off(&end));
        taken
    }

    /// Stretches of neighbouring blocks that wait.
    fn runs(&self) -> u32 {
        let begins = |at: &&u64| **at == 0 || !self.waiting.contains_key(&(**at - 1));
        self.waiting.keys().filter(begins).count() as u32
    }

    /// Pieces: stretches of one write.
    pub fn pieces(&self) -> Vec<(u64, u64, u64)> {
        let mut pieces: Vec<(u64, u64, u64)> = Vec::new();
        for (&at, sector) in &self.waiting {
            match pieces.last_mut().filter(|piece| piece.1 == at && piece.2 == sector.write) {
                Some(piece) => piece.1 = at + 1,
                None => pieces.push((at, at + 1, sector.write)),
            }
        }
        pieces
    }

    pub fn taken(&self) -> (u32, u64) {
        let flying = u32::from(!self.flying.is_empty());
        (self.runs() + flying, (self.waiting.len() + self.flying.len()) as u64)
    }

    /// Whether a piece that waits, or what is on its way, ends here.
    fn continues(&self, first: u64) -> bool {
        let flies = self.flying.keys().next_back().is_some_and(|last| last + 1 == first);
        flies || self.pieces().iter().any(|piece| piece.1 == first)
    }

    pub fn has_room(&self, params: &WriteBackParams, first: u64, count: u64) -> bool {
        let fits = self.taken().1 + count <= params.limit.get();
        // One write may cut another in two: it takes two new places at most.
        let places = self.pieces().len() as u64 + 2 <= params.limit.get() + 2;
        fits && places && (self.taken().0 < params.segments || self.continues(first))
    }

    /// What a launch that begins with the piece at this block takes: that piece whole, then neighbours that are there, as
    /// long as all of it is no more than a run.
    pub fn launched(&self, first: u64, run: u64, now: u64) -> u64 {
        let pieces = self.pieces();
        let at = pieces.iter().position(|piece| piece.0 == first).expect("a piece begins there");
        let mut end = pieces[at].1;
        for piece in &pieces[at + 1..] {
            let there = self.waiting[&piece.0].there <= now;
            if piece.0 != end || !there || piece.1 - first > run {
                break;
            }
            end = piece.1;
        }
        end
    }

    fn held_from(&self, first: u64, end: u64, now: u64) -> u64 {
        // Data of a newer write hide what flies below them, also while they are still coming.
        let newest = |at: &u64| self.waiting.get(at).or_else(|| self.flying.get(at));
        let holds = |at: &u64| newest(at).is_some_and(|sector| sector.there <= now);
        (first..end).find(|at| !holds(at)).unwrap_or(end)
    }

    fn is_persisted(&self, sequence: u64) -> bool {
        self.waiting.values().chain(self.flying.values()).all(|sector| sector.sequence >= sequence)
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A write: where, how much, and how long its data take.
    Accept(u64, u64, u64),
    /// Newer data went past.
    Carve(u64, u64),
    /// The so many-th piece goes to the media, if nothing is on its way.
    Launch(usize),
    Land,
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (0u64..40, 1u64..8, 0u64..30).prop_map(|(first, count, takes)| Step::Accept(first, count, takes)),
        1 => (0u64..40, 1u64..8).prop_map(|(first, count)| Step::Carve(first, first + count)),
        3 => (0usize..12).prop_map(Step::Launch),
        2 => Just(Step::Land),
        1 => (0u64..20).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..60)
}

fn file(slots: &mut Slots, slot: u32, piece: &DirtyPiece) {
    let entry = Entry { write: true, ..Entry::default() };
    slots.insert(slot, entry, (piece.first, piece.end));
}

struct Both {
    dirty: Dirty,
    model: Model,
    params: WriteBackParams,
    now: u64,
    writes: u64,
}

impl Both {
    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Wait(time) => self.now += time,
            Step::Accept(first, count, takes) => self.accept(first, count, takes)?,
            Step::Carve(first, end) => {
                let mut dropped = Vec::new();
                let drop = |write, first: Lba, count: Sectors| dropped.extend(sectors(write, first, count));
                self.dirty.carve(Lba::new(first), Lba::new(end), drop, &mut file);
                self.check_dropped(dropped, first, end)?;
            }
            Step::Launch(nth) => {
                let pieces = self.model.pieces();
                if !self.dirty.flying.is_empty() || pieces.is_empty() {
                    return Ok(());
                }
                let first = pieces[nth % pieces.len()].0;
                let end = self.model.launched(first, self.params.run.get(), self.now);
                let slot = self.dirty.at(Lba::new(first)).expect("a piece begins there");
                let went = self.dirty.launch(slot, Lba::new(u64::MAX), Instant::from_ns(self.now));
                prop_assert_eq!(went, (Lba::new(first), Lba::new(end)), "run of {:?}", self.params.run);
                self.model.flying = self.model.take(first, end);
            }
            Step::Land => {
                if self.model.flying.is_empty() {
                    return Ok(());
                }
                let mut there = Vec::new();
                let (first, end) =
                    self.dirty.land(|piece| there.extend(sectors(piece.write, piece.first, piece.count())));
                let expected: Vec<_> =
                    self.model.flying.iter().map(|(at, sector)| (sector.write, *at)).collect();
                prop_assert_eq!(&there, &expected);
                prop_assert_eq!(
                    (first.get(), end.get()),
                    (expected[0].1, expected[expected.len() - 1].1 + 1)
                );
                self.model.flying.clear();
            }
        }
        Ok(())
    }

    fn accept(&mut self, first: u64, count: u64, takes: u64) -> Result<(), TestCaseError> {
        let room = self.model.has_room(&self.params, first, count);
        prop_assert_eq!(self.dirty.has_room(Lba::new(first), Sectors::new(count)), room, "room");
        if !room {
            return Ok(());
        }
        let (write, end, there) = (self.writes, first + count, self.now + takes);
        self.writes += 1;
        prop_assert_eq!(self.dirty.accepted(), self.model.accepted);
        let at = Instant::from_ns;
        let (since, from, coming, there_at) = (at(self.now), at(self.now), at(self.now), at(there));
        let (first_block, end_block) = (Lba::new(first), Lba::new(end));
        let piece = DirtyPiece {
            first: first_block,
            end: end_block,
            write,
            sequence: u64::MAX,
            since,
            from,
            coming,
            there: there_at,
        };
        let mut dropped = Vec::new();
        self.dirty.accept(piece, |write, first, count| dropped.extend(sectors(write, first, count)), file);
        self.check_dropped(dropped, first, end)?;
        let sector = Sector { write, sequence: self.model.accepted, there };
        self.model.accepted += 1;
        self.model.waiting.extend((first..end).map(|at| (at, sector)));
        Ok(())
    }

    /// Exactly what waited of these blocks has made room.
    fn check_dropped(
        &mut self,
        mut dropped: Vec<(u64, u64)>,
        first: u64,
        end: u64,
    ) -> Result<(), TestCaseError> {
        let gone = self.model.take(first, end);
        let expected: Vec<_> = gone.iter().map(|(at, sector)| (sector.write, *at)).collect();
        dropped.sort_by_key(|&(_, at)| at);
        prop_assert_eq!(dropped, expected, "dropped");
        Ok(())
    }

    /// Everything that can be asked.
    fn compare(&self) -> Result<(), TestCaseError> {
        let Both { dirty, model, now, .. } = self;
        prop_assert_eq!(dirty.taken(), model.taken(), "segments and sectors taken");
        prop_assert_eq!(dirty.is_still(), model.waiting.is_empty());
        prop_assert_eq!(dirty.is_empty(), model.waiting.is_empty() && model.flying.is_empty());
        for first in 0..50 {
            let lba = Lba::new(first);
            prop_assert_eq!(dirty.continues(lba), model.continues(first), "goes on at {}", first);
            for end in [first + 1, first + 5, 50] {
                let waits = model.waiting.range(first..end).next().is_some();
                let flies = model.flying.range(first..end).next().is_some();
                prop_assert_eq!(dirty.is_dirty(lba, Lba::new(end)), waits, "waits {}..{}", first, end);
                prop_assert_eq!(
                    dirty.touches(lba, Lba::new(end)),
                    waits || flies,
                    "touches {}..{}",
                    first,
                    end
                );
                let held = dirty.held_from(lba, Lba::new(end), Instant::from_ns(*now)).get();
                prop_assert_eq!(held.min(end), model.held_from(first, end, *now), "held {}..{}", first, end);
            }
        }
        for sequence in 0..=model.accepted {
            prop_assert_eq!(dirty.is_persisted(sequence), model.is_persisted(sequence), "until {}", sequence);
        }
        let ages: Vec<_> = dirty.by_age().map(|piece| piece.sequence).collect();
        prop_assert!(ages.is_sorted(), "the oldest first: {:?}", ages);
        let mut pieces: Vec<_> =
            dirty.by_age().map(|piece| (piece.first.get(), piece.end.get(), piece.write)).collect();
        pieces.sort_unstable();
        prop_assert_eq!(pieces, model.pieces());
        Ok(())
    }
}

fn sectors(write: u64, first: Lba, count: Sectors) -> impl Iterator<Item = (u64, u64)> {
    (first.get()..first.get() + count.get()).map(move |at| (write, at))
}

proptest! {
    #[test]
    fn what_waits_is_what_a_table_of_sectors_says(
        steps in steps(), limit in 8u64..40, segments in 1u32..6, run in 1u64..20,
    ) {
        let params = WriteBackParams { run: Sectors::new(run), ..super::rig::keeping(limit, segments) };
        let mut both = Both { dirty: Dirty::new(&params, 100, 6_000_000), model: Model::default(), params, now: 0, writes: 0 };
        for step in steps {
            both.step(step)?;
            both.compare()?;
        }
    }
}
