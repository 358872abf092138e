//! What is done with files: looked for, read, listed, written, moved.
//!
//! All of it is seen where the JDK calls the system ([`calls`]), so by whatever class a
//! program does it.

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

/// What the JVM itself reads, and what is another one every time.
const NOT_OF_PROJECT: [&str; 4] = ["/proc/", "/sys/", "/dev/", "/etc/"];

/// More files than this in a directory that is moved are not looked at one by one.
const MOST_MOVED: usize = 10_000;

/// What is found out about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// What is there. Also where no more is asked than whether: native code of libraries
    /// opens files unseen, and mostly somebody looks for them before.
    Content,
    /// The same of a link itself, and where it leads to.
    Link,
    /// Which names are in the directory.
    Names,
}

/// Where a path leads to by symbolic links.
fn way(path: &str, follows_last: bool) -> Way {
    let mut links = lock(&LINKS);
    links
        .get_or_insert_default()
        .way(&process::whole(path), follows_last)
}

/// Some link or directory is another one now.
pub fn forget_links() {
    if let Some(links) = lock(&LINKS).as_mut() {
        links.forget();
    }
}

/// Whether nobody cares about this path.
fn is_ignored(agent: &Agent, path: &str) -> bool {
    NOT_OF_PROJECT.iter().any(|one| path.starts_with(one))
        || agent.is_of_surefire(path)
        || agent.writes_reports.load(Ordering::Relaxed)
}

/// Whoever runs now finds out something about `path`.
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
            // Before the tests, some are made of what a directory has (parameters, features);
            // where classes are, tests are looked for.
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
            // Whoever runs what is loaded is told by its probes.
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
                // What is looked for on the way of a class counts for all tests.
                state.observed("exists", &way.real, Some("missing"), is_class);
            }
        }
    }
}

/// The links that lead to something are of what is found there.
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

/// Whether classes lie in this directory.
fn has_classes(path: &str) -> bool {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    names.any(|name| name.to_string_lossy().ends_with(".class"))
}

/// Files of the JDK, which the `runtime` unit stands for.
fn is_of_runtime(path: &str) -> bool {
    Path::new(path).starts_with(process::home())
}

/// How a file is opened to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Whether what is in it is read, too.
    pub reads: bool,
    /// Whether what was in it is gone.
    pub truncates: bool,
    /// Whether it must not be there, and whether it may be missing.
    pub is_new: bool,
    pub creates: bool,
}

/// A file that is written once it is open.
#[derive(Clone, Debug)]
pub struct Opened {
    place: String,
    /// Whether nothing is left in it of what somebody else wrote, or that was read.
    is_whole: bool,
}

/// A file is to be opened and written.
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
        // It lies where links say.
        saw_links(&mut lock(&agent.state), &way, false);
    }
    let is_whole = opening.reads || opening.truncates || opening.is_new;
    Some(Opened {
        is_whole: is_whole || !Path::new(&way.real).exists(),
        place: way.real,
    })
}

/// The file that was to be opened is open.
pub fn opened(agent: &Agent, file: &Opened) {
    lock(&agent.state).wrote(&file.place, file.is_whole);
}

/// A file could not be opened to be written: perhaps for what is not there.
pub fn not_opened(agent: &Agent, path: &str) {
    look(agent, path, Look::Content);
    let real = way(path, true).real;
    let above = Path::new(&real).ancestors().skip(1);
    let missing = above.take_while(|folder| !folder.exists());
    if let Some(first) = missing.last().and_then(Path::to_str) {
        look(agent, first, Look::Content);
    }
}

/// Where something is that is made, changed or removed itself, not what a link there
/// leads to.
pub fn place(agent: &Agent, path: &str) -> Option<String> {
    let is_ignored = is_ignored(agent, &process::absolute(path));
    (!is_ignored).then(|| way(path, false).real)
}

pub fn made_folder(agent: &Agent, place: &str) {
    lock(&agent.state).made_folder(place);
}

/// A link was made.
pub fn linked(agent: &Agent, place: &str) {
    forget_links();
    lock(&agent.state).wrote(place, true);
}

/// Something is to be removed; how it was, if that is more than a file.
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

/// Something changed of a file besides what is in it.
pub fn touched(agent: &Agent, path: &str) {
    if let Some(place) = place(agent, path) {
        lock(&agent.state).wrote(&place, false);
    }
}

/// What is at a path is to be found elsewhere from now on, so whoever does that depends
/// on it.
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

/// A path that the system is given is no text: nobody can tell which file it is.
pub fn unreadable(agent: &Agent) {
    lock(&agent.state).doubt("it used a file whose name is not UTF-8");
}

/// Whether this process wrote a file.
pub fn is_written(agent: &Agent, path: &str) -> bool {
    let real = way(path, true).real;
    lock(&agent.state).is_written(&real)
}

/// Where a path leads to is asked for.
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

/// A test ends: files that it wrote and left open can be written by later ones.
pub fn test_ends(agent: &Agent, test: &str) {
    // Others than this process may have changed some.
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
