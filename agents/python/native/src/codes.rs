//! Tells which code objects belong to the project, numbers them, and notes which ran in the
//! current epoch.
//!
//! The verdict on a code object is in its `co_extra`, which is freed with it. So a reused
//! address has no verdict.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::hash::BuildHasherDefault;

use crate::ffi::*;
use crate::{frames, trace};

/// The content of `co_extra`. 0: not seen; odd: not the project's, by the `start` of that
/// generation; even: twice the number plus two.
type Verdict = usize;

/// Of code outside the project that is told of whenever it runs: it keeps no verdict.
const WATCHED: Verdict = 0;

type SetExtra = unsafe extern "C" fn(Ref, isize, *mut c_void) -> c_int;
type RequestIndex = unsafe extern "C" fn(Option<unsafe extern "C" fn(*mut c_void)>) -> isize;

/// The data that the check at each call reads, in one place.
struct Hot {
    /// Where a code object has its pointer to `_PyCodeObjectExtra`.
    extra_offset: isize,
    extra_index: isize,
    outside: Verdict,
    epoch: u32,
    /// For each number the last epoch in which it ran.
    last: *mut u32,
}

static HOT: Global<Hot> = Global::new(Hot {
    extra_offset: 0,
    extra_index: -1,
    outside: 1,
    epoch: 1,
    last: std::ptr::null_mut(),
});

#[derive(PartialEq, Eq, Hash)]
struct Key {
    file: Vec<u8>,
    line: c_int,
    name: Vec<u8>,
}

/// The code of one number, for `definitions` and the trace.
pub struct Definition {
    file: Ref,
    name: Ref,
    line: c_int,
    /// Whether the agent knows it, or the current trace file has it.
    pub told: bool,
    pub written: bool,
    /// Whether it spells the attribute for docstrings.
    asks_for_docs: bool,
    /// If so, the last epoch in which it ran.
    epoch: u32,
}

/// A number in the trace.
#[derive(Clone, Copy)]
struct Text {
    /// Whether the agent knows it.
    told: bool,
    /// The agent found out that it is not project code.
    ignored: bool,
    /// The number of the unit; all have ten digits.
    digits: [u8; 10],
}

impl Text {
    fn of(number: u32) -> Text {
        let mut digits = [0; 10];
        let mut rest = trace::SHIFT + number;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        Text {
            told: false,
            ignored: false,
            digits,
        }
    }
}

type Hasher = BuildHasherDefault<std::hash::DefaultHasher>;

struct Codes {
    prefixes: Vec<Vec<u8>>,
    excludes: Vec<Vec<u8>>,
    set_extra: Option<SetExtra>,
    numbers: HashMap<Key, u32, Hasher>,
    definitions: Vec<Definition>,
    last: Vec<u32>,
    ran: Vec<u32>,
    /// The data of each definition for `swap_text`, close together.
    texts: Vec<Text>,
    told: usize,
    lost: Option<&'static str>,
}

static CODES: Global<Codes> = Global::new(Codes {
    prefixes: Vec::new(),
    excludes: Vec::new(),
    set_extra: None,
    numbers: HashMap::with_hasher(BuildHasherDefault::new()),
    definitions: Vec::new(),
    last: Vec::new(),
    ran: Vec::new(),
    texts: Vec::new(),
    told: 0,
    lost: None,
});

/// Notes that `code` runs, and returns whether it is the project's.
#[inline(always)]
pub unsafe fn touch(code: Ref) -> bool {
    let hot = HOT.get();
    let extra = word(code, hot.extra_offset) as *const usize;
    if !extra.is_null() && *extra as isize > hot.extra_index {
        let verdict = *extra.offset(1 + hot.extra_index);
        if verdict == hot.outside {
            return false;
        }
        if verdict != 0 && verdict & 1 == 0 {
            let last = hot.last.add(verdict / 2 - 1);
            if *last != hot.epoch {
                *last = hot.epoch;
                first_run((verdict / 2 - 1) as u32, code);
            }
            return true;
        }
    }
    judge(code)
}

/// The number of `code`, which has run, if it is the project's.
pub unsafe fn number(code: Ref) -> Option<u32> {
    let hot = HOT.get();
    let extra = word(code, hot.extra_offset) as *const usize;
    if extra.is_null() || *extra as isize <= hot.extra_index {
        return None;
    }
    let verdict = *extra.offset(1 + hot.extra_index);
    (verdict != 0 && verdict & 1 == 0).then(|| (verdict / 2 - 1) as u32)
}

/// Whether `code`, which has run, is the project's.
pub unsafe fn is_of_project(code: Ref) -> bool {
    number(code).is_some()
}

/// Whether `code`, which perhaps has not run, is the project's; `false` before `start`.
pub unsafe fn is_written_in_project(code: Ref) -> bool {
    if CODES.get().prefixes.is_empty() {
        return false;
    }
    if is_of_project(code) {
        return true;
    }
    let Some(file) = owned(PyObject_GetAttrString(code, c"co_filename".as_ptr())) else {
        PyErr_Clear();
        return false;
    };
    text_of(file.0).is_some_and(|path| CODES.get().is_project(&path))
}

