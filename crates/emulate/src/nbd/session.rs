//! One connection as a pure state machine: bytes in, requests out; replies in, bytes out.
//!
//! The owner of the socket reads into [`Session::room`], reports the number of bytes with [`Session::filled`], takes
//! requests from [`Session::poll`], and sends the bytes of [`Session::to_send`]. Nothing here does I/O or waits.
//! Start reading at [`Session::poll`].
use super::export::Export;
use super::handshake::{self, Agreed, Head, Next, OPTION_BYTES_MAX, OPTION_HEAD, Security};
use super::payload::Payload;
use super::request;
use super::wire::{
    Errno, FLAG_FIXED_NEWSTYLE, FLAG_NO_ZEROES, IHAVEOPT, NBDMAGIC, PAYLOAD_MAX, REQUEST_BYTES, command,
    option, reply, u32_at,
};
use crate::transport::DeviceRequest;
use std::sync::Arc;
use thiserror::Error;

/// Bytes of the input buffer; payloads have their own.
const ROOM: usize = 64 << 10;

/// Why a connection ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Closed {
    #[error("the client has left")]
    Left,
    #[error("the client does not speak fixed newstyle")]
    NotNewstyle,
    #[error("the client sets flags of the handshake that do not exist: {0:#x}")]
    Flags(u32),
    #[error("an option does not begin with its magic number")]
    NoOption,
    #[error("the client asks for an export that does not exist")]
    NoSuchExport,
    #[error("a request does not begin with its magic number")]
    NoRequest,
    #[error("the client wants the device without TLS")]
    NoTls,
    #[error("the client does not keep to TLS")]
    Tls,
    #[error("the client has shown no certificate")]
    NoCertificate,
    #[error("the client's certificate is not of this authority, or not valid now")]
    Certificate,
    #[error("the client's certificate was revoked")]
    Revoked,
    #[error("the client has stalled")]
    Stalled,
}

/// A request of a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The client's id of the request, which the reply repeats.
    pub cookie: u64,
    pub operation: DeviceRequest,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Waits for the client's flags.
    Flags,
    Option,
    /// Waits for the data of an option.
    OptionData(Head),
    /// Waits until the output is sent; then TLS begins.
    Tls,
    Request,
    /// Waits for the payload of this write.
    Payload {
        cookie: u64,
        flags: u16,
        offset: u64,
    },
    Over(Closed),
}

/// The server side of a connection.
pub struct Session {
    export: Arc<Export>,
    security: Security,
    /// Whether the client was told that TLS is required.
    knows_tls: bool,
    phase: Phase,
    agreed: Agreed,
    /// The unprocessed input: `input[taken..filled]`.
    input: Vec<u8>,
    taken: usize,
    filled: usize,
    /// The payload that is being received.
    payload: Payload,
    /// Input bytes to skip.
    skips: u64,
    out: Vec<u8>,
    sent: usize,
}

impl Session {
    /// Begins with the server's greeting.
    pub fn new(export: Arc<Export>, security: Security) -> Self {
        let mut out = NBDMAGIC.to_be_bytes().to_vec();
        out.extend(IHAVEOPT.to_be_bytes());
        out.extend((FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES).to_be_bytes());
        Session {
            export,
            security,
            knows_tls: false,
            phase: Phase::Flags,
            agreed: Agreed::default(),
            input: vec![0; ROOM],
            taken: 0,
            filled: 0,
            payload: Payload::default(),
            skips: 0,
            out,
            sent: 0,
        }
    }

    /// The buffer into which bytes are read: that of the payload while one is being received. Never empty unless the
    /// session is over.
    pub fn room(&mut self) -> &mut [u8] {
        if self.is_in_payload() && self.taken == self.filled {
            return self.payload.room();
        }
        if self.taken > 0 {
            self.input.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
        }
        &mut self.input[self.filled..]
    }

    /// Reports that `count` bytes were read into the buffer.
    pub fn filled(&mut self, count: usize) {
        if self.is_in_payload() && self.taken == self.filled {
            self.payload.filled(count);
        } else {
            self.filled += count;
        }
    }

