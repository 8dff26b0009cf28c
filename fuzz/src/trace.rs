//! Recorded traces: the first byte says in which format the rest is read, or that it is to be found.
use drivelab_trace::survey::Survey;
use drivelab_trace::{Format, Options, Reader};

/// Reads and surveys to the end, strictly, leniently, and sorted.
pub fn trace(bytes: &[u8]) {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let format = Format::ALL.get(usize::from(first)).copied();
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
