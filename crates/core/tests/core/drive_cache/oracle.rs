//! Random histories with pauses: each read is a hit exactly when the model of the cache says so, and as much is kept.
//!
//! Where several segments have all blocks of a read, which of them answers is left open: all caches that fit what was seen
//! so far are followed.
use super::model::Model;
use super::rig::{Rig, cached, keeping};
use crate::common::TRACK;
use drivelab_core::Access;
use drivelab_core::storage::drive::cache::params::{
    CacheParams, Destage, Reach, ReadAheadParams, WriteBackParams,
};
use drivelab_core::trace::Served;
use drivelab_units::Sectors;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum What {
    Read,
    Write,
    ReadForced,
    WriteForced,
    Flush,
}

type Draft = (What, u64, u64);

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let what = prop_oneof![
        12 => Just(What::Read),
        8 => Just(What::Write),
        1 => Just(What::ReadForced),
        1 => Just(What::WriteForced),
        1 => Just(What::Flush),
    ];
    // Few places, so that commands meet each other; some across a border of tracks.
    let place = prop_oneof![4 => 0u64..50, 2 => 580u64..620, 2 => (0u64..9).prop_map(|place| 250 * place)];
    prop::collection::vec((what, place, 1u64..20), 1..60)
}

fn read_aheads() -> impl Strategy<Value = ReadAheadParams> {
    let reach = prop::sample::select(vec![
        Reach::Nothing,
        Reach::Limit,
        Reach::Limit,
        Reach::Track,
        Reach::Cylinder,
        Reach::NextTrack,
    ]);
    (reach, 0u64..60, any::<[bool; 3]>()).prop_map(|(reach, limit, [on_hit, covers_front, ends_sector])| {
        let plain = CacheParams::reading_on(Sectors::ZERO).read_ahead;
        ReadAheadParams { reach, limit: Sectors::new(limit), on_hit, covers_front, ends_sector, ..plain }
    })
}

fn caches() -> impl Strategy<Value = CacheParams> {
    let size = (1u32..7).prop_flat_map(|segments| (Just(segments), u64::from(segments) * 3..160));
    (size, read_aheads(), any::<[bool; 3]>(), 0u8..4, 1u64..30).prop_flat_map(
        |((segments, size), read_ahead, [fixed, separate_writes, keeps_written], kind, run)| {
            (1..=size, 1..=segments).prop_map(move |(limit, of_writes)| {
                let kept = WriteBackParams { run: Sectors::new(run), ..keeping(limit, of_writes) };
                let write_back = match kind {
                    0 => None,
                    1 => Some(WriteBackParams { destage: Destage::AtOnce, ..kept }),
                    _ => Some(kept),
                };
                let plain = CacheParams::reading_on(Sectors::ZERO);
                CacheParams {
                    size: Sectors::new(size),
                    segments,
                    fixed,
                    separate_writes,
                    keeps_written,
                    read_ahead,
                    write_back,
                    ..plain
                }
            })
        },
    )
}

struct History {
    rig: Rig,
    cache: CacheParams,
    /// All that the cache may be.
    models: Vec<Model>,
    writes: u64,
}

impl History {
    fn new(cache: CacheParams) -> Self {
        let models = vec![Model::new(&cache, TRACK)];
        History { rig: Rig::new(&cached(cache)), cache, models, writes: 0 }
    }

    fn step(&mut self, (what, first, count): Draft) -> Result<(), TestCaseError> {
        let end = first + count;
        match what {
            What::Read => {
                let served = self.rig.read(first, count);
                let mut after = Vec::new();
                for model in &self.models {
                    let fits = model.read(first, end).into_iter().filter(|(expected, _)| *expected == served);
                    after.extend(fits.map(|(_, model)| model));
                }
                prop_assert!(!after.is_empty(), "{served:?}: {:#?}", self.models[0]);
                self.models = after;
                self.destaged()?;
            }
            What::ReadForced => {
                let ended = self.rig.go(Access::Flush, 0, 0);
                prop_assert_eq!(ended.trace.served, Served::Buffered);
                self.destaged()?;
                let id = self.rig.send_forced(Access::Read, first, count);
                prop_assert_eq!(self.rig.finish(id).trace.served, Served::Chosen);
                self.rig.wait(crate::common::ms(50));
                self.models.iter_mut().for_each(|model| *model = model.read_forced(first, end));
            }
            What::Write => self.write(first, end)?,
            What::WriteForced => {
                let id = self.rig.send_forced(Access::Write, first, count);
                prop_assert_eq!(self.rig.finish(id).trace.served, Served::Chosen);
                self.passed(first, end)?;
            }
            What::Flush => {
                self.rig.flush();
                self.destaged()?;
                prop_assert!(self.rig.volatile().is_empty(), "flushed");
            }
        }
        self.compare()
    }

    fn write(&mut self, first: u64, end: u64) -> Result<(), TestCaseError> {
        let count = end - first;
        let taken = self.models[0].for_writes().filter(|params| count <= params.limit.get());
        if taken.is_some_and(|params| !self.models[0].written.has_room(&params, first, count)) {
            self.step((What::Flush, 0, 1))?;
        }
        let ended = self.rig.go(Access::Write, first, count);
        if taken.is_none() {
            prop_assert_eq!(ended.trace.served, Served::Chosen, "past the cache");
            return self.passed(first, end);
        }
        prop_assert_eq!(ended.trace.served, Served::Buffered, "into the cache");
        self.writes += 1;
        let write = self.writes;
        self.models.iter_mut().for_each(|model| model.take(write, first, end));
        self.rig.wait(crate::common::ms(50));
        let at_once = taken.is_some_and(|params| params.destage == Destage::AtOnce);
        prop_assert_eq!(self.rig.landed.is_empty(), !at_once, "when it goes to the media");
        self.destaged()
    }

    /// A write has gone past the cache.
    fn passed(&mut self, first: u64, end: u64) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.rig.take_landed(), [(first, end)]);
        self.models.iter_mut().for_each(|model| model.pass(first, end));
        self.rig.wait(crate::common::ms(50));
        Ok(())
    }

    /// What has gone from the cache to the media since the last look.
    fn destaged(&mut self) -> Result<(), TestCaseError> {
        for (first, end) in self.rig.take_landed() {
            for model in &mut self.models {
                prop_assert_eq!(model.destage(first), end, "what one run takes from {}", first);
            }
        }
        Ok(())
    }

    fn compare(&mut self) -> Result<(), TestCaseError> {
        let held = self.rig.held();
        let expected = self.models[0].held();
        self.models.retain(|model| model.held() == held);
        prop_assert!(!self.models.is_empty(), "{held:?} instead of {expected:?}, of {:?}", self.cache);
        self.models.dedup();
        let waiting: Vec<_> =
            self.models[0].written.pieces().iter().map(|&(first, end, _)| (first, end)).collect();
        prop_assert_eq!(self.rig.volatile(), waiting, "written and not on the media");
        Ok(())
    }
}

proptest! {
    #[test]
    fn a_read_is_a_hit_exactly_when_the_cache_in_plain_words_has_it(cache in caches(), drafts in drafts()) {
        let mut history = History::new(cache);
        for draft in drafts {
            history.step(draft)?;
            if history.models.len() > 100 {
                break;
            }
        }
    }
}
