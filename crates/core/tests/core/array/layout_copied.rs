//! Where copies lie, against worked examples of md(4) and against what must hold for every size; and what a user is told
//! when a level cannot be built.
use drivelab_core::storage::array::levels::{Copied, Layout, SectorRole, Spot};
use drivelab_core::storage::array::params::{
    ArrayParams, ConsistencyPolicy, Copies, Failure, Level, Rotation, SplitReads, When,
};
use drivelab_units::{Instant, Sectors, Span};
use proptest::prelude::*;
use std::collections::HashSet;

/// Row by row, the stripe unit that each member holds.
fn rows(copied: &Copied, members: u16, rows: u64) -> Vec<Vec<Option<u64>>> {
    let unit = copied.unit();
    let held = |slot, row| match copied.held(Spot { slot, at: row * unit }).0 {
        SectorRole::Data { first, .. } => Some(first / unit),
        _ => None,
    };
    (0..rows).map(|row| (0..members).map(|slot| held(slot, row)).collect()).collect()
}

/// The same as digits, `.` where nothing lies.
fn picture(copied: &Copied, members: u16, count: u64) -> String {
    let digit = |held: &Option<u64>| held.map_or(".".to_string(), |chunk| chunk.to_string());
    let row = |row: &Vec<Option<u64>>| row.iter().map(digit).collect::<Vec<_>>().join(" ");
    rows(copied, members, count).iter().map(row).collect::<Vec<_>>().join(" / ")
}

fn spread(members: u64, copies: u64, layout: Copies, rows: u64) -> Copied {
    Copied::spread(members, copies, layout, 8, rows * 8)
}

#[test]
fn near_copies_lie_beside_each_other() {
    assert_eq!(picture(&spread(4, 2, Copies::Near, 2), 4, 2), "0 0 1 1 / 2 2 3 3");
    assert_eq!(picture(&spread(3, 2, Copies::Near, 3), 3, 3), "0 0 1 / 1 2 2 / 3 3 .");
    assert_eq!(picture(&spread(5, 2, Copies::Near, 2), 5, 2), "0 0 1 1 2 / 2 3 3 4 4");
    assert_eq!(picture(&spread(5, 3, Copies::Near, 3), 5, 3), "0 0 0 1 1 / 1 2 2 2 3 / 3 3 4 4 4");
}

#[test]
fn of_the_last_unit_of_an_odd_number_of_places_no_copy_is_kept() {
    // Nine places hold four stripe units twice; the ninth has half of a fifth.
    let copied = spread(3, 2, Copies::Near, 3);
    assert_eq!(copied.capacity(), 4 * 8);
    assert_eq!(copied.held(Spot { slot: 2, at: 2 * 8 }).0, SectorRole::Nothing);
}

#[test]
fn far_copies_lie_in_another_part_one_member_on() {
    // md(4): the first part is RAID 0; the second holds the same, the last device first.
    assert_eq!(picture(&spread(4, 2, Copies::Far, 4), 4, 4), "0 1 2 3 / 4 5 6 7 / 3 0 1 2 / 7 4 5 6");
    assert_eq!(picture(&spread(3, 2, Copies::Far, 5), 3, 5), "0 1 2 / 3 4 5 / 2 0 1 / 5 3 4 / . . .");
    assert_eq!(picture(&spread(3, 3, Copies::Far, 3), 3, 3), "0 1 2 / 2 0 1 / 1 2 0");
}

#[test]
fn offset_copies_lie_in_the_next_row_one_member_on() {
    assert_eq!(picture(&spread(4, 2, Copies::Offset, 4), 4, 4), "0 1 2 3 / 3 0 1 2 / 4 5 6 7 / 7 4 5 6");
    assert_eq!(picture(&spread(3, 2, Copies::Offset, 5), 3, 5), "0 1 2 / 2 0 1 / 3 4 5 / 5 3 4 / . . .");
}

