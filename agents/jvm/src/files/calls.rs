//! The calls by which the JDK's classes ask the system for files.
//!
//! When the JVM binds one of these native methods, it gets a function of the agent instead,
//! which calls the real one. So the agent sees every use of files in Java code: streams,
//! channels, `Files`, `File`, archives, class loaders.

use std::ffi::{CStr, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::table::At::{self, Beneath, Bytes, File, Open, Text};
use super::table::{CALLS, Call, Does, IO, QUIET, fits};
use super::{Look, Opened, Opening};
use crate::agent::{Agent, lock};
use crate::ffi::{Jni, MethodId, Object};
use crate::files;
use crate::lookups;
use crate::natives::inside;
use crate::process;

/// The real functions, by their number in [`CALLS`].
static REAL: [AtomicPtr<c_void>; STAND_INS.len()] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; STAND_INS.len()];

/// The parameters after the class or object, as they are in registers.
type Arguments = [usize; 5];

type Native = unsafe extern "system" fn(Jni, Object, usize, usize, usize, usize, usize) -> usize;

/// Replaces the native method with this number. It passes on the parameters unchanged,
/// whatever their types: all are integers or addresses. Extra parameters do no harm on Linux
/// and the processors of this agent.
unsafe extern "system" fn stand_in<const AT: usize>(
    jni: Jni,
    this: Object,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
) -> usize {
    let real: Native = std::mem::transmute(REAL[AT].load(Ordering::Acquire));
    let arguments = [a, b, c, d, e];
    let mut then = Then::Nothing;
    inside(|agent| {
        if let Some(call) = CALLS.get(AT) {
            then = before(agent, jni, call.does, &arguments);
        }
    });
    let result = real(jni, this, a, b, c, d, e);
    if !matches!(then, Then::Nothing) {
        // The methods of `java.io.UnixFileSystem` return whether they succeeded.
        let is_told = CALLS.get(AT).is_some_and(|call| call.class == IO);
        let could = !is_told || result as u8 != 0;
        let has_done = could && !jni.is_exception_pending();
        inside(|agent| after(agent, &then, has_done));
    }
    result
}

/// What has happened when a call returns.
enum Then {
    Nothing,
    Opened(String, Opened),
    MadeFolder(String),
    Removed(String, bool),
    Moved(String, String),
    Linked(String),
    Touched(String),
}

unsafe fn before(agent: &Agent, jni: Jni, does: Does, arguments: &Arguments) -> Then {
    // The JVM has not started yet.
    if agent.java.get().is_none() {
        return Then::Nothing;
    }
    let at = |at: At| path_at(agent, jni, at, arguments);
    let open = |path: At, how: Opening| {
        let opened = at(path).and_then(|path| {
            let opened = files::opening(agent, &path, how)?;
            Some(Then::Opened(path, opened))
        });
        opened.unwrap_or(Then::Nothing)
    };
    let look = |path: At, look: Look| {
        if let Some(path) = at(path) {
            let is_in_vain = lookups::is_in_vain(agent, jni, &process::absolute(&path));
            if !is_in_vain {
                files::look(agent, &path, look);
            }
        }
        Then::Nothing
    };
    let place = |path: At| at(path).and_then(|path| files::place(agent, &path));
    match does {
        Does::Look(path, what) => look(path, what),
        Does::Stat(path, flags) => match arguments[flags] & AT_SYMLINK_NOFOLLOW {
            0 => look(path, Look::Content),
            _ => look(path, Look::Link),
        },
        Does::Open(path, flags) => match opening_of(arguments[flags] as i32) {
            None => look(path, Look::Content),
            Some(how) => open(path, how),
        },
        Does::OpenRandom(path, mode) => match arguments[mode] & RANDOM_TO_WRITE {
            0 => look(path, Look::Content),
            _ => {
                let how = Opening {
                    reads: true,
                    creates: true,
                    ..Opening::default()
                };
                open(path, how)
            }
        },
        Does::OpenToWrite(path, at_end) => {
            let how = Opening {
                truncates: arguments[at_end] as u8 == 0,
                creates: true,
                ..Opening::default()
            };
            open(path, how)
        }
        Does::Make(path) => {
            let how = Opening {
                is_new: true,
                creates: true,
                ..Opening::default()
            };
            open(path, how)
        }
        Does::MakeFolder(path) => place(path).map_or(Then::Nothing, Then::MadeFolder),
        Does::Remove(path) => place(path).map_or(Then::Nothing, |place| {
            let is_more = files::is_more_than_a_file(&place);
            Then::Removed(place, is_more)
        }),
        Does::Move(from, to) => {
            let (Some(from), Some(to)) = (at(from), at(to)) else {
                return Then::Nothing;
            };
            files::moving(agent, &from);
            match (files::place(agent, &from), files::place(agent, &to)) {
                (Some(from), Some(to)) => Then::Moved(from, to),
                _ => Then::Nothing,
            }
        }
        Does::Link(from, to) => {
            look(from, Look::Content);
            place(to).map_or(Then::Nothing, Then::Linked)
        }
        Does::SymbolicLink(path) => place(path).map_or(Then::Nothing, Then::Linked),
        Does::Touch(path) => at(path).map_or(Then::Nothing, Then::Touched),
    }
}

