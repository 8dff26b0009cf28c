//! The sections of a drive file: physical parameters, each with its source.
use super::actuators::DualActuator;
use super::cache::CacheRaw;
use super::class::Class;
use super::disconnect::DisconnectRaw;
use super::flash::FlashRaw;
use super::host_managed::HostManagedRaw;
use super::identity::IdentityRaw;
use super::link::Standard;
use super::patterns::{PatternRaw, Skip};
use super::queue::QueueRaw;
use super::scatter::Widths;
use super::smr::SmrRaw;
use super::switch::Switch;
use crate::keys::numbers::Count;
use crate::keys::quantities::{Extent, Length, LinearDensity, SignedSpan, TrackDensity, Whole};
use crate::keys::read::{At, Example, Names, wrong_type};
use crate::keys::{Kind, Read, choices, section};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_core::storage::drive::params::WriteData;
use drivelab_units::{Angle, Rate, Rpm, Share, Span};
use std::fmt::Write;

section! {
    facts: true,
    /// A drive in physical parameters. Any value may be written `{ value = .., source = "..", mark = ".." }`; a
    /// section's own `source` and `mark` hold for the values in it that carry none.
    pub struct DriveRaw {
        /// The drive that this one is based on: a name of the catalogue or a path. All keys override its own.
        base: String = "",
        /// The identity of the drive.
        identity: IdentityRaw = "",
        /// Short names for sources, with the full reference of each.
        sources: Names<String> = "",
        /// The spindle speed.
        rpm: Rpm = "",
        /// The geometry: the placement of the blocks.
        geometry: GeometryRaw = "",
        /// The skew of each track against the one before.
        skew: SkewRaw = "as drives of its class (docs/reference/firmware-classes.md)",
        /// Seek time over distance.
        seek: SeekRaw = "",
        /// Times of the mechanism in addition to the seek curve.
        settle: SettleRaw = "as drives of its class",
        /// Overheads of the firmware.
        firmware: FirmwareRaw = "as drives of its class",
        /// The link to the host.
        link: LinkRaw = "infinitely fast",
        /// How it disconnects from its bus and reconnects.
        disconnect: DisconnectRaw = "at no cost",
        /// The queue.
        queue: QueueRaw = "what the interface implies (docs/how-to/own-drive.md), else one command at a time",
        /// A second actuator, with half of the heads and of the capacity. `geometry.heads`, the capacity and the cache are
        /// those of both together; all else is of each of them.
        dual_actuator: DualActuator = "no",
        /// Drive-managed shingled recording (SMR); false where there is none.
        smr: Switch<SmrRaw> = "conventional recording",
        /// Host-managed shingled recording: zones with write pointers; false where there are none.
        host_managed: Switch<HostManagedRaw> = "writes go anywhere",
        /// Flash in place of platters: then the geometry is a capacity, and nothing else of a disk is there.
        flash: FlashRaw = "a disk",
        /// The buffer memory as a cache; false where there is none.
        cache: Switch<CacheRaw> = "what the interface implies, else none",
        /// Whether writes complete in the cache, or only on the media.
        write_cache: bool = "what the interface implies, else false",
    }
}

/// The order of the blocks over the surfaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrderName {
    Cylinder,
    Alternating,
    Serpentine,
}

choices!(OrderName {
    "cylinder" => OrderName::Cylinder, "all heads of a cylinder, then the next cylinder";
    "alternating" => OrderName::Alternating, "the same, but downward over the heads of every second cylinder";
    "serpentine" => OrderName::Serpentine, "`cylinders_per_head` cylinders under one head, then back under the next";
});

/// From where the cylinders that run downward are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CountedFrom {
    Zone,
    Drive,
}

choices!(CountedFrom {
    "zone" => CountedFrom::Zone, "the zone's own first cylinder runs upward, its second one downward";
    "drive" => CountedFrom::Drive, "the drive's even cylinders run upward, its odd ones downward";
});

