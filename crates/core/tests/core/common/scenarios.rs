//! Random setups, small enough to run thousands of them, that reach every part of the model.
use super::sorted::Target;
use super::{layout, ms, stations, target, us};
use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobParams, Marking, SizeShare, SubmitCost};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::cache::params::{
    CacheParams, Destage, Reach, ReadAheadParams, WriteBackParams,
};
use drivelab_core::storage::drive::disconnect::DisconnectParams;
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::flash::params::{FlashParams, ReadTimes, SlcParams};
use drivelab_core::storage::drive::geometry::{GeometryParams, Spares, SurfaceOrder, ZoneParams};
use drivelab_core::storage::drive::mechanism::SettleParams;
use drivelab_core::storage::drive::params::{
    DriveModel, DriveParams, FirmwareParams, LinkParams, Medium, Overhead, WriteData,
};
use drivelab_core::storage::drive::protocol::{
    Descriptor, DurationLimits, Exceeded, ExchangeParams, Naca, NcqParams, Protocol, QueueErrors, Reordering,
    ScsiParams, TaskSets, TimeLimit, UntaggedAs,
};
use drivelab_core::storage::drive::queue::orders::Unit;
use drivelab_core::storage::drive::queue::{ChoiceTime, JoinsUntil, Order, PositionKnowledge, QueueParams};
use drivelab_core::storage::drive::scatter::ScatterParams;
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_core::storage::drive::shingled::params::ShingledParams;
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::link::params as link;
use drivelab_core::storage::server::Service;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::{FlushOrder, ReadAhead, WriteBehindParams};
use drivelab_core::{Attribute, Limit, Priority, Setup};
use drivelab_units::{Angle, Frequency, Lba, Rate, Rpm, Sectors, Share, Span};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use std::sync::Arc;

fn spans(most_us: u64) -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::ZERO), (0..=most_us * 1_000).prop_map(Span::from_ns)]
}

fn shares() -> impl Strategy<Value = Share> {
    (0u64..=4).prop_map(|quarters| Share::from_ratio(quarters, 4).unwrap())
}

/// Slots before the first block, and spares, for a zone of more than a hundred slots: on each track only without slips.
fn gaps() -> impl Strategy<Value = (u64, Spares)> {
    let spares = prop_oneof![
        3 => Just(Spares::NONE),
        1 => (0u64..30).prop_map(Spares::Zone),
        1 => (1u32..4, 0u32..7).prop_map(|(tracks, spares)| Spares::Each { tracks, spares }),
    ];
    (prop_oneof![3 => Just(0), 1 => 0u64..60], spares)
}

/// Up to three zones, with cylinders between, any skews, slips, spares, and starts of their own.
pub fn geometries() -> impl Strategy<Value = GeometryParams> {
    let order = prop_oneof![
        2 => Just(SurfaceOrder::Cylinder),
        1 => (1u32..9).prop_map(|cylinders_per_head| SurfaceOrder::Serpentine { cylinders_per_head }),
        1 => any::<bool>().prop_map(|by_drive| SurfaceOrder::Alternating { by_drive }),
    ];
    let slips = prop_oneof![2 => Just(Default::default()), 1 => btree_set(0u64..4_000, 0..9)];
    let start = prop_oneof![Just(None), any::<u32>().prop_map(|bits| Some(Angle::from_turn_bits(bits)))];
    let turns = (start, any::<u32>(), any::<u32>());
    let shape = (0u32..4, 1u32..60, 8u32..120, turns, slips, gaps());
    (1u32..5, order, vec(shape, 1..4)).prop_map(|(heads, order, shapes)| {
        let (mut next, mut zones) = (0, Vec::new());
        for (gap, cylinders, sectors_per_track, turns, slips, (front, spares)) in shapes {
            let (start, track_skew, cylinder_skew) = turns;
            let slots = u64::from(cylinders * heads * sectors_per_track);
            let slips: Vec<u64> = slips.into_iter().filter(|&slip| slip + 1 < slots).collect();
            let fit = slots > 100 && (slips.is_empty() || spares == Spares::NONE);
            let fit = fit && !matches!(spares, Spares::Each { tracks, .. } if tracks > cylinders * heads);
            let (front, spares) = if fit { (front, spares) } else { (0, Spares::NONE) };
            zones.push(ZoneParams {
                first_cylinder: next + gap,
                cylinders,
                sectors_per_track,
                track_skew: Angle::from_turn_bits(track_skew),
                cylinder_skew: Angle::from_turn_bits(cylinder_skew),
                start,
                front,
                slips,
                spares,
                slips_turn: false,
            });
            next += gap + cylinders;
        }
        GeometryParams { order, ..layout(heads, zones) }
    })
}

