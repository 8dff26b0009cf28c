//! I/Os from outside, one by one: from a list, a recorded trace, a client. Whoever drives the host feeds it.
//!
//! The host accepts an I/O while it has room for one ([`Host::room`]), so a trace of any length runs in
//! constant memory: feed until there is no room, let time pass, feed again. The pace determines when an I/O
//! begins. When the target cannot keep up with [`Pace::ByTime`], I/Os begin late; `Io::intended` remains the
//! requested instant.
use super::params::{OUTSTANDING_MAX, PARTS_MAX};
use super::{Host, HostEvent, HostOutput};
use crate::command::{Access, Command};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// Maximum number of I/Os that wait in the host for their turn.
pub const ROOM: usize = 1_024;

/// The job number of an I/O that was fed.
pub const FED: u32 = u32::MAX;

/// When an I/O that was fed begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// At its time since the start of the run, whatever has completed (open loop). An I/O whose time is in
    /// the past begins at once.
    ByTime,
    /// As soon as fewer than this many are outstanding (closed loop); its time is ignored.
    Depth(u32),
    /// One at a time; its time is relative to the completion of the one before, or to the start (recorded
    /// think times).
    AfterPrevious,
}

/// How a host is fed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeedParams {
    /// When each I/O that is fed begins.
    pub pace: Pace,
    /// The largest single command: a larger I/O goes out as several at once and completes with the last.
    pub command_limit: Option<Sectors>,
}

/// An I/O that is fed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FedIo {
    /// When it begins, according to [`Pace`].
    pub time: Span,
    /// Its command. Id and tag are assigned by the host.
    pub command: Command,
}

/// Why an I/O was refused. The host is then unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FeedError {
    /// The host was not created for feeding.
    NotFed,
    /// There is no room: let time pass first.
    Full,
    /// The host was stopped.
    Stopped,
    /// A read or write of no sectors, or a FLUSH of some.
    Length,
    /// It would become more than [`PARTS_MAX`] commands.
    TooManyParts,
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFed => write!(f, "this host has jobs of its own and is not fed"),
            Self::Full => write!(f, "{ROOM} I/Os wait already; let time pass before the next one is fed"),
            Self::Stopped => write!(f, "the host was told to stop"),
            Self::Length => write!(f, "a read or write needs at least one sector, and a flush has none"),
            Self::TooManyParts => write!(f, "one I/O may become at most {PARTS_MAX} commands"),
        }
    }
}

impl core::error::Error for FeedError {}

/// The state of a host's feeding.
pub(super) struct Feed {
    params: FeedParams,
    waiting: VecDeque<FedIo>,
    /// By index of the I/O among the outstanding ones: the template of its commands.
    templates: Vec<Command>,
    /// I/Os that were fed and are not finished.
    outstanding: u32,
    /// When the last one finished, or the start of the run.
    since: Instant,
    /// Whether the beginning of the first waiting I/O is on the agenda, or known to wait for a completion.
    is_due: bool,
}

impl Feed {
    pub(super) fn new(params: FeedParams) -> Self {
        let (waiting, templates) = (VecDeque::with_capacity(ROOM), Vec::new());
        Feed { params, waiting, templates, outstanding: 0, since: Instant::ZERO, is_due: false }
    }

    pub(super) fn command_limit(&self) -> Option<Sectors> {
        self.params.command_limit
    }

    /// Commands that the pace keeps outstanding, if it does.
    pub(super) fn depth(&self) -> Option<u64> {
        match self.params.pace {
            Pace::ByTime => None,
            Pace::Depth(depth) => Some(u64::from(depth)),
            Pace::AfterPrevious => Some(1),
        }
    }

    /// Whether one more may be outstanding.
    fn has_turn(&self) -> bool {
        self.depth().is_none_or(|depth| u64::from(self.outstanding) < depth)
    }

