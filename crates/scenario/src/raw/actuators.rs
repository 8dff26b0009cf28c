//! How the two actuators of a drive are addressed, as typed in a drive file.
use crate::keys::choices;

/// A second actuator, which moves half of the heads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DualActuator {
    LogicalUnits,
    AddressRanges,
    No,
}

choices!(DualActuator {
    "logical-units" => DualActuator::LogicalUnits, "each actuator is a logical unit of its own, with its own queue (SAS)";
    "address-ranges" => DualActuator::AddressRanges, "one address range, of which each actuator has one half (SATA)";
    "no" => DualActuator::No, "one actuator moves all heads";
});
