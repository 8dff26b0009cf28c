//! Before a host-managed drive: whatever arrives and however the drive completes, each zone is written in order.
use super::params;
use drivelab_core::rng::Stream;
use drivelab_core::storage::drive::zones::{Zones, ZonesParams};
use drivelab_core::storage::elevator::{Elevator, ElevatorOrder, ElevatorParams};
use drivelab_core::{Access, Breakdown, Command, Completion, Content, Outcome};
use drivelab_units::{Instant, Lba, Sectors, Span};

const ZONES: ZonesParams = ZonesParams { size: Sectors::new(64), conventional: 1, open_most: 8 };
const CAPACITY: Sectors = Sectors::new(64 * 6);

/// Writes at the pointers of a host and reads anywhere, completed in any order; returns the largest request.
fn play(order: ElevatorOrder, merge_limit: Option<Sectors>, seed: u64) -> u64 {
    let params = ElevatorParams { depth: 8, merge_limit, ..params(order) };
    let mut elevator = Elevator::new(&params).with_zones(ZONES, merge_limit);
    let (mut host, mut drive) = (Zones::new(ZONES, CAPACITY), Zones::new(ZONES, CAPACITY));
    let mut dice = Stream::named(seed, "zones");
    let mut out: Vec<Command> = Vec::new();
    let (mut answered, mut largest) = (0, 0);
    let mut now = Instant::ZERO;
    let commands = 3_000;
    let mut id = 0;
    while answered < commands {
        now += Span::from_us(10);
        if id < commands && dice.below(2) == 0 {
            let count = Sectors::new(1 + dice.below(8));
            let zone = dice.below(6);
            let mut command = Command::new(id, Access::Write, Lba::new(zone * 64), count);
            match host.pointer(zone) {
                _ if dice.below(4) == 0 => command.access = Access::Read,
                None => {}
                Some(pointer) if (pointer + count).get() <= zone * 64 + 64 => command.first = pointer,
                Some(_) => command.content = Content::AfterReset,
            }
            host.accept(&command);
            elevator.submit(now, command);
            id += 1;
        }
        while let Some(request) = elevator.next(now) {
            assert_eq!(drive.refusal(&request), None, "{request:?}");
            drive.accept(&request);
            if request.access == Access::Write && request.first.get() >= 64 {
                largest = largest.max(request.count.get());
                let zone = request.first.get() / 64;
                let same = |other: &&Command| other.access == Access::Write && other.first.get() / 64 == zone;
                assert!(!out.iter().any(|other| same(&other)), "two writes of zone {zone} at once");
            }
            out.push(request);
        }
        if !out.is_empty() && dice.below(2) == 0 {
            let done = out.swap_remove(dice.below(out.len() as u64) as usize);
            let completion = Completion {
                id: done.id,
                initiator: 0,
                tag: done.tag,
                outcome: Outcome::Done,
                submitted: now,
                completed: now,
                breakdown: Breakdown::default(),
            };
            elevator.completed(&completion, |_, _| answered += 1);
        }
    }
    assert_eq!((elevator.waiting(), answered), (0, commands));
    largest
}

#[test]
fn every_zone_is_written_in_order_by_every_policy() {
    for order in ElevatorOrder::ALL {
        for seed in 0..20 {
            let merged = play(order, Some(Sectors::new(32)), seed);
            assert!(merged > 8 && merged <= 32, "{order:?}: {merged}");
            assert!(play(order, None, seed) <= 8);
        }
    }
}

/// The first of `elevator`'s requests, and which commands it carries.
fn next(elevator: &mut Elevator, now: Instant) -> Option<(Command, Vec<u64>)> {
    let request = elevator.next(now)?;
    let members = elevator.merged(request.tag).map(|command| command.id).collect();
    Some((request, members))
}

fn done(elevator: &mut Elevator, request: &Command, now: Instant) {
    let (id, tag, outcome) = (request.id, request.tag, Outcome::Done);
    let times = (now, now);
    let completion = Completion {
        id,
        initiator: 0,
        tag,
        outcome,
        submitted: times.0,
        completed: times.1,
        breakdown: Breakdown::default(),
    };
    elevator.completed(&completion, |_, _| ());
}

fn behind_one_write(order: ElevatorOrder) -> (Elevator, Command) {
    let params = ElevatorParams { depth: 8, merge_limit: Some(Sectors::new(64)), ..params(order) };
    let mut elevator = Elevator::new(&params).with_zones(ZONES, params.merge_limit);
    elevator.submit(Instant::ZERO, Command::new(0, Access::Write, Lba::new(64), Sectors::new(8)));
    let (first, _) = next(&mut elevator, Instant::ZERO).unwrap();
    (elevator, first)
}

#[test]
fn a_write_does_not_pass_an_older_read_as_part_of_another_one() {
    let (mut elevator, first) = behind_one_write(ElevatorOrder::CLook);
    let now = Instant::ZERO;
    elevator.submit(now, Command::new(1, Access::Write, Lba::new(72), Sectors::new(8)));
    elevator.submit(now, Command::new(2, Access::Read, Lba::new(80), Sectors::new(8)));
    elevator.submit(now, Command::new(3, Access::Write, Lba::new(80), Sectors::new(8)));
    elevator.submit(now, Command::new(4, Access::Write, Lba::new(88), Sectors::new(8)));
    let (read, _) = next(&mut elevator, now).unwrap();
    assert_eq!(read.id, 2);
    done(&mut elevator, &first, now);
    let (second, members) = next(&mut elevator, now).unwrap();
    assert_eq!(members, [1]);
    done(&mut elevator, &second, now);
    assert_eq!(next(&mut elevator, now), None, "the read is not done");
    done(&mut elevator, &read, now);
    assert_eq!(next(&mut elevator, now).unwrap().1, [3, 4]);
}

#[test]
fn a_write_across_the_end_of_its_zone_fails_alone() {
    let (mut elevator, first) = behind_one_write(ElevatorOrder::Noop);
    let now = Instant::ZERO;
    elevator.submit(now, Command::new(1, Access::Write, Lba::new(72), Sectors::new(50)));
    elevator.submit(now, Command::new(2, Access::Write, Lba::new(122), Sectors::new(10)));
    done(&mut elevator, &first, now);
    assert_eq!(next(&mut elevator, now).unwrap().1, [1]);
}

#[test]
fn a_write_that_goes_ahead_of_all_ends_no_other_ones_turn() {
    let (mut elevator, first) = behind_one_write(ElevatorOrder::Noop);
    let now = Instant::ZERO;
    let ahead = Command::new(1, Access::Write, Lba::new(72), Sectors::new(8));
    elevator.submit(now, Command { attribute: drivelab_core::Attribute::HeadOfQueue, ..ahead });
    elevator.submit(now, Command::new(2, Access::Write, Lba::new(80), Sectors::new(8)));
    let (ahead, _) = next(&mut elevator, now).unwrap();
    done(&mut elevator, &ahead, now);
    assert_eq!(next(&mut elevator, now), None, "the first write is still out");
    done(&mut elevator, &first, now);
    assert_eq!(next(&mut elevator, now).unwrap().1, [2]);
}