section! {
    facts: true,
    exclusive: &[&[
        &["zones", "slips"],
        &["patterns", "skips"],
        &["outer_rate", "inner_to_outer", "zone_count"],
        &["outer_radius", "inner_radius", "linear_density", "track_density", "format_efficiency", "zone_count"],
    ]],
    /// The geometry, in one of four forms: `zones` as measured; `patterns`, where the tracks of one
    /// head differ from those of another; `capacity`, `outer_rate` and `inner_to_outer` as on a data sheet; or radii
    /// and densities, from first principles.
    pub struct GeometryRaw {
        /// Surfaces that hold data.
        heads: Count<1, 255> = "",
        /// The order of the blocks over the surfaces.
        surface_order: OrderName = "cylinder",
        /// With `serpentine`: cylinders under one head before the next head follows.
        cylinders_per_head: Count<1, 1048576> = "",
        /// With `alternating`: which cylinders run downward.
        alternates_by: CountedFrom = "zone",
        /// Blocks that the drive reports.
        capacity: Extent = "all that the zones hold",
        /// Blocks that a host can reach, from the outer edge on (ATA's accessible maximum address); zones and seeks stay.
        accessible: Extent = "capacity",
        /// The sector of the media. Where it is larger than the 512 bytes that a host addresses (512e), a write of part of one
        /// reads it first, and is a turn longer.
        physical_sector: Whole = "512B",
        /// The zones, outermost first.
        zones: Vec<At<ZoneRaw>> = "",
        /// Slots that hold no block: slipped defects.
        slips: Vec<At<SlipRaw>> = "none",
        /// Tracks and patterns of them, in the order of the blocks. The last pattern is the drive.
        patterns: Vec<At<PatternRaw>> = "",
        /// With `patterns`: slots that hold no block, as `[position, count]`, counted from the drive's first slot on.
        skips: Vec<At<Skip>> = "none",
        /// The rate of a long sequential transfer in the outermost zone, skews included.
        outer_rate: Rate = "",
        /// Sectors per track of the innermost zone as a share of the outermost.
        inner_to_outer: Share = "",
        /// The number of zones to derive, with the same number of cylinders each.
        zone_count: Count<1, 1024> = "16",
        /// The outermost track.
        outer_radius: Length = "",
        /// The innermost track.
        inner_radius: Length = "",
        /// Bits along the track, at the inner edge of each zone.
        linear_density: LinearDensity = "",
        /// Tracks across the platter.
        track_density: TrackDensity = "",
        /// Share of the bits that are data of blocks, not servo, gaps or codes.
        format_efficiency: Share = "100%",
    }
}

section! {
    facts: false,
    exclusive: &[&[
        &["spares_per_track"],
        &["spares_per_cylinder"],
        &["spares_per_range", "spare_range"],
        &["spare_tracks"],
        &["spares"],
    ]],
    /// Cylinders whose tracks hold the same number of sectors. Slots without blocks pass under the head like any other. A
    /// slipped defect uses up one of the spares of its track, cylinder, range or zone.
    pub struct ZoneRaw {
        /// Its outermost cylinder.
        first_cylinder: Count<0, 4194304> = "behind the zone before",
        /// Its number of cylinders.
        cylinders: Count<1, 4194304> = "",
        /// Sectors on each of its tracks.
        sectors_per_track: Count<1, 65535> = "",
        /// In place of `skew.track` in this zone.
        track_skew: Angle = "skew.track",
        /// In place of `skew.cylinder` in this zone.
        cylinder_skew: Angle = "skew.cylinder",
        /// The angle at which its first slot begins.
        start: Angle = "a cylinder skew behind the last track of the zone before",
        /// Slots without blocks at its start.
        front: Count<0, 4294967295> = "0",
        /// Slots without blocks at the end of each of its tracks.
        spares_per_track: Count<0, 65534> = "0",
        /// Slots without blocks at the end of each of its cylinders.
        spares_per_cylinder: Count<0, 4294967295> = "0",
        /// Slots without blocks at the end of every `spare_range` cylinders; what is left behind the last whole range
        /// has none.
        spares_per_range: Count<0, 4294967295> = "0",
        /// With `spares_per_range`: the number of cylinders of a range.
        spare_range: Count<1, 4194304> = "",
        /// Tracks without blocks at its end.
        spare_tracks: Count<0, 4194304> = "0",
        /// Slots without blocks at its end.
        spares: Count<0, 4294967295> = "0",
        /// Whether each slip shifts all behind its track, cylinder or range (whichever has spares) by one more slot.
        slips_turn: bool = "false",
    }
}

