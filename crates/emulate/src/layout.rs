//! What places the data of an array on its members, as a text that stays the same from version to version: images that
//! were made for one layout are garbage for another.
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::levels::name;
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, Copies, Level, Rotation};

/// The layout of a target's array; `None` without one.
pub(crate) fn of_target(target: &TargetParams) -> Option<String> {
    let TargetParams::System(system) = target else { return None };
    system.array.as_ref().map(of_array)
}

fn of_array(array: &ArrayParams) -> String {
    let mut text = format!("{} of {} members", name(array.level), array.members);
    if !matches!(array.level, Level::Linear | Level::Mirrored) {
        text += &format!(", stripe unit {} sectors", array.unit.get());
    }
    text += &of_level(array.level);
    match array.consistency_policy {
        // A journal is on a drive of its own.
        ConsistencyPolicy::None | ConsistencyPolicy::Journal => {}
        // The data begin behind them.
        ConsistencyPolicy::Bitmap { region, .. } => {
            text += &format!(
                ", bitmap of {} sectors a bit in pieces of {}",
                region.get(),
                array.parity.granule.get()
            );
        }
        ConsistencyPolicy::PartialParityLog => text += ", partial parity log",
    }
    text
}

/// The parameters of a level that its name does not tell.
fn of_level(level: Level) -> String {
    match level {
        Level::Linear | Level::Striped | Level::Mirrored => String::new(),
        Level::MirroredStripes { copies } => format!(", {copies} copies"),
        Level::StripedMirrors { copies, layout } => {
            let layout = match layout {
                Copies::Near => "near",
                Copies::Far => "far",
                Copies::Offset => "offset",
            };
            format!(", {copies} {layout} copies")
        }
        Level::Interleaved { groups } => format!(", {groups} groups"),
        Level::Parity { parities, rotation, groups } => {
            let rotation = match rotation {
                Rotation::LeftSymmetric => "left-symmetric",
                Rotation::LeftAsymmetric => "left-asymmetric",
                Rotation::RightSymmetric => "right-symmetric",
                Rotation::RightAsymmetric => "right-asymmetric",
                Rotation::First => "parity first",
                Rotation::Last => "parity last",
            };
            format!(", {parities} parities, {rotation}, {groups} groups")
        }
        // Its records move, and are not kept in images.
        Level::RaidZ { record, .. } => format!(", records of {} sectors", record.get()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_units::Sectors;

    /// These texts are in folders that exist: a version that writes others refuses the folders of this one.
    #[test]
    fn a_layout_is_told_in_words_that_stay() {
        let plain = |level| ArrayParams::plain(level, 4);
        let raid5 = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
        let raid10 = Level::StripedMirrors { copies: 2, layout: Copies::Near };
        let mut wide = plain(Level::Striped);
        wide.unit = Sectors::new(256);
        let mut logged = plain(raid5);
        logged.consistency_policy = ConsistencyPolicy::PartialParityLog;
        for (array, text) in [
            (plain(Level::Linear), "JBOD of 4 members"),
            (plain(Level::Striped), "RAID 0 of 4 members, stripe unit 128 sectors"),
            (wide, "RAID 0 of 4 members, stripe unit 256 sectors"),
            (plain(Level::Mirrored), "RAID 1 of 4 members"),
            (plain(raid10), "RAID 10 of 4 members, stripe unit 128 sectors, 2 near copies"),
            (
                plain(raid5),
                "RAID 5 of 4 members, stripe unit 128 sectors, 1 parities, left-symmetric, 1 groups",
            ),
            (
                logged,
                "RAID 5 of 4 members, stripe unit 128 sectors, 1 parities, left-symmetric, 1 groups, partial parity log",
            ),
        ] {
            assert_eq!(of_array(&array), text);
        }
    }
}
