//! The handshake: fixed newstyle, one option after the other, until the client selects the export or leaves.
//!
//! An invalid option gets an error reply, and the next option may follow. A wrong magic number or undefined flags end
//! the connection, because the stream cannot be interpreted.
use super::export::Export;
use super::wire::{IHAVEOPT, REPLY_MAGIC, option, reply, u16_at, u32_at, u64_at};

/// The longest option; longer ones are skipped and refused.
pub const OPTION_BYTES_MAX: u32 = 64 << 10;
/// Bytes of an option's header.
pub const OPTION_HEAD: usize = 16;
/// The name of the only metadata context, and its id.
const ALLOCATION: &[u8] = b"base:allocation";
pub const ALLOCATION_ID: u32 = 1;

/// The header of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    pub option: u32,
    pub length: u32,
}

impl Head {
    /// Parses the 16 bytes before an option's data; `None` if the magic number is wrong.
    pub fn read(bytes: &[u8]) -> Option<Head> {
        let magic = u64_at(bytes, 0)?;
        (magic == IHAVEOPT).then_some(Head { option: u32_at(bytes, 8)?, length: u32_at(bytes, 12)? })
    }
}

/// The encryption of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Security {
    /// Not encrypted, and TLS is not available.
    Plain,
    /// Not encrypted, and nothing is served before it is.
    Required,
    /// Encrypted, and the client has authenticated itself.
    On,
}

/// The negotiated settings so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Agreed {
    pub structured: bool,
    /// Whether the client may query the allocation.
    pub allocation: bool,
    /// Whether the client wants no 124 zeros after the reply to EXPORT_NAME.
    pub no_zeroes: bool,
}

/// The next step after an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The next option.
    Option,
    /// The transmission phase.
    Transmission,
    /// TLS, and then the next option.
    Tls,
    /// The end, at the request of the client.
    Leave,
    /// The end: the client names an unknown export with EXPORT_NAME, which allows no error reply.
    NoSuchExport,
    /// The end: the client selects the export without TLS with EXPORT_NAME, which allows no error reply.
    NoTls,
}

/// Appends a reply to an option to the output.
pub fn put_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend(REPLY_MAGIC.to_be_bytes());
    for word in [option, kind, data.len() as u32] {
        out.extend(word.to_be_bytes());
    }
    out.extend(data);
}

/// Handles an option with its data, and appends the reply.
pub fn take(
    export: &Export,
    security: Security,
    agreed: &mut Agreed,
    option: u32,
    data: &[u8],
    out: &mut Vec<u8>,
) -> Next {
    let mut answer = |kind: u32, text: &str| put_reply(out, option, kind, text.as_bytes());
    match option {
        option::STARTTLS => return start_tls(security, data, out),
        option::ABORT => {
            answer(reply::ACK, "");
            return Next::Leave;
        }
        option::EXPORT_NAME if security == Security::Required => return Next::NoTls,
        _ if security == Security::Required => {
            answer(reply::ERR_TLS_REQD, "the device is served with TLS alone: begin with STARTTLS");
        }
        option::EXPORT_NAME => return export_name(export, *agreed, data, out),
        option::LIST if !data.is_empty() => answer(reply::ERR_INVALID, "LIST takes no data"),
        option::LIST => list(export, out),
        option::STRUCTURED_REPLY if !data.is_empty() => {
            answer(reply::ERR_INVALID, "STRUCTURED_REPLY takes no data");
        }
        option::STRUCTURED_REPLY => {
            agreed.structured = true;
            answer(reply::ACK, "");
        }
        option::INFO | option::GO => return go(export, option, data, out),
        option::LIST_META_CONTEXT | option::SET_META_CONTEXT => contexts(agreed, option, data, out),
        _ => answer(reply::ERR_UNSUP, "no such option here"),
    }
    Next::Option
}

fn start_tls(security: Security, data: &[u8], out: &mut Vec<u8>) -> Next {
    let mut answer = |kind: u32, text: &str| put_reply(out, option::STARTTLS, kind, text.as_bytes());
    match security {
        _ if !data.is_empty() => answer(reply::ERR_INVALID, "STARTTLS takes no data"),
        Security::Plain => answer(reply::ERR_POLICY, "there is no TLS here"),
        Security::On => answer(reply::ERR_INVALID, "the connection has TLS already"),
        Security::Required => {
            answer(reply::ACK, "");
            return Next::Tls;
        }
    }
    Next::Option
}

