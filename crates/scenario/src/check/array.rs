//! An array: its level, and how it reads and writes, from the raw keys to the core's parameters.
//!
//! Keys without effect at a level are in `array_keys`, failures in `array_faults`, the choice of the drives
//! in `members`. A level that the core refuses becomes a problem at the key concerned.
use super::array_faults::{failures, missing, scheduled};
use super::array_keys::check_keys;
use super::workload::size;
use crate::check::given;
use crate::keys::At;
use crate::raw::array::{ArrayRaw, HoleName, LayoutName, PartialName, RebuildRaw};
use crate::raw::switch::{OrNone, Switch};
use crate::raw::system::FaultsRaw;
use crate::text::problem::{Log, Place};
use drivelab_core::storage::array::levels::{Kind, LevelError, LevelName, Uses};
use drivelab_core::storage::array::params::{
    ArrayParams, ConsistencyPolicy, Copies, GivesWay, Level, ManagedBy, ParityParams, PartialWrites,
    Rotation, SplitReads, SyncParams,
};
use drivelab_units::{Bytes, Rate, Sectors, Share, Span};

/// What is known of an array before its keys are read.
pub struct ArrayContext<'a> {
    pub raw: &'a ArrayRaw,
    /// Where the array is written.
    pub place: Place,
    pub level: LevelName,
    pub managed_by: ManagedBy,
    pub members: u16,
    pub faults: Option<&'a FaultsRaw>,
}

impl ArrayContext<'_> {
    /// Where the number of members was written.
    pub fn members_place(&self) -> Place {
        let members = self.raw.members.as_ref().map(|at| at.place);
        members.or(self.raw.drives.as_ref().map(|at| at.place)).unwrap_or(self.place)
    }

    pub fn drives(&self) -> usize {
        usize::from(self.members) + usize::from(self.spares()) + usize::from(self.has_journal())
    }

    /// Zero where nothing can be rebuilt.
    pub fn spares(&self) -> u16 {
        let spares = given(self.raw.spares.as_ref()).map_or(0, |spares| spares.0 as u16);
        if self.level.uses(Uses::Redundancy) { spares } else { 0 }
    }

    pub fn has_journal(&self) -> bool {
        self.level.uses(Uses::Rows) && given(self.raw.write_hole.as_ref()) == Some(HoleName::Journal)
    }
}

/// Default deviation of the spindles in millionths of the period: crystals of 100 ppm. Inferred: the
/// tolerance with which quartz crystals of that class are sold.
const DEVIATION: u32 = 100;
/// Maximum deviation in millionths.
const DEVIATION_MAX: u32 = 100_000;

/// The array's parameters; `None` if one of them is invalid.
pub fn params(known: &ArrayContext<'_>, log: &mut Log) -> Option<ArrayParams> {
    let problems = log.count();
    let ArrayContext { raw, level, members, managed_by, .. } = *known;
    check_keys(known, log);
    let plain = ArrayParams::plain(Level::Linear, members);
    let unit = amount(raw.stripe_unit.as_ref(), "stripe_unit", plain.unit, log);
    let parity = parity(known, unit, log);
    let consistency_policy = consistency_policy(known, log);
    let synchronised = given(raw.synchronised.as_ref()).unwrap_or(level.kind() == Kind::Interleaved);
    let level = level_of(known, log);
    let reads = given(raw.read_choice.as_ref()).unwrap_or(plain.reads);
    let split = split(known, log);
    let request = amount(raw.largest_request.as_ref(), "largest_request", plain.request, log);
    let ceiling = if known.level.uses(Uses::Records) { None } else { plain.sync.ceiling };
    let sync = sync(raw.rebuild.as_ref(), SyncParams { ceiling, ..plain.sync }, log);
    let params = ArrayParams {
        level: level?,
        managed_by,
        members,
        spares: known.spares(),
        replaced_after: given(raw.replaced_after.as_ref()).unwrap_or(Span::ZERO),
        unit,
        depth: given(raw.depth.as_ref()).map(|depth| depth.0 as u32),
        // Raised in `system` where the controller's own time per command is longer.
        refusal: ArrayParams::REFUSAL,
        reads,
        split,
        parity,
        consistency_policy: consistency_policy?,
        request,
        sync,
        deviation_ppm: deviation(raw.spindle_deviation.as_ref(), log),
        synchronised,
        failures: failures(known, log),
        missing: missing(known, log),
        rebuilding: given(raw.rebuilding.as_ref()).unwrap_or(false),
        rebuilt: given(raw.rebuilt.as_ref()).unwrap_or(Share::NONE),
        start_dirty_degraded: given(raw.start_dirty_degraded.as_ref()).unwrap_or(false),
        scheduled: scheduled(known),
        bad_blocks: Vec::new(),
    };
    (log.count() == problems).then_some(params)
}

