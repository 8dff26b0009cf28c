//! How often each place of a random job is accessed: fio's `random_distribution`.
//!
//! Every distribution becomes a table of bands, computed once: a number of adjacent places, and their total
//! weight. A draw takes one number for the band (a search of the table) and one for the place in it: integers
//! only. The 512 most popular places of `zipf` and `pareto` have a band each; after them the width of a band
//! is at most 1/64 of the places before it, so that the weight of a band is exact and that of a place in it
//! within a few percent.
//!
//! Popular places are scattered over the range as in fio, by a multiplication. Ours has no common divisor
//! with the number of places, so that no two ranks get the same place.
use crate::rng::Stream;
use alloc::sync::Arc;
use alloc::vec::Vec;
use libm::{ceil, erf, log, pow};

/// The shape of a distribution, by rank: 0 is the most popular place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// The place of rank r has a weight proportional to 1 / (r + 1)^theta.
    Zipf {
        /// Skew, above zero: 1 is Zipf's law.
        theta: f64,
    },
    /// The first share x of all places gets x^(log(1 - h) / log h) of the accesses: a share h gets 1 - h of them.
    Pareto {
        /// The share, above 0 and below 1: 0.2 is the 80/20 rule.
        h: f64,
    },
}

/// Where a job's random I/Os go.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Popularity {
    /// All places alike.
    #[default]
    Uniform,
    /// By the table: a rank becomes a place according to `Spread`.
    Table(Arc<Table>, Spread),
}

/// From ranks to places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// Over the whole range, starting at a place drawn for the job.
    Scattered,
    /// Consecutive from this place on, wrapping around to the first place.
    From(u64),
}

/// Bands of places in order.
#[derive(PartialEq, Eq, Debug)]
pub struct Table {
    /// The cumulative weights of the bands, in steps of 2^-53 of the total weight.
    upto: Vec<u64>,
    /// The first place of each band, and after the last one the number of places.
    first: Vec<u64>,
    /// The multiplier that scatters a rank.
    stride: u64,
}

/// Weights are counted in these steps.
const STEPS: f64 = (1u64 << 53) as f64;
/// Number of places with a band of their own.
const SINGLE: u64 = 512;
/// The width of a band after them, as a divisor of the number of places before it.
const BAND: u64 = 64;
/// Bands of a bell: each is a hundredth of a percent wide or less, however narrow the bell.
const BELL: u64 = 1 << 14;

impl Table {
    /// The bands that end at each of `ends` (ascending, the last is the number of places), with their weights.
    fn new(ends: &[u64], weights: impl Iterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let sums: Vec<f64> = weights
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        let mut upto: Vec<u64> = sums.iter().map(|upto| (upto / sum * STEPS) as u64).collect();
        if let Some(last) = upto.last_mut() {
            *last = STEPS as u64;
        }
        let first: Vec<u64> = core::iter::once(0).chain(ends.iter().copied()).collect();
        let places = first[first.len() - 1];
        Table { upto, first, stride: stride(places) }
    }

    /// A shape over this many places, at least one.
    pub fn of(shape: Shape, places: u64) -> Self {
        let ends = ends(places);
        let begins = core::iter::once(0).chain(ends.iter().copied());
        let bands: Vec<(u64, u64)> = begins.zip(ends.iter().copied()).collect();
        Table::new(&ends, bands.iter().map(|&(begin, end)| shape.weight(begin, end, places)))
    }

    /// A bell around `center` (a share of the range) with this standard deviation (also a share), cut off at
    /// both ends.
    pub fn bell(deviation: f64, center: f64, places: u64) -> Self {
        // Eight standard deviations to each side contain everything that can be drawn; the rest is one band
        // at each end.
        let n = places as f64;
        let low = (((center - 8.0 * deviation) * n) as u64).min(places - 1);
        let high = (ceil((center + 8.0 * deviation) * n) as u64).clamp(low + 1, places);
        let bands = (high - low).min(BELL);
        let inner =
            (1..=bands).map(|i| low + ((u128::from(high - low) * u128::from(i)) / u128::from(bands)) as u64);
        let ends: Vec<u64> = Some(low).filter(|low| *low > 0).into_iter().chain(inner).collect();
        let ends: Vec<u64> = ends.into_iter().chain(Some(places).filter(|_| high < places)).collect();
        let upto = |place: u64| erf((place as f64 / n - center) / (deviation * core::f64::consts::SQRT_2));
        let begins = core::iter::once(0).chain(ends.iter().copied());
        let weights: Vec<f64> = begins.zip(&ends).map(|(begin, &end)| upto(end) - upto(begin)).collect();
        Table::new(&ends, weights.into_iter())
    }