#[test]
fn a_striped_set_is_repeated_on_the_next_members() {
    let raid01 = Copied::sets(6, 2, 8, 16);
    assert_eq!(picture(&raid01, 6, 2), "0 1 2 0 1 2 / 3 4 5 3 4 5");
    assert_eq!((raid01.set(0), raid01.set(1)), (Some(0..3), Some(3..6)));
    assert_eq!(picture(&Copied::striped(3, 8, 16), 3, 2), "0 1 2 / 3 4 5");
}

#[test]
fn a_mirror_holds_the_same_at_the_same_place() {
    let mirror = Copied::mirrored(3, 1_000);
    let piece = mirror.piece(17, 900);
    assert_eq!(piece.count, 883);
    for copy in 0..3 {
        assert_eq!(mirror.spot(&piece, copy), Spot { slot: copy, at: 17 });
    }
}

fn any_layout() -> impl Strategy<Value = (Copied, u16)> {
    let sizes = (1_u64..9, 1_u64..5, 1_u64..20, 1_u64..300);
    (0..6, sizes).prop_map(|(kind, (members, copies, unit, least))| {
        let copies = copies.min(members);
        let copied = match kind {
            0 => Copied::striped(members, unit, least),
            1 => Copied::mirrored(members, least),
            2 => return (Copied::sets(members * copies, copies, unit, least), (members * copies) as u16),
            3 => Copied::spread(members, copies, Copies::Near, unit, least),
            4 => Copied::spread(members, copies, Copies::Far, unit, least),
            _ => Copied::spread(members, copies, Copies::Offset, unit, least),
        };
        (copied, members as u16)
    })
}

proptest! {
    /// Every address has its copies on different members, each place has one of them at most, and what a place says it
    /// holds is what was put there.
    #[test]
    fn copies_and_places_are_each_others_inverse((copied, members) in any_layout()) {
        let mut taken = HashSet::new();
        let mut at = 0;
        while at < copied.capacity() {
            let piece = copied.piece(at, copied.capacity());
            let mut slots = HashSet::new();
            for copy in 0..copied.copies() {
                let spot = copied.spot(&piece, copy);
                prop_assert!(spot.slot < members && spot.at + piece.count <= copied.used());
                prop_assert!(slots.insert(spot.slot), "two copies on member {}", spot.slot);
                for inside in [0, piece.count - 1] {
                    let spot = Spot { at: spot.at + inside, ..spot };
                    prop_assert_eq!(copied.held(spot).0, SectorRole::Data { first: at + inside, copy });
                    prop_assert_eq!(copied.held(spot).1, copied.unit() - inside);
                }
                prop_assert!(taken.insert(spot));
            }
            at += piece.count;
        }
        // Whatever else a place on a member says, it says of nothing.
        let mut data = 0;
        for slot in 0..members {
            for row in 0..copied.used() / copied.unit() + 3 {
                let spot = Spot { slot, at: row * copied.unit() };
                data += usize::from(copied.held(spot).0 != SectorRole::Nothing);
            }
        }
        prop_assert_eq!(data, taken.len());
    }
}

fn capacity(level: Level, members: &[u64]) -> u64 {
    let capacities: Vec<Sectors> = members.iter().copied().map(Sectors::new).collect();
    ArrayParams::plain(level, members.len() as u16).capacity(&capacities).unwrap().get()
}

#[test]
fn the_smallest_member_counts_in_whole_stripe_units() {
    // 1 000 sectors are 7 units of 128 and a rest.
    let members = [5_000, 1_000, 2_000, 1_001];
    assert_eq!(capacity(Level::Linear, &members), 9_001);
    assert_eq!(capacity(Level::Striped, &members), 4 * 7 * 128);
    assert_eq!(capacity(Level::Mirrored, &members), 1_000);
    assert_eq!(capacity(Level::MirroredStripes { copies: 2 }, &members), 2 * 7 * 128);
    let raid10 = |layout| Level::StripedMirrors { copies: 2, layout };
    assert_eq!(capacity(raid10(Copies::Near), &members), 2 * 7 * 128);
    assert_eq!(capacity(raid10(Copies::Far), &members), 3 * 4 * 128);
    assert_eq!(capacity(raid10(Copies::Offset), &members), 3 * 4 * 128);
    assert_eq!(capacity(raid10(Copies::Near), &members[..3]), 7 * 3 / 2 * 128);
}

