//! Output of tools that trace the block layer, and traces of FIU and Windows: what a line means, and what is refused.
use crate::tools::{in_file, message, read, read_with};
use drivelab_trace::{Format, Kind, Options, Record};

/// Zero of the clock where times are those of completions.
const HOUR_NS: u64 = 3_600_000_000_000;

pub const BIOSNOOP: &str = "Tracing block device I/O... Hit Ctrl-C to end.\n\
    TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  P QUE(ms) LAT(ms)\n\
    0.000000    fio            4711    sdb       W 2048       4096   S   0.25    1.50\n\
    0.003000    Web Content    4712    nvme0n1   R 4096       8192   ?   0.00    0.50\n";
pub const IOSNOOP: &str = "Tracing block I/O. Ctrl-C to end.\n\
    STARTs         ENDs           COMM             PID    TYPE DEV      BLOCK        BYTES     LATms\n\
    77.000100      77.000600      fio              4711   WFS  8,16     2048         4096       0.50\n\
    77.002000      77.002250      Web Content      4712   RA   8,16     4096         8192       0.25\n";
pub const FTRACE: &str = "# tracer: nop\n#\n\
    #           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n\
    \x20            fio-4711    [002] d..1.   12.000100: block_rq_insert: 8,16 WS 4096 () 2048 + 8 none,0,0 [fio]\n\
    \x20            fio-4711    [002] d..1.   12.000110: block_bio_backmerge: 8,16 WS 2056 + 8 [fio]\n\
    \x20            fio-4711    [002] d..1.   12.000150: block_rq_issue: 8,16 WS 8192 () 2048 + 16 none,0,0 [fio]\n\
    \x20   kworker/2:1-31      [002] ....    12.000200: sched_switch: prev_comm=fio next_comm=x + y\n\
    \x20         <idle>-0       [002] d.h1.   12.000900: block_rq_complete: 8,16 WS () 2048 + 16 none,0,0 [0]\n";
pub const FIU: &str = "1000 42 kjournald 16 8 W 6 0 00ff00ff00ff00ff00ff00ff00ff00ff\n\
    2500 43 httpd 64 16 R 6 1 0123456789abcdef0123456789abcdef 00ff00ff00ff00ff00ff00ff00ff00ff\n";
pub const ETW: &str = "BeginHeader\n\
    \x20    FileIoRead,  TimeStamp,  Process Name ( PID)\n\
    \x20      DiskRead,  TimeStamp,  Process Name ( PID),  ThreadID,  IrpPtr,  ByteOffset,  IOSize, ElapsedTime,  DiskNum\n\
    \x20     DiskWrite,  TimeStamp,  Process Name ( PID),  ThreadID,  IrpPtr,  ByteOffset,  IOSize, ElapsedTime,  DiskNum\n\
    \x20     DiskFlush,  TimeStamp,  Process Name ( PID),  ThreadID,  IrpPtr,  ElapsedTime,  DiskNum\n\
    EndHeader\n\
    \x20      DiskRead,       5000,    sql.exe (42),    7, 0x1f, 0x0000001000, 0x00002000,   900,   1\n\
    \x20    FileIoRead,       5100,    sql.exe (42)\n\
    \x20     DiskFlush,       6000,    sql.exe (42),    7, 0x1f,   40,   1\n\
    \x20     DiskWrite,       7000,    sql.exe (42),    7, 0x1f, 0x0000004000, 0x00000200,   100,   0\n";

fn of(record: Record) -> (u64, Kind, u64, u64, Option<u64>) {
    (record.time_ns, record.kind, record.offset, record.length, record.response_ns)
}

fn all(text: &str, format: Format) -> Vec<(u64, Kind, u64, u64, Option<u64>)> {
    read(text.as_bytes(), format).unwrap().into_iter().map(of).collect()
}

