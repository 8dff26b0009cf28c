//! The control socket: one request as a line of JSON, one line of JSON as the reply.
use crate::action::Action;
use crate::nbd::listener::bind_unix;
use rustix::event::{PollFd, PollFlags};
use serde_json::json;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The longest request line in bytes; a longer one ends the connection.
const LINE_MAX: usize = 64 << 10;
/// The most clients at a time.
const CLIENTS_MAX: usize = 16;

struct Client {
    stream: UnixStream,
    line: Vec<u8>,
    is_gone: bool,
}

/// See the module.
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    clients: Vec<Client>,
}

/// Carries out an action, and returns the text of the reply.
pub type Act<'a> = &'a mut dyn FnMut(&Action) -> Result<String, String>;

impl Control {
    /// Listens at a Unix socket.
    ///
    /// # Errors
    /// When the path cannot be used, or another server listens there.
    pub fn new(path: &Path) -> io::Result<Self> {
        Ok(Control { listener: bind_unix(path)?, path: path.to_owned(), clients: Vec::new() })
    }

    pub fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        let flags = if self.clients.len() < CLIENTS_MAX { PollFlags::IN } else { PollFlags::empty() };
        fds.push(PollFd::from_borrowed_fd(self.listener.as_fd(), flags));
        fds.extend(
            self.clients.iter().map(|client| PollFd::from_borrowed_fd(client.stream.as_fd(), PollFlags::IN)),
        );
    }

    pub fn receive(&mut self, ready: &[PollFlags], act: Act<'_>) {
        for (client, ready) in self.clients.iter_mut().zip(ready.iter().skip(1)) {
            if !ready.is_empty() {
                client.receive(act);
            }
        }
        self.clients.retain(|client| !client.is_gone);
        if ready.first().is_some_and(|ready| ready.contains(PollFlags::IN))
            && let Ok((stream, _)) = self.listener.accept()
            && stream.set_nonblocking(true).is_ok()
        {
            self.clients.push(Client { stream, line: Vec::new(), is_gone: false });
        }
    }
}

impl Client {
    fn receive(&mut self, act: Act<'_>) {
        let mut bytes = [0; 4_096];
        match self.stream.read(&mut bytes) {
            Ok(0) => self.is_gone = true,
            Ok(count) => {
                self.line.extend_from_slice(&bytes[..count]);
                while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = self.line.drain(..=end).collect();
                    self.answer(&line, act);
                }
                self.is_gone |= self.line.len() > LINE_MAX;
            }
            Err(error) => self.is_gone = error.kind() != ErrorKind::WouldBlock,
        }
    }

    fn answer(&mut self, line: &[u8], act: Act<'_>) {
        let action = serde_json::from_slice::<Action>(line).map_err(|error| format!("no action: {error}"));
        let answer = match action.and_then(|action| act(&action)) {
            Ok(text) => json!({"ok": true, "told": text}),
            Err(error) => json!({"ok": false, "error": error}),
        };
        // A line is far shorter than a socket's send buffer.
        self.is_gone |= self.stream.write_all(format!("{answer}\n").as_bytes()).is_err();
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // The file may not exist any more.
        let _ = std::fs::remove_file(&self.path);
    }
}
