//! SCSI with NACA: an error leaves an auto contingent allegiance, in which only the recovery runs; of all initiators, or
//! of those whose task set it is.
//! Source: SAM-2 5.9.1 and 5.3.3 (ACA ACTIVE goes before a unit attention); SPC-2 r20 8.3.6 (QERR); Seagate Parallel SCSI
//! Interface Product Manual rev. A, 7.3 (one ACA command at a time) and 7.6.1.1 (BUSY without NACA, TST).
use super::fences::{is_cleared_by, scsi_of, share_a_set, stands_before};
use super::ledger::Ledger;
use super::wire::{
    BAD, Draft, Event, INITIATORS, Run, Step, drafts, drives_under, histories, is_begun, play,
    scsi_with_errors, sends, with_bad_sectors,
};
use super::{Checked, cases};
use crate::common::scenarios::nacas;
use crate::common::{drive, ms, queue};
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::{DriveParams, FirmwareParams, Overhead};
use drivelab_core::storage::drive::protocol::{Naca, Protocol, ScsiParams, TaskSets};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::trace::Served;
use drivelab_core::{Access, Attribute, Command, CommandTrace, Outcome, Priority};
use drivelab_units::{Instant, Lba, Sectors, Share, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;

const ALL: &[Attribute] =
    &[Attribute::Simple, Attribute::Simple, Attribute::Ordered, Attribute::HeadOfQueue, Attribute::Aca];

fn plays() -> BoxedStrategy<(DriveParams, Vec<Step>)> {
    let naca = prop_oneof![2 => Just(Naca::ALL), 1 => nacas()];
    let protocol = (scsi_with_errors(), naca)
        .prop_map(|(protocol, naca)| Protocol::ScsiTcq(ScsiParams { naca, ..scsi_of(protocol) }));
    let step = prop_oneof![
        10 => sends(ALL),
        1 => (drafts(ALL), 0u32..4).prop_map(|(draft, tag)| Step::SendAs(draft, tag)),
        2 => (0..INITIATORS).prop_map(Step::Clear),
    ];
    (with_bad_sectors(drives_under(protocol.boxed())), histories(step.boxed())).boxed()
}

/// A time without the right to begin anything but the recovery, of all commands or of one initiator's.
struct Blocked {
    since: Instant,
    until: Instant,
    whose: Option<u16>,
}

/// Follows a run: who holds an allegiance, and from when to when anybody does.
struct Follower<'a> {
    run: &'a Run,
    scsi: ScsiParams,
    ledger: Ledger<'a>,
    /// Who holds one, and since when its task set is held up.
    holders: BTreeMap<u16, Instant>,
    blocked: Vec<Blocked>,
    /// Commands that waited for another one when such a time began, and when it did.
    dormant: Vec<(u64, Instant)>,
}

impl<'a> Follower<'a> {
    fn new(run: &'a Run, params: &DriveParams) -> Self {
        let (scsi, ledger) = (scsi_of(params.protocol), Ledger::new(run, params));
        Follower { run, scsi, ledger, holders: BTreeMap::new(), blocked: Vec::new(), dormant: Vec::new() }
    }

    fn follow(&mut self) -> Checked {
        for (at, event) in &self.run.log {
            match event {
                Event::Sent(command) => self.sent(*at, command)?,
                Event::Answered(completion) => {
                    if let Some(failed) = self.ledger.answered(completion)? {
                        self.failed(*at, &failed.command)?;
                    }
                }
                Event::Cleared(initiator) => self.cleared(*at, *initiator)?,
                _ => {}
            }
        }
        self.ledger.finish()
    }

    fn are_apart(&self) -> bool {
        self.scsi.task_sets == TaskSets::Each
    }

    /// Why the drive does not take it, if an allegiance is the reason.
    fn refused_in_allegiance(&self, command: &Command) -> Option<Outcome> {
        let Command { initiator, attribute, .. } = *command;
        let recovers = attribute == Attribute::Aca;
        let another =
            |held: &Command| held.attribute == Attribute::Aca && share_a_set(&self.scsi, held, command);
        if self.holders.contains_key(&initiator) {
            let may = recovers && !self.ledger.held.values().any(another);
            return (!may).then_some(Outcome::AcaActive);
        }
        let held_up = !self.are_apart() && !self.holders.is_empty();
        let knows = self.scsi.naca.is_set_by(initiator);
        held_up.then_some(if knows { Outcome::AcaActive } else { Outcome::Busy })
    }

    fn sent(&mut self, at: Instant, command: &Command) -> Checked {
        let recovers = command.attribute == Attribute::Aca;
        let nothing_to_recover = recovers && !self.holders.contains_key(&command.initiator);
        let refusal = self.refused_in_allegiance(command);
        let refusal = refusal.or_else(|| self.ledger.attention(command));
        let refusal = refusal.or(nothing_to_recover.then_some(Outcome::Invalid));
        let in_use = self.ledger.is_in_use(command).then_some(Outcome::DuplicateTag);
        let refusal = refusal.or(in_use);
        if refusal == Some(Outcome::DuplicateTag) {
            self.ledger.clear(at, None, |other| other.initiator == command.initiator)?;
            self.failed(at, command)?;
        }
        self.ledger.sent(command, refusal)
    }

