//! The seek form of a root, then a line of the same slope, through three times: [`SeekParams::RootLine`](super::SeekParams).
use drivelab_units::Share;
use libm::sqrt;

/// The form over the share x of the full stroke: the settling of all seeks but those over one
/// cylinder, and from there a root, then a line of the same slope.
pub struct RootLine {
    settled: f64,
    scale: f64,
    bend: f64,
}

impl RootLine {
    /// Of a mean and a full stroke beyond the settling, the least and the most share that the mean can be: that of a line
    /// over all of the stroke, and that of a root.
    const MEAN_OF_LINE: f64 = 1.0 / 3.0;
    const MEAN_OF_ROOT: f64 = 8.0 / 15.0;

    /// The form with the mean `average` over random pairs; `None` where no bend gives it.
    pub fn new(single: f64, average: f64, full: f64, longer_settle: Share) -> Option<Self> {
        let settled = single + (longer_settle.bits() as f64 / Share::ALL.bits() as f64) * (average - single);
        let share = (average - settled) / (full - settled);
        if !(share > Self::MEAN_OF_LINE && share <= Self::MEAN_OF_ROOT) {
            return None;
        }
        // The mean rises with the bend.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..52 {
            let bend = (low + high) / 2.0;
            if mean_share(bend) < share { low = bend } else { high = bend }
        }
        let bend = high;
        let far = sqrt(bend) + (1.0 - bend) / (2.0 * sqrt(bend));
        Some(RootLine { settled, scale: (full - settled) / far, bend })
    }

    pub fn at(&self, x: f64) -> f64 {
        let bend = self.bend;
        let grown = if x <= bend { sqrt(x) } else { sqrt(bend) + (x - bend) / (2.0 * sqrt(bend)) };
        self.settled + self.scale * grown
    }
}

/// The mean over random pairs as a share of the full stroke, of a root up to `bend` and a line from there, in closed form:
/// the distance x has the density 2 (1 - x).
fn mean_share(bend: f64) -> f64 {
    let (root, rest) = (sqrt(bend), 1.0 - bend);
    let of_root = bend * root * (4.0 / 3.0 - 4.0 / 5.0 * bend);
    let of_line = root * rest * rest + rest * rest * rest / (6.0 * root);
    (of_root + of_line) / (root + rest / (2.0 * root))
}

#[cfg(test)]
mod tests {
    use crate::storage::drive::seek::{SeekCurve, SeekError, SeekParams};
    use alloc::vec::Vec;
    use drivelab_units::{Share, Span};

    const fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    #[test]
    fn root_and_line_meet_the_three_figures_and_settle_longer_from_two_cylinders_on() {
        for (single, average, full, share) in [
            (800, 8_900, 18_000, 10),
            (500, 4_700, 10_500, 0),
            (1_000, 8_570, 21_000, 10),
            (1_650, 9_650, 16_250, 12),
        ] {
            let longer_settle = Share::from_ratio(share, 100).unwrap();
            let (single, average, full) = (us(single), us(average), us(full));
            let curve =
                SeekCurve::new(&SeekParams::RootLine { single, average, full, longer_settle }, 60_000)
                    .unwrap();
            assert_eq!(u64::from(curve.time(1)), single.as_ns());
            assert_eq!(u64::from(curve.time(59_999)), full.as_ns());
            let more = (average.as_ns() - single.as_ns()) * share / 100;
            assert!(u64::from(curve.time(2)).abs_diff(single.as_ns() + more) < 10, "{}", curve.time(2));
            let mean = curve.mean_of_random_pairs();
            assert!((mean / average.as_ns() as f64 - 1.0).abs() < 1e-3, "{mean}");
            // The slope falls up to the bend and stays from there.
            let step = |from: u32| i64::from(curve.time(from + 6_000)) - i64::from(curve.time(from));
            let steps: Vec<i64> = (2..53_000).step_by(6_000).map(step).collect();
            assert!(steps.windows(2).all(|two| two[0] >= two[1] - 2), "{steps:?}");
            assert!((steps[7] - steps[8]).abs() <= 2 || average.as_ns() * 15 > full.as_ns() * 7, "{steps:?}");
        }
    }

    #[test]
    fn three_figures_of_no_root_and_line_are_refused() {
        let longer_settle = Share::from_ratio(1, 10).unwrap();
        for (average, full) in [(6_000, 20_000), (12_000, 18_000)] {
            let form =
                SeekParams::RootLine { single: us(800), average: us(average), full: us(full), longer_settle };
            assert_eq!(SeekCurve::new(&form, 1_000).err(), Some(SeekError::NoRootLine));
        }
    }
}
