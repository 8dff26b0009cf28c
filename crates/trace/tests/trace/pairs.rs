//! Events in pairs: merged, split, unpaired, without a Q; the files of several processors.
use crate::tools::{message, read};
use drivelab_trace::{Format, Kind, Options, Reader, Record};

/// A text of blkparse: (microseconds, action, flags, sector, sectors).
fn text(events: &[(u64, char, &str, u64, u64)]) -> String {
    let line = |(us, action, flags, sector, count): &(u64, char, &str, u64, u64)| {
        format!("8,0 0 1 0.{:09} 42 {action} {flags} {sector} + {count} [x]\n", us * 1_000)
    };
    events.iter().map(line).collect()
}

fn responses(events: &[(u64, char, &str, u64, u64)]) -> Vec<(u64, Option<u64>)> {
    let found = read(text(events).as_bytes(), Format::Blkparse).unwrap();
    found.iter().map(|record| (record.time_ns / 1_000, record.response_ns.map(|ns| ns / 1_000))).collect()
}

#[test]
fn requests_that_were_merged_complete_together() {
    let events = [
        (10, 'Q', "R", 8, 8),
        (20, 'Q', "R", 16, 8),
        (25, 'M', "R", 16, 8),
        (30, 'D', "R", 8, 16),
        (90, 'C', "R", 8, 16),
    ];
    assert_eq!(responses(&events), [(10, Some(80)), (20, Some(70))]);
}

#[test]
fn a_request_that_was_split_completes_with_its_last_part() {
    let events = [
        (10, 'Q', "W", 8, 32),
        (20, 'D', "W", 8, 16),
        (21, 'D', "W", 24, 16),
        (50, 'C', "W", 24, 16),
        (70, 'C', "W", 8, 16),
    ];
    assert_eq!(responses(&events), [(10, Some(60))]);
}

#[test]
fn without_a_queue_event_a_request_begins_as_it_is_issued() {
    let events = [(10, 'D', "W", 8, 8), (11, 'D', "R", 8, 8), (30, 'C', "W", 8, 8), (31, 'C', "R", 64, 8)];
    assert_eq!(responses(&events), [(10, Some(20)), (11, None)]);
    // A completion of what began before the trace is no request.
    assert_eq!(responses(&[(1, 'C', "R", 0, 8), (2, 'Q', "R", 0, 8)]), [(2, None)]);
    assert_eq!(message(text(&[(1, 'C', "R", 0, 8)]).as_bytes(), &Options::default()), "fine");
}

#[test]
fn the_oldest_of_equal_requests_completes_first() {
    let events = [
        (10, 'Q', "R", 8, 8),
        (20, 'Q', "R", 8, 8),
        (25, 'Q', "R", 8, 16),
        (30, 'C', "R", 8, 8),
        (50, 'C', "R", 8, 8),
        (60, 'C', "R", 8, 16),
    ];
    assert_eq!(responses(&events), [(10, Some(20)), (20, Some(30)), (25, Some(35))]);
}

/// A record of blktrace, of version 7.
pub fn raw(little: bool, time: u64, sector: u64, bytes: u32, action: u32, data: &[u8]) -> Vec<u8> {
    let word = |value: u32| if little { value.to_le_bytes() } else { value.to_be_bytes() };
    let long = |value: u64| if little { value.to_le_bytes() } else { value.to_be_bytes() };
    let short = |value: u16| if little { value.to_le_bytes() } else { value.to_be_bytes() };
    let mut out = Vec::new();
    out.extend(word(0x6561_7407));
    out.extend(word(1));
    out.extend(long(time));
    out.extend(long(sector));
    [bytes, action, 99, 8 << 20 | 16, 0].into_iter().for_each(|value| out.extend(word(value)));
    out.extend(short(0));
    out.extend(short(data.len() as u16));
    out.extend(data);
    out
}

pub const QUEUE_WRITE: u32 = 2 << 16 | 1;
pub const COMPLETE_WRITE: u32 = 2 << 16 | 8;

#[test]
fn files_of_several_processors_are_one_trace_in_either_byte_order() {
    for little in [true, false] {
        let notify = raw(little, 0, 0, 0, 1 << 26, b"kworker/0:1H\0\0\0\0");
        let first = [
            notify,
            raw(little, 1_000, 8, 4_096, QUEUE_WRITE, b""),
            raw(little, 3_000, 64, 512, QUEUE_WRITE, b""),
        ]
        .concat();
        let second = [
            raw(little, 2_000, 32, 512, QUEUE_WRITE, b""),
            raw(little, 5_000, 8, 4_096, COMPLETE_WRITE, b""),
        ]
        .concat();
        let mut reader =
            Reader::open_blktrace(vec![Box::new(&second[..]), Box::new(&first[..])], &Options::default())
                .unwrap();
        let mut found = Vec::<Record>::new();
        while let Some(record) = reader.next_request().unwrap() {
            found.push(record);
        }
        let times: Vec<u64> = found.iter().map(|record| record.time_ns).collect();
        assert_eq!(times, [1_000, 2_000, 3_000]);
        assert_eq!(
            (found[0].response_ns, found[0].kind, found[0].attributes.process),
            (Some(4_000), Kind::Write, 99)
        );
        assert_eq!((reader.records(), reader.devices().names()), (5, &["8,16".to_owned()][..]));
    }
}

#[test]
fn a_file_that_ends_within_a_record_is_reported() {
    let whole = [raw(true, 1, 8, 512, QUEUE_WRITE, b""), raw(true, 2, 8, 512, COMPLETE_WRITE, b"")].concat();
    let cut = &whole[..whole.len() - 1];
    assert!(message(cut, &Options::default()).contains("the file ends within a record; lenient"));
    let options = Options { is_lenient: true, ..Options::default() };
    assert_eq!(message(cut, &options), "fine");
    assert_eq!(message(&whole, &Options::default()), "fine");
}
