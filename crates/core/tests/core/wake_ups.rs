//! What is due is on the agenda, at its own instant, and what has been put off is looked at again: each box that waits for
//! time to pass, twice over, so that the second wait does not depend on what the first left behind.
use crate::common;
use crate::common::sorted::Target;
use crate::common::{drive, ms, next_due, queue, us};
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::params::{ArrayParams, Level, ManagedBy};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
use drivelab_core::storage::drive::params::{DriveModel, DriveParams, FirmwareParams, Overhead};
use drivelab_core::storage::drive::queue::{ChoiceTime, Order, QueueParams};
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::{FlushOrder, WriteBehindParams};
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::trace::CommandTrace;
use drivelab_core::{Access, Command, Completion, Outcome};
use drivelab_units::{Instant, Sectors, Span};
use std::sync::Arc;

/// All that happened.
struct Played {
    answers: Vec<Completion>,
    traces: Vec<CommandTrace>,
    /// When data reached the media.
    landed: Vec<Instant>,
}

impl Played {
    fn trace(&self, id: u64) -> &CommandTrace {
        self.traces.iter().find(|trace| trace.command.id == id).expect("it leaves its service")
    }
}

/// Sends commands at their instants and lets everything end: each is answered.
fn play(params: &TargetParams, commands: &[(Span, Command)]) -> Played {
    let mut target = Target::new(params, 1);
    target.keep_data();
    target.keep_traces();
    let mut played = Played { answers: Vec::new(), traces: Vec::new(), landed: Vec::new() };
    let mut sent = commands.iter().peekable();
    let mut now = Instant::ZERO;
    loop {
        played.traces.extend(std::iter::from_fn(|| target.poll_trace()));
        played.answers.extend(std::iter::from_fn(|| target.poll_output()));
        let persists =
            std::iter::from_fn(|| target.poll_data()).filter(|op| matches!(op, DataOp::Persist { .. }));
        played.landed.extend(persists.map(|_| now));
        let due = next_due(&target);
        if let Some((at, command)) = sent.next_if(|(at, _)| due.is_none_or(|due| Instant::ZERO + *at <= due))
        {
            now = Instant::ZERO + *at;
            target.handle(now, TargetInput::Submit(*command));
        } else if let Some(due) = due {
            now = due;
            target.handle(now, TargetInput::Tick);
        } else {
            break;
        }
    }
    assert_eq!(played.answers.len(), commands.len(), "each command is answered");
    assert!(played.answers.iter().all(|answer| answer.outcome == Outcome::Done));
    played
}

fn of(id: u64, access: Access, first: u64, process: u32) -> Command {
    Command { process, tag: id as u32, ..common::command(id, access, first, 8) }
}

fn fair() -> ElevatorParams {
    ElevatorParams {
        order: ElevatorOrder::Fair,
        depth: 1,
        merge_limit: None,
        deadline: DeadlineParams::DEFAULT,
        fair: FairParams::DEFAULT,
    }
}

fn system(elevator: Option<ElevatorParams>, memories: [Option<WriteBehindParams>; 2]) -> TargetParams {
    let drive = Arc::new(DriveModel::new(&DriveParams { queue: queue(8, Order::Fcfs), ..drive() }).unwrap());
    let [host_cache, cache] = memories;
    let controller = ControllerParams { cache, ..ControllerParams::PLAIN };
    TargetParams::System(SystemParams { elevator, host_cache, ..SystemParams::of_drive(drive, controller) })
}

/// The device is kept for each process until it has been idle for so long, well before the slice ends.
#[test]
fn an_io_scheduler_that_waits_for_a_process_goes_on_when_that_does_not_come() {
    let reads: Vec<_> = (0..6).map(|id| (Span::ZERO, of(id, Access::Read, 60_000 * id, id as u32))).collect();
    // With room for more at the device the end of the slice is the first instant to look at again.
    for depth in [1, 4] {
        let played = play(&system(Some(ElevatorParams { depth, ..fair() }), [None, None]), &reads);
        for id in 1..6 {
            let before = played.trace(id - 1).completed;
            assert_eq!(played.trace(id).accepted, before + FairParams::DEFAULT.slice_idle, "{id}, {depth}");
        }
    }
    // And once more later, when the first wake-ups are long over.
    let later: Vec<_> =
        (0..6).map(|id| (ms(1_000 * (id / 2)), of(id, Access::Read, 60_000 * id, (id % 2) as u32))).collect();
    let played = play(&system(Some(fair()), [None, None]), &later);
    for pair in 0..3 {
        let (one, other) = (played.trace(2 * pair), played.trace(2 * pair + 1));
        assert!(one.completed <= other.accepted && other.accepted <= one.completed + ms(8), "{pair}");
    }
}

