//! Benchmarks: simulated commands per second and memory, on fixed scenarios, each with a hash of its results.
//!
//! Lives here: the scenarios, the timing, the table that is printed.
//!
//! Never lives here: a test framework, and anything that a room below could use.
//!
//! Start reading at `main`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program: its table goes to stdout")]

fn main() {}
