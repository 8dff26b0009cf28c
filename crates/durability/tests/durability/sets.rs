//! The sets of failed members that lose data: against enumeration from where the data lie, and printed values.
use drivelab_core::storage::array::levels::{Kind, LevelName};
use drivelab_durability::arrangement::{Arrangement, Rule};
use drivelab_durability::{FailedSets, Shape};

fn shape(level: &str, members: u32) -> Shape<'_> {
    Shape { level, members, layout: None, copies: 2, groups: 2, parity: 2, width: None, stripes: 1e6 }
}

fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).map(|_| base).product()
}

fn sets(shape: Shape<'_>) -> FailedSets {
    FailedSets::of(&shape.arrangement().unwrap())
}

/// Every level of these members, in every layout, with every number of copies and groups.
fn every_shape(members: u32) -> Vec<Shape<'static>> {
    let mut found = Vec::new();
    for level in LevelName::ALL {
        let layouts: &[_] =
            if level == LevelName::Raid10 { &[None, Some("far"), Some("offset")] } else { &[None] };
        for (&layout, copies, groups) in layouts.iter().flat_map(|layout| {
            (2..=members.max(2)).flat_map(move |k| (1..=members).map(move |g| (layout, k, g)))
        }) {
            let one = Shape { layout, copies, groups, ..shape(level.name(), members) };
            assert_eq!(one.lacking().is_none(), one.arrangement().is_ok(), "{one:?}");
            if one.lacking().is_none() {
                found.push(one);
            }
        }
    }
    found
}

/// Whether data are lost, from where they lie. `failed` has a bit for each member.
fn loses(shape: &Shape<'_>, failed: u32) -> bool {
    let (n, k) = (shape.members, shape.copies);
    let is_gone = |member: u32| failed >> member & 1 == 1;
    let level = LevelName::of(shape.level).unwrap();
    match level.kind() {
        Kind::Concatenated | Kind::Striped => failed != 0,
        Kind::Mirrored => (0..n).all(is_gone),
        // A striped set is given up with its first member.
        Kind::MirroredStripes => (0..k).all(|copy| (0..n / k).any(|at| is_gone(copy * (n / k) + at))),
        Kind::StripedMirrors => {
            let step = if shape.layout.is_none() { k } else { 1 };
            (0..n).any(|unit| (0..k).all(|copy| is_gone((unit * step + copy) % n)))
        }
        _ => {
            let groups = if level.has_groups() { shape.groups } else { 1 };
            let bears = u32::from(level.parities().unwrap());
            let size = n / groups;
            (0..groups).any(|group| (0..size).filter(|at| is_gone(group * size + at)).count() as u32 > bears)
        }
    }
}

#[test]
fn every_set_of_failed_members_is_counted_where_it_belongs() {
    for members in 1..=7 {
        for shape in every_shape(members) {
            let found = sets(shape);
            let mut expected = [vec![0.0; members as usize + 1], vec![0.0; members as usize + 1]];
            let mut after_one = 0.0;
            for failed in 0..1u32 << members {
                let (size, lost) = (failed.count_ones(), loses(&shape, failed));
                expected[usize::from(lost)][size as usize] += 1.0;
                // No member is special: with the first one missing the chance is that of any.
                if lost && failed & 1 == 1 {
                    after_one += power(0.05, size - 1) * power(0.95, members - size);
                }
            }
            assert_eq!([&found.borne, &found.lost], [&expected[0], &expected[1]], "{shape:?}");
            let worst = expected[1].iter().position(|&count| count > 0.0).unwrap() - 1;
            let best = expected[0].iter().rposition(|&count| count > 0.0).unwrap();
            assert_eq!((found.bears_worst(), found.bears_best()), (worst, best), "{shape:?}");
            assert!((found.loss_after_one(0.05) - after_one).abs() < 1e-15, "{shape:?}");
        }
    }
}

#[test]
fn arcs_of_blocks_are_counted_as_enumerated() {
    for (blocks, size, length) in [(3, 2, 2), (4, 2, 3), (5, 1, 4), (2, 3, 2), (4, 2, 1), (6, 2, 2)] {
        let arcs = Arrangement { cells: vec![size; blocks], rule: Rule::Arc(length) };
        let found = FailedSets::of(&arcs);
        let members = blocks as u32 * size;
        let mut lost = vec![0.0; members as usize + 1];
        for failed in 0..1u32 << members {
            let block = (1 << size) - 1;
            let gone = |at: usize| failed >> (at % blocks * size as usize) & block == block;
            if (0..blocks).any(|first| (0..length).all(|step| gone(first + step))) {
                lost[failed.count_ones() as usize] += 1.0;
            }
        }
        assert_eq!(found.lost, lost, "{blocks} {size} {length}");
    }
}

