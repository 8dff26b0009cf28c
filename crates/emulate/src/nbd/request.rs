//! Requests and replies of the transmission phase.
use super::export::Export;
use super::handshake::{ALLOCATION_ID, Agreed};
use super::wire::{
    Errno, PAYLOAD_MAX, REQUEST_MAGIC, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk, command, flag,
    u16_at, u32_at, u64_at,
};
use crate::transport::DeviceRequest;

/// Why a request is refused.
pub type Refused = (Errno, &'static str);

/// The header of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    pub flags: u16,
    pub kind: u16,
    pub cookie: u64,
    pub offset: u64,
    pub length: u32,
}

impl Head {
    /// Parses the header; `None` if the magic number is wrong.
    pub fn read(bytes: &[u8]) -> Option<Head> {
        if u32_at(bytes, 0)? != REQUEST_MAGIC {
            return None;
        }
        Some(Head {
            flags: u16_at(bytes, 4)?,
            kind: u16_at(bytes, 6)?,
            cookie: u64_at(bytes, 8)?,
            offset: u64_at(bytes, 16)?,
            length: u32_at(bytes, 24)?,
        })
    }
}

/// Checks a request without a payload.
///
/// # Errors
/// What is wrong with the request, for the client.
pub fn check(export: &Export, agreed: Agreed, head: &Head) -> Result<DeviceRequest, Refused> {
    let &Head { flags, kind, offset, length, .. } = head;
    let fua = flags & flag::FUA != 0;
    let only = |known: u16| {
        if flags & !known == 0 {
            Ok(())
        } else {
            Err((Errno::Invalid, "a flag that this request does not have"))
        }
    };
    match kind {
        command::READ => {
            only(flag::DF | flag::FUA)?;
            if length > PAYLOAD_MAX {
                return Err((Errno::Invalid, "a read of more than 32 MiB"));
            }
            on(export, offset, length, Errno::Invalid)?;
            Ok(DeviceRequest::Read { offset, length })
        }
        command::FLUSH => {
            only(flag::FUA)?;
            if offset != 0 || length != 0 {
                return Err((Errno::Invalid, "a flush is of the whole device"));
            }
            Ok(DeviceRequest::Flush)
        }
        command::TRIM => {
            only(flag::FUA)?;
            on(export, offset, length, Errno::Invalid)?;
            Ok(DeviceRequest::Trim { offset, length, fua })
        }
        command::WRITE_ZEROES => {
            only(flag::FUA | flag::NO_HOLE)?;
            on(export, offset, length, Errno::NoSpace)?;
            Ok(DeviceRequest::Zero { offset, length, fua })
        }
        command::CACHE => {
            only(0)?;
            on(export, offset, length, Errno::Invalid)?;
            Ok(DeviceRequest::Cache { offset, length })
        }
        command::BLOCK_STATUS => {
            only(flag::REQ_ONE)?;
            if !agreed.allocation {
                return Err((Errno::Invalid, "no context of metadata was agreed on"));
            }
            on(export, offset, length, Errno::Invalid)?;
            Ok(DeviceRequest::Status { offset, length, one: flags & flag::REQ_ONE != 0 })
        }
        _ => Err((Errno::Invalid, "no such request")),
    }
}

/// Checks a write whose payload has arrived.
///
/// # Errors
/// What is wrong with the request, for the client.
pub fn write(export: &Export, flags: u16, offset: u64, data: Vec<u8>) -> Result<DeviceRequest, Refused> {
    if flags & !flag::FUA != 0 {
        return Err((Errno::Invalid, "a flag that a write does not have"));
    }
    on(export, offset, data.len() as u32, Errno::NoSpace)?;
    Ok(DeviceRequest::Write { offset, data, fua: flags & flag::FUA != 0 })
}

/// Checks whether a range is on the device, in whole blocks.
fn on(export: &Export, offset: u64, length: u32, beyond: Errno) -> Result<(), Refused> {
    if length == 0 {
        return Err((Errno::Invalid, "a request of no bytes"));
    }
    if offset.checked_add(length.into()).is_none_or(|end| end > export.size) {
        return Err((beyond, "beyond the end of the device"));
    }
    let block = u64::from(export.block_size);
    if !offset.is_multiple_of(block) || !u64::from(length).is_multiple_of(block) {
        return Err((Errno::Invalid, "not in whole blocks: see the block sizes of the export"));
    }
    Ok(())
}

fn put_simple(out: &mut Vec<u8>, cookie: u64, errno: u32) {
    out.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend(errno.to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// Appends the header of the single chunk of a structured reply.
fn put_chunk(out: &mut Vec<u8>, cookie: u64, kind: u16, length: usize) {
    out.extend(STRUCTURED_REPLY_MAGIC.to_be_bytes());
    out.extend(chunk::DONE.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend((length as u32).to_be_bytes());
}

/// Appends the reply to a successful request without data.
pub fn put_done(out: &mut Vec<u8>, cookie: u64) {
    put_simple(out, cookie, 0);
}

/// Appends the header before the data of a read.
pub fn put_data_head(out: &mut Vec<u8>, agreed: Agreed, cookie: u64, offset: u64, length: usize) {
    if agreed.structured {
        put_chunk(out, cookie, chunk::OFFSET_DATA, length + 8);
        out.extend(offset.to_be_bytes());
    } else {
        put_simple(out, cookie, 0);
    }
}

/// Appends the reply to BLOCK_STATUS.
pub fn put_extents(out: &mut Vec<u8>, cookie: u64, extents: &[(u32, u32)]) {
    put_chunk(out, cookie, chunk::BLOCK_STATUS, 4 + 8 * extents.len());
    out.extend(ALLOCATION_ID.to_be_bytes());
    for (length, flags) in extents {
        out.extend(length.to_be_bytes());
        out.extend(flags.to_be_bytes());
    }
}

/// Appends the reply to a failed request.
pub fn put_error(out: &mut Vec<u8>, agreed: Agreed, cookie: u64, errno: Errno, why: &str) {
    if agreed.structured {
        put_chunk(out, cookie, chunk::ERROR, 6 + why.len());
        out.extend((errno as u32).to_be_bytes());
        out.extend((why.len() as u16).to_be_bytes());
        out.extend(why.as_bytes());
    } else {
        put_simple(out, cookie, errno as u32);
    }
}