const AT_SYMLINK_NOFOLLOW: usize = 0x100;
/// `O_RDWR` of `RandomAccessFile`.
const RANDOM_TO_WRITE: usize = 2;

/// `None`: only for reading.
fn opening_of(flags: i32) -> Option<Opening> {
    const WAYS: i32 = 0o3;
    const READ_WRITE: i32 = 0o2;
    const CREATE: i32 = 0o100;
    const NEW: i32 = 0o200;
    const TRUNCATE: i32 = 0o1000;
    let truncates = flags & TRUNCATE != 0;
    (flags & WAYS != 0 || truncates).then_some(Opening {
        reads: flags & WAYS == READ_WRITE,
        truncates,
        is_new: flags & NEW != 0,
        creates: flags & CREATE != 0,
    })
}

unsafe fn path_at(agent: &Agent, jni: Jni, at: At, arguments: &Arguments) -> Option<String> {
    let bytes = |at: usize| {
        let start = arguments[at] as *const std::ffi::c_char;
        if start.is_null() {
            return None;
        }
        let path = CStr::from_ptr(start).to_str().ok().map(str::to_owned);
        if path.is_none() {
            files::unreadable(agent);
        }
        path
    };
    match at {
        Text(at) => jni.text(arguments[at] as Object),
        File(at) => {
            let file = arguments[at] as Object;
            let field = agent.java.get()?.path_of_file;
            if file.is_null() {
                return None;
            }
            let text = jni.object_field(file, field);
            let path = jni.text(text);
            jni.drop_local(text);
            path
        }
        Bytes(at) => bytes(at),
        Beneath(folder, at) => {
            let path = bytes(at)?;
            match arguments[folder] as i32 {
                AT_CURRENT => Some(path),
                _ if path.starts_with('/') => Some(path),
                folder => Some(format!("{}/{path}", files::of_descriptor(folder)?)),
            }
        }
        Open(at) => files::of_descriptor(arguments[at] as i32),
    }
}

const AT_CURRENT: i32 = -100;

fn after(agent: &Agent, then: &Then, has_done: bool) {
    match then {
        Then::Nothing => {}
        Then::Opened(_, opened) if has_done => files::opened(agent, opened),
        Then::Opened(path, _) => files::not_opened(agent, path),
        _ if !has_done => {}
        Then::MadeFolder(place) => files::made_folder(agent, place),
        Then::Removed(place, is_more) => files::removed(agent, place, *is_more),
        Then::Moved(from, to) => files::moved(agent, from, to),
        Then::Linked(place) => files::linked(agent, place),
        Then::Touched(path) => files::touched(agent, path),
    }
}