    /// Whether the payload of a write is being received.
    pub fn is_in_payload(&self) -> bool {
        matches!(self.phase, Phase::Payload { .. }) && self.skips == 0
    }

    /// The next complete request in the input, if there is one.
    ///
    /// # Errors
    /// When the connection ends; pending output is sent first.
    pub fn poll(&mut self) -> Result<Option<Request>, Closed> {
        loop {
            if self.skips > 0 {
                let count = self.skips.min((self.filled - self.taken) as u64);
                self.taken += count as usize;
                self.skips -= count;
                if self.skips > 0 {
                    return Ok(None);
                }
            }
            match self.phase {
                Phase::Over(closed) => return Err(closed),
                Phase::Tls => return Ok(None),
                Phase::Flags => {
                    let Some(bytes) = self.take(4) else { return Ok(None) };
                    self.flags(u32_at(&bytes, 0).unwrap_or(u32::MAX));
                }
                Phase::Option => {
                    let Some(bytes) = self.take(OPTION_HEAD) else { return Ok(None) };
                    self.option_head(&bytes);
                }
                Phase::OptionData(head) => {
                    let Some(data) = self.take(head.length as usize) else { return Ok(None) };
                    self.option(head, &data);
                }
                Phase::Request => {
                    let Some(bytes) = self.take_head() else { return Ok(None) };
                    if let Some(request) = self.request(&bytes) {
                        return Ok(Some(request));
                    }
                }
                Phase::Payload { cookie, flags, offset } => {
                    if !self.payload_is_whole() {
                        return Ok(None);
                    }
                    let data = std::mem::take(&mut self.payload).into_data();
                    self.phase = Phase::Request;
                    let checked = request::write(&self.export, flags, offset, data);
                    if let Some(request) = self.accept(cookie, checked) {
                        return Ok(Some(request));
                    }
                }
            }
        }
    }

