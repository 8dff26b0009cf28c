//! Memory stays flat: a trace of five million records from a stream, counted in every way, in its own process.
use drivelab_trace::survey::Survey;
use drivelab_trace::{Format, Options, Reader};
use std::io::{self, Read, Write};

const RECORDS: u64 = 2_000_000;

/// Makes the text as it is read.
struct Made {
    next: u64,
    text: Vec<u8>,
    at: usize,
}

impl Read for Made {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() {
            self.text.clear();
            self.at = 0;
            for _ in 0..1_000.min(RECORDS - self.next) {
                let number = self.next;
                // All over 8 TB, so that no block comes twice: the working set is larger than what is tracked.
                let block = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 34 << 3;
                let kind = if number.is_multiple_of(3) { 'W' } else { 'R' };
                let (s, us) = (number / 10_000, number % 10_000 * 100);
                writeln!(self.text, "{},{block},4096,{kind},{s}.{us:06}", number % 100)?;
                self.next += 1;
            }
        }
        let read = bytes.len().min(self.text.len() - self.at);
        bytes[..read].copy_from_slice(&self.text[self.at..self.at + read]);
        self.at += read;
        Ok(read)
    }
}

/// The most memory that this process has held, in MiB; none where the system does not tell.
fn most_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1_024)
}

#[test]
fn two_million_records_take_no_more_memory_than_the_tables_have_room_for() {
    let before = most_mib();
    let made = Made { next: 0, text: Vec::new(), at: 0 };
    let options = Options { format: Some(Format::Spc), is_sorted: true, ..Options::default() };
    let mut reader = Reader::open(Box::new(made), &options).unwrap();
    let mut survey = Survey::default();
    while let Some(record) = reader.next_request().unwrap() {
        survey.take(&record);
    }
    assert_eq!((survey.requests(), reader.records()), (RECORDS, RECORDS));
    assert!(survey.report(&reader).is_ok());
    let (Some(before), Some(after)) = (before, most_mib()) else {
        println!("skipped: this system has no /proc/self/status");
        return;
    };
    // The text has 60 MB, its records 200 MB.
    println!("{} MiB more", after - before);
    assert!(after - before < 100, "{before} MiB, then {after}");
}
