//! The arm: how long a seek over a number of cylinders takes, and the least time of any seek at least that long.
mod blocks;
mod root_line;

use alloc::sync::Arc;
use alloc::vec::Vec;
use blocks::{BLOCK_SHIFT, Blocks};
use core::fmt;
use drivelab_units::{Share, Span, counted};
use libm::sqrt;
use root_line::RootLine;

/// How the seek time depends on the distance.
#[derive(Clone, PartialEq, Debug)]
pub enum SeekParams {
    /// Measured points (distance in cylinders, time), by ascending distance; linear between them, from zero
    /// at distance zero, and extrapolated with the slope of the last two.
    Table(Vec<(u32, Span)>),
    /// Lee's form a sqrt(d - 1) + b (d - 1) + c through three figures of a data sheet: the times of one cylinder, of
    /// the mean over uniform random pairs, and of the full stroke (E. K. Lee, UCB//CSD-93-770).
    Lee {
        /// Seek time of one cylinder.
        single: Span,
        /// Mean seek time over uniform random pairs of cylinders.
        average: Span,
        /// Seek time of the full stroke.
        full: Span,
    },
    /// A root up to the distance at which the arm reaches its greatest speed, then a line of the same slope; through the
    /// same three figures. A seek over more than one cylinder settles longer than one over one.
    RootLine {
        /// Seek time of one cylinder.
        single: Span,
        /// Mean seek time over uniform random pairs of cylinders.
        average: Span,
        /// Seek time of the full stroke.
        full: Span,
        /// How much longer a seek over more than one cylinder settles than one over one, as a share of `average` -
        /// `single`.
        longer_settle: Share,
    },
    /// The three-part form of Ruemmler and Wilkes (1994): 0; a + b sqrt(d) below `limit`; c + e d from there on.
    /// `b` is per root of a cylinder and `e` per thousand cylinders.
    ThreePart {
        /// Constant of the short form.
        a: Span,
        /// Per root of a cylinder.
        b: Span,
        /// First distance, in cylinders, of the long form.
        limit: u32,
        /// Constant of the long form.
        c: Span,
        /// Per thousand cylinders.
        e: Span,
    },
}

/// Why a seek curve cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SeekError {
    /// A table of fewer than two points.
    TooFewPoints,
    /// A point that is not at a greater distance than the one before it.
    NotAscending {
        /// Index of the point.
        point: usize,
    },
    /// The formula gives a negative or overlong time at this distance.
    Absurd {
        /// In cylinders.
        distance: u32,
    },
    /// No root and line, however short the root, runs through the three figures.
    NoRootLine,
    /// More than a second, or zero for a distance above zero.
    OutOfRange {
        /// In cylinders.
        distance: u32,
    },
}

impl fmt::Display for SeekError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewPoints => write!(f, "a seek table needs at least two points"),
            Self::NotAscending { point } => {
                write!(f, "point {point} of the seek table does not lie farther out than the one before it")
            }
            Self::Absurd { distance } => {
                write!(
                    f,
                    "the seek form gives no sensible time for {}",
                    counted((*distance).into(), "cylinder")
                )
            }
            Self::NoRootLine => write!(f, "no root and line run through the three times of the seek form"),
            Self::OutOfRange { distance } => {
                write!(
                    f,
                    "the seek time of {} is not between 0 and 1s",
                    counted((*distance).into(), "cylinder")
                )
            }
        }
    }
}

impl core::error::Error for SeekError {}

/// Seek times by distance, looked up. Clones share the tables: drives of one array that differ only in their
/// period would otherwise evict each other's tables from the processor's caches.
#[derive(Clone, Debug)]
pub struct SeekCurve {
    times: Times,
    /// The least time of any seek at least as long, for the first [`NEAR`] distances; that of the longest
    /// distance beyond the last one.
    near: Arc<[u32; NEAR]>,
    /// Number of distances.
    cylinders: u32,
    /// The longest time.
    most: u32,
}

/// The time of each distance; and for each 64th the least of any seek at least as long.
#[derive(Clone, Debug)]
enum Times {
    /// One number per distance, where they are few enough for a processor's second-level cache.
    Each { times: Arc<[u32]>, floors: Arc<[u32]> },
    /// In an eighth of the memory, with a few more steps to read.
    Blocks(Blocks),
}