/// An amount of data in whole sectors, or the default.
fn amount(at: Option<&At<Bytes>>, key: &str, default: Sectors, log: &mut Log) -> Sectors {
    at.and_then(|at| size(at.value, at.place, key, log)).unwrap_or(default)
}

fn level_of(known: &ArrayContext<'_>, log: &mut Log) -> Option<Level> {
    let raw = known.raw;
    let copies = given(raw.copies.as_ref()).map_or(2, |copies| copies.0 as u16);
    let groups = given(raw.groups.as_ref()).map_or(2, |groups| groups.0 as u16);
    let groups = if known.level.has_groups() { groups } else { 1 };
    Some(match known.level.kind() {
        Kind::Concatenated => Level::Linear,
        Kind::Striped => Level::Striped,
        Kind::Mirrored => Level::Mirrored,
        Kind::MirroredStripes => Level::MirroredStripes { copies },
        Kind::StripedMirrors => Level::StripedMirrors { copies, layout: spread(known, log)? },
        Kind::Interleaved => Level::Interleaved { groups },
        Kind::Rows { parities, dedicated } => {
            Level::Parity { parities, rotation: rotation(known, dedicated, log)?, groups }
        }
        Kind::Records { parities } => records(known, parities, log)?,
    })
}

fn spread(known: &ArrayContext<'_>, log: &mut Log) -> Option<Copies> {
    match given(known.raw.layout.as_ref()).unwrap_or(LayoutName::Near) {
        LayoutName::Near => Some(Copies::Near),
        LayoutName::Far => Some(Copies::Far),
        LayoutName::Offset => Some(Copies::Offset),
        other => another_layout(known, other, "near, far and offset", log),
    }
}

fn rotation(known: &ArrayContext<'_>, dedicated: bool, log: &mut Log) -> Option<Rotation> {
    let default = if dedicated { LayoutName::ParityLast } else { LayoutName::LeftSymmetric };
    let requested = given(known.raw.layout.as_ref()).unwrap_or(default);
    match requested {
        LayoutName::ParityFirst => Some(Rotation::First),
        LayoutName::ParityLast => Some(Rotation::Last),
        other if dedicated => another_layout(known, other, "parity-first and parity-last", log),
        LayoutName::LeftSymmetric => Some(Rotation::LeftSymmetric),
        LayoutName::LeftAsymmetric => Some(Rotation::LeftAsymmetric),
        LayoutName::RightSymmetric => Some(Rotation::RightSymmetric),
        LayoutName::RightAsymmetric => Some(Rotation::RightAsymmetric),
        other => another_layout(
            known,
            other,
            "left-symmetric, left-asymmetric, right-symmetric, right-asymmetric, parity-first and parity-last",
            log,
        ),
    }
}

/// Records that the layout belongs to other levels.
fn another_layout<T>(known: &ArrayContext<'_>, layout: LayoutName, own: &str, log: &mut Log) -> Option<T> {
    let place = known.raw.layout.as_ref().map_or(known.place, |at| at.place);
    let level = known.level.name();
    let message = format!("{level} has no layout \"{}\": it has {own}", layout.name());
    log.contradiction(place, message, "take one of them, or leave layout out");
    None
}

