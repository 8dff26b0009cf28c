//! Feeding a host: from a list, then from a recording, as it has room; and the results of the recorded I/Os.
use crate::run::RunError;
use drivelab_core::host::feed::FedIo;
use drivelab_core::host::recording::{Recorded, Recorder};
use drivelab_core::host::{Host, Io};
use drivelab_core::setup::Fed;
use drivelab_core::{Access, Command};
use drivelab_record::{ReplayCollector, ReplayRecord};
use drivelab_units::{Instant, Span};
use std::collections::VecDeque;
use std::sync::Arc;

/// What a fed host has yet to get.
pub(crate) struct Feeding {
    list: Arc<[FedIo]>,
    /// I/Os that the host was fed so far.
    fed: usize,
    replay: Option<Replay>,
}

/// A recording under replay.
struct Replay {
    recorder: Box<dyn Recorder>,
    is_over: bool,
    /// Recorded response times of the I/Os that the host has not begun, in order.
    ahead: VecDeque<Option<Span>>,
    /// The same for outstanding I/Os, by index.
    by_place: Vec<Option<Span>>,
    /// The same for the I/O whose command was answered last.
    answered: Option<Span>,
    collector: ReplayCollector,
}

impl Feeding {
    pub(crate) fn new(fed: &Fed) -> Result<Self, RunError> {
        let recorder = fed.recording.as_ref().map(|recording| recording.open().map_err(RunError::Trace));
        let replay = recorder.transpose()?.map(|recorder| Replay {
            recorder,
            is_over: false,
            ahead: VecDeque::new(),
            by_place: Vec::new(),
            answered: None,
            collector: ReplayCollector::new(fed.params.pace),
        });
        Ok(Feeding { list: Arc::clone(&fed.ios), fed: 0, replay })
    }

    /// Feeds the host as long as it has room.
    pub(crate) fn feed(&mut self, host: &mut Host) -> Result<(), RunError> {
        let next = &self.list[self.fed.min(self.list.len())..];
        for io in &next[..next.len().min(host.room())] {
            host.feed(io).map_err(|error| RunError::Feed { number: self.fed + 1, error })?;
            self.fed += 1;
        }
        let Some(replay) = self.replay.as_mut().filter(|replay| !replay.is_over) else { return Ok(()) };
        for _ in 0..host.room() {
            let Some(Recorded { io, response }) = replay.recorder.next().map_err(RunError::Trace)? else {
                replay.is_over = true;
                break;
            };
            self.fed += 1;
            host.feed(&io).map_err(|error| RunError::Feed { number: self.fed, error })?;
            replay.ahead.push_back(response);
        }
        Ok(())
    }

    /// Whether a recording was replayed to its end.
    pub(crate) fn is_done(&self, host: &Host) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.is_over && host.has_served_all())
    }

    /// The host has sent a command.
    pub(crate) fn sent(&mut self, host: &Host, at: Instant, command: &Command) {
        let Some(replay) = &mut self.replay else { return };
        let Some((place, intended)) = host.begun_io(command.tag) else { return };
        if replay.by_place.len() <= place {
            replay.by_place.resize(place + 1, None);
        }
        replay.by_place[place] = replay.ahead.pop_front().flatten();
        replay.collector.began(at, intended);
    }

    /// The completion of the command with this tag is about to be reported to the host.
    pub(crate) fn answered(&mut self, host: &Host, tag: u32) {
        let Some(replay) = &mut self.replay else { return };
        replay.answered = replay.by_place.get(host.place_of(tag)).copied().flatten();
    }

    /// An I/O is finished, in the window or not.
    pub(crate) fn finished(&mut self, io: &Io, is_in_window: bool) {
        if let Some(replay) = &mut self.replay {
            let recorded = replay.answered.filter(|_| io.access != Access::Flush);
            replay.collector.finished(io, recorded, is_in_window);
        }
    }

    /// The results of a recording; `None` where the host was fed a list.
    pub(crate) fn close(&mut self, host: &Host, ended: Instant) -> Option<ReplayRecord> {
        let is_done = self.is_done(host);
        let replay = self.replay.as_mut()?;
        Some(replay.collector.close(ended, is_done, replay.recorder.left_out()))
    }
}
