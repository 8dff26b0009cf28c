//! The codec: what it says to clients that keep to the protocol, and that nothing else gets it out of step.
use drivelab_emulate::nbd::wire::{
    self, Errno, REQUEST_BYTES, chunk, command, flag, option, reply, u32_at, u64_at,
};
use drivelab_emulate::nbd::{Closed, Export, Request, Security, Session};
use drivelab_emulate::transport::DeviceRequest;
use proptest::prelude::*;
use std::sync::Arc;

const SIZE: u64 = 1 << 20;

fn export() -> Arc<Export> {
    Arc::new(Export { size: SIZE, block_size: 512, description: "a drive".into(), is_rotational: true })
}

/// The client's end: what it has said was taken in pieces of some length, and what came of it.
struct Talk {
    session: Session,
    requests: Vec<Request>,
    closed: Option<Closed>,
    received: Vec<u8>,
}

impl Talk {
    fn new() -> Self {
        Talk::with(Security::Plain)
    }

    fn with(security: Security) -> Self {
        let session = Session::new(export(), security);
        Talk { session, requests: Vec::new(), closed: None, received: Vec::new() }
    }

    fn send(&mut self, bytes: &[u8], piece: usize) {
        let mut rest = bytes;
        while !rest.is_empty() && self.closed.is_none() {
            let room = self.session.room();
            assert!(!room.is_empty(), "there is always room");
            let count = room.len().min(rest.len()).min(piece);
            room[..count].copy_from_slice(&rest[..count]);
            self.session.filled(count);
            rest = &rest[count..];
            self.poll();
        }
    }

    fn poll(&mut self) {
        loop {
            match self.session.poll() {
                Ok(Some(request)) => self.requests.push(request),
                Ok(None) => break,
                Err(closed) => {
                    self.closed = Some(closed);
                    break;
                }
            }
        }
        self.receive();
    }

    fn receive(&mut self) {
        let to_send = self.session.to_send().to_vec();
        self.session.sent(to_send.len());
        self.received.extend(to_send);
    }
}

