//! Each policy's rule by examples small enough to work out by hand.
use super::device::{Device, run};
use super::{command, params, us};
use drivelab_core::storage::elevator::{Elevator, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::{Access, Attribute, Command, Priority};
use drivelab_units::{Instant, Sectors, Span};

use Access::{Read, Write};

fn at_us(at: u64) -> Instant {
    Instant::from_ns(1_000 * at)
}

/// Submits these at once and hands on all that goes: the first address and the size of each request.
fn order_of(elevator: &mut Elevator, commands: &[Command]) -> Vec<(u64, u64)> {
    for &command in commands {
        elevator.submit(Instant::ZERO, command);
    }
    std::iter::from_fn(|| elevator.next(Instant::ZERO))
        .map(|request| (request.first.get(), request.count.get()))
        .collect()
}

fn reads(addresses: &[u64]) -> Vec<Command> {
    (0..).zip(addresses).map(|(id, &first)| command(id, Read, first, 8)).collect()
}

fn firsts(requests: &[(u64, u64)]) -> Vec<u64> {
    requests.iter().map(|request| request.0).collect()
}

fn merging(order: ElevatorOrder, limit: u64) -> ElevatorParams {
    ElevatorParams { depth: 64, merge_limit: Some(Sectors::new(limit)), ..params(order) }
}

#[test]
fn noop_is_the_order_of_arrival() {
    let mut elevator = Elevator::new(&ElevatorParams { depth: 64, ..params(ElevatorOrder::Noop) });
    let found = order_of(&mut elevator, &reads(&[80, 16, 48, 24, 0]));
    assert_eq!(firsts(&found), [80, 16, 48, 24, 0], "and nothing is merged");
}

#[test]
fn neighbours_merge_at_the_back_at_the_front_and_across_a_gap() {
    let mut elevator = Elevator::new(&merging(ElevatorOrder::Noop, 1_000));
    // 100 grows at its back, 300 at its front; 500 and 516 become one, in the place of the first.
    let found = order_of(&mut elevator, &reads(&[100, 300, 516, 700, 500, 108, 292, 508]));
    assert_eq!(found, [(100, 16), (292, 16), (500, 24), (700, 8)]);
}

#[test]
fn a_request_grows_no_larger_than_the_limit() {
    let mut elevator = Elevator::new(&merging(ElevatorOrder::Noop, 16));
    let found = order_of(&mut elevator, &reads(&[0, 8, 16, 24, 32]));
    assert_eq!(found, [(0, 16), (16, 16), (32, 8)]);
    // One command may be larger than the limit.
    let mut elevator = Elevator::new(&merging(ElevatorOrder::Noop, 7));
    assert_eq!(order_of(&mut elevator, &reads(&[0, 8])), [(0, 8), (8, 8)]);
}

#[test]
fn only_the_same_kind_merges_and_nothing_merges_across_a_barrier() {
    let plain = command(0, Read, 0, 8);
    let different = [
        Command { access: Write, ..command(1, Read, 8, 8) },
        Command { initiator: 1, ..command(1, Read, 8, 8) },
        Command { logical_unit: 1, ..command(1, Read, 8, 8) },
        Command { force_unit_access: true, ..command(1, Read, 8, 8) },
        Command { priority: Priority::High, ..command(1, Read, 8, 8) },
        Command { priority: Priority::Isochronous(us(2)), ..command(1, Read, 8, 8) },
        Command { attribute: Attribute::Untagged, ..command(1, Read, 8, 8) },
        Command { attribute: Attribute::Ordered, ..command(1, Read, 8, 8) },
    ];
    for other in different {
        let mut elevator = Elevator::new(&merging(ElevatorOrder::Noop, 1_000));
        assert_eq!(order_of(&mut elevator, &[plain, other]), [(0, 8), (8, 8)], "{other:?}");
    }
    let within = |first, us| Command {
        priority: Priority::Isochronous(Span::from_us(us)),
        ..command(first, Read, first, 8)
    };
    let mut elevator = Elevator::new(&merging(ElevatorOrder::Noop, 1_000));
    assert_eq!(order_of(&mut elevator, &[within(0, 1), within(8, 2), within(16, 2)]), [(0, 8), (8, 16)]);
    let barrier = Command { attribute: Attribute::Ordered, ..command(1, Read, 100, 8) };
    let after = [command(2, Read, 8, 8), command(3, Read, 16, 8)];
    let mut elevator = Elevator::new(&merging(ElevatorOrder::CLook, 1_000));
    let found = order_of(&mut elevator, &[plain, barrier, after[0], after[1]]);
    assert_eq!(found, [(0, 8), (100, 8), (8, 16)]);
}

#[test]
fn c_look_goes_upward_and_then_again_from_the_lowest() {
    let mut elevator = Elevator::new(&ElevatorParams { depth: 4, ..params(ElevatorOrder::CLook) });
    assert_eq!(firsts(&order_of(&mut elevator, &reads(&[40, 96, 8, 200, 24, 500]))), [8, 24, 40, 96]);
    let device = {
        // One at a time: 50 is on the way when the device is at 90, and 10 and 20 wait for the way back.
        let arrivals = [(0, 50), (1, 90), (2, 20), (3, 120), (25, 10), (26, 95)];
        let arrivals: Vec<_> =
            (0..).zip(arrivals).map(|(id, (at, first))| (at_us(at), command(id, Read, first, 2))).collect();
        run(&params(ElevatorOrder::CLook), &arrivals, |_| us(10), None)
    };
    let order: Vec<u64> = device.handed.iter().map(|handed| handed.request.first.get()).collect();
    assert_eq!(order, [50, 90, 120, 10, 20, 95]);
}

/// Keeps both accesses waiting and hands on so many, one at a time: the accesses in order.
fn accesses(params: &ElevatorParams, count: usize) -> String {
    let both = |id: u64| command(id, if id.is_multiple_of(2) { Read } else { Write }, 100 * id, 8);
    let arrivals: Vec<_> = (0..200).map(|id| (Instant::ZERO, both(id))).collect();
    let device = run(params, &arrivals, |_| us(1), None);
    let letter = |handed: &super::device::Handed| if handed.request.access == Read { 'r' } else { 'w' };
    device.handed[..count].iter().map(letter).collect()
}

#[test]
fn writes_let_so_many_batches_of_reads_go_first() {
    let mut params = params(ElevatorOrder::Deadline);
    (params.deadline.fifo_batch, params.deadline.writes_starved) = (3, 2);
    assert_eq!(accesses(&params, 18), "rrrrrrwwwrrrrrrwww");
    (params.deadline.fifo_batch, params.deadline.writes_starved) = (2, 1);
    assert_eq!(accesses(&params, 10), "rrwwrrwwrr");
    params.deadline.writes_starved = 0;
    assert_eq!(accesses(&params, 4), "wwww");
}

#[test]
fn a_batch_begins_with_an_expired_request_and_goes_on_from_there() {
    let mut params = params(ElevatorOrder::Deadline);
    params.deadline.fifo_batch = 2;
    params.deadline.read_expire = us(25);
    // 10 us each. The read at 5 is below the position when it comes, and expires while 70 is read.
    let arrivals = [(0, 30), (1, 40), (2, 5), (3, 50), (4, 60), (5, 70), (6, 80), (7, 6)];
    let arrivals: Vec<_> =
        (0..).zip(arrivals).map(|(id, (at, first))| (at_us(at), command(id, Read, first, 1))).collect();
    let device = run(&params, &arrivals, |_| us(10), None);
    let order: Vec<u64> = device.handed.iter().map(|handed| handed.request.first.get()).collect();
    // Batches: 30 40, 50 60 (at 20 us nothing has expired), 5 6 (at 40 us), then what is oldest: 70 80.
    assert_eq!(order, [30, 40, 50, 60, 5, 6, 70, 80]);
    // Without a deadline it waits for the way back.
    params.deadline.read_expire = us(1_000);
    let device = run(&params, &arrivals, |_| us(10), None);
    let order: Vec<u64> = device.handed.iter().map(|handed| handed.request.first.get()).collect();
    assert_eq!(order, [30, 40, 50, 60, 70, 80, 5, 6]);
}

fn read_of(process: u32, id: u64, first: u64) -> Command {
    Command { process, ..command(id, Read, first, 8) }
}

/// When each request was handed on, in microseconds, and of which process.
fn turns(device: &Device) -> Vec<(u64, u32)> {
    device.handed.iter().map(|handed| (handed.at.as_ns() / 1_000, handed.request.process)).collect()
}

fn fair(idle_us: u64) -> ElevatorParams {
    let fair = FairParams { slice_sync: us(100), slice_async: us(40), slice_idle: us(idle_us), quantum: 2 };
    ElevatorParams { fair, ..params(ElevatorOrder::Fair) }
}

#[test]
fn the_device_is_kept_for_a_process_that_comes_back_soon() {
    // Process 1 answers each completion after 5 us; process 2 waits from the beginning, with two.
    let mut device = Device::new(&fair(8));
    device.arrive(at_us(0), read_of(1, 0, 1_000));
    device.arrive(at_us(1), read_of(2, 100, 5_000));
    device.arrive(at_us(1), read_of(2, 101, 6_000));
    device.run(
        at_us(400),
        |_| us(10),
        |completion| {
            let next = completion.id + 1;
            (next < 20).then(|| (completion.completed + us(5), read_of(1, next, 1_000 + 100 * next)))
        },
    );
    // 0, 15, ... 90: its slice ends at 100. Then process 2, which leaves nothing behind; after its 8 us, process 1.
    let found = turns(&device);
    assert_eq!(found[..7], [(0, 1), (15, 1), (30, 1), (45, 1), (60, 1), (75, 1), (90, 1)]);
    assert_eq!(found[7..11], [(100, 2), (110, 2), (128, 1), (143, 1)]);
}

#[test]
fn the_device_is_kept_no_longer_than_the_idle_time_and_not_for_a_slow_thinker() {
    // Process 1 thinks for 9 us, longer than the 8 us: kept for it once, until that is known.
    let mut device = Device::new(&fair(8));
    for (at, command) in [(0, read_of(1, 0, 0)), (1, read_of(2, 100, 5_000)), (60, read_of(2, 101, 6_000))] {
        device.arrive(at_us(at), command);
    }
    device.run(
        at_us(400),
        |_| us(10),
        |completion| match completion.id {
            0 => Some((completion.completed + us(19), read_of(1, 1, 100))),
            1 => Some((completion.completed + us(9), read_of(1, 2, 200))),
            _ => None,
        },
    );
    // Kept from 10 to 18 for process 1, and from 28 to 36 for process 2, which is not known to think long either. At 46
    // process 1 has one think time of 16 us (the most that counts) and its turn ends there; so does the one that it
    // begins at 55. At 60 process 2 comes after 32 us, and goes as soon as the device is free.
    assert_eq!(turns(&device), [(0, 1), (18, 2), (36, 1), (55, 1), (65, 2)]);
}

#[test]
fn one_long_absence_is_forgotten_after_a_few_quick_answers() {
    // Process 1 is away for ten milliseconds, which count as 16 us, and then answers six times at once. The average is
    // 16, 14, 12.25, 10.7, 9.4, 8.2, 7.2 us: when it then thinks for 5 us, the device is kept for it again.
    let mut device = Device::new(&fair(8));
    device.arrive(at_us(0), read_of(1, 0, 0));
    device.arrive(at_us(10_061), read_of(2, 100, 5_000));
    device.run(
        at_us(11_000),
        |_| us(10),
        |completion| {
            let think = match completion.id {
                0 => 9_990,
                1..7 => 0,
                7 => 5,
                _ => return None,
            };
            let next = completion.id + 1;
            Some((completion.completed + us(think), read_of(1, next, 100 * next)))
        },
    );
    assert_eq!(turns(&device)[7..], [(10_060, 1), (10_075, 1), (10_093, 2)]);
}

#[test]
fn nothing_is_kept_for_what_nobody_waits_for() {
    // Writes that nobody waits for share a queue, whosever they are; no idling after them, nor after such reads.
    let write = |process, id, first| Command { synchronous: false, process, ..command(id, Write, first, 8) };
    let arrivals = [
        (at_us(0), write(1, 0, 1_000)),
        (at_us(1), read_of(3, 1, 500)),
        (at_us(2), write(2, 2, 3_000)),
        (at_us(0), write(1, 3, 2_000)),
        (at_us(3), Command { synchronous: false, ..read_of(4, 4, 700) }),
        (at_us(4), write(2, 5, 9_000)),
        (at_us(4), write(2, 6, 9_500)),
    ];
    let device = run(&fair(8), &arrivals, |_| us(10), None);
    let found: Vec<_> =
        device.handed.iter().map(|handed| (handed.at.as_ns() / 1_000, handed.request.first.get())).collect();
    // The shared queue's 40 us, process 3 and 8 us for it, process 4 and none for it, the rest.
    let first = [(0, 1_000), (10, 2_000), (20, 3_000), (30, 9_000)];
    assert_eq!(found[..4], first);
    assert_eq!(found[4..], [(40, 500), (58, 700), (68, 9_500)]);
}

#[test]
fn while_others_wait_a_process_has_its_quantum_with_the_device() {
    let params = ElevatorParams { depth: 8, ..fair(8) };
    let mut elevator = Elevator::new(&params);
    let hand = |elevator: &mut Elevator, at| {
        std::iter::from_fn(|| elevator.next(at_us(at))).map(|request| request.process).collect::<Vec<_>>()
    };
    for id in 0..4 {
        elevator.submit(at_us(0), read_of(1, id, 100 * id));
    }
    assert_eq!(hand(&mut elevator, 0), [1, 1, 1, 1], "alone it has them all");
    elevator.submit(at_us(1), read_of(1, 4, 900));
    for id in 5..9 {
        elevator.submit(at_us(1), read_of(2, id, 100 * id));
    }
    assert_eq!(hand(&mut elevator, 1), [0; 0]);
    assert_eq!(elevator.wake(), Some(at_us(100)), "the end of the slice");
    // Process 2 has its turn and its two; process 1, which has four there still, has none.
    assert_eq!(hand(&mut elevator, 100), [2, 2]);
    assert_eq!(elevator.waiting(), 3);
}

#[test]
fn without_idling_turns_are_counted() {
    // Two requests a turn, whatever is with the device; an empty queue's turn is over.
    let commands: Vec<Command> = (0..9).map(|id| read_of([1, 2, 3][id as usize % 3], id, 100 * id)).collect();
    let params = ElevatorParams { depth: 16, ..fair(0) };
    let mut elevator = Elevator::new(&params);
    for &command in &commands {
        elevator.submit(at_us(0), command);
    }
    let found: Vec<u32> =
        std::iter::from_fn(|| elevator.next(at_us(0))).map(|request| request.process).collect();
    assert_eq!(found, [1, 1, 2, 2, 3, 3, 1, 2, 3]);
    assert_eq!(elevator.wake(), None);
}

#[test]
fn within_its_queue_a_process_goes_upward_from_where_it_was() {
    let mut arrivals: Vec<_> =
        (0..).zip([500, 900, 300, 700]).map(|(id, first)| (at_us(0), read_of(1, id, first))).collect();
    arrivals.push((at_us(15), read_of(1, 9, 100)));
    arrivals.push((at_us(15), read_of(1, 10, 550)));
    let device = run(&fair(8), &arrivals, |_| us(10), None);
    let order: Vec<u64> = device.handed.iter().map(|handed| handed.request.first.get()).collect();
    assert_eq!(order, [300, 500, 550, 700, 900, 100]);
}

#[test]
fn each_member_of_a_merged_request_has_its_own_account() {
    let arrivals = [(0, 900), (3, 0), (5, 16), (8, 8)];
    let arrivals: Vec<_> =
        (0..).zip(arrivals).map(|(id, (at, first))| (at_us(at), command(id, Read, first, 8))).collect();
    let params = ElevatorParams { depth: 1, ..merging(ElevatorOrder::Deadline, 64) };
    let device = run(&params, &arrivals, |_| us(10), None);
    assert_eq!(device.handed.len(), 2);
    let account = |id: usize| {
        let completion = device.given[id];
        let (submitted, completed) = (completion.submitted.as_ns(), completion.completed.as_ns());
        let (wait, transfer) = (completion.breakdown.wait, completion.breakdown.transfer);
        (completion.id, submitted / 1_000, completed / 1_000, wait, transfer)
    };
    // Handed on at 10 us, done at 20.
    assert_eq!(account(1), (1, 3, 20, us(7), us(10)));
    assert_eq!(account(2), (2, 5, 20, us(5), us(10)));
    assert_eq!(account(3), (3, 8, 20, us(2), us(10)));
    assert_eq!(device.given[1].breakdown.total(), Span::from_us(17));
}