    fn parts(&self, count: Sectors) -> u64 {
        self.params.command_limit.map_or(1, |limit| count.get().div_ceil(limit.get()).max(1))
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Whether no I/O waits for its turn.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When the oldest overdue I/O was meant to begin.
    pub(super) fn oldest_late(&self, now: Instant) -> Option<Instant> {
        let first = self.waiting.front()?;
        let at = Instant::ZERO + first.time;
        (self.params.pace == Pace::ByTime && at <= now).then_some(at)
    }
}

impl Host {
    /// How many more I/Os may be fed now; zero where the host has jobs.
    pub fn room(&self) -> usize {
        match &self.feed {
            Some(feed) if !self.is_stopped => ROOM - feed.waiting.len(),
            _ => 0,
        }
    }

    /// Accepts one I/O. It begins according to the pace; with [`Pace::ByTime`] feed in the order of the
    /// times.
    /// # Errors
    /// When this host has jobs or was stopped, when there is no room, and when no command can be made of
    /// the I/O. The host is then unchanged.
    ///
    /// A host and a target with one clock: two reads, one after the other, each 2 ms after the end of the one
    /// before.
    ///
    /// ```
    /// use drivelab_core::host::feed::{FedIo, FeedParams, Pace};
    /// use drivelab_core::host::{Host, HostInput, HostOutput};
    /// use drivelab_core::storage::server::{ServerParams, Service};
    /// use drivelab_core::storage::{Target, TargetInput, TargetOutput, TargetParams};
    /// use drivelab_core::{Access, Command, Machine};
    /// use drivelab_units::{Instant, Lba, Sectors, Span};
    ///
    /// let service = Some(Service::Fixed(Span::from_ms(3)));
    /// let station = ServerParams { capacity: Sectors::new(1_000), service, stations: 1 };
    /// let mut target = Target::new(&TargetParams::Server(station), 1);
    /// let mut host = Host::fed(FeedParams { pace: Pace::AfterPrevious, command_limit: None }).unwrap();
    /// for first in [0, 500] {
    ///     let command = Command::new(0, Access::Read, Lba::new(first), Sectors::new(8));
    ///     host.feed(&FedIo { time: Span::from_ms(2), command }).unwrap();
    /// }
    /// let mut finished = Vec::new();
    /// while let Some(now) = [host.poll_timeout(), target.poll_timeout()].into_iter().flatten().min() {
    ///     target.handle(now, TargetInput::Tick).unwrap();
    ///     while let Some(TargetOutput::Completed(answer)) = target.poll_output() {
    ///         host.handle(now, HostInput::Completed(answer)).unwrap();
    ///     }
    ///     host.handle(now, HostInput::Tick).unwrap();
    ///     while let Some(output) = host.poll_output() {
    ///         match output {
    ///             HostOutput::Submit { at, command, .. } => {
    ///                 target.handle(at, TargetInput::Submit(command)).unwrap();
    ///             }
    ///             HostOutput::Finished(io) => finished.push(io.finished),
    ///             HostOutput::Began(_) => {}
    ///         }
    ///     }
    /// }
    /// assert!(host.has_served_all());
    /// assert_eq!(finished, [5, 10].map(|ms| Instant::ZERO + Span::from_ms(ms)));
    /// ```
    pub fn feed(&mut self, io: &FedIo) -> Result<(), FeedError> {
        let Some(feed) = &mut self.feed else { return Err(FeedError::NotFed) };
        if self.is_stopped {
            return Err(FeedError::Stopped);
        }
        if feed.waiting.len() >= ROOM {
            return Err(FeedError::Full);
        }
        if (io.command.access == Access::Flush) != (io.command.count == Sectors::ZERO) {
            return Err(FeedError::Length);
        }
        if feed.parts(io.command.count) > PARTS_MAX {
            return Err(FeedError::TooManyParts);
        }
        feed.waiting.push_back(*io);
        self.schedule_fed(self.now);
        Ok(())
    }

