//! TLS: the server's certificate, the verification of clients, and the server side of a TLS connection without
//! sockets of its own.
//!
//! The folder of certificates has the files that QEMU, nbdkit and libnbd use: `ca-cert.pem`, `server-cert.pem` and
//! `server-key.pem`, and `ca-crl.pem` if certificates were revoked. Clients without a certificate of that CA are
//! rejected.
use super::session::Closed;
use crate::error::EmulateError;
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, PrivateKeyDer, SignatureVerificationAlgorithm, UnixTime,
};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, ParsedCertificate, VerifierBuilderError, WebPkiClientVerifier};
use rustls::{CertificateError, RootCertStore, ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CA: &str = "ca-cert.pem";
const REVOKED: &str = "ca-crl.pem";
const SERVER: &str = "server-cert.pem";
const KEY: &str = "server-key.pem";

/// The certificate that a server presents, and the clients that it accepts.
#[derive(Clone, Debug)]
pub struct Certificates(Arc<ServerConfig>);

impl Certificates {
    /// Reads a folder of certificates.
    ///
    /// # Errors
    /// When a file does not exist, is not PEM or does not match the others, or when clients would reject the
    /// certificate: names the file and a remedy.
    pub fn read(folder: &Path) -> Result<Self, EmulateError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        let path = folder.join(CA);
        for authority in certificates(&path)? {
            let why = |error| format!("it is no certificate of an authority ({error}): {MAKE}");
            roots.add(authority).map_err(|error| wrong(&path, why(error)))?;
        }
        let (shown, path) = (certificates(&folder.join(SERVER))?, folder.join(SERVER));
        let algorithms = provider.signature_verification_algorithms.all;
        check_shown(&shown, &roots, algorithms, UnixTime::now()).map_err(|why| wrong(&path, why))?;
        let clients = clients(folder, roots, &provider)?;
        let path = folder.join(KEY);
        let key = PrivateKeyDer::from_pem_file(&path).map_err(|error| wrong(&path, no_pem(&error, "key")))?;
        let why =
            |error| format!("it does not fit {SERVER} ({error}): give the key that {SERVER} was signed for");
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| EmulateError::Defect(error.to_string()))?
            .with_client_cert_verifier(clients)
            .with_single_cert(shown, key)
            .map_err(|error| wrong(&path, why(error)))?;
        // Every connection authenticates anew: a resumed session could outlive its certificate.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Certificates(Arc::new(config)))
    }

    /// The server side of a new connection.
    pub(super) fn channel(&self) -> Result<Channel, Closed> {
        let connection = ServerConnection::new(Arc::clone(&self.0)).map_err(|error| closed(&error))?;
        Ok(Channel { connection, failed: None, is_full: false })
    }
}

/// The verifier of client certificates.
fn clients(
    folder: &Path,
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, EmulateError> {
    let revoked = folder.join(REVOKED);
    let mut clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    if revoked.exists() {
        let lists = CertificateRevocationListDer::pem_file_iter(&revoked)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| wrong(&revoked, no_pem(&error, "list of revoked certificates")))?;
        if lists.is_empty() {
            let why = "it holds no list of revoked certificates: make one with openssl ca -gencrl, or remove the file";
            return Err(wrong(&revoked, why.into()));
        }
        clients = clients.with_crls(lists).enforce_revocation_expiration();
    }
    clients.build().map_err(|error| match error {
        VerifierBuilderError::InvalidCrl(error) => wrong(
            &revoked,
            format!("it is no list of version 2 with its number, as RFC 5280 asks ({error:?}): make one with a crlnumber"),
        ),
        error => wrong(&folder.join(CA), format!("{error}: {MAKE}")),
    })
}

/// Checks whether clients accept the first certificate at this time; the others are intermediate certificates. Errors
/// on which clients may differ are ignored.
fn check_shown(
    shown: &[CertificateDer<'static>],
    roots: &RootCertStore,
    algorithms: &[&dyn SignatureVerificationAlgorithm],
    now: UnixTime,
) -> Result<(), String> {
    let Some((first, between)) = shown.split_first() else { return Ok(()) };
    let checked = ParsedCertificate::try_from(first)
        .and_then(|found| verify_server_cert_signed_by_trust_anchor(&found, roots, between, now, algorithms));
    let Err(rustls::Error::InvalidCertificate(error)) = checked else { return Ok(()) };
    let sign = "sign one anew with the key of the authority (openssl x509 -req)";
    Err(match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("it has expired, and no client takes it: {sign}")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            format!("it is not valid yet, and no client takes it: look at this machine's clock, or {sign}")
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            format!(
                "it is not of the authority in {CA}, and no client of that takes it: {sign}, or give its own {CA}"
            )
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            format!("it is not for servers, and no client takes it: {sign}, with extendedKeyUsage=serverAuth")
        }
        _ => return Ok(()),
    })
}

