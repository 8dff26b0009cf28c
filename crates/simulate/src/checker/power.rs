//! What a power cut has lost, and left: the power is cut and comes back, and every sector that was ever
//! written is examined in place.
//!
//! A sector is *lost* when it holds older data than the last write that was answered. Its data were only in
//! one place when the power was cut: a host's memory, a controller's without a battery, the cache of a drive.
//! Unanswered writes lose nothing: nothing was promised for them. The rows of an array are compared before
//! and after the recovery of its consistency policy; and for each member in turn its sectors are computed
//! from the others', as a read would with that member missing: the result must be something that the sector
//! may hold after a cut.
use super::checked_target::CheckedTarget;
use super::error::Violation;
use super::map::Map;
use super::oracle::Oracle;
use super::run_checker::redundancy;
use super::verdict::Verdict;
use super::{Cut, Nothing, PolicyRecovery, Recovery};
use drivelab_core::Command;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::levels::Layout;
use drivelab_core::storage::array::params::ConsistencyPolicy;
use drivelab_core::storage::write_behind::{Piece, WriteBehind};
use drivelab_data::consistent::{self, Comparison};
use drivelab_data::stamp::stamp;
use drivelab_data::{Contents, Media, recovery};
use drivelab_record::data::{CutArray, CutRecord, Dirty, InFlight, Lost, LostFrom, SectorRange};
use drivelab_units::Instant;
use std::collections::BTreeMap;

/// Maximum number of ranges in the record.
const RANGES_MAX: usize = 64;
const SECTOR_BYTES: u64 = 512;

/// The only memory that had the data of a sector.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Host,
    Controller,
}

/// Cuts the power of a target now. `answered` has every answered write, and when it was answered.
pub fn cut(mut checked: CheckedTarget, answered: &[(u64, Instant)]) -> Result<CutRecord, Violation> {
    let now = checked.now();
    // Nothing after the cut needs these.
    let mut before = checked.take_oracle();
    before.expect_torn();
    before.index_durable();
    let in_flight: Vec<Command> = before.writes_under_way().copied().collect();
    let (in_memories, dirty) = (volatile(&checked), dirty(&checked));
    let kept = kept_by_battery(&checked);
    let what = checked.target().array().and_then(redundancy);
    let is_dirty = !in_flight.is_empty()
        || dirty.drive_cache_bytes + dirty.controller_memory_bytes > 0
        || answered.iter().any(|&(_, at)| now < at + recovery::CLEAN_AFTER);
    let params = checked.array_params().cloned();
    let mut study = RecoveryCheck::new(&before, &kept);
    let after = checked.cut_power(&[], &mut study)?;
    let array = after.target().array();
    let drives = array.map_or_else(|| vec![Some(0)], consistent::valid_members);
    let contents = Contents::new(array.map(Array::layout), &drives, after.witness().data.media());
    let is_bad = |sector| array.is_some_and(|array| array.bad_blocks().touch(sector, sector + 1));
    let mut taken = LossCollector::default();
    // Data that were unavailable before are not counted as lost by the cut.
    before.judge_all(
        |sector| kept.get(&sector).copied().or_else(|| contents.get(sector).filter(|_| !is_bad(sector))),
        |sector, _, verdict| {
            taken.classify(sector, verdict, &in_memories);
            Ok::<(), Violation>(())
        },
    )?;
    let LossCollector { lost, ranges, newer, .. } = &taken;
    let since = oldest(lost, answered);
    Ok(CutRecord {
        at_ns: now.as_ns(),
        lost: taken.lost(),
        lost_since_ns: since.map(|answered| (now - answered).as_ns()),
        lost_although_flushed_sectors: taken.although_flushed,
        lost_from: taken.from,
        dirty,
        kept_by_battery_sectors: kept.len() as u64,
        ranges: ranges.iter().take(RANGES_MAX).copied().collect(),
        ranges_in_all: ranges.len() as u64,
        in_flight: fate(&in_flight, newer),
        array: what.zip(array).map(|(what, array)| {
            let missing: Vec<u16> =
                (0..).zip(&drives).filter(|(_, drive)| drive.is_none()).map(|(slot, _)| slot).collect();
            let may_start = |params| recovery::may_start_dirty(params, array.layout(), &missing, true);
            let is_started = !is_dirty || params.as_ref().is_none_or(may_start);
            CutArray { is_started, ..study.record(what, array, &contents) }
        }),
    })
}