/// EXPORT_NAME, the old way to select the export: it has no reply but the export itself.
fn export_name(export: &Export, agreed: Agreed, name: &[u8], out: &mut Vec<u8>) -> Next {
    if !Export::is_named(name) {
        return Next::NoSuchExport;
    }
    out.extend(export.size.to_be_bytes());
    out.extend(export.flags().to_be_bytes());
    if !agreed.no_zeroes {
        out.extend([0; 124]);
    }
    Next::Transmission
}

fn list(export: &Export, out: &mut Vec<u8>) {
    let mut data = 0_u32.to_be_bytes().to_vec();
    data.extend(export.description.as_bytes());
    put_reply(out, option::LIST, reply::SERVER, &data);
    put_reply(out, option::LIST, reply::ACK, &[]);
}

fn go(export: &Export, option: u32, data: &[u8], out: &mut Vec<u8>) -> Next {
    let Some((name, requested)) = info_request(data) else {
        put_reply(out, option, reply::ERR_INVALID, b"its lengths do not fit its data");
        return Next::Option;
    };
    if !Export::is_named(name) {
        put_reply(out, option, reply::ERR_UNKNOWN, b"the one export here has no name: leave the name empty");
        return Next::Option;
    }
    export.infos(&requested).iter().for_each(|info| put_reply(out, option, reply::INFO, info));
    put_reply(out, option, reply::ACK, &[]);
    if option == option::GO { Next::Transmission } else { Next::Option }
}

/// The export name and the requested kinds of information in INFO and GO; `None` if the lengths do not match.
fn info_request(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let length = u32_at(data, 0)? as usize;
    let rest = data.get(4..)?;
    let (name, rest) = rest.split_at_checked(length)?;
    let count = usize::from(u16_at(rest, 0)?);
    let kinds = &rest[2..];
    if kinds.len() != 2 * count {
        return None;
    }
    Some((name, (0..count).filter_map(|place| u16_at(kinds, 2 * place)).collect()))
}

/// Handles metadata contexts, of which `base:allocation` is the only one.
fn contexts(agreed: &mut Agreed, option: u32, data: &[u8], out: &mut Vec<u8>) {
    let sets = option == option::SET_META_CONTEXT;
    if sets {
        // Earlier settings are void, whatever the result.
        agreed.allocation = false;
    }
    if !agreed.structured {
        return put_reply(
            out,
            option,
            reply::ERR_INVALID,
            b"contexts take structured replies: agree on these first",
        );
    }
    let Some((name, queries)) = queries(data) else {
        return put_reply(out, option, reply::ERR_INVALID, b"its lengths do not fit its data");
    };
    if !Export::is_named(name) {
        return put_reply(
            out,
            option,
            reply::ERR_UNKNOWN,
            b"the one export here has no name: leave the name empty",
        );
    }
    let is_meant = |query: &&[u8]| *query == ALLOCATION || (!sets && *query == b"base:");
    if queries.iter().any(is_meant) || (queries.is_empty() && !sets) {
        let mut context = if sets { ALLOCATION_ID } else { 0 }.to_be_bytes().to_vec();
        context.extend(ALLOCATION);
        put_reply(out, option, reply::META_CONTEXT, &context);
        agreed.allocation |= sets;
    }
    put_reply(out, option, reply::ACK, &[]);
}

fn queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let (name, mut rest) = counted(data)?;
    let count = u32_at(rest, 0)?;
    rest = &rest[4..];
    let mut queries = Vec::new();
    for _ in 0..count {
        let (query, behind) = counted(rest)?;
        queries.push(query);
        rest = behind;
    }
    rest.is_empty().then_some((name, queries))
}

/// Splits off a string that is prefixed with its length in four bytes.
fn counted(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32_at(data, 0)? as usize;
    data.get(4..)?.split_at_checked(length)
}