/// Distances whose floor is exact.
const NEAR: usize = 4_096;
/// Up to this number of distances one number each is used: 512 KiB.
const FEW: usize = 1 << 17;

impl SeekCurve {
    /// The curve for distances below `cylinders`.
    pub fn new(params: &SeekParams, cylinders: u32) -> Result<Self, SeekError> {
        let times = times(params, cylinders)?;
        let mut floors = times.clone();
        let mut floor = u32::MAX;
        for least in floors.iter_mut().rev() {
            floor = floor.min(*least);
            *least = floor;
        }
        let last = floors.len() - 1;
        let near = Arc::new(core::array::from_fn(|distance| floors[distance.min(last)]));
        let most = times.iter().copied().max().unwrap_or(0);
        let cylinders = times.len() as u32;
        let times = if times.len() <= FEW {
            let floors = floors.iter().copied().step_by(1 << BLOCK_SHIFT).collect();
            Times::Each { times: times.into(), floors }
        } else {
            Times::Blocks(Blocks::new(&times, &floors))
        };
        Ok(SeekCurve { times, near, cylinders, most })
    }

    /// The time of a seek over this many cylinders.
    #[inline(always)]
    pub fn time(&self, distance: u32) -> u32 {
        match &self.times {
            Times::Each { times, .. } => times[distance as usize],
            Times::Blocks(blocks) => blocks.time(distance),
        }
    }

    /// A lower bound of any seek over this many cylinders or more. For near distances it is exact; far out it
    /// may be lower by the rise of the curve within 64 cylinders.
    #[inline(always)]
    pub fn floor_beyond(&self, distance: u32) -> u32 {
        let near = self.near[(distance as usize).min(NEAR - 1)];
        let far = match &self.times {
            Times::Each { floors, .. } => floors[(distance >> BLOCK_SHIFT) as usize],
            Times::Blocks(blocks) => blocks.floor(distance),
        };
        // Both are evaluated, without a branch that would be mispredicted: each is valid for all distances
        // from its own on.
        near.max(far)
    }

    /// The shortest seek over any distance.
    pub fn least(&self) -> u32 {
        self.near[1]
    }

    /// The longest seek over any distance.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// The curve covers distances from 0 up to one below this.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// The mean time in nanoseconds between two cylinders drawn uniformly and independently.
    pub fn mean_of_random_pairs(&self) -> f64 {
        let count = f64::from(self.cylinders);
        let weighted = |distance| 2.0 * (count - f64::from(distance)) * f64::from(self.time(distance));
        (0..self.cylinders).map(weighted).sum::<f64>() / (count * count)
    }
}

/// The time of each distance below `cylinders`, in nanoseconds.
fn times(params: &SeekParams, cylinders: u32) -> Result<Vec<u32>, SeekError> {
    check_points(params)?;
    let ns = |span: Span| span.as_ns() as f64;
    match params {
        SeekParams::Table(points) => {
            let mut behind = 0;
            filled(cylinders, |distance| {
                behind += usize::from(points.get(behind).is_some_and(|&(at, _)| at < distance));
                between(points, behind, distance)
            })
        }
        SeekParams::Lee { single, average, full } => {
            let n = f64::from(cylinders);
            let (least, mean, most) = (ns(*single), ns(*average), ns(*full));
            let a = (-10.0 * least + 15.0 * mean - 5.0 * most) / (3.0 * sqrt(n));
            let b = (7.0 * least - 15.0 * mean + 8.0 * most) / (3.0 * n);
            filled(cylinders, |distance| {
                let beyond = f64::from(distance) - 1.0;
                a * sqrt(beyond) + b * beyond + least
            })
        }
        SeekParams::RootLine { single, average, full, longer_settle } => {
            let line = RootLine::new(ns(*single), ns(*average), ns(*full), *longer_settle);
            let line = line.ok_or(SeekError::NoRootLine)?;
            let last = f64::from(cylinders.max(4) - 3);
            filled(cylinders, |distance| {
                if distance == 1 { ns(*single) } else { line.at((f64::from(distance) - 2.0) / last) }
            })
        }
        SeekParams::ThreePart { a, b, limit, c, e } => filled(cylinders, |distance| {
            let d = f64::from(distance);
            if distance < *limit { ns(*a) + ns(*b) * sqrt(d) } else { ns(*c) + ns(*e) * d / 1000.0 }
        }),
    }
}

