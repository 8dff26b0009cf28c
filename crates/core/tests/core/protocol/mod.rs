//! The queueing protocols held to their rules on random histories, each rule by a definition of its own that looks at
//! everything. [`wire`] plays a history to a drive and writes down what came of it, [`fences`] says what must end before
//! what; the rest are the rules, by protocol.
//!
//! A few hundred histories a rule; `PROPTEST_CASES` sets another number.
mod allegiance;
mod every;
mod exchange;
mod fences;
mod host;
mod ledger;
mod medium;
mod ncq;
mod order;
mod qerr;
mod queue_abort;
mod recovery;
mod retries;
mod tags;
mod wire;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::TestCaseError;

pub type Checked<T = ()> = Result<T, TestCaseError>;

/// How many histories a rule is held to.
pub fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(200), ..ProptestConfig::default() }
}