/// The level of a pool: its record size, and the share of its space that is filled.
fn records(known: &ArrayContext<'_>, parities: u8, log: &mut Log) -> Option<Level> {
    let (raw, usual) = (known.raw, ArrayParams::plain(Level::Linear, 1));
    let problems = log.count();
    let record = amount(raw.record_size.as_ref(), "record_size", Sectors::new(256), log);
    let sector = amount(raw.parity_granule.as_ref(), "parity_granule", usual.parity.granule, log);
    let request = amount(raw.largest_request.as_ref(), "largest_request", usual.request, log);
    let at = |key: Option<Place>| key.unwrap_or(known.place);
    let own = raw.record_size.as_ref().map(|at| at.place);
    if !sector.get().is_power_of_two() || !record.get().is_multiple_of(sector.get()) {
        let place = at(own.or(raw.parity_granule.as_ref().map(|at| at.place)));
        let (record, sector) = (record.bytes(), sector.bytes());
        let message = format!(
            "a record of {record} is no whole number of sectors of {sector}, 512 bytes times a power of two"
        );
        log.contradiction(place, message, "set record_size to a multiple of parity_granule");
    } else if request < record {
        let place = at(raw.largest_request.as_ref().map(|at| at.place).or(own));
        let message = format!(
            "a command to a member of {} has no room for a record of {}",
            request.bytes(),
            record.bytes()
        );
        log.contradiction(place, message, "raise largest_request, or lower record_size");
    }
    let percent = |share: Share| ((u128::from(share.bits()) * 100 + (1 << 31)) >> 32) as u8;
    let fill_percent = given(raw.fill.as_ref()).map_or(80, percent);
    if let Some(fill) = raw.fill.as_ref().filter(|_| fill_percent == 0) {
        log.fault(fill.place, "an array without data", "write a share from \"1%\" to \"100%\"");
    }
    (log.count() == problems).then_some(Level::RaidZ { parities, record, fill_percent })
}

fn parity(known: &ArrayContext<'_>, unit: Sectors, log: &mut Log) -> ParityParams {
    let raw = known.raw;
    let usual = ArrayParams::plain(Level::Linear, 1).parity;
    let partial = match given(raw.partial_writes.as_ref()).unwrap_or(PartialName::Cheaper) {
        // Linux, drivers/md/raid5.c, handle_stripe_dirtying: the old data go first on a tie only when told to.
        PartialName::Cheaper => PartialWrites::Cheaper { prefers_old: false },
        PartialName::Old => PartialWrites::Old,
        PartialName::Rest => PartialWrites::Rest,
    };
    let granule = amount(raw.parity_granule.as_ref(), "parity_granule", usual.granule, log);
    if known.level.uses(Uses::Rows) && !unit.get().is_multiple_of(granule.get()) {
        let unit_place = raw.stripe_unit.as_ref().map(|at| at.place);
        let place = unit_place.or(raw.parity_granule.as_ref().map(|at| at.place)).unwrap_or(known.place);
        let (unit, granule) = (unit.bytes(), granule.bytes());
        let message = format!(
            "a stripe unit of {unit} is no whole number of pieces of {granule}, which parity is made over"
        );
        log.contradiction(place, message, "set stripe_unit to a multiple of parity_granule");
    }
    ParityParams { rate: given(raw.parity_rate.as_ref()).and_then(|rate| rate.0), partial, granule }
}

