//! The engine on a network block device: a scripted server answers late, out of order, with errors, or goes away.
use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobParams, Marking, SizeShare, SubmitCost};
use drivelab_core::host::popularity::Popularity;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::server::ServerParams;
use drivelab_core::{Limit, Setup};
use drivelab_measure::{
    Control, DeviceAddress, IoEngine, MeasureError, MeasureOptions, MeasuredPoint, OnError, measure,
};
use drivelab_nbd::wire::{
    FLAG_FIXED_NEWSTYLE, IHAVEOPT, NBDMAGIC, REPLY_MAGIC, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk,
    command, flag, info, option, reply, transmission, u16_at, u32_at, u64_at,
};
use drivelab_record::point::Ended;
use drivelab_units::{InFile, Lba, Sectors, Share, Span};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

const SECTORS: u64 = 1 << 13;
/// As many requests never come.
const NEVER: usize = 1_000;
/// This byte cannot be read.
const BAD: u64 = 8 * 4096;

/// How a server behaves.
#[derive(Clone)]
struct Manners {
    flags: u16,
    structured: bool,
    /// Least, preferred and most bytes.
    blocks: Option<[u32; 3]>,
    /// Answers once so many requests are there, the last one first.
    batch: usize,
    /// Goes away after so many answers.
    leaves_after: usize,
    export: &'static str,
}

const ALL: u16 = transmission::HAS_FLAGS | transmission::SEND_FLUSH | transmission::SEND_FUA;

impl Default for Manners {
    fn default() -> Self {
        let blocks = Some([512, 4_096, 1 << 20]);
        Manners { flags: ALL, structured: true, blocks, batch: 1, leaves_after: usize::MAX, export: "" }
    }
}

/// What a server has heard: requests by kind, those with FUA, the most that were unanswered at once.
#[derive(Default, Debug)]
struct Message {
    reads: usize,
    writes: usize,
    fua: usize,
    flushes: usize,
    deepest: usize,
    /// Of the first payloads, as many as are answered at once, those that another one equals.
    repeated: usize,
    took_leave: bool,
}

fn put_option(stream: &mut UnixStream, number: u32, kind: u32, data: &[u8]) {
    let mut out = REPLY_MAGIC.to_be_bytes().to_vec();
    [number, kind, data.len() as u32].iter().for_each(|word| out.extend(word.to_be_bytes()));
    out.extend(data);
    stream.write_all(&out).unwrap();
}

fn take<const N: usize>(stream: &mut UnixStream) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).ok().map(|()| bytes)
}

fn greet(stream: &mut UnixStream, manners: &Manners) -> Option<()> {
    let mut greeting = NBDMAGIC.to_be_bytes().to_vec();
    greeting.extend(IHAVEOPT.to_be_bytes());
    greeting.extend(FLAG_FIXED_NEWSTYLE.to_be_bytes());
    stream.write_all(&greeting).unwrap();
    take::<4>(stream)?;
    loop {
        let head: [u8; 16] = take(stream)?;
        let (number, length) = (u32_at(&head, 8).unwrap(), u32_at(&head, 12).unwrap());
        let mut data = vec![0; length as usize];
        stream.read_exact(&mut data).ok()?;
        match number {
            option::STRUCTURED_REPLY if manners.structured => put_option(stream, number, reply::ACK, &[]),
            option::GO if &data[4..4 + u32_at(&data, 0).unwrap() as usize] == manners.export.as_bytes() => {
                let mut export = info::EXPORT.to_be_bytes().to_vec();
                export.extend((SECTORS * 512).to_be_bytes());
                export.extend(manners.flags.to_be_bytes());
                put_option(stream, number, reply::INFO, &export);
                if let Some(blocks) = manners.blocks {
                    let mut sizes = info::BLOCK_SIZE.to_be_bytes().to_vec();
                    blocks.iter().for_each(|size| sizes.extend(size.to_be_bytes()));
                    put_option(stream, number, reply::INFO, &sizes);
                }
                put_option(stream, number, reply::ACK, &[]);
                return Some(());
            }
            option::GO => put_option(stream, number, reply::ERR_UNKNOWN, b"here is none"),
            _ => put_option(stream, number, reply::ERR_UNSUP, &[]),
        }
    }
}

