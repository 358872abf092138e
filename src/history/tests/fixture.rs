//! A repository in a temporary directory, shut off from the machine's git
//! configuration, with fixed names and dates.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bstr::{BStr, BString, ByteSlice};

use crate::history::{CommitId, Entry, Repository, Revision, View};

pub(super) struct Repo {
    /// Removed with all its content when the last owner is dropped.
    _temp: Option<tempfile::TempDir>,
    pub top: PathBuf,
    clock: Cell<u32>,
}

impl Repo {
    /// An empty repository on branch `main`.
    pub(super) fn new() -> Repo {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&top).unwrap();
        let repo = Repo {
            _temp: Some(temp),
            top,
            clock: Cell::new(0),
        };
        repo.git(&["init", "-q", "-b", "main"]);
        repo.shut_off();
        repo
    }

    /// Another work tree, inside the temporary directory of its maker.
    pub(super) fn at(top: PathBuf) -> Repo {
        let repo = Repo {
            _temp: None,
            top,
            clock: Cell::new(0),
        };
        repo.shut_off();
        repo
    }

    /// A repository with a first commit of `a.py`, `src/b.py`, `src/deep/c.py`.
    pub(super) fn with_files() -> Repo {
        let repo = Repo::new();
        repo.write("a.py", "a = 1\n");
        repo.write("src/b.py", "b = 1\n");
        repo.write("src/deep/c.py", "c = 1\n");
        repo.commit_all();
        repo
    }

    /// libgit2 in this process reads the machine's configuration; the settings of the
    /// repository override it.
    fn shut_off(&self) {
        let none = self.outside("none");
        for name in ["core.excludesFile", "core.attributesFile"] {
            self.git(&["config", name, none.to_str().unwrap()]);
        }
        self.git(&["config", "core.autocrlf", "false"]);
    }

    /// A path beside the work tree.
    pub(super) fn outside(&self, name: &str) -> PathBuf {
        self.top.parent().unwrap().join(name)
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        let date = format!("{} +0000", 1_700_000_000 + self.clock.get());
        command
            .args(args)
            .current_dir(&self.top)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.outside("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ALLOW_PROTOCOL", "file")
            .env("LC_ALL", "C.UTF-8");
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Ann Author")
                .env(format!("GIT_{who}_EMAIL"), "ann@example.org")
                .env(format!("GIT_{who}_DATE"), &date);
        }
        command
    }

    /// What a git command prints; it must succeed.
    pub(super) fn git(&self, args: &[&str]) -> BString {
        run(self.command(args), args)
    }

    pub(super) fn word(&self, args: &[&str]) -> String {
        self.git(args).to_str().unwrap().trim().to_owned()
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let place = self.top.join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, content).unwrap();
    }

    pub(super) fn remove(&self, path: &str) {
        std::fs::remove_file(self.top.join(path)).unwrap();
    }

    pub(super) fn commit_all(&self) -> CommitId {
        self.git(&["add", "-A"]);
        self.commit()
    }

    pub(super) fn commit(&self) -> CommitId {
        self.clock.set(self.clock.get() + 60);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
        self.word(&["rev-parse", "HEAD"]).parse().unwrap()
    }

    pub(super) fn open(&self) -> Repository {
        Repository::discover(&self.top).unwrap()
    }

    pub(super) fn head(&self) -> Revision {
        self.open().head().unwrap()
    }

    pub(super) fn work(&self) -> View {
        self.open().work_view().unwrap()
    }

    pub(super) fn committed(&self) -> View {
        let repository = self.open();
        repository.tree_view(&repository.head().unwrap()).unwrap()
    }

    /// The tree that git makes of the files on disk: HEAD, then everything tracked or
    /// untracked added, in a separate, empty index.
    pub(super) fn truth(&self) -> String {
        let index = self.outside("truth-index");
        let _ = std::fs::remove_file(&index);
        let with_index = |args: &[&str]| {
            let mut command = self.command(args);
            command.env("GIT_INDEX_FILE", &index);
            run(command, args)
        };
        let tracked = self.git(&["ls-files", "-z"]);
        with_index(&["read-tree", "HEAD"]);
        with_index(&["add", "-A"]);
        for path in tracked.split_str("\0").filter(|path| !path.is_empty()) {
            let path = path.to_str().unwrap();
            let place = self.top.join(path);
            let is_file = place.symlink_metadata().is_ok_and(|it| !it.is_dir());
            let is_below_link = Path::new(path)
                .ancestors()
                .skip(1)
                .any(|above| self.top.join(above).is_symlink());
            if is_file && !is_below_link {
                with_index(&["--literal-pathspecs", "add", "-f", "--", path]);
            }
        }
        let tree = with_index(&["write-tree"]);
        tree.to_str().unwrap().trim().to_owned()
    }

    /// `git ls-tree -r`: the mode and object of each path.
    pub(super) fn ls_tree(&self, tree: &str) -> BTreeMap<BString, (String, String)> {
        let listing = self.git(&["ls-tree", "-r", "-z", tree]);
        let lines = listing.split_str("\0").filter(|line| !line.is_empty());
        lines
            .map(|line| {
                let (meta, path) = line.split_once_str("\t").unwrap();
                let words: Vec<&str> = meta.to_str().unwrap().split(' ').collect();
                (path.into(), (words[0].to_owned(), words[2].to_owned()))
            })
            .collect()
    }

    /// `git diff-tree`: the paths that differ between two trees.
    pub(super) fn diff_tree(&self, from: &str, to: &str) -> Vec<BString> {
        let args = [
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--name-only",
            from,
            to,
        ];
        let listing = self.git(&args);
        let names = listing.split_str("\0").filter(|name| !name.is_empty());
        let mut names: Vec<BString> = names.map(BString::from).collect();
        names.sort();
        names
    }

    /// Every file of the git directory with its content and time stamp.
    pub(super) fn git_directory(&self) -> BTreeMap<PathBuf, (std::time::SystemTime, Vec<u8>)> {
        let entries = walkdir::WalkDir::new(self.top.join(".git")).into_iter();
        let entries = entries.map(Result::unwrap);
        let files = entries.filter(|entry| !entry.file_type().is_dir());
        let read = |entry: walkdir::DirEntry| {
            let time = entry.metadata().unwrap().modified().unwrap();
            let content = std::fs::read(entry.path()).unwrap();
            (entry.into_path(), (time, content))
        };
        files.map(read).collect()
    }
}

