//! The byte stream of a connection: a nonblocking socket, and TLS over it once both sides have agreed.
use super::session::Closed;
use super::tls::{Certificates, Channel};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// A socket.
pub(super) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(socket) => socket.read(into),
            Socket::Tcp(socket) => socket.read(into),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(socket) => socket.write(from),
            Socket::Tcp(socket) => socket.write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// See the module.
pub(super) struct Stream {
    socket: Socket,
    tls: Option<Box<Channel>>,
}

impl Stream {
    pub fn new(socket: Socket) -> Self {
        Stream { socket, tls: None }
    }

    /// Begins TLS: everything is encrypted from here on.
    pub fn begin_tls(&mut self, certificates: &Certificates) -> Result<(), Closed> {
        self.tls = Some(Box::new(certificates.channel()?));
        Ok(())
    }

    pub fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => tls.read(&mut self.socket, into),
            None => self.socket.read(into),
        }
    }

    pub fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => tls.write(&mut self.socket, from),
            None => self.socket.write(from),
        }
    }

    /// Sends buffered encrypted bytes.
    pub fn send(&mut self) -> io::Result<()> {
        self.tls.as_mut().map_or(Ok(()), |tls| tls.send(&mut self.socket))
    }

    /// Announces that nothing more will be sent.
    pub fn end(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.end(&mut self.socket);
        }
    }

    /// Whether there are buffered bytes that the socket has not accepted.
    pub fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Whether there may be buffered data to read without further bytes from the socket.
    pub fn is_full(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_full())
    }

    /// Why the stream has failed, if the client violated the TLS protocol.
    pub fn failed(&self) -> Option<Closed> {
        self.tls.as_ref().and_then(|tls| tls.failed())
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Unix(socket) => socket.as_fd(),
            Socket::Tcp(socket) => socket.as_fd(),
        }
    }
}
