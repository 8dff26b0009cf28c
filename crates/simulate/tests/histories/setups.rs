//! Random systems by seed: small drives with quick mechanics under every kind of cache, scheduler and level.
use crate::common::{drive, layout, ms, us, zone};
use drivelab_core::rng::Stream;
use drivelab_core::storage::array::params::{
    ArrayParams, ConsistencyPolicy, Copies, Failure, Level, ManagedBy, ReadChoice, Rotation, SplitReads, When,
};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, ReadAheadParams, WriteBackParams};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::flash::params::{FlashParams, ReadTimes, SlcParams};
use drivelab_core::storage::drive::geometry::GeometryParams;
use drivelab_core::storage::drive::params::{DriveModel, DriveParams, FirmwareParams, Medium};
use drivelab_core::storage::drive::queue::{Order, QueueParams};
use drivelab_core::storage::drive::shingled::params::ShingledParams;
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::{FlushOrder, ReadAhead, WriteBehindParams};
use drivelab_units::{Instant, Lba, Rate, Sectors, Share, Span};
use std::sync::{Arc, LazyLock};

/// Whether a power cut with a member missing may change data: what was not written where parity does not fit, or what was
/// being written, which a partial parity log gives up with its member.
pub fn has_write_hole(array: &ArrayParams) -> bool {
    let open = matches!(
        array.consistency_policy,
        ConsistencyPolicy::None | ConsistencyPolicy::Bitmap { .. } | ConsistencyPolicy::PartialParityLog
    );
    open && matches!(array.level, Level::Parity { .. } | Level::Interleaved { .. })
}

/// An array of drives without caches, and nothing before it.
pub fn bare(array: ArrayParams) -> SystemParams {
    with_model(array, 0)
}

/// The same with drives that serve what they have in the order of their own.
pub fn reordering(array: ArrayParams) -> SystemParams {
    with_model(array, 1)
}

/// The same with drives that take writes into a cache and let them wait there.
pub fn forgetful(array: ArrayParams) -> SystemParams {
    with_model(array, 5)
}

fn with_model(mut array: ArrayParams, model: usize) -> SystemParams {
    array.unit = Sectors::new(8);
    array.parity.granule = Sectors::new(1);
    (array.sync.floor, array.sync.ceiling) = (None, None);
    let drives = drives(&array, &vec![model; usize::from(array.members + array.spares)]);
    let plain = SystemParams::of_drive(Arc::clone(&MODELS[model]), ControllerParams::PLAIN);
    SystemParams { drives, array: Some(array), ..plain }
}

/// The drives of an array, given the models of members and spares.
fn drives(array: &ArrayParams, models: &[usize]) -> Vec<Arc<DriveModel>> {
    let of =
        if array.consistency_policy == ConsistencyPolicy::PartialParityLog { &WITH_LOG } else { &MODELS };
    let journal = (array.consistency_policy == ConsistencyPolicy::Journal).then(|| Arc::clone(&JOURNALS[3]));
    models.iter().map(|&model| Arc::clone(&of[model])).chain(journal).collect()
}

/// Draws that read like what they are for.
pub struct Dice(Stream);

