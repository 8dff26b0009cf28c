//! ATA: an error, a tag in use, or a command without a tag among others with one aborts the whole queue. NCQ then takes
//! nothing until the log is read, which names the tag; and it may abort the queue when a deadline passes.
//! Source: ATA/ATAPI-5 6.9; Serial ATA 2.6, 13.6; Linux, Documentation/driver-api/libata.rst; Western Digital Ultrastar
//! HC580 specification 12.20.
use super::ledger::Ledger;
use super::wire::{Event, Run, Step, drafts, drives_under, histories, play, with_bad_sectors, with_flushes};
use super::{Checked, cases};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::protocol::{NcqParams, Protocol};
use drivelab_core::{Access, Attribute, Command, Completion, Outcome, Priority};
use drivelab_units::{Instant, Span};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Mostly tags that are free and commands that have one, so that a queue can grow; the log is read in time.
fn steps(priorities: BoxedStrategy<Priority>) -> BoxedStrategy<Vec<Step>> {
    let attributes: &[Attribute] = &[Attribute::Simple];
    let draft = (drafts(attributes), priorities).prop_map(|(mut draft, priority)| {
        (draft.initiator, draft.priority) = (0, priority);
        draft
    });
    let draft = draft.boxed();
    let untagged = draft.clone().prop_map(|mut draft| {
        draft.attribute = Attribute::Untagged;
        Step::Send(draft)
    });
    let step = prop_oneof![
        16 => draft.clone().prop_map(Step::Send),
        1 => (draft, 0u32..34).prop_map(|(draft, tag)| Step::SendAs(draft, tag)),
        1 => untagged,
        3 => Just(Step::ReadLog),
    ];
    with_flushes(histories(step.boxed()))
}

fn normal() -> BoxedStrategy<Priority> {
    Just(Priority::Normal).boxed()
}

fn ncq() -> BoxedStrategy<Protocol> {
    any::<bool>()
        .prop_map(|out_of_order| Protocol::Ncq(NcqParams { out_of_order, ..NcqParams::USUAL }))
        .boxed()
}

/// Told to abort when a deadline of a read passes, of a write, of both, or of none.
fn ncq_with_deadlines() -> BoxedStrategy<Protocol> {
    any::<[bool; 3]>()
        .prop_map(|[out_of_order, rdnc, wdnc]| Protocol::Ncq(NcqParams { out_of_order, rdnc, wdnc }))
        .boxed()
}

struct Follower<'a> {
    params: &'a DriveParams,
    ledger: Ledger<'a>,
    /// The tag that failed, until the log is read.
    log: Option<u32>,
    /// By what was taken: when it is too late, and the tag.
    deadlines: Vec<(Instant, u64)>,
    /// Those that missed theirs and are not answered yet.
    late: BTreeSet<u64>,
}

impl<'a> Follower<'a> {
    fn new(run: &'a Run, params: &'a DriveParams) -> Self {
        let ledger = Ledger::new(run, params);
        Follower { params, ledger, log: None, deadlines: Vec::new(), late: BTreeSet::new() }
    }

    fn follow(&mut self, run: &Run) -> Checked {
        for (at, event) in &run.log {
            match event {
                Event::Sent(command) => {
                    self.pass(*at, true)?;
                    self.sent(*at, command)?;
                }
                Event::Answered(completion) => self.answered(*at, completion)?,
                Event::Read(tag) => {
                    self.pass(*at, true)?;
                    prop_assert_eq!(*tag, self.log.take());
                }
                _ => {}
            }
        }
        self.ledger.finish()
    }

    fn abort_queue(&mut self, at: Instant, tag: u32) -> Checked {
        if matches!(self.params.protocol, Protocol::Ncq(_)) {
            self.log = Some(tag);
        }
        self.ledger.clear(at, None, |_| true)
    }