    /// What an error clears.
    fn clear(&mut self, at: Instant, by: u16) -> Checked {
        let by_other = (!self.scsi.task_aborted).then_some(by);
        self.ledger.clear(at, by_other, |command| is_cleared_by(&self.scsi, by, command))
    }

    fn failed(&mut self, at: Instant, failed: &Command) -> Checked {
        if !self.scsi.naca.is_set_by(failed.initiator) {
            return self.clear(at, failed.initiator);
        }
        if self.holders.contains_key(&failed.initiator) {
            return Ok(());
        }
        let begins = self.are_apart() || self.holders.is_empty();
        let since = if begins { at } else { *self.holders.values().next().expect("somebody holds one") };
        if begins {
            let ended = self.run.traces.get(&failed.id).map(|trace| trace.command);
            let held = || self.ledger.held.values().chain(&ended);
            let own = |command: &&Command| share_a_set(&self.scsi, command, failed);
            for command in self.ledger.held.values().filter(own) {
                if held().any(|older| stands_before(self.run, &self.scsi, at, older, command)) {
                    self.dormant.push((command.id, at));
                }
            }
        }
        self.holders.insert(failed.initiator, since);
        Ok(())
    }

    fn cleared(&mut self, at: Instant, initiator: u16) -> Checked {
        let Some(since) = self.holders.remove(&initiator) else { return Ok(()) };
        let whose = self.are_apart().then_some(initiator);
        if self.are_apart() || self.holders.is_empty() {
            self.blocked.push(Blocked { since, until: at, whose });
        }
        self.clear(at, initiator)
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
        for &Blocked { since, until, whose } in &follower.blocked {
            let concerned = |trace: &&CommandTrace| whose.is_none_or(|initiator| initiator == trace.command.initiator);
            let begun = run.traces.values().filter(|trace| is_begun(trace) && trace.chosen < until);
            for trace in begun.filter(concerned) {
                let recovers = trace.command.attribute == Attribute::Aca;
                let dormant = follower.dormant.contains(&(trace.command.id, since));
                let began = trace.chosen > since || trace.chosen == since && dormant;
                prop_assert!(recovers || !began, "{since:?} to {until:?}: {trace:?}");
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
    let protocol = Protocol::ScsiTcq(ScsiParams { naca: Naca::ALL, ..ScsiParams::USUAL });
    let queue = queue(8, Order::Fcfs);
    let run =
        play(&DriveParams { queue, protocol, firmware, cache: read_ahead, faults, ..drive() }, &steps, None);
    let [write, failed, read] = [0, 1, 2].map(|id| run.traces[&id]);
    assert_eq!(failed.outcome, Outcome::MediaError);
    assert!(failed.completed < write.completed, "the write ends in the allegiance");
    assert!(read.chosen >= Instant::ZERO + ms(100), "{read:?}");
}

/// An ordered read waits for an older write whose completion takes long, and is not enabled in the allegiance that a third
/// command leaves meanwhile: its firmware overhead comes behind the end of it, in whole.
#[test]
fn nothing_that_waits_in_the_task_set_is_enabled_in_an_allegiance() {
    let draft = |attribute, access, place| {
        let (priority, force_unit_access, initiator) = (Priority::Normal, false, 0);
        Step::Send(Draft { initiator, attribute, priority, force_unit_access, access, place, count: 8 })
    };
    let write = draft(Attribute::Simple, Access::Write, 6_000);
    let fails = draft(Attribute::Simple, Access::Read, BAD.0);
    let waits = draft(Attribute::Ordered, Access::Read, 60_000);
    let overhead = ms(5);
    let firmware = FirmwareParams {
        write_completion: ms(40),
        read_miss: Overhead::always(overhead),
        ..FirmwareParams::default()
    };
    let unreadable = vec![(Lba::new(BAD.0), Sectors::new(BAD.1))];
    let faults = Some(FaultParams { read_errors: Share::NONE, unreadable, retries: Span::ZERO });
    for task_sets in [TaskSets::One, TaskSets::Each] {
        let protocol = Protocol::ScsiTcq(ScsiParams { naca: Naca::ALL, task_sets, ..ScsiParams::USUAL });
        let params = DriveParams {
            queue: queue(8, Order::Fcfs),
            protocol,
            firmware,
            faults: faults.clone(),
            ..drive()
        };
        let run = play(&params, &[write, fails, waits, Step::Wait(ms(100)), Step::Clear(0)], None);
        let [write, failed, waits] = [0, 1, 2].map(|id| run.traces[&id]);
        assert!(failed.completed < write.completed && write.completed < Instant::ZERO + ms(100));
        assert_eq!(failed.outcome, Outcome::MediaError);
        let answer = run.answers().find(|answer| answer.id == 2).expect("it is done");
        assert_eq!(answer.breakdown.overhead, overhead, "{task_sets:?} {waits:?}");
    }
}

/// An ordered read keeps another initiator's read waiting that the buffer could answer. A command with the tag of the
/// ordered one aborts it and leaves an allegiance: what waited does not begin in between.
#[test]
fn what_an_aborted_command_kept_waiting_begins_after_the_allegiance() {
    let draft = |initiator, attribute, place| {
        let (access, priority) = (Access::Read, Priority::Normal);
        Draft { initiator, attribute, priority, force_unit_access: false, access, place, count: 8 }
    };
    let [simple, ordered] = [Attribute::Simple, Attribute::Ordered];
    let steps = [
        Step::Send(draft(0, simple, 6_000)),
        Step::Wait(ms(100)),
        Step::Send(draft(1, simple, 60_000)),
        Step::Send(draft(1, ordered, 90_000)),
        Step::Send(draft(0, simple, 6_000)),
        Step::SendAs(draft(1, simple, 0), 1),
        Step::Wait(ms(100)),
        Step::Clear(1),
    ];
    let protocol = Protocol::ScsiTcq(ScsiParams { naca: Naca::ALL, ..ScsiParams::USUAL });
    let cache = Some(CacheParams::reading_on(Sectors::new(1_000)));
    let run = play(&DriveParams { queue: queue(8, Order::Fcfs), protocol, cache, ..drive() }, &steps, None);
    let [aborted, waited] = [2, 3].map(|id| run.traces[&id]);
    assert_eq!((aborted.outcome, waited.outcome), (Outcome::Aborted, Outcome::Done));
    assert_eq!(waited.served, Served::Buffered);
    assert_eq!(waited.chosen, Instant::ZERO + ms(200));
}

/// With a task set for each, the other initiators' commands go on in an allegiance, and the faulted one's come back behind
/// them when it ends.
#[test]
fn an_allegiance_holds_up_its_own_task_set_alone() {
    let draft = |initiator, place| {
        let (attribute, priority, access) = (Attribute::Simple, Priority::Normal, Access::Read);
        Step::Send(Draft {
            initiator,
            attribute,
            priority,
            force_unit_access: false,
            access,
            place,
            count: 8,
        })
    };
    let unreadable = vec![(Lba::new(BAD.0), Sectors::new(BAD.1))];
    let faults = Some(FaultParams { read_errors: Share::NONE, unreadable, retries: Span::ZERO });
    let steps = [
        draft(0, BAD.0),
        draft(0, 6_000),
        draft(1, 12_000),
        draft(0, 18_000),
        Step::Wait(ms(60)),
        draft(1, 24_000),
    ];
    let steps = [&steps[..], &[Step::Clear(0)]].concat();
    for (task_sets, order) in [(TaskSets::Each, [2, 4, 1, 3]), (TaskSets::One, [1, 2, 3, 4])] {
        let protocol = Protocol::ScsiTcq(ScsiParams { naca: Naca::ALL, task_sets, ..ScsiParams::USUAL });
        let queue = queue(8, Order::Fcfs);
        let run = play(&DriveParams { queue, protocol, faults: faults.clone(), ..drive() }, &steps, None);
        let mut begun: Vec<&CommandTrace> =
            run.traces.values().filter(|trace| trace.outcome == Outcome::Done).collect();
        begun.sort_by_key(|trace| trace.rank);
        let found: Vec<u64> = begun.iter().map(|trace| trace.command.id).collect();
        // With one set the last of them is refused.
        let order = if task_sets == TaskSets::One { &order[..3] } else { &order };
        assert_eq!(found, order, "{task_sets:?}");
        let in_time = begun.iter().filter(|trace| trace.chosen < Instant::ZERO + ms(60)).count();
        assert_eq!(in_time, usize::from(task_sets == TaskSets::Each));
    }
}

#[test]
fn the_histories_have_allegiances_and_recoveries() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut recovered, mut active, mut busy, mut apart, mut several) = (0, 0, 0, 0, 0);
    for _ in 0..1_600 {
        let (params, steps) = plays().new_tree(&mut runner).unwrap().current();
        let run = play(&params, &steps, None);
        recovered += run.traces.values().filter(|trace| trace.command.attribute == Attribute::Aca).count();
        active += run.answers().filter(|answer| answer.outcome == Outcome::AcaActive).count();
        busy += run.answers().filter(|answer| answer.outcome == Outcome::Busy).count();
        let mut follower = Follower::new(&run, &params);
        follower.follow().unwrap();
        several += follower.blocked.len();
        apart += follower.blocked.iter().filter(|blocked| blocked.whose.is_some()).count();
    }
    assert!(recovered > 40 && active > 200 && several > 100, "{recovered} {active} {several}");
    assert!(busy > 20 && apart > 40, "{busy} {apart}");
}