fn consistency_policy(known: &ArrayContext<'_>, log: &mut Log) -> Option<ConsistencyPolicy> {
    let raw = known.raw;
    let usual = (Sectors::new(64 << 11), Span::from_s(5));
    let at = raw.write_hole.as_ref().filter(|_| known.level.uses(Uses::WriteHole));
    let name = given(at).unwrap_or(HoleName::Open);
    let those = match name {
        HoleName::Journal if !known.level.uses(Uses::Rows) => {
            "journal: only a level with stripe units and parity has"
        }
        HoleName::Ppl if !matches!(known.level, LevelName::Raid5 | LevelName::Raid50) => {
            "partial parity log: only raid5 and raid50 have"
        }
        HoleName::Open => return Some(ConsistencyPolicy::None),
        HoleName::Journal => return Some(ConsistencyPolicy::Journal),
        HoleName::Ppl => return Some(ConsistencyPolicy::PartialParityLog),
        HoleName::Bitmap => {
            let region = amount(raw.bitmap_region.as_ref(), "bitmap_region", usual.0, log);
            let clears_after = given(raw.bitmap_clears_after.as_ref()).unwrap_or(usual.1);
            return Some(ConsistencyPolicy::Bitmap { region, clears_after });
        }
    };
    let place = at.map_or(known.place, |at| at.place);
    let message = format!("{} has no {those}", known.level.name());
    log.contradiction(place, message, "set write_hole to bitmap or open, or take another level");
    None
}

fn split(known: &ArrayContext<'_>, log: &mut Log) -> Option<SplitReads> {
    let Some(At { value: Switch::On(split), .. }) = &known.raw.split_reads else { return None };
    known.level.uses(Uses::Copies).then_some(SplitReads {
        from: amount(split.from.as_ref(), "from", Sectors::new(64 << 11), log),
        unit: amount(split.unit.as_ref(), "unit", Sectors::new(4 << 11), log),
    })
}

fn sync(at: Option<&At<RebuildRaw>>, usual: SyncParams, log: &mut Log) -> SyncParams {
    let Some(At { value: raw, place, .. }) = at else { return usual };
    let bound = |at: &Option<At<OrNone<Rate>>>, default| given(at.as_ref()).map_or(default, |rate| rate.0);
    let (floor, ceiling) = (bound(&raw.floor, usual.floor), bound(&raw.ceiling, usual.ceiling));
    if let (Some(low), Some(high)) = (floor, ceiling)
        && low > high
    {
        let key = raw.floor.as_ref().map(|at| at.place).or(raw.ceiling.as_ref().map(|at| at.place));
        let [low, high] = [low, high].map(|rate| rate_text(rate.bytes_per_s()));
        let message = format!("a floor of {low} is above the ceiling of {high}");
        log.contradiction(
            key.unwrap_or(*place),
            message,
            "lower floor, or raise ceiling; either may be \"none\"",
        );
    }
    let gives_way = given(raw.gives_way.as_ref()).unwrap_or(usual.gives_way);
    if let (GivesWay::ByDraining, Some(idle)) = (gives_way, &raw.idle_after) {
        let message = "`idle_after` has no effect with gives_way = \"draining\"".to_owned();
        let remedy = "set gives_way = \"waiting\", or leave it out".to_owned();
        log.no_effect(idle.place, message, remedy);
    }
    SyncParams {
        floor,
        ceiling,
        request: amount(raw.request.as_ref(), "request", usual.request, log),
        outstanding: given(raw.outstanding.as_ref()).map_or(usual.outstanding, |count| count.0 as u32),
        gives_way,
        idle_after: given(raw.idle_after.as_ref()).unwrap_or(usual.idle_after),
    }
}

fn deviation(at: Option<&At<Share>>, log: &mut Log) -> u32 {
    let Some(at) = at else { return DEVIATION };
    let ppm = ((u128::from(at.value.bits()) * 1_000_000 + (1 << 31)) >> 32) as u32;
    if ppm > DEVIATION_MAX {
        log.fault(at.place, "no two drives of a kind turn so differently", "write a share up to \"10%\"");
    }
    ppm.min(DEVIATION_MAX)
}