impl Example for ZoneRaw {
    const EXAMPLE: &'static str = "[{ cylinders = 5000, sectors_per_track = 1200 }]";
    // Real drives have a few dozen, or hundreds where each head has its own.
    const MOST: usize = 16_384;
    const TOO_MANY: &'static str =
        "put neighbours of like sectors_per_track into one zone: real drives have fewer than a few thousand";
}

section! {
    facts: false,
    exclusive: &[&[&["sector", "count"], &["whole_track"]]],
    /// Slots of a track that hold no block.
    pub struct SlipRaw {
        /// The cylinder.
        cylinder: Count<0, 4194304> = "",
        /// The head.
        head: Count<0, 254> = "",
        /// The first slot of the track that is slipped.
        sector: Count<0, 65534> = "",
        /// The number of slots from there on.
        count: Count<1, 65535> = "1",
        /// In place of `sector`: the whole track.
        whole_track: bool = "false",
    }
}

impl Example for SlipRaw {
    const EXAMPLE: &'static str = "[{ cylinder = 12, head = 1, sector = 88 }]";
}

section! {
    facts: true,
    exclusive: &[&[&["track", "cylinder"], &["margin"]]],
    /// The skew of each track against the one before: as angles, or derived from switch times.
    pub struct SkewRaw {
        /// Between a track and the next one under another head.
        track: Angle = "from `margin`",
        /// Between a track and the next one on another cylinder.
        cylinder: Angle = "from `margin`",
        /// Margin beyond the switch time before a write; both skews follow from it.
        margin: Span = "as drives of its class",
    }
}

section! {
    facts: true,
    exclusive: &[&[&["table"], &["single", "average", "full", "form", "longer_settle"], &["a", "b", "limit", "c", "e"]]],
    /// Seek time over distance: a measured `table`; `single`, `average` and `full` of a data sheet, through which a curve
    /// of `form` is laid; or the three-part form `a`, `b`, `limit`, `c`, `e`.
    pub struct SeekRaw {
        /// Measured points `[cylinders, "time"]`, linear between them.
        table: Vec<At<SeekPoint>> = "",
        /// Over one cylinder.
        single: Span = "",
        /// Mean over random pairs of cylinders.
        average: Span = "",
        /// From the first cylinder to the last.
        full: Span = "",
        /// The curve through `single`, `average` and `full`.
        form: SeekForm = "as drives of its class, else lee",
        /// How much longer a seek over more than one cylinder settles, of `average` - `single`, in the form root-line.
        longer_settle: Share = "as drives of its class, else 0%",
        /// Below `limit` the time is a + b sqrt(distance).
        a: Span = "0s",
        /// Per root of a cylinder.
        b: Span = "",
        /// The distance from which on the second part holds.
        limit: Count<1, 4194304> = "",
        /// From `limit` on the time is c + e distance.
        c: Span = "",
        /// Per thousand cylinders.
        e: Span = "0s",
    }
}

/// The curve through the three seek times of a data sheet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SeekForm {
    Lee,
    RootLine,
}

choices!(SeekForm {
    "root-line" => SeekForm::RootLine, "a root of the distance up to the arm's greatest speed, then a line of the same slope";
    "lee" => SeekForm::Lee, "the sum of a root of the distance and a line (E. K. Lee 1993)";
});

/// A measured point of a seek curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeekPoint {
    pub distance: u32,
    pub time: Span,
}

impl Example for SeekPoint {
    const EXAMPLE: &'static str = "[[1, \"0.8ms\"], [1000, \"3.2ms\"]]";
}

impl Read for SeekPoint {
    fn kind() -> Kind {
        let each = Box::new(Kind::Either(vec![Kind::Count { least: 1, most: 4_194_304 }, Span::kind()]));
        Kind::List { each, example: "[1000, \"3.2ms\"]" }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::List(items) = &node.value else {
            wrong_type(node, &Self::kind(), log);
            return None;
        };
        let [distance, time] = &items[..] else {
            log.fault(
                node.place,
                "a point of a seek table has two values",
                "write [cylinders, \"time\"], such as [1000, \"3.2ms\"]",
            );
            return None;
        };
        let distance = Count::<1, 4_194_304>::read(distance, log);
        let time = Span::read(time, log);
        Some(SeekPoint { distance: distance?.0 as u32, time: time? })
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{}:{}", self.distance, self.time.as_ns());
    }
}