#[test]
fn biosnoop_prints_completions_and_latencies() {
    let found = read_with(BIOSNOOP.as_bytes(), &Options::default()).unwrap();
    assert_eq!(found.1.format(), Format::Biosnoop);
    assert_eq!(found.1.devices().names(), ["sdb", "nvme0n1"]);
    assert!(found.1.remark().unwrap().starts_with("the trace has times of completion"));
    assert_eq!(found.0[1].attributes.process, 4_712);
    // With a time in the queue, a request begins when it is queued.
    assert_eq!(
        found.0.into_iter().map(of).collect::<Vec<_>>(),
        [
            (HOUR_NS - 1_750_000, Kind::Write, 2_048 * 512, 4_096, Some(1_750_000)),
            (HOUR_NS + 2_500_000, Kind::Read, 4_096 * 512, 8_192, Some(500_000)),
        ]
    );
    // The tool of libbpf: the kernel's flags, three decimals, a time in the queue that it does not know.
    let libbpf = "TIME(s)     COMM           PID     DISK    T    SECTOR     BYTES    QUE(ms) LAT(ms)\n\
        1.000000    fio            7       sda     FF   0          0         -1.000   0.125\n\
        1.000000    fio            7       sda     DS   8          512       -1.000   0.125\n\
        1.000000    fio            7       sda     N    8          0         -1.000   0.125\n";
    let at = HOUR_NS + 1_000_000_000 - 125_000;
    assert_eq!(
        all(libbpf, Format::Biosnoop),
        [(at, Kind::Flush, 0, 0, Some(125_000)), (at, Kind::Discard, 4_096, 512, Some(125_000))]
    );
    // Without a title, and with a bare latency.
    let bare = "0.5 fio 7 sda R 8 4096 0.25\n";
    assert_eq!(all(bare, Format::Biosnoop)[0].4, Some(250_000));
}

#[test]
fn iosnoop_needs_a_time() {
    let (found, reader) = read_with(IOSNOOP.as_bytes(), &Options::default()).unwrap();
    assert_eq!((reader.format(), reader.devices().names()), (Format::Iosnoop, &["8,16".to_owned()][..]));
    let flags = found[0].attributes;
    assert!(flags.force_unit_access && flags.synchronous && flags.process == 4_711);
    assert_eq!(
        found.into_iter().map(of).collect::<Vec<_>>(),
        [
            (77_000_100_000, Kind::Write, 2_048 * 512, 4_096, Some(500_000)),
            (77_002_000_000, Kind::Read, 4_096 * 512, 8_192, Some(250_000)),
        ]
    );
    let title = |times: &str, line: &str| format!("{times} COMM PID TYPE DEV BLOCK BYTES LATms\n{line}\n");
    let start = title("STARTs", "77.5 fio 1 R 8,0 8 512 0.25");
    assert_eq!(all(&start, Format::Iosnoop), [(77_500_000_000, Kind::Read, 4_096, 512, Some(250_000))]);
    let end = title("ENDs", "77.5 fio 1 R 8,0 8 512 0.25");
    assert_eq!(all(&end, Format::Iosnoop), [(77_499_750_000, Kind::Read, 4_096, 512, Some(250_000))]);
    // What no line has cannot be left out with its lines.
    let untimed = title("", "fio 1 R 8,0 8 512 0.25");
    for (format, is_lenient) in [(None, false), (Some(Format::Iosnoop), true)] {
        let options = Options { format, is_lenient, ..Options::default() };
        let text = message(untimed.trim_start().as_bytes(), &options);
        assert_eq!(
            text,
            "line 1: iosnoop prints no times without -s and -t, so when these requests began is unknown: record again with \
             iosnoop -ts"
        );
    }
    let text = message(b"77.5 fio 1 R 8,0 8 512 0.25\n", &given(Format::Iosnoop));
    assert!(
        text.starts_with("line 1: the title line, which says what the columns are, is missing"),
        "{text}"
    );
}

fn given(format: Format) -> Options {
    Options { format: Some(format), ..Options::default() }
}

#[test]
fn what_bpftrace_prints_is_no_trace() {
    for title in ["TIME(ms)     COMM             PID    LAT(ms)", "TIME(ms) DISK ID  COMM  PID  LAT(ms)"] {
        let text = format!("Attached 4 probes\n{title}\n611  259 0  bash  4179  10\n");
        let text = message(text.as_bytes(), &Options::default());
        assert_eq!(
            text,
            "line 2: biosnoop.bt of bpftrace prints neither the address, the size nor the direction of a request: record \
             with biosnoop of bcc, which does, or with blktrace"
        );
    }
}

