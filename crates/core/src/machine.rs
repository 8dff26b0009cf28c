//! The contract of both machines: time is an argument, and every answer carries the instant at which it was due.
#![deny(missing_docs)]
use drivelab_units::Instant;

/// A state machine in the style that both modes, virtual and real time, can drive.
///
/// Call `handle`, then drain `poll_output` until `None`, then ask `poll_timeout` when to call again. `now` never goes
/// back. Internal events run at their own due instant, not at the wake-up, so a late or superfluous call changes
/// nothing but the moment at which an answer is handed out.
pub trait Machine {
    /// What it can be told.
    type Input;
    /// What it says.
    type Output;
    /// How an input is acknowledged.
    type Accepted;
    /// What the machine cannot be told.
    type Error;

    /// The only way state changes: run every internal event due at or before `now`, then take `input`.
    ///
    /// # Errors
    /// When the call is wrong: the machine is then as it was, but for the time. It never panics on a wrong call.
    fn handle(&mut self, now: Instant, input: Self::Input) -> Result<Self::Accepted, Self::Error>;

    /// The next output, in the order in which things happened; `None` when there is none left.
    fn poll_output(&mut self) -> Option<Self::Output>;

    /// When to call `handle` next at the latest; `None` while nothing is due. Reading it changes nothing.
    fn poll_timeout(&self) -> Option<Instant>;
}
