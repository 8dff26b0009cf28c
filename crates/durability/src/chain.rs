//! A Markov chain with absorbing states, solved without subtracting nearly equal numbers, so that a probability of
//! 1e-15 is accurate in all digits: the mean time by the elimination of Grassmann, Taksar and Heyman (Operations
//! Research 33(5), 1985), probabilities within a time by uniformization over a step that is then doubled, with
//! matrices without negative entries.

/// The transition rates between states, and from each state into each way of absorption.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Rates from row to column, with a zero diagonal.
    pub between: Vec<Vec<f64>>,
    /// Rates from each state into each way of absorption.
    pub absorbed: Vec<Vec<f64>>,
}

/// Terms of the exponential series of a step, in which at most one jump is expected.
const TERMS: u32 = 30;

impl Chain {
    /// The mean time from state 0 to absorption; infinite if there is no absorption.
    pub fn mean_time(&self) -> f64 {
        let mut between = self.between.clone();
        let mut lost: Vec<f64> = self.absorbed.iter().map(|ways| ways.iter().sum()).collect();
        let mut spent = vec![1.0; lost.len()];
        for last in (1..lost.len()).rev() {
            let out: f64 = between[last][..last].iter().sum::<f64>() + lost[last];
            if out == 0.0 {
                return f64::INFINITY;
            }
            let row = between[last].clone();
            for at in 0..last {
                let share = between[at][last] / out;
                if share == 0.0 {
                    continue;
                }
                for to in (0..last).filter(|&to| to != at) {
                    between[at][to] += share * row[to];
                }
                lost[at] += share * lost[last];
                spent[at] += share * spent[last];
            }
        }
        if lost[0] > 0.0 { spent[0] / lost[0] } else { f64::INFINITY }
    }

    /// The probability of each way of absorption within a time, starting from state 0.
    pub fn chances(&self, time: f64) -> Vec<f64> {
        let (states, ways) = (self.between.len(), self.absorbed.first().map_or(0, Vec::len));
        let rates = self.rates();
        let leaving: Vec<f64> = rates.iter().map(|row| row.iter().sum()).collect();
        let fastest = leaving.iter().copied().fold(0.0, f64::max);
        if fastest == 0.0 || time == 0.0 {
            return vec![0.0; ways];
        }
        let doublings = libm::log2(fastest * time).ceil().max(0.0) as i32;
        let step = fastest * time / libm::pow(2.0, f64::from(doublings));
        let mut jump = Matrix::zero(rates.len());
        for (at, row) in rates.iter().enumerate() {
            for (to, rate) in row.iter().enumerate() {
                jump.0[at][to] = rate / fastest;
            }
            jump.0[at][at] += (fastest - leaving[at]) / fastest;
        }
        let mut power = jump.exponential(step);
        power.normalize();
        for _ in 0..doublings {
            power = power.times(&power);
            power.normalize();
        }
        (0..ways).map(|way| power.0[0][states + way]).collect()
    }

    /// The rates of all states and ways of absorption as one square matrix.
    fn rates(&self) -> Vec<Vec<f64>> {
        let (states, ways) = (self.between.len(), self.absorbed.first().map_or(0, Vec::len));
        let mut all: Vec<Vec<f64>> =
            (0..states).map(|at| [&self.between[at][..], &self.absorbed[at][..]].concat()).collect();
        all.extend((0..ways).map(|_| vec![0.0; states + ways]));
        all
    }
}

struct Matrix(Vec<Vec<f64>>);

impl Matrix {
    fn zero(size: usize) -> Self {
        Matrix(vec![vec![0.0; size]; size])
    }

    /// exp((jump - 1) step): the sum of the powers of `jump`, each weighted by its Poisson probability.
    fn exponential(&self, step: f64) -> Self {
        let size = self.0.len();
        let (mut sum, mut term) = (Matrix::zero(size), Matrix::zero(size));
        for at in 0..size {
            term.0[at][at] = libm::exp(-step);
        }
        for power in 1..=TERMS {
            sum.add(&term, 1.0);
            term = term.times(self);
            let factor = step / f64::from(power);
            term.0.iter_mut().flatten().for_each(|entry| *entry *= factor);
        }
        sum.add(&term, 1.0);
        sum
    }

    fn add(&mut self, other: &Matrix, factor: f64) {
        for (row, others) in self.0.iter_mut().zip(&other.0) {
            row.iter_mut().zip(others).for_each(|(entry, other)| *entry += factor * other);
        }
    }

    /// Normalizes every row to the sum 1: otherwise each doubling would double the rounding error of a step.
    fn normalize(&mut self) {
        for row in &mut self.0 {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|entry| *entry /= sum);
        }
    }

    fn times(&self, other: &Matrix) -> Matrix {
        let mut product = Matrix::zero(self.0.len());
        for (row, found) in self.0.iter().zip(&mut product.0) {
            for (&left, others) in row.iter().zip(&other.0) {
                if left != 0.0 {
                    found.iter_mut().zip(others).for_each(|(entry, right)| *entry += left * right);
                }
            }
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_out_is_exponential_to_the_last_digits() {
        for rate in [1e-18, 1e-9, 0.05, 3.0] {
            let chain = Chain { between: vec![vec![0.0]], absorbed: vec![vec![rate, 2.0 * rate]] };
            let whole = -libm::expm1(-3.0 * rate);
            let found = chain.chances(1.0);
            assert!((found[0] / (whole / 3.0) - 1.0).abs() < 1e-14, "{rate} {found:?}");
            assert!((found[1] / (whole / 1.5) - 1.0).abs() < 1e-14, "{rate} {found:?}");
            assert!((chain.mean_time() * 3.0 * rate - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_stiff_chain_keeps_its_digits() {
        // A mirror: 0 -> 1 at 2f, back at r, lost at f. Its exact chance is a difference of two exponentials; the
        // leading terms for f << r, worked out in 60 digits: f = 1e-9, r = 1000, t = 1.
        let (f, r) = (1e-9, 1e3);
        let chain =
            Chain { between: vec![vec![0.0, 2.0 * f], vec![r, 0.0]], absorbed: vec![vec![0.0], vec![f]] };
        // 2 f^2 (t/r - (1 - e^-rt)/r^2) and terms of f^3.
        let exact = 2.0 * f * f * (1.0 / r - 1.0 / (r * r));
        assert!((chain.chances(1.0)[0] / exact - 1.0).abs() < 1e-11, "{:e} {exact:e}", chain.chances(1.0)[0]);
        let mttdl = (3.0 * f + r) / (2.0 * f * f);
        assert!((chain.mean_time() / mttdl - 1.0).abs() < 1e-15);
    }
}
