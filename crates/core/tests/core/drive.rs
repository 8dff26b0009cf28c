//! One drive against closed forms, command by command and to the nanosecond.
use crate::common::{Probe, TRACK, TURN, drive, flat_seek, layout, ms, response, target, us, zone};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::geometry::{GeometryParams, Spares, SurfaceOrder, ZoneParams};
use drivelab_core::storage::drive::mechanism::SettleParams;
use drivelab_core::storage::drive::params::{
    DriveError, DriveModel, DriveParams, LinkParams, Overhead, WriteData,
};
use drivelab_core::{Access, Breakdown, Outcome};
use drivelab_units::{Angle, Instant, Lba, Rate, Sectors, Share, Span};

/// What a sector takes to pass the head.
const SECTOR: u64 = TURN / TRACK;

fn ns(span: Span) -> u64 {
    span.as_ns()
}

/// Four heads, 100 cylinders; an eighth of a turn (750 us) between tracks and a quarter (1 500 us) between cylinders,
/// for 500 us and 1 ms of switching.
fn skewed(head_switch: Span) -> DriveParams {
    let zone = ZoneParams {
        track_skew: Angle::from_ratio(1, 8),
        cylinder_skew: Angle::from_ratio(1, 4),
        ..zone(0, 100, TRACK as u32)
    };
    let settle = SettleParams { head_switch, ..SettleParams::default() };
    DriveParams { geometry: layout(4, vec![zone]), seek: flat_seek(ms(1), 100), settle, ..drive() }
}

/// The time on the media of so many whole cylinders from the third one on, in one command.
fn whole_cylinders(params: &DriveParams, cylinders: u64) -> u64 {
    ns(Probe::of(params).read(3 * 4 * TRACK, cylinders * 4 * TRACK).breakdown.transfer)
}

#[test]
fn a_sequential_read_costs_its_tracks_and_their_skews() {
    // The rate of a zone: spt * 512 * heads / (heads * T + skews).
    let cylinder = 4 * TURN + 3 * TURN / 8 + TURN / 4;
    for cylinders in [1, 2, 50] {
        assert_eq!(whole_cylinders(&skewed(us(500)), cylinders), cylinders * cylinder - TURN / 4);
    }
}

#[test]
fn a_skew_that_is_just_enough_costs_itself_and_one_too_small_a_turn_more() {
    let cylinder = 4 * TURN + 3 * TURN / 8 + TURN / 4;
    assert_eq!(whole_cylinders(&skewed(us(750)), 10), 10 * cylinder - TURN / 4);
    // A nanosecond too late for each of the three next heads, and in time for the next cylinder.
    let late = 10 * cylinder - TURN / 4 + 10 * 3 * TURN;
    assert_eq!(whole_cylinders(&skewed(Span::from_ns(750_001)), 10), late);
    // Too late for the next cylinder as well: the longer of seek and head switch counts.
    let late = late + 9 * TURN;
    assert_eq!(whole_cylinders(&skewed(Span::from_ns(1_500_001)), 10), late);
    let slow = DriveParams { seek: flat_seek(Span::from_ns(1_500_001), 100), ..skewed(us(500)) };
    assert_eq!(whole_cylinders(&slow, 10), 10 * cylinder - TURN / 4 + 9 * TURN);
}

/// A head leaves a track as its last block has passed: spares behind that are time for the switch.
#[test]
fn spares_at_the_end_of_a_track_are_time_for_the_switch() {
    // 500 blocks on each track of 600 slots.
    let transfer = |head_switch, blocks| {
        let mut params = skewed(head_switch);
        params.geometry.zones[0].spares = Spares::Each { tracks: 1, spares: 100 };
        ns(Probe::of(&params).read(0, blocks).breakdown.transfer)
    };
    let two = TURN + TURN / 8 + 500 * SECTOR;
    assert_eq!(transfer(us(500), 1_000), two);
    // The skew of 750 us and the spares' 1 000 us together.
    assert_eq!(transfer(us(1_750), 1_000), two);
    assert_eq!(transfer(Span::from_ns(1_750_001), 1_000), two + TURN);
    assert_eq!(transfer(us(500), 500), 500 * SECTOR);
}

