//! Reads the only file of a downloaded archive. Nothing is written to a path from the archive:
//! it must have exactly one entry with a fixed name, and the content is read up to a limit.

use std::io::Read;

use super::error::{RemoteError, Result};

const END: [u8; 4] = *b"PK\x05\x06";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";
/// The bytes of the record at the end, without its comment.
const END_BYTES: usize = 22;
const CENTRAL_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;
const MOST_COMMENT: usize = 0xffff;

/// The highest ratio of unpacked to packed bytes. A pack is already compressed, so one that
/// shrinks more is not a pack. Small files may have any ratio.
const MOST_RATIO: u64 = 64;
const RATIO_FREE: u64 = 1 << 20;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ENCRYPTED: u16 = 1;

/// The content of the only entry of the zip archive `bytes`. It must have the name `name` and
/// at most `limit` bytes.
///
/// # Errors
/// The archive is different in any way.
pub(super) fn only_entry(bytes: &[u8], name: &str, limit: u64) -> Result<Vec<u8>> {
    let end = find_end(bytes)?;
    let entries = u16_at(bytes, end + 10)?;
    let here = u16_at(bytes, end + 8)?;
    let disks = u32_at(bytes, end + 4)?;
    if entries != 1 || here != 1 || disks != 0 {
        return Err(bad(format!("an archive of {entries} files instead of one")));
    }
    let central = u32_at(bytes, end + 16)? as usize;
    let central_bytes = u32_at(bytes, end + 12)? as usize;
    if signature(bytes, central)? != CENTRAL {
        return Err(bad("the archive's directory is not where it says"));
    }
    let found = text_at(bytes, central + CENTRAL_BYTES, u16_at(bytes, central + 28)?)?;
    if found != name.as_bytes() {
        return Err(bad(format!(
            "the archive holds `{}` instead of `{name}`",
            String::from_utf8_lossy(&found[..found.len().min(60)]).escape_debug()
        )));
    }
    let one = CENTRAL_BYTES
        + usize::from(u16_at(bytes, central + 28)?)
        + usize::from(u16_at(bytes, central + 30)?)
        + usize::from(u16_at(bytes, central + 32)?);
    if one != central_bytes || central.checked_add(one) != Some(end) {
        return Err(bad("the archive's directory is larger than its one entry"));
    }
    if u16_at(bytes, central + 8)? & ENCRYPTED != 0 {
        return Err(bad("the archive is encrypted"));
    }
    let method = u16_at(bytes, central + 10)?;
    let packed = u64::from(u32_at(bytes, central + 20)?);
    let size = u64::from(u32_at(bytes, central + 24)?);
    for (what, limit) in [
        ("a file of an archive", limit),
        (
            "a file from its packed bytes",
            RATIO_FREE.max(packed.saturating_mul(MOST_RATIO)),
        ),
    ] {
        if size > limit {
            return Err(RemoteError::TooLarge { what, limit });
        }
    }
    let local = u32_at(bytes, central + 42)? as usize;
    let content = content(bytes, local, packed, central)?;
    let content = unpack(content, method, size)?;
    let mut crc = flate2::Crc::new();
    crc.update(&content);
    match crc.sum() == u32_at(bytes, central + 16)? {
        true => Ok(content),
        false => Err(bad("a file of the archive is damaged")),
    }
}

fn content(bytes: &[u8], local: usize, packed: u64, central: usize) -> Result<&[u8]> {
    if signature(bytes, local)? != LOCAL {
        return Err(bad("the archive's file is not where it says"));
    }
    let start = local
        + LOCAL_BYTES
        + usize::from(u16_at(bytes, local + 26)?)
        + usize::from(u16_at(bytes, local + 28)?);
    let end = start as u64 + packed;
    match end <= central as u64 {
        true => Ok(&bytes[start..end as usize]),
        false => Err(bad("a file of the archive overlaps its directory")),
    }
}

/// Unpacks exactly `size` bytes, and not one more.
fn unpack(content: &[u8], method: u16, size: u64) -> Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    let read = match method {
        STORED => content.take(size + 1).read_to_end(&mut unpacked),
        DEFLATED => flate2::read::DeflateDecoder::new(content)
            .take(size + 1)
            .read_to_end(&mut unpacked),
        _ => return Err(bad(format!("packing method {method} is not read"))),
    };
    read.map_err(|error| bad(format!("a file of the archive: {error}")))?;
    match unpacked.len() as u64 == size {
        true => Ok(unpacked),
        false => Err(bad("a file of the archive has another length than it says")),
    }
}

fn find_end(bytes: &[u8]) -> Result<usize> {
    let last = bytes
        .len()
        .checked_sub(END_BYTES)
        .ok_or_else(|| bad("not an archive"))?;
    let first = last.saturating_sub(MOST_COMMENT);
    (first..=last)
        .rev()
        .find(|at| {
            let comment = u16_at(bytes, at + 20).map(usize::from);
            bytes[*at..].starts_with(&END)
                && comment.is_ok_and(|comment| at + END_BYTES + comment == bytes.len())
        })
        .ok_or_else(|| bad("not an archive"))
}

fn signature(bytes: &[u8], at: usize) -> Result<[u8; 4]> {
    u32_at(bytes, at).map(u32::to_le_bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16> {
    let two = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>());
    two.map(|two| u16::from_le_bytes(*two))
        .ok_or_else(|| bad("the archive is cut off"))
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32> {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    four.map(|four| u32::from_le_bytes(*four))
        .ok_or_else(|| bad("the archive is cut off"))
}

fn text_at(bytes: &[u8], at: usize, len: u16) -> Result<&[u8]> {
    bytes
        .get(at..at + usize::from(len))
        .ok_or_else(|| bad("the archive is cut off"))
}

fn bad(why: impl Into<String>) -> RemoteError {
    RemoteError::Malformed(why.into())
}
