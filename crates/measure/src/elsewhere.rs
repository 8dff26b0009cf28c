//! `local.rs` on other systems than Linux: refuses a file or a block device of this machine.
use crate::error::MeasureError;
use crate::report::MeasuredPoint;
use crate::run::{Control, MeasureOptions};
use drivelab_core::Setup;
use drivelab_core::host::Host;
use std::path::Path;

/// Refuses with the reason and the remedy.
#[expect(clippy::needless_pass_by_value, reason = "the signature of local.rs")]
pub fn measure_local(
    path: &Path,
    _host: Host,
    _setup: &Setup,
    _options: &MeasureOptions,
    _control: &Control<'_>,
    _slots: (u32, u32),
) -> Result<MeasuredPoint, MeasureError> {
    let why = "a file or a block device is measured on Linux only, which has io_uring and O_DIRECT; measure it there, or \
               name the address of a network block device, as nbd://HOST"
        .into();
    Err(MeasureError::Target { path: path.into(), why })
}
