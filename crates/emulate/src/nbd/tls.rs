//! TLS: what a server shows, whom it lets in, and a connection's end of it without I/O of its own.
//!
//! The folder of certificates has the files that QEMU, nbdkit and libnbd use: `ca-cert.pem`, `server-cert.pem` and
//! `server-key.pem`, and `ca-crl.pem` where certificates were revoked. A client without a certificate of that CA is not let in.
use super::session::Closed;
use crate::error::EmulateError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, VerifierBuilderError, WebPkiClientVerifier};
use rustls::{CertificateError, RootCertStore, ServerConfig, ServerConnection};
use std::fmt::Display;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CA: &str = "ca-cert.pem";
const REVOKED: &str = "ca-crl.pem";
const SERVER: &str = "server-cert.pem";
const KEY: &str = "server-key.pem";

/// What a server shows its clients, and whom it lets in.
#[derive(Clone, Debug)]
pub struct Certificates(Arc<ServerConfig>);

impl Certificates {
    /// Reads a folder of certificates.
    ///
    /// # Errors
    /// When a file is not there, is no PEM, or does not fit the others: names the file.
    pub fn read(folder: &Path) -> Result<Self, EmulateError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        let path = folder.join(CA);
        for authority in certificates(&path)? {
            roots.add(authority).map_err(|error| wrong(&path, &error))?;
        }
        let mut clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let revoked = folder.join(REVOKED);
        if revoked.exists() {
            let lists = CertificateRevocationListDer::pem_file_iter(&revoked)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| wrong(&revoked, &error))?;
            if lists.is_empty() {
                return Err(wrong(&revoked, &"it holds no list of revoked certificates"));
            }
            clients = clients.with_crls(lists).enforce_revocation_expiration();
        }
        let clients = clients.build().map_err(|error| match error {
            VerifierBuilderError::InvalidCrl(error) => wrong(
                &revoked,
                &format!("it is no list of version 2 with its number, as RFC 5280 asks: {error:?}"),
            ),
            error => wrong(&folder.join(CA), &error),
        })?;
        let (shown, path) = (certificates(&folder.join(SERVER))?, folder.join(KEY));
        let key = PrivateKeyDer::from_pem_file(&path).map_err(|error| wrong(&path, &error))?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| EmulateError::Defect(error.to_string()))?
            .with_client_cert_verifier(clients)
            .with_single_cert(shown, key)
            .map_err(|error| wrong(&path, &format!("it does not fit {SERVER}: {error}")))?;
        // Every connection proves itself anew: one that is resumed would outlive its certificate.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Certificates(Arc::new(config)))
    }

    /// The server's end of a new connection.
    pub(super) fn channel(&self) -> Result<Channel, Closed> {
        let connection = ServerConnection::new(Arc::clone(&self.0)).map_err(|error| closed(&error))?;
        Ok(Channel { connection, failed: None, is_full: false })
    }
}

fn wrong(path: &Path, why: &dyn Display) -> EmulateError {
    EmulateError::Certificates { path: PathBuf::from(path), why: why.to_string() }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, EmulateError> {
    let found = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(path, &error))?;
    if found.is_empty() {
        return Err(wrong(path, &"it holds no certificate"));
    }
    Ok(found)
}

/// Why a connection ends whose TLS went wrong.
fn closed(error: &rustls::Error) -> Closed {
    match error {
        rustls::Error::NoCertificatesPresented => Closed::NoCertificate,
        rustls::Error::InvalidCertificate(CertificateError::Revoked) => Closed::Revoked,
        rustls::Error::InvalidCertificate(_) => Closed::Certificate,
        _ => Closed::Tls,
    }
}

/// One connection's TLS between a socket and the session.
pub(super) struct Channel {
    connection: ServerConnection,
    /// Why it is of no use any more.
    failed: Option<Closed>,
    /// The last read did not come to the end of what lies here: there may be more without a byte from the socket.
    is_full: bool,
}

impl Channel {
    /// Reads what the client has said, as a socket without waiting does. 0 is the end.
    pub fn read(&mut self, socket: &mut (impl Read + Write), into: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        let found = loop {
            match self.connection.reader().read(&mut into[count..]) {
                Ok(0) => break Ok(()),
                Ok(more) => count += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => match self.hear(socket) {
                    Ok(0) => break Ok(()),
                    Ok(_) => {}
                    Err(error) => break Err(error),
                },
                Err(error) => break Err(error),
            }
        };
        // Behind the last data comes the end, which is heard without a byte from the socket too.
        self.is_full = count > 0 && (count == into.len() || found.is_ok());
        if count > 0 { Ok(count) } else { found.map(|()| 0) }
    }

    /// Takes bytes of the socket in: as many as were there.
    fn hear(&mut self, socket: &mut (impl Read + Write)) -> io::Result<usize> {
        if self.failed.is_some() {
            return Err(ErrorKind::InvalidData.into());
        }
        let count = self.connection.read_tls(socket)?;
        let taken = self.connection.process_new_packets();
        // An answer of the handshake, or the alert that says what was wrong.
        let sent = self.send(socket);
        if let Err(error) = taken {
            self.failed = Some(closed(&error));
            return Err(ErrorKind::InvalidData.into());
        }
        match sent {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    /// Writes as a socket without waiting does: what it has taken is sent, or lies ready to be.
    pub fn write(&mut self, socket: &mut impl Write, from: &[u8]) -> io::Result<usize> {
        self.send(socket)?;
        let count = self.connection.writer().write(from)?;
        match self.send(socket) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    /// Sends what lies ready.
    pub fn send(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.connection.wants_write() {
            if self.connection.write_tls(socket)? == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }

    /// Says that nothing more will be sent.
    pub fn end(&mut self, socket: &mut impl Write) {
        self.connection.send_close_notify();
        // Who does not take it hears the end of the connection itself.
        let _ = self.send(socket);
    }

    /// Whether something lies ready that the socket has not taken.
    pub fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Whether there may be more to read without a byte from the socket.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Why it is of no use any more.
    pub fn failed(&self) -> Option<Closed> {
        self.failed
    }
}
