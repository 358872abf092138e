//! Uses a ref of a git repository as a shared store. The ref names a commit without parents,
//! whose tree holds `<name>.manifest` and `<name>.tamis` files. Writing is compare-and-swap; a
//! second writer adds its files to those of the first.
//!
//! The git program does the work, since it knows proxies, keys and credential helpers. From
//! the user's repository only the settings are read. Objects are kept in a separate
//! repository, which may be removed at any time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::error::{Deadline, RemoteError, Result};
use super::manifest::{MAX_BODY, MAX_MANIFEST, Manifest, Pack};
use super::process;
use super::program::{MAX_ANSWER, git, git_in, is_object, must, trouble};
use super::{Damaged, Hint, Listed, Offer, Remote, Site, Wanted, redact, tag};
use crate::trust::Writer;

/// A manifest, with the length of its matrix in bytes.
type Measured = (Manifest, u64);

/// The most bytes of a ref; the oldest matrices are dropped.
const MAX_REF: u64 = 256 << 20;

/// How often a writer retries after another one was faster.
const MOST_RACES: u32 = 400;

/// How often a refused push is retried though nobody else wrote.
const MOST_REFUSALS: u32 = 4;

/// The separate repository is removed when it is larger.
const MAX_CACHE: u64 = 1 << 30;

/// The ref with objects that git need not fetch again.
const LAST: &str = "refs/tamis/last";

pub(super) struct GitRef {
    url: String,
    reference: String,
    /// The separate repository.
    dir: PathBuf,
    /// The settings of the user's repository that are needed to reach a remote.
    settings: Vec<(String, String)>,
    site: Site,
}

/// A file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    object: String,
    bytes: u64,
}

type Entries = BTreeMap<String, Entry>;

impl GitRef {
    /// The ref of `site` at `remote`, the name of a remote or a URL.
    pub(super) fn open(remote: &str, site: Site) -> Result<GitRef> {
        let deadline = Deadline::after(Duration::from_secs(10));
        let settings = settings_of(&site.root, &deadline)?;
        let named = format!("remote.{remote}.url");
        let url = match settings.iter().find(|(key, _)| *key == named) {
            Some((_, url)) => url.clone(),
            None if remote.contains(['/', ':']) => remote.to_owned(),
            None => {
                return Err(RemoteError::NotSetUp(format!(
                    "there is no git remote `{}`; `git remote -v` lists the remotes",
                    redact(remote)
                )));
            }
        };
        let id = blake3::hash(url.as_bytes()).to_hex();
        let dir = site.cache.join(format!("git-{}", &id[..16]));
        Ok(GitRef {
            reference: format!("refs/tamis/{}", site.slug),
            url,
            dir,
            settings,
            site,
        })
    }