/// Tracks without a block are not visited: only the skews of the switches past them count.
#[test]
fn tracks_that_are_all_spares_cost_their_skews() {
    let transfer = |zone: ZoneParams, blocks| {
        let mut params = skewed(us(500));
        params.geometry.zones[0] =
            ZoneParams { slips: zone.slips, spares: zone.spares, ..params.geometry.zones[0].clone() };
        ns(Probe::of(&params).read(0, blocks).breakdown.transfer)
    };
    // Two of the four tracks of each cylinder: heads 0 and 1, then two skews of a head and that of a cylinder.
    let spares = Spares::Each { tracks: 4, spares: 2 * TRACK as u32 };
    let halves = transfer(ZoneParams { spares, ..ZoneParams::default() }, 4 * TRACK);
    assert_eq!(halves, 4 * TURN + TURN / 8 + (2 * TURN / 8 + TURN / 4) + TURN / 8);
    // The second track of the drive is one defect.
    let slips = (TRACK..2 * TRACK).collect();
    let slipped = transfer(ZoneParams { slips, ..ZoneParams::default() }, 2 * TRACK);
    assert_eq!(slipped, 2 * TURN + 2 * TURN / 8);
}

/// Where the heads run downward in every second cylinder, none is switched between cylinders, and each turn is as it was.
#[test]
fn alternating_heads_spare_a_switch_between_cylinders() {
    // A head switch that is too long for the cylinders' skew.
    let mut params = DriveParams { seek: flat_seek(ms(1), 100), ..skewed(Span::from_ns(1_500_001)) };
    let up = whole_cylinders(&params, 2);
    params.geometry.order = SurfaceOrder::Alternating { by_drive: false };
    assert_eq!(whole_cylinders(&params, 2) + TURN, up);
}

#[test]
fn a_serpentine_seeks_along_a_surface_and_switches_heads_at_its_ends() {
    let mut params = skewed(us(500));
    params.geometry.order = SurfaceOrder::Serpentine { cylinders_per_head: 10 };
    // Forty tracks: 36 steps to the next cylinder, three to the next head.
    let exact = 40 * TURN + 36 * TURN / 4 + 3 * TURN / 8;
    assert_eq!(ns(Probe::of(&params).read(0, 40 * TRACK).breakdown.transfer), exact);
    // And one step to the next ten cylinders.
    assert_eq!(ns(Probe::of(&params).read(0, 41 * TRACK).breakdown.transfer), exact + TURN + TURN / 4);
}

#[test]
fn a_sequential_write_that_is_just_too_late_loses_a_turn() {
    let mut params = drive();
    params.firmware.write = Overhead::always(us(300));
    params.firmware.write_completion = us(20);
    let mut probe = Probe::of(&params);
    let mut end = 0;
    for i in 0..20 {
        let write = probe.write(30 * i, 30);
        if i > 0 {
            // Each ends one turn and its own length after the one before it.
            assert_eq!(write.completed.as_ns() - end, TURN + 30 * SECTOR);
        }
        end = write.completed.as_ns();
    }
    // With a gap as long as what the firmware takes, nothing is lost.
    let next = probe.write(600 + 32, 30);
    let gap = probe.write(600 + 62 + 32, 30);
    assert_eq!(gap.completed.as_ns() - next.completed.as_ns(), 62 * SECTOR);
    let late = probe.write(600 + 124 + 31, 30);
    assert_eq!(late.completed.as_ns() - gap.completed.as_ns(), TURN + 61 * SECTOR);
}

