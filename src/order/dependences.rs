//! What is known of a suite's dependences, stored beside its matrices: the format
//! `dependences`. `docs/formats/dependences.md` specifies it.

use std::collections::BTreeSet;

use anyhow::{Context, bail, ensure};
use bstr::BString;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{Detected, EdgeKind, Explained, Place};
use crate::matrix::{Fingerprint, Key, Outcome};

const MAGIC: [u8; 8] = *b"\x93tamid\r\n";
const VERSION: u32 = 1;
/// Magic, version, length of the content, digest.
const HEAD: usize = 8 + 4 + 8 + 32;
/// Bytes of content that a reader allocates at most.
const MOST: u64 = 1 << 28;
/// zstd's own default, as for matrices.
const LEVEL: i32 = 3;

/// What is known of the dependences of a suite at one revision and environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dependences {
    pub(crate) key: Key,
    /// HEAD when the orders ran: 40 hex digits.
    pub(crate) commit: String,
    /// The tree of that commit: 40 hex digits.
    pub(crate) tree: String,
    /// Paths that differed from the commit, with what they held.
    pub(crate) dirty: Vec<(BString, Fingerprint)>,
    /// Seconds since the epoch: what is newer counts.
    pub(crate) created: u64,
    /// Version of tamis that wrote it.
    pub(crate) tool: String,
    /// In their default order.
    pub(crate) tests: Vec<Tested>,
    /// Names of state that outlives a test, each once.
    pub(crate) cells: Vec<String>,
    pub(crate) data: Vec<DataEdge>,
    /// What is known of tests whose outcome needed an explanation, by test.
    pub(crate) explained: Vec<Explained>,
    pub(crate) found: Detected,
}

/// A test that was searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tested {
    pub(crate) id: String,
    /// A digest of its row: what is known of it holds while its row is this one. `None`: it
    /// has no complete row, and what is known of it holds for this tree only.
    pub(crate) row: Option<Fingerprint>,
    /// How it ended in the default order.
    pub(crate) reference: Option<Outcome>,
    /// Set-up, call and tear-down.
    pub(crate) seconds: f64,
}

/// A data dependence; tests and cells by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataEdge {
    pub(crate) earlier: u32,
    pub(crate) later: u32,
    pub(crate) cell: u32,
    pub(crate) kind: EdgeKind,
}

impl Dependences {
    /// As bytes. The same value gives the same bytes.
    ///
    /// # Errors
    /// If it breaks a rule of the format, or is larger than a reader accepts.
    pub(crate) fn encode(&self) -> anyhow::Result<Vec<u8>> {
        self.check()?;
        let json = serde_json::to_vec(self).context("writing dependences")?;
        let len = json.len() as u64;
        ensure!(
            len <= MOST,
            "the dependences take {len} bytes, more than {MOST}"
        );
        let content = zstd::bulk::compress(&json, LEVEL).context("compressing dependences")?;
        let mut file = Vec::with_capacity(HEAD + content.len());
        file.extend_from_slice(&MAGIC);
        file.extend_from_slice(&VERSION.to_le_bytes());
        file.extend_from_slice(&len.to_le_bytes());
        let digest = digest(&file, &content);
        file.extend_from_slice(digest.as_bytes());
        file.extend_from_slice(&content);
        Ok(file)
    }