#[test]
fn a_jbod_fills_one_drive_after_the_other() {
    let members = [10, 20, 5].map(Sectors::new);
    let Layout::Linear(linear) = Layout::new(&ArrayParams::plain(Level::Linear, 3), &members).unwrap() else {
        panic!("another layout");
    };
    let spots = [(0, 0, 0, 10), (9, 0, 9, 1), (10, 1, 0, 20), (29, 1, 19, 1), (30, 2, 0, 5), (34, 2, 4, 1)];
    for (address, slot, at, left) in spots {
        assert_eq!(linear.spot(address), (Spot { slot, at }, left));
        assert_eq!(linear.address(Spot { slot, at }), address);
    }
}

/// What is said of this array on drives of a million sectors, but for some of the first.
fn message_of(params: &ArrayParams, drives: usize, first: &[u64]) -> String {
    let mut capacities = vec![Sectors::new(1_000_000); drives];
    for (capacity, &first) in capacities.iter_mut().zip(first) {
        *capacity = Sectors::new(first);
    }
    params.check(&capacities).map_or_else(|error| error.to_string(), |()| "fine".to_string())
}

fn message(params: &ArrayParams) -> String {
    message_of(params, usize::from(params.members + params.spares), &[])
}

fn plain(level: Level, members: u16) -> ArrayParams {
    ArrayParams::plain(level, members)
}

fn parity(parities: u8, groups: u16) -> Level {
    Level::Parity { parities, rotation: Rotation::LeftSymmetric, groups }
}

fn raidz(parities: u8, record: u64, fill_percent: u8) -> Level {
    Level::RaidZ { parities, record: Sectors::new(record), fill_percent }
}

const RAID10: Level = Level::StripedMirrors { copies: 2, layout: Copies::Near };

#[test]
fn each_level_names_the_members_that_it_needs() {
    let message = |level, members| message(&plain(level, members));
    assert_eq!(message(Level::Linear, 0), "JBOD needs at least 1 members, not 0");
    assert_eq!(message(Level::Mirrored, 1), "RAID 1 needs at least 2 members, not 1");
    assert_eq!(message(Level::Interleaved { groups: 1 }, 2), "RAID 3 needs at least 3 members, not 2");
    assert_eq!(message(parity(1, 1), 2), "RAID 5 needs at least 3 members, not 2");
    let raid4 = Level::Parity { parities: 1, rotation: Rotation::Last, groups: 1 };
    assert_eq!(message(raid4, 2), "RAID 4 needs at least 3 members, not 2");
    assert_eq!(message(parity(2, 1), 3), "RAID 6 needs at least 4 members, not 3");
    assert_eq!(message(parity(1, 2), 4), "RAID 50 needs at least 3 members in each of its 2 groups, not 2");
    assert_eq!(message(parity(2, 2), 6), "RAID 60 needs at least 4 members in each of its 2 groups, not 3");
    assert_eq!(message(raidz(2, 256, 80), 2), "RAID-Z2 needs at least 3 members, not 2");
    assert_eq!(message(Level::Striped, 1_025), "RAID 0 has at most 1024 members, not 1025");
    assert_eq!(message(raidz(1, 256, 80), 256), "RAID-Z1 has at most 255 members, not 256");
}

