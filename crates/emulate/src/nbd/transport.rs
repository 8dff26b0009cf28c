//! The NBD transport: a listening socket and its connections, all nonblocking.
use super::export::Export;
use super::handshake::Security;
use super::listener::{Listener, Listening};
use super::session::{Closed, Session};
use super::sharing::{Progress, Share, Sharing, TOTAL_MAX};
use super::stream::Stream;
use super::tls::Certificates;
use super::under_way::UnderWay;
use super::wire::Errno;
use crate::accepting::Accepting;
use crate::transport::{Answer, Failure, Reply, RequestId, RequestSink, Transport, TransportCounts};
use rustix::event::{PollFd, PollFlags};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant as Moment};

/// Unsent bytes at which no more of a connection is read.
const UNSENT_MAX: usize = 64 << 20;
/// The most connections at a time.
const CONNECTIONS_MAX: usize = 256;
/// Reads of one connection before the next connection is served.
const READS_AT_ONCE: u32 = 64;
/// How often stalled clients are looked for.
const EXPIRES_EVERY: Duration = Duration::from_secs(1);
/// The most different reasons for the end of connections that are counted.
const REASONS_MAX: usize = 20;

struct Connection {
    client: u64,
    stream: Stream,
    /// The certificates, if TLS is required.
    certificates: Option<Certificates>,
    session: Session,
    under_way: UnderWay,
    share: Share,
    progress: Progress,
    /// Whether requests that have arrived wait until others have ended.
    is_held_up: bool,
    /// Why it ends, once the requests in flight are answered.
    leaves: Option<Closed>,
    is_gone: bool,
}

/// See the module.
pub struct NbdTransport {
    listener: Listener,
    /// The certificates of a device that is served over TLS only.
    certificates: Option<Certificates>,
    export: Arc<Export>,
    connections: Vec<Connection>,
    counts: TransportCounts,
    is_shut: bool,
    accepting: Accepting,
    /// What all connections may hold, in bytes.
    memory_max: u64,
    /// When stalled clients are looked for again.
    expires_at: Option<Moment>,
}

impl NbdTransport {
    /// Listens at a Unix socket.
    ///
    /// # Errors
    /// When the path cannot be used, or another server listens there.
    pub fn unix(path: &Path, export: Export) -> io::Result<Self> {
        Self::listening(&Listening::new(path)?, export)
    }

    /// Serves at a socket that listens already.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn listening(at: &Listening, export: Export) -> io::Result<Self> {
        Ok(Self::with(at.listener()?, None, export))
    }

    /// Listens at a port of one of this machine's addresses; port 0 selects any free port.
    ///
    /// # Errors
    /// When the port is in use, the address is not one of this machine, or other machines can reach it and there are
    /// no certificates.
    pub fn tcp(at: SocketAddr, certificates: Option<Certificates>, export: Export) -> io::Result<Self> {
        if !at.ip().is_loopback() && certificates.is_none() {
            let why = "other machines reach this address: the device is served there with TLS alone";
            return Err(io::Error::new(ErrorKind::PermissionDenied, why));
        }
        Ok(Self::with(Listener::tcp(at)?, certificates, export))
    }

    fn with(listener: Listener, certificates: Option<Certificates>, export: Export) -> Self {
        let (export, connections, counts) = (Arc::new(export), Vec::new(), TransportCounts::default());
        let accepting = Accepting::default();
        NbdTransport {
            listener,
            certificates,
            export,
            connections,
            counts,
            is_shut: false,
            accepting,
            memory_max: TOTAL_MAX,
            expires_at: None,
        }
    }

    fn accept(&mut self) {
        while self.has_room() {
            let socket = match self.listener.accept() {
                Ok(socket) => socket,
                Err(error) => return self.accepting.failed(&error),
            };
            self.make_room();
            let client = self.counts.connections;
            self.counts.connections += 1;
            let certificates = self.certificates.clone();
            let security = if certificates.is_some() { Security::Required } else { Security::Plain };
            let session = Session::new(Arc::clone(&self.export), security);
            let stream = Stream::new(socket);
            let mut connection = Connection {
                client,
                stream,
                certificates,
                session,
                under_way: UnderWay::default(),
                share: Share { limit: 0, may_fill: false },
                progress: Progress::default(),
                is_held_up: false,
                leaves: None,
                is_gone: false,
            };
            connection.send();
            self.connections.push(connection);
        }
    }

    /// Divides the memory between the connections, as they are now.
    fn share(&mut self) {
        let total = self.connections.iter().map(|connection| connection.held().0).sum();
        let is_busy = self.connections.iter().any(|connection| !connection.under_way.is_empty());
        let mut sharing = Sharing::of(total, self.memory_max, is_busy);
        for connection in &mut self.connections {
            connection.share = sharing.next(connection.held());
        }
    }

    /// Whether another connection may be accepted: if all places are taken, instead of one in its handshake.
    fn has_room(&self) -> bool {
        let is_new = |connection: &Connection| !connection.session.is_in_transmission();
        self.connections.len() < CONNECTIONS_MAX || self.connections.iter().any(is_new)
    }

    /// If all places are taken, drops the oldest connection in its handshake: a stalled client must not exclude
    /// others.
    fn make_room(&mut self) {
        if self.connections.len() >= CONNECTIONS_MAX {
            let is_new = |connection: &Connection| !connection.session.is_in_transmission();
            if let Some(oldest) = self.connections.iter().position(is_new) {
                self.connections.remove(oldest);
            }
        }
    }
}

