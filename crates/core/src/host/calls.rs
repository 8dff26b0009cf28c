//! How a clock calls a host: as a machine, or by reference, which avoids copying inputs and outputs.
use super::output::{HostInput, HostOutput};
use super::{Host, HostError};
use crate::command::Completion;
use crate::machine::Machine;
use drivelab_units::Instant;

/// The fast path for a driver: inputs and outputs by reference.
impl Host {
    /// Accepts a completion, at the instant at which it was done.
    ///
    /// # Errors
    /// When it answers nothing that this host has requested. Apart from the time, the host is then unchanged.
    #[inline]
    pub fn take(&mut self, completion: &Completion) -> Result<(), HostError> {
        self.pass_to(completion.completed)?;
        self.complete(completion)
    }

    /// The next output; it stays the next one until [`Self::drop_output`].
    #[inline]
    pub fn output(&self) -> Option<&HostOutput> {
        self.out.front()
    }

    /// Drops the next output, after it was read in place.
    ///
    /// # Panics
    /// When there is no output.
    #[inline]
    pub fn drop_output(&mut self) {
        self.out.drop_front();
    }

    #[inline]
    fn pass_to(&mut self, now: Instant) -> Result<(), HostError> {
        if now < self.now {
            return Err(HostError::TimeWentBack { now, was: self.now });
        }
        if self.agenda.next_due().is_some_and(|due| due <= now) {
            self.run_until(now);
        }
        self.now = now;
        Ok(())
    }
}

impl Machine for Host {
    type Input = HostInput;
    type Output = HostOutput;
    type Accepted = ();
    type Error = HostError;

    fn handle(&mut self, now: Instant, input: HostInput) -> Result<(), HostError> {
        self.pass_to(now)?;
        match input {
            HostInput::Tick => Ok(()),
            HostInput::Completed(completion) => self.complete(&completion),
        }
    }

    fn poll_output(&mut self) -> Option<HostOutput> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.agenda.next_due()
    }
}
