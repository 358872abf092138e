//! What comes before the body: magic, version, digest, counts, the table of
//! sections, and the header as JSON.

use std::fmt;
use std::ops::Range;

use super::{
    Header, MAGIC, MAX_BODY, MAX_HEADER, MAX_PAIRS, MAX_PATHS, MAX_RATIO, MAX_REFS, MAX_ROWS,
    MAX_SECTION, MAX_SETS, MAX_TEXT, MAX_UNITS, MAX_VALUES, OWN, RATIO_FREE, Refusal, TYPED,
    VERSION, old,
};

/// A BLAKE3 digest; that of a matrix names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The inverse of `to_string`: 64 lower-case hex digits.
    pub fn from_hex(text: &str) -> Option<Digest> {
        blake3::Hash::from_hex(text)
            .ok()
            .map(|hash| Digest(*hash.as_bytes()))
            .filter(|digest| digest.to_string() == text)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The parts of the body, in their order in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Section {
    Paths = 0,
    Units = 1,
    Names = 2,
    /// Fingerprints: stored as they are, random bytes do not compress.
    Prints = 3,
    Sets = 4,
    Tests = 5,
    Rows = 6,
    /// What cells held, as JSON; empty if that is not known.
    Values = 7,
}

pub(super) const SECTIONS: usize = 8;

impl Section {
    pub(super) const ALL: [Section; SECTIONS] = [
        Section::Paths,
        Section::Units,
        Section::Names,
        Section::Prints,
        Section::Sets,
        Section::Tests,
        Section::Rows,
        Section::Values,
    ];

    pub(super) fn is_compressed(self) -> bool {
        self != Section::Prints
    }
}

/// Where one section is, and how large.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Bytes in the file.
    pub(super) stored: u64,
    /// Bytes when decompressed.
    pub(super) raw: u64,
    /// BLAKE3 of the bytes in the file.
    pub(super) digest: Digest,
}

/// How many of everything there are; checked before anything is allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) paths: u64,
    pub(super) path_bytes: u64,
    pub(super) units: u64,
    pub(super) name_bytes: u64,
    pub(super) sets: u64,
    pub(super) pairs: u64,
    pub(super) lists: u64,
    pub(super) refs: u64,
    pub(super) rows: u64,
    pub(super) test_bytes: u64,
    pub(super) reasons: u64,
    pub(super) reason_bytes: u64,
    /// Distinct own parts.
    pub(super) owns: u64,
    pub(super) own_refs: u64,
}

const COUNTS: usize = 14;

impl Counts {
    fn to_array(self) -> [u64; COUNTS] {
        [
            self.paths,
            self.path_bytes,
            self.units,
            self.name_bytes,
            self.sets,
            self.pairs,
            self.lists,
            self.refs,
            self.rows,
            self.test_bytes,
            self.reasons,
            self.reason_bytes,
            self.owns,
            self.own_refs,
        ]
    }

    fn from_array(counts: [u64; COUNTS]) -> Counts {
        let [
            paths,
            path_bytes,
            units,
            name_bytes,
            sets,
            pairs,
            lists,
            refs,
            rows,
            test_bytes,
            reasons,
            reason_bytes,
            owns,
            own_refs,
        ] = counts;
        Counts {
            paths,
            path_bytes,
            units,
            name_bytes,
            sets,
            pairs,
            lists,
            refs,
            rows,
            test_bytes,
            reasons,
            reason_bytes,
            owns,
            own_refs,
        }
    }

    fn check_limits(&self) -> Result<(), Refusal> {
        for (what, value, limit) in [
            ("paths", self.paths, MAX_PATHS),
            ("bytes of paths", self.path_bytes, MAX_TEXT),
            ("units", self.units, MAX_UNITS),
            ("bytes of names", self.name_bytes, MAX_TEXT),
            ("sets", self.sets, MAX_SETS),
            ("ids in sets", self.pairs, MAX_PAIRS),
            ("lists of sets", self.lists, MAX_ROWS),
            ("sets of rows", self.refs, MAX_REFS),
            ("rows", self.rows, MAX_ROWS),
            ("bytes of test ids", self.test_bytes, MAX_TEXT),
            ("reasons", self.reasons, MAX_ROWS),
            ("bytes of reasons", self.reason_bytes, MAX_TEXT),
            ("own parts", self.owns, MAX_ROWS),
            ("sets of own parts", self.own_refs, MAX_REFS),
        ] {
            check_limit(what, value, limit)?;
        }
        Ok(())
    }

    /// Every counted thing takes some bytes of its section: counts that no
    /// section of this size can hold are refused before they are allocated.
    fn check_against(&self, format: u32, sections: &[Entry; SECTIONS]) -> Result<(), Refusal> {
        let raw = |section: Section| sections[section as usize].raw;
        let columns = if format < OWN { 6 } else { 7 };
        let fits = 2 * self.paths <= raw(Section::Paths)
            && self.units <= raw(Section::Units)
            && 2 * self.units <= raw(Section::Names)
            && 16 * self.units == raw(Section::Prints)
            && self.sets + self.pairs <= raw(Section::Sets)
            && 2 * self.rows <= raw(Section::Tests)
            && self.lists + self.reasons + 2 * self.owns + columns * self.rows
                <= raw(Section::Rows)
            && self.lists <= self.rows
            && self.reasons <= self.rows
            && self.owns <= self.rows;
        match fits {
            true => Ok(()),
            false => Err(Refusal::malformed("a section is too small for its counts")),
        }
    }
}

