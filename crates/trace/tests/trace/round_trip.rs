//! What is written and read again is the same, as far as the format can say it.
use crate::tools::{read, read_with, written};
use drivelab_core::command::{Attribute, Priority};
use drivelab_core::storage::Fault;
use drivelab_trace::formats::native::{Entry, Header, Injected, NativeWriter, Reader};
use drivelab_trace::{Attributes, Clock, Format, Kind, Options, Record};
use drivelab_units::{Instant, Lba, Sectors, Span};
use proptest::prelude::*;

fn kind() -> impl Strategy<Value = Kind> + Clone {
    prop::sample::select(Kind::ALL.to_vec())
}

fn attributes() -> impl Strategy<Value = Attributes> {
    let attribute = prop::sample::select(vec![
        Attribute::Simple,
        Attribute::Ordered,
        Attribute::HeadOfQueue,
        Attribute::Aca,
        Attribute::Untagged,
    ]);
    let priority = prop_oneof![
        Just(Priority::Normal),
        Just(Priority::High),
        (0..u64::MAX).prop_map(|ns| Priority::Isochronous(Span::from_ns(ns))),
        (1u8..8).prop_map(Priority::Limited),
    ];
    let numbers = any::<(u64, u64, u16, u16, u32, u8, u32)>();
    let flags = any::<(bool, bool, bool)>();
    (numbers, attribute, priority, flags).prop_map(|(numbers, attribute, priority, flags)| {
        let (id, cookie, initiator, logical_unit, tag, attempt, process) = numbers;
        let (force_unit_access, direct, synchronous) = flags;
        Attributes {
            id,
            cookie,
            initiator,
            logical_unit,
            tag,
            attribute,
            priority,
            force_unit_access,
            direct,
            attempt,
            process,
            synchronous,
        }
    })
}

/// Requests in order of time, in whole sectors; `kinds` are those that the format has.
fn requests(kinds: impl Strategy<Value = Kind> + Clone) -> impl Strategy<Value = Vec<Record>> {
    let one =
        (0u64..3_000_000_000, 0u32..3, kinds, 0u64..1 << 40, 1u64..2_048, prop::option::of(0u64..1 << 34));
    prop::collection::vec(one, 1..60).prop_map(|all| {
        let mut time = 0;
        let request = |(gap, device, kind, sector, count, response)| {
            time += gap;
            let (offset, length) = if kind == Kind::Flush { (0, 0) } else { (sector * 512, count * 512) };
            Record { response_ns: response, ..Record::new(time, device, kind, offset, length) }
        };
        all.into_iter().map(request).collect()
    })
}

fn transfers() -> impl Strategy<Value = Kind> + Clone {
    prop::sample::select(vec![Kind::Read, Kind::Write])
}

/// What comes back, the devices by the order of their first request.
fn expected(records: &[Record], change: impl Fn(u64, &Record) -> Record) -> Vec<Record> {
    let mut places: Vec<u32> = Vec::new();
    let first = records.first().map_or(0, |record| record.time_ns);
    let place = |record: &Record| {
        let known = places.iter().position(|&place| place == record.device);
        let at = known.unwrap_or_else(|| {
            places.push(record.device);
            places.len() - 1
        });
        Record { device: at as u32, ..change(record.time_ns.wrapping_sub(first), record) }
    };
    records.iter().map(place).collect()
}

fn plain(time_ns: u64, record: &Record) -> Record {
    Record::new(time_ns, record.device, record.kind, record.offset, record.length)
}

proptest! {
    #[test]
    fn disksim_and_spc_keep_times_and_addresses(records in requests(transfers())) {
        for format in [Format::Disksim, Format::Spc] {
            let text = written(&records, format, |device| device.to_string());
            prop_assert_eq!(read(&text, format).unwrap(), expected(&records, plain));
        }
    }

    #[test]
    fn msr_keeps_times_and_responses_to_100_ns(records in requests(transfers())) {
        let text = written(&records, Format::Msr, |device| format!("host.{device}"));
        let found = read(&text, Format::Msr).unwrap();
        let base = found[0].time_ns - records[0].time_ns / 100 * 100;
        let wanted = expected(&records, |_, record| Record {
            response_ns: Some(record.response_ns.unwrap_or(0) / 100 * 100),
            ..plain(base + record.time_ns / 100 * 100, record)
        });
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn iolog_keeps_all_kinds_and_times_to_its_resolution(records in requests(kind())) {
        let text = written(&records, Format::Iolog3, |device| format!("/dev/sd{device}"));
        let wanted = expected(&records, |time, record| plain(time / 1_000 * 1_000, record));
        prop_assert_eq!(read(&text, Format::Iolog3).unwrap(), wanted);
        let text = written(&records, Format::Iolog2, |device| format!("/dev/sd{device}"));
        let found = read(&text, Format::Iolog2).unwrap();
        let wanted = expected(&records, plain);
        prop_assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            // No drift: each is late by less than a wait that fio would drop.
            prop_assert!(found.time_ns <= wanted.time_ns && wanted.time_ns - found.time_ns < 101_000);
            prop_assert_eq!(found, &Record { time_ns: found.time_ns, ..*wanted });
        }
    }

    #[test]
    fn blkparse_keeps_requests_with_their_responses(
        records in requests(prop::sample::select(vec![Kind::Read, Kind::Write, Kind::Discard])),
    ) {
        // Requests with the same address cannot be told apart by their completions.
        let apart = |(at, record): (usize, &Record)| Record {
            offset: (at as u64 * 4_096 + record.offset % 512 / 512) * 512,
            ..*record
        };
        let records: Vec<Record> = records.iter().enumerate().map(apart).collect();
        let text = written(&records, Format::Blkparse, |device| format!("8,{device}"));
        let wanted = expected(&records, |time, record| Record { response_ns: record.response_ns, ..plain(time, record) });
        prop_assert_eq!(read(&text, Format::Blkparse).unwrap(), wanted);
    }

    #[test]
    fn our_own_keeps_everything(
        times in prop::collection::vec((any::<u64>(), 0u32..4, kind(), any::<u64>(), any::<u64>()), 1..80),
        more in prop::collection::vec((prop::option::of(any::<u64>()), attributes(), any::<bool>()), 80),
    ) {
        let request = |((time, device, kind, offset, length), (response_ns, attributes, is_plain)): ((_, _, _, u64, u64), _)| {
            let length = length.min(u64::MAX - offset);
            let attributes: Attributes = if is_plain { Attributes::DEFAULT } else { attributes };
            Record { response_ns, attributes, ..Record::new(time, device, kind, offset, length) }
        };
        let records: Vec<Record> = times.into_iter().zip(more).map(request).collect();
        let bytes = written(&records, Format::Drivelab, |device| format!("drive {device}"));
        let options = Options { is_lenient: true, ..Options::default() };
        let (found, reader) = read_with(&bytes, &options).unwrap();
        prop_assert_eq!(found, expected(&records, |_, record| *record));
        prop_assert_eq!(reader.records(), records.len() as u64);
    }
}

