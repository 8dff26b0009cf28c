//! Closed forms against which the results are checked. Each is derived in docs/how-to/durability.md, and holds if drives and
//! repairs are exponential and a repair is much shorter than a life.
use serde::Serialize;

/// The textbook mean times to data loss of one group, in hours; infinite (null in JSON) above the largest double.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mttdl {
    /// The first term, MTTF^(m+1) / (n (n-1) ... (n-m) MTTR^m), divided by m! if repairs run in parallel.
    pub approximate_hours: f64,
    /// The exact value if there is a closed form: single parity.
    pub exact_hours: Option<f64>,
}

/// The mean time to data loss of a group of `n` members that survives `bears` failures. `serial`: one repair after
/// the other.
pub fn mttdl(n: u32, bears: u32, mttf: f64, mttr: f64, serial: bool) -> Mttdl {
    let (rate, repairs) = (1.0 / mttf, 1.0 / mttr);
    let mut hours = 1.0 / (f64::from(n) * rate);
    for failed in 1..=bears {
        let ways = if serial { 1.0 } else { f64::from(failed) };
        hours *= ways * repairs / (f64::from(n - failed) * rate);
    }
    let size = f64::from(n);
    let exact = match bears {
        0 => Some(hours),
        1 => Some(((2.0 * size - 1.0) * rate + repairs) / (size * (size - 1.0) * rate * rate)),
        _ => None,
    };
    Mttdl { approximate_hours: hours, exact_hours: exact }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_give_the_values_worked_out_by_hand() {
        let found = mttdl(8, 1, 461_386.0, 12.0, false);
        assert!((found.approximate_hours / 8760.0 - 36_162.250).abs() < 1e-3, "{found:?}");
        assert!((found.exact_hours.unwrap() / 8760.0 - 36_176.358).abs() < 1e-3, "{found:?}");
        // Three drives, no parity: the first failure.
        assert_eq!(mttdl(3, 0, 300.0, 1.0, false).approximate_hours, 100.0);
        // Repairs side by side of double parity are twice as quick as one after the other.
        let [parallel, serial] = [false, true].map(|serial| mttdl(8, 2, 5e5, 6.0, serial).approximate_hours);
        assert!((parallel / serial - 2.0).abs() < 1e-12);
    }
}