fn run(mut command: Command, args: &[&str]) -> BString {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        output.stderr.to_str_lossy()
    );
    output.stdout.into()
}

/// The entry of a view for a line of `git ls-tree`.
pub(super) fn expected(mode: &str, id: &str) -> Entry {
    use crate::matrix::{Fingerprint, Mode};
    let mode = match mode {
        "100644" => Mode::Regular,
        "100755" => Mode::Executable,
        "120000" => Mode::Symlink,
        "160000" => Mode::Gitlink,
        other => panic!("mode {other}"),
    };
    let blob = id.parse::<CommitId>().unwrap().0;
    let fingerprint = Fingerprint::of_blob(&blob, mode);
    Entry::File {
        fingerprint,
        blob,
        mode,
    }
}

pub(super) fn entry(view: &View, path: &str) -> Entry {
    view.entry(BStr::new(path)).unwrap()
}

pub(super) fn names(view: &View, dir: &str) -> Option<Vec<String>> {
    let listing = view.list(BStr::new(dir)).unwrap()?;
    let mark = |is_dir| if is_dir { "/" } else { "" };
    Some(
        listing
            .iter()
            .map(|(name, is_dir)| format!("{name}{}", mark(*is_dir)))
            .collect(),
    )
}

pub(super) fn dirty(view: &View) -> Vec<String> {
    let dirty = view.dirty().unwrap();
    dirty.iter().map(|(path, _)| path.to_string()).collect()
}

/// The paths of the delta from the unchanged HEAD to the work tree.
pub(super) fn changed(repo: &Repo) -> Vec<String> {
    let delta = repo.open().delta(&repo.head(), &[], &repo.work()).unwrap();
    delta.paths.iter().map(ToString::to_string).collect()
}