/// The whole reply to a request, in two chunks where it is a structured one with data.
fn answer(manners: &Manners, head: &[u8; 28]) -> Vec<u8> {
    let (kind, cookie) = (u16_at(head, 6).unwrap(), u64_at(head, 8).unwrap());
    let (offset, length) = (u64_at(head, 16).unwrap(), u32_at(head, 24).unwrap());
    let is_read = kind == command::READ;
    let errno: u32 = if is_read && offset == BAD { 5 } else { 0 };
    let mut out = Vec::new();
    if !manners.structured || !is_read {
        out.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
        out.extend(errno.to_be_bytes());
        out.extend(cookie.to_be_bytes());
        out.resize(out.len() + if is_read && errno == 0 { length as usize } else { 0 }, 0x5a);
        return out;
    }
    let mut chunk_of = |flags: u16, kind: u16, body: &[u8]| {
        out.extend(STRUCTURED_REPLY_MAGIC.to_be_bytes());
        out.extend(flags.to_be_bytes());
        out.extend(kind.to_be_bytes());
        out.extend(cookie.to_be_bytes());
        out.extend((body.len() as u32).to_be_bytes());
        out.extend(body);
    };
    if errno != 0 {
        chunk_of(chunk::DONE, chunk::ERROR, &[0, 0, 0, 5, 0, 3, b'b', b'a', b'd']);
        return out;
    }
    let half = length / 2;
    let hole = [&(offset + u64::from(half)).to_be_bytes()[..], &(length - half).to_be_bytes()].concat();
    chunk_of(0, chunk::OFFSET_HOLE, &hole);
    chunk_of(chunk::DONE, chunk::OFFSET_DATA, &[&offset.to_be_bytes()[..], &vec![7; half as usize]].concat());
    out
}

/// A server for one client, and its socket.
struct Server {
    socket: PathBuf,
    thread: Option<JoinHandle<Message>>,
}

impl Server {
    fn new(name: &str, manners: Manners) -> Server {
        let socket = std::env::temp_dir().join(format!("drivelab-nbd-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let thread = spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut read_message = Message::default();
            if greet(&mut stream, &manners).is_some() {
                serve(stream, &manners, &mut read_message);
            }
            read_message
        });
        Server { socket, thread: Some(thread) }
    }

    fn address(&self) -> String {
        format!("nbd+unix:///?socket={}", self.socket.display())
    }

