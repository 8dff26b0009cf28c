//! Validation traces: what a line means, and what is said of each that means nothing.
use drivelab_core::Access;
use drivelab_trace::{Measured, validation};
use drivelab_units::{Lba, Sectors, Span};
use proptest::prelude::*;
use std::io::{self, Read};

const FORM: &str = "a line has R or W, Hit or Miss, LBN, sectors, service time and pause in us";

fn read(text: &str) -> Result<Vec<Measured>, String> {
    validation::read(text.as_bytes()).map_err(|error| error.to_string())
}

fn measured(access: Access, first: u64, count: u64, service_ns: u64, gap_ns: u64) -> Measured {
    let (service, gap) = (Span::from_ns(service_ns), Span::from_ns(gap_ns));
    Measured { access, first: Lba::new(first), count: Sectors::new(count), service, gap }
}

#[test]
fn a_line_is_a_request_with_its_times_to_the_nanosecond() {
    let text = "W Hit    4583176   4    663.00000  45422.00000\r\n\
                \n\
                R Trip 0 1 1958.0004 0\n\
                R Miss 25805 43 .5 20296.786638";
    assert_eq!(
        read(text),
        Ok(vec![
            measured(Access::Write, 4_583_176, 4, 663_000, 45_422_000),
            measured(Access::Read, 0, 1, 1_958_000, 0),
            measured(Access::Read, 25_805, 43, 500, 20_296_787),
        ])
    );
}

#[test]
fn what_is_no_request_is_named_with_its_line() {
    let good = "R Hit 8 8 1000.0 5\n";
    for (line, message) in [
        ("R Hit 8 8 1000.0", "5 fields, and a request has 6"),
        ("R Hit 8 8 1000.0 5 5", "7 fields, and a request has 6"),
        ("r Hit 8 8 1000.0 5", "\"r\" is not R or W"),
        ("R Hot 8 8 1000.0 5", "\"Hot\" is not Hit, Miss, Doub or Trip"),
        ("R Hit -8 8 1000.0 5", "\"-8\" is not an address in sectors"),
        ("R Hit +8 8 1000.0 5", "\"+8\" is not an address in sectors"),
        ("R Hit 8 8.0 1000.0 5", "\"8.0\" is not a number of sectors"),
        ("R Hit 8 0 1000.0 5", "\"0\" is not a number of sectors above zero"),
        ("R Hit 1152921504606846976 1 1000.0 5", "the request reaches beyond any drive"),
        ("R Hit 18446744073709551615 1 1000.0 5", "the request reaches beyond any drive"),
        ("R Hit 8 8 nan 5", "\"nan\" is not a time in microseconds"),
        ("R Hit 8 8 1e3 5", "\"1e3\" is not a time in microseconds"),
        ("R Hit 8 8 1_0 5", "\"1_0\" is not a time in microseconds"),
        ("R Hit 8 8 1000.0 -5", "\"-5\" is not a time in microseconds"),
        ("R Hit 8 8 1000.0 70000000000000", "\"70000000000000\" is not a time in microseconds"),
    ] {
        assert_eq!(read(&format!("{good}\n{line}\n{good}")), Err(format!("line 3: {message}; {FORM}")));
    }
    assert_eq!(read(" \n\n"), Err("there is no request in it".to_owned()));
}

#[test]
fn what_is_no_text_at_all_is_not_read_to_its_end() {
    let endless = validation::read(io::repeat(b' ')).unwrap_err();
    assert_eq!(endless.to_string(), format!("line 1: longer than 4096 bytes: this is no trace; {FORM}"));
    let binary = validation::read(&b"R Hit 8 8 1 1\n\xff\n"[..]).unwrap_err();
    assert_eq!(binary.to_string(), format!("line 2: not UTF-8 text: this is no trace; {FORM}"));
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is on fire"))
        }
    }
    assert_eq!(validation::read(Broken).unwrap_err().to_string(), "the disk is on fire");
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        lines in prop::collection::vec((any::<bool>(), 0..4usize, 0u64..1 << 50, 1u64..1 << 20, 0u64..1 << 40, 0u64..1 << 40), 1..40),
    ) {
        let (mut text, mut written) = (String::new(), Vec::new());
        for (is_read, tag, first, count, service, gap) in lines {
            let (access, kind) = if is_read { (Access::Read, 'R') } else { (Access::Write, 'W') };
            let tag = ["Hit", "Miss", "Doub", "Trip"][tag];
            let us = |ns: u64| format!("{}.{:03}", ns / 1_000, ns % 1_000);
            text.push_str(&format!("{kind} {tag} {first} {count} {} {}\n", us(service), us(gap)));
            written.push(measured(access, first, count, service, gap));
        }
        prop_assert_eq!(read(&text), Ok(written));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[RW ]?.{0,60}\n?[0-9. ]{0,60}") {
        let _ = read(&text);
    }
}
