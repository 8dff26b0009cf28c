//! The handshake: fixed newstyle, option after option, until the client takes the export or leaves.
//!
//! An option that is wrong in itself is answered with an error, and the next one may come. What cannot be told apart from
//! noise (a wrong magic number, flags that nobody has defined) ends the connection.
use super::export::Export;
use super::wire::{IHAVEOPT, REPLY_MAGIC, option, reply, u16_at, u32_at, u64_at};

/// Longer options are read over, and refused.
pub const OPTION_BYTES_MAX: u32 = 64 << 10;
/// Bytes before an option's data.
pub const OPTION_HEAD: usize = 16;
/// The name of the one context of metadata that there is, and its number.
const ALLOCATION: &[u8] = b"base:allocation";
pub const ALLOCATION_ID: u32 = 1;

/// What the head of an option says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    pub option: u32,
    pub length: u32,
}

impl Head {
    /// Of the 16 bytes before an option's data; none where they do not begin as an option does.
    pub fn read(bytes: &[u8]) -> Option<Head> {
        let magic = u64_at(bytes, 0)?;
        (magic == IHAVEOPT).then_some(Head { option: u32_at(bytes, 8)?, length: u32_at(bytes, 12)? })
    }
}

/// Whether a connection is encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Security {
    /// It is not, and cannot be.
    Plain,
    /// It is not, and nothing is told or done before it is.
    Required,
    /// It is, and the client has shown who it is.
    On,
}

/// What has been agreed on so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Agreed {
    pub structured: bool,
    /// Whether the client is told what is allocated.
    pub allocation: bool,
    /// Whether the client wants no 124 zeros behind the old answer.
    pub no_zeroes: bool,
}

/// Where an option leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// To the next option.
    Option,
    /// To requests.
    Transmission,
    /// To TLS, and then to the next option.
    Tls,
    /// To the end, as the client has asked.
    Leave,
    /// To the end: the client names an export that there is not, in the one way that leaves no room for an answer.
    NoSuchExport,
    /// To the end: the client wants the device without TLS, in the one way that leaves no room for an answer.
    NoTls,
}

/// Puts a reply to an option behind what is to be sent.
pub fn put_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend(REPLY_MAGIC.to_be_bytes());
    for word in [option, kind, data.len() as u32] {
        out.extend(word.to_be_bytes());
    }
    out.extend(data);
}

/// Takes an option with its data, and answers it.
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

/// The old way to take an export, which has no answer but the export itself.
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
    let Some((name, asked)) = asked(data) else {
        put_reply(out, option, reply::ERR_INVALID, b"its lengths do not fit its data");
        return Next::Option;
    };
    if !Export::is_named(name) {
        put_reply(out, option, reply::ERR_UNKNOWN, b"the one export here has no name: leave the name empty");
        return Next::Option;
    }
    export.infos(&asked).iter().for_each(|info| put_reply(out, option, reply::INFO, info));
    put_reply(out, option, reply::ACK, &[]);
    if option == option::GO { Next::Transmission } else { Next::Option }
}

/// The name and the kinds of information in INFO and GO; none where the lengths do not fit.
fn asked(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
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

/// Of contexts there is one, `base:allocation`.
fn contexts(agreed: &mut Agreed, option: u32, data: &[u8], out: &mut Vec<u8>) {
    let sets = option == option::SET_META_CONTEXT;
    if sets {
        // What was set before does not hold, whatever comes of this.
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

/// A length in four bytes, as many bytes, and what is behind them.
fn counted(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32_at(data, 0)? as usize;
    data.get(4..)?.split_at_checked(length)
}
