//! Windows, speeds, devices and sizes; several traces as one.
use drivelab_core::storage::Fault;
use drivelab_trace::copy::{Failure, copy};
use drivelab_trace::error::Place;
use drivelab_trace::formats::native::{self, Entry, Header, Injected, NativeWriter};
use drivelab_trace::merge::{Align, Merge};
use drivelab_trace::shape::{Remap, Shape, Shaped, Shaper};
use drivelab_trace::writer::{FormatWriter, RequestContext};
use drivelab_trace::{Clock, Format, Kind, Options, Reader, Record};
use drivelab_units::Instant;
use proptest::prelude::*;

fn at(time_ns: u64, offset: u64) -> Record {
    Record::new(time_ns, 0, Kind::Read, offset, 4_096)
}

fn shaped(shape: Shape, records: &[Record]) -> Vec<Record> {
    let mut shaper = Shaper::new(shape, true).unwrap();
    let mut found = Vec::new();
    for record in records {
        match shaper.take(record, if record.device == 0 { "sda" } else { "sdb" }) {
            Shaped::Kept(record) => found.push(record),
            Shaped::Dropped | Shaped::LeftOut => {}
            Shaped::Over => break,
        }
    }
    found
}

#[test]
fn windows_are_of_requests_or_of_time() {
    let records: Vec<Record> = (0..10).map(|n| at(1_000 + n * 100, n * 4_096)).collect();
    let of = |shape| shaped(shape, &records);
    assert_eq!(of(Shape { skip: 3, count: Some(2), ..Shape::default() }), records[3..5]);
    assert_eq!(of(Shape { from_ns: 200, until_ns: Some(500), ..Shape::default() }), records[2..5]);
    let both: Vec<Record> =
        records.iter().map(|record| Record { device: record.time_ns as u32 / 100 % 2, ..*record }).collect();
    let shape = Shape { device: Some("sdb".to_owned()), skip: 1, ..Shape::default() };
    assert_eq!(shaped(shape, &both), [both[3], both[5], both[7], both[9]]);
    let mut shaper = Shaper::new(Shape { count: Some(1), ..Shape::default() }, true).unwrap();
    assert_eq!(shaper.take(&records[0], "sda"), Shaped::Kept(records[0]));
    assert_eq!(shaper.take(&records[1], "sda"), Shaped::Over);
}

#[test]
fn time_is_scaled_from_the_first_request_and_responses_stay() {
    let record = Record { response_ns: Some(7), ..at(2_000, 0) };
    let found = shaped(Shape { scale_time: (3, 2), ..Shape::default() }, &[at(1_000, 0), record]);
    assert_eq!((found[0].time_ns, found[1].time_ns, found[1].response_ns), (1_000, 2_500, Some(7)));
}

#[test]
fn a_request_that_is_empty_or_too_large_is_left_out() {
    let shape = Shape { remap: Some(Remap::Wrap { to_bytes: 2_048 }), ..Shape::default() };
    let mut shaper = Shaper::new(shape, true).unwrap();
    assert_eq!(shaper.take(&at(0, 0), "sda"), Shaped::LeftOut);
    assert_eq!(shaper.take(&Record { length: 0, ..at(0, 0) }, "sda"), Shaped::LeftOut);
    let flush = Record::new(0, 0, Kind::Flush, 0, 0);
    assert_eq!(shaper.take(&flush, "sda"), Shaped::Kept(flush));
}

proptest! {
    #[test]
    fn remapped_requests_lie_on_the_device(
        offset in 0u64..1 << 50,
        sectors in 1u64..64,
        to in 64u64..1 << 30,
        from in 1u64..1 << 50,
        is_wrapped in any::<bool>(),
    ) {
        let to_bytes = to * 512;
        let remap = if is_wrapped { Remap::Wrap { to_bytes } } else { Remap::Scale { from_bytes: from, to_bytes } };
        let record = Record { length: sectors * 512, ..at(0, offset / 512 * 512) };
        let found = shaped(Shape { remap: Some(remap), ..Shape::default() }, &[record]);
        prop_assert_eq!(found.len(), 1);
        prop_assert!(found[0].end() <= to_bytes && found[0].offset.is_multiple_of(512));
        prop_assert_eq!(found[0].length, record.length);
    }

    #[test]
    fn wrapping_keeps_distances_and_scaling_keeps_shares(first in 0u64..1 << 30, second in 0u64..1 << 30) {
        let records = [at(0, first * 512), at(1, second * 512)];
        let to_bytes = 1 << 45;
        let wrap = Shape { remap: Some(Remap::Wrap { to_bytes }), ..Shape::default() };
        prop_assert_eq!(shaped(wrap, &records), records);
        let scale = Shape { remap: Some(Remap::Scale { from_bytes: 1 << 40, to_bytes: 1 << 39 }), ..Shape::default() };
        let found = shaped(scale, &records);
        for (found, record) in found.iter().zip(&records) {
            prop_assert!(found.offset.abs_diff(record.offset / 2) < 512);
        }
    }
}

fn merged(align: Align) -> Vec<(u64, String)> {
    let options = Options { format: Some(Format::Spc), ..Options::default() };
    let texts = ["0,0,512,R,5\n0,8,512,R,7\n", "0,0,512,W,6\n1,8,512,W,6.5\n"];
    let readers = texts.map(|text| Reader::open(Box::new(text.as_bytes()), &options).unwrap());
    let mut merge = Merge::new(readers.into(), align).unwrap();
    let mut found = Vec::new();
    while let Some((_, record)) = merge.next_request().unwrap() {
        found.push((record.time_ns / 100_000_000, merge.name(record.device).to_owned()));
    }
    found
}

