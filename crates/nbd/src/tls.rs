//! TLS over a TCP connection, as a stream that is blocking or nonblocking like its socket.
//!
//! The folder of certificates has the files that QEMU, nbdkit and libnbd use: `ca-cert.pem`, the authority that must
//! have signed the server's certificate; `client-cert.pem` and `client-key.pem`, if the server authenticates clients.
use crate::error::{NbdError, in_words};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore};
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

const CA: &str = "ca-cert.pem";
const CERTIFICATE: &str = "client-cert.pem";
const KEY: &str = "client-key.pem";

fn wrong(path: &Path, why: &str) -> NbdError {
    NbdError::Address(format!("{}: {why}", path.display()))
}

fn no_pem(path: &Path, error: &pem::Error, what: &str) -> NbdError {
    match error {
        pem::Error::Io(error) if error.kind() == ErrorKind::NotFound => wrong(
            path,
            &format!(
                "there is no such file; the folder has {CA}, and {CERTIFICATE} with {KEY} where the server asks for them"
            ),
        ),
        pem::Error::Io(error) => wrong(path, &format!("cannot read it: {}", in_words(error))),
        _ => wrong(path, &format!("it holds no {what} in PEM")),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, NbdError> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(no_pem(path, &pem::Error::NoItemsFound, "certificate")),
        Err(error) => Err(no_pem(path, &error, "certificate")),
    }
}

/// The TLS configuration from a folder: the client's certificate and the trusted authority.
fn config(folder: &Path) -> Result<ClientConfig, NbdError> {
    let mut roots = RootCertStore::empty();
    let path = folder.join(CA);
    for authority in certificates(&path)? {
        roots
            .add(authority)
            .map_err(|error| wrong(&path, &format!("it is no certificate of an authority ({error})")))?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| NbdError::Tls(error.to_string()))?
        .with_root_certificates(roots);
    let (shown, key) = (folder.join(CERTIFICATE), folder.join(KEY));
    if !shown.exists() && !key.exists() {
        return Ok(builder.with_no_client_auth());
    }
    let shown = certificates(&shown)?;
    let own = PrivateKeyDer::from_pem_file(&key).map_err(|error| no_pem(&key, &error, "key"))?;
    builder
        .with_client_auth_cert(shown, own)
        .map_err(|error| wrong(&key, &format!("it does not fit {CERTIFICATE} ({error})")))
}

/// Converts a TLS error into the reason for which the server is not used.
fn tls_error(error: &rustls::Error, host: &str) -> NbdError {
    use rustls::AlertDescription as Alert;
    let why = match error {
        rustls::Error::InvalidCertificate(error) => match error {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                format!("its certificate is not of the authority in {CA}")
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired".into()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("its certificate does not name {host} (subjectAltName)")
            }
            error => format!("its certificate is not good ({error})"),
        },
        rustls::Error::AlertReceived(Alert::CertificateRequired) => {
            format!("it asks who comes: put {CERTIFICATE} and {KEY} into the folder")
        }
        rustls::Error::AlertReceived(
            alert @ (Alert::UnknownCA
            | Alert::BadCertificate
            | Alert::CertificateExpired
            | Alert::CertificateRevoked
            | Alert::DecryptError),
        ) => format!("it does not take {CERTIFICATE} ({alert:?})"),
        error => error.to_string(),
    };
    NbdError::Tls(why)
}

/// See the module.
pub(crate) struct TlsStream {
    socket: TcpStream,
    connection: ClientConnection,
    host: String,
}

impl TlsStream {
    /// Runs the TLS handshake on a blocking socket.
    pub fn begin(mut socket: TcpStream, host: &str, folder: &Path) -> Result<Self, NbdError> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| NbdError::Address(format!("{host} is no name of a server")))?;
        let mut connection = ClientConnection::new(Arc::new(config(folder)?), name)
            .map_err(|error| tls_error(&error, host))?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).map_err(|error| failed(error, host))?;
        }
        Ok(TlsStream { socket, connection, host: host.to_owned() })
    }

    pub fn set_nonblocking(&self, never_waits: bool) -> io::Result<()> {
        self.socket.set_nonblocking(never_waits)
    }

    /// Whether there are buffered bytes that the socket has not accepted.
    pub fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Sends buffered bytes as far as the socket accepts them.
    pub fn push(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads bytes from the socket; 0 at the end of the stream.
    fn receive(&mut self) -> io::Result<usize> {
        let count = self.connection.read_tls(&mut self.socket)?;
        let taken = self.connection.process_new_packets();
        self.push()?;
        taken.map_err(|error| io::Error::other(tls_error(&error, &self.host)))?;
        Ok(count)
    }
}

/// Converts an error of the TLS handshake.
fn failed(error: io::Error, host: &str) -> NbdError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(inner) => tls_error(inner, host),
        None => error.into(),
    }
}

impl AsFd for TlsStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Read for TlsStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(into) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.receive()? == 0 {
                        return Ok(0);
                    }
                }
                found => return found,
            }
        }
    }
}

impl Write for TlsStream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(from)])
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.push()?;
        let count = self.connection.writer().write_vectored(pieces)?;
        self.push()?;
        if count == 0 && pieces.iter().any(|piece| !piece.is_empty()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.push()
    }
}
