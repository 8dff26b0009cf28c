//! What holds for every order, whatever happens: seen from outside, with a device that takes its time.
use super::device::{Device, run};
use super::{command, commands, elevators, params, us};
use drivelab_core::rng::Stream;
use drivelab_core::storage::elevator::{ElevatorOrder, ElevatorParams};
use drivelab_core::{Access, Attribute, Command};
use drivelab_units::{Instant, Lba, Sectors, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Commands and the nanoseconds between them.
fn histories() -> impl Strategy<Value = Vec<(Instant, Command)>> {
    let gap = prop_oneof![2 => Just(0u64), 2 => 1u64..6, 1 => 6u64..60];
    prop::collection::vec((gap, commands()), 1..120).prop_map(|steps| {
        let mut now = Instant::ZERO;
        let arrival = |(id, (gap, command)): (u64, (u64, Command))| {
            now += Span::from_ns(gap);
            (now, Command { id, tag: id as u32, ..command })
        };
        (0..).zip(steps).map(arrival).collect()
    })
}

/// Long and short, as no policy expects.
fn service(request: &Command) -> Span {
    Span::from_ns(1 + (request.first.get() * 7 + request.id * 13) % 29)
}

fn goes_ahead(command: &Command) -> bool {
    matches!(command.attribute, Attribute::HeadOfQueue | Attribute::Aca)
}

/// When each command was handed on, and as which request of how many.
fn handed(device: &Device) -> BTreeMap<u64, usize> {
    let of = |(i, handed): (usize, &super::device::Handed)| {
        handed.members.iter().map(move |&id| (id, i)).collect::<Vec<_>>()
    };
    device.handed.iter().enumerate().flat_map(of).collect()
}

proptest! {
    #[test]
    fn asking_more_often_gives_nothing_more(params in elevators(), history in histories(), seed in any::<u64>()) {
        let plain = run(&params, &history, service, None);
        let curious = run(&params, &history, service, Some(Stream::named(seed, "test/curious")));
        prop_assert_eq!(plain.handed, curious.handed);
        prop_assert_eq!(plain.given, curious.given);
    }

    #[test]
    fn every_command_is_given_back_once_and_the_depth_is_kept(params in elevators(), history in histories()) {
        let device = run(&params, &history, service, None);
        let mut given: Vec<u64> = device.given.iter().map(|completion| completion.id).collect();
        given.sort_unstable();
        prop_assert!(given.into_iter().eq(0..history.len() as u64));
        for one in &device.handed {
            let inside = |other: &&super::device::Handed| other.at <= one.at && one.at < other.done.unwrap();
            prop_assert!(device.handed.iter().filter(inside).count() <= params.depth as usize);
        }
    }

    #[test]
    fn a_flush_goes_as_soon_as_there_is_a_place(params in elevators(), history in histories(), every in 1u64..9) {
        let flush = |command: Command| Command { access: Access::Flush, count: Sectors::ZERO, first: Lba::ZERO, ..command };
        let turns = |(at, command): (Instant, Command)| {
            (at, if command.id % every == 0 { flush(command) } else { command })
        };
        let history: Vec<_> = history.into_iter().map(turns).collect();
        let device = run(&params, &history, service, None);
        let handed = handed(&device);
        prop_assert_eq!(handed.len(), history.len());
        for (at, flush) in history.iter().filter(|(_, command)| command.access == Access::Flush) {
            let gone = &device.handed[handed[&flush.id]];
            prop_assert_eq!(&gone.members, &[flush.id]);
            // Until then every place was taken, and what goes first of all may have been given one.
            for other in device.handed.iter().filter(|other| other.at > *at && other.at < gone.at) {
                prop_assert!(goes_ahead(&other.request) || other.request.access == Access::Flush, "{other:?}");
            }
        }
    }

    #[test]
    fn overlapping_commands_are_done_in_order_of_arrival(params in elevators(), history in histories()) {
        let device = run(&params, &history, service, None);
        let handed = handed(&device);
        for (i, (_, younger)) in history.iter().enumerate().filter(|(_, (_, younger))| !goes_ahead(younger)) {
            for (_, older) in &history[..i] {
                let writes = older.access == Access::Write || younger.access == Access::Write;
                if writes && older.first < younger.end() && younger.first < older.end() {
                    let (before, after) = (&device.handed[handed[&older.id]], &device.handed[handed[&younger.id]]);
                    prop_assert!(before.done.unwrap() <= after.at, "{older:?} {younger:?}");
                }
            }
        }
    }

    #[test]
    fn nothing_passes_an_ordered_command(params in elevators(), history in histories()) {
        let device = run(&params, &history, service, None);
        let handed = handed(&device);
        for (i, (_, ordered)) in history.iter().enumerate() {
            if ordered.attribute != Attribute::Ordered {
                continue;
            }
            for (_, other) in history[..i].iter().filter(|(_, other)| !goes_ahead(other)) {
                prop_assert!(handed[&other.id] < handed[&ordered.id]);
            }
            for (_, other) in history[i + 1..].iter().filter(|(_, other)| !goes_ahead(other)) {
                prop_assert!(handed[&other.id] > handed[&ordered.id]);
            }
        }
    }

    #[test]
    fn what_is_head_of_queue_goes_next_and_the_last_first(params in elevators(), history in histories()) {
        let device = run(&params, &history, service, None);
        let handed = handed(&device);
        for &(at, head) in history.iter().filter(|(_, head)| goes_ahead(head)) {
            let place = handed[&head.id];
            // Nothing goes between its arrival and itself but what came later to go ahead of it.
            for between in device.handed[..place].iter().filter(|between| between.at >= at) {
                prop_assert!(goes_ahead(&between.request) && between.request.id > head.id);
            }
        }
    }

    #[test]
    fn a_merged_request_is_its_commands_side_by_side(params in elevators(), history in histories()) {
        let device = run(&params, &history, service, None);
        for handed in &device.handed {
            let mut members: Vec<Command> = handed.members.iter().map(|&id| history[id as usize].1).collect();
            prop_assert!(handed.members.is_sorted());
            prop_assert_eq!(handed.request.id, handed.members[0]);
            let merged = members.len() > 1;
            prop_assert!(!merged || params.merge_limit.is_some_and(|limit| handed.request.count <= limit));
            prop_assert!(!merged || members.iter().all(|member| member.attribute == Attribute::Simple));
            let kind = |command: &Command| {
                let Command { initiator, logical_unit, priority, force_unit_access, access, .. } = *command;
                (initiator, logical_unit, priority, force_unit_access, access)
            };
            prop_assert!(members.iter().all(|member| kind(member) == kind(&handed.request)));
            members.sort_by_key(|member| member.first);
            prop_assert_eq!(members[0].first, handed.request.first);
            prop_assert_eq!(members.last().unwrap().end(), handed.request.end());
            prop_assert!(members.windows(2).all(|pair| pair[0].end() == pair[1].first));
        }
    }
}

/// Keeps `outstanding` commands in a device for so long; each completion brings the next.
fn closed(
    params: &ElevatorParams,
    outstanding: u64,
    end: Instant,
    service: Span,
    draw: impl Fn(u64) -> Command,
) -> Device {
    let mut device = Device::new(params);
    for id in 0..outstanding {
        device.arrive(Instant::ZERO, draw(id));
    }
    let mut issued = outstanding;
    device.run(
        end,
        |_| service,
        |completion| {
            issued += 1;
            Some((completion.completed, draw(issued - 1)))
        },
    );
    device
}

/// A place of its own for every command, far from order.
fn scattered(id: u64) -> u64 {
    (id * 7_919 + id * id % 31) % 100_003 * 100
}

/// The most requests that go between the deadline of the oldest of an access and itself.
fn longest_after_expiry(params: &ElevatorParams, draw: impl Fn(u64) -> Command) -> [u64; 2] {
    let device = closed(params, 64, Instant::ZERO + Span::from_ms(4_000), us(500), &draw);
    // A command is submitted when the one that it follows is done.
    let submitted = |id: u64| if id < 64 { Instant::ZERO } else { device.given[id as usize - 64].completed };
    let mut longest = [0; 2];
    let mut waiting: [std::collections::BTreeSet<u64>; 2] = Default::default();
    let mut passed = BTreeMap::<u64, u64>::new();
    let mut arrived = 0;
    for handed in &device.handed {
        while arrived < device.given.len() as u64 + 64 && submitted(arrived) <= handed.at {
            waiting[draw(arrived).access as usize].insert(arrived);
            arrived += 1;
        }
        for (access, expire) in [(0, params.deadline.read_expire), (1, params.deadline.write_expire)] {
            let Some(&oldest) = waiting[access].first() else { continue };
            if oldest != handed.request.id && handed.at >= submitted(oldest) + expire {
                let count = passed.entry(oldest).or_default();
                *count += 1;
                longest[access] = longest[access].max(*count);
            }
        }
        waiting[handed.request.access as usize].remove(&handed.request.id);
    }
    longest
}

#[test]
fn an_expired_request_waits_for_no_more_batches_than_promised() {
    for (fifo_batch, writes_starved) in [(1, 1), (1, 3), (4, 2), (16, 2)] {
        let mut params = params(ElevatorOrder::Deadline);
        params.deadline.fifo_batch = fifo_batch;
        params.deadline.writes_starved = writes_starved;
        (params.deadline.read_expire, params.deadline.write_expire) = (us(12_000), us(20_000));
        let draw = |id: u64| {
            let access = if id % 5 < 2 { Access::Write } else { Access::Read };
            command(id, access, scattered(id), 8)
        };
        let [read, write] = longest_after_expiry(&params, draw);
        let bounds = (2 * u64::from(fifo_batch) - 1, u64::from((writes_starved + 1) * fifo_batch) - 1);
        assert!(read <= bounds.0 && write <= bounds.1, "{read} {write}, promised {bounds:?}");
        // The bounds are met: neither is idle.
        assert_eq!((read, write), bounds, "{fifo_batch} {writes_starved}");
    }
}

#[test]
fn every_process_gets_its_slice_within_the_sum_of_the_slices() {
    const PROCESSES: u64 = 5;
    let params = ElevatorParams { depth: 4, ..params(ElevatorOrder::Fair) };
    let time = Span::from_ms(5);
    // Process 0 writes, and nobody waits for that; the others read.
    let draw = |id: u64| {
        let process = (id % PROCESSES) as u32;
        let access = if process == 0 { Access::Write } else { Access::Read };
        Command { process, synchronous: process != 0, ..command(id, access, scattered(id), 8) }
    };
    let end = Instant::ZERO + Span::from_ms(60_000);
    let mut device = Device::new(&params);
    for id in 0..16 * PROCESSES {
        device.arrive(Instant::ZERO, draw(id));
    }
    let mut issued = vec![16; PROCESSES as usize];
    device.run(
        end,
        |_| time,
        |completion| {
            let process = completion.id % PROCESSES;
            let nth = &mut issued[process as usize];
            *nth += 1;
            Some((completion.completed, draw((*nth - 1) * PROCESSES + process)))
        },
    );
    let (sync, shared) = (params.fair.slice_sync.as_ns(), params.fair.slice_async.as_ns());
    let mut counts = vec![0; PROCESSES as usize];
    for process in 0..PROCESSES as u32 {
        let at = device.handed.iter().filter(|handed| handed.request.process == process);
        let at: Vec<u64> = at.map(|handed| handed.at.as_ns()).collect();
        counts[process as usize] = at.len();
        let longest = at.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        let others = if process == 0 { 4 * sync } else { 3 * sync + shared };
        // Each turn ends with the first question after its slice: a service later at most.
        let bound = others + 4 * time.as_ns();
        assert!(longest <= bound, "process {process}: {longest} over {bound}");
    }
    let (least, most) = (*counts[1..].iter().min().unwrap(), *counts[1..].iter().max().unwrap());
    assert!(most - least <= most / 20, "{counts:?}");
    // By slices: 40 ms to 100 ms.
    assert!((3 * most..5 * most).contains(&(10 * counts[0])), "{counts:?}");
}

#[test]
fn sixty_five_thousand_commands_wait_without_looking_at_each() {
    // Looking at each of them for every command would be 10^10 steps; this takes a second.
    for order in ElevatorOrder::ALL {
        let params = ElevatorParams { depth: 32, merge_limit: Some(Sectors::new(64)), ..params(order) };
        let draw = |id: u64| {
            let access = if id.is_multiple_of(3) { Access::Write } else { Access::Read };
            // Some of them neighbours, some of them at one place.
            let first =
                if id.is_multiple_of(7) { id % 4 * 8 } else { 1_000 + scattered(id / 2) + id % 2 * 8 };
            Command { process: (id % 50) as u32, ..command(id, access, first, 8) }
        };
        let device = closed(&params, 1 << 16, Instant::ZERO + Span::from_ms(300), us(100), draw);
        // The fair order has one process at a time with the device.
        assert!(device.given.len() > 15_000, "{order:?}: {}", device.given.len());
    }
}
