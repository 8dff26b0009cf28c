//! Every message of the room, as a person reads it.
use crate::formats as texts;
use crate::pairs::raw;
use crate::tools::{in_file, message, written};
use drivelab_trace::error::Place;
use drivelab_trace::formats::native::Header;
use drivelab_trace::merge::{Align, Merge};
use drivelab_trace::shape::{Remap, Shape, Shaper};
use drivelab_trace::writer::RequestContext;
use drivelab_trace::{Clock, Format, Kind, Options, Problem, Reader, Record, Writer};
use std::fmt::Write;

fn given(format: Format) -> Options {
    Options { format: Some(format), ..Options::default() }
}

#[test]
fn lines_that_are_no_requests() {
    let long = format!("{}\n", "7".repeat(5_000));
    let cases: Vec<(Format, &str)> = vec![
        (Format::Spc, "0,1,512,R\n"),
        (Format::Spc, "0,1,512,X,0.5\n"),
        (Format::Spc, "0,1,512,R,-0.5\n"),
        (Format::Spc, "a,1,512,R,0.5\n"),
        (Format::Spc, "0,99999999999999999999,512,R,0.5\n"),
        (Format::Spc, "0,36028797018963967,999999,R,0.5\n"),
        (Format::Spc, "0,1,512,R,99999999999999\n"),
        (Format::Spc, &long),
        (Format::Iolog2, "fio version 3 iolog\n"),
        (Format::Iolog3, "fio version 3 iolog\n5 f read 0\n"),
        (Format::Iolog3, "fio version 3 iolog\n5 f wait 0 0\n"),
        (Format::Blkparse, "sda 0 1 0.5 1 Q R 0 + 8 [x]\n"),
        (Format::Blkparse, "8,0 0 1 0.5 1 Q R x + 8 [x]\n"),
        (Format::Disksim, "1.0 0 8 8\n"),
        (Format::DisksimValidate, "R Hot 0 8 1 1\n"),
        (Format::Mqsim, "5 0 8 8 2\n"),
        (Format::Msr, "128166385295514663,hm,0,read,0,512,0\n"),
        (Format::Systor, "1456095145.1,,X,0,0,512\n"),
        (Format::Alibaba, "419,W,0,512,1577808144360767,9\n"),
        (Format::Tencent, "1538323200,8,8,2,1\n"),
        (Format::VscsiCsv, "3,33898,2a,512,8\n"),
        (Format::VscsiCsv, "1,33898,2,512,8\n"),
        (Format::Fiu, "1000 42 httpd 64 16 X 6 1 00ff\n"),
        (Format::Fiu, "1000 42 httpd 64 16 W\n"),
        (Format::Biosnoop, "0.5 fio 7 sda R 8 4096\n"),
        (Format::Biosnoop, "0.5 fio 7 sda R 8 4096 -0.25\n"),
        (Format::Biosnoop, "0.5 fio 7 sda r 8 4096 0.25\n"),
        (Format::Ftrace, "fio 7 block_rq_issue\n"),
        (Format::Ftrace, "a-7 [0] 1.0: block_rq_issue: 8,0 R 0 8\n"),
        (Format::Ftrace, "a-7 [0] 1.0: block_rq_issue: sda R 0 () 8 + 8\n"),
        (Format::Etw, "DiskRead, 5000\n"),
    ];
    let mut all = String::new();
    for (format, text) in cases {
        let shown = &text[..text.len().min(40)];
        writeln!(all, "{}: {shown:?}\n  {}", format.name(), message(text.as_bytes(), &given(format)))
            .unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn records_that_are_none() {
    let own = written(&[Record::new(0, 0, Kind::Read, 0, 512)], Format::Drivelab, |_| "x".to_owned());
    let changed = |at: usize| {
        let mut bytes = own.clone();
        bytes[at] ^= 1;
        bytes
    };
    let mut version = raw(true, 0, 0, 512, 1 << 17 | 1, b"");
    version[0] = 6;
    let cases = [
        ("wrong version of vscsi", Format::Vscsi2, texts::vscsi(1, 0x28, 512, 8, 5).repeat(5)),
        ("wide opcode", Format::Vscsi1, texts::vscsi(1, 0x328, 512, 8, 5)),
        ("no blktrace", Format::Blktrace, vec![7; 48]),
        ("other version of blktrace", Format::Blktrace, version),
        ("not our own", Format::Drivelab, vec![7; 48]),
        ("newer version", Format::Drivelab, changed(8)),
        ("header", Format::Drivelab, changed(16)),
        ("short header", Format::Drivelab, own[..15].to_vec()),
        ("block", Format::Drivelab, changed(own.len() - 25)),
        ("end", Format::Drivelab, changed(own.len() - 1)),
        ("cut off", Format::Drivelab, own[..own.len() - 1].to_vec()),
    ];
    let mut all = String::new();
    for (what, format, bytes) in cases {
        writeln!(all, "{what}: {}", message(&bytes, &given(format))).unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn problems_of_requests() {
    let lines = |line: &dyn Fn(u64) -> String| (0..1_100).map(line).collect::<String>();
    let slow = lines(&|at| format!("0,8,512,R,{}\n", at * 4_000));
    let fast = lines(&|at| format!("0,8,512,R,0.{at:09}\n"));
    let sized = Options { device_bytes: Some(4_096), ..given(Format::Spc) };
    let cases: [(Problem, Options, &str); 9] = [
        (Problem::Malformed, given(Format::Spc), "0,8,512,R,1\nx\n"),
        (Problem::Unsorted, given(Format::Spc), "0,8,512,R,1\n0,8,512,R,0.5\n"),
        (Problem::TimeUnit, given(Format::Msr), "1661663855,hm,0,Read,0,512,1\n"),
        (Problem::TimeUnit, given(Format::Spc), &slow),
        (Problem::TimeUnit, given(Format::Spc), &fast),
        (Problem::NegativeGap, given(Format::DisksimValidate), "R Hit 0 8 5 -1\n"),
        (Problem::ZeroSize, given(Format::Spc), "0,8,0,R,1\n"),
        (Problem::OddSize, given(Format::Spc), "0,8,1000,R,1\n"),
        (Problem::BeyondDevice, sized, "0,7,512,R,1\n0,7,1024,R,1\n"),
    ];
    let mut all = String::new();
    for (problem, options, text) in cases {
        writeln!(all, "{}: {}", problem.name(), message(text.as_bytes(), &options)).unwrap();
        let options = Options { is_lenient: true, ..options };
        let (_, reader) = crate::tools::read_with(text.as_bytes(), &options).unwrap();
        let met: Vec<_> = reader.problems().met().collect();
        assert_eq!((met.len(), met[0].0, met[0].1.count), (1, problem, 1));
    }
    writeln!(all, "length: {}", message(b"0,8,2147483648,R,1\n", &given(Format::Spc))).unwrap();
    insta::assert_snapshot!(all);
}

#[test]
fn formats_and_options() {
    let mut all = String::new();
    let mut say = |what: &str, text: &str| writeln!(all, "{what}: {text}").unwrap();
    say("empty", &message(b"", &Options::default()));
    say("text", &message(b"to be or not\nto be\n", &Options::default()));
    say("in another unit", &message(b"12816637200306162900,hm,0,Read,0,4096,10\n", &Options::default()));
    say("a field", &message(b"1477895623.1,0.001,R,0,-8,4096\n", &Options::default()));
    say("several formats", &message(b"0,99999999999999999999,4096,R,0.0\n", &Options::default()));
    say("binary", &message(&[0; 100], &Options::default()));
    say("flag", &message(b"1 0 8 8 1\n", &Options::default()));
    say("two", &message(b"1,33898,28,1,7\n", &Options::default()));
    let mut tar = [b'a'; 512];
    tar[257..262].copy_from_slice(b"ustar");
    for (what, bytes) in [
        ("tar", &tar[..]),
        ("zip", b"PK\x03\x04\x14\0"),
        ("7z", b"7z\xbc\xaf\x27\x1c\0"),
        ("rar", b"Rar!\x1a\x07\0"),
        ("xz", b"\xfd7zXZ\0"),
        ("lz4", b"\x04\x22\x4d\x18"),
        ("UTF-16", b"\xff\xfe0\0,\0"),
        ("UTF-16", b"\xfe\xff\x000\0,"),
    ] {
        say(what, &message(bytes, &Options::default()));
        assert_eq!(message(bytes, &given(Format::Spc)), message(bytes, &Options::default()));
        assert_ne!(message(bytes, &given(Format::Vscsi1)), message(bytes, &Options::default()));
    }
    say("gzip", &message(&[0x1f, 0x8b, 8, 0, 1], &Options::default()));
    say("zstd", &message(&[0x28, 0xb5, 0x2f, 0xfd, 1, 2], &Options::default()));
    say("bzip2", &message(b"BZh9 is a name", &Options::default()));
    let flagged = Options { read_flag: Some(0), ..given(Format::Msr) };
    say("read flag", &message(texts::MSR.as_bytes(), &flagged));
    let own = written(&[Record::new(0, 0, Kind::Read, 0, 512)], Format::Drivelab, |_| "x".to_owned());
    say("unit", &message(&own, &Options { unit_ns: Some(100), ..Options::default() }));
    let to = Writer::new(Vec::new(), Format::Mqsim, Header::plain(Clock::Relative), false).err().unwrap();
    say("to", &in_file(&to));
    for (format, kind) in
        [(Format::Spc, Kind::Flush), (Format::Msr, Kind::Discard), (Format::Disksim, Kind::Flush)]
    {
        let mut writer = Writer::new(Vec::new(), format, Header::plain(Clock::Relative), false).unwrap();
        let context = RequestContext { device: "0", clock: Clock::Relative, place: Place::Line(7) };
        let error = writer.write(&Record::new(0, 0, kind, 0, 0), &context).unwrap_err();
        say("kind", &in_file(&error));
        let mut writer = Writer::new(Vec::new(), format, Header::plain(Clock::Relative), true).unwrap();
        writer.write(&Record::new(0, 0, kind, 0, 0), &context).unwrap();
        assert_eq!((writer.written(), writer.left_out()), (0, 1));
    }
    for (clock, time_ns) in [(Clock::Relative, 4_000_000_000_000_000_000), (Clock::Unix, u64::MAX)] {
        let mut writer = Writer::new(Vec::new(), Format::Msr, Header::plain(clock), false).unwrap();
        let context = RequestContext { device: "0", clock, place: Place::Line(7) };
        let error = writer.write(&Record::new(time_ns, 0, Kind::Read, 0, 512), &context).unwrap_err();
        say("date", &in_file(&error));
    }
    let name = "d".repeat(255);
    let mut writer = Writer::new(Vec::new(), Format::Msr, Header::plain(Clock::Relative), false).unwrap();
    let context = RequestContext { device: &name, clock: Clock::Relative, place: Place::Line(7) };
    say("name", &in_file(&writer.write(&Record::new(0, 0, Kind::Read, 0, 512), &context).unwrap_err()));
    for shape in [
        Shape { scale_time: (0, 1), ..Shape::default() },
        Shape { remap: Some(Remap::Wrap { to_bytes: 1_000 }), ..Shape::default() },
        Shape { remap: Some(Remap::Scale { from_bytes: 0, to_bytes: 512 }), ..Shape::default() },
    ] {
        say("shape", &in_file(&Shaper::new(shape, true).err().unwrap()));
    }
    let open = |text: &'static str, format| Reader::open(Box::new(text.as_bytes()), &given(format)).unwrap();
    let several = vec![open(texts::MSR, Format::Msr), open(texts::SPC, Format::Spc)];
    say("merge", &in_file(&Merge::new(several, Align::Clock).err().unwrap()));
    say("none", &in_file(&Merge::new(vec![], Align::Clock).err().unwrap()));
    insta::assert_snapshot!(all);
}
