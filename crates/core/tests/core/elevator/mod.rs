//! The elevator as the rest of the core uses it: held to its definition on random histories, and what it promises.
mod device;
mod model;
mod policies;
mod promises;
mod zones;

use crate::common::{command, us};
use drivelab_core::storage::elevator::{DeadlineParams, Elevator, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::{Access, Attribute, Breakdown, Command, Completion, Outcome, Priority};
use drivelab_units::{Instant, Lba, Sectors, Span};
use model::Model;
use proptest::prelude::*;
use std::collections::BTreeMap;

pub fn params(order: ElevatorOrder) -> ElevatorParams {
    let (deadline, fair) = (DeadlineParams::DEFAULT, FairParams::DEFAULT);
    ElevatorParams { order, depth: 1, merge_limit: None, deadline, fair }
}

/// Small numbers of nanoseconds, so that instants coincide and every limit is met.
pub fn elevators() -> impl Strategy<Value = ElevatorParams> {
    let span = |most| (0u64..most).prop_map(Span::from_ns);
    let idle = prop_oneof![Just(Span::ZERO), (1u64..30).prop_map(Span::from_ns)];
    let deadline = (span(60), span(120), 1u32..5, 0u32..4);
    let fair = (span(80), span(40), idle, 1u32..4);
    let limit = prop::option::weighted(0.8, (1u64..40).prop_map(Sectors::new));
    (0usize..4, 1u32..6, limit, deadline, fair).prop_map(|(order, depth, merge_limit, deadline, fair)| {
        let (read_expire, write_expire, fifo_batch, writes_starved) = deadline;
        let (slice_sync, slice_async, slice_idle, quantum) = fair;
        ElevatorParams {
            order: ElevatorOrder::ALL[order],
            depth,
            merge_limit,
            deadline: DeadlineParams { read_expire, write_expire, fifo_batch, writes_starved },
            fair: FairParams { slice_sync, slice_async, slice_idle, quantum },
        }
    })
}

/// Commands over few addresses, so that neighbours and overlaps are common, or over many. Most have no marking.
pub fn commands() -> impl Strategy<Value = Command> {
    let places = prop_oneof![3 => 0u64..40, 1 => (0u64..400).prop_map(|place| 4 * place)];
    let attribute = prop_oneof![
        30 => Just(Attribute::Simple),
        1 => Just(Attribute::Ordered),
        1 => Just(Attribute::HeadOfQueue),
        1 => Just(Attribute::Untagged),
        1 => Just(Attribute::Aca),
    ];
    let priority = prop_oneof![
        30 => Just(Priority::Normal),
        1 => Just(Priority::High),
        1 => (1u64..3).prop_map(|ns| Priority::Isochronous(Span::from_ns(ns))),
    ];
    let rarely = || prop::bool::weighted(0.03);
    let whose = (0u32..3, any::<bool>(), rarely(), rarely(), rarely());
    (places, 1u64..6, prop::bool::weighted(0.3), attribute, priority, whose).prop_map(
        |(first, count, write, attribute, priority, whose)| {
            let (process, synchronous, other_initiator, other_unit, force_unit_access) = whose;
            let access = if write { Access::Write } else { Access::Read };
            Command {
                attribute,
                priority,
                process,
                synchronous,
                force_unit_access,
                initiator: other_initiator.into(),
                logical_unit: other_unit.into(),
                ..command(0, access, first, count)
            }
        },
    )
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Submit(Command),
    /// Asks until nothing may go.
    Drain,
    Ask,
    /// The device is done with one of its requests.
    Complete(usize),
    /// Time goes on to the instant that the elevator named.
    Wake,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1u64..12).prop_map(Step::Wait),
        1 => (30u64..300).prop_map(Step::Wait),
        12 => commands().prop_map(Step::Submit),
        2 => Just(Step::Drain),
        4 => Just(Step::Ask),
        8 => any::<usize>().prop_map(Step::Complete),
        2 => Just(Step::Wake),
    ];
    prop::collection::vec(step, 1..200)
}

/// The elevator and its definition side by side.
struct Play {
    elevator: Elevator,
    model: Model,
    depth: usize,
    now: Instant,
    /// What was submitted, by its number.
    submitted: BTreeMap<u64, Command>,
    /// When each request of the device was handed on.
    handed: BTreeMap<u32, Instant>,
    given: Vec<u64>,
}

type Checked<T = ()> = Result<T, TestCaseError>;

impl Play {
    fn new(params: &ElevatorParams) -> Self {
        Play {
            elevator: Elevator::new(params),
            model: Model::new(params),
            depth: params.depth as usize,
            now: Instant::from_ns(1_000),
            submitted: BTreeMap::new(),
            handed: BTreeMap::new(),
            given: Vec::new(),
        }
    }