    fn read_message(&mut self) -> Message {
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn serve(stream: UnixStream, manners: &Manners, read_message: &mut Message) {
    let mut output = stream.try_clone().unwrap();
    let mut input = stream;
    let (sender, receiver) = channel();
    let reader = spawn(move || {
        while let Some(head) = take::<28>(&mut input) {
            let mut data = Vec::new();
            if u16_at(&head, 6) == Some(command::WRITE) {
                data.resize(u32_at(&head, 24).unwrap() as usize, 0);
                input.read_exact(&mut data).unwrap();
            }
            if sender.send((head, data)).is_err() {
                return;
            }
        }
    });
    let (mut waiting, mut answered, mut payloads) = (Vec::new(), 0, Vec::new());
    loop {
        let is_patient = waiting.is_empty() || manners.batch == NEVER;
        let patience = Duration::from_millis(if is_patient { 10_000 } else { 20 });
        let next = receiver.recv_timeout(patience);
        let is_over = matches!(next, Err(RecvTimeoutError::Disconnected)) || (next.is_err() && is_patient);
        if let Ok((head, data)) = &next {
            match u16_at(head, 6) {
                Some(command::READ) => read_message.reads += 1,
                Some(command::WRITE) => read_message.writes += 1,
                Some(command::FLUSH) => read_message.flushes += 1,
                Some(command::DISC) => read_message.took_leave = true,
                other => panic!("{other:?}"),
            }
            read_message.fua += usize::from(u16_at(head, 4).unwrap() & flag::FUA != 0);
            if !data.is_empty() && payloads.len() < manners.batch {
                read_message.repeated += usize::from(payloads.contains(data));
                payloads.push(data.clone());
            }
            if !read_message.took_leave {
                waiting.push(*head);
            }
            read_message.deepest = read_message.deepest.max(waiting.len());
            if waiting.len() < manners.batch && !read_message.took_leave {
                continue;
            }
        }
        while let Some(head) = waiting.pop() {
            if answered == manners.leaves_after {
                let _ = output.shutdown(std::net::Shutdown::Both);
                break;
            }
            answered += 1;
            // Cut where it hurts.
            for part in answer(manners, &head).chunks(1_000) {
                if output.write_all(part).is_err() {
                    break;
                }
            }
        }
        if is_over || read_message.took_leave || answered == manners.leaves_after {
            break;
        }
    }
    let _ = output.shutdown(std::net::Shutdown::Both);
    reader.join().unwrap();
}

fn job(depth: u32) -> JobParams {
    JobParams {
        initiator: 0,
        logical_unit: 0,
        process: 0,
        synchronous: true,
        marking: Marking { direct: true, ..Marking::default() },
        priorities: Vec::new(),
        reads: Share::ALL,
        flushes: Flushes::Never,
        addressing: Addressing::Random,
        popularity: Popularity::Uniform,
        sizes: vec![SizeShare { size: Sectors::new(8), weight: 1 }],
        first: Lba::new(0),
        count: Sectors::new(SECTORS),
        align: Sectors::new(8),
        zones: None,
        command_limit: None,
        arrivals: Arrivals::Closed { outstanding: depth, think: Span::ZERO },
        submit: SubmitCost::NONE,
        ending: Default::default(),
    }
}

fn writes(depth: u32) -> JobParams {
    JobParams { reads: Share::NONE, ..job(depth) }
}

fn setup(job: JobParams, limit: Limit) -> Setup {
    let server = ServerParams { capacity: Sectors::new(SECTORS), service: None, stations: 1 };
    Setup {
        target: TargetParams::Server(server),
        jobs: vec![job],
        sections: [].into(),
        fed: None,
        warmup: Span::ZERO,
        limit,
        seed: 7,
        traces: 0,
        checks_data: false,
        injections: [].into(),
        power_cut: None,
    }
}

fn ios(count: u64) -> Limit {
    Limit { ios: Some(count), ..Limit::default() }
}

fn run(
    server: &Server,
    job: JobParams,
    limit: Limit,
    options: &MeasureOptions,
) -> Result<MeasuredPoint, MeasureError> {
    let stop = AtomicBool::new(false);
    let options =
        MeasureOptions { at: DeviceAddress::Address(server.address()), may_write: true, ..options.clone() };
    measure(&setup(job, limit), &options, &Control { stop: &stop, progress: &|_| {} })
}

#[test]
fn the_whole_depth_is_in_flight_and_answers_come_in_any_order() {
    for structured in [false, true] {
        let manners = Manners { structured, batch: 64, ..Manners::default() };
        let mut server = Server::new(&format!("depth-{structured}"), manners);
        let good = JobParams { first: Lba::new(1_024), count: Sectors::new(4_096), ..job(64) };
        let found = run(&server, good, ios(2_000), &MeasureOptions::default()).unwrap();
        let read_message = server.read_message();
        assert_eq!((found.point.read.ios, found.point.ended, read_message.deepest), (2_000, Ended::Ios, 64));
        assert_eq!((found.measured.engine, found.measured.device_ns.n), ("nbd", 2_000));
        assert_eq!((found.measured.failures.count, found.point.errors), (0, 0));
        assert!(found.point.depth.achieved > 32.0, "{:?}", found.point.depth);
        assert!(read_message.took_leave && read_message.reads >= 2_000, "{read_message:?}");
    }
}

#[test]
fn writes_have_data_of_their_own_and_fua_and_flushes_are_sent() {
    let mut server = Server::new("writes", Manners { batch: 4, ..Manners::default() });
    let mut wanted = writes(4);
    wanted.marking.force_unit_access = true;
    wanted.sizes = vec![SizeShare { size: Sectors::new(512), weight: 1 }];
    wanted.align = Sectors::new(512);
    let found = run(&server, wanted, ios(4), &MeasureOptions::default()).unwrap();
    let read_message = server.read_message();
    assert_eq!((found.point.write.ios, read_message.repeated), (4, 0), "each slot writes its own");
    assert!(read_message.fua == read_message.writes && read_message.writes >= 4, "{read_message:?}");
    let mut server = Server::new("flushes", Manners::default());
    let flushing = JobParams { flushes: Flushes::After(10), ..writes(1) };
    let found = run(&server, flushing, ios(100), &MeasureOptions::default()).unwrap();
    let read_message = server.read_message();
    assert!(
        (9..=10).contains(&found.point.flush.count) && read_message.flushes >= 9 && read_message.fua == 0,
        "{read_message:?}"
    );
}

#[test]
fn an_error_of_the_server_is_counted_and_located() {
    for structured in [false, true] {
        let server = Server::new(&format!("bad-{structured}"), Manners { structured, ..Manners::default() });
        let near = JobParams { count: Sectors::new(80), ..job(2) };
        let options = MeasureOptions { on_error: OnError::GoOn, ..MeasureOptions::default() };
        let found = run(&server, near, ios(200), &options).unwrap();
        let failures = &found.measured.failures;
        assert_eq!(failures.by_error.keys().collect::<Vec<_>>(), ["EIO"]);
        assert!(failures.count > 2 && failures.count == found.point.errors);
        assert_eq!(failures.places.iter().map(|one| one.offset_bytes).collect::<Vec<_>>(), [BAD]);
        assert_eq!((found.point.ended, &found.measured.lost), (Ended::Ios, &None));
    }
}

#[test]
fn a_server_that_goes_away_leaves_a_whole_record() {
    for on_error in [OnError::Stop, OnError::GoOn] {
        let name = format!("leaves-{}", on_error == OnError::Stop);
        let server = Server::new(&name, Manners { leaves_after: 100, ..Manners::default() });
        let far = JobParams { first: Lba::new(1_024), count: Sectors::new(1_024), ..job(8) };
        let limit = Limit { duration: Some(Span::from_s(30)), ..Limit::default() };
        let found =
            run(&server, far, limit, &MeasureOptions { on_error, ..MeasureOptions::default() }).unwrap();
        assert_eq!((found.point.ended, found.measured.device_ns.n), (Ended::DeviceGone, 100));
        assert_eq!(found.measured.lost.as_deref(), Some("the server has closed the connection"));
        assert_eq!(found.measured.failures.by_error.keys().collect::<Vec<_>>(), ["ESHUTDOWN"]);
        assert_eq!(found.point.series.iter().map(|piece| piece.errors).sum::<u64>(), found.point.errors);
    }
}

#[test]
fn ctrl_c_ends_a_run_whose_server_is_silent() {
    let server = Server::new("silent", Manners { batch: NEVER, ..Manners::default() });
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| stop.store(true, Ordering::Relaxed) };
    let options =
        MeasureOptions { at: DeviceAddress::Address(server.address()), ..MeasureOptions::default() };
    let limit = Limit { duration: Some(Span::from_s(30)), ..Limit::default() };
    let found = measure(&setup(job(4), limit), &options, &control).unwrap();
    assert_eq!((found.point.ended, found.point.read.ios), (Ended::Interrupted, 0));
}

#[test]
fn what_the_server_does_not_offer_is_refused_with_its_remedy() {
    let plain = transmission::HAS_FLAGS;
    let durable = || {
        let mut job = writes(1);
        job.marking.force_unit_access = true;
        job
    };
    let large =
        |sectors| JobParams { sizes: vec![SizeShare { size: Sectors::new(sectors), weight: 1 }], ..job(1) };
    let flushing = JobParams { flushes: Flushes::After(1), ..writes(1) };
    let odd = JobParams {
        sizes: vec![SizeShare { size: Sectors::new(1), weight: 1 }],
        align: Sectors::new(1),
        zones: None,
        ..job(1)
    };
    let of = |flags| Manners { flags, ..Manners::default() };
    let blocks = |blocks| Manners { blocks: Some(blocks), ..Manners::default() };
    let cases = [
        (
            "read-only",
            of(ALL | transmission::READ_ONLY),
            writes(1),
            "is a read-only export, and the workload writes",
        ),
        ("flush", of(plain), flushing, "offers no FLUSH, and the workload flushes; leave workload.fsync out"),
        ("fua", of(plain), durable(), "offers no FUA, and the workload's writes ask for it"),
        (
            "most",
            blocks([1, 4_096, 65_536]),
            large(256),
            "takes at most 65536 bytes in a request, and the workload has 131072",
        ),
        (
            "least",
            blocks([4_096, 4_096, 65_536]),
            odd,
            "takes multiples of 4096 bytes in a request, and the workload has 512",
        ),
        (
            "end",
            of(ALL),
            JobParams { count: Sectors::new(SECTORS * 2), ..job(1) },
            "has 4194304 bytes, and the workload goes up to 8388608",
        ),
        (
            "name",
            Manners { export: "disk", ..Manners::default() },
            job(1),
            "the server has no default export (here is none); name one",
        ),
    ];
    for (name, manners, job, why) in cases {
        let server = Server::new(name, manners);
        let message = run(&server, job, ios(1), &MeasureOptions::default()).unwrap_err().to_string();
        let message = InFile(&message).to_string();
        assert!(message.contains(why) && message.contains(&server.address()), "{message}");
    }
    let server = Server::new("door", Manners::default());
    let message = run(
        &server,
        job(1),
        ios(1),
        &MeasureOptions { io_engine: IoEngine::Uring, ..MeasureOptions::default() },
    )
    .unwrap_err();
    assert!(message.to_string().contains("is an address, which the engine nbd measures"), "{message}");
    // So that its thread ends.
    drop(UnixStream::connect(&server.socket));
}

#[test]
fn a_path_is_nothing_for_this_engine() {
    let options = MeasureOptions {
        at: DeviceAddress::Path("/dev/zero".into()),
        io_engine: IoEngine::Nbd,
        ..MeasureOptions::default()
    };
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| {} };
    let message = measure(&setup(job(1), ios(1)), &options, &control).unwrap_err().to_string();
    assert!(message.contains("is no NBD address; the engine nbd takes one"), "{message}");
}
