//! The parameters of a controller, as far as one drive behind it is concerned.
use crate::storage::link::params::BusParams;
use crate::storage::write_behind::params::WriteBehindParams;
use drivelab_units::Span;

/// The host's end of the queueing protocol: how many commands it sends, and what it does about errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControllerParams {
    /// Commands of one initiator that it keeps with the drive at once; as many as the drive holds when `None`.
    pub depth: Option<u32>,
    /// Host time to send a command, one after the other.
    pub issue: Span,
    /// Host time to take a completion.
    pub completion: Span,
    /// How often a command that failed is sent again before its host hears of the error.
    pub retries: u8,
    /// How long the host's error handler works after an error before anything is sent again, where it works at all: see
    /// the head of [`super`].
    pub recovery: Span,
    /// A command that the drive has held for so long is aborted.
    pub timeout: Option<Span>,
    /// The bus of the host that it sits on, behind the drive's own link; never in the way when `None`.
    pub bus: Option<BusParams>,
    /// Its cache, before what it keeps with the drive.
    pub cache: Option<WriteBehindParams>,
}

impl ControllerParams {
    /// No time, no limit of its own, no second attempt.
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