#[test]
fn events_of_ftrace_become_requests() {
    let (found, reader) = read_with(FTRACE.as_bytes(), &Options::default()).unwrap();
    assert_eq!((reader.format(), reader.records()), (Format::Ftrace, 5));
    assert_eq!((found[0].attributes.process, found[0].attributes.synchronous), (4_711, true));
    // It begins when it is inserted, and has grown when it is issued.
    assert_eq!(
        found.into_iter().map(of).collect::<Vec<_>>(),
        [(12_000_100_000, Kind::Write, 2_048 * 512, 8_192, Some(800_000))]
    );
    // trace-cmd report, perf script, and the number of a group behind that of the process.
    let others = "cpus=4\n\
        \x20  my fio-job-7     [001]  5.000000: block_rq_issue:       8,0 R 0 (28 00 00) 8 + 8 [my fio]\n\
        fio  9 [003]  5.000100: block:block_rq_issue: 8,0 FF 0 () 0 + 0 [fio]\n\
        fio-9  (    9) [003] ....  5.000200: block_rq_complete: 8,0 FF () 18446744073709551615 + 0 [0]\n\
        fio-9  (-----) [003] ....  5.000300: block_rq_complete: 8,0 R (28 00 00) 8 + 8 [0]\n\
        CPU:3 [LOST 12 EVENTS]\n";
    let (found, _) = read_with(others.as_bytes(), &Options::default()).unwrap();
    assert_eq!((found[0].attributes.process, found[1].attributes.process), (7, 9));
    assert_eq!(
        found.into_iter().map(of).collect::<Vec<_>>(),
        [
            (5_000_000_000, Kind::Read, 4_096, 4_096, Some(300_000)),
            (5_000_100_000, Kind::Flush, 0, 0, Some(100_000))
        ]
    );
    // Another clock of ftrace counts no seconds.
    let cycles = "fio-9 [003] .... 5000100: block_rq_issue: 8,0 R 0 () 8 + 8 [fio]\n";
    let text = message(cycles.as_bytes(), &given(Format::Ftrace));
    assert!(text.starts_with("line 1: \"5000100\" is not a time in seconds with decimals"), "{text}");
    let options = Options { unit_ns: Some(1), ..given(Format::Ftrace) };
    assert_eq!(read_with(cycles.as_bytes(), &options).unwrap().0[0].time_ns, 5_000_100);
}

#[test]
fn a_front_merge_moves_the_beginning_of_a_request() {
    let text = "a-1 [0] 1.000000: block_rq_insert: 8,0 W 0 () 16 + 8 [a]\n\
        a-1 [0] 1.000100: block_rq_issue: 8,0 W 0 () 8 + 16 [a]\n\
        a-1 [0] 1.000200: block_rq_insert: 8,0 W 0 () 64 + 16 [a]\n\
        a-1 [0] 1.000300: block_rq_issue: 8,0 W 0 () 64 + 8 [a]\n\
        a-1 [0] 1.000400: block_rq_complete: 8,0 W () 8 + 16 [0]\n\
        a-1 [0] 1.000500: block_rq_complete: 8,0 W () 64 + 8 [0]\n\
        a-1 [0] 1.000600: block_rq_complete: 8,0 W () 72 + 8 [0]\n";
    assert_eq!(
        all(text, Format::Ftrace),
        [
            (1_000_000_000, Kind::Write, 4_096, 8_192, Some(400_000)),
            (1_000_200_000, Kind::Write, 32_768, 8_192, Some(400_000)),
        ]
    );
}