/// Measured curves of any shape, falling stretches included, and both closed forms.
pub fn seeks() -> impl Strategy<Value = SeekParams> {
    // From one cylinder on, and never faster than the largest negative settle.
    let points = vec((1u32..40, 800u64..9_000), 2..12).prop_map(|steps| {
        let mut distance = 1;
        let mut points = Vec::with_capacity(steps.len() + 1);
        for (step, time) in steps {
            points.push((distance, us(time)));
            distance += step;
        }
        // Flat from the last measured distance on, so that no falling stretch runs below zero.
        let (_, time) = points[points.len() - 1];
        points.push((distance + 1, time));
        SeekParams::Table(points)
    });
    let lee = SeekParams::Lee { single: us(600), average: us(4_700), full: us(10_500) };
    let three = SeekParams::ThreePart { a: us(3_240), b: us(400), limit: 383, c: us(8_000), e: us(8_000) };
    prop_oneof![3 => points, 1 => Just(lee), 1 => Just(three)]
}

pub fn settles() -> impl Strategy<Value = SettleParams> {
    let physical = prop_oneof![3 => Just(0), 1 => Just(8)];
    (spans(1_500), -600_000i64..1_500_000, any::<[bool; 2]>(), physical).prop_map(
        |(head_switch, write, on_arrival, physical)| SettleParams {
            head_switch,
            write_settle_ns: write,

            write_least: Span::ZERO,
            read_on_arrival: on_arrival[0],
            write_on_arrival: on_arrival[1],
            physical_sectors: physical,
        },
    )
}

fn overheads() -> impl Strategy<Value = Overhead> {
    (spans(400), spans(400)).prop_map(|(after_read, after_write)| Overhead { after_read, after_write })
}

fn firmwares() -> impl Strategy<Value = FirmwareParams> {
    let parts = (overheads(), overheads(), overheads(), spans(300), spans(300));
    parts.prop_map(|(read_hit, read_miss, write, read_completion, write_completion)| FirmwareParams {
        read_hit,
        read_miss,
        write,
        write_hit: write,
        read_completion,
        write_completion,
    })
}

fn links() -> impl Strategy<Value = LinkParams> {
    let write_data = prop_oneof![Just(WriteData::BeforePositioning), Just(WriteData::WhilePositioning)];
    (option::of(1_000_000u64..400_000_000), write_data).prop_map(|(rate, write_data)| LinkParams {
        rate: rate.and_then(Rate::from_bytes_per_s),
        write_rate: None,
        write_data,
        full_duplex: false,
    })
}

/// Any order, with any value of what it weighs.
pub fn orders() -> impl Strategy<Value = Order> {
    (prop::sample::select(Order::ALL.as_slice()), any::<u64>()).prop_map(|(order, drawn)| {
        order.rule().weighs.map_or(order, |weighs| {
            let most = match weighs.unit {
                Unit::Share { most } => most.min(8) * 1_000_000,
                Unit::Time => 100_000_000,
            };
            order.weighing(drawn % (most + 1))
        })
    })
}

fn joins() -> impl Strategy<Value = JoinsUntil> {
    prop_oneof![2 => Just(JoinsUntil::Never), 1 => Just(JoinsUntil::BeforeStart), 1 => Just(JoinsUntil::UntilEnd)]
}