    /// The next `count` bytes of the input, once they have arrived.
    fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        if self.filled - self.taken < count {
            if count > self.input.len() {
                self.input.resize(count, 0);
            }
            return None;
        }
        let bytes = self.input[self.taken..self.taken + count].to_vec();
        self.taken += count;
        Some(bytes)
    }

    /// The header of a request, once it has arrived.
    fn take_head(&mut self) -> Option<[u8; REQUEST_BYTES]> {
        let head = *self.input[self.taken..self.filled].first_chunk()?;
        self.taken += REQUEST_BYTES;
        Some(head)
    }

    fn flags(&mut self, flags: u32) {
        let known = u32::from(FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES);
        self.agreed.no_zeroes = flags & u32::from(FLAG_NO_ZEROES) != 0;
        self.phase = if flags & !known != 0 {
            Phase::Over(Closed::Flags(flags))
        } else if flags & u32::from(FLAG_FIXED_NEWSTYLE) == 0 {
            Phase::Over(Closed::NotNewstyle)
        } else {
            Phase::Option
        };
    }

    fn option_head(&mut self, bytes: &[u8]) {
        let Some(head) = Head::read(bytes) else {
            self.phase = Phase::Over(Closed::NoOption);
            return;
        };
        if head.length > OPTION_BYTES_MAX {
            self.skips = head.length.into();
            let why = b"an option of more than 64 KiB";
            return handshake::put_reply(&mut self.out, head.option, reply::ERR_TOO_BIG, why);
        }
        self.phase = Phase::OptionData(head);
    }

    fn option(&mut self, head: Head, data: &[u8]) {
        self.knows_tls |= self.security == Security::Required
            && !matches!(head.option, option::STARTTLS | option::ABORT | option::EXPORT_NAME);
        let next =
            handshake::take(&self.export, self.security, &mut self.agreed, head.option, data, &mut self.out);
        self.phase = match next {
            Next::Option => Phase::Option,
            Next::Transmission => Phase::Request,
            Next::Tls => Phase::Tls,
            Next::Leave => Phase::Over(Closed::Left),
            Next::NoSuchExport => Phase::Over(Closed::NoSuchExport),
            Next::NoTls => Phase::Over(Closed::NoTls),
        };
    }

    /// Whether the client was told that TLS is required and has not begun it.
    pub fn lacks_tls(&self) -> bool {
        self.knows_tls && self.security == Security::Required
    }

    /// Whether TLS begins as soon as all output is sent. Nothing may be read before.
    pub fn awaits_tls(&self) -> bool {
        self.phase == Phase::Tls
    }

    /// Begins TLS: further input is decrypted. Nothing was negotiated before, since no other option was accepted.
    ///
    /// # Errors
    /// When the client did not wait for the reply: input in plain text may come from anyone.
    pub fn begin_tls(&mut self) -> Result<(), Closed> {
        if self.taken < self.filled {
            self.phase = Phase::Over(Closed::Tls);
            return Err(Closed::Tls);
        }
        self.security = Security::On;
        self.phase = Phase::Option;
        Ok(())
    }

    /// Handles the header of a request. Invalid requests are answered here.
    fn request(&mut self, bytes: &[u8]) -> Option<Request> {
        let Some(head) = request::Head::read(bytes) else {
            self.phase = Phase::Over(Closed::NoRequest);
            return None;
        };
        let request::Head { flags, kind, cookie, offset, length } = head;
        match kind {
            command::DISC => {
                self.phase = Phase::Over(Closed::Left);
                None
            }
            command::WRITE if length > PAYLOAD_MAX => {
                self.skips = length.into();
                self.accept(cookie, Err((Errno::Invalid, "a write of more than 32 MiB")))
            }
            command::WRITE => {
                self.payload = Payload::new(length as usize);
                self.phase = Phase::Payload { cookie, flags, offset };
                None
            }
            _ => {
                let checked = request::check(&self.export, self.agreed, &head);
                self.accept(cookie, checked)
            }
        }
    }

    fn accept(&mut self, cookie: u64, checked: Result<DeviceRequest, request::Refused>) -> Option<Request> {
        match checked {
            Ok(operation) => Some(Request { cookie, operation }),
            Err((errno, why)) => {
                self.refuse(cookie, errno, why);
                None
            }
        }
    }

    /// Takes what has arrived of the payload; returns whether it is complete.
    fn payload_is_whole(&mut self) -> bool {
        self.taken += self.payload.take(&self.input[self.taken..self.filled]);
        self.payload.is_whole()
    }

    /// The bytes of memory that the payload and the pending output take.
    pub fn held(&self) -> usize {
        self.payload.held() + self.to_send().len()
    }

    /// Appends the reply to a successful request without data.
    pub fn done(&mut self, cookie: u64) {
        request::put_done(&mut self.out, cookie);
    }

    /// Appends the reply to a read of `length` bytes at an offset; `put` appends the data.
    pub fn data(&mut self, cookie: u64, offset: u64, length: usize, put: impl FnOnce(&mut Vec<u8>)) {
        request::put_data_head(&mut self.out, self.agreed, cookie, offset, length);
        let before = self.out.len();
        put(&mut self.out);
        debug_assert_eq!(self.out.len() - before, length, "the head has said so");
    }

    /// Appends the reply with the allocation: extents with their flags, in order.
    pub fn extents(&mut self, cookie: u64, extents: &[(u32, u32)]) {
        request::put_extents(&mut self.out, cookie, extents);
    }

    /// Appends an error reply.
    pub fn refuse(&mut self, cookie: u64, errno: Errno, why: &str) {
        request::put_error(&mut self.out, self.agreed, cookie, errno, why);
    }

    /// Whether the handshake is over, so that requests may arrive.
    pub fn is_in_transmission(&self) -> bool {
        matches!(self.phase, Phase::Request | Phase::Payload { .. })
    }

    /// The pending output.
    pub fn to_send(&self) -> &[u8] {
        &self.out[self.sent..]
    }

    /// Reports that `count` bytes of the output were sent.
    pub fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
            self.out.shrink_to(ROOM);
        }
    }
}
