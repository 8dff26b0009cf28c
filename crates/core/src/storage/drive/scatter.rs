//! Scatter: how far the arm's movements deviate from the seek curve.
//!
//! A seek curve gives the mean time of a movement over a distance. Measured times vary around it, because the
//! arm must settle on a track whose run-out and vibration differ each time. The deviation from the curve is
//! drawn from a normal distribution, cut at three standard deviations; its width depends on the distance. A
//! head that arrives later than the firmware has planned ([`super::queue::QueueParams::read_margin`]) waits
//! another revolution.
//!
//! Draws are keyed by the command ([`crate::rng::keyed`]), so that the same command gets the same deviation
//! under another order of service, or at another depth. The quantiles are an integer table that is computed
//! once. One drive with a published spread per distance is a Maxtor Atlas 10K of 300 GB: 0.01 to 0.12 ms,
//! hardly rising with the distance (DiskSim's set of extracted drives, 350 distances).
use alloc::vec::Vec;
use core::fmt;
use drivelab_units::Span;
use libm::erfc;

/// The width of the scatter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScatterParams {
    /// Distance in cylinders (0: a head switch only), and the standard deviation there, by ascending
    /// distance; linear between them, constant outside.
    pub widths: Vec<(u32, Span)>,
}

impl ScatterParams {
    /// The same width at all distances.
    pub fn constant(width: Span) -> Self {
        ScatterParams { widths: alloc::vec![(0, width)] }
    }
}

/// Why a scatter cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScatterError {
    /// No width at all, or more than [`POINTS_MAX`].
    Points,
    /// A point that is not at a greater distance than the one before it.
    NotAscending {
        /// Index of the point.
        point: usize,
    },
    /// A width above [`WIDTH_MAX`].
    TooWide {
        /// Index of the point.
        point: usize,
    },
}

impl fmt::Display for ScatterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Points => write!(f, "the scatter needs 1 to {POINTS_MAX} widths"),
            Self::NotAscending { point } => {
                write!(f, "width {point} of the scatter does not lie farther out than the one before it")
            }
            Self::TooWide { point } => write!(f, "width {point} of the scatter is above {WIDTH_MAX}"),
        }
    }
}

impl core::error::Error for ScatterError {}

/// Maximum number of widths in a table.
pub const POINTS_MAX: usize = 1_024;
/// The maximum width: three of them stay below a revolution of any drive on the market.
pub const WIDTH_MAX: Span = Span::from_ms(10);

/// Steps of the quantile table, as a power of two.
const STEPS: u32 = 10;
/// Standard deviations at which the distribution is cut.
const CUT: f64 = 3.0;
/// The unit of a quantile: 2^-16 of a standard deviation.
const UNIT: f64 = 65_536.0;

/// The scatter, ready for draws.
#[derive(Clone, Debug)]
pub struct Scatter {
    widths: Vec<(u32, u32)>,
    /// Quantiles at equal steps of probability, in 2^-16 standard deviations.
    quantiles: Vec<i32>,
}

impl Scatter {
    /// # Errors
    /// A width that is out of range, or distances that do not ascend.
    pub fn new(params: &ScatterParams) -> Result<Self, ScatterError> {
        if params.widths.is_empty() || params.widths.len() > POINTS_MAX {
            return Err(ScatterError::Points);
        }
        for (point, pair) in params.widths.windows(2).enumerate() {
            if pair[1].0 <= pair[0].0 {
                return Err(ScatterError::NotAscending { point: point + 1 });
            }
        }
        if let Some(point) = params.widths.iter().position(|&(_, width)| width > WIDTH_MAX) {
            return Err(ScatterError::TooWide { point });
        }
        let widths = params.widths.iter().map(|&(distance, width)| (distance, width.as_ns() as u32));
        let quantiles = (0..=1 << STEPS).map(|step| quantile(f64::from(step) / f64::from(1 << STEPS)));
        Ok(Scatter { widths: widths.collect(), quantiles: quantiles.collect() })
    }