#[test]
fn copies_and_groups_must_come_out() {
    let message = |level, members| message(&plain(level, members));
    let raid10 = |copies| Level::StripedMirrors { copies, layout: Copies::Near };
    assert_eq!(message(raid10(5), 4), "RAID 10 with 5 copies needs at least 5 members, not 4");
    assert_eq!(message(raid10(1), 4), "RAID 10 needs at least 2 copies, not 1");
    assert_eq!(message(raid10(2), 5), "fine");
    assert_eq!(
        message(Level::MirroredStripes { copies: 2 }, 5),
        "RAID 01 with 2 copies needs a number of members that 2 divides, not 5; RAID 10 can do with 5"
    );
    assert_eq!(
        message(parity(1, 2), 7),
        "RAID 50 with 2 groups needs a number of members that 2 divides, not 7"
    );
    assert_eq!(message(Level::Interleaved { groups: 0 }, 7), "RAID 30 needs at least 1 group");
    assert_eq!(message(parity(4, 1), 7), "a level with parity has 1 to 3 parities, not 4");
    assert_eq!(message(raidz(0, 256, 80), 7), "RAID-Z has 1 to 3 parities, not 0");
}

#[test]
fn sizes_must_fit() {
    let unit = |unit| ArrayParams { unit: Sectors::new(unit), ..plain(Level::Striped, 2) };
    assert_eq!(message(&unit(0)), "the stripe unit of RAID 0 must be above zero");
    assert_eq!(
        message(&unit(1_000_001)),
        "RAID 0 needs room for 1 stripe unit of 1000001 sectors on each member, and the smallest has 1000000 sectors"
    );
    let far = Level::StripedMirrors { copies: 2, layout: Copies::Far };
    assert_eq!(
        message(&ArrayParams { unit: Sectors::new(600_000), ..plain(far, 4) }),
        "RAID 10 needs room for 2 stripe units of 600000 sectors on each member, and the smallest has 1000000 sectors"
    );
    assert_eq!(
        message(&ArrayParams { unit: Sectors::ZERO, ..plain(Level::Mirrored, 2) }),
        "fine",
        "a mirror has no stripe units"
    );
    assert_eq!(
        message(&ArrayParams { request: Sectors::ZERO, ..plain(RAID10, 2) }),
        "the largest request to a member must be above zero"
    );
    assert_eq!(
        message(&ArrayParams { depth: Some(0), ..plain(RAID10, 2) }),
        "the number of commands that an array works on at once must be above zero"
    );
    assert_eq!(message_of(&plain(RAID10, 2), 2, &[0]), "the capacity of a member must be above zero");
    assert_eq!(
        message(&plain(raidz(1, 250, 80), 3)),
        "a record of RAID-Z1 must be a whole number of its sectors, which are 512 bytes times a power of two: 250 is \
         no multiple of 8"
    );
    assert_eq!(message(&plain(raidz(1, 256, 0), 3)), "data can fill 1 to 100 percent of a pool, not 0");
    assert_eq!(
        message_of(&plain(raidz(1, 1 << 16, 80), 3), 3, &[40_000; 3]),
        "RAID-Z1 needs room for 2 records at least, and for 4294967295 at most"
    );
    assert_eq!(
        message(&plain(raidz(1, 1 << 17, 80), 3)),
        "the largest request to a member of RAID-Z1 must have room for a record of 131072 sectors"
    );
}

#[test]
fn drives_are_counted_and_measured() {
    let spare = |members| ArrayParams { spares: 1, ..plain(RAID10, members) };
    assert_eq!(
        message_of(&spare(4), 4, &[]),
        "the array counts 5 drives (4 members, 1 spare), and 4 are given"
    );
    let journal = ArrayParams { consistency_policy: ConsistencyPolicy::Journal, ..plain(parity(1, 1), 3) };
    assert_eq!(
        message_of(&journal, 3, &[]),
        "the array counts 4 drives (3 members, 0 spares, a journal), and 3 are given"
    );
    // 7 812 units of 128 sectors are 999 936: a spare may lack the rest.
    assert_eq!(message_of(&spare(1), 2, &[]), "RAID 10 with 2 copies needs at least 2 members, not 1");
    assert_eq!(message_of(&spare(2), 3, &[1_000_000, 1_000_000, 999_936]), "fine");
    assert_eq!(
        message_of(&spare(2), 3, &[1_000_000, 1_000_000, 999_935]),
        "drive 2, a spare, has 999935 sectors, and the array uses 999936 of each member"
    );
    assert_eq!(
        message(&ArrayParams { spares: 1, ..plain(Level::Striped, 2) }),
        "RAID 0 has no use for a spare: what a member had cannot be had from the others"
    );
}

