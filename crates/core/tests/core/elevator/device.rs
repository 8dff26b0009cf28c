//! A device behind the elevator that does what it is given side by side, each request in a time of its own, and writes
//! down what it saw.
use drivelab_core::rng::Stream;
use drivelab_core::storage::elevator::{Elevator, ElevatorParams};
use drivelab_core::{Breakdown, Command, Completion, Outcome};
use drivelab_units::{Instant, Span};
use std::collections::BTreeMap;

/// A request that the device was given.
#[derive(Clone, PartialEq, Debug)]
pub struct Handed {
    pub at: Instant,
    pub done: Option<Instant>,
    pub request: Command,
    /// The numbers of its commands, oldest first; known when it is done.
    pub members: Vec<u64>,
}

pub struct Device {
    pub elevator: Elevator,
    pub now: Instant,
    /// What is still to come, by instant and number.
    arrivals: BTreeMap<(Instant, u64), Command>,
    /// By the instant at which it is done, and tag: which of `handed`.
    busy: BTreeMap<(Instant, u32), usize>,
    pub handed: Vec<Handed>,
    pub given: Vec<Completion>,
    /// Where the instants of superfluous questions come from.
    pub curious: Option<Stream>,
}

impl Device {
    pub fn new(params: &ElevatorParams) -> Self {
        Device {
            elevator: Elevator::new(params),
            now: Instant::ZERO,
            arrivals: BTreeMap::new(),
            busy: BTreeMap::new(),
            handed: Vec::new(),
            given: Vec::new(),
            curious: None,
        }
    }

    pub fn arrive(&mut self, at: Instant, command: Command) {
        assert!(self.arrivals.insert((at, command.id), command).is_none());
    }

    /// Runs until nothing is left to do, or to the end. A request takes as long as `service` says; `answer` sees every
    /// completion and may let more arrive.
    pub fn run(
        &mut self,
        end: Instant,
        service: impl Fn(&Command) -> Span,
        mut answer: impl FnMut(&Completion) -> Option<(Instant, Command)>,
    ) {
        while let Some(due) = self.due().filter(|&due| due <= end) {
            self.ask_in_between(due);
            self.now = due;
            while let Some((&(at, tag), &which)) =
                self.busy.first_key_value().filter(|((at, _), _)| *at <= due)
            {
                self.busy.pop_first();
                self.complete(at, tag, which);
                let news: Vec<_> = self.given[self.given.len() - self.handed[which].members.len()..]
                    .iter()
                    .filter_map(&mut answer)
                    .collect();
                for (at, command) in news {
                    self.arrive(at, command);
                }
            }
            while let Some(entry) = self.arrivals.first_entry().filter(|entry| entry.key().0 <= due) {
                self.elevator.submit(due, entry.remove());
            }
            while let Some(request) = self.elevator.next(due) {
                self.busy.insert((due + service(&request), request.tag), self.handed.len());
                self.handed.push(Handed { at: due, done: None, request, members: Vec::new() });
            }
        }
    }

    fn due(&self) -> Option<Instant> {
        let done = self.busy.first_key_value().map(|(&(at, _), _)| at);
        let comes = self.arrivals.first_key_value().map(|(&(at, _), _)| at);
        [done, comes, self.elevator.wake()].into_iter().flatten().min()
    }

    /// Asks where nobody need ask; nothing may go.
    fn ask_in_between(&mut self, due: Instant) {
        let Some(stream) = &mut self.curious else { return };
        let mut at = self.now;
        for _ in 0..stream.below(4) {
            let left = due.since(at).as_ns();
            if left > 0 {
                at += Span::from_ns(stream.below(left));
                assert_eq!(self.elevator.next(at), None, "at {at:?}, before {due:?}");
            }
        }
    }

    fn complete(&mut self, at: Instant, tag: u32, which: usize) {
        let Device { elevator, handed, given, .. } = self;
        let handed = &mut handed[which];
        let spent = at - handed.at;
        let breakdown = Breakdown { transfer: spent, ..Breakdown::default() };
        let Command { id, initiator, .. } = handed.request;
        let (outcome, submitted, completed) = (Outcome::Done, handed.at, at);
        let completion = Completion { id, initiator, tag, outcome, submitted, completed, breakdown };
        elevator.completed(&completion, |_, completion| {
            assert_eq!(completion.breakdown.total(), completion.completed - completion.submitted);
            handed.members.push(completion.id);
            given.push(completion);
        });
        handed.done = Some(at);
    }
}

/// Everything that arrives at its instant, run to its end; a request takes as long as `service` says.
pub fn run(
    params: &ElevatorParams,
    arrivals: &[(Instant, Command)],
    service: impl Fn(&Command) -> Span,
    curious: Option<Stream>,
) -> Device {
    let mut device = Device::new(params);
    device.curious = curious;
    for &(at, command) in arrivals {
        device.arrive(at, command);
    }
    device.run(Instant::from_ns(u64::MAX), service, |_| None);
    device
}