impl Dice {
    pub fn new(seed: u64, name: &str) -> Self {
        Dice(Stream::named(seed, name))
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

fn write_back(destage: Destage, limit: u64) -> CacheParams {
    let write_back = WriteBackParams {
        limit: Sectors::new(limit),
        segments: 8,
        destage,
        idle: ms(2),
        age: (limit > 64).then_some(ms(30)),
        press_from: Sectors::new(limit / 2),
        run: Sectors::new(64),
        while_busy: limit > 64,
    };
    CacheParams { segments: 12, fixed: false, write_back: Some(write_back), ..cache(256) }
}

fn cache(size: u64) -> CacheParams {
    CacheParams { segments: 4, ..CacheParams::reading_on(Sectors::new(size)) }
}

/// One segment of eight for writes alone.
fn separate() -> CacheParams {
    let write_back = write_back(Destage::WhenIdle, 64).write_back;
    CacheParams { segments: 8, separate_writes: true, write_back, ..cache(512) }
}

/// Keeps whatever passes the head, and goes on reading wherever it can.
fn eager() -> CacheParams {
    let cache =
        CacheParams { keeps_passing: true, keeps_written: false, ..write_back(Destage::WhenIdle, 100) };
    let read_ahead = ReadAheadParams { when_queued: true, on_hit: true, ..cache.read_ahead };
    CacheParams { read_ahead, hits_while_busy: false, ..cache }
}

/// One of the drives of [`described`] alone.
pub fn alone(which: usize) -> SystemParams {
    SystemParams::of_drive(Arc::clone(&MODELS[which]), ControllerParams::PLAIN)
}

/// Those of them that report in rounds, and those that have a buffer.
pub const WITH_ROUNDS: [usize; 2] = [6, 7];
pub const WITH_BUFFERS: [usize; 7] = [2, 3, 4, 5, 7, 8, 9];

/// A drive with a segment for writes alone, whatever it says of written data that are on the media.
pub fn separates(keeps_written: bool) -> SystemParams {
    let cache = CacheParams { keeps_written, ..separate() };
    let drive = DriveParams { cache: Some(cache), ..described(40)[8].clone() };
    SystemParams::of_drive(model(&drive), ControllerParams::PLAIN)
}

/// Drives for a journal: see [`JOURNALS`].
pub fn journals() -> [Arc<DriveModel>; 4] {
    JOURNALS.clone()
}

/// Drives of 1 280 sectors.
static MODELS: LazyLock<Vec<Arc<DriveModel>>> = LazyLock::new(|| models(40));
/// The same with room for a partial parity log of 2 048 sectors.
static WITH_LOG: LazyLock<Vec<Arc<DriveModel>>> = LazyLock::new(|| models(104));
/// Journals that hold one large write or a few, and go round all the time; one that forgets what is not written with force
/// unit access; one with room for everything.
static JOURNALS: LazyLock<[Arc<DriveModel>; 4]> = LazyLock::new(|| {
    [(9, 0), (14, 1), (20, 5), (1_000, 0)].map(|(cylinders, model)| Arc::clone(&models(cylinders)[model]))
});

/// Those of [`MODELS`] that cache writes, with a media cache that is full after a few of them.
static SHINGLED: LazyLock<Vec<Option<Arc<DriveModel>>>> = LazyLock::new(|| {
    let caches_writes = |drive: &DriveParams| drive.cache.is_some_and(|cache| cache.write_back.is_some());
    described(40).iter().map(|drive| caches_writes(drive).then(|| model(&shingled(drive)))).collect()
});

/// The same drive with 100 cylinders more at its outer edge for a media cache.
fn shingled(drive: &DriveParams) -> DriveParams {
    let capacity = Some(Sectors::new(40 * 32));
    let geometry = GeometryParams { capacity, outer_last: 100, ..layout(1, vec![zone(0, 140, 32)]) };
    let shingled = ShingledParams {
        band: Sectors::new(100),
        cache: Sectors::new(3_200),
        map_entries: 12,
        append_extents: 4,
        append_most: Sectors::new(32),
        append_overhead: Sectors::new(5),
        merged_extents: 3,
        slice: ms(4),
        idle: ms(3),
    };
    let seek = crate::common::flat_seek(us(700), 140);
    DriveParams { geometry, seek, medium: Medium::Shingled(shingled), ..drive.clone() }
}

/// Makes drives shingled that cache writes. Returns how many.
pub fn shingle(params: &mut SystemParams) -> usize {
    let mut made = 0;
    for drive in &mut params.drives {
        let known = MODELS.iter().position(|model| Arc::ptr_eq(model, drive));
        if let Some(shingled) = known.and_then(|number| SHINGLED[number].as_ref()) {
            *drive = Arc::clone(shingled);
            made += 1;
        }
    }
    made
}

/// Those of [`MODELS`] that can be of flash, with a buffer that is full after a few writes.
static FLASH: LazyLock<Vec<Option<Arc<DriveModel>>>> = LazyLock::new(|| {
    (0..)
        .zip(described(40))
        .map(|(number, drive)| DriveModel::new(&flash(&drive, number)).ok().map(Arc::new))
        .collect()
});

/// A drive of flash of the same capacity and protocol.
fn flash(drive: &DriveParams, number: u32) -> DriveParams {
    let dies = FlashParams {
        dies: 1 + number % 4,
        page: Sectors::new(8),
        stripe: Sectors::new(if number.is_multiple_of(4) { 8 } else { 4 }),
        read: ReadTimes::new(&[us(300), us(500)]).expect("two kinds"),
        read_ahead: Sectors::new(u64::from(number % 2) * 48),
        program_size: Sectors::new(20),
        program: ms(3),
        slc: number.is_multiple_of(3).then_some(SlcParams { size: Sectors::new(100), program: us(800) }),
        buffer: Sectors::new(60),
        answers_early: drive.cache.is_some_and(|cache| cache.write_back.is_some()),
        is_protected: number % 5 == 4,
        flush: us(700),
        idle: ms(2),
    };
    let plain = DriveParams::flash(Sectors::new(40 * 32), dies);
    DriveParams {
        firmware: FirmwareParams { read_completion: us(20), write_completion: us(20), ..drive.firmware },
        queue: QueueParams { depth: drive.queue.depth, ..QueueParams::NONE },
        protocol: drive.protocol,
        faults: drive.faults.clone(),
        ..plain
    }
}

/// Replaces drives by drives of flash, where these can be. Returns how many.
pub fn make_of_flash(params: &mut SystemParams) -> usize {
    let mut made = 0;
    for drive in &mut params.drives {
        let known = MODELS.iter().position(|model| Arc::ptr_eq(model, drive));
        if let Some(flash) = known.and_then(|number| FLASH[number].as_ref()) {
            *drive = Arc::clone(flash);
            made += 1;
        }
    }
    made
}

/// Drives that differ in queue and cache.
fn models(cylinders: u32) -> Vec<Arc<DriveModel>> {
    described(cylinders).iter().map(model).collect()
}

fn model(params: &DriveParams) -> Arc<DriveModel> {
    Arc::new(DriveModel::new(params).expect("a sound drive"))
}

/// One of these drives with sectors that cannot be read before they are written.
fn faulty(dice: &mut Dice, array: &ArrayParams, which: usize) -> Arc<DriveModel> {
    let cylinders = if array.consistency_policy == ConsistencyPolicy::PartialParityLog { 104 } else { 40 };
    let first = u64::from(cylinders - 40) * 32;
    let unreadable = (0..1 + dice.below(3))
        .map(|_| (Lba::new(first + dice.below(1_200)), Sectors::new(1 + dice.below(40))))
        .collect();
    with_unreadable(&described(cylinders)[which], unreadable)
}

/// One of the drives of [`bare`] of which the first so many sectors cannot be read before they are written.
pub fn unreadable(count: u64) -> Arc<DriveModel> {
    with_unreadable(&described(40)[0], vec![(Lba::ZERO, Sectors::new(count))])
}

/// One of the drives of [`bare`] with a few short stretches below `end` that cannot be read before they are written.
pub fn spotted(dice: &mut Dice, end: u64) -> Arc<DriveModel> {
    let spots =
        (0..dice.below(9)).map(|_| (Lba::new(dice.below(end)), Sectors::new(1 + dice.below(12)))).collect();
    with_unreadable(&described(40)[0], spots)
}

fn with_unreadable(drive: &DriveParams, unreadable: Vec<(Lba, Sectors)>) -> Arc<DriveModel> {
    let faults = FaultParams { read_errors: Share::NONE, unreadable, retries: us(500) };
    model(&DriveParams { faults: Some(faults), ..drive.clone() })
}

/// Drives of every kind of queue and buffer. The last four report in rounds, keep a segment for writes alone, and read on
/// in every way there is.
fn described(cylinders: u32) -> [DriveParams; 10] {
    let sptf = crate::common::queue(8, Order::Sptf);
    let small = || DriveParams {
        geometry: layout(1, vec![zone(0, cylinders, 32)]),
        seek: crate::common::flat_seek(us(700), cylinders),
        ..drive()
    };
    let rounds = |round| QueueParams { coalesces: Some(round), ..sptf.clone() };
    [
        DriveParams { ..small() },
        DriveParams { queue: sptf.clone(), ..small() },
        DriveParams { queue: sptf.clone(), cache: Some(cache(64)), ..small() },
        DriveParams { cache: Some(write_back(Destage::AtOnce, 48)), ..small() },
        DriveParams { queue: sptf.clone(), cache: Some(write_back(Destage::WhenIdle, 48)), ..small() },
        DriveParams { queue: sptf.clone(), cache: Some(write_back(Destage::WhenIdle, 200)), ..small() },
        DriveParams { queue: rounds(2), ..small() },
        DriveParams { queue: rounds(3), cache: Some(write_back(Destage::WhenIdle, 200)), ..small() },
        DriveParams { queue: sptf.clone(), cache: Some(separate()), ..small() },
        DriveParams { queue: sptf, cache: Some(eager()), ..small() },
    ]
}

fn memory(dice: &mut Dice, battery: bool) -> WriteBehindParams {
    let size = dice.of(&[48, 128, 400]);
    let limit = (size / dice.of(&[1, 2, 4])).max(8);
    WriteBehindParams {
        size: Sectors::new(size),
        limit: Sectors::new(limit),
        background: Sectors::new(dice.below(limit)),
        age: (!dice.one_in(3)).then_some(ms(8)),
        order: dice.of(&[FlushOrder::Address, FlushOrder::Age]),
        request: Sectors::new(dice.of(&[8, 32, 256])),
        outstanding: dice.of(&[1, 4]),
        rate: dice.one_in(2).then(|| Rate::from_bytes_per_s(20_000_000)).flatten(),
        overhead: us(dice.of(&[0, 50])),
        battery,
        // A battery is worth nothing before a drive that forgets.
        force_unit_access: battery || dice.one_in(4),
        keeps_reads: dice.one_in(2),
        stripe: None,
        stripe_wait: dice.of(&[Span::ZERO, ms(3)]),
        write_through: dice.one_in(8),
        read_ahead: dice.one_in(4).then(|| ReadAhead {
            unit: Sectors::new(dice.of(&[4, 8])),
            window: Sectors::new(16),
            outstanding: dice.of(&[1, 3]),
            after: 2,
            streams: 4,
        }),
    }
}

fn elevator(dice: &mut Dice) -> ElevatorParams {
    ElevatorParams {
        order: dice.of(&ElevatorOrder::ALL),
        depth: dice.of(&[1, 4, 16]),
        merge_limit: (!dice.one_in(4)).then(|| Sectors::new(dice.of(&[16, 128]))),
        deadline: DeadlineParams::DEFAULT,
        fair: FairParams::DEFAULT,
    }
}

fn level(dice: &mut Dice) -> (Level, u16) {
    let rotations = [
        Rotation::LeftSymmetric,
        Rotation::LeftAsymmetric,
        Rotation::RightSymmetric,
        Rotation::RightAsymmetric,
        Rotation::First,
        Rotation::Last,
    ];
    let layout = dice.of(&[Copies::Near, Copies::Far, Copies::Offset]);
    let few = dice.below(3) as u16;
    match dice.below(14) {
        0 => (Level::Linear, 1 + few),
        1 => (Level::Striped, 2 + few),
        2 | 3 => (Level::Mirrored, 2 + few % 2),
        4 => (Level::MirroredStripes { copies: 2 }, 4 + 2 * (few % 2)),
        5 | 6 => (Level::StripedMirrors { copies: 2, layout }, 2 + few),
        7 => (Level::StripedMirrors { copies: 3, layout }, 3 + few),
        8 => (Level::Interleaved { groups: 1 }, 3 + few),
        9 => (Level::Parity { parities: 2, rotation: dice.of(&rotations), groups: 1 }, 4 + few),
        10 => (Level::Parity { parities: 1, rotation: dice.of(&rotations), groups: 2 }, 6 + 2 * (few % 2)),
        11 => {
            let parities = 1 + few as u8;
            (Level::RaidZ { parities, record: Sectors::new(16), fill_percent: 80 }, 3 + 2 * few)
        }
        _ => (Level::Parity { parities: 1, rotation: dice.of(&rotations), groups: 1 }, 3 + few),
    }
}

fn array(dice: &mut Dice, span: Span) -> ArrayParams {
    let (level, members) = level(dice);
    let mut array = ArrayParams::plain(level, members);
    array.managed_by = dice.of(&[ManagedBy::Host, ManagedBy::Controller]);
    array.unit = Sectors::new(dice.of(&[4, 8, 32]));
    array.parity.granule = Sectors::new(dice.of(&[1, 4]));
    array.reads = dice.of(&[
        ReadChoice::First,
        ReadChoice::RoundRobin,
        ReadChoice::NearestHead,
        ReadChoice::LeastQueued,
        ReadChoice::AskAll,
    ]);
    let (from, unit) = (Sectors::new(32), Sectors::new(8));
    let has_copies =
        matches!(level, Level::Mirrored | Level::MirroredStripes { .. } | Level::StripedMirrors { .. });
    array.split = (dice.one_in(4) && has_copies).then_some(SplitReads { from, unit });
    array.request = Sectors::new(dice.of(&[16, 1 << 16]));
    let takes_spares = !matches!(level, Level::Linear | Level::Striped);
    array.spares = if takes_spares { dice.below(3) as u16 } else { 0 };
    array.replaced_after = us(dice.of(&[0, 0, 5_000, 50_000]));
    array.sync.request = Sectors::new(dice.of(&[16, 64]));
    array.sync.outstanding = dice.of(&[1, 3]);
    // The drives are so small that no rate is worth keeping to.
    (array.sync.floor, array.sync.ceiling) = (None, None);
    let failures = dice.of(&[0, 0, 1, 1, 2]);
    let drives = u64::from(members + array.spares);
    for _ in 0..failures {
        let when = if dice.one_in(4) {
            When::Commands(1 + dice.below(30))
        } else {
            When::At(Instant::ZERO + Span::from_ns(dice.below(span.as_ns())))
        };
        array.failures.push(Failure { drive: dice.below(drives) as u16, when });
    }
    if dice.one_in(8) {
        array.missing.push(dice.below(members.into()) as u16);
    }
    // Nothing fails twice.
    let mut gone = array.missing.clone();
    array.failures.retain(|failure| {
        let is_new = !gone.contains(&failure.drive);
        gone.push(failure.drive);
        is_new
    });
    array
}

/// A consistency policy that the level takes.
fn consistency_policy(dice: &mut Dice, level: Level) -> ConsistencyPolicy {
    let bitmap = ConsistencyPolicy::Bitmap {
        region: Sectors::new(dice.of(&[32, 200])),
        clears_after: ms(dice.of(&[1, 20])),
    };
    let drawn = dice.of(&[
        ConsistencyPolicy::None,
        bitmap,
        ConsistencyPolicy::Journal,
        ConsistencyPolicy::PartialParityLog,
    ]);
    let fits = match (drawn, level) {
        (ConsistencyPolicy::None, _) => true,
        (_, Level::Linear | Level::Striped | Level::RaidZ { .. }) => false,
        (ConsistencyPolicy::Bitmap { .. }, _) => true,
        (ConsistencyPolicy::Journal, _) => matches!(level, Level::Parity { .. }),
        (ConsistencyPolicy::PartialParityLog, _) => matches!(level, Level::Parity { parities: 1, .. }),
    };
    if fits { drawn } else { ConsistencyPolicy::None }
}

/// Every few systems have drives with two actuators: neighbours, or members that are half of the array apart.
fn housings(dice: &mut Dice, drives: u16) -> Vec<u16> {
    let half = drives.div_ceil(2);
    match dice.below(8) {
        0 => (0..drives).map(|drive| drive - drive % 2).collect(),
        1 => (0..drives).map(|drive| drive % half).collect(),
        _ => Vec::new(),
    }
}

/// A system whose hosts keep it busy for about so long.
pub fn system(dice: &mut Dice, span: Span) -> SystemParams {
    let battery = dice.one_in(2);
    let cache = dice.one_in(3).then(|| memory(dice, battery));
    let model = dice.below(MODELS.len() as u64) as usize;
    let mixed = dice.one_in(4);
    let mut array = (!dice.one_in(8)).then(|| array(dice, span));
    let count = array.as_ref().map_or(1, |array| array.members + array.spares);
    let models: Vec<usize> =
        (0..count).map(|_| if mixed { dice.below(MODELS.len() as u64) as usize } else { model }).collect();
    array.iter_mut().for_each(|array| array.consistency_policy = consistency_policy(dice, array.level));
    let alone = || vec![Arc::clone(&MODELS[model])];
    // What a rebuild cannot read is lost, and members need not fit there: nothing else fails where sectors do.
    let bad = array.as_mut().filter(|_| dice.one_in(5)).map(|array| {
        array.failures.clear();
        array.missing.clear();
        array.spares = 0;
        dice.below(array.members.into()) as usize
    });
    let count = array.as_ref().map_or(1, |array| array.members + array.spares);
    let models = &models[..usize::from(count)];
    let mut drives = array.as_ref().map_or_else(alone, |array| drives(array, models));
    if let (Some(bad), Some(array)) = (bad, &array) {
        drives[bad] = faulty(dice, array, models[bad]);
    }
    if let Some(last) = drives.last_mut().filter(|_| {
        array.as_ref().is_some_and(|array| array.consistency_policy == ConsistencyPolicy::Journal)
    }) {
        *last = Arc::clone(&JOURNALS[dice.below(JOURNALS.len() as u64) as usize]);
    }
    let housings = array.as_ref().map_or_else(Vec::new, |_| housings(dice, drives.len() as u16));
    SystemParams {
        drives,
        controller: ControllerParams {
            depth: dice.of(&[None, Some(1), Some(4)]),
            timeout: dice.one_in(3).then(|| ms(dice.of(&[4, 12, 40, 150]))),
            cache,
            ..ControllerParams::PLAIN
        },
        elevator: dice.one_in(2).then(|| elevator(dice)),
        host_cache: dice.one_in(4).then(|| memory(dice, false)),
        array,
        shares_link: dice.one_in(8),
        housings,
    }
}

/// One command, and how long after the one before it comes.
#[derive(Clone, Copy, Debug)]
pub struct Draft {
    pub gap: Span,
    pub command: drivelab_core::Command,
}

/// The same of hosts that have each a part of the addresses for itself.
pub fn drafts_apart(dice: &mut Dice, part: u64, hosts: u64, count: u64, from_id: u64) -> Vec<Draft> {
    let mut all = drafts(dice, part, hosts, count, from_id);
    for Draft { command, .. } in &mut all {
        if command.count > Sectors::ZERO {
            command.first = command.first + Sectors::new(part * u64::from(command.initiator));
        }
    }
    all
}

/// Commands that meet each other: at few places, with lengths that are no multiples of anything.
pub fn drafts(dice: &mut Dice, capacity: u64, hosts: u64, count: u64, from_id: u64) -> Vec<Draft> {
    use drivelab_core::{Access, Command};
    let hot = [dice.below(capacity), dice.below(capacity), dice.below(capacity)];
    let draft = |id| {
        let access = match dice.below(20) {
            0 => Access::Flush,
            1..9 => Access::Read,
            _ => Access::Write,
        };
        let longest = dice.of(&[6, 30, 100]);
        let flush = access == Access::Flush;
        let count = if flush { 0 } else { (1 + dice.below(longest)).min(capacity) };
        let near = if dice.one_in(5) { dice.below(capacity) } else { dice.of(&hot) + dice.below(24) };
        let first = if flush { 0 } else { near.min(capacity - count) };
        let gap = Span::from_us(dice.of(&[0, 0, 300, 4_000]));
        let command = crate::common::command(id, access, first, count);
        let initiator = dice.below(hosts) as u16;
        let force_unit_access = dice.one_in(12);
        let direct = dice.one_in(8);
        Draft { gap, command: Command { initiator, force_unit_access, direct, ..command } }
    };
    (from_id..from_id + count).map(draft).collect()
}
