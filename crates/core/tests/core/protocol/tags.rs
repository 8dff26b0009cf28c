//! Names and room: which tags, attributes and priorities a protocol has, tags in use, and the command too many.
//! Source: SCSI-2 (X3.131) 7.8; SAM-2 4.9 and its overlapped commands; Seagate Parallel SCSI Interface Product Manual
//! rev. A, 5.6.3; ATA/ATAPI-5 6.9; Serial ATA 2.6, 13.6.
use super::cases;
use super::fences::{is_cleared_by, scsi_of};
use super::ledger::Ledger;
use super::wire::{
    Draft, Event, INITIATORS, REORDERINGS, Step, drafts, drives_under, histories, play, scsi,
    scsi_with_errors, sends,
};
use crate::common::{drive, queue};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::protocol::{NcqParams, Protocol, ScsiParams};
use drivelab_core::storage::drive::queue::{Order, QueueParams};
use drivelab_core::{Access, Attribute, Outcome, Priority};
use drivelab_units::Span;
use proptest::prelude::*;

const ALL: &[Attribute] = &[Attribute::Simple, Attribute::Ordered, Attribute::HeadOfQueue];

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn scsi_refuses_a_tag_in_use_and_aborts_all_of_its_initiator(
        params in drives_under(scsi_with_errors()),
        steps in histories((drafts(ALL), 0u32..6).prop_map(|(draft, tag)| Step::SendAs(draft, tag)).boxed()),
    ) {
        let (run, scsi) = (play(&params, &steps, None), scsi_of(params.protocol));
        let mut ledger = Ledger::new(&run, &params);
        for (at, event) in &run.log {
            match event {
                Event::Sent(command) => {
                    let by = command.initiator;
                    let attention = ledger.attention(command);
                    let refusal =
                        attention.or_else(|| ledger.is_in_use(command).then_some(Outcome::DuplicateTag));
                    if refusal == Some(Outcome::DuplicateTag) {
                        ledger.clear(*at, None, |other| other.initiator == by)?;
                        let by_other = (!scsi.task_aborted).then_some(by);
                        ledger.clear(*at, by_other, |other| is_cleared_by(&scsi, by, other))?;
                    }
                    ledger.sent(command, refusal)?;
                }
                Event::Answered(completion) => drop(ledger.answered(completion)?),
                _ => {}
            }
        }
        ledger.finish()?;
    }

    #[test]
    fn the_drive_is_full_when_it_holds_as_many_as_it_can_and_not_before(
        params in drives_under(scsi(REORDERINGS)),
        steps in histories(sends(ALL)),
    ) {
        let run = play(&params, &steps, None);
        let mut ledger = Ledger::new(&run, &params);
        for (_, event) in &run.log {
            match event {
                Event::Sent(command) => ledger.sent(command, None)?,
                Event::Answered(completion) => drop(ledger.answered(completion)?),
                _ => {}
            }
        }
        ledger.finish()?;
    }
}

const SCSI: ScsiParams = ScsiParams::USUAL;

/// What the drive makes of one command by itself.
fn alone(protocol: Protocol, attribute: Attribute, priority: Priority, tag: u32) -> Outcome {
    let (initiator, force_unit_access, access, place) = (0, false, Access::Read, 0);
    let draft = Draft { initiator, attribute, priority, force_unit_access, access, place, count: 8 };
    let params = DriveParams { protocol, ..drive() };
    play(&params, &[Step::SendAs(draft, tag)], None).outcome(0).expect("it is answered")
}

#[test]
fn a_protocol_has_so_many_tags_counted_from_zero() {
    let ncq = Protocol::Ncq(NcqParams::USUAL);
    let short = Protocol::ScsiTcq(ScsiParams { tags: 256, ..SCSI });
    let counts = [(short, 256), (Protocol::ScsiTcq(SCSI), 1 << 16), (Protocol::AtaTcq, 32), (ncq, 32)];
    for (protocol, tags) in counts {
        let outcome = |tag| alone(protocol, Attribute::Simple, Priority::Normal, tag);
        for tag in [0, 1, tags - 1] {
            assert_eq!(outcome(tag), Outcome::Done, "{protocol:?} {tag}");
        }
        for tag in [tags, tags + 1, 1 << 20] {
            assert_eq!(outcome(tag), Outcome::Invalid, "{protocol:?} {tag}");
        }
    }
}

#[test]
fn a_protocol_refuses_the_attributes_and_priorities_that_it_lacks() {
    use Attribute::{HeadOfQueue, Ordered, Simple, Untagged};
    let ncq = Protocol::Ncq(NcqParams::USUAL);
    for protocol in [Protocol::None, Protocol::ScsiTcq(SCSI), Protocol::AtaTcq, ncq] {
        for attribute in [Simple, Untagged, Ordered, HeadOfQueue] {
            let has = matches!(attribute, Simple | Untagged) || matches!(protocol, Protocol::ScsiTcq(_));
            let expected = if has { Outcome::Done } else { Outcome::Invalid };
            assert_eq!(
                alone(protocol, attribute, Priority::Normal, 0),
                expected,
                "{protocol:?} {attribute:?}"
            );
        }
        for priority in [Priority::High, Priority::Isochronous(Span::from_s(1))] {
            let expected = if protocol == ncq { Outcome::Done } else { Outcome::Invalid };
            assert_eq!(alone(protocol, Simple, priority, 0), expected, "{protocol:?} {priority:?}");
        }
    }
}

#[test]
fn every_tag_of_every_initiator_can_be_outstanding_at_once() {
    let each = u64::from(256 / u32::from(INITIATORS));
    for (protocol, initiators, tags) in [
        (Protocol::ScsiTcq(ScsiParams { tags: 256, ..SCSI }), INITIATORS, 256),
        (Protocol::AtaTcq, 1, 32),
        (Protocol::Ncq(NcqParams::USUAL), 1, 32),
    ] {
        let depth = tags * u32::from(initiators);
        let queue = QueueParams { depth, ..queue(1, Order::Fcfs) };
        let params = DriveParams { queue, protocol, ..drive() };
        let draft = |initiator, place| Draft {
            initiator,
            attribute: Attribute::Simple,
            priority: Priority::Normal,
            force_unit_access: false,
            access: Access::Read,
            place,
            count: 1,
        };
        let all = (0..tags).flat_map(|tag| (0..initiators).map(move |initiator| (initiator, tag)));
        let mut steps: Vec<Step> =
            all.map(|(initiator, tag)| Step::SendAs(draft(initiator, each * u64::from(tag)), tag)).collect();
        // One tag more than there are.
        steps.push(Step::SendAs(draft(0, 0), tags));
        let run = play(&params, &steps, None);
        let done = run.answers().filter(|answer| answer.outcome == Outcome::Done).count();
        assert_eq!(done, depth as usize, "{protocol:?}");
        assert_eq!(run.outcome(u64::from(depth)), Some(Outcome::Invalid));
    }
}
