//! The task set against its definition: which commands may begin, by looking at all that came before.
use crate::command::{Access, Attribute, Command, Outcome, Priority};
use crate::storage::drive::protocol::names::Name;
use crate::storage::drive::protocol::{Clears, NcqParams, Protocol, QueueErrors, ScsiParams, TaskSets};
use crate::storage::drive::queue::SlotIndex;
use crate::storage::drive::tasks::flight::TaskState;
use crate::storage::drive::tasks::{Refusal, Tasks, WaitsIn};
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors, Span};
use proptest::prelude::*;

const DEPTH: u32 = 12;

#[derive(Clone, Copy, Debug)]
struct Known {
    slot: SlotIndex,
    command: Command,
}

fn jumps(command: &Command) -> bool {
    command.attribute == Attribute::HeadOfQueue
}

/// Whether a command may begin, by all that came before it and has not ended.
fn may_begin(earlier: &[Known], this: &Command, apart: bool) -> bool {
    if jumps(this) {
        return true;
    }
    earlier.iter().all(|Known { command: other, .. }| {
        let beside = apart && other.initiator != this.initiator;
        let fence = other.attribute == Attribute::Ordered || jumps(other);
        let fenced = !beside && (fence || this.attribute == Attribute::Ordered);
        let writes = other.access == Access::Write || this.access == Access::Write;
        let meets = other.first < this.end() && this.first < other.end();
        let overlaps = other.initiator == this.initiator && !jumps(other) && writes && meets;
        !fenced && !overlaps
    })
}

/// The drive's side of the task set: what may begin does at once.
struct Rig {
    tasks: Tasks,
    known: Vec<Known>,
    begun: Vec<SlotIndex>,
}

impl Rig {
    fn new(apart: bool) -> Self {
        let task_sets = if apart { TaskSets::Each } else { TaskSets::One };
        let protocol = Protocol::ScsiTcq(ScsiParams { task_sets, ..ScsiParams::USUAL });
        Rig { tasks: Tasks::new(protocol, DEPTH, None), known: Vec::new(), begun: Vec::new() }
    }

    fn enable(&mut self, slot: SlotIndex) {
        if self.tasks.pass_overlaps(slot) {
            self.begin(slot);
        }
    }

    fn begin(&mut self, slot: SlotIndex) {
        self.tasks[slot].state = TaskState::Serving;
        self.begun.push(slot);
    }

    /// Ends a command as the drive does.
    fn end(&mut self, at: usize) {
        let Known { slot, .. } = self.known.remove(at);
        let state = if self.begun.contains(&slot) {
            TaskState::Serving
        } else {
            assert_eq!(self.tasks.give_up(slot, Outcome::Aborted), Some(TaskState::Dormant));
            TaskState::Dormant
        };
        self.begun.retain(|&other| other != slot);
        self.tasks[slot].state = TaskState::Free;
        self.tasks.end(slot, state);
        if self.tasks.is_filed(slot) {
            for freed in self.tasks.unfile(slot) {
                self.begin(freed);
            }
        }
        for initiator in self.tasks.initiators() {
            while let Some(released) = self.tasks.release(initiator) {
                self.enable(released);
            }
        }
    }
}

fn commands() -> impl Strategy<Value = (Command, usize)> {
    let attribute = prop_oneof![
        6 => Just(Attribute::Simple),
        1 => Just(Attribute::Ordered),
        1 => Just(Attribute::HeadOfQueue),
    ];
    (0u16..3, 0u32..8, attribute, 0u64..40, 1u64..8, any::<bool>(), 0usize..20).prop_map(
        |(initiator, tag, attribute, first, count, write, ends)| {
            let access = if write { Access::Write } else { Access::Read };
            let plain = Command::new(0, access, Lba::new(first), Sectors::new(count));
            (Command { initiator, tag, attribute, ..plain }, ends)
        },
    )
}

proptest! {
    #[test]
    fn what_may_begin_follows_from_what_came_before(
        apart in any::<bool>(), list in prop::collection::vec(commands(), 1..60),
    ) {
        let mut rig = Rig::new(apart);
        for (id, (command, ends)) in list.into_iter().enumerate() {
            let command = Command { id: id as u64, ..command };
            let in_use = rig.known.iter().any(|Known { command: other, .. }| {
                (other.initiator, other.tag) == (command.initiator, command.tag)
            });
            let refusal = rig.tasks.refusal(&command, Name::own(&command));
            prop_assert_eq!(refusal, in_use.then_some(Refusal::Overlapped(Outcome::DuplicateTag)));
            if !in_use {
                let taken = rig.tasks.begin(&command, Name::own(&command), Instant::ZERO, Instant::ZERO);
                prop_assert_eq!(taken.is_some(), rig.known.len() < DEPTH as usize);
                if let Some((slot, enabled)) = taken {
                    rig.known.push(Known { slot, command });
                    if enabled {
                        rig.enable(slot);
                    }
                    prop_assert_eq!(rig.tasks.find(command.initiator, command.tag), Some(slot));
                }
            }
            if let Some(at) = ends.checked_sub(8).filter(|&at| at < rig.known.len()) {
                rig.end(at);
            }
            for (at, known) in rig.known.iter().enumerate() {
                let may = may_begin(&rig.known[..at], &known.command, apart);
                prop_assert_eq!(rig.begun.contains(&known.slot), may, "{:?}", known);
            }
        }
    }
}

fn take(tasks: &mut Tasks, command: &Command) -> SlotIndex {
    assert_eq!(tasks.refusal(command, Name::own(command)), None);
    let (slot, _) = tasks.begin(command, Name::own(command), Instant::ZERO, Instant::ZERO).unwrap();
    slot
}

