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