/// Boxed, as the other large ones are: the trees of all of them together are more than a thread's stack holds.
pub fn queues() -> BoxedStrategy<QueueParams> {
    let knows = prop_oneof![Just(PositionKnowledge::Distance), Just(PositionKnowledge::Angle)];
    let chooses = prop_oneof![
        Just(ChoiceTime::AtMediaEnd),
        Just(ChoiceTime::AfterAnswer),
        Just(ChoiceTime::AtCompletion),
        Just(ChoiceTime::OneAhead)
    ];
    let counts = || option::weighted(0.3, 1u32..20);
    let limits = (
        counts(),
        option::weighted(0.3, spans(40_000)),
        counts().prop_map(|round| round.map(|round| round as u16)),
    );
    let costs = (spans(4_000), [spans(2_000), spans(2_000)], option::weighted(0.3, 0u64..1_000));
    (1u32..24, orders(), knows, (chooses, spans(300)), (joins(), joins()), limits, costs)
        .prop_map(
            |(depth, order, knows, (chooses, answer_time), (joins_reads, joins_writes), limits, costs)| {
                let (considers, age_limit, coalesces) = limits;
                let (handicap, [write_margin, read_margin], grows) = costs;
                QueueParams {
                    depth,
                    order,
                    knows,
                    chooses,
                    answer_time,
                    considers,
                    write_handicap: if order.rule().costs_time() { handicap } else { Span::ZERO },
                    write_margin,
                    read_margin,
                    seek_margin: Share::from_ratio(grows.unwrap_or(0), 1_000).unwrap(),
                    joins_reads,
                    joins_writes,
                    age_limit,
                    coalesces,
                    ..QueueParams::NONE
                }
            },
        )
        .boxed()
}

fn scsi() -> impl Strategy<Value = Protocol> {
    let options = (any::<[bool; 5]>(), 0usize..3, nacas());
    options.prop_map(|([restricted, ordered, each, task_aborted, disconnects], errors, naca)| {
        Protocol::ScsiTcq(ScsiParams {
            tags: 256,
            reordering: if restricted { Reordering::Restricted } else { Reordering::Unrestricted },
            task_sets: if each { TaskSets::Each } else { TaskSets::One },
            task_aborted,
            on_error: [QueueErrors::Continue, QueueErrors::ClearAll, QueueErrors::ClearNexus][errors],
            untagged: if ordered { UntaggedAs::Ordered } else { UntaggedAs::Simple },
            naca,
            disconnects,
        })
    })
}

/// Nobody, everybody, or some of the first three initiators.
pub fn nacas() -> impl Strategy<Value = Naca> {
    prop_oneof![
        2 => Just(Naca::NOBODY),
        1 => Just(Naca::ALL),
        1 => any::<[bool; 3]>().prop_map(|sets| Naca::by((0..3).filter(|&one| sets[usize::from(one)]))),
    ]
}

pub fn protocols() -> impl Strategy<Value = Protocol> {
    prop_oneof![
        1 => Just(Protocol::None),
        3 => scsi(),
        1 => Just(Protocol::AtaTcq),
        2 => any::<[bool; 3]>().prop_map(|[out_of_order, rdnc, wdnc]| {
            Protocol::Ncq(NcqParams { out_of_order, rdnc, wdnc })
        }),
    ]
}

fn exchanges() -> impl Strategy<Value = ExchangeParams> {
    let costs = (spans(300), spans(300), spans(50));
    costs.prop_map(|(release, service, bridge)| ExchangeParams { release, service, bridge })
}

fn faults() -> impl Strategy<Value = FaultParams> {
    (0u64..1 << 29, vec((0u64..10_000, 1u64..200), 0..2), spans(20_000)).prop_map(|(bits, bad, retries)| {
        FaultParams {
            read_errors: Share::from_ratio(bits, 1 << 32).unwrap(),
            unreadable: bad
                .into_iter()
                .map(|(first, count)| (Lba::new(first), Sectors::new(count)))
                .collect(),
            retries,
        }
    })
}

fn controllers() -> impl Strategy<Value = ControllerParams> {
    let costs = (spans(60), spans(60), spans(3_000));
    let timeout = option::weighted(0.2, (20_000u64..400_000).prop_map(us));
    let bus = option::weighted(0.3, host_buses());
    (option::weighted(0.5, 1u32..40), costs, 0u8..3, timeout, bus).prop_map(
        |(depth, (issue, completion, recovery), retries, timeout, bus)| ControllerParams {
            depth,
            issue,
            completion,
            retries,
            recovery,
            timeout,
            bus,
            cache: None,
        },
    )
}