#[test]
fn the_breakdown_of_a_lone_command_is_exact() {
    let mut params = drive();
    params.firmware.read_miss = Overhead { after_read: us(100), after_write: us(150) };
    params.firmware.write = Overhead { after_read: us(200), after_write: us(250) };
    params.firmware.read_completion = us(7);
    params.firmware.write_completion = us(9);
    params.link.rate = Rate::from_bytes_per_s(100_000_000);
    let mut probe = Probe::of(&params);
    probe.read(0, 1);
    let read = probe.read(5 * TRACK, 100);
    let Breakdown { queue, overhead, seek, rotation, transfer, link, wait } = read.breakdown;
    assert_eq!([queue, wait], [Span::ZERO; 2]);
    assert_eq!(ns(link), 5_120, "the link runs beside the media, one sector behind it");
    assert_eq!([overhead, seek, transfer], [us(107), ms(1), us(1_000)]);
    assert_eq!(ns(rotation), response(&read) - 2_112_120);
    assert_eq!(ns(probe.write(5 * TRACK, 1).breakdown.overhead), 209_000);
    assert_eq!(ns(probe.write(5 * TRACK, 1).breakdown.overhead), 259_000);
    assert_eq!(ns(probe.read(5 * TRACK, 1).breakdown.overhead), 157_000);
    // A link slower than the media: what is left when the media ends.
    params.link.rate = Rate::from_bytes_per_s(10_000_000);
    let read = Probe::of(&params).read(0, 100);
    assert_eq!(ns(read.breakdown.link), 5_120_000 + 10_000 - 1_000_000);
}

#[test]
fn a_write_waits_for_its_data_before_or_while_the_arm_moves() {
    let mut params = drive();
    // 51.2 us a sector, 5.12 ms for a hundred; the media takes 1 ms.
    params.link.rate = Rate::from_bytes_per_s(10_000_000);
    params.link.write_data = WriteData::BeforePositioning;
    let before = Probe::of(&params).write(5 * TRACK, 100).breakdown;
    assert_eq!((ns(before.link), ns(before.seek), ns(before.transfer)), (5_120_000, 1_000_000, 1_000_000));
    params.link.write_data = WriteData::WhilePositioning;
    let unhurried = DriveParams { link: LinkParams { rate: None, ..params.link }, ..params.clone() };
    let (mut late, mut turns) = (0, 0);
    for i in 0..40 {
        let write = |params| {
            let mut probe = Probe::of(params);
            probe.wait(Span::from_ns(i * TURN / 40));
            probe.write(5 * TRACK, 100).breakdown
        };
        let [write, free] = [&params, &unhurried].map(write);
        assert_eq!((ns(write.link), ns(write.seek), ns(write.transfer)), (0, 1_000_000, 1_000_000));
        // The link must be 4.12 ms ahead when the media begins: if not, the sector comes round once more.
        let in_time = ns(free.seek + free.rotation) >= 4_120_000;
        assert_eq!(ns(write.rotation), ns(free.rotation) + if in_time { 0 } else { TURN });
        late += u32::from(!in_time);
        turns += 1;
    }
    assert!(late > 10 && late < turns, "{late} of {turns}");
}

/// A drive by first principles: constant linear density over radii from 1 to `inner`, in equally wide zones.
fn first_principles(zones: u32, outer_sectors: u32, inner: f64) -> GeometryParams {
    let sectors = |i| {
        let middle = (f64::from(i) + 0.5) / f64::from(zones);
        (f64::from(outer_sectors) * (1.0 - (1.0 - inner) * middle)).round() as u32
    };
    layout(1, (0..zones).map(|i| zone(i * 20, 20, sectors(i))).collect())
}

