//! What the exchanges on the bus cost, to the nanosecond, and a drive without a queue.
//!
//! A command that is released behaves as one that came so much later: then nothing of it but the call for its data is
//! left to account for.
use super::cases;
use super::wire::{Draft, Event, Step, drafts, drives_under, histories, play, sends};
use crate::common::scenarios::drives;
use crate::common::{Probe, TRACK, TURN, drive, ms, queue, target, us};
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::params::{DriveParams, FirmwareParams, LinkParams, Overhead, WriteData};
use drivelab_core::storage::drive::protocol::{ExchangeParams, Protocol, ScsiParams};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::{Access, Attribute, CommandTrace, Outcome, Priority};
use drivelab_units::{Rate, Sectors, Span};
use proptest::prelude::*;

const SCSI: ScsiParams = ScsiParams::USUAL;
const HOLDS_THE_BUS: Protocol = Protocol::ScsiTcq(ScsiParams { disconnects: false, ..SCSI });

fn releasing() -> impl Strategy<Value = Protocol> {
    prop_oneof![Just(Protocol::AtaTcq), Just(Protocol::ScsiTcq(SCSI))]
}

fn draft(access: Access, place: u64, count: u64) -> Draft {
    let (attribute, priority, force_unit_access) = (Attribute::Simple, Priority::Normal, false);
    Draft { initiator: 0, attribute, priority, force_unit_access, access, place, count }
}

/// The drive in round numbers: firmware, exchanges, and a link or none.
fn bare(write_data: WriteData) -> impl Strategy<Value = DriveParams> {
    let times = (0u64..300_000, 0u64..300_000, 0u64..20_000, 0u64..300_000, 0u64..100_000);
    let rate = prop::option::of(20_000_000u64..300_000_000);
    (times, rate).prop_map(move |((release, service, bridge, overhead, completion), rate)| {
        let [release, service, bridge] = [release, service, bridge].map(Span::from_ns);
        let (overhead, completion) = (Overhead::always(Span::from_ns(overhead)), Span::from_ns(completion));
        let firmware = FirmwareParams {
            read_hit: overhead,
            read_miss: overhead,
            write: overhead,
            write_hit: overhead,
            read_completion: completion,
            write_completion: completion,
        };
        let link = LinkParams {
            rate: rate.and_then(Rate::from_bytes_per_s),
            write_rate: None,
            write_data,
            full_duplex: false,
        };
        let exchange = ExchangeParams { release, service, bridge };
        DriveParams { firmware, link, exchange, ..drive() }
    })
}

