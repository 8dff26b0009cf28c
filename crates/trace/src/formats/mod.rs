//! One file per format; common code is in `text.rs` and, for block layer events, in `events.rs` and `pairing.rs`.
pub mod alibaba;
pub mod blkparse;
pub mod blktrace;
pub mod disksim;
pub mod disksim_validate;
pub mod events;
pub mod iolog;
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
use crate::error::TraceError;
use crate::format::Format;
use crate::reader::{Options, Records};
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
        Format::Drivelab | Format::Blkparse | Format::Blktrace | Format::Vscsi1 | Format::Vscsi2 => {
            return None;
        }
    })
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
        Format::Blkparse => Box::new(blkparse::Blkparse::new(source, unit_ns)),
        Format::Vscsi1 | Format::Vscsi2 => Box::new(vscsi::Vscsi::new(source, format, unit_ns)),
        _ => match line_parser(format) {
            Some(parser) => Box::new(LinedReader::new(source, parser, format, options)),
            None => return Err(TraceError::UnknownBinary),
        },
    })
}