fn check_limit(what: &'static str, value: u64, limit: u64) -> Result<(), Refusal> {
    match value <= limit {
        true => Ok(()),
        false => Err(Refusal::OverLimit { what, value, limit }),
    }
}

const AT_VERSION: usize = 8;
const AT_HEADER_LEN: usize = 12;
const AT_DIGEST: usize = 16;
const AT_COUNTS: usize = 48;
const ENTRY: usize = 48;

/// How many counts and sections there are in a format.
fn shape(format: u32) -> (usize, usize) {
    match format {
        ..OWN => (old::COUNTS, old::SECTIONS),
        OWN.. => (COUNTS, SECTIONS),
    }
}

/// Where the table of sections begins.
pub(super) fn at_sections(format: u32) -> usize {
    AT_COUNTS + shape(format).0 * 8
}

/// Where the header's JSON begins.
fn at_header(format: u32) -> usize {
    at_sections(format) + shape(format).1 * ENTRY
}

/// Everything before the body, read and checked.
#[derive(Clone, Debug)]
pub(crate) struct Prefix {
    /// The version of the format.
    pub(super) format: u32,
    pub header: Header,
    /// The digest of the whole file, and so its name: it covers the digests of
    /// the sections, and they the body.
    pub digest: Digest,
    pub(super) counts: Counts,
    pub(super) sections: [Entry; SECTIONS],
    /// Where the body begins.
    pub(super) body: usize,
}

impl Prefix {
    /// How many of the file's first bytes [`Prefix::read`] needs. Wants the
    /// first `LEAST` bytes, or the whole file if it is shorter.
    pub(crate) fn needed(bytes: &[u8]) -> Result<usize, Refusal> {
        let magic = bytes.len().min(MAGIC.len());
        if bytes[..magic] != MAGIC[..magic] {
            return Err(Refusal::NotAMatrix);
        }
        if bytes.len() < AT_HEADER_LEN {
            return Err(Refusal::Truncated);
        }
        let at_header = match u32_at(bytes, AT_VERSION) {
            format @ 1..=VERSION => at_header(format),
            0 => return Err(Refusal::malformed("there is no format 0")),
            newer => return Err(Refusal::NewerFormat(newer)),
        };
        if bytes.len() < at_header {
            return Err(Refusal::Truncated);
        }
        let len = u64::from(u32_at(bytes, AT_HEADER_LEN));
        check_limit("bytes of header", len, MAX_HEADER)?;
        Ok(at_header + len as usize)
    }

    /// Bytes that are enough for [`Prefix::needed`].
    #[cfg(test)]
    pub(crate) const LEAST: usize = AT_COUNTS + COUNTS * 8 + SECTIONS * ENTRY;

    /// Reads and checks what comes before the body; `bytes` may end there.
    pub(crate) fn read(bytes: &[u8]) -> Result<Prefix, Refusal> {
        let body = Prefix::needed(bytes)?;
        let bytes = bytes.get(..body).ok_or(Refusal::Truncated)?;
        let digest = digest_at(bytes, AT_DIGEST);
        if digest != digest_of(bytes) {
            return Err(Refusal::DigestMismatch);
        }
        let format = u32_at(bytes, AT_VERSION);
        let counts = read_counts(bytes, format);
        counts.check_limits()?;
        let sections = read_sections(bytes, format);
        check_sections(&sections)?;
        counts.check_against(format, &sections)?;
        let mut header: Header = serde_json::from_slice(&bytes[at_header(format)..])
            .map_err(|error| Refusal::malformed(format!("the header: {error}")))?;
        if format < TYPED {
            header.shard = old::shard_of(&header.run);
        }
        Ok(Prefix {
            format,
            header,
            digest,
            counts,
            sections,
            body,
        })
    }

    /// How long the whole file is.
    pub(crate) fn file_len(&self) -> u64 {
        self.body as u64 + self.sections.iter().map(|entry| entry.stored).sum::<u64>()
    }

    /// Refuses a file of `len` bytes that is not as long as declared.
    pub(crate) fn check_len(&self, len: u64) -> Result<(), Refusal> {
        match len.cmp(&self.file_len()) {
            std::cmp::Ordering::Less => Err(Refusal::Truncated),
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => Err(Refusal::malformed("bytes follow the declared end")),
        }
    }

