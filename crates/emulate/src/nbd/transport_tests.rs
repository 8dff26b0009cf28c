//! What a client that asks for too much gets, and when.
use super::*;
use crate::nbd::sharing;
use crate::transport::{DeviceRequest, ReadData};
use rustix::event::{Timespec, poll};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

const MIB: u32 = 1 << 20;
const REQUESTS: u64 = 1_000;

/// Collects requests.
#[derive(Default)]
struct Requests(Vec<(RequestId, DeviceRequest)>);

impl RequestSink for Requests {
    fn submit(&mut self, request_id: RequestId, request: DeviceRequest) {
        self.0.push((request_id, request));
    }
}

/// Handles what has arrived, as long as something has.
fn turn(transport: &mut NbdTransport, requests: &mut Requests) {
    loop {
        let mut fds = Vec::new();
        transport.wait_for(&mut fds);
        let found = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).expect("it can wait");
        let ready: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
        if found == 0 {
            return;
        }
        transport.receive(&ready, requests);
    }
}

/// A client of a device of 64 MiB that has agreed on everything, without structured replies.
fn client(name: &str) -> (NbdTransport, UnixStream, Requests) {
    let path = std::env::temp_dir().join(format!("drivelab-test-{}-{name}", std::process::id()));
    let description = "test".into();
    let export = Export { size: 64 << 20, block_size: 512, description, is_rotational: true };
    let mut transport = NbdTransport::unix(&path, export).expect("it can be had");
    let mut requests = Requests::default();
    let mut client = UnixStream::connect(&path).expect("it listens");
    client.write_all(&3_u32.to_be_bytes()).expect("it is open");
    client.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").expect("it is open");
    turn(&mut transport, &mut requests);
    client.read_exact(&mut [0; 18 + 10]).expect("it is greeted");
    client.set_nonblocking(true).expect("it is open");
    (transport, client, requests)
}

fn head(kind: u16, cookie: u64, length: u32) -> Vec<u8> {
    let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
    bytes.extend([0; 2]);
    bytes.extend(kind.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(0_u64.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}

/// Sends these bytes as far as the server takes them.
fn send<'a>(
    transport: &mut NbdTransport,
    client: &mut UnixStream,
    mut bytes: &'a [u8],
    requests: &mut Requests,
) -> &'a [u8] {
    while let Ok(count @ 1..) = client.write(bytes) {
        bytes = &bytes[count..];
        turn(transport, requests);
    }
    bytes
}

#[test]
fn reads_in_flight_are_of_bounded_memory_and_all_are_answered() {
    let (mut transport, mut client, mut requests) = client("reads");
    let bytes: Vec<u8> = (0..REQUESTS).flat_map(|cookie| head(0, cookie, 32 * MIB)).collect();
    let mut rest = send(&mut transport, &mut client, &bytes, &mut requests);
    assert_eq!(requests.0.len(), 8, "256 MiB");
    let (mut cookies, mut found) = (Vec::new(), vec![0; 1 << 20]);
    for _ in 0..REQUESTS {
        let (request_id, _) = requests.0.remove(0);
        cookies.push(request_id.cookie);
        let answer = Ok(Answer::Data { offset: 0, found: ReadData::Plain(vec![1; 512]) });
        transport.answer(Reply { request_id, due: None, answer });
        transport.flush();
        while let Ok(1..) = client.read(&mut found) {}
        turn(&mut transport, &mut requests);
        rest = send(&mut transport, &mut client, rest, &mut requests);
        assert!(requests.0.len() <= 8);
    }
    assert_eq!(cookies, (0..REQUESTS).collect::<Vec<_>>());
    assert!(rest.is_empty() && requests.0.is_empty());
}

#[test]
fn writes_in_flight_are_of_bounded_memory() {
    let (mut transport, mut client, mut requests) = client("writes");
    let mut bytes = head(1, 0, 16 * MIB);
    bytes.resize(bytes.len() + 16 * MIB as usize, 1);
    for number in 0..17 {
        let rest = send(&mut transport, &mut client, &bytes, &mut requests);
        assert_eq!(rest.is_empty(), number < 16, "write {number}");
    }
    assert_eq!(requests.0.len(), 16);
}

/// An option of the handshake.
fn option(kind: u32, data: &[u8]) -> Vec<u8> {
    [&b"IHAVEOPT"[..], &kind.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data].concat()
}

#[test]
fn what_was_never_written_is_told_as_a_hole_that_reads_as_zeros() {
    let (mut transport, _, mut requests) = client("holes");
    let Listener::Unix(_, path) = &transport.listener else { panic!("it listens at a path") };
    let mut client = UnixStream::connect(path).expect("it listens");
    let query = b"base:allocation";
    let context = [&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, query.len() as u8][..], query].concat();
    let agreed = [option(8, &[]), option(10, &context), option(7, &[0; 6])].concat();
    client.write_all(&[&3_u32.to_be_bytes()[..], &agreed].concat()).expect("it is open");
    turn(&mut transport, &mut requests);
    client.set_nonblocking(true).expect("it is open");
    let mut found = vec![0; 4_096];
    while let Ok(1..) = client.read(&mut found) {}
    client.write_all(&head(7, 9, 12_288)).expect("it is open");
    turn(&mut transport, &mut requests);
    let (request_id, _) = requests.0.remove(0);
    let answer = Ok(Answer::Extents(vec![(4_096, true), (8_192, false)]));
    transport.answer(Reply { request_id, due: None, answer });
    transport.flush();
    let length = client.read(&mut found).expect("there is a reply");
    // A chunk of the block status: its header, the context, and a length with its flags for each extent.
    let extents: Vec<u32> =
        found[24..length].chunks(4).map(|word| u32::from_be_bytes(word.try_into().expect("four"))).collect();
    // NBD_STATE_HOLE and NBD_STATE_ZERO.
    assert_eq!((found[6..8].to_vec(), extents), (vec![0, 5], vec![4_096, 1 | 2, 8_192, 0]));
}

