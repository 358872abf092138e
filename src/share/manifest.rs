//! The manifest tells what a shared store knows of a matrix without its rows. The pack is a
//! manifest followed by the matrix (`docs/formats/manifest.md`).

use serde::{Deserialize, Serialize};

use crate::matrix::format::Digest;
use crate::matrix::{Header, Key, Refusal, decode};
use crate::store::check_dependences;
use crate::trust::{PublicKey, SecretKey, Signature, Signed, Writer};

const MAGIC: [u8; 8] = *b"\x93tamip\r\n";

/// The version of the format.
///
/// 1: the first. 2: what is known of the order of tests follows the matrix. A pack without
/// that is still of version 1, so that older readers read it.
const VERSION: u32 = 2;

/// Magic, version, length of the manifest, digest.
const FIXED: usize = 48;
const AT_DIGEST: usize = 16;

/// A manifest takes a few hundred bytes; the rest is for long names.
pub(super) const MAX_MANIFEST: u64 = 64 << 10;

/// The largest matrix that is exchanged.
pub(crate) const MAX_MATRIX: u64 = 256 << 20;

/// The largest file of dependences that is exchanged.
pub(crate) const MAX_DEPENDENCES: u64 = 16 << 20;

/// All that follows a manifest.
pub(super) const MAX_BODY: u64 = MAX_MATRIX + MAX_DEPENDENCES;

/// The prefix of signed content, so that a signature is good for nothing else.
const SIGNED_AS: &[u8] = b"tamis manifest 1\n";

/// What a shared store knows of one matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The name of the matrix: the digest of its file.
    pub matrix: String,
    /// The length of its file.
    pub bytes: u64,
    pub key: Key,
    pub commit: String,
    pub tree: String,
    /// Whether there were uncommitted changes.
    pub dirty: bool,
    /// Seconds since the epoch. It orders listings and proves nothing.
    pub created: u64,
    pub tool: String,
    pub writer: Writer,
    /// What is known of the order of these tests, if that comes with the matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependences: Option<Attached>,
    /// Signs all of the above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// A file that follows the matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// Of all its bytes: 64 hex digits.
    pub digest: String,
    pub bytes: u64,
}

impl Attached {
    fn of(file: &[u8]) -> Attached {
        Attached {
            digest: blake3::hash(file).to_hex().to_string(),
            bytes: file.len() as u64,
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.bytes > MAX_DEPENDENCES {
            return Err(Refusal::OverLimit {
                what: "bytes of shared dependences",
                value: self.bytes,
                limit: MAX_DEPENDENCES,
            });
        }
        // Stores make a path of it.
        match Digest::from_hex(&self.digest) {
            Some(_) => Ok(()),
            None => Err(Refusal::Malformed(
                "the manifest names no dependences".to_owned(),
            )),
        }
    }
}

impl Manifest {
    /// The manifest of a matrix whose file has this name and length.
    pub fn of(header: &Header, name: &Digest, bytes: u64, writer: Writer) -> Manifest {
        Manifest {
            matrix: name.to_string(),
            bytes,
            key: header.key.clone(),
            commit: header.commit.clone(),
            tree: header.tree.clone(),
            dirty: !header.dirty.is_empty(),
            created: header.created,
            tool: header.tool.clone(),
            writer,
            dependences: None,
            signature: None,
        }
    }

    /// Tells of the file of dependences that follows the matrix.
    pub fn attach(&mut self, dependences: &[u8]) {
        self.dependences = Some(Attached::of(dependences));
    }

    fn version(&self) -> u32 {
        match self.dependences {
            None => 1,
            Some(_) => 2,
        }
    }

    pub fn sign(&mut self, key: &SecretKey) {
        self.signature = Some(key.sign(&self.signed_bytes()).to_string());
    }

    /// Checks its signature with `key`, if a key is configured.
    pub fn signed(&self, key: Option<&PublicKey>) -> Signed {
        let (Some(key), Some(signature)) = (key, &self.signature) else {
            return Signed::Not;
        };
        match Signature::parse(signature) {
            Ok(signature) if key.check(&self.signed_bytes(), &signature) => Signed::Right,
            _ => Signed::Wrong,
        }
    }