    fn step(&mut self, step: &Step) -> Checked {
        match step {
            Step::Wait(ns) => self.now += Span::from_ns(*ns),
            Step::Submit(command) => {
                let id = self.submitted.len() as u64;
                let command = Command { id, tag: 1_000 + id as u32, ..*command };
                self.submitted.insert(id, command);
                self.elevator.submit(self.now, command);
                self.model.submit(self.now, command);
            }
            Step::Ask => drop(self.ask()?),
            Step::Drain => while self.ask()? {},
            Step::Complete(which) => self.complete(*which)?,
            Step::Wake => {
                while self.ask()? {}
                if let Some(wake) = self.elevator.wake() {
                    self.now = wake;
                }
            }
        }
        prop_assert_eq!(self.elevator.waiting(), self.model.waiting());
        Ok(())
    }

    /// Asks for a request; the two must agree. Returns whether there was one.
    fn ask(&mut self) -> Checked<bool> {
        let (found, expected) = (self.elevator.next(self.now), self.model.next(self.now));
        let Some(request) = expected else {
            prop_assert_eq!(found, None);
            // Once more, and nothing is different.
            prop_assert_eq!(self.elevator.next(self.now), None);
            self.check_wake()?;
            return Ok(false);
        };
        let oldest = request.members.iter().min_by_key(|member| member.sequence).unwrap().command;
        let found = found.ok_or_else(|| TestCaseError::fail("nothing goes"))?;
        let tag = found.tag;
        let (first, count) = (Lba::new(request.first()), Sectors::new(request.end() - request.first()));
        let synchronous = request.members.iter().any(|member| member.command.synchronous);
        prop_assert_eq!(found, Command { tag, first, count, synchronous, ..oldest });
        prop_assert!((tag as usize) < self.depth, "tag {tag}");
        prop_assert!(self.model.out.insert(tag, request).is_none(), "tag {} is in use", tag);
        self.handed.insert(tag, self.now);
        Ok(true)
    }

    /// Whoever sleeps until the elevator wants to be asked misses nothing.
    fn check_wake(&self) -> Checked {
        let (wake, useful) = (self.elevator.wake(), self.model.may_go_at(self.now));
        if let Some(useful) = useful {
            prop_assert!(wake.is_some_and(|wake| wake <= useful), "{wake:?}, but one may go at {useful:?}");
        }
        prop_assert!(wake.is_none_or(|wake| wake > self.now), "{wake:?} at {:?}", self.now);
        Ok(())
    }

    fn complete(&mut self, which: usize) -> Checked {
        let Some(&tag) = self.handed.keys().nth(which % self.handed.len().max(1)) else { return Ok(()) };
        let submitted = self.handed.remove(&tag).unwrap();
        let id = self.model.out[&tag].members.iter().map(|member| member.command.id).min().unwrap();
        let spent = (self.now - submitted).as_ns();
        let parts = Breakdown {
            seek: Span::from_ns(spent / 3),
            wait: Span::from_ns(spent / 5),
            transfer: Span::from_ns(spent - spent / 3 - spent / 5),
            ..Breakdown::default()
        };
        let outcome = if which.is_multiple_of(5) { Outcome::MediaError } else { Outcome::Done };
        let (initiator, completed) = (0, self.now);
        let completion = Completion { id, initiator, tag, outcome, submitted, completed, breakdown: parts };
        let mut given = Vec::new();
        self.elevator.completed(&completion, |_, completion| given.push(completion));
        let members = self.model.completed(self.now, tag);
        prop_assert_eq!(given.len(), members.len());
        for (given, member) in given.iter().zip(members) {
            let Command { id, initiator, tag, .. } = self.submitted[&member.command.id];
            let mut breakdown = parts;
            breakdown.wait += submitted - member.submitted;
            let submitted = member.submitted;
            let expected = Completion { id, initiator, tag, outcome, submitted, completed, breakdown };
            prop_assert_eq!(*given, expected);
            prop_assert_eq!(breakdown.total(), completed - submitted);
            self.given.push(id);
        }
        Ok(())
    }

    /// Lets the device finish everything; what came has then been given, once.
    fn finish(mut self) -> Checked {
        while self.elevator.waiting() > 0 || !self.handed.is_empty() {
            while self.ask()? {}
            prop_assert!(
                !self.handed.is_empty() || self.elevator.wake().is_some(),
                "{} wait for ever",
                self.elevator.waiting()
            );
            if self.handed.is_empty() {
                self.now = self.elevator.wake().unwrap();
            } else {
                self.now += Span::from_ns(7);
                self.complete(self.given.len())?;
            }
        }
        self.given.sort_unstable();
        prop_assert!(self.given.iter().eq(self.submitted.keys()));
        Ok(())
    }
}

proptest! {
    #[test]
    fn every_order_does_what_looking_at_everything_does(params in elevators(), steps in steps()) {
        let mut play = Play::new(&params);
        for step in &steps {
            play.step(step)?;
        }
        play.finish()?;
    }
}