/// Notes that code with this number runs: `code`, if it has only begun.
pub unsafe fn touch_number(number: u32, code: Ref) {
    let epoch = HOT.get().epoch;
    if let Some(last) = CODES.get().last.get_mut(number as usize)
        && std::mem::replace(last, epoch) != epoch
    {
        first_run(number, code);
    }
}

#[cold]
#[inline(never)]
unsafe fn first_run(number: u32, code: Ref) {
    let Some(definition) = CODES.get().definitions.get_mut(number as usize) else {
        return;
    };
    if !definition.asks_for_docs {
        return begin(number);
    }
    let epoch = HOT.get().epoch;
    if std::mem::replace(&mut definition.epoch, epoch) != epoch {
        begin(number);
    }
    if code.is_null() || frames::tell_own_code(code) {
        // It is looked at again when it runs the next time.
        CODES.get().last[number as usize] = 0;
    }
}

unsafe fn begin(number: u32) {
    if trace::is_on() {
        with_error_aside(|| write(number));
    } else {
        CODES.get().ran.push(number);
    }
}

/// Decides about a code object that was not seen before.
#[cold]
#[inline(never)]
unsafe fn judge(code: Ref) -> bool {
    with_error_aside(|| match verdict_on(code) {
        Some(WATCHED) => true,
        Some(verdict) if verdict & 1 == 1 => false,
        Some(verdict) => {
            let number = verdict / 2 - 1;
            touch_number(number as u32, code);
            true
        }
        None => {
            PyErr_Clear();
            lose("a code object could not be read");
            true
        }
    })
}

unsafe fn verdict_on(code: Ref) -> Option<Verdict> {
    let file = owned(PyObject_GetAttrString(code, c"co_filename".as_ptr()))?;
    let path = text_bytes(file.0)?;
    let verdict = if CODES.get().is_project(&path) {
        let name = owned(PyObject_GetAttrString(code, c"co_name".as_ptr()))?;
        let line = frames::quietly(|| PyObject_GetAttrString(code, c"co_firstlineno".as_ptr()));
        let line = owned(line)?;
        let key = Key {
            name: text_bytes(name.0)?,
            line: PyLong_AsLong(line.0) as c_int,
            file: path,
        };
        let number = number_of(key, file.0, name.0) as usize;
        CODES.get().definitions[number].asks_for_docs |= frames::asks_for_docs(code);
        (number + 1) * 2
    } else {
        HOT.get().outside
    };
    if verdict & 1 == 1 && frames::tell_code(code) {
        return Some(WATCHED);
    }
    let set = CODES.get().set_extra?;
    let is_set = set(code, HOT.get().extra_index, verdict as *mut c_void) == 0;
    is_set.then_some(verdict)
}

unsafe fn number_of(key: Key, file: Ref, name: Ref) -> u32 {
    let codes = CODES.get();
    let next = codes.definitions.len() as u32;
    let line = key.line;
    let number = *codes.numbers.entry(key).or_insert(next);
    if number == next {
        Py_IncRef(file);
        Py_IncRef(name);
        codes.definitions.push(Definition {
            file,
            name,
            line,
            told: false,
            written: false,
            asks_for_docs: false,
            epoch: 0,
        });
        codes.texts.push(Text::of(number));
        codes.last.push(0);
        HOT.get().last = codes.last.as_mut_ptr();
    }
    number
}

impl Codes {
    fn is_project(&self, path: &[u8]) -> bool {
        match path.first() {
            None | Some(b'<') => return false,
            Some(b'/') => {}
            Some(_) => return true,
        }
        let longest = |list: &[Vec<u8>]| {
            let matching = list.iter().filter(|prefix| path.starts_with(prefix));
            matching.map(|prefix| prefix.len() + 1).max().unwrap_or(0)
        };
        longest(&self.prefixes) > longest(&self.excludes)
    }
}

/// A reference that is released when dropped.
struct Owned(Ref);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by `owned` under the GIL from a new reference.
        unsafe { Py_DecRef(self.0) }
    }
}

fn owned(object: Ref) -> Option<Owned> {
    (!object.is_null()).then_some(Owned(object))
}

/// Sets which code is the project's. `false` if this interpreter's code objects cannot hold
/// verdicts.
pub unsafe fn prepare(prefixes: Vec<Vec<u8>>, excludes: Vec<Vec<u8>>) -> bool {
    if CODES.get().set_extra.is_none() && !find_extra() {
        return false;
    }
    let codes = CODES.get();
    codes.prefixes = prefixes;
    codes.excludes = excludes;
    HOT.get().outside += 2;
    true
}