    /// The name of the matrix.
    ///
    /// # Errors
    /// It is not a digest.
    pub fn name(&self) -> Result<Digest, Refusal> {
        Digest::from_hex(&self.matrix)
            .ok_or_else(|| Refusal::Malformed("the manifest names no matrix".to_owned()))
    }

    fn signed_bytes(&self) -> Vec<u8> {
        let bare = Manifest {
            signature: None,
            ..self.clone()
        };
        let mut bytes = SIGNED_AS.to_vec();
        bytes.extend_from_slice(&bare.json());
        bytes
    }

    /// This cannot fail: maps of texts and numbers always become JSON.
    fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The manifest as its own file.
    pub fn encode(&self) -> Vec<u8> {
        let json = self.json();
        let mut file = Vec::with_capacity(FIXED + json.len());
        file.extend_from_slice(&MAGIC);
        file.extend_from_slice(&self.version().to_le_bytes());
        file.extend_from_slice(&(json.len() as u32).to_le_bytes());
        file.extend_from_slice(&digest_of(&file, &json));
        file.extend_from_slice(&json);
        file
    }

    /// Reads a manifest that fills all of `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Manifest, Refusal> {
        let (manifest, rest) = Manifest::read(bytes)?;
        match rest.is_empty() {
            true => Ok(manifest),
            false => Err(Refusal::Malformed(
                "something follows the manifest".to_owned(),
            )),
        }
    }

    /// Reads the manifest at the beginning of `bytes`, and returns the rest.
    pub fn read(bytes: &[u8]) -> Result<(Manifest, &[u8]), Refusal> {
        if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
            return Err(Refusal::NotAMatrix);
        }
        let word = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
            four.map(u32::from_le_bytes).ok_or(Refusal::Truncated)
        };
        let version = word(8)?;
        if version == 0 {
            return Err(Refusal::Malformed("version 0".to_owned()));
        }
        if version > VERSION {
            return Err(Refusal::NewerFormat(version));
        }
        let len = u64::from(word(12)?);
        if len > MAX_MANIFEST {
            return Err(Refusal::OverLimit {
                what: "bytes of manifest",
                value: len,
                limit: MAX_MANIFEST,
            });
        }
        let end = FIXED + len as usize;
        let json = bytes.get(FIXED..end).ok_or(Refusal::Truncated)?;
        if bytes[AT_DIGEST..FIXED] != digest_of(&bytes[..AT_DIGEST], json) {
            return Err(Refusal::DigestMismatch);
        }
        let manifest: Manifest = serde_json::from_slice(json)
            .map_err(|error| Refusal::Malformed(format!("the manifest: {error}")))?;
        if manifest.bytes > MAX_MATRIX {
            return Err(Refusal::OverLimit {
                what: "bytes of a shared matrix",
                value: manifest.bytes,
                limit: MAX_MATRIX,
            });
        }
        if manifest.version() != version {
            return Err(Refusal::Malformed(format!(
                "a manifest that is not of version {version}"
            )));
        }
        if let Some(attached) = &manifest.dependences {
            attached.check()?;
        }
        manifest.name()?;
        Ok((manifest, &bytes[end..]))
    }

    /// Checks that `dependences` is the file that follows the matrix, and sound; empty if
    /// there is none.
    pub fn check_dependences(&self, dependences: &[u8]) -> Result<(), Refusal> {
        let Some(attached) = &self.dependences else {
            return match dependences.is_empty() {
                true => Ok(()),
                false => Err(Refusal::Malformed(
                    "something follows the matrix".to_owned(),
                )),
            };
        };
        if (dependences.len() as u64) < attached.bytes {
            return Err(Refusal::Truncated);
        }
        if Attached::of(dependences) != *attached {
            return Err(Refusal::DigestMismatch);
        }
        check_dependences(dependences, &self.key)
    }

    /// Checks that `matrix` is the file of this manifest, that all of it is sound, and that
    /// its header agrees.
    pub fn check(&self, matrix: &[u8]) -> Result<(), Refusal> {
        if (matrix.len() as u64) < self.bytes {
            return Err(Refusal::Truncated);
        }
        let decoded = decode(matrix)?;
        let name = crate::matrix::format::Prefix::read(matrix)?.digest;
        let mut told = Manifest::of(
            &decoded.header,
            &name,
            matrix.len() as u64,
            Writer::default(),
        );
        told.writer = self.writer.clone();
        told.dependences = self.dependences.clone();
        told.signature = self.signature.clone();
        if told.matrix != self.matrix {
            return Err(Refusal::Misnamed);
        }
        match told == *self {
            true => Ok(()),
            false => Err(Refusal::Malformed(
                "the manifest belongs to another matrix".to_owned(),
            )),
        }
    }
}

