//! The door of NBD: a listening socket and its connections, none of which is ever waited for.
use super::export::Export;
use super::session::{Closed, Session};
use super::wire::Errno;
use crate::door::{Answer, Desk, Door, DoorCounts, Failure, Reply, Ticket};
use rustix::event::{PollFd, PollFlags};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Requests of one connection that may be under way before no more of it is read.
const UNDER_WAY_MAX: u32 = 4_096;
/// Bytes that a connection has not taken before no more of it is read.
const UNSENT_MAX: usize = 64 << 20;
/// Connections at a time.
const CONNECTIONS_MAX: usize = 256;
/// Reads of one connection before the others are looked at.
const READS_AT_ONCE: u32 = 64;
/// Rounds that are remembered of those that ended.
const ENDED_MAX: usize = 100;

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(into),
            Stream::Tcp(stream) => stream.read(into),
        }
    }

    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(from),
            Stream::Tcp(stream) => stream.write(from),
        }
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        }
    }
}

/// Where clients come.
enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

struct Connection {
    client: u64,
    stream: Stream,
    session: Session,
    under_way: u32,
    /// Why it ends, once what is under way is answered.
    leaves: Option<Closed>,
    is_gone: bool,
}

/// See the module.
pub struct NbdDoor {
    listener: Listener,
    export: Arc<Export>,
    connections: Vec<Connection>,
    counts: DoorCounts,
    is_shut: bool,
    /// Why connections ended that did not keep to the protocol, the last ones.
    ended: VecDeque<Closed>,
}

/// A socket of a server that is gone is no server's: it makes way. One that is alive is told of.
pub(crate) fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    if UnixStream::connect(path).is_ok() {
        return Err(io::Error::new(
            ErrorKind::AddrInUse,
            "another program serves there: end that first, or take another path",
        ));
    }
    let is_socket = |kind: std::fs::FileType| std::os::unix::fs::FileTypeExt::is_socket(&kind);
    match std::fs::symlink_metadata(path) {
        Ok(found) if is_socket(found.file_type()) => std::fs::remove_file(path)?,
        Ok(_) => {
            return Err(io::Error::new(
                ErrorKind::AlreadyExists,
                "there is a file, and no socket: take another path",
            ));
        }
        Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// A Unix socket that clients can connect to before anybody serves there: they wait until a door is made of it.
#[derive(Debug)]
pub struct Listening {
    listener: UnixListener,
    path: PathBuf,
}

impl Listening {
    /// # Errors
    /// When there is no room for it, or another server.
    pub fn new(path: &Path) -> io::Result<Self> {
        Ok(Listening { listener: bind_unix(path)?, path: path.to_owned() })
    }

    /// Readable as soon as a client has come.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// What clients are given to find it.
    pub fn uri(&self) -> String {
        uri_of(&self.path)
    }
}

fn uri_of(path: &Path) -> String {
    format!("nbd+unix:///?socket={}", escaped(path))
}

impl NbdDoor {
    /// At a Unix socket.
    ///
    /// # Errors
    /// When there is no room for it, or another server.
    pub fn unix(path: &Path, export: Export) -> io::Result<Self> {
        Self::listening(&Listening::new(path)?, export)
    }

    /// At a socket that listens already.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn listening(at: &Listening, export: Export) -> io::Result<Self> {
        let listener = Listener::Unix(at.listener.try_clone()?, at.path.clone());
        Ok(Self::with(listener, export))
    }

    /// At a port of this machine's own address; any free one for port 0. Other machines cannot reach it.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn tcp(port: u16, export: Export) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        Ok(Self::with(Listener::Tcp(listener), export))
    }

    fn with(listener: Listener, export: Export) -> Self {
        let (export, connections, counts) = (Arc::new(export), Vec::new(), DoorCounts::default());
        NbdDoor { listener, export, connections, counts, is_shut: false, ended: VecDeque::new() }
    }

    /// Why connections ended that did not keep to the protocol, the last ones.
    pub fn ended(&self) -> impl Iterator<Item = &Closed> {
        self.ended.iter()
    }

    fn accept(&mut self) {
        while self.connections.len() < CONNECTIONS_MAX {
            let accepted = match &self.listener {
                Listener::Unix(listener, _) => listener.accept().and_then(|(stream, _)| {
                    stream.set_nonblocking(true)?;
                    Ok(Stream::Unix(stream))
                }),
                Listener::Tcp(listener) => listener.accept().and_then(|(stream, _)| {
                    stream.set_nonblocking(true)?;
                    stream.set_nodelay(true)?;
                    Ok(Stream::Tcp(stream))
                }),
            };
            // Nobody is there, or somebody who has left again.
            let Ok(stream) = accepted else { return };
            let client = self.counts.connections;
            self.counts.connections += 1;
            let session = Session::new(Arc::clone(&self.export));
            let mut connection =
                Connection { client, stream, session, under_way: 0, leaves: None, is_gone: false };
            connection.send();
            self.connections.push(connection);
        }
    }
}

