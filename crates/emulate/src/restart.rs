//! The target after a power cut: a new one, with what the drives have retained, and without those that had failed.
use crate::engine::Engine;
use crate::model::Model;
use crate::store::Store;
use drivelab_core::Machine;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::members::{Member, MemberState};
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, Failure, When};
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_data::{PolicyRecovery, consistent};
use drivelab_units::{Instant, Share};
use std::collections::BTreeSet;

impl Engine {
    /// Starts a new target at an instant with the data that the drives have retained.
    pub(crate) fn restart(&mut self, began: Instant) {
        let mut device = self.model.device.clone();
        let mut failed = self.model.failed.clone();
        if let Store::Modelled(modelled) = &mut self.store {
            let array = self.model.target.array();
            match (array, &mut device.target) {
                (Some(array), TargetParams::System(system)) => {
                    if let Some(of_array) = &mut system.array {
                        let policy = of_array.consistency_policy;
                        let mut recovery = PolicyRecovery::default();
                        let missing = modelled.data.cut_power_of_array(array, policy, &[], &mut recovery);
                        failed = comes_up(of_array, array, &failed, missing);
                    }
                }
                _ => _ = modelled.data.cut_power(),
            }
        }
        let mut model = Model::new(device, began);
        model.target.restore_after(&self.model.target);
        if model.target.array().is_none() && failed.contains(&0) {
            let _ = model.target.handle(Instant::ZERO, TargetInput::Fail { drive: 0 });
        }
        model.failed = failed;
        self.model = model;
        self.have_members_changed = true;
        self.process_outputs(Instant::ZERO);
    }
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