    fn sent(&mut self, at: Instant, command: &Command) -> Checked {
        // FLUSH CACHE is none of the queued commands.
        let untagged =
            |command: &Command| command.attribute == Attribute::Untagged || command.access == Access::Flush;
        let held = &self.ledger.held;
        let mixed = !held.is_empty() && (untagged(command) || held.values().any(untagged));
        let refusal = if command.tag >= 32 {
            Some(Outcome::Invalid)
        } else if self.log.is_some() {
            Some(Outcome::Aborted)
        } else if self.ledger.is_in_use(command) {
            Some(Outcome::DuplicateTag)
        } else {
            mixed.then_some(Outcome::Aborted)
        };
        if self.log.is_none() && refusal.is_some() && refusal != Some(Outcome::Invalid) {
            self.abort_queue(at, command.tag)?;
        }
        if let (Priority::Isochronous(within), Protocol::Ncq(ncq)) = (command.priority, self.params.protocol)
            && (command.access == Access::Read && ncq.rdnc || command.access == Access::Write && ncq.wdnc)
            && refusal.is_none()
        {
            self.deadlines.push((at + within, command.id));
        }
        self.ledger.sent(command, refusal)
    }

    fn answered(&mut self, at: Instant, completion: &Completion) -> Checked {
        self.pass(at, false)?;
        let ended = matches!(completion.outcome, Outcome::Done | Outcome::MediaError);
        // At one instant what ends comes before the deadline that it would have missed.
        if !ended && self.ledger.held.contains_key(&completion.id) && !self.ledger.is_cleared(completion.id) {
            self.pass(at, true)?;
        }
        if self.late.remove(&completion.id) {
            prop_assert_eq!(completion.outcome, Outcome::TimedOut);
            prop_assert!(self.ledger.held.remove(&completion.id).is_some());
            return Ok(());
        }
        let Some(failed) = self.ledger.answered(completion)? else { return Ok(()) };
        self.abort_queue(at, failed.command.tag)
    }

    /// Deadlines come, up to an instant or with it: the first that is missed aborts the queue.
    fn pass(&mut self, now: Instant, with_it: bool) -> Checked {
        self.deadlines.sort_unstable();
        while let Some(&(due, id)) = self.deadlines.first()
            && (due < now || with_it && due == now)
        {
            self.deadlines.remove(0);
            let Some(&command) = self.ledger.held.get(&id) else { continue };
            if self.ledger.is_cleared(id) {
                continue;
            }
            self.late.insert(id);
            self.ledger.held.remove(&id);
            self.abort_queue(due, command.tag)?;
            self.ledger.held.insert(id, command);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn ata_tcq_aborts_the_queue_on_an_error_a_tag_in_use_and_a_command_without_one(
        params in with_bad_sectors(drives_under(Just(Protocol::AtaTcq).boxed())),
        steps in steps(normal()),
    ) {
        let run = play(&params, &steps, None);
        Follower::new(&run, &params).follow(&run)?;
    }

    #[test]
    fn ncq_aborts_the_queue_and_takes_nothing_until_the_log_is_read_that_names_the_tag(
        params in with_bad_sectors(drives_under(ncq())),
        steps in steps(normal()),
    ) {
        let run = play(&params, &steps, None);
        Follower::new(&run, &params).follow(&run)?;
    }

    #[test]
    fn a_deadline_that_passes_aborts_all_outstanding_when_the_drive_enforces_deadlines(
        params in with_bad_sectors(drives_under(ncq_with_deadlines())),
        steps in steps(prop_oneof![
            3 => normal(),
            2 => (0u64..60_000).prop_map(|us| Priority::Isochronous(Span::from_us(us))),
        ].boxed()),
    ) {
        let run = play(&params, &steps, None);
        Follower::new(&run, &params).follow(&run)?;
    }

    #[test]
    fn a_deadline_that_passes_does_nothing_otherwise(
        params in with_bad_sectors(drives_under(ncq())),
        steps in steps((0u64..60_000).prop_map(|us| Priority::Isochronous(Span::from_us(us))).boxed()),
    ) {
        let run = play(&params, &steps, None);
        Follower::new(&run, &params).follow(&run)?;
    }
}