/// What a controller may sit on.
fn host_buses() -> impl Strategy<Value = link::BusParams> {
    let burst = option::of((1u64..200).prop_map(Sectors::new));
    (option::of(1_000_000u64..400_000_000), spans(60), burst, any::<[bool; 2]>()).prop_map(
        |(rate, fixed, burst, [full_duplex, holds])| {
            let rate = rate.and_then(Rate::from_bytes_per_s);
            link::BusParams { rate, write_rate: None, fixed, burst, full_duplex, holds }
        },
    )
}

/// Caches of a host or a controller that a few hundred commands fill.
pub fn memories() -> BoxedStrategy<WriteBehindParams> {
    let levels = (1u64..3_000, 0u64..=4, 0u64..=4);
    let order = prop_oneof![Just(FlushOrder::Address), Just(FlushOrder::Age)];
    // With nothing to do for a hit, who asks for one block again and again would stop time.
    let speed = (option::of(100_000_000u64..4_000_000_000), (5u64..60).prop_map(us));
    let rows = (option::of(16u64..800), spans(20_000));
    let flushing = (option::of(spans(300_000)), order, 1u64..700, 1u32..9, rows);
    let lines = option::of((1u64..300, 0u64..900, 1u32..9, 1u32..4, 1u32..9));
    (levels, flushing, speed, any::<[bool; 3]>(), lines)
        .prop_map(|((size, limit, background), flushing, (rate, overhead), is, lines)| {
            let (age, order, request, outstanding, (stripe, stripe_wait)) = flushing;
            let limit = (size * limit / 4).max(1);
            let read_ahead = lines.map(|(unit, window, outstanding, after, streams)| ReadAhead {
                unit: Sectors::new(size.min(unit)),
                window: Sectors::new(size.min(window)),
                outstanding,
                after,
                streams,
            });
            WriteBehindParams {
                size: Sectors::new(size),
                limit: Sectors::new(limit),
                background: Sectors::new(limit * background / 4),
                age,
                order,
                request: Sectors::new(request),
                outstanding,
                rate: rate.and_then(Rate::from_bytes_per_s),
                overhead,
                battery: is[0],
                force_unit_access: is[1],
                keeps_reads: is[2],
                stripe: stripe.map(Sectors::new),
                stripe_wait,
                write_through: false,
                read_ahead,
            }
        })
        .boxed()
}

fn elevators() -> impl Strategy<Value = ElevatorParams> {
    let order = prop::sample::select(ElevatorOrder::ALL.to_vec());
    let merge_limit = option::of((1u64..400).prop_map(Sectors::new));
    let deadline = (spans(50_000), spans(300_000), 1u32..20, 0u32..4);
    let fair = (spans(50_000), spans(50_000), spans(10_000), 1u32..10);
    (order, 1u32..40, merge_limit, deadline, fair).prop_map(|(order, depth, merge_limit, deadline, fair)| {
        let (read_expire, write_expire, fifo_batch, writes_starved) = deadline;
        let (slice_sync, slice_async, slice_idle, quantum) = fair;
        ElevatorParams {
            order,
            depth,
            merge_limit,
            deadline: DeadlineParams { read_expire, write_expire, fifo_batch, writes_starved },
            fair: FairParams { slice_sync, slice_async, slice_idle, quantum },
        }
    })
}

/// What a job may ask of this target's queue.
fn markings(target: &TargetParams) -> BoxedStrategy<Marking> {
    let model = match target {
        TargetParams::Server(_) => return Just(Marking::default()).boxed(),
        TargetParams::Drive(model) | TargetParams::Wire(model) => model,
        TargetParams::System(system) => &system.drives[0],
    };
    let attributes = match model.protocol {
        Protocol::ScsiTcq(_) => {
            vec![Attribute::Simple, Attribute::Ordered, Attribute::HeadOfQueue, Attribute::Untagged]
        }
        _ => vec![Attribute::Simple, Attribute::Simple, Attribute::Untagged],
    };
    let priority = match model.protocol {
        Protocol::Ncq(_) => prop_oneof![
            2 => Just(Priority::Normal),
            1 => Just(Priority::High),
            1 => (1u64..100_000).prop_map(|within| Priority::Isochronous(us(within))),
            1 => (1u8..8).prop_map(Priority::Limited),
        ]
        .boxed(),
        Protocol::ScsiTcq(_) => {
            prop_oneof![3 => Just(Priority::Normal), 1 => (1u8..8).prop_map(Priority::Limited)].boxed()
        }
        _ => Just(Priority::Normal).boxed(),
    };
    (prop::sample::select(attributes), priority, any::<[bool; 3]>())
        .prop_map(|(attribute, priority, [force_unit_access, sync, direct])| Marking {
            attribute,
            priority,
            force_unit_access,
            sync,
            direct,
        })
        .boxed()
}

