//! The protocol of network block devices, from both ends.
use drivelab_emulate::nbd::wire::Errno;
use drivelab_emulate::nbd::{Export, Security, Session};
use drivelab_emulate::transport::DeviceRequest;
use drivelab_nbd::{handshake as client, replies::Replies};
use std::io::{Cursor, Read, Write};

const SIZE: u64 = 1 << 20;

/// A client's bytes, in pieces whose length is given by the first byte; every request is answered at once. If
/// that byte is 128 or more, TLS is required: the following bytes stand for what it would decrypt.
pub fn server(bytes: &[u8]) {
    let Some((&piece, mut rest)) = bytes.split_first() else { return };
    let export = Export { size: SIZE, block_size: 512, description: "a drive".into(), is_rotational: true };
    let security = if piece < 128 { Security::Plain } else { Security::Required };
    let mut session = Session::new(export.into(), security);
    let mut is_on = false;
    while !rest.is_empty() {
        let room = session.room();
        let count = room.len().min(rest.len()).min(usize::from(piece).max(1));
        room[..count].copy_from_slice(&rest[..count]);
        session.filled(count);
        rest = &rest[count..];
        loop {
            match session.poll() {
                Ok(Some(request)) => answer(&mut session, request.cookie, &request.operation),
                Ok(None) => break,
                Err(_) => return,
            }
        }
        let sent = session.to_send().len();
        session.sent(sent);
        if session.awaits_tls() {
            assert!(security == Security::Required && !session.is_in_transmission());
            if session.begin_tls().is_err() {
                return;
            }
            is_on = true;
        }
        assert!(security == Security::Plain || is_on || !session.is_in_transmission());
    }
}

/// Answers a valid request: one within the device, and in whole blocks.
fn answer(session: &mut Session, cookie: u64, request: &DeviceRequest) {
    let on_device = |offset: u64, length: u64| {
        assert!(length > 0 && offset.is_multiple_of(512) && length.is_multiple_of(512));
        assert!(offset.checked_add(length).is_some_and(|end| end <= SIZE));
    };
    match *request {
        DeviceRequest::Read { offset, length } => {
            on_device(offset, length.into());
            let length = length as usize;
            session.data(cookie, offset, length, |out| out.resize(out.len() + length, 7));
        }
        DeviceRequest::Status { offset, length, .. } => {
            on_device(offset, length.into());
            session.extents(cookie, &[(length, 0)]);
        }
        DeviceRequest::Write { offset, ref data, .. } => {
            on_device(offset, data.len() as u64);
            session.done(cookie);
        }
        DeviceRequest::Trim { offset, length, .. } | DeviceRequest::Zero { offset, length, .. } => {
            on_device(offset, length.into());
            session.refuse(cookie, Errno::NoSpace, "no room");
        }
        DeviceRequest::Cache { offset, length } => {
            on_device(offset, length.into());
            session.done(cookie);
        }
        DeviceRequest::Flush => session.done(cookie),
    }
}

/// A stream that delivers the other end's bytes; what is written to it is dropped.
struct Said<'a>(Cursor<&'a [u8]>);

impl Read for Said<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(room)
    }
}

impl Write for Said<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A server's bytes during the handshake.
pub fn handshake(bytes: &[u8]) {
    let _ = client::negotiate(&mut Said(Cursor::new(bytes)), "disk");
}

/// A server's replies to sixteen reads and as many writes, in two pieces: each is answered at most once.
pub fn replies(bytes: &[u8]) {
    let Some((&cut, rest)) = bytes.split_first() else { return };
    let mut replies = Replies::new(32);
    for tag in 0..32_u64 {
        replies.begin(tag, tag * 4_096, if tag < 16 { 4_096 } else { 0 });
    }
    let (mut answered, cut) = ([0_u32; 32], usize::from(cut).min(rest.len()));
    for piece in [&rest[..cut], &rest[cut..]] {
        let taken = replies.take(piece, |event| {
            if let drivelab_nbd::replies::ReplyEvent::Answer { tag, .. } = event {
                answered[tag as usize] += 1;
            }
        });
        if taken.is_err() {
            break;
        }
    }
    assert!(answered.iter().all(|&count| count <= 1));
    assert_eq!(replies.in_flight(), answered.iter().filter(|&&count| count == 0).count());
}
