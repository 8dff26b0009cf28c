//! What the fuzzers do: each function takes bytes and must return, whatever they are. They are run
//! coverage-guided by `make fuzz` (see `driver`), and by the tests on every file of the corpus.
//!
//! To add one: a file here with a function, its line in [`TARGETS`], and a few files in `corpus/NAME`.
mod bytes;
mod device;
mod nbd;
mod scenario;
mod target;
mod trace;

/// Takes bytes, and panics if something is wrong.
pub type Run = fn(&[u8]);

/// Every fuzzer by its name.
pub const TARGETS: &[(&str, Run)] = &[
    ("scenario", scenario::scenario),
    ("drive-file", scenario::drive_file),
    ("trace", trace::found),
    ("trace-drivelab", trace::of::<0>),
    ("trace-iolog2", trace::of::<1>),
    ("trace-iolog3", trace::of::<2>),
    ("trace-blkparse", trace::of::<3>),
    ("trace-blktrace", trace::of::<4>),
    ("trace-disksim", trace::of::<5>),
    ("trace-disksim-validate", trace::of::<6>),
    ("trace-mqsim", trace::of::<7>),
    ("trace-msr", trace::of::<8>),
    ("trace-systor", trace::of::<9>),
    ("trace-spc", trace::of::<10>),
    ("trace-alibaba", trace::of::<11>),
    ("trace-tencent", trace::of::<12>),
    ("trace-vscsi1", trace::of::<13>),
    ("trace-vscsi2", trace::of::<14>),
    ("trace-vscsi-csv", trace::of::<15>),
    ("trace-fiu", trace::of::<16>),
    ("trace-biosnoop", trace::of::<17>),
    ("trace-iosnoop", trace::of::<18>),
    ("trace-ftrace", trace::of::<19>),
    ("trace-etw", trace::of::<20>),
    ("nbd-server", nbd::server),
    ("nbd-handshake", nbd::handshake),
    ("nbd-replies", nbd::replies),
    ("target", target::target),
    ("device", device::device),
];