fn read(id: u64) -> Command {
    Command::new(id, Access::Read, Lba::new(100 * id), Sectors::new(8))
}

#[test]
fn head_of_queue_goes_before_the_interrupted_and_the_last_of_them_first() {
    let mut tasks = Tasks::new(Protocol::ScsiTcq(ScsiParams::USUAL), DEPTH, None);
    let head = |id| Command { attribute: Attribute::HeadOfQueue, ..read(id) };
    let [first, second, third] = [read(0), head(1), head(2)].map(|command| take(&mut tasks, &command));
    assert_eq!(tasks.place_waiting(first), WaitsIn::InQueue);
    assert!(!tasks.is_pressed());
    tasks.ahead.add_interrupted(first);
    for slot in [second, third] {
        assert_eq!(tasks.place_waiting(slot), WaitsIn::Ahead);
        tasks.ahead.add_urgent(slot);
    }
    for next in [third, second, first] {
        assert!(tasks.is_pressed() && tasks.needs_mechanism(false));
        assert_eq!(tasks.first_in_line(), Some(next));
        assert!(!tasks.leave_queue(next), "it was in front of the queue");
    }
    assert!(!tasks.is_pressed() && tasks.needs_mechanism(true) && !tasks.needs_mechanism(false));
}

#[test]
fn a_deadline_counts_with_all_others_before_it() {
    let protocol = Protocol::Ncq(NcqParams { rdnc: true, ..NcqParams::USUAL });
    let mut tasks = Tasks::new(protocol, DEPTH, None);
    let ms = Span::from_ms;
    for (id, within) in [(0, 50), (1, 30), (2, 40)] {
        let slot = take(&mut tasks, &Command { priority: Priority::Isochronous(ms(within)), ..read(id) });
        assert_eq!(tasks.place_waiting(slot), WaitsIn::InQueue);
        tasks.add_ahead(slot, |_| ms(6));
        assert_eq!(tasks.limits.may_end_at(protocol, &tasks[slot]), [Some(Instant::ZERO + ms(within)), None]);
    }
    // Of 6 ms each: the first, due at 30 ms, is safe while the drive is free again at 24 ms; then all others are.
    let endangered = |tasks: &Tasks, free| tasks.ahead.endangered(|| Instant::ZERO + free);
    assert_eq!(endangered(&tasks, ms(24)), None);
    assert_eq!(endangered(&tasks, ms(24) + Span::from_ns(1)), Some(1));
    assert!(tasks.leave_queue(1));
    assert_eq!(endangered(&tasks, ms(34)), None);
    assert_eq!(endangered(&tasks, ms(35)), Some(2));
    // A later one, due at 41 ms, has to be put by for the first to be late for it.
    let slot = take(&mut tasks, &Command { priority: Priority::Isochronous(ms(41)), ..read(3) });
    assert_eq!(tasks.place_waiting(slot), WaitsIn::InQueue);
    tasks.add_ahead(slot, |_| ms(6));
    assert_eq!(endangered(&tasks, ms(29)), None);
    assert_eq!(endangered(&tasks, ms(30)), Some(2));
}

#[test]
fn an_allegiance_keeps_out_the_commands_of_its_own_set_oldest_first() {
    let naca = crate::storage::drive::protocol::Naca::ALL;
    let scsi = ScsiParams { task_sets: TaskSets::Each, naca, ..ScsiParams::USUAL };
    let mut tasks = Tasks::new(Protocol::ScsiTcq(scsi), DEPTH, None);
    let by = |id, initiator| Command { initiator, ..read(id) };
    let slots = [by(0, 1), by(1, 0), by(2, 1), by(3, 1)].map(|command| take(&mut tasks, &command));
    for slot in slots {
        tasks[slot].state = TaskState::Waiting;
    }
    // The last waits for something else.
    assert_eq!(tasks.begin_allegiance(1, |slot| slot == slots[3]), [slots[0], slots[2]]);
    tasks.allegiances.suspend(slots[0]);
    assert!(tasks.is_blocked(slots[0]) && !tasks.is_blocked(slots[1]));
    assert!(!tasks.allegiances.stops_queue(), "the others go on");
    assert_eq!(tasks.refusal(&by(4, 1), Name::own(&by(4, 1))), Some(Refusal::Only(Outcome::AcaActive)));
    assert_eq!(tasks.refusal(&by(4, 0), Name::own(&by(4, 0))), None);
    assert!(tasks.allegiances.clear(1) && !tasks.allegiances.clear(1));
    assert_eq!(tasks.allegiances.release_suspended(), [slots[0]]);
}

#[test]
fn the_log_shuts_the_queue_and_attention_is_owed_once() {
    let mut ncq = Tasks::new(Protocol::Ncq(NcqParams::USUAL), DEPTH, None);
    assert_eq!(ncq.queue_fails(7), Clears::All);
    assert_eq!(ncq.refusal(&read(1), Name::own(&read(1))), Some(Refusal::Only(Outcome::Aborted)));
    assert_eq!((ncq.read_log(), ncq.read_log()), (Some(7), None));
    assert_eq!(ncq.refusal(&read(1), Name::own(&read(1))), None);

    let scsi = ScsiParams { on_error: QueueErrors::ClearAll, ..ScsiParams::USUAL };
    for (task_aborted, owed) in [(false, Some(Refusal::Only(Outcome::UnitAttention))), (true, None)] {
        let mut tasks = Tasks::new(Protocol::ScsiTcq(ScsiParams { task_aborted, ..scsi }), DEPTH, None);
        tasks.set_unit_attention([2, 2].into_iter());
        let command = Command { initiator: 2, ..read(1) };
        assert_eq!(tasks.refusal(&command, Name::own(&command)), owed);
        assert_eq!(tasks.refusal(&command, Name::own(&command)), None);
    }
}
