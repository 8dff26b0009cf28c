//! The fast path for a driver: inputs and outputs by reference, and time that runs on to the next output.
use super::outputs::OutputRef;
use super::{CallError, Target};
use crate::command::Command;
use drivelab_units::Instant;

/// Maximum number of instants without an output in one call, so that the driver can check for an interruption.
const INSTANTS_AT_ONCE: u32 = 64;

/// Later than any run should last; sums with it still fit.
pub(super) const LAST: Instant = Instant::from_ns(1 << 62);

impl Target {
    /// As [`Machine::handle`](crate::Machine::handle) with this command. Returns its number: see
    /// [`Accepted::Submitted`](super::Accepted::Submitted).
    ///
    /// # Errors
    /// When one with its id is under way, when time goes back, and when the power is off.
    #[inline]
    pub fn take(&mut self, now: Instant, command: &Command) -> Result<u64, CallError> {
        self.pass_to(now)?;
        let Some(number) = self.submit(now, command) else { return Err(self.not_taken(command)) };
        // Events that the input made due at once run now, so that `poll_timeout` is always in the future.
        self.run_until(now);
        Ok(number)
    }

    /// As [`Machine::handle`](crate::Machine::handle) with only the time.
    ///
    /// # Errors
    /// When time goes back, or so far that nothing can be added to it.
    #[inline]
    pub fn pass_to(&mut self, now: Instant) -> Result<(), CallError> {
        if now < self.now || now > LAST {
            return Err(self.no_such_time(now));
        }
        self.run_until(now);
        self.now = now;
        Ok(())
    }

    /// As [`Self::pass_to`] with `now`; then, while there is no output, the same with the instants at which events
    /// are due, up to `until`, itself included. Returns the instant reached: `now`, the first one with an output, the
    /// last one before `until`, or after many instants without an output an earlier one. For a driver to whom
    /// nothing but outputs matters in between.
    ///
    /// # Errors
    /// As [`Self::pass_to`].
    #[inline]
    pub fn run_to_output(&mut self, now: Instant, until: Instant) -> Result<Instant, CallError> {
        self.pass_to(now)?;
        let until = until.min(LAST);
        for _ in 0..INSTANTS_AT_ONCE {
            match self.context.agenda.next_due() {
                Some(due) if due <= until && self.context.outputs.front().is_none() => {
                    self.run_events(due);
                    self.now = due;
                }
                _ => break,
            }
        }
        Ok(self.now)
    }

    #[cold]
    fn no_such_time(&self, now: Instant) -> CallError {
        let was = self.now;
        if now < was { CallError::TimeWentBack { now, was } } else { CallError::TimeTooFar { now } }
    }

    /// The next output; it stays the next one until [`Self::drop_output`].
    #[inline]
    pub fn output(&self) -> Option<OutputRef<'_>> {
        self.context.outputs.front()
    }

    /// All outputs that have not been taken, in order.
    pub fn outputs(&self) -> impl Iterator<Item = OutputRef<'_>> {
        self.context.outputs.iter()
    }

    /// Removes the next output.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn drop_output(&mut self) {
        self.context.outputs.drop_front();
    }
}

// A target may be handed to another thread, and looked at from several.
const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Target>();
};
