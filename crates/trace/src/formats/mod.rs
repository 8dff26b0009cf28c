//! One file per format; common code is in `text.rs`, `lined.rs` and, for block layer events, in `events.rs`,
//! `event_text.rs` and `pairing.rs`.
pub mod alibaba;
pub mod biosnoop;
pub mod blkparse;
pub mod blktrace;
pub mod columns;
pub mod completed;
pub mod disksim;
pub mod disksim_validate;
pub mod etw;
pub mod event_text;
pub mod events;
pub mod fiu;
pub mod ftrace;
pub mod iolog;
pub mod iosnoop;
pub mod lined;
pub mod mqsim;
pub mod msr;
pub mod native;
pub mod pairing;
pub mod spc;
pub mod systor;
pub mod tencent;
pub mod vscsi;
pub mod vscsi_csv;

use crate::compression::Source;
use crate::devices::Devices;
use crate::error::TraceError;
use crate::format::Format;
use crate::reader::{Options, Records};
use event_text::{EventLine, EventText};
use lined::{Line, LinedReader};

/// The parser of a format with one request per line.
pub(crate) fn line_parser(format: Format) -> Option<Box<dyn Line>> {
    Some(match format {
        Format::Iolog2 => Box::new(iolog::Iolog::new(2)),
        Format::Iolog3 => Box::new(iolog::Iolog::new(3)),
        Format::Disksim => Box::new(disksim::Disksim),
        Format::DisksimValidate => Box::new(disksim_validate::DisksimValidate::default()),
        Format::Mqsim => Box::new(mqsim::Mqsim),
        Format::Msr => Box::new(msr::Msr::default()),
        Format::Systor => Box::new(systor::Systor),
        Format::Spc => Box::new(spc::Spc),
        Format::Alibaba => Box::new(alibaba::Alibaba),
        Format::Tencent => Box::new(tencent::Tencent),
        Format::VscsiCsv => Box::new(vscsi_csv::VscsiCsv),
        Format::Fiu => Box::new(fiu::Fiu::default()),
        Format::Biosnoop => Box::new(biosnoop::Biosnoop),
        Format::Iosnoop => Box::new(iosnoop::Iosnoop::default()),
        Format::Etw => Box::new(etw::Etw::default()),
        Format::Drivelab
        | Format::Blkparse
        | Format::Blktrace
        | Format::Ftrace
        | Format::Vscsi1
        | Format::Vscsi2
        | Format::Columns => return None,
    })
}

/// The parser of a format with one event of a request per line.
pub(crate) fn event_parser(format: Format, unit_ns: u64) -> Option<Box<dyn EventLine>> {
    match format {
        Format::Blkparse => Some(Box::new(blkparse::Parser { devices: Devices::default(), unit_ns })),
        Format::Ftrace => Some(Box::new(ftrace::Parser { devices: Devices::default(), unit_ns })),
        _ => None,
    }
}

/// Opens the reader of a format; only blktrace has several files.
pub(crate) fn open<'a>(
    format: Format,
    mut sources: Vec<Source<'a>>,
    options: &Options,
) -> Result<Box<dyn Records + 'a>, TraceError> {
    let unit_ns = options.unit_ns.unwrap_or(format.unit_ns());
    if format == Format::Blktrace {
        return Ok(Box::new(blktrace::Blktrace::new(sources, unit_ns)?));
    }
    let Some(source) = sources.pop() else { return Err(TraceError::Empty) };
    Ok(match format {
        Format::Drivelab => Box::new(native::Reader::new(source)?),
        Format::Columns => match options.columns {
            Some(columns) => Box::new(LinedReader::new(source, Box::new(columns.parser()), format, options)),
            None => return Err(TraceError::NoFormat(format.name().to_owned())),
        },
        Format::Vscsi1 | Format::Vscsi2 => Box::new(vscsi::Vscsi::new(source, format, unit_ns)),
        _ => match (line_parser(format), event_parser(format, unit_ns)) {
            (Some(parser), _) => Box::new(LinedReader::new(source, parser, format, options)),
            (None, Some(parser)) => Box::new(EventText::new(source, parser)),
            (None, None) => return Err(TraceError::UnknownBinary),
        },
    })
}
