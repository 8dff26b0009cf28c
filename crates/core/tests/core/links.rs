//! Links and buses against closed forms: what a transfer alone takes, what drives that share a bus get, and that no bus
//! ever carries more than its rate.
use crate::common::{Probe, drive, ms, queue, response, us};
use drivelab_core::Access;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::params::{DriveModel, LinkParams, WriteData};
use drivelab_core::storage::drive::protocol::{NcqParams, Protocol};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::storage::link::params::{BusParams, Hop};
use drivelab_core::storage::link::{Carried, Transfer, Wires};
use drivelab_core::storage::system::SystemParams;
use drivelab_units::{Bytes, Instant, Rate, Sectors, Span};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::sync::Arc;

/// A rate at which a sector takes so many microseconds, without a rest.
fn sector_in(us: u64) -> Option<Rate> {
    assert_eq!(512_000_000 % us, 0);
    Rate::from_bytes_per_s(512_000_000 / us)
}

const fn at(us: u64) -> Instant {
    Instant::from_ns(us * 1_000)
}

fn hop(bus: u16) -> Hop {
    Hop { bus, rate: None }
}

/// A transfer of so many sectors, the first of which is there at `from` and the last at `last` (microseconds).
fn read(count: u64, from: u64, last: u64) -> Transfer {
    let count = Sectors::new(count);
    Transfer { access: Access::Read, count, from: at(from), last: at(last), call: Span::ZERO }
}

fn write(count: u64, from: u64) -> Transfer {
    Transfer { access: Access::Write, ..read(count, from, from) }
}

fn carried(begun: u64, ended: u64) -> Carried {
    Carried { begun: at(begun), ended: at(ended) }
}

/// So many drives, each on a link of its own, behind one bus.
fn drives_behind(bus: BusParams, link: Option<Rate>, drives: u16) -> Wires {
    let mut buses = vec![bus];
    buses.extend((0..drives).map(|_| BusParams::link(link)));
    let paths: Vec<[Hop; 2]> = (1..=drives).map(|own| [hop(own), hop(0)]).collect();
    let paths: Vec<&[Hop]> = paths.iter().map(<[Hop; 2]>::as_slice).collect();
    Wires::new(&buses, &paths)
}

/// So many drives on one bus.
fn drives_on(bus: BusParams, drives: usize) -> Wires {
    Wires::new(&[bus], &vec![[hop(0)].as_slice(); drives])
}

#[test]
fn what_is_there_crosses_at_the_rate_of_the_slowest_stage() {
    // 10 sectors, 4 us each on the slowest stage, and the last of them passes the two others as well.
    let buses = [1, 4, 2].map(|us| BusParams::shared(sector_in(us)));
    let mut wires = Wires::new(&buses, &[&[hop(0), hop(1), hop(2)]]);
    assert_eq!(wires.carry(0, &read(10, 5, 5)), carried(5, 5 + 40 + 1 + 2));
    assert_eq!(wires.time_alone(0, Sectors::new(10)), us(43));
}

#[test]
fn what_comes_from_the_media_leaves_beside_it() {
    let mut wires = drives_behind(BusParams::shared(sector_in(2)), sector_in(4), 1);
    // A sector every 10 us: the last one passes both stages when it has come.
    assert_eq!(wires.carry(0, &read(100, 10, 1_000)), carried(10, 1_006));
    // A sector every 2 us: the link is the slowest, and the last sector passes the bus too.
    assert_eq!(wires.carry(0, &read(100, 2_002, 2_200)), carried(2_002, 2_002 + 400 + 2));
}

#[test]
fn an_infinitely_fast_path_costs_nothing() {
    let mut wires = Wires::of_drive(
        &LinkParams {
            rate: None,
            write_rate: None,
            write_data: WriteData::WhilePositioning,
            full_duplex: false,
        },
        None,
    );
    assert_eq!(wires.carry(0, &read(1_000, 7, 90)), carried(7, 90));
    assert_eq!(wires.carry(0, &read(1_000, 80, 91)), carried(90, 91));
    let mut shared = drives_behind(BusParams::shared(None), None, 2);
    assert_eq!(shared.carry(0, &read(1_000, 70, 90)), carried(70, 90));
    assert_eq!(shared.carry(1, &read(1_000, 8, 91)), carried(8, 91));
}