fn read_aheads(size: u64) -> impl Strategy<Value = ReadAheadParams> {
    let reach = prop::sample::select(vec![
        Reach::Nothing,
        Reach::Limit,
        Reach::Track,
        Reach::Cylinder,
        Reach::NextTrack,
    ]);
    (
        reach,
        0..=size,
        prop_oneof![3 => Just(0), 1 => 0..=size / 2],
        any::<[bool; 5]>(),
        prop_oneof![Just(0), 0..3_000_000_u64],
    )
        .prop_map(
            |(
                reach,
                limit,
                least,
                [when_queued, when_sequential, on_hit, covers_front, ends_sector],
                within,
            )| {
                let (limit, least) = (Sectors::new(limit), Sectors::new(least));
                ReadAheadParams {
                    reach,
                    limit,
                    least,
                    when_queued,
                    when_sequential,
                    on_hit,
                    covers_front,
                    covers_within: Span::from_ns(within),
                    ends_sector,
                }
            },
        )
}

fn write_backs(size: u64, segments: u32) -> impl Strategy<Value = WriteBackParams> {
    let destage = prop_oneof![Just(Destage::AtOnce), Just(Destage::WhenIdle)];
    let times = (spans(40_000), option::of(spans(200_000)));
    (1..=size, 1..=segments, destage, times, 0..=size, 1..=size.max(8), any::<bool>()).prop_map(
        |(limit, segments, destage, (idle, age), press_from, run, while_busy)| WriteBackParams {
            limit: Sectors::new(limit),
            segments,
            destage,
            idle,
            age,
            press_from: Sectors::new(press_from),
            run: Sectors::new(run),
            while_busy,
        },
    )
}

/// Any cache, from one that holds hardly a command to one that holds the drive.
pub fn caches() -> BoxedStrategy<CacheParams> {
    let size = (1u32..20).prop_flat_map(|segments| (u64::from(segments)..4_000, Just(segments)));
    size.prop_flat_map(|(size, segments)| {
        let parts = (read_aheads(size), option::of(write_backs(size, segments)));
        let shares = (0u64..=100).prop_map(|percent| Share::from_ratio(percent, 100).unwrap());
        (parts, shares, any::<[bool; 4]>()).prop_map(
            move |(
                (read_ahead, write_back),
                send_from,
                [fixed, separate_writes, keeps_written, keeps_passing],
            )| {
                CacheParams {
                    size: Sectors::new(size),
                    segments,
                    fixed,
                    separate_writes,
                    keeps_written,
                    send_from,
                    write_from: send_from,
                    write_first: Sectors::new(size % 17),
                    keeps_passing,
                    hits_while_busy: !keeps_passing,
                    read_ahead,
                    write_back,
                }
            },
        )
    })
    .boxed()
}

/// Widths at up to three distances.
fn scatters() -> impl Strategy<Value = ScatterParams> {
    prop::collection::btree_map(0u32..5_000, 0u64..400, 1..4).prop_map(|widths| ScatterParams {
        widths: widths.into_iter().map(|(distance, width)| (distance, us(width))).collect(),
    })
}