/// Zero, and the nanoseconds of each distance from one cylinder on.
fn filled(cylinders: u32, mut time_of: impl FnMut(u32) -> f64) -> Result<Vec<u32>, SeekError> {
    let mut times = Vec::with_capacity(cylinders as usize);
    times.push(0);
    for distance in 1..cylinders.max(1) {
        let ns = time_of(distance);
        if !(ns.is_finite() && ns > 0.0) {
            return Err(SeekError::Absurd { distance });
        }
        if ns > 1e9 {
            return Err(SeekError::OutOfRange { distance });
        }
        times.push((ns + 0.5) as u32);
    }
    Ok(times)
}

fn check_points(params: &SeekParams) -> Result<(), SeekError> {
    let SeekParams::Table(points) = params else { return Ok(()) };
    if points.len() < 2 {
        return Err(SeekError::TooFewPoints);
    }
    let mut before = 0;
    for (point, &(distance, _)) in points.iter().enumerate() {
        if distance <= before {
            return Err(SeekError::NotAscending { point });
        }
        before = distance;
    }
    Ok(())
}

/// Linear between the two points around `distance`, of which `behind` lie nearer than it; below the first from zero,
/// beyond the last with the last slope.
fn between(points: &[(u32, Span)], behind: usize, distance: u32) -> f64 {
    let point = |i: usize| (f64::from(points[i].0), points[i].1.as_ns() as f64);
    let (low, high) = match behind {
        0 => ((0.0, 0.0), point(0)),
        i if i == points.len() => (point(i - 2), point(i - 1)),
        i => (point(i - 1), point(i)),
    };
    low.1 + (high.1 - low.1) * (f64::from(distance) - low.0) / (high.0 - low.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    const fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    #[test]
    fn a_table_is_linear_between_its_points() {
        let table = SeekParams::Table(vec![(2, us(1_000)), (4, us(3_000)), (8, us(4_000))]);
        let curve = SeekCurve::new(&table, 12).unwrap();
        let times: Vec<u32> = (0..12).map(|d| curve.time(d) / 1_000).collect();
        assert_eq!(times, [0, 500, 1000, 2000, 3000, 3250, 3500, 3750, 4000, 4250, 4500, 4750]);
    }

    #[test]
    fn lee_meets_its_three_figures() {
        let lee = SeekParams::Lee { single: us(600), average: us(4_700), full: us(10_500) };
        let curve = SeekCurve::new(&lee, 50_000).unwrap();
        assert_eq!(curve.time(1), 600_000);
        assert!(curve.time(49_999).abs_diff(10_500_000) < 2_000, "{}", curve.time(49_999));
        // The closed mean over random pairs in the continuous limit is the figure itself.
        let mean = curve.mean_of_random_pairs();
        assert!((mean / 4.7e6 - 1.0).abs() < 1e-3, "{mean}");
    }

    #[test]
    fn the_hp_97560_comes_out_as_published() {
        // 3.24 + 0.400 sqrt(d) ms up to 383 cylinders, 8.00 + 0.008 d from there (Ruemmler and Wilkes 1994).
        let hp = SeekParams::ThreePart { a: us(3_240), b: us(400), limit: 384, c: us(8_000), e: us(8_000) };
        let curve = SeekCurve::new(&hp, 1_962).unwrap();
        assert_eq!(curve.time(1), 3_640_000);
        assert_eq!(curve.time(383), 11_068_154);
        assert_eq!(curve.time(384), 11_072_000);
        assert_eq!(curve.time(1_961), 23_688_000);
    }

    proptest! {
        #[test]
        fn the_floor_is_the_least_time_farther_out(times in prop::collection::vec(1u64..9_000, 2..200)) {
            let points: Vec<_> = (1u32..).zip(times.iter().map(|&t| us(t))).collect();
            let cylinders = points.len() as u32 + 1;
            let curve = SeekCurve::new(&SeekParams::Table(points), cylinders).unwrap();
            for from in 0..cylinders {
                let least = (from..cylinders).map(|d| curve.time(d)).min().unwrap();
                prop_assert_eq!(curve.floor_beyond(from), least);
            }
        }
    }

    /// Curves of every form, over few cylinders and over as many as the largest drives have.
    fn any_curve() -> impl Strategy<Value = (SeekParams, u32)> {
        let few = (prop::collection::btree_map(1u32..9_000, 1u64..20_000, 2..40), 2u32..9_000);
        let table = |points: std::collections::BTreeMap<u32, u64>| {
            SeekParams::Table(points.into_iter().map(|(distance, time)| (distance, us(time))).collect())
        };
        let lee = (200u64..2_000, 2_000u64..6_000, 2_000u64..9_000, 2u32..400_000);
        let parts = (100u64..5_000, 1u64..400, 1u32..3_000, 1_000u64..9_000, 1u64..9_000, 2u32..100_000);
        prop_oneof![
            few.prop_map(move |(points, cylinders)| (table(points), cylinders)),
            lee.prop_map(|(single, more, far, cylinders)| {
                let average = single + more;
                (
                    SeekParams::Lee { single: us(single), average: us(average), full: us(average + far) },
                    cylinders,
                )
            }),
            parts.prop_map(|(a, b, limit, c, e, cylinders)| {
                (SeekParams::ThreePart { a: us(a), b: us(b), limit, c: us(c), e: us(e) }, cylinders)
            }),
        ]
    }

    proptest! {
        #[test]
        fn every_time_is_that_of_the_form_to_the_nanosecond((params, cylinders) in any_curve()) {
            let Ok(plain) = times(&params, cylinders) else { return Ok(()) };
            let curve = SeekCurve::new(&params, cylinders).unwrap();
            prop_assert_eq!(curve.cylinders() as usize, plain.len());
            // In blocks, however few there are.
            let blocks = Blocks::new(&plain, &plain);
            for (distance, &time) in (0u32..).zip(&plain) {
                prop_assert_eq!(curve.time(distance), time, "over {} of {}", distance, cylinders);
                prop_assert_eq!(blocks.time(distance), time, "in blocks over {} of {}", distance, cylinders);
            }
        }
    }

    /// The purpose of the blocks: a large drive's times fit into a small cache.
    #[test]
    fn the_times_of_a_large_drive_take_an_eighth_of_what_a_number_each_would() {
        let lee = SeekParams::Lee { single: us(400), average: us(8_000), full: us(16_000) };
        let curve = SeekCurve::new(&lee, 315_000).unwrap();
        let plain = 4 * curve.cylinders() as usize;
        let Times::Blocks(blocks) = &curve.times else { unreachable!("there are many") };
        assert!(blocks.bytes() * 7 < plain, "{} of {plain} bytes", blocks.bytes());
    }

    #[test]
    fn far_out_the_floor_is_that_of_a_step_nearer() {
        let lee = SeekParams::Lee { single: us(1_000), average: us(8_500), full: us(18_000) };
        let curve = SeekCurve::new(&lee, 3 * NEAR as u32).unwrap();
        // The curve rises throughout, so the least time beyond a distance is that distance's own.
        for distance in 0..curve.cylinders() {
            let step = (distance >> BLOCK_SHIFT) << BLOCK_SHIFT;
            let exact_to = if (distance as usize) < NEAR { distance } else { step };
            assert_eq!(curve.floor_beyond(distance), curve.time(exact_to));
        }
    }

    #[test]
    fn bad_curves_are_refused() {
        let table = |points: &[(u32, u64)]| {
            let points = points.iter().map(|&(d, t)| (d, us(t))).collect();
            SeekCurve::new(&SeekParams::Table(points), 100).map(|_| ()).unwrap_err()
        };
        assert_eq!(table(&[(1, 500)]), SeekError::TooFewPoints);
        assert_eq!(table(&[(1, 500), (1, 600)]), SeekError::NotAscending { point: 1 });
        assert_eq!(table(&[(1, 5_000), (50, 1)]), SeekError::Absurd { distance: 51 });
        let lee = SeekParams::Lee { single: us(9_000), average: us(1_000), full: us(20_000) };
        assert!(SeekCurve::new(&lee, 100).is_err());
    }
}
