//! One connection to a server: requests are sent in the order in which they were queued, replies arrive in any order.
use crate::address::{Address, Endpoint};
use crate::error::NbdError;
use crate::handshake::{self, Export};
use crate::replies::{Replies, ReplyEvent};
use crate::tls::TlsStream;
use crate::wire::{REQUEST_BYTES, REQUEST_MAGIC, command, flag};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The timeout of each step of the handshake.
pub const HANDSHAKE: Duration = Duration::from_secs(10);
/// Bytes of the input buffer.
const INPUT: usize = 256 << 10;
/// The most buffers that are sent in one call.
const PIECES: usize = 64;

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<TlsStream>),
}

impl Stream {
    /// Connects, and selects an export.
    fn to(address: &Address) -> Result<(Stream, Export), NbdError> {
        let export = &address.export;
        match &address.place {
            Endpoint::Unix(path) => {
                let stream = UnixStream::connect(path).map_err(NbdError::Connect)?;
                stream.set_read_timeout(Some(HANDSHAKE))?;
                let mut stream = Stream::Unix(stream);
                let export = handshake::negotiate(&mut stream, export)?;
                Ok((stream, export))
            }
            Endpoint::Tcp { host, port } => {
                let mut stream = Stream::Tcp(tcp(host, *port).map_err(NbdError::Connect)?);
                let export = handshake::negotiate(&mut stream, export)?;
                Ok((stream, export))
            }
            Endpoint::Tls { host, port, certificates } => {
                let mut socket = tcp(host, *port).map_err(NbdError::Connect)?;
                handshake::start_tls(&mut socket)?;
                let mut stream = TlsStream::begin(socket, host, certificates)?;
                let export = handshake::take(&mut stream, export)?;
                Ok((Stream::Tls(Box::new(stream)), export))
            }
        }
    }

    fn wait_never(&self) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_nonblocking(true),
            Stream::Tcp(stream) => stream.set_nonblocking(true),
            Stream::Tls(stream) => stream.set_nonblocking(true),
        }
    }

    /// Whether there are buffered bytes that the socket has not accepted.
    fn wants_write(&self) -> bool {
        matches!(self, Stream::Tls(stream) if stream.wants_write())
    }
}

/// Connects to one of a host's addresses.
fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut found = Err(io::Error::new(ErrorKind::NotFound, "no address of that host is known"));
    for address in (host, port).to_socket_addrs()? {
        found = TcpStream::connect_timeout(&address, HANDSHAKE);
        if found.is_ok() {
            break;
        }
    }
    let stream = found?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HANDSHAKE))?;
    Ok(stream)
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Tls(stream) => stream.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(buffer),
            Stream::Tcp(stream) => stream.write(buffer),
            Stream::Tls(stream) => stream.write(buffer),
        }
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write_vectored(pieces),
            Stream::Tcp(stream) => stream.write_vectored(pieces),
            Stream::Tls(stream) => stream.write_vectored(pieces),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Tls(stream) => stream.flush(),
            _ => Ok(()),
        }
    }
}

/// The kind of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Read,
    /// A write of the bytes of the connection's payload from `payload` on.
    Write {
        fua: bool,
        payload: usize,
    },
    Flush,
}

/// A request, which the caller identifies by its tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    pub tag: u64,
    pub kind: Kind,
    pub offset: u64,
    pub length: u32,
}

/// A request that is to be sent.
struct Outgoing {
    head: [u8; REQUEST_BYTES],
    /// The part of the payload.
    from: usize,
    bytes: usize,
}

