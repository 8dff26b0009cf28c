//! Traces of an array's commands: what a stripe request has recorded is not reported for the next one in its place.
use super::parity::parity;
use super::rig::array;
use crate::common::sorted::Target;
use crate::common::{command, ms, next_due};
use drivelab_core::storage::TargetInput;
use drivelab_core::storage::array::params::{ArrayParams, Failure, When};
use drivelab_core::trace::Served;
use drivelab_core::{Access, Outcome};
use drivelab_units::Instant;

#[test]
fn what_is_refused_has_not_the_story_of_the_stripe_request_before_it() {
    let when = When::At(Instant::ZERO + ms(900));
    let failures = [0, 1].map(|drive| Failure { drive, when });
    let mut target = Target::new(&array(ArrayParams { failures: failures.into(), ..parity(1, 5) }), 1);
    target.keep_traces();
    let mut now = Instant::ZERO;
    // Cut into several stripe requests, of which the last one's trace is that of the command.
    target.handle(now, TargetInput::Submit(command(0, Access::Write, 64, 1_500)));
    let mut answers = Vec::new();
    while let Some(due) = next_due(&target).filter(|&due| due < Instant::ZERO + ms(1_000)) {
        now = due;
        target.handle(now, TargetInput::Tick);
        answers.extend(std::iter::from_fn(|| target.poll_output()));
    }
    assert_eq!(answers.iter().map(|answer| answer.outcome).collect::<Vec<_>>(), [Outcome::Done]);
    let written = std::iter::from_fn(|| target.poll_trace()).filter(|trace| trace.member.is_none()).last();
    assert!(written.is_some_and(|trace| trace.served != Served::Memory && trace.ended > trace.begun));
    for id in 1..9 {
        target.handle(now, TargetInput::Submit(command(id, Access::Read, 0, 8)));
    }
    while let Some(due) = next_due(&target) {
        target.handle(due, TargetInput::Tick);
    }
    let refused: Vec<_> = std::iter::from_fn(|| target.poll_output()).collect();
    assert!(refused.len() == 8 && refused.iter().all(|answer| answer.outcome == Outcome::Lost));
    let traces: Vec<_> = std::iter::from_fn(|| target.poll_trace()).collect();
    assert_eq!(traces.len(), 8);
    for trace in traces {
        assert_eq!(
            (trace.served, trace.begun),
            (Served::Memory, trace.submitted),
            "no drive has served {trace:?}"
        );
    }
}