    /// Where a section is in the file `bytes`; its digest is checked.
    pub(super) fn stored_range(
        &self,
        bytes: &[u8],
        section: Section,
    ) -> Result<Range<usize>, Refusal> {
        let (before, rest) = self.sections.split_at(section as usize);
        let start = self.body
            + before
                .iter()
                .map(|entry| entry.stored as usize)
                .sum::<usize>();
        let range = start..start + rest[0].stored as usize;
        let stored = bytes.get(range.clone()).ok_or(Refusal::Truncated)?;
        match Digest(*blake3::hash(stored).as_bytes()) == rest[0].digest {
            true => Ok(range),
            false => Err(Refusal::DigestMismatch),
        }
    }

    /// The bytes of a section in the file `bytes`, as stored.
    pub(super) fn stored<'a>(
        &self,
        bytes: &'a [u8],
        section: Section,
    ) -> Result<&'a [u8], Refusal> {
        self.stored_range(bytes, section).map(|range| &bytes[range])
    }

    /// The content of a section of the file `bytes`.
    pub(super) fn raw(&self, bytes: &[u8], section: Section) -> Result<Vec<u8>, Refusal> {
        let stored = self.stored(bytes, section)?;
        let raw = self.sections[section as usize].raw as usize;
        let content = zstd::bulk::decompress(stored, raw)
            .map_err(|error| Refusal::malformed(format!("a section: {error}")))?;
        match content.len() == raw {
            true => Ok(content),
            false => Err(Refusal::malformed("a section is shorter than declared")),
        }
    }
}

/// What a format lacks is 0.
fn read_counts(bytes: &[u8], format: u32) -> Counts {
    let mut counts = [0; COUNTS];
    for (index, count) in counts.iter_mut().take(shape(format).0).enumerate() {
        *count = u64_at(bytes, AT_COUNTS + 8 * index);
    }
    Counts::from_array(counts)
}

/// What a format lacks has no bytes.
fn read_sections(bytes: &[u8], format: u32) -> [Entry; SECTIONS] {
    Section::ALL.map(|section| {
        let at = at_sections(format) + ENTRY * section as usize;
        match (section as usize) < shape(format).1 {
            true => Entry {
                stored: u64_at(bytes, at),
                raw: u64_at(bytes, at + 8),
                digest: digest_at(bytes, at + 16),
            },
            false => Entry {
                stored: 0,
                raw: 0,
                digest: Digest(*blake3::hash(&[]).as_bytes()),
            },
        }
    })
}

fn check_sections(sections: &[Entry; SECTIONS]) -> Result<(), Refusal> {
    let mut total = 0;
    for (section, entry) in Section::ALL.iter().zip(sections) {
        check_limit("bytes in a section", entry.raw, MAX_SECTION)?;
        check_limit("bytes in a section", entry.stored, MAX_SECTION)?;
        let most = RATIO_FREE.max(entry.stored * MAX_RATIO);
        check_limit("bytes from a compressed section", entry.raw, most)?;
        if !section.is_compressed() && entry.raw != entry.stored {
            return Err(Refusal::malformed("a plain section has two sizes"));
        }
        total += entry.raw;
    }
    let values = sections[Section::Values as usize].raw;
    check_limit("bytes of values", values, MAX_VALUES)?;
    check_limit("bytes in the body", total, MAX_BODY)
}

/// The whole file from its parts. Refuses what [`Prefix::read`] would refuse,
/// so that nothing is written which cannot be read.
pub(super) fn assemble(
    header: &Header,
    counts: Counts,
    sections: [(Vec<u8>, u64); SECTIONS],
) -> Result<Vec<u8>, Refusal> {
    let json = serde_json::to_vec(header)
        .map_err(|error| Refusal::malformed(format!("the header: {error}")))?;
    check_limit("bytes of header", json.len() as u64, MAX_HEADER)?;
    let mut file = Vec::with_capacity(
        at_header(VERSION)
            + json.len()
            + sections
                .iter()
                .map(|(stored, _)| stored.len())
                .sum::<usize>(),
    );
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&(json.len() as u32).to_le_bytes());
    file.extend_from_slice(&[0; 32]);
    for count in counts.to_array() {
        file.extend_from_slice(&count.to_le_bytes());
    }
    for (stored, raw) in &sections {
        file.extend_from_slice(&(stored.len() as u64).to_le_bytes());
        file.extend_from_slice(&raw.to_le_bytes());
        file.extend_from_slice(blake3::hash(stored).as_bytes());
    }
    file.extend_from_slice(&json);
    let digest = digest_of(&file);
    file[AT_DIGEST..AT_COUNTS].copy_from_slice(&digest.0);
    Prefix::read(&file)?;
    for (stored, _) in sections {
        file.extend_from_slice(&stored);
    }
    Ok(file)
}

/// The digest over everything before the body but the digest itself.
fn digest_of(prefix: &[u8]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&prefix[..AT_DIGEST]);
    hasher.update(&prefix[AT_COUNTS..]);
    Digest(*hasher.finalize().as_bytes())
}

/// The four bytes at `at`; the caller has checked the length.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}

fn digest_at(bytes: &[u8], at: usize) -> Digest {
    let mut digest = [0; 32];
    digest.copy_from_slice(&bytes[at..at + 32]);
    Digest(digest)
}
