//! Matrix format 4: one file for a matrix (`docs/formats/matrix.md`). Formats 1 to 3
//! are read, too.
//!
//! Encoding and decoding work on bytes in memory; reading and writing files is
//! the store's part. Nothing here panics on any input.

mod decode;
mod encode;
mod old;
mod prefix;
mod refusal;
mod view;
pub(crate) mod wire;

pub use decode::decode;
pub use encode::encode;
pub(crate) use prefix::{Digest, Prefix};
pub(crate) use refusal::Refusal;
pub use view::MatrixView;
pub(crate) use view::ViewRow;

use super::Header;
#[cfg(test)]
use super::Key;

/// The format that this version writes, and the newest that it reads.
///
/// - 1: the first; a unit is a kind, a path and a name.
/// - 2: units of parts of class files.
/// - 3: a unit is a number for what it is about, a path and a text.
/// - 4: parts of rows that are the tests' own, and values of cells.
pub(crate) const VERSION: u32 = 4;

/// The first format with typed units.
const TYPED: u32 = 3;
/// The first format with own parts and values.
const OWN: u32 = 4;

/// How every stored matrix begins. The first byte is no text and the last two
/// reveal a transfer that rewrites line ends.
pub(crate) const MAGIC: [u8; 8] = *b"\x93tamis\r\n";

/// Bytes of the header's JSON at the most.
pub(crate) const MAX_HEADER: u64 = 16 << 20;
/// Bytes of one section at the most, when decompressed.
pub(crate) const MAX_SECTION: u64 = 512 << 20;
/// Bytes of all sections together at the most, when decompressed.
pub(crate) const MAX_BODY: u64 = 1 << 30;
/// Bytes of the values at most, when decompressed: one takes more in memory.
pub(crate) const MAX_VALUES: u64 = 64 << 20;
/// How many times its stored size a section may decompress to, beyond
/// [`RATIO_FREE`] bytes that any section may have.
pub(crate) const MAX_RATIO: u64 = 1024;
pub(crate) const RATIO_FREE: u64 = 64 << 20;
/// Distinct paths of units.
pub(crate) const MAX_PATHS: u64 = 1 << 22;
pub(crate) const MAX_UNITS: u64 = 1 << 23;
pub(crate) const MAX_SETS: u64 = 1 << 22;
/// Ids in all sets together.
pub(crate) const MAX_PAIRS: u64 = 1 << 28;
pub(crate) const MAX_ROWS: u64 = 1 << 22;
/// Sets named by all rows together.
pub(crate) const MAX_REFS: u64 = 1 << 26;
/// Bytes of all paths, of all names, of all test ids, and of the reasons of
/// all incomplete rows.
pub(crate) const MAX_TEXT: u64 = 256 << 20;

/// The header of an encoded matrix, from its first bytes alone: the fixed part
/// and the header's JSON must be there, the body need not.
///
/// The digest of the header is checked, that of the body cannot be.
#[cfg(test)]
pub(crate) fn read_header(bytes: &[u8]) -> Result<Header, Refusal> {
    Prefix::read(bytes).map(|prefix| prefix.header)
}

/// Refuses a matrix that is about something else than `wanted`.
#[cfg(test)]
pub(crate) fn check_key(header: &Header, wanted: &Key) -> Result<(), Refusal> {
    match header.key == *wanted {
        true => Ok(()),
        false => Err(Refusal::WrongKey),
    }
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;