#[test]
fn failures_name_drives_that_there_are_and_each_once() {
    let failing = |drives: &[u16], missing: &[u16]| {
        let failures = drives.iter().map(|&drive| Failure { drive, when: When::At(Instant::ZERO) });
        message(&ArrayParams { failures: failures.collect(), missing: missing.to_vec(), ..plain(RAID10, 4) })
    };
    assert_eq!(failing(&[3], &[0]), "fine");
    assert_eq!(failing(&[4], &[]), "drive 4 is to fail, and the array has drives 0 to 3");
    assert_eq!(failing(&[], &[4]), "member 4 is to be missing, and the array has members 0 to 3");
    assert_eq!(failing(&[2, 1], &[2]), "drive 2 is to fail, or to be missing, twice");
    assert_eq!(failing(&[0, 1, 2, 3, 0], &[]), "5 failures asked of an array of 4 drives");
}

#[test]
fn what_has_no_use_is_refused() {
    let with = |level, members, consistency_policy| {
        let params = ArrayParams { consistency_policy, ..plain(level, members) };
        message_of(
            &params,
            usize::from(members) + usize::from(consistency_policy == ConsistencyPolicy::Journal),
            &[],
        )
    };
    let bitmap = |region| ConsistencyPolicy::Bitmap {
        region: Sectors::new(region),
        clears_after: Span::from_ms(5_000),
    };
    assert_eq!(with(RAID10, 4, bitmap(1 << 17)), "fine");
    assert_eq!(with(RAID10, 4, bitmap(0)), "a region of the bitmap must be above zero");
    assert_eq!(
        with(Level::Striped, 4, bitmap(1 << 17)),
        "RAID 0 has no use for a bitmap of regions: only RAID 1, 01, 10, 3, 4, 5, 6, 30, 50 and 60 have"
    );
    assert_eq!(
        with(Level::Mirrored, 2, ConsistencyPolicy::Journal),
        "RAID 1 has no use for a journal: only RAID 4, 5, 6, 50 and 60 have"
    );
    assert_eq!(with(parity(2, 1), 4, ConsistencyPolicy::Journal), "fine");
    assert_eq!(with(parity(1, 2), 6, ConsistencyPolicy::PartialParityLog), "fine");
    assert_eq!(
        with(parity(2, 1), 4, ConsistencyPolicy::PartialParityLog),
        "RAID 6 has no use for a partial parity log: only RAID 4, 5 and 50 have"
    );
    let logging = |granule| {
        let mut params =
            ArrayParams { consistency_policy: ConsistencyPolicy::PartialParityLog, ..plain(parity(1, 1), 3) };
        params.parity.granule = Sectors::new(granule);
        message(&params)
    };
    assert_eq!(logging(256), "fine");
    assert_eq!(
        logging(264),
        "parity is made over pieces of 132KiB, and a partial parity log has room for pieces of 128KiB at most"
    );
    let split = Some(SplitReads { from: Sectors::new(1_024), unit: Sectors::new(128) });
    assert_eq!(
        message(&ArrayParams { split, ..plain(parity(1, 1), 3) }),
        "RAID 5 has no second copy with which a large read could be shared"
    );
    let split = Some(SplitReads { from: Sectors::new(1_024), unit: Sectors::ZERO });
    assert_eq!(
        message(&ArrayParams { split, ..plain(RAID10, 4) }),
        "what each copy reads of a large read in its turn must be above zero"
    );
}
