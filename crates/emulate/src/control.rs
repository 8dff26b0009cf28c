//! The control socket: one request as a line of JSON, one line of JSON as the reply.
use crate::accepting::Accepting;
use crate::action::Action;
use crate::live::Live;
use crate::nbd::listener::bind_unix;
use drivelab_units::InFile;
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
    /// When it was last heard, as a number that grows.
    heard: u64,
}

/// See the module.
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    clients: Vec<Client>,
    /// How often a client was heard, or has come.
    heard: u64,
    accepting: Accepting,
}

/// What the reply to an action tells.
pub struct Told {
    pub text: String,
    /// The figures of the device, with its status.
    pub figures: Option<Live>,
}

/// Carries out an action.
pub type Act<'a> = &'a mut dyn FnMut(&Action) -> Result<Told, String>;

impl Control {
    /// Listens at a Unix socket.
    ///
    /// # Errors
    /// When the path cannot be used, or another server listens there.
    pub fn new(path: &Path) -> io::Result<Self> {
        let (listener, path) = (bind_unix(path)?, path.to_owned());
        Ok(Control { listener, path, clients: Vec::new(), heard: 0, accepting: Accepting::default() })
    }

    pub fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        fds.push(PollFd::from_borrowed_fd(self.listener.as_fd(), self.accepting.flags(true)));
        fds.extend(
            self.clients.iter().map(|client| PollFd::from_borrowed_fd(client.stream.as_fd(), PollFlags::IN)),
        );
    }

    pub fn receive(&mut self, ready: &[PollFlags], act: Act<'_>) {
        for (client, ready) in self.clients.iter_mut().zip(ready.iter().skip(1)) {
            if !ready.is_empty() {
                self.heard += 1;
                client.heard = self.heard;
                client.receive(act);
            }
        }
        self.clients.retain(|client| !client.is_gone);
        if ready.first().is_some_and(|ready| ready.contains(PollFlags::IN)) {
            self.accept();
        }
    }

    /// Accepts a client. If all places are taken, the one that has been silent for longest goes: clients that say
    /// nothing must not exclude others.
    fn accept(&mut self) {
        let accepted = self.listener.accept().and_then(|(stream, _)| {
            stream.set_nonblocking(true)?;
            Ok(stream)
        });
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => return self.accepting.failed(&error),
        };
        if self.clients.len() >= CLIENTS_MAX
            && let Some((silent, _)) = self.clients.iter().enumerate().min_by_key(|(_, client)| client.heard)
        {
            self.clients.remove(silent);
        }
        self.heard += 1;
        self.clients.push(Client { stream, line: Vec::new(), is_gone: false, heard: self.heard });
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
        let answer = match Action::parse(line).and_then(|action| act(&action)) {
            Ok(Told { text, figures: None }) => json!({"ok": true, "told": text}),
            Ok(Told { text, figures }) => json!({"ok": true, "told": text, "figures": figures}),
            Err(error) => json!({"ok": false, "error": InFile(&error).to_string()}),
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{Timespec, poll};
    use std::io::{BufRead, BufReader};

    /// Handles what has arrived.
    fn turn(control: &mut Control) {
        let mut fds = Vec::new();
        control.wait_for(&mut fds);
        poll(&mut fds, Some(&Timespec { tv_sec: 60, tv_nsec: 0 })).expect("it can wait");
        let ready: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
        control.receive(&ready, &mut |_| Ok(Told { text: "done".into(), figures: None }));
    }

    fn connect(control: &mut Control) -> UnixStream {
        let client = UnixStream::connect(&control.path).expect("it listens");
        turn(control);
        client
    }

    /// Asks for the status. The answer, or nothing where the connection has ended.
    fn ask(control: &mut Control, mut client: &UnixStream) -> String {
        if client.write_all(b"{\"action\":\"status\"}\n").is_ok() {
            turn(control);
        }
        let mut answer = String::new();
        let _ = BufReader::new(client).read_line(&mut answer);
        answer
    }

    #[test]
    fn clients_that_say_nothing_do_not_exclude_others() {
        let path = std::env::temp_dir().join(format!("drivelab-test-{}-control", std::process::id()));
        let mut control = Control::new(&path).expect("it can be had");
        let clients: Vec<UnixStream> = (0..CLIENTS_MAX).map(|_| connect(&mut control)).collect();
        // The oldest one says something, so that the next one has been silent for longest.
        assert!(ask(&mut control, &clients[0]).contains("done"));
        let another = connect(&mut control);
        assert!(ask(&mut control, &another).contains("done"));
        assert_eq!(ask(&mut control, &clients[1]), "", "it was ended");
        assert!(ask(&mut control, &clients[0]).contains("done"));
        assert_eq!(control.clients.len(), CLIENTS_MAX);
    }
}
