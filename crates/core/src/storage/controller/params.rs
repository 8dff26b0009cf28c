//! The parameters of a controller, for one drive behind it.
use crate::storage::link::params::BusParams;
use crate::storage::write_behind::params::WriteBehindParams;
use drivelab_units::Span;

/// The host's end of the queueing protocol: how many commands it sends, and how it handles errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControllerParams {
    /// Commands of one initiator that it keeps at the drive at once; as many as the drive holds when `None`.
    pub depth: Option<u32>,
    /// Host time to send a command, one command at a time.
    pub issue: Span,
    /// Host time to process a completion.
    pub completion: Span,
    /// How often a failed command is resent before the error is reported to its host.
    pub retries: u8,
    /// How long the host's error handler runs after an error before anything is resent, where there is one:
    /// see the head of [`super`].
    pub recovery: Span,
    /// A command that has been at the drive this long is aborted.
    pub timeout: Option<Span>,
    /// The bus of the host that it is attached to, behind the drive's own link; no limitation when `None`.
    pub bus: Option<BusParams>,
    /// Its cache, above the commands at the drive.
    pub cache: Option<WriteBehindParams>,
}

impl ControllerParams {
    /// No time, no limit of its own, no retries.
    pub const PLAIN: ControllerParams = ControllerParams {
        depth: None,
        issue: Span::ZERO,
        completion: Span::ZERO,
        retries: 0,
        recovery: Span::ZERO,
        timeout: None,
        bus: None,
        cache: None,
    };
}
