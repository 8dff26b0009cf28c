//! Requests of formats that have the time of a completion and the latency: they began that much before.
//!
//! The clocks of such formats begin with their first line, so the requests of the first lines began below zero. Zero is
//! therefore moved to an hour before the clock's own.
use crate::lines::Fault;

/// The time of the clock's own zero.
pub const ZERO_NS: u64 = 3_600 * 1_000_000_000;

/// What a survey says of such requests.
pub const REMARK: &str = "the trace has times of completion: a request begins its latency earlier, and times count \
                          from an hour before the clock of the trace";

/// The beginning of a request by its completion and its latency.
pub fn begun(completed_ns: u64, latency_ns: u64) -> Result<u64, Fault> {
    let completed = completed_ns.checked_add(ZERO_NS).ok_or(Fault::Time)?;
    completed
        .checked_sub(latency_ns)
        .ok_or(Fault::Layout("the request began more than an hour before the clock of the trace"))
}

#[cfg(test)]
mod tests {
    use super::{ZERO_NS, begun};
    use crate::lines::Fault;

    #[test]
    fn a_request_may_begin_before_the_clock_but_not_long_before() {
        assert_eq!(begun(5, 7), Ok(ZERO_NS - 2));
        assert!(matches!(begun(5, ZERO_NS + 6), Err(Fault::Layout(_))));
        assert_eq!(begun(u64::MAX, 1), Err(Fault::Time));
    }
}