/// When the first of these writes was answered.
fn oldest(lost: &BTreeMap<u64, u64>, answered: &[(u64, Instant)]) -> Option<Instant> {
    answered.iter().find(|(write, _)| lost.contains_key(write)).map(|&(_, at)| at)
}

/// What memories would lose: the place, and the write.
fn volatile(checked: &CheckedTarget) -> Map<(Place, u64)> {
    let mut all = Map::default();
    let mut add = |memory: &WriteBehind, place| {
        // Newer data come first, and are kept.
        for Piece { write, first, count } in memory.volatile() {
            let stamps = checked.witness().data.peek(write, first.get(), count.get()).unwrap_or_default();
            for (sector, stamp) in (first.get()..).zip(stamps) {
                all.entry(sector).or_insert((place, stamp));
            }
        }
    };
    let hosts = (0..).map_while(|initiator| checked.target().host_cache(initiator));
    hosts.for_each(|memory| add(memory, Place::Host));
    checked.target().controller_cache().into_iter().for_each(|memory| add(memory, Place::Controller));
    all
}

fn dirty(checked: &CheckedTarget) -> Dirty {
    let bytes = |memory: &WriteBehind| -> u64 {
        memory.volatile().map(|piece| piece.count.get() * SECTOR_BYTES).sum()
    };
    let target = checked.target();
    let by_drive: Vec<u64> =
        checked.witness().data.media().dirty().into_iter().map(|sectors| sectors * SECTOR_BYTES).collect();
    Dirty {
        host_memory_bytes: (0..).map_while(|initiator| target.host_cache(initiator)).map(bytes).sum(),
        controller_memory_bytes: target.controller_cache().map_or(0, bytes),
        drive_cache_bytes: by_drive.iter().sum(),
        by_drive_bytes: by_drive,
    }
}

/// What a battery keeps, by sector.
fn kept_by_battery(checked: &CheckedTarget) -> Map<u64> {
    let mut kept = Map::default();
    let Some(memory) = checked.target().controller_cache() else { return kept };
    if memory.volatile().next().is_some() {
        return kept;
    }
    // Newer data come later.
    for Piece { write, first, count } in memory.unwritten() {
        let stamps = checked.witness().data.peek(write, first.get(), count.get()).unwrap_or_default();
        kept.extend((first.get()..).zip(stamps));
    }
    kept
}

/// The losses, collected sector by sector, upward.
#[derive(Default)]
struct LossCollector {
    /// The answered writes with lost sectors, and their number.
    lost: BTreeMap<u64, u64>,
    sectors: u64,
    although_flushed: u64,
    from: LostFrom,
    ranges: Vec<SectorRange>,
    /// Answered writes with sectors that are present.
    kept: Map<()>,
    /// The writes under way with sectors that are present, and their number.
    newer: BTreeMap<u64, u64>,
}

impl LossCollector {
    fn classify(&mut self, sector: u64, verdict: Verdict, memories: &Map<(Place, u64)>) {
        let (write, was_durable, is_foreign) = match verdict {
            Verdict::Last(None) => return,
            Verdict::Last(Some(write)) => {
                self.kept.insert(write, ());
                return;
            }
            Verdict::New(write) => return *self.newer.entry(write).or_default() += 1,
            Verdict::Older { lost, was_durable } => (lost, was_durable, false),
            Verdict::Foreign { lost } => (lost, false, true),
        };
        *self.lost.entry(write).or_default() += 1;
        self.sectors += 1;
        self.although_flushed += u64::from(was_durable);
        let is_its = |(_, found): &&(Place, u64)| *found == stamp(write, sector);
        match memories.get(&sector).filter(is_its).map(|(place, _)| *place) {
            Some(Place::Host) => self.from.host_memory_sectors += 1,
            Some(Place::Controller) => self.from.controller_memory_sectors += 1,
            _ if is_foreign => self.from.write_hole_sectors += 1,
            _ => self.from.drive_cache_sectors += 1,
        }
        match self.ranges.last_mut() {
            Some(range) if range.first_sector + range.sectors == sector => range.sectors += 1,
            _ => self.ranges.push(SectorRange { first_sector: sector, sectors: 1 }),
        }
    }
}

