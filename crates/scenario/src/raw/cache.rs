//! The cache of a drive, as typed in a drive file or, laid over it, in a scenario.
use crate::keys::numbers::Count;
use crate::keys::quantities::{Extent, Whole};
use crate::keys::{choices, section};
use drivelab_core::storage::drive::cache::params::{Destage, Reach, SEGMENTS_MAX};
use drivelab_units::{Share, Span};

/// How the buffer memory is divided among segments.
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
    /// The drive's buffer memory as a cache. In a scenario, `target.cache` is laid over the drive's own.
    pub struct CacheRaw {
        /// All of it.
        size: Extent = "segments x segment_size",
        /// Most stretches of blocks that it holds.
        segments: Segments = "1",
        /// The size of one segment, in place of `size`. Only with `fixed`.
        segment_size: Whole = "size / segments",
        /// How it is divided among segments.
        segmentation: Segmentation = "fixed",
        /// With a write cache: most segments that hold data on their way to the media.
        write_segments: Segments = "segments",
        /// With a write cache: most data on their way to the media; a write that finds no room waits.
        write_limit: Extent = "size",
        /// Whether one segment is kept for writes alone. Reads then never find written data.
        separate_writes: bool = "false",
        /// With a write cache: whether written data go on serving reads once they are on the media.
        keeps_written: bool = "true",
        /// The share of a read's data (of a segment at most) that must be in the buffer before they go to the host.
        send_from: Share = "0%",
        /// The share of a write's data (of a segment at most) that must be in the buffer before the media take them.
        write_from: Share = "0%",
        /// Whether a read keeps what passes the head on its track before its first block comes: with
        /// `settle.read_on_arrival` what lies behind it too.
        keeps_passing: bool = "false",
        /// Whether a read that the buffer can answer is answered while the arm takes data of the cache to the media.
        hits_while_busy: bool = "true",
        /// How far the head reads on behind a read, as long as nothing else wants the arm.
        read_ahead: Reach = "limit",
        /// How far it reads on behind the last block asked for.
        read_ahead_limit: Extent = "one segment",
        /// So far it reads on before another command may have the arm.
        read_ahead_least: Extent = "0B",
        /// Whether it reads on while commands wait in the queue.
        read_ahead_when_queued: bool = "false",
        /// Whether it reads on only behind a read that follows the one before without a gap.
        read_ahead_when_sequential: bool = "false",
        /// Whether a read that the buffer answers makes an idle arm read on behind what the segment holds.
        read_ahead_on_hit: bool = "false",
        /// Whether a read that begins with the very block that the head is about to read is served by it in passing.
        covers_front: bool = "true",
        /// With that: a read that begins so little ahead of the head that it passes there within this time is served in
        /// passing too, because turning to it afresh would cost a turn of the platter.
        covers_within: Span = "read_miss of the firmware",
        /// Whether a command that calls the arm away from reading on waits until the sector under the head has passed.
        ends_sector: bool = "false",
        /// With a write cache: when data go to the media.
        destage: Destage = "when-idle",
        /// With a write cache and `when-idle`: how long the drive must have had nothing to do.
        destage_idle: Span = "50ms",
        /// With a write cache: data that have waited so long go next, the oldest first.
        destage_age: Span = "none",
        /// With a write cache: from this share of `write_limit` on, data compete with the host's commands for the arm.
        destage_from: Share = "50%",
        /// With a write cache: most data that one access takes to the media, neighbours together.
        destage_run: Extent = "1MiB",
        /// With a write cache: whether a write may send its data while the arm is at work.
        takes_writes_while_busy: bool = "true",
    }
}