#[test]
fn the_rate_over_the_surface_follows_the_square_root_law() {
    let (zones, inner) = (64, 0.5);
    let params = DriveParams {
        geometry: first_principles(zones, 2_000, inner),
        seek: flat_seek(ms(1), 20 * zones),
        ..drive()
    };
    let model = DriveModel::new(&params).unwrap();
    let geometry = &model.mechanism.geometry;
    let mut probe = Probe::of(&params);
    // The rate of the zone that holds this share of the data: one whole track.
    let mut rate = |share: f64| {
        let lba = (share * geometry.capacity().get() as f64) as u64;
        let slot = geometry.locate(Lba::new(lba));
        let sectors = u64::from(geometry.sectors_per_track(slot.zone));
        let read = probe.read(lba - u64::from(slot.sector), sectors);
        sectors as f64 * 512.0 / (ns(read.breakdown.transfer) as f64 / 1e9)
    };
    let outer = 2_000.0 * 512.0 / (TURN as f64 / 1e9);
    let (mut squares, mut steps) = (0.0, 0.0);
    for percent in 0..100 {
        let share = (f64::from(percent) + 0.5) / 100.0;
        let exact = outer * (1.0 - (1.0 - inner * inner) * share).sqrt();
        let off = rate(share) / exact - 1.0;
        // A zone is as wide as 1/128 of the outer radius: its edges are off by half of that, and half a sector.
        let radius = exact / outer;
        assert!(off.abs() <= (0.5 / 128.0 + 0.5 / 2_000.0) / radius, "{percent} %: {off}");
        squares += off * off;
        steps += off;
    }
    assert!(f64::abs(steps) / 100.0 < 5e-4 && squares / 100.0 < 1e-5, "{steps} {squares}");
}

#[test]
fn a_slipped_defect_shifts_what_lies_behind_it_and_costs_its_slot() {
    let slips = vec![5, 6, 599];
    let params =
        DriveParams { geometry: layout(1, vec![ZoneParams { slips, ..zone(0, 10, 600) }]), ..drive() };
    assert_eq!(DriveModel::new(&params).unwrap().capacity(), Sectors::new(10 * 600 - 3));
    let mut probe = Probe::of(&params);
    // Ten blocks over two slipped slots.
    assert_eq!(ns(probe.read(0, 10).breakdown.transfer), 12 * SECTOR);
    // Up to the last block before them there is nothing to pass.
    assert_eq!(ns(probe.read(0, 5).breakdown.transfer), 5 * SECTOR);
    // From there the next block is two slots away.
    let next = probe.read(5, 1).breakdown;
    assert_eq!((ns(next.rotation), ns(next.transfer)), (2 * SECTOR, SECTOR));
    // Track 0 holds 597 blocks, and its last slot passes before the next track: with a 1 ms seek and no skew, a turn.
    let last = probe.read(596, 1).breakdown;
    let over = probe.read(597, 1).breakdown;
    assert_eq!(ns(last.transfer), SECTOR);
    assert_eq!((ns(over.seek), ns(over.rotation)), (1_000_000, TURN + SECTOR - 1_000_000));
}

/// A drive that may begin anywhere in what it reads, with one cylinder: nothing but rotation.
fn reads_on_arrival() -> DriveParams {
    let settle = SettleParams { read_on_arrival: true, ..SettleParams::default() };
    DriveParams { geometry: layout(1, vec![zone(0, 1, TRACK as u32)]), settle, ..drive() }
}

/// The mean response of a read over arrivals at equally spaced angles, in turns.
fn mean_over_angles(params: &DriveParams, count: u64) -> f64 {
    const ANGLES: u64 = 4_000;
    let mut probe = Probe::of(params);
    let mut sum = 0;
    for i in 0..ANGLES {
        probe.now = Instant::from_ns(i * 4 * TURN + i * TURN / ANGLES);
        sum += response(&probe.read(0, count));
    }
    sum as f64 / (ANGLES * TURN) as f64
}

#[test]
fn the_mean_over_all_angles_is_half_a_turn_or_less_on_arrival() {
    let on_arrival = reads_on_arrival();
    let plain = DriveParams { settle: SettleParams::default(), ..reads_on_arrival() };
    for count in [1, 60, 300, 540, 600] {
        let f = count as f64 / TRACK as f64;
        let mean = mean_over_angles(&plain, count);
        assert!((mean - (0.5 + f)).abs() < 3e-4, "{count}: {mean}");
        // f T + (1 - f) (1 + f) / 2 T
        let (mean, exact) = (mean_over_angles(&on_arrival, count), f + (1.0 - f) * (1.0 + f) / 2.0);
        assert!((mean - exact).abs() < 3e-4, "{count} on arrival: {mean} {exact}");
    }
}