impl LossCollector {
    fn lost(&self) -> Lost {
        let in_part = self.lost.keys().filter(|write| self.kept.contains_key(write));
        Lost {
            commands: self.lost.len() as u64,
            commands_in_part: in_part.count() as u64,
            sectors: self.sectors,
            bytes: self.sectors * SECTOR_BYTES,
        }
    }
}

/// What has become of unanswered writes, given how many sectors of each are present.
fn fate(in_flight: &[Command], newer: &BTreeMap<u64, u64>) -> InFlight {
    let mut fate = InFlight { commands: in_flight.len() as u64, ..InFlight::default() };
    for command in in_flight {
        let (there, of) = (newer.get(&command.id).copied().unwrap_or(0), command.count.get());
        fate.sectors += of;
        let kind = match there {
            0 => &mut fate.commands_undone,
            all if all == of => &mut fate.commands_done,
            _ => &mut fate.commands_torn,
        };
        *kind += 1;
    }
    fate.bytes = fate.sectors * SECTOR_BYTES;
    fate
}

/// Examines an array before and after the recovery of its consistency policy.
struct RecoveryCheck<'a> {
    /// What each sector held before the cut, and may hold after it.
    before_cut: &'a Oracle,
    /// What a battery has kept of them.
    kept: &'a Map<u64>,
    consistency_policy: ConsistencyPolicy,
    policy_recovery: PolicyRecovery,
    /// With logs on the members themselves: the recovery without the log of each slot in turn.
    recovered_without: Vec<PolicyRecovery>,
    before: Comparison,
    unfit_after: u64,
    members: u16,
    lost_in_cut: u64,
    lost_later: u64,
}

impl<'a> RecoveryCheck<'a> {
    fn new(before_cut: &'a Oracle, kept: &'a Map<u64>) -> Self {
        let (policy_recovery, before) = (PolicyRecovery::default(), Comparison::default());
        let recovered_without = Vec::new();
        let (consistency_policy, unfit_after, members, lost_in_cut, lost_later) =
            (ConsistencyPolicy::None, 0, 0, 0, 0);
        RecoveryCheck {
            before_cut,
            kept,
            consistency_policy,
            policy_recovery,
            recovered_without,
            before,
            unfit_after,
            members,
            lost_in_cut,
            lost_later,
        }
    }

    /// The recovery of the array itself, with all members or without this one: none where nothing closes the
    /// write hole.
    fn recover(
        &mut self,
        layout: &Layout,
        drives: &[Option<u16>],
        media: &mut Media,
        without: Option<usize>,
    ) {
        let own = without.and_then(|slot| self.recovered_without.get_mut(slot));
        match self.consistency_policy {
            ConsistencyPolicy::None => Nothing.recover(layout, drives, media),
            _ => own.unwrap_or(&mut self.policy_recovery).recover(layout, drives, media),
        }
    }

    /// The number of sectors of these rows that are computed wrongly from the others with a member missing,
    /// summed over all members in turn; the flag tells whether it fails before the recovery of the
    /// consistency policy.
    fn wrong_without_one(
        &mut self,
        layout: &Layout,
        media: &Media,
        drives: &[Option<u16>],
        rows: &[u64],
        in_cut: bool,
    ) -> u64 {
        let mut count = 0;
        for slot in (0..drives.len()).filter(|&slot| drives[slot].is_some()) {
            let mut rest = drives.to_vec();
            rest[slot] = None;
            if rows.is_empty() || !consistent::can_reconstruct(layout, &rest) {
                continue;
            }
            let mut own = in_cut.then(|| media.clone());
            own.iter_mut().for_each(|media| self.recover(layout, &rest, media, Some(slot)));
            let media = own.as_ref().unwrap_or(media);
            let contents = Contents::new(Some(layout), &rest, media);
            count += self.wrong(&contents, rows, |home| home == slot);
        }
        count
    }