/// Finds the place of `co_extra` in code objects: marks one and looks which of its words
/// points to the mark.
unsafe fn find_extra() -> bool {
    let request = either(&[
        c"PyUnstable_Eval_RequestCodeExtraIndex",
        c"_PyEval_RequestCodeExtraIndex",
    ]);
    let set = either(&[c"PyUnstable_Code_SetExtra", c"_PyCode_SetExtra"]);
    let (Some(request), Some(set)) = (request, set) else {
        return false;
    };
    // SAFETY: both names of each function have had this signature since 3.6.
    let (request, set) = (
        std::mem::transmute::<*mut c_void, RequestIndex>(request),
        std::mem::transmute::<*mut c_void, SetExtra>(set),
    );
    let code = PyCode_NewEmpty(c"<tamis>".as_ptr(), c"probe".as_ptr(), 1);
    let index = request(None);
    if code.is_null() || index < 0 {
        PyErr_Clear();
        return false;
    }
    const MARK: usize = 0x7a31_5150;
    let size = type_object::basicsize(&raw mut PyCode_Type);
    let before: Vec<usize> = (16..size).step_by(8).map(|at| word(code, at)).collect();
    let found = set(code, index, MARK as *mut c_void) == 0
        && (16..size).step_by(8).zip(before).any(|(at, before)| {
            let extra = word(code, at) as *const usize;
            let marked = before == 0
                && !extra.is_null()
                && extra.is_aligned()
                && *extra as isize > index
                && *extra.offset(1 + index) == MARK;
            if marked {
                HOT.get().extra_offset = at;
            }
            marked
        });
    HOT.get().extra_index = index;
    CODES.get().set_extra = found.then_some(set);
    PyErr_Clear();
    Py_DecRef(code);
    found
}

/// Ends the epoch and returns the numbers that ran in it.
pub unsafe fn swap() -> Ref {
    let ran = std::mem::take(&mut CODES.get().ran);
    next_epoch();
    let list = list_of(&ran);
    // Return the buffer, unless code ran meanwhile (a finaliser).
    let codes = CODES.get();
    if codes.ran.is_empty() {
        codes.ran = ran;
        codes.ran.clear();
    }
    list
}

/// Ends the epoch like `swap` and returns the trace's unit numbers as text, with commas. If
/// the agent does not know one of them yet, it returns `None` and the epoch continues.
pub unsafe fn swap_text() -> Option<Vec<u8>> {
    let codes = CODES.get();
    let mut text = Vec::with_capacity(11 * codes.ran.len());
    for number in &codes.ran {
        let unit = codes.texts.get(*number as usize)?;
        if !unit.told {
            return None;
        }
        if !unit.ignored {
            if !text.is_empty() {
                text.push(b',');
            }
            text.extend_from_slice(&unit.digits);
        }
    }
    codes.ran.clear();
    next_epoch();
    Some(text)
}

/// Makes `swap_text` leave out `number` from now on.
pub unsafe fn ignore(number: u32) {
    if let Some(unit) = CODES.get().texts.get_mut(number as usize) {
        unit.ignored = true;
    }
}

/// The number of the epoch, which is another one after each `swap`.
pub unsafe fn epoch() -> u32 {
    HOT.get().epoch
}

unsafe fn next_epoch() {
    let hot = HOT.get();
    hot.epoch = hot.epoch.wrapping_add(1);
    if hot.epoch == 0 {
        CODES.get().last.fill(0);
        hot.epoch = 1;
    }
}

/// Tuples for the numbers that the agent does not know yet.
pub unsafe fn definitions() -> Ref {
    let list = PyList_New(0);
    if list.is_null() {
        return list;
    }
    loop {
        let codes = CODES.get();
        let number = codes.told;
        let Some(definition) = codes.definitions.get_mut(number) else {
            return list;
        };
        let (file, line, name) = (definition.file, definition.line, definition.name);
        let tuple = Py_BuildValue(c"(iOiO)".as_ptr(), number as c_int, file, line, name);
        if tuple.is_null() || PyList_Append(list, tuple) != 0 {
            Py_DecRef(tuple);
            Py_DecRef(list);
            return std::ptr::null_mut();
        }
        Py_DecRef(tuple);
        let codes = CODES.get();
        codes.told = number + 1;
        if let Some(definition) = codes.definitions.get_mut(number) {
            definition.told = true;
        }
        if let Some(unit) = codes.texts.get_mut(number) {
            unit.told = true;
        }
    }
}

/// Begins a new trace file or scope: pending numbers are written there.
pub unsafe fn flush_to_trace(new_file: bool) {
    if new_file {
        for definition in &mut CODES.get().definitions {
            definition.written = false;
        }
    }
    for number in std::mem::take(&mut CODES.get().ran) {
        write(number);
    }
    next_epoch();
}

unsafe fn write(number: u32) {
    let Some(definition) = CODES.get().definitions.get_mut(number as usize) else {
        return;
    };
    let known = definition.told || definition.written;
    definition.written = true;
    let unit = if known {
        None
    } else {
        let (file, name) = (text_bytes(definition.file), text_bytes(definition.name));
        Some((
            file.unwrap_or_default(),
            definition.line,
            name.unwrap_or_default(),
        ))
    };
    if !trace::write(number, unit) {
        lose("a trace could not be written");
    }
}

/// Notes that code may have run unrecorded.
pub unsafe fn lose(why: &'static str) {
    CODES.get().lost = Some(why);
}

pub unsafe fn take_lost() -> Option<&'static str> {
    CODES.get().lost.take()
}