/// With one request at a time what waits is handed on as the one before ends.
#[test]
fn an_io_scheduler_hands_the_next_request_on_when_one_has_ended() {
    for order in [ElevatorOrder::Noop, ElevatorOrder::Deadline, ElevatorOrder::CLook] {
        let elevator = ElevatorParams { order, ..fair() };
        let reads: Vec<_> = (0..8).map(|id| (Span::ZERO, of(id, Access::Read, 60_000 * id, 0))).collect();
        let played = play(&system(Some(elevator), [None, None]), &reads);
        for id in 1..8 {
            assert_eq!(played.trace(id).accepted, played.trace(id - 1).completed, "{order:?}, {id}");
        }
    }
}

/// The same before each member of an array that a host keeps.
#[test]
fn the_io_schedulers_before_members_go_on_too() {
    let drive = Arc::new(DriveModel::new(&DriveParams { queue: queue(8, Order::Fcfs), ..drive() }).unwrap());
    let array = ArrayParams { managed_by: ManagedBy::Host, ..ArrayParams::plain(Level::Mirrored, 2) };
    for elevator in [fair(), ElevatorParams { order: ElevatorOrder::Deadline, ..fair() }] {
        let params = TargetParams::System(SystemParams {
            drives: vec![Arc::clone(&drive); 2],
            array: Some(array.clone()),
            elevator: Some(elevator),
            ..SystemParams::of_drive(Arc::clone(&drive), ControllerParams::PLAIN)
        });
        let access = |id: u64| if id.is_multiple_of(3) { Access::Write } else { Access::Read };
        let commands: Vec<_> =
            (0..30).map(|id| (ms(200 * (id / 6)), of(id, access(id), 9_000 * id, (id % 4) as u32))).collect();
        let played = play(&params, &commands);
        // Six commands, a turn and a seek each, and as many waits for a process, are over before the next six come.
        for answer in &played.answers {
            assert!(
                answer.completed - answer.submitted < ms(6 * (9 + 8)),
                "{:?}: {answer:?}",
                elevator.order
            );
        }
    }
}

fn memory(age: Span) -> WriteBehindParams {
    WriteBehindParams {
        size: Sectors::new(4_000),
        limit: Sectors::new(1_000),
        background: Sectors::new(1_000),
        age: Some(age),
        order: FlushOrder::Address,
        request: Sectors::new(64),
        outstanding: 1,
        rate: None,
        overhead: us(20),
        battery: false,
        force_unit_access: false,
        keeps_reads: true,
        stripe: None,
        stripe_wait: Span::ZERO,
        write_through: false,
        read_ahead: None,
    }
}

/// Data of a host's or a controller's cache go when they are old enough, the second time as the first.
#[test]
fn a_memory_flushes_when_its_data_are_old_enough() {
    for memories in [[Some(memory(ms(500))), None], [None, Some(memory(ms(500)))]] {
        // Two that come one after the other, and another one long after.
        let writes = [(ms(0), 0), (ms(100), 60_000), (ms(2_000), 120_000)];
        let commands: Vec<_> =
            (0..).zip(writes).map(|(id, (at, first))| (at, of(id, Access::Write, first, 0))).collect();
        let played = play(&system(None, memories), &commands);
        assert_eq!(played.landed.len(), 3);
        for (landed, (at, _)) in played.landed.iter().zip(writes) {
            let old = Instant::ZERO + at + us(20) + ms(500);
            // A seek, a turn and the transfer.
            let longest = ms(1) + ms(6) + us(80);
            assert!(*landed >= old && *landed <= old + longest, "{landed:?} for {at:?}");
        }
        for answer in &played.answers {
            assert_eq!(answer.completed - answer.submitted, us(20));
        }
    }
}

fn caching(write_back: WriteBackParams) -> TargetParams {
    let cache = CacheParams {
        hits_while_busy: false,
        write_back: Some(write_back),
        segments: 16,
        ..CacheParams::reading_on(Sectors::new(1_000))
    };
    let overhead = Overhead::always(us(50));
    let firmware = FirmwareParams {
        read_hit: overhead,
        write_hit: overhead,
        read_completion: us(5),
        write_completion: us(5),
        ..FirmwareParams::default()
    };
    let params = DriveParams { firmware, cache: Some(cache), queue: queue(32, Order::Fcfs), ..drive() };
    TargetParams::Drive(Arc::new(DriveModel::new(&params).unwrap()))
}

