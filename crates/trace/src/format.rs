//! The trace formats and their names.
use crate::record::Clock;

/// A trace format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Format {
    Drivelab,
    Iolog2,
    Iolog3,
    Blkparse,
    Blktrace,
    Disksim,
    DisksimValidate,
    Mqsim,
    Msr,
    Systor,
    Spc,
    Alibaba,
    Tencent,
    Vscsi1,
    Vscsi2,
    VscsiCsv,
    Fiu,
    Biosnoop,
    Iosnoop,
    Ftrace,
    Etw,
    /// A text whose columns the options describe.
    Columns,
}

impl Format {
    /// The formats that have a name to ask for.
    pub const ALL: [Format; 21] = [
        Format::Drivelab,
        Format::Iolog2,
        Format::Iolog3,
        Format::Blkparse,
        Format::Blktrace,
        Format::Disksim,
        Format::DisksimValidate,
        Format::Mqsim,
        Format::Msr,
        Format::Systor,
        Format::Spc,
        Format::Alibaba,
        Format::Tencent,
        Format::Vscsi1,
        Format::Vscsi2,
        Format::VscsiCsv,
        Format::Fiu,
        Format::Biosnoop,
        Format::Iosnoop,
        Format::Ftrace,
        Format::Etw,
    ];

    /// The formats that can be written.
    pub const WRITTEN: [Format; 7] = [
        Format::Drivelab,
        Format::Iolog2,
        Format::Iolog3,
        Format::Blkparse,
        Format::Disksim,
        Format::Msr,
        Format::Spc,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Format::Drivelab => "drivelab",
            Format::Iolog2 => "iolog2",
            Format::Iolog3 => "iolog3",
            Format::Blkparse => "blkparse",
            Format::Blktrace => "blktrace",
            Format::Disksim => "disksim",
            Format::DisksimValidate => "disksim-validate",
            Format::Mqsim => "mqsim",
            Format::Msr => "msr",
            Format::Systor => "systor",
            Format::Spc => "spc",
            Format::Alibaba => "alibaba",
            Format::Tencent => "tencent",
            Format::Vscsi1 => "vscsi1",
            Format::Vscsi2 => "vscsi2",
            Format::VscsiCsv => "vscsi-csv",
            Format::Fiu => "fiu",
            Format::Biosnoop => "biosnoop",
            Format::Iosnoop => "iosnoop",
            Format::Ftrace => "ftrace",
            Format::Etw => "etw",
            Format::Columns => "columns",
        }
    }

    /// The format with a name or one of its common aliases.
    pub fn named(name: &str) -> Option<Format> {
        let plain = name.to_ascii_lowercase().replace('_', "-");
        let other = match plain.as_str() {
            "iolog-v2" | "fio-iolog-v2" | "fio-iolog2" => Format::Iolog2,
            "iolog-v3" | "fio-iolog-v3" | "fio-iolog3" => Format::Iolog3,
            "blktrace-binary" => Format::Blktrace,
            "blktrace-text" => Format::Blkparse,
            "disksim-ascii" => Format::Disksim,
            "msr-cambridge" => Format::Msr,
            "systor17" => Format::Systor,
            "vscsi-v1" | "cloudphysics-v1" => Format::Vscsi1,
            "vscsi-v2" | "cloudphysics-v2" => Format::Vscsi2,
            "cloudphysics-csv" => Format::VscsiCsv,
            "trace-cmd" => Format::Ftrace,
            "xperf" => Format::Etw,
            "own" => Format::Drivelab,
            _ => return Format::ALL.into_iter().find(|format| format.name() == plain),
        };
        Some(other)
    }

    /// The formats that share a name; the first bytes of a trace select one.
    pub fn family(name: &str) -> Option<&'static [Format]> {
        match name.to_ascii_lowercase().as_str() {
            "iolog" | "fio-iolog" | "fio" => Some(&[Format::Iolog2, Format::Iolog3]),
            "vscsi" | "cloudphysics" => Some(&[Format::Vscsi1, Format::Vscsi2, Format::VscsiCsv]),
            _ => None,
        }
    }

    pub const fn is_binary(self) -> bool {
        matches!(self, Format::Drivelab | Format::Blktrace | Format::Vscsi1 | Format::Vscsi2)
    }

    /// The default unit of times of this format in nanoseconds.
    pub const fn unit_ns(self) -> u64 {
        match self {
            Format::Drivelab | Format::Blktrace | Format::Mqsim | Format::Fiu | Format::Columns => 1,
            Format::Msr => 100,
            Format::Iolog2
            | Format::Iolog3
            | Format::DisksimValidate
            | Format::Alibaba
            | Format::Etw
            | Format::Vscsi1
            | Format::Vscsi2 => 1_000,
            Format::Disksim => 1_000_000,
            Format::Blkparse
            | Format::Systor
            | Format::Spc
            | Format::Tencent
            | Format::VscsiCsv
            | Format::Biosnoop
            | Format::Iosnoop
            | Format::Ftrace => 1_000_000_000,
        }
    }

    /// The epoch of its times; a trace in drivelab's own format gives its own.
    pub const fn clock(self) -> Clock {
        match self {
            Format::Msr => Clock::Filetime,
            Format::Systor | Format::Alibaba | Format::Tencent => Clock::Unix,
            _ => Clock::Relative,
        }
    }

    /// Whether a flag of 0 or 1 distinguishes reads from writes.
    pub const fn has_read_flag(self) -> bool {
        matches!(self, Format::Disksim | Format::Mqsim | Format::Tencent)
    }
}

/// All names in one line.
pub fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}
