//! SCSI with NACA: an error leaves an auto contingent allegiance, in which only the recovery runs.
//! Source: SAM-2 5.9.1 and 5.3.3 (ACA ACTIVE goes before a unit attention); SPC-2 r20 8.3.6 (QERR).
use super::common::{drive, ms, queue};
use super::fences::{scsi_of, stands_before};
use super::ledger::Ledger;
use super::wire::{
    BAD, Draft, Event, INITIATORS, REORDERINGS, Run, Step, drives_under, histories, is_begun, play, scsi,
    sends, with_bad_sectors,
};
use super::{Checked, cases};
use drivelab_core::target::drive::cache::params::CacheParams;
use drivelab_core::target::drive::faults::FaultParams;
use drivelab_core::target::drive::params::{DriveParams, FirmwareParams};
use drivelab_core::target::drive::protocol::{Clears, Protocol, QueueErrors, ScsiParams};
use drivelab_core::target::drive::queue::Order;
use drivelab_core::{Access, Attribute, Command, Outcome, Priority};
use drivelab_units::{Instant, Lba, Sectors, Share, Span};
use proptest::prelude::*;
use std::collections::BTreeSet;

const ALL: &[Attribute] =
    &[Attribute::Simple, Attribute::Simple, Attribute::Ordered, Attribute::HeadOfQueue, Attribute::Aca];

fn plays() -> BoxedStrategy<(DriveParams, Vec<Step>)> {
    let on_error = [QueueErrors::Continue, QueueErrors::ClearAll, QueueErrors::ClearNexus];
    let protocol = (scsi(REORDERINGS), prop::sample::select(on_error.to_vec()));
    let protocol = protocol.prop_map(|(protocol, on_error)| {
        let scsi = scsi_of(protocol);
        Protocol::ScsiTcq(ScsiParams { on_error, naca: true, ..scsi })
    });
    let step = prop_oneof![5 => sends(ALL), 1 => (0..INITIATORS).prop_map(Step::Clear)];
    (with_bad_sectors(drives_under(protocol.boxed())), histories(step.boxed())).boxed()
}

/// Follows a run: who holds an allegiance, and from when to when anybody does.
struct Follower<'a> {
    run: &'a Run,
    scsi: ScsiParams,
    ledger: Ledger<'a>,
    holders: BTreeSet<u16>,
    since: Instant,
    /// Times without the right to begin anything but the recovery.
    blocked: Vec<(Instant, Instant)>,
    /// Commands that waited for another one when such a time began, and when it did.
    dormant: Vec<(u64, Instant)>,
}

impl<'a> Follower<'a> {
    fn new(run: &'a Run, params: &DriveParams) -> Self {
        let (scsi, ledger) = (scsi_of(params.protocol), Ledger::new(run, params));
        let (holders, since) = (BTreeSet::new(), Instant::ZERO);
        Follower { run, scsi, ledger, holders, since, blocked: Vec::new(), dormant: Vec::new() }
    }

    fn follow(&mut self) -> Checked {
        for (at, event) in &self.run.log {
            match event {
                Event::Sent(command) => self.sent(command)?,
                Event::Answered(completion) => {
                    if let Some(failed) = self.ledger.answered(completion)? {
                        self.failed(*at, &failed.command);
                    }
                }
                Event::Cleared(initiator) => self.cleared(*at, *initiator)?,
                _ => {}
            }
        }
        self.ledger.finish()
    }

    fn sent(&mut self, command: &Command) -> Checked {
        let recovers = command.attribute == Attribute::Aca;
        let belongs = recovers && self.holders.contains(&command.initiator);
        let refusal = if !self.holders.is_empty() && !belongs {
            Some(Outcome::AcaActive)
        } else {
            let nothing_to_recover = recovers && self.holders.is_empty();
            self.ledger.attention(command).or(nothing_to_recover.then_some(Outcome::Invalid))
        };
        self.ledger.sent(command, refusal)
    }

    fn failed(&mut self, at: Instant, failed: &Command) {
        if self.holders.is_empty() {
            self.since = at;
            let held = || self.ledger.held.values().chain([failed]);
            for command in self.ledger.held.values() {
                if held().any(|older| stands_before(self.run, &self.scsi, at, older, command)) {
                    self.dormant.push((command.id, at));
                }
            }
        }
        self.holders.insert(failed.initiator);
    }

