//! The target after a power cut: a new one, with what the drives have retained.
use crate::engine::{Engine, Model};
use crate::store::Store;
use drivelab_core::Machine;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::members::MemberState;
use drivelab_core::storage::array::params::ArrayParams;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_data::PolicyRecovery;
use drivelab_units::{Instant, Share};

impl Engine {
    /// Starts a new target at an instant with the data that the drives have retained.
    pub(crate) fn restart(&mut self, began: Instant) {
        let mut device = self.model.device.clone();
        if let Store::Modelled(modelled) = &mut self.store {
            let array = self.model.target.array();
            match (array, &mut device.target) {
                (Some(array), TargetParams::System(system)) => {
                    if let Some(of_array) = &mut system.array {
                        let policy = of_array.consistency_policy;
                        let mut recovery = PolicyRecovery::default();
                        let missing = modelled.data.cut_power_of_array(array, policy, &[], &mut recovery);
                        comes_up(of_array, array, missing);
                    }
                }
                _ => _ = modelled.data.cut_power(),
            }
        }
        let mut model = Model::new(device, began);
        model.target.restore_after(&self.model.target);
        model.has_failed = self.model.has_failed;
        if model.has_failed {
            let _ = model.target.handle(Instant::ZERO, TargetInput::Fail { drive: 0 });
        }
        self.model = model;
        self.have_members_changed = true;
        self.process_outputs(Instant::ZERO);
    }
}

/// What an array finds as it comes up after a power cut. How far a rebuild had come is not on the media: the drives of
/// missing members are empty, and are rebuilt from the start where the scenario has new drives in their places.
fn comes_up(params: &mut ArrayParams, before: &Array, missing: Vec<u16>) {
    let is_new = |&slot: &u16| {
        matches!(before.members().get(slot).state, MemberState::Rebuilding { .. } | MemberState::Aside)
    };
    params.rebuilding &= missing.iter().all(is_new);
    params.rebuilt = Share::NONE;
    params.missing = missing;
    params.failures.clear();
}
