//! What programs do with files: look for them, read, list, write and move them.
//!
//! The agent sees all of it where the JDK calls the system ([`calls`]), whichever class a
//! program uses.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use crate::agent::{Agent, lock};
use crate::natives::is_being_loaded;
use crate::process;
use crate::state::State;

pub mod calls;
mod links;
mod table;

use links::{Links, Way};

static LINKS: Mutex<Option<Links>> = Mutex::new(None);

/// Files of the system: the JVM reads them, and some are different each time.
const NOT_OF_PROJECT: [&str; 4] = ["/proc/", "/sys/", "/dev/", "/etc/"];

/// In a moved directory with more files than this they are not noted one by one.
const MOST_MOVED: usize = 10_000;

/// What a program asks about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Its content. This also counts if only its existence is asked for: native code of
    /// libraries opens files unseen, and mostly somebody checks for the file before.
    Content,
    /// The content of the link itself, and its target.
    Link,
    /// The names in the directory.
    Names,
}

/// The target of a path, through symbolic links.
fn way(path: &str, follows_last: bool) -> Way {
    let mut links = lock(&LINKS);
    links
        .get_or_insert_default()
        .way(&process::whole(path), follows_last)
}

/// Forgets cached links after a link or directory has changed.
pub fn forget_links() {
    if let Some(links) = lock(&LINKS).as_mut() {
        links.forget();
    }
}

/// Whether this path does not matter.
fn is_ignored(agent: &Agent, path: &str) -> bool {
    NOT_OF_PROJECT.iter().any(|one| path.starts_with(one))
        || agent.is_of_surefire(path)
        || agent.writes_reports.load(Ordering::Relaxed)
}

/// Notes that the running code asks about `path`.
pub fn look(agent: &Agent, path: &str, look: Look) {
    let given = process::absolute(path);
    if is_ignored(agent, &given) {
        return;
    }
    let way = way(path, look != Look::Link);
    if NOT_OF_PROJECT.iter().any(|one| way.real.starts_with(one)) {
        return;
    }
    let is_of_project = agent.is_of_project(&given) || agent.is_of_project(&way.real);
    let found = match look {
        Look::Link => std::fs::symlink_metadata(&way.real),
        _ => std::fs::metadata(&way.real),
    };
    let state = &mut *lock(&agent.state);
    let is_class = given.ends_with(".class");
    let found = found.ok();
    if is_of_project {
        let always = given.ends_with(".jar") || is_class && found.is_none();
        saw_links(state, &way, always);
    }
    match found {
        Some(found) if found.is_dir() => {
            // Before the tests, some are made from the content of a directory (parameters,
            // features). In a directory with classes, frameworks only look for tests.
            let is_listed = look == Look::Names;
            let depends = match is_listed {
                true => state.meets_names(&way.real),
                false => state.meets(&way.real),
            };
            let counts = || state.has_tests() || is_listed && !has_classes(&way.real);
            if depends && is_of_project && counts() {
                match is_listed {
                    true => state.observed("dir", &way.real, None, false),
                    false => state.observed("exists", &way.real, Some("dir"), false),
                }
            }
        }
        Some(found) if found.is_symlink() => {
            if is_of_project {
                saw_link(state, &way.real, false);
            }
        }
        Some(_) if is_class && is_being_loaded(&given) => {
            // The probes of the loaded class tell who runs it.
            state.meets(&way.real);
        }
        Some(_) if !state.meets(&way.real) => {}
        Some(_) if is_class => state.read_class(&given),
        Some(_) if !is_of_project && !given.ends_with(".jar") && is_of_runtime(&way.real) => {}
        Some(_) => {
            let is_jar = given.ends_with(".jar");
            let real = if is_of_project { &way.real } else { &given };
            state.observed("file", real, None, is_jar);
        }
        None => {
            if state.meets_none(&way.real) && is_of_project {
                // A search for a class in other places counts for all tests.
                state.observed("exists", &way.real, Some("missing"), is_class);
            }
        }
    }
}

/// The links on the way to a file also count.
fn saw_links(state: &mut State, way: &Way, always: bool) {
    for link in &way.links {
        saw_link(state, link, always);
    }
}

fn saw_link(state: &mut State, link: &str, always: bool) {
    if state.meets(link) {
        state.observed("file", link, None, always);
    }
}

/// Whether this directory contains classes.
fn has_classes(path: &str) -> bool {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    names.any(|name| name.to_string_lossy().ends_with(".class"))
}

/// Files of the JDK, which the `runtime` unit covers.
fn is_of_runtime(path: &str) -> bool {
    Path::new(path).starts_with(process::home())
}

/// How a file is opened for writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Whether its content is read, too.
    pub reads: bool,
    /// Whether its old content is removed.
    pub truncates: bool,
    /// Whether the file must not exist, and whether it may be missing.
    pub is_new: bool,
    pub creates: bool,
}

/// A file that will be written once it is open.
#[derive(Clone, Debug)]
pub struct Opened {
    place: String,
    /// Whether it holds no content of others, or that content was read.
    is_whole: bool,
}

