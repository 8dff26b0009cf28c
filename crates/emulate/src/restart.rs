//! The target after a power cut: a new one, with what the drives have retained, and without those that had failed.
use crate::engine::Engine;
use crate::held::Held;
use crate::ledger::Ledger;
use crate::model::Model;
use crate::store::{Modelled, Store};
use drivelab_core::Machine;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::levels::Layout;
use drivelab_core::storage::array::members::{Member, MemberState};
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, Failure, When};
use drivelab_core::storage::{Fault, TargetInput, TargetParams};
use drivelab_data::{Bytes, Cut, Media, PolicyRecovery, Recovery, consistent, recovery};
use drivelab_units::{Instant, Share};
use std::collections::BTreeSet;

/// Why an array that is dirty and degraded does not answer.
pub(crate) const NOT_STARTED: &str = "the array was not started: it was being written to when the power went, and a \
                                      member with data is missing";

impl Engine {
    /// Whether the array counts as dirty: a write is under way or waits in a cache, or has just ended.
    pub(crate) fn is_dirty(&self, now: Instant) -> bool {
        let has_written = |at: Instant| now < at + recovery::CLEAN_AFTER;
        self.model.is_stopped
            || self.is_writing()
            || self.last_write.is_some_and(has_written)
            || self.has_waiting_member()
            || !self.in_memory().is_empty()
    }

    /// Whether a complete member has data only in its cache: those of a rebuild do not count.
    fn has_waiting_member(&self) -> bool {
        let Store::Modelled(modelled) = &self.store else { return false };
        let media = modelled.data.media();
        let drives = crate::store::drives(self.model.target.array());
        let is_waiting = |drive| media.waiting(drive).is_some_and(|waiting| !waiting.is_empty());
        drives.into_iter().flatten().any(is_waiting)
    }

    /// Starts a new target at an instant with the data that the drives have retained.
    /// `is_dirty` tells whether it was being written to.
    pub(crate) fn restart(&mut self, is_dirty: bool, began: Instant) {
        let mut device = self.model.device.clone();
        let mut failed = self.model.failed.clone();
        if let Store::Modelled(modelled) = &mut self.store {
            let array = self.model.target.array();
            match (array, &mut device.target) {
                (Some(array), TargetParams::System(system)) => {
                    if let Some(of_array) = &mut system.array {
                        let policy = of_array.consistency_policy;
                        let Modelled { data, ledger, .. } = &mut **modelled;
                        let mut recovery = Guarded { policy: PolicyRecovery::default(), ledger };
                        let missing = data.cut_power_of_array(array, policy, &[], &mut recovery);
                        failed = comes_up(of_array, array, &failed, missing);
                    }
                }
                _ => _ = modelled.data.cut_power(),
            }
        }
        let is_stopped = is_dirty && !may_start_dirty(&device.target, self.model.target.array(), true);
        let mut model = Model::new(device, began);
        model.is_stopped = is_stopped;
        model.target.restore_after(&self.model.target);
        if model.target.array().is_none() && failed.contains(&0) {
            let _ = model.target.handle(Instant::ZERO, TargetInput::Inject(Fault::Fail { drive: 0 }));
        }
        model.failed = failed;
        self.model = model;
        self.losses.runs.clear();
        self.have_members_changed = true;
        // What a cut has destroyed is judged as a whole, once it is over.
        self.model.off_until = Some(began);
        self.process_outputs(Instant::ZERO);
    }
}

/// The recovery of the array's policy. What it writes over may be at rest: an old record of a log counts again where the
/// newest one was corrupted.
struct Guarded<'a> {
    policy: PolicyRecovery<Bytes>,
    ledger: &'a mut Ledger,
}

impl Recovery<Bytes> for Guarded<'_> {
    fn collect(&mut self, cut: &Cut<'_, Bytes>) {
        self.policy.collect(cut);
        let held = Held::new(Some(cut.array), cut.media);
        for (spot, count) in self.policy.places() {
            let drive = cut.array.members().get(spot.slot).drive;
            let guard =
                |first, count, data: &dyn Fn() -> Vec<Option<Bytes>>| self.ledger.guard(first, count, data);
            held.stripes_of(drive, (spot.at, count), true, guard);
        }
    }

    fn recover(&mut self, layout: &Layout, drives: &[Option<u16>], media: &mut Media<Bytes>) {
        self.policy.recover(layout, drives, media);
    }
}

/// Whether an array that was being written to is started with these parameters: see
/// [`recovery::may_start_dirty`]. `has_logs` tells whether what logs hold is recovered.
pub(crate) fn may_start_dirty(target: &TargetParams, array: Option<&Array>, has_logs: bool) -> bool {
    let (TargetParams::System(system), Some(array)) = (target, array) else { return true };
    let may_start =
        |params: &ArrayParams| recovery::may_start_dirty(params, array.layout(), &params.missing, has_logs);
    system.array.as_ref().is_none_or(may_start)
}

/// What an array finds as it comes up after a power cut. How far a rebuild had come is not on the media: the drives of
/// missing members are empty, and are rebuilt from the start where the scenario has new drives in their places.
/// Returns the drives that have failed, by the numbers that they have from now on.
fn comes_up(
    params: &mut ArrayParams,
    before: &Array,
    failed: &BTreeSet<u16>,
    missing: Vec<u16>,
) -> BTreeSet<u16> {
    let is_new = |&slot: &u16| {
        matches!(before.members().get(slot).state, MemberState::Rebuilding { .. } | MemberState::Aside)
    };
    params.rebuilding &= missing.iter().all(is_new);
    params.rebuilt = Share::NONE;
    params.missing = missing;
    let others = failed_others(params, before, failed);
    // They fail before any spare takes the place of a missing member.
    let fails = |&drive: &u16| Failure { drive, when: When::At(Instant::ZERO) };
    params.failures = others.iter().map(fails).collect();
    params.missing.iter().copied().filter(|slot| !is_new(slot)).chain(others).collect()
}

/// The spares and the journal that have failed, by their numbers from now on. Each member has the number of its slot, so
/// a spare that has taken a slot leaves its number to the drive that was in it.
fn failed_others(params: &ArrayParams, before: &Array, failed: &BTreeSet<u16>) -> Vec<u16> {
    let ArrayParams { members, spares, .. } = *params;
    let end = members + spares;
    let valid = consistent::valid_members(before);
    let mut left: Vec<u16> = (0..end).filter(|drive| !valid.contains(&Some(*drive))).collect();
    for &slot in &params.missing {
        let Member { drive, .. } = *before.members().get(slot);
        let is_it = |own: u16| left.iter().position(|&left| left == own);
        let place = is_it(slot).or_else(|| is_it(drive));
        left.remove(place.unwrap_or(0));
    }
    let mut others = Vec::new();
    for spare in members..end {
        let place = left.iter().position(|&left| left == spare).unwrap_or(0);
        if left.get(place).is_some() && failed.contains(&left.remove(place)) {
            others.push(spare);
        }
    }
    let has_journal = params.consistency_policy == ConsistencyPolicy::Journal;
    others.extend((has_journal && failed.contains(&end)).then_some(end));
    others
}