#[test]
fn completions_alone_are_requests_without_a_response_time() {
    let blkparse = "8,0 0 1 0.000001000 0 C R 8 + 8 [0]\n8,0 0 2 0.000002000 0 C W 16 + 8 [0]\n";
    let ftrace = "a-0 [0] 1.000000: block_rq_complete: 8,0 W () 8 + 16 [0]\n";
    let (found, reader) = read_with(blkparse.as_bytes(), &Options::default()).unwrap();
    assert_eq!(
        found.into_iter().map(of).collect::<Vec<_>>(),
        [(1_000, Kind::Read, 4_096, 4_096, None), (2_000, Kind::Write, 8_192, 4_096, None)]
    );
    assert!(reader.remark().unwrap().starts_with("the trace has only completions"));
    let report = crate::surveyed::report(blkparse.as_bytes(), &Options::default());
    assert!(report["notes"][0].as_str().unwrap().ends_with("no response time is known"));
    assert_eq!(report["responses"], serde_json::Value::Null);
    assert_eq!(all(ftrace, Format::Ftrace), [(1_000_000_000, Kind::Write, 4_096, 8_192, None)]);
    // Beside a beginning, they end what began before the trace.
    let both = format!("{blkparse}8,0 0 3 0.000003000 7 Q R 64 + 8 [x]\n");
    let (found, reader) = read_with(both.as_bytes(), &Options::default()).unwrap();
    assert_eq!((found.len(), found[0].time_ns, reader.remark()), (1, 3_000, None));
    // Once they are requests, a beginning contradicts that.
    let many: String =
        (0..16_400).map(|at| format!("8,0 0 1 0.{at:06} 0 C R {} + 8 [0]\n", 8 * at)).collect();
    assert_eq!(read(many.as_bytes(), Format::Blkparse).unwrap().len(), 16_400);
    let text = message(format!("{many}8,0 0 3 0.9 7 Q R 64 + 8 [x]\n").as_bytes(), &given(Format::Blkparse));
    assert!(
        text.starts_with("line 16401: a request begins here, behind more than 16,384 completions"),
        "{text}"
    );
}

#[test]
fn lines_of_fiu_are_requests() {
    let (found, reader) = read_with(FIU.as_bytes(), &Options::default()).unwrap();
    assert_eq!(
        (reader.format(), reader.devices().names()),
        (Format::Fiu, &["6,0".to_owned(), "6,1".into()][..])
    );
    assert_eq!((found[0].attributes.process, found[1].device), (42, 1));
    assert_eq!(
        found.into_iter().map(of).collect::<Vec<_>>(),
        [(1_000, Kind::Write, 8_192, 4_096, None), (2_500, Kind::Read, 32_768, 8_192, None)]
    );
    let text = message(b"1000 42 kjournald 16 8 W 6 0 xyz\n", &given(Format::Fiu));
    assert!(text.starts_with("line 1: \"xyz\" is not a digest in hex"), "{text}");
}

#[test]
fn the_header_of_xperf_says_where_its_columns_are() {
    let (found, reader) = read_with(ETW.as_bytes(), &Options::default()).unwrap();
    assert_eq!((reader.format(), reader.records()), (Format::Etw, 4));
    assert_eq!(reader.devices().names(), ["1", "0"]);
    let expected = [
        (HOUR_NS + 4_100_000, Kind::Read, 4_096, 8_192, Some(900_000)),
        (HOUR_NS + 5_960_000, Kind::Flush, 0, 0, Some(40_000)),
        (HOUR_NS + 6_900_000, Kind::Write, 16_384, 512, Some(100_000)),
    ];
    assert_eq!(found.into_iter().map(of).collect::<Vec<_>>(), expected);
    // A later version has the processor behind the thread.
    let later = ETW.replace("ThreadID,", "ThreadID, CPU,").replace("   7,", "   7, 3,");
    assert_eq!(all(&later, Format::Etw), expected);
    let body = ETW.split_once("EndHeader\n").unwrap().1;
    let text = message(body.as_bytes(), &given(Format::Etw));
    assert!(
        text.starts_with("line 1: the header, from BeginHeader to EndHeader, which names the columns"),
        "{text}"
    );
}

#[test]
fn a_request_that_began_long_before_its_clock_is_refused() {
    let text = "0.5 fio 7 sda R 8 4096 3700000.00\n";
    let error = read_with(text.as_bytes(), &given(Format::Biosnoop)).err().unwrap();
    assert!(in_file(&error).starts_with("line 1: the request began more than an hour before the clock"));
}
