//! The protocol in force: what the drive speaks, with its options.
use crate::keys::At;
use crate::raw::queue::{Protocol as Named, QueueRaw};
use drivelab_core::target::drive::protocol::{NcqParams, Protocol, ScsiParams};

/// The protocol that a queue names, the scenario's own over the drive's.
pub fn protocol(above: Option<&At<QueueRaw>>, below: Option<&At<QueueRaw>>) -> Protocol {
    let named = |at: Option<&At<QueueRaw>>| at.and_then(|at| at.value.protocol.as_ref()).map(|at| at.value);
    match named(above).or_else(|| named(below)).unwrap_or(Named::None) {
        Named::None => Protocol::None,
        Named::ScsiTcq => Protocol::ScsiTcq(ScsiParams::USUAL),
        Named::AtaTcq => Protocol::AtaTcq,
        Named::Ncq => Protocol::Ncq(NcqParams::USUAL),
    }
}