    /// The standard deviation at this distance, in nanoseconds.
    #[inline]
    pub fn width(&self, distance: u32) -> u32 {
        let behind = self.widths.partition_point(|&(at, _)| at <= distance);
        let (from, narrow) = self.widths[behind.saturating_sub(1)];
        let Some(&(to, wide)) = self.widths.get(behind).filter(|_| behind > 0) else { return narrow };
        let rise = (i64::from(wide) - i64::from(narrow)) * i64::from(distance - from) / i64::from(to - from);
        (i64::from(narrow) + rise) as u32
    }

    /// Nanoseconds by which a movement over this distance exceeds the curve, from 64 random bits.
    #[inline]
    pub fn excess(&self, distance: u32, bits: u64) -> i64 {
        let step = (bits >> (64 - STEPS)) as usize;
        let inside = ((bits >> (64 - STEPS - 16)) & 0xffff) as i64;
        let (low, high) = (i64::from(self.quantiles[step]), i64::from(self.quantiles[step + 1]));
        let quantile = low + (((high - low) * inside) >> 16);
        (quantile * i64::from(self.width(distance))) >> 16
    }

    /// Upper bound of a movement's excess over the curve.
    pub fn most(&self) -> Span {
        let widest = self.widths.iter().map(|&(_, width)| width).max().unwrap_or(0);
        Span::from_ns((CUT * f64::from(widest)) as u64 + 1)
    }
}

/// The quantile of the standard normal distribution cut at [`CUT`], for a share of 0 to 1.
fn quantile(share: f64) -> i32 {
    let below = |x: f64| 0.5 * erfc(-x / core::f64::consts::SQRT_2);
    let (least, most) = (below(-CUT), below(CUT));
    let wanted = least + share * (most - least);
    let (mut low, mut high) = (-CUT, CUT);
    // Each bisection gains a bit; the remainder is far below the table's unit.
    for _ in 0..48 {
        let middle = 0.5 * (low + high);
        if below(middle) < wanted { low = middle } else { high = middle }
    }
    let found = low * UNIT;
    (if found < 0.0 { found - 0.5 } else { found + 0.5 }) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::keyed;
    use alloc::vec;

    #[test]
    fn draws_have_the_mean_the_width_and_the_tails_of_the_cut_normal_distribution() {
        let scatter = Scatter::new(&ScatterParams::constant(Span::from_us(100))).unwrap();
        let draws: Vec<f64> =
            (0..200_000).map(|key| scatter.excess(500, keyed(7, key)) as f64 / 1e5).collect();
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|draw| (draw - mean) * (draw - mean)).sum::<f64>() / n;
        // Cut at three, the variance is 1 - 6 phi(3) / (2 Phi(3) - 1) = 0.97334.
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((variance / 0.973_34 - 1.0).abs() < 0.01, "{variance}");
        for (beyond, share) in [(1.0, 0.315_4), (2.0, 0.042_9)] {
            let found = draws.iter().filter(|draw| draw.abs() > beyond).count() as f64 / n;
            assert!((found - share).abs() < 0.004, "{found} beyond {beyond}");
        }
        let most = scatter.most().as_ns() as f64 / 1e5;
        assert!(draws.iter().all(|draw| draw.abs() <= most));
    }

    #[test]
    fn the_width_is_linear_between_its_points_and_constant_outside() {
        let us = Span::from_us;
        let scatter = Scatter::new(&ScatterParams { widths: vec![(10, us(20)), (30, us(60))] }).unwrap();
        let widths: Vec<u32> = [0, 10, 15, 29, 30, 4_000].map(|d| scatter.width(d) / 1_000).to_vec();
        assert_eq!(widths, [20, 20, 30, 58, 60, 60]);
    }

    #[test]
    fn without_width_there_is_none() {
        let scatter = Scatter::new(&ScatterParams::constant(Span::ZERO)).unwrap();
        assert!((0..1_000).all(|key| scatter.excess(9, keyed(3, key)) == 0));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |widths: &[(u32, u64)]| {
            let widths = widths.iter().map(|&(at, us)| (at, Span::from_us(us))).collect();
            Scatter::new(&ScatterParams { widths }).map(|_| ()).unwrap_err()
        };
        assert_eq!(refused(&[]), ScatterError::Points);
        assert_eq!(refused(&[(5, 1), (5, 2)]), ScatterError::NotAscending { point: 1 });
        assert_eq!(refused(&[(0, 1), (9, 10_001)]), ScatterError::TooWide { point: 1 });
    }
}
