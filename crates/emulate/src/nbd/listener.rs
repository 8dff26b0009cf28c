//! The sockets at which NBD clients connect, and their addresses.
use super::stream::Socket;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The longest socket path that the kernel accepts.
const SOCKET_PATH_MAX: usize = 107;

/// The socket that listens for clients.
pub(super) enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

impl Listener {
    /// Listens at a port.
    pub fn tcp(at: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        Ok(Listener::Tcp(listener))
    }

    /// Accepts a client that waits.
    pub fn accept(&self) -> io::Result<Socket> {
        match self {
            Listener::Unix(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok(Socket::Unix(stream))
            }
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
        }
    }

    /// The address at which clients connect.
    pub fn uri(&self, has_tls: bool) -> String {
        match self {
            Listener::Unix(_, path) => uri_of(path),
            Listener::Tcp(listener) => {
                let scheme = if has_tls { "nbds" } else { "nbd" };
                // A listening socket has an address.
                listener.local_addr().map_or_else(|_| String::new(), |at| format!("{scheme}://{at}"))
            }
        }
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix(listener, _) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // The file may not exist any more.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Binds a Unix socket. A stale socket without a server is replaced; a socket with a server is an error.
pub(crate) fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    if path.as_os_str().len() > SOCKET_PATH_MAX {
        let why = format!("the path of a socket has at most {SOCKET_PATH_MAX} bytes: take a shorter one");
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        return Err(io::Error::new(ErrorKind::NotFound, "there is no such folder for it: make that first"));
    }
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

/// A Unix socket that clients can connect to before it is served: they wait until a transport takes it over.
#[derive(Debug)]
pub struct Listening {
    listener: UnixListener,
    path: PathBuf,
}

impl Listening {
    /// # Errors
    /// When the path cannot be used, or another server listens there.
    pub fn new(path: &Path) -> io::Result<Self> {
        Ok(Listening { listener: bind_unix(path)?, path: path.to_owned() })
    }

    /// The same socket, for a transport that takes it over.
    pub(super) fn listener(&self) -> io::Result<Listener> {
        Ok(Listener::Unix(self.listener.try_clone()?, self.path.clone()))
    }

    /// Readable as soon as a client has connected.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// The address at which clients connect.
    pub fn uri(&self) -> String {
        uri_of(&self.path)
    }
}

/// The address of a socket, whatever the working directory of a client. A path that is too long for a socket once it is
/// absolute stays as it is.
fn uri_of(path: &Path) -> String {
    let whole = std::path::absolute(path).ok().filter(|path| path.as_os_str().len() <= SOCKET_PATH_MAX);
    format!("nbd+unix:///?socket={}", escaped(whole.as_deref().unwrap_or(path)))
}

/// Percent-encodes a path for a URI.
fn escaped(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes
        .map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
