//! The contract of both machines: time is an argument, and every answer carries the instant at which it was
//! due.
#![deny(missing_docs)]
use drivelab_units::Instant;

/// A state machine in the style that both modes, virtual and real time, can drive.
///
/// Call `handle`, then drain `poll_output` until `None`, then ask `poll_timeout` when to call again. `now`
/// never goes back. Internal events run at their own due instant, not at the wake-up, so a late or
/// superfluous call only changes the moment at which an answer is delivered.
pub trait Machine {
    /// Its inputs.
    type Input;
    /// Its outputs.
    type Output;
    /// How an input is acknowledged.
    type Accepted;
    /// Why a call is wrong.
    type Error;

    /// The only way to change the state: runs every internal event due at or before `now`, then processes
    /// `input`.
    ///
    /// # Errors
    /// When the call is wrong: apart from the time, the machine is then unchanged. It never panics on a wrong
    /// call.
    fn handle(&mut self, now: Instant, input: Self::Input) -> Result<Self::Accepted, Self::Error>;

    /// The next output, in the order in which things happened; `None` when there is none left.
    fn poll_output(&mut self) -> Option<Self::Output>;

    /// When to call `handle` next at the latest; `None` while nothing is due. Reading it changes nothing.
    fn poll_timeout(&self) -> Option<Instant>;
}