    /// Adjacent zones, each with its weight and the place at which it ends; the last ends with the range.
    pub fn zones(zones: &[(u32, u64)]) -> Self {
        let ends: Vec<u64> = zones.iter().map(|(_, end)| *end).collect();
        Table::new(&ends, zones.iter().map(|(weight, _)| f64::from(*weight)))
    }

    /// Number of places.
    pub fn places(&self) -> u64 {
        self.first[self.first.len() - 1]
    }

    /// Draws a rank with the probability of its weight.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let at = stream.bits() >> 11;
        let band = self.upto.partition_point(|upto| *upto <= at);
        let (begin, end) = (self.first[band], self.first[band + 1]);
        if end - begin == 1 { begin } else { begin + stream.below(end - begin) }
    }

    /// The place of a rank; `offset` is the place of rank 0.
    #[inline]
    pub fn place(&self, rank: u64, spread: Spread, offset: u64) -> u64 {
        let (step, start) = match spread {
            Spread::Scattered => (self.stride, offset),
            Spread::From(place) => (1, place),
        };
        ((u128::from(rank) * u128::from(step) + u128::from(start)) % u128::from(self.places())) as u64
    }
}

impl Shape {
    /// The weight of the ranks from `begin` to before `end`.
    fn weight(self, begin: u64, end: u64, places: u64) -> f64 {
        match self {
            Shape::Zipf { theta } if end - begin == 1 => pow(end as f64, -theta),
            // The sum over k of k^-theta from begin + 1 to end, by the integral between their midpoints.
            Shape::Zipf { theta } => {
                let (from, to) = (begin as f64 + 0.5, end as f64 + 0.5);
                let power = 1.0 - theta;
                if power == 0.0 { log(to / from) } else { (pow(to, power) - pow(from, power)) / power }
            }
            Shape::Pareto { h } => {
                let power = log(1.0 - h) / log(h);
                let share = |rank: u64| pow(rank as f64 / places as f64, power);
                share(end) - share(begin)
            }
        }
    }
}

/// Where the bands of this many places end: one by one, then ever wider.
fn ends(places: u64) -> Vec<u64> {
    let mut ends: Vec<u64> = (1..=places.min(SINGLE)).collect();
    let mut end = SINGLE;
    while end < places {
        end = (end + end / BAND).min(places);
        ends.push(end);
    }
    ends
}