fn head(flags: u16, kind: u16, cookie: u64, offset: u64, length: u32) -> [u8; REQUEST_BYTES] {
    let mut head = [0; REQUEST_BYTES];
    head[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
    head[4..6].copy_from_slice(&flags.to_be_bytes());
    head[6..8].copy_from_slice(&kind.to_be_bytes());
    head[8..16].copy_from_slice(&cookie.to_be_bytes());
    head[16..24].copy_from_slice(&offset.to_be_bytes());
    head[24..].copy_from_slice(&length.to_be_bytes());
    head
}

/// A connection in its transmission phase. No call blocks except [`Self::wait`] and [`Self::read`].
pub struct Connection {
    stream: Stream,
    export: Export,
    replies: Replies,
    out: VecDeque<Outgoing>,
    /// The number of bytes of the first request that were sent.
    sent: usize,
    /// The data of writes.
    payload: Vec<u8>,
    input: Box<[u8]>,
}

impl Connection {
    /// Connects and selects the export, with room for `room` requests in flight. Writes send bytes of `payload`.
    ///
    /// # Errors
    /// When there is no server, it is not an NBD server, or it has no such export.
    pub fn open(address: &Address, room: usize, payload: Vec<u8>) -> Result<Self, NbdError> {
        let (stream, export) = Stream::to(address)?;
        stream.wait_never()?;
        Ok(Connection {
            stream,
            export,
            replies: Replies::new(room),
            out: VecDeque::with_capacity(room),
            sent: 0,
            payload,
            input: vec![0; INPUT].into(),
        })
    }

    /// The properties of the export.
    pub fn export(&self) -> &Export {
        &self.export
    }

    /// The number of requests in flight.
    pub fn in_flight(&self) -> usize {
        self.replies.in_flight()
    }

    /// Queues a request for sending.
    #[inline]
    pub fn put(&mut self, request: &Request) {
        let &Request { tag, kind, offset, length } = request;
        let (number, flags, reads, from, bytes) = match kind {
            Kind::Read => (command::READ, 0, length, 0, 0),
            Kind::Write { fua, payload } => {
                (command::WRITE, if fua { flag::FUA } else { 0 }, 0, payload, length as usize)
            }
            Kind::Flush => (command::FLUSH, 0, 0, 0, 0),
        };
        let cookie = self.replies.begin(tag, offset, reads);
        self.out.push_back(Outgoing { head: head(flags, number, cookie, offset, length), from, bytes });
    }

    /// Sends as much as the socket accepts without blocking.
    ///
    /// # Errors
    /// When the connection is lost.
    pub fn send(&mut self) -> Result<(), NbdError> {
        if self.stream.wants_write() {
            self.stream.flush()?;
        }
        while !self.out.is_empty() {
            let mut pieces = [IoSlice::new(&[]); PIECES];
            let (mut count, mut skip) = (0, self.sent);
            for one in self.out.iter().take(PIECES / 2) {
                for piece in [&one.head[..], &self.payload[one.from..one.from + one.bytes]] {
                    let left = &piece[skip.min(piece.len())..];
                    skip -= piece.len() - left.len();
                    if !left.is_empty() {
                        pieces[count] = IoSlice::new(left);
                        count += 1;
                    }
                }
            }
            match self.stream.write_vectored(&pieces[..count]) {
                Ok(0) => return Err(NbdError::Closed),
                Ok(bytes) => self.sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
            while let Some(first) = self.out.front().filter(|one| self.sent >= REQUEST_BYTES + one.bytes) {
                self.sent -= REQUEST_BYTES + first.bytes;
                self.out.pop_front();
            }
        }
        Ok(())
    }

    /// Receives available bytes with one system call. Returns their number: 0 if none are available.
    ///
    /// # Errors
    /// When the connection is lost, or the server violates the protocol.
    #[inline]
    pub fn receive(&mut self, on_event: impl FnMut(ReplyEvent<'_>)) -> Result<usize, NbdError> {
        match self.stream.read(&mut self.input) {
            Ok(0) => Err(NbdError::Closed),
            Ok(count) => self.replies.take(&self.input[..count], on_event).map(|()| count),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until input has arrived or output can be sent, at most this long.
    ///
    /// # Errors
    /// When the system call fails.
    pub fn wait(&self, most: Duration) -> Result<(), NbdError> {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, !self.out.is_empty() || self.stream.wants_write());
        let timeout = Timespec { tv_sec: most.as_secs() as i64, tv_nsec: most.subsec_nanos().into() };
        let mut fds = [PollFd::from_borrowed_fd(self.stream.as_fd(), flags)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(NbdError::Lost(error.into())),
        }
    }

    /// Reports the tags of requests that will not be answered any more.
    pub fn give_up(&mut self, lost: impl FnMut(u64)) {
        self.out.clear();
        self.replies.give_up(lost);
    }

    /// Reads a range of any alignment and waits for the reply; only for use while nothing else is in flight.
    ///
    /// # Errors
    /// When the server refuses, does not answer in time, or the connection is lost.
    pub fn read(&mut self, offset: u64, length: u32) -> Result<Vec<u8>, NbdError> {
        let least = u64::from(self.export.block_least_bytes);
        let step = u64::from(self.export.block_most_bytes) / least * least;
        let (mut at, end) = (offset / least * least, (offset + u64::from(length)).next_multiple_of(least));
        let cut = (offset - at) as usize;
        let mut data = Vec::with_capacity((end - at) as usize);
        while at < end {
            let count = step.min(end - at) as u32;
            self.read_at_once(at, count, &mut data)?;
            at += u64::from(count);
        }
        data.drain(..cut);
        data.truncate(length as usize);
        Ok(data)
    }

    fn read_at_once(&mut self, offset: u64, length: u32, data: &mut Vec<u8>) -> Result<(), NbdError> {
        let before = data.len();
        data.resize(before + length as usize, 0);
        let mut ended = None;
        self.put(&Request { tag: 0, kind: Kind::Read, offset, length });
        let began = std::time::Instant::now();
        while ended.is_none() {
            if began.elapsed() > HANDSHAKE {
                return Err(NbdError::Silent(HANDSHAKE.as_secs()));
            }
            self.send()?;
            self.wait(HANDSHAKE)?;
            self.receive(|event| match event {
                ReplyEvent::Data { at, bytes, .. } => {
                    let at = before + at as usize;
                    data[at..at + bytes.len()].copy_from_slice(bytes);
                }
                ReplyEvent::Answer { errno, .. } => ended = Some(errno),
            })?;
        }
        match ended {
            None | Some(0) => Ok(()),
            Some(errno) => Err(NbdError::Read { offset, errno }),
        }
    }
}

impl Drop for Connection {
    /// Sends a disconnect request, unless a partly sent request prevents it.
    fn drop(&mut self) {
        if self.out.is_empty() {
            let _ = self.stream.write(&head(0, command::DISC, 0, 0, 0));
        }
    }
}