    /// From bytes of any origin: version, digest and limits are checked before anything is
    /// allocated, then every rule of the format.
    ///
    /// # Errors
    /// If the file is foreign, damaged, of a newer format, or breaks a rule.
    pub(crate) fn decode(file: &[u8]) -> anyhow::Result<Dependences> {
        ensure!(file.starts_with(&MAGIC), "this is no file of dependences");
        let version = file
            .get(8..12)
            .context("the file of dependences is cut off")?;
        let version = u32::from_le_bytes(version.try_into()?);
        if version > VERSION {
            bail!("dependences of format {version}, which a newer tamis wrote");
        }
        ensure!(
            version == VERSION,
            "there is no format {version} of dependences"
        );
        ensure!(file.len() > HEAD, "the file of dependences is cut off");
        let (head, content) = file.split_at(HEAD);
        let is_sound = digest(&head[..20], content).as_bytes() == &head[20..];
        ensure!(is_sound, "the file of dependences is damaged");
        let len = u64::from_le_bytes(head[12..20].try_into()?);
        ensure!(
            len <= MOST,
            "the dependences take {len} bytes, more than {MOST}"
        );
        let json =
            zstd::bulk::decompress(content, len as usize).context("unpacking dependences")?;
        ensure!(
            json.len() as u64 == len,
            "the file of dependences has another length than it says"
        );
        let read: Dependences = serde_json::from_slice(&json).context("reading dependences")?;
        read.check()?;
        Ok(read)
    }

    /// The rules of the format that types do not say.
    fn check(&self) -> anyhow::Result<()> {
        let tests: BTreeSet<&str> = self.tests.iter().map(|test| test.id.as_str()).collect();
        ensure!(
            tests.len() == self.tests.len(),
            "a test is in the dependences twice"
        );
        let cells: BTreeSet<&String> = self.cells.iter().collect();
        ensure!(
            cells.len() == self.cells.len(),
            "a cell is in the dependences twice"
        );
        ensure!(
            self.found.schema == Detected::SCHEMA,
            "findings of an unknown schema"
        );
        for edge in &self.data {
            let is_known =
                (edge.later as usize) < tests.len() && (edge.cell as usize) < cells.len();
            ensure!(
                is_known,
                "a data dependence names a test or a cell that is not there"
            );
            ensure!(
                edge.earlier < edge.later,
                "a data dependence points forwards"
            );
        }
        for explained in &self.explained {
            ensure!(
                explained.is_sound(tests.len()),
                "the orders that explain a test break the rules"
            );
        }
        for dependent in &self.found.dependent {
            let id = &dependent.id;
            ensure!(
                tests.contains(id.as_str()),
                "the dependent test {id} is not there"
            );
            for witness in &dependent.witnesses {
                ensure!(
                    witness.last() == Some(id),
                    "a witness of {id} ends with another test"
                );
                let distinct: BTreeSet<&str> = witness.iter().map(String::as_str).collect();
                ensure!(
                    distinct.len() == witness.len(),
                    "a witness of {id} has a test twice"
                );
                ensure!(
                    distinct.is_subset(&tests),
                    "a witness of {id} has a test that is not there"
                );
            }
        }
        Ok(())
    }

    /// The tests among `now` that have to be searched again: those that are new, and those
    /// whose row is another one or none. Of two tests that are not among these, the order
    /// matters as it did.
    pub(crate) fn changed<'a>(&self, now: &[(&'a str, Option<Fingerprint>)]) -> BTreeSet<&'a str> {
        let rows = self.tests.iter().map(|test| (test.id.as_str(), test.row));
        let rows: FxHashMap<&str, Option<Fingerprint>> = rows.collect();
        let holds = |id: &str, row: Option<Fingerprint>| {
            row.is_some() && rows.get(id).is_some_and(|before| *before == row)
        };
        let changed = now.iter().filter(|(id, row)| !holds(id, *row));
        changed.map(|(id, _)| *id).collect()
    }

    /// Whether they are of this very state, so that everything holds.
    pub(crate) fn is_of(&self, place: &Place) -> bool {
        self.tree == place.tree && self.dirty == place.dirty
    }

    /// The findings of which no test has changed or is gone.
    pub(crate) fn standing(&self, now: &[(&str, Option<Fingerprint>)]) -> Detected {
        let changed = self.changed(now);
        let there: BTreeSet<&str> = now.iter().map(|(id, _)| *id).collect();
        let stands = |id: &String| there.contains(id.as_str()) && !changed.contains(id.as_str());
        let mut found = self.found.clone();
        found.keep(stands);
        found
    }
}

fn digest(head: &[u8], content: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(head);
    hasher.update(content);
    hasher.finalize()
}
