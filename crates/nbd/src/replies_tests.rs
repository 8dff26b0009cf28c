//! Replies of every form, whole and in pieces.
use super::*;

fn simple(cookie: u64, errno: u32, data: &[u8]) -> Vec<u8> {
    let mut out = SIMPLE_REPLY_MAGIC.to_be_bytes().to_vec();
    out.extend(errno.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(data);
    out
}

fn structured(cookie: u64, flags: u16, kind: u16, body: &[u8]) -> Vec<u8> {
    let mut out = STRUCTURED_REPLY_MAGIC.to_be_bytes().to_vec();
    out.extend(flags.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend((body.len() as u32).to_be_bytes());
    out.extend(body);
    out
}

fn data(cookie: u64, flags: u16, offset: u64, bytes: &[u8]) -> Vec<u8> {
    structured(cookie, flags, chunk::OFFSET_DATA, &[&offset.to_be_bytes(), bytes].concat())
}

fn hole(cookie: u64, flags: u16, offset: u64, bytes: u32) -> Vec<u8> {
    let body = [&offset.to_be_bytes()[..], &bytes.to_be_bytes()].concat();
    structured(cookie, flags, chunk::OFFSET_HOLE, &body)
}

fn error(cookie: u64, flags: u16, errno: u32, why: &str) -> Vec<u8> {
    let head = [&errno.to_be_bytes()[..], &(why.len() as u16).to_be_bytes()].concat();
    structured(cookie, flags, chunk::ERROR, &[&head, why.as_bytes()].concat())
}

/// Data of a read: its tag, where they begin, and the bytes.
type Part = (u64, u32, Vec<u8>);

/// The answers, and the bytes of each read by tag.
fn feed(replies: &mut Replies, bytes: &[u8], step: usize) -> (Vec<(u64, u32)>, Vec<Part>) {
    let (mut answers, mut found) = (Vec::new(), Vec::new());
    for part in bytes.chunks(step) {
        replies
            .take(part, |event| match event {
                ReplyEvent::Data { tag, at, bytes } => found.push((tag, at, bytes.to_vec())),
                ReplyEvent::Answer { tag, errno } => answers.push((tag, errno)),
            })
            .unwrap();
    }
    (answers, found)
}

#[test]
fn replies_of_every_form_are_distinguished_however_they_are_cut() {
    for step in [1, 3, 7, 16, 20, 4_096] {
        let mut replies = Replies::new(2);
        let read = replies.begin(10, 512, 8);
        let write = replies.begin(11, 0, 0);
        // One more than there was room for.
        let other = replies.begin(12, 1_024, 4);
        let bad = replies.begin(13, 2_048, 4);
        assert_eq!(replies.in_flight(), 4);
        let sent = [
            data(read, 0, 516, b"5678"),
            simple(write, 28, b""),
            error(bad, chunk::DONE, 5, "bad block"),
            hole(read, 0, 512, 4),
            simple(other, 0, b"abcd"),
            structured(read, chunk::DONE, chunk::NONE, b""),
        ];
        let (answers, found) = feed(&mut replies, &sent.concat(), step);
        assert_eq!(answers, [(11, 28), (13, 5), (12, 0), (10, 0)], "step {step}");
        let mut bytes = [0; 8];
        for (_, at, part) in found.iter().filter(|one| one.0 == 10) {
            bytes[*at as usize..*at as usize + part.len()].copy_from_slice(part);
        }
        assert_eq!(&bytes, b"\0\0\0\x005678");
        assert_eq!(replies.in_flight(), 0);
    }
}

#[test]
fn an_error_in_the_middle_of_a_read_ends_it_with_the_last_chunk() {
    let mut replies = Replies::new(1);
    let read = replies.begin(1, 0, 8);
    let sent = [data(read, 0, 0, b"1234"), error(read, 0, 5, ""), structured(read, 1, chunk::NONE, b"")];
    assert_eq!(feed(&mut replies, &sent.concat(), 5).0, [(1, 5)]);
}

#[test]
fn what_a_server_may_not_send_is_an_error() {
    type Say = fn(u64) -> Vec<u8>;
    let cases: [(&str, Say); 9] = [
        ("a request that was not made", |cookie| simple(cookie + (1 << 32), 0, b"")),
        ("a request that was not made", |cookie| simple(cookie + 1, 0, b"")),
        ("does not begin as replies do", |_| vec![7; 16]),
        ("fewer bytes than it asked for", |cookie| data(cookie, chunk::DONE, 512, b"1234")),
        ("data that the read did not ask for", |cookie| data(cookie, chunk::DONE, 516, b"12345")),
        ("data that the read did not ask for", |cookie| data(cookie, chunk::DONE, 0, b"1")),
        ("data that the read did not ask for", |cookie| hole(cookie, chunk::DONE, 512, 9)),
        ("an error without a number", |cookie| error(cookie, chunk::DONE, 0, "")),
        ("a chunk that was not asked for", |cookie| structured(cookie, 1, chunk::BLOCK_STATUS, b"12345678")),
    ];
    for (why, send) in cases {
        let mut replies = Replies::new(2);
        let cookie = replies.begin(1, 512, 8);
        let sent = replies.take(&send(cookie), |_| {}).unwrap_err().to_string();
        assert!(sent.contains(why), "{sent}");
    }
    // The same bytes twice are no data of a longer read.
    let mut replies = Replies::new(1);
    let cookie = replies.begin(1, 0, 8);
    let sent = [data(cookie, 0, 0, b"12345"), data(cookie, 1, 0, b"12345")].concat();
    assert!(replies.take(&sent, |_| {}).is_err());
}

#[test]
fn what_is_under_way_is_given_up_once() {
    let mut replies = Replies::new(3);
    for tag in [7, 8] {
        replies.begin(tag, 0, 4);
    }
    let mut lost = Vec::new();
    replies.give_up(|tag| lost.push(tag));
    assert_eq!((lost, replies.in_flight()), (vec![7, 8], 0));
    replies.give_up(|_| panic!("nothing is under way"));
}