#[test]
fn merged_traces_keep_their_devices_apart() {
    let named =
        |all: &[(u64, &str)]| all.iter().map(|(time, name)| (*time, (*name).to_owned())).collect::<Vec<_>>();
    assert_eq!(merged(Align::Clock), named(&[(50, "1:0"), (60, "2:0"), (65, "2:1"), (70, "1:0")]));
    assert_eq!(merged(Align::Start), named(&[(0, "1:0"), (0, "2:0"), (5, "2:1"), (20, "1:0")]));
}

#[test]
fn a_copy_of_our_own_keeps_the_seed_and_counts_what_it_leaves_out() {
    let header = Header {
        unit_ns: 1,
        clock: Clock::Relative,
        seed: Some(7),
        device_bytes: Some(1 << 30),
        phases: vec![(0, 5)],
        remark: "of a run".to_owned(),
    };
    let (mut bytes, mut writer) = (Vec::new(), NativeWriter::new(header.clone()));
    let context = RequestContext { device: "a", clock: Clock::Relative, place: Place::Record(1) };
    let empty = Record { length: 0, ..at(2, 0) };
    for record in [at(1, 0), empty, at(3, 4_096)] {
        FormatWriter::write(&mut writer, &mut bytes, &record, &context).unwrap();
    }
    writer.inject(&mut bytes, Injected::new(Instant::from_ns(4), Fault::CutPower)).unwrap();
    writer.end(&mut bytes).unwrap();
    let copied = |is_lenient, shape| {
        let options = Options { is_lenient, ..Options::default() };
        let mut merge =
            Merge::new(vec![Reader::open(Box::new(&bytes[..]), &options).unwrap()], Align::Clock).unwrap();
        copy(&mut merge, (Vec::new(), Format::Drivelab), shape, is_lenient, &mut |_| true)
    };
    let (found, out) = copied(true, Shape::default()).ok().unwrap();
    assert_eq!((found.read, found.written, found.left_out), (3, 2, 1));
    assert_eq!((found.injected, found.injected_left_out), (1, 0));
    let mut kept = native::Reader::new(&out[..]).unwrap();
    let entries = std::iter::from_fn(|| kept.next_entry().unwrap());
    let faults: Vec<u64> = entries
        .filter_map(|entry| if let Entry::Injected(fault) = entry { Some(fault.time_ns) } else { None })
        .collect();
    assert_eq!(faults, [4]);
    assert_eq!(found.problems, [("zero-size", 1, 3)]);
    assert_eq!(native::Reader::new(&out[..]).unwrap().header(), &header);
    let remap = Some(Remap::Wrap { to_bytes: 1 << 20 });
    let (found, out) = copied(true, Shape { remap, ..Shape::default() }).ok().unwrap();
    assert_eq!((found.injected, found.injected_left_out), (0, 1), "a fault has an address on the old drive");
    assert_eq!(native::Reader::new(&out[..]).unwrap().header().device_bytes, None);
    let (_, out) = copied(true, Shape { skip: 1, ..Shape::default() }).ok().unwrap();
    assert_eq!(
        native::Reader::new(&out[..]).unwrap().header().seed,
        None,
        "a part is no run that could be repeated"
    );
    let Err(Failure::Reading(0, error)) = copied(false, Shape::default()) else { panic!("it is strict") };
    assert!(error.to_string().starts_with("record 3: a read or write of no bytes"), "{error}");
}

/// A copy of two requests of 4 KiB, of the devices 0 and 1.
fn copied(shape: Shape, is_lenient: bool) -> Result<u64, String> {
    let text = b"0,8,4096,W,0.0\n1,16,4096,R,1.0\n";
    let reader = Reader::open(Box::new(&text[..]), &Options::default()).unwrap();
    let mut merge = Merge::new(vec![reader], Align::Clock).unwrap();
    match copy(&mut merge, (Vec::new(), Format::Spc), shape, is_lenient, &mut |_| true) {
        Ok((found, _)) => Ok(found.left_out),
        Err(Failure::Reading(_, error) | Failure::Writing(error)) => Err(crate::tools::in_file(&error)),
        Err(Failure::Stopped) => panic!("nobody stops it"),
    }
}

#[test]
fn a_request_larger_than_the_new_device_is_reported_with_both_sizes() {
    let shape = Shape { remap: Some(Remap::Wrap { to_bytes: 2_048 }), ..Shape::default() };
    let error = copied(shape.clone(), false).unwrap_err();
    let expected = "line 1: the request has 4096 bytes, and the new device only 2048; give a larger capacity";
    assert!(error.starts_with(expected), "{error}");
    assert_eq!(copied(shape, true), Ok(2));
}

#[test]
fn a_device_without_requests_is_reported_with_those_that_there_are() {
    let shape = |device: &str| Shape { device: Some(device.to_owned()), ..Shape::default() };
    let expected = "device = 2: there is no such device; the trace has \"0\", \"1\"";
    assert_eq!(copied(shape("2"), false), Err(expected.to_owned()));
    assert_eq!(copied(shape("1"), false), Ok(0));
    let early = Shape { until_ns: Some(1), ..shape("1") };
    assert_eq!(copied(early, false), Ok(0), "a window has nothing of it, and the trace has it");
}
