//! After the window: outstanding commands are waited for, so that they do not disturb the next run, and those
//! that are never answered are reported.
use crate::engine::Engine;
use crate::port::Port;
use drivelab_ring::Done;
use drivelab_units::{Instant, Span};
use rustix::io::Errno;
use serde::Serialize;
use std::time::{Duration, Instant as Moment};

/// Maximum time to wait for outstanding commands.
pub const DRAIN: Duration = Duration::from_secs(5);
const DRAIN_STEP: Duration = Duration::from_millis(100);

/// Commands that the device had not answered when the window closed. They are not in any latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct UnderWay {
    pub commands: u32,
    /// How long the oldest of them had been outstanding by then.
    pub oldest_ns: u64,
    /// Those that ended with an error.
    pub failed: u32,
    /// Those still unanswered after another `waited_ns`.
    pub unanswered: u32,
    /// How long they were waited for.
    pub waited_ns: u64,
}

impl<P: Port> Engine<'_, P> {
    /// Waits for the commands that are outstanding since the window closed at `ended`; none of them counts as
    /// an I/O of the run.
    pub fn drain(&mut self, ended: Instant, most: Duration) -> UnderWay {
        // Pushed requests are submitted: half a request on the wire can only be completed.
        if self.port.lost().is_some() || self.submit().is_err() {
            return UnderWay::default();
        }
        let flying = self.slots.flying.iter().flatten();
        let oldest = flying.clone().map(|one| ended.max(one.submitted).since(one.submitted)).max();
        let commands = flying.count() as u32;
        let (mut left, mut failed) = (commands, 0);
        let began = Moment::now();
        let mut done = std::mem::take(&mut self.done);
        loop {
            for one in done.drain(..).filter(|one| self.ends_late(*one)) {
                left -= 1;
                failed += u32::from(one.result < 0);
            }
            let time_left = most.saturating_sub(began.elapsed());
            let is_lost = self.port.lost().is_some();
            if left == 0
                || is_lost
                || time_left.is_zero()
                || self.port.wait(time_left.min(DRAIN_STEP)).is_err()
            {
                break;
            }
            self.port.reap(&mut done);
        }
        let waited_ns = began.elapsed().as_nanos() as u64;
        let oldest_ns = oldest.map_or(0, Span::as_ns);
        UnderWay { commands, oldest_ns, failed, unanswered: left, waited_ns }
    }

    /// Whether this is the answer to an outstanding command, and not the loss of its connection.
    fn ends_late(&mut self, Done { slot, result }: Done) -> bool {
        if result == -Errno::SHUTDOWN.raw_os_error() && self.port.lost().is_some() {
            return false;
        }
        self.slots.flying.get_mut(slot as usize).and_then(Option::take).is_some()
    }
}