section! {
    facts: true,
    /// Times of the mechanism in addition to the seek curve.
    pub struct SettleRaw {
        /// Head switch; together with a seek the longer of the two counts.
        head_switch: Span = "as long as a seek over one cylinder",
        /// Added to every movement before a write; may be negative.
        write_settle: SignedSpan = "as drives of its class",
        /// The least positioning time of a write that does not continue the previous access.
        write_least: Span = "0s",
        /// The scatter of seek times about the curve: a standard deviation, or `[cylinders, "time"]` for several
        /// distances. A head that arrives later than planned loses a turn.
        scatter: Widths = "0s",
        /// Access on arrival: whether a read may begin in the middle of its part of a track.
        read_on_arrival: bool = "false",
        /// The same for a write.
        write_on_arrival: bool = "false",
    }
}

/// A time that may depend on the kind of the previous command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverheadTimes {
    pub after_read: Span,
    pub after_write: Span,
}

section! {
    facts: false,
    /// A time that depends on the kind of the previous command.
    pub struct OverheadRaw {
        /// After a read.
        after_read: Span = "0s",
        /// After a write.
        after_write: Span = "0s",
    }
}

impl Read for OverheadTimes {
    fn kind() -> Kind {
        Kind::Either(vec![Span::kind(), OverheadRaw::kind()])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        if !matches!(node.value, Value::Table(_)) {
            return Span::read(node, log).map(|time| OverheadTimes { after_read: time, after_write: time });
        }
        let raw = OverheadRaw::read(node, log)?;
        let time = |at: Option<At<Span>>| at.map_or(Span::ZERO, |at| at.value);
        Some(OverheadTimes { after_read: time(raw.after_read), after_write: time(raw.after_write) })
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{}/{}", self.after_read.as_ns(), self.after_write.as_ns());
    }
}

section! {
    facts: true,
    /// Overheads of the firmware. A time may also be `{ after_read = "..", after_write = ".." }`.
    pub struct FirmwareRaw {
        /// The class of drives whose values are taken for what the drive file leaves out: how it chooses, where neither
        /// the drive file nor the scenario sets `queue.order`, its overheads, its settling and its skews
        /// (docs/reference/firmware-classes.md). `ideal` has none of them.
        class: Class = "by protocol, rpm, form factor, heads, year and capacity",
        /// From the arrival of a read whose data are in the buffer until they can be sent, and of one that continues a read
        /// that is still waiting or being served.
        read_hit: OverheadTimes = "as drives of its class",
        /// From the arrival of any other read until the arm can start.
        read_miss: OverheadTimes = "as drives of its class",
        /// From the arrival of a write that goes to the media until the arm can start.
        write: OverheadTimes = "as drives of its class",
        /// With a write cache: from the arrival of a write that the cache accepts until its data can be transferred.
        write_hit: OverheadTimes = "as `write`; as drives of its class where that is not set either",
        /// From the last datum of a read until the host sees the completion.
        read_completion: Span = "0s",
        /// From the last datum of a write until the host sees the completion.
        write_completion: Span = "0s",
    }
}

choices!(WriteData {
    "before-positioning" => WriteData::BeforePositioning, "before the arm starts";
    "while-positioning" => WriteData::WhilePositioning, "while the arm moves; the media wait a turn for late data";
});

section! {
    facts: true,
    /// The link to the host.
    pub struct LinkRaw {
        /// The standard that it follows. For a drive it also determines the defaults where queue, cache and write cache
        /// are left out.
        standard: Standard = "",
        /// Its rate, in place of the standard's.
        rate: Rate = "the standard's, or infinitely fast",
        /// The rate of writes, if it differs.
        write_rate: Rate = "as `rate`",
        /// When a write's data are transferred.
        write_data: WriteData = "while-positioning",
        /// What a bridge to another interface adds to every message in either direction.
        bridge: Span = "0s: there is none",
    }
}