#[test]
fn a_whole_track_read_on_arrival_takes_a_turn_from_any_angle() {
    let mut probe = Probe::of(&reads_on_arrival());
    for i in 0..50 {
        probe.wait(Span::from_ns(i * 777_777));
        assert_eq!(response(&probe.read(0, TRACK)), TURN);
    }
    let mut probe = Probe::of(&DriveParams { settle: SettleParams::default(), ..reads_on_arrival() });
    let times: Vec<u64> = (0..50)
        .map(|i| {
            probe.wait(Span::from_ns(i * 777_777));
            response(&probe.read(0, TRACK))
        })
        .collect();
    assert!(times.iter().any(|&time| time > 2 * TURN - TURN / 10), "without it up to two turns: {times:?}");
}

#[test]
fn on_arrival_a_long_read_pays_its_switches_but_no_skew() {
    let mut params = skewed(us(500));
    params.settle.read_on_arrival = true;
    // From the first whole track on, each costs a turn and the switch to it.
    let read = Probe::of(&params).read(0, 4 * TRACK);
    assert_eq!(response(&read), 4 * TURN + 3 * 500_000);
}

/// Seek and rotation of an access to the track of `arm + cylinders` under `head`, from a head that has just read block 0.
fn reach(params: &DriveParams, access: Access, cylinders: u64, head: u64) -> Breakdown {
    let heads = u64::from(params.geometry.heads);
    let mut probe = Probe::of(params);
    probe.read(0, 1);
    probe.go(access, (cylinders * heads + head) * TRACK, 1).breakdown
}

#[test]
fn a_write_settles_longer_but_only_after_a_movement() {
    let with = |head_switch, write_settle_ns| DriveParams {
        settle: SettleParams { head_switch, write_settle_ns, ..SettleParams::default() },
        ..skewed(us(0))
    };
    let seek =
        |params: &DriveParams, access, cylinders, head| ns(reach(params, access, cylinders, head).seek);
    let params = with(us(600), 250_000);
    assert_eq!(seek(&params, Access::Read, 10, 0), 1_000_000);
    assert_eq!(seek(&params, Access::Write, 10, 0), 1_250_000);
    assert_eq!(seek(&params, Access::Read, 0, 2), 600_000);
    assert_eq!(seek(&params, Access::Write, 0, 2), 850_000);
    assert_eq!(seek(&params, Access::Write, 0, 0), 0, "the head is there and has settled");
    // Beside a seek a shorter head switch costs nothing, a longer one counts alone.
    assert_eq!(seek(&params, Access::Read, 10, 2), 1_000_000);
    assert_eq!(seek(&with(us(1_200), 0), Access::Read, 10, 2), 1_200_000);
    assert_eq!(seek(&with(us(1_200), 0), Access::Read, 10, 0), 1_000_000);
    // Some drives are quicker to write; never below nothing.
    assert_eq!(seek(&with(us(600), -150_000), Access::Write, 10, 0), 850_000);
    assert_eq!(seek(&with(us(600), -700_000), Access::Write, 0, 2), 0);
}

#[test]
fn the_rotation_is_what_is_left_of_the_turn_after_the_movement() {
    // From the end of block 0 to the same angle on another track a turn less one sector passes, all told.
    for (access, cylinders, head) in [(Access::Read, 7, 0), (Access::Write, 7, 0), (Access::Read, 0, 1)] {
        let params = DriveParams { geometry: layout(2, vec![zone(0, 100, TRACK as u32)]), ..skewed(us(500)) };
        let Breakdown { seek, rotation, .. } = reach(&params, access, cylinders, head);
        assert_eq!(ns(seek + rotation), TURN - SECTOR);
    }
}