#[test]
fn a_saturated_bus_carries_its_rate() {
    for drives in [1u16, 2, 7] {
        let bus = BusParams::shared(sector_in(2));
        let mut wires = drives_behind(bus, sector_in(1), drives);
        // All data are there at once: the last one has come when the bus has carried all, and passed one link.
        let carried = (0..100 * drives).map(|i| wires.carry(i % drives, &read(8, 0, 0)).ended);
        assert_eq!(carried.max(), Some(at(100 * u64::from(drives) * 8 * 2 + 1)));
    }
}

/// Streams that read 64 sectors at a time beside the media, a sector every so many microseconds each: when the last of
/// `rounds` transfers has come.
fn streams(wires: &mut Wires, drives: u16, sector: u64, rounds: u64) -> Instant {
    let span = 64 * sector;
    let mut ended = Instant::ZERO;
    for round in 0..rounds {
        for drive in 0..drives {
            // The drives are out of step.
            let begin = round * span + u64::from(drive) * 7;
            ended = ended.max(wires.carry(drive, &read(64, begin + sector, begin + span)).ended);
        }
    }
    ended
}

#[test]
fn drives_that_ask_for_less_than_the_bus_has_do_not_feel_each_other() {
    let bus = BusParams::shared(sector_in(1));
    // Two thirds of the bus: each sector leaves as it comes.
    assert_eq!(streams(&mut drives_on(bus, 2), 2, 3, 1_000), at(1_000 * 192 + 7 + 1));
    // Held for as long as the first one's media take, the bus has the other one's data from its buffer behind that.
    let held = BusParams { holds: true, ..bus };
    assert_eq!(streams(&mut drives_on(held, 2), 2, 3, 1_000), at(1_000 * 192 + 1 + 64));
}

#[test]
fn drives_that_ask_for_more_than_the_bus_has_share_it() {
    let rounds = 1_000;
    for drives in [2u16, 3, 5] {
        let mut wires = drives_on(BusParams::shared(sector_in(2)), drives.into());
        // A sector every 3 us from each drive, and one every 2 us for all of them.
        let all = rounds * u64::from(drives) * 64 * 2;
        let ended = streams(&mut wires, drives, 3, rounds);
        assert!(ended >= at(all) && ended <= at(all + 3 * 64), "{drives} drives: {ended:?} for {all}");
    }
}

#[test]
fn a_drive_that_disconnects_lets_another_one_through() {
    // The first drive's data come a sector every 10 us, up to 1000; its host hears of them then. At 500 the second one has
    // its data ready.
    let fast = BusParams::shared(sector_in(1));
    let mut wires = drives_on(fast, 2);
    assert_eq!(wires.carry(1, &read(50, 500, 500)), carried(500, 550));
    assert_eq!(wires.carry(0, &read(100, 10, 1_000)), carried(10, 1_001));
    let mut wires = drives_on(BusParams { holds: true, ..fast }, 2);
    assert_eq!(wires.carry(0, &read(100, 10, 1_000)), carried(10, 1_001));
    assert_eq!(wires.carry(1, &read(50, 500, 500)), carried(1_001, 1_051));
}

#[test]
fn each_connection_costs_its_arbitration() {
    let fixed = us(20);
    let once = BusParams { fixed, ..BusParams::shared(sector_in(1)) };
    let mut wires = drives_on(once, 2);
    assert_eq!(wires.carry(0, &read(64, 0, 0)), carried(20, 84));
    assert_eq!(wires.carry(1, &read(64, 0, 0)), carried(104, 168));
    // 64 sectors in bursts of 16, then 65.
    let bursts = BusParams { burst: Some(Sectors::new(16)), ..once };
    let mut wires = drives_on(bursts, 2);
    assert_eq!(wires.carry(0, &read(64, 0, 0)), carried(20, 64 + 4 * 20));
    assert_eq!(wires.carry(1, &read(65, 0, 0)), carried(64 + 80 + 20, 64 + 80 + 65 + 5 * 20));
    assert_eq!(wires.time_alone(0, Sectors::new(65)), us(165));
}

#[test]
fn the_slowest_stage_is_the_one_that_needs_longest_for_all() {
    // A sector passes the first stage faster, but 16 connections cost more than the second one's rate.
    let often = BusParams { fixed: us(10), burst: Some(Sectors::new(1)), ..BusParams::shared(sector_in(1)) };
    let mut wires = Wires::new(&[often, BusParams::shared(sector_in(4))], &[&[hop(0), hop(1)]]);
    assert_eq!(wires.carry(0, &read(16, 0, 0)), carried(10, 16 + 16 * 10 + 4));
}

