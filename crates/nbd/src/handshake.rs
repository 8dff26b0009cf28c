//! The client's handshake: fixed newstyle, structured replies if the server offers them, then GO.
use crate::error::NbdError;
use crate::wire::{
    FLAG_FIXED_NEWSTYLE, FLAG_NO_ZEROES, IHAVEOPT, NBDMAGIC, PAYLOAD_MAX, REPLY_MAGIC, info, option, reply,
    transmission, u16_at, u32_at, u64_at,
};
use serde::Serialize;
use std::io::{Read, Write};

/// The longest valid reply to an option.
const ANSWER_MAX: u32 = 1 << 20;

/// The properties of an export.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Export {
    pub size_bytes: u64,
    pub read_only: bool,
    pub rotational: bool,
    /// Whether the server supports flushes.
    pub flush: bool,
    /// Whether the server supports writes that are durable when they complete (FUA).
    pub fua: bool,
    pub trim: bool,
    /// Whether several connections may be used with a consistent view of the device.
    pub multi_conn: bool,
    /// The minimum block size: offsets and lengths are multiples of it.
    pub block_least_bytes: u32,
    /// The preferred block size.
    pub block_preferred_bytes: u32,
    /// The longest read or write in bytes.
    pub block_most_bytes: u32,
    /// The description of the export, if there is one.
    pub description: Option<String>,
    /// Whether structured replies were negotiated.
    pub structured: bool,
}

fn read<const N: usize>(from: &mut impl Read) -> Result<[u8; N], NbdError> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn send_option(stream: &mut impl Write, number: u32, data: &[u8]) -> Result<(), NbdError> {
    let mut message = IHAVEOPT.to_be_bytes().to_vec();
    message.extend(number.to_be_bytes());
    message.extend((data.len() as u32).to_be_bytes());
    message.extend(data);
    Ok(stream.write_all(&message)?)
}

/// Reads the next reply to an option: its kind and data.
fn read_reply(stream: &mut impl Read, number: u32) -> Result<(u32, Vec<u8>), NbdError> {
    let head: [u8; 20] = read(stream)?;
    let (Some(REPLY_MAGIC), Some(of), Some(kind), Some(length)) =
        (u64_at(&head, 0), u32_at(&head, 8), u32_at(&head, 12), u32_at(&head, 16))
    else {
        return Err(NbdError::Protocol("an option is answered by something else"));
    };
    if of != number || length > ANSWER_MAX {
        return Err(NbdError::Protocol("an option is answered by something else"));
    }
    let mut data = vec![0; length as usize];
    stream.read_exact(&mut data)?;
    Ok((kind, data))
}

/// Selects an export on a blocking stream.
///
/// # Errors
/// When there is no NBD server, or it has no such export.
pub fn negotiate(stream: &mut (impl Read + Write), export: &str) -> Result<Export, NbdError> {
    greet(stream)?;
    take(stream, export)
}

/// Runs the handshake up to the beginning of TLS, on a blocking stream.
///
/// # Errors
/// When there is no NBD server, or it has no TLS.
pub fn start_tls(stream: &mut (impl Read + Write)) -> Result<(), NbdError> {
    greet(stream)?;
    send_option(stream, option::STARTTLS, &[])?;
    match read_reply(stream, option::STARTTLS)? {
        (reply::ACK, _) => Ok(()),
        _ => Err(NbdError::Refused("the server has no TLS; write nbd:// for a connection without it".into())),
    }
}

fn greet(stream: &mut (impl Read + Write)) -> Result<(), NbdError> {
    let greeting: [u8; 16] = read(stream)?;
    if u64_at(&greeting, 0) != Some(NBDMAGIC) {
        return Err(NbdError::Refused("no NBD server answers there".into()));
    }
    let flags = u16::from_be_bytes(match u64_at(&greeting, 8) {
        Some(IHAVEOPT) => read(stream)?,
        _ => return Err(NbdError::Refused("the server speaks the old handshake only".into())),
    });
    if flags & FLAG_FIXED_NEWSTYLE == 0 {
        return Err(NbdError::Refused("the server does not speak the fixed newstyle handshake".into()));
    }
    let ours = FLAG_FIXED_NEWSTYLE | (flags & FLAG_NO_ZEROES);
    Ok(stream.write_all(&u32::from(ours).to_be_bytes())?)
}