/// The remedy: how to create the folder.
const MAKE: &str = "docs/how-to/emulate.md has the commands that make such a folder";

fn wrong(path: &Path, why: String) -> EmulateError {
    EmulateError::Certificates { path: PathBuf::from(path), why }
}

/// The message for a file without the expected PEM item.
fn no_pem(error: &pem::Error, what: &str) -> String {
    match error {
        pem::Error::Io(error) if error.kind() == ErrorKind::NotFound => {
            format!("there is no such file; the folder has {CA}, {SERVER} and {KEY}: {MAKE}")
        }
        pem::Error::Io(error) => format!("cannot read it: {}", drivelab_nbd::in_words(error)),
        pem::Error::NoItemsFound => format!("it holds no {what} in PEM: {MAKE}"),
        _ => format!("it is damaged: no {what} in PEM: {MAKE}"),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, EmulateError> {
    let found = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(path, no_pem(&error, "certificate")))?;
    if found.is_empty() {
        return Err(wrong(path, no_pem(&pem::Error::NoItemsFound, "certificate")));
    }
    Ok(found)
}

/// The reason for which a connection ends after a TLS error.
fn closed(error: &rustls::Error) -> Closed {
    match error {
        rustls::Error::NoCertificatesPresented => Closed::NoCertificate,
        rustls::Error::InvalidCertificate(CertificateError::Revoked) => Closed::Revoked,
        rustls::Error::InvalidCertificate(_) => Closed::Certificate,
        _ => Closed::Tls,
    }
}

/// The TLS layer of one connection, between the socket and the session.
pub(super) struct Channel {
    connection: ServerConnection,
    /// Why the connection has failed.
    failed: Option<Closed>,
    /// Whether the last read left buffered data, so that there may be more to read without further bytes from the
    /// socket.
    is_full: bool,
}

impl Channel {
    /// Reads decrypted data with the semantics of a nonblocking socket; 0 is the end of the stream.
    pub fn read(&mut self, socket: &mut (impl Read + Write), into: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        let found = loop {
            match self.connection.reader().read(&mut into[count..]) {
                Ok(0) => break Ok(()),
                Ok(more) => count += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => match self.receive(socket) {
                    Ok(0) => break Ok(()),
                    Ok(_) => {}
                    Err(error) => break Err(error),
                },
                Err(error) => break Err(error),
            }
        };
        // The end of the stream follows the last data, and is read without further bytes from the socket too.
        self.is_full = count > 0 && (count == into.len() || found.is_ok());
        if count > 0 { Ok(count) } else { found.map(|()| 0) }
    }

    /// Reads available bytes from the socket, and returns their number.
    fn receive(&mut self, socket: &mut (impl Read + Write)) -> io::Result<usize> {
        if self.failed.is_some() {
            return Err(ErrorKind::InvalidData.into());
        }
        let count = self.connection.read_tls(socket)?;
        let taken = self.connection.process_new_packets();
        // A handshake message, or the alert with the reason of the failure.
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

    /// Writes with the semantics of a nonblocking socket: accepted bytes are sent or buffered.
    pub fn write(&mut self, socket: &mut impl Write, from: &[u8]) -> io::Result<usize> {
        self.send(socket)?;
        let count = self.connection.writer().write(from)?;
        match self.send(socket) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    /// Sends buffered bytes.
    pub fn send(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.connection.wants_write() {
            if self.connection.write_tls(socket)? == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }

    /// Announces that nothing more will be sent.
    pub fn end(&mut self, socket: &mut impl Write) {
        self.connection.send_close_notify();
        // A client that does not receive the notification sees the end of the connection itself.
        let _ = self.send(socket);
    }

    /// Whether there are buffered bytes that the socket has not accepted.
    pub fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Whether there may be buffered data to read without further bytes from the socket.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Why the connection has failed.
    pub fn failed(&self) -> Option<Closed> {
        self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    // Of an authority, valid for a hundred years; a server and a client that it has signed for a year; another authority.
    const AUTHORITY: &str = "\
-----BEGIN CERTIFICATE-----
MIIBczCCARmgAwIBAgIUZaTAl8MKB7BHIHQldaZRXVUzLf4wCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDb25lMCAXDTI2MTEyNTE5MzcyMFoYDzIxMjYxMTAxMTkzNzIw
WjAOMQwwCgYDVQQDDANvbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQZ0Ibj
Pqdv6CK44BosiWMhipqe5s3i+pNBkH6mFqPK+DtffkKsoDb/h8qFGHMp04YonJ18
1ZGvVyjQFyl8QwdFo1MwUTAdBgNVHQ4EFgQUQLI7zrllq7DY0XmZMK1OVttbWdkw
HwYDVR0jBBgwFoAUQLI7zrllq7DY0XmZMK1OVttbWdkwDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNIADBFAiBGf7axB4tfDf2frMFHa1KF1wZheRiGri2r7Hdr
H6Q5yQIhALeKWtbGrrWVO/gUh0RCPCgm7DvfgSdeqSivIfFkiDB1
-----END CERTIFICATE-----";
    const SERVER: &str = "\
-----BEGIN CERTIFICATE-----
MIIBgzCCASqgAwIBAgIUcWtbwlmnKTWUxvITpc5sr+hxab8wCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDb25lMB4XDTI2MTEyNTE5MzcyMVoXDTI3MTEyNTE5MzcyMVow
ETEPMA0GA1UEAwwGc2VydmVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEnUdC
mHCvcgFrpt2/5RnwL+M4Cc08mw9eaNg8LyjOQzZDyedInRBnLQbpeohG5q1hZZbt
dtFKw8tDEvuzNOhjR6NjMGEwCQYDVR0TBAIwADAUBgNVHREEDTALgglsb2NhbGhv
c3QwHQYDVR0OBBYEFJtwrT77WBq4FgiiLf1/OuG2SS4YMB8GA1UdIwQYMBaAFECy
O865Zauw2NF5mTCtTlbbW1nZMAoGCCqGSM49BAMCA0cAMEQCIAEnvsBA4ToHzUTb
IKcvwA6iMP2mBSbF1pzggK1UtakCAiBoDoypRvnDHu5JzrduooqSQhRXlcmZj4/C
u/YC3TE5bA==
-----END CERTIFICATE-----";
    const CLIENT: &str = "\
-----BEGIN CERTIFICATE-----
MIIBgzCCASmgAwIBAgIUcWtbwlmnKTWUxvITpc5sr+hxacAwCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDb25lMB4XDTI2MTEyNTE5MzcyMVoXDTI3MTEyNTE5MzcyMVow
ETEPMA0GA1UEAwwGc2VydmVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEnUdC
mHCvcgFrpt2/5RnwL+M4Cc08mw9eaNg8LyjOQzZDyedInRBnLQbpeohG5q1hZZbt
dtFKw8tDEvuzNOhjR6NiMGAwCQYDVR0TBAIwADATBgNVHSUEDDAKBggrBgEFBQcD
AjAdBgNVHQ4EFgQUm3CtPvtYGrgWCKIt/X864bZJLhgwHwYDVR0jBBgwFoAUQLI7
zrllq7DY0XmZMK1OVttbWdkwCgYIKoZIzj0EAwIDSAAwRQIhAJBIia7jf7M45LxD
/d16dLh8l/BBQhc2gmF+krmyOOybAiBF8nnUVSh+uPv4KQgKD/mJmklCve3REmwi
cGoqOUiNfg==
-----END CERTIFICATE-----";
    const OTHER: &str = "\
-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUXe8lxSRk6NqB2tq6axKPsjDsoiwwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTI1MTkzNzIwWhgPMjEyNjExMDExOTM3
MjBaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
/Pu09UbPvKIdcHWtVtfL+qcJWi5edJOxNvCseyuUclfPPy9uBVkLOXMMfd9ig/ln
g34GKHWokOVyGABpOx28BKNTMFEwHQYDVR0OBBYEFPXemE1fR3W9tI18wZ5Zo3TY
XFbXMB8GA1UdIwQYMBaAFPXemE1fR3W9tI18wZ5Zo3TYXFbXMA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgYVydSbyJoD9sFaOsCPrGnHMcjEmIlj9V
lX/r6A7SDvQCIQDaR3MvP5eikm+dt1f3ztirR/6QUec58T2sQ8ez2+Qc8A==
-----END CERTIFICATE-----";
    const SIGNED_S: u64 = 1_795_635_441;
    const YEAR_S: u64 = 365 * 86_400;

    fn read(pem: &str) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(pem.as_bytes()).expect("it is one")
    }

    /// Why no client takes it, as far as the first comma or colon.
    fn why(shown: &str, authority: &str, now_s: u64) -> Option<String> {
        let mut roots = RootCertStore::empty();
        roots.add(read(authority)).expect("it is an authority");
        let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms.all;
        let now = UnixTime::since_unix_epoch(Duration::from_secs(now_s));
        let why = check_shown(&[read(shown)], &roots, algorithms, now).err()?;
        why.split(',').next().map(str::to_owned)
    }

    #[test]
    fn a_certificate_that_no_client_takes_is_not_served() {
        let expected = |why: &str| Some(why.to_owned());
        let now = SIGNED_S + YEAR_S / 2;
        assert_eq!(why(SERVER, AUTHORITY, now), None);
        assert_eq!(why(SERVER, AUTHORITY, SIGNED_S - 1), expected("it is not valid yet"));
        assert_eq!(why(SERVER, AUTHORITY, SIGNED_S + YEAR_S + 1), expected("it has expired"));
        assert_eq!(why(SERVER, OTHER, now), expected("it is not of the authority in ca-cert.pem"));
        assert_eq!(why(CLIENT, AUTHORITY, now), expected("it is not for servers"));
    }
}
