//! The virtual clock: it jumps from one due instant to the next and hands it to the two machines of the core.
//!
//! Lives here: the loop between `Host` and `Target`, and many runs side by side with their results in input order.
//!
//! Never lives here: a rule of physics (that is the core's), a real clock, a file, an unordered result.
//!
//! Start reading at the loop: it is all that a mode adds to the core.