/// "Storage, Raid, and intel's ICHxR" (2008), each drive failing with 5 %: percent as printed.
#[test]
fn the_chances_of_the_study_to_its_last_digit() {
    let percent = |level, members| 100.0 * sets(shape(level, members)).loss(0.05);
    assert_eq!(format!("{:.2}", percent("raid1", 2)), "0.25");
    assert_eq!(format!("{:.2}", percent("raid0", 4)), "18.55");
    assert_eq!(format!("{:.3}", percent("raid10", 4)), "0.499");
    assert_eq!(format!("{:.3}", percent("raid10", 6)), "0.748");
    assert_eq!(format!("{:.2}", percent("raid5", 4)), "1.40");
    // The study prints 3.2.
    assert!((percent("raid5", 6) - 3.277_382_812_5).abs() < 1e-12);
}

#[test]
fn the_formulas_as_the_study_writes_them() {
    let f = 0.05;
    for n in 2..=12u32 {
        let mut forms = vec![
            ("raid0", 1.0 - power(1.0 - f, n)),
            ("jbod", 1.0 - power(1.0 - f, n)),
            ("raid1", power(f, n)),
        ];
        if n > 2 {
            forms.push(("raid5", 1.0 - power(1.0 - f, n) - f64::from(n) * f * power(1.0 - f, n - 1)));
        }
        if n % 2 == 0 {
            forms.push(("raid10", 1.0 - power(1.0 - f * f, n / 2)));
            forms.push(("raid01", power(1.0 - power(1.0 - f, n / 2), 2)));
        }
        for (level, form) in forms {
            assert!((sets(shape(level, n)).loss(f) / form - 1.0).abs() < 1e-13, "{level} {n}");
        }
    }
}

#[test]
fn rare_losses_of_large_arrays_keep_their_digits() {
    // Of 1 024 members in groups of 8 of double parity the loss is three failures of one group, to first order.
    let found = sets(Shape { groups: 128, ..shape("raid60", 1024) });
    let chance = 1e-8;
    let first_order = 128.0 * 56.0 * power(chance, 3);
    assert!((found.loss(chance) / first_order - 1.0).abs() < 1e-5, "{}", found.loss(chance));
    // All sets are counted: 2^n.
    let found = sets(Shape { groups: 64, ..shape("raid60", 512) });
    let every: f64 = found.borne.iter().chain(&found.lost).sum();
    assert!((libm::log2(every) - 512.0).abs() < 1e-9, "{every}");
}

#[test]
fn levels_bear_what_their_names_say() {
    for (level, bears) in [
        ("jbod", 0),
        ("raid0", 0),
        ("raid1", 7),
        ("raid01", 1),
        ("raid10", 1),
        ("raid3", 1),
        ("raid4", 1),
        ("raid5", 1),
        ("raid6", 2),
        ("raid30", 1),
        ("raid50", 1),
        ("raid60", 2),
        ("raidz1", 1),
        ("raidz2", 2),
        ("raidz3", 3),
        ("lrc", 3),
    ] {
        assert_eq!(sets(shape(level, 8)).bears_worst(), bears, "{level}");
    }
}

#[test]
fn the_largest_arrays_have_finite_counts() {
    for (shape, first_order) in [
        (shape("raid0", 1024), 1024.0 * 1e-8),
        (shape("raid5", 1024), 1024.0 * 1023.0 / 2.0 * 1e-16),
        (shape("raid10", 1024), 512.0 * 1e-16),
        (Shape { layout: Some("far"), ..shape("raid10", 1024) }, 1024.0 * 1e-16),
        (shape("raidz3", 1024), 1024.0 * 1023.0 * 1022.0 * 1021.0 / 24.0 * 1e-32),
    ] {
        let found = sets(shape);
        assert!(found.lost.iter().chain(&found.borne).all(|count| count.is_finite()), "{shape:?}");
        assert!((found.loss(1e-8) / first_order - 1.0).abs() < 1e-4, "{shape:?} {}", found.loss(1e-8));
    }
    let all = sets(shape("raid1", 1024)).loss(0.9);
    assert!((all / power(0.9, 1024) - 1.0).abs() < 1e-12, "{all}");
}

#[test]
fn codes_beyond_the_simulation_are_counted_too() {
    // Huang et al., ATC'12: LRC(12, 2, 2) decodes all sets of 3 failures, and about 86 % of those of 4.
    let code = sets(shape("lrc", 16));
    assert_eq!(code.bears_worst(), 3);
    assert!((code.borne[4] / 1820.0 - 0.86).abs() < 0.01, "{}", code.borne[4] / 1820.0);
    // Stripes over all members are one group; with fewer stripes some sets of three are on none.
    let whole = sets(Shape { width: Some(8), ..shape("draid", 8) });
    assert_eq!((whole.bears_worst(), whole.bears_best()), (2, 2));
    let few = sets(Shape { width: Some(4), stripes: 10.0, ..shape("draid", 12) });
    let share = few.lost[3] / (few.lost[3] + few.borne[3]);
    // Each of ten stripes is on all three with 4/12 3/11 2/10.
    assert!((share - (1.0 - power(1.0 - 24.0 / 1320.0, 10))).abs() < 1e-12, "{share}");
}