/// Records a problem if the members do not meet the requirements of the level. Returns whether they do.
pub fn check_level(
    known: &ArrayContext<'_>,
    params: &ArrayParams,
    capacities: &[Sectors],
    log: &mut Log,
) -> bool {
    let Err(error) = params.check(capacities) else { return true };
    let (raw, level) = (known.raw, known.level.name());
    let at = |place: Option<Place>| place.unwrap_or(known.place);
    let members = known.members_place();
    let (place, message, remedy) = match error {
        LevelError::TooFew { least, members: each, .. } => {
            let groups = if known.level.uses(Uses::Groups) { known.members / each.max(1) } else { 1 };
            let whole = if groups > 1 { format!(" in each of its {groups} groups") } else { String::new() };
            let message = format!("{level} needs at least {least} members{whole}, not {each}");
            (members, message, format!("set members to {} or more, or take another level", least * groups))
        }
        LevelError::TooMany { most, .. } => {
            let message = format!("{level} has at most {most} members, not {}", known.members);
            (members, message, format!("set members to {most} or less"))
        }
        LevelError::Uneven { members: count, by, .. } => {
            let what = if known.level.uses(Uses::Groups) { "groups" } else { "copies" };
            let message =
                format!("{level} of {by} {what} needs a number of members that {by} divides, not {count}");
            let near = count.next_multiple_of(by).max(by);
            (members, message, format!("set members to {near}, or {what} to another number"))
        }
        LevelError::Unit { .. } => {
            let place = at(raw.stripe_unit.as_ref().map(|at| at.place));
            let smallest = capacities[..usize::from(known.members)].iter().min().copied().unwrap_or_default();
            let unit = params.unit.bytes();
            let message =
                format!("stripe units of {unit} do not fit on the smallest member, of {}", decimal(smallest));
            (place, message, "lower stripe_unit".to_owned())
        }
        LevelError::Spare { capacity, needed, .. } => {
            let place = at(raw.spare_drive.as_ref().map(|at| at.place));
            let message = format!(
                "the spare holds {}, less than the smallest member's {}",
                decimal(capacity),
                decimal(needed)
            );
            (place, message, "take a drive for spare_drive that is as large, or leave it out".to_owned())
        }
        LevelError::Copies { copies, members: count, .. } => {
            let place = raw.copies.as_ref().map_or(members, |at| at.place);
            let message = format!("{level} of {copies} copies needs at least {copies} members, not {count}");
            (place, message, "lower copies, or raise members".to_owned())
        }
        LevelError::Regions { needed, .. } => {
            let place = at(raw.bitmap_region.as_ref().map(|at| at.place));
            let remedy = format!("set bitmap_region to {} or more", needed.bytes());
            (place, format!("bitmap_region is too small: {error}"), remedy)
        }
        error => (known.place, error.to_string(), "correct target.array".to_owned()),
    };
    log.contradiction(place, message, remedy);
    false
}

/// A capacity as data sheets print it.
fn decimal(count: Sectors) -> String {
    let bytes = count.bytes().get();
    let (unit, name) = match bytes {
        0..1_000_000_000 => (1_000_000, "MB"),
        1_000_000_000..1_000_000_000_000 => (1_000_000_000, "GB"),
        _ => (1_000_000_000_000, "TB"),
    };
    let tenths = (bytes * 10 + unit / 2) / unit;
    format!("{}.{}{name}", tenths / 10, tenths % 10)
}

/// A rate in the largest unit of which it is a whole multiple.
fn rate_text(bytes_per_s: u64) -> String {
    let units = [(1_000_000, "MB/s"), (1_048_576, "MiB/s"), (1_000, "kB/s"), (1_024, "KiB/s"), (1, "B/s")];
    let (unit, name) =
        units.into_iter().find(|(unit, _)| bytes_per_s.is_multiple_of(*unit)).unwrap_or((1, "B/s"));
    format!("{}{name}", bytes_per_s / unit)
}
