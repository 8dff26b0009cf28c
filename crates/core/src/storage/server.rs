//! Stations of queueing theory in place of a disk: with them host, agenda and statistics can be tested
//! without a disk model. A null target answers at once; a server takes a drawn time for each command, first
//! come first served.
use super::context::Context;
use super::events::{Event, ServerEvent};
use crate::command::{Breakdown, Command, Completion, Outcome};
use crate::rng::Stream;
use alloc::collections::VecDeque;
use drivelab_units::{Instant, Sectors, Span};

/// The service time of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// Always this long.
    Fixed(Span),
    /// Exponentially distributed.
    Exponential {
        /// Mean service time.
        mean: Span,
    },
    /// Uniform from `least` up to `most`.
    Uniform {
        /// The shortest.
        least: Span,
        /// The longest.
        most: Span,
    },
    /// The sum of `phases` exponentials of this total mean (Erlang).
    Erlang {
        /// Mean of the sum.
        mean: Span,
        /// Number of phases, at least 1.
        phases: u32,
    },
}

impl Service {
    fn draw(self, stream: &mut Stream) -> Span {
        let ns = match self {
            Service::Fixed(span) => span.as_ns(),
            Service::Exponential { mean } => stream.exponential(mean.as_ns()),
            Service::Uniform { least, most } => {
                least.as_ns() + stream.below(most.as_ns() - least.as_ns() + 1)
            }
            Service::Erlang { mean, phases } => {
                (0..phases).map(|_| stream.exponential(mean.as_ns() / u64::from(phases))).sum()
            }
        };
        Span::from_ns(ns)
    }
}

/// A station of queueing theory in place of a drive.
#[derive(Clone, Debug)]
pub struct ServerParams {
    /// Its capacity in sectors.
    pub capacity: Sectors,
    /// Infinitely many servers with no service time when `None`: the null target.
    pub service: Option<Service>,
    /// Number of stations that a command visits one after the other, each with its own queue and one server.
    pub stations: u16,
}

struct Station {
    waiting: VecDeque<Waiting>,
    stream: Stream,
}

#[derive(Clone, Copy)]
struct Waiting {
    command: Command,
    submitted: Instant,
    /// Service so far; the rest of the time since submission was queueing.
    served: Span,
}

/// A running station.
pub struct Server {
    params: ServerParams,
    stations: alloc::vec::Vec<Station>,
}

impl Server {
    /// Stations with service times drawn from streams of this seed.
    pub fn new(params: ServerParams, seed: u64) -> Self {
        let station = |i| Station {
            waiting: VecDeque::with_capacity(64),
            stream: Stream::named(seed, &alloc::format!("server/{i}/service")),
        };
        Server { stations: (0..params.stations).map(station).collect(), params }
    }

    /// Its capacity in sectors.
    pub fn capacity(&self) -> Sectors {
        self.params.capacity
    }

    /// Accepts a command, which waits until a server is free.
    pub fn submit(&mut self, context: &mut Context, command: Command) {
        let now = context.now;
        let waiting = Waiting { command, submitted: now, served: Span::ZERO };
        if self.params.service.is_none() || self.stations.is_empty() {
            return leave(context, &waiting);
        }
        self.join(context, 0, waiting);
    }

    pub(crate) fn on_event(&mut self, context: &mut Context, event: ServerEvent) {
        let station = usize::from(event.station);
        let Some(served) = self.stations[station].waiting.pop_front() else { return };
        if !self.stations[station].waiting.is_empty() {
            self.begin(context, event.station);
        }
        if station + 1 < self.stations.len() {
            self.join(context, event.station + 1, served);
        } else {
            leave(context, &served);
        }
    }

    fn join(&mut self, context: &mut Context, station: u16, waiting: Waiting) {
        let queue = &mut self.stations[usize::from(station)].waiting;
        queue.push_back(waiting);
        if queue.len() == 1 {
            self.begin(context, station);
        }
    }

    /// Starts the service of the command at the head of a station.
    fn begin(&mut self, context: &mut Context, station: u16) {
        let Some(service) = self.params.service else { return };
        let at = &mut self.stations[usize::from(station)];
        let span = service.draw(&mut at.stream);
        if let Some(first) = at.waiting.front_mut() {
            first.served += span;
        }
        context.agenda.schedule(context.now + span, 0, Event::Server(ServerEvent { station }));
    }
}

/// A server's service counts as transfer.
fn leave(context: &mut Context, done: &Waiting) {
    let Command { id, initiator, tag, .. } = done.command;
    let (submitted, completed, outcome) = (done.submitted, context.now, Outcome::Done);
    let queue = (completed - submitted) - done.served;
    let breakdown = Breakdown { queue, transfer: done.served, ..Breakdown::default() };
    context.complete(Completion { id, initiator, tag, outcome, submitted, completed, breakdown });
}