    fn cleared(&mut self, at: Instant, initiator: u16) -> Checked {
        if !self.holders.remove(&initiator) {
            return Ok(());
        }
        if self.holders.is_empty() {
            self.blocked.push((self.since, at));
        }
        match self.scsi.on_error.clears() {
            Clears::Nothing => Ok(()),
            Clears::All => self.ledger.clear(at, Some(initiator), |_| true),
            Clears::Nexus => self.ledger.clear(at, Some(initiator), |command| command.initiator == initiator),
        }
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_arrives_in_an_allegiance_is_refused_but_the_recovery_and_what_is_queued_waits(
        (params, steps) in plays(),
    ) {
        let run = play(&params, &steps, None);
        Follower::new(&run, &params).follow()?;
    }

    #[test]
    fn nothing_begins_in_an_allegiance_but_the_recovery((params, steps) in plays()) {
        let run = play(&params, &steps, None);
        let mut follower = Follower::new(&run, &params);
        follower.follow()?;
        for &(since, until) in &follower.blocked {
            for life in run.lives.values().filter(|life| is_begun(life) && life.chosen < until) {
                let recovers = life.command.attribute == Attribute::Aca;
                let dormant = follower.dormant.contains(&(life.command.id, since));
                let began = life.chosen > since || life.chosen == since && dormant;
                prop_assert!(recovers || !began, "{since:?} to {until:?}: {life:?}");
            }
        }
    }
}

/// A read waits for an older write whose completion takes long. Meanwhile another one fails, and the head reads on over
/// the sectors: the read could be answered from the buffer when the write ends, but not in the allegiance.
#[test]
fn the_buffer_answers_nothing_that_had_to_wait_before_the_allegiance() {
    let draft = |access, place, count| {
        let (attribute, priority) = (Attribute::Simple, Priority::Normal);
        Step::Send(Draft {
            initiator: 0,
            attribute,
            priority,
            force_unit_access: false,
            access,
            place,
            count,
        })
    };
    let end = BAD.0 + BAD.1;
    let (write, fails) = (draft(Access::Write, end, 8), draft(Access::Read, BAD.0, BAD.1));
    let steps = [write, fails, draft(Access::Read, end, 8), Step::Wait(ms(100)), Step::Clear(0)];
    let size = Sectors::new(1_000);
    let read_ahead = Some(CacheParams::reading_on(size).when(true, false));
    let firmware = FirmwareParams { write_completion: ms(40), ..FirmwareParams::default() };
    let unreadable = vec![(Lba::new(BAD.0), Sectors::new(BAD.1))];
    let read_errors = Share::from_ratio(0, 1).unwrap();
    let faults = Some(FaultParams { read_errors, unreadable, retries: Span::ZERO });
    let protocol = Protocol::ScsiTcq(ScsiParams { naca: true, ..ScsiParams::USUAL });
    let queue = queue(8, Order::Fcfs);
    let run =
        play(&DriveParams { queue, protocol, firmware, cache: read_ahead, faults, ..drive() }, &steps, None);
    let [write, failed, read] = [0, 1, 2].map(|id| run.lives[&id]);
    assert_eq!(failed.outcome, Outcome::MediaError);
    assert!(failed.completed < write.completed, "the write ends in the allegiance");
    assert!(read.chosen >= Instant::ZERO + ms(100), "{read:?}");
}

#[test]
fn the_histories_have_allegiances_and_recoveries() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut recovered, mut active, mut several) = (0, 0, 0);
    for _ in 0..400 {
        let (params, steps) = plays().new_tree(&mut runner).unwrap().current();
        let run = play(&params, &steps, None);
        recovered += run.lives.values().filter(|life| life.command.attribute == Attribute::Aca).count();
        active += run.answers().filter(|answer| answer.outcome == Outcome::AcaActive).count();
        let mut follower = Follower::new(&run, &params);
        follower.follow().unwrap();
        several += follower.blocked.len();
    }
    assert!(recovered > 40 && active > 200 && several > 100, "{recovered} {active} {several}");
}