fn digest_of(start: &[u8], json: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(start);
    hasher.update(json);
    *hasher.finalize().as_bytes()
}

/// A manifest and its matrix in one file, for stores where an upload is one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pack {
    pub manifest: Manifest,
    /// The file of the matrix.
    pub matrix: Vec<u8>,
    /// What is known of the order of its tests.
    pub dependences: Option<Vec<u8>>,
}

impl Pack {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.manifest.encode();
        bytes.extend(self.body());
        bytes
    }

    /// All that follows the manifest.
    pub fn body(&self) -> Vec<u8> {
        let mut bytes = self.matrix.clone();
        bytes.extend(self.dependences.iter().flatten());
        bytes
    }

    /// Reads a pack and checks every byte.
    pub fn decode(bytes: &[u8]) -> Result<Pack, Refusal> {
        let (manifest, body) = Manifest::read(bytes)?;
        let (matrix, rest) = body
            .split_at_checked(manifest.bytes as usize)
            .ok_or(Refusal::Truncated)?;
        manifest.check(matrix)?;
        manifest.check_dependences(rest)?;
        Ok(Pack {
            matrix: matrix.to_vec(),
            dependences: manifest.dependences.is_some().then(|| rest.to_vec()),
            manifest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::samples::small;
    use crate::matrix::{encode, read_header};

    pub(super) fn pack() -> Pack {
        let matrix = encode(&small(3, 1)).unwrap();
        let name = crate::matrix::format::Prefix::read(&matrix).unwrap().digest;
        let header = read_header(&matrix).unwrap();
        let manifest = Manifest::of(&header, &name, matrix.len() as u64, Writer::local());
        Pack {
            manifest,
            matrix,
            dependences: None,
        }
    }

    /// With what is known of the order of its tests.
    fn attached() -> Pack {
        let mut pack = pack();
        let known = crate::store::samples::dependences(&pack.manifest.key);
        pack.manifest.attach(&known);
        pack.dependences = Some(known);
        pack
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let pack = pack();
        let bytes = pack.encode();
        assert_eq!(Pack::decode(&bytes), Ok(pack.clone()));
        let manifest = pack.manifest.encode();
        assert_eq!(Manifest::decode(&manifest), Ok(pack.manifest));
        assert!(Manifest::decode(&bytes).is_err());
        // Older readers read what has nothing attached.
        assert_eq!(bytes[8], 1);
        let pack = attached();
        let bytes = pack.encode();
        assert_eq!(bytes[8], 2);
        assert_eq!(Pack::decode(&bytes), Ok(pack));
    }

    #[test]
    fn what_is_attached_is_what_the_manifest_says() {
        let lies: [fn(&mut Pack); 5] = [
            |pack| pack.dependences = None,
            |pack| pack.manifest.dependences = None,
            |pack| pack.manifest.dependences.as_mut().unwrap().bytes -= 1,
            |pack| pack.manifest.dependences.as_mut().unwrap().digest = "0".repeat(64),
            // Of another suite.
            |pack| {
                let mut key = pack.manifest.key.clone();
                key.suite.push('2');
                let known = crate::store::samples::dependences(&key);
                pack.manifest.attach(&known);
                pack.dependences = Some(known);
            },
        ];
        for (at, lie) in lies.into_iter().enumerate() {
            let mut pack = attached();
            lie(&mut pack);
            assert!(Pack::decode(&pack.encode()).is_err(), "{at}");
        }
        let mut large = attached();
        large.manifest.dependences.as_mut().unwrap().bytes = MAX_DEPENDENCES + 1;
        let refused = Pack::decode(&large.encode());
        assert!(
            matches!(refused, Err(Refusal::OverLimit { .. })),
            "{refused:?}"
        );
    }

    #[test]
    fn every_truncation_and_every_bit_flip_is_refused() {
        let mut pack = attached();
        pack.manifest.sign(&SecretKey::from_bytes([3; 32]));
        let bytes = pack.encode();
        for len in 0..bytes.len() {
            assert!(Pack::decode(&bytes[..len]).is_err(), "{len} bytes");
        }
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                assert!(Pack::decode(&damaged).is_err(), "{place}, bit {bit}");
            }
        }
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let mut bytes = pack().encode();
        bytes[8] = 3;
        assert_eq!(Pack::decode(&bytes), Err(Refusal::NewerFormat(3)));
    }

    #[test]
    fn a_manifest_that_declares_much_is_refused_before_it_is_read() {
        let mut bytes = pack().encode();
        bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        let refused = Pack::decode(&bytes);
        assert!(
            matches!(refused, Err(Refusal::OverLimit { .. })),
            "{refused:?}"
        );
    }

    #[test]
    fn a_manifest_must_tell_what_its_matrix_tells() {
        let whole = pack();
        let lies: [fn(&mut Manifest); 6] = [
            |manifest| manifest.commit = "9".repeat(40),
            |manifest| manifest.tree = "9".repeat(40),
            |manifest| manifest.dirty = false,
            |manifest| manifest.key.suite = "other".into(),
            |manifest| manifest.created += 1,
            |manifest| manifest.bytes -= 1,
        ];
        for lie in lies {
            let mut pack = whole.clone();
            lie(&mut pack.manifest);
            assert!(Pack::decode(&pack.encode()).is_err());
        }
    }

    #[test]
    fn a_signature_covers_every_fact() {
        let secret = SecretKey::from_bytes([7; 32]);
        let mut manifest = pack().manifest;
        assert_eq!(manifest.signed(Some(&secret.public())), Signed::Not);
        manifest.sign(&secret);
        assert_eq!(manifest.signed(Some(&secret.public())), Signed::Right);
        assert_eq!(manifest.signed(None), Signed::Not);
        let other = SecretKey::from_bytes([8; 32]).public();
        assert_eq!(manifest.signed(Some(&other)), Signed::Wrong);
        let changes: [fn(&mut Manifest); 5] = [
            |manifest| manifest.attach(b"other"),
            |manifest| manifest.writer.event = "push".into(),
            |manifest| manifest.commit = "9".repeat(40),
            |manifest| manifest.writer.pr = Some(1),
            |manifest| manifest.signature = Some("00".repeat(64)),
        ];
        for change in changes {
            let mut manifest = manifest.clone();
            change(&mut manifest);
            assert_eq!(manifest.signed(Some(&secret.public())), Signed::Wrong);
        }
    }

    /// Corrects length and digest of the manifest in `bytes`: up to the matrix, or up to the
    /// end.
    fn mend(bytes: &mut [u8]) {
        if bytes.len() < FIXED {
            return;
        }
        let rest = &bytes[FIXED..];
        let len = rest.windows(6).position(|six| six == b"\x93tamis");
        let len = len.unwrap_or(rest.len());
        bytes[12..16].copy_from_slice(&(len as u32).to_le_bytes());
        let digest = digest_of(&bytes[..AT_DIGEST], &bytes[FIXED..FIXED + len]);
        bytes[AT_DIGEST..FIXED].copy_from_slice(&digest);
    }

    #[test]
    fn damaged_packs_are_refused() {
        let secret = SecretKey::from_bytes([3; 32]);
        let mut signed = pack();
        signed.manifest.sign(&secret);
        let reader = crate::fuzz::Reader {
            name: "pack",
            seeds: vec![
                pack().encode(),
                signed.encode(),
                signed.manifest.encode(),
                attached().encode(),
            ],
            words: &[
                "null",
                "true",
                "\"\"",
                "\"signature\":\"",
                "\"pr\":7,",
                "\"bytes\":",
                "1e9",
                "{",
                "}",
                "\\u0000",
            ],
            mend,
            read: &|bytes| {
                if let Ok((manifest, _)) = Manifest::read(bytes) {
                    let again = Manifest::decode(&manifest.encode());
                    assert_eq!(again, Ok(manifest));
                }
                match Pack::decode(bytes) {
                    Ok(read) => {
                        assert_eq!(read.matrix, signed.matrix);
                        format!(
                            "whole, signed {:?}",
                            read.manifest.signed(Some(&secret.public()))
                        )
                    }
                    Err(refusal) => refusal.to_string(),
                }
            },
        };
        reader.feed();
    }
}
