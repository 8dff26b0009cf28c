//! The cache of a drive, as typed in a drive file or overridden in a scenario.
use crate::keys::numbers::Count;
use crate::keys::quantities::{Extent, Whole};
use crate::keys::{choices, section};
use drivelab_core::storage::drive::cache::params::{Destage, Reach, SEGMENTS_MAX};
use drivelab_units::{Share, Span};

/// How the buffer memory is divided into segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Segmentation {
    Fixed,
    Adaptive,
}

choices!(Segmentation {
    "fixed" => Segmentation::Fixed, "segments of one size each";
    "adaptive" => Segmentation::Adaptive, "each takes what it needs, as long as all together fit";
});

choices!(Reach {
    "none" => Reach::Nothing, "it does not read on";
    "limit" => Reach::Limit, "as far as `read_ahead_limit`";
    "track" => Reach::Track, "to the end of the track, and not beyond `read_ahead_limit`";
    "cylinder" => Reach::Cylinder, "to the end of the cylinder, and not beyond `read_ahead_limit`";
    "next-track" => Reach::NextTrack, "to the end of the track; of the next one if the segment already held what lies before this track";
});

choices!(Destage {
    "at-once" => Destage::AtOnce, "as soon as the arm is free: only the answer to the host does not wait for the media";
    "when-idle" => Destage::WhenIdle, "when the drive has had nothing else to do for a while; earlier when the cache fills, when data have waited long enough, and for a FLUSH";
});

/// Segments of a cache.
pub type Segments = Count<1, { SEGMENTS_MAX as u64 }>;

section! {
    facts: true,
    exclusive: &[&[&["size"], &["segment_size"]]],
    /// The drive's buffer memory as a cache. In a scenario, `target.cache` overrides the drive's own keys.
    pub struct CacheRaw {
        /// Its total size.
        size: Extent = "segments x segment_size, else what the interface implies",
        /// The most segments. Of a cache whose segments were not measured, cached random writes have a range.
        segments: Segments = "16, or as many as leave room for `read_ahead_limit` in each",
        /// The size of one segment, in place of `size`. Only with `fixed`.
        segment_size: Whole = "size / segments",
        /// How it is divided into segments.
        segmentation: Segmentation = "fixed",
        /// With a write cache: the most segments that hold dirty data.
        write_segments: Segments = "segments",
        /// With a write cache: the most dirty data; a write that exceeds it waits.
        write_limit: Extent = "size",
        /// Whether one segment is reserved for writes. Reads then never hit written data.
        separate_writes: bool = "false",
        /// With a write cache: whether written data serve reads after they have been destaged.
        keeps_written: bool = "true",
        /// The share of a read's data (of a segment at most) that must be in the buffer before their transfer to the
        /// host begins.
        send_from: Share = "0%",
        /// The share of a write's data (of a segment at most) that must be in the buffer before the media write begins.
        write_from: Share = "0%",
        /// The first data of a write that must be in the buffer before the media write begins; all of a smaller write.
        /// Until its last data have come, they stay ahead of the head by that much.
        write_first: Extent = "0B",
        /// Whether a read caches the blocks of its track that pass the head before its first block: with
        /// `settle.read_on_arrival` also those behind it.
        keeps_passing: bool = "false",
        /// Whether a cache hit is answered while the mechanism destages.
        hits_while_busy: bool = "true",
        /// How far the drive reads ahead after a read, as long as no command needs the mechanism.
        read_ahead: Reach = "limit",
        /// The most data that it reads ahead behind the last requested block.
        read_ahead_limit: Extent = "one segment",
        /// The least data that it reads ahead before another command may use the mechanism.
        read_ahead_least: Extent = "0B",
        /// Whether it reads ahead while commands wait in the queue.
        read_ahead_when_queued: bool = "false",
        /// Whether it reads ahead only after a sequential read.
        read_ahead_when_sequential: bool = "false",
        /// Whether a cache hit makes an idle drive continue reading ahead behind the segment.
        read_ahead_on_hit: bool = "false",
        /// Whether a read that begins at the next block under the head is served without repositioning.
        covers_front: bool = "true",
        /// With that: a read whose first block passes the head within this time is also served without
        /// repositioning, which would cost a turn of the platter.
        covers_within: Span = "read_miss of the firmware",
        /// Whether a command that interrupts the read-ahead waits until the sector under the head has passed.
        ends_sector: bool = "false",
        /// With a write cache: when data are destaged.
        destage: Destage = "when-idle",
        /// With a write cache and `when-idle`: how long the drive must have been idle.
        destage_idle: Span = "50ms",
        /// With a write cache: data older than this are destaged next, the oldest first.
        destage_age: Span = "none",
        /// With a write cache: above this share of `write_limit`, destaging competes with the host's commands for the
        /// mechanism.
        destage_from: Share = "50%",
        /// With a write cache: the most data that one access destages; adjacent data are combined.
        destage_run: Extent = "1MiB",
        /// With a write cache: whether a write may transfer its data while the mechanism is busy.
        takes_writes_while_busy: bool = "true",
    }
}