/// Limits of up to 100 ms, with any policy.
fn duration_limits() -> impl Strategy<Value = DurationLimits> {
    let policies = [
        Exceeded::CompleteEarliest,
        Exceeded::NextLimit,
        Exceeded::NoLimit,
        Exceeded::Unavailable,
        Exceeded::Abort,
    ];
    let limit = move || {
        let limit = (1u64..100_000, prop::sample::select(policies.to_vec()));
        option::of(limit.prop_map(|(within, then)| TimeLimit { within: us(within), then }))
    };
    let descriptor = move || {
        (limit(), limit(), limit()).prop_map(|(inactive, active, guideline)| Descriptor {
            inactive,
            active,
            guideline,
        })
    };
    (prop::array::uniform7(descriptor()), prop::array::uniform7(descriptor()))
        .prop_map(|(reads, writes)| DurationLimits { reads, writes })
}

pub fn drives() -> BoxedStrategy<DriveParams> {
    let rpm = prop::sample::select(vec![5_400_000u64, 7_200_000, 10_000_000, 15_000_000]);
    let mechanics = (rpm, geometries(), (seeks(), option::weighted(0.3, scatters())), settles());
    let bus = (links(), protocols(), exchanges(), option::weighted(0.3, faults()));
    let queue = (queues(), option::weighted(0.4, duration_limits()));
    (mechanics, firmwares(), bus, queue, option::of(caches()))
        .prop_map(
            |(
                (rpm, geometry, (seek, scatter), settle),
                mut firmware,
                (link, protocol, exchange, faults),
                (mut queue, limits),
                cache,
            )| {
                queue.depth = queue.depth.min(protocol.depth_max());
                if cache.is_some() {
                    // With nothing to do for a hit, who asks for one block again and again would stop time.
                    firmware.read_completion = firmware.read_completion.max(us(5));
                    firmware.write_completion = firmware.write_completion.max(us(5));
                }
                let rpm = Rpm::from_milli(rpm).unwrap();
                DriveParams {
                    rpm,
                    geometry,
                    seek,
                    settle,
                    scatter,
                    firmware,
                    link,
                    queue,
                    protocol,
                    duration_limits: limits.map(Arc::new),
                    exchange,
                    disconnect: DisconnectParams::default(),
                    cache,
                    medium: Medium::Conventional,
                    faults,
                }
            },
        )
        .boxed()
}

/// The same, some of them shingled, and some of flash.
pub fn all_drives() -> BoxedStrategy<DriveParams> {
    (drives(), option::weighted(0.3, translations()), option::weighted(0.2, dies()))
        .prop_map(|(drive, translation, dies)| {
            let flash = dies.and_then(|dies| flash(&drive, dies));
            let shingled = || translation.and_then(|translation| shingled(&drive, translation));
            flash.or_else(shingled).unwrap_or(drive)
        })
        .boxed()
}

/// Dies whose buffer is full after a few writes.
fn dies() -> impl Strategy<Value = FlashParams> {
    let pages = (1u32..9, 1u64..5, 1u64..20);
    let times = (prop::collection::vec(1u64..200, 1..4), 1u64..3_000, 0u64..2_000, 0u64..20);
    let writes = (1u64..100, 0u64..300, any::<[bool; 2]>(), option::weighted(0.3, (1u64..2_000, 1u64..900)));
    (pages, 0u64..200, times, writes).prop_map(
        |(
            (dies, ways, stripe),
            ahead,
            (read, program, flush, idle),
            (size, more, [early, protected], slc),
        )| {
            let read: Vec<Span> = read.into_iter().map(us).collect();
            FlashParams {
                dies,
                page: Sectors::new(stripe * ways.min(dies.into())),
                stripe: Sectors::new(stripe),
                read: ReadTimes::new(&read).expect("one to three"),
                read_ahead: Sectors::new(ahead),
                program_size: Sectors::new(size),
                program: us(program),
                slc: slc.map(|(size, program)| SlcParams { size: Sectors::new(size), program: us(program) }),
                buffer: Sectors::new(size + more),
                answers_early: early,
                is_protected: protected,
                flush: us(flush),
                idle: ms(idle),
            }
        },
    )
}

