//! Texts whose columns are described: units, separators, titles, and what a description lacks.
use crate::tools::{in_file, message, read_with};
use drivelab_trace::formats::columns::Columns;
use drivelab_trace::{Format, Kind, Options, Record};
use proptest::prelude::*;
use std::fmt::Write;

const ALL: &str = "time:ms,offset:bytes,size:sectors,op,device,response:us,-";
pub const TEXT: &str = "0.5,4096,8,R,sda,250,x\n1.5,0x2000,16,write,sdb,-,y\n";

pub fn described(columns: &str) -> Options {
    Options { columns: Some(Columns::parse(columns).unwrap()), ..Options::default() }
}

fn responding(record: Record, response_ns: u64) -> Record {
    Record { response_ns: Some(response_ns), ..record }
}

#[test]
fn columns_have_their_units() {
    let expected = [
        responding(Record::new(500_000, 0, Kind::Read, 4_096, 4_096), 250_000),
        Record::new(1_500_000, 1, Kind::Write, 8_192, 8_192),
    ];
    let tabs = TEXT.replace(',', "\t");
    let blanks = TEXT.replace(',', "   ");
    let spaced = TEXT.replace(',', " , ");
    for text in [TEXT, &tabs, &blanks, &spaced] {
        let (found, reader) = read_with(text.as_bytes(), &described(ALL)).unwrap();
        assert_eq!((found.as_slice(), reader.format()), (&expected[..], Format::Columns), "{text}");
        assert_eq!(reader.devices().names(), ["sda", "sdb"]);
    }
    let first = |columns: &str, text: &str| read_with(text.as_bytes(), &described(columns)).unwrap().0[0];
    for (unit, ns) in [("s", 3_000_000_000), ("ms", 3_000_000), ("us", 3_000), ("ns", 3), ("100ns", 300)] {
        assert_eq!(first(&format!("time:{unit},offset:bytes,size:bytes,op"), "3 0 512 R\n").time_ns, ns);
    }
    for (unit, bytes) in [("bytes", 512), ("sectors", 512 * 512), ("KiB", 512 * 1_024), ("4KiB", 512 * 4_096)]
    {
        let found = first(&format!("op,size:{unit},offset:{unit},time:s"), "W 512 512 0\n");
        assert_eq!((found.offset, found.length), (bytes, bytes));
    }
    let kind = |columns: &str, op: &str| first(columns, &format!("0 0 512 {op}\n")).kind;
    let plain = "time:s,offset:bytes,size:bytes,op";
    for (op, expected) in [
        ("READ", Kind::Read),
        ("w", Kind::Write),
        ("WS", Kind::Write),
        ("RA", Kind::Read),
        ("trim", Kind::Discard),
        ("DS", Kind::Discard),
        ("flush", Kind::Flush),
    ] {
        assert_eq!(kind(plain, op), expected, "{op}");
    }
    let flagged = |read: u8| format!("{plain}:{read}");
    assert_eq!((kind(&flagged(0), "0"), kind(&flagged(1), "0")), (Kind::Read, Kind::Write));
}

#[test]
fn titles_are_skipped_where_they_are_titles() {
    let titled = |titles: &str| format!("{titles}{TEXT}");
    for titles in ["# made by hand\n", "t,at,n,what,disk,r,note\n", "#t\nt,at,n,what,disk,r,note\n\n"] {
        let text = titled(titles);
        let (found, reader) = read_with(text.as_bytes(), &described(ALL)).unwrap();
        assert_eq!((found.len(), reader.records()), (2, 2), "{titles}");
    }
    for (line, expected) in [
        ("t,at\n", "line 1: 2 fields, and a request has 7"),
        ("0.5,at,n,R,sda,1,x\n", "line 1: \"at\" is not an address"),
        ("0.5,1,8,X,sda,1,x\n", "line 1: \"X\" is not an operation such as R, W, read or write"),
    ] {
        let text = message(titled(line).as_bytes(), &described(ALL));
        assert!(text.starts_with(expected), "{line}: {text}");
        assert!(
            text.contains("columns describes every column, with - for one that does not matter"),
            "{text}"
        );
    }
    // Behind the first request, nothing is a title.
    let text = message(format!("{TEXT}t,at,n,what,disk,r,note\n").as_bytes(), &described(ALL));
    assert!(text.starts_with("line 3: \"t\" is not a time"), "{text}");
    let lenient = Options { is_lenient: true, ..described(ALL) };
    assert_eq!(read_with(titled("0.5,at,n,R,sda,1,x\n").as_bytes(), &lenient).unwrap().0.len(), 2);
}