    /// Puts the beginning of the first waiting I/O on the agenda, unless it is there already or must wait for
    /// a completion.
    fn schedule_fed(&mut self, now: Instant) {
        let Some(feed) = &mut self.feed else { return };
        let Some(first) = feed.waiting.front() else { return };
        if feed.is_due
            || !feed.has_turn()
            || self.under_way + feed.parts(first.command.count) > OUTSTANDING_MAX
        {
            return;
        }
        let due = match feed.params.pace {
            Pace::ByTime => Instant::ZERO + first.time,
            Pace::Depth(_) => now,
            Pace::AfterPrevious => feed.since + first.time,
        };
        feed.is_due = true;
        self.agenda.schedule(due.max(now), 0, HostEvent::Fed);
    }

    /// The first waiting I/O begins.
    pub(super) fn begin_fed(&mut self, due: Instant) {
        let Some(feed) = &mut self.feed else { return };
        feed.is_due = false;
        let Some(FedIo { time, command }) = feed.waiting.pop_front() else { return };
        let intended = match feed.params.pace {
            Pace::ByTime => Instant::ZERO + time,
            Pace::Depth(_) | Pace::AfterPrevious => due,
        };
        let (count, parts) = (command.count, feed.parts(command.count));
        feed.outstanding += 1;
        let slot = self.store(
            FED,
            (command.access, 0, command.first, count),
            parts as u32,
            (intended.min(due), due),
        );
        let Some(feed) = &mut self.feed else { return };
        if feed.templates.len() <= slot as usize {
            feed.templates.resize(slot as usize + 1, command);
        }
        feed.templates[slot as usize] = command;
        let mut begins = command.access != Access::Flush;
        if begins && intended < due {
            // It has been waiting in the system since then.
            self.out.push_back(HostOutput::Began(intended));
            begins = false;
        }
        let io = self.outstanding[slot as usize];
        self.send(slot, &io, 0, due, begins);
        if parts > 1 {
            self.send_others(slot, parts as u32, due);
        }
        self.schedule_fed(due);
    }

    /// A command of an I/O that was fed.
    #[cold]
    pub(super) fn fed_command(
        &self,
        slot: u32,
        id: u64,
        tag: u32,
        (first, count): (Lba, Sectors),
    ) -> Command {
        let template = self.feed.as_ref().map(|feed| feed.templates[slot as usize]);
        let like = template.unwrap_or(Command::new(id, Access::Read, first, count));
        Command { id, tag, first, count, attempt: 0, ..like }
    }

    /// An I/O that was fed is finished.
    #[cold]
    pub(super) fn end_feed(&mut self, finished: Instant) {
        let Some(feed) = &mut self.feed else { return };
        feed.outstanding -= 1;
        feed.since = finished;
        self.schedule_fed(finished);
    }

    /// The index, among the outstanding ones, of the I/O to which a command with this tag belongs; later I/Os
    /// may reuse it.
    pub fn place_of(&self, tag: u32) -> usize {
        (tag / self.parts) as usize
    }

    /// The index of the I/O whose first command has this tag, and when it was meant to begin; `None` for its
    /// other commands.
    pub fn begun_io(&self, tag: u32) -> Option<(usize, Instant)> {
        let place = self.place_of(tag);
        let io = self.outstanding.get(place).filter(|_| tag.is_multiple_of(self.parts))?;
        Some((place, io.intended))
    }

    /// Begins nothing further: jobs issue no more I/Os, and fed I/Os that have not begun are dropped.
    /// Outstanding ones run to completion.
    pub fn stop(&mut self) {
        self.is_stopped = true;
        self.backlog.clear();
        if let Some(feed) = &mut self.feed {
            feed.clear();
        }
    }

    /// Whether all fed I/Os have begun and are finished.
    pub fn has_served_all(&self) -> bool {
        self.is_idle() && self.feed.as_ref().is_none_or(Feed::is_empty)
    }

    /// Whether everything that has begun is finished.
    pub fn is_idle(&self) -> bool {
        self.under_way == 0 && self.out.is_empty()
    }
}
