//! What a line or record of each format means; that formats are told apart; that packed ones are unpacked.
use crate::tools::{message, read, read_with, written};
use drivelab_trace::{Clock, Format, Kind, Options, Record};
use std::io::Write;

fn responding(record: Record, response_ns: u64) -> Record {
    Record { response_ns: Some(response_ns), ..record }
}

pub const IOLOG2: &str = "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb write 0 4096\n\
    /dev/sdb wait 250 0\n/dev/sdb read 8192 4096\n/dev/sdb wait 1000 0\n/dev/sdb sync 0 0\n\
    /dev/sdb trim 4096 512\n/dev/sdb close\n";
pub const IOLOG3: &str = "fio version 3 iolog\n2 Nvme1n1 add\n872 Nvme1n1 open\n878 Nvme1n1 write 0 16384\n\
    888 Nvme1n1 datasync 0 0\n10001677 Nvme1n1 close\n";
pub const BLKPARSE: &str = "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n  \
    8,0    3        2     0.000001829   697  Q  WS 223490 + 8 [kjournald]\n  \
    8,0    3        3     0.000002197   697  P   R [kjournald]\n  \
    8,0    3        4     0.000005000   697  D  WS 223490 + 8 [kjournald]\n  \
    8,16   1        5     0.000006000   700  Q FWFS 0 + 16 [jbd2]\n  \
    8,0    3        6     0.000401829     0  C  WS 223490 + 8 [0]\n  \
    8,16   1        7     0.000500000   700  Q  FN [jbd2]\n  \
    8,16   1        8     0.000600000   700  C  FN [0]\n  \
    8,0    0        9     0.000700000     0  m   N cfq workload slice:100\n\n\
    CPU0 (8,0):\n Reads Queued:           0,        0KiB\n";
pub const MSR: &str =
    "128166385295514663,hm,0,Write,9056014336,2048,2833\n128166385295514878,hm,1,Read,512,512,1\n";
pub const SYSTOR: &str = "Timestamp,Response,IOType,LUN,Offset,Size\n\
    1456095145.133076000,0.000806000,R,0,899056122368,131072\n1456095146.5,,W,3,512,4096\n";
pub const SPC: &str = "0,20941264,8192,W,0.551706\n1,20939840,8192,r,0.554041,7,x\n";
pub const ALIBABA: &str =
    "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n";
pub const TENCENT: &str = "1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1627\n";
pub const VSCSI_CSV: &str =
    "version,time,op,size,lbn\n1,33898,2a,512,42932745\n1,33899,28,6656,40409911\n1,33899,12,0,0\n";
pub const VALIDATE: &str = "R Hit 8 8 1000.0 500.0\nW Miss 0 1 250.5 0\n";

#[test]
fn times_of_an_iolog_are_its_waits_or_its_stamps() {
    assert_eq!(
        read(IOLOG2.as_bytes(), Format::Iolog2).unwrap(),
        [
            Record::new(0, 0, Kind::Write, 0, 4_096),
            Record::new(250_000, 0, Kind::Read, 8_192, 4_096),
            Record::new(1_250_000, 0, Kind::Flush, 0, 0),
            Record::new(1_250_000, 0, Kind::Discard, 4_096, 512),
        ]
    );
    assert_eq!(
        read(IOLOG3.as_bytes(), Format::Iolog3).unwrap(),
        [Record::new(878_000, 0, Kind::Write, 0, 16_384), Record::new(888_000, 0, Kind::Flush, 0, 0)]
    );
}

#[test]
fn events_that_blkparse_prints_become_requests() {
    let found = read(BLKPARSE.as_bytes(), Format::Blkparse).unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!((found[0].time_ns, found[0].offset, found[0].length), (1_829, 223_490 * 512, 4_096));
    assert_eq!((found[0].response_ns, found[0].attributes.process), (Some(400_000), 697));
    assert!(found[0].attributes.synchronous && !found[0].attributes.force_unit_access);
    // F in front is a flush before the data, F behind the W is FUA.
    assert_eq!((found[1].kind, found[1].device, found[1].response_ns), (Kind::Write, 1, None));
    assert!(found[1].attributes.force_unit_access);
    assert_eq!((found[2].kind, found[2].response_ns), (Kind::Flush, Some(100_000)));
    let options = Options { format: Some(Format::Blkparse), ..Options::default() };
    let (_, reader) = read_with(BLKPARSE.as_bytes(), &options).unwrap();
    // The summary is no event.
    assert_eq!((reader.records(), reader.devices().names()), (9, &["8,0".to_owned(), "8,16".to_owned()][..]));
}