/// A drive of flash of the same capacity that speaks the same protocol, or NVMe; `None` where it cannot be.
fn flash(drive: &DriveParams, dies: FlashParams) -> Option<DriveParams> {
    let capacity = DriveModel::new(drive).ok()?.capacity();
    let DriveParams { firmware, protocol, ref duration_limits, exchange, ref faults, .. } = *drive;
    let has_time = |time: Span| time.max(us(5));
    let plain = DriveParams::flash(capacity, dies);
    let params = DriveParams {
        firmware: FirmwareParams {
            read_completion: has_time(firmware.read_completion),
            write_completion: has_time(firmware.write_completion),
            ..firmware
        },
        link: LinkParams { rate: drive.link.rate, write_rate: drive.link.write_rate, ..plain.link },
        queue: QueueParams { depth: drive.queue.depth, ..QueueParams::NONE },
        protocol: if protocol == Protocol::AtaTcq { Protocol::Nvme } else { protocol },
        duration_limits: duration_limits.clone(),
        exchange,
        faults: faults.clone(),
        ..plain
    };
    DriveModel::new(&params).is_ok().then_some(params)
}

/// Translations whose media cache is full soon, and that clean in slices of a few accesses.
fn translations() -> impl Strategy<Value = ShingledParams> {
    let sizes = (8u64..3_000, 1u64..200, 0u64..100);
    let extents = (1u32..9, 1u32..9, 18u32..60);
    (sizes, extents, (1u64..60, 0u64..300)).prop_map(
        |((band, most, overhead), (append, merged, map), (slice, idle))| ShingledParams {
            band: Sectors::new(band),
            cache: Sectors::new(2_048 + 2 * (most + overhead)),
            map_entries: map,
            append_extents: append,
            append_most: Sectors::new(most),
            append_overhead: Sectors::new(overhead),
            merged_extents: merged,
            slice: ms(slice),
            idle: ms(idle),
        },
    )
}

/// The same drive shingled, with the last sectors of its zones as its media cache, half of the time those of its outermost
/// cylinder; `None` where it cannot be.
fn shingled(drive: &DriveParams, translation: ShingledParams) -> Option<DriveParams> {
    let held = DriveModel::new(drive).ok()?.mechanism.geometry.held();
    let capacity = held.get().checked_sub(translation.cache.get()).filter(|&capacity| capacity > 0)?;
    let geometry = GeometryParams {
        capacity: Some(Sectors::new(capacity)),
        outer_last: u32::from(translation.merged_extents.is_multiple_of(2)),
        ..drive.geometry.clone()
    };
    let params = DriveParams { geometry, medium: Medium::Shingled(translation), ..drive.clone() };
    DriveModel::new(&params).is_ok().then_some(params)
}

fn servers() -> impl Strategy<Value = TargetParams> {
    let service = prop_oneof![
        spans(2_000).prop_map(Service::Fixed),
        (1u64..2_000).prop_map(|mean| Service::Exponential { mean: us(mean) }),
        (spans(1_000), spans(1_000)).prop_map(|(least, more)| Service::Uniform { least, most: least + more }),
        (1u64..2_000, 1u32..6).prop_map(|(mean, phases)| Service::Erlang { mean: us(mean), phases }),
    ];
    (option::weighted(0.9, service), 0u16..4).prop_map(|(service, count)| stations(service, count))
}

pub fn targets() -> BoxedStrategy<TargetParams> {
    let memory = || option::weighted(0.4, memories());
    let before = (option::of(elevators()), memory(), memory());
    let system = (all_drives(), controllers(), before).prop_map(|(params, controller, before)| {
        let drive = Arc::new(DriveModel::new(&params).unwrap());
        let (elevator, host_cache, cache) = before;
        let controller = ControllerParams { cache, ..controller };
        TargetParams::System(SystemParams {
            elevator,
            host_cache,
            ..SystemParams::of_drive(drive, controller)
        })
    });
    prop_oneof![1 => servers(), 2 => all_drives().prop_map(|params| target(&params)), 3 => system].boxed()
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    let rate = || (5_000u64..200_000).prop_map(|millihertz| Frequency::from_millihertz(millihertz).unwrap());
    prop_oneof![
        4 => (1u32..30, 1u64..2_000).prop_map(|(outstanding, think)| Arrivals::Closed { outstanding, think: us(think) }),
        4 => (1u32..30).prop_map(|outstanding| Arrivals::Closed { outstanding, think: Span::ZERO }),
        1 => rate().prop_map(|rate| Arrivals::Poisson { rate }),
        1 => rate().prop_map(|rate| Arrivals::Fixed { rate }),
    ]
}