/// A path in a URI.
fn escaped(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes
        .map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

impl Connection {
    fn may_read(&self) -> bool {
        self.leaves.is_none() && self.under_way < UNDER_WAY_MAX && self.session.to_send().len() < UNSENT_MAX
    }

    /// Reads what has come, and hands requests on.
    fn receive(&mut self, desk: &mut dyn Desk) {
        for _ in 0..READS_AT_ONCE {
            if !self.may_read() {
                return;
            }
            let room = self.session.room();
            let wanted = room.len();
            match self.stream.read(room) {
                Ok(0) => {
                    self.is_gone = true;
                    return;
                }
                Ok(count) => {
                    self.session.filled(count);
                    self.take_requests(desk);
                    // A payload comes right behind its head.
                    if count < wanted && !self.session.is_in_payload() {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.is_gone = true;
                    return;
                }
            }
        }
    }

    fn take_requests(&mut self, desk: &mut dyn Desk) {
        loop {
            match self.session.poll() {
                Ok(Some(request)) => {
                    self.under_way += 1;
                    desk.submit(Ticket { client: self.client, cookie: request.cookie }, request.asked);
                }
                Ok(None) => return self.send(),
                Err(closed) => {
                    self.leaves = Some(closed);
                    return self.send();
                }
            }
        }
    }

    fn answer(&mut self, reply: &Reply) {
        let cookie = reply.ticket.cookie;
        self.under_way = self.under_way.saturating_sub(1);
        match &reply.answer {
            Ok(Answer::Done) => self.session.done(cookie),
            Ok(Answer::Data { offset, found }) => {
                self.session.data(cookie, *offset, found.len(), |out| found.put(out));
            }
            Ok(Answer::Extents(extents)) => {
                // A hole reads as zeros.
                let flags = |is_hole| if is_hole { 3 } else { 0 };
                let extents: Vec<(u32, u32)> =
                    extents.iter().map(|&(length, is_hole)| (length, flags(is_hole))).collect();
                self.session.extents(cookie, &extents);
            }
            Err(Failure::Io(why)) => self.session.refuse(cookie, Errno::Io, why),
            Err(Failure::Invalid(why)) => self.session.refuse(cookie, Errno::Invalid, why),
        }
    }

    /// Sends as much as the client takes at once.
    fn send(&mut self) {
        while !self.session.to_send().is_empty() {
            match self.stream.write(self.session.to_send()) {
                Ok(0) => break,
                Ok(count) => self.session.sent(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.is_gone = true;
                    return;
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        let has_left = self.leaves.is_some() && self.under_way == 0 && self.session.to_send().is_empty();
        self.is_gone || has_left
    }
}

impl Door for NbdDoor {
    fn uri(&self) -> String {
        match &self.listener {
            Listener::Unix(_, path) => uri_of(path),
            Listener::Tcp(listener) => {
                let port = listener.local_addr().map_or(0, |address| address.port());
                format!("nbd://127.0.0.1:{port}")
            }
        }
    }

    fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        let listens = !self.is_shut && self.connections.len() < CONNECTIONS_MAX;
        let listening = if listens { PollFlags::IN } else { PollFlags::empty() };
        match &self.listener {
            Listener::Unix(listener, _) => fds.push(PollFd::from_borrowed_fd(listener.as_fd(), listening)),
            Listener::Tcp(listener) => fds.push(PollFd::from_borrowed_fd(listener.as_fd(), listening)),
        }
        for connection in &self.connections {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, connection.may_read());
            flags.set(PollFlags::OUT, !connection.session.to_send().is_empty());
            fds.push(PollFd::from_borrowed_fd(connection.stream.as_fd(), flags));
        }
    }

    fn receive(&mut self, ready: &[PollFlags], desk: &mut dyn Desk) {
        for (connection, ready) in self.connections.iter_mut().zip(ready.iter().skip(1)) {
            if ready.contains(PollFlags::OUT) {
                connection.send();
            }
            if ready.intersects(PollFlags::IN) {
                connection.receive(desk);
            } else if ready.intersects(PollFlags::ERR | PollFlags::HUP) {
                connection.is_gone = true;
            }
        }
        if ready.first().is_some_and(|ready| ready.contains(PollFlags::IN)) {
            self.accept();
        }
        self.sweep();
    }

    fn answer(&mut self, reply: &Reply) {
        let client = reply.ticket.client;
        if let Some(connection) = self.connections.iter_mut().find(|connection| connection.client == client) {
            connection.answer(reply);
        }
    }

    fn flush(&mut self) {
        let waits = |connection: &&mut Connection| !connection.session.to_send().is_empty();
        self.connections.iter_mut().filter(waits).for_each(Connection::send);
        if self.connections.iter().any(Connection::is_over) {
            self.sweep();
        }
    }

    fn drop_clients(&mut self) {
        self.connections.clear();
    }

    fn shut(&mut self, is_shut: bool) {
        self.is_shut = is_shut;
    }

    fn counts(&self) -> DoorCounts {
        self.counts
    }
}

impl NbdDoor {
    /// Connections that are over go.
    fn sweep(&mut self) {
        let (counts, ended) = (&mut self.counts, &mut self.ended);
        self.connections.retain(|connection| {
            let is_over = connection.is_over();
            if let Some(closed) = connection.leaves.filter(|closed| is_over && *closed != Closed::Left) {
                counts.malformed += 1;
                ended.push_back(closed);
                if ended.len() > ENDED_MAX {
                    ended.pop_front();
                }
            }
            !is_over
        });
    }
}

impl Drop for NbdDoor {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = &self.listener {
            // It may be gone already.
            let _ = std::fs::remove_file(path);
        }
    }
}