impl Connection {
    /// The bytes of memory that it holds, or will for replies; whether it is within a payload.
    fn held(&self) -> (u64, bool) {
        (self.session.held() as u64 + self.under_way.bytes(), self.session.is_in_payload())
    }

    /// Whether another request may come now: what a client asks for must not take all memory.
    fn may_take(&self) -> bool {
        self.session.to_send().len() < UNSENT_MAX
            && self.under_way.has_room(self.session.held() as u64, self.share.limit)
    }

    fn may_read(&self) -> bool {
        let may_come = if self.session.is_in_payload() { self.share.may_fill } else { self.may_take() };
        self.leaves.is_none() && may_come && !self.session.awaits_tls()
    }

    /// Whether the client has stalled: within a payload, or by not taking replies while memory is short.
    fn has_stalled(&mut self, now: Moment) -> bool {
        let is_in_payload = self.session.is_in_payload() && self.may_read();
        let is_short = self.share.limit <= self.held().0;
        self.progress.has_stalled(now, is_in_payload || (is_short && self.waits_to_send()))
    }

    /// Whether there is something to do without further bytes from the socket: requests that were held up may come,
    /// or decrypted data are buffered.
    fn has_more(&self) -> bool {
        (self.is_held_up || self.stream.is_full()) && self.may_read()
    }