fn submit_costs() -> impl Strategy<Value = SubmitCost> {
    let some =
        (spans(100), option::of(10_000_000u64..1_000_000_000), shares()).prop_map(|(fixed, rate, spread)| {
            SubmitCost { fixed, rate: rate.and_then(Rate::from_bytes_per_s), spread }
        });
    prop_oneof![2 => Just(SubmitCost::NONE), 1 => some]
}

/// A job for a target with this capacity.
fn jobs(capacity: u64) -> impl Strategy<Value = JobParams> {
    let addressing = prop_oneof![
        2 => Just(Addressing::Random),
        2 => Just(Addressing::Sequential),
        1 => (shares(), shares()).prop_map(|(random, random_writes)| Addressing::Mixed { random, random_writes }),
    ];
    let largest = (capacity / 2).clamp(1, 300);
    let sizes = vec((1..=largest, 1u32..5), 1..4);
    let range = (0..=capacity / 2, 0..=capacity / 2);
    let rest = (option::weighted(0.3, 1u64..100), 1u64..20, submit_costs(), option::weighted(0.3, 1u32..8));
    (shares(), addressing, sizes, range, rest, arrivals()).prop_map(
        move |(reads, addressing, sizes, (first, less), rest, arrivals)| {
            let (command_limit, align, submit, writes_per_flush) = rest;
            let most = sizes.iter().map(|(size, _)| *size).max().unwrap_or(1);
            JobParams {
                initiator: 0,
                logical_unit: 0,
                process: 0,
                synchronous: true,
                marking: Marking::default(),
                priorities: Vec::new(),
                reads,
                flushes: match (arrivals, writes_per_flush) {
                    (Arrivals::Closed { .. }, Some(writes)) => Flushes::After(writes),
                    _ => Flushes::Never,
                },
                addressing,
                popularity: Default::default(),
                sizes: sizes
                    .into_iter()
                    .map(|(size, weight)| SizeShare { size: Sectors::new(size), weight })
                    .collect(),
                first: Lba::new(first),
                count: Sectors::new((capacity - first).saturating_sub(less).max(most)),
                align: Sectors::new(align),
                zones: None,
                // At most eight commands an I/O.
                command_limit: command_limit.map(|limit| Sectors::new(limit.max(most.div_ceil(8)))),
                arrivals,
                submit,
                ending: Default::default(),
            }
        },
    )
}

/// A whole run of a few hundred I/Os: any target, one to three jobs.
pub fn setups() -> impl Strategy<Value = Setup> {
    let jobs_for = |target: TargetParams| {
        let capacity = Target::new(&target, 1).capacity().get();
        let marked = (jobs(capacity), markings(&target), 0u16..3).prop_map(|(job, marking, initiator)| {
            JobParams { marking, initiator, process: initiator.into(), ..job }
        });
        (Just(target), vec(marked, 1..4))
    };
    let end = prop_oneof![
        (1u64..300).prop_map(|ios| Limit { duration: None, ios: Some(ios), until: None }),
        (1u64..300).prop_map(|ms| Limit { duration: Some(Span::from_ms(ms)), ios: None, until: None }),
        (1u64..300, 1u64..300).prop_map(|(ms, ios)| Limit {
            duration: Some(Span::from_ms(ms)),
            ios: Some(ios),
            until: None
        }),
    ];
    (targets().prop_flat_map(jobs_for), spans(100_000), end, any::<u64>()).prop_map(
        |((target, jobs), warmup, limit, seed)| {
            let mut setup = Setup {
                target,
                jobs,
                sections: [].into(),
                fed: None,
                warmup,
                limit,
                seed,
                traces: 0,
                checks_data: false,
                injections: [].into(),
                power_cut: None,
            };
            for job in &mut setup.jobs {
                // A target may answer at once: whoever asks again at once would stop time.
                if let (TargetParams::Server(_), Arrivals::Closed { think, .. }) =
                    (&setup.target, &mut job.arrivals)
                {
                    *think = (*think).max(us(300));
                }
            }
            setup
        },
    )
}
