//! What the fuzzers do: each function takes bytes and must return, whatever they are. Coverage-guided by `make fuzz` (see
//! `driver`), and by the tests with every file of the corpus.
//!
//! To add one: a file here with a function, its line in [`TARGETS`], and a few files in `corpus/NAME`.
mod bytes;
mod device;
mod nbd;
mod scenario;
mod target;
mod trace;

/// Takes bytes, and panics where something is wrong.
pub type Run = fn(&[u8]);

/// Every fuzzer by its name.
pub const TARGETS: &[(&str, Run)] = &[
    ("scenario", scenario::scenario),
    ("drive-file", scenario::drive_file),
    ("trace", trace::trace),
    ("nbd-server", nbd::server),
    ("nbd-handshake", nbd::handshake),
    ("nbd-replies", nbd::replies),
    ("target", target::target),
    ("device", device::device),
];