#[test]
fn what_is_left_of_an_idle_time_is_the_longer_part() {
    for (early, gap) in [(10, (110, 1_000)), (890, (0, 890))] {
        let mut wires = drives_on(BusParams::shared(sector_in(1)), 1);
        wires.carry(0, &read(50, 1_000, 1_000));
        assert_eq!(wires.carry(0, &read(100, early, early)), carried(early, early + 100));
        let count = gap.1 - gap.0;
        assert_eq!(wires.carry(0, &read(count, 0, 0)), carried(gap.0, gap.1), "behind {early}");
        assert_eq!(wires.carry(0, &read(1, 0, 0)), carried(1_050, 1_051));
    }
}

#[test]
fn a_call_keeps_the_drives_own_stage_and_not_what_lies_behind() {
    let call = us(30);
    let mut wires = drives_on(BusParams::shared(sector_in(1)), 2);
    assert_eq!(wires.carry(0, &Transfer { call, ..read(10, 0, 0) }), carried(30, 40));
    assert_eq!(wires.carry(1, &read(10, 0, 0)), carried(40, 50));
    let mut wires = drives_behind(BusParams::shared(sector_in(1)), None, 2);
    assert_eq!(wires.carry(0, &Transfer { call, ..read(10, 0, 0) }), carried(30, 40));
    assert_eq!(wires.carry(1, &read(10, 0, 0)), carried(10, 20));
}

#[test]
fn two_directions_at_once_where_the_stage_has_two() {
    let one = BusParams::shared(sector_in(1));
    let mut wires = drives_on(one, 2);
    assert_eq!(wires.carry(0, &read(10, 0, 0)), carried(0, 10));
    assert_eq!(wires.carry(1, &write(10, 0)), carried(10, 20));
    let mut wires = drives_on(BusParams { full_duplex: true, ..one }, 2);
    assert_eq!(wires.carry(0, &read(10, 0, 0)), carried(0, 10));
    assert_eq!(wires.carry(1, &write(10, 0)), carried(0, 10));
    assert_eq!(wires.carry(0, &write(10, 0)), carried(10, 20));
    assert_eq!(wires.free_from(1, Access::Read), at(10));
    assert_eq!(wires.free_from(1, Access::Write), at(20));
}

#[test]
fn a_slow_drive_has_a_fast_bus_for_longer() {
    let slow = Hop { rate: sector_in(4), ..hop(0) };
    let fast = Hop { rate: sector_in(1), ..hop(0) };
    let mut wires = Wires::new(&[BusParams::shared(sector_in(2))], &[&[slow], &[fast]]);
    assert_eq!(wires.carry(0, &read(10, 0, 0)), carried(0, 40));
    assert_eq!(wires.carry(1, &read(10, 0, 0)), carried(40, 60));
}

#[test]
fn who_is_alone_on_a_plain_link_shares_nothing() {
    let link = LinkParams {
        rate: sector_in(1),
        write_rate: None,
        write_data: WriteData::WhilePositioning,
        full_duplex: false,
    };
    assert!(!Wires::of_drive(&link, None).is_shared(0));
    assert!(Wires::of_drive(&link, Some(&BusParams::shared(sector_in(1)))).is_shared(0));
    assert!(drives_on(BusParams::link(None), 2).is_shared(0));
    assert!(drives_on(BusParams { fixed: us(1), ..BusParams::link(None) }, 1).is_shared(0));
}

/// A drive that has the first sectors in its buffer, on a link of a sector in a microsecond, behind this bus of the host.
fn behind_bus(bus: Option<BusParams>) -> Probe {
    let mut params = drive();
    params.link.rate = sector_in(1);
    params.cache = Some(CacheParams::reading_on(Sectors::new(600)));
    (params.protocol, params.queue) = (Protocol::Ncq(NcqParams::USUAL), queue(8, Order::Fcfs));
    let drive = Arc::new(DriveModel::new(&params).unwrap());
    let controller = ControllerParams { bus, ..ControllerParams::PLAIN };
    let system = SystemParams::of_drive(drive, controller);
    let mut probe = Probe::new(&TargetParams::System(system), 1);
    probe.read(0, 64);
    probe.wait(ms(20));
    probe
}

#[test]
fn the_bus_of_the_host_limits_what_a_buffer_gives() {
    let bus = BusParams { fixed: us(3), ..BusParams::shared(sector_in(4)) };
    for (bus, alone, each) in [(None, 64, 64), (Some(bus), 3 + 64 * 4 + 1, 3 + 64 * 4)] {
        let mut probe = behind_bus(bus);
        assert_eq!(response(&probe.read(0, 64)), us(alone).as_ns(), "{bus:?}");
        // Eight at once have the bus one after the other.
        let begun = probe.now;
        (0..8).for_each(|_| _ = probe.send(Access::Read, 0, 64));
        let answers = probe.drain();
        assert_eq!(answers.len(), 8);
        assert_eq!(probe.now - begun, us(7 * each + alone), "{bus:?}");
        assert!(answers.iter().all(|answer| answer.breakdown.total() == answer.completed - answer.submitted));
    }
}