#[test]
fn an_access_over_the_end_is_refused_at_once() {
    let mut probe = Probe::of(&drive());
    let capacity = 1_000 * TRACK;
    for (first, count) in [(capacity, 1), (capacity - 1, 2), (5, 0)] {
        let answer = probe.read(first, count);
        assert_eq!((answer.outcome, response(&answer)), (Outcome::OutOfRange, 0));
    }
    assert_eq!(probe.read(capacity - 1, 1).outcome, Outcome::Done);
}

#[test]
fn members_of_one_model_turn_on_their_own() {
    // The phase is drawn anew for each seed, over the whole turn.
    let target = target(&drive());
    let waits: Vec<u64> =
        (0..400).map(|seed| ns(Probe::new(&target, seed).read(0, 1).breakdown.rotation)).collect();
    let mut quarters = [0i32; 4];
    waits.iter().for_each(|wait| quarters[(4 * wait / TURN) as usize] += 1);
    // Four standard errors of 100.
    assert!(quarters.iter().all(|&count| (count - 100).abs() < 35), "{quarters:?}");
}

#[test]
fn a_settle_that_undoes_the_shortest_seek_is_refused() {
    let with = |write_settle_ns| {
        let settle = SettleParams { write_settle_ns, ..SettleParams::default() };
        DriveModel::new(&DriveParams { settle, ..drive() }).map(|_| ())
    };
    let least = DriveModel::new(&drive()).unwrap().mechanism.seek.least();
    assert_eq!(with(-i64::from(least)), Ok(()));
    assert_eq!(with(-i64::from(least) - 1), Err(DriveError::Settle { least: Span::from_ns(least.into()) }));
}

/// The least that a write's positioning takes: in place of a shorter way, not on top of it, and not where the write goes on
/// behind what the arm has just done.
#[test]
fn a_write_that_does_not_go_on_takes_at_least_so_long_to_position() {
    let positioning = |least: Span, write_settle_ns: i64, second: (Access, u64)| {
        let settle = SettleParams { write_least: least, write_settle_ns, ..SettleParams::default() };
        let mut probe = Probe::of(&DriveParams { settle, ..drive() });
        probe.write(600, 8);
        ns(probe.go(second.0, second.1, 8).breakdown.seek)
    };
    // The way to another cylinder takes 1 ms.
    let (near, far, behind) = ((Access::Write, 700), (Access::Write, 60_000), (Access::Write, 608));
    assert_eq!([near, far, behind].map(|second| positioning(ms(2), 0, second)), [2_000_000, 2_000_000, 0]);
    assert_eq!([near, far, behind].map(|second| positioning(us(300), 0, second)), [300_000, 1_000_000, 0]);
    assert_eq!([near, far].map(|second| positioning(ms(2), 1_500_000, second)), [2_000_000, 2_500_000]);
    let reads = [(Access::Read, 700), (Access::Read, 60_000)];
    assert_eq!(reads.map(|second| positioning(ms(2), 0, second)), [0, 1_000_000]);
}

/// A write of part of a physical sector reads it first: a turn longer than the same write on sectors of its own, and two
/// where its ends are on different tracks.
#[test]
fn a_write_of_part_of_a_physical_sector_takes_a_turn_more() {
    let on_media = |physical_sectors: u32, access: Access, first: u64, count: u64| {
        let settle = SettleParams { physical_sectors, ..SettleParams::default() };
        let mut probe = Probe::of(&DriveParams { settle, ..drive() });
        let answer = probe.go(access, first, count);
        let lost = probe.target().turns().map_or(0, |turns| turns.partial_writes);
        (ns(answer.breakdown.rotation + answer.breakdown.transfer), lost)
    };
    let more = |access, first, count| {
        let ((plain, none), (emulated, writes)) =
            (on_media(0, access, first, count), on_media(8, access, first, count));
        assert_eq!(none, 0);
        (emulated - plain, writes)
    };
    for (first, count) in [(800, 8), (8, 64), (0, 8 * TRACK)] {
        assert_eq!(more(Access::Write, first, count), (0, 0), "{first} + {count}");
    }
    // Part of one, one and a part, a part of each of two.
    for (first, count) in [(801, 1), (800, 9), (804, 8), (807, 2)] {
        assert_eq!(more(Access::Write, first, count), (TURN, 1), "{first} + {count}");
    }
    // On two tracks each end has a turn of its own.
    assert_eq!(more(Access::Write, 8, TRACK + 4), (TURN, 1));
    assert_eq!(more(Access::Write, 4, TRACK + 4), (TURN, 1));
    assert_eq!(more(Access::Write, 4, TRACK + 6), (2 * TURN, 1));
    assert_eq!(more(Access::Read, 801, 1), (0, 0));
}