/// One command by itself that comes after so long.
fn alone(params: &DriveParams, protocol: Protocol, after: Span, draft: Draft) -> CommandTrace {
    let params = DriveParams { protocol, ..params.clone() };
    play(&params, &[Step::Wait(after), Step::Send(draft)], None).traces[&0]
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_read_miss_pays_the_release_before_the_arm_and_the_service_before_its_data(
        params in bare(WriteData::WhilePositioning),
        protocol in releasing(),
        (place, count, after) in (0u64..900 * TRACK, 1u64..700, 0u64..10_000_000),
    ) {
        let (after, read) = (Span::from_ns(after), draft(Access::Read, place, count));
        let ExchangeParams { release, service, bridge } = params.exchange;
        let queued = alone(&params, protocol, after, read);
        let plain = alone(&params, Protocol::None, after + release + bridge, read);
        prop_assert_eq!((queued.begun, queued.ended), (plain.begun, plain.ended));
        // The link runs beside the media from the first sector on, as soon as the host has answered the call.
        let link = |count| params.link.time_for(Sectors::new(count));
        let sent = |service: Span| (queued.begun + us(10) + service + link(count)).max(queued.ended + link(1));
        let (with, without) = (sent(service + bridge + bridge), sent(Span::ZERO));
        prop_assert_eq!(queued.completed - plain.completed, with - without);
        let end = params.firmware.read_completion + bridge;
        prop_assert_eq!(queued.completed, with + end);
    }

    #[test]
    fn one_sector_pays_the_whole_service(
        params in bare(WriteData::WhilePositioning),
        protocol in releasing(),
        place in 0u64..900 * TRACK,
    ) {
        let read = draft(Access::Read, place, 1);
        let ExchangeParams { release, service, bridge } = params.exchange;
        let queued = alone(&params, protocol, Span::ZERO, read);
        let plain = alone(&params, Protocol::None, release + bridge, read);
        prop_assert_eq!(queued.completed - plain.completed, service + bridge + bridge);
    }

    #[test]
    fn a_write_whose_data_come_first_pays_both_before_the_arm(
        params in bare(WriteData::BeforePositioning),
        protocol in releasing(),
        (place, count) in (0u64..900 * TRACK, 1u64..700),
    ) {
        let write = draft(Access::Write, place, count);
        let ExchangeParams { release, service, bridge } = params.exchange;
        let queued = alone(&params, protocol, Span::ZERO, write);
        let later = (release + bridge) + (service + bridge + bridge);
        let plain = alone(&params, Protocol::None, later, write);
        prop_assert_eq!(queued.completed, plain.completed);
    }

    #[test]
    fn a_write_whose_data_come_late_pays_whole_turns(
        mut params in bare(WriteData::WhilePositioning),
        protocol in releasing(),
        (place, service) in (0u64..900 * TRACK, 0u64..20_000_000),
    ) {
        (params.link.rate, params.exchange.service) = (None, Span::from_ns(service));
        let write = draft(Access::Write, place, 1);
        let ExchangeParams { release, service, bridge } = params.exchange;
        let queued = alone(&params, protocol, Span::ZERO, write);
        let plain = alone(&params, Protocol::None, release + bridge, write);
        // The call goes out when the arm starts: firmware and bridge after the command.
        let started = plain.accepted + params.firmware.write.after_read + bridge;
        let late = (started + service + bridge + bridge).since(plain.begun).as_ns();
        let turns = Span::from_ns(late.div_ceil(TURN) * TURN);
        prop_assert_eq!(queued.completed - plain.completed, turns);
    }

    #[test]
    fn a_hit_pays_nothing_but_the_bridge(
        mut params in bare(WriteData::WhilePositioning),
        protocol in releasing(),
        (place, count) in (0u64..900 * TRACK, 1u64..300),
    ) {
        let size = Sectors::new(1_000);
        params.cache = Some(CacheParams::reading_on(size).when(true, false));
        let read = draft(Access::Read, place, count);
        let steps = [Step::Send(read), Step::Wait(ms(100)), Step::Send(read)];
        for protocol in [protocol, Protocol::None] {
            let params = DriveParams { protocol, ..params.clone() };
            let hit = play(&params, &steps, None).traces[&1];
            let FirmwareParams { read_hit, read_completion, .. } = params.firmware;
            let own = read_hit.after_read + params.link.time_for(Sectors::new(count)) + read_completion;
            let bridge = params.exchange.bridge;
            prop_assert_eq!(hit.completed - hit.accepted, own + bridge + bridge, "{:?}", protocol);
        }
    }

    #[test]
    fn a_drive_that_may_not_let_go_of_the_bus_costs_what_one_without_a_queue_does(
        params in bare(WriteData::WhilePositioning),
        (write, place, count) in (any::<bool>(), 0u64..900 * TRACK, 1u64..700),
    ) {
        let draft = draft(if write { Access::Write } else { Access::Read }, place, count);
        let held = alone(&params, HOLDS_THE_BUS, Span::ZERO, draft);
        let plain = alone(&params, Protocol::None, Span::ZERO, draft);
        prop_assert_eq!(held.completed, plain.completed);
    }

    #[test]
    fn an_ata_command_without_a_tag_is_not_released(
        params in bare(WriteData::WhilePositioning),
        (write, place, count) in (any::<bool>(), 0u64..900 * TRACK, 1u64..700),
    ) {
        let draft = draft(if write { Access::Write } else { Access::Read }, place, count);
        let untagged = Draft { attribute: Attribute::Untagged, ..draft };
        let untagged = alone(&params, Protocol::AtaTcq, Span::ZERO, untagged);
        let plain = alone(&params, Protocol::None, Span::ZERO, draft);
        prop_assert_eq!(untagged.completed, plain.completed);
    }

    #[test]
    fn without_a_queue_one_command_is_outstanding_and_the_next_begins_after_its_end(
        params in drives_under(Just(Protocol::None).boxed()),
        steps in histories(prop_oneof![
            sends(&[Attribute::Simple, Attribute::Untagged]),
            (drafts(&[Attribute::Simple]), 0u32..3).prop_map(|(draft, tag)| Step::SendAs(draft, tag)),
        ].boxed()),
    ) {
        let run = play(&params, &steps, None);
        let mut held = None;
        for (_, event) in &run.log {
            match event {
                Event::Sent(command) => {
                    prop_assert_eq!(run.traces.contains_key(&command.id), held.is_none());
                    held.get_or_insert(command.id);
                }
                Event::Answered(answer) => {
                    let own = held == Some(answer.id);
                    prop_assert_eq!(answer.outcome, if own { Outcome::Done } else { Outcome::Full });
                    held = held.filter(|_| !own);
                }
                _ => {}
            }
        }
        let traces: Vec<&CommandTrace> = run.traces.values().collect();
        prop_assert!(traces.windows(2).all(|pair| pair[0].completed <= pair[1].chosen));
    }

    #[test]
    fn behind_a_controller_a_drive_without_a_queue_goes_in_order_of_arrival(
        params in drives_under(Just(Protocol::None).boxed()),
        places in prop::collection::vec((any::<u64>(), any::<bool>()), 1..30),
    ) {
        let mut probe = Probe::of(&params);
        let capacity = drivelab_core::storage::Target::new(&target(&params), 1).capacity().get();
        for (place, write) in &places {
            probe.send(if *write { Access::Write } else { Access::Read }, place % capacity, 1);
        }
        let answers = probe.drain();
        prop_assert!(answers.iter().map(|answer| answer.id).eq(0..places.len() as u64));
    }

    #[test]
    fn the_cost_of_an_exchange_is_in_the_breakdown(params in drives(), protocol in releasing()) {
        let queue = queue(1, Order::Fcfs);
        let params = DriveParams { queue, protocol, faults: None, cache: None, ..params };
        let read = draft(Access::Read, 0, 1);
        let run = play(&params, &[Step::Send(read)], None);
        let answer = run.answers().next().unwrap();
        let ExchangeParams { release, bridge, .. } = params.exchange;
        let FirmwareParams { read_miss, read_completion, .. } = params.firmware;
        let overhead = read_miss.after_read + bridge + release + bridge + read_completion + bridge;
        prop_assert_eq!(answer.breakdown.overhead, overhead);
        prop_assert_eq!(answer.breakdown.total(), answer.completed - answer.submitted);
    }
}
