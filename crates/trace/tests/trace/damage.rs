//! Damaged traces, and bytes that are none: every reader ends, with an error or without, and panics at nothing.
use crate::formats as texts;
use crate::pairs::{COMPLETE_WRITE, QUEUE_WRITE, raw};
use crate::tools::{read_with, written};
use crate::tracers;
use drivelab_trace::survey::Survey;
use drivelab_trace::{Format, Kind, Options, Reader, Record};
use proptest::prelude::*;

/// A sound trace of every format.
fn sound(format: Format) -> Vec<u8> {
    let records: Vec<Record> =
        (0..40).map(|at| Record::new(at * 1_000_000, at as u32 % 3, Kind::Read, at * 8_192, 4_096)).collect();
    match format {
        Format::Drivelab | Format::Disksim => written(&records, format, |device| device.to_string()),
        Format::Iolog2 => texts::IOLOG2.into(),
        Format::Iolog3 => texts::IOLOG3.into(),
        Format::Blkparse => texts::BLKPARSE.into(),
        Format::Blktrace => [
            raw(true, 1_000, 8, 4_096, QUEUE_WRITE, b"data"),
            raw(true, 2_000, 8, 4_096, COMPLETE_WRITE, b""),
            raw(true, 3_000, 64, 4_096, QUEUE_WRITE, b""),
        ]
        .concat(),
        Format::DisksimValidate => texts::VALIDATE.into(),
        Format::Mqsim => "938513000 4 264719034 16 0\n938828000 3 197570570 16 1\n".into(),
        Format::Msr => texts::MSR.into(),
        Format::Systor => texts::SYSTOR.into(),
        Format::Spc => texts::SPC.into(),
        Format::Alibaba => texts::ALIBABA.into(),
        Format::Tencent => texts::TENCENT.into(),
        Format::VscsiCsv => texts::VSCSI_CSV.into(),
        Format::Fiu => tracers::FIU.into(),
        Format::Biosnoop => tracers::BIOSNOOP.into(),
        Format::Iosnoop => tracers::IOSNOOP.into(),
        Format::Ftrace => tracers::FTRACE.into(),
        Format::Etw => tracers::ETW.into(),
        Format::Columns => crate::described::TEXT.into(),
        Format::Vscsi1 => [texts::vscsi(1, 0x28, 512, 8, 5), texts::vscsi(1, 0x2a, 512, 8, 9)].concat(),
        Format::Vscsi2 => [texts::vscsi(2, 0x28, 512, 8, 5), texts::vscsi(2, 0x2a, 512, 8, 9)].concat(),
    }
}

/// Reads and surveys to the end; how many requests there were.
fn survived(bytes: &[u8], options: &Options) -> u64 {
    let Ok(mut reader) = Reader::open(Box::new(bytes), options) else { return 0 };
    let mut survey = Survey::default();
    while let Ok(Some(record)) = reader.next_request() {
        survey.take(&record);
    }
    let _ = survey.report(&reader);
    survey.requests()
}

fn all_ways(bytes: &[u8], format: Option<Format>) {
    for (is_lenient, is_sorted) in [(false, false), (true, false), (true, true)] {
        let options = Options { format, is_lenient, is_sorted, ..Options::default() };
        // No format has a request in fewer than three bytes.
        assert!(survived(bytes, &options) <= bytes.len() as u64 / 3 + 1);
    }
}

#[test]
fn sound_traces_are_sound() {
    for format in Format::ALL {
        let options = Options { format: Some(format), ..Options::default() };
        let bytes = sound(format);
        assert!(!read_with(&bytes, &options).unwrap().0.is_empty(), "{}", format.name());
        assert!(survived(&bytes, &options) > 0);
    }
}

#[test]
fn every_cut_of_every_format_is_survived() {
    for format in Format::ALL {
        let bytes = sound(format);
        for length in 0..bytes.len() {
            all_ways(&bytes[..length], Some(format));
            all_ways(&bytes[..length], None);
        }
    }
}

#[test]
fn damage_to_our_own_is_always_noticed() {
    let bytes = sound(Format::Drivelab);
    let options = Options { format: Some(Format::Drivelab), ..Options::default() };
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert!(read_with(&damaged, &options).is_err(), "bit {bit} of byte {at}");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        all_ways(&bytes, None);
        for format in Format::ALL {
            all_ways(&bytes, Some(format));
        }
    }

    #[test]
    fn changed_bytes_are_survived(
        format in prop::sample::select(Format::ALL.to_vec()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..12),
    ) {
        let mut bytes = sound(format);
        for (at, byte, what) in changes {
            let at = at.index(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
            match what {
                0 if !bytes.is_empty() => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ if !bytes.is_empty() => { bytes.remove(at); }
                _ => {}
            }
        }
        all_ways(&bytes, Some(format));
        all_ways(&bytes, None);
    }

    #[test]
    fn digits_that_grow_are_survived(
        format in prop::sample::select(Format::ALL.to_vec()),
        at in any::<prop::sample::Index>(),
        digits in "[0-9]{1,30}|-[0-9]{1,5}|\\.|,,|\u{e4}",
    ) {
        let mut bytes = sound(format);
        let at = at.index(bytes.len());
        bytes.splice(at..at, digits.bytes());
        all_ways(&bytes, Some(format));
    }

    #[test]
    fn packed_damage_is_survived(
        which in 0usize..3,
        rest in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let magic: [&[u8]; 3] = [&[0x1f, 0x8b, 8, 0], &[0x28, 0xb5, 0x2f, 0xfd], b"BZh9"];
        let bytes = [magic[which], &rest].concat();
        all_ways(&bytes, Some(Format::Spc));
    }
}

#[test]
fn a_block_that_is_missing_is_noticed() {
    let records: Vec<Record> =
        (0..100_000).map(|at| Record::new(at, 0, Kind::Read, at * at % 1_000_003 * 512, 512)).collect();
    let mut bytes = written(&records, Format::Drivelab, |_| "x".to_owned());
    let long = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    // Behind magic, version and header the first block, with the device, and the second.
    let first = 14 + long(&bytes, 10) + 4;
    let second = first + 12 + long(&bytes, first);
    let third = second + 12 + long(&bytes, second);
    assert!(third + 100 < bytes.len());
    bytes.drain(second..third);
    let options = Options { format: Some(Format::Drivelab), ..Options::default() };
    let error = read_with(&bytes, &options).err().unwrap().to_string();
    assert!(error.ends_with("entries are missing"), "{error}");
}