#[test]
fn a_number_that_may_be_a_read_or_a_write_is_not_guessed() {
    let options = Options { is_lenient: true, ..described("time:s,offset:bytes,size:bytes,op") };
    assert_eq!(
        message(b"0 0 512 1\n", &options),
        "line 1: the operation is 0 or 1, and which of them is a read is unknown: say so with op:0 or op:1 in columns"
    );
}

#[test]
fn a_description_that_lacks_something_is_refused() {
    let mut all = String::new();
    for text in [
        "",
        "time,offset:bytes,size:bytes,op",
        "time:h,offset:bytes,size:bytes,op",
        "time:s,offset,size:bytes,op",
        "time:s,offset:KB,size:bytes,op",
        "time:s,offset:bytes,op",
        "time:s,offset:bytes,size:bytes",
        "time:s,offset:bytes,size:bytes,op:2",
        "time:s,offset:bytes,size:bytes,op,time:ms",
        "time:s,offset:bytes,size:bytes,op,pid",
        "time:s,offset:bytes,size:bytes,op,device:s",
    ] {
        writeln!(all, "{}", in_file(&Columns::parse(text).err().unwrap())).unwrap();
    }
    writeln!(all, "{}", in_file(&Columns::parse(&"-,".repeat(65)).err().unwrap())).unwrap();
    let beside = [
        Options { format: Some(Format::Spc), ..described(ALL) },
        Options { among: Format::family("iolog").unwrap(), ..described(ALL) },
        Options { unit_ns: Some(1), ..described(ALL) },
        Options { read_flag: Some(1), ..described(ALL) },
    ];
    for options in beside {
        writeln!(all, "{}", message(TEXT.as_bytes(), &options)).unwrap();
    }
    insta::assert_snapshot!(all);
}

proptest! {
    #[test]
    fn any_description_and_any_text_are_survived(
        columns in "[a-zA-Z0-9:,-]{0,40}",
        text in "[ -~\t\n]{0,300}",
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        if let Ok(columns) = Columns::parse(&columns) {
            let options = Options { columns: Some(columns), is_lenient: true, ..Options::default() };
            let _ = read_with(text.as_bytes(), &options);
        }
        let options = Options { is_lenient: true, ..described(ALL) };
        let _ = read_with(text.as_bytes(), &options);
        let _ = read_with(&bytes, &options);
    }

    #[test]
    fn what_is_written_in_columns_is_read(
        requests in prop::collection::vec((0u64..1_000_000, 0u64..1_000_000, 1u64..2_000, any::<bool>()), 1..40),
        separator in prop::sample::select(vec![",", "\t", " ", " , "]),
    ) {
        let line = |(us, sector, count, is_read): &(u64, u64, u64, bool)| {
            let fields = [sector.to_string(), "x".into(), if *is_read { "R" } else { "W" }.into(), count.to_string(), us.to_string()];
            fields.join(separator) + "\n"
        };
        let text: String = requests.iter().map(line).collect();
        let options = Options { is_lenient: true, ..described("offset:sectors,-,op,size:sectors,time:us") };
        let (found, _) = read_with(text.as_bytes(), &options).unwrap();
        let expected: Vec<Record> = requests.iter().map(|&(us, sector, count, is_read)| {
            let kind = if is_read { Kind::Read } else { Kind::Write };
            Record::new(us * 1_000, 0, kind, sector * 512, count * 512)
        }).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_words_are_survived_by_every_reader(
        lines in prop::collection::vec(
            prop::collection::vec(
                prop::sample::select(vec![
                    "0.5", "12", "R", "WS", "FF", "8,0", "sda", "fio-7", "[000]", "1.000000:", "block_rq_issue:", "()", "+",
                    "18446744073709551615", "TIME(s)", "STARTs", "ENDs", "COMM", "BeginHeader", "EndHeader", "DiskRead,",
                    "TimeStamp,", "ElapsedTime,", "DiskNum,", "0xff,", "-1.000", "C", "Q", "00ff",
                ]),
                0..12,
            ),
            0..12,
        ),
    ) {
        let text: Vec<String> = lines.iter().map(|words| words.join(" ")).collect();
        let text = text.join("\n");
        for format in Format::ALL.into_iter().map(Some).chain([None]) {
            for is_lenient in [false, true] {
                let _ = read_with(text.as_bytes(), &Options { format, is_lenient, ..Options::default() });
            }
        }
    }
}