/// Notes that a file will be opened for writing.
pub fn opening(agent: &Agent, path: &str, opening: Opening) -> Option<Opened> {
    let given = process::absolute(path);
    if is_ignored(agent, &given) {
        return None;
    }
    let way = way(path, true);
    let must_be_there = !opening.creates;
    if opening.reads && !opening.truncates || opening.is_new || must_be_there {
        look(agent, path, Look::Content);
    } else if agent.is_of_project(&way.real) || agent.is_of_project(&given) {
        // Links decide where the file is.
        saw_links(&mut lock(&agent.state), &way, false);
    }
    let is_whole = opening.reads || opening.truncates || opening.is_new;
    Some(Opened {
        is_whole: is_whole || !Path::new(&way.real).exists(),
        place: way.real,
    })
}

/// Notes that this file is open now.
pub fn opened(agent: &Agent, file: &Opened) {
    lock(&agent.state).wrote(&file.place, file.is_whole);
}

/// Notes that a file could not be opened for writing, perhaps because something is missing.
pub fn not_opened(agent: &Agent, path: &str) {
    look(agent, path, Look::Content);
    let real = way(path, true).real;
    let above = Path::new(&real).ancestors().skip(1);
    let missing = above.take_while(|folder| !folder.exists());
    if let Some(first) = missing.last().and_then(Path::to_str) {
        look(agent, first, Look::Content);
    }
}

/// The place of a path that is itself made, changed or removed; a link at its end is not
/// followed.
pub fn place(agent: &Agent, path: &str) -> Option<String> {
    let is_ignored = is_ignored(agent, &process::absolute(path));
    (!is_ignored).then(|| way(path, false).real)
}

pub fn made_folder(agent: &Agent, place: &str) {
    lock(&agent.state).made_folder(place);
}

/// Notes that a link was made.
pub fn linked(agent: &Agent, place: &str) {
    forget_links();
    lock(&agent.state).wrote(place, true);
}

/// Whether something to be removed is more than a file.
pub fn is_more_than_a_file(place: &str) -> bool {
    let found = std::fs::symlink_metadata(place);
    found.is_ok_and(|found| !found.is_file())
}

pub fn removed(agent: &Agent, place: &str, is_more: bool) {
    let mut state = lock(&agent.state);
    match is_more {
        true => {
            forget_links();
            state.removed(place);
        }
        false => state.wrote(place, true),
    }
}

/// Notes a change of a file other than its content.
pub fn touched(agent: &Agent, path: &str) {
    if let Some(place) = place(agent, path) {
        lock(&agent.state).wrote(&place, false);
    }
}

/// Notes a move from `path`. Its content will be found elsewhere, so the mover depends on it.
pub fn moving(agent: &Agent, path: &str) {
    look(agent, path, Look::Link);
    let Some(top) = place(agent, path).filter(|top| Path::new(top).is_dir()) else {
        return look(agent, path, Look::Content);
    };
    let (mut open, mut seen) = (vec![top], 0);
    while let Some(folder) = open.pop() {
        look(agent, &folder, Look::Names);
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_MOVED {
                lock(&agent.state).doubt("it moved a directory with very many files");
                return;
            }
            let Ok(path) = entry.path().into_os_string().into_string() else {
                continue;
            };
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => open.push(path),
                false => look(agent, &path, Look::Content),
            }
        }
    }
}

pub fn moved(agent: &Agent, from: &str, to: &str) {
    forget_links();
    let is_folder = Path::new(to).is_dir();
    lock(&agent.state).moved(from, to, is_folder);
}

/// Handles a path for the system that is not UTF-8: it is unknown which file it is.
pub fn unreadable(agent: &Agent) {
    lock(&agent.state).doubt("it used a file whose name is not UTF-8");
}

/// Whether this process wrote the file.
pub fn is_written(agent: &Agent, path: &str) -> bool {
    let real = way(path, true).real;
    lock(&agent.state).is_written(&real)
}

/// Notes that the target of a path is asked for.
pub fn resolves(agent: &Agent, path: &str) {
    let given = process::absolute(path);
    if is_ignored(agent, &given) {
        return;
    }
    let way = way(path, true);
    if agent.is_of_project(&given) || agent.is_of_project(&way.real) {
        saw_links(&mut lock(&agent.state), &way, false);
    }
}

/// Called when a test ends. Later tests can write to files that it wrote and left open.
pub fn test_ends(agent: &Agent, test: &str) {
    // Other processes may have changed links.
    forget_links();
    if let Some(why) = calls::doubt() {
        agent.mistrust(&why);
    }
    let mut state = lock(&agent.state);
    if state.has_written(test) || state.holds_files() {
        let open = written_and_open(&state);
        state.holds(test, open);
    }
}

fn written_and_open(state: &State) -> BTreeSet<String> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let targets = entries
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let paths = targets.filter_map(|target| Some(target.to_str()?.to_owned()));
    paths.filter(|path| state.is_written(path)).collect()
}

/// The path of an open file, if it has one.
pub fn of_descriptor(descriptor: i32) -> Option<String> {
    let target = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
    let path = std::str::from_utf8(target.as_os_str().as_bytes()).ok()?;
    (path.starts_with('/') && !path.ends_with(" (deleted)")).then(|| path.to_owned())
}