    /// Reads available input, and passes requests on.
    fn receive(&mut self, sink: &mut dyn RequestSink) {
        if self.is_held_up {
            self.take_requests(sink);
        }
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
                    self.progress.moved(count);
                    self.session.filled(count);
                    self.take_requests(sink);
                    // A payload follows its header at once.
                    if count < wanted && !self.session.is_in_payload() {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.leaves = self.leaves.or(self.stream.failed());
                    self.is_gone = true;
                    return;
                }
            }
        }
    }

    fn take_requests(&mut self, sink: &mut dyn RequestSink) {
        loop {
            self.is_held_up = !self.session.is_in_payload() && !self.may_take();
            if self.is_held_up {
                return self.send();
            }
            match self.session.poll() {
                Ok(Some(request)) => {
                    self.under_way.begins(request.cookie, &request.operation);
                    sink.submit(RequestId { client: self.client, cookie: request.cookie }, request.operation);
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
        let cookie = reply.request_id.cookie;
        self.under_way.ends(cookie);
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

    /// Sends as much as the socket accepts without blocking. TLS begins after the reply that has announced it.
    fn send(&mut self) {
        self.send_all();
        if self.session.awaits_tls() && self.session.to_send().is_empty() && !self.is_gone {
            let begun = self.session.begin_tls();
            let begun = begun.and_then(|()| match &self.certificates {
                Some(certificates) => self.stream.begin_tls(certificates),
                None => Err(Closed::Tls),
            });
            self.leaves = begun.err();
        }
    }

    fn send_all(&mut self) {
        while !self.session.to_send().is_empty() {
            match self.stream.write(self.session.to_send()) {
                Ok(0) => break,
                Ok(count) => {
                    self.progress.moved(count);
                    self.session.sent(count);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.is_gone = true;
                    return;
                }
            }
        }
        // Encrypted bytes that the socket has not accepted yet.
        if self.stream.wants_write()
            && self.stream.send().is_err_and(|error| error.kind() != ErrorKind::WouldBlock)
        {
            self.is_gone = true;
        }
    }

    fn waits_to_send(&self) -> bool {
        !self.session.to_send().is_empty() || self.stream.wants_write()
    }

    /// Whether the client disconnected after it was told that TLS is required.
    fn has_left_without_tls(&self) -> bool {
        self.session.lacks_tls() && matches!(self.leaves, None | Some(Closed::Left))
    }

    fn is_over(&self) -> bool {
        let has_left = self.leaves.is_some() && self.under_way.is_empty() && !self.waits_to_send();
        self.is_gone || has_left
    }
}

impl Transport for NbdTransport {
    fn uri(&self) -> String {
        self.listener.uri(self.certificates.is_some())
    }

    fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        let listening = self.accepting.flags(!self.is_shut && self.has_room());
        fds.push(PollFd::from_borrowed_fd(self.listener.as_fd(), listening));
        for connection in &self.connections {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, connection.may_read());
            // A writable socket is ready at once.
            let waits = connection.waits_to_send() || connection.has_more();
            flags.set(PollFlags::OUT, waits);
            fds.push(PollFd::from_borrowed_fd(connection.stream.as_fd(), flags));
        }
    }

    fn receive(&mut self, ready: &[PollFlags], sink: &mut dyn RequestSink) {
        for place in 0..self.connections.len() {
            let Some(ready) = ready.get(place + 1).filter(|ready| !ready.is_empty()) else { continue };
            // Each takes from what the others have left.
            self.share();
            let connection = &mut self.connections[place];
            if ready.contains(PollFlags::OUT) {
                connection.send();
            }
            if ready.intersects(PollFlags::IN) || (ready.contains(PollFlags::OUT) && connection.has_more()) {
                connection.receive(sink);
            } else if ready.intersects(PollFlags::ERR | PollFlags::HUP) {
                connection.is_gone = true;
            }
        }
        if ready.first().is_some_and(|ready| ready.contains(PollFlags::IN)) {
            self.accept();
        }
        self.sweep();
        self.share();
    }

    fn answer(&mut self, reply: Reply) {
        let client = reply.request_id.client;
        if let Some(connection) = self.connections.iter_mut().find(|connection| connection.client == client) {
            connection.answer(&reply);
        }
    }

    fn flush(&mut self) {
        let waits = |connection: &&mut Connection| connection.waits_to_send();
        self.connections.iter_mut().filter(waits).for_each(Connection::send);
        if self.connections.iter().any(Connection::is_over) {
            self.sweep();
        }
        self.share();
    }

    fn expire(&mut self, now: Moment) {
        if self.expires_at.is_some_and(|at| now < at) {
            return;
        }
        self.expires_at = Some(now + EXPIRES_EVERY);
        for connection in &mut self.connections {
            if connection.has_stalled(now) {
                connection.leaves = Some(Closed::Stalled);
                connection.is_gone = true;
            }
        }
        self.sweep();
        self.share();
    }

    fn drop_clients(&mut self) {
        self.connections.clear();
    }

    fn shut(&mut self, is_shut: bool) {
        self.is_shut = is_shut;
    }

    fn counts(&self) -> TransportCounts {
        self.counts.clone()
    }
}

impl NbdTransport {
    /// Removes the connections that have ended.
    fn sweep(&mut self) {
        let counts = &mut self.counts;
        self.connections.retain_mut(|connection| {
            let is_over = connection.is_over();
            if is_over && !connection.is_gone {
                connection.stream.end();
            }
            counts.left_without_tls += u64::from(is_over && connection.has_left_without_tls());
            if let Some(closed) = connection.leaves.filter(|closed| is_over && *closed != Closed::Left) {
                counts.malformed += 1;
                let why = closed.to_string();
                if counts.ended.len() < REASONS_MAX || counts.ended.contains_key(&why) {
                    *counts.ended.entry(why).or_default() += 1;
                }
            }
            !is_over
        });
    }
}

#[cfg(test)]
#[path = "transport_tests.rs"]
mod tests;