fn put_option(out: &mut Vec<u8>, option: u32, data: &[u8]) {
    out.extend(wire::IHAVEOPT.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}

fn go(kinds: &[u16]) -> Vec<u8> {
    let mut data = 0_u32.to_be_bytes().to_vec();
    data.extend((kinds.len() as u16).to_be_bytes());
    kinds.iter().for_each(|kind| data.extend(kind.to_be_bytes()));
    data
}

fn contexts(queries: &[&[u8]]) -> Vec<u8> {
    let mut data = 0_u32.to_be_bytes().to_vec();
    data.extend((queries.len() as u32).to_be_bytes());
    for query in queries {
        data.extend((query.len() as u32).to_be_bytes());
        data.extend(*query);
    }
    data
}

fn put_request(out: &mut Vec<u8>, (kind, flags): (u16, u16), cookie: u64, offset: u64, length: u32) {
    out.extend(wire::REQUEST_MAGIC.to_be_bytes());
    out.extend(flags.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(offset.to_be_bytes());
    out.extend(length.to_be_bytes());
}

/// Flags, structured replies, allocation, and GO.
fn opening() -> Vec<u8> {
    let mut sent = 3_u32.to_be_bytes().to_vec();
    put_option(&mut sent, option::STRUCTURED_REPLY, &[]);
    put_option(&mut sent, option::SET_META_CONTEXT, &contexts(&[b"base:allocation"]));
    put_option(&mut sent, option::GO, &go(&[3]));
    sent
}

/// Replies to options, as (option, kind, data), behind the greeting.
fn replies(received: &[u8]) -> Vec<(u32, u32, Vec<u8>)> {
    let (mut at, mut found) = (18, Vec::new());
    while let Some(magic) = u64_at(received, at) {
        if magic != wire::REPLY_MAGIC {
            break;
        }
        let word = |place| u32_at(received, at + place).unwrap();
        let (option, kind, length) = (word(8), word(12), word(16) as usize);
        found.push((option, kind, received[at + 20..at + 20 + length].to_vec()));
        at += 20 + length;
    }
    found
}

#[test]
fn a_handshake_advertises_what_the_device_supports() {
    let mut talk = Talk::new();
    let mut sent = 3_u32.to_be_bytes().to_vec();
    put_option(&mut sent, option::LIST, &[]);
    put_option(&mut sent, option::INFO, &go(&[1, 2, 3]));
    put_option(&mut sent, 77, b"what is that");
    put_option(&mut sent, option::STARTTLS, &[]);
    put_option(&mut sent, option::GO, &go(&[]));
    talk.send(&sent, usize::MAX);
    assert_eq!(&talk.received[..18], b"NBDMAGICIHAVEOPT\x00\x03");
    let found = replies(&talk.received);
    let kinds: Vec<(u32, u32)> = found.iter().map(|(option, kind, _)| (*option, *kind)).collect();
    let info = [(option::INFO, reply::INFO); 4];
    let mut expected = vec![(option::LIST, reply::SERVER), (option::LIST, reply::ACK)];
    expected.extend(info);
    expected.extend([
        (option::INFO, reply::ACK),
        (77, reply::ERR_UNSUP),
        (option::STARTTLS, reply::ERR_POLICY),
    ]);
    expected.extend([(option::GO, reply::INFO), (option::GO, reply::INFO), (option::GO, reply::ACK)]);
    assert_eq!(kinds, expected);
    let export =
        &found.iter().find(|(option, kind, _)| (*option, *kind) == (option::GO, reply::INFO)).unwrap().2;
    assert_eq!(u64_at(export, 2), Some(SIZE));
    // Flags, flush, FUA, rotational, trim, zeroes, DF, several connections, cache.
    assert_eq!(export[10..12], 0b0000_0101_1111_1101_u16.to_be_bytes());
    assert!(talk.session.is_in_transmission() && talk.closed.is_none());
}

#[test]
fn what_is_wrong_in_a_handshake_gets_the_right_answer() {
    let long = vec![0; 70_000];
    let short_name = [0, 0, 0, 9, b'x'];
    let unknown = [&[0, 0, 0, 1, b'x'][..], &[0, 0]].concat();
    for (option, data, kind) in [
        (option::LIST, &b"x"[..], reply::ERR_INVALID),
        (option::STRUCTURED_REPLY, b"x", reply::ERR_INVALID),
        (option::GO, b"", reply::ERR_INVALID),
        (option::GO, &short_name, reply::ERR_INVALID),
        (option::GO, &[0, 0, 0, 0, 0, 2, 0, 1], reply::ERR_INVALID),
        (option::GO, &unknown, reply::ERR_UNKNOWN),
        (option::GO, &long, reply::ERR_TOO_BIG),
        // Structured replies come first.
        (option::SET_META_CONTEXT, &contexts(&[b"base:allocation"]), reply::ERR_INVALID),
    ] {
        let mut talk = Talk::new();
        let mut sent = 3_u32.to_be_bytes().to_vec();
        put_option(&mut sent, option, data);
        put_option(&mut sent, option::LIST, &[]);
        talk.send(&sent, 1_000);
        let found = replies(&talk.received);
        assert_eq!((found[0].0, found[0].1), (option, kind));
        // The next one is heard.
        assert_eq!((found[1].0, found[1].1), (option::LIST, reply::SERVER));
    }
    for (sent, closed) in [
        (0_u32.to_be_bytes().to_vec(), Closed::NotNewstyle),
        (5_u32.to_be_bytes().to_vec(), Closed::Flags(5)),
        ([&3_u32.to_be_bytes()[..], &[7; 16]].concat(), Closed::NoOption),
    ] {
        let mut talk = Talk::new();
        talk.send(&sent, 3);
        assert_eq!(talk.closed, Some(closed));
    }
    let mut sent = 3_u32.to_be_bytes().to_vec();
    put_option(&mut sent, option::EXPORT_NAME, b"other");
    let mut talk = Talk::new();
    talk.send(&sent, 7);
    assert_eq!(talk.closed, Some(Closed::NoSuchExport));
}

#[test]
fn nothing_but_tls_is_talked_about_where_it_is_required() {
    let mut talk = Talk::with(Security::Required);
    let mut sent = 3_u32.to_be_bytes().to_vec();
    let others =
        [option::LIST, option::INFO, option::GO, option::STRUCTURED_REPLY, option::SET_META_CONTEXT, 77];
    others.iter().for_each(|&option| put_option(&mut sent, option, &go(&[])));
    put_option(&mut sent, option::STARTTLS, b"now");
    talk.send(&sent, 9);
    let found = replies(&talk.received);
    let kinds: Vec<(u32, u32)> = found.iter().map(|(option, kind, _)| (*option, *kind)).collect();
    let mut expected: Vec<(u32, u32)> = others.iter().map(|&option| (option, reply::ERR_TLS_REQD)).collect();
    expected.push((option::STARTTLS, reply::ERR_INVALID));
    assert_eq!(kinds, expected);
    assert!(talk.session.lacks_tls(), "it has heard that it needs TLS");
    assert!(!talk.session.awaits_tls() && !talk.session.is_in_transmission());
    let mut left = Vec::new();
    put_option(&mut left, option::EXPORT_NAME, b"");
    talk.send(&left, 9);
    assert_eq!(talk.closed, Some(Closed::NoTls));
    // Who leaves may do so without it.
    let mut leaves = Talk::with(Security::Required);
    let mut sent = 3_u32.to_be_bytes().to_vec();
    put_option(&mut sent, option::ABORT, &[]);
    leaves.send(&sent, 9);
    assert_eq!(leaves.closed, Some(Closed::Left));
    assert!(!leaves.session.lacks_tls(), "nobody has told it");
}

#[test]
fn with_tls_the_handshake_begins_anew() {
    let mut talk = Talk::with(Security::Required);
    let mut sent = 3_u32.to_be_bytes().to_vec();
    put_option(&mut sent, option::STARTTLS, &[]);
    talk.send(&sent, 9);
    assert_eq!(replies(&talk.received), [(option::STARTTLS, reply::ACK, Vec::new())]);
    assert!(talk.session.awaits_tls());
    talk.session.begin_tls().expect("nothing was said too early");
    assert!(!talk.session.lacks_tls());
    let mut sent = Vec::new();
    put_option(&mut sent, option::STARTTLS, &[]);
    // Nothing was agreed on before: without structured replies there are no contexts.
    put_option(&mut sent, option::SET_META_CONTEXT, &contexts(&[b"base:allocation"]));
    put_option(&mut sent, option::GO, &go(&[]));
    put_request(&mut sent, (command::FLUSH, 0), 6, 0, 0);
    talk.send(&sent, 9);
    let kinds: Vec<(u32, u32)> =
        replies(&talk.received).iter().map(|(option, kind, _)| (*option, *kind)).collect();
    let refused = [(option::STARTTLS, reply::ERR_INVALID), (option::SET_META_CONTEXT, reply::ERR_INVALID)];
    assert_eq!(kinds[1..3], refused);
    assert_eq!(kinds.last(), Some(&(option::GO, reply::ACK)));
    assert_eq!(talk.requests, [Request { cookie: 6, operation: DeviceRequest::Flush }]);
}

/// Somebody between the two ends could have said it.
#[test]
fn what_is_sent_before_tls_has_begun_ends_the_connection() {
    let mut talk = Talk::with(Security::Required);
    let mut sent = 3_u32.to_be_bytes().to_vec();
    put_option(&mut sent, option::STARTTLS, &[]);
    put_option(&mut sent, option::GO, &go(&[]));
    talk.send(&sent, usize::MAX);
    assert!(talk.session.awaits_tls() && talk.requests.is_empty());
    assert_eq!(talk.session.begin_tls(), Err(Closed::Tls));
    assert_eq!(talk.session.poll(), Err(Closed::Tls));
}

/// The error of the one reply behind the handshake.
fn errno_of(talk: &Talk) -> u32 {
    let received = &talk.received[talk.received.len() - talk.received.len().min(200)..];
    let magic = wire::STRUCTURED_REPLY_MAGIC.to_be_bytes();
    let at = received.windows(4).position(|word| word == magic).expect("there is a reply");
    assert_eq!(received[at + 6..at + 8], chunk::ERROR.to_be_bytes());
    u32_at(received, at + 20).unwrap()
}

#[test]
fn an_invalid_request_is_refused_and_the_next_one_served() {
    let invalid = Errno::Invalid as u32;
    for (request, offset, length, errno) in [
        ((command::READ, 0), SIZE, 512, invalid),
        ((command::READ, 0), 1, 512, invalid),
        ((command::READ, 0), 0, 0, invalid),
        ((command::READ, 0), 0, 511, invalid),
        ((command::READ, 0), u64::MAX, 512, invalid),
        ((command::READ, 0), 0, wire::PAYLOAD_MAX + 512, invalid),
        ((command::READ, flag::REQ_ONE), 0, 512, invalid),
        ((command::FLUSH, 0), 512, 0, invalid),
        ((command::TRIM, 0), SIZE - 512, 1_024, invalid),
        ((command::WRITE_ZEROES, 0), SIZE - 512, 1_024, Errno::NoSpace as u32),
        // Fast zeroes are not offered.
        ((command::WRITE_ZEROES, 1 << 4), 0, 512, invalid),
        ((9, 0), 0, 512, invalid),
    ] {
        let mut talk = Talk::new();
        let mut sent = opening();
        put_request(&mut sent, request, 5, offset, length);
        talk.send(&sent, 11);
        assert_eq!(errno_of(&talk), errno, "{request:?} at {offset}, {length} bytes");
        let mut next = Vec::new();
        put_request(&mut next, (command::READ, flag::DF), 6, 512, 1_024);
        talk.send(&next, 5);
        assert_eq!(
            talk.requests,
            [Request { cookie: 6, operation: DeviceRequest::Read { offset: 512, length: 1_024 } }]
        );
    }
    // The payload of a write that is refused is read over.
    for (offset, length, errno) in
        [(SIZE, 512_u32, Errno::NoSpace as u32), (0, 100, invalid), (0, wire::PAYLOAD_MAX + 512, invalid)]
    {
        let mut talk = Talk::new();
        let mut sent = opening();
        put_request(&mut sent, (command::WRITE, flag::FUA), 5, offset, length);
        sent.extend(vec![0x25; length as usize]);
        put_request(&mut sent, (command::FLUSH, 0), 6, 0, 0);
        talk.send(&sent, 100_000);
        assert_eq!(errno_of(&talk), errno);
        assert_eq!(talk.requests, [Request { cookie: 6, operation: DeviceRequest::Flush }]);
    }
    let mut talk = Talk::new();
    talk.send(&[opening(), vec![1; REQUEST_BYTES]].concat(), 64);
    assert_eq!(talk.closed, Some(Closed::NoRequest));
}

#[test]
fn fua_is_heard_with_what_writes() {
    let (offset, length) = (512, 1_024);
    for fua in [false, true] {
        let flags = if fua { flag::FUA } else { 0 };
        let mut sent = opening();
        put_request(&mut sent, (command::WRITE_ZEROES, flags | flag::NO_HOLE), 5, offset, length);
        put_request(&mut sent, (command::WRITE, flags), 6, offset, length);
        sent.extend([7; 1_024]);
        let mut talk = Talk::new();
        talk.send(&sent, usize::MAX);
        let zero = DeviceRequest::Zero { offset, length, fua };
        let write = DeviceRequest::Write { offset, data: vec![7; 1_024], fua };
        let expected = [(5, zero), (6, write)].map(|(cookie, operation)| Request { cookie, operation });
        assert_eq!(talk.requests, expected);
    }
}

#[derive(Clone, Debug)]
enum Sent {
    Request(u16, u16, u64, u64, u32),
    Write(u16, u64, u64, Vec<u8>),
}

fn sent() -> impl Strategy<Value = Sent> {
    let at = (0_u64..2_100).prop_map(|sector| sector * 512);
    let length = prop_oneof![(0_u32..20).prop_map(|sectors| sectors * 512), any::<u32>()];
    let request = (0_u16..12, 0_u16..32, any::<u64>(), at.clone(), length)
        .prop_filter("no payload", |(kind, ..)| *kind != command::WRITE && *kind != command::DISC)
        .prop_map(|(kind, flags, cookie, offset, length)| Sent::Request(kind, flags, cookie, offset, length));
    let data = prop::collection::vec(any::<u8>(), 0..3_000);
    let write = (0_u16..3, any::<u64>(), at, data);
    prop_oneof![request, write.prop_map(|(flags, cookie, at, data)| Sent::Write(flags, cookie, at, data))]
}

fn bytes_of(all: &[Sent]) -> Vec<u8> {
    let mut out = opening();
    for one in all {
        match one {
            Sent::Request(kind, flags, cookie, offset, length) => {
                put_request(&mut out, (*kind, *flags), *cookie, *offset, *length);
            }
            Sent::Write(flags, cookie, offset, data) => {
                put_request(&mut out, (command::WRITE, *flags), *cookie, *offset, data.len() as u32);
                out.extend(data);
            }
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn how_bytes_come_in_pieces_does_not_matter(
        all in prop::collection::vec(sent(), 0..20),
        pieces in prop::collection::vec(1_usize..5_000, 1..40),
    ) {
        let bytes = bytes_of(&all);
        let mut whole = Talk::new();
        whole.send(&bytes, usize::MAX);
        let mut parts = Talk::new();
        let (mut rest, mut pieces) = (&bytes[..], pieces.iter().cycle());
        while !rest.is_empty() {
            let count = rest.len().min(*pieces.next().unwrap());
            parts.send(&rest[..count], count);
            rest = &rest[count..];
        }
        prop_assert_eq!(&whole.requests, &parts.requests);
        prop_assert_eq!(&whole.received, &parts.received);
        prop_assert_eq!(whole.closed, parts.closed);
        // Each request is served or refused, in order; none is lost.
        let refused = whole.received.windows(4).filter(|word| *word == wire::STRUCTURED_REPLY_MAGIC.to_be_bytes()).count();
        prop_assert!(whole.requests.len() + refused >= all.len());
    }

    #[test]
    fn requests_are_on_the_device_and_in_whole_blocks(all in prop::collection::vec(sent(), 0..30)) {
        let mut talk = Talk::new();
        talk.send(&bytes_of(&all), usize::MAX);
        for request in &talk.requests {
            let (offset, length) = match &request.operation {
                DeviceRequest::Read { offset, length } | DeviceRequest::Trim { offset, length, .. } | DeviceRequest::Zero { offset, length, .. }
                | DeviceRequest::Cache { offset, length } | DeviceRequest::Status { offset, length, .. } => (*offset, u64::from(*length)),
                DeviceRequest::Write { offset, data, .. } => (*offset, data.len() as u64),
                DeviceRequest::Flush => continue,
            };
            prop_assert!(length > 0 && offset % 512 == 0 && length % 512 == 0 && offset + length <= SIZE);
        }
    }

    #[test]
    fn noise_never_gets_it_out_of_step(bytes in prop::collection::vec(any::<u8>(), 0..4_000), piece in 1_usize..500) {
        let mut talk = Talk::new();
        talk.send(&bytes, piece);
        prop_assert!(talk.requests.is_empty());
        let mut after = Talk::new();
        after.send(&opening(), usize::MAX);
        after.send(&bytes, piece);
        prop_assert!(after.closed.is_some() || bytes.len() < REQUEST_BYTES || !after.requests.is_empty() || after.session.is_in_transmission());
    }

    #[test]
    fn a_damaged_conversation_ends_or_goes_on(
        all in prop::collection::vec(sent(), 1..10),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = bytes_of(&all);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let mut talk = Talk::new();
        talk.send(&bytes, 777);
        // Whatever was made of it, it is on the device.
        for request in &talk.requests {
            if let DeviceRequest::Read { offset, length } = request.operation {
                prop_assert!(offset + u64::from(length) <= SIZE);
            }
        }
    }
}