#[test]
fn our_own_keeps_header_devices_and_faults_over_many_blocks() {
    let header = Header {
        unit_ns: 1,
        clock: Clock::Unix,
        seed: Some(u64::MAX),
        device_bytes: Some(1 << 40),
        phases: vec![(0, 5_999_999), (7, 0)],
        remark: "a run of two drives".to_owned(),
    };
    let (mut out, mut writer) = (Vec::new(), NativeWriter::new(header.clone()));
    let mut entries = Vec::new();
    for number in 0..200_000u64 {
        if number % 50_000 == 0 {
            let name = format!("drive {number}");
            writer.device(&mut out, (number / 50_000) as u32, &name).unwrap();
            entries.push(Entry::Device(name));
        }
        if number % 15_000 == 1 {
            let (first, count) = (Lba::new(number), Sectors::new(1));
            let corrupt = Fault::Corrupt { drive: (number / 15_000) as u16, first, count };
            let injected = Injected::new(Instant::from_ns(number), corrupt);
            writer.inject(&mut out, injected).unwrap();
            entries.push(Entry::Injected(injected));
        }
        let record = Record::new(number * 1_000, (number / 50_000) as u32, Kind::Read, number * 4_096, 4_096);
        let context = drivelab_trace::writer::RequestContext {
            device: "named before",
            clock: Clock::Unix,
            place: drivelab_trace::error::Place::Record(1),
        };
        drivelab_trace::writer::FormatWriter::write(&mut writer, &mut out, &record, &context).unwrap();
        entries.push(Entry::Request(record));
    }
    writer.end(&mut out).unwrap();
    let mut reader = Reader::new(&out[..]).unwrap();
    assert_eq!(reader.header(), &header);
    for entry in entries {
        assert_eq!(reader.next_entry().unwrap(), Some(entry));
    }
    assert_eq!(reader.next_entry().unwrap(), None);
    // A sequential request takes three bytes beside its gap.
    assert!(out.len() < 200_000 * 4, "{} bytes", out.len());
}

#[test]
fn a_request_maps_onto_what_the_host_is_fed() {
    let attributes = Attributes { id: 9, tag: 3, process: 7, synchronous: false, ..Attributes::DEFAULT };
    let record = Record { attributes, ..Record::new(1_500, 0, Kind::Write, 1_000, 100) };
    let fed = record.fed(500).unwrap();
    assert_eq!(fed.time, Span::from_ns(1_000));
    // Bytes 1 000 to 1 100 touch sectors 1 and 2.
    assert_eq!((fed.command.first.get(), fed.command.count.get()), (1, 2));
    assert_eq!((fed.command.id, fed.command.tag, fed.command.process), (9, 3, 7));
    assert!(!fed.command.synchronous);
    assert_eq!(Record::new(0, 0, Kind::Flush, 0, 0).fed(0).unwrap().command.count.get(), 0);
    assert!(Record::new(0, 0, Kind::Discard, 0, 512).fed(0).is_none());
}

#[test]
fn waits_that_fio_would_drop_add_up() {
    let records: Vec<Record> = (0..1_000).map(|at| Record::new(at * 50_000, 0, Kind::Read, 0, 512)).collect();
    let text = written(&records, Format::Iolog2, |_| "f".to_owned());
    let found = read(&text, Format::Iolog2).unwrap();
    assert!(found.iter().zip(&records).all(|(found, record)| record.time_ns - found.time_ns < 100_000));
    assert_eq!(found[998].time_ns, 49_900_000);
    let text = String::from_utf8(text).unwrap();
    assert!(!text.lines().any(|line| line.contains(" wait 5") || line.contains(" wait 0")), "{text}");
}

#[test]
fn in_an_iolog_each_device_has_a_name_of_its_own_that_is_one_field() {
    let records: Vec<Record> =
        (0..4).map(|device| Record::new(0, device, Kind::Read, 512 * u64::from(device), 512)).collect();
    let names = ["", "a b", "a_b", "a\tb"];
    for format in [Format::Iolog2, Format::Iolog3] {
        let text = written(&records, format, |device| names[device as usize].to_owned());
        assert_eq!(read(&text, format).unwrap(), records);
    }
}
