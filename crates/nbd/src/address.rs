//! Addresses: `nbd+unix:///EXPORT?socket=PATH`, `nbd://HOST:PORT/EXPORT` and, with TLS,
//! `nbds://HOST:PORT/EXPORT?tls-certificates=DIR`.
//!
//! Source: the NBD URI specification, `doc/uri.md` of NetworkBlockDevice/nbd.
use crate::error::NbdError;
use std::path::PathBuf;
use std::str::FromStr;

/// The default port.
pub const PORT: u16 = 10_809;

/// Where a server listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Endpoint {
    Unix(PathBuf),
    Tcp {
        host: String,
        port: u16,
    },
    /// A TCP server with TLS, and the folder of certificates.
    Tls {
        host: String,
        port: u16,
        certificates: PathBuf,
    },
}

/// A server and one of its exports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    pub place: Endpoint,
    /// Empty for the server's default export.
    pub export: String,
}

impl FromStr for Address {
    type Err = NbdError;

    fn from_str(text: &str) -> Result<Self, NbdError> {
        let wrong = |why: &str| NbdError::Address(why.into());
        let (scheme, rest) = text.split_once("://").ok_or_else(|| {
            wrong("is no NBD address; write nbd+unix:///?socket=PATH or nbd://HOST:PORT/EXPORT")
        })?;
        let scheme = scheme.to_ascii_lowercase();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, export) = rest.split_once('/').unwrap_or((rest, ""));
        let export = decoded(export)?;
        match scheme.as_str() {
            "nbd+unix" => {
                let socket = socket(query)?;
                if !authority.is_empty() || socket.is_empty() {
                    return Err(wrong("names no socket; write nbd+unix:///EXPORT?socket=PATH"));
                }
                Ok(Address { place: Endpoint::Unix(decoded(socket)?.into()), export })
            }
            "nbds" => {
                let Endpoint::Tcp { host, port } = tcp(authority)? else { return Err(wrong(NO_PLACE)) };
                Ok(Address {
                    place: Endpoint::Tls { host, port, certificates: certificates(query)? },
                    export,
                })
            }
            "nbds+unix" => {
                Err(wrong("is TLS on a socket of this machine, which is not supported; use nbd+unix://"))
            }
            "nbd" if !query.is_empty() => Err(NbdError::Address(format!(
                "has a query, \"?{query}\", which nothing here knows; leave it out"
            ))),
            "nbd" => Ok(Address { place: tcp(authority)?, export }),
            _ => Err(wrong("is no NBD address; write nbd+unix:///?socket=PATH or nbd://HOST:PORT/EXPORT")),
        }
    }
}

const NO_PLACE: &str = "names no host and port; write nbd://HOST:PORT/EXPORT";

/// The folder of certificates in a query.
fn certificates(query: &str) -> Result<PathBuf, NbdError> {
    let folder = query.strip_prefix("tls-certificates=").filter(|folder| !folder.is_empty());
    let Some(folder) = folder.filter(|folder| !folder.contains('&')) else {
        let why = "names no folder of certificates; write nbds://HOST:PORT/EXPORT?tls-certificates=DIR, where DIR has \
                   ca-cert.pem, and client-cert.pem with client-key.pem where the server asks for them";
        return Err(NbdError::Address(why.into()));
    };
    Ok(decoded(folder)?.into())
}

/// The socket path in a query; empty if there is none.
fn socket(query: &str) -> Result<&str, NbdError> {
    let mut socket = "";
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let Some(path) = part.strip_prefix("socket=").filter(|_| socket.is_empty()) else {
            let why = format!(
                "has \"{part}\" in its query, where one socket=PATH is all that is known; leave it out"
            );
            return Err(NbdError::Address(why));
        };
        socket = path;
    }
    Ok(socket)
}

fn tcp(authority: &str) -> Result<Endpoint, NbdError> {
    let wrong = || NbdError::Address(NO_PLACE.into());
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or_else(wrong)?;
        (host, if rest.is_empty() { "" } else { rest.strip_prefix(':').ok_or_else(wrong)? })
    } else {
        authority.rsplit_once(':').unwrap_or((authority, ""))
    };
    let port = if port.is_empty() { PORT } else { port.parse().map_err(|_| wrong())? };
    if host.is_empty() || host.contains('@') {
        return Err(wrong());
    }
    Ok(Endpoint::Tcp { host: host.into(), port })
}

/// Decodes percent-encoded text.
fn decoded(text: &str) -> Result<String, NbdError> {
    let wrong = || NbdError::Address("has a % that two hexadecimal digits of UTF-8 do not follow".into());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (code, behind) = rest.split_at_checked(2).ok_or_else(wrong)?;
        let code = std::str::from_utf8(code).map_err(|_| wrong())?;
        bytes.push(u8::from_str_radix(code, 16).map_err(|_| wrong())?);
        rest = behind;
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_address_are_read() {
        let unix: Address = "nbd+unix:///my%20disk?socket=/run/a%3Fb".parse().unwrap();
        assert_eq!((unix.place, unix.export.as_str()), (Endpoint::Unix("/run/a?b".into()), "my disk"));
        let tls: Address = "nbds://host:7/disk?tls-certificates=/a%20b".parse().unwrap();
        let place = Endpoint::Tls { host: "host".into(), port: 7, certificates: "/a b".into() };
        assert_eq!((tls.place, tls.export.as_str()), (place, "disk"));
        for (text, host, port, export) in [
            ("nbd://10.0.0.1:9000", "10.0.0.1", 9_000, ""),
            ("nbd://server/disk/1", "server", PORT, "disk/1"),
            ("nbd://[::1]:77/", "::1", 77, ""),
            ("nbd://[::1]", "::1", PORT, ""),
        ] {
            let found: Address = text.parse().unwrap();
            assert_eq!(
                (found.place, found.export.as_str()),
                (Endpoint::Tcp { host: host.into(), port }, export)
            );
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (text, why) in [
            ("nbd:localhost:1", "is no NBD address; write"),
            ("http://host", "is no NBD address; write"),
            ("nbds://host", "names no folder of certificates"),
            ("nbds://host/?tls-certificates=", "names no folder of certificates"),
            ("nbds://host/?tls-certificates=a&tls-psk=b", "names no folder of certificates"),
            ("nbds://:1/?tls-certificates=a", "names no host and port"),
            ("nbds+unix:///?socket=x", "is TLS on a socket of this machine"),
            ("nbd+unix:///", "names no socket"),
            ("nbd+unix://host/?socket=x", "names no socket"),
            ("nbd://:10/", "names no host and port"),
            ("nbd://host:port/", "names no host and port"),
            ("nbd://host:70000/", "names no host and port"),
            ("nbd://[::1/", "names no host and port"),
            ("nbd://host/%zz", "two hexadecimal digits"),
            ("nbd://host/%f", "two hexadecimal digits"),
        ] {
            let message = text.parse::<Address>().unwrap_err().to_string();
            assert!(message.contains(why), "{text}: {message}");
        }
    }
}
