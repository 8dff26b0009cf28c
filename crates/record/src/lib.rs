//! The result of a run, the same one whether a drive was simulated, emulated or measured.
//!
//! Lives here: the manifest (seed, model version, scenario hash, digest), mergeable histograms, series, the command
//! log, and the version policy of all of them.
//!
//! Never lives here: a clock, a file, a socket. Records are read from and written to what the caller brings.
//!
//! Start reading at the manifest: it says what every record carries.
