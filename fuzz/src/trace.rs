//! Recorded traces, one fuzzer for each format and one for the detection of the format: read, surveyed, and
//! written again.
use drivelab_trace::copy::{Failure, copy};
use drivelab_trace::merge::{Align, Merge};
use drivelab_trace::shape::Shape;
use drivelab_trace::survey::Survey;
use drivelab_trace::{Format, Options, Reader, TraceError};

/// A trace whose format is to be detected.
pub fn found(bytes: &[u8]) {
    survey(bytes, None);
}

/// A trace of a given format, an index into [`Format::ALL`]. What can be read without a problem and written
/// in some format is a trace of that format without a problem, and is rewritten identically.
pub fn of<const FORMAT: usize>(bytes: &[u8]) {
    let format = Format::ALL[FORMAT];
    survey(bytes, Some(format));
    for to in Format::WRITTEN {
        let Ok(written) = converted(bytes, format, to) else { continue };
        let name = to.name();
        let text = || String::from_utf8_lossy(&written).into_owned();
        match converted(&written, to, to) {
            Ok(again) => {
                assert!(again == written, "read again, {name} is written in another way:\n{}", text());
            }
            Err(error) => panic!("what is written as {name} cannot be read: {error}:\n{}", text()),
        }
    }
}

/// Reads and surveys to the end, strictly, leniently, and sorted.
fn survey(bytes: &[u8], format: Option<Format>) {
    for (is_lenient, is_sorted) in [(false, false), (true, false), (true, true)] {
        let options = Options { format, is_lenient, is_sorted, ..Options::default() };
        let Ok(mut reader) = Reader::open(Box::new(bytes), &options) else { continue };
        let mut survey = Survey::default();
        while let Ok(Some(record)) = reader.next_request() {
            survey.take(&record);
        }
        let _ = survey.report(&reader);
    }
}

/// The trace in another format; an error if it has a problem, or a request that the format cannot represent.
fn converted(bytes: &[u8], from: Format, to: Format) -> Result<Vec<u8>, TraceError> {
    let options = Options { format: Some(from), ..Options::default() };
    let reader = Reader::open(Box::new(bytes), &options)?;
    let mut merge = Merge::new(vec![reader], Align::Clock)?;
    match copy(&mut merge, (Vec::new(), to), Shape::default(), false, &mut |_| true) {
        Ok((_, written)) => Ok(written),
        Err(Failure::Reading(_, error) | Failure::Writing(error)) => Err(error),
        Err(Failure::Stopped) => unreachable!("it always goes on"),
    }
}