/// Selects an export on a blocking stream after the greeting.
///
/// # Errors
/// When the server has no such export, or refuses this client.
pub fn take(stream: &mut (impl Read + Write), export: &str) -> Result<Export, NbdError> {
    send_option(stream, option::STRUCTURED_REPLY, &[])?;
    let structured = read_reply(stream, option::STRUCTURED_REPLY)?.0 == reply::ACK;
    let mut wanted = (export.len() as u32).to_be_bytes().to_vec();
    wanted.extend(export.as_bytes());
    for word in [2, info::DESCRIPTION, info::BLOCK_SIZE] {
        wanted.extend(word.to_be_bytes());
    }
    send_option(stream, option::GO, &wanted)?;
    let mut info = ExportInfo { structured, ..ExportInfo::default() };
    loop {
        let (kind, data) = read_reply(stream, option::GO)?;
        match kind {
            reply::INFO => info.add_info(&data)?,
            reply::ACK => return info.export(),
            reply::ERR_UNKNOWN => {
                let names = exports(stream).unwrap_or_default();
                return Err(NbdError::Refused(refusal(kind, &data, export) + &listed(&names)));
            }
            _ => return Err(NbdError::Refused(refusal(kind, &data, export))),
        }
    }
}

/// The names of the server's exports, if it lists them.
fn exports(stream: &mut (impl Read + Write)) -> Result<Vec<String>, NbdError> {
    send_option(stream, option::LIST, &[])?;
    let mut names = Vec::new();
    loop {
        let (kind, data) = read_reply(stream, option::LIST)?;
        if kind != reply::SERVER || names.len() == EXPORTS_MAX {
            return Ok(names);
        }
        let length = u32_at(&data, 0).unwrap_or(0) as usize;
        let name = data.get(4..).and_then(|data| data.get(..length)).unwrap_or_default();
        names.push(String::from_utf8_lossy(name).into_owned());
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    format!("; its exports: {}", names.join(", "))
}

fn refusal(kind: u32, data: &[u8], export: &str) -> String {
    let why = String::from_utf8_lossy(data);
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    match kind {
        reply::ERR_UNKNOWN if export.is_empty() => format!("the server has no default export{why}; name one"),
        reply::ERR_UNKNOWN => format!("the server has no export named {export:?}{why}"),
        reply::ERR_TLS_REQD => {
            format!("the server wants TLS{why}: write nbds://HOST:PORT/EXPORT?tls-certificates=DIR")
        }
        reply::ERR_POLICY => format!("the server does not let this client in{why}"),
        reply::ERR_UNSUP => format!("the server is too old: it does not know the option GO{why}"),
        _ => format!("the server refuses the export with error {:#x}{why}", kind & !(1 << 31)),
    }
}

/// The most export names that an error lists.
const EXPORTS_MAX: usize = 16;

/// The information received so far.
#[derive(Default)]
struct ExportInfo {
    size_and_flags: Option<(u64, u16)>,
    blocks: Option<[u32; 3]>,
    description: Option<String>,
    structured: bool,
}

impl ExportInfo {
    fn add_info(&mut self, data: &[u8]) -> Result<(), NbdError> {
        let short = NbdError::Protocol("what it says of the export is cut off");
        match u16_at(data, 0) {
            Some(info::EXPORT) => {
                let (Some(size), Some(flags)) = (u64_at(data, 2), u16_at(data, 10)) else {
                    return Err(short);
                };
                self.size_and_flags = Some((size, flags));
            }
            Some(info::BLOCK_SIZE) => {
                let (Some(least), Some(preferred), Some(most)) =
                    (u32_at(data, 2), u32_at(data, 6), u32_at(data, 10))
                else {
                    return Err(short);
                };
                if !least.is_power_of_two() || most < least {
                    return Err(NbdError::Protocol("its block sizes contradict each other"));
                }
                self.blocks = Some([least, preferred, most]);
            }
            Some(info::DESCRIPTION) => {
                self.description = Some(String::from_utf8_lossy(&data[2..]).into_owned());
            }
            _ => {}
        }
        Ok(())
    }

    fn export(self) -> Result<Export, NbdError> {
        let Some((size_bytes, flags)) = self.size_and_flags else {
            return Err(NbdError::Protocol("it does not tell the size of the export"));
        };
        // The protocol's defaults for servers without block sizes.
        let [least, preferred, most] = self.blocks.unwrap_or([1, 4_096, PAYLOAD_MAX]);
        let has = |flag: u16| flags & transmission::HAS_FLAGS != 0 && flags & flag != 0;
        Ok(Export {
            size_bytes,
            read_only: has(transmission::READ_ONLY),
            rotational: has(transmission::ROTATIONAL),
            flush: has(transmission::SEND_FLUSH),
            fua: has(transmission::SEND_FUA),
            trim: has(transmission::SEND_TRIM),
            multi_conn: has(transmission::CAN_MULTI_CONN),
            block_least_bytes: least,
            block_preferred_bytes: preferred,
            block_most_bytes: most.min(PAYLOAD_MAX),
            description: self.description.filter(|text| !text.is_empty()),
            structured: self.structured,
        })
    }
}