/// Methods that the JVM bound before it can name them, with their functions.
static EARLY: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// Called when the JVM binds a native method at `address`. Returns the function to use
/// instead.
pub unsafe fn bound(
    agent: &Agent,
    jni: Jni,
    method: MethodId,
    address: *mut c_void,
) -> Option<*mut c_void> {
    let Some((class, name, kind)) = agent.jvmti.method(method) else {
        lock(&EARLY).push((method as usize, address as usize));
        return None;
    };
    let ours = replaced(agent, class, &name, &kind, address);
    jni.drop_local(class);
    ours
}

/// Whether all early methods are bound to the agent's functions.
pub fn is_complete() -> bool {
    lock(&EARLY).is_empty()
}

/// Binds the early methods to the agent's functions, once the JVM can name them. Must be
/// called from a method of the JDK.
pub unsafe fn bind_early(agent: &Agent, jni: Jni) {
    lock(&EARLY).retain(|(method, address)| {
        let Some((class, name, kind)) = agent.jvmti.method(*method as MethodId) else {
            return true;
        };
        let ours = replaced(agent, class, &name, &kind, *address as *mut c_void);
        let is_bound = ours.is_none_or(|ours| jni.register(class, &name, &kind, ours));
        jni.drop_local(class);
        !is_bound
    });
}

/// The function to use instead of the one at `address`.
unsafe fn replaced(
    agent: &Agent,
    class: Object,
    name: &CStr,
    kind: &CStr,
    address: *mut c_void,
) -> Option<*mut c_void> {
    let class = agent.jvmti.signature(class)?;
    let (name, kind) = (name.to_string_lossy(), kind.to_string_lossy());
    let (name, kind) = (&*name, &*kind);
    let plain = name.strip_suffix('0').unwrap_or(name);
    let is_it = |call: &Call| call.class == class && call.method == plain;
    let Some(at) = CALLS.iter().position(is_it) else {
        let of_class = QUIET.iter().find(|(known, _)| *known == class);
        if of_class.is_some_and(|(_, quiet)| !quiet.contains(&plain)) {
            doubt_of(&class, name);
        }
        return None;
    };
    if !fits(CALLS[at].does, kind) {
        doubt_of(&class, name);
        return None;
    }
    let ours = STAND_INS[at] as *mut c_void;
    if address == ours {
        return None;
    }
    let none = std::ptr::null_mut();
    let known = REAL[at].compare_exchange(none, address, Ordering::AcqRel, Ordering::Acquire);
    if known.is_err_and(|known| known != address) {
        // Two methods with one name: each would call the other's function.
        doubt_of(&class, name);
        return None;
    }
    Some(ours)
}

/// An unknown native method of these classes.
static UNKNOWN: Mutex<Option<String>> = Mutex::new(None);

fn doubt_of(class: &str, name: &str) {
    let class = class.trim_start_matches('L').trim_end_matches(';');
    let class = class.replace('/', ".");
    lock(&UNKNOWN).get_or_insert_with(|| {
        format!("this JDK's {class}.{name} is not known, so files may be used unseen")
    });
}

/// Why files may have been used unseen.
pub fn doubt() -> Option<String> {
    lock(&UNKNOWN).take()
}

macro_rules! stand_ins {
    ($($tens:literal)*) => { [$(
        stand_in::<{ $tens * 10 }>, stand_in::<{ $tens * 10 + 1 }>, stand_in::<{ $tens * 10 + 2 }>,
        stand_in::<{ $tens * 10 + 3 }>, stand_in::<{ $tens * 10 + 4 }>,
        stand_in::<{ $tens * 10 + 5 }>, stand_in::<{ $tens * 10 + 6 }>,
        stand_in::<{ $tens * 10 + 7 }>, stand_in::<{ $tens * 10 + 8 }>,
        stand_in::<{ $tens * 10 + 9 }>,
    )*] };
}

const STAND_INS: [Native; 60] = stand_ins!(0 1 2 3 4 5);

const _: () = assert!(CALLS.len() <= STAND_INS.len());