fn write_back(idle: Span, age: Option<Span>) -> WriteBackParams {
    WriteBackParams {
        limit: Sectors::new(100),
        segments: 8,
        destage: Destage::WhenIdle,
        idle,
        age,
        press_from: Sectors::new(100),
        run: Sectors::new(100),
        while_busy: true,
    }
}

/// A drive empties its cache when it has been idle, or when data are old, whichever comes first; and again the next time.
#[test]
fn a_drive_manages_its_cache_at_the_first_of_its_deadlines() {
    for (idle, age, wait) in
        [(ms(200), None, ms(200)), (ms(200), Some(ms(50)), ms(50)), (ms(50), Some(ms(200)), ms(50))]
    {
        let writes = [0, 1_000, 1_700, 4_000].map(ms);
        let commands: Vec<_> =
            (0..).zip(writes).map(|(id, at)| (at, of(id, Access::Write, 60_000 * (id + 1), 0))).collect();
        let played = play(&caching(write_back(idle, age)), &commands);
        assert_eq!(played.landed.len(), 4);
        for (landed, at) in played.landed.iter().zip(writes) {
            let starts = Instant::ZERO + at + wait;
            assert!(*landed > starts && *landed <= starts + ms(1) + ms(6) + us(80), "{landed:?} for {at:?}");
        }
    }
}

/// The cache is to look far in the future; then there is a reason to look sooner.
#[test]
fn a_drive_that_has_a_reason_to_look_sooner_does() {
    let mut patient = write_back(Span::from_s(100), None);
    patient.press_from = Sectors::new(16);
    let commands = [
        (ms(0), of(0, Access::Write, 60_000, 0)),
        (ms(10), of(1, Access::Write, 120_000, 0)),
        (ms(500), of(2, Access::Write, 180_000, 0)),
        (ms(600), of(3, Access::Flush, 0, 0)),
    ];
    let commands = commands.map(|(at, command)| match command.access {
        Access::Flush => (at, Command { count: Sectors::ZERO, ..command }),
        _ => (at, command),
    });
    let played = play(&caching(patient), &commands);
    let landed: Vec<u64> = played.landed.iter().map(|at| at.as_ns() / 1_000_000).collect();
    assert_eq!(landed.len(), 3);
    assert!(landed[0] < 20 && landed[1] < 30, "{landed:?}");
    assert!((600..620).contains(&landed[2]), "{landed:?}");
}

/// Hits, a FLUSH and writes that wait for the cache's work go on when it is done.
#[test]
fn what_waits_for_the_cache_goes_on() {
    for while_busy in [true, false] {
        let limit = Sectors::new(16);
        let small = WriteBackParams { limit, while_busy, ..write_back(Span::from_s(100), None) };
        let mut commands = Vec::new();
        let mut id = 0;
        let mut send = |at: Span, access: Access, first: u64| {
            let command = of(id, access, first, 0);
            let count = if access == Access::Flush { Sectors::ZERO } else { command.count };
            commands.push((at, Command { count, ..command }));
            id += 1;
        };
        for round in 0..3 {
            let from = ms(400 * round);
            for place in 0..6 {
                send(from, Access::Write, 30_000 * (place + 1));
            }
            send(from, Access::Flush, 0);
            // Into what the cache does for the FLUSH.
            send(from + us(600), Access::Read, 30_000);
            send(from + us(700), Access::Write, 240_000);
        }
        let played = play(&caching(small), &commands);
        for answer in &played.answers {
            assert!(answer.completed - answer.submitted < ms(9 * 8), "{answer:?}");
        }
    }
}

/// A drive that gives the host time to answer chooses when that is over: also where its cache has it look much later.
#[test]
fn a_drive_that_waits_for_an_answer_chooses_when_none_comes() {
    let cache = CacheParams {
        write_back: Some(write_back(Span::from_s(100), None)),
        segments: 16,
        size: Sectors::new(1_000),
        ..CacheParams::reading_on(Sectors::ZERO)
    };
    for cache in [None, Some(cache)] {
        let queue =
            QueueParams { chooses: ChoiceTime::AfterAnswer, answer_time: us(300), ..queue(8, Order::Fcfs) };
        let drive = DriveModel::new(&DriveParams { queue, cache, ..drive() }).unwrap();
        let mut commands = vec![(Span::ZERO, of(0, Access::Write, 0, 0))];
        commands.extend((1..7).map(|id| (ms(20), of(id, Access::Read, 60_000 * id, 0))));
        let played = play(&TargetParams::Drive(Arc::new(drive)), &commands);
        for id in 2..7 {
            assert_eq!(played.trace(id).chosen, played.trace(id - 1).ended + us(300));
        }
    }
}