#[test]
fn what_blkparse_says_around_its_events_is_none_of_them() {
    let title = "Input file sda.blktrace.0 added\nInput file sda.blktrace.1 added\n";
    let message = "  8,0    1       10     0.002000000     0  m   N cfq4711SN / fifo (12)\n";
    let processes = "my fio (4711)\n Reads Queued:           3,       12KiB\n\nCPU0 (sda):\n";
    let events: String =
        BLKPARSE.lines().filter(|line| line.starts_with("  8,")).map(|line| format!("{line}\n")).collect();
    let text = format!("{title}{message}{events}{processes}");
    for format in [Some(Format::Blkparse), None] {
        let options = Options { format, ..Options::default() };
        let (found, reader) = read_with(text.as_bytes(), &options).unwrap();
        assert_eq!((found, reader.records()), (read(events.as_bytes(), Format::Blkparse).unwrap(), 10));
        assert_eq!(reader.format(), Format::Blkparse);
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    let marked = |text: &str| [b"\xef\xbb\xbf", text.as_bytes()].concat();
    for text in [BLKPARSE, "0,8,4096,R,0.5\n", "Timestamp,Response,IOType,LUN,Offset,Size\n"] {
        let (plain, _) =
            read_with(text.as_bytes(), &Options::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        let (found, _) =
            read_with(&marked(text), &Options::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(found, plain, "{text}");
    }
    let measured = "R Hit 8 8 100 100\nR Hit 8 8 100 100\n";
    let found = drivelab_trace::validation::read(&marked(measured)[..]).unwrap();
    assert_eq!(found.len(), 2);
}

#[test]
fn lines_of_the_other_formats_are_requests() {
    let disksim = "13.191135\t30\t0\t5\t1\n17.829285\t20\t576560\t6\t0\n";
    assert_eq!(
        read(disksim.as_bytes(), Format::Disksim).unwrap(),
        [
            Record::new(13_191_135, 0, Kind::Read, 0, 2_560),
            Record::new(17_829_285, 1, Kind::Write, 576_560 * 512, 3_072)
        ]
    );
    assert_eq!(
        read(b"938513000 4 264719034 16 0\n", Format::Mqsim).unwrap(),
        [Record::new(938_513_000, 0, Kind::Write, 264_719_034 * 512, 8_192)]
    );
    assert_eq!(
        read(MSR.as_bytes(), Format::Msr).unwrap(),
        [
            responding(
                Record::new(12_816_638_529_551_466_300, 0, Kind::Write, 9_056_014_336, 2_048),
                283_300
            ),
            responding(Record::new(12_816_638_529_551_487_800, 1, Kind::Read, 512, 512), 100),
        ]
    );
    assert_eq!(
        read(SYSTOR.as_bytes(), Format::Systor).unwrap(),
        [
            responding(
                Record::new(1_456_095_145_133_076_000, 0, Kind::Read, 899_056_122_368, 131_072),
                806_000
            ),
            Record::new(1_456_095_146_500_000_000, 1, Kind::Write, 512, 4_096),
        ]
    );
    assert_eq!(
        read(SPC.as_bytes(), Format::Spc).unwrap(),
        [
            Record::new(551_706_000, 0, Kind::Write, 20_941_264 * 512, 8_192),
            Record::new(554_041_000, 1, Kind::Read, 20_939_840 * 512, 8_192),
        ]
    );
    assert_eq!(
        read(ALIBABA.as_bytes(), Format::Alibaba).unwrap()[1],
        Record::new(1_577_808_144_360_813_000, 1, Kind::Read, 59_110_326_272, 360_448)
    );
    // The other way round than in DiskSim.
    assert_eq!(
        read(TENCENT.as_bytes(), Format::Tencent).unwrap()[0],
        Record::new(1_538_323_200_000_000_000, 0, Kind::Read, 12_910_952 * 512, 65_536)
    );
    assert_eq!(
        read(VSCSI_CSV.as_bytes(), Format::VscsiCsv).unwrap(),
        [
            Record::new(33_898_000_000_000, 0, Kind::Write, 42_932_745 * 512, 512),
            Record::new(33_899_000_000_000, 0, Kind::Read, 40_409_911 * 512, 6_656),
        ]
    );
    assert_eq!(
        read(VALIDATE.as_bytes(), Format::DisksimValidate).unwrap(),
        [
            responding(Record::new(0, 0, Kind::Read, 4_096, 4_096), 1_000_000),
            responding(Record::new(1_500_000, 0, Kind::Write, 0, 512), 250_500),
        ]
    );
}

/// A line of a format with a request at a time.
type LineAt = fn(&str) -> String;

/// 1.9 ns, 1.4 ns and what lacks a tenth of a nanosecond to a whole unit, in the unit of each format.
#[test]
fn times_are_rounded_to_the_nearest_nanosecond() {
    let ms: LineAt = |at| format!("{at} 0 8 8 1\n");
    let formats: [(Format, u32, LineAt); 10] = [
        (Format::Disksim, 6, ms),
        (Format::Mqsim, 0, ms),
        (Format::Msr, 2, |at| format!("{at},hm,0,Read,0,512,{at}\n")),
        (Format::Systor, 9, |at| format!("{at},{at},R,0,0,512\n")),
        (Format::Spc, 9, |at| format!("0,8,512,R,{at}\n")),
        (Format::Alibaba, 3, |at| format!("0,R,0,512,{at}\n")),
        (Format::Tencent, 9, |at| format!("{at},8,8,0,0\n")),
        (Format::VscsiCsv, 9, |at| format!("1,{at},28,512,8\n")),
        (Format::Iolog3, 3, |at| format!("fio version 3 iolog\n{at} sdb read 0 512\n")),
        (Format::Blkparse, 9, |at| format!("  8,0 0 1 {at} 7 Q R 8 + 8 [fio]\n")),
    ];
    for (format, digits, line) in formats {
        let zeros = "0".repeat((digits as usize).saturating_sub(1));
        let of_ns =
            |ns: &str| if digits == 0 { ns.to_owned() } else { format!("0.{zeros}{}", ns.replace('.', "")) };
        let whole = format!("0.{}9", "9".repeat(digits as usize));
        let unit = 10u64.pow(digits);
        for (at, expected) in [(of_ns("1.9"), 2), (of_ns("1.4"), 1), (of_ns("1.5"), 2), (whole, unit)] {
            let options = Options { format: Some(format), is_lenient: true, ..Options::default() };
            let (found, _) = read_with(line(&at).as_bytes(), &options).unwrap();
            assert_eq!(found[0].time_ns, expected, "{format:?}: {at}");
            assert!(found[0].response_ns.is_none_or(|response| response == expected), "{format:?}: {at}");
        }
    }
    // The service time, and the gap before the next request, in microseconds.
    let measured = "R Hit 8 8 0.0019 1.9999\nR Hit 8 8 0.0014 0\n";
    let found = read(measured.as_bytes(), Format::DisksimValidate).unwrap();
    let times: Vec<_> = found.iter().map(|record| (record.time_ns, record.response_ns)).collect();
    assert_eq!(times, [(0, Some(2)), (2_002, Some(1))]);
    let found = drivelab_trace::validation::read(measured.as_bytes()).unwrap();
    let times: Vec<_> = found.iter().map(|one| (one.service.as_ns(), one.gap.as_ns())).collect();
    assert_eq!(times, [(2, 2_000), (1, 0)]);
}

#[test]
fn a_request_within_sectors_covers_each_that_it_touches() {
    // From the middle of sector 3 to the first byte of sector 5; and from the beginning of sector 3 into sector 4.
    let (within, from_start) =
        (Record::new(0, 0, Kind::Read, 1_792, 769), Record::new(0, 0, Kind::Write, 1_536, 600));
    assert_eq!((within.sectors(), from_start.sectors()), ((3, 3), (3, 2)));
    let records = [within, from_start];
    let name = |device: u32| device.to_string();
    // Sizes in bytes, from an address in sectors: all of what is touched, but no more than what begins with its sector.
    let spc = written(&records, Format::Spc, name);
    assert_eq!(String::from_utf8_lossy(&spc), "0,3,1536,R,0.000000000\n0,3,600,W,0.000000000\n");
    let lenient = Options { format: Some(Format::Spc), is_lenient: true, ..Options::default() };
    let (found, _) = read_with(&spc[..], &lenient).unwrap();
    assert_eq!(found.iter().map(Record::sectors).collect::<Vec<_>>(), [(3, 3), (3, 2)]);
    let fed = found[1].fed(0).unwrap().command;
    assert_eq!((fed.first.get(), fed.count.get()), (3, 2));
    let disksim = written(&records, Format::Disksim, name);
    assert_eq!(String::from_utf8_lossy(&disksim), "0.000000 0 3 3 1\n0.000000 0 3 2 0\n");
}

/// A flush before the data is not one behind them.
#[test]
fn only_an_f_behind_the_w_is_fua() {
    let is_fua = |flags: &str| {
        let line = format!("  8,0    3        1     0.000000000   697  Q {flags} 8 + 8 [fio]\n");
        read(line.as_bytes(), Format::Blkparse).unwrap()[0].attributes.force_unit_access
    };
    assert_eq!(["W", "WS", "FWS", "WFS", "FWFS", "R"].map(is_fua), [false, false, false, true, true, false]);
}

/// A record of CloudPhysics.
pub fn vscsi(version: u16, opcode: u16, bytes: u32, sector: u64, us: u64) -> Vec<u8> {
    let (serial, version) = (7u32.to_le_bytes(), (version << 8).to_le_bytes());
    let (opcode, bytes, sector, us) =
        (opcode.to_le_bytes(), bytes.to_le_bytes(), sector.to_le_bytes(), us.to_le_bytes());
    if version[1] == 1 {
        [&serial[..], &bytes, &1u32.to_le_bytes(), &opcode, &version, &sector, &us].concat()
    } else {
        let response = 123u64.to_le_bytes();
        [&opcode[..], &version, &serial, &bytes, &1u32.to_le_bytes(), &sector, &us, &response].concat()
    }
}

#[test]
fn both_versions_of_cloudphysics_are_distinguished() {
    let first: Vec<u8> =
        [vscsi(1, 0x2a, 512, 8, 5), vscsi(1, 0x12, 36, 0, 6), vscsi(1, 0x28, 1_024, 16, 7)].concat();
    let (found, reader) = read_with(&first, &Options::default()).unwrap();
    assert_eq!((reader.format(), reader.records()), (Format::Vscsi1, 3));
    assert_eq!(
        found,
        [Record::new(5_000, 0, Kind::Write, 4_096, 512), Record::new(7_000, 0, Kind::Read, 8_192, 1_024)]
    );
    let second: Vec<u8> =
        [vscsi(2, 0x88, 512, 8, 5), vscsi(2, 0x35, 0, 0, 6), vscsi(2, 0x42, 512, 9, 9)].concat();
    let (found, reader) = read_with(&second, &Options::default()).unwrap();
    assert_eq!(reader.format(), Format::Vscsi2);
    assert_eq!(found[0], responding(Record::new(5_000, 0, Kind::Read, 4_096, 512), 123_000));
    assert_eq!((found[1].kind, found[2].kind), (Kind::Flush, Kind::Discard));
}

#[test]
fn each_text_is_recognised() {
    for (text, format) in [
        (IOLOG2, Format::Iolog2),
        (IOLOG3, Format::Iolog3),
        (BLKPARSE, Format::Blkparse),
        (MSR, Format::Msr),
        (SYSTOR, Format::Systor),
        (SPC, Format::Spc),
        (ALIBABA, Format::Alibaba),
        (TENCENT, Format::Tencent),
        (VSCSI_CSV, Format::VscsiCsv),
        (VALIDATE, Format::DisksimValidate),
    ] {
        let (found, reader) = read_with(text.as_bytes(), &Options::default()).unwrap();
        assert_eq!(reader.format(), format);
        assert_eq!(Ok(found), read(text.as_bytes(), format));
    }
}

#[test]
fn what_two_formats_claim_needs_an_option() {
    // A flag of 0 or 1, and a volume; or an opcode 28, and an address.
    let both = "1,33898,28,1,7\n";
    let text = message(both.as_bytes(), &Options::default());
    assert!(text.contains("format = \"tencent\" or format = \"vscsi-csv\""), "{text}");
    for five in ["13.5 0 8 8 1\n", "13 0 8 8 0\n"] {
        let text = message(five.as_bytes(), &Options::default());
        assert!(text.contains("format = \"disksim\" or format = \"mqsim\", and read_flag = 0"), "{text}");
    }
    let kind = |format, read_flag| {
        let options = Options { format: Some(format), read_flag, ..Options::default() };
        read_with(b"13 0 8 8 1\n", &options).unwrap().0[0].kind
    };
    for format in [Format::Disksim, Format::Mqsim] {
        assert_eq!(
            [None, Some(1), Some(0)].map(|flag| kind(format, flag)),
            [Kind::Read, Kind::Read, Kind::Write]
        );
    }
}

#[test]
fn a_name_of_several_formats_is_settled_by_the_first_bytes() {
    let family =
        |name| Options { among: Format::family(name).unwrap(), is_lenient: true, ..Options::default() };
    let found = |text: &[u8], name| read_with(text, &family(name)).map(|(_, reader)| reader.format()).ok();
    assert_eq!(found(IOLOG2.as_bytes(), "iolog"), Some(Format::Iolog2));
    assert_eq!(found(IOLOG3.as_bytes(), "fio"), Some(Format::Iolog3));
    assert_eq!(found(&vscsi(2, 0x28, 512, 8, 5), "CloudPhysics"), Some(Format::Vscsi2));
    assert_eq!(found(b"1,33898,28,1,7\n", "vscsi"), Some(Format::VscsiCsv));
    assert_eq!(found(MSR.as_bytes(), "iolog"), None);
    assert_eq!(found(&vscsi(2, 0x28, 512, 8, 5), "iolog"), None);
    // Every name, in any case, is that of its format alone.
    for format in Format::ALL {
        assert_eq!(Format::named(&format.name().to_uppercase()), Some(format));
        assert_eq!(Format::family(format.name()), None);
    }
}

#[test]
fn compressed_data_that_are_cut_off_are_distinguished_from_damaged_ones() {
    let text: String = (0..9_000u64).map(|at| format!("0,{},4096,R,{at}.5\n", at * at % 7_919_993)).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let mut bzip = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bzip.write_all(text.as_bytes()).unwrap();
    let zstd =
        ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    for packed in [gzip.finish().unwrap(), bzip.finish().unwrap(), zstd] {
        for length in [5, 20, packed.len() / 2, packed.len() - 1] {
            let cut = &packed[..length];
            let message = crate::tools::message(cut, &Options::default());
            assert!(
                message.ends_with(
                    "data are cut off; fetch it again, or take what came before with lenient = true"
                ),
                "{message}"
            );
            // What came before may be less than a line, of which no format is known.
            let options = Options { format: Some(Format::Spc), is_lenient: true, ..Options::default() };
            let (found, reader) = read_with(cut, &options).unwrap();
            assert!(found.len() < 9_000 || length == packed.len() - 1);
            assert_eq!(reader.problems().of(drivelab_trace::Problem::Truncated).count, 1, "{length}");
        }
    }
}

#[test]
fn packed_traces_are_unpacked_by_their_first_bytes() {
    let text = SPC;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut bzip = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bzip.write_all(text.as_bytes()).unwrap();
    let bzip = bzip.finish().unwrap();
    let zstd =
        ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    let plain = read(text.as_bytes(), Format::Spc).unwrap();
    for packed in [gzip, bzip, zstd] {
        let (found, reader) = read_with(&packed, &Options::default()).unwrap();
        assert_eq!((found.as_slice(), reader.format()), (plain.as_slice(), Format::Spc));
        assert!(reader.compression().is_some());
        // Two members are one text; the times go back between them.
        let twice = [&packed[..], &packed].concat();
        let options = Options { is_lenient: true, ..Options::default() };
        assert_eq!(read_with(&twice, &options).unwrap().0.len(), 4);
        assert!(message(&twice, &Options::default()).starts_with("line 3: the time is before"));
    }
}

#[test]
fn a_date_survives_the_way_to_another_clock() {
    let requests = read(SYSTOR.as_bytes(), Format::Systor).unwrap();
    let header = drivelab_trace::formats::native::Header::plain(Clock::Unix);
    let mut writer = drivelab_trace::Writer::new(Vec::new(), Format::Msr, header, false).unwrap();
    let place = drivelab_trace::error::Place::Line(2);
    for record in &requests {
        let context = drivelab_trace::writer::RequestContext { device: "vdi.0", clock: Clock::Unix, place };
        writer.write(record, &context).unwrap();
    }
    let text = writer.finish().unwrap();
    let back = read(&text, Format::Msr).unwrap();
    let shift = drivelab_trace::record::FILETIME_UNIX_NS;
    assert!(back.iter().zip(&requests).all(|(back, request)| back.time_ns == request.time_ns + shift));
    // Without a date, one is given that no checker doubts.
    let undated =
        written(&read(SPC.as_bytes(), Format::Spc).unwrap(), Format::Msr, |device| device.to_string());
    assert_eq!(read(&undated, Format::Msr).unwrap().len(), 2);
}