/// What the access before has read or written of a physical sector need not be read again.
#[test]
fn a_write_that_goes_on_within_a_physical_sector_reads_nothing() {
    let settle = SettleParams { physical_sectors: 8, ..SettleParams::default() };
    let mut probe = Probe::of(&DriveParams { settle, ..drive() });
    let mut partial_writes = |access, first, count| {
        let before = probe.target().turns().unwrap().partial_writes;
        probe.go(access, first, count);
        probe.target().turns().unwrap().partial_writes - before
    };
    assert_eq!(partial_writes(Access::Write, 801, 1), 1);
    assert_eq!(partial_writes(Access::Write, 802, 2), 0);
    // It ends within the next one.
    assert_eq!(partial_writes(Access::Write, 804, 6), 1);
    assert_eq!(partial_writes(Access::Read, 2_000, 4), 0);
    assert_eq!(partial_writes(Access::Write, 2_001, 1), 0);
    assert_eq!(partial_writes(Access::Write, 801, 1), 1);
}

#[test]
fn a_read_that_fails_takes_what_the_drive_tries_again_for() {
    let ends = |bad: bool, retries: Span| {
        let unreadable = if bad { vec![(Lba::new(60_003), Sectors::new(1))] } else { Vec::new() };
        let faults = FaultParams { read_errors: Share::NONE, unreadable, retries };
        let mut probe = Probe::of(&DriveParams { faults: Some(faults), ..drive() });
        let read = probe.read(60_000, 8);
        assert_eq!(read.outcome, if bad { Outcome::MediaError } else { Outcome::Done });
        response(&read)
    };
    let sound = ends(false, ms(30));
    assert_eq!((ends(true, Span::ZERO), ends(true, ms(30))), (sound, sound + 30_000_000));
}

#[test]
fn reads_and_writes_end_in_their_own_time() {
    let mut params = drive();
    (params.firmware.read_completion, params.firmware.write_completion) = (us(20), us(70));
    let mut probe = Probe::of(&params);
    let (read, write) = (probe.read(0, 8), probe.write(60_000, 8));
    assert_eq!([read, write].map(|answer| answer.breakdown.overhead), [us(20), us(70)]);
}

/// A whole track takes a turn from any angle where the access may begin on arrival, and waits for its first sector
/// elsewhere.
#[test]
fn reads_and_writes_begin_on_arrival_each_for_itself() {
    for (read_on_arrival, write_on_arrival) in [(true, false), (false, true)] {
        let settle = SettleParams { read_on_arrival, write_on_arrival, ..SettleParams::default() };
        for (access, on_arrival) in [(Access::Read, read_on_arrival), (Access::Write, write_on_arrival)] {
            let mut probe = Probe::of(&DriveParams { settle, ..drive() });
            // Each is 50 us behind the end of the one before, and so of the track.
            for _ in 0..3 {
                probe.wait(us(50));
                probe.go(access, 0, TRACK);
            }
            probe.wait(us(50));
            let expected = if on_arrival { TURN } else { 2 * TURN - 50_000 };
            assert_eq!(response(&probe.go(access, 0, TRACK)), expected, "{access:?}");
        }
    }
}
