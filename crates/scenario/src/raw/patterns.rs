//! A layout as patterns of tracks: the tracks of the heads may differ.
use crate::keys::numbers::Count;
use crate::keys::read::{At, Example, wrong_type};
use crate::keys::{Kind, Read, section};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_units::Angle;
use std::fmt::Write;

section! {
    facts: false,
    /// Runs of tracks and of patterns, one behind the other.
    pub struct PatternRaw {
        /// In the order of the blocks.
        runs: Vec<At<TrackRunRaw>> = "",
    }
}

impl Example for PatternRaw {
    const EXAMPLE: &'static str = "[{ runs = [{ head = 0, sectors_per_track = 1200, count = 32 }] }]";
}

section! {
    facts: false,
    exclusive: &[&[&["pattern"], &["head", "sectors_per_track", "first_sector", "sectors"]]],
    /// A track or a pattern, `count` times.
    pub struct TrackRunRaw {
        /// The pattern that it repeats, by its place in the list; one that stands before this one.
        pattern: Count<0, 65535> = "",
        /// The head whose track it repeats.
        head: Count<0, 254> = "",
        /// Sectors per turn of that track.
        sectors_per_track: Count<1, 65535> = "",
        /// The first of them that is a slot.
        first_sector: Count<0, 65534> = "0",
        /// The number of slots.
        sectors: Count<1, 65535> = "all from `first_sector` on",
        /// The number of repetitions.
        count: Count<1, 4194304> = "1",
        /// The cylinder of the first instance, from where the pattern begins.
        cylinder: Count<0, 4194304> = "0",
        /// Cylinders from an instance to the next.
        step: Count<0, 4194304> = "1",
        /// Whether the step goes back, to a lower cylinder.
        back: bool = "false",
        /// The angle of the first instance's first slot against its pattern's.
        start: Angle = "0rev",
        /// The angle from an instance to the next.
        skew: Angle = "0rev",
    }
}

impl Example for TrackRunRaw {
    const EXAMPLE: &'static str = "[{ head = 0, sectors_per_track = 1200, count = 32, skew = \"0.24rev\" }]";
}

/// Slots that hold no block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Skip {
    pub position: u64,
    pub count: u32,
}

impl Example for Skip {
    const EXAMPLE: &'static str = "[[59812, 1], [61773, 1]]";
    const MOST: usize = 1 << 20;
}

/// Slots of a whole drive: half a zebibyte.
const SLOTS_MAX: u64 = 1 << 60;

impl Read for Skip {
    fn kind() -> Kind {
        let each = Box::new(Kind::Count { least: 0, most: SLOTS_MAX });
        Kind::List { each, example: "[59812, 1]" }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::List(items) = &node.value else {
            wrong_type(node, &Self::kind(), log);
            return None;
        };
        let [position, count] = &items[..] else {
            log.fault(node.place, "a skip has two values", "write [position, count], such as [59812, 1]");
            return None;
        };
        let position = Count::<0, SLOTS_MAX>::read(position, log);
        let count = Count::<1, 4_294_967_295>::read(count, log);
        Some(Skip { position: position?.0, count: count?.0 as u32 })
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{}:{}", self.position, self.count);
    }
}