/// One more client of a server, greeted.
fn another(transport: &mut NbdTransport, requests: &mut Requests) -> UnixStream {
    let Listener::Unix(_, path) = &transport.listener else { panic!("it listens at a path") };
    let mut client = UnixStream::connect(path).expect("it listens");
    client.write_all(&3_u32.to_be_bytes()).expect("it is open");
    client.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").expect("it is open");
    turn(transport, requests);
    client.read_exact(&mut [0; 18 + 10]).expect("it is greeted");
    client.set_nonblocking(true).expect("it is open");
    client
}

fn held(transport: &NbdTransport) -> u64 {
    transport.connections.iter().map(|connection| connection.held().0).sum()
}

#[test]
fn headers_without_payloads_take_no_memory_and_their_clients_leave_in_time() {
    let (mut transport, mut first, mut requests) = client("stalled");
    let mut stalled: Vec<UnixStream> = (0..200).map(|_| another(&mut transport, &mut requests)).collect();
    for client in &mut stalled {
        let mut bytes = head(1, 0, 32 * MIB);
        bytes.push(1);
        client.write_all(&bytes).expect("it is open");
    }
    turn(&mut transport, &mut requests);
    assert!(held(&transport) <= 200 * (256 << 10), "{}", held(&transport));
    let begin = Moment::now();
    transport.expire(begin);
    stalled[0].write_all(&[1]).expect("it is open");
    turn(&mut transport, &mut requests);
    transport.expire(begin + sharing::PATIENCE);
    assert_eq!(transport.connections.len(), 2, "the first has asked for nothing, another has sent a byte");
    assert_eq!(transport.counts().ended.get("the client has stalled"), Some(&199));
    first.write_all(&head(0, 7, 512)).expect("it is open");
    turn(&mut transport, &mut requests);
    assert_eq!(requests.0.len(), 1, "it is served");
}

#[test]
fn all_connections_together_hold_a_bounded_memory_and_each_comes_to_its_end() {
    let (mut transport, first, mut requests) = client("together");
    transport.memory_max = 16 << 20;
    let mut clients = vec![first];
    clients.extend((1..20).map(|_| another(&mut transport, &mut requests)));
    let mut bytes = head(1, 0, 4 * MIB);
    bytes.resize(bytes.len() + 4 * MIB as usize, 1);
    let mut rests = vec![&bytes[..]; clients.len()];
    // One payload may cross the bound, and the oldest goes on beyond it.
    let most = transport.memory_max + u64::from(2 * 4 * MIB);
    let mut writes = 0;
    while rests.iter().any(|rest| !rest.is_empty()) {
        let before: usize = rests.iter().map(|rest| rest.len()).sum();
        for (client, rest) in clients.iter_mut().zip(&mut rests) {
            while let Ok(count @ 1..) = client.write(rest) {
                *rest = &rest[count..];
            }
            turn(&mut transport, &mut requests);
            assert!(held(&transport) <= most, "{}", held(&transport));
        }
        let left: usize = rests.iter().map(|rest| rest.len()).sum();
        if left == before {
            // Nothing more is taken until writes end.
            assert!(!requests.0.is_empty(), "one payload goes on");
            for (request_id, _) in std::mem::take(&mut requests.0) {
                writes += 1;
                transport.answer(Reply { request_id, due: None, answer: Ok(Answer::Done) });
            }
            transport.flush();
        }
    }
    assert_eq!(writes + requests.0.len(), clients.len());
}

#[test]
fn a_client_that_takes_no_replies_is_left_alone_unless_memory_is_short() {
    let (mut transport, mut first, mut requests) = client("replies");
    first.write_all(&head(0, 1, 4 * MIB)).expect("it is open");
    turn(&mut transport, &mut requests);
    let (request_id, _) = requests.0.remove(0);
    let answer = Ok(Answer::Data { offset: 0, found: ReadData::Plain(vec![1; 4 << 20]) });
    transport.answer(Reply { request_id, due: None, answer });
    transport.flush();
    let begin = Moment::now();
    transport.expire(begin);
    transport.expire(begin + 10 * sharing::PATIENCE);
    assert_eq!(transport.connections.len(), 1, "memory is not short");
    // Others ask for all that is left.
    let mut others: Vec<UnixStream> = (0..4).map(|_| another(&mut transport, &mut requests)).collect();
    for client in &mut others {
        (0..8).for_each(|cookie| client.write_all(&head(0, cookie, 32 * MIB)).expect("it is open"));
        turn(&mut transport, &mut requests);
    }
    transport.expire(begin + 10 * sharing::PATIENCE + sharing::PATIENCE / 2);
    assert_eq!(transport.connections.len(), 5, "memory has been short for too short a time");
    transport.expire(begin + 11 * sharing::PATIENCE);
    assert_eq!(transport.connections.len(), 4);
}