#[test]
fn what_comes_from_the_media_at_less_than_the_rate_of_the_bus_is_not_held_up() {
    // A sector passes the head in 10 us: behind a faster bus the last one is all that the bus adds.
    let completed = |bus| behind_bus(bus).read(60_000, 100).completed;
    let alone = completed(None);
    assert_eq!(completed(Some(BusParams::shared(sector_in(8)))), alone + us(8));
    // A slower one carries sector after sector from the first on, which passes the head in 10 us of 1000.
    let slow = completed(Some(BusParams::shared(sector_in(16))));
    assert_eq!(slow - alone, us(10 + 1 + 100 * 16) - us(1_000 + 1));
}

/// What the model of a drive with a link of its own was before there were buses.
fn on_own_link(rate: Option<Rate>, transfers: &[Transfer]) -> Vec<Carried> {
    let time =
        |count: Sectors| rate.map_or(Span::ZERO, |rate| rate.time_for(Bytes::new(count.bytes().get())));
    let mut free = Instant::ZERO;
    let carry = |transfer: &Transfer| {
        let begun = free.max(transfer.from) + transfer.call;
        let ended = (transfer.last + time(Sectors::new(1))).max(begun + time(transfer.count));
        free = free.max(ended);
        Carried { begun, ended }
    };
    transfers.iter().map(carry).collect()
}

fn transfers() -> impl Strategy<Value = Vec<(u16, Transfer)>> {
    let access = prop_oneof![Just(Access::Read), Just(Access::Write)];
    let times = (0u64..4_000_000, 0u64..300_000, prop_oneof![Just(0u64), 0u64..50_000]);
    let transfer =
        (0u16..4, access, 1u64..300, times).prop_map(|(drive, access, count, (from, more, call))| {
            let from = Instant::from_ns(from);
            let (count, last, call) = (Sectors::new(count), from + Span::from_ns(more), Span::from_ns(call));
            (drive, Transfer { access, count, from, last, call })
        });
    vec(transfer, 1..60)
}

fn rates() -> impl Strategy<Value = Option<Rate>> {
    option::weighted(
        0.8,
        (1_000_000u64..2_000_000_000).prop_map(|rate| Rate::from_bytes_per_s(rate).unwrap()),
    )
}

fn buses() -> impl Strategy<Value = BusParams> {
    let burst = option::of((1u64..100).prop_map(Sectors::new));
    let fixed = prop_oneof![Just(Span::ZERO), (1u64..30_000).prop_map(Span::from_ns)];
    (rates(), fixed, burst, any::<[bool; 2]>()).prop_map(|(rate, fixed, burst, [full_duplex, holds])| {
        BusParams { rate, write_rate: None, fixed, burst, full_duplex, holds }
    })
}

/// Four drives, each with a path of one to three of four buses.
fn networks() -> impl Strategy<Value = (Vec<BusParams>, Vec<Vec<Hop>>)> {
    let hops = (prop::sample::subsequence(vec![0u16, 1, 2, 3], 1..4), rates())
        .prop_map(|(buses, rate)| buses.into_iter().map(|bus| Hop { bus, rate }).collect::<Vec<_>>());
    (vec(buses(), 4), vec(hops, 4))
}

/// What so many sectors take on a bus.
fn on_bus(bus: &BusParams, hop: &Hop, count: Sectors) -> Span {
    let rate = [bus.rate, hop.rate].into_iter().flatten().min();
    rate.map_or(Span::ZERO, |rate| rate.time_for(count.bytes()))
}

/// For how long a transfer has a bus that it leaves while it has nothing to send, written out from the rules.
fn taken(bus: &BusParams, hop: &Hop, is_first: bool, transfer: &Transfer) -> Span {
    let data = on_bus(bus, hop, transfer.count);
    let connections = bus.burst.map_or(1, |burst| transfer.count.get().div_ceil(burst.get()));
    let call = if is_first { transfer.call } else { Span::ZERO };
    Span::from_ns(bus.fixed.as_ns() * connections) + data + call
}