    /// Makes the separate repository if it does not exist.
    fn prepare(&self, deadline: &Deadline) -> Result<()> {
        if self.dir.join("HEAD").is_file() {
            if size_of(&self.dir) <= MAX_CACHE {
                return Ok(());
            }
            let _ = std::fs::remove_dir_all(&self.dir);
        }
        let local = |error: std::io::Error| {
            RemoteError::NotSetUp(format!("{}: {error}", self.dir.display()))
        };
        std::fs::create_dir_all(&self.site.cache).map_err(local)?;
        // It is made elsewhere and then moved, so that no other process sees a part of it.
        let aside = tempfile::tempdir_in(&self.site.cache).map_err(local)?;
        let made = aside.path().join("git");
        let mut command = git();
        command.args(["init", "--quiet", "--bare"]).arg(&made);
        must(process::run(command, b"", MAX_ANSWER, "git", deadline)?)?;
        match std::fs::rename(&made, &self.dir) {
            Err(_) if self.dir.join("HEAD").is_file() => Ok(()),
            renamed => renamed.map_err(local),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = git();
        command
            .args(["-c", "gc.auto=0", "-c", "core.hooksPath=/dev/null"])
            // A fetch stays one pack, which is complete or missing.
            .args(["-c", "fetch.unpackLimit=1"])
            .args(arguments)
            .current_dir(&self.site.root)
            .env("GIT_DIR", &self.dir);
        // They are not arguments, because they may hold secrets and other users see arguments.
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (number, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        command
    }

    fn ask(&self, arguments: &[&str], input: &[u8], deadline: &Deadline) -> Result<Vec<u8>> {
        let command = self.command(arguments);
        let done = process::run(command, input, MAX_ANSWER, "git's answer", deadline)?;
        must(done)
    }

    fn ask_word(&self, arguments: &[&str], input: &[u8], deadline: &Deadline) -> Result<String> {
        let answer = self.ask(arguments, input, deadline)?;
        let word = String::from_utf8_lossy(&answer).trim().to_owned();
        match is_object(&word) {
            true => Ok(word),
            false => Err(RemoteError::Malformed(format!(
                "git {} answered `{word}`",
                arguments.first().unwrap_or(&"")
            ))),
        }
    }

    /// The commit that the remote's ref names.
    fn tip(&self, deadline: &Deadline) -> Result<Option<String>> {
        let arguments = ["ls-remote", "--quiet", "--", &self.url, &self.reference];
        let answer = self.ask(&arguments, b"", deadline)?;
        let answer = String::from_utf8_lossy(&answer);
        let line = answer.lines().find_map(|line| {
            let (object, name) = line.split_once('\t')?;
            (name == self.reference && is_object(object)).then(|| object.to_owned())
        });
        Ok(line)
    }

    /// Fetches the missing objects of `tip`.
    fn fetch(&self, tip: &str, deadline: &Deadline) -> Result<()> {
        if self.has(tip, deadline) {
            return Ok(());
        }
        // Each process has its own ref; another process may have fetched something newer.
        let own = format!("refs/tamis/fetching-{}-{}", std::process::id(), unique());
        let spec = format!("+{}:{own}", self.reference);
        let fetched = self.ask(
            &[
                "fetch",
                "--quiet",
                "--no-tags",
                "--no-write-fetch-head",
                "--no-recurse-submodules",
                "--no-auto-maintenance",
                "--",
                &self.url,
                &spec,
            ],
            b"",
            deadline,
        );
        // This only saves work: objects that a ref names are not fetched again.
        let _ = self.ask(&["update-ref", LAST, &own], b"", deadline);
        let _ = self.ask(&["update-ref", "-d", &own], b"", deadline);
        fetched.map(drop)
    }

    fn has(&self, commit: &str, deadline: &Deadline) -> bool {
        // After an interrupted push the commit may be here without its tree. A fetch is
        // complete, since packs are.
        let tree = format!("{commit}^{{tree}}");
        self.ask(&["cat-file", "-e", &tree], b"", deadline).is_ok()
    }

    /// The files of a commit, and entries that are not files.
    fn entries(&self, commit: &str, deadline: &Deadline) -> Result<(Entries, Vec<Damaged>)> {
        let listed = self.ask(&["ls-tree", "-z", "-l", commit], b"", deadline)?;
        let (mut entries, mut damaged) = (Entries::new(), Vec::new());
        for line in listed
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
        {
            let line = String::from_utf8_lossy(line);
            let Some((meta, name)) = line.split_once('\t') else {
                continue;
            };
            let meta: Vec<&str> = meta.split_whitespace().collect();
            if let [_, "blob", object, bytes] = meta[..]
                && is_object(object)
                && let Ok(bytes) = bytes.parse()
            {
                let object = object.to_owned();
                entries.insert(name.to_owned(), Entry { object, bytes });
            } else {
                damaged.push(Damaged::new(name, "it is not a file"));
            }
        }
        Ok((entries, damaged))
    }

    fn blob(
        &self,
        entry: &Entry,
        what: &'static str,
        limit: u64,
        deadline: &Deadline,
    ) -> Result<Vec<u8>> {
        if entry.bytes > limit {
            return Err(RemoteError::TooLarge { what, limit });
        }
        let command = self.command(&["cat-file", "blob", &entry.object]);
        must(process::run(command, b"", limit, what, deadline)?)
    }

    /// All readable manifests, the newest first, with the length of their matrix, and the
    /// files that are useless.
    fn manifests(
        &self,
        entries: &Entries,
        deadline: &Deadline,
    ) -> Result<(Vec<Measured>, Vec<Damaged>)> {
        let (wanted, mut damaged) = pairs(entries);
        let input: String = wanted
            .iter()
            .map(|(_, entry, _)| format!("{}\n", entry.object))
            .collect();
        let answer = self.ask(&["cat-file", "--batch"], input.as_bytes(), deadline)?;
        let mut rest = &answer[..];
        let mut manifests = Vec::new();
        for (stem, entry, matrix_bytes) in wanted {
            match next_of_batch(&mut rest, entry.bytes as usize).map(Manifest::decode) {
                Some(Ok(manifest)) if manifest.matrix == stem => {
                    manifests.push((manifest, matrix_bytes));
                }
                Some(Ok(_)) => damaged.push(Damaged::new(
                    format!("{stem}.manifest"),
                    "it belongs to another matrix than its name says",
                )),
                Some(Err(why)) => damaged.push(Damaged::new(format!("{stem}.manifest"), why)),
                None => damaged.push(Damaged::new(
                    format!("{stem}.manifest"),
                    "git does not have its content",
                )),
            }
        }
        manifests.sort_by(|(a, _), (b, _)| (b.created, &b.matrix).cmp(&(a.created, &a.matrix)));
        Ok((manifests, damaged))
    }

    /// Tries once to add `ours` to the ref.
    fn try_put(&self, ours: &Entries, own: &Manifest, deadline: &Deadline) -> Result<Pushed> {
        let old = self.tip(deadline)?;
        let mut entries = Entries::new();
        if let Some(old) = &old {
            match self.fetch(old, deadline) {
                Ok(()) if self.has(old, deadline) => {}
                // It moved in the meantime.
                Ok(()) => return Ok(Pushed::Overtaken),
                Err(error) => return Err(error),
            }
            (entries, _) = self.entries(old, deadline)?;
        }
        if ours
            .iter()
            .all(|(name, entry)| entries.get(name) == Some(entry))
        {
            return Ok(Pushed::Done);
        }
        // Damaged files are not kept.
        let (mut known, _) = self.manifests(&entries, deadline)?;
        if known.iter().any(|(there, _)| outranks(there, own)) {
            return Ok(Pushed::Done);
        }
        let bytes = ours.values().map(|entry| entry.bytes).sum();
        known.retain(|(manifest, _)| manifest.matrix != own.matrix);
        known.insert(0, (own.clone(), bytes));
        entries.extend(ours.clone());
        let kept = keep(entries, &known, self.site.keep);
        let commit = self.commit(&kept, deadline)?;
        self.push(&commit, old.as_deref(), deadline)
    }

    /// Makes a commit of these files, without parents.
    fn commit(&self, entries: &Entries, deadline: &Deadline) -> Result<String> {
        let mut listing = Vec::new();
        for (name, entry) in entries {
            listing.extend_from_slice(format!("100644 blob {}\t{name}\0", entry.object).as_bytes());
        }
        let tree = self.ask_word(&["mktree", "-z"], &listing, deadline)?;
        let content = format!(
            "tree {tree}\nauthor tamis <> 0 +0000\ncommitter tamis <> 0 +0000\n\nresults of tests\n"
        );
        let arguments = ["hash-object", "-t", "commit", "-w", "--stdin"];
        self.ask_word(&arguments, content.as_bytes(), deadline)
    }

    fn push(&self, commit: &str, old: Option<&str>, deadline: &Deadline) -> Result<Pushed> {
        let lease = format!(
            "--force-with-lease={}:{}",
            self.reference,
            old.unwrap_or("")
        );
        let spec = format!("{commit}:{}", self.reference);
        let arguments = [
            "push",
            "--quiet",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--recurse-submodules=no",
            &lease,
            "--",
            &self.url,
            &spec,
        ];
        let command = self.command(&arguments);
        let done = process::run(command, b"", MAX_ANSWER, "git's answer", deadline)?;
        if done.status.success() {
            return Ok(Pushed::Done);
        }
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let Some(refused) = said.lines().find(|line| line.starts_with('!')) else {
            return Err(trouble(&done));
        };
        match self.tip(deadline)? {
            now if now.as_deref() != old => Ok(Pushed::Overtaken),
            _ => Ok(Pushed::Refused(redact(
                refused.trim_start_matches('!').trim(),
            ))),
        }
    }
}

/// Whether the ref has the same result from a writer that counts for more runs. Sending it
/// again must not take that away.
fn outranks(there: &Manifest, own: &Manifest) -> bool {
    let rank = |manifest: &Manifest| {
        let writer = &manifest.writer;
        let is_known = !writer.is_proposed() && !writer.is_local();
        let knows_order = manifest.dependences.is_some();
        (is_known, manifest.signature.is_some(), knows_order)
    };
    there.matrix == own.matrix && rank(there) > rank(own)
}

enum Pushed {
    Done,
    /// Another writer was faster.
    Overtaken,
    /// It was refused though nobody else wrote. This also happens while another writer holds a
    /// lock.
    Refused(String),
}

impl Remote for GitRef {
    fn place(&self) -> String {
        format!("{} in {}", self.reference, redact(&self.url))
    }

    fn offers(&self, _wanted: &Wanted, deadline: &Deadline) -> Result<Listed> {
        self.prepare(deadline)?;
        let Some(tip) = self.tip(deadline)? else {
            return Ok(Listed::default());
        };
        self.fetch(&tip, deadline)?;
        let (entries, mut damaged) = self.entries(&tip, deadline)?;
        let (manifests, unusable) = self.manifests(&entries, deadline)?;
        damaged.extend(unusable);
        let offers = manifests.into_iter().filter_map(|(manifest, _)| {
            let entry = entries.get(&format!("{}.tamis", manifest.matrix))?;
            Some(Offer {
                id: entry.object.clone(),
                commit: manifest.commit.clone(),
                tree: Some(manifest.tree.clone()),
                created: manifest.created,
                environment: Some(tag(&manifest.key.environment)),
                hint: Hint::default(),
                manifest: Some(manifest),
            })
        });
        Ok(Listed {
            offers: offers.collect(),
            damaged,
        })
    }

    fn name_of(&self, offer: &Offer) -> String {
        let manifest = offer.manifest.as_ref();
        manifest.map_or_else(|| offer.id.clone(), |told| format!("{}.tamis", told.matrix))
    }

    fn mend(&self) -> String {
        format!(
            "the next run that shares its results drops manifests that cannot be read; \
             `git push REMOTE --delete {}` drops everything",
            self.reference
        )
    }

    /// git does not tell who wrote a ref.
    fn attest(&self, _offer: &Offer, _deadline: &Deadline) -> Result<Option<Writer>> {
        Ok(None)
    }

    fn get(&self, offer: &Offer, deadline: &Deadline) -> Result<Vec<u8>> {
        let Some(manifest) = &offer.manifest else {
            return Err(RemoteError::Absent("the manifest".to_owned()));
        };
        let entry = Entry {
            object: offer.id.clone(),
            bytes: manifest.bytes,
        };
        let matrix = self.blob(&entry, "a matrix", MAX_BODY, deadline)?;
        let mut bytes = manifest.encode();
        bytes.extend_from_slice(&matrix);
        Ok(bytes)
    }

    fn put(&self, pack: &Pack, deadline: &Deadline) -> Result<()> {
        self.prepare(deadline)?;
        let mut ours = Entries::new();
        let name = &pack.manifest.matrix;
        let files = [
            (format!("{name}.manifest"), pack.manifest.encode()),
            (format!("{name}.tamis"), pack.body()),
        ];
        for (name, content) in files {
            let object = self.ask_word(&["hash-object", "-w", "--stdin"], &content, deadline)?;
            let bytes = content.len() as u64;
            ours.insert(name, Entry { object, bytes });
        }
        let mut refusals = 0;
        for race in 0..MOST_RACES {
            match self.try_put(&ours, &pack.manifest, deadline)? {
                Pushed::Done => return Ok(()),
                Pushed::Overtaken => refusals = 0,
                Pushed::Refused(why) if refusals >= MOST_REFUSALS => {
                    return Err(RemoteError::Refused(why));
                }
                Pushed::Refused(_) => refusals += 1,
            }
            std::thread::sleep(pause(race));
        }
        Err(RemoteError::Contended)
    }

    fn worth(&self) -> usize {
        3
    }
}

/// The manifests that have a matrix, each with its name, its entry and the length of the
/// matrix; and the files without a partner.
fn pairs(entries: &Entries) -> (Vec<(&str, &Entry, u64)>, Vec<Damaged>) {
    let (mut pairs, mut damaged) = (Vec::new(), Vec::new());
    for (name, entry) in entries {
        let why = match name.rsplit_once('.') {
            Some((stem, "manifest")) => match entries.get(&format!("{stem}.tamis")) {
                Some(matrix) if entry.bytes <= MAX_MANIFEST => {
                    pairs.push((stem, entry, matrix.bytes));
                    continue;
                }
                Some(_) => format!("it has {} bytes, too many for a manifest", entry.bytes),
                None => "its matrix is not there".to_owned(),
            },
            Some((stem, "tamis")) if entries.contains_key(&format!("{stem}.manifest")) => continue,
            Some((_, "tamis")) => "its manifest is not there".to_owned(),
            _ => "it is not a file of tamis".to_owned(),
        };
        damaged.push(Damaged::new(name, why));
    }
    (pairs, damaged)
}

/// The next content in the output of `git cat-file --batch`, which has this many bytes; `None`
/// if git does not have it.
fn next_of_batch<'a>(rest: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
    // `<object> blob <bytes>\n<content>\n`, or `<object> missing\n`.
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (head, content) = rest.split_at(end + 1);
    if head.ends_with(b" missing\n") {
        *rest = content;
        return None;
    }
    let found = content.get(..bytes)?;
    *rest = content.get(bytes + 1..).unwrap_or(&[]);
    Some(found)
}

/// Keeps the newest matrices of each environment, up to the size limit of a ref. Other files
/// are dropped.
fn keep(mut entries: Entries, known: &[(Manifest, u64)], most: usize) -> Entries {
    let mut kept = Entries::new();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    let mut bytes = 0;
    for (manifest, size) in known {
        let count = count.entry(&manifest.key.environment).or_default();
        if *count >= most || bytes + size > MAX_REF {
            continue;
        }
        for suffix in ["manifest", "tamis"] {
            let name = format!("{}.{suffix}", manifest.matrix);
            if let Some(entry) = entries.remove(&name) {
                kept.insert(name, entry);
            }
        }
        *count += 1;
        bytes += size;
    }
    kept
}

/// Waits longer each time, and differently for each writer.
fn pause(race: u32) -> Duration {
    let most = 50 * u64::from(1 + race.min(20));
    let mut bytes = [0; 8];
    // Without random numbers all writers wait the same time, which is only slower.
    let _ = getrandom::fill(&mut bytes);
    Duration::from_millis(5 + u64::from_le_bytes(bytes) % most)
}

fn unique() -> String {
    let mut bytes = [0; 8];
    let _ = getrandom::fill(&mut bytes);
    format!("{:016x}", u64::from_le_bytes(bytes))
}

/// The settings of the repository at `root` that are needed to reach a remote: those that are
/// neither the user's nor the system's, and those from the environment.
fn settings_of(root: &Path, deadline: &Deadline) -> Result<Vec<(String, String)>> {
    let mut command = git_in(root);
    command.args(["config", "--list", "--null", "--show-scope", "--includes"]);
    let answer = must(process::run(
        command,
        b"",
        MAX_ANSWER,
        "git's settings",
        deadline,
    )?)?;
    let mut fields = answer.split(|byte| *byte == 0);
    let mut settings = Vec::new();
    while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
        if !matches!(scope, b"local" | b"worktree" | b"command") {
            continue;
        }
        let setting = String::from_utf8_lossy(setting);
        // A key without a value means true.
        let (key, value) = setting.split_once('\n').unwrap_or((&setting, "true"));
        if reaches(key) {
            settings.push((key.to_owned(), value.to_owned()));
        }
    }
    Ok(settings)
}

fn reaches(key: &str) -> bool {
    let section = ["credential.", "http.", "url.", "ssh.", "protocol."];
    let single = ["core.sshcommand", "core.askpass", "core.gitproxy"];
    let of_remote =
        key.starts_with("remote.") && (key.ends_with(".url") || key.ends_with(".proxy"));
    section.iter().any(|section| key.starts_with(section)) || single.contains(&key) || of_remote
}

/// The bytes of all readable files below `dir`.
fn size_of(dir: &Path) -> u64 {
    let entries = walkdir::WalkDir::new(dir).into_iter().flatten();
    let metadata = entries.filter_map(|entry| entry.metadata().ok());
    metadata
        .filter(|metadata| !metadata.is_dir())
        .map(|metadata| metadata.len())
        .sum()
}
