//! What the tests share.
use drivelab_trace::error::TraceError;
use drivelab_trace::formats::native::Header;
use drivelab_trace::writer::RequestContext;
use drivelab_trace::{Clock, Format, Options, Reader, Record, Writer};
use drivelab_units::InFile;

/// All requests of a trace, and the reader at its end.
pub fn read_with<'a>(bytes: &'a [u8], options: &Options) -> Result<(Vec<Record>, Reader<'a>), TraceError> {
    let mut reader = Reader::open(Box::new(bytes), options)?;
    let mut found = Vec::new();
    while let Some(record) = reader.next_request()? {
        found.push(record);
    }
    Ok((found, reader))
}

/// All requests of a trace in a format that is given.
pub fn read(bytes: &[u8], format: Format) -> Result<Vec<Record>, String> {
    let options = Options { format: Some(format), ..Options::default() };
    read_with(bytes, &options).map(|(found, _)| found).map_err(|error| error.to_string())
}

/// What is said of a trace; "fine" where nothing is wrong.
pub fn message(bytes: &[u8], options: &Options) -> String {
    read_with(bytes, options).map_or_else(|error| in_file(&error), |_| "fine".to_owned())
}

/// An error as the reader of a scenario has it.
pub fn in_file(error: &TraceError) -> String {
    InFile(&error.to_string()).to_string()
}

/// Requests written in a format, devices named by `name`.
pub fn written(records: &[Record], format: Format, name: impl Fn(u32) -> String) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format, Header::plain(Clock::Relative), false).unwrap();
    for record in records {
        let device = name(record.device);
        let place = drivelab_trace::error::Place::Record(1);
        writer.write(record, &RequestContext { device: &device, clock: Clock::Relative, place }).unwrap();
    }
    assert_eq!(writer.written(), records.len() as u64);
    writer.finish().unwrap()
}