proptest! {
    #[test]
    fn a_link_of_ones_own_is_what_it_always_was(rate in rates(), calls in transfers()) {
        let calls: Vec<Transfer> = calls.into_iter().map(|(_, transfer)| transfer).collect();
        let mut wires = Wires::of_drive(&LinkParams { rate, write_rate: None, write_data: WriteData::WhilePositioning, full_duplex: false }, None);
        let found: Vec<Carried> = calls.iter().map(|transfer| wires.carry(0, transfer)).collect();
        prop_assert_eq!(found, on_own_link(rate, &calls));
    }

    #[test]
    fn a_bus_has_one_transfer_at_a_time((buses, paths) in networks(), calls in transfers()) {
        let hops: Vec<&[Hop]> = paths.iter().map(Vec::as_slice).collect();
        let mut wires = Wires::new(&buses, &hops);
        // Who has each bus when, for each direction.
        let mut had: Vec<[Vec<(Instant, Instant)>; 2]> = vec![Default::default(); buses.len()];
        for (drive, transfer) in calls {
            let path = &paths[usize::from(drive)];
            let fixed = path.iter().fold(Span::ZERO, |sum, hop| sum + buses[usize::from(hop.bus)].fixed);
            let Carried { begun, ended } = wires.carry(drive, &transfer);
            let granted = Instant::from_ns(begun.as_ns() - (fixed + transfer.call).as_ns());
            prop_assert!(granted >= transfer.from);
            let mut behind = transfer.from;
            let sector = |hop: &Hop| on_bus(&buses[usize::from(hop.bus)], hop, Sectors::new(1));
            let sectors = |hops: &[Hop]| hops.iter().fold(Span::ZERO, |sum, hop| sum + sector(hop));
            for (i, hop) in path.iter().enumerate() {
                let bus = &buses[usize::from(hop.bus)];
                let line = usize::from(bus.full_duplex && transfer.access == Access::Write);
                let had = &mut had[usize::from(hop.bus)][line];
                behind = had.iter().fold(behind, |at, &(_, until)| at.max(until));
                // The data come to a stage a sector behind the one before it, and leave it so.
                let from = granted + sectors(&path[..i]);
                let span = taken(bus, hop, i == 0, &transfer);
                let until = if bus.holds { Instant::from_ns(ended.as_ns() - sectors(&path[i + 1..]).as_ns()) } else { from + span };
                if until > from {
                    let free = had.iter().all(|&(begin, end)| until <= begin || end <= from);
                    prop_assert!(free, "{from:?} to {until:?} in {had:?}");
                    had.push((from, until));
                }
                // No stage passes its data faster than it can.
                prop_assert!(granted + fixed + transfer.call + on_bus(bus, hop, transfer.count) <= ended);
            }
            // At the latest behind all that was called before.
            prop_assert!(granted <= behind, "{granted:?} behind {behind:?}");
            prop_assert!(ended >= transfer.last);
        }
    }

    #[test]
    fn one_more_bus_or_transfer_makes_nothing_faster(bus in buses(), calls in transfers(), rate in rates()) {
        let link = LinkParams { rate, write_rate: None, write_data: WriteData::WhilePositioning, full_duplex: false };
        let (mut alone, mut behind) = (Wires::of_drive(&link, None), Wires::of_drive(&link, Some(&bus)));
        for (_, transfer) in calls {
            prop_assert!(behind.time_alone(0, transfer.count) >= alone.time_alone(0, transfer.count));
            let held = alone.carry(0, &transfer);
            let carried = behind.carry(0, &transfer);
            prop_assert!(carried.begun >= held.begun && carried.ended >= held.ended);
        }
    }
}

#[test]
fn a_link_may_take_longer_for_writes() {
    let link = LinkParams {
        rate: sector_in(2),
        write_rate: sector_in(5),
        write_data: WriteData::WhilePositioning,
        full_duplex: false,
    };
    for bus in [None, Some(BusParams::shared(None))] {
        let mut wires = Wires::of_drive(&link, bus.as_ref());
        // The same size in both directions, one after the other: each has its own time.
        assert_eq!(wires.carry(0, &read(10, 0, 0)), carried(0, 20));
        assert_eq!(wires.carry(0, &write(10, 100)), carried(100, 150));
        assert_eq!(wires.carry(0, &read(10, 200, 200)), carried(200, 220));
        assert_eq!(wires.carry(0, &write(3, 300)), carried(300, 315));
    }
    let count = Sectors::new(4);
    assert_eq!((link.time_of(Access::Read, count), link.time_of(Access::Write, count)), (us(8), us(20)));
}
