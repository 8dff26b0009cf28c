//! Latencies of one kind of I/O: an HDR histogram from 1 ns to a day with three significant digits, and exact sums.
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// Upper bound of distinguishable latencies: one day.
const HIGHEST_NS: u64 = 86_400_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
    sum_ns: u128,
    least_ns: u64,
    most_ns: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        let Ok(histogram) = Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS) else {
            unreachable!("the bounds are constants that the histogram accepts")
        };
        Latencies { histogram, sum_ns: 0, least_ns: u64::MAX, most_ns: 0 }
    }
}

impl Latencies {
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.sum_ns += u128::from(ns);
        self.least_ns = self.least_ns.min(ns);
        self.most_ns = self.most_ns.max(ns);
    }

    /// The same as if every latency of `other` had been recorded here.
    pub fn merge(&mut self, other: &Latencies) {
        let Ok(()) = self.histogram.add(&other.histogram) else {
            unreachable!("both histograms have the same bounds")
        };
        self.sum_ns += other.sum_ns;
        self.least_ns = self.least_ns.min(other.least_ns);
        self.most_ns = self.most_ns.max(other.most_ns);
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// Exact, not a bucket's edge.
    pub fn least_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.least_ns)
    }

    /// Exact, not a bucket's edge.
    pub fn most_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.most_ns)
    }

    /// The latency that `per_100_000` of 100 000 I/Os do not exceed, to three digits; `None` when fewer than
    /// ten I/Os lie beyond it, because then the figure is random.
    pub fn percentile_ns(&self, per_100_000: u64) -> Option<u64> {
        let beyond = u128::from(self.count()) * u128::from(100_000 - per_100_000);
        if beyond < 10 * 100_000 {
            return None;
        }
        let value = self.histogram.value_at_quantile(per_100_000 as f64 / 100_000.0);
        Some(value.clamp(self.least_ns, self.most_ns))
    }

    /// The histogram in the HdrHistogram V2 format, compressed, as base64, for other HDR tools.
    pub fn to_hdr_base64(&self) -> String {
        let mut bytes = Vec::new();
        let Ok(_) = V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes) else {
            unreachable!("writing to memory does not fail")
        };
        STANDARD.encode(bytes)
    }
}

/// The values in ns, upward, and how often each came, of a histogram as [`Latencies::to_hdr_base64`] writes it; a value is
/// the middle of those that are counted together.
///
/// # Errors
/// Why the text is no such histogram.
pub fn counts_of_hdr_base64(text: &str) -> Result<Vec<(u64, u64)>, String> {
    let bytes = STANDARD.decode(text).map_err(|error| error.to_string())?;
    let read: Histogram<u64> =
        Deserializer::new().deserialize(&mut &bytes[..]).map_err(|error| error.to_string())?;
    let recorded = read.iter_recorded();
    Ok(recorded
        .map(|step| (read.median_equivalent(step.value_iterated_to()), step.count_since_last_iteration()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Latencies {
        let mut latencies = Latencies::default();
        values.iter().for_each(|&ns| latencies.record(ns));
        latencies
    }

    proptest! {
        #[test]
        fn merging_is_recording_together(a in prop::collection::vec(1u64..1 << 40, 0..50), b in prop::collection::vec(1u64..1 << 40, 0..50)) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let together = of(&[a, b].concat());
            prop_assert_eq!(merged.sum_ns(), together.sum_ns());
            prop_assert_eq!(merged.most_ns(), together.most_ns());
            prop_assert_eq!(merged.percentile_ns(50_000), together.percentile_ns(50_000));
        }

        #[test]
        fn a_percentile_is_within_a_thousandth_of_the_sorted_one(mut values in prop::collection::vec(1u64..1 << 40, 20..300)) {
            let found = of(&values).percentile_ns(50_000).unwrap();
            values.sort_unstable();
            let exact = values[values.len().div_ceil(2) - 1];
            prop_assert!(found.abs_diff(exact) as f64 <= exact as f64 * 1e-3 + 1.0, "{} {}", found, exact);
        }
    }

    #[test]
    fn no_percentile_without_the_numbers_for_it() {
        let values: Vec<u64> = (1..=999).collect();
        assert_eq!(of(&values).percentile_ns(99_000), None);
        let values: Vec<u64> = (1..=1000).collect();
        assert_eq!(of(&values).percentile_ns(99_000), Some(990));
        assert_eq!(of(&values).percentile_ns(99_900), None);
        assert_eq!(of(&[]).mean_ns(), None);
    }

    #[test]
    fn a_histogram_in_text_is_values_and_counts() {
        let text = of(&[7, 7, 3_000, 1 << 30]).to_hdr_base64();
        let counts = counts_of_hdr_base64(&text).unwrap();
        assert_eq!(counts.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [2, 1, 1]);
        assert_eq!(counts[0].0, 7);
        // The bucket of 3 000 has two values, that of 2^30 has 2^20.
        assert_eq!(counts[1].0, 3_001);
        assert_eq!(counts[2].0, (1 << 30) + (1 << 19));
        assert!(counts_of_hdr_base64("no base64").is_err());
        assert!(counts_of_hdr_base64(&text[..text.len() / 8 * 4]).is_err());
    }

    #[test]
    fn other_tools_read_the_histogram() {
        let text = of(&[1_000, 2_000, 3_000]).to_hdr_base64();
        let bytes = STANDARD.decode(text).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(read.len(), 3);
        // The top of the bucket that holds 3 000.
        assert_eq!(read.max(), 3_001);
    }
}