    /// The number of sectors of these rows, among those whose home slot `is_meant`, where a read finds
    /// invalid contents.
    fn wrong(&self, contents: &Contents<'_>, rows: &[u64], is_meant: impl Fn(usize) -> bool) -> u64 {
        let Some(layout) = contents.layout() else { return 0 };
        let size = layout.compared_as_one();
        let addresses = rows.iter().flat_map(|row| row * size..(row + 1) * size);
        let is_wrong = |&address: &u64| {
            is_meant(contents.home(address).slot.into())
                && !self.kept.contains_key(&address)
                && contents
                    .get(address)
                    .is_some_and(|found| self.before_cut.is_wrong_after_cut(address, found))
        };
        addresses.filter(is_wrong).count() as u64
    }

    fn record(self, what: &'static str, array: &Array, contents: &Contents<'_>) -> CutArray {
        let layout = array.layout();
        let is_missing = |slot: usize| contents.drives[slot].is_none();
        let mut rows: Vec<u64> = Vec::new();
        if contents.drives.iter().any(Option::is_none) {
            rows.extend(contents.addresses().into_iter().map(|address| address / layout.compared_as_one()));
            rows.dedup();
        }
        CutArray {
            what,
            write_hole: match self.consistency_policy {
                ConsistencyPolicy::None => "open",
                ConsistencyPolicy::Bitmap { .. } => "bitmap",
                ConsistencyPolicy::Journal => "journal",
                ConsistencyPolicy::PartialParityLog => "ppl",
            },
            members: self.members,
            is_started: true,
            rows: self.before.rows,
            rows_unfit: self.before.mismatched.len() as u64,
            rows_unfit_after_recovery: self.unfit_after,
            wrong_with_member_lost_in_cut_sectors: self.lost_in_cut,
            wrong_with_member_lost_later_sectors: self.lost_later,
            wrong_now_sectors: self.wrong(contents, &rows, is_missing),
        }
    }
}

impl Recovery for RecoveryCheck<'_> {
    fn collect(&mut self, cut: &Cut<'_>) {
        self.consistency_policy = cut.consistency_policy;
        self.policy_recovery.collect(cut);
        if cut.consistency_policy == ConsistencyPolicy::PartialParityLog {
            let without = |slot| {
                let mut policy_recovery = PolicyRecovery::default();
                policy_recovery.collect(&Cut { missing: &[slot], ..*cut });
                policy_recovery
            };
            self.recovered_without = (0..cut.array.members().count()).map(without).collect();
        }
    }

    fn recover(&mut self, layout: &Layout, drives: &[Option<u16>], media: &mut Media) {
        self.members = drives.iter().flatten().count() as u16;
        self.before = consistent::compare(layout, drives, media);
        let rows = self.before.mismatched.clone();
        self.lost_in_cut = self.wrong_without_one(layout, media, drives, &rows, true);
        self.recover(layout, drives, media, None);
        // Before anything is written again, as a memory with a battery would.
        self.unfit_after = consistent::compare(layout, drives, media).mismatched.len() as u64;
        self.lost_later = self.wrong_without_one(layout, media, drives, &rows, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::checked_target::own;
    use drivelab_core::Access;

    #[test]
    fn what_is_there_of_a_write_under_way_is_nothing_a_part_or_all() {
        let in_flight = [1, 2, 3, 4].map(|id| own(id, Access::Write, 8 * id, 8));
        let there = BTreeMap::from([(2, 1), (3, 7), (4, 8)]);
        let found = fate(&in_flight, &there);
        assert_eq!((found.commands, found.sectors, found.bytes), (4, 32, 16_384));
        assert_eq!((found.commands_undone, found.commands_torn, found.commands_done), (1, 2, 1));
    }
}
