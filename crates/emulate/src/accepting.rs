//! When connections are accepted at a listening socket.
//!
//! A connection that cannot be accepted, as where the process has no descriptor left, stays in the queue of the socket,
//! which is reported as readable at once again: who tries again without a pause does nothing else.
use rustix::event::PollFlags;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant as Moment};

/// How long no connection is accepted after one could not be.
const PAUSE: Duration = Duration::from_millis(100);

/// See the module.
#[derive(Default)]
pub(crate) struct Accepting {
    paused_until: Option<Moment>,
}

impl Accepting {
    /// What to wait for at the listening socket, if there is room for a connection.
    pub fn flags(&self, has_room: bool) -> PollFlags {
        let is_paused = self.paused_until.is_some_and(|until| Moment::now() < until);
        if has_room && !is_paused { PollFlags::IN } else { PollFlags::empty() }
    }

    /// A connection could not be accepted: pauses, unless there is none any more.
    pub fn failed(&mut self, error: &io::Error) {
        let is_none = matches!(
            error.kind(),
            ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted
        );
        self.paused_until = (!is_none).then(|| Moment::now() + PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_accepted_is_tried_again_after_a_while() {
        let mut accepting = Accepting::default();
        assert_eq!((accepting.flags(true), accepting.flags(false)), (PollFlags::IN, PollFlags::empty()));
        for kind in [ErrorKind::WouldBlock, ErrorKind::ConnectionAborted] {
            accepting.failed(&kind.into());
            assert_eq!(accepting.flags(true), PollFlags::IN);
        }
        accepting.failed(&rustix::io::Errno::MFILE.into());
        assert_eq!(accepting.flags(true), PollFlags::empty());
        std::thread::sleep(PAUSE);
        assert_eq!(accepting.flags(true), PollFlags::IN);
    }
}
