//! Reads a trace from memory again and again, and prints how many records that were: what a shell's `time` divides by.
//!
//! `count FILE TIMES [FORMAT] [survey]`; with `survey`, everything that `drivelab trace info` counts is counted. `count FILE
//! TIMES lines` only counts the ends of its lines: what any reader of text takes at least.
use drivelab_trace::survey::Survey;
use drivelab_trace::{Format, Options, Reader};
use std::error::Error;

#[expect(clippy::print_stdout, reason = "it is what the program is for")]
fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(words.get(1).ok_or("count FILE TIMES [FORMAT] [survey]")?)?;
    let times: u64 = words.get(2).map_or(Ok(1), |word| word.parse())?;
    if words.get(3).is_some_and(|word| word == "lines") {
        let lines: usize = (0..times).map(|_| ends(std::hint::black_box(&bytes))).sum();
        println!("{lines} lines");
        return Ok(());
    }
    let format = words.get(3).and_then(|name| Format::named(name));
    let is_surveyed = words.iter().any(|word| word == "survey");
    let options = Options { format, is_lenient: true, ..Options::default() };
    let (mut records, mut requests) = (0, 0);
    for _ in 0..times {
        let mut reader = Reader::open(Box::new(&bytes[..]), &options)?;
        let mut survey = Survey::default();
        while let Some(record) = reader.next_request()? {
            requests += 1;
            if is_surveyed {
                survey.take(&record);
            }
        }
        records += reader.records();
    }
    println!("{records} records, {requests} requests");
    Ok(())
}

/// How many lines end in these bytes.
fn ends(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}
