//! The precision of a run's throughput: batch means over the times at which I/Os finished.
//!
//! Consecutive I/Os depend on each other, their count over long batches hardly does. Batches hold equally
//! many I/Os; when there are too many batches, pairs are joined, so that memory stays constant however long
//! the run.

const BATCHES_MAX: usize = 64;
/// With fewer I/Os per batch the batches still depend on each other. This size is reached after two joinings,
/// so that there are then at least half of `BATCHES_MAX` batches.
const BATCH_SIZE_MIN: u64 = 4;
/// Student's t at 97.5 % for 31 degrees of freedom, the minimum; at 62 it is 2.00.
const STUDENT: f64 = 2.04;

#[derive(Clone, Debug)]
pub struct BatchMeans {
    /// The duration of each full batch, in nanoseconds.
    spans: Vec<u64>,
    batch_size: u64,
    in_batch: u64,
    batch_began_ns: u64,
}

impl BatchMeans {
    pub fn new(began_ns: u64) -> Self {
        BatchMeans {
            spans: Vec::with_capacity(BATCHES_MAX),
            batch_size: 1,
            in_batch: 0,
            batch_began_ns: began_ns,
        }
    }

    #[inline]
    pub fn finished(&mut self, at_ns: u64) {
        self.in_batch += 1;
        if self.in_batch == self.batch_size {
            self.close_batch(at_ns);
        }
    }

    fn close_batch(&mut self, at_ns: u64) {
        self.spans.push(at_ns - self.batch_began_ns);
        self.batch_began_ns = at_ns;
        self.in_batch = 0;
        if self.spans.len() == BATCHES_MAX {
            for pair in 0..BATCHES_MAX / 2 {
                self.spans[pair] = self.spans[2 * pair] + self.spans[2 * pair + 1];
            }
            self.spans.truncate(BATCHES_MAX / 2);
            self.batch_size *= 2;
        }
    }

    /// Half the width of the 95 % confidence interval of the throughput, as a share of it.
    pub fn relative_error(&self) -> Option<f64> {
        let n = self.spans.len();
        if self.batch_size < BATCH_SIZE_MIN {
            return None;
        }
        let count = n as f64;
        let mean = self.spans.iter().map(|&ns| ns as f64).sum::<f64>() / count;
        if mean == 0.0 {
            return None;
        }
        let squares: f64 = self.spans.iter().map(|&ns| (ns as f64 - mean) * (ns as f64 - mean)).sum();
        Some(STUDENT * (squares / (count - 1.0) / count).sqrt() / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::rng::Stream;

    #[test]
    fn a_poisson_stream_has_the_error_of_its_count() {
        // The count of n Poisson events has a relative standard error of 1 / sqrt(n).
        let mut stream = Stream::named(1, "test");
        let (mut inside, runs, n) = (0, 400, 4_096u32);
        for _ in 0..runs {
            let (mut at, mut batches) = (0, BatchMeans::new(0));
            for _ in 0..n {
                at += stream.exponential(1_000_000);
                batches.finished(at);
            }
            let error = batches.relative_error().unwrap();
            let mean = at as f64 / f64::from(n) / 1e6;
            inside += u32::from((mean - 1.0).abs() <= error);
        }
        // 95 % of 400 is 380; four standard errors are 17.
        assert!((363..=397).contains(&inside), "{inside}");
    }

    #[test]
    fn a_clock_has_no_error_and_a_short_run_no_figure() {
        let mut batches = BatchMeans::new(0);
        for i in 1..=10_000 {
            batches.finished(i * 100);
        }
        assert_eq!(batches.relative_error(), Some(0.0));
        assert_eq!(BatchMeans::new(0).relative_error(), None);
    }
}