/// Near the golden section of the places, where consecutive ranks are farthest apart, and without a common
/// divisor with them.
fn stride(places: u64) -> u64 {
    let near = ((u128::from(places) * 0x9e37_79b9_7f4a_7c15) >> 64) as u64;
    (near.max(1)..).find(|stride| divisor(*stride, places) == 1).unwrap_or(1)
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// How often each place occurs in this many draws.
    fn drawn(table: &Table, draws: u32) -> Vec<u32> {
        let mut stream = Stream::named(3, "test");
        let mut seen = vec![0; table.places() as usize];
        for _ in 0..draws {
            seen[table.draw(&mut stream) as usize] += 1;
        }
        seen
    }

    /// Whether a count is within four standard errors of a share of this many draws.
    fn close(seen: u32, draws: u32, share: f64) -> bool {
        let (n, seen) = (f64::from(draws), f64::from(seen));
        (seen - n * share).abs() <= 4.0 * libm::sqrt(n * share * (1.0 - share)) + 1.0
    }

    #[test]
    fn zipf_gives_each_rank_its_power() {
        for theta in [0.8, 1.0, 1.2, 2.5] {
            let (places, draws) = (3_000u64, 400_000);
            let table = Table::of(Shape::Zipf { theta }, places);
            let weights: Vec<f64> = (1..=places).map(|rank| pow(rank as f64, -theta)).collect();
            let total: f64 = weights.iter().sum();
            let seen = drawn(&table, draws);
            for rank in [0, 1, 2, 9, 99, 511] {
                assert!(
                    close(seen[rank], draws, weights[rank] / total),
                    "{theta}: rank {rank}: {}",
                    seen[rank]
                );
            }
            // After the single places, bands: the total of many of them is exact.
            let tail: f64 = weights[1_000..].iter().sum::<f64>() / total;
            assert!(close(seen[1_000..].iter().sum(), draws, tail), "{theta}");
        }
    }

    #[test]
    fn pareto_gives_the_share_h_of_the_places_the_rest_of_the_accesses() {
        for h in [0.1, 0.2, 0.4] {
            let (places, draws) = (10_000u64, 200_000);
            let seen = drawn(&Table::of(Shape::Pareto { h }, places), draws);
            let head: u32 = seen[..(h * places as f64) as usize].iter().sum();
            assert!(close(head, draws, 1.0 - h), "{h}: {head}");
            // The law is the same inside the head: the share h of it gets the share 1 - h of its accesses.
            let inner: u32 = seen[..(h * h * places as f64) as usize].iter().sum();
            assert!(close(inner, draws, (1.0 - h) * (1.0 - h)), "{h}: {inner}");
        }
    }

    #[test]
    fn a_bell_has_its_center_and_its_deviation() {
        let (places, draws) = (20_000u64, 200_000);
        for (deviation, center) in [(0.05, 0.5), (0.01, 0.25), (0.0001, 0.5)] {
            let seen = drawn(&Table::bell(deviation, center, places), draws);
            let within = |sigmas: f64| {
                let low = ((center - sigmas * deviation) * places as f64).max(0.0) as usize;
                let high = ((center + sigmas * deviation) * places as f64) as usize;
                seen[low..high].iter().sum::<u32>()
            };
            assert!(close(within(1.0), draws, 0.682_689), "{deviation}: {}", within(1.0));
            assert!(close(within(2.0), draws, 0.954_500), "{deviation}: {}", within(2.0));
        }
        // Cut off at the end of the range: half of it is left, twice as often.
        let seen = drawn(&Table::bell(0.1, 0.0, places), draws);
        assert!(close(seen[..2_000].iter().sum(), draws, 0.682_689));
        // So wide that hardly anything of the bell is left of it.
        let seen = drawn(&Table::bell(100.0, 0.5, places), draws);
        assert!(close(seen[..5_000].iter().sum(), draws, 0.25));
    }

    #[test]
    fn zones_get_their_shares_and_each_is_uniform() {
        let seen = drawn(&Table::zones(&[(60, 1_000), (0, 1_500), (40, 10_000)]), 100_000);
        assert!(close(seen[..1_000].iter().sum(), 100_000, 0.6));
        assert!(close(seen[..100].iter().sum(), 100_000, 0.06));
        assert_eq!(seen[1_000..1_500].iter().sum::<u32>(), 0);
        assert!(close(seen[9_000..].iter().sum(), 100_000, 0.4 * 1_000.0 / 8_500.0));
    }

    #[test]
    fn scattered_ranks_meet_at_no_place_and_lie_apart() {
        for places in [1u64, 2, 3, 97, 1_000, 4_096] {
            let table = Table::of(Shape::Zipf { theta: 1.2 }, places);
            let mut seen = vec![false; places as usize];
            for rank in 0..places {
                let place = table.place(rank, Spread::Scattered, 7) as usize;
                assert!(!core::mem::replace(&mut seen[place], true), "{places}: {rank}");
            }
        }
        let table = Table::of(Shape::Zipf { theta: 1.2 }, 1 << 33);
        let apart = |a: u64, b: u64| a.abs_diff(b).min((1 << 33) - a.abs_diff(b));
        let popular: Vec<u64> = (0..8).map(|rank| table.place(rank, Spread::Scattered, 0)).collect();
        for (i, a) in popular.iter().enumerate() {
            assert!(popular[..i].iter().all(|b| apart(*a, *b) > (1 << 33) / 16), "{popular:?}");
        }
        assert_eq!(table.place(5, Spread::From((1 << 33) - 2), 0), 3);
    }

    #[test]
    fn a_table_is_small_however_many_places_there_are() {
        for places in [1u64, 511, 512, 513, 1 << 20, 1 << 50] {
            let table = Table::of(Shape::Zipf { theta: 0.99 }, places);
            assert_eq!((table.places(), table.upto.len() + 1), (places, table.first.len()));
            assert!(table.upto.len() < 3_000, "{places}: {}", table.upto.len());
            assert!(table.upto.is_sorted() && table.first.is_sorted());
            let bell = Table::bell(0.02, 0.5, places);
            assert_eq!(bell.places(), places);
            assert!(bell.first.windows(2).all(|pair| pair[0] < pair[1]), "{places}");
        }
    }
}
